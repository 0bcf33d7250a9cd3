/** Upgrades a v1 torrent to a hybrid: checks its files, hashes them for both, and assembles the hybrid. */
import { LimitError, type Limits, limitsOf } from '../bencode/limits.ts';
import { contentKeys } from '../create/assemble.ts';
import { encodedFileList } from '../create/file-list.ts';
import { type FileTimes, fileTimesOf } from '../create/file-times.ts';
import { warn } from '../create/findings/warnings.ts';
import { GENERATE, type GenerateOptions } from '../create/options.ts';
import { type LaidOutFile, layoutOfShape, type SizedLayout } from '../create/torrent-layout.ts';
import { requireNoInput } from '../disk/output-not-input.ts';
import { untilAbort } from '../errors/cancel.ts';
import { MetainfoError } from '../errors/errors.ts';
import {
  type Checked,
  checkArgument,
  checkedPath,
  checkOptions,
  invalidArgument,
  type OptionStructs,
  Unchecked,
} from '../errors/guard.ts';
import { defaultEngine } from '../hash/default-engine.ts';
import { checkedResources, type Digests, type HashRequest } from '../hash/hash-request.ts';
import type { Slot } from '../hash/limiter.ts';
import { bytesToPieceEnd, toRequestedFiles } from '../hash/make-requested-files.ts';
import { JobGroup } from '../jobs/job-group.ts';
import { jobLimiter, LARGE_JOB_BYTES } from '../jobs/job-limiter.ts';
import { factsOf, track } from '../jobs/track.ts';
import { deletedSinceScan, type RunningJob, WATCH, type WatchOptions, watch } from '../jobs/watch.ts';
import { FileTable } from '../layout/file-table.ts';
import { comparePathsV2 } from '../layout/order.ts';
import { PADDING_DEFAULTS, type PadNames, padNamesOf } from '../layout/padding.ts';
import { checkPieceLength } from '../layout/piece-length.ts';
import { type FileItem, v1List } from '../model/file-item.ts';
import type { InfoDictV1 } from '../model/info-dict.ts';
import { AnyTorrent, type ReadOptions, type Torrent } from '../model/torrent/torrent.ts';
import { joinFirst } from '../text/printable.ts';
import { clearBadV1 } from '../verify/clear-bad-pieces.ts';
import { matchFiles } from '../verify/match-files.ts';
import type { DiskFile, MatchedFile, MatchedFiles } from '../verify/matched-files.ts';
import { contentOfPieces, type PieceLayout, pathOfEntry, v1PieceLayout } from '../verify/piece-layout.ts';
import { replaceFields, withoutContent } from './replace-fields.ts';

/** Options of {@link upgrade}. The hybrid is validated in `context`. */
export interface UpgradeOptions
  extends Pick<GenerateOptions, keyof typeof OWN | keyof WatchOptions>,
    Pick<ReadOptions, 'context' | 'limits'> {}

const { engine, threads, memoryLimit, onWarning, outputPath, padNames } = GENERATE;
const OWN = { engine, threads, memoryLimit, onWarning, outputPath, padNames };
const UPGRADE: OptionStructs<UpgradeOptions> = { ...OWN, ...WATCH, context: Unchecked, limits: Unchecked };

/** How many problems an error message lists. */
const MAX_LISTED = 5;

/** The result of {@link upgrade}. */
export interface UpgradeResult {
  /** The hybrid. */
  torrent: Torrent;
  /** When its files were last changed, for a later {@link update}. */
  fileTimes: FileTimes;
  /** Bytes of content that were read: each byte twice, once for the v1 torrent and once for the hybrid. */
  bytesRead: number;
}

/**
 * Makes a hybrid torrent from a v1 torrent and its files. Two hash jobs read the files at the same time: one checks them against the v1
 * pieces, the other hashes them for the hybrid. Each may use all of `threads` and `memoryLimit`. Fields that do not describe the content keep their bytes. The
 * infohash changes, because files of a hybrid must start at piece boundaries (BEP 52).
 *
 * @param torrent A v1 torrent.
 * @param path The folder of the files, or the file of a single-file torrent, or the folder that holds that file.
 * @throws {MetainfoError} `ERR_HASH_MISMATCH` when files do not match the torrent; the code of the first file that cannot be
 *   read, such as `ERR_UNREADABLE` (the message lists the others too); `ERR_LIMIT` when the hybrid needs more padding than
 *   `limits` allow; `ERR_INVALID_ARGUMENT` when the torrent is not v1; `ERR_PIECE_LENGTH` when a hybrid cannot have its piece
 *   length; `ERR_ABORTED`
 * @example
 * ```ts
 * import { Torrent, upgrade } from 'metainfo';
 *
 * const old = await Torrent.read('v1.torrent');
 * const { torrent } = await upgrade(old, 'album', { threads: null });
 * await torrent.write('hybrid.torrent');
 * ```
 */
