import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { assertWithin } from '../support/timing.ts';
import { HUGE, sparseFile, temporaryFolder } from '../support/tree.ts';
import { runChild } from './run-child.ts';

/** To hash the whole file takes far longer. */
const MOST_SECONDS = 5;

describe('process.exit() during a job', () => {
  const CASES: [title: string, code: number, ...Parameters<typeof runChild>][] = [
    ['ends at once', 7, 'exit', 0],
    ['ends at once with 50 more jobs waiting', 7, 'exit', 50],
    ['ends at once while a worker hashes', 7, 'exitWhileWorkerHashes'],
    ['ends at once when an uncaught error leads to it', 9, 'uncaught'],
  ];
  for (const [title, expected, scenario, ...args] of CASES) {
    it(title, async (t) => {
      const file = await sparseFile(await temporaryFolder(t), 'huge', HUGE);
      await assertWithin(t, MOST_SECONDS, async () => {
        const { code, signal, secondsFromAt } = await runChild(scenario, file, ...args);
        assert.deepEqual({ code, signal }, { code: expected, signal: null });
        return secondsFromAt;
      });
    });
  }
});

it('a process ends by itself after its last job', async (t) => {
  const file = await sparseFile(await temporaryFolder(t), 'small', 2 ** 20);
  // Parked threads would keep it for three seconds.
  await assertWithin(t, 2, async () => {
    const { code, signal, secondsFromAt } = await runChild('naturalExit', file);
    assert.deepEqual({ code, signal }, { code: 0, signal: null });
    return secondsFromAt;
  });
});
