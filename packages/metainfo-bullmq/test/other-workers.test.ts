import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { MetainfoError, type PartStore } from 'metainfo';
import { SickWorkerError } from '../src/failures.ts';
import type { WorkerState } from '../src/index.ts';
import { clockGuard } from '../src/server-clock.ts';
import { storeOfWorker } from '../src/worker-store.ts';
import { SERVERS, setUpQueue } from './support/queue-servers.ts';

const HOUR = 3_600_000;

for (const { name, skip, start } of SERVERS)
  describe(`a worker on ${name} that cannot work`, { skip }, () => {
    for (const [where, offset] of [
      ['ahead of', HOUR],
      ['behind', -HOUR],
    ] as const)
      it(`takes no job if its clock is an hour ${where} that of the server`, async (t) => {
        const { producer, workers, ended, errors, plan } = await setUpQueue(t, start);
        const queue = producer();
        const queued = await queue.addTorrent(plan, { output: 'media/x.torrent' });
        const real = Date.now;
        t.mock.method(Date, 'now', () => real() + offset);
        const wrong = workers();
        const message = new RegExp(
          `^The clock of this machine is (3599|3600|3601) s ${where} the clock of the server: .*NTP`,
        );
        const refusal = { code: 'ERR_QUEUE', message };
        await assert.rejects(wrong.ready(), refusal);
        await assert.rejects(wrong.check(), { code: 'ERR_QUEUE' });
        assert.equal(errors.length, 1);
        assert.match(String(errors[0]?.message), message);
        const { active, waiting } = await queue.counts(['media']);
        assert.deepEqual([active, waiting, ended.length], [0, plan.parts, 0]);
        t.mock.restoreAll();
        const right = workers();
        await right.ready();
        await right.check();
        await queued.done();
        assert.ok(ended.every(({ error }) => error === null));
        t.mock.method(Date, 'now', () => real() + offset);
        await assert.rejects(right.check(), refusal);
        t.mock.restoreAll();
        await right.close();
        await assert.rejects(right.check(), { code: 'ERR_QUEUE', message: 'The workers are closing.' });
      });

    it('leaves a torrent to others if its store refuses it, or if the plan is of a newer format', async (t) => {
      const { producer, workers, ended, store, plan } = await setUpQueue(t, start);
      const queue = producer();
      const newer = async (bytes: Uint8Array | null) =>
        bytes && Buffer.from(String(bytes).replace('metainfo-plan-1', 'metainfo-plan-2'));
      const bad: [problem: RegExp, store: PartStore][] = [
        [
          /store: cannot read it/,
          {
            ...store,
            get: async () => Promise.reject(new MetainfoError('ERR_UNREADABLE', 'store: cannot read it (EACCES).')),
          },
        ],
        [
          /another version of metainfo/,
          {
            ...store,
            get: async (id, name) => (name === 'plan' ? newer(await store.get(id, name)) : store.get(id, name)),
          },
        ],
      ];
      for (const [i, [problem, wrong]] of bad.entries()) {
        const reasons: (string | null)[] = [];
        const onWorker = ({ reason }: WorkerState) => reasons.push(reason);
        const worker = workers(['media'], { store: wrong, onWorker });
        await worker.ready();
        const queued = await queue.addTorrent(plan, { output: `media/${i}.torrent` });
        while (reasons.length === 0) await delay(20);
        await assert.rejects(worker.check(), problem);
        const right = workers();
        assert.equal((await queued.done()).output, `media/${i}.torrent`);
        assert.equal(reasons.length, 1, 'it is told once');
        assert.match(String(reasons[0]), problem);
        await worker.close();
        await right.close();
      }
      assert.ok(ended.every(({ error }) => error === null));
    });
  });

describe('storeOfWorker', () => {
  const thrown = (store: PartStore, ms = 10_000) =>
    storeOfWorker(store, ms)
      .get('0'.repeat(64), 0)
      .catch((found: unknown) => found);

  it('takes all failures for those of the worker, and calls the store as a method', async () => {
    for (const error of [
      new MetainfoError('ERR_UNREADABLE', 'x'),
      new MetainfoError('ERR_HTTP', 'the server answers with status 403: it may need credentials'),
      Object.assign(new Error('AccessDenied'), { $metadata: { httpStatusCode: 403 } }),
      new Error('socket'),
      null,
    ]) {
      const found = await thrown({ get: async () => Promise.reject(error), put: async () => {} });
      assert.ok(found instanceof SickWorkerError);
      assert.equal(found.cause, error);
      assert.equal(found.code, error instanceof MetainfoError ? error.code : 'ERR_READ');
    }
    class Own {
      bytes = Buffer.from('x');
      async get() {
        return this.bytes;
      }
      async put() {}
    }
    assert.equal(String(await storeOfWorker(new Own(), 10_000).get('', 0)), 'x');
  });

  it('gives a store that does not answer up', async () => {
    const found = await thrown({ get: () => new Promise(() => {}), put: async () => {} }, 10);
    assert.ok(found instanceof SickWorkerError);
    assert.equal(found.message, 'The part store does not answer.');
  });
});

describe('clockGuard', () => {
  it('pauses workers while the clock is wrong, and ignores a server that is away', async () => {
    const calls: string[] = [];
    const worker = {
      hold: async () => void calls.push('pause'),
      release: async () => void calls.push('resume'),
    };
    let problem: Error | null = null;
    const require = async () => {
      if (problem) throw problem;
    };
    const look = clockGuard([worker], require, (error) => calls.push(String(Object(error).message)));
    await look();
    problem = new Error('connection lost');
    await look();
    assert.deepEqual(calls, []);
    problem = new MetainfoError('ERR_QUEUE', 'ahead');
    await look();
    await look();
    assert.deepEqual(calls.splice(0), ['ahead', 'pause', 'pause']);
    problem = new Error('connection lost');
    await look();
    problem = null;
    await look();
    await look();
    assert.deepEqual(calls, ['resume']);
  });
});
