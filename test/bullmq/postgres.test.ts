import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { createWorkers, TorrentQueue } from '../../src/bullmq/index.ts';
import { TorrentCreate } from '../../src/create/draft.ts';
import { folderStore } from '../../src/parts/store.ts';
import { planParts } from '../../src/parts/torrent-plan.ts';
import { verify } from '../../src/verify/verify.ts';
import { postgresMissing, postgresServer } from '../support/postgres.ts';
import { sparseFile, temporaryFolder, writeTree } from '../support/tree.ts';

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
});
