import { createHash } from 'node:crypto';
import { mkdir, readdir, rename, rm, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { STAT_NUMBERS, statNumbers } from '../disk/scan.ts';
import { MetainfoError, shown } from '../errors/errors.ts';
import type { FileDigests } from '../hash/file-digests.ts';
import type { HashPlan } from '../hash/plan.ts';
import { printable } from '../layout/text.ts';
import type { ContentFile } from './content.ts';
import { type RecordQuery, RecordStore, type StoredRecord, type StoreSize } from './record-store.ts';

// What files hash to, kept from one creation to the next. A file is known by device, inode, size, mtime and ctime: the
// mtime alone can be set back, and programs that edit tags of music do so.

/** `auto` is the user's cache folder; else a folder; false is none. */
export type CacheChoice = 'auto' | (string & {}) | false;

/** How a file is hashed. */
export interface Wanted extends Pick<HashPlan, 'version' | 'pieceLength'> {
  /** Whether the last piece of the file of an index is filled. */
  isPadded(index: number): boolean;
}

/** In the folder of the cache. A new format gets a new number, so that nothing of the old one is read. */
const STORE = 'hashes-2';
/** Of a path: size, mtime, ctime, device and inode, as `statFiles` of the addon gives them. */
const IDENTITY_BYTES = (STAT_NUMBERS - 2) * 8;
/** Two writes within so many milliseconds may leave the same time: system clocks tick a hundred times a second at least. */
const TICK_MS = 25;
/** The same for file systems that know whole seconds only. */
const COARSE_TICK_MS = 2500;
/** Longer ones are hashed again: that is a file of 32 GiB in pieces of 16 KiB. */
const MOST_VALUE_BYTES = 2 ** 26;

/** What is known of the files of a job, and what would be theirs. */
interface Found {
  /** Null for files that must be read. */
  digests: (FileDigests | null)[];
  /** Of those, in order. */
  missing: { file: ContentFile; identity: Buffer | null; isPadded: boolean }[];
  wanted: Wanted;
}

interface FoundRow {
  pieces: Uint8Array | null;
  files: readonly ContentFile[];
  identities: readonly (Buffer | null)[];
  key: Buffer | null;
}

/** The records of a file that begins with a piece: null where its kind of torrent has none. */
interface FileQueries {
  v1: RecordQuery | null;
  v2: RecordQuery | null;
}

/** The folder that `auto` means. */
export function cacheFolder(): string {
  const { env, platform } = process;
  if (platform === 'win32' && env['LOCALAPPDATA']) return path.join(env['LOCALAPPDATA'], 'metainfo', 'Cache');
  if (platform === 'darwin') return path.join(homedir(), 'Library', 'Caches', 'metainfo');
  // A relative one is to be ignored (https://specifications.freedesktop.org/basedir-spec/latest/).
  const base = env['XDG_CACHE_HOME'];
  return path.join(base && path.isAbsolute(base) ? base : path.join(homedir(), '.cache'), 'metainfo');
}

/**
 * The cache that was chosen; null, and a warning, when its folder cannot be made: then everything is hashed.
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
  // Node prints it as it is, and it names files.
  process.emitWarning(printable(message), { type: 'MetainfoWarning', code: 'ERR_CACHE' });
}

function folderOf(choice: CacheChoice): string {
  if (choice === 'auto') return cacheFolder();
  if (typeof choice === 'string' && choice !== '') return path.resolve(choice);
  throw new MetainfoError('ERR_INVALID_ARGUMENT', `cache must be auto, a folder or false, not ${shown(choice)}.`);
}

const storeIn = (folder: string) => path.join(folder, STORE);

/** Only its owner may see whose files are in it. */
function makeStore(folder: string): Promise<void> {
  return makeFolder(storeIn(folder), 0o700);
}

/** With the folders above it. Node's own never ends where a folder is there and takes none, as in /proc. */
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
  // What follows is the stack of who required it.
  const [why] = (cause as Error).message.split('\n');
  return new MetainfoError('ERR_CACHE', `${message} (${why}).`, { path: folder, cause });
}

/** What a cache holds. */
export interface CacheStats {
  /** Where it is, absolute. */
  folder: string;
  /** Records: one or two a file and piece length. */
  entries: number;
  /** On disk. */
  bytes: number;
}

/**
 * What the cache holds; nothing when there is none yet. Files of it that are damaged are set aside, with a warning.
 *
 * @param folder `auto`, or the folder that was given to `generate`.
 * @throws {MetainfoError} `ERR_CACHE`
 */
