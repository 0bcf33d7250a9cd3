/**
 * Keeps the digests of files between creations. A file is identified by device, inode, size, mtime and ctime: programs set
 * the mtime back (music taggers do), so the mtime alone proves nothing.
 */
import { createHash } from 'node:crypto';
import { mkdir, readdir, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { homeFolder } from '../../disk/home-folder.ts';
import { STAT_NUMBERS, statFiles } from '../../disk/stat-files.ts';
import { MetainfoError, shown } from '../../errors/errors.ts';
import type { FileDigests } from '../../hash/file-digests.ts';
import { printable } from '../../text/printable.ts';
import type { ContentFile } from '../find-files.ts';
import { MIN_CACHED_BYTES } from '../hash.ts';
import type { CacheChoice } from '../options.ts';
import type { SizedLayout } from '../torrent-layout.ts';
import { type RecordQuery, RecordStore, type StoredRecord, type StoreSize } from './record-store.ts';

/** The folder of the records in the cache. Give a new format a new number: records of the old one are then ignored. */
const STORE = 'hashes-2';
/** Size, mtime, ctime, device and inode: the numbers of `statFiles` after error and type. */
const IDENTITY_BYTES = 5 * 8;
/** Files of one folder have inodes that are close to each other. So many have records in one group. */
const INODES_PER_GROUP = 1024;
/** Two writes within this time may leave the same timestamp: system clocks tick at least a hundred times a second. */
const TICK_MS = 25;
/** The same for file systems whose timestamps are whole seconds. */
const COARSE_TICK_MS = 2500;
/** Longer digests are not cached: a file of 32 GiB in pieces of 16 KiB has this many bytes of them. */
const MAX_VALUE_BYTES = 2 ** 26;

/** The digests that the cache has for the files of a layout. */
interface CacheLookup {
  /** The digests of each file; null for files that must be read. */
  digests: (FileDigests | null)[];
  /** The files whose digests {@link HashCache.keep} keeps. */
  missing: { index: number; file: ContentFile; identity: Buffer; queries: FileQueries }[];
}

/** The v1 pieces that the cache has for files that share pieces. */
interface ContiguousLookup {
  pieces: Uint8Array | null;
  files: readonly ContentFile[];
  identities: readonly (Buffer | null)[];
  /** Null if one of the files has no identity. */
  query: RecordQuery | null;
}

/** The records of a file that starts at a piece boundary; null for the version that the torrent does not have. */
interface FileQueries {
  v1: RecordQuery | null;
  v2: RecordQuery | null;
}

/**
 * The folder of the cache `auto`.
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
  const message = 'This user has no home folder for the cache: set HOME, or name the folder of the cache.';
  throw new MetainfoError('ERR_INVALID_ARGUMENT', message);
}

/**
 * Opens a cache. If its folder cannot be made, warns and resolves to null: every file is hashed then.
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
  if (typeof choice === 'string' && choice !== '') return path.resolve(choice);
  throw new MetainfoError('ERR_INVALID_ARGUMENT', `cache must be auto, a folder or false, not ${shown(choice)}.`);
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
  // The other lines of a loader's message are its require stack.
  const [why] = (cause as Error).message.split('\n');
  return new MetainfoError('ERR_CACHE', `${message} (${why}).`, { path: folder, cause });
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
 * Measures a cache; a cache that does not exist yet is empty. Damaged files are set aside with a warning.
 *
 * @param folder `auto`, or the folder that was given to `generate`.
 * @throws {MetainfoError} `ERR_CACHE`
 * @example
 * ```ts
 * import { cacheStats } from 'metainfo';
 *
 * const { folder, entries, bytes } = await cacheStats('cache');
 * console.log(`${entries} records, ${bytes} bytes in ${folder}`);
 * ```
 */
export async function cacheStats(folder: 'auto' | (string & {}) = 'auto'): Promise<CacheStats> {
  const root = folderOf(folder);
  try {
    const exists = await stat(storeIn(root)).catch(ignoreMissing);
    return { folder: root, ...(exists ? await new HashCache(root).size() : { entries: 0, bytes: 0 }) };
  } catch (cause) {
    throw failure(`The cache in ${root} cannot be read`, root, cause);
  }
}

/**
 * Removes everything in a cache, damaged files too. Jobs that use the cache at the time continue, and may start a new one.
 *
 * @param folder `auto`, or the folder that was given to `generate`.
 * @returns The folder of the cache.
 * @throws {MetainfoError} `ERR_CACHE`
 * @example
 * ```ts
 * import { clearCache } from 'metainfo';
 *
 * await clearCache('cache');
 * ```
 */
export async function clearCache(folder: 'auto' | (string & {}) = 'auto'): Promise<string> {
  const root = folderOf(folder);
  const old = `${storeIn(root)}.${Math.random().toString(36).slice(2)}.old`;
  try {
    // Rename first: no other process sees a cache that is half removed.
    await rename(storeIn(root), old).catch(ignoreMissing);
    // Also remove what an interrupted call left behind.
    for (const name of (await readdir(root).catch(ignoreMissing)) ?? [])
      if (name.startsWith(`${STORE}.`)) await rm(path.join(root, name), { recursive: true, force: true });
    return root;
  } catch (cause) {
    throw failure(`The cache in ${root} cannot be removed`, root, cause);
  }
}

function ignoreMissing(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error;
}

/** The cache in one folder. Its failures are warnings: without it, files are hashed. */
export class HashCache {
  readonly #folder: string;
  readonly #store: RecordStore;
  #hasWarned = false;

  constructor(folder: string) {
    this.#folder = folder;
    this.#store = new RecordStore(storeIn(folder), (setAside) =>
      this.#warn(`was damaged: its files are hashed again, and the damaged file is set aside as ${setAside}`),
    );
  }

  /** Counts the records and their bytes. */
  size(): Promise<StoreSize> {
    return this.#store.size();
  }

  /** Looks up the long files of an aligned layout, except those whose digests are known. */
  async find(layout: SizedLayout, known: readonly (FileDigests | null)[]): Promise<CacheLookup> {
    const digests = [...known];
    const indexes = [...digests.keys()].filter(
      (i) => !known[i] && (layout.files.lengths[i] as number) >= MIN_CACHED_BYTES,
    );
    const files = indexes.map((index) => layout.files.at(index) as ContentFile);
    const identities = await settledIdentitiesOf(files);
    const settled = files.flatMap((file, i): CacheLookup['missing'] => {
      const [identity, index] = [identities[i], indexes[i] as number];
      if (!identity) return [];
      return [{ index, file, identity, queries: queriesOf(identity, file, index < layout.paddedFiles, layout) }];
    });
    const values = await this.#read(
      settled.flatMap(({ queries: { v1, v2 } }) => [v1, v2].filter((one) => one !== null)),
    );
    const missing: CacheLookup['missing'] = [];
    let next = 0;
    for (const one of settled) {
      const pieces = one.queries.v1 ? values[next++] : new Uint8Array();
      const tree = one.queries.v2 ? values[next++] : new Uint8Array();
      if (pieces && tree) digests[one.index] = { pieces, ...treeOf(tree) };
      else missing.push(one);
    }
    return { digests, missing };
  }

  /**
   * Keeps the digests of the missing files, unless a file has changed since the lookup.
   *
   * @param digests Those of all files of the layout.
   */
  async keep({ missing }: CacheLookup, digests: readonly FileDigests[]): Promise<void> {
    const now = await identitiesOf(missing.map(({ file }) => file));
    await this.#write(
      missing.flatMap(({ index, identity, queries: { v1, v2 } }, i) => {
        if (!now[i]?.equals(identity)) return [];
        const { root, layer, pieces } = digests[index] as FileDigests;
        const tree = v2 && { ...v2, value: Buffer.concat([root as Uint8Array, layer]) };
        return [...(v1 ? [{ ...v1, value: pieces }] : []), ...(tree ? [tree] : [])];
      }),
    );
  }

  /** Looks up the v1 pieces of files that share pieces: one record for all of them. */
  async findContiguous(layout: SizedLayout): Promise<ContiguousLookup> {
    const { pieceLength } = layout;
    const files = layout.files.rows();
    const identities = await settledIdentitiesOf(files);
    const hash = createHash('sha256');
    for (const identity of identities) hash.update(identity ?? '');
    const [first] = identities;
    const length = Math.ceil(layout.files.totalLength / pieceLength) * 20;
    const isSettled = first && !identities.includes(null);
    const query = isSettled ? { key: keyOf(hash.digest(), pieceLength, 'row'), group: groupOf(first), length } : null;
    const [pieces = null] = await this.#read(query ? [query] : []);
    return { pieces, files, identities, query };
  }

  /** Keeps the v1 pieces of files that share pieces, unless one of them has changed since the lookup. */
  async keepContiguous({ files, identities, query }: ContiguousLookup, pieces: Uint8Array): Promise<void> {
    if (!query) return;
    const now = await identitiesOf(files);
    if (now.every((identity, index) => identity?.equals(identities[index] as Buffer)))
      await this.#write([{ ...query, value: pieces }]);
  }

  async #read(queries: readonly RecordQuery[]): Promise<(Uint8Array | null)[]> {
    try {
      return await this.#store.read(queries);
    } catch (error) {
      this.#warn(`cannot be read: ${(error as Error).message}`);
      return queries.map(() => null);
    }
  }

  /** A failure only warns: the job has its digests. */
  async #write(all: readonly StoredRecord[]): Promise<void> {
    const records = all.filter(({ value }) => value.length <= MAX_VALUE_BYTES);
    try {
      await this.#store.append(records).catch(async (error: NodeJS.ErrnoException) => {
        if (error.code !== 'ENOENT') throw error;
        // Another process cleared the cache in the meantime.
        await makeStore(this.#folder);
        await this.#store.append(records);
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

/** A v2 record holds the root, then the layer. */
function treeOf(record: Uint8Array): Pick<FileDigests, 'root' | 'layer'> {
  return { root: record.subarray(0, 32), layer: record.subarray(32) };
}

/** The records of a file that starts at a piece boundary. */
function queriesOf(
  identity: Buffer,
  file: ContentFile,
  isPadded: boolean,
  { version, pieceLength }: SizedLayout,
): FileQueries {
  const count = Math.ceil((file.length as number) / pieceLength);
  const hashes = count > 1 ? 1 + count : count;
  const queryOf = (suffix: string, length: number) => {
    return { key: keyOf(identity, pieceLength, suffix), group: groupOf(identity), length };
  };
  return {
    v1: version === 'v2' ? null : queryOf(v1Suffix(file, isPadded, pieceLength), count * 20),
    v2: version === 'v1' ? null : queryOf('v2', hashes * 32),
  };
}

/** A pad file changes the hash of the last piece, unless that piece is full. */
function v1Suffix({ length }: ContentFile, isPadded: boolean, pieceLength: number): string {
  return isPadded && (length as number) % pieceLength !== 0 ? 'v1 padded' : 'v1';
}

function keyOf(identity: Uint8Array, pieceLength: number, suffix: string): Buffer {
  return Buffer.concat([identity, Buffer.from(`${pieceLength} ${suffix}`)]);
}

/** The identities of files; null for a file that was just written to: another write might leave the same identity. */
async function settledIdentitiesOf(files: readonly (ContentFile | null)[]): Promise<(Buffer | null)[]> {
  const identities = await identitiesOf(files);
  const ages = identities.map((identity) => (identity ? Date.now() - ctimeOf(identity) : Infinity));
  // Clocks differ a little. Waiting does not help against timestamps far in the future.
  const youngest = Math.min(...ages.filter((age) => age >= -TICK_MS));
  if (youngest <= TICK_MS) {
    // After the clock's next tick the identity is good, unless somebody still writes to the file.
    await delay(Math.ceil(TICK_MS - youngest) + 2);
    const later = await identitiesOf(files);
    return later.map((identity, index) =>
      identity && isSettled(identity, Date.now()) && identities[index]?.equals(identity) ? identity : null,
    );
  }
  return identities.map((identity) => (identity && isSettled(identity, Date.now()) ? identity : null));
}

function isSettled(identity: Buffer, now: number): boolean {
  const isCoarse = ctimeOf(identity) % 1000 === 0 && mtimeOf(identity) % 1000 === 0;
  return now - ctimeOf(identity) > (isCoarse ? COARSE_TICK_MS : TICK_MS);
}

function mtimeOf(identity: Buffer): number {
  return identity.readDoubleLE(8);
}

function groupOf(identity: Buffer): number {
  return Math.floor(identity.readDoubleLE(32) / INODES_PER_GROUP);
}

function ctimeOf(identity: Buffer): number {
  return identity.readDoubleLE(16);
}

/** The identities of files on disk; null for a file that is gone or has changed since the scan. */
async function identitiesOf(files: readonly (ContentFile | null)[]): Promise<(Buffer | null)[]> {
  const onDisk = files.flatMap((file, index) =>
    file?.diskPath === undefined ? [] : [{ real: file.diskPath, file, index }],
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
