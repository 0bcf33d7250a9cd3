// Parked threads are reused, end after the idle time or with the last environment, and delay neither exit nor terminate.
import assert from 'node:assert/strict';
import { availableParallelism } from 'node:os';
import { it } from 'node:test';
import { assertWithin, slowness } from '../support/timing.ts';
import { sparseFile, temporaryFolder } from '../support/tree.ts';
import { procMissing, runChild } from './run-child.ts';

/** Several parts, so that every job takes several threads. */
const FILE_BYTES = 3 * 2 ** 20;
/** By themselves, parked threads end after three seconds. */
const MOST_SECONDS = 2;

it('parked threads serve thousands of jobs, and end after the idle time', { skip: procMissing }, async (t) => {
  const file = await sparseFile(await temporaryFolder(t), 'file', FILE_BYTES);
  const { code, told } = await runChild('parkedThreads', file);
  assert.equal(code, 0);
  const [alone, atOnce, idle] = told as [Record<string, number>, Record<string, number>, Record<string, number>];
  const { before = 0 } = alone;
  // A thread that has left the budget may not be parked yet when the next job needs one.
  const bound = before + 4 * availableParallelism();
  for (const { most = 0 } of [alone, atOnce])
    assert.ok(most > before && most <= bound, `${most} threads, ${before} before`);
  assert.equal(idle['most'], before);
  t.diagnostic(
    `${alone['most']} and ${atOnce['most']} threads, ${before} before; idle ones ended after ${idle['seconds']} s`,
  );
});

it('parked threads do not delay process.exit()', async (t) => {
  const file = await sparseFile(await temporaryFolder(t), 'file', FILE_BYTES);
  await assertWithin(t, MOST_SECONDS, async () => {
    const { code, signal, secondsFromAt } = await runChild('exitWithParkedThreads', file);
    assert.deepEqual({ code, signal }, { code: 7, signal: null });
    return secondsFromAt;
  });
});

it('parked threads end with the last environment and do not delay worker.terminate()', {
  skip: procMissing,
}, async (t) => {
  const file = await sparseFile(await temporaryFolder(t), 'file', FILE_BYTES);
  await assertWithin(t, MOST_SECONDS * slowness, async () => {
    const { code, signal, told } = await runChild('terminateWithParkedThreads', file);
    assert.deepEqual({ code, signal, hashed: told[1] }, { code: 0, signal: null, hashed: { hashed: 20 } });
    const { seconds = Number.NaN, parked = 0, left } = told[0] as Record<string, number>;
    assert.ok(parked > 0, 'no thread was parked');
    assert.equal(left, 0);
    t.diagnostic(`${parked} threads and those of the worker ended ${seconds} s after worker.terminate()`);
    return seconds;
  });
});
