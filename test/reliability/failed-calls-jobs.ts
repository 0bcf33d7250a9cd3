/** The jobs of failed-calls-child.ts: what each prepares, runs and must leave behind. */
import { createHash } from 'node:crypto';
import {
  chmodSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { DEFAULT_LIMITS } from '../../src/bencode/limits.ts';
import { TorrentCreate } from '../../src/create/draft.ts';
import { cacheStats, clearCache } from '../../src/create/known/cache.ts';
import type { GenerateOptions } from '../../src/create/options.ts';
import { readWithin } from '../../src/disk/read-file.ts';
import { scan, scannedFiles } from '../../src/disk/scan.ts';
import { edit } from '../../src/edit/edit.ts';
import { update } from '../../src/edit/update.ts';
import { upgrade } from '../../src/edit/upgrade.ts';
import type { MetainfoErrorCode } from '../../src/errors/codes.ts';
import { HybridHasher } from '../../src/hashers/hybrid-hasher.ts';
import { iterBlocks } from '../../src/hashers/records.ts';
import { Torrent } from '../../src/model/torrent/torrent.ts';
import type { VerifyReport } from '../../src/verify/report.ts';
import { verify } from '../../src/verify/verify.ts';
import { noise } from '../hash/reference.ts';
import { type Call, type Fault, READING } from '../support/faults.ts';

/** The folder whose calls can fail. */
export const work = process.env['METAINFO_FAULT_FOLDER'] as string;
export const [data, out, cache] = ['data', 'out', 'cache'].map((name) => path.join(work, name)) as [
  string,
  string,
  string,
];
/** A folder that the shim ignores. */
export const kept = path.join(path.dirname(work), 'kept');

const PIECE = 16_384;
/** Bytes: files of this size are in the cache. */
const LARGE = 2 ** 20 + 777;
const FILES: Record<string, number> = { a: LARGE, 'b/c': 100, 'b/empty': 0, 'b/piece': PIECE };
const BEFORE = new Date(1_000_000_000_000);
/** A time after the files of the old torrent were made and before others were added. */
let since = new Date(0);
/** In whole seconds, so that it can be restored exactly. */
export const AFTER = new Date(1_200_000_000_000);

const draft = new TorrentCreate({ pathRoot: data, pieceLength: PIECE, createdBy: null });
const few = new TorrentCreate({ pathRoot: path.join(data, 'b'), pieceLength: PIECE, createdBy: null });
const hashOf = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');
export const target = path.join(out, 'a.torrent');

export type JobOptions = Pick<GenerateOptions, 'signal' | 'threads' | 'engine'>;

export interface Job {
  /** Prepares the empty folders `out` and `cache` for the job. */
  prepare?: () => void;
  /** Runs the job and returns its result as text, which is the same each time. Jobs with a `signal` option can be cancelled. */
  run: (options: JobOptions) => Promise<string>;
  usesCache?: boolean;
  /** The groups of calls that fail. By default, all. */
  calls?: readonly Call[];
  /** Whether every fault that matters ends the job, with an error that names the file of the call. */
  isExact?: boolean;
  /** All calls on these files fail, too: a part of their path. */
  repeated?: string;
  /** The codes that it may end with after a fault, if they differ from those of other jobs. */
  codes?: (action: Fault['action']) => readonly MetainfoErrorCode[] | undefined;
  /** Whether another result is right when that call fails. */
  accepts?: (result: string, clean: string, paths: string[]) => boolean;
  /** Returns the problems of the files that it left. */
  check?: (after: Finished) => Promise<string[]> | string[];
}

interface Finished {
  isDone: boolean;
  /** The content of `out` before the job, and after it without faults. */
  before: Map<string, string>;
  clean: Map<string, string>;
  /** The group of calls that failed. */
  call: Call;
}

export const contentOf = (folder: string) =>
  new Map(readdirSync(folder).map((name) => [name, hashOf(readFileSync(path.join(folder, name)))]));

/** Checks that the output is the complete new torrent or the old file. */
const oldOrNew: NonNullable<Job['check']> = ({ isDone, before, clean, call }) => {
  const [now, fresh] = [contentOf(out), clean.get('a.torrent')];
  const old = before.get('a.torrent');
  const written = now.get('a.torrent');
  const problems: string[] = [];
  if (written !== old && written !== fresh) problems.push(`half of the output is there`);
  if (isDone && written !== fresh) problems.push('it is done, and the output is not there');
  const others = [...now.keys()].filter((name) => !before.has(name) && name !== 'a.torrent');
  if (others.length > 0 && call !== 'unlink') problems.push(`left in the folder: ${others}`);
  return problems;
};

/** Checks that the cache gives correct digests, also after a fault. */
async function cacheIsRight(): Promise<string[]> {
  const torrent = await draft.generate({ cache });
  return hashOf(torrent.bencode()) === full ? [] : ['the cache is wrong'];
}
let full = '';

const torrents: Record<string, Uint8Array> = {};
const put = (name: string) => () => writeFileSync(target, torrents[name] as Uint8Array);

async function written(torrent: Torrent, options: { force?: boolean; mtime?: Date }): Promise<string> {
  await torrent.write(target, options);
  return hashOf(torrent.bencode());
}

/** Checks that only files with a fault are reported as incomplete, with the reason. */
function acceptsReport(result: string, clean: string, paths: string[]): boolean {
  const [found, expected] = [JSON.parse(result), JSON.parse(clean)] as [VerifyReport, VerifyReport];
  return found.files.every((file, i) => {
    if (JSON.stringify(file) === JSON.stringify(expected.files[i])) return true;
    const isHit = paths.some(
      (hit) => path.join(data, file.path).startsWith(hit) || leadsTo(hit, path.join(data, file.path)),
    );
    // Files that share a v1 piece with it would be affected too; here every file starts at a piece.
    return isHit && (file.status === 'missing' || (file.status === 'unreadable' && (file.problem ?? '') !== ''));
  });
}

const putCache = (name: string) => () => cpSync(path.join(kept, name), cache, { recursive: true });

function withCache(known?: 'full' | 'some'): Job {
  return {
    usesCache: true,
    repeated: cache,
    ...(known && { prepare: putCache(known) }),
    run: async ({ signal }) => hashOf((await draft.generate({ cache, signal, threads: 1 })).bencode()),
    check: cacheIsRight,
  };
}

/** The creation of a torrent in memory, of any files in `data`. */
export function generateJob(pieceLength: number, options: GenerateOptions): Job {
  // To normalize names is no job for the step that reads small folders: that survives a fault, because the scan reads them again.
  const large = new TorrentCreate({ pathRoot: data, pieceLength, normalize: 'nfc' });
  const codes: Partial<Record<Fault['action'], MetainfoErrorCode[]>> = {
    EIO: ['ERR_READ'],
    ESTALE: ['ERR_READ'],
    EACCES: ['ERR_UNREADABLE'],
    // The scan has found the file before.
    ENOENT: ['ERR_FILE_CHANGED'],
    ENOTDIR: ['ERR_FILE_CHANGED'],
    end: ['ERR_FILE_CHANGED'],
  };
  return {
    calls: READING,
    isExact: true,
    repeated: data,
    codes: (action) => codes[action],
    run: async (more) => hashOf((await large.generate({ ...options, ...more })).bencode()),
  };
}

export const JOBS: Record<string, Job> = {
  scan: {
    async run({ signal }) {
      const scanned = await scan(data, null, { signal, readable: true });
      return JSON.stringify(
        scannedFiles(scanned)
          .map(({ path, length, mtimeMs }) => [path.join('/'), length, mtimeMs])
          .sort(),
      );
    },
  },
  create: {
    run: async ({ signal }) => written(await draft.generate({ signal, threads: 1 }), {}),
    check: oldOrNew,
  },
  'create, few short files': {
    run: async ({ signal }) => written(await few.generate({ signal, threads: 1 }), {}),
    check: oldOrNew,
    repeated: few.pathRoot,
  },
  'create, v1, over another': {
    prepare: put('old'),
    run: async ({ signal }) => written(await draft.generate({ signal, version: 'v1', threads: 2 }), { force: true }),
    check: oldOrNew,
  },
  verify: {
    prepare: put('full'),
    run: async ({ signal }) => JSON.stringify(await verify(await Torrent.read(target), data, { signal, threads: 1 })),
    accepts: acceptsReport,
  },
  update: {
    prepare: put('old'),
    async run({ signal }) {
      const { torrent } = await update(await Torrent.read(target), data, { signal, since, threads: 1 });
      return written(torrent, { force: true, mtime: AFTER });
    },
    check: oldOrNew,
  },
  upgrade: {
    prepare: put('v1'),
    async run({ signal }) {
      const { torrent } = await upgrade(await Torrent.read(target), data, { signal, threads: 1 });
      return written(torrent, { force: true });
    },
    check: oldOrNew,
  },
  edit: {
    prepare: put('full'),
    run: async () => written(edit(await Torrent.read(target), { comment: 'other' }), { force: true, mtime: AFTER }),
    check: oldOrNew,
  },
  'show, validate': {
    prepare: put('full'),
    async run() {
      const [torrent, bytes] = [await Torrent.read(target), await readWithin(target, DEFAULT_LIMITS.bytes)];
      return JSON.stringify([torrent.infohashV2, Torrent.inspect(bytes).issues]);
    },
  },
  hashers: {
    async run({ signal }) {
      const blocks: string[] = [];
      for await (const { chunk } of iterBlocks(path.join(data, 'a'), { signal })) blocks.push(hashOf(chunk));
      const hasher = new HybridHasher({ pathRoot: data, paths: ['a', 'b/c'], pieceLength: PIECE });
      const hashes = await hasher.process({ signal });
      return JSON.stringify([blocks, hashes.map(({ hash }) => Buffer.from(hash).toString('hex'))]);
    },
  },
  'a new cache': withCache(),
  'a cache that knows all': withCache('full'),
  'a cache that knows some': withCache('some'),
  'a cache that is counted and cleared': {
    usesCache: true,
    repeated: cache,
    codes: () => ['ERR_CACHE'],
    prepare: putCache('full'),
    async run() {
      const { entries } = await cacheStats(cache);
      await clearCache(cache);
      return String(entries);
    },
    // A missing file has no content.
    accepts: (result, clean) => Number(result) < Number(clean),
    check: cacheIsRight,
  },
};

/** Errors name a link by its own path. */
export const leadsTo = (at: string, named: string) => at === path.join(data, 'a') && named === path.join(data, 'link');

export function clear(job: Job): void {
  for (const folder of [out, cache]) rmSync(folder, { recursive: true, force: true });
  mkdirSync(out);
  job.prepare?.();
}

/** The changed files may have any state. */
export async function cacheIsAsWithout(): Promise<string[]> {
  const [one, other] = await Promise.all(
    [{}, { cache }].map((options) => draft.generate(options).then(({ infohashV2 }) => infohashV2, String)),
  );
  return one === other ? [] : [`with the cache it is ${other}, not ${one}`];
}

/** Makes the files, the torrents that jobs start with, and caches of them. */
export async function setUp(): Promise<void> {
  for (const [name, size] of Object.entries(FILES)) {
    const file = path.join(data, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, noise(size, size + 1));
    utimesSync(file, BEFORE, BEFORE);
  }
  const old = await draft.generate({});
  await sleep(50);
  await draft.generate({ cache: path.join(kept, 'some') });
  since = new Date();
  await sleep(50);
  // Later, one file changes and others are added.
  writeFileSync(path.join(data, 'b/piece'), noise(PIECE, 5));
  writeFileSync(path.join(data, 'b/new'), noise(LARGE, 6));
  for (const name of ['b/piece', 'b/new']) utimesSync(path.join(data, name), AFTER, AFTER);
  symlinkSync('a', path.join(data, 'link'));
  // Not readable for everybody, so the scan must ask the system.
  chmodSync(path.join(data, 'b/c'), 0o600);
  await sleep(50);
  const now = await draft.generate({ cache: path.join(kept, 'full') });
  torrents['old'] = old.bencode();
  torrents['full'] = now.bencode();
  torrents['v1'] = (await draft.generate({ version: 'v1' })).bencode();
  full = hashOf(now.bencode());
}
