/** Tells where the content of a torrent is on disk, or will be. */
import { stat } from 'node:fs/promises';
import nodePath from 'node:path';
import { throwSystemError } from '../errors/system-error.ts';
import { systemPath } from '../hash/system-path.ts';
import type { InfoDictV1 } from '../model/info-dict.ts';
import { once } from '../model/lazy/lazy.ts';
import type { Torrent } from '../model/torrent/torrent.ts';
import { safeNames } from './matched-files.ts';

/** Where the content of a torrent is. */
export interface ContentPlace {
  /** Whether the path that was given is a folder, instead of the file of a single-file torrent. */
  isFolder: boolean;
  /** The absolute folder that holds the files. */
  folder: string;
  /** Gives, for each file of the torrent, its path from the folder, if nobody renamed it, with `/`. */
  names: () => readonly string[];
}

/**
 * Finds out where content is.
 *
 * @param path The folder of the files, or the file of a single-file torrent, or the folder that holds that file.
 * @throws {MetainfoError} `ERR_NOT_FOUND` or `ERR_UNREADABLE` for the path
 */
export async function placeOf(torrent: Torrent, path: string): Promise<ContentPlace> {
  const status = await stat(systemPath(path)).catch(throwSystemError(path, 'read'));
  return placeAt(torrent, path, status.isDirectory());
}

/** The place of content at a path, where it need not exist yet. */
export function placeAt(torrent: Torrent, path: string, isFolder = !isSingleFile(torrent)): ContentPlace {
  const absolute = nodePath.resolve(path);
  if (isFolder) return { isFolder, folder: absolute, names: once(() => safeNames(torrent)) };
  return { isFolder, folder: nodePath.dirname(absolute), names: () => [nodePath.basename(absolute)] };
}

/** The absolute path of a file of the torrent. @param name Its path from the folder, if it was renamed. */
export function targetOf({ folder, names }: ContentPlace, index: number, name = names()[index]): string {
  return nodePath.join(folder, name as string);
}

/** Whether clients store the torrent as one file, without a folder. */
export function isSingleFile(torrent: Torrent): boolean {
  if (torrent.nFiles > 1) return false;
  const { torrentVersion, info, files, name } = torrent;
  if (torrentVersion !== 'v2') return !(info as InfoDictV1).files;
  return files.length === 1 && files[0]?.path === name;
}
