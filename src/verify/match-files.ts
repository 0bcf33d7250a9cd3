/** Finds the files of a torrent on disk. */
import { stat } from 'node:fs/promises';
import nodePath from 'node:path';
import { type BeneathOptions, requireBeneath } from '../disk/beneath.ts';
import { isWithin } from '../disk/path-within.ts';
import { realPath } from '../disk/real-path.ts';
import { type ScannedFile, scan } from '../disk/scan.ts';
import { fromSystemError, MetainfoError, requirePath } from '../errors/errors.ts';
import type { RequestedFile } from '../hash/hash-request.ts';
import type { Slot } from '../hash/limiter.ts';
import { FileTable } from '../layout/file-table.ts';
import { libtorrentName } from '../layout/libtorrent-names.ts';
import { storedNames } from '../model/stored-names.ts';
import { type Torrent, TorrentBase } from '../model/torrent/torrent.ts';
import { systemPath } from '../text/name-bytes.ts';
import { placeOf } from './content-place.ts';

/** A regular file on disk. */
export interface DiskFile {
  /** Absolute, with symbolic links resolved; bytes that are not UTF-8 as in `nameText`. */
  diskPath: string;
  /** Bytes. */
  size: number;
  mtimeMs: number;
  ctimeMs: number;
  /** Its path from the folder, with `/`, if it is another than the usual one. */
  foundAs?: string;
}

/** A file of a scan. */
export function diskFileAt(table: FileTable<ScannedFile>, index: number): DiskFile {
  const { diskPath, length, mtimeMs, ctimeMs } = table.at(index) as ScannedFile;
  return { diskPath, size: length, mtimeMs, ctimeMs };
}

/** A range of a file. */
export function rangeOf({ diskPath, size, mtimeMs }: DiskFile, offset: number, length: number): RequestedFile {
  return { path: systemPath(diskPath), offset, length, size, mtimeMs };
}

/** Something on disk that cannot be read as a file. */
export interface Unreadable {
  /** The reason, in words for the user. */
  problem: string;
  /** The system's error, where a system call failed. */
  error?: MetainfoError;
}

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

/** Options of {@link matchFiles}. */
export interface MatchOptions extends BeneathOptions {
  signal: AbortSignal | undefined;
  /** Whether links may lead out of the folder. */
  followOutside?: boolean | undefined;
  /** Lets other jobs go first while many folders are listed. */
  slot?: Slot;
}

/**
 * Finds the files of a torrent on disk, without opening any.
 *
 * @param path The folder of the files, or the file of a single-file torrent, or the folder that holds that file.
 * @throws {MetainfoError} `ERR_NOT_FOUND` or `ERR_UNREADABLE` for `path` itself; `ERR_INVALID_ARGUMENT` when it is a file
 *   and the torrent has several; `ERR_ABORTED`
 */
export async function matchFiles(torrent: Torrent, path: string, options: MatchOptions): Promise<MatchedFiles> {
  requirePath(path);
  const { isFolder, names } = await placeOf(torrent, path);
  if (!isFolder && torrent.nFiles > 1) {
    const message = `${path} is a file, but the torrent has ${torrent.nFiles}: give the folder that holds them.`;
    throw new MetainfoError('ERR_INVALID_ARGUMENT', message, { path });
  }
  const { found, extraFiles } = isFolder
    ? await filesIn(path, { torrent, names }, options)
    : await onlyFile(path, options);
  return { files: matchedFiles(torrent, names, found), extraFiles: extraFiles.sort() };
}

/** The files of a torrent with those that were found: for each, its name on disk. */
export function matchedFiles(torrent: Torrent, names: readonly string[], found: Found['found']): MatchedFile[] {
  return TorrentBase.filesOf(torrent).map(({ path, length, attr, piecesRoot }, i) => {
    const entry = found.get(names[i] as string) ?? null;
    // A symbolic link in a torrent has no content (BEP 47), so the target of the one on disk does not matter.
    const isLink = entry !== null && (attr?.includes('l') ?? false);
    const onDisk = isLink ? { diskPath: '', size: length, mtimeMs: 0, ctimeMs: 0 } : entry;
    const size = onDisk && 'size' in onDisk ? onDisk.size : 0;
    return { path, length, onDisk, available: Math.min(size, length), piecesRoot };
  });
}

/** The files of a torrent in a folder, and other files there. Paths are relative to the folder, with `/`. */
interface Found {
  /** By path. */
  found: Map<string, DiskFile | Unreadable>;
  extraFiles: string[];
}

/** The user named this file itself, so the files beside it do not count as extra. */
async function onlyFile(path: string, options: BeneathOptions): Promise<Found> {
  const real = await realPath(path);
  await requireBeneath(real, options, path);
  return { found: new Map([[nodePath.basename(path), await statFile(real)]]), extraFiles: [] };
}

/**
 * Lists a folder with everything below it, and looks for files. A symbolic link is followed only where one of these files may be
 * behind it, and only within the folder. No file is opened.
 *
 * @throws {MetainfoError} `ERR_NOT_FOUND` or `ERR_UNREADABLE` for the folder itself; `ERR_ABORTED`
 */
