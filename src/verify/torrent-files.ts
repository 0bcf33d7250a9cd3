/** Finds the files of a torrent on disk. */
import { realpath, stat } from 'node:fs/promises';
import nodePath from 'node:path';
import { type BeneathOptions, requireBeneath } from '../disk/beneath.ts';
import { fromSystemError, MetainfoError, requirePath } from '../errors/errors.ts';
import { unsafeComponent } from '../layout/safe-path.ts';
import { type Torrent, TorrentBase } from '../model/torrent/torrent.ts';
import {
  type DiskEntry,
  type DiskFile,
  type Inventory,
  type InventoryOptions,
  inventory,
  statFile,
  type Unreadable,
} from './inventory.ts';

/** A file of a torrent and its counterpart on disk. */
export interface MatchedFile {
  /** In the torrent, from its root, with `/`. */
  path: string;
  /** Bytes, as the torrent says. */
  length: number;
  /** Null for a missing file. */
  onDisk: DiskFile | Unreadable | null;
  /** How many bytes from the start of the file can be read. */
  available: number;
  /** v2: 32 bytes; null in v1 and for an empty file. */
  piecesRoot: Uint8Array | null;
}

/** The files of a torrent, in its order, and the paths of other files in the same folder. */
export interface MatchedFiles {
  files: MatchedFile[];
  extraFiles: string[];
}

/**
 * Finds the files of a torrent on disk, without opening any.
 *
 * @param path The folder of the files, or the file of a single-file torrent, or the folder that holds that file.
 * @throws {MetainfoError} `ERR_NOT_FOUND` or `ERR_UNREADABLE` for `path` itself; `ERR_INVALID_ARGUMENT` when it is a file
 *   and the torrent has several; `ERR_ABORTED`
 */
export async function matchFiles(torrent: Torrent, path: string, options: InventoryOptions): Promise<MatchedFiles> {
  requirePath(path);
  const status = await stat(path).catch((error: unknown) => {
    throw fromSystemError(error, path, 'read');
  });
  const isFolder = status.isDirectory();
  if (!isFolder && torrent.nFiles > 1) {
    const message = `${path} is a file, but the torrent has ${torrent.nFiles}: give the folder that holds them.`;
    throw new MetainfoError('ERR_INVALID_ARGUMENT', message, { path });
  }
  const names = isFolder ? diskNames(torrent) : [nodePath.basename(path)];
  const inFolder = isFolder ? await inventory(path, new Set(names), options) : await inventoryOfFile(path, options);
  const files = TorrentBase.filesOf(torrent).map(({ path: name, length, attr, piecesRoot }, i): MatchedFile => {
    const isLink = attr?.includes('l') ?? false;
    const onDisk = entryOf(names[i] as string, { inFolder, length, isLink });
    const size = onDisk && 'size' in onDisk ? onDisk.size : 0;
    return { path: name, length, onDisk, available: Math.min(size, length), piecesRoot };
  });
  return { files, extraFiles: inFolder.extraFiles.sort() };
}

/** The user named this file itself, so the files beside it do not count as extra. */
async function inventoryOfFile(path: string, options: BeneathOptions): Promise<Inventory> {
  const real = await realpath(path);
  await requireBeneath(real, options, path);
  const file = await statFile(real);
  return { found: new Map<string, DiskEntry>([[nodePath.basename(path), file]]), extraFiles: [], unreadable: [] };
}

/** The state on disk of one file of the torrent. */
function entryOf(
  name: string,
  { inFolder, length, isLink }: { inFolder: Inventory; length: number; isLink: boolean },
): MatchedFile['onDisk'] {
  const { found, unreadable } = inFolder;
  const entry = found.get(name) ?? unreadable.find(({ folder }) => name.startsWith(folder))?.reason ?? null;
  // A symbolic link in a torrent has no content (BEP 47), so the target of the one on disk does not matter.
  if (entry && isLink) return { diskPath: '', size: length, mtimeMs: 0, ctimeMs: 0 };
  return entry && 'folder' in entry ? { problem: 'a folder' } : entry;
}

/** Where to look for each file: its path in the torrent, or the safe form of a path that could lead elsewhere. */
export function diskNames(torrent: Torrent): string[] {
  const paths = torrent.files.map(({ path }) => path);
  // Reading the torrent warns of every unsafe path.
  if (torrent.warnings.length === 0) return paths;
  const isSafe = (path: string) => path.split('/').every((part) => unsafeComponent(part) === null);
  if (paths.every(isSafe)) return paths;
  const { safePaths } = torrent;
  return paths.map((path, i) => (isSafe(path) ? path : (safePaths[i] as string)));
}
