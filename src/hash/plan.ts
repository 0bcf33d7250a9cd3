import { constants } from 'node:buffer';
import { availableParallelism } from 'node:os';
import { MetainfoError, shown } from '../errors/errors.ts';
import {
  Bytes,
  checkArgument,
  checkOptions,
  expected,
  Given,
  invalidArgument,
  List,
  type OptionStructs,
  oneOf,
  readSafely,
  Size,
  Unchecked,
} from '../errors/guard.ts';
import { BLOCK_SIZE, isPowerOfTwo, powerOfTwoWithin } from '../layout/piece-length.ts';
import { type Binding, bindingIfAny, type HashPlan, type PlanFile } from './addon.ts';

export type { Digests, HashJob, HashPlan, JobProgress, PlanFile } from './addon.ts';

/** Whether a file of a plan is a pad: zeros that no file holds. */
export function isPad({ path, data }: Pick<PlanFile, 'path' | 'data'>): boolean {
  return path === null && data === undefined;
}

/** The hashes that a file has in `piece layers`: none unless it is longer than a piece (BEP 52). */
export function layerCount(file: Pick<PlanFile, 'path' | 'data' | 'length'>, pieceLength: number): number {
  return !isPad(file) && file.length > pieceLength ? Math.ceil(file.length / pieceLength) : 0;
}

/** The error of a plan whose hashes do not fit into memory: nothing of it was hashed. */
export function tooManyHashes({ files, pieceLength }: HashPlan, cause: unknown): MetainfoError {
  const bytes = files.reduce((sum, { length }) => sum + length, 0);
  const message = `The hashes of ${bytes} bytes in pieces of ${pieceLength} do not fit into memory: leave out files (a sparse file may be huge), or choose a larger piece length.`;
  return new MetainfoError('ERR_TOO_LARGE', message, { cause });
}

/** @throws {MetainfoError} `ERR_TOO_LARGE` where the v1 pieces or the v2 layers are more than a buffer can hold */
export function requireHashesFit(plan: HashPlan): void {
  const { files, version, pieceLength } = plan;
  let total = 0;
  for (const { length } of files) {
    // The addon refuses other lengths by name.
    if (!Number.isSafeInteger(length) || length < 0) return;
    total += length;
  }
  const pieces = total / pieceLength;
  if (pieces * 32 <= constants.MAX_LENGTH) return;
  const layers = version === 'v1' ? 0 : files.reduce((sum, file) => sum + layerCount(file, pieceLength), 0);
  const bytes = Math.max(version === 'v2' ? 0 : pieces * 20, layers * 32);
  if (bytes > constants.MAX_LENGTH) throw tooManyHashes(plan, undefined);
}

/** Default for the buffers of a job, in bytes a thread. */
export const DEFAULT_MEMORY_PER_THREAD = 64 * 2 ** 20;

/** Pieces are read side by side, as many as the widest kernel hashes at once: small slices of each stay in the cache. */
const LANES = 16;
const DEFAULT_SLICE = 128 * 2 ** 10;
/** v2 files are read in order. Larger reads gain nothing: see docs/performance.md. */
const DEFAULT_READ = 2 ** 20;

export const MAX_THREADS = 1024;

/** How a job may use the machine. */
export interface ResourceOptions {
  /** Threads that read and hash; null is one a core. Default 1. */
  threads?: number | null | undefined;
  /** Bytes a read at most: a power of two, and a multiple of 16 KiB. Default: 1 MiB for v2, 128 KiB for v1 and hybrid. */
  readSize?: number | null | undefined;
  /**
   * Bytes of all buffers of the job together, at least one read: reading pauses when they are full. A tight one makes
   * reads smaller, then fewer pieces are hashed side by side, then fewer threads run. Default 64 MiB a thread.
   */
  memoryLimit?: number | null | undefined;
}

/** They are checked by {@link planResources}. */
export const RESOURCES: OptionStructs<ResourceOptions> = {
  threads: Unchecked,
  readSize: Unchecked,
  memoryLimit: Unchecked,
};

/**
 * Checked resources; the default read size lets every thread have its buffers within the memory limit.
 *
 * @throws {MetainfoError} `ERR_INVALID_ARGUMENT`
 */
export function planResources(
  { threads = 1, readSize, memoryLimit }: ResourceOptions,
  version: HashPlan['version'],
  cores: number,
): Pick<HashPlan, 'threads' | 'readSize' | 'memoryLimit'> {
  const wanted = threads ?? cores;
  require(isThreads(wanted), `threads must be 1 to ${MAX_THREADS} (or null: every core), not ${shown(wanted)}`);
  const limit = memoryLimit ?? DEFAULT_MEMORY_PER_THREAD * wanted;
  require(isMemory(limit), `memoryLimit must be at least ${BLOCK_SIZE} bytes, not ${shown(limit)}`);
  if (readSize === null || readSize === undefined) {
    // As large as the limit allows every thread to have.
    const [most, lanes] = version === 'v2' ? [DEFAULT_READ, 1] : [DEFAULT_SLICE, LANES];
    const share = powerOfTwoWithin(limit / wanted / lanes);
    return { threads: wanted, readSize: Math.max(BLOCK_SIZE, Math.min(most, share)), memoryLimit: limit };
  }
  require(isPowerOfTwo(readSize) &&
    readSize >= BLOCK_SIZE, `readSize must be a power of two of at least ${BLOCK_SIZE}, not ${shown(readSize)}`);
  require(readSize <= limit, `readSize (${readSize}) must not be above memoryLimit (${limit})`);
  return { threads: wanted, readSize, memoryLimit: limit };
}

