import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFile, readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { Queue, WaitingChildrenError, Worker } from 'bullmq';
import { Cluster, Redis } from 'ioredis';
import { folderStore, planParts, TorrentCreate } from 'metainfo';
import { freePort } from '../../../test/support/free-port.ts';
import { sparseFile, temporaryFolder, writeTree } from '../../../test/support/tree.ts';
import { createWorkers, type QueuedBatch, queueName, TorrentQueue } from '../src/index.ts';
import { SERVERS, setUpQueue } from './support/queue-servers.ts';
import { redisMissing } from './support/redis.ts';

const KIB = 1024;
const [REDIS] = SERVERS;

/** A queue, and plans of torrents of one part. */
async function small(t: TestContext, start: (t: TestContext) => Promise<string> = REDIS.start) {
  const place = await setUpQueue(t, start);
  const media = path.join(place.folder, 'media');
  const tracker = 'https://tracker.example/passkey/announce';
  const draft = (name: string) => new TorrentCreate({ pathRoot: path.join(media, name), trackers: [tracker] });
  const planOf = (name: string) => planParts(draft(name), { root: `media/${name}` });
  return { ...place, media, draft, planOf, queue: place.producer() };
}

/** A client of the server of a queue. */
function clientOf(t: TestContext, connection: string): Redis {
  const client = new Redis(connection).on('error', () => {});
  t.after(() => client.disconnect());
  return client;
}

async function all(batch: QueuedBatch, options = {}) {
  const results = [];
  for await (const { item, ok, error } of batch.results(options)) results.push([item, ok, error]);
  return results;
}

for (const { name, skip, start } of SERVERS)
  describe(`a torrent of one part on ${name}`, { skip }, () => {
    it('is one job, whose result others can wait for', async (t) => {
      const { queue, work, ended, media, draft, planOf, producer, store } = await small(t, start);
      const plan = await planOf('set/a');
      const queued = await queue.addTorrent(plan, { output: 'media/a.torrent' });
      assert.deepEqual(await queued.progress(), {
        state: 'waiting',
        hashed: 0,
        parts: 1,
        bytes: 0,
        totalBytes: 100 * KIB,
      });
      const other = await producer().addTorrent(plan, { output: 'media/a.torrent' });
      assert.deepEqual([queued.attached, other.attached], [false, true]);
      const elsewhere = producer().addTorrent(plan, { output: 'media/b.torrent' });
      await assert.rejects(elsewhere, { code: 'ERR_INVALID_ARGUMENT', message: /with the output media\/a\.torrent/ });
      assert.deepEqual(await store.get(plan.id, 'plan'), null);
      await work();
      const whole = await draft('set/a').generate();
      assert.equal((await queued.done()).infohashV2, whole.infohashV2);
      assert.deepEqual(await other.done(), await queued.done());
      assert.deepEqual(await readFile(path.join(media, 'a.torrent')), Buffer.from(whole.bencode()));
      const jobs = ended.map(({ kind, index, bytes, error }) => ({ kind, index, bytes, error }));
      assert.deepEqual(jobs, [{ kind: 'join', index: null, bytes: 100 * KIB, error: null }]);
      assert.equal((await queued.progress()).state, 'done');
      // It has ended, so it is made again.
      const again = await queue.addTorrent(plan, { output: 'media/b.torrent' });
      assert.equal(again.attached, false);
      assert.equal((await again.done()).output, 'media/b.torrent');
    });

    it('does not hold up others, and others do not hold it up', async (t) => {
      const { queue, work, ended, media, planOf } = await small(t, start);
      await sparseFile(media, 'huge', 400 * 16 * KIB);
      const huge = new TorrentCreate({ pathRoot: path.join(media, 'huge'), pieceLength: 16 * KIB });
      const plan = await planParts(huge, { root: 'media/huge', version: 'v2', partSize: 16 * KIB });
      assert.equal(plan.parts, 400);
      const last = await queue.addTorrent(plan, { output: 'media/huge.torrent' });
      const names = Array.from({ length: 10 }, (_, i) => `small/${i}`);
      await writeTree(
        media,
        Object.fromEntries(
          names.flatMap((name) => [
            [name, 5],
            [`two-${name}`, 40 * KIB],
          ]),
        ),
      );
      const added = [];
      for (const name of names) {
        added.push(await queue.addTorrent(await planOf(name), { output: `media/${name}.torrent` }));
        const draft = new TorrentCreate({ pathRoot: path.join(media, `two-${name}`), pieceLength: 16 * KIB });
        const two = await planParts(draft, { root: `media/two-${name}`, version: 'v2', partSize: 32 * KIB });
        assert.equal(two.parts, 2);
        added.push(await queue.addTorrent(two, { output: `media/two-${name}.torrent` }));
      }
      await work();
      while (ended.filter(({ kind, plan: id }) => kind === 'part' && id !== plan.id).length < 20) await delay(5);
      const before = ended.filter(({ plan: id }) => id === plan.id).length;
      assert.ok(before <= 20, `${before} parts of the huge torrent ended before the small ones`);
      for (const torrent of added) await torrent.done();
      await last.cancel();
    });
  });

