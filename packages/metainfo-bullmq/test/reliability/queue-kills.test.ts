// Workers and Redis are killed at random moments: every torrent is the same, and stored parts are not hashed again. METAINFO_KILLS
// sets the number of kills.

import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { open, readdir, readFile, stat, truncate } from 'node:fs/promises';
import path from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { folderStore, planParts, TorrentCreate } from 'metainfo';
import { command } from '../../../../test/cli/run.ts';
import { temporaryFolder, writeTree } from '../../../../test/support/tree.ts';
import { TorrentQueue } from '../../src/index.ts';
import { type RedisServer, redisMissing, redisServer } from '../support/redis.ts';

const MIB = 2 ** 20;
const KILLS = Number(process.env['METAINFO_KILLS'] ?? 4);
/** Enough parts for some to be hashed between two kills. */
const PARTS = 24 + 100 * KILLS;
const PART = 8 * MIB;

/** The inode of each part in the store: another one was hashed again. */
async function storedParts(folder: string): Promise<Map<string, number>> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.part'));
  const entries = names.map(async (name) => [name, (await stat(path.join(folder, name))).ino] as const);
  return new Map(await Promise.all(entries));
}

/** A plan of a sparse file, a queue, and workers that are processes. */
async function setUp(t: TestContext) {
  const closers: (() => Promise<unknown>)[] = [];
  t.after(async () => {
    for (const close of closers) await close();
  });
  const redis = await redisServer(t);
  const folder = await temporaryFolder(t);
  const base = path.join(folder, 'data');
  await writeTree(base, { 'set/small': 5 });
  const file = path.join(base, 'set/large');
  await (await open(file, 'w')).close();
  await truncate(file, PARTS * PART);
  const store = path.join(folder, 'store');
  const queue = new TorrentQueue({ connection: redis.url, store: folderStore(store) });
  closers.push(() => queue.close());
  // The slow engine, so that most kills hit a part that is being hashed.
  const env = { ...process.env, METAINFO_ENGINE: 'node' };
  const worker = (): ChildProcess => {
    const [program, ...args] = command([
      'worker',
      '--redis',
      redis.url,
      '--root',
      `data=${base}`,
      '--store',
      store,
      '-q',
    ]);
    const child = spawn(program, args, { env, stdio: 'ignore' });
    closers.push(async () => void child.kill('SIGKILL'));
    return child;
  };
  const draft = new TorrentCreate({ pathRoot: path.join(base, 'set'), pieceLength: 8 * MIB });
  const plan = await planParts(draft, { root: 'data/set', partSize: PART });
  assert.ok(plan.parts >= PARTS);
  const add = () => queue.addTorrent(plan, { output: 'data/x.torrent' });
  const expected = Buffer.from((await draft.generate({ threads: null })).bencode());
  const requireSame = async () => assert.deepEqual(await readFile(path.join(base, 'x.torrent')), expected);
  return { redis, store, queue, worker, add, plan, requireSame };
}

/** Counts how often the jobs of all parts were started, until they are removed. */
function countStarts({ client }: RedisServer, id: string, parts: number): () => Promise<number> {
  const seen = new Map<number, number>();
  const look = async () => {
    for (let index = 0; index < parts; index += 1) {
      const count = await client.hget(`metainfo:metainfo-parts-data:${id}-${index}`, 'ats');
      if (count !== null) seen.set(index, Number(count));
    }
  };
  let isRunning = true;
  const loop = (async () => {
    for (; isRunning; await delay(50)) await look();
  })();
  return async () => {
    isRunning = false;
    await loop;
    return [...seen.values()].reduce((sum, count) => sum + count, 0);
  };
}

describe('queues whose processes are killed', { skip: redisMissing() }, () => {
  it('make the same torrent when workers are killed, and hash at most one part again for each', async (t) => {
    const { redis, worker, add, plan, requireSame } = await setUp(t);
    const queued = await add();
    const counted = countStarts(redis, queued.id, plan.parts);
    const done = queued.done();
    done.catch(() => {});
    let child = worker();
    let isDone = false;
    done.finally(() => {
      isDone = true;
    });
    let kills = 0;
    for (; kills < KILLS && !isDone; kills += 1) {
      await delay(600 + Math.random() * 900);
      child.kill('SIGKILL');
      await once(child, 'exit');
      child = worker();
    }
    const last = performance.now();
    await done;
    t.diagnostic(
      `${kills} kills; ${((performance.now() - last) / 1000).toFixed(1)} s from the last kill to the torrent`,
    );
    assert.equal(kills, KILLS);
    const started = await counted();
    assert.ok(started >= plan.parts && started <= plan.parts + kills, `${started} starts of ${plan.parts} parts`);
    await requireSame();
  });

  it('make the same torrent when Redis is killed, and hash no stored part again', async (t) => {
    const { redis, store, worker, add, requireSame } = await setUp(t);
    const queued = await add();
    const done = queued.done();
    done.catch(() => {});
    worker();
    worker();
    const seen = new Map<string, number>();
    while ((await storedParts(path.join(store, queued.id))).size === 0) await delay(20);
    for (let kill = 0; kill < KILLS; kill += 1) {
      await delay(300 + Math.random() * 500);
      await redis.kill();
      for (const [name, inode] of await storedParts(path.join(store, queued.id)))
        if (!seen.has(name)) seen.set(name, inode);
      await delay(100);
      await redis.start();
    }
    await done;
    await requireSame();
    const now = await storedParts(path.join(store, queued.id));
    assert.ok(seen.size > 0);
    for (const [name, inode] of seen) assert.equal(now.get(name), inode, `${name} was hashed again`);
  });

  it('make the same torrent after Redis has lost a part of its log, when it is queued again', async (t) => {
    const { redis, store, worker, add, queue, requireSame } = await setUp(t);
    const { id } = await add();
    worker();
    const folder = path.join(store, id);
    for (let tries = 0; (await storedParts(folder)).size < PARTS / 3; tries += 1) {
      assert.ok(tries < 3000);
      await delay(20);
    }
    await redis.kill();
    const before = await storedParts(folder);
    const [log] = (await readdir(redis.folder)).filter((name) => name.endsWith('.incr.aof'));
    const file = path.join(redis.folder, log as string);
    await truncate(file, Math.floor((await stat(file)).size / 2));
    await redis.start();
    // Jobs that the log still has are found; all others are added again.
    const again = await add();
    await again.done();
    await requireSame();
    const now = await storedParts(folder);
    for (const [name, inode] of before) assert.equal(now.get(name), inode, `${name} was hashed again`);
    await queue.close();
  });
});
