/**
 * Keeps the digests of files between creations. A file is identified by device, inode, size, mtime and ctime: programs set
 * the mtime back (music taggers do), so the mtime alone proves nothing.
 */
import { createHash } from 'node:crypto';
import { mkdir, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { homeFolder } from '../../disk/home-folder.ts';
import { STAT_NUMBERS, statFiles } from '../../disk/stat-files.ts';
import { AbortError, throwIfAborted, untilAbort } from '../../errors/cancel.ts';
import { MetainfoError, shown } from '../../errors/errors.ts';
import { checkOptions, invalidArgument, type OptionStructs, pathOrNull, Signal } from '../../errors/guard.ts';
import type { FileDigests } from '../../hash/file-digests.ts';
import { printable } from '../../text/printable.ts';
import type { ContentFile } from '../find-files.ts';
import type { CacheChoice } from '../options.ts';
import type { SizedLayout } from '../torrent-layout.ts';
import { appendRecords, type RecordQuery, readRecords, type StoredRecord, sizeOfStore } from './record-store.ts';
import { MIN_CACHED_BYTES } from './worth-caching.ts';

/** The folder of the records in the cache. Give a new format a new number: records of the old one are then ignored. */
const STORE = 'hashes-3';
/** Size, mtime, ctime, device and inode: the numbers of `statFiles` after error and type. */
const IDENTITY_BYTES = 5 * 8;
/** Two writes within this time may leave the same timestamp: system clocks tick at least a hundred times a second. */
const TICK_MS = 25;
/** The same for file systems whose timestamps are whole seconds. */
const COARSE_TICK_MS = 2500;
/** Longer digests are not cached: a file of 32 GiB in pieces of 16 KiB has this many bytes of them. */
const MAX_VALUE_BYTES = 2 ** 26;
/** Files of one folder have inodes that are close to each other. So many have records in one group. */
const INODES_PER_GROUP = 1024;

/** A file that starts at a piece boundary, or all files of a torrent whose files share pieces. */
interface CacheEntry {
  /** The place of its digests in a {@link CacheLookup}. */
  index: number;
  files: readonly ContentFile[];
  /** The identities of all files. */
  identity: Uint8Array;
  /** The records of the entry; null for the version that the torrent does not have. */
  v1: RecordQuery | null;
  v2: RecordQuery | null;
}

/** The digests that the cache has for a layout. */
interface CacheLookup {
  /** The digests of each file, or one entry for all files that share pieces; null for files that must be read. */
  digests: (FileDigests | null)[];
  /** The entries whose digests {@link HashCache.keep} keeps. */
  missing: CacheEntry[];
}

/**
 * @internal The folder of the cache `auto`.
 *
 * @throws {MetainfoError} `ERR_INVALID_ARGUMENT` if nothing tells where it is
 */
export function cacheFolder(): string {
  const { env, platform } = process;
  if (platform === 'win32' && env['LOCALAPPDATA']) return path.join(env['LOCALAPPDATA'], 'metainfo', 'Cache');
  // Relative values are invalid (https://specifications.freedesktop.org/basedir-spec/latest/).
  const base = env['XDG_CACHE_HOME'];
  if (platform !== 'darwin' && base && path.isAbsolute(base)) return path.join(base, 'metainfo');
  const home = homeFolder();
  if (home !== null) return path.join(home, platform === 'darwin' ? 'Library/Caches' : '.cache', 'metainfo');
  throw invalidArgument('This user has no home folder for the cache: set HOME, or name the folder of the cache');
}

/**
 * @internal Opens a cache. If its folder cannot be made, warns and resolves to null: every file is hashed then.
 *
 * @throws {MetainfoError} `ERR_INVALID_ARGUMENT`
 */
export async function openCacheIfAny(choice: CacheChoice): Promise<HashCache | null> {
  const folder = folderOf(choice);
  try {
    await makeStore(folder);
    return new HashCache(folder);
  } catch (error) {
    warn(`The cache in ${folder} cannot be opened: ${(error as Error).message}`);
    return null;
  }
}

function warn(message: string): void {
  // Node prints warnings raw, and file names may hold terminal escapes.
  process.emitWarning(printable(message), { type: 'MetainfoWarning', code: 'ERR_CACHE' });
}

function folderOf(choice: CacheChoice): string {
  if (choice === 'auto') return cacheFolder();
  const folder = pathOrNull(choice);
  if (folder) return path.resolve(folder);
  throw invalidArgument(`cache must be auto, a folder or false, not ${shown(choice)}`);
}

const storeIn = (folder: string) => path.join(folder, STORE);

/** Only the owner may read it: it tells which files somebody has. */
function makeStore(folder: string): Promise<void> {
  return makeFolder(storeIn(folder), 0o700);
}

/** Makes a folder and its parents. The recursive `mkdir` of Node never returns in folders that accept no files, such as /proc. */
async function makeFolder(folder: string, mode: number): Promise<void> {
  const make = () =>
    mkdir(folder, { mode }).catch(async (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST' || !(await stat(folder)).isDirectory()) throw error;
    });
  try {
    await make();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || path.dirname(folder) === folder) throw error;
    await makeFolder(path.dirname(folder), mode);
    await make();
  }
}

