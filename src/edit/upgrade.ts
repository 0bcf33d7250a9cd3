/** Upgrades a v1 torrent to a hybrid: checks its files, hashes them for both, and assembles the hybrid. */
import { contentKeys } from '../create/assemble.ts';
import { encodedFileList } from '../create/file-list.ts';
import { type FileTimes, fileTimesOf } from '../create/file-times.ts';
import { warn } from '../create/findings/warnings.ts';
import { GENERATE, type GenerateOptions } from '../create/options.ts';
import type { SizedLayout } from '../create/torrent-layout.ts';
import { requireNoInput } from '../disk/output-not-input.ts';
import { untilAbort } from '../errors/cancel.ts';
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
import type { PackedTrees } from '../hash/file-digests.ts';
import { checkedResources, type Digests, type HashRequest } from '../hash/hash-request.ts';
import type { Slot } from '../hash/limiter.ts';
import { toRequestedFiles } from '../hash/make-requested-files.ts';
import { JobGroup } from '../jobs/job-group.ts';
import { jobLimiter, LARGE_JOB_BYTES } from '../jobs/job-limiter.ts';
import { factsOf, track } from '../jobs/track.ts';
import { deletedSinceScan, type RunningJob, WATCH, type WatchOptions, watch } from '../jobs/watch.ts';
import { checkPieceLength } from '../layout/piece-length.ts';
import { AnyTorrent, type ReadOptions, type Torrent } from '../model/torrent/torrent.ts';
import { clearBadV1 } from '../verify/clear-bad-pieces.ts';
import { matchFiles } from '../verify/match-files.ts';
import type { MatchedFiles } from '../verify/matched-files.ts';
import { contentOfPieces, type PieceLayout, pathOfEntry, v1PieceLayout } from '../verify/piece-layout.ts';
import { replaceFields } from './replace-fields.ts';
import { hybridLayout, requireAllFiles, requireGoodPieces, requirePadding, requireSameTimes } from './upgrade-files.ts';

/** Options of {@link upgrade}. The hybrid is validated in `context`. */
export interface UpgradeOptions
  extends Pick<GenerateOptions, keyof typeof OWN | keyof WatchOptions>,
    Pick<ReadOptions, 'context' | 'limits'> {}

const { engine, threads, memoryLimit, onWarning, outputPath, padNames } = GENERATE;
const OWN = { engine, threads, memoryLimit, onWarning, outputPath, padNames };
const UPGRADE: OptionStructs<UpgradeOptions> = { ...OWN, ...WATCH, context: Unchecked, limits: Unchecked };

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

  const digests = { pieces: hybrid.v1 as Uint8Array, trees: hybrid.v2 as PackedTrees };
  const { info, pieceLayers } = await contentKeys(layout, digests, await encodedFileList(layout));
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
      const { bytes, file, queued } = group.progress();
      return { bytes, totalBytes: 2 * files.totalLength, file, queued };
    },
    cancel: () => group.cancel(),
  };
}
