/** Upgrades a v1 torrent to a hybrid: checks its files, hashes them twice in one read, and assembles the hybrid. */

import { fileList } from '../create/file-list.ts';
import type { FileTimes } from '../create/file-times.ts';
import { warn } from '../create/findings/warnings.ts';
import { GENERATE, type GenerateOptions } from '../create/options.ts';
import { requireNoInput } from '../disk/output.ts';
import { untilAbort } from '../errors/cancel.ts';
import { MetainfoError, requirePath } from '../errors/errors.ts';
import { checkArgument, checkOptions, type OptionStructs, Unchecked } from '../errors/guard.ts';
import type { Slot } from '../hash/limiter.ts';
import { jobLimiter, LARGE_JOB_BYTES } from '../jobs/job-limiter.ts';
import { deletedSinceScan, WATCH, watch } from '../jobs/watch.ts';
import { FileTable } from '../layout/file-table.ts';
import { checkPieceLength } from '../layout/piece-length.ts';
import { HashList } from '../model/hash-list.ts';
import type { InfoDictV1 } from '../model/info-dict.ts';
import { AnyTorrent, type ReadOptions, type Torrent } from '../model/torrent/torrent.ts';
import { matchFiles } from '../verify/torrent-files.ts';
import { HashTwice } from './hash-for-upgrade.ts';
import { hashRemotely } from './hash-for-upgrade-in-parts.ts';
import { assembleHybrid, shapeOfHybrid } from './hybrid.ts';
import { requireMatch, requirePadding, requireV1Pieces, upgradeFilesOf } from './upgrade-files.ts';

/** Options of {@link upgrade}. The hybrid is validated in `context`. */
export interface UpgradeOptions
  extends Pick<
      GenerateOptions,
      'engine' | 'threads' | 'memoryLimit' | 'signal' | 'onProgress' | 'progress' | 'onWarning' | 'output' | 'padNames'
    >,
    Pick<ReadOptions, 'context' | 'limits'> {}

const UPGRADE: OptionStructs<UpgradeOptions> = {
  engine: GENERATE.engine,
  threads: GENERATE.threads,
  memoryLimit: GENERATE.memoryLimit,
  onWarning: GENERATE.onWarning,
  output: GENERATE.output,
  padNames: GENERATE.padNames,
  context: Unchecked,
  limits: Unchecked,
  ...WATCH,
};

/** The result of {@link upgrade}. */
export interface UpgradeResult {
  /** The hybrid. */
  torrent: Torrent;
  /** When its files were last changed, for a later {@link update}. */
  fileTimes: FileTimes;
  /** Bytes of content that were read: each byte once, or twice by an engine that hashes on other machines. */
  bytesRead: number;
}

/**
 * Makes a hybrid torrent from a v1 torrent and its files. The files are read once (twice by {@link partsEngine}): the same read checks
 * them against the v1 pieces. Fields that do not describe the content keep their bytes. The infohash changes, because files of a hybrid must
 * start at piece boundaries (BEP 52).
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
export async function upgrade(torrent: Torrent, path: string, options: UpgradeOptions = {}): Promise<UpgradeResult> {
  checkArgument('torrent', torrent, AnyTorrent);
  requirePath(path);
  const checked = checkOptions(options, UPGRADE);
  return jobLimiter.run(checked.signal, (slot) => upgradeInSlot(torrent, path, checked, slot));
}

async function upgradeInSlot(
  torrent: Torrent,
  path: string,
  options: UpgradeOptions,
  slot: Slot,
): Promise<UpgradeResult> {
  const { torrentVersion } = torrent;
  if (torrentVersion !== 'v1') {
    const message = `A ${torrentVersion} torrent cannot be upgraded: only a v1 torrent can.`;
    throw new MetainfoError('ERR_INVALID_ARGUMENT', message);
  }
  const { pieceLength, pieces } = torrent.info as InfoDictV1;
  checkPieceLength(pieceLength, 'hybrid');

  const { signal } = options;
  const matched = await untilAbort(signal, matchFiles(torrent, path, { signal, slot }));
  if (torrent.totalSize > LARGE_JOB_BYTES) slot.release();
  requireMatch(matched.files);
  const files = upgradeFilesOf(torrent, matched.files);
  requirePadding(files, pieceLength, options.limits);
  const inputs = files.map(({ request, item: { path, length } }) => ({
    path,
    length,
    diskPath: request?.path as string,
  }));
  await requireNoInput(options.output, new FileTable(inputs));
  const shape = shapeOfHybrid(torrent, files, options.padNames);
  await warn(shape, options);

  const { engine } = options;
  const job = () =>
    engine?.isRemote
      ? hashRemotely(files, pieceLength, { ...options, engine })
      : new HashTwice(files, pieceLength, options);
  const { digests, v1Pieces } = await watch(job, options).catch((error) => {
    throw deletedSinceScan(error);
  });
  requireV1Pieces(v1Pieces, HashList.viewOf(pieces), { files, pieceLength });
  const hybrid = assembleHybrid(torrent, { files, digests, list: fileList(shape) }, options);
  const bytes = files.reduce((sum, { item: { length } }) => sum + length, 0);
  return { ...hybrid, bytesRead: engine?.isRemote ? 2 * bytes : bytes };
}
