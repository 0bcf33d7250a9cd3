/** Finds the files of a torrent on disk. */
import nodePath from 'node:path';
import { FileColumnsBuilder } from '../disk/file-columns.ts';
import { type BeneathOptions, realPath, requireBeneath } from '../disk/held-folder.ts';
import { isWithin } from '../disk/path-within.ts';
import { type ScannedFile, scan } from '../disk/scan.ts';
import { resolveLink } from '../disk/scan-links.ts';
import { isFolder, isRegularFile, statusOf } from '../disk/stat-files.ts';
import { MetainfoError } from '../errors/errors.ts';
import type { Checked } from '../errors/guard.ts';
import { fromSystemError } from '../errors/system-error.ts';
import type { Slot } from '../hash/limiter.ts';
import { matchPaths, NO_PATH } from '../hash/match-paths.ts';
import { FileTable } from '../layout/file-table.ts';
import { PathPrefixes } from '../layout/path-prefixes.ts';
import { contentOf } from '../model/lazy/content.ts';
import type { Torrent } from '../model/torrent/torrent.ts';
import { placeOf } from './content-place.ts';
import {
  type DiskFile,
  type FoundFiles,
  findUnderOtherNames,
  indexOthers,
  MatchedFiles,
  namesColumn,
  othersIn,
  type Unreadable,
  withoutRepeats,
} from './matched-files.ts';

/** Options of {@link matchFiles}. */
export interface MatchOptions extends Checked<BeneathOptions> {
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
  const { isFolder, names } = await placeOf(torrent, path);
  if (!isFolder && torrent.nFiles > 1) {
    const message = `${path} is a file, but the torrent has ${torrent.nFiles}: give the folder that holds them.`;
    throw new MetainfoError('ERR_INVALID_ARGUMENT', message, { path });
  }
  const found = isFolder ? await filesIn(path, torrent, names, options) : await onlyFile(path, torrent.nFiles, options);
  found.extraFiles.sort();
  return new MatchedFiles(torrent, found);
}

/** The user named this file itself, so the files beside it do not count as extra. */
async function onlyFile(path: string, count: number, options: Checked<BeneathOptions>): Promise<FoundFiles> {
  const real = await resolveLink(path);
  await requireBeneath(real, options, path);
  return { ...nothingFound(count), indexes: new Uint32Array(count), others: [await statFile(real)] };
}

/**
 * Lists a folder with everything below it, and looks for files. A symbolic link is followed only where one of these files may be
 * behind it, and only within the folder. No file is opened.
 *
 * @throws {MetainfoError} `ERR_NOT_FOUND` or `ERR_UNREADABLE` for the folder itself; `ERR_ABORTED`
 */
async function filesIn(
  folder: string,
  torrent: Torrent,
  namesOf: () => readonly string[],
  { followOutside = false, ...options }: MatchOptions,
): Promise<FoundFiles> {
  /** Links, and what cannot be added to a torrent, by path: the error, or null for a link. */
  const odd = new Map<string, MetainfoError | null>();
  const listed = await scan(folder, null, {
    ...options,
    symlinks: 'skip',
    anyFiles: true,
    anyNames: true,
    onLeftOut: (path) => odd.set(path, null),
    onProblem: (error) => {
      if (error.path === folder) throw error;
      odd.set(nodePath.relative(folder, error.path as string).replaceAll(nodePath.sep, '/'), error);
    },
  });
  const indexes = withoutRepeats(await matchPaths(namesColumn(torrent, namesOf), listed.columns.paths), torrent);
  const table = new FileTable<ScannedFile>(listed);
  const extra = othersIn(table, indexes);
  const isUnusual = torrent.warnings.length > 0;
  if (extra.size + odd.size === 0 && !isUnusual) return { listed, indexes, others: [], extraFiles: [] };
  const names = namesOf();
  /** The counterparts of files that are not listed under their names, by index. */
  const found = new Map<number, DiskFile | Unreadable>();
  const missing = [...names.keys()].filter((i) => indexes[i] === NO_PATH);
  findUnderOtherNames({ torrent, names }, missing, { found, extra, table });
  for (const [path, error] of odd) if (isEntry(error)) extra.set(path, null);
  const root = followOutside ? null : listed.root;
  for (const i of isUnusual ? missing : []) {
    if (found.has(i) || !isEmptyFolder(torrent, i)) continue;
    const entry = await followed(nodePath.dirname(nodePath.join(listed.root, names[i] as string)), root);
    // The path of what is never read is empty, as that of a link.
    if ('problem' in entry && entry.problem === FOLDER) found.set(i, { diskPath: '', size: 0, mtimeMs: 0, ctimeMs: 0 });
  }
  const oddPlaces = new PathPrefixes(odd.keys());
  for (const i of odd.size === 0 ? [] : missing) {
    const name = names[i] as string;
    if (found.has(i)) continue;
    const at = [...oddPlaces.of(name)].at(-1);
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
          : await followed(nodePath.join(listed.root, name), root);
    // A link in place of a folder counts only if it leads out, or if there is such a file behind it.
    if (!isHere && isEntry(error) && !isFolderOutside && 'problem' in entry) continue;
    found.set(i, entry);
    extra.delete(at);
  }
  const others = indexOthers(indexes, { found, table });
  return { listed, indexes, others, extraFiles: [...extra.keys()] };
}

/** Whether a file stands for an empty folder: BitComet then writes an empty file whose name is empty, and makes the folder alone. */
function isEmptyFolder(torrent: Torrent, index: number): boolean {
  const { pathAt, lengths } = contentOf(torrent);
  return lengths[index] === 0 && /[^/]\/$/.test(pathAt(index));
}

/** Whether a path leads out of the folder. */
async function leadsOut(path: string, root: string): Promise<boolean> {
  const target = await realPath(path).catch(() => null);
  return target !== null && !isWithin(root, target);
}

/** Whether something odd is an entry of its own, instead of a folder that cannot be listed. */
function isEntry(error: MetainfoError | null): boolean {
  return error === null || error.code === 'ERR_NOT_A_FILE' || error.code === 'ERR_NAME';
}

/** The problem of a link that verification does not follow without `followOutside`. */
export const OUTSIDE = 'a link that leads out of the folder';

/** The problem of a folder in place of a file. */
const FOLDER = 'a folder';

/** The file that a path leads to. @param root Null lets links lead anywhere. */
export async function followed(path: string, root: string | null): Promise<DiskFile | Unreadable> {
  try {
    const target = await realPath(path);
    if (root !== null && !isWithin(root, target)) return { problem: OUTSIDE };
    return await statFile(target);
  } catch (error) {
    const failure = fromSystemError(error, path, 'read');
    if (failure.code === 'ERR_NOT_FOUND') return { problem: 'a link to something that does not exist', isAbsent: true };
    return { problem: failure.message, error: failure };
  }
}

/** The status of a file; links are followed. */
async function statFile(path: string): Promise<DiskFile | Unreadable> {
  try {
    const status = await statusOf(path, path);
    if (!isRegularFile(status)) return { problem: isFolder(status) ? FOLDER : 'not a regular file', isAbsent: true };
    return { diskPath: path, size: status.size, mtimeMs: status.mtimeMs, ctimeMs: status.ctimeMs };
  } catch (error) {
    const failure = error as MetainfoError;
    return { problem: failure.message, error: failure };
  }
}

/** The match of `count` files of which none was found. */
export function nothingFound(count: number): FoundFiles {
  const listed = { root: '', columns: new FileColumnsBuilder().finish() };
  return { listed, indexes: new Uint32Array(count).fill(NO_PATH), others: [], extraFiles: [] };
}
