import path from 'node:path';
import nodeGypBuild from 'node-gyp-build';
import { MetainfoError } from '../errors/errors.ts';

/** A file of a plan, in the torrent's order. */
export interface PlanFile {
  /**
   * Where it is on disk, as bytes where they are no UTF-8; null for what is not on disk. Links in it are resolved
   * (`fs.realpath`): one that is there when it is opened fails the job, for it may have been put there to lead away.
   */
  path: string | Buffer | null;
  /**
   * Content in memory. Engines copy it when the job starts, so it can be reused at once. Without it, a file that is not on
   * disk is a pad: zeros that are read from nowhere.
   */
  data?: Uint8Array | undefined;
  /** Where the content begins in the file, in bytes. */
  offset: number;
  /** Bytes of content. */
  length: number;
  /** The size of the whole file on disk when it was planned: another size fails the job. Not looked at in memory. */
  size: number;
  /** Its modification time then (`fs.Stats.mtimeMs`); NaN: not checked. */
  mtimeMs: number;
}

/** What to hash. Create, verify and the hashers speak it, and every engine understands it. */
export interface HashPlan {
  /** In the torrent's order. */
  files: readonly PlanFile[];
  /** A hybrid plan holds its pad files, so that every file with content starts at a piece's start. */
  version: 'v1' | 'v2' | 'hybrid';
  /** Bytes. */
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
  /** v2 and hybrid. */
  v2?: {
    /** One 32-byte pieces root a file of the plan, packed; zeros for pads, empty and missing files. */
    roots: Uint8Array;
    /** The piece hashes of every file that is longer than a piece, packed, in the plan's order (see `layerCount`). */
    layers: Uint8Array;
  };
  /** Indexes of files that do not exist. */
  missing: readonly number[];
}

/** How far a job is. */
export interface JobProgress {
  /** Bytes of content hashed. */
  bytes: number;
  /** The file of the plan that was opened last. */
  fileIndex: number;
  /** Jobs of this process that go before while this one waits for a thread; 0 while it has one. */
  queued: number;
}

/** A plan that is being hashed. */
export interface HashJob {
  /** Settles when it is over: rejects with a {@link MetainfoError}. */
  readonly done: Promise<Digests>;
  /** How far it is. */
  progress(): JobProgress;
  /** `done` then rejects with `ERR_ABORTED`, unless it is settled. */
  cancel(): void;
}

/** Bytes a second of one thread; 0 for what the kernel leaves to others. Nodes count as the 64 bytes that they take. */
export interface KernelSpeed {
  sha1: number;
  sha1Zeros: number;
  sha256: number;
  sha256Nodes: number;
}

/** What the native addon offers: the whole contract, and the only door to it. */
export interface Binding {
  /** Kernels that this CPU can run, best first. */
  readonly kernels: readonly string[];
  /** The kernels in use: the best, or the one that METAINFO_KERNEL names. */
  readonly active: { readonly sha1: string; readonly sha256: string };
  readonly HashJob: new (plan: HashPlan) => HashJob;
  /**
   * What stat(2) says of files, links followed, on threads of its own: seven numbers a file, errno (or 0), mode, size,
   * `mtimeMs`, `ctimeMs`, device and inode. Empty when the system has no thread to give.
   *
   * @param paths The system's bytes, each path ended by a zero byte.
   */
  statFiles(paths: Buffer): Promise<Float64Array>;
  /** How fast the kernel of this index in `kernels` is, while the caller waits, so long for each of its functions. */
  measureKernel(kernel: number, milliseconds: number): KernelSpeed;
  /** What all jobs of the process may use together, after it was set to these, if given: see `processLimits` in src/hash/plan.ts. */
  limits(threads?: number, memory?: number): { threads: number; memory: number };
  /**
   * Roots above layers of piece hashes, on all cores while the caller waits.
   *
   * @param bytes What the layers are in, such as the whole torrent: nothing is copied.
   * @param starts Where each layer begins in it.
   * @param counts The hashes of each, 32 bytes each, at least 1.
   * @param height Of a piece's tree of blocks: 0 for 16 KiB pieces.
   */
  layerRoots(bytes: Uint8Array, starts: Float64Array, counts: Uint32Array, height: number): Uint8Array;
}

let loaded: Binding | undefined;
/** Looking for it again would find nothing again, and take long. */
let unavailable: MetainfoError | undefined;

/**
 * The native addon, loaded once: a prebuilt binary, or what `npm run build` made.
 *
 * @throws {MetainfoError} `ERR_NATIVE_UNAVAILABLE`, or `ERR_KERNEL` when METAINFO_KERNEL names no runnable kernel
 */
export function binding(): Binding {
  if (unavailable) throw unavailable;
  loaded ??= load();
  return loaded;
}

/**
 * The native addon, or null where all is to be done without: where METAINFO_ENGINE is `node`, or where it is not set and
 * no addon loads.
 *
 * @throws {MetainfoError} `ERR_INVALID_ARGUMENT` for another METAINFO_ENGINE; `ERR_KERNEL`; where METAINFO_ENGINE is `native`
 *   also `ERR_NATIVE_UNAVAILABLE`
 */
export function bindingIfAny(): Binding | null {
  const wanted = engineAskedFor();
  if (wanted === 'node') return null;
  try {
    return binding();
  } catch (error) {
    if (wanted === 'native' || error !== unavailable) throw error;
    return null;
  }
}

const ENGINES = ['native', 'node'] as const;

/** What METAINFO_ENGINE names; null when it is not set. */
export function engineAskedFor(): (typeof ENGINES)[number] | null {
  // As with METAINFO_KERNEL, an empty one is none.
  const name = process.env['METAINFO_ENGINE'] || null;
  const engine = ENGINES.find((one) => one === name);
  if (engine || name === null) return engine ?? null;
  const message = `METAINFO_ENGINE=${name} is no engine: choose one of: ${ENGINES.join(', ')}.`;
  throw new MetainfoError('ERR_INVALID_ARGUMENT', message);
}

/** What is wrong where it does not load, and what to do. */
export function whyUnavailable(): string | undefined {
  return unavailable?.message;
}

function load(): Binding {
  try {
    return nodeGypBuild(path.join(import.meta.dirname, '../..')) as Binding;
  } catch (error) {
    throwIfKernel(error);
    const [why = ''] = (error as Error).message.split('\n');
    // In node-gyp-build's words that is half a page.
    const none = why.startsWith('No native build was found');
    const reason = none ? 'there is no binary for this platform, and none was compiled' : why.trim();
    const message = `The native addon could not be loaded (${reason}): install a C++ compiler and run \`npm rebuild metainfo\`.`;
    unavailable = new MetainfoError('ERR_NATIVE_UNAVAILABLE', message, { cause: error });
    throw unavailable;
  }
}

/**
 * Throws `ERR_KERNEL` for the error by which native code refuses METAINFO_KERNEL (its `code` is `kernel`), when the addon
 * loads and whenever a job starts.
 */
export function throwIfKernel(error: unknown): void {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === 'kernel') throw new MetainfoError('ERR_KERNEL', `${message}.`, { cause: error });
}
