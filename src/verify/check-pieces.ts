/** Hashes the pieces of a torrent that are at hand, and compares. */
import { type MetainfoError, shown } from '../errors/errors.ts';
import { Flag, invalidArgument, type OptionStructs, orNull, Texts, Unchecked } from '../errors/guard.ts';
import { defaultEngine } from '../hash/default-engine.ts';
import { AnyEngine, type Engine, type OnHashed } from '../hash/engine.ts';
import type { FileDigests } from '../hash/file-digests.ts';
import { checkedResources, type HashRequest, RESOURCES, type ResourceOptions } from '../hash/hash-request.ts';
import { runningJob, WATCH, type WatchOptions, watch } from '../jobs/watch.ts';
import { indexRangesOf } from '../model/selection.ts';
import type { Torrent } from '../model/torrent/torrent.ts';
import { clearBadV1, clearBadV2, type HashedContent } from './clear-bad-pieces.ts';
import type { MatchedFiles } from './matched-files.ts';
import {
  availablePieces,
  contentOfPieces,
  countPieces,
  isAligned,
  type PieceInterval,
  type PieceLayout,
  pathOfEntry,
  pieceLayoutOf,
  rangesOfPieces,
  samplePieces,
  v2PieceLayout,
} from './piece-layout.ts';
import { type PieceResults, reportOf, type VerifyReport } from './report.ts';

/** Options of a verification that do not say where the files are. */
export interface CheckOptions extends ResourceOptions, WatchOptions {
  /**
   * Verify only one version of a hybrid torrent. Null verifies all that the torrent has, in one read.
   *
   * @default null
   */
  version?: 'v1' | 'v2' | null | undefined;
  /**
   * Check the sizes of all files, but hash only some pieces: the first and the last of every file, and about 100 others at
   * equal distances. All other pieces that are on disk count as good.
   *
   * A stream is read whole all the same.
   *
   * @default false
   */
  fast?: boolean | undefined;
  /**
   * Verify only these files, and files in these folders: paths in the torrent, with `/`. No other file is read. Pieces that also hold
   * bytes of other files, which v1 torrents have, are reported as `uncheckedPieces`. {@link resumeData} says that the other files are not wanted.
   *
   * @default all files
   */
  files?: readonly string[] | null | undefined;
  /**
   * The engine that hashes.
   *
   * @default the engine that METAINFO_ENGINE names, else `nativeEngine()`, or `nodeEngine()` if the addon does not load
   */
  engine?: Engine | undefined;
}

export const CHECK = {
  // {@link hashingOf} checks it, because the torrent says which versions it has.
  version: Unchecked,
  fast: Flag,
  files: orNull(Texts),
  engine: AnyEngine,
  ...RESOURCES,
  ...WATCH,
} satisfies OptionStructs<CheckOptions>;

/** @internal How the pieces of a verification are hashed: its options, checked and with defaults. */
export type Hashing = Pick<PieceCheck, 'engine' | 'version' | 'resources' | 'options'> & {
  /** See {@link MatchedFiles.selected}. */
  selected: Uint8Array | null;
};

/** @internal @throws {MetainfoError} `ERR_INVALID_ARGUMENT` */
export function hashingOf<Options extends CheckOptions>(
  torrent: Torrent,
  options: Options,
): Hashing & { options: Options } {
  const { engine = defaultEngine() } = options;
  const version = versionOf(torrent, options.version);
  const selected = options.files ? selectionOf(torrent, options.files) : null;
  return { engine, version, resources: checkedResources(options, version), options, selected };
}

function selectionOf({ files }: Torrent, paths: readonly string[]): Uint8Array {
  if (paths.length === 0) throw invalidArgument('files must not be empty');
  const selected = new Uint8Array(files.length);
  for (const [first, last] of indexRangesOf(files, [...files.keys()], paths)) selected.fill(1, first, last + 1);
  return selected;
}

function versionOf({ torrentVersion }: Torrent, version: CheckOptions['version']): HashRequest['version'] {
  if (version === null || version === undefined) return torrentVersion;
  if (version !== 'v1' && version !== 'v2')
    throw invalidArgument(`version must be v1, v2 or null, not ${shown(version)}`);
  if (torrentVersion === 'hybrid' || torrentVersion === version) return version;
  throw invalidArgument(`A ${torrentVersion} torrent cannot be verified as ${version}: omit the option version`);
}

/**
 * @internal Verifies the files that were found.
 *
 * @param findUnreadable Finds all files that cannot be read, after hashing has found one.
 * @param hash How the content is hashed. Default: {@link hashContent}.
 */
export async function verifyMatched(
  torrent: Torrent,
  matched: MatchedFiles,
  hashing: Hashing,
  findUnreadable: () => Promise<void>,
  hash: HashPieces = hashContent,
): Promise<VerifyReport> {
  const map = pieceLayoutOf(torrent, hashing.version);
  matched.select(hashing.selected);
  const check = () => checkPieces({ torrent, matched, map, hash, ...hashing });
  return reportOf(matched, map, await withoutFailingFiles(matched, check, findUnreadable));
}

/** Errors that concern one file, so that the others can still be verified. */
const FILE_ERRORS = [
  'ERR_FILE_CHANGED',
  'ERR_NOT_FOUND',
  'ERR_UNREADABLE',
  'ERR_READ',
  'ERR_NOT_A_FILE',
  'ERR_LINK_LOOP',
];
const MAX_RETRIES = 100;

