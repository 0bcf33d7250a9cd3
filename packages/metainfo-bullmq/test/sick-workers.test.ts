// Workers whose disks, mounts or stores fail: others do their jobs, and no attempt is used.
import assert from 'node:assert/strict';
import { mkdir, readdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { folderStore, type PartStore, planParts, Torrent, TorrentCreate, verify } from 'metainfo';
import { writeTree } from '../../../test/support/tree.ts';
import type { WorkerState } from '../src/index.ts';
import { RESTS } from '../src/passing.ts';
import { SERVERS, setUpQueue } from './support/queue-servers.ts';

const KIB = 1024;
const never = () => new Promise<never>(() => {});

for (const { name, skip, start } of SERVERS)
  describe(`a sick worker on ${name}`, { skip }, () => {
    it('passes on what it cannot do, says so once, and is not healthy while it rests', async (t) => {
      const { folder, producer, work, workers, ended, plan } = await setUpQueue(t, start);
      const queue = producer();
      const states: WorkerState[] = [];
      await mkdir(path.join(folder, 'empty'));
      const sick = workers([], {
        roots: { media: path.join(folder, 'empty') },
        onWorker: (state) => void states.push(state),
      });
      await sick.ready();
      await sick.check();
      const queued = await queue.addTorrent(plan, { output: 'media/x.torrent' });
      while (states.length === 0) await delay(20);
      await assert.rejects(sick.check(), { code: 'ERR_QUEUE', message: /^The worker rests: .*it is empty.*mounted/ });
      await work();
      await queued.done();
      assert.deepEqual([states.length, ended.filter(({ error }) => error !== null)], [1, []]);
    });

    it('takes no jobs before its root has the required file', async (t) => {
      const { folder, producer, workers, ended, plan } = await setUpQueue(t, start);
      const states: WorkerState[] = [];
      const onWorker = (state: WorkerState) => void states.push(state);
      const worker = workers(['media', 'out'], { requiredFile: 'media/.mounted', onWorker });
      const queued = await producer().addTorrent(plan, { output: 'media/x.torrent' });
      const ready = worker.ready();
      while (states.length === 0) await delay(20);
      assert.match(String(states[0]?.reason), /it has no \.mounted/);
      await assert.rejects(worker.check(), /it has no \.mounted/);
      assert.equal(ended.length, 0);
      await writeFile(path.join(folder, 'media/.mounted'), '');
      await ready;
      await queued.done();
      assert.deepEqual(states.at(-1), { root: 'media', reason: null });
      // It is unmounted while the worker runs: nothing is written beneath the mount point.
      await rename(path.join(folder, 'media'), path.join(folder, 'away'));
      await mkdir(path.join(folder, 'media'));
      const batch = await producer().addBatch('create', [{ path: 'media/set', output: 'media/y.torrent' }]);
      while (states.at(-1)?.reason === null) await delay(20);
      await rm(path.join(folder, 'media'), { recursive: true });
      await rename(path.join(folder, 'away'), path.join(folder, 'media'));
      for await (const { ok } of batch.results()) assert.ok(ok);
      assert.ok(ended.every(({ error }) => error === null));
    });

    it('writes no torrent into an output root without the required file', async (t) => {
      const { folder, producer, workers, plan } = await setUpQueue(t, start);
      await writeFile(path.join(folder, 'media/.mounted'), '');
      const states: WorkerState[] = [];
      const onWorker = (state: WorkerState) => void states.push(state);
      const worker = workers(['media', 'out'], { requiredFile: '.mounted', onWorker });
      const queue = producer();
      const queued = await queue.addTorrent(plan, { output: 'out/x.torrent' });
      const batch = await queue.addBatch('create', [{ path: 'media/set', output: 'out/y.torrent' }]);
      // The root `out` is told at the start, and the root `media` with the first job.
      while (new Set(states.map(({ root }) => root)).size < 2) await delay(20);
      assert.deepEqual(await readdir(path.join(folder, 'out')), ['keep']);
      await writeFile(path.join(folder, 'out/.mounted'), '');
      await worker.ready();
      await queued.done();
      for await (const { ok } of batch.results()) assert.ok(ok);
    });

    it('waits for a store that a lone worker does not have yet', async (t) => {
      const { folder, producer, work, store } = await setUpQueue(t, start);
      RESTS.lone = 60_000;
      let isThere = false;
      const late: PartStore = { ...store, get: async (...object) => (isThere ? store.get(...object) : null) };
      const states: WorkerState[] = [];
      await work(['media'], { store: late, onWorker: (state) => void states.push(state) });
      const batch = await producer().addBatch('create', [{ path: 'media/set', output: 'media/y.torrent' }]);
      while (states.length === 0) await delay(20);
      isThere = true;
      for await (const { ok } of batch.results()) assert.ok(ok);
      assert.equal((await Torrent.read(path.join(folder, 'media/y.torrent'))).nFiles, 2);
    });

    it('has parts hashed again that went to another store', async (t) => {
      const { folder, producer, work, store, plan } = await setUpQueue(t, start);
      const other = folderStore(path.join(folder, 'other'));
      let [isOther, hashed] = [true, 0];
      // As if it had lost its mount after it had read the plan.
      const own: PartStore = { get: store.get, put: (...object) => (isOther ? other : store).put(...object) };
      await work(['media'], {
        store: own,
        onJob: ({ kind }) => {
          hashed += kind === 'part' ? 1 : 0;
          isOther = hashed < 2;
        },
      });
      const queued = await producer().addTorrent(plan, { output: 'media/x.torrent' });
      const { infohashV2 } = await queued.done();
      assert.ok(hashed > plan.parts, `${hashed} parts`);
      assert.equal(infohashV2, (await Torrent.read(path.join(folder, 'media/x.torrent'))).infohashV2);
    });

    it('goes on although onWorker throws, and with any stall time', async (t) => {
      const { folder, producer, workers, ended, errors, plan } = await setUpQueue(t, start);
      await mkdir(path.join(folder, 'empty'));
      const onWorker = () => {
        throw new Error('mine');
      };
      const roots = { media: path.join(folder, 'empty') };
      await workers([], { roots, stall: Number.MAX_SAFE_INTEGER, onWorker }).ready();
      const queued = await producer().addTorrent(plan, { output: 'media/x.torrent' });
      while (errors.length === 0) await delay(20);
      await rm(path.join(folder, 'empty'), { recursive: true });
      await symlink(path.join(folder, 'media'), path.join(folder, 'empty'));
      await queued.done();
      assert.ok(errors.every(({ message }) => message === 'mine'));
      assert.ok(ended.every(({ error }) => error === null));
    });

    it('fails a job whose content is missing everywhere, with that reason', async (t) => {
      const { folder, producer, work, ended, plan } = await setUpQueue(t, start);
      RESTS.lone = 300;
      const queue = producer();
      await work();
      await rm(path.join(folder, 'media/set/a'));
      await writeTree(folder, { other: 1 });
      const missing = { code: 'ERR_FILE_CHANGED', message: /media\/set\/a .*was deleted/ };
      const alone = await queue.addTorrent(plan, { output: 'media/x.torrent' });
      await assert.rejects(alone.done(), missing);
      assert.ok(ended.every(({ attempt }) => attempt === 1));
      RESTS.lone = 60_000;
      await work();
      const together = await queue.addTorrent(plan, { output: 'media/y.torrent' });
      await assert.rejects(together.done(), missing);
    });

    it('gives back a part whose disk or store never answers', async (t) => {
      const { producer, work, workers, ended, store, plan } = await setUpQueue(t, start);
      const queue = producer();
      const states: WorkerState[] = [];
      const silent: PartStore = { ...store, put: never };
      const onWorker = (state: WorkerState) => void states.push(state);
      await workers(['media'], { store: silent, stall: 1000, onWorker }).ready();
      const queued = await queue.addTorrent(plan, { output: 'media/x.torrent' });
      while (states.length === 0) await delay(20);
      assert.match(String(states[0]?.reason), /does not answer/);
      await work();
      await queued.done();
      assert.ok(ended.every(({ error }) => error === null));
    });
  });

const refuse = () => Promise.reject(Object.assign(new Error('AccessDenied'), { statusCode: 403 }));

/** The root or the store of a sick worker. */
const ILLNESSES: Record<string, { root?: Record<string, number> | 'none'; store?: PartStore | 'other' }> = {
  'a root that is gone': { root: 'none' },
  'an empty mount point': { root: {} },
  'content that only it does not see': { root: { other: 1 } },
  'another store': { store: 'other' },
  'a store that refuses it': { store: { get: refuse, put: refuse } },
  'a store that does not answer': { store: { get: never, put: never } },
};
const WORKERS = 6;
/** Turns of sickness, and torrents and items of batches that are queued in each of them: 200 in all. */
const TURNS = 12;
const EACH = 9;

describe('six workers of which one is always sick', { skip: SERVERS[0].skip }, () => {
  it('make all torrents without a failure, and without an attempt more', async (t) => {
    const { folder, producer, workers, ended, store, draft } = await setUpQueue(t, SERVERS[0].start);
    RESTS.lone = 60_000;
    const queue = producer();
    const stores: (PartStore | null)[] = Array(WORKERS).fill(null);
    const told: (string | null)[] = Array(WORKERS).fill(null);
    const media = (i: number) => path.join(folder, `${i}`, 'media');
    const all = stores.map((_, i) => {
      const its = (): PartStore => stores[i] ?? store;
      return workers([], {
        roots: { media: media(i), out: path.join(folder, 'out') },
        store: { get: (...object) => its().get(...object), put: (...object) => its().put(...object) },
        stall: 1000,
        threads: 1,
        onWorker: ({ reason }) => {
          told[i] = reason ?? told[i] ?? null;
        },
      });
    });
    const mount = async (i: number) => {
      await rm(path.join(folder, `${i}`), { recursive: true, force: true });
      await mkdir(path.join(folder, `${i}`));
      await symlink(path.join(folder, 'media'), media(i));
    };
    for (const i of stores.keys()) await mount(i);
    await Promise.all(all.map((worker) => worker.ready()));
    const ends: Promise<unknown>[] = [];
    const made: string[] = [];
    const queueSome = async (count: number) => {
      for (let i = 0; i < count; i += 1) {
        const [one, other] = [`out/${made.length}.torrent`, `out/${made.length + 1}.torrent`];
        made.push(one, other);
        const own = new TorrentCreate({ pathRoot: draft.pathRoot, pieceLength: 16 * KIB, comment: one });
        const plan = await planParts(own, { root: 'media/set', partSize: 48 * KIB });
        ends.push((await queue.addTorrent(plan, { output: one })).done());
        const batch = await queue.addBatch('create', [{ path: 'media/set', output: other }]);
        ends.push(
          (async () => {
            for await (const { ok, error } of batch.results()) assert.ok(ok, String(error));
          })(),
        );
      }
      return Promise.all(ends);
    };
    for (let turn = 0; turn < TURNS; turn += 1) {
      const i = turn % WORKERS;
      const { root, store: other } = Object.values(ILLNESSES)[turn % Object.keys(ILLNESSES).length] ?? {};
      if (root) await rm(media(i));
      if (root && root !== 'none') {
        await mkdir(media(i));
        await writeTree(media(i), root);
      }
      if (other) stores[i] = other === 'other' ? folderStore(path.join(folder, `${i}`, 'typo')) : other;
      told[i] = null;
      void queueSome(EACH).catch(() => {});
      // Others may be faster.
      while (told[i] === null) await queueSome(1);
      stores[i] = null;
      await mount(i);
    }
    await Promise.all(ends);
    assert.ok(made.length >= 2 * TURNS * EACH);
    assert.deepEqual(
      ended.filter(({ error, attempt }) => error !== null || attempt !== 1),
      [],
    );
    for (const name of made) {
      const torrent = await Torrent.read(path.join(folder, name));
      assert.ok((await verify(torrent, path.join(folder, 'media/set'))).ok, name);
    }
  });
});
