/** The hashes that a request gives, and the resources that jobs may use. */
import { MetainfoError, shown } from '../errors/errors.ts';
import { checkOptions, invalidArgument, type OptionStructs, Unchecked } from '../errors/guard.ts';
import { sumOf } from '../layout/file-table.ts';
import { BLOCK_SIZE, isPowerOfTwo, powerOfTwoWithin } from '../layout/piece-length.ts';
import { availableParallelism, MAX_BYTES } from '../platform/node.ts';
import { type Addon, addonOrNull } from './addon.ts';
import type { HashRequest, RequestedFile } from './engine.ts';
import { bytesToPieceEnd, lengthsOf, RequestedTable } from './make-requested-files.ts';

export type { Digests, HashJob, HashRequest, JobProgress, RequestedFile, RequestedFiles } from './engine.ts';

/** Whether a file of a request is a pad file: it has no content. */
export function isPad({ path, data, blob }: Pick<RequestedFile, 'path' | 'data' | 'blob'>): boolean {
  return path === null && data === undefined && blob === undefined;
}

/** The number of hashes in the piece layer of a file: 0 unless the file is longer than a piece (BEP 52). */
export function layerCount(
  file: Pick<RequestedFile, 'path' | 'data' | 'blob' | 'length'>,
  pieceLength: number,
): number {
  return !isPad(file) && file.length > pieceLength ? Math.ceil(file.length / pieceLength) : 0;
}

/** The error of a request whose hashes do not fit into memory. */
export function tooManyHashes(
  { files, pieceLength }: Pick<HashRequest, 'files' | 'pieceLength'>,
  cause: unknown,
): MetainfoError {
  const bytes = Array.from(lengthsOf(files)).reduce((sum, length) => sum + length, 0);
  const message = `The hashes of ${bytes} bytes in pieces of ${pieceLength} do not fit into memory: leave out files (a sparse file may be huge), or choose a larger piece length.`;
  return new MetainfoError('ERR_TOO_LARGE', message, { cause });
}

/** @throws {MetainfoError} `ERR_TOO_LARGE` when the v1 pieces or the v2 layers are larger than a buffer can be */
export function requireHashesFit(
  request: Pick<HashRequest, 'files' | 'version' | 'pieceLength' | 'paddedFiles'>,
): void {
  const { files, version, pieceLength, paddedFiles = 0 } = request;
  // Do not go through a million files for what cannot be.
  const isTable = files instanceof RequestedTable;
  if (isTable && (sumOf(files.lengths) / pieceLength + paddedFiles) * 32 <= MAX_BYTES) return;
  const lengths = lengthsOf(files);
  let total = 0;
  for (let i = 0; i < lengths.length; i += 1) {
    const length = lengths[i] as number;
    // The engine rejects such a length and names the file.
    if (!Number.isSafeInteger(length) || length < 0) return;
    total += length + (i < paddedFiles ? bytesToPieceEnd(length, pieceLength) : 0);
  }
  const pieces = total / pieceLength;
  if (pieces * 32 <= MAX_BYTES) return;
  let layers = 0;
  if (version !== 'v1') for (const file of files) layers += layerCount(file, pieceLength);
  const bytes = Math.max(version === 'v2' ? 0 : pieces * 20, layers * 32);
  if (bytes > MAX_BYTES) throw tooManyHashes(request, undefined);
}

/** The default memory limit of a job, in bytes per thread. */
export const DEFAULT_MEMORY_PER_THREAD = 64 * 2 ** 20;

/** The lanes of the widest kernel. As many pieces are read side by side, in small parts that stay in the CPU's cache. */
const LANES = 16;
const DEFAULT_PIECE_READ = 128 * 2 ** 10;
/** v2 files are read in order. Larger reads gain nothing: see `readSize` in docs/performance.md. */
const DEFAULT_READ = 2 ** 20;

export const MAX_THREADS = 1024;

/** The resources that a job may use. */
export interface ResourceOptions {
  /**
   * Threads that read and hash; null means one per core. It is the same option everywhere, and only the command has another default:
   * one per core.
   *
   * @default 1
   */
  threads?: number | null | undefined;
  /**
   * Maximum size of a read, in bytes: a power of two of at least 16 KiB.
   *
   * @default 1 MiB for v2, 128 KiB for v1 and hybrid; less if the memory limit demands it
   */
  readSize?: number | null | undefined;
  /**
   * Bytes of all buffers of the job together, at least one read. Reading pauses when they are full. With a low limit, reads are
   * smaller, then fewer pieces are hashed side by side, then fewer threads run.
   *
   * @default 64 MiB per thread
   */
  memoryLimit?: number | null | undefined;
}

