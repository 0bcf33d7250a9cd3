import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, it } from 'node:test';
import { sparseFile, temporaryFolder } from '../support/tree.ts';
import { procMissing, runChild } from './run-child.ts';

const MIB = 2 ** 20;

describe('jobs leave nothing behind', { skip: procMissing }, () => {
  it('2,000 of them keep descriptors, threads and memory flat', async (t) => {
    const file = await sparseFile(await temporaryFolder(t), 'small', 100_000);
    const { code, told } = await runChild('leak', file, 2000);
    assert.equal(code, 0);
    const [before, after] = told as [Record<string, number>, Record<string, number>];
    assert.equal(after['descriptors'], before['descriptors']);
    assert.equal(after['threads'], before['threads']);
    const growth = (name: string) => ((after[name] as number) - (before[name] as number)) / MIB;
    assert.ok(growth('heap') < 1, `the heap grew by ${growth('heap')} MiB`);
    // Allocators keep some of what they had: this levels off at about 20 MiB, whatever the number of jobs.
    assert.ok(growth('rss') < 40, `memory grew by ${growth('rss')} MiB`);
    t.diagnostic(`the heap grew by ${growth('heap').toFixed(2)} MiB, memory by ${growth('rss').toFixed(1)} MiB`);
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