describe('the job of a small torrent', { skip: REDIS.skip }, () => {
  it('has a label, but nothing else that the server can read or change', async (t) => {
    const { queue, connection, planOf, folder, work } = await small(t);
    const plan = await planOf('set/a');
    const { id } = await queue.addTorrent(plan, { output: 'media/x.torrent', label: 'Album 5' });
    const client = clientOf(t, connection);
    const key = `metainfo:${queueName('join', 'media')}:${id}-join`;
    const data = (await client.hget(key, 'data')) as string;
    assert.equal(JSON.parse(data).label, 'Album 5');
    assert.ok(!/set|passkey|x\.torrent/.test(data), data);
    assert.deepEqual(await client.keys(`metainfo:${queueName('part', 'media')}:*-*`), []);
    const stored = await readdir(path.join(folder, 'store'), { recursive: true });
    assert.deepEqual(
      stored.filter((file) => file.includes(path.sep)).map((file) => path.basename(file)),
      ['key.json'],
    );
    const at = data.indexOf('"sealed"') + 100;
    const changed = `${data.slice(0, at)}${data[at] === 'A' ? 'B' : 'A'}${data.slice(at + 1)}`;
    await client.hset(key, 'data', changed);
    await work();
    const queued = await queue.addTorrent(plan, { output: 'media/x.torrent' }).catch((error) => error);
    const failure = 'done' in queued ? await queued.done().catch((error: unknown) => error) : queued;
    assert.equal(failure.code, 'ERR_PLAN');
  });

  it('refuses content that changed after it was planned', async (t) => {
    const { queue, work, media, planOf, ended } = await small(t);
    const queued = await queue.addTorrent(await planOf('set/a'), { output: 'media/x.torrent' });
    await appendFile(path.join(media, 'set/a'), 'more');
    await work();
    await assert.rejects(queued.done(), { code: 'ERR_FILE_CHANGED' });
    assert.equal(ended.length, 1, 'it was tried again');
  });

  it('takes the options of BullMQ that are safe', async (t) => {
    const { queue, work, planOf, connection } = await small(t);
    const options = { connection: { url: connection }, prefix: 'own' };
    const own = new Queue('albums', options);
    let added: string | undefined;
    const worker = new Worker(
      'albums',
      async (job, token) => {
        if (added) return Object.values(await job.getChildrenValues());
        const parent = { id: job.id as string, queue: job.queueQualifiedName };
        const torrent = await queue.addTorrent(await planOf('set/b'), { output: 'media/b.torrent', job: { parent } });
        added = torrent.id;
        if (await job.moveToWaitingChildren(token as string)) throw new WaitingChildrenError();
        return [];
      },
      options,
    );
    const finished = once(worker, 'completed');
    await own.add('album', {});
    const late = await queue.addTorrent(await planOf('set/a'), {
      output: 'media/a.torrent',
      job: { delay: 3_600_000, removeOnComplete: true },
    });
    const workers = await work(['media'], { limiter: { max: 100, duration: 1000 } });
    const [{ returnvalue }] = await finished;
    await worker.close();
    await own.close();
    assert.equal(returnvalue[0].output, 'media/b.torrent');
    assert.deepEqual([(await queue.counts(['media'])).delayed, (await late.progress()).state], [1, 'waiting']);
    assert.ok(workers.workers.some(({ name }) => name === queueName('join', 'media')));
    for (const job of [5, { attempts: 5 }, { jobId: 'x' }] as never[])
      await assert.rejects(queue.addTorrent(await planOf('set/a'), { output: 'media/a.torrent', job }), {
        code: 'ERR_INVALID_ARGUMENT',
      });
  });
});