function isThreads(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 1 && (value as number) <= MAX_THREADS;
}

function isMemory(value: number): boolean {
  return Number.isSafeInteger(value) && value >= BLOCK_SIZE;
}

const PLAN: OptionStructs<HashPlan> = {
  files: List,
  version: oneOf('v1', 'v2', 'hybrid'),
  pieceLength: Size,
  onMissing: oneOf('fail', 'mark'),
  threads: expected(`1 to ${MAX_THREADS}`, (value) => isThreads(value as number)),
  readSize: expected(
    `a multiple of ${BLOCK_SIZE}`,
    (value) => Number.isSafeInteger(value) && (value as number) > 0 && (value as number) % BLOCK_SIZE === 0,
  ),
  memoryLimit: Size,
};

/**
 * A copy of an engine's plan, its files not looked at yet.
 *
 * @throws {MetainfoError} `ERR_INVALID_ARGUMENT`
 */
export function checkedPlan(given: HashPlan): HashPlan {
  const plan = checkOptions(checkArgument('plan', given, Given), PLAN, {
    name: 'plan',
    example: "{ files: [], version: 'v1' }",
  });
  for (const name of Object.keys(PLAN) as (keyof HashPlan)[]) checkArgument(`plan.${name}`, plan[name], Given);
  const { version, pieceLength, readSize, memoryLimit } = plan;
  const isLength = version === 'v1' ? pieceLength > 0 : isPowerOfTwo(pieceLength) && pieceLength >= BLOCK_SIZE;
  if (!isLength) throw invalidArgument(`plan.pieceLength of ${version} cannot be ${pieceLength}`);
  if (memoryLimit < readSize) throw invalidArgument(`plan.memoryLimit must be at least readSize, not ${memoryLimit}`);
  return plan;
}

const AnyFile = expected<PlanFile>('a file', (value) => typeof value === 'object' && value !== null);
const OnDisk = expected<string | Buffer>('a path: a string without NUL bytes, or a Buffer', (value) =>
  typeof value === 'string' ? !value.includes('\0') : Buffer.isBuffer(value),
);
const Time = expected<number>('a number', (value) => typeof value === 'number');

/** @throws {MetainfoError} `ERR_INVALID_ARGUMENT` for a file that cannot be, or files of more than 2^53 bytes */
export function checkPlanFiles(files: readonly PlanFile[]): void {
  let total = 0;
  for (const [i, file] of files.entries()) {
    const name = `plan.files[${i}]`;
    readSafely(name, () => {
      const { path, data, offset, length, size, mtimeMs } = checkArgument(name, file, AnyFile);
      total += checkArgument(`${name}.length`, length, Size);
      if (path === null && data === undefined) return;
      checkArgument(`${name}.offset`, offset, Size);
      if (path === null) {
        if (offset + length > checkArgument(`${name}.data`, data, Bytes).byteLength)
          throw invalidArgument(`${name} ends beyond its data`);
        return;
      }
      checkArgument(`${name}.path`, path, OnDisk);
      checkArgument(`${name}.size`, size, Size);
      checkArgument(`${name}.mtimeMs`, mtimeMs, Time);
    });
  }
  if (!Number.isSafeInteger(total)) throw invalidArgument('plan.files have more than 2^53 bytes');
}

/** What all jobs of the process may use together. */
export interface ProcessLimits {
  /** Threads that read and hash at once. Default: one a core. */
  threads: number;
  /** Bytes of all buffers. A job whose one read is above it runs alone. Default: 64 MiB a core. */
  memory: number;
}

const PROCESS_LIMITS: OptionStructs<ProcessLimits> = { threads: Unchecked, memory: Unchecked };

/**
 * The limits that all jobs of the process share, changed first where `change` says so; jobs that run follow.
 *
 * Jobs share fairly: a thread that is free goes to the job that has the fewest, and a job that has been served little
 * goes before one that has been served much. So a small torrent waits for a batch of a large one (at most 16 pieces a
 * thread), never for all of it.
 *
 * @throws {MetainfoError} `ERR_INVALID_ARGUMENT`
 */
export function processLimits(change: Partial<ProcessLimits> = {}): ProcessLimits {
  const changed = checkOptions(change, PROCESS_LIMITS, { name: 'change' });
  const { limits } = bindingIfAny() ?? { limits: limitsWithoutAddon };
  const { threads, memory } = { ...limits(), ...changed };
  require(isThreads(threads), `threads must be 1 to ${MAX_THREADS}, not ${shown(threads)}`);
  require(isMemory(memory), `memory must be at least ${BLOCK_SIZE} bytes, not ${shown(memory)}`);
  return limits(threads, memory);
}

let kept: ProcessLimits | undefined;

/** The node:crypto engine stays within any: of all its jobs one at a time reads and hashes. */
const limitsWithoutAddon: Binding['limits'] = (threads, memory) => {
  const cores = availableParallelism();
  kept ??= { threads: cores, memory: cores * DEFAULT_MEMORY_PER_THREAD };
  kept = { threads: threads ?? kept.threads, memory: memory ?? kept.memory };
  return { ...kept };
};

function require(condition: boolean, message: string): void {
  if (!condition) throw new MetainfoError('ERR_INVALID_ARGUMENT', `${message}.`);
}