export async function upgrade(
  torrent: Torrent,
  path: string | URL,
  options: UpgradeOptions = {},
): Promise<UpgradeResult> {
  checkArgument('torrent', torrent, AnyTorrent);
  const content = checkedPath(path);
  const checked = checkOptions(options, UPGRADE);
  return track('upgrade', (job) =>
    jobLimiter.run(checked.signal, (slot) => {
      job.begin();
      job.describe({ ...factsOf(torrent), version: 'hybrid' });
      return upgradeInSlot(torrent, content, checked, slot);
    }),
  );
}

async function upgradeInSlot(
  torrent: Torrent,
  path: string,
  options: Checked<UpgradeOptions>,
  slot: Slot,
): Promise<UpgradeResult> {
  const { torrentVersion } = torrent;
  if (torrentVersion !== 'v1')
    throw invalidArgument(`A ${torrentVersion} torrent cannot be upgraded: only a v1 torrent can`);
  const { pieceLength } = torrent.info;
  checkPieceLength(pieceLength, 'hybrid');

  const { signal } = options;
  const matched = await untilAbort(signal, matchFiles(torrent, path, { signal, slot }));
  if (torrent.totalSize > LARGE_JOB_BYTES) slot.release();
  const before = matched.rows();
  requireAllFiles(before);
  const layout = hybridLayout(torrent, before, options.padNames);
  requirePadding(layout, options.limits);
  await requireNoInput(options.outputPath, layout.files);
  await warn(layout, options);

  const map = v1PieceLayout(torrent);
  const start = () => hashForBoth(layout, { map, matched }, options);
  const { hybrid, v1 } = await watch(start, options).catch((error) => {
    throw deletedSinceScan(error);
  });
  const good = new Uint8Array(map.pieceCount).fill(1);
  clearBadV1(torrent, [[0, map.pieceCount]], v1, good);
  requireGoodPieces(good, map, before);
  // The two jobs open the files apart: one that was replaced in between would have hashes of two contents.
  const after = (await untilAbort(signal, matchFiles(torrent, path, { signal }))).rows();
  requireAllFiles(after);
  requireSameTimes(before, after);

  const { info, pieceLayers } = await contentKeys(layout, hybrid, await encodedFileList(layout));
  // v2 knows no `name.utf-8`, so the name that clients show becomes the only one.
  info.set('name', torrent.name).set('name.utf-8', null);
  const top = new Map([['piece layers', pieceLayers]]);
  return {
    torrent: replaceFields(torrent, { info, top, context: options.context }),
    fileTimes: fileTimesOf(layout.files),
    bytesRead: 2 * layout.files.totalLength,
  };
}

/** Starts two hash jobs over the same files: in the order and pieces of the v1 torrent, and in those of the hybrid. */
function hashForBoth(
  { files, paddedFiles, pieceLength }: SizedLayout,
  old: { map: PieceLayout; matched: MatchedFiles },
  { engine = defaultEngine(), ...options }: UpgradeOptions,
): RunningJob<{ v1: Digests; hybrid: Digests }> {
  const group = new JobGroup(engine);
  const hash = (request: Pick<HashRequest, 'files' | 'paddedFiles' | 'version'>, nameOf: (index: number) => string) => {
    const resources = checkedResources(options, request.version);
    return group.run({ ...request, pieceLength, onMissing: 'fail', ...resources }, nameOf);
  };
  const hashBoth = async () => {
    const content = contentOfPieces(old.map, old.matched, [[0, old.map.pieceCount]]);
    const oldName = (i: number) => pathOfEntry(old.map, old.matched, content.entries[i] as number);
    const [v1, hybrid] = await Promise.all([
      hash({ files: content.files, version: 'v1' }, oldName),
      hash({ files: toRequestedFiles(files), paddedFiles, version: 'hybrid' }, (i) => files.pathAt(i)),
    ]);
    return { v1, hybrid };
  };
  return {
    done: group.finish(hashBoth()),
    progress: () => {
      const { namedBytes: _, ...progress } = group.progress();
      return { ...progress, totalBytes: 2 * files.totalLength };
    },
    cancel: () => group.cancel(),
  };
}

