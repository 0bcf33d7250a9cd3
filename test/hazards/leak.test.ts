import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, it, type TestContext } from 'node:test';
import { buildMalloc, mallocMissing } from '../support/malloc.ts';
import { HUGE, sparseFile, temporaryFolder } from '../support/tree.ts';
import { procMissing, runChild } from './run-child.ts';

const MIB = 2 ** 20;
/**
 * Asserts that descriptors and threads are the same after every window, and that memory does not grow by `most` bytes
 * from one half of them to the other. Only what is lowest in each half counts: a leak lifts that too, and nothing else
 * does.
 */
function assertFlat(t: TestContext, windows: Record<string, number>[], most: Record<'heap' | 'malloc', number>) {
  for (const name of ['descriptors', 'threads']) {
    const counts = windows.map((window) => window[name]);
    assert.deepEqual(counts, Array(counts.length).fill(counts[0]), name);
  }
  for (const name of ['heap', 'malloc'] as const) {
    const used = windows.map((window) => window[name] as number);
    const half = used.length / 2;
    const growth = Math.min(...used.slice(half)) - Math.min(...used.slice(0, half));
    const text = `${name}: ${used.map((bytes) => (bytes / MIB).toFixed(2)).join(', ')} MiB`;
    assert.ok(growth < most[name], text);
    t.diagnostic(text);
  }
}

describe('jobs leave nothing behind', { skip: procMissing || mallocMissing() }, () => {
  it('10,000 of them, done, failed and cancelled', async (t) => {
    const folder = await temporaryFolder(t);
    const file = await sparseFile(folder, 'small', 100_000);
    const { code, told } = await runChild('leak', buildMalloc(folder), file, 9, 1250);
    assert.equal(code, 0);
    const { done, failed, cancelled } = told.at(-1) ?? {};
    assert.deepEqual({ done, failed, cancelled }, { done: 5634, failed: 2808, cancelled: 2808 });
    // The first window warms up. From one half to the other it is 5,000 jobs: 100 bytes of each are too much.
    assertFlat(t, told.slice(1), { heap: MIB, malloc: MIB / 2 });
  });

  it('100 workers that are terminated in the middle of jobs', async (t) => {
    const folder = await temporaryFolder(t);
    const file = await sparseFile(folder, 'huge', HUGE);
    const { code, signal, told } = await runChild('leakWorkers', buildMalloc(folder), file, 9, 14);
    assert.deepEqual({ code, signal, windows: told.length }, { code: 0, signal: null, windows: 9 });
    // From one half to the other it is 56 workers, of which Node itself keeps half a kilobyte each.
    assertFlat(t, told.slice(1), { heap: MIB / 4, malloc: MIB / 16 });
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
