import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { hashingCancelled } from '../../src/errors/cancel.ts';
import type { Engine } from '../../src/hash/engine.ts';
import type { Digests, HashRequest } from '../../src/hash/hash-request.ts';
import { JobGroup } from '../../src/jobs/job-group.ts';

const PLAN: HashRequest = {
  files: [],
  version: 'v1',
  pieceLength: 16_384,
  onMissing: 'fail',
  threads: 1,
  readSize: 16_384,
  memoryLimit: 16_384,
};
const DIGESTS: Digests = { missing: [] };

/** `Promise.withResolvers`, which Node 20 lacks. */
function withResolvers<T>() {
  let resolve!: (value: T) => void;
  let reject!: (error: unknown) => void;
  const promise = new Promise<T>((onResolve, onReject) => {
    resolve = onResolve;
    reject = onReject;
  });
  return { promise, resolve, reject };
}

/** A hash job that the test ends. */
interface FakeJob {
  isCancelled: boolean;
  progress: { bytes: number; fileIndex: number; queued: number };
  succeed: () => void;
  fail: (error: unknown) => void;
}

/** An engine whose jobs end when the test says so, or reject when they are cancelled. */
function fakeEngine() {
  const jobs: FakeJob[] = [];
  const engine: Engine = {
    name: 'fake',
    kernel: 'fake',
    start: () => {
      const { promise: done, resolve, reject } = withResolvers<Digests>();
      const progress = { bytes: 0, fileIndex: 0, queued: 0 };
      const job: FakeJob = { isCancelled: false, progress, succeed: () => resolve(DIGESTS), fail: reject };
      jobs.push(job);
      const cancel = () => {
        job.isCancelled = true;
        reject(hashingCancelled());
      };
      return { done, progress: () => job.progress, cancel };
    },
  };
  return { jobs, group: new JobGroup(engine) };
}

const job = (jobs: readonly FakeJob[], index: number) => jobs[index] as FakeJob;

describe('JobGroup', () => {
  it('gives the result of the work when all hash jobs succeed', async () => {
    const { jobs, group } = fakeEngine();
    const work = Promise.all([group.run(PLAN), group.run(PLAN)]).then((all) => all.length);
    const done = group.finish(work);
    for (const { succeed } of jobs) succeed();
    assert.equal(await done, 2);
    assert.ok(!group.signal.aborted);
  });

  it('cancels the other hash jobs when one fails, and keeps the first error', async () => {
    const { jobs, group } = fakeEngine();
    const done = group.finish(Promise.all([group.run(PLAN), group.run(PLAN)]));
    job(jobs, 1).fail(new Error('the first failure'));
    await assert.rejects(done, /the first failure/);
    assert.ok(job(jobs, 0).isCancelled);
    assert.ok(group.signal.aborted);
  });

  it('starts nothing after a failure', async () => {
    const { jobs, group } = fakeEngine();
    group.fail(new Error('on purpose'));
    await assert.rejects(group.run(PLAN), { code: 'ERR_ABORTED' });
    assert.equal(jobs.length, 0);
    await assert.rejects(group.finish(Promise.resolve()), /on purpose/);
  });

  it('waits for everything in it before it rejects', async () => {
    const { group } = fakeEngine();
    const { promise, resolve } = withResolvers<void>();
    group.track(promise);
    let hasEnded = false;
    const done = group.finish(Promise.reject(new Error('on purpose'))).finally(() => {
      hasEnded = true;
    });
    done.catch(() => {});
    await new Promise(setImmediate);
    assert.ok(!hasEnded);
    resolve();
    await assert.rejects(done, /on purpose/);
  });

  it('rejects with ERR_ABORTED when it is cancelled', async () => {
    const { jobs, group } = fakeEngine();
    const done = group.finish(group.run(PLAN));
    group.cancel();
    await assert.rejects(done, { code: 'ERR_ABORTED' });
    assert.ok(job(jobs, 0).isCancelled);
  });

  it('adds up the progress of its hash jobs', async () => {
    const { jobs, group } = fakeEngine();
    assert.deepEqual(group.progress(), { bytes: 0, namedBytes: 0, file: '', queued: 0 });
    const first = group.run(PLAN, (index) => `a${index}`);
    job(jobs, 0).progress = { bytes: 10, fileIndex: 3, queued: 2 };
    assert.deepEqual(group.progress(), { bytes: 10, namedBytes: 10, file: 'a3', queued: 2 });
    const second = group.run(PLAN);
    job(jobs, 1).progress = { bytes: 5, fileIndex: 7, queued: 0 };
    assert.deepEqual(group.progress(), { bytes: 15, namedBytes: 10, file: 'a3', queued: 0 });
    job(jobs, 0).succeed();
    await first;
    assert.equal(group.progress().bytes, 15);
    job(jobs, 1).succeed();
    await group.finish(second);
    assert.deepEqual(group.progress(), { bytes: 15, namedBytes: 10, file: 'a3', queued: 0 });
  });
});