describe('queue.batch', { skip: REDIS.skip }, () => {
  const items = ['x', 'y', 'z'].map((name) => ({ torrent: `media/${name}` }));

  it('gives the results and the progress of a batch whose producer is gone', async (t) => {
    const { producer, work } = await small(t);
    const first = producer();
    const { id } = await first.addBatch('validate', items, { perJob: 2 });
    const named = await first.addBatch('validate', items, { id: 'of monday', perJob: 1 });
    await first.close();
    const queue = producer();
    const batch = await queue.batch(id);
    assert.deepEqual([batch.attached, batch.jobs, batch.id], [true, 2, id]);
    assert.deepEqual(await batch.progress(), { jobs: 2, doneJobs: 0, items: 3, doneItems: 0 });
    const again = await queue.addBatch('validate', items, { id: 'of monday' });
    assert.deepEqual([again.attached, again.jobs, again.id], [true, 3, named.id]);
    const others = queue.addBatch('validate', items.slice(1), { id: 'of monday' });
    await assert.rejects(others, {
      code: 'ERR_INVALID_ARGUMENT',
      message: /'of monday' is in the queue with other items/,
    });
    await work();
    for (const one of [batch, await queue.batch('of monday')]) {
      assert.deepEqual(
        (await all(one, { keep: true })).map(([item]) => item),
        [0, 1, 2],
      );
      assert.deepEqual(await one.progress(), { jobs: one.jobs, doneJobs: one.jobs, items: 3, doneItems: 3 });
      assert.equal(await one.cancel(), false);
      await all(one);
    }
    for (const gone of [id, 'of monday', 'unknown'])
      await assert.rejects(queue.batch(gone), { code: 'ERR_QUEUE', message: /has no batch/ });
    // Its results were read, so the id is free.
    assert.equal((await queue.addBatch('validate', items, { id: 'of monday' })).attached, false);
  });

  it('adds what is missing if the producer died while it added the batch', async (t) => {
    const { producer, work, ended } = await small(t);
    const died = async function* () {
      yield* items.slice(0, 2);
      throw new Error('died');
    };
    const options = { id: 'x', perJob: 1 };
    await assert.rejects(producer().addBatch('validate', died(), options), { message: 'died' });
    const batch = await producer().addBatch('validate', items, options);
    assert.equal(batch.attached, false);
    await work();
    assert.equal((await all(batch)).length, 3);
    assert.equal(ended.length, 3);
  });

  it('cancels jobs that wait, and tells it to all readers', async (t) => {
    const { producer } = await small(t);
    const queue = producer();
    const { id } = await queue.addBatch('validate', items, { perJob: 1 });
    assert.equal(await (await producer().batch(id)).cancel(), true);
    const error = 'ERR_ABORTED: The torrent was cancelled.';
    assert.deepEqual(
      await all(await queue.batch(id)),
      [0, 1, 2].map((item) => [item, false, error]),
    );
  });

  it('refuses jobs that are too large before any work, and only the item that is too long', async (t) => {
    const { producer, work, media } = await small(t);
    const queue = producer();
    await assert.rejects(queue.addBatch('validate', items, { perJob: 2001 }), {
      code: 'ERR_INVALID_ARGUMENT',
      message: /perJob must be a whole number from 1 to 2000/,
    });
    await writeTree(media, { 'out/keep': 1 });
    const item = (name: string, comment: string) => ({
      path: 'media/set/a',
      output: `media/out/${name}.torrent`,
      fields: { comment },
    });
    const long = 'x'.repeat(2 ** 20);
    await work();
    // All items are in one job, but for the bytes.
    const batch = await queue.addBatch('create', [
      item('a', 'a'),
      item('b', long),
      item('c'.repeat(5000), 'c'),
      item('d', 'd'),
    ]);
    const results = await all(batch);
    assert.deepEqual(
      results.map(([, ok]) => ok),
      [true, false, false, true],
    );
    assert.match(
      String(results[1]?.[2]),
      /^ERR_INVALID_ARGUMENT: the item has 1048\d\d\d characters of JSON: at most 1048576/,
    );
    assert.equal(String(results[2]?.[2]).length, 1000);
    const many = Array.from({ length: 12 }, (_, i) => item(`m${i}`, 'y'.repeat(2 ** 20 - 200)));
    const large = await queue.addBatch('create', many, { perJob: 12 });
    assert.ok(large.jobs >= 3, `${large.jobs} jobs`);
    assert.ok((await all(large)).every(([, ok]) => ok));
  });
});

