/** Makes torrents with libtorrent instead of this library: the maker `libtorrent`. See native/libtorrent/README.md. */
import { existsSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { encode } from '../bencode/encode.ts';
import { NO_LIMITS } from '../bencode/limits.ts';
import type { Encodable } from '../bencode/value.ts';
import { hashingCancelled, throwIfAborted } from '../errors/cancel.ts';
import { MetainfoError } from '../errors/errors.ts';
import { Callback, Flag, invalidArgument, type OptionStructs, orNull, Path, Unchecked } from '../errors/guard.ts';
import { fromSystemError, isDenied } from '../errors/system-error.ts';
import { packageFolder } from '../hash/addon.ts';
import { forEachConcurrently } from '../hash/for-each-concurrently.ts';
import { checkedResources, RESOURCES, type ResourceOptions } from '../hash/hash-request.ts';
import { toRequestedFile } from '../hash/make-requested-files.ts';
import { openRequested, requireAsRequested } from '../hash/open-without-links.ts';
import { closeRead } from '../hash/read.ts';
import { deletedSinceScan, type RunningJob, WATCH, type WatchOptions, watch } from '../jobs/watch.ts';
import { BLOCK_SIZE, checkPieceLength } from '../layout/piece-length.ts';
import type { TorrentVersion } from '../model/discriminator.ts';
import { once } from '../model/lazy/lazy.ts';
import { fromOwnBytes, type Torrent } from '../model/torrent/torrent.ts';
import { errnoName, variable } from '../platform/node.ts';
import { LENGTH_LIMITS, type PieceLengthLimits } from './choose-length.ts';
import type { Draft } from './draft-fields.ts';
import type { ContentFile } from './find-files.ts';
import type { WarningOptions } from './findings/warnings.ts';
import { requireMatch } from './match-draft.ts';
import { attrsOf, checkVersion, layOutTorrent, type SizedLayout } from './torrent-layout.ts';

/** The options of {@link TorrentCreate.generateExt}. libtorrent reads and hashes on one thread: it ignores `threads`. */
export interface GenerateExtOptions
  extends WatchOptions,
    WarningOptions,
    PieceLengthLimits,
    Pick<ResourceOptions, 'threads'> {
  /**
   * The version of the torrent.
   *
   * @default 'hybrid'
   */
  version?: TorrentVersion;
  /**
   * Also write the torrent to this path, which must not be one of the files.
   *
   * @default null
   */
  output?: string | URL | null | undefined;
  /**
   * Replace the output if it exists.
   *
   * @default false
   */
  force?: boolean;
}

/** The structs of {@link GenerateExtOptions}. */
export const GENERATE_EXT: OptionStructs<GenerateExtOptions & { bencode?: boolean }> = {
  version: Unchecked,
  threads: RESOURCES.threads,
  output: orNull(Path),
  force: Flag,
  bencode: Flag,
  onWarning: Callback,
  ...LENGTH_LIMITS,
  ...WATCH,
};

/** The exports of native/libtorrent/addon.cc. */
interface Addon {
  readonly version: string;
  readonly CreateJob: new (request: CreateRequest) => CreateJob;
}

interface CreateRequest {
  /** v1: in v1 order. libtorrent sorts the files of other versions. */
  files: { path: string; diskPath: string; length: number; executable: boolean; hidden: boolean }[];
  v1: boolean;
  v2: boolean;
  pieceLength: number;
  /** Bencoded dictionaries: more keys for `info`, and more keys beside it. */
  info: Uint8Array;
  outer: Uint8Array;
}

interface CreateJob {
  readonly done: Promise<Uint8Array>;
  /** The number of hashed pieces. */
  pieces(): number;
  cancel(): void;
}

interface Failure extends Error {
  code: 'aborted' | 'failed';
  errno: number;
}

/** Loads the optional addon. Throws `ERR_MAKER_UNAVAILABLE`, whose message tells how to build it. */
export const libtorrent: () => Addon = once(load);

function load(): Addon {
  let file = variable('METAINFO_LIBTORRENT');
  let isThere = false;
  const target = { exports: {} };
  try {
    file ||= path.join(packageFolder(), 'native/libtorrent/build/Release/metainfo_libtorrent.node');
    isThere = existsSync(file);
    // libtorrent must call its own OpenSSL, not the one that Node exports.
    const { RTLD_NOW, RTLD_DEEPBIND = 0 } = os.constants.dlopen;
    process.dlopen(target, file, RTLD_NOW | RTLD_DEEPBIND);
  } catch (cause) {
    const problem = isThere || isDenied(cause) ? `cannot be loaded (${(cause as Error).message})` : 'is not built';
    const message =
      `The libtorrent addon ${problem}. To build it: apt-get install libtorrent-rasterbar-dev pkg-config g++ make, ` +
      'then npm explore metainfo -- npm run build:libtorrent (in a clone: npm run build:libtorrent).';
    throw new MetainfoError('ERR_MAKER_UNAVAILABLE', message, { ...(file && { path: file }), cause });
  }
  return target.exports as Addon;
}

/** Makes the torrent of a draft with libtorrent. See {@link TorrentCreate.generateExt}. */
export async function generateExt(draft: Draft, options: GenerateExtOptions = {}): Promise<Torrent> {
  const { signal } = options;
  const version = checkVersion(options.version);
  checkedResources({ threads: options.threads }, version);
  requireSupported(draft, version);
  throwIfAborted(signal);
  const { CreateJob } = libtorrent();
  const asLibtorrent = { padNames: 'libtorrent' as const, sources: [] };
  const layout = (await layOutTorrent(draft, { ...options, version, ...asLibtorrent })) as SizedLayout;
  const files = layout.files.rows();
  const start = () => runningJob(new CreateJob(requestOf(layout)), { ...layout, totalBytes: layout.files.totalLength });
  const bytes = await watch(start, options).catch(async (error: MetainfoError | Failure) => {
    throw error.code === 'failed' ? await translated(error as Failure, files, draft.pathRoot) : error;
  });
  // libtorrent ignores files that have disappeared, and does not compare times.
  await requireAllAsRequested(files);
  const torrent = fromOwnBytes(bytes, { limits: NO_LIMITS });
  requireMatch(draft, torrent);
  return torrent;
}

/** @throws {MetainfoError} `ERR_INVALID_ARGUMENT` or `ERR_PIECE_LENGTH` for a draft that only this library can make */
function requireSupported(draft: Draft, version: TorrentVersion): void {
  const pieceLength = draft.fields.pieceLength ?? draft.info.pieceLength;
  if (pieceLength != null) {
    checkPieceLength(pieceLength, version);
    const message = `libtorrent has no piece lengths below 16 KiB (${BLOCK_SIZE} bytes): ${pieceLength} is too short.`;
    if (pieceLength < BLOCK_SIZE) throw new MetainfoError('ERR_PIECE_LENGTH', message);
  }
  if (draft.fields.sources) {
    throw invalidArgument('libtorrent reads only files on disk: use generate() for a draft with sources');
  }
  for (const [file, attr] of attrsOf(draft)) {
    if (/^[hx]*$/.test(attr)) continue;
    throw invalidArgument(
      `libtorrent cannot give ${file} the attr ${attr}: it supports only x (executable) and h (hidden)`,
    );
  }
}

function requestOf({ version, isSingleFile, name, files, pieceLength, otherFields }: SizedLayout): CreateRequest {
  const outer = new Map<string, Encodable>(otherFields);
  const info = outer.get('info') as Encodable;
  outer.delete('info');
  return {
    files: files.map(({ path, diskPath, length, attr = '' }) => ({
      path: isSingleFile ? name : [name, ...path].join('/'),
      diskPath: diskPath as string,
      length,
      executable: attr.includes('x'),
      hidden: attr.includes('h'),
    })),
    v1: version !== 'v2',
    v2: version !== 'v1',
    pieceLength,
    info: encode(info),
    outer: encode(outer),
  };
}

interface JobContent {
  totalBytes: number;
  pieceLength: number;
  /** The name of the torrent: libtorrent does not tell which file it reads. */
  name: string;
}

function runningJob(job: CreateJob, { totalBytes, pieceLength, name }: JobContent): RunningJob<Uint8Array> {
  return {
    done: job.done.catch((failure: Failure) => {
      if (failure.code !== 'aborted') throw failure;
      throw hashingCancelled();
    }),
    progress: () => {
      return { bytes: Math.min(totalBytes, job.pieces() * pieceLength), totalBytes, file: name, queued: 0 };
    },
    cancel: () => job.cancel(),
  };
}

/** libtorrent's messages name no file: look for one that has changed or cannot be read. */
async function translated(failure: Failure, files: readonly ContentFile[], pathRoot: string): Promise<MetainfoError> {
  try {
    await requireAllAsRequested(files);
  } catch (error) {
    return error as MetainfoError;
  }
  const { errno, message } = failure;
  const code = errnoName(errno);
  if (code) return fromSystemError(Object.assign(failure, { code }), pathRoot, 'read');
  return new MetainfoError('ERR_MAKER', `libtorrent failed: ${message}.`, { path: pathRoot, cause: failure });
}

/** @throws {MetainfoError} for a file that is gone, unreadable or changed */
async function requireAllAsRequested(files: readonly ContentFile[]): Promise<void> {
  await forEachConcurrently(files, { concurrency: 16 }, async (content) => {
    const file = toRequestedFile(content);
    const handle = await openRequested(file);
    try {
      await requireAsRequested(handle, file);
    } finally {
      await closeRead(handle);
    }
  }).catch((error) => {
    throw deletedSinceScan(error);
  });
}
