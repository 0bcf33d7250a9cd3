import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import path from 'node:path';
import { describe, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import {
  folderStore,
  MetainfoError,
  type PartStore,
  planParts,
  type StoredName,
  Torrent,
  TorrentCreate,
  verify,
} from 'metainfo';
import { temporaryFolder, writeTree } from '../../../test/support/tree.ts';
import { backendOf } from '../src/backend.ts';
import { createWorkers, TorrentQueue } from '../src/index.ts';
import { CANCELLED, joinJobId, queueName } from '../src/settings.ts';
import { SERVERS } from './support/queue-servers.ts';

const KIB = 1024;

for (const { name: server, skip, start } of SERVERS)
  describe(`a job on ${server} whose store fails once`, { skip }, () => {
    it('is passed on without an attempt: a success for done(), cancel(), verify and a batch', async (t) => {
      const closers: (() => Promise<void>)[] = [];
      t.after(async () => {
        for (const close of closers) await close();
      });
      const [connection, folder] = [await start(t), await temporaryFolder(t)];
      const base = path.join(folder, 'data');
      await writeTree(base, { 'set/a': 100 * KIB, 'set/b': 70 * KIB });
      const store = folderStore(path.join(folder, 'store'));
      /** Whether an object cannot be read or written: until that has happened once. */
      let fails: ((name: StoredName) => boolean) | null = null;
      const failingOnce =
        <Args extends [id: string, name: StoredName, ...rest: never[]], T>(call: (...args: Args) => Promise<T>) =>
        async (...args: Args): Promise<T> => {
          if (!fails?.(args[1])) return call(...args);
          fails = null;
          throw new MetainfoError('ERR_READ', 'the disk failed once.');
        };
      const flaky: PartStore = {
        get: failingOnce(store.get),
        put: failingOnce(store.put as never),
        delete: store.delete as never,
      };
      const failures: (string | null)[] = [];
      const workers = createWorkers({
        connection,
        store: flaky,
        roots: { data: base },
        onJob: ({ error }) => failures.push(error),
      });
      const queue = new TorrentQueue({ connection, store });
      closers.push(
        () => queue.close(),
        () => workers.close(),
      );
      await workers.ready();
      const failedOnce = () => {
        assert.deepEqual([failures.splice(0).filter((error) => error !== null), fails], [[], null]);
      };

      const draft = new TorrentCreate({ pathRoot: path.join(base, 'set'), pieceLength: 16 * KIB });
      const cases: [job: string, fails: (name: StoredName) => boolean][] = [
        ['join', (name) => name === 'key'],
        ['part', (name) => name === 0],
      ];
      for (const [job, isWrong] of cases) {
        const plan = await planParts(draft, { root: 'data/set', partSize: job === 'join' ? 64 * KIB : 48 * KIB });
        fails = isWrong;
        const output = `data/${job}.torrent`;
        const queued = await queue.addTorrent(plan, { output });
        assert.equal((await queued.done()).output, output);
        failedOnce();
        assert.equal((await queued.progress()).state, 'done');
        assert.equal(await queued.cancel(), false);
      }

      const torrent = await Torrent.read(path.join(base, 'join.torrent'));
      fails = (name) => typeof name === 'number';
      const engine = queue.engine({ root: base, remoteRoot: 'data', partSize: 64 * KIB });
      assert.ok((await verify(torrent, path.join(base, 'set'), { engine })).ok);
      failedOnce();

      fails = (name) => String(name).startsWith('items-');
      const batch = await queue.addBatch('validate', [
        // Long items are in the store.
        { torrent: 'data/join.torrent', other: 'x'.repeat(5000) } as { torrent: string },
      ]);
      const results: boolean[] = [];
      for await (const { ok } of batch.results()) results.push(ok);
      assert.deepEqual(results, [true]);
      failedOnce();
    });

    it('is too late to cancel if it is written meanwhile', async (t) => {
      const closers: (() => Promise<void>)[] = [];
      t.after(async () => {
        for (const close of closers) await close();
      });
      const [connection, folder] = [await start(t), await temporaryFolder(t)];
      await writeTree(folder, { 'set/a': 100 * KIB });
      const draft = new TorrentCreate({ pathRoot: path.join(folder, 'set'), pieceLength: 16 * KIB });
      const queue = new TorrentQueue({ connection, store: folderStore(path.join(folder, 'store')) });
      const output = 'data/x.torrent';
      const queued = await queue.addTorrent(await planParts(draft, { root: 'data/set' }), { output });
      const writing = new EventEmitter();
      const joined = {
        output,
        version: 'hybrid',
        infohashV1: '0'.repeat(40),
        infohashV2: '0'.repeat(64),
        files: 1,
        totalSize: 1,
      };
      const join = async ({ attemptsMade }: { attemptsMade: number }) => {
        if (attemptsMade === 0) throw new Error('ERR_READ: the disk failed once.');
        const written = once(writing, 'end');
        writing.emit('start');
        await written;
        return joined;
      };
      const { classes, options, end } = backendOf({ connection });
      const joins = new classes.Queue(queueName('join', 'data'), options);
      const started = once(writing, 'start');
      const workers = [
        new classes.Worker(queueName('join', 'data'), join, options),
        new classes.Worker(queueName('part', 'data'), async () => ({}), options),
      ];
      closers.push(
        () => queue.close(),
        () => joins.close(),
        ...workers.map((worker) => () => worker.close()),
        end,
      );
      await started;
      const cancelled = queued.cancel();
      while ((await joins.getJob(joinJobId(queued.id)))?.progress !== CANCELLED) await delay(10);
      writing.emit('end');
      assert.equal(await cancelled, false);
      assert.deepEqual(await queued.done(), joined);
    });
  });
