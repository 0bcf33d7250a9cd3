import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, it, type TestContext } from 'node:test';
import { HUGE, sparseFile, temporaryFolder } from '../support/tree.ts';
import { procMissing, runChild } from './run-child.ts';

const MIB = 2 ** 20;

/**
 * Asserts that descriptors and threads are the same after every window, and that memory does not grow from one to the
 * next by more than `most` bytes: by the median, for a leak grows in every window, and what an allocator keeps in some.
 */
function assertFlat(t: TestContext, windows: Record<string, number>[], most: { heap: number; rss: number }) {
  for (const name of ['descriptors', 'threads']) {
    const counts = windows.map((window) => window[name]);
    assert.deepEqual(counts, counts.fill(counts[0]), name);
  }
  for (const name of ['heap', 'rss'] as const) {
    const used = windows.map((window) => window[name] as number);
    const growth = used.slice(1).map((bytes, i) => bytes - (used[i] as number));
    const median = growth.sort((a, b) => a - b)[(growth.length - 1) >> 1] as number;
    const text = `${name}: ${used.map((bytes) => (bytes / MIB).toFixed(1)).join(', ')} MiB`;
    assert.ok(median < most[name], text);
    t.diagnostic(text);
  }
}

describe('jobs leave nothing behind', { skip: procMissing }, () => {
  it('10,000 of them, done, failed and cancelled', async (t) => {
    const file = await sparseFile(await temporaryFolder(t), 'small', 100_000);
    // The first window warms up.
    const { code, told } = await runChild('leak', file, 9, 1250);
    assert.equal(code, 0);
    const { done, failed, cancelled } = told.at(-1) ?? {};
    assert.deepEqual({ done, failed, cancelled }, { done: 5634, failed: 2808, cancelled: 2808 });
    assertFlat(t, told, { heap: MIB / 4, rss: 4 * MIB });
  });

  it('100 workers that are terminated in the middle of jobs', async (t) => {
    const file = await sparseFile(await temporaryFolder(t), 'huge', HUGE);
    const { code, signal, told } = await runChild('leakWorkers', file, 6, 20);
    assert.deepEqual({ code, signal, windows: told.length }, { code: 0, signal: null, windows: 6 });
    // A worker itself costs some 50 kB.
    assertFlat(t, told, { heap: MIB / 4, rss: 3 * MIB });
  });
});

it('a job that nobody holds is not collected before it ends', async (t) => {
  const file = await sparseFile(await temporaryFolder(t), 'file', 2 ** 30);
  const { code, signal, told } = await runChild('uncollected', file);
  assert.deepEqual({ code, signal, told }, { code: 0, signal: null, told: [{ pieces: 1024 }] });
});

it('content in memory is not collected before its job ends', async () => {
  const { code, signal, told } = await runChild('heldMemory');
  const [{ rounds = 0, ...rest } = {}] = told as Record<string, number>[];
  const first = createHash('sha1')
    .update(Buffer.alloc(2 ** 24, 7))
    .digest()
    .readUInt32BE(0);
  assert.deepEqual({ code, signal, ...rest }, { code: 0, signal: null, first, equal: 1 });
  assert.ok(rounds > 3, `${rounds} collections`);
});
