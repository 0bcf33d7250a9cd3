import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { describe, it, type TestContext } from 'node:test';
import { buildMalloc, mallocMissing } from '../support/malloc.ts';
import { HUGE, sparseFile, temporaryFolder } from '../support/tree.ts';
import { procMissing, runChild } from './run-child.ts';

const KIB = 1024;
const MIB = 2 ** 20;
/** Two measurements may differ by this many parked threads. All must have ended some seconds after the last job. */
const MOST_PARKED = 4 * availableParallelism();

/**
 * Asserts that every window ends with the same descriptors, that all have about the same number of threads, and that the median
 * growth of memory is below `most` bytes: a leak grows in every window, while one-time allocations of V8 affect only a few.
 */
function assertFlat(t: TestContext, windows: Record<string, number>[], most: Record<'heap' | 'malloc', number>) {
  // Sanitizers use descriptors and memory themselves, and AddressSanitizer finds leaks itself.
  if (process.env['METAINFO_SANITIZED']) return;
  const descriptors = windows.map((window) => window['descriptors']);
  assert.deepEqual(descriptors, Array(descriptors.length).fill(descriptors[0]));
  const threads = windows.map((window) => window['threads'] as number);
  assert.ok(Math.max(...threads) - Math.min(...threads) <= MOST_PARKED, `${threads} threads`);
  for (const name of ['heap', 'malloc'] as const) {
    const used = windows.map((window) => window[name] as number);
    const growth = used.slice(1).map((bytes, i) => bytes - (used[i] as number));
    const median = growth.sort((a, b) => a - b)[growth.length >> 1] as number;
    const text = `${name}: ${(median / KIB).toFixed(1)} KiB a window of ${used.map((bytes) => (bytes / MIB).toFixed(2)).join(', ')} MiB`;
    assert.ok(median < most[name], text);
    t.diagnostic(text);
  }
}

describe('no descriptors, threads or memory leak', { skip: procMissing || mallocMissing() }, () => {
  it('in 10,000 jobs that succeed, fail or are cancelled', async (t) => {
    const folder = await temporaryFolder(t);
    const file = await sparseFile(folder, 'small', 100_000);
    // The first window is a warm-up.
    const { code, told } = await runChild('leak', buildMalloc(folder), file, 17, 625);
    assert.equal(code, 0);
    assert.deepEqual(told.pop(), { left: 0 });
    const { done, failed, cancelled } = told.at(-1) ?? {};
    assert.deepEqual({ done, failed, cancelled }, { done: 17 * 313, failed: 17 * 156, cancelled: 17 * 156 });
    // 200 and 50 bytes per job.
    assertFlat(t, told.slice(1), { heap: 125 * KIB, malloc: 31 * KIB });
  });

  it('in 100 workers that are terminated in the middle of jobs', async (t) => {
    const folder = await temporaryFolder(t);
    const file = await sparseFile(folder, 'huge', HUGE);
    const { code, signal, told } = await runChild('leakWorkers', buildMalloc(folder), file, 14, 8);
    assert.deepEqual(told.pop(), { left: 0 });
    assert.deepEqual({ code, signal, windows: told.length }, { code: 0, signal: null, windows: 14 });
    // Node itself leaks half a kilobyte per worker.
    assertFlat(t, told.slice(1), { heap: 32 * KIB, malloc: 8 * KIB });
  });
});

it('a job without references is not garbage-collected before it ends', async (t) => {
  const file = await sparseFile(await temporaryFolder(t), 'file', 2 ** 30);
  const { code, signal, told } = await runChild('uncollected', file);
  assert.deepEqual({ code, signal, told }, { code: 0, signal: null, told: [{ pieces: 1024 }] });
});

it('content in memory is not garbage-collected before its job ends', async () => {
  const { code, signal, told } = await runChild('heldMemory');
  const [{ rounds = 0, ...rest } = {}] = told as Record<string, number>[];
  const first = createHash('sha1')
    .update(Buffer.alloc(2 ** 24, 7))
    .digest()
    .readUInt32BE(0);
  assert.deepEqual({ code, signal, ...rest }, { code: 0, signal: null, first, equal: 1 });
  assert.ok(rounds > 3, `${rounds} collections`);
});
