/** Verifies the files of a user against a torrent. */
import { throwIfAborted } from '../errors/cancel.ts';
import { checkArgument, checkOptions, expected, isBlob, List, Path } from '../errors/guard.ts';
import { fromSystemError } from '../errors/system-error.ts';
import type { FileRanges } from '../hash/addon.ts';
import type { RequestedFile, RequestedFiles } from '../hash/hash-request.ts';
import { requestedPadFile } from '../hash/make-requested-files.ts';
import { NO_PATH } from '../hash/match-paths.ts';
import { jobLimiter } from '../jobs/job-limiter.ts';
import { AnyTorrent, type Torrent } from '../model/torrent/torrent.ts';
import { isUint8Array } from '../platform/node.ts';
import { CHECK, type CheckOptions, diskPathAt, hashingOf, verifyMatched } from '../verify/check-pieces.ts';
import { MatchedSources, matchSources } from '../verify/match-sources.ts';
import type { DiskFile } from '../verify/matched-files.ts';
import type { VerifyReport } from '../verify/report.ts';
import { filesFrom, type GivenFile, type GivenFiles, isSingle } from './folders.ts';

/**
 * Verifies files against a torrent: reports missing, corrupt and extra files, and which pieces are good.
 *
 * @param torrent The torrent to verify against.
 * @param given The folder of the files, or the files: everything that `filesFrom` takes, or its result, or `sources` with Blobs
 *   or bytes. The file of a single-file torrent may have any name.
 * @throws {MetainfoError} `ERR_READ` for a folder that cannot be read; `ERR_INVALID_ARGUMENT`
 * @throws {AbortError} if the signal fires
 * @example
 * ```ts
 * import { filesFrom, TorrentCreate, verify } from 'metainfo/browser';
 *
 * const found = await filesFrom([new File(['hello'], 'hello.txt')]); // in a page: await showDirectoryPicker()
 * const torrent = await new TorrentCreate(found).generate();
 * const { ok, files } = await verify(torrent, found);
 * for (const { path, status } of files) console.log(ok, path, status);
 * ```
 */
export async function verify(
  torrent: Torrent,
  given: GivenFiles | GivenSources,
  options: CheckOptions = {},
): Promise<VerifyReport> {
  checkArgument('torrent', torrent, AnyTorrent);
  const checked = checkOptions(options, CHECK);
  const { signal } = checked;
  const hashing = hashingOf(torrent, checked);
  const sources = hasSources(given)
    ? checkedSources(given)
    : (await filesFrom(given, { signal, everything: true })).sources;
  // As in Node, a file that is given itself may have any name.
  const isRenamed = torrent.nFiles === 1 && sources.length === 1 && sources.every(isSingle);
  const rows = sources.map(({ path, data }) => ({
    path,
    data,
    size: data.size,
    mtimeMs: data.lastModified ?? Number.NaN,
  }));
  const matched = new MatchedBlobs(torrent, rows, await matchSources(torrent, rows, isRenamed));
  const findUnreadable = () => matched.leaveOutUnreadable(signal);
  return jobLimiter.run(signal, async () => {
    // Without this, an empty file that cannot be opened would count as one of the wrong size.
    if (sources.some(({ data }) => data.size === Number.POSITIVE_INFINITY)) await findUnreadable();
    return verifyMatched(torrent, matched, hashing, findUnreadable);
  });
}

const READS_AT_ONCE = 16;

/** The files of a torrent with their paths, like the sources of a draft. */
interface GivenSources {
  readonly sources: readonly { readonly path: string; readonly data: Blob | Uint8Array }[];
}

function hasSources(given: object): given is GivenSources {
  return typeof given === 'object' && given !== null && 'sources' in given;
}

const Content = expected<Blob | Uint8Array>(
  'a File, a Blob or bytes (streams cannot be verified)',
  (data) => isUint8Array(data) || (typeof data === 'object' && data !== null && isBlob(data)),
);

function checkedSources({ sources }: GivenSources): GivenFile[] {
  return checkArgument('sources', sources, List).map((source, i) => {
    const { path, data } = (source ?? {}) as Partial<GivenFile>;
    checkArgument(`sources[${i}].path`, path, Path);
    const content = checkArgument(`sources[${i}].data`, data, Content);
    return isUint8Array(content) ? { path, data: new Blob([new Uint8Array(content)]) } : source;
  }) as GivenFile[];
}

/** The files of a torrent and their counterparts among those of a user. */
class MatchedBlobs extends MatchedSources<Blob> {
  /** Reads the first byte of every file. */
  async leaveOutUnreadable(signal: AbortSignal | undefined): Promise<void> {
    const read = async (index: number) => {
      await this.dataAt(index)
        ?.slice(0, 1)
        .arrayBuffer()
        .catch((error: unknown) => {
          const path = diskPathAt(this, index) as string;
          this.leaveOut(index, fromSystemError(error, path.slice(1), 'read').message);
        });
    };
    for (let first = 0; first < this.length; first += READS_AT_ONCE) {
      throwIfAborted(signal);
      const some = Array.from({ length: Math.min(READS_AT_ONCE, this.length - first) }, (_, i) => read(first + i));
      await Promise.all(some);
    }
  }

  override requested({ files, offsets, lengths }: FileRanges): RequestedFiles {
    return Array.from(files, (found, i): RequestedFile => {
      const length = lengths[i] as number;
      if (found === NO_PATH) return requestedPadFile(length);
      const { diskPath: path, size, mtimeMs } = this.foundAt(found) as DiskFile;
      return { path, blob: this.dataOf(path), offset: offsets[i] as number, length, size, mtimeMs };
    });
  }
}
