import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { sparseFile, temporaryFolder } from '../support/tree.ts';
import { HUGE, runChild } from './run-child.ts';

const MOST_SECONDS = 0.2;

describe('process.exit() during a job', () => {
  for (const queued of [0, 50]) {
    it(`ends at once with ${queued} more jobs waiting`, async (t) => {
      const file = await sparseFile(await temporaryFolder(t), 'huge', HUGE);
      const { code, signal, secondsFromAt } = await runChild('exit', file, queued);
      assert.deepEqual({ code, signal }, { code: 7, signal: null });
      assert.ok(secondsFromAt < MOST_SECONDS, `took ${secondsFromAt} s`);
      t.diagnostic(`${secondsFromAt.toFixed(3)} s`);
    });
  }

  it('ends at once while a worker hashes', async (t) => {
    const file = await sparseFile(await temporaryFolder(t), 'huge', HUGE);
    const { code, signal, secondsFromAt } = await runChild('exitWhileWorkerHashes', file);
    assert.deepEqual({ code, signal }, { code: 7, signal: null });
    assert.ok(secondsFromAt < MOST_SECONDS, `took ${secondsFromAt} s`);
    t.diagnostic(`${secondsFromAt.toFixed(3)} s`);
  });

  it('ends at once when an uncaught error leads to it', async (t) => {
    const file = await sparseFile(await temporaryFolder(t), 'huge', HUGE);
    const { code, signal, secondsFromAt } = await runChild('uncaught', file);
    assert.deepEqual({ code, signal }, { code: 9, signal: null });
    assert.ok(secondsFromAt < MOST_SECONDS, `took ${secondsFromAt} s`);
  });
});

it('a process ends by itself after its last job', async (t) => {
  const file = await sparseFile(await temporaryFolder(t), 'small', 2 ** 20);
  const { code, signal, secondsFromAt } = await runChild('naturalExit', file);
  assert.deepEqual({ code, signal }, { code: 0, signal: null });
  assert.ok(secondsFromAt < 1, `took ${secondsFromAt} s`);
});
