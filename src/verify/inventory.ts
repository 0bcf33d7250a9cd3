/** Lists what a folder holds and looks up the size and times of the files that a torrent expects there. */
import { constants } from 'node:fs';
import { readdir, realpath, stat } from 'node:fs/promises';
import nodePath from 'node:path';
import { type BeneathOptions, requireBeneath } from '../disk/beneath.ts';
import { isWithin } from '../disk/path-within.ts';
import { STAT_NUMBERS, statFiles } from '../disk/stat-files.ts';
import { throwIfAborted } from '../errors/cancel.ts';
import { fromSystemError, type MetainfoError } from '../errors/errors.ts';
import type { Slot } from '../hash/limiter.ts';

/** A regular file on disk. */
export interface DiskFile {
  /** Absolute, with symbolic links resolved. */
  diskPath: string;
  /** Bytes. */
  size: number;
  mtimeMs: number;
  ctimeMs: number;
}

/** Something on disk that cannot be read as a file. */
export interface Unreadable {
  /** The reason, in words for the user. */
  problem: string;
  /** The system's error, where a system call failed. */
  error?: MetainfoError;
}

/** A symbolic link to a folder. */
export interface FolderLink {
  /** The folder, absolute, with symbolic links resolved. */
  folder: string;
}

/** The state of a path on disk. */
export type DiskEntry = DiskFile | Unreadable | FolderLink;

/** Folders that are listed at once. */
const FOLDERS_AT_ONCE = 16;
/** The number of files in one call of `statFiles`. */
const FILES_PER_STAT = 1024;

/** The content of a folder. Paths are relative to it, with `/`. */
export interface Inventory {
  /** The expected paths that exist. */
  found: Map<string, DiskEntry>;
  /** Paths of unexpected files. */
  extraFiles: string[];
  /** Folders that could not be listed; each path ends with `/`. */
  unreadable: { folder: string; reason: Unreadable }[];
}

export interface InventoryOptions extends BeneathOptions {
  signal: AbortSignal | undefined;
  /** Whether links may lead out of the folder. */
  followOutside?: boolean | undefined;
  /** Lets other jobs go first while many folders are listed. */
  slot?: Slot;
}

/**
 * Lists a folder with everything below it. A symbolic link is followed only where an expected file may be behind it, and
 * only within the folder. No file is opened.
 *
 * @param expected The paths of the torrent's files. Other files are listed without their size.
 * @throws {MetainfoError} `ERR_NOT_FOUND` or `ERR_UNREADABLE` for the folder itself; `ERR_ABORTED`
 */
export async function inventory(
  folder: string,
  expected: ReadonlySet<string>,
  options: InventoryOptions,
): Promise<Inventory> {
  const root = await realpath(folder).catch((error: unknown) => {
    throw fromSystemError(error, folder, 'read');
  });
  await requireBeneath(root, options, folder);
  return new InventoryScan({ folder, root, expected, ...options }).run();
}

/** A folder to list. */
interface Level {
  /** Relative to the root; empty for the root, else with `/` at the end. */
  path: string;
  diskPath: string;
  /** Files behind a link also exist elsewhere, so only expected ones count. */
  isBehindLink: boolean;
}

/** A file whose status is still to be asked for. */
interface PendingFile {
  path: string;
  real: string;
}

/** One run of {@link inventory}. */
class InventoryScan {
  readonly #folder: string;
  readonly #root: string;
  readonly #followOutside: boolean;
  readonly #expected: ReadonlySet<string>;
  readonly #expectedFolders: ReadonlySet<string>;
  readonly #signal: AbortSignal | undefined;
  readonly #slot: Slot | undefined;
  readonly #inventory: Inventory = { found: new Map(), extraFiles: [], unreadable: [] };
  /** Folders below those that are being listed. */
  #below: Level[] = [];
  #pending: PendingFile[] = [];
  /** Settles when the status of all files that left `#pending` is known. */
  #stats = Promise.resolve();

  constructor(options: { folder: string; root: string; expected: ReadonlySet<string> } & InventoryOptions) {
    this.#folder = options.folder;
    this.#root = options.root;
    this.#followOutside = options.followOutside ?? false;
    this.#expected = options.expected;
    this.#expectedFolders = foldersOf(options.expected);
    this.#signal = options.signal;
    this.#slot = options.slot;
  }

