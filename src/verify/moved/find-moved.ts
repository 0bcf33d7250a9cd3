/** Finds content that was renamed or moved: files of the same size as missing ones, with the hashes that the torrent has. */
import { realFolder, realPath } from '../../disk/held-folder.ts';
import type { MetainfoError } from '../../errors/errors.ts';
import { type Checked, checkArgument, checkedPath, checkOptions, List } from '../../errors/guard.ts';
import type { Slot } from '../../hash/limiter.ts';
import { jobLimiter } from '../../jobs/job-limiter.ts';
import { factsOf, type Job, track } from '../../jobs/track.ts';
import { AnyTorrent, type Torrent } from '../../model/torrent/torrent.ts';
import { type Hashing, hashingOf } from '../check-pieces.ts';
import { type ContentPlace, placeAt, placeOf, targetOf } from '../content-place.ts';
import { nothingFound } from '../match-files.ts';
import { MatchedFiles } from '../matched-files.ts';
import { pieceLayoutOf } from '../piece-layout.ts';
import { reportedFiles, reportOf, type VerifyReport } from '../report.ts';
import { VERIFY, type VerifyOptions, verifyInQueue } from '../verify.ts';
import { chooseMoved } from './choose-moved.ts';
import { collectCandidates, type Search } from './collect-candidates.ts';
import { FolderIndex, requireFolders } from './folder-index.ts';
import { proveCandidates } from './prove-candidates.ts';

/** Options of {@link findMoved}. */
export type FindMovedOptions = Omit<VerifyOptions, 'beneath'>;

const { beneath: _, ...FIND } = VERIFY;

/** A file of a torrent that was found under another path. */
export interface MovedFile {
  /** From the torrent's root, with `/`. */
  path: string;
  /** Where the torrent wants it: absolute. */
  to: string;
  /** Where it is: absolute. */
  from: string;
  /** Other files with the same content, absolute: at most 100. */
  also: string[];
  /** The file at `from` as it was hashed: {@link placeMoved} refuses any other. */
  hashed: {
    /** Bytes. */
    size: number;
    /** When its content changed last, in milliseconds since 1970. */
    mtimeMs: number;
    /** When its content or its status changed last, in the same way. */
    ctimeMs: number;
  };
  /**
   * `root`: the whole file has the pieces root of the torrent (v2). `pieces`: all pieces that lie within the file are good (v1), or
   * those of a smaller file together with its neighbors, which are in place.
   */
  proof: 'root' | 'pieces';
  /**
   * How much of the file is proven. `proven`: every piece is good. In v1, a file shares its first and last piece with its neighbors.
   * `unproven`: such a piece is not good, because a neighbor is missing or not proven itself. `contradicted`: such a piece is bad,
   * although all other pieces of each neighbor are good, so the file differs there. A client downloads these pieces into the file.
   */
  content: 'proven' | 'unproven' | 'contradicted';
  /** Whether `from` is in its place for another path of the torrent, or is the only file for another one too. */
  isShared: boolean;
}

/** A file that no hash of the torrent can tell from others of its size: a small file of a v1 torrent, next to others that are missing. */
export interface UnprovenFile {
  /** From the torrent's root, with `/`. */
  path: string;
  /** Files of the same size, absolute: at most 100. */
  candidates: string[];
}

/** The result of {@link findMoved}. */
export interface FoundContent {
  /** The verification of the content as it is. If `path` does not exist, everything is missing. */
  report: VerifyReport;
  /** The files that were found, in the torrent's order. */
  moved: MovedFile[];
  /** Missing files that are empty, from the torrent's root, with `/`; and where the torrent wants them. */
  empty: Pick<MovedFile, 'path' | 'to'>[];
  /** Files that cannot be told from others. */
  unproven: UnprovenFile[];
  /** Files that were not found, from the torrent's root, with `/`. */
  notFound: string[];
  /**
   * Files and folders that could not be searched, absolute: what is missing may be there. The error is `ERR_NAME` for a name that
   * no torrent can hold, such as one that is not UTF-8, `ERR_UNREADABLE`, `ERR_READ` or `ERR_FILE_CHANGED`.
   */
  skipped: {
    /** The file or folder, absolute. */
    path: string;
    /** Why it could not be searched. */
    error: MetainfoError;
  }[];
  /** The root of the torrent on disk, absolute and without links: where {@link placeMoved} may write. */
  root: string;
  /** Bytes of candidates that were read. */
  bytesRead: number;
}