/** Checks again without the file each time one cannot be read. */
async function withoutFailingFiles<T>(
  matched: MatchedFiles,
  check: () => Promise<T>,
  findUnreadable: () => Promise<void>,
): Promise<T> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await check();
    } catch (error) {
      const { code = '', path, message = '' } = (error ?? {}) as Partial<MetainfoError>;
      if (!FILE_ERRORS.includes(code) || attempt === MAX_RETRIES) throw error;
      const index = matched.indexes.findIndex((_, i) => diskPathAt(matched, i) === path);
      if (path === undefined || index < 0) throw error;
      matched.leaveOut(index, message);
      // Find all other unreadable files now: each would cost another attempt.
      if (attempt === 0) await findUnreadable();
    }
  }
}

/**
 * @internal Where a file is read from; undefined for one that is not on disk or not selected, and for a symbolic link of the torrent,
 * which has no content.
 */
export function diskPathAt(matched: MatchedFiles, index: number): string | undefined {
  const onDisk = matched.selected?.[index] === 0 ? null : matched.onDiskAt(index);
  return onDisk && 'diskPath' in onDisk && onDisk.diskPath !== '' ? onDisk.diskPath : undefined;
}

/** @internal The input of {@link checkPieces}. */
export interface PieceCheck {
  torrent: Torrent;
  matched: MatchedFiles;
  map: PieceLayout;
  version: HashRequest['version'];
  engine: Engine;
  resources: ReturnType<typeof checkedResources>;
  options: CheckOptions;
  hash: HashPieces;
}

/** @internal Pieces that were hashed, and their digests. */
export interface HashedPieces extends Pick<HashedContent, 'content' | 'digests'> {
  /** In the order of `digests`. */
  intervals: readonly PieceInterval[];
  /** Bytes whose digests are from the cache: these. */
  cachedBytes?: number;
}

/** @internal Hashes pieces for one version, or for both. @param keep Keeps digests of entries as they become known. */
export type HashPieces = (
  check: PieceCheck,
  intervals: readonly PieceInterval[],
  version: HashRequest['version'],
  keep?: (known: readonly (readonly [entry: number, FileDigests])[]) => Promise<void>,
) => Promise<readonly HashedPieces[]>;

/** Hashes the pieces that are on disk, or a sample of them, and compares. */
async function checkPieces(check: PieceCheck): Promise<PieceResults> {
  const { torrent, matched, map, version, options } = check;
  const good = new Uint8Array(map.pieceCount);
  const available = availablePieces(map, matched);
  const intervals = options.fast ? samplePieces(available, map) : available;
  // The v2 hashes of a hybrid need files that start at piece boundaries.
  const isInOneRead = version !== 'hybrid' || isAligned(map);
  const hashedVersion = isInOneRead ? version : 'v1';
  const hashed = await check.hash(check, intervals, hashedVersion);
  // Only now, because the end of a stream may have shown that it is too short.
  for (const [first, end] of availablePieces(map, matched)) good.fill(1, first, end);
  for (const { content, digests, intervals } of hashed) {
    if (version !== 'v2') clearBadV1(torrent, intervals, digests, good);
    if (hashedVersion !== 'v1')
      clearBadV2(torrent, { map, content, digests }, { good, isCheckedByV1: version === 'hybrid' });
  }
  const refuted = isInOneRead ? null : await checkV2Apart(check, good);
  const some = hashed.flatMap((one) => one.intervals);
  const cached = hashed.flatMap(({ cachedBytes }) => cachedBytes ?? []);
  const sample = options.fast ? { pieces: countPieces(some), bytes: rangesOfPieces(map, some).bytes } : null;
  return { good, refuted, sample, cachedBytes: cached[0] };
}

/** @internal Hashes pieces of files on disk by one request. */
export const hashContent: HashPieces = async (check, intervals, version, keep) => {
  const { matched, map, engine, resources, options } = check;
  const content = contentOfPieces(map, matched, intervals);
  const { files, entries, bytes: totalBytes } = content;
  if (files.length === 0) return [];
  const request: HashRequest = { files, version, pieceLength: map.pieceLength, onMissing: 'fail', ...resources };
  const nameOf = (index: number) => pathOfEntry(map, matched, entries[index] as number);
  const onHashed: OnHashed | undefined =
    keep && ((first, each) => keep(each.map((one, i) => [entries[first + i] as number, one])));
  const digests = await watch(() => runningJob(engine.start(request, onHashed), { totalBytes, nameOf }), options);
  return [{ intervals, content, digests }];
};

/**
 * Reads a hybrid whose files do not start at piece boundaries a second time, for its v2 hashes. A piece stays good only
 * when every v2 piece of its files is good.
 *
 * @returns A byte for each piece: 1 for one with a v2 piece that is not good.
 */
async function checkV2Apart(check: PieceCheck, good: Uint8Array): Promise<Uint8Array> {
  const { torrent, map, matched } = check;
  const refuted = new Uint8Array(good.length);
  const { pieceLength } = map;
  const v2Map = v2PieceLayout(torrent);
  const v2 = await checkPieces({ ...check, map: v2Map, version: 'v2' });
  let v2Entry = 0;
  for (const [entry, start] of map.starts.entries()) {
    const file = map.fileIndexes[entry] as number;
    if (file === -1) continue;
    const [length, first] = [map.lengths[entry] as number, (v2Map.starts[v2Entry] as number) / pieceLength];
    v2Entry += 1;
    if (matched.selected?.[file] === 0) continue;
    if (!v2.good.subarray(first, first + Math.ceil(length / pieceLength)).includes(0)) continue;
    const [from, end] = [Math.floor(start / pieceLength), Math.ceil((start + length) / pieceLength)];
    good.fill(0, from, end);
    refuted.fill(1, from, end);
  }
  return refuted;
}
