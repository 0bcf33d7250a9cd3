import { createHash } from 'node:crypto';
import { accessSync, closeSync, constants, fstatSync, lstatSync, openSync, readSync } from 'node:fs';
import { link, mkdir, readdir, rename, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { homedir, constants as system } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { MetainfoError, shown } from '../errors.ts';
import type { HashPlan } from '../hash/plan.ts';
import { printable } from '../print/text.ts';
import type { ContentFile, FileDigests } from './content.ts';
import { STAT_NUMBERS, statNumbers } from './scan.ts';

// What files hash to, kept from one creation to the next. A file is known by device, inode, size, mtime and ctime: the
// mtime alone can be set back, and programs that edit tags of music do so.

/** `auto` is the user's cache folder; else a folder; false is none. */
export type CacheChoice = 'auto' | (string & {}) | false;

/** How a file is hashed. */
export interface Wanted extends Pick<HashPlan, 'kind' | 'pieceLength'> {
  /** Whether the last piece of the file of an index is filled. */
  isPadded(index: number): boolean;
}

/** In the folder of the cache. Another number, when what is written changes: nothing of the old is read then. */
const DATABASE = 'hashes-1';
/** Of a path: size, mtime, ctime, device and inode, as `statFiles` of the addon gives them. */
const IDENTITY_BYTES = (STAT_NUMBERS - 2) * 8;
/** Two writes within so many milliseconds may leave the same time: system clocks tick a hundred times a second at least. */
const TICK_MS = 25;
/** The same for file systems that know whole seconds only. */
const COARSE_TICK_MS = 2500;
/** Of SHA-256: what another value of a record has. LMDB has no checksums of its own. */
const CHECKSUM_BYTES = 8;
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

interface Record {
  key: Buffer;
  value: Uint8Array;
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

/** What is used of lmdb's. Its own types would be part of ours, for everybody: it need not be installed. */
interface Database {
  getBinary(key: Buffer): Buffer | undefined;
  put(key: Buffer, value: Buffer): Promise<boolean>;
  transaction<T>(work: () => T): Promise<T>;
  getStats(): object;
  close(): Promise<void>;
}

/** Databases that are open: one of each in a process, as long as anybody uses it. */
const databases = new Map<string, { database: Promise<Database>; users: number }>();

/**
 * The cache that was chosen; null, and a warning, when it cannot be opened: what that costs is to hash all again.
 *
 * @throws {MetainfoError} `ERR_CACHE` without the package lmdb, `ERR_INVALID_ARGUMENT`
 */
export async function openCacheIfAny(choice: CacheChoice): Promise<HashCache | null> {
  const folder = folderOf(choice);
  await importLmdb(folder);
  return openCache(folder).catch((error: Error) => {
    warn(error.message);
    return null;
  });
}

function warn(message: string): void {
  // Node prints it as it is, and it names files.
  process.emitWarning(printable(message), { type: 'MetainfoWarning', code: 'ERR_CACHE' });
}

/**
 * Opens the cache that was chosen.
 *
 * @throws {MetainfoError} `ERR_CACHE`, `ERR_INVALID_ARGUMENT`
 */
export async function openCache(choice: CacheChoice): Promise<HashCache> {
  const folder = folderOf(choice);
  const shared = databases.get(folder) ?? { database: openDatabase(folder), users: 0 };
  databases.set(folder, shared);
  shared.users += 1;
  const close = async () => {
    shared.users -= 1;
    if (shared.users > 0) return;
    databases.delete(folder);
    await shared.database.then((database) => database.close()).catch(() => {});
  };
  try {
    return new HashCache(folder, await shared.database, close);
  } catch (error) {
    await close();
    throw error;
  }
}

function folderOf(choice: CacheChoice): string {
  if (choice === 'auto') return cacheFolder();
  if (typeof choice === 'string' && choice !== '') return path.resolve(choice);
  throw new MetainfoError('ERR_INVALID_ARGUMENT', `cache must be auto, a folder or false, not ${shown(choice)}.`);
}

function importLmdb(folder: string) {
  return import('lmdb').catch((cause: unknown) => {
    throw failure('The cache needs the package lmdb: npm install lmdb', folder, cause);
  });
}

async function openDatabase(folder: string, tries = 5): Promise<Database> {
  const lmdb = await importLmdb(folder);
  try {
    const file = path.join(folder, DATABASE);
    const data = path.join(file, 'data.mdb');
    // Whose files one has is nobody else's business.
    await makeFolder(file, 0o700);
    const lock = path.join(file, 'lock.mdb');
    await makeLock(lock);
    // Without a wait before LMDB does the same.
    if (!isUsable(data, lock) && tries > 1) {
      await clearCache(folder);
      return openDatabase(folder, tries - 1);
    }
    const database: Database = lmdb.open<Buffer, Buffer>({
      path: file,
      encoding: 'binary',
      keyEncoding: 'binary',
      maxReaders: 1024,
      overlappingSync: false,
    });
    try {
      const { lastPageNumber, pageSize } = database.getStats() as { lastPageNumber: number; pageSize: number };
      await requireSize(data, (lastPageNumber + 1) * pageSize);
    } catch (error) {
      await database.close();
      throw error;
    }
    return database;
  } catch (cause) {
    // Somebody cleared it meanwhile: Node has a name for that, LMDB a number.
    const { code } = cause as { code?: string | number };
    if ((code === 'ENOENT' || code === system.errno.ENOENT) && tries > 1) return openDatabase(folder, tries - 1);
    throw failure(`The cache in ${folder} cannot be opened: \`metainfo cache clear\` removes it`, folder, cause);
  }
}

// LMDB maps the file into memory: where that was cut, reading it would end the process. So may any failure of LMDB to open
// it, for lmdb frees twice then what it has made: all that can be tried is tried before.

/** In the first of the two pages with which the file begins: the magic number, and the size of a page. */
const HEADER = { magic: { at: 24, value: 0xbeefc0de }, pageSize: { at: 48 }, bytes: 52 };

/** More than the readers need. */
const LOCK_BYTES = 2 ** 17;
/** For the first pages of a new database. */
const FIRST_BYTES = 2 ** 16;

/** The file of the locks, which is mapped too: where a full disk has no room behind it, writing to it would end the process. */
async function makeLock(lock: string): Promise<void> {
  if (await stat(lock).catch(ignoreMissing)) return;
  const own = `${lock}.${Math.random().toString(36).slice(2)}`;
  try {
    await writeFile(own, Buffer.alloc(LOCK_BYTES + FIRST_BYTES), { mode: 0o600 });
    await truncate(own, LOCK_BYTES);
    // Whole, or not at all: another process may have made one by now, and be using it. LMDB makes its own where there are no links.
    await link(own, lock).catch(() => {});
  } finally {
    await rm(own, { force: true });
  }
}

/** As many as LMDB takes. */
const DESCRIPTORS = 4;

/**
 * Whether the database is one, or empty: LMDB makes a new one of that. False when whoever made it was killed in the middle, so
 * that there is nothing in it. All that LMDB opens is opened at once; but not the file of the locks: closing it would release
 * those that another thread of this process may have.
 *
 * @throws what LMDB would fail with
 */
function isUsable(file: string, lock: string): boolean {
  const descriptors: number[] = [];
  const header = Buffer.alloc(HEADER.bytes);
  try {
    for (let i = 0; i < DESCRIPTORS; i += 1)
      descriptors.push(openSync(file, constants.O_RDWR | constants.O_CREAT, 0o600));
    const locks = lstatSync(lock, { throwIfNoEntry: false });
    if (locks && !locks.isFile()) throw new Error(`${lock} is no file`);
    if (locks) accessSync(lock, constants.R_OK | constants.W_OK);
    const database = descriptors[0] as number;
    if (!fstatSync(database).isFile()) throw new Error(`${file} is no file`);
    const bytes = readSync(database, header, 0, HEADER.bytes, 0);
    if (bytes < HEADER.bytes) return bytes === 0;
    if (header.readUInt32LE(HEADER.magic.at) !== HEADER.magic.value) throw new Error(`${file} is no database`);
    return fstatSync(database).size >= 2 * header.readUInt32LE(HEADER.pageSize.at);
  } finally {
    for (const descriptor of descriptors) {
      try {
        closeSync(descriptor);
      } catch {
        // It is closed all the same, and nothing was written.
      }
    }
  }
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

async function requireSize(file: string, bytes: number): Promise<void> {
  const { size } = await stat(file);
  if (size < bytes) throw new Error(`${file} was cut to ${size} bytes`);
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
 * What the cache holds; nothing when there is none yet.
 *
 * @param folder `auto`, or the folder that was given to `generate`.
 * @throws {MetainfoError} `ERR_CACHE`
 */
export async function cacheStats(folder: 'auto' | (string & {}) = 'auto'): Promise<CacheStats> {
  const root = folderOf(folder);
  const file = path.join(root, DATABASE, 'data.mdb');
  const status = await stat(file).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw failure(`The cache in ${root} cannot be read`, root, error);
  });
  if (!status) return { folder: root, entries: 0, bytes: 0 };
  const cache = await openCache(root);
  try {
    return { folder: root, entries: cache.entries, bytes: status.size };
  } finally {
    await cache.close();
  }
}

/**
 * Removes all that the cache holds, also when it is damaged. Who uses it meanwhile goes on with the old one.
 *
 * @returns Its folder.
 * @throws {MetainfoError} `ERR_CACHE`
 */
export async function clearCache(folder: 'auto' | (string & {}) = 'auto'): Promise<string> {
  const root = folderOf(folder);
  const database = path.join(root, DATABASE);
  const old = `${database}.${Math.random().toString(36).slice(2)}.old`;
  try {
    // At once: nobody finds half of it.
    await rename(database, old).catch(ignoreMissing);
    // Also what was left when the process ended here before.
    for (const name of (await readdir(root).catch(ignoreMissing)) ?? [])
      if (name.startsWith(`${DATABASE}.`)) await rm(path.join(root, name), { recursive: true, force: true });
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
  readonly #database: Database;
  /** Nothing more is asked of it then. */
  #isBroken = false;
  readonly close: () => Promise<void>;

  constructor(folder: string, database: Database, close: () => Promise<void>) {
    this.#folder = folder;
    this.#database = database;
    this.close = close;
  }

  get entries(): number {
    return (this.#database.getStats() as { entryCount: number }).entryCount;
  }

  /** What files hash to that each begin with a piece; those that are known already are not looked for. */
  async find(files: readonly ContentFile[], known: readonly (FileDigests | null)[], wanted: Wanted): Promise<Found> {
    const identities = await settledIdentitiesOf(files.map((file, index) => (known[index] ? null : file)));
    const missing: Found['missing'] = [];
    const digests = files.map((file, index) => {
      const identity = identities[index] ?? null;
      const isPadded = wanted.isPadded(index);
      const one = known[index] ?? (identity && this.#digestsOf(identity, { file, isPadded, wanted }));
      if (!one) missing.push({ file, identity, isPadded });
      return one ?? null;
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
        const { kind, pieceLength } = wanted;
        const v1 = { key: keyOf(identity, pieceLength, v1Part(file, isPadded, pieceLength)), value: pieces };
        const tree = Buffer.concat([root ?? new Uint8Array(), layer]);
        const v2 = { key: keyOf(identity, pieceLength, 'v2'), value: tree };
        return [...(kind === 'v2' ? [] : [v1]), ...(kind === 'v1' ? [] : [v2])];
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
    return { pieces: key && this.#get(key, Math.ceil(bytes / pieceLength) * 20), files, identities, key };
  }

  async keepRow({ files, identities, key }: FoundRow, pieces: Uint8Array): Promise<void> {
    if (!key) return;
    const now = await identitiesOf(files);
    if (now.every((identity, index) => identity?.equals(identities[index] as Buffer)))
      await this.#write([{ key, value: pieces }]);
  }

  #digestsOf(
    identity: Buffer,
    { file, isPadded, wanted }: { file: ContentFile; isPadded: boolean; wanted: Wanted },
  ): FileDigests | null {
    const { kind, pieceLength } = wanted;
    const length = file.length as number;
    const count = Math.ceil(length / pieceLength);
    const part = v1Part(file, isPadded, pieceLength);
    const pieces = kind === 'v2' ? new Uint8Array() : this.#get(keyOf(identity, pieceLength, part), count * 20);
    const treeBytes = length === 0 ? 0 : (1 + (count > 1 ? count : 0)) * 32;
    const tree = kind === 'v1' ? new Uint8Array() : this.#get(keyOf(identity, pieceLength, 'v2'), treeBytes);
    if (!pieces || !tree) return null;
    return { pieces, root: tree.length > 0 ? tree.subarray(0, 32) : null, layer: tree.subarray(32) };
  }

  /** A value of that length; null when there is none, or what is there is not what was written. */
  #get(key: Buffer, length: number): Uint8Array | null {
    if (this.#isBroken) return null;
    let record: Buffer | undefined;
    try {
      record = this.#database.getBinary(key);
    } catch (error) {
      this.#isBroken = true;
      warn(
        `The cache in ${this.#folder} cannot be read: \`metainfo cache clear\` removes it (${(error as Error).message}).`,
      );
    }
    if (record?.length !== CHECKSUM_BYTES + length) return null;
    const value = record.subarray(CHECKSUM_BYTES);
    return checksumOf(key, value).equals(record.subarray(0, CHECKSUM_BYTES)) ? value : null;
  }

  /** The hashes are there, whether they can be kept or not. */
  async #write(records: readonly Record[]): Promise<void> {
    try {
      await this.#database.transaction(() => {
        for (const { key, value } of records) {
          if (value.length > MOST_VALUE_BYTES) continue;
          this.#database.put(key, Buffer.concat([checksumOf(key, value), value]));
        }
      });
    } catch (error) {
      // What lmdb rejects beside its error, where nobody waits for it: that would end the process.
      (error as { commitError?: Promise<unknown> }).commitError?.catch(() => {});
      warn(`The cache in ${this.#folder} could not be written: ${(error as Error).message}`);
    }
  }
}

/** What a record is of: where the last piece is whole there is nothing to fill. */
function v1Part({ length }: ContentFile, isPadded: boolean, pieceLength: number): string {
  return isPadded && (length as number) % pieceLength !== 0 ? 'v1 padded' : 'v1';
}

function keyOf(identity: Uint8Array, pieceLength: number, part: string): Buffer {
  return Buffer.concat([identity, Buffer.from(`${pieceLength} ${part}`)]);
}

function checksumOf(key: Uint8Array, value: Uint8Array): Buffer {
  return createHash('sha256').update(key).update(value).digest().subarray(0, CHECKSUM_BYTES);
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
