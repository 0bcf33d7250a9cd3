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
import type { HashRequest } from '../../hash/hash-request.ts';
import { variable } from '../../platform/node.ts';
import { printable } from '../../text/printable.ts';
import type { ContentFile } from '../find-files.ts';
import type { CacheChoice } from '../options.ts';
import { appendRecords, type RecordQuery, readRecords, type StoredRecord, sizeOfStore } from './record-store.ts';

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

/** Files that the cache may have the digests of. */
export interface CacheEntry {
  /** The number that stands for the entry. */
  index: number;
  /** A file that starts at a piece boundary, or all files of a torrent whose files share pieces. */
  files: readonly Pick<ContentFile, 'diskPath' | 'length' | 'mtimeMs'>[];
  /** Bytes of all files. */
  length: number;
  /** Whether a pad file fills the last piece. */
  isPadded: boolean;
}

type Format = Pick<HashRequest, 'version' | 'pieceLength'>;
type Query = RecordQuery & { kind: 'v1' | 'v2' };

/** The digests that the cache has. */
interface CacheLookup {
  /** Digests by the indexes of their entries. */
  found: (readonly [index: number, FileDigests])[];
  /** Keeps digests of entries that were not found, each once, unless a file has changed since the lookup. */
  keep(hashed: Iterable<readonly [index: number, FileDigests]>): Promise<void>;
}

