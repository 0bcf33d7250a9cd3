import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { planParts, verify } from 'metainfo';
import { TorrentQueue } from '../src/index.ts';
import { SERVERS, setUpQueue } from './support/queue-servers.ts';

const KIB = 1024;
const [REDIS] = SERVERS;
const NOTHING = { workers: 0, waiting: 0, active: 0, delayed: 0, failed: 0 };

for (const { name: server, skip, start } of SERVERS)
  describe(`queues of roots on ${server}`, { skip }, () => {
    it('keep the jobs of a root from workers without it, and count jobs and workers by root', async (t) => {
      const { producer, work, ended, plan, folder, draft } = await setUpQueue(t, start);
      const queue = producer();
      await work(['out']);
      const queued = await queue.addTorrent(plan, { output: 'media/x.torrent' });
      const { roots, ...all } = await queue.counts(['media', 'out', 'other', 'out']);
      assert.deepEqual(roots, {
        media: { ...NOTHING, waiting: plan.parts },
        out: { ...NOTHING, workers: 1 },
        other: NOTHING,
      });
      assert.deepEqual(all, { ...NOTHING, workers: 1, waiting: plan.parts });
      assert.deepEqual(ended, []);
      // A process with both roots counts once.
      const both = await work(['media', 'out']);
      await queued.done();
      assert.deepEqual(
        await readFile(path.join(folder, 'media/x.torrent')),
        Buffer.from((await draft.generate()).bencode()),
      );
      assert.ok(ended.every(({ error, root }) => error === null && root === 'media'));
      const { workers, roots: counts } = await queue.counts(['media', 'out']);
      assert.deepEqual([workers, counts['media']?.workers, counts['out']?.workers], [2, 1, 2]);
      await both.close();
      while ((await queue.counts(['media'])).workers !== 0) await delay(20);
      for (const bad of [['media/x'], ['..'], [5], 'media', null])
        await assert.rejects(queue.counts(bad as never), { code: 'ERR_INVALID_ARGUMENT' });
    });

    it('find a worker with both roots for an output in another root, and for batches over several roots', async (t) => {
      const { producer, work, ended, plan, folder } = await setUpQueue(t, start);
      const queue = producer();
      await work(['media']);
      await work(['out']);
      await work(['media', 'out']);
      const queued = await queue.addTorrent(plan, { output: 'out/x.torrent' });
      assert.equal((await queued.done()).output, 'out/x.torrent');
      const items = ['set', 'set/a', 'set/b'].flatMap((name, i) => [
        { path: `media/${name}`, output: `out/${i}.torrent` },
        { path: `media/${name}`, output: `media/${i}.torrent` },
        { path: 'out/keep', output: `out/keep-${i}.torrent` },
      ]);
      const batch = await queue.addBatch('create', items);
      // All items of a job have the same roots.
      assert.equal(batch.jobs, items.length);
      for await (const { ok, item } of batch.results()) assert.ok(ok, `item ${item}`);
      assert.equal((await readdir(path.join(folder, 'out'))).length, 8);
      assert.ok(ended.every(({ error }) => error === null));
    });

    it('tell after ten seconds that nobody serves a root', async (t) => {
      const { producer, work, plan, folder, draft } = await setUpQueue(t, start);
      const queue = producer();
      await work(['out']);
      const queued = await queue.addTorrent(plan, { output: 'out/x.torrent' });
      const failure = new Error('nobody is there');
      const told: string[] = [];
      const onNoWorker = (root: string) => {
        told.push(root);
        throw failure;
      };
      const batch = await queue.addBatch('validate', [{ torrent: 'media/x.torrent' }]);
      const read = async () => {
        for await (const _ of batch.results({ onNoWorker })) assert.fail();
      };
      const torrent = await draft.generate();
      const engine = queue.engine({ root: folder, remoteRoot: 'media', onNoWorker });
      await Promise.all([
        assert.rejects(queued.done({ onNoWorker }), failure),
        assert.rejects(read(), failure),
        assert.rejects(verify(torrent, path.join(folder, 'media/set'), { engine }), (error: Error) =>
          String(error.cause ?? error).includes(failure.message),
        ),
      ]);
      assert.deepEqual(told, ['media', 'media', 'media']);
      // The torrent stays in the queue.
      await work(['media', 'out']);
      assert.equal((await queued.done({ onNoWorker })).output, 'out/x.torrent');
      assert.equal(told.length, 3);
    });
  });