function failure(message: string, folder: string, cause: unknown): MetainfoError {
  if (cause instanceof AbortError) return cause;
  // The other lines of a loader's message are its require stack.
  const [why] = (cause as Error).message.split('\n');
  return new MetainfoError('ERR_CACHE', `${message} (${why}).`, { path: folder, cause });
}

const CACHE_OPTIONS: OptionStructs<{ signal?: AbortSignal | undefined }> = { signal: Signal };

/** The size of a cache. */
export interface CacheStats {
  /** The folder of the cache, absolute. */
  folder: string;
  /** Records: one or two for each file and piece length. */
  entries: number;
  /** Bytes on disk. */
  bytes: number;
}

/**
 * Measures a cache; a cache that does not exist yet is empty.
 *
 * @param folder `auto`, or the folder that was given to `generate`.
 * @param options How to measure.
 * @param options.signal Cancels it.
 * @throws {MetainfoError} `ERR_CACHE`
 * @throws {AbortError} if the signal fires
 * @example
 * ```ts
 * import { cacheStats } from 'metainfo';
 *
 * const { folder, entries, bytes } = await cacheStats('cache');
 * console.log(`${entries} records, ${bytes} bytes in ${folder}`);
 * ```
 */
export async function cacheStats(
  folder: 'auto' | (string & {}) | URL = 'auto',
  options: { signal?: AbortSignal | undefined } = {},
): Promise<CacheStats> {
  const root = folderOf(folder);
  const { signal } = checkOptions(options, CACHE_OPTIONS, { example: '{ signal }' });
  throwIfAborted(signal);
  try {
    const exists = await untilAbort(signal, stat(storeIn(root)).catch(ignoreMissing));
    return { folder: root, ...(exists ? await sizeOfStore(storeIn(root), signal) : { entries: 0, bytes: 0 }) };
  } catch (cause) {
    throw failure(`The cache in ${root} cannot be read`, root, cause);
  }
}

/**
 * Removes everything in a cache, damaged files too. Jobs that use the cache at the time continue, and may start a new one.
 *
 * @param folder `auto`, or the folder that was given to `generate`.
 * @param options How to remove it.
 * @param options.signal Stops waiting: once begun, the system removes the rest.
 * @returns The folder of the cache.
 * @throws {MetainfoError} `ERR_CACHE`
 * @throws {AbortError} if the signal fires
 * @example
 * ```ts
 * import { clearCache } from 'metainfo';
 *
 * await clearCache('cache');
 * ```
 */
