import { constants, existsSync } from 'node:fs';
import { access } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { encode } from '../bencode/encode.ts';
import { NO_LIMITS } from '../bencode/limits.ts';
import type { Encodable } from '../bencode/value.ts';
import { requireNoInput } from '../disk/output.ts';
import { STAT_NUMBERS, statNumbers } from '../disk/scan.ts';
import { hashingCancelled, throwIfAborted, untilAbort } from '../errors/cancel.ts';
import { errnoName, fromSystemError, MetainfoError } from '../errors/errors.ts';
import { Callback, Flag, type OptionStructs, orNull, Path, Unchecked } from '../errors/guard.ts';
import { planResources, RESOURCES, type ResourceOptions } from '../hash/plan.ts';
import { deletedSinceScan, type RunningJob, WATCH, type WatchOptions, watch } from '../jobs/watch.ts';
import { withPads } from '../layout/padding.ts';
import { BLOCK_SIZE, checkPieceLength, choosePieceLength } from '../layout/piece-length.ts';
import type { TorrentVersion } from '../model/discriminator.ts';
import { type FileTree, flattenTree } from '../model/file-tree.ts';
import type { InfoDictHybridCreate } from '../model/info-dict.ts';
import { fromOwnBytes, type Torrent } from '../model/torrent.ts';
import type { ContentFile } from './content.ts';
import {
  attrsOf,
  besideFiles,
  checkName,
  checkVersion,
  requireContent,
  requireSameAsDraft,
  sourceDate,
  sum,
} from './generate.ts';
import type { TorrentCreate } from './torrent-create.ts';
import { type WarningOptions, warn } from './warnings.ts';

// Torrents by libtorrent: it lays out files, hashes them and builds the infodict; what a draft says beside its files is put
// into what it gives. See native/libtorrent/README.md.

/** How a torrent is made by libtorrent, which reads and hashes on one thread: `threads` is checked, and changes nothing. */
export interface GenerateExtOptions extends WatchOptions, WarningOptions, Pick<ResourceOptions, 'threads'> {
  /** Default `hybrid`. */
  version?: TorrentVersion;
  /** Writes the torrent file too; its path, which must not be that of one of the files. */
  output?: string | null | undefined;
  /** Replace the output if it exists; default false. */
  force?: boolean;
}

/** The options of {@link TorrentCreate.generateExt}. */
export const GENERATE_EXT: OptionStructs<GenerateExtOptions & { bencode?: boolean }> = {
  version: Unchecked,
  threads: RESOURCES.threads,
  output: orNull(Path),
  force: Flag,
  bencode: Flag,
  onWarning: Callback,
  ...WATCH,
};

/** What native/libtorrent/addon.cc offers. */
interface Addon {
  readonly version: string;
  readonly CreateJob: new (request: CreateRequest) => CreateJob;
}

interface CreateRequest {
  /** In v1 order for v1; in others it sorts them. */
  files: { path: string; diskPath: string; length: number; executable: boolean; hidden: boolean }[];
  v1: boolean;
  v2: boolean;
  pieceLength: number;
  /** Bencoded dictionaries: what is put into `info`, and what beside it. */
  info: Uint8Array;
  outer: Uint8Array;
}

interface CreateJob {
  readonly done: Promise<Buffer>;
  /** How many pieces are hashed. */
  pieces(): number;
  cancel(): void;
}

interface Failure extends Error {
  code: 'aborted' | 'failed';
  errno: number;
}

let loaded: Addon | undefined;

/**
 * The optional addon.
 *
 * @throws {MetainfoError} `ERR_MAKER_UNAVAILABLE`, with what installs and builds it
 */
export function libtorrent(): Addon {
  loaded ??= load();
  return loaded;
}

function load(): Addon {
  const built = path.join(import.meta.dirname, '../../native/libtorrent/build/Release/metainfo_libtorrent.node');
  const file = process.env['METAINFO_LIBTORRENT'] || built;
  const target = { exports: {} };
  try {
    // It brings OpenSSL: its own, not the one that Node exports.
    const { RTLD_NOW, RTLD_DEEPBIND = 0 } = os.constants.dlopen;
    process.dlopen(target, file, RTLD_NOW | RTLD_DEEPBIND);
  } catch (cause) {
    const problem = existsSync(file) ? `cannot be loaded (${(cause as Error).message})` : 'is not built';
    const message =
      `The libtorrent maker ${problem}. To build it: apt-get install libtorrent-rasterbar-dev pkg-config g++ make, ` +
      'then npm explore metainfo -- npm run build:libtorrent (in a clone: npm run build:libtorrent).';
    throw new MetainfoError('ERR_MAKER_UNAVAILABLE', message, { path: file, cause });
  }
  return target.exports as Addon;
}

