/** Lists folders for a scan: on native threads, or through libuv's pool without the addon. */
import { isUtf8 } from 'node:buffer';
import { constants, type Dirent } from 'node:fs';
import { access, lstat, open, readdir } from 'node:fs/promises';
import { constants as osConstants } from 'node:os';
import nodePath from 'node:path';
import { errnoName } from '../errors/errors.ts';
import type { FileColumns } from '../layout/file-table.ts';
import { FileColumnsBuilder } from './file-columns.ts';
import { isFolder, isRegularFile, isRestricted, type Status } from './stat-files.ts';

/**
 * A folder to be listed. Zero characters stand between the components of its paths, which are empty for the root.
 */
export interface ListedFolder {
  /** The path from the root of the torrent. */
  path: string;
  /** Where it is on disk, from the real root. It differs from `path` below links. */
  disk: string;
}

/** The content of folders. */
export interface Listing {
  /** Regular files with plain names ({@link isPlainName}), in no particular order. */
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
  /** List the folders in the folders too, and so on. Folders whose names are not harmless are not entered. */
  isRecursive: boolean;
  /** Report files that cannot be opened for reading as entries with an error. */
  readable: boolean;
  /** Called between steps: lets others go first. */
  pause: () => Promise<void>;
}

/** Lists folders. */
export async function listFolders(folders: readonly ListedFolder[], options: ListOptions): Promise<Listing> {
  return listInNode(folders, options);
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

/** Files that operating systems create in folders. */
export const SYSTEM_FILES: ReadonlySet<string> = new Set(['.DS_Store', 'Thumbs.db', 'desktop.ini']);

/** The start of the names of unfinished outputs. */
export const TEMPORARY_START = '.metainfo-';

/** Whether every torrent can hold a name, whatever its rules. The native listing has the same rule. */
function isHarmlessName(name: string): boolean {
  return !name.includes('\\') && !/^[A-Za-z]:$/.test(name);
}

/** Whether a file of that name is always added. The native listing has the same rule. */
function isPlainName(name: string): boolean {
  return isHarmlessName(name) && !SYSTEM_FILES.has(name) && !name.startsWith(TEMPORARY_START);
}

/** The path of an entry of a folder, with zero characters; the folder is empty for the root. */
export function entryPath(folder: string, name: string): string {
  return folder === '' ? name : `${folder}\0${name}`;
}

/** The path of a file or folder on disk. */
export function diskPathOf(root: string, disk: string): string {
  if (disk === '') return root;
  return (root.endsWith(nodePath.sep) ? root : root + nodePath.sep) + disk.replaceAll('\0', nodePath.sep);
}

/** System calls that wait at once: enough to keep the file system busy. */
const FOLDERS_AT_ONCE = 16;
const FILES_AT_ONCE = 1024;

type Entry = Dirent<string> | Dirent<Buffer>;

/** An entry whose status must be read. */
interface Unknown {
  folder: ListedFolder;
  name: string | Buffer;
}

const NO_STATUS: Status = { mode: 0, size: 0, mtimeMs: 0, ctimeMs: 0 };

/** Lists folders with Node's functions. */
async function listInNode(
  folders: readonly ListedFolder[],
  { root, isRecursive, readable, pause }: ListOptions,
): Promise<Listing> {
  const files = new FileColumnsBuilder();
  const others: OtherEntry[] = [];
  const pending = [...folders];
  const addOther = ({ folder, name }: Unknown, errno: number, status: Status) =>
    others.push({ folder: folder.path, disk: folder.disk, name: Buffer.from(name), errno, status });

  const addFolder = (entry: Unknown) => {
    const { folder, name } = entry;
    if (!isRecursive || typeof name !== 'string' || !isHarmlessName(name)) {
      addOther(entry, 0, { ...NO_STATUS, mode: constants.S_IFDIR });
      return;
    }
    pending.push({ path: entryPath(folder.path, name), disk: entryPath(folder.disk, name) });
  };

  const addStatus = async (entry: Unknown) => {
    const { folder, name } = entry;
    const path = pathIn(diskPathOf(root, folder.disk), name);
    const status = await lstat(path).catch(errnoOf);
    if (typeof status === 'number') return void addOther(entry, status, NO_STATUS);
    if (isFolder(status)) return addFolder(entry);
    if (!isRegularFile(status)) return void addOther(entry, 0, status);
    const errno = readable && isRestricted(status) ? await readErrno(path) : 0;
    if (errno !== 0 || typeof name !== 'string' || !isPlainName(name)) return void addOther(entry, errno, status);
    const { size, mtimeMs, ctimeMs } = status;
    files.addFile({ path: entryPath(folder.path, name), disk: entryPath(folder.disk, name), size, mtimeMs, ctimeMs });
  };

  for (let at = 0; at < pending.length; at += FOLDERS_AT_ONCE) {
    await pause();
    const batch = pending.slice(at, at + FOLDERS_AT_ONCE);
    const listed = await Promise.all(batch.map(({ disk }) => entriesOf(diskPathOf(root, disk)).catch(errnoOf)));
    const unknown: Unknown[] = [];
    for (const [i, folder] of batch.entries()) {
      const entries = listed[i] as Entry[] | number;
      if (typeof entries === 'number') {
        const status = { ...NO_STATUS, mode: constants.S_IFDIR };
        others.push({ folder: folder.path, disk: folder.disk, name: null, errno: entries, status });
        continue;
      }
      for (const entry of entries) {
        const found = { folder, name: textOf(entry.name) };
        if (entry.isDirectory()) addFolder(found);
        else if (entry.isSymbolicLink()) addOther(found, 0, { ...NO_STATUS, mode: constants.S_IFLNK });
        else unknown.push(found);
      }
    }
    for (let i = 0; i < unknown.length; i += FILES_AT_ONCE) {
      if (i > 0) await pause();
      await Promise.all(unknown.slice(i, i + FILES_AT_ONCE).map(addStatus));
    }
  }
  return { files: files.finish(), others };
}

async function entriesOf(folder: string): Promise<Entry[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  // U+FFFD stands for bytes that are not UTF-8, or is a character of the name: only the bytes tell.
  if (!entries.some(({ name }) => name.includes('\ufffd'))) return entries;
  return readdir(folder, { withFileTypes: true, encoding: 'buffer' });
}

/** The name as text, or its bytes if they are not UTF-8. */
function textOf(name: string | Buffer): string | Buffer {
  return typeof name === 'string' || !isUtf8(name) ? name : name.toString();
}

function pathIn(folder: string, name: string | Buffer): string | Buffer {
  if (typeof name === 'string') return folder + (folder.endsWith(nodePath.sep) ? '' : nodePath.sep) + name;
  return Buffer.concat([Buffer.from(folder + nodePath.sep), name]);
}

function errnoOf({ code = 'EIO', errno }: NodeJS.ErrnoException): number {
  // Use the code: on Windows, `errno` is a number of libuv's own. libuv has no name for some errors of other systems.
  if (code.startsWith('Unknown') && errno !== undefined) return -errno;
  return (osConstants.errno as Partial<Record<string, number>>)[code] ?? osConstants.errno.EIO;
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
