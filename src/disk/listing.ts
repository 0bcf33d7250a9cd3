/** The result of a listing of folders, and the helpers of both listings: native, and with Node's functions. */
import { constants } from 'node:fs';
import { access, open } from 'node:fs/promises';
import type { FileColumns } from '../layout/file-table.ts';
import { errnoName } from '../platform/node.ts';
import { errnoOf, type Status } from './stat-files.ts';

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