export async function clearCache(
  folder: 'auto' | (string & {}) | URL = 'auto',
  options: { signal?: AbortSignal | undefined } = {},
): Promise<string> {
  const root = folderOf(folder);
  const { signal } = checkOptions(options, CACHE_OPTIONS, { example: '{ signal }' });
  throwIfAborted(signal);
  try {
    // Another process may write to it meanwhile.
    await untilAbort(signal, rm(storeIn(root), { recursive: true, force: true, maxRetries: 10 }));
    return root;
  } catch (cause) {
    throw failure(`The cache in ${root} cannot be removed`, root, cause);
  }
}

function ignoreMissing(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error;
}

/** @internal The cache in one folder. Its failures are warnings: without it, files are hashed. */
export class HashCache {
  readonly #folder: string;
  #hasWarned = false;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /**
   * Looks up the digests of a layout.
   *
   * @param known Digests of files that need no lookup. The digests of files that share pieces are never among them.
   */
  async find(layout: SizedLayout, known: readonly (FileDigests | null)[]): Promise<CacheLookup> {
    const digests = [...known];
    const entries = await entriesOf(layout, known);
    const values = await this.#read(entries.flatMap(({ v1, v2 }) => [v1, v2].filter((query) => query !== null)));
    let next = 0;
    const missing = entries.filter(({ index, v1, v2 }) => {
      const pieces = v1 ? values[next++] : NOTHING;
      const tree = v2 ? values[next++] : NOTHING;
      if (pieces && tree) digests[index] = { pieces, root: v2 && tree.subarray(0, 32), layer: tree.subarray(32) };
      return !pieces || !tree;
    });
    return { digests, missing };
  }

  /**
   * Keeps the digests that were missing, unless a file has changed since the lookup.
   *
   * @param digests All digests of the lookup.
   */
  async keep({ missing }: CacheLookup, digests: readonly FileDigests[]): Promise<void> {
    const now = joined(missing, await identitiesOf(missing.flatMap(({ files }) => files)));
    const records = missing.flatMap(({ index, identity, v1, v2 }, i): StoredRecord[] => {
      if (!now[i]?.equals(identity)) return [];
      const { pieces, root, layer } = digests[index] as FileDigests;
      const tree = v2 && { ...v2, value: Buffer.concat([root as Uint8Array, layer]) };
      return [...(v1 ? [{ ...v1, value: pieces }] : []), ...(tree ? [tree] : [])];
    });
    await this.#write(records.filter(({ value }) => value.length <= MAX_VALUE_BYTES));
  }

