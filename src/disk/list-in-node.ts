/** Lists folders with Node's functions, through libuv's pool: where the addon does not load, in place of native/core/files/scan_job.cc. */
import { constants, type Dirent } from 'node:fs';
import { lstat, readdir } from 'node:fs/promises';
import nodePath from 'node:path';
import { systemPath } from '../hash/system-path.ts';
import { diskPathBelow } from '../layout/file-table.ts';
import { nameBytes } from '../text/name-bytes.ts';
import { FileColumnsBuilder } from './file-columns.ts';
import { type ListedFolder, type Listing, type ListOptions, type OtherEntry, readErrno } from './listing.ts';
import { errnoOf, isRegularFile, isRestricted, type Status } from './stat-files.ts';

/** System calls that wait at once: enough to keep the file system busy. */
const FOLDERS_AT_ONCE = 16;
const FILES_AT_ONCE = 256;

/** Lists folders with Node's functions. All entries are others, and no folder is entered: the scan decides about each. */
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
      const [name, type] = Buffer.isBuffer(entry) ? [entry, 0] : [entry.name, typeOf(entry)];
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

function typeOf(entry: Dirent<Buffer>): number {
  if (entry.isDirectory()) return constants.S_IFDIR;
  return entry.isSymbolicLink() ? constants.S_IFLNK : 0;
}

function ofType(mode: number): Status {
  return { mode, size: 0, mtimeMs: 0, ctimeMs: 0 };
}
