/** Lists folders for a scan: on native threads, or with Node's functions where the addon does not load. */
import { constants, type Dirent } from 'node:fs';
import { access, lstat, open, readdir } from 'node:fs/promises';
import nodePath from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { onAbort, throwIfAborted } from '../errors/cancel.ts';
import { MetainfoError } from '../errors/errors.ts';
import type { Addon, NativeListing } from '../hash/addon.ts';
import { systemPath } from '../hash/system-path.ts';
import { diskPathBelow, type FileColumns, pathBytes } from '../layout/file-table.ts';
import { errnoName } from '../platform/node.ts';
import { nameBytes, nameText } from '../text/name-bytes.ts';
import { FileColumnsBuilder } from './file-columns.ts';
import { errnoOf, isFolder, isRegularFile, isRestricted, type Status } from './stat-files.ts';

/** A folder to be listed. Zero characters stand between the components of its paths, which are empty for the root. */
export interface ListedFolder {
  /** The path from the root of the torrent. */
  path: string;
  /** Where it is on disk, from the real root. It differs from `path` below links. */
  disk: string;
}

/** The content of folders. */
export interface Listing {
  /** Regular files with plain names, in no particular order: only the native listing has them. */
  files: FileColumns;
  /** All other entries. */
  others: OtherEntry[];
}

/** An entry that the scan has to look at: neither a regular file with a plain name, nor a folder that was entered. */
export interface OtherEntry {
  /** The path of its folder from the root of the torrent, with zero characters. */
  folder: string;
  /** Where its folder is on disk, from the real root, with zero characters. */
  disk: string;
  /** Its name in the system's bytes; null for the folder itself, which could not be listed. */
  name: Buffer | null;
  /** The error of the system call that failed; 0 if none did. */
  errno: number;
  /** If a call failed, only the type in its mode may be known. Links are not followed; those and folders have no more than a type. */
  status: Status;
}

export interface ListOptions {
  /** The real path root, a folder. */
  root: string;
  /** Enter the folders in the folders too, and so on. The listing may leave any folder to the scan. */
  isRecursive: boolean;
  /** Report files that cannot be opened for reading as entries with an error. */
  readable: boolean;
  signal?: AbortSignal | undefined;
  /** Called from time to time: lets other jobs go first, and throws if the scan was cancelled. */
  pause: () => Promise<void>;
}

/** Makes the error of a system call from its number. */
export function systemError(errno: number, path: string): NodeJS.ErrnoException {
  const code = errnoName(errno);
  return Object.assign(new Error(`${code ?? `system error ${errno}`}: ${path}`), {
    ...(code !== undefined && { code }),
    errno: -errno,
    path,
  });
}

/** The path of an entry of a folder, with zero characters; the folder is empty for the root. */
export function entryPath(folder: string, name: string): string {
  return folder === '' ? name : `${folder}\0${name}`;
}

/** The error of opening a file for reading; 0 for none. */
export async function readErrno(path: string | Buffer): Promise<number> {
  try {
    await access(path, constants.R_OK);
  } catch {
    // access(2) ignores effective users and capabilities: try to open the file.
    const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK).catch(errnoOf);
    if (typeof file === 'number') return file;
    await file.close();
  }
  return 0;
}

/** How often a native listing lets other jobs go first, in milliseconds. */
const PAUSE_MS = 5;

/** Lists folders on native threads. Returns null if the system grants no thread. */
export async function listNatively(
  addon: Addon,
  folders: readonly ListedFolder[],
  { root, isRecursive, readable, signal, pause }: ListOptions,
): Promise<Listing | null> {
  const disks = folders.map(({ disk }) => disk);
  const paths = folders.map(({ path }) => path);
  const running = new addon.Scan({ root, disks, paths, isRecursive, readable });
  const removeListener = onAbort(signal, () => running.cancel());
  const done = running.done.catch((failure: Error & { code?: string }) => {
    throwIfAborted(signal);
    if (failure.code === 'no-thread') return null;
    throw new MetainfoError('ERR_NO_MEMORY', 'Out of memory: the paths of all files do not fit.', { cause: failure });
  });
  try {
    // Its threads share the budget with those of other jobs, so it goes on while this job waits for others.
    while ((await Promise.race([done, sleep(PAUSE_MS, WAITING, { ref: false })])) === WAITING) await pause();
    const found = await done;
    return found && { files: found.files, others: othersOf(found) };
  } finally {
    removeListener();
    running.cancel();
  }
}