  async #read(queries: readonly RecordQuery[]): Promise<(Uint8Array | null)[]> {
    try {
      return await readRecords(storeIn(this.#folder), queries);
    } catch (error) {
      this.#warn(`cannot be read: ${(error as Error).message}`);
      return queries.map(() => null);
    }
  }

  /** A failure only warns: the job has its digests. */
  async #write(records: readonly StoredRecord[]): Promise<void> {
    const write = () => appendRecords(storeIn(this.#folder), records);
    try {
      await write().catch(async (error: NodeJS.ErrnoException) => {
        if (error.code !== 'ENOENT') throw error;
        // Another process cleared the cache in the meantime.
        await makeStore(this.#folder);
        await write();
      });
    } catch (error) {
      this.#warn(`cannot be written: ${(error as Error).message}`);
    }
  }

  /** Warns once: one cause often has several effects. */
  #warn(problem: string): void {
    if (this.#hasWarned) return;
    this.#hasWarned = true;
    warn(`The cache in ${this.#folder} ${problem}`);
  }
}

const NOTHING = new Uint8Array();
/** The entries of a layout whose digests are not known and whose files are not changing. */
async function entriesOf(layout: SizedLayout, known: readonly (FileDigests | null)[]): Promise<CacheEntry[]> {
  const { files, isAligned, paddedFiles, pieceLength, version } = layout;
  const { lengths } = files;
  const indexes = isAligned ? lengths.keys() : [0];
  const groups = [...indexes].flatMap((index): Pick<CacheEntry, 'index' | 'files'>[] => {
    if (!isAligned) return [{ index, files: files.rows() }];
    const isCached = !known[index] && (lengths[index] as number) >= MIN_CACHED_BYTES;
    return isCached ? [{ index, files: [files.at(index) as ContentFile] }] : [];
  });
  const identities = joined(groups, await settledIdentitiesOf(groups.flatMap((group) => group.files)));
  return groups.flatMap((entry, i): CacheEntry[] => {
    const identity = identities[i];
    if (!identity) return [];
    const length = isAligned ? (lengths[entry.index] as number) : files.totalLength;
    const count = Math.ceil(length / pieceLength);
    const group = Math.floor(identity.readDoubleLE(32) / INODES_PER_GROUP);
    const queryOf = (kind: string, bytes: number): RecordQuery => {
      const hash = createHash('sha256').update(identity).update(`${pieceLength} ${kind}`);
      return { key: hash.digest().subarray(0, 16), group, length: bytes };
    };
    // A pad file changes the hash of the last piece, unless that piece is full.
    const isPadded = entry.index < paddedFiles && length % pieceLength !== 0;
    const v1 = version === 'v2' ? null : queryOf(isPadded ? 'v1 padded' : 'v1', count * 20);
    const v2 = version === 'v1' ? null : queryOf('v2', (count > 1 ? 1 + count : count) * 32);
    return [{ ...entry, identity, v1, v2 }];
  });
}

/** The identities of the files of each entry as one; null if one of the files has none. */
function joined(
  entries: readonly Pick<CacheEntry, 'files'>[],
  identities: readonly (Buffer | null)[],
): (Buffer | null)[] {
  let next = 0;
  return entries.map(({ files }) => {
    const own = identities.slice(next, next + files.length);
    next += files.length;
    return own.includes(null) ? null : Buffer.concat(own as Buffer[]);
  });
}

/** The identities of files; null for a file that was just written to: another write might leave the same identity. */
async function settledIdentitiesOf(files: readonly ContentFile[]): Promise<(Buffer | null)[]> {
  const first = await identitiesOf(files);
  const ages = first.map((identity) => (identity ? Date.now() - ctimeOf(identity) : Infinity));
  // Clocks differ a little. Waiting does not help against timestamps far in the future.
  const youngest = Math.min(...ages.filter((age) => age >= -TICK_MS));
  // After the clock's next tick the identity is good, unless somebody still writes to the file.
  if (youngest <= TICK_MS) await delay(Math.ceil(TICK_MS - youngest) + 2);
  const later = youngest <= TICK_MS ? await identitiesOf(files) : first;
  const now = Date.now();
  return later.map((identity, i) =>
    identity && isSettled(identity, now) && first[i]?.equals(identity) ? identity : null,
  );
}

function isSettled(identity: Buffer, now: number): boolean {
  const isCoarse = ctimeOf(identity) % 1000 === 0 && mtimeOf(identity) % 1000 === 0;
  return now - ctimeOf(identity) > (isCoarse ? COARSE_TICK_MS : TICK_MS);
}

function mtimeOf(identity: Buffer): number {
  return identity.readDoubleLE(8);
}

function ctimeOf(identity: Buffer): number {
  return identity.readDoubleLE(16);
}

/** The identities of files on disk; null for a file that is gone or has changed since the scan. */
async function identitiesOf(files: readonly ContentFile[]): Promise<(Buffer | null)[]> {
  const onDisk = files.flatMap((file, index) =>
    file.diskPath === undefined ? [] : [{ real: file.diskPath, file, index }],
  );
  const identities: (Buffer | null)[] = files.map(() => null);
  const numbers = await statFiles(onDisk);
  for (const [i, { file, index }] of onDisk.entries()) {
    const [error, , size, mtimeMs] = numbers.subarray(i * STAT_NUMBERS);
    if (error === 0 && size === file.length && mtimeMs === file.mtimeMs)
      identities[index] = Buffer.from(numbers.buffer, numbers.byteOffset + (i * STAT_NUMBERS + 2) * 8, IDENTITY_BYTES);
  }
  return identities;
}