/** @internal The folder of the cache `auto`. Throws `ERR_INVALID_ARGUMENT` if nothing tells where it is. */
export function cacheFolder(): string {
  const { platform } = process;
  const local = variable('LOCALAPPDATA');
  if (platform === 'win32' && local) return path.join(local, 'metainfo', 'Cache');
  // Relative values are invalid (https://specifications.freedesktop.org/basedir-spec/latest/).
  const base = variable('XDG_CACHE_HOME');
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

type CacheOptions = { signal?: AbortSignal | undefined };
const CACHE_OPTIONS: OptionStructs<CacheOptions> = { signal: Signal };

/** Checks the arguments of a caller, and does something to the store of a cache. @param verb What cannot be done if it fails. */
async function onStore<T>(
  folder: Exclude<CacheChoice, false>,
  options: CacheOptions,
  verb: string,
  use: (store: string, root: string, signal: AbortSignal | undefined) => Promise<T>,
): Promise<T> {
  const root = folderOf(folder);
  const { signal } = checkOptions(options, CACHE_OPTIONS, { example: '{ signal }' });
  throwIfAborted(signal);
  try {
    return await use(storeIn(root), root, signal);
  } catch (cause) {
    if (cause instanceof AbortError) throw cause;
    // The other lines of a loader's message are its require stack.
    const [why] = (cause as Error).message.split('\n');
    throw new MetainfoError('ERR_CACHE', `The cache in ${root} cannot be ${verb} (${why}).`, { path: root, cause });
  }
}

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
  return onStore(folder, options, 'read', async (store, root, signal) => {
    const exists = await untilAbort(signal, stat(store).catch(ignoreMissing));
    return { folder: root, ...(exists ? await sizeOfStore(store, signal) : { entries: 0, bytes: 0 }) };
  });
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
  return onStore(folder, options, 'removed', async (store, root, signal) => {
    // Another process may write to it meanwhile.
    await untilAbort(signal, rm(store, { recursive: true, force: true, maxRetries: 10 }));
    return root;
  });
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

  /** Looks up digests. */
  async find(entries: readonly CacheEntry[], format: Format): Promise<CacheLookup> {
    const { version } = format;
    const identities = await settledIdentitiesOf(entries);
    const asked = entries.flatMap((entry, i) => {
      const identity = identities[i];
      return identity ? [{ ...entry, identity, queries: queriesOf(entry, identity, format) }] : [];
    });
    const values = await this.#read(asked.flatMap(({ queries }) => queries));
    const missing = new Map<number, (typeof asked)[number]>();
    const found: CacheLookup['found'] = [];
    let next = 0;
    for (const entry of asked) {
      const pieces = version === 'v2' ? NOTHING : values[next++];
      const tree = version === 'v1' ? NOTHING : values[next++];
      const root = version === 'v1' ? null : tree?.subarray(0, 32);
      if (pieces && tree) found.push([entry.index, { pieces, root: root ?? null, layer: tree.subarray(32) }]);
      else missing.set(entry.index, entry);
    }
    const keep: CacheLookup['keep'] = async (hashed) => {
      const kept = Array.from(hashed).flatMap(([index, digests]) => {
        const entry = missing.get(index);
        return entry && missing.delete(index) ? [{ ...entry, digests }] : [];
      });
      if (kept.length === 0) return;
      const now = await identitiesOf(kept);
      const records = kept.flatMap(({ identity, queries, digests: { pieces, root, layer } }, i): StoredRecord[] => {
        if (!now[i]?.equals(identity)) return [];
        const byKind = { v1: () => pieces, v2: () => Buffer.concat([root as Uint8Array, layer]) };
        return queries.map(({ kind, ...query }) => ({ ...query, value: byKind[kind]() }));
      });
      await this.#write(records.filter(({ value }) => value.length <= MAX_VALUE_BYTES));
    };
    return { found, keep };
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

/** The records of an entry: one for each version that the torrent has. */
function queriesOf({ length, isPadded }: CacheEntry, identity: Buffer, { version, pieceLength }: Format): Query[] {
  const count = Math.ceil(length / pieceLength);
  const group = Math.floor(identity.readDoubleLE(32) / INODES_PER_GROUP);
  const queryOf = (kind: Query['kind'], name: string, bytes: number): Query => {
    const hash = createHash('sha256').update(identity).update(`${pieceLength} ${name}`);
    return { kind, key: hash.digest().subarray(0, 16), group, length: bytes };
  };
  const queries: Query[] = [];
  // A pad file changes the hash of the last piece, unless that piece is full.
  const name = isPadded && length % pieceLength !== 0 ? 'v1 padded' : 'v1';
  if (version !== 'v2') queries.push(queryOf('v1', name, count * 20));
  if (version !== 'v1') queries.push(queryOf('v2', 'v2', (count > 1 ? 1 + count : count) * 32));
  return queries;
}

/** The identities of entries; null for one that was just written to: another write might leave the same identity. */
async function settledIdentitiesOf(entries: readonly CacheEntry[]): Promise<(Buffer | null)[]> {
  const first = await identitiesOf(entries);
  const started = Date.now();
  // Clocks differ a little. Waiting does not help against timestamps far in the future.
  const wait = first.reduce((longest, identity) => {
    const ms = identity ? settledAt(identity) - started : -1;
    return ms > 2 * TICK_MS ? longest : Math.max(longest, ms);
  }, -1);
  // After the clock's next tick the identity is good, unless somebody still writes to the file.
  if (wait >= 0) await delay(Math.ceil(wait) + 2);
  const later = wait >= 0 ? await identitiesOf(entries) : first;
  const now = Date.now();
  return later.map((identity, i) =>
    identity && settledAt(identity) < now && first[i]?.equals(identity) ? identity : null,
  );
}

/** The time after which a write leaves another identity, in milliseconds since 1970. */
function settledAt(identity: Buffer): number {
  let latest = 0;
  for (let at = 0; at < identity.length; at += IDENTITY_BYTES) {
    const [mtime, ctime] = [identity.readDoubleLE(at + 8), identity.readDoubleLE(at + 16)];
    const isCoarse = ctime % 1000 === 0 && mtime % 1000 === 0;
    latest = Math.max(latest, ctime + (isCoarse ? COARSE_TICK_MS : TICK_MS));
  }
  return latest;
}

/** The identities of the files of each entry as one; null if a file is not on disk, is gone or has changed since the scan. */
async function identitiesOf(entries: readonly CacheEntry[]): Promise<(Buffer | null)[]> {
  const onDisk = entries.flatMap(({ files }) => files.flatMap(({ diskPath: real }) => (real ? [{ real }] : [])));
  const numbers = await statFiles(onDisk);
  let next = 0;
  const identityOf = ({ diskPath, length, mtimeMs }: CacheEntry['files'][number]): Buffer[] => {
    if (!diskPath) return [];
    const at = next++ * STAT_NUMBERS;
    const [error, , size, modified] = numbers.subarray(at);
    const isSame = error === 0 && size === length && modified === mtimeMs;
    return isSame ? [Buffer.from(numbers.buffer, numbers.byteOffset + (at + 2) * 8, IDENTITY_BYTES)] : [];
  };
  return entries.map(({ files }) => {
    const identities = files.flatMap(identityOf);
    return identities.length === files.length ? Buffer.concat(identities) : null;
  });
}