const WAITING = Symbol();

function othersOf({ others, errors, modes }: NativeListing): OtherEntry[] {
  const { paths, diskPaths, lengths, mtimes, ctimes } = others;
  return Array.from(errors, (errno, i) => {
    const status = {
      mode: modes[i] as number,
      size: lengths[i] as number,
      mtimeMs: mtimes[i] as number,
      ctimeMs: ctimes[i] as number,
    };
    const isUnlisted = isFolder(status) && errno !== 0;
    const [folder, name] = split(pathBytes(paths, i), isUnlisted);
    const [disk] = split(pathBytes(diskPaths ?? paths, i), isUnlisted);
    return { folder, disk, name, errno, status };
  });
}

/** Splits a path into that of its folder and a name in the system's bytes; none if it is the folder's own. */
function split(bytes: Uint8Array, isFolder: boolean): [folder: string, name: Buffer | null] {
  const path = Buffer.from(bytes);
  if (isFolder) return [nameText(path), null];
  const end = path.lastIndexOf(0);
  return [nameText(path.subarray(0, Math.max(0, end))), path.subarray(end + 1)];
}

/** System calls that wait at once: enough to keep the file system busy. */
const FOLDERS_AT_ONCE = 16;
const FILES_AT_ONCE = 256;

/**
 * Lists folders with Node's functions, through libuv's pool, in place of native/core/files/scan_job.cc. All entries are others, and no folder
 * is entered: the scan decides about each.
 */
export async function listInNode(
  folders: readonly ListedFolder[],
  { root, readable, pause }: ListOptions,
): Promise<Listing> {
  const others: OtherEntry[] = [];
  for (let at = 0; at < folders.length; at += FOLDERS_AT_ONCE) {
    await pause();
    const listed = await Promise.all(folders.slice(at, at + FOLDERS_AT_ONCE).map((folder) => list(folder, root)));
    for (const other of listed.flat()) others.push(other);
    const files = listed
      .flat()
      .filter(({ status }) => status.mode !== constants.S_IFDIR && status.mode !== constants.S_IFLNK);
    for (let i = 0; i < files.length; i += FILES_AT_ONCE) {
      if (i > 0) await pause();
      await Promise.all(files.slice(i, i + FILES_AT_ONCE).map((file) => addStatus(file, root, readable)));
    }
  }
  return { files: new FileColumnsBuilder().finish(), others };
}

/** The entries of a folder; that of the folder itself if it cannot be listed. The status of files is still to be read. */
async function list({ path: folder, disk }: ListedFolder, root: string): Promise<OtherEntry[]> {
  try {
    const path = systemPath(diskPathBelow(root, disk));
    const entries: (Dirent<Buffer> | Buffer)[] = await readdir(path, { withFileTypes: true, encoding: 'buffer' });
    return entries.map((entry) => {
      // Bun gives names alone. Then the type is still to be read too.
      const [name, type] = Buffer.isBuffer(entry) ? [entry, 0] : [entry.name, direntType(entry)];
      return { folder, disk, name, errno: 0, status: ofType(type) };
    });
  } catch (error) {
    return [
      { folder, disk, name: null, errno: errnoOf(error as NodeJS.ErrnoException), status: ofType(constants.S_IFDIR) },
    ];
  }
}

/** Reads the status of an entry that is neither a folder nor a link. */
async function addStatus(entry: OtherEntry, root: string, readable: boolean): Promise<void> {
  const folder = nameBytes(diskPathBelow(root, entry.disk) + nodePath.sep);
  const path = Buffer.concat([folder, entry.name as Buffer]);
  const status = await lstat(path).catch(errnoOf);
  if (typeof status === 'number') entry.errno = status;
  else {
    entry.status = status;
    if (readable && isRegularFile(status) && isRestricted(status)) entry.errno = await readErrno(path);
  }
}

function direntType(entry: Dirent<Buffer>): number {
  if (entry.isDirectory()) return constants.S_IFDIR;
  return entry.isSymbolicLink() ? constants.S_IFLNK : 0;
}

function ofType(mode: number): Status {
  return { mode, size: 0, mtimeMs: 0, ctimeMs: 0 };
}