export async function cacheStats(folder: 'auto' | (string & {}) = 'auto'): Promise<CacheStats> {
  const root = folderOf(folder);
  try {
    const isThere = await stat(storeIn(root)).catch(ignoreMissing);
    return { folder: root, ...(isThere ? await new HashCache(root).size() : { entries: 0, bytes: 0 }) };
  } catch (cause) {
    throw failure(`The cache in ${root} cannot be read`, root, cause);
  }
}

/**
 * Removes everything that the cache holds, damaged files too. Jobs that use it meanwhile go on, and may write to a new one.
 *
 * @returns Its folder.
 * @throws {MetainfoError} `ERR_CACHE`
 */
export async function clearCache(folder: 'auto' | (string & {}) = 'auto'): Promise<string> {
  const root = folderOf(folder);
  const old = `${storeIn(root)}.${Math.random().toString(36).slice(2)}.old`;
  try {
    // At once: nobody finds half of it.
    await rename(storeIn(root), old).catch(ignoreMissing);
    // Also what was left when the process ended here before.
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

export class HashCache {
  readonly #folder: string;
  readonly #store: RecordStore;
  #hasWarned = false;

  constructor(folder: string) {
    this.#folder = folder;
    this.#store = new RecordStore(storeIn(folder), (setAside) =>
      this.#warn(`was damaged: its files are hashed again. What was damaged is set aside as ${setAside}`),
    );
  }

  size(): Promise<StoreSize> {
    return this.#store.size();
  }

  /** What files hash to that each begin with a piece; those that are known already are not looked for. */
  async find(files: readonly ContentFile[], known: readonly (FileDigests | null)[], wanted: Wanted): Promise<Found> {
    const identities = await settledIdentitiesOf(files.map((file, index) => (known[index] ? null : file)));
    const queries = identities.map((identity, index) => {
      const file = files[index] as ContentFile;
      return identity && queriesOf(identity, { file, isPadded: wanted.isPadded(index), wanted });
    });
    const values = await this.#read(queries.flatMap((one) => [one?.v1, one?.v2].filter((query) => query != null)));
    const missing: Found['missing'] = [];
    let at = 0;
    const digests = files.map((file, index) => {
      const identity = identities[index] ?? null;
      const { v1 = null, v2 = null } = queries[index] ?? {};
      const pieces = v1 ? values[at++] : new Uint8Array();
      const tree = v2 ? values[at++] : new Uint8Array();
      const found =
        identity && pieces && tree
          ? { pieces, root: tree.length > 0 ? tree.subarray(0, 32) : null, layer: tree.subarray(32) }
          : null;
      const one = known[index] ?? found;
      if (!one) missing.push({ file, identity, isPadded: wanted.isPadded(index) });
      return one;
    });
    return { digests, missing, wanted };
  }

  /** Keeps what the missing files hash to, in their order, as far as they are what they were. */
  async keep({ missing, wanted }: Found, digests: readonly FileDigests[]): Promise<void> {
    const now = await identitiesOf(missing.map(({ file, identity }) => identity && file));
    await this.#write(
      missing.flatMap(({ file, identity, isPadded }, index) => {
        if (!identity || !now[index]?.equals(identity)) return [];
        const { root, layer, pieces } = digests[index] as FileDigests;
        const { v1, v2 } = queriesOf(identity, { file, isPadded, wanted });
        const tree = v2 && { key: v2.key, value: Buffer.concat([root ?? new Uint8Array(), layer]) };
        return [...(v1 ? [{ key: v1.key, value: pieces }] : []), ...(tree ? [tree] : [])];
      }),
    );
  }

  /** v1 pieces of files of which each begins where the one before ends. */
  async findRow(files: readonly ContentFile[], pieceLength: number): Promise<FoundRow> {
    const identities = await settledIdentitiesOf(files);
    const hash = createHash('sha256');
    for (const identity of identities) hash.update(identity ?? '');
    const key = identities.includes(null) ? null : keyOf(hash.digest(), pieceLength, 'row');
    const bytes = files.reduce((sum, { length }) => sum + (length as number), 0);
    const [pieces = null] = await this.#read(key ? [{ key, length: Math.ceil(bytes / pieceLength) * 20 }] : []);
    return { pieces, files, identities, key };
  }

  async keepRow({ files, identities, key }: FoundRow, pieces: Uint8Array): Promise<void> {
    if (!key) return;
    const now = await identitiesOf(files);
    if (now.every((identity, index) => identity?.equals(identities[index] as Buffer)))
      await this.#write([{ key, value: pieces }]);
  }

  async #read(queries: readonly RecordQuery[]): Promise<(Uint8Array | null)[]> {
    try {
      return await this.#store.read(queries);
    } catch (error) {
      this.#warn(`cannot be read: ${(error as Error).message}`);
      return queries.map(() => null);
    }
  }

  /** The hashes are there, whether they can be kept or not. */
  async #write(all: readonly StoredRecord[]): Promise<void> {
    const records = all.filter(({ value }) => value.length <= MOST_VALUE_BYTES);
    try {
      await this.#store.append(records).catch(async (error: NodeJS.ErrnoException) => {
        if (error.code !== 'ENOENT') throw error;
        // Somebody cleared it meanwhile.
        await makeStore(this.#folder);
        await this.#store.append(records);
      });
    } catch (error) {
      this.#warn(`could not be written: ${(error as Error).message}`);
    }
  }

  /** Once: the first cause may have many effects. */
  #warn(what: string): void {
    if (this.#hasWarned) return;
    this.#hasWarned = true;
    warn(`The cache in ${this.#folder} ${what}`);
  }
}

