import { MetainfoError } from '../errors.ts';
import type { TorrentVersion } from '../model/discriminator.ts';
import { BLOCK_SIZE, isPowerOfTwo } from '../model/primitives.ts';

/** A file of a plan, in the torrent's order. */
export interface PlanFile {
  /** Where it is on disk, as the system's bytes; null for a pad file: zeros that are read from nowhere. */
  path: Buffer | null;
  /** Where the content begins in the file on disk, in bytes. */
  offset: number;
  /** Bytes of content. */
  length: number;
  /** The size of the whole file on disk when it was planned. Another size fails the job. */
  size: number;
  /** Its modification time then (`fs.Stats.mtimeMs`); NaN: not checked. */
  mtimeMs: number;
}

/** What to hash. Create, verify and the hashers speak it, and every engine understands it. */
export interface HashPlan {
  files: readonly PlanFile[];
  /** A hybrid plan holds its pad files, so that every file with content starts at a piece's start. */
  kind: TorrentVersion;
  pieceLength: number;
  /** What a file that does not exist does: fail the job, or stand in `missing` with its hashes left zero. */
  onMissing: 'fail' | 'mark';
  /** How many threads read and hash. */
  threads: number;
  /** Bytes a read, a multiple of 16 KiB. */
  readSize: number;
  /** Bytes of all buffers together, at least one read: fewer threads run when theirs would not fit. */
  memoryLimit: number;
}

/** What a plan hashes to. */
export interface Digests {
  /** One SHA-1 a piece, packed: v1 and hybrid. */
  v1?: Uint8Array;
  v2?: {
    /** One 32-byte pieces root a file of the plan, packed; zeros for pads, empty and missing files. */
    roots: Uint8Array;
    /** The piece hashes of every file that is longer than a piece, packed, in the plan's order (see {@link layerCount}). */
    layers: Uint8Array;
  };
  /** Indexes of files that do not exist. */
  missing: readonly number[];
}

/** A plan that is being hashed. */
export interface HashJob {
  readonly done: Promise<Digests>;
  /** Bytes of content hashed so far, and the file that was opened last. */
  progress(): { bytes: number; fileIndex: number };
  /** `done` then rejects with `ERR_ABORTED`, unless it is settled. */
  cancel(): void;
}

/** The hashes that a file has in `piece layers`: none unless it is longer than a piece (BEP 52). */
export function layerCount(file: Pick<PlanFile, 'path' | 'length'>, pieceLength: number): number {
  return file.path !== null && file.length > pieceLength ? Math.ceil(file.length / pieceLength) : 0;
}

/** Default for all buffers of a job, in bytes. */
export const DEFAULT_MEMORY_LIMIT = 64 * 2 ** 20;

/** Larger reads gain nothing: see the table in docs/performance.md. */
const DEFAULT_READ_SIZE = 2 ** 20;

export const MAX_THREADS = 1024;

/** How a job may use the machine. */
export interface ResourceOptions {
  /** Threads that read and hash; null is one a core. Default 1. */
  threads?: number | null | undefined;
  /** Bytes a read: a power of two, and a multiple of 16 KiB. Default: up to 1 MiB. */
  readSize?: number | null | undefined;
  /** Bytes of all buffers of the job together. Fewer threads run when they would not fit. Default 64 MiB. */
  memoryLimit?: number | null | undefined;
}

/**
 * Checked resources; the default read size lets every thread have a buffer within the memory limit.
 *
 * @throws {MetainfoError} `ERR_INVALID_ARGUMENT`
 */
export function planResources(
  { threads = 1, readSize, memoryLimit }: ResourceOptions,
  cores: number,
): Pick<HashPlan, 'threads' | 'readSize' | 'memoryLimit'> {
  const wanted = threads ?? cores;
  const limit = memoryLimit ?? DEFAULT_MEMORY_LIMIT;
  require(Number.isSafeInteger(wanted) &&
    wanted >= 1 &&
    wanted <= MAX_THREADS, `threads must be 1 to ${MAX_THREADS} (or null: every core), not ${wanted}`);
  require(Number.isSafeInteger(limit) &&
    limit >= BLOCK_SIZE, `memoryLimit must be at least ${BLOCK_SIZE} bytes, not ${limit}`);
  if (readSize === null || readSize === undefined) {
    // As large as the limit allows every thread to have.
    const share = 2 ** Math.floor(Math.log2(limit / wanted));
    const size = Math.max(BLOCK_SIZE, Math.min(DEFAULT_READ_SIZE, share));
    return { threads: wanted, readSize: size, memoryLimit: limit };
  }
  require(isPowerOfTwo(readSize) &&
    readSize >= BLOCK_SIZE, `readSize must be a power of two of at least ${BLOCK_SIZE}, not ${readSize}`);
  require(readSize <= limit, `readSize (${readSize}) must not be above memoryLimit (${limit})`);
  return { threads: wanted, readSize, memoryLimit: limit };
}

function require(condition: boolean, message: string): void {
  if (!condition) throw new MetainfoError('ERR_INVALID_ARGUMENT', `${message}.`);
}
