import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { backendOf } from '../src/backend.ts';
import { JobEnds, partsOf, Wake } from '../src/job-ends.ts';
import { CANCELLED } from '../src/settings.ts';
import { SERVERS } from './support/queue-servers.ts';
import { redisMissing, redisServer } from './support/redis.ts';

/** Milliseconds after which a test has failed: no event came. */
const NEVER = 600_000;

for (const { name, skip, start } of SERVERS)
  describe(`JobEnds on ${name}`, { skip }, () => {
    it('ends a wait as soon as the job has succeeded or failed, has progress, or is removed', async (t) => {
      const backend = backendOf({ connection: await start(t) });
      const { Queue, Worker } = backend.classes;
      const queue = new Queue('q', backend.options);
      const ends = new JobEnds(queue, backend, (error) => assert.fail(error));
      const work = ({ data }: { data: unknown }) =>
        data === 'bad' ? Promise.reject(new Error('bad')) : Promise.resolve(1);
      const [other, parts] = [new Wake(), new Wake()];
      ends.watch('other', other.tell);
      for (const [i, data] of ['good', 'bad', 'progress', 'removed'].entries()) {
        const wake = new Wake();
        const job = await queue.add('x', data, { jobId: `job-${i}` });
        const unwatch = ends.watch(`job-${i}`, wake.tell, job.timestamp);
        const unwatchParts = ends.watch(partsOf('job'), parts.tell);
        const worker = i < 2 ? new Worker('q', work as never, backend.options) : null;
        if (data === 'removed') await job.remove();
        // The first events may come before the connection listens.
        const again = setInterval(() => void (data === 'progress' && job.updateProgress(5).catch(() => {})), 20);
        await wake.wait(NEVER);
        clearInterval(again);
        if (data === 'progress') await parts.wait(NEVER);
        await worker?.close();
        unwatch();
        unwatchParts();
      }
      await Promise.all([ends.close(), queue.close()]);
      await backend.end();
    });

    it('knows the jobs that have ended, were cancelled or are gone', async (t) => {
      const backend = backendOf({ connection: await start(t) });
      const { Queue, Worker } = backend.classes;
      const queue = new Queue('q', backend.options);
      const worker = new Worker('q', (async () => 1) as never, { ...backend.options, autorun: false });
      await queue.add('x', 1, { jobId: 'done-1' });
      const run = worker.run();
      while ((await (await queue.getJob('done-1'))?.getState()) !== 'completed') await delay(10);
      await worker.pause();
      await Promise.all([queue.add('x', 1, { jobId: 'open-1' }), queue.add('x', 1, { jobId: 'open-2' })]);
      await (await queue.getJob('open-2'))?.updateProgress({ bytes: 5 });
      await (await queue.add('x', 1, { jobId: 'cancelled-1' })).updateProgress(CANCELLED);
      const many = Array.from({ length: 1200 }, (_, i) => `none-${i}`);
      const open = await backend.openJobs(queue, ['done-1', 'open-1', ...many, 'open-2', 'cancelled-1']);
      assert.deepEqual([...open.keys()].sort(), ['open-1', 'open-2']);
      assert.equal(open.get('open-2'), (await queue.getJob('open-2'))?.timestamp);
      await Promise.all([worker.close(), queue.close(), run]);
      await backend.end();
    });
  });

describe('Wake', () => {
  it('waits no longer than it should, and remembers what happens between two waits', async () => {
    const wake = new Wake();
    await wake.wait(1);
    wake.tell();
    await wake.wait(NEVER);
    const waiting = wake.wait(NEVER);
    wake.tell();
    await waiting;
  });
});

describe('JobEnds', { skip: redisMissing() }, () => {
  it('asks about all jobs where the client of the caller cannot give events', async (t) => {
    const { url } = await redisServer(t);
    const client = new Redis(url, { maxRetriesPerRequest: 1 });
    const backend = backendOf({ connection: client });
    const queue = new backend.classes.Queue('q', backend.options);
    const ends = new JobEnds(queue, backend, () => {});
    const [wake, other] = [new Wake(), new Wake()];
    const { timestamp } = await queue.add('x', 1, { jobId: 'b-1' });
    ends.watch('gone-1', wake.tell);
    const unwatch = ends.watch('b-1', other.tell, timestamp);
    await wake.wait(NEVER);
    await (await queue.getJob('b-1'))?.remove();
    // Another one of the same id.
    await queue.add('x', 1, { jobId: 'b-1', timestamp: timestamp + 1 });
    await other.wait(NEVER);
    unwatch();
    await ends.close();
    await queue.close();
    client.disconnect();
  });
});