  async run(): Promise<Inventory> {
    let level: Level[] = [{ path: '', diskPath: this.#root, isBehindLink: false }];
    while (level.length > 0) {
      this.#below = [];
      for (let i = 0; i < level.length; i += FOLDERS_AT_ONCE) {
        throwIfAborted(this.#signal);
        await this.#slot?.offer();
        await Promise.all(level.slice(i, i + FOLDERS_AT_ONCE).map((one) => this.#list(one)));
      }
      level = this.#below;
    }
    this.#startStats();
    await this.#stats;
    return this.#inventory;
  }

  async #list(level: Level): Promise<void> {
    try {
      const prefix = level.diskPath.endsWith(nodePath.sep) ? level.diskPath : level.diskPath + nodePath.sep;
      for (const entry of await readdir(level.diskPath, { withFileTypes: true })) {
        const [path, real] = [level.path + entry.name, prefix + entry.name];
        if (entry.isSymbolicLink()) await this.#addLink(path, real);
        else if (entry.isDirectory()) this.#addFolder(path, real, level.isBehindLink);
        else this.#addFile(path, real);
      }
    } catch (error) {
      const { path } = level;
      const failure = fromSystemError(error, nodePath.join(this.#folder, path.slice(0, -1)), 'read');
      if (path === '') throw failure;
      this.#inventory.unreadable.push({ folder: path, reason: { problem: failure.message, error: failure } });
    }
  }

  #addFolder(path: string, diskPath: string, isBehindLink: boolean): void {
    if (isBehindLink && !this.#expectedFolders.has(path)) return;
    this.#below.push({ path: `${path}/`, diskPath, isBehindLink });
  }

  #addFile(path: string, real: string): void {
    if (!this.#expected.has(path)) this.#inventory.extraFiles.push(path);
    else if (this.#pending.push({ path, real }) >= FILES_PER_STAT) this.#startStats();
  }

  async #addLink(path: string, real: string): Promise<void> {
    const isExpected = this.#expected.has(path);
    const isFolderExpected = this.#expectedFolders.has(path);
    if (!isExpected && !isFolderExpected) {
      this.#inventory.extraFiles.push(path);
      return;
    }
    const target = await followLink(real, this.#followOutside ? null : this.#root);
    if (isFolderExpected && 'folder' in target)
      this.#below.push({ path: `${path}/`, diskPath: target.folder, isBehindLink: true });
    else if (isExpected) this.#inventory.found.set(path, target);
    else this.#inventory.extraFiles.push(path);
  }

  /** Asks for the status of all pending files, while the next folders are listed. */
  #startStats(): void {
    const files = this.#pending;
    this.#pending = [];
    this.#stats = this.#stats.then(() => {
      throwIfAborted(this.#signal);
      return addStats(files, this.#inventory.found);
    });
    // `run` awaits it at the end. Until then a failure must not count as unhandled.
    this.#stats.catch(() => {});
  }
}

/** Asks for the status of many files in one call, because one call a file takes longer than hashing small files. */
async function addStats(files: readonly PendingFile[], found: Map<string, DiskEntry>): Promise<void> {
  const numbers = await statFiles(files);
  const others: Promise<unknown>[] = [];
  for (const [i, { path, real }] of files.entries()) {
    const at = i * STAT_NUMBERS;
    const [mode = 0, size = 0, mtimeMs = 0, ctimeMs = 0] = numbers.subarray(at + 1, at + 5);
    const isFile = numbers[at] === 0 && (mode & constants.S_IFMT) === constants.S_IFREG;
    if (isFile) found.set(path, { diskPath: real, size, mtimeMs, ctimeMs });
    // The numbers do not say why it is unreadable.
    else others.push(statFile(real).then((entry) => found.set(path, entry)));
  }
  await Promise.all(others);
}

/** Every folder above one of these files, at any depth. */
function foldersOf(files: ReadonlySet<string>): Set<string> {
  const folders = new Set<string>();
  let last = '/';
  for (const file of files) {
    // Torrents list the files of a folder together: skip those whose folder was just added.
    if (file.startsWith(last) && file.indexOf('/', last.length) < 0) continue;
    last = file.slice(0, file.lastIndexOf('/') + 1) || '/';
    for (let end = file.lastIndexOf('/'); end > 0; end = file.lastIndexOf('/', end - 1)) {
      const folder = file.slice(0, end);
      if (folders.has(folder)) break;
      folders.add(folder);
    }
  }
  return folders;
}

/** The status of a file; links are followed. */
export async function statFile(path: string): Promise<DiskFile | Unreadable> {
  try {
    const status = await stat(path);
    if (!status.isFile()) return { problem: 'not a regular file' };
    return { diskPath: path, size: status.size, mtimeMs: status.mtimeMs, ctimeMs: status.ctimeMs };
  } catch (error) {
    const failure = fromSystemError(error, path, 'read');
    return { problem: failure.message, error: failure };
  }
}

/** @param root Null lets links lead anywhere. */
async function followLink(link: string, root: string | null): Promise<DiskEntry> {
  try {
    const target = await realpath(link);
    if (root !== null && !isWithin(root, target)) return { problem: 'a link that leads out of the folder' };
    if ((await stat(target)).isDirectory()) return { folder: target };
    return await statFile(target);
  } catch (error) {
    const failure = fromSystemError(error, link, 'read');
    if (failure.code === 'ERR_NOT_FOUND') return { problem: 'a link to something that does not exist' };
    return { problem: failure.message, error: failure };
  }
}
