/** The interface of hash engines: requests, jobs and digests. */
import type { Struct } from 'superstruct';
import { expected } from '../errors/guard.ts';
import { engines } from '../errors/shared.ts';
import type { FileDigests } from './file-digests.ts';

/** A file of a request, in the torrent's order. */
export interface RequestedFile {
  /**
   * The path on disk, as bytes if it is not UTF-8; null for data in memory and pad files. Resolve its links first
   * (`fs.realpath`): a symbolic link in it fails the job, because somebody may have put it there after the scan.
   */
  path: string | Uint8Array | null;
  /**
   * Content in memory. Engines copy it when the job starts, so you may reuse it at once. A file with neither path nor data nor blob is
   * a pad file: zeros that are read from nowhere.
   */
  data?: Uint8Array | undefined;
  /** Content in a Blob, which only the engine of browsers reads. */
  blob?: Blob | undefined;
  /** Where the content starts in the file, in bytes. */
  offset: number;
  /** Bytes of content. */
  length: number;
  /** Size of the whole file on disk when it was planned. If it has another size, the job fails. Ignored for data in memory. */
  size: number;
  /** Modification time when it was planned (`fs.Stats.mtimeMs`). If it has another one, the job fails. NaN: not checked. */
  mtimeMs: number;
}

/** The files of a request: an array, or an object that makes each file when it is asked for. */
export interface RequestedFiles extends Iterable<RequestedFile> {
  /** How many files there are. */
  readonly length: number;
  /** The file at an index from 0; undefined out of range. */
  at(index: number): RequestedFile | undefined;
}

/** The request of a hash job. Every engine takes it. */
export interface HashRequest {
  /**
   * In the torrent's order. An engine goes through them with `for`, or calls `at`: the table of a large folder is no array. A request
   * of your own has an array.
   */
  files: RequestedFiles;
  /** In a hybrid request, every file with content starts at a piece boundary: by `paddedFiles`, or by pad files in `files`. */
  version: 'v1' | 'v2' | 'hybrid';
  /**
   * How many files, from the first on, have their last v1 piece filled up with zeros, as if a pad file followed. Every engine must
   * do that: pad files of a creation are not in `files`.
   *
   * @default 0
   */
  paddedFiles?: number | undefined;
  /** Bytes. */
  pieceLength: number;
  /** `fail`: a file that does not exist fails the job. `mark`: its index is in `missing`, and its hashes stay zero. */
  onMissing: 'fail' | 'mark';
  /** Threads that read and hash. */
  threads: number;
  /** Bytes of a read, a multiple of 16 KiB. */
  readSize: number;
  /** Bytes of all buffers together, at least one read. If the buffers of all threads do not fit, fewer threads run. */
  memoryLimit: number;
}

/** The hashes of a request. */
export interface Digests {
  /** v1 and hybrid: the SHA-1 of each piece, 20 bytes each, packed. */
  v1?: Uint8Array;
  /** v2 and hybrid. */
  v2?: {
    /** The pieces root of each file of the request, 32 bytes each, packed; zeros for pad files, empty and missing files. */
    roots: Uint8Array;
    /** The piece layers of the files that are longer than a piece, in the request's order, 32 bytes per piece, packed. */
    layers: Uint8Array;
  };
  /** Indexes of the files that do not exist. */
  missing: readonly number[];
}

/** The progress of a hash job. */
export interface JobProgress {
  /** Bytes of content hashed. */
  bytes: number;
  /** Index of the request's file that was opened last. */
  fileIndex: number;
  /** Jobs of this process that go first while this one waits for a thread; 0 while it has one. */
  queued: number;
  /** While the job waits before it reads a file again that could not be read. */
  retrying?: Retrying;
}

/** A file that will be read again, because its error may pass. */
export interface Retrying {
  /** On disk. */
  path: string;
  /** The error of the system, such as `EIO`. */
  code: string;
  /** The number of the next attempt: 1 to 3. */
  attempt: number;
  /** From the failure to the next attempt. */
  seconds: number;
}

/** @internal Takes the digests of consecutive files of a request, from `first` on, when they are known. The job waits for it. */
export type OnHashed = (first: number, digests: readonly FileDigests[]) => Promise<void>;

/** A hash job that runs. */
export interface HashJob {
  /** Settles when the job ends. Rejects with a {@link MetainfoError}. */
  readonly done: Promise<Digests>;
  /** Returns the progress so far. */
  progress(): JobProgress;
  /** Makes `done` reject with `ERR_ABORTED`, unless it is settled. */
  cancel(): void;
}

/** Hashes content: {@link nativeEngine}, {@link nodeEngine} or {@link partsEngine} makes one. */
export interface Engine {
  /** A short name, such as `native`. */
  readonly name: string;
  /** The kernel that hashes, for reports. */
  readonly kernel: string;
  /**
   * @internal Starts a hash job and returns at once. If the job fails, its `done` rejects. An engine may ignore `onHashed`, which is only
   * for requests whose files all start at piece boundaries.
   */
  start(request: HashRequest, onHashed?: OnHashed): HashJob;
  /** @internal Absent where a job costs no more than that. */
  short?: ShortEngine;
}

/** The most bytes that a {@link ShortEngine} hashes. */
export const MAX_SHORT = 64 * 2 ** 10;

/** Hashes single files of 1 to {@link MAX_SHORT} bytes, without a request. Pieces have at least 16 KiB. */
export interface ShortEngine {
  /** Hashes bytes while the caller waits. They must not be shared with another thread. */
  hash(data: Uint8Array, version: HashRequest['version'], pieceLength: number): Digests;
}

/** Where a short file is. */
export interface ShortPath {
  /** The folder that the path is relative to, without following links in it; empty for any path, through links. */
  root: string;
  path: string;
}

/** Marks an engine as one of this package, or of another copy of it, and freezes it: its digests are right, and nobody else holds or changes them. */
export function ownEngine(engine: Engine): Engine {
  engines.add(engine);
  return Object.freeze(engine);
}

/** Whether {@link ownEngine} made the engine. */
export function isOwnEngine(engine: Engine): boolean {
  return engines.has(engine);
}

/** Checks an engine: any object with a `start` method. */
export const AnyEngine: Struct<Engine, null> = expected(
  'an engine, such as nodeEngine()',
  (value) => typeof (value as Partial<Engine> | null)?.start === 'function',
);

/** Bytes that were hashed on this JavaScript thread, or in a single step of the addon, without those of speed tests. */
export const hashedHere = { bytes: 0 };
