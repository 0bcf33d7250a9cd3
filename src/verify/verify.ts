/** Verifies content on disk against a torrent: finds its files, hashes every available piece and compares. */
import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import type { BeneathOptions } from '../disk/beneath.ts';
import { untilAbort } from '../errors/cancel.ts';
import { requirePath } from '../errors/errors.ts';
import { checkArgument, checkOptions, Flag, type OptionStructs, Path } from '../errors/guard.ts';
import { fromSystemError } from '../errors/system-error.ts';
import type { Slot } from '../hash/limiter.ts';
import { systemPath } from '../hash/system-path.ts';
import { jobLimiter, LARGE_JOB_BYTES } from '../jobs/job-limiter.ts';
import { AnyTorrent, type Torrent } from '../model/torrent/torrent.ts';
import { CHECK, type CheckOptions, diskPathAt, hashingOf, verifyMatched } from './check-pieces.ts';
import { matchFiles } from './match-files.ts';
import type { MatchedFiles } from './matched-files.ts';
import type { VerifyReport } from './report.ts';

/** Options of {@link verify}. */
export interface VerifyOptions extends CheckOptions, BeneathOptions {
  /**
   * Follow symbolic links that lead out of the folder, as a creation with the same option does. They are `unreadable` otherwise.
   *
   * @default false
   */
  followOutside?: boolean | undefined;
}

export const VERIFY = { ...CHECK, followOutside: Flag, beneath: Path } satisfies OptionStructs<VerifyOptions>;

/**
 * Verifies content on disk against a torrent: reports missing, corrupt and extra files, and which pieces are good.
 *
 * Every piece is read once. Nothing outside the folder is opened, unless `followOutside` allows it. Each piece is read from where it belongs, so a missing or
 * short file does not affect the files after it.
 *
 * @param torrent The torrent to verify against.
 * @param path The folder of the files, or the file of a single-file torrent, or the folder that holds that file.
 * @throws {MetainfoError} `ERR_NOT_FOUND` or `ERR_UNREADABLE` for `path` itself; `ERR_INVALID_ARGUMENT`; `ERR_ABORTED`
 * @example
 * ```ts
 * import { Torrent, verify } from 'metainfo';
 *
 * const torrent = await Torrent.read('album.torrent');
 * const { ok, files } = await verify(torrent, 'album', { threads: null });
 * for (const { path, status } of files) if (status !== 'complete') console.log(`${path}: ${status}`);
 * if (!ok) process.exitCode = 1;
 * ```
 */
export async function verify(torrent: Torrent, path: string, options: VerifyOptions = {}): Promise<VerifyReport> {
  checkArgument('torrent', torrent, AnyTorrent);
  requirePath(path);
  const checked = checkOptions(options, VERIFY);
  return jobLimiter.run(checked.signal, (slot) => verifyInSlot(torrent, path, checked, slot));
}

async function verifyInSlot(torrent: Torrent, path: string, options: VerifyOptions, slot: Slot): Promise<VerifyReport> {
  const { signal, followOutside, beneath } = options;
  // Fail for bad options before the scan.
  const hashing = hashingOf(torrent, options);
  const matched = await untilAbort(signal, matchFiles(torrent, path, { signal, slot, followOutside, beneath }));
  if (torrent.totalSize > LARGE_JOB_BYTES) slot.release();
  return verifyMatched(torrent, matched, { ...hashing, options }, () => leaveOutUnreadable(matched));
}

/** Finds all files that cannot be read. */
async function leaveOutUnreadable(matched: MatchedFiles): Promise<void> {
  for (let i = 0; i < matched.length; i += 1) {
    const path = diskPathAt(matched, i);
    if (path === undefined) continue;
    await access(systemPath(path), constants.R_OK).catch((error: unknown) => {
      matched.leaveOut(i, fromSystemError(error, path, 'read').message);
    });
  }
}