/** What is looked for, and kept, of a file that begins with a piece. */
function queriesOf(
  identity: Buffer,
  { file, isPadded, wanted }: { file: ContentFile; isPadded: boolean; wanted: Wanted },
): FileQueries {
  const { version, pieceLength } = wanted;
  const count = Math.ceil((file.length as number) / pieceLength);
  const hashes = count > 1 ? 1 + count : count;
  return {
    v1:
      version === 'v2'
        ? null
        : { key: keyOf(identity, pieceLength, v1Part(file, isPadded, pieceLength)), length: count * 20 },
    v2: version === 'v1' ? null : { key: keyOf(identity, pieceLength, 'v2'), length: hashes * 32 },
  };
}

/** What a record is of: where the last piece is whole there is nothing to fill. */
function v1Part({ length }: ContentFile, isPadded: boolean, pieceLength: number): string {
  return isPadded && (length as number) % pieceLength !== 0 ? 'v1 padded' : 'v1';
}

function keyOf(identity: Uint8Array, pieceLength: number, part: string): Buffer {
  return Buffer.concat([identity, Buffer.from(`${pieceLength} ${part}`)]);
}

/** What files are, as far as another write would make it something else; null for those that have just been written. */
async function settledIdentitiesOf(files: readonly (ContentFile | null)[]): Promise<(Buffer | null)[]> {
  const identities = await identitiesOf(files);
  const ages = identities.map((identity) => (identity ? Date.now() - ctimeOf(identity) : Infinity));
  // Clocks differ a little: what lies far in the future does not come by waiting.
  const youngest = Math.min(...ages.filter((age) => age >= -TICK_MS));
  if (youngest <= TICK_MS) {
    // The clock's next tick makes them good, unless they are still written to.
    await delay(Math.ceil(TICK_MS - youngest) + 2);
    const later = await identitiesOf(files);
    return later.map((identity, index) =>
      identity && settled(identity, Date.now()) && identities[index]?.equals(identity) ? identity : null,
    );
  }
  return identities.map((identity) => (identity && settled(identity, Date.now()) ? identity : null));
}

function settled(identity: Buffer, now: number): boolean {
  const isCoarse = ctimeOf(identity) % 1000 === 0 && mtimeOf(identity) % 1000 === 0;
  return now - ctimeOf(identity) > (isCoarse ? COARSE_TICK_MS : TICK_MS);
}

function mtimeOf(identity: Buffer): number {
  return identity.readDoubleLE(8);
}

function ctimeOf(identity: Buffer): number {
  return identity.readDoubleLE(16);
}

/** What files are on disk; null for what is not there, or not what it was when it was scanned. */
async function identitiesOf(files: readonly (ContentFile | null)[]): Promise<(Buffer | null)[]> {
  const onDisk = files.flatMap((file, index) =>
    file?.diskPath === undefined ? [] : [{ real: file.diskPath, file, index }],
  );
  const identities: (Buffer | null)[] = files.map(() => null);
  const numbers = await statNumbers(onDisk);
  for (const [i, { file, index }] of onDisk.entries()) {
    const [error, , size, mtimeMs] = numbers.subarray(i * STAT_NUMBERS);
    if (error === 0 && size === file.length && mtimeMs === file.mtimeMs)
      identities[index] = Buffer.from(numbers.buffer, numbers.byteOffset + (i * STAT_NUMBERS + 2) * 8, IDENTITY_BYTES);
  }
  return identities;
}
