import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { renameSync, symlinkSync } from 'node:fs';
import { link, mkdir, readdir, readFile, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { inspect } from 'node:util';
import { Queue } from 'bullmq';
import { folderStore, type MetainfoError, type PartStore, planParts, Torrent, TorrentCreate, verify } from 'metainfo';
import { sparseFile, temporaryFolder, writeTree } from '../../../test/support/tree.ts';
import { runBatchJob } from '../src/batch-job.ts';
import { createWorkers, type EndedJob, TorrentQueue, type WorkerState, type WorkersOptions } from '../src/index.ts';
import { RESTS } from '../src/passing.ts';
import { redisMissing, redisServer } from './support/redis.ts';

const KIB = 1024;
const skip = redisMissing();

/** A job of a batch whose failures may pass. */
const JOB = { required: {}, isLastAttempt: false, isFinal: async () => false, touch: () => {} };

/** A server, a folder that is the root `data`, a store, and started workers. */
async function cluster(t: TestContext, options: Partial<WorkersOptions> = {}) {
  // Before the server ends, and also after a failure: an open connection would hold up the run.
  const opened: { close(): Promise<void> }[] = [];
  const closing = <T extends { close(): Promise<void> }>(one: T): T => {
    opened.push(one);
    return one;
  };
  t.after(async () => {
    for (const one of opened.reverse()) await one.close();
  });
  const [redis, folder] = [await redisServer(t), await temporaryFolder(t)];
  const base = path.join(folder, 'data');
  await writeTree(base, { 'set/a': 300 * KIB, 'set/b/c': 70 * KIB, 'set/empty': 0 });
  const store = options.store ?? folderStore(path.join(folder, 'store'));
  const shared = { connection: redis.url, store };
  const ended: EndedJob[] = [];
  const onJob = (job: EndedJob) => ended.push(job);
  RESTS.lone = 0;
  const workers = closing(createWorkers({ ...shared, roots: { data: base }, onJob, ...options }));
  const queue = closing(new TorrentQueue(shared));
  await workers.ready();
  const draft = new TorrentCreate({ pathRoot: path.join(base, 'set'), pieceLength: 16 * KIB, comment: 'x' });
  return { redis, folder, base, store, workers, queue, ended, draft, closing };
}

describe('TorrentQueue', { skip }, () => {
  it('makes the torrent that generate makes, and writes it beneath a root', async (t) => {
    const { base, queue, ended, draft, redis } = await cluster(t, { concurrency: 3 });
    for (const version of ['v1', 'v2', 'hybrid'] as const) {
      // Either the plan has the root of the workers, or the options give it.
      const isNamed = version !== 'v1';
      const plan = await planParts(draft, { ...(isNamed && { root: 'data/set' }), version, partSize: 32 * KIB });
      const output = `data/${version}.torrent`;
      const queued = await queue.addTorrent(plan, { output, ...(!isNamed && { root: 'data/set' }) });
      const states: number[] = [];
      const joined = await queued.done({ onProgress: ({ hashed }) => void states.push(hashed) });
      const whole = await draft.generate({ version });
      assert.deepEqual(
        [joined.output, joined.version, joined.infohashV1, joined.infohashV2, joined.files, joined.totalSize],
        [output, version, whole.infohashV1, whole.infohashV2, 3, 370 * KIB],
      );
      assert.deepEqual(await readFile(path.join(base, `${version}.torrent`)), Buffer.from(whole.bencode()));
      assert.equal(states.at(-1), plan.parts);
      const parts = ended.filter(({ kind, plan: id }) => kind === 'part' && id === queued.id);
      assert.equal(parts.length, plan.parts);
    }
    assert.ok(ended.every(({ error }) => error === null));
    // The jobs of the parts were kept until they were joined.
    const jobs = (await redis.client.keys('metainfo:metainfo-parts-data:*')).filter((key) =>
      /:[0-9a-f]{64}-\d+$/.test(key),
    );
    assert.deepEqual(jobs, []);
  });

  it('keeps only the plan id and the index in the jobs of parts: at most 200 bytes', async (t) => {
    const { queue, draft, redis, workers } = await cluster(t);
    await workers.close();
    const plan = await planParts(draft, { root: 'data/set', partSize: 32 * KIB });
    const { id } = await queue.addTorrent(plan, { output: 'data/x.torrent' });
    for (let index = 0; index < plan.parts; index += 1) {
      const data = (await redis.client.hget(`metainfo:metainfo-parts-data:${id}-${index}`, 'data')) as string;
      assert.deepEqual(JSON.parse(data), { plan: id, index });
      assert.ok(data.length <= 200);
    }
  });

  it('takes at most 10 MB of Redis for 4,000 parts', async (t) => {
    const { queue, base, redis, workers } = await cluster(t);
    await workers.close();
    await sparseFile(base, 'large', 4000 * 16 * KIB);
    const draft = new TorrentCreate({ pathRoot: path.join(base, 'large'), pieceLength: 16 * KIB });
    const plan = await planParts(draft, { root: 'data/large', version: 'v2', partSize: 16 * KIB });
    assert.equal(plan.parts, 4000);
    const used = async () => Number(/used_memory:(\d+)/.exec(await redis.client.info('memory'))?.[1]);
    const before = await used();
    await queue.addTorrent(plan, { output: 'data/x.torrent' });
    const bytes = (await used()) - before;
    t.diagnostic(`${(bytes / 1e6).toFixed(1)} MB`);
    assert.ok(bytes > 0 && bytes <= 10e6, `${bytes} bytes`);
  });

  it('attaches to a torrent that is in the queue, and hashes no stored part again', async (t) => {
    const { queue, draft, ended, workers } = await cluster(t);
    const plan = await planParts(draft, { root: 'data/set', partSize: 32 * KIB });
    const place = { output: 'data/x.torrent' };
    const first = await queue.addTorrent(plan, place);
    const second = await queue.addTorrent(plan, place);
    assert.deepEqual([first.attached, second.attached, first.id === second.id], [false, true, true]);
    await assert.rejects(queue.addTorrent(plan, { ...place, output: 'data/y.torrent' }), {
      code: 'ERR_INVALID_ARGUMENT',
    });
    assert.deepEqual(await first.done(), await second.done());
    assert.equal(ended.filter(({ kind }) => kind === 'part').length, plan.parts);
    // The torrent has ended, so it is queued again, from the stored parts.
    const third = await queue.addTorrent(plan, { ...place, force: true });
    assert.equal(third.attached, false);
    await third.done();
    await workers.close();
  });

  it('fails with the error of a part, and does not try again what is permanent', async (t) => {
    const { queue, draft, base, ended, workers } = await cluster(t);
    const file = path.join(base, 'set/a');
    await utimes(file, 1000, 1000);
    const plan = await planParts(draft, { root: 'data/set', partSize: 32 * KIB });
    await writeFile(file, Buffer.alloc(300 * KIB, 'other'));
    await utimes(file, 1000, 1000);
    const queued = await queue.addTorrent(plan, { output: 'data/x.torrent' });
    await assert.rejects(queued.done(), { code: 'ERR_FILE_CHANGED', message: /set\/a changed after it was planned/ });
    const failed = ended.filter(({ kind, error }) => kind === 'part' && error?.startsWith('ERR_FILE_CHANGED'));
    assert.ok(failed.length > 0);
    assert.equal(new Set(failed.map(({ index }) => index)).size, failed.length, 'a part was tried again');
    await workers.close();
    assert.ok(
      ended.every(({ kind }) => kind === 'part'),
      'the join was reported, although no worker ran it',
    );
    assert.equal((await queued.progress()).state, 'failed');
    await assert.rejects(readFile(path.join(base, 'x.torrent')), { code: 'ENOENT' });
  });

  it('refuses paths that begin with no root, or leave it, without trying again', async (t) => {
    const { queue, draft, base, folder, ended } = await cluster(t);
    await writeTree(folder, { 'secret/a': 300 * KIB });
    await symlink(path.join(folder, 'secret'), path.join(base, 'link'));
    for (const [root, output] of [
      ['/etc', 'data/x.torrent'],
      ['data/set', '../x.torrent'],
      ['data//set', 'data/x.torrent'],
      ...['data', 'data/', 'data//x.torrent', 'data/./x', 'data/x/', 'data/a\0b'].map((output) => ['data/set', output]),
    ] as [string, string][]) {
      const plan = await planParts(draft, { root, partSize: 2 ** 20 });
      await assert.rejects(queue.addTorrent(plan, { output }), { code: 'ERR_INVALID_ARGUMENT' }, output);
    }
    for (const [root, output] of [
      ['data/../secret', 'data/x.torrent'],
      ['data/set', 'data/../x.torrent'],
    ] as const) {
      const plan = await planParts(draft, { root, partSize: 2 ** 20 });
      await assert.rejects(queue.addTorrent(plan, { output }), { code: 'ERR_PATH_OUTSIDE', message: /component \.\./ });
    }
    const cases: [root: string, output: string, code: string][] = [
      ['data/link', 'data/x.torrent', 'ERR_PATH_OUTSIDE'],
      ['data/set', 'data/link/x.torrent', 'ERR_PATH_OUTSIDE'],
      ['data/missing', 'data/x.torrent', 'ERR_NOT_FOUND'],
    ];
    for (const [root, output, code] of cases) {
      ended.length = 0;
      const plan = await planParts(draft, { root, partSize: 2 ** 20 });
      assert.equal((await planParts(draft, { root, partSize: 2 ** 20 })).id, plan.id);
      const queued = await queue.addTorrent(plan, { output });
      await assert.rejects(queued.done(), { code }, `${root} ${output}`);
      assert.equal(ended.filter(({ error }) => error?.startsWith(code)).length, 1, `${root} ${output}`);
    }
  });

  it('writes nothing outside a root when the folder of the output is swapped for a symlink during the join', async (t) => {
    const parts = folderStore(await temporaryFolder(t));
    let swap = () => {};
    const store: PartStore = {
      ...parts,
      get: async (id, name) => {
        const bytes = await parts.get(id, name);
        // Only the join finds a hashed part.
        if (typeof name === 'number' && bytes) swap();
        return bytes;
      },
    };
    const { queue, draft, base, folder } = await cluster(t, { store });
    await writeTree(base, { 'out/keep': 1 });
    await writeTree(folder, { 'outside/x.torrent': 'precious' });
    swap = () => {
      renameSync(path.join(base, 'out'), path.join(base, 'away'));
      symlinkSync('../outside', path.join(base, 'out'));
      swap = () => {};
    };
    const plan = await planParts(draft, { root: 'data/set', partSize: 192 * KIB });
    const queued = await queue.addTorrent(plan, { output: 'data/out/x.torrent', force: true });
    await assert.rejects(queued.done(), { code: 'ERR_PATH_OUTSIDE', message: 'data/out leaves data.' });
    assert.equal(String(await readFile(path.join(folder, 'outside/x.torrent'))), 'precious');
    assert.deepEqual(await readdir(path.join(folder, 'outside')), ['x.torrent']);
  });

  it('refuses to replace a planned file with the torrent', async (t) => {
    const { queue, draft, base, ended } = await cluster(t);
    const content = await readFile(path.join(base, 'set/b/c'));
    await link(path.join(base, 'set/b/c'), path.join(base, 'hard'));
    const plan = await planParts(draft, { root: 'data/set', partSize: 2 ** 20 });
    for (const output of ['data/set/b/c', 'data/hard']) {
      ended.length = 0;
      const queued = await queue.addTorrent(plan, { output, force: true });
      await assert.rejects(queued.done(), { code: 'ERR_OUTPUT_IS_INPUT' });
      assert.deepEqual(await readFile(path.join(base, 'set/b/c')), content);
      assert.equal(ended.filter(({ kind, error }) => kind === 'join' && error !== null).length, 1);
    }
  });

  it('verifies through its engine, and finds a flipped bit although the times are unchanged', async (t) => {
    const { queue, draft, base, folder } = await cluster(t, { concurrency: 2 });
    const torrent = await draft.generate();
    const engine = queue.engine({ root: base, remoteRoot: 'data', partSize: 64 * KIB });
    const content = path.join(base, 'set');
    assert.deepEqual(await verify(torrent, content, { engine }), await verify(torrent, content));
    const file = path.join(content, 'a');
    await utimes(file, 1000, 1000);
    const bytes = await readFile(file);
    bytes[200 * KIB] = (bytes[200 * KIB] as number) ^ 1;
    await writeFile(file, bytes);
    await utimes(file, 1000, 1000);
    const report = await verify(torrent, content, { engine });
    assert.deepEqual([report.ok, report.badPieces], [false, [[12, 12]]]);
    assert.deepEqual(await readdir(path.join(folder, 'store')), [], 'the parts of verifications stay');
  });

  it('works off batches: creates, verifies and validates many torrents', async (t) => {
    const { queue, base } = await cluster(t, { concurrency: 2 });
    const count = 23;
    await writeTree(base, Object.fromEntries(Array.from({ length: count }, (_, i) => [`many/${i}/file`, 1000 + i])));
    await writeTree(base, { 'out/keep': 1 });
    const fields = { comment: 'a batch', trackers: ['udp://a.example:1/x'], info: { private: true } };
    const items = Array.from({ length: count }, (_, i) => ({
      path: `data/many/${i}`,
      output: `data/out/${i}.torrent`,
      fields,
    }));
    const all = async (batch: Awaited<ReturnType<typeof queue.addBatch>>) => {
      const results = [];
      for await (const result of batch.results()) results.push(result);
      return results;
    };
    const batch = await queue.addBatch('create', [...items, { path: 'data/none', output: 'data/out/n.torrent' }], {
      perJob: 5,
    });
    assert.equal(batch.jobs, 5);
    const created = await all(batch);
    assert.deepEqual(
      created.map(({ ok }) => ok),
      [...items.map(() => true), false],
    );
    assert.match(created.at(-1)?.error ?? '', /^ERR_NOT_FOUND: /);
    for (const { item, infohashV1 } of created.slice(0, count)) {
      const torrent = await Torrent.read(path.join(base, `out/${item}.torrent`));
      const same = await new TorrentCreate({ ...fields, pathRoot: path.join(base, `many/${item}`) }).generate();
      assert.ok(Buffer.from(torrent.bencode()).equals(same.bencode()));
      assert.equal(infohashV1, torrent.infohashV1);
    }
    await writeFile(path.join(base, 'many/3/file'), 'damage');
    await writeFile(path.join(base, 'out/4.torrent'), 'damage');
    const checks = Array.from({ length: count }, (_, i) => ({
      torrent: `data/out/${i}.torrent`,
      path: `data/many/${i}`,
    }));
    const verified = await all(await queue.addBatch('verify', checks));
    assert.deepEqual(
      verified.flatMap(({ ok, item, error }) => (ok ? [] : [[item, error?.slice(0, 11) ?? null]])),
      [
        [3, null],
        [4, 'ERR_BENCODE'],
      ],
    );
    const valid = await all(
      await queue.addBatch(
        'validate',
        checks.map(({ torrent }) => ({ torrent })),
      ),
    );
    assert.deepEqual(
      valid.filter(({ ok }) => !ok).map(({ item }) => item),
      [4],
    );
  });

  it('refuses items that would leave the roots', async (t) => {
    const { queue } = await cluster(t);
    const items = [
      { path: 'data/../x', output: 'data/x.torrent' },
      { path: 'data/set', output: '/tmp/x.torrent' },
      { path: 'data/set', output: 'data/x.torrent', fields: { followOutside: true } as never },
      { path: 'data/set', output: 'data/x.torrent', fields: { pathRoot: '/etc' } as never },
      null as never,
    ];
    const errors: (string | undefined)[] = [];
    for await (const { error } of (await queue.addBatch('create', items)).results()) errors.push(error?.split(':')[0]);
    assert.deepEqual(errors, ['ERR_PATH_OUTSIDE', ...Array(4).fill('ERR_INVALID_ARGUMENT')]);
  });

  it('cancels a torrent', async (t) => {
    const { queue, draft, base, workers } = await cluster(t);
    await workers.close();
    const plan = await planParts(draft, { root: 'data/set', partSize: 32 * KIB });
    const queued = await queue.addTorrent(plan, { output: 'data/x.torrent' });
    assert.equal(await queued.cancel(), true);
    await assert.rejects(queued.done(), { code: 'ERR_ABORTED', message: 'The torrent was cancelled.' });
    await assert.rejects(readFile(path.join(base, 'x.torrent')), { code: 'ENOENT' });
    const again = await queue.addTorrent(plan, { output: 'data/y.torrent' });
    assert.equal(again.attached, false);
  });

  it('ends a running part of a cancelled torrent within seconds, and keeps the result of one that has ended', async (t) => {
    const { queue, base, ended, redis } = await cluster(t, { threads: 1 });
    await sparseFile(base, 'large', 2 ** 40);
    const draft = new TorrentCreate({ pathRoot: path.join(base, 'large'), pieceLength: 2 ** 24 });
    const plan = await planParts(draft, { root: 'data/large', version: 'v2', partSize: 2 ** 40 });
    const queued = await queue.addTorrent(plan, { output: 'data/x.torrent' });
    const active = async () => Number(await redis.client.llen('metainfo:metainfo-parts-data:active'));
    while ((await active()) === 0) await delay(20);
    await queued.cancel();
    await assert.rejects(queued.done(), { code: 'ERR_ABORTED' });
    while (ended.length === 0) await delay(20);
    assert.deepEqual([await active(), ended[0]?.error], [0, 'ERR_ABORTED: The torrent was cancelled.']);
    await assert.rejects(queued.done(), { code: 'ERR_ABORTED' });

    const small = await planParts(new TorrentCreate({ pathRoot: path.join(base, 'set') }), { root: 'data/set' });
    const other = await queue.addTorrent(small, { output: 'data/y.torrent' });
    const joined = await other.done();
    assert.equal(await other.cancel(), false);
    assert.deepEqual(await other.done(), joined);
  });

  it('cancels a torrent that is being joined', async (t) => {
    const folder = await temporaryFolder(t);
    const inner = folderStore(path.join(folder, 'store'));
    let cancel: () => Promise<unknown> = async () => {};
    const store: PartStore = {
      put: (id, name, bytes) => inner.put(id, name, bytes),
      get: async (id, name) => {
        // A part that is hashed asks for itself before.
        const found = await inner.get(id, name);
        if (name === 0 && found) await cancel();
        return inner.get(id, name);
      },
    };
    const { queue, draft, base } = await cluster(t, { store });
    const place = { output: 'data/x.torrent' };
    const queued = await queue.addTorrent(await planParts(draft, { root: 'data/set', partSize: 32 * KIB }), place);
    cancel = () => queued.cancel();
    await assert.rejects(queued.done(), { code: 'ERR_ABORTED' });
    await assert.rejects(readFile(path.join(base, 'x.torrent')), { code: 'ENOENT' });
  });

  it('leaves nothing of a cancelled verification in the store', async (t) => {
    const { queue, base, ended, folder, redis } = await cluster(t, { threads: 1 });
    await sparseFile(base, 'large', 2 ** 40);
    const file = path.join(base, 'large');
    const engine = queue.engine({ root: base, remoteRoot: 'data', partSize: 2 ** 40 });
    const stop = new AbortController();
    const hashed = new TorrentCreate({ pathRoot: file, pieceLength: 2 ** 24 }).generate({
      version: 'v2',
      engine,
      signal: stop.signal,
    });
    hashed.catch(() => {});
    while (Number(await redis.client.llen('metainfo:metainfo-parts-data:active')) === 0) await delay(20);
    stop.abort();
    await assert.rejects(hashed, { code: 'ERR_ABORTED' });
    while (ended.length === 0) await delay(20);
    assert.equal(ended[0]?.error, 'ERR_ABORTED: The torrent was cancelled.');
    assert.deepEqual(await readdir(path.join(folder, 'store')), []);
  });

  it('leaves no job of a verification that is cancelled while its part is being added', async (t) => {
    const { queue, base, folder, workers, redis } = await cluster(t);
    await workers.close();
    await writeFile(path.join(base, 'small'), 'x');
    const stop = new AbortController();
    const added = Queue.prototype.add;
    t.mock.method(Queue.prototype, 'add', function (this: Queue, ...args: Parameters<typeof added>) {
      const adding = added.apply(this, args);
      if (args[0] === 'part') stop.abort();
      return adding;
    });
    const engine = queue.engine({ root: base, remoteRoot: 'data' });
    const draft = new TorrentCreate({ pathRoot: path.join(base, 'small') });
    await assert.rejects(draft.generate({ version: 'v2', engine, signal: stop.signal }), { code: 'ERR_ABORTED' });
    while ((await readdir(path.join(folder, 'store'))).length > 0) await delay(20);
    assert.equal(await redis.client.llen('metainfo:metainfo-parts-data:wait'), 0);
  });

  it('says that the jobs are lost after the server lost its data', async (t) => {
    const { queue, draft, redis, workers } = await cluster(t);
    await workers.close();
    const queued = await queue.addTorrent(await planParts(draft, { root: 'data/set', partSize: 32 * KIB }), {
      output: 'data/x.torrent',
    });
    const batch = await queue.addBatch('validate', [{ torrent: 'data/x.torrent' }, { torrent: 'data/y.torrent' }]);
    const failure = queued.done().catch((error: unknown) => error as MetainfoError);
    await redis.client.flushall();
    const { code, message } = (await failure) as MetainfoError;
    assert.equal(code, 'ERR_QUEUE');
    assert.match(message, /^The torrent is no longer in the queue: .* Queue it again/);
    const results = [];
    for await (const { item, ok, error } of batch.results()) results.push([item, ok, error?.slice(0, 9)]);
    assert.deepEqual(results, [
      [0, false, 'ERR_QUEUE'],
      [1, false, 'ERR_QUEUE'],
    ]);
  });

  it('refuses forged job data without trying again', async (t) => {
    const { queue, draft, redis, ended, workers, base, store, closing } = await cluster(t);
    await workers.close();
    const place = { output: 'data/x.torrent' };
    const plan = await planParts(draft, { root: 'data/set', partSize: 2 ** 20 });
    const queued = await queue.addTorrent(plan, place);
    const batch = await queue.addBatch('validate', [{ torrent: 'data/x.torrent' }]);
    const joins = `metainfo:metainfo-joins-data:${queued.id}-join`;
    const good = JSON.parse((await redis.client.hget(joins, 'data')) as string);
    assert.deepEqual(Object.keys(good), ['plan', 'request', 'sealed', 'next', 'run', 'label']);
    const forged = [null, 5, {}, { ...good, next: 0.5 }, { ...good, next: -1 }, { ...good, request: 'a' }];
    const options = { connection: redis.url, store, roots: { data: base }, onJob: (job: EndedJob) => ended.push(job) };
    await redis.client.hset(`metainfo:metainfo-batches-data:${batch.id}-0`, 'data', 'null');
    for (const data of forged) {
      ended.length = 0;
      const { id } = await queue.addTorrent(plan, place);
      await redis.client.hset(`metainfo:metainfo-joins-data:${id}-join`, 'data', JSON.stringify(data));
      const others = closing(createWorkers(options));
      await assert.rejects(queued.done(), { code: 'ERR_INVALID_ARGUMENT' }, JSON.stringify(data));
      await others.close();
      assert.equal(ended.filter(({ kind, error }) => kind === 'join' && error).length, 1);
    }
    for await (const { error } of batch.results())
      assert.match(error ?? '', /^ERR_INVALID_ARGUMENT: The data of a job/);
    // The request of another plan.
    const queuedAgain = await queue.addTorrent(plan, place);
    const other = await queue.addTorrent(await planParts(draft, { root: 'data/set', version: 'v1' }), place);
    const { sealed } = JSON.parse(
      (await redis.client.hget(`metainfo:metainfo-joins-data:${other.id}-join`, 'data')) as string,
    );
    await redis.client.hset(joins, 'data', JSON.stringify({ ...good, sealed }));
    closing(createWorkers(options));
    await assert.rejects(queuedAgain.done(), { code: 'ERR_PLAN' });
  });

  it('lets only one of two producers choose the output', async (t) => {
    const { queue, draft, redis, store, base, closing } = await cluster(t);
    const other = closing(new TorrentQueue({ connection: redis.url, store }));
    const plan = await planParts(draft, { root: 'data/set', partSize: 2 ** 20 });
    const add = (producer: TorrentQueue, name: string) => producer.addTorrent(plan, { output: `data/${name}.torrent` });
    for (let i = 0; i < 5; i += 1) {
      const both = await Promise.allSettled([add(queue, `a${i}`), add(other, `b${i}`)]);
      const outputs: string[] = [];
      for (const [index, added] of both.entries()) {
        if (added.status === 'rejected') {
          assert.equal(added.reason.code, 'ERR_INVALID_ARGUMENT');
          continue;
        }
        // The first one may have ended before the second one looked. Its result is gone then, if nobody has read it.
        const joined = await added.value.done().catch((error) => assert.equal(error.code, 'ERR_QUEUE'));
        if (!joined) continue;
        assert.equal(joined.output, `data/${'ab'[index]}${i}.torrent`);
        outputs.push(joined.output);
      }
      for (const output of outputs) await readFile(path.join(path.dirname(base), output));
      assert.ok(outputs.length > 0);
    }
  });

  it('never takes the torrent of another output for its own', async (t) => {
    const { queue, draft, base } = await cluster(t);
    const plan = await planParts(draft, { root: 'data/set', partSize: 2 ** 20 });
    const add = (name: string) => queue.addTorrent(plan, { output: `data/${name}.torrent` });
    const first = await add('first');
    while ((await first.progress()).state !== 'done') await delay(10);
    const second = await add('second');
    assert.equal(second.attached, false);
    await assert.rejects(first.done(), { code: 'ERR_QUEUE', message: /no longer in the queue/ });
    assert.equal((await first.progress()).state, 'failed');
    assert.equal(await first.cancel(), false);
    assert.equal((await second.done()).output, 'data/second.torrent');
    for (const name of ['first', 'second']) await readFile(path.join(base, `${name}.torrent`));
  });

  it('joins only when all parts are hashed, even if the worker of the join died before it waited', async (t) => {
    const { queue, draft, redis, workers, base, store, closing } = await cluster(t);
    await workers.close();
    const place = { output: 'data/x.torrent' };
    const queued = await queue.addTorrent(await planParts(draft, { root: 'data/set', partSize: 32 * KIB }), place);
    // As after a stalled check: the join waits for a worker, not for its parts.
    const [joins, key] = ['metainfo:metainfo-joins-data', `${queued.id}-join`];
    await redis.client.zrem(`${joins}:waiting-children`, key);
    await redis.client.lpush(`${joins}:wait`, key);
    await redis.client.zadd(`${joins}:marker`, 0, '0');
    closing(createWorkers({ connection: redis.url, store, roots: { data: base } }));
    assert.equal((await queued.done()).output, place.output);
  });

  it('refuses a forged result', async (t) => {
    const { queue, draft, redis } = await cluster(t);
    const queued = await queue.addTorrent(await planParts(draft, { root: 'data/set', partSize: 2 ** 20 }), {
      output: 'data/x.torrent',
    });
    const good = await queued.done();
    for (const bad of [null, 5, {}, { ...good, version: '\u001b[31m' }, { ...good, infohashV1: 'x' }]) {
      await redis.client.hset(`metainfo:metainfo-joins-data:${queued.id}-join`, 'returnvalue', JSON.stringify(bad));
      await assert.rejects(queued.done(), { code: 'ERR_QUEUE', message: /malformed result/ });
    }
  });

  it('keeps the results of a batch that another worker has stored', async (t) => {
    const { base, store, queue, workers } = await cluster(t);
    await workers.close();
    await writeTree(base, { 'many/a': 5, 'many/b': 6 });
    // Items that are long enough for the store.
    const fields = { comment: 'x'.repeat(3000) };
    const items = ['a', 'b'].map((name) => ({ path: `data/many/${name}`, output: `data/${name}.torrent`, fields }));
    const { id } = await queue.addBatch('create', items);
    const context = (roots: Record<string, string>, stop?: AbortSignal) =>
      ({ ...JOB, store, roots, signal: stop ?? new AbortController().signal }) as never;
    await runBatchJob({ plan: id, index: 0 }, context({ data: base }));
    const before = await store.get(id, 'results-0');
    // A worker that was stopped meanwhile, and goes on without its root.
    const stale: PartStore = {
      ...store,
      get: async (...key) => (key[1] === 'results-0' && first-- > 0 ? null : store.get(...key)),
    };
    let first = 1;
    const context2 = { ...(context({ data: `${base}-gone` }) as object), store: stale } as never;
    await assert.rejects(runBatchJob({ plan: id, index: 0 }, context2), { code: 'ERR_READ' });
    assert.deepEqual(await store.get(id, 'results-0'), before);
  });

  it('names the store and the roots instead of folders in failures', async (t) => {
    const { queue, draft, folder } = await cluster(t);
    const plan = await planParts(draft, { root: 'data/set', partSize: 192 * KIB });
    const elsewhere = await planParts(draft, { root: 'data/none', partSize: 2 ** 20 });
    const queued = await queue.addTorrent(elsewhere, { output: 'data/x.torrent' });
    await assert.rejects(queued.done(), { code: 'ERR_NOT_FOUND', message: /^data\/none: no such file/ });
    const stored = await queue.addTorrent(plan, { output: 'data/x.torrent' });
    await stored.done();
    await rm(path.join(folder, 'store', stored.id, '0.part'));
    await mkdir(path.join(folder, 'store', stored.id, '0.part'));
    const again = await queue.addTorrent(plan, { output: 'data/z.torrent' });
    await assert.rejects(again.done(), { code: 'ERR_NOT_A_FILE', message: /^store\/[0-9a-f]{64}\/0\.part: / });
    for await (const { error } of (await queue.addBatch('validate', [{ torrent: 'data/none' }])).results())
      assert.match(error ?? '', /^ERR_NOT_FOUND: data\/none: no such file/);
  });

  it('tries again only the items of a batch that failed in passing', async (t) => {
    const out = await temporaryFolder(t);
    const data = await temporaryFolder(t);
    await writeTree(data, { a: 5, b: 6 });
    const reasons: (string | null)[] = [];
    const onWorker = ({ reason }: WorkerState) => void reasons.push(reason);
    const { queue, ended } = await cluster(t, { roots: { data, out }, onWorker });
    // As if a disk had been unmounted.
    await rm(out, { recursive: true });
    const items = [
      // The same roots, so that both items are in one job.
      { path: 'data/a', output: 'data/a.torrent', torrent: 'out/unused' },
      { path: 'data/b', output: 'out/b.torrent' },
    ];
    const batch = await queue.addBatch('create', items);
    while (reasons.length === 0) await delay(5);
    assert.match(String(reasons[0]), /: no such file or folder\. It is a root of this worker/);
    assert.equal(ended.length, 0);
    await rm(path.join(data, 'a.torrent'));
    await mkdir(out);
    const results = [];
    for await (const { item, ok } of batch.results()) results.push([item, ok]);
    assert.deepEqual(results, [
      [0, true],
      [1, true],
    ]);
    assert.deepEqual([await readdir(data), await readdir(out)], [['a', 'b'], ['b.torrent']]);
  });

  it('ends a batch although an item fails every time', async (t) => {
    const { queue, base, ended } = await cluster(t);
    await writeTree(base, { 'many/a': 5, 'many/folder/b': 6 });
    const long = 'x'.repeat(300);
    const items = [
      { path: 'data/many/a', output: `data/${long}.torrent` },
      { path: `data/${long}`, output: 'data/b.torrent' },
      { path: 'data/many/a', output: 'data/many/folder', force: true },
      { path: 'data/many/a', output: 'data/ok.torrent' },
      { path: 'data/many/a', output: 'data/null.torrent', fields: null as never },
      { path: 'data/many/a', output: 'data/five.torrent', fields: 5 as never },
    ];
    const results: [boolean, string | undefined][] = [];
    for await (const { ok, error } of (await queue.addBatch('create', items)).results())
      results.push([ok, error?.split(':')[0]]);
    assert.deepEqual(results, [
      [false, 'ERR_WRITE'],
      [false, 'ERR_UNREADABLE'],
      [false, 'ERR_NOT_A_FILE'],
      [true, undefined],
      [true, undefined],
      [false, 'ERR_INVALID_ARGUMENT'],
    ]);
    assert.equal(ended.length, 1);
  });

  it('refuses arguments of the wrong type', async (t) => {
    const { queue, draft } = await cluster(t);
    const plan = await planParts(draft, { root: 'data/set', partSize: 2 ** 20 });
    const code = 'ERR_INVALID_ARGUMENT';
    for (const options of [undefined, null, 5, {}, { root: 5, output: 'x' }, { output: 5 }, { output: 'x', force: 1 }])
      await assert.rejects(queue.addTorrent(plan, options as never), { code });
    for (const items of [undefined, null, 5, 'text', {}])
      await assert.rejects(queue.addBatch('create', items as never), { code });
    const queued = await queue.addTorrent(plan, { output: 'data/x.torrent' });
    const batch = await queue.addBatch('validate', [{ torrent: 'data/x.torrent' }]);
    for (const options of [null, 5, { signal: 'x' }, { other: 1 }] as never[])
      for (const call of [
        () => queue.addBatch('validate', [], options),
        () => queue.counts(['data'], options),
        () => queued.done(options),
        () => queued.progress(options),
        () => queued.cancel(options),
        () => batch.results(options)[Symbol.asyncIterator]().next(),
      ])
        await assert.rejects(call(), { code }, `${call}`);
    for (const options of [{ perJob: 0 }, { perJob: 1.5 }, { priority: 0 }, { perjob: 1 }] as never[])
      await assert.rejects(queue.addBatch('validate', [], options), { code });
    for (const options of [{ keep: 'no' }, { order: 'x' }, { onNoWorker: 1 }] as never[])
      await assert.rejects(batch.results(options)[Symbol.asyncIterator]().next(), { code });
    await assert.rejects(queued.done({ onProgress: 5 } as never), { code });
  });

  /** A part that runs until it is let go, and the torrent of its plan. */
  async function withRunningPart(t: TestContext) {
    const events = new EventEmitter();
    const [started, released] = [once(events, 'start'), once(events, 'release')];
    const letGo = () => void events.emit('release');
    const folder = await temporaryFolder(t);
    const inner = folderStore(path.join(folder, 'store'));
    const store: PartStore = {
      get: (id, index) => inner.get(id, index),
      put: async (id, index, bytes) => {
        if (index === 0) {
          events.emit('start');
          await released;
        }
        await inner.put(id, index, bytes);
      },
    };
    const { queue, draft, ended, redis } = await cluster(t, { store });
    t.after(letGo);
    const plan = await planParts(draft, { root: 'data/set', partSize: 32 * KIB });
    const place = { output: 'data/x.torrent' };
    const queued = await queue.addTorrent(plan, place);
    await started;
    return { queue, plan, place, queued, letGo, ended, redis };
  }

  it('cancels a torrent while a part runs, and adds it again', async (t) => {
    const { queue, plan, place, queued, letGo, ended } = await withRunningPart(t);
    await queued.cancel();
    await assert.rejects(queued.done(), { code: 'ERR_ABORTED' });
    const again = await queue.addTorrent(plan, place);
    assert.equal(again.attached, false);
    letGo();
    assert.equal((await again.done()).output, place.output);
    assert.ok(ended.every(({ error }) => error === null));
  });

  it('adds a torrent again after a failure although a part still runs', async (t) => {
    const { queue, plan, place, queued, letGo, redis } = await withRunningPart(t);
    // As if another part had failed its parent.
    const [joins, key] = ['metainfo:metainfo-joins-data', `${queued.id}-join`];
    await redis.client.zrem(`${joins}:waiting-children`, key);
    await redis.client.zadd(`${joins}:failed`, Date.now(), key);
    await redis.client.hset(`${joins}:${key}`, { finishedOn: Date.now(), failedReason: 'ERR_READ: x' });
    const again = await queue.addTorrent(plan, place);
    assert.equal(again.attached, false);
    letGo();
    assert.equal((await again.done()).output, place.output);
  });

  it('reports a job that BullMQ itself has failed, with a code', async (t) => {
    const { redis, store, base, queue, workers, closing } = await cluster(t);
    await workers.close();
    const { id } = await queue.addBatch('validate', [{ torrent: 'data/x' }]);
    // As after too many workers that died while they ran it.
    await redis.client.hset(`metainfo:metainfo-batches-data:${id}-0`, 'defa', 'job stalled more than allowable limit');
    const job = await new Promise<EndedJob>((onJob) => {
      closing(createWorkers({ connection: redis.url, store, roots: { data: base }, onJob }));
    });
    assert.equal(job.error, 'ERR_QUEUE: A job failed: job stalled more than allowable limit');
  });

  it('fails a cancelled join at once', async (t) => {
    const { queue, draft, ended, redis, workers, ...rest } = await cluster(t);
    await workers.close();
    const queued = await queue.addTorrent(await planParts(draft, { root: 'data/set', partSize: 2 ** 20 }), {
      output: 'data/x.torrent',
    });
    const key = `metainfo:metainfo-joins-data:${queued.id}-join`;
    await redis.client.hset(key, 'progress', '"cancelled"');
    rest.closing(
      createWorkers({
        connection: redis.url,
        store: rest.store,
        roots: { data: rest.base },
        onJob: (job) => ended.push(job),
      }),
    );
    await assert.rejects(queued.done(), { code: 'ERR_ABORTED' });
    while (!ended.some(({ kind }) => kind === 'join')) await delay(5);
    const failures = ended.filter(({ kind }) => kind === 'join').map(({ error }) => error);
    assert.deepEqual(failures, ['ERR_ABORTED: The torrent was cancelled.']);
  });

  it('adds the parts of a large plan in windows', async (t) => {
    const { queue, base, draft: _, ended, redis } = await cluster(t, { concurrency: 8 });
    await writeTree(base, { 'large/a': 4500 * 16 * KIB });
    const draft = new TorrentCreate({ pathRoot: path.join(base, 'large'), pieceLength: 16 * KIB });
    const plan = await planParts(draft, { root: 'data/large', version: 'v1', partSize: 16 * KIB });
    assert.equal(plan.parts, 4500);
    const queued = await queue.addTorrent(plan, { output: 'data/large.torrent' });
    assert.equal(
      Number(await redis.client.scard(`metainfo:metainfo-joins-data:${queued.id}-join:dependencies`)) <= 4096,
      true,
    );
    const { infohashV1 } = await queued.done();
    assert.equal(infohashV1, (await draft.generate({ version: 'v1' })).infohashV1);
    assert.equal(ended.filter(({ kind }) => kind === 'part').length, 4500);
  });
});

describe('createWorkers', { skip }, () => {
  it('tells no credentials to onError', async (t) => {
    const { url } = await redisServer(t, { password: 'right' });
    const connection = url.replace(':right@', 'bob:secret-word@');
    let resolve: (error: Error) => void = () => {};
    const promise = new Promise<Error>((done) => {
      resolve = done;
    });
    const store = folderStore(await temporaryFolder(t));
    const workers = createWorkers({ connection, store, roots: { data: '.' }, onError: (error) => resolve(error) });
    const error = await promise;
    await workers.close();
    assert.equal((error as { code?: string }).code, 'ERR_QUEUE');
    assert.doesNotMatch(inspect(error, { depth: 9, showHidden: true }), /secret-word/);
  });

  it('closes while its server is unreachable', async (t) => {
    const store = folderStore(await temporaryFolder(t));
    const workers = createWorkers({ connection: 'redis://127.0.0.1:1', store, roots: { data: '.' } });
    await workers.close();
  });
});