/** {@link checkedResources} checks the values. */
export const RESOURCES: OptionStructs<ResourceOptions> = {
  threads: Unchecked,
  readSize: Unchecked,
  memoryLimit: Unchecked,
};

/** Checks resources and fills in defaults: the buffers of all threads fit into the memory limit. Throws `ERR_INVALID_ARGUMENT`. */
export function checkedResources(
  { threads = 1, readSize, memoryLimit }: ResourceOptions,
  version: HashRequest['version'],
  cores = availableParallelism(),
): Pick<HashRequest, 'threads' | 'readSize' | 'memoryLimit'> {
  const threadCount = threads ?? cores;
  const threadsText = `threads must be 1 to ${MAX_THREADS} or null (one per core), not ${shown(threadCount)}`;
  requireThat(isThreadCount(threadCount), threadsText, 'threads');
  const limit = memoryLimit ?? DEFAULT_MEMORY_PER_THREAD * threadCount;
  requireThat(isMemory(limit), `memoryLimit must be at least ${BLOCK_SIZE} bytes, not ${shown(limit)}`, 'memoryLimit');
  if (readSize === null || readSize === undefined) {
    const [most, lanes] = version === 'v2' ? [DEFAULT_READ, 1] : [DEFAULT_PIECE_READ, LANES];
    const share = powerOfTwoWithin(limit / threadCount / lanes);
    return { threads: threadCount, readSize: Math.max(BLOCK_SIZE, Math.min(most, share)), memoryLimit: limit };
  }
  const sizeText = `readSize must be a power of two of at least ${BLOCK_SIZE}, not ${shown(readSize)}`;
  requireThat(isPowerOfTwo(readSize) && readSize >= BLOCK_SIZE, sizeText, 'readSize');
  const limitText = `readSize (${readSize}) must not be above memoryLimit (${limit})`;
  requireThat(readSize <= limit, limitText, 'readSize', 'memoryLimit');
  return { threads: threadCount, readSize, memoryLimit: limit };
}

function isThreadCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 1 && (value as number) <= MAX_THREADS;
}

function isMemory(value: number): boolean {
  return Number.isSafeInteger(value) && value >= BLOCK_SIZE;
}

/** The limits that all jobs of the process share. */
export interface ProcessLimits {
  /**
   * Threads that read and hash at once.
   *
   * @default one per core
   */
  threads: number;
  /**
   * Bytes of all buffers. A job that needs more for a single read runs alone.
   *
   * @default 64 MiB per core
   */
  memory: number;
}

const PROCESS_LIMITS: OptionStructs<ProcessLimits> = { threads: Unchecked, memory: Unchecked };

/**
 * Returns the limits that all jobs of the process share, after changing those that are given. Running jobs follow at once.
 *
 * Jobs share threads fairly: a free thread goes to the job that has the fewest, and a job that has hashed little goes before one
 * that has hashed much. So a small torrent waits for one batch of a large one (at most 16 pieces per thread), never for all of it.
 *
 * @example
 * ```ts
 * import { processLimits } from 'metainfo';
 *
 * // Leave half of the cores to others.
 * const { threads } = processLimits();
 * processLimits({ threads: Math.ceil(threads / 2), memory: 128 * 2 ** 20 });
 * ```
 *
 * @throws {MetainfoError} `ERR_INVALID_ARGUMENT`
 */
export function processLimits(change: Partial<ProcessLimits> = {}): ProcessLimits {
  const changed = checkOptions(change, PROCESS_LIMITS, { name: 'change' });
  const { limits } = addonOrNull() ?? { limits: limitsWithoutAddon };
  const { threads, memory } = { ...limits(), ...changed };
  requireThat(isThreadCount(threads), `threads must be 1 to ${MAX_THREADS}, not ${shown(threads)}`);
  requireThat(isMemory(memory), `memory must be at least ${BLOCK_SIZE} bytes, not ${shown(memory)}`);
  return limits(threads, memory);
}

let currentLimits: ProcessLimits | undefined;

/** Keeps the limits for the node engine, which stays within any: one of its jobs at a time reads and hashes. */
const limitsWithoutAddon: Addon['limits'] = (threads, memory) => {
  const cores = availableParallelism();
  currentLimits ??= { threads: cores, memory: cores * DEFAULT_MEMORY_PER_THREAD };
  currentLimits = { threads: threads ?? currentLimits.threads, memory: memory ?? currentLimits.memory };
  return { ...currentLimits };
};

/** @param names The options that the message names. */
function requireThat(condition: boolean, message: string, ...names: string[]): void {
  if (condition) return;
  throw invalidArgument(message, { option: Object.fromEntries(names.map((name) => [name, null])) });
}
