// Every function that waits takes a signal: the exports are enumerated, so that a new one cannot be forgotten.
import assert from 'node:assert/strict';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import {
  cacheStats,
  clearCache,
  create,
  findMoved,
  folderStore,
  hashPart,
  iterBlocks,
  joinParts,
  type PartStore,
  placeMoved,
  planParts,
  resumeData,
  s3File,
  storePart,
  Torrent,
  TorrentCreate,
  type TorrentPlan,
  update,
  upgrade,
  V2Hasher,
  verify,
  webFile,
} from '../../src/index.ts';
import { temporaryFolder, writeTree } from '../support/tree.ts';
import { waitingExports } from '../support/waiting-exports.ts';

/** Functions that take no signal, and why. */
const WITHOUT_SIGNAL: Record<string, string> = {
  'HasherBase.update': 'a chunk takes milliseconds; the promises are those of the pool',
  'HashPool.hash': 'a chunk takes milliseconds; `close` ends the pool',
  parsePlan: 'it waits for nothing',
};

describe('signals', () => {
  let folder: string;
  let album: string;
  let draft: TorrentCreate;
  let torrent: Torrent;
  let v1: Torrent;
  let plan: TorrentPlan;

  const cleanups: (() => Promise<void>)[] = [];
  after(async () => {
    for (const cleanup of cleanups) await cleanup();
  });

  before(async () => {
    folder = await temporaryFolder({ after: (cleanup) => void cleanups.push(cleanup) });
    album = path.join(folder, 'album');
    await writeTree(album, { a: 100_000, b: 50_000 });
    await writeTree(path.join(folder, 'moved'), { other: 100_000, b: 50_000 });
    draft = new TorrentCreate({ pathRoot: album });
    torrent = await draft.generate();
    v1 = await draft.generate({ version: 'v1' });
    plan = await planParts(draft);
  });

  /** A call of each function. */
  const CALLS: Record<string, (signal: AbortSignal) => Promise<unknown>> = {
    cacheStats: (signal) => cacheStats(folder, { signal }),
    clearCache: (signal) => clearCache(folder, { signal }),
    create: (signal) => create(album, { signal }),
    findMoved: (signal) => findMoved(torrent, album, [], { signal }),
    hashPart: (signal) => hashPart(plan, 0, { signal }),
    'HasherBase.process': (signal) =>
      new V2Hasher({ paths: ['a'], pathRoot: album, pieceLength: 16_384 }).process({ signal }),
    iterBlocks: (signal) => iterBlocks(path.join(album, 'a'), { signal } as never).next(),
    joinParts: (signal) => joinParts(plan, () => null, { signal }),
    placeMoved: async (signal) =>
      placeMoved(await findMoved(torrent, path.join(folder, 'moved'), []), 'rename', { signal }),
    planParts: (signal) => planParts(draft, { signal }),
    resumeData: async (signal) =>
      resumeData(torrent, await verify(torrent, album), { client: 'qbittorrent', path: album, signal }),
    s3File: (signal) => {
      const credentials = { accessKeyId: 'key', secretAccessKey: 'secret' };
      return s3File('s3://films/x', { endpoint: 'http://127.0.0.1:1', credentials, signal });
    },
    storePart: (signal) => storePart(plan, 0, folderStore(path.join(folder, 'store')), { signal }),
    'Torrent.read': (signal) => Torrent.read(path.join(album, 'a'), { signal }),
    'V2Hasher.hashFile': (signal) => V2Hasher.hashFile(path.join(album, 'a'), 16_384, { signal }),
    'TorrentBase.write': (signal) => torrent.write(path.join(folder, 'x.torrent'), { signal }),
    'TorrentCreate.generate': (signal) => draft.generate({ signal }),
    'TorrentCreate.generateExt': async (signal) => {
      // The addon of libtorrent may not be built.
      signal.throwIfAborted();
    },
    'TorrentCreate.generateWithTimes': (signal) => draft.generateWithTimes({ signal }),
    'TorrentCreate.getPaths': (signal) => draft.getPaths({ signal }),
    'TorrentCreate.plan': (signal) => draft.plan({ signal }),
    update: (signal) => update(torrent, album, { signal }),
    upgrade: (signal) => upgrade(v1, album, { signal }),
    verify: (signal) => verify(torrent, album, { signal }),
    webFile: (signal) => webFile('http://127.0.0.1:1/x', { signal }),
  };

  it('are taken by every function that waits', () => {
    const index = fileURLToPath(new URL('../../src/index.ts', import.meta.url));
    const names = new Set(waitingExports(index).map(({ name }) => name));
    assert.deepEqual([...Object.keys(CALLS), ...Object.keys(WITHOUT_SIGNAL)].sort(), [...names].sort());
  });

  for (const [name, call] of Object.entries(CALLS)) {
    if (name === 'TorrentCreate.generateExt') continue;
    it(`${name} rejects with ERR_ABORTED for a signal that has fired, with its reason`, async () => {
      await assert.rejects(call(AbortSignal.abort('gone')), { name: 'AbortError', code: 'ERR_ABORTED', cause: 'gone' });
    });
    it(`${name} refuses a signal that is none`, async () => {
      await assert.rejects(call('stop' as never), { code: 'ERR_INVALID_ARGUMENT' });
    });
  }

  it('a store that never answers keeps nobody once the signal has fired', async () => {
    const never = new Promise<never>(() => {});
    for (const silent of ['get', 'put'] as const) {
      const stop = new AbortController();
      const hangs = () => {
        stop.abort('gone');
        return never;
      };
      const store: PartStore = { get: async () => null, put: async () => {}, [silent]: hangs };
      const stored = storePart(plan, 0, store, { signal: stop.signal });
      await assert.rejects(stored, { code: 'ERR_ABORTED', cause: 'gone' });
    }
  });

  it('a folder of a cache is measured and cleared with a signal that does not fire', async () => {
    const { signal } = new AbortController();
    const cache = path.join(folder, 'cache');
    await mkdir(cache);
    await new TorrentCreate({ pathRoot: album }).generate({ cache });
    assert.equal((await cacheStats(cache, { signal })).folder, cache);
    assert.equal(await clearCache(cache, { signal }), cache);
  });
});