/** Throws one error for all files that are missing, unreadable or of another size. */
function requireAllFiles(files: readonly MatchedFile[]): void {
  const mismatches: string[] = [];
  // One folder that cannot be read is the reason for all files in it.
  const failures = new Set<MetainfoError>();
  for (const { path, length, onDisk } of files) {
    if (!onDisk) mismatches.push(`${path} is missing`);
    else if ('size' in onDisk) {
      if (onDisk.size !== length) mismatches.push(`${path} has ${onDisk.size} bytes, not ${length}`);
    } else if (onDisk.error) failures.add(onDisk.error);
    else mismatches.push(`${path} is ${onDisk.problem}`);
  }
  const [failure] = failures;
  if (failure) {
    const { code, path } = failure;
    const problems = [...Array.from(failures, ({ message }) => message), ...mismatches];
    const message = `Some files cannot be read: ${joinFirst(problems, MAX_LISTED)}.`;
    throw new MetainfoError(code, message, { ...(path !== undefined && { path }), cause: failure });
  }
  if (mismatches.length > 0) throw mismatch(mismatches);
}

/** Throws an error that lists the pieces that are not good. */
function requireGoodPieces(good: Uint8Array, map: PieceLayout, files: readonly MatchedFile[]): void {
  const wrong = [...good.keys()].filter((piece) => good[piece] !== 1);
  const fileAt = (offset: number) => {
    const entry = map.starts.findLastIndex((start, i) => start <= offset && map.fileIndexes[i] !== -1);
    return files[map.fileIndexes[entry] as number]?.path ?? 'a pad file';
  };
  const describe = (piece: number) => `piece ${piece} (in ${fileAt(piece * map.pieceLength)}) is wrong`;
  if (wrong.length > 0) throw mismatch(wrong.slice(0, MAX_LISTED).map(describe), wrong.length);
}

function mismatch(problems: readonly string[], count?: number): MetainfoError {
  const message = `The files do not match the torrent: ${joinFirst(problems, MAX_LISTED, count)}.`;
  return new MetainfoError('ERR_HASH_MISMATCH', message);
}

/** The layout of the hybrid. Its files are those that were found on disk. */
function hybridLayout(torrent: Torrent, matched: readonly MatchedFile[], padNames: PadNames | undefined): SizedLayout {
  const { name } = torrent;
  const info = torrent.info as InfoDictV1;
  const { pieceLength } = info;
  const { list, isPad } = v1List(info);
  const content = list.filter((item) => !isPad(item));
  const files = content.map((item, i) => laidOutFile(item, (matched[i] as MatchedFile).onDisk as DiskFile));
  const padding = info.files ? { ...PADDING_DEFAULTS, padNames: padNames ?? padNamesOf(list) } : null;
  return layoutOfShape({
    version: 'hybrid',
    isSingleFile: !info.files,
    name,
    pieceLength,
    padding,
    files: new FileTable(files.sort((a, b) => comparePathsV2(a.path, b.path))),
    otherFields: withoutContent(torrent),
  });
}

/** The file of the hybrid for an entry of the v1 torrent. A symbolic link has no content, so nothing is read for it. */
function laidOutFile(
  { pathUtf8, ...item }: FileItem,
  { diskPath, mtimeMs, ctimeMs }: DiskFile,
): LaidOutFile & { length: number } {
  const { length, attr, symlinkPath } = item;
  const path = pathUtf8 ?? item.path;
  const described = { path, length, attr: attr || undefined, listed: { ...item, path } };
  if (attr?.includes('l')) return { ...described, symlinkPath: symlinkPath ?? undefined };
  return { ...described, diskPath, mtimeMs, ctimeMs };
}

/** Throws when the hybrid would have too much padding: many small files with large pieces take too long to hash. */
function requirePadding({ files, paddedFiles, pieceLength }: SizedLayout, limits: Limits | undefined): void {
  const { padding: max } = limitsOf(limits);
  const padded = files.lengths.subarray(0, paddedFiles);
  if (padded.reduce((sum, length) => sum + bytesToPieceEnd(length, pieceLength), 0) > max)
    throw new LimitError('padding', max);
}

/** @throws {MetainfoError} `ERR_FILE_CHANGED` if a file was replaced or written */
function requireSameTimes(before: readonly MatchedFile[], after: readonly MatchedFile[]): void {
  for (const [i, { onDisk }] of before.entries()) {
    const [was, is] = [onDisk as DiskFile, after[i]?.onDisk as Partial<DiskFile> | null | undefined];
    if (is?.mtimeMs === was.mtimeMs && is?.ctimeMs === was.ctimeMs) continue;
    const message = `${was.diskPath} changed while it was hashed.`;
    throw new MetainfoError('ERR_FILE_CHANGED', message, { path: was.diskPath });
  }
}
