// A verification that was cancelled or killed goes on where it was, and one that has ended is done anew.
import assert from 'node:assert/strict';
import { copyFile, readdir, readFile, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { folderStore, type PartStore, TorrentCreate, verify } from 'metainfo';
import { temporaryFolder, writeTree } from '../../../test/support/tree.ts';
import { createWorkers, type EndedJob, TorrentQueue } from '../src/index.ts';
import { redisMissing, redisServer } from './support/redis.ts';

const KIB = 1024;
const PARTS = 10;

/** A torrent of ten parts whose verification can be attached to. */
async function setUp(t: TestContext, ofWorkers = (store: PartStore) => store) {
  const closers: { close(): Promise<void> }[] = [];
  // Before the server ends.
  t.after(async () => {
    for (const one of closers) await one.close();
  });
  const [redis, folder] = [await redisServer(t), await temporaryFolder(t)];
  const base = path.join(folder, 'data');
  const content = path.join(base, 'set');
  await writeTree(base, { 'set/a': PARTS * 32 * KIB });
  const places = path.join(folder, 'store');
  const store = folderStore(places);
  const torrent = await new TorrentCreate({ pathRoot: content, pieceLength: 16 * KIB }).generate({ version: 'v1' });
  const closing = <T extends { close(): Promise<void> }>(one: T): T => {
    closers.push(one);
    return one;
  };
  /** A producer of its own: what it knows is lost with it. */
  const producer = (own: PartStore = store) => {
    const queue = closing(new TorrentQueue({ connection: redis.url, store: own }));
    return queue.engine({ root: base, remoteRoot: 'data', partSize: 32 * KIB, attach: true, concurrency: 4 });
  };
  const ended: EndedJob[] = [];
  const onJob = (job: EndedJob) => void ended.push(job);
  closing(createWorkers({ connection: redis.url, store: ofWorkers(store), roots: { data: base }, onJob }));
  /** Runs a verification that is cancelled when some parts have been read. Returns its engine. */
  const interrupted = async (parts: number) => {
    const stop = new AbortController();
    let taken = 0;
    const get: PartStore['get'] = async (...object) => {
      const found = await store.get(...object);
      if (typeof object[1] === 'number' && ++taken === parts) stop.abort();
      return found;
    };
    const engine = producer({ ...store, get });
    await assert.rejects(verify(torrent, content, { engine, signal: stop.signal }), { code: 'ERR_ABORTED' });
    return engine;
  };
  const whole = async () => (await verify(torrent, content, { engine: producer() })).badPieces;
  const stored = async () => (await readdir(places, { recursive: true })).filter((name) => name.endsWith('.part'));
  const runs = async () =>
    (await redis.client.keys('metainfo:metainfo-runs-data:*')).filter((key) => /:[0-9a-f]{64}$/.test(key));
  const indexes = () => ended.map(({ index }) => index);
  return { redis, content, torrent, places, producer, ended, indexes, interrupted, whole, stored, runs };
}

describe('engine({ attach: true })', { skip: redisMissing() }, () => {
  it('goes on when somebody else who verifies the same discards it while a part runs', async (t) => {
    let open = () => {};
    const gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    const { redis, producer, content, torrent } = await setUp(t, (store) => ({
      ...store,
      get: (...object) => (object[1] === 'plan' ? gate : Promise.resolve()).then(() => store.get(...object)),
    }));
    const stop = new AbortController();
    const one = producer();
    const first = verify(torrent, content, { engine: one, signal: stop.signal }).catch(() => {});
    const second = verify(torrent, content, { engine: producer() });
    second.catch(() => {});
    while ((await redis.client.llen('metainfo:metainfo-parts-data:active')) === 0) await delay(20);
    // Until the second has begun to wait for it.
    while (Number(await redis.client.call('CLIENT', 'LIST').then((list) => String(list).split('cmd=xread').length)) < 3)
      await delay(20);
    stop.abort();
    await first;
    await one.discard();
    open();
    assert.deepEqual((await second).badPieces, []);
  });

  it('takes the parts of the same job that was cancelled, once', async (t) => {
    const { interrupted, whole, indexes, ended, places, runs } = await setUp(t);
    await interrupted(4);
    assert.ok(ended.length >= 4 && ended.length < PARTS);
    assert.deepEqual(await whole(), []);
    assert.deepEqual(
      indexes().sort(),
      Array.from({ length: PARTS }, (_, i) => i),
    );
    assert.deepEqual(await readdir(places), [], 'something stays in the store');
    assert.deepEqual(await runs(), []);
    // One that has ended reads the content.
    assert.deepEqual(await whole(), []);
    assert.equal(ended.length, 2 * PARTS);
  });

  it('hashes a damaged, a lost and a foreign part again', async (t) => {
    const { interrupted, whole, ended, places, stored } = await setUp(t);
    const other = await interrupted(4);
    const foreign = path.join(places, 'foreign');
    await copyFile(path.join(places, (await stored()).find((name) => /\b0\.part$/.test(name)) as string), foreign);
    await other.discard();
    // The worker may have been storing one.
    assert.ok((await stored()).length <= 1);
    ended.length = 0;

    await interrupted(4);
    const place = async (index: number) =>
      path.join(places, (await stored()).find((name) => path.basename(name) === `${index}.part`) as string);
    // The part of another run of the same job, with the nonce of that one.
    await copyFile(foreign, await place(0));
    const bytes = await readFile(await place(1));
    bytes[60] = (bytes[60] as number) ^ 1;
    await writeFile(await place(1), bytes);
    await writeFile(await place(2), '');
    assert.deepEqual(await whole(), []);
    // The worker may have ended a job of the first run late.
    const plan = ended.at(-1)?.plan;
    const hashed = ended.flatMap((job) => (job.plan === plan ? [job.index] : []));
    const again = hashed.filter((index, at) => hashed.indexOf(index) !== at);
    assert.deepEqual(again.sort(), [0, 1, 2]);
  });

  it('hashes everything again if a file has changed, although its times are the same', async (t) => {
    const { interrupted, whole, ended, content } = await setUp(t);
    const file = path.join(content, 'a');
    await utimes(file, 1000, 1000);
    await interrupted(4);
    const bytes = await readFile(file);
    bytes[0] = (bytes[0] as number) ^ 1;
    await writeFile(file, bytes);
    await utimes(file, 1000, 1000);
    const before = ended.length;
    assert.deepEqual(await whole(), [[0, 0]]);
    assert.ok(ended.length - before >= PARTS);
  });

  it('is forgotten when it was discarded, and with the data of the server', async (t) => {
    const { interrupted, whole, ended, stored, redis, runs } = await setUp(t);
    await (await interrupted(4)).discard();
    assert.ok((await stored()).length <= 1);
    assert.deepEqual(await runs(), []);
    ended.length = 0;
    await interrupted(4);
    await redis.client.flushall();
    const before = ended.length;
    assert.deepEqual(await whole(), []);
    assert.ok(ended.length - before >= PARTS);
  });

  it('two producers of one job at the same time both get its result', async (t) => {
    const { whole } = await setUp(t);
    assert.deepEqual(await Promise.all([whole(), whole()]), [[], []]);
  });
});
