/** Verifies the files of a user against a torrent. */
import type { ScannedFile } from '../disk/scan.ts';
import { checkArgument, checkOptions } from '../errors/guard.ts';
import type { FileRanges } from '../hash/addon.ts';
import type { RequestedFile, RequestedFiles } from '../hash/hash-request.ts';
import { requestedPadFile } from '../hash/make-requested-files.ts';
import { matchPaths, NO_PATH } from '../hash/match-paths.ts';
import { jobLimiter } from '../jobs/job-limiter.ts';
import { diskPathBelow, FileTable, pathColumn } from '../layout/file-table.ts';
import { AnyTorrent, type Torrent } from '../model/torrent/torrent.ts';
import { CHECK, type CheckOptions, hashingOf, verifyMatched } from '../verify/check-pieces.ts';
import {
  type DiskFile,
  type FoundFiles,
  findUnderOtherNames,
  indexOthers,
  MatchedFiles,
  namesColumn,
  othersIn,
  type Unreadable,
  usualNames,
} from '../verify/matched-files.ts';
import type { VerifyReport } from '../verify/report.ts';
import { type FoundFolder, type GivenFile, type GivenFiles, listFiles } from './folders.ts';

/**
 * Verifies files against a torrent: reports missing, corrupt and extra files, and which pieces are good.
 *
 * @param torrent The torrent to verify against.
 * @param given The folder of the files, or the files: everything that `filesFrom` takes, or its result.
 * @throws {MetainfoError} `ERR_INVALID_ARGUMENT`
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
  given: GivenFiles | Pick<FoundFolder, 'sources'>,
  options: CheckOptions = {},
): Promise<VerifyReport> {
  checkArgument('torrent', torrent, AnyTorrent);
  const checked = checkOptions(options, CHECK);
  const { signal } = checked;
  const hashing = { ...hashingOf(torrent, checked), options: checked };
  const { sources } = hasSources(given) ? given : await listFiles(given, signal, { systemFiles: true });
  const matched = new MatchedBlobs(torrent, sources, await match(torrent, sources));
  // Each file that cannot be read is found by itself.
  return jobLimiter.run(signal, () => verifyMatched(torrent, matched, hashing, async () => {}));
}

function hasSources(given: object): given is Pick<FoundFolder, 'sources'> {
  return typeof given === 'object' && given !== null && 'sources' in given;
}

/** The files of a torrent and their counterparts among those of a user. */
class MatchedBlobs extends MatchedFiles {
  readonly #blobs: ReadonlyMap<string, Blob>;

  constructor(torrent: Torrent, sources: readonly GivenFile[], found: FoundFiles) {
    super(torrent, found);
    this.#blobs = new Map(sources.map(({ path, data }) => [diskPathBelow('', path.replaceAll('/', '\0')), data]));
  }

  override requested({ files, offsets, lengths }: FileRanges): RequestedFiles {
    return Array.from(files, (found, i): RequestedFile => {
      const length = lengths[i] as number;
      if (found === NO_PATH) return requestedPadFile(length);
      const { diskPath: path, size, mtimeMs } = this.foundAt(found) as DiskFile;
      return { path, blob: this.#blobs.get(path), offset: offsets[i] as number, length, size, mtimeMs };
    });
  }
}

/** Finds the files of a torrent by their paths, then by the other names that clients give. */
async function match(torrent: Torrent, sources: readonly GivenFile[]): Promise<FoundFiles> {
  const columns = {
    paths: pathColumn(sources.map(({ path }) => path.replaceAll('/', '\0'))),
    lengths: Float64Array.from(sources, ({ data }) => data.size),
    mtimes: Float64Array.from(sources, ({ data }) => data.lastModified ?? Number.NaN),
    ctimes: new Float64Array(sources.length).fill(Number.NaN),
    diskPaths: null,
  };
  const listed = { root: '', columns };
  // Clients give the only file the name of the torrent, and the user may have renamed it.
  const isRenamed = torrent.nFiles === 1 && sources.length === 1;
  const names = isRenamed ? sources.map(({ path }) => path) : usualNames(torrent);
  const indexes = isRenamed
    ? new Uint32Array(1)
    : await matchPaths(
        namesColumn(torrent, () => names),
        listed.columns.paths,
      );
  const table = new FileTable<ScannedFile>(listed);
  const extra = new Map(othersIn(indexes, table.length).map((index) => [table.pathAt(index), index as number | null]));
  const missing = [...names.keys()].filter((i) => indexes[i] === NO_PATH);
  const found = new Map<string, DiskFile | Unreadable>();
  findUnderOtherNames({ torrent, names }, missing, { found, extra, table });
  const others = indexOthers(indexes, names, { found, missing, table });
  return { listed, indexes, others, extraFiles: [...extra.keys()].sort() };
}
