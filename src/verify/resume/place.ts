/** Where a client finds the content of a torrent, and how its files of resume data are named. */
import nodePath from 'node:path';
import { realPath } from '../../disk/held-folder.ts';
import { MetainfoError } from '../../errors/errors.ts';
import type { Checked } from '../../errors/guard.ts';
import { storedNames } from '../../model/stored-names.ts';
import type { Torrent } from '../../model/torrent/torrent.ts';
import { isSingleFile, placeOf } from '../content-place.ts';
import { missingEmpty } from '../moved/find-moved.ts';
import { placeMoved } from '../moved/place-moved.ts';
import type { VerifiedFile, VerifyReport } from '../report.ts';

/** A client for which there is resume data. */
export type ResumeClient = 'qbittorrent' | 'libtorrent' | 'rtorrent';

/** The client, and the place of the content. */
export interface PlaceOptions {
  /** The client; `libtorrent` stands for programs that use that library. */
  client: ResumeClient;
  /** The folder of the files, or the file of a single-file torrent, or the folder that holds that file. */
  path: string | URL;
}

/** The place of the content, in the terms of a client. */
export interface ResumePlace {
  /** The absolute folder that the client is told. rtorrent: the folder of the torrent's files. The others: its parent. */
  folder: string;
  /** For each file of the torrent, its path from the folder, with `/`. */
  paths: string[];
  /** The names of the client's files, in the order in which to write them. */
  names: string[];
}

/**
 * Tells where the client finds the content.
 *
 * @param options.savePath The folder that holds the content, as the client sees it; null if it sees the same folders.
 * @param files By their indexes in the torrent; they tell which ones lie under other names.
 * @throws {MetainfoError} `ERR_INVALID_ARGUMENT` if rtorrent cannot read the torrent, or cannot find files that have other names;
 *   `ERR_NOT_FOUND` or `ERR_UNREADABLE` for the path
 */
export async function resumePlaceOf(
  torrent: Torrent,
  { client, path, savePath = null }: Checked<PlaceOptions> & { savePath?: string | null },
  files: readonly (VerifiedFile | undefined)[] = [],
): Promise<ResumePlace> {
  const names = namesOf(torrent, client);
  const { isFolder, folder, names: onDisk } = await placeOf(torrent, path);
  const paths = onDisk().map((name, i) => files[i]?.foundAs ?? name);
  if (client === 'rtorrent') requireOwnNames(torrent, paths);
  const [parent, base] = [nodePath.dirname(folder), nodePath.basename(folder)];
  if (!isFolder || isSingleFile(torrent)) return { folder: savePath ?? folder, paths, names };
  if (client === 'rtorrent')
    return { folder: savePath === null ? folder : nodePath.posix.join(savePath, base), paths, names };
  return { folder: savePath ?? parent, paths: base === '' ? paths : paths.map((own) => `${base}/${own}`), names };
}

/**
 * The names of the client's files. qBittorrent identifies a hybrid by its v2 infohash, shortened to 20 bytes. rtorrent accepts only
 * capital letters.
 */
function namesOf({ infohashV1, infohashV2 }: Torrent, client: ResumeClient): string[] {
  if (client === 'rtorrent') {
    if (infohashV1 !== null) return [`${infohashV1.toUpperCase()}.torrent`];
    const message = 'rtorrent cannot read v2 torrents: choose another client, or make a hybrid.';
    throw new MetainfoError('ERR_INVALID_ARGUMENT', message);
  }
  const id = ((infohashV2 ?? infohashV1) as string).slice(0, 40);
  return client === 'libtorrent' ? [`${id}.fastresume`] : [`${id}.torrent`, `${id}.fastresume`];
}

/** rtorrent finds files by their names in the torrent; only the folder around several files may have another name. */
function requireOwnNames(torrent: Torrent, onDisk: readonly string[]): void {
  const stored = storedNames(torrent)?.paths;
  const index = torrent.files.findIndex(({ path }, i) => path !== onDisk[i] && stored?.[i] !== onDisk[i]);
  if (index < 0) return;
  const [wanted, found] = [torrent.files[index]?.path, onDisk[index]];
  const message = `rtorrent looks for ${wanted}, but the file is called ${found}: rename it, or choose another client.`;
  throw new MetainfoError('ERR_INVALID_ARGUMENT', message);
}

/** Content with its empty files. */
export interface Completed {
  /** The report of the content with these files. */
  report: VerifyReport;
  /** The files that were made, from the torrent's root, with `/`. */
  made: string[];
}

/**
 * Makes the empty files that are missing. Some clients do not write them, and others check everything again without them. Those that
 * cannot be made stay missing in the report.
 *
 * @param path The content, of which all pieces are good; nothing is made otherwise.
 */
export async function makeEmptyFiles(torrent: Torrent, report: VerifyReport, path: string): Promise<Completed> {
  if (report.ok || report.badPieces.length > 0) return { report, made: [] };
  const place = await placeOf(torrent, await realPath(path));
  const empty = missingEmpty(torrent, report, place);
  const { placed } = await placeMoved({ moved: [], empty, root: place.folder }, 'link');
  const made = new Set(placed);
  const files = report.files.map((file) => (made.has(file.path) ? { ...file, status: 'complete' as const } : file));
  return {
    report: { ...report, files, ok: files.every(({ status }) => status === 'complete' || status === 'unchecked') },
    made: placed,
  };
}
