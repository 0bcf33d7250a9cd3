/** Lists folders with Node's functions, through libuv's pool: where the addon does not load. */
import { isUtf8 } from 'node:buffer';
import { constants, type Dirent } from 'node:fs';
import { lstat, readdir } from 'node:fs/promises';
import nodePath from 'node:path';
import { FileColumnsBuilder } from './file-columns.ts';
import {
  diskPathOf,
  entryPath,
  isHarmlessName,
  isPlainName,
  type ListedFolder,
  type Listing,
  type ListOptions,
  type OtherEntry,
  readErrno,
} from './listing.ts';
import { errnoOf, isFolder, isRegularFile, isRestricted, type Status } from './stat-files.ts';

/** System calls that wait at once: enough to keep the file system busy. */
const FOLDERS_AT_ONCE = 16;
const FILES_AT_ONCE = 256;

type Entry = Dirent<string> | Dirent<Buffer>;

/** An entry whose status must be read. */
interface Unknown {
  folder: ListedFolder;
  name: string | Buffer;
}

const NO_STATUS: Status = { mode: 0, size: 0, mtimeMs: 0, ctimeMs: 0 };

/** Lists folders with Node's functions. */
export async function listInNode(
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

  for (let at = 0; at < pending.length; ) {
    await pause();
    const batch = pending.slice(at, at + FOLDERS_AT_ONCE);
    at += batch.length;
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