/** A draft's torrent by libtorrent. See {@link TorrentCreate.generateExt}. */
export async function generateExt(draft: TorrentCreate, options: GenerateExtOptions = {}): Promise<Torrent> {
  const { signal } = options;
  const version = checkVersion(options.version);
  planResources({ threads: options.threads }, version, os.availableParallelism());
  const wanted = draft.fields.pieceLength ?? draft.info.pieceLength;
  if (wanted != null) checkForLibtorrent(wanted, version);
  const name = checkName(draft.info.name as string);
  if (draft.fields.sources) {
    throw new MetainfoError('ERR_INVALID_ARGUMENT', 'libtorrent reads files on disk: it cannot take sources.');
  }
  const attrs = attrsOf(draft);
  requireFlags(attrs);
  const creationDate = draft.fields.creationDate ?? sourceDate();
  throwIfAborted(signal);
  const { CreateJob } = libtorrent();

  const { single, files } = await untilAbort(
    signal,
    draft.findFiles({ v1Order: version === 'v1', sources: [], readable: true, signal }),
  );
  const lengths = files.map(({ length }) => length as number);
  requireContent(lengths, draft);
  await requireNoInput(options.output, files);
  const pieceLength = wanted ?? choosePieceLength(sum(lengths));
  const outline = { version, single, name, pieceLength, beside: besideFiles(draft, creationDate) };
  const outlined = files.map(({ path, length }) => ({ path: single ? [name] : path, length: length as number }));
  const padded = version === 'hybrid' ? withPads(outlined, pieceLength) : outlined;
  await warn({ ...outline, files: outlined, list: single || version === 'v2' ? null : padded }, options);
  const { info, outer } = beside(draft, creationDate);
  const request: CreateRequest = {
    files: files.map((file) => {
      const attr = attrs.get(file.path.join('/')) ?? '';
      return {
        path: single ? name : [name, ...file.path].join('/'),
        diskPath: file.diskPath as string,
        length: file.length as number,
        executable: attr.includes('x'),
        hidden: attr.includes('h'),
      };
    }),
    v1: version !== 'v2',
    v2: version !== 'v1',
    pieceLength,
    info,
    outer,
  };
  const totalBytes = sum(lengths);
  const work = () => runningJob(new CreateJob(request), { totalBytes, pieceLength, name });
  const bytes = await watch(work, options).catch(async (error: MetainfoError | Failure) => {
    throw error.code === 'failed' ? await translated(error as Failure, files, draft.pathRoot) : error;
  });
  // It passes over files that are not there (any more), and knows nothing of times.
  await requireUnchanged(files);
  const torrent = fromOwnBytes(bytes, { limits: NO_LIMITS });
  const { pieces = null, fileTree } = torrent.info as InfoDictHybridCreate;
  const flat = fileTree ? flattenTree(fileTree as FileTree) : null;
  requireSameAsDraft(draft, { files, lengths, pieces, flat, pieceLayers: torrent.pieceLayers });
  return torrent;
}

function checkForLibtorrent(pieceLength: number, version: TorrentVersion): void {
  checkPieceLength(pieceLength, version);
  if (pieceLength >= BLOCK_SIZE) return;
  const message = `libtorrent has no pieces below 16 KiB (${BLOCK_SIZE}): ${pieceLength} is too short.`;
  throw new MetainfoError('ERR_PIECE_LENGTH', message);
}

/** It has flags for these two alone. */
function requireFlags(attrs: ReadonlyMap<string, string>): void {
  for (const [file, attr] of attrs) {
    if (/^[hx]*$/.test(attr)) continue;
    const message = `libtorrent cannot give ${file} the attr ${attr}: only x (executable) and h (hidden).`;
    throw new MetainfoError('ERR_INVALID_ARGUMENT', message);
  }
}

/** What a draft says beside its files. */
function beside(draft: TorrentCreate, creationDate: Date | null) {
  const outer = besideFiles(draft, creationDate);
  const info = outer.get('info') as Encodable;
  outer.delete('info');
  return { info: encode(info), outer: encode(outer) };
}

interface Content {
  totalBytes: number;
  pieceLength: number;
  /** Of the torrent: libtorrent does not say which file it reads. */
  name: string;
}

function runningJob(job: CreateJob, { totalBytes, pieceLength, name }: Content): RunningJob<Buffer> {
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

/** What libtorrent says names no file: the one that is not what it was, if any is. */
async function translated(failure: Failure, files: readonly ContentFile[], pathRoot: string): Promise<MetainfoError> {
  try {
    await requireUnchanged(files);
    for (const { diskPath } of files) {
      const file = diskPath as string;
      await access(file, constants.R_OK).catch((error: unknown) => {
        throw fromSystemError(error, file, 'read');
      });
    }
  } catch (error) {
    return error as MetainfoError;
  }
  const { errno, message } = failure;
  const code = errnoName(errno);
  if (code) return fromSystemError(Object.assign(failure, { code }), pathRoot, 'read');
  return new MetainfoError('ERR_MAKER', `libtorrent failed: ${message}.`, { path: pathRoot, cause: failure });
}

/** @throws {MetainfoError} for the first file that is gone, unreadable or changed */
async function requireUnchanged(files: readonly ContentFile[]): Promise<void> {
  const numbers = await statNumbers(files.map(({ diskPath }) => ({ real: diskPath as string })));
  for (const [i, { diskPath, length, mtimeMs }] of files.entries()) {
    const [errno = 0, , size, now] = numbers.subarray(i * STAT_NUMBERS);
    const file = diskPath as string;
    if (errno !== 0) {
      const code = errnoName(errno);
      throw deletedSinceScan(fromSystemError(Object.assign(new Error(`${code}: ${file}`), { code }), file, 'read'));
    }
    if (size === length && now === mtimeMs) continue;
    throw new MetainfoError('ERR_FILE_CHANGED', `${file} changed while it was hashed.`, { path: file });
  }
}
