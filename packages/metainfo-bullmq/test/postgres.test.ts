import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { folderStore, planParts, TorrentCreate, verify } from 'metainfo';
import pg from 'pg';
import { freePort } from '../../../test/support/free-port.ts';
import { sparseFile, temporaryFolder, writeTree } from '../../../test/support/tree.ts';
import { createWorkers, TorrentQueue } from '../src/index.ts';
import { postgresMissing, postgresServer } from './support/postgres.ts';

const KIB = 1024;

describe('queues on PostgreSQL', { skip: await postgresMissing() }, () => {
  it('create, verify, process batches and cancel', async (t) => {
    const closers: (() => Promise<void>)[] = [];
    t.after(async () => {
      for (const close of closers) await close();
    });
    const [connection, folder] = [await postgresServer(t), await temporaryFolder(t)];
    const base = path.join(folder, 'data');
    await writeTree(base, { 'set/a': 300 * KIB, 'set/b': 70 * KIB });
    const shared = { connection, store: folderStore(path.join(folder, 'store')) };
    const errors: string[] = [];
    const ended: (string | null)[] = [];
    const workers = createWorkers({
      ...shared,
      roots: { data: base },
      concurrency: 2,
      onError: ({ message }) => errors.push(message),
      onJob: ({ error }) => ended.push(error),
    });
    const queue = new TorrentQueue(shared);
    closers.push(
      () => queue.close(),
      () => workers.close(),
    );
    await workers.ready();
    const draft = new TorrentCreate({ pathRoot: path.join(base, 'set'), pieceLength: 16 * KIB });
    const queued = await queue.addTorrent(await planParts(draft, { root: 'data/set', partSize: 32 * KIB }), {
      output: 'data/x.torrent',
    });
    const { infohashV2 } = await queued.done();
    const whole = await draft.generate();
    assert.equal(infohashV2, whole.infohashV2);
    assert.deepEqual(await readFile(path.join(base, 'x.torrent')), Buffer.from(whole.bencode()));
    const engine = queue.engine({ root: base, remoteRoot: 'data', partSize: 64 * KIB });
    assert.ok((await verify(whole, path.join(base, 'set'), { engine })).ok);
    const batch = await queue.addBatch('validate', [{ torrent: 'data/x.torrent' }, { torrent: 'data/set/a' }]);
    const results: boolean[] = [];
    for await (const { ok } of batch.results()) results.push(ok);
    assert.deepEqual(results, [true, false]);

    // One part of hours.
    await sparseFile(base, 'large', 2 ** 42);
    const large = new TorrentCreate({ pathRoot: path.join(base, 'large'), pieceLength: 2 ** 24 });
    const plan = await planParts(large, { root: 'data/large', version: 'v2', partSize: 2 ** 42 });
    const place = { output: 'data/large.torrent' };
    const cancelled = await queue.addTorrent(plan, place);
    while ((await cancelled.progress()).bytes === 0) await delay(100);
    assert.equal(await cancelled.cancel(), true);
    await assert.rejects(cancelled.done(), { code: 'ERR_ABORTED' });
    while (!ended.includes('ERR_ABORTED: The torrent was cancelled.')) await delay(100);
    const again = await queue.addTorrent(plan, { ...place, output: 'data/other.torrent' });
    assert.equal(again.attached, false);
    assert.equal(await again.cancel(), true);
    assert.deepEqual(errors, []);
  });

  it('take at most five connections for a worker of several roots, and for a producer', async (t) => {
    const closers: (() => Promise<void>)[] = [];
    t.after(async () => {
      for (const close of closers) await close();
    });
    const [connection, folder] = [await postgresServer(t), await temporaryFolder(t)];
    await writeTree(folder, { 'a/x': 10, 'b/x': 10, 'c/x': 10 });
    const shared = { connection, store: folderStore(path.join(folder, 'store')) };
    const pool = new pg.Pool({ connectionString: connection, max: 1 });
    const count = async () => {
      const { rows } = await pool.query("select count(*) from pg_stat_activity where backend_type = 'client backend'");
      return Number(rows[0]?.['count']) - 1;
    };
    const roots = Object.fromEntries(['a', 'b', 'c'].map((name) => [name, path.join(folder, name)]));
    const workers = createWorkers({ ...shared, roots });
    closers.push(() => workers.close());
    await workers.ready();
    const most = { workers: await count(), all: 0 };
    // The pool is busiest while idle workers look for jobs.
    for (let i = 0; i < 20; i += 1) most.workers = Math.max(most.workers, await count());
    const queue = new TorrentQueue(shared);
    closers.push(() => queue.close());
    const batch = await queue.addBatch('validate', [{ torrent: 'a/x' }, { torrent: 'b/x' }, { torrent: 'c/x' }]);
    for await (const _ of batch.results()) most.all = Math.max(most.all, await count());
    t.diagnostic(`${most.workers} connections of a worker, ${most.all} with a producer`);
    assert.ok(most.workers <= 5, `${most.workers} connections`);
    assert.ok(most.all <= 10, `${most.all} connections`);
    await workers.close();
    await queue.close();
    // The server takes a moment to end the sessions.
    while ((await count()) > 0) await delay(20);
    await pool.end();
  });

  it('recover when the server comes after the producer and the workers', async (t) => {
    const closers: (() => Promise<void>)[] = [];
    t.after(async () => {
      for (const close of closers) await close();
    });
    const [port, folder] = [await freePort(), await temporaryFolder(t)];
    await writeTree(folder, { 'a/x': 10 });
    const connection = `postgres://tester@127.0.0.1:${port}/postgres`;
    const shared = { connection, store: folderStore(path.join(folder, 'store')) };
    const errors: string[] = [];
    const roots = { a: path.join(folder, 'a') };
    const workers = createWorkers({ ...shared, roots, onError: ({ message }) => errors.push(message) });
    const queue = new TorrentQueue(shared);
    const early = new TorrentQueue(shared);
    closers.push(
      () => queue.close(),
      () => workers.close(),
    );
    const [added, waiting] = [queue.addBatch('validate', [{ torrent: 'a/x' }]), early.counts(['a'])];
    waiting.catch(() => {});
    while (errors.length === 0) await delay(20);
    assert.match(errors[0] ?? '', /ECONNREFUSED/);
    // A producer that gives up leaves nothing behind.
    await early.close();
    await assert.rejects(waiting, { code: 'ERR_QUEUE' });
    await postgresServer(t, { port });
    // An answer that came too late is asked for again.
    const batch = await added.catch(() => queue.addBatch('validate', [{ torrent: 'a/x' }]));
    for await (const { ok } of batch.results()) assert.equal(ok, false);
    await workers.ready();
    await workers.check();
  });
});