async function filesIn(
  folder: string,
  { torrent, names }: WantedNames,
  { followOutside = false, ...options }: MatchOptions,
): Promise<Found> {
  const found: Found['found'] = new Map();
  /** Links, and what cannot be added to a torrent, by path: the error, or null for a link. */
  const odd = new Map<string, MetainfoError | null>();
  const scanned = await scan(folder, null, {
    ...options,
    symlinks: 'skip',
    systemFiles: true,
    anyNames: true,
    onLeftOut: (path) => odd.set(path, null),
    onProblem: (error) => {
      if (error.path === folder) throw error;
      odd.set(nodePath.relative(folder, error.path as string).replaceAll(nodePath.sep, '/'), error);
    },
  });
  const wanted = new Set(names);
  /** By path, with the index in the table; null for a link and the like. */
  const extra = new Map<string, number | null>();
  const table = new FileTable<ScannedFile>(scanned);
  for (let index = 0; index < table.length; index += 1) {
    const name = table.pathAt(index);
    if (wanted.has(name)) found.set(name, diskFileAt(table, index));
    else extra.set(name, index);
  }
  findUnderOtherNames({ torrent, names }, { found, extra, table });
  for (const [path, error] of odd) if (isEntry(error)) extra.set(path, null);
  const root = followOutside ? null : scanned.root;
  for (const name of odd.size === 0 ? [] : wanted) {
    if (found.has(name)) continue;
    const at = pathsTo(name).find((path) => odd.has(path));
    if (at === undefined) continue;
    const error = odd.get(at) ?? null;
    const isHere = at === name;
    // The answer does not depend on the files outside, so nobody learns from it which of them exist.
    const isFolderOutside = !isHere && root !== null && (await leadsOut(nodePath.join(root, at), root));
    const entry =
      error && !isHere && !isEntry(error)
        ? { problem: error.message, error }
        : isFolderOutside
          ? { problem: OUTSIDE }
          : await followed(nodePath.join(scanned.root, name), root);
    // A link in place of a folder counts only if it leads out, or if there is such a file behind it.
    if (!isHere && isEntry(error) && !isFolderOutside && 'problem' in entry) continue;
    found.set(name, entry);
    extra.delete(at);
  }
  return { found, extraFiles: [...extra.keys()] };
}

/** Whether a path leads out of the folder. */
async function leadsOut(path: string, root: string): Promise<boolean> {
  const target = await realPath(path).catch(() => null);
  return target !== null && !isWithin(root, target);
}

/** The torrent, and the usual paths of its files. */
interface WantedNames {
  torrent: Torrent;
  names: readonly string[];
}

/** The endings that clients give to files which are not complete: qBittorrent; Transmission and others. */
const UNFINISHED = ['.!qB', '.part'];

/** Finds other paths under which clients leave a file: for the index of a file, the most likely one first. */
function otherNames({ torrent, names }: WantedNames): (index: number) => string[] {
  const stored = storedNames(torrent);
  // The name of the file in the tree may be another one than that of the torrent.
  const only = names.length === 1 && torrent.torrentVersion === 'v2' ? [torrent.name] : [];
  return (index) => {
    const name = names[index] as string;
    const changed = name.split('/').map(libtorrentName).join('/');
    const others = [stored?.paths[index] ?? name, ...only, changed].filter((other) => other !== name);
    return [...others, ...[name, ...others].flatMap((other) => UNFINISHED.map((ending) => other + ending))];
  };
}

/** A folder as {@link filesIn} has listed it. */
interface Listed extends Pick<Found, 'found'> {
  /** The files that no name of the torrent fits, with their indexes. */
  extra: Map<string, number | null>;
  table: FileTable<ScannedFile>;
}

/** Looks for missing files under other names, and under names that differ only in their Unicode form. They are no extra files then. */
function findUnderOtherNames(wanted: WantedNames, { found, extra, table }: Listed): void {
  const { names } = wanted;
  if (extra.size === 0 || found.size === names.length) return;
  const othersOf = otherNames(wanted);
  let composed: Map<string, string> | null = null;
  for (const [i, name] of names.entries()) {
    if (found.has(name)) continue;
    let other = othersOf(i).find((path) => extra.has(path));
    if (other === undefined) {
      composed ??= new Map([...extra.keys()].map((path) => [path.normalize('NFC'), path]));
      other = composed.get(name.normalize('NFC'));
    }
    const index = other === undefined ? null : extra.get(other);
    if (other === undefined || index == null) continue;
    found.set(name, { ...diskFileAt(table, index), foundAs: other });
    extra.delete(other);
  }
}

/** Whether something odd is an entry of its own, instead of a folder that cannot be listed. */
function isEntry(error: MetainfoError | null): boolean {
  return error === null || error.code === 'ERR_NOT_A_FILE' || error.code === 'ERR_NAME';
}

/** The paths of the folders above a file, from the top, and its own. */
function pathsTo(name: string): string[] {
  const parts = name.split('/');
  return parts.map((_, i) => parts.slice(0, i + 1).join('/'));
}

const OUTSIDE = 'a link that leads out of the folder';

/** The file that a path leads to. @param root Null lets links lead anywhere. */
export async function followed(path: string, root: string | null): Promise<DiskFile | Unreadable> {
  try {
    const target = await realPath(path);
    if (root !== null && !isWithin(root, target)) return { problem: OUTSIDE };
    return await statFile(target);
  } catch (error) {
    const failure = fromSystemError(error, path, 'read');
    if (failure.code === 'ERR_NOT_FOUND') return { problem: 'a link to something that does not exist' };
    return { problem: failure.message, error: failure };
  }
}

/** The status of a file; links are followed. */
async function statFile(path: string): Promise<DiskFile | Unreadable> {
  try {
    const status = await stat(systemPath(path));
    if (!status.isFile()) return { problem: status.isDirectory() ? 'a folder' : 'not a regular file' };
    return { diskPath: path, size: status.size, mtimeMs: status.mtimeMs, ctimeMs: status.ctimeMs };
  } catch (error) {
    const failure = fromSystemError(error, path, 'read');
    return { problem: failure.message, error: failure };
  }
}
