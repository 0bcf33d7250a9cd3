import type { HashPlan, PlanFile } from '../digest/binding.ts';
import { MetainfoError } from '../errors.ts';
import { BLOCK_SIZE, isPowerOfTwo } from '../layout/piece-length.ts';

export type { Digests, HashJob, HashPlan, PlanFile } from '../digest/binding.ts';

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
