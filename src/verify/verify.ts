/** Verifies content against a torrent: finds its files, hashes every available piece and compares. */
import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { CACHE, type CacheChoice } from '../create/options.ts';
import type { BeneathOptions } from '../disk/held-folder.ts';
import { untilAbort } from '../errors/cancel.ts';
import {
  type Checked,
  checkArgument,
  checkOptions,
  Flag,
  type OptionStructs,
  Path,
  pathOrNull,
} from '../errors/guard.ts';
import { fromSystemError } from '../errors/system-error.ts';
import type { Slot } from '../hash/limiter.ts';
import { systemPath } from '../hash/system-path.ts';
import { jobLimiter, LARGE_JOB_BYTES } from '../jobs/job-limiter.ts';
import { factsOf, type Job, track } from '../jobs/track.ts';
import { AnyTorrent, type Torrent } from '../model/torrent/torrent.ts';
import { dataIn } from '../sources/source-data.ts';
import { ignoreErrors } from '../sources/take-streams.ts';
import {
  CHECK,
  type CheckOptions,
  diskPathAt,
  type Hashing,
  hashContent,
  hashingOf,
  verifyMatched,
} from './check-pieces.ts';
import { matchFiles } from './match-files.ts';
import type { MatchedFiles } from './matched-files.ts';
import type { VerifyReport } from './report.ts';
import { verifyShort } from './verify-short.ts';
import type { VerifySources } from './verify-sources.ts';

/** Options of {@link verify}. */
export interface VerifyOptions extends CheckOptions, BeneathOptions {
  /**
   * Follow symbolic links that lead out of the folder, as a creation with the same option does. They are `unreadable` otherwise.
   *
   * @default false
   */
  followOutside?: boolean | undefined;
  /**
   * Take the hashes of files from the cache of creations, as long as the files are unchanged, and keep there the hashes of files that are
   * read. A file whose content changed without a change of its size, times or inode is not found out. v1
   * torrents whose files share pieces, `fast`, and content from sources do not use it.
   *
   * @default false
   */
  cache?: CacheChoice | undefined;
}

/** @internal */
export const VERIFY = {
  ...CHECK,
  followOutside: Flag,
  beneath: Path,
  cache: CACHE,
} satisfies OptionStructs<VerifyOptions>;

/**
 * Verifies content against a torrent: reports missing, corrupt and extra files, and which pieces are good.
 *
 * Every piece is read once. Nothing outside the folder is opened, unless `followOutside` allows it. Each piece is read from where it belongs, so a missing or
 * short file does not affect the files after it.
 *
 * Sources are read in the torrent's order: v1 content one after another, v2 and hybrid content four sources at once, so no stream may wait
 * for a later one. A source that fails makes its file `unreadable`, and a stream that is too short or too long makes it `wrong-size`. A
 * source that the torrent does not have is an extra file. The torrent says how long a stream must be, so its `size` is ignored. Streams that are not needed, and all streams of a verification that fails or is
 * cancelled, are destroyed.
 *
 * @param torrent The torrent to verify against.
 * @param content The folder of the files, or the file of a single-file torrent, or the folder that holds that file. Or sources with their
 *   paths in the torrent, as in a draft, where a File has its name as its path; or the data of a single-file torrent.
 * @throws {MetainfoError} `ERR_NOT_FOUND` or `ERR_UNREADABLE` for the path itself; `ERR_DUPLICATE_PATH` for two sources of one file;
 *   `ERR_SOURCE` for a stream that was read before; `ERR_INVALID_ARGUMENT`; `ERR_ABORTED`
 * @example
 * ```ts
 * import { Torrent, verify } from 'metainfo';
 *
 * const torrent = await Torrent.read('album.torrent');
 * const { ok, files } = await verify(torrent, 'album', { threads: null });
 * for (const { path, status } of files) if (status !== 'complete') console.log(`${path}: ${status}`);
 * if (!ok) process.exitCode = 1;
 * ```
 *
 * ```ts
 * import { TorrentCreate, verify } from 'metainfo';
 *
 * const sources = [{ path: 'a.txt', data: Buffer.from('hello') }, { path: 'b.txt', data: Buffer.from('world') }];
 * const torrent = await new TorrentCreate({ name: 'texts', sources }).generate();
 * const { ok, files } = await verify(torrent, [{ path: 'a.txt', data: new Blob(['hello']).stream() }], { files: ['a.txt'] });
 * console.log(ok, files.length);
 * ```
 *
 * ```text
 * true 1
 * ```
 */
export async function verify(
  torrent: Torrent,
  content: string | URL | VerifySources,
  options: VerifyOptions = {},
): Promise<VerifyReport> {
  checkArgument('torrent', torrent, AnyTorrent);
  // An empty path is a variable that is missing.
  const place = pathOrNull(content);
  if (!place) return verifyLater(torrent, content as VerifySources, options);
  // Calls with invalid arguments are no jobs.
  const hashing = hashingOf(torrent, checkOptions(options, VERIFY));
  return track('verify', (job) => verifyInQueue(torrent, place, hashing, job));
}

/** @internal How files on disk are verified. */
export type FileHashing = Hashing & { options: Checked<VerifyOptions> };

/** @internal Verifies, as a job or as a step of one. */
export function verifyInQueue(torrent: Torrent, path: string, hashing: FileHashing, job: Job): Promise<VerifyReport> {
  return jobLimiter.run(hashing.options.signal, (slot) => {
    job.begin();
    job.describe(factsOf(torrent));
    return verifyInSlot(torrent, path, hashing, slot);
  });
}

/** Loads the code of sources. A stream may fail in the meantime. */
async function verifyLater(torrent: Torrent, content: VerifySources, options: VerifyOptions): Promise<VerifyReport> {
  const stopIgnoring = ignoreErrors((Array.isArray(content) ? content : [content]).map(dataIn));
  try {
    const { verifySources } = await import('./verify-sources.ts');
    return await verifySources(torrent, content, () => checkOptions(options, VERIFY));
  } finally {
    stopIgnoring();
  }
}

async function verifyInSlot(torrent: Torrent, path: string, hashing: FileHashing, slot: Slot): Promise<VerifyReport> {
  const { signal, followOutside, beneath } = hashing.options;
  const short = await verifyShort(torrent, path, hashing);
  if (short) return short;
  const matched = await untilAbort(signal, matchFiles(torrent, path, { signal, slot, followOutside, beneath }));
  if (torrent.totalSize > LARGE_JOB_BYTES) slot.release();
  const { cache } = hashing.options;
  // Its code is loaded only if there is one.
  const hash = cache ? await (await import('./cached-pieces.ts')).cachedHash(cache) : hashContent;
  return verifyMatched(torrent, matched, hashing, () => leaveOutUnreadable(matched), hash);
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