describe('a Redis Cluster', { skip: redisMissing() }, () => {
  it('works with a prefix in braces', async (t) => {
    const [port, folder] = [await freePort(), await temporaryFolder(t)];
    const server = spawn('redis-server', [
      ...['--port', String(port), '--bind', '127.0.0.1', '--dir', folder, '--save', ''],
      ...['--cluster-enabled', 'yes', '--cluster-announce-ip', '127.0.0.1', '--cluster-port', String(await freePort())],
    ]);
    const ends: (() => unknown)[] = [];
    t.after(async () => {
      for (const end of ends.reverse()) await end();
    });
    ends.push(async () => {
      server.kill();
      if (server.exitCode === null) await once(server, 'exit');
    });
    const client = clientOf(t, `redis://127.0.0.1:${port}`);
    await client.call('CLUSTER', 'ADDSLOTSRANGE', '0', '16383');
    while (!String(await client.call('CLUSTER', 'INFO')).includes('cluster_state:ok')) await delay(20);
    const connect = () => {
      const cluster = new Cluster([{ host: '127.0.0.1', port }], { redisOptions: { maxRetriesPerRequest: null } });
      ends.push(() => cluster.disconnect());
      return cluster;
    };
    await writeTree(folder, { 'media/a': 70 * KIB });
    const store = folderStore(path.join(folder, 'store'));
    const shared = { store, prefix: '{metainfo}' };
    const workers = createWorkers({ ...shared, connection: connect(), roots: { media: path.join(folder, 'media') } });
    const queue = new TorrentQueue({ ...shared, connection: connect() });
    ends.push(() => workers.close());
    ends.push(() => queue.close());
    await workers.ready();
    const draft = new TorrentCreate({ pathRoot: path.join(folder, 'media/a'), pieceLength: 16 * KIB });
    for (const partSize of [16 * KIB, 2 ** 20]) {
      const plan = await planParts(draft, { root: 'media/a', partSize });
      const queued = await queue.addTorrent(plan, { output: `media/${partSize}.torrent` });
      assert.equal((await queued.done()).files, 1);
    }
    const batch = await queue.addBatch('validate', [{ torrent: 'media/16384.torrent' }]);
    assert.deepEqual(await all(batch), [[0, true, null]]);
    assert.equal((await queue.counts(['media'])).failed, 0);
    for (const prefix of ['{}', '{a', 'a{b}', '{a}{b}'])
      assert.throws(() => new TorrentQueue({ ...shared, prefix, connection: connect() }), {
        code: 'ERR_INVALID_ARGUMENT',
      });
  });
});