describe('a batch', { skip: REDIS.skip }, () => {
  it('fails the items that name no root without a worker', async (t) => {
    const { producer } = await setUpQueue(t, REDIS.start);
    const queue = producer();
    const items = [null, { torrent: 5 }, { torrent: '/etc/passwd' }, { torrent: '' }, { torrent: 'zz' }] as never[];
    const results: string[] = [];
    for await (const { error, ok } of (await queue.addBatch('validate', items)).results())
      results.push(`${ok} ${error}`);
    assert.equal(results.length, items.length);
    for (const result of results) assert.match(result, /^false ERR_INVALID_ARGUMENT: a path must begin with the name/);
  });

  it('gives results as jobs end, and deletes what was read', async (t) => {
    const { producer, work, store, folder } = await setUpQueue(t, REDIS.start);
    const queue = producer();
    const torrents = ['media', 'out'].flatMap((root) => [`${root}/1`, `${root}/2`]);
    const batch = await queue.addBatch(
      'validate',
      torrents.map((torrent) => ({ torrent })),
      { perJob: 1 },
    );
    // Nobody serves `media` yet, whose items come first.
    await work(['out']);
    const results = batch.results({ order: 'completed' })[Symbol.asyncIterator]();
    const read = async () => ((await results.next()).value as { item: number }).item;
    assert.deepEqual([await read(), await read()].sort(), [2, 3]);
    const rest = [read(), read()];
    await work(['media']);
    assert.deepEqual((await Promise.all(rest)).sort(), [0, 1]);
    assert.equal((await results.next()).done, true);
    const left = await readdir(path.join(folder, 'store'), { recursive: true });
    assert.ok(
      left.every((file) => !file.includes(path.sep) || file.endsWith('key.json')),
      left.join(),
    );
    assert.equal(await store.get(batch.id, 'results-0'), null);
    const again = batch.results()[Symbol.asyncIterator]();
    await assert.rejects(again.next(), { code: 'ERR_INVALID_ARGUMENT', message: /were read.*keep: true/s });
    await assert.rejects(
      batch
        .results({ order: 'x' as never })
        [Symbol.asyncIterator]()
        .next(),
      {
        code: 'ERR_INVALID_ARGUMENT',
      },
    );
  });

  it('can be read twice if it is kept, and from where a reader stopped', async (t) => {
    const { producer, work } = await setUpQueue(t, REDIS.start);
    const queue = producer();
    await work(['media']);
    const batch = await queue.addBatch(
      'validate',
      [1, 2, 3].map((name) => ({ torrent: `media/${name}` })),
      { perJob: 1 },
    );
    const all = async (options: object) => {
      const items: number[] = [];
      for await (const { item } of batch.results(options)) items.push(item);
      return items;
    };
    assert.deepEqual(
      [await all({ keep: true }), await all({ keep: true })],
      [
        [0, 1, 2],
        [0, 1, 2],
      ],
    );
    // A job that was not read to its end is kept, and one that was is skipped.
    for await (const { item } of batch.results()) if (item === 1) break;
    assert.deepEqual([await all({ order: 'completed', keep: true }), await all({})].flat().sort(), [1, 1, 2, 2]);
    await assert.rejects(all({}), { code: 'ERR_INVALID_ARGUMENT' });
  });
});

describe('a job', { skip: REDIS.skip }, () => {
  it('runs earlier with a smaller priority, and tells seconds, bytes and attempt', async (t) => {
    const { producer, work, ended, plan, draft } = await setUpQueue(t, REDIS.start);
    const queue = producer();
    const other = await planParts(draft, { root: 'media/set', partSize: 96 * KIB });
    const late = await queue.addTorrent(plan, { output: 'media/late.torrent', priority: 9 });
    const early = await queue.addTorrent(other, { output: 'media/early.torrent', priority: 2 });
    assert.equal((await queue.counts(['media'])).waiting, plan.parts + other.parts);
    const batches = [];
    for (const priority of [7, undefined, 3])
      batches.push(await queue.addBatch('validate', [{ torrent: 'media/x' }], { ...(priority && { priority }) }));
    await work(['media']);
    await Promise.all([late.done(), early.done()]);
    while (ended.filter(({ kind }) => kind === 'batch').length < 3) await delay(10);
    const order = ended.filter(({ kind }) => kind === 'part').map(({ plan }) => plan);
    assert.deepEqual(order, [...Array(other.parts).fill(early.id), ...Array(plan.parts).fill(late.id)]);
    const ids = batches.map(({ id }) => id);
    const run = ended.filter(({ kind }) => kind === 'batch').map(({ plan }) => ids.indexOf(plan));
    assert.deepEqual(run, [1, 2, 0]);
    const bytes = (id: string) => ended.reduce((sum, job) => sum + (job.plan === id ? (job.bytes ?? 0) : 0), 0);
    assert.deepEqual([bytes(early.id), bytes(late.id)], [170 * KIB, 170 * KIB]);
    assert.ok(ended.every(({ attempt, seconds }) => attempt === 1 && seconds > 0 && seconds < 600));
    for (const priority of [0, -1, 1.5, 1001, '1', Number.NaN]) {
      const wrong = { priority: priority as number };
      await assert.rejects(queue.addTorrent(plan, { output: 'media/y', ...wrong }), { code: 'ERR_INVALID_ARGUMENT' });
      await assert.rejects(queue.addBatch('validate', [], wrong), { code: 'ERR_INVALID_ARGUMENT' });
    }
  });

  it('has spans in the telemetry of BullMQ, of the producer and the worker', async (t) => {
    const spans: string[] = [];
    const span = {
      setSpanOnContext: () => ({}),
      setAttribute() {},
      setAttributes() {},
      addEvent() {},
      end() {},
      recordException() {},
    };
    const telemetry = {
      tracer: {
        startSpan: (name: string) => {
          spans.push(name);
          return span;
        },
      },
      contextManager: {
        with: (_: unknown, run: () => unknown) => run(),
        active: () => ({}),
        getMetadata: () => 'trace-1',
        fromMetadata: () => ({}),
      },
    };
    const { connection, store, work, plan, ended } = await setUpQueue(t, REDIS.start);
    const queue = new TorrentQueue({ connection, store, telemetry });
    t.after(() => queue.close());
    await work(['media'], { telemetry });
    await (await queue.addTorrent(plan, { output: 'media/x.torrent' })).done();
    assert.ok(ended.length > 0);
    assert.ok(
      spans.some((name) => name.startsWith('addFlow')),
      spans.join(),
    );
    assert.ok(
      spans.some((name) => name.startsWith('process metainfo-parts-media')),
      spans.join(),
    );
    for (const bad of [5, null, {}])
      assert.throws(() => new TorrentQueue({ connection, store, telemetry: bad as never }), {
        code: 'ERR_INVALID_ARGUMENT',
      });
  });
});
