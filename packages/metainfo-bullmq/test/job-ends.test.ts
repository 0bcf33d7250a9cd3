import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Redis } from 'ioredis';
import { backendOf } from '../src/backend.ts';
import { JobEnds } from '../src/job-ends.ts';
import { redisMissing, redisServer } from './support/redis.ts';

/** Milliseconds after which a test has failed: no event came. */
const NEVER = 600_000;

describe('JobEnds', { skip: redisMissing() }, () => {
  it('ends a wait as soon as the job has succeeded or failed', async (t) => {
    const { url } = await redisServer(t);
    const backend = backendOf({ connection: url });
    const { Queue, Worker, QueueEvents } = backend.classes;
    const events = new QueueEvents('q', backend.options);
    await events.waitUntilReady();
    await events.close();
    const queue = new Queue('q', backend.options);
    const ends = new JobEnds('q', backend, (error) => assert.fail(error));
    const work = ({ data }: { data: unknown }) =>
      data === 'bad' ? Promise.reject(new Error('bad')) : Promise.resolve(1);
    for (const [i, data] of ['good', 'bad', 'good'].entries()) {
      const id = `job-${i}`;
      const watched = ends.watch(id);
      const other = ends.watch('other');
      let isWoken = false;
      const woken = watched.wait(NEVER).then(() => {
        isWoken = true;
      });
      await queue.add('x', data, { jobId: id });
      assert.equal(isWoken, false);
      const worker = new Worker('q', work as never, backend.options);
      // The first events may come before the connection listens: the queue then asks.
      if (i === 0) await Promise.race([woken, new Promise((resolve) => worker.once('completed', resolve))]);
      else await woken;
      await worker.close();
      watched.close();
      other.close();
    }
    await Promise.all([ends.close(), queue.close()]);
  });

  it('waits no longer than it should, remembers an end between two waits, and wakes up when it is closed', async () => {
    let tell: (event: { jobId: string }) => void = () => {};
    class QueueEvents {
      on(name: string, listener: (event: { jobId: string }) => void): void {
        if (name === 'completed') tell = listener;
      }
    }
    const ends = new JobEnds('q', { classes: { QueueEvents }, options: { connection: {} } } as never, () => {});
    const watched = ends.watch('a');
    await watched.wait(1);
    tell({ jobId: 'a' });
    await watched.wait(NEVER);
    const waiting = watched.wait(NEVER);
    tell({ jobId: 'b' });
    tell({ jobId: 'a' });
    await waiting;
    const closed = watched.wait(NEVER);
    watched.close();
    await closed;
    tell({ jobId: 'a' });
  });

  it('waits for the time alone where the client of the caller cannot give events', async (t) => {
    const { url } = await redisServer(t);
    const client = new Redis(url, { maxRetriesPerRequest: 1 });
    const ends = new JobEnds('q', backendOf({ connection: client }), () => {});
    const watched = ends.watch('a');
    await watched.wait(5);
    watched.close();
    await ends.close();
    client.disconnect();
  });
});