/**
 * Verifies content, and looks for each missing or damaged file: among files of the same size in some folders and in the folder of
 * the content itself. It reads only such files. Nothing is changed: {@link placeMoved} does that.
 *
 * @param torrent The torrent to verify against.
 * @param content As `path` of {@link verify}; it may be absent.
 * @param searched Folders to look in, and single files. Links in them are not followed, and unreadable folders are `skipped`.
 * @throws {MetainfoError} `ERR_NOT_FOUND` or `ERR_UNREADABLE` for one of `folders` itself; every error of {@link verify}
 * @example
 * ```ts
 * import { rename } from 'node:fs/promises';
 * import { findMoved, placeMoved, Torrent } from 'metainfo';
 *
 * const torrent = await Torrent.read('album.torrent');
 * await rename('album/01 fifth.wav', 'album/first track.wav');
 * const found = await findMoved(torrent, 'album', []);
 * for (const { path, proof } of found.moved) console.log(path, proof);
 * const { failed } = await placeMoved(found, 'rename');
 * console.log(failed.length);
 * ```
 *
 * ```text
 * 01 fifth.wav root
 * 0
 * ```
 */
export async function findMoved(
  torrent: Torrent,
  content: string | URL,
  searched: readonly (string | URL)[],
  options: FindMovedOptions = {},
): Promise<FoundContent> {
  checkArgument('torrent', torrent, AnyTorrent);
  const path = checkedPath(content);
  const folders = checkArgument<readonly unknown[]>('folders', searched, List).map(checkedPath);
  const hashing = hashingOf(torrent, checkOptions(options, FIND));
  return track('findMoved', async (job) => {
    // Before the verification, which may take hours. Without missing files, nothing else would look at the folders.
    await requireFolders(folders);
    const indexOf = (slot: Slot) => FolderIndex.of(folders, { signal: hashing.options.signal, slot });
    return find(torrent, path, indexOf, hashing, job);
  });
}

/** @internal Looks in folders that were listed before: see {@link findMoved}. */
export async function findIndexed(
  torrent: Torrent,
  path: string,
  index: FolderIndex,
  options: FindMovedOptions,
): Promise<FoundContent> {
  const hashing = hashingOf(torrent, checkOptions(options, FIND));
  return track('findMoved', (job) => find(torrent, path, async () => index, hashing, job));
}

/** @param indexOf Gives the folders once something is missing. */
async function find(
  torrent: Torrent,
  path: string,
  indexOf: (slot: Slot) => Promise<FolderIndex>,
  hashing: Hashing & { options: Checked<FindMovedOptions> },
  job: Job,
): Promise<FoundContent> {
  const { options } = hashing;
  const real = await realPath(path).catch(() => null);
  const place = real === null ? placeAt(torrent, await realFolder(path)) : await placeOf(torrent, real);
  const report = real === null ? nothingOf(torrent, hashing) : await verifyInQueue(torrent, path, hashing, job);
  const files = reportedFiles(torrent.files, report) as NonNullable<ReturnType<typeof reportedFiles>>;
  return jobLimiter.run(options.signal, async (slot) => {
    job.begin();
    job.describe(factsOf(torrent));
    const folder = real !== null && place.isFolder ? path : null;
    const search = await collectCandidates({ torrent, place, files, options, slot }, folder, indexOf);
    await proveCandidates(search);
    return { ...foundContent(search, report), moved: await chooseMoved(search) };
  });
}

/** The report of content that does not exist. */
function nothingOf(torrent: Torrent, { selected, version }: Hashing): VerifyReport {
  const map = pieceLayoutOf(torrent, version);
  const matched = new MatchedFiles(torrent, nothingFound(torrent.nFiles));
  matched.select(selected);
  return reportOf(matched, map, { good: new Uint8Array(map.pieceCount), sample: null });
}

/** @internal The empty files of a torrent that are not there; stored links are no such files. */
export function missingEmpty({ files }: Torrent, report: VerifyReport, place: ContentPlace): FoundContent['empty'] {
  return (reportedFiles(files, report) ?? []).flatMap((file, i) => {
    const isMissing = file?.length === 0 && file.status !== 'complete' && !files[i]?.attr?.includes('l');
    return isMissing ? [{ path: file.path, to: targetOf(place, i) }] : [];
  });
}

function foundContent(search: Search, report: VerifyReport): Omit<FoundContent, 'moved'> {
  const { torrent, place, skipped, bytesRead } = search;
  const absent = [...search.wanted.values()].filter(({ proven }) => proven.length === 0);
  return {
    report,
    empty: missingEmpty(torrent, report, place),
    unproven: absent.flatMap(({ path, unproven }) => {
      return unproven.length > 0 ? [{ path, candidates: unproven.map(({ file }) => file.diskPath) }] : [];
    }),
    notFound: absent.flatMap(({ path, unproven }) => (unproven.length > 0 ? [] : [path])),
    skipped: [...skipped].map(([path, error]) => ({ path, error })),
    root: place.folder,
    bytesRead,
  };
}
