import assert from 'node:assert/strict';
import { stat } from 'node:fs/promises';
import { describe, it } from 'node:test';
import type { HashJob, HashRequest } from '../../src/hash/hash-request.ts';
import { nodeEngine } from '../../src/hash/node.ts';
import { HUGE, sparseFile, temporaryFolder } from '../support/tree.ts';
import { watch } from './watch.ts';

const MIB = 2 ** 20;

describe('jobs of the node engine', () => {
  it('take turns and share one buffer', async (t) => {
    const path = await sparseFile(await temporaryFolder(t), 'huge', HUGE);
    const { size, mtimeMs } = await stat(path);
    const files = [{ path, offset: 0, length: size, size, mtimeMs }];
    const resources = { threads: 1, readSize: MIB, memoryLimit: 64 * MIB };
    const plan: HashRequest = { files, version: 'v2', pieceLength: 64 * MIB, onMissing: 'fail', ...resources };
    const before = process.memoryUsage().arrayBuffers;
    const jobs = Array.from({ length: 60 }, () => nodeEngine().start(plan));
    const ends = Promise.allSettled(jobs.map(({ done }) => done));
    const cancel = () => {
      for (const job of jobs) job.cancel();
    };
    t.after(cancel);
    const last = jobs.at(-1) as HashJob;
    assert.equal(last.progress().queued, 59);
    let most = 0;
    await watch(last, () => {
      most = Math.max(most, process.memoryUsage().arrayBuffers - before);
      return jobs.every((job) => job.progress().bytes > 0);
    });
    // The first has let all others go ahead.
    assert.ok((jobs[0] as HashJob).progress().bytes < 1024 * MIB);
    // The hashes of blocks, which wait for the rest of their pieces, are in it too.
    assert.ok(most < 50 * MIB, `${most / MIB} MiB`);
    cancel();
    assert.ok((await ends).every(({ status }) => status === 'rejected'));
  });
});
