/** The native addon: its loader and its whole interface. No other file loads it. */
import { existsSync, readdirSync } from 'node:fs';
// Not createRequire by name: webpack would follow its calls.
import nodeModule from 'node:module';
import path from 'node:path';
import { MetainfoError } from '../errors/errors.ts';
import { invalidArgument } from '../errors/guard.ts';
import { isDenied } from '../errors/system-error.ts';
import type { DiskFiles, FileColumns, PathColumn, TableFacts } from '../layout/file-table.ts';
import type { PadNames } from '../layout/padding.ts';
import { variable } from '../platform/node.ts';
import { VERSION } from '../text/version.ts';
import { nodeGypBuildOf, ownFolder } from './binary-loader.ts';
import type { Digests, HashJob, HashRequest, RequestedFile } from './engine.ts';

/**
 * The speed of one thread, in bytes a second; 0 for functions that the kernel leaves to others. A node of a Merkle tree counts
 * as the 64 bytes that are hashed to it.
 */
export interface KernelSpeed {
  sha1: number;
  sha1Zeros: number;
  sha256: number;
  sha256Nodes: number;
}

/** The folders that a {@link NativeScan} lists. Zero characters stand between the components of paths. */
export interface ScanRequest {
  /** The root on disk, without links. */
  root: string;
  /** Where the folders are on disk, from the root. */
  disks: readonly string[];
  /** The paths of the folders from the root of the torrent. */
  paths: readonly string[];
  /** Enter the folders in the folders too. */
  isRecursive: boolean;
  /** Give files that cannot be opened for reading as others, with an error. */
  readable: boolean;
}

/** The entries that a {@link NativeScan} found: see `Listing` in src/disk/listing.ts. */
export interface NativeListing {
  files: FileColumns;
  others: FileColumns;
  /** errno, or 0, for each of the others. A folder with an error could not be listed. */
  errors: Float64Array;
  /** The mode of each of the others; 0 after an error of stat(2). */
  modes: Float64Array;
}

/** A scan that runs. */
export interface NativeScan {
  /** Settles when the scan ends. Rejects with an Error whose `code` is `aborted`, `no-thread` or `no-memory`. */
  readonly done: Promise<NativeListing>;
  /** Makes `done` reject, unless it is settled. */
  cancel(): void;
}

/** A short file, or a folder of few short files: see src/disk/small-tree.ts. */
export interface NativeTree {
  /** Its path on disk, without links; empty for a file. */
  folder: string;
  /** The path of each file from the root, as components that each end with a zero character; one more ends the path. */
  paths: string;
  /** Bytes, and the times of the last changes of content and status in milliseconds since 1970, of each file. */
  numbers: number[];
  /** The content of the files, one after the other. */
  bytes: Uint8Array;
}

/** How the addon lays out the pad files of a v1 list: see `PaddingOptions`. */
export interface NativePadding {
  pieceLength: number;
  tailPad: boolean;
  names: PadNames;
}

/** The request of a hash job as the addon takes it. */
export interface NativeHashRequest extends Omit<HashRequest, 'files'> {
  /** A list, or columns of files on disk, which nobody may change before the job has ended. */
  files: readonly RequestedFile[] | NativeTable;
}

/** Files on disk, or ranges of them. */
export interface NativeTable extends DiskFiles {
  /** The content of the request; null for all of every file. */
  ranges: FileRanges | null;
}

/** Ranges of files, and pad files, in columns. */
export interface FileRanges {
  /** The index of the file of each range; 2^32 - 1 for a pad file. */
  files: Uint32Array;
  /** Where each range starts in its file, in bytes. */
  offsets: Float64Array;
  /** Bytes of each range. */
  lengths: Float64Array;
}

/** Files in another order. */
export interface SortedFiles {
  /** The index that each file had before. */
  order: Uint32Array;
  /** In v2 order: the first file whose path equals the path before it, or leads through it as if it were a folder; else -1. */
  collision: number;
  columns: FileColumns;
  facts: TableFacts;
}

/** A file that {@link Addon.writeFiles} writes. */
export interface NewFile {
  /** Its name in the folder. */
  name: string;
  /** Nobody may change or detach them before the file is written. */
  bytes: Uint8Array;
  /** A file without a name that has its content already, and stays open; undefined if the bytes are to be written. */
  descriptor?: number;
  /** Modification time in milliseconds; null for now. */
  mtime: number | null;
  /** The name that it has for a moment before it replaces a file; empty if it must not replace any. */
  temporary: string;
  /** Owner and permissions; null for those of new files. */
  owner: { uid: number; gid: number; mode: number } | null;
}

/** The files of a file list or file tree, in its order. */
export interface DecodedFiles {
  /** Where the value ends. */
  end: number;
  /** Files, pad files included. */
  count: number;
  /** Bencoded values and keys within the value. */
  items: number;
  /** Bytes of the longest string. */
  longest: number;
  /** Levels of lists and dictionaries below the value. */
  depth: number;
  /** Characters of all components, and one for each component. */
  pathUnits: number;
  /** Whether any file but a pad file has attributes. */
  hasAttributes: boolean;
  /** List: whether the name of any pad file ends with a number of its own. */
  hasNumberedPads: boolean;
  /** List: whether that of any does not. */
  hasPlainPads: boolean;
  /** The paths of the files without pad files, like all that follows. */
  paths: PathColumn;
  lengths: Float64Array;
  /** List: bytes of each entry, pad files included. */
  entryLengths: Float64Array;
  /** List: the index of each entry among the files; -1 for a pad file, -2 for an empty file. */
  entryFiles: Int32Array;
  /** Tree: 32 bytes for each file, packed; zeros for an empty one. */
  roots: Uint8Array;
}

/** The interface of the native addon. */
export interface Addon {
  /** Kernels that this CPU can run, best first. */
  readonly kernels: readonly string[];
  /**
   * The kernels in use now: the best ones, or the one that METAINFO_KERNEL names. The first v2 or hybrid job of at least 512 MiB
   * races two kernels for SHA-256, which may change that one.
   */
  readonly active: { readonly sha1: string; readonly sha256: string };
  readonly HashJob: new (request: NativeHashRequest) => HashJob;
  /**
   * Reads a file of 1 to `maxBytes` bytes, or a folder with up to `maxFiles` of them, on a thread of its own. Null for anything else. Not on
   * Windows.
   *
   * @param root The folder that the path is relative to, without following links in it; empty for any path, through links.
   */
  readonly SmallTree?: new (
    root: string,
    path: string,
    maxBytes: number,
    maxFiles: number,
  ) => {
    readonly done: Promise<NativeTree | null>;
    cancel(): void;
  };
  /** Lists folders on threads of its own. Follows no link. */
  readonly Scan: new (
    request: ScanRequest,
  ) => NativeScan;
  /** Encodes a v1 `files` list on a thread of its own, like all functions that take columns. Nobody may change the columns meanwhile. */
  encodeFileList(columns: FileColumns, padding: NativePadding | null): Promise<Uint8Array>;
  /**
   * Encodes the v2 `file tree` of files in v2 order.
   *
   * @param roots 32 bytes per file, packed; ignored for an empty file.
   */
  encodeFileTree(columns: FileColumns, roots: Uint8Array): Promise<Uint8Array>;
  /**
   * Reads the file list or file tree at an offset of a torrent, while the caller waits. Null if any file of it is unusual, or
   * breaks a rule that concerns it alone or the paths of all files: see native/core/table/file_decoder.h.
   */
  decodeFiles(bytes: Uint8Array, at: number): DecodedFiles | null;
  /**
   * Measures files and their encodings. Gives the numbers that `measureFiles` in src/create/findings/file-sizes.ts names.
   *
   * @param maxComponents The components that a path may have.
   */
  measureFiles(
    columns: FileColumns,
    padding: NativePadding | null,
    pieceLength: number,
    maxComponents: number,
  ): Promise<Float64Array>;
  /** Gives the index of each path among others that differ from each other; 2^32 - 1 for a path that is not among them. */
  matchPaths(paths: PathColumn, others: PathColumn): Promise<Uint32Array>;
  /**
   * Sorts files as `sortV1` or `sortV2`.
   *
   * @param lower For v1: the lower-cased paths with `/`; null if all paths are ASCII.
   */
  sortFiles(columns: FileColumns, isV1: boolean, lower: PathColumn | null): Promise<SortedFiles>;
  /**
   * Hashes a request while the caller waits: only for little content, all in memory. The files must be plain objects, because a
   * getter could detach the data of another file.
   */
  hashNow(request: HashRequest): Digests;
  /**
   * Hashes bytes while the caller waits: only few. Pieces have at least 16 KiB.
   *
   * @param out Gets the SHA-1 of each piece (v1 and hybrid), then the pieces root and, if there are several pieces, the piece layer
   *   (v2 and hybrid). Its size must be exactly that.
   */
  hashBytes(data: Uint8Array, version: HashRequest['version'], pieceLength: number, out: Uint8Array): void;
  /**
   * Calls stat(2) for many files on threads of its own and follows links. Gives nine numbers per file: errno (or 0), mode,
   * size, `mtimeMs`, `ctimeMs`, device, inode, and the nanoseconds within the second of both times. Empty if the system grants no thread.
   *
   * @param paths The paths in the system's bytes, each followed by a zero byte.
   */
  statFiles(paths: Uint8Array): Promise<Float64Array>;
  /** Races the kernels for SHA-256 while the caller waits, about 2 ms, unless that is done or METAINFO_KERNEL names one. */
  raceKernels(): void;
  /**
   * Writes new files into a folder on a thread of libuv, so that they survive a power cut: see native/core/files/write_group.h.
   *
   * @returns errno, or 0, for each file. A file with an error has left nothing, but one with a number below 0 is in place: it has replaced
   *   another file, and only its sync failed.
   */
  writeFiles(folder: string, files: readonly NewFile[]): Promise<Int32Array>;
  /**
   * Measures a kernel while the caller waits.
   *
   * @param kernel Its index in `kernels`.
   * @param milliseconds The time for each function.
   */
  measureKernel(kernel: number, milliseconds: number): KernelSpeed;
  /** The threads and memory in use, the jobs that wait for a thread, and the bytes that all have hashed. It takes about a microsecond. */
  usage(): { threads: number; memory: number; waiting: number; bytes: number };
  /** Sets the limits that are given, and returns those that hold: see `processLimits` in src/hash/hash-request.ts. */
  limits(threads?: number, memory?: number): { threads: number; memory: number };
  /**
   * Computes the pieces roots over piece layers, on all cores while the caller waits.
   *
   * @param bytes The bytes that hold the layers, such as the whole torrent: they are not copied.
   * @param starts Where each layer starts in them.
   * @param counts The number of hashes of each layer, at least 1.
   * @param height The height of the tree over the blocks of a piece: 0 for pieces of 16 KiB.
   */
  layerRoots(bytes: Uint8Array, starts: Float64Array, counts: Uint32Array, height: number): Uint8Array;
}

let loaded: Addon | undefined;
/** The failure of the first attempt. Another attempt would take long and fail again. */
let unavailable: MetainfoError | undefined;

/**
 * Loads the addon once: a prebuilt binary, or the one that `npm run build` compiled.
 *
 * @throws {MetainfoError} `ERR_NATIVE_UNAVAILABLE`, or `ERR_KERNEL` when METAINFO_KERNEL names no kernel that this CPU can run
 */
export function loadAddon(): Addon {
  if (unavailable) throw unavailable;
  loaded ??= load();
  return loaded;
}

/** The addon, if it was loaded. */
export function loadedAddon(): Addon | undefined {
  return loaded;
}

/**
 * Loads the addon. Returns null if METAINFO_ENGINE is `node`, or if it is not set and the addon does not load.
 *
 * @throws {MetainfoError} `ERR_INVALID_ARGUMENT` for an unknown METAINFO_ENGINE; `ERR_KERNEL`; with METAINFO_ENGINE=native also
 *   `ERR_NATIVE_UNAVAILABLE`
 */
export function addonOrNull(): Addon | null {
  const engine = chosenEngine();
  if (engine === 'node') return null;
  try {
    return loadAddon();
  } catch (error) {
    if (engine === 'native' || error !== unavailable) throw error;
    return null;
  }
}

const ENGINES = ['native', 'node'] as const;

/** The engine that METAINFO_ENGINE names; null if the variable is unset or empty. */
export function chosenEngine(): (typeof ENGINES)[number] | null {
  const name = variable('METAINFO_ENGINE') || null;
  const engine = ENGINES.find((known) => known === name);
  if (engine || name === null) return engine ?? null;
  throw invalidArgument(`METAINFO_ENGINE=${name} is not an engine; expected one of: ${ENGINES.join(', ')}`);
}

/** Why the addon did not load, and what to do about it; undefined if it did, or if nobody tried. */
export function unavailableMessage(): string | undefined {
  return unavailable?.message;
}

/**
 * The file of this module or bundle. Bundlers replace some expressions for it by a path of the machine that builds: Bun replaces
 * `__filename`, and webpack `import.meta.url`.
 */
function here(): string {
  try {
    // A bundle in CommonJS has an empty `import.meta`.
    return import.meta.filename ?? __filename;
  } catch {
    // Where webpack writes modules, the above fails.
    return __filename;
  }
}

/**
 * The folder of this package, or of the one that is installed beside a bundle.
 *
 * @throws {MetainfoError} `ERR_NATIVE_UNAVAILABLE` if there is none, or if it has another version than the bundle
 */
export function packageFolder(): string {
  const own = ownFolder();
  if (own !== null) return own;
  const requireHere = nodeModule.createRequire(here());
  let file: string;
  try {
    file = requireHere.resolve('metainfo/package.json');
  } catch (cause) {
    const advice = 'leave metainfo out of the bundle (external), or install it beside the bundle';
    throw unavailableError('metainfo is not installed beside this bundle', advice, cause);
  }
  // Native code trusts the JavaScript of its own version. node-gyp-build loads this file too, so it costs nothing.
  const { version } = requireHere(file) as { version: string };
  if (version === VERSION) return path.dirname(file);
  const reason = `metainfo ${version} is installed beside a bundle of metainfo ${VERSION}`;
  throw unavailableError(reason, `install metainfo@${VERSION}, or build the bundle again`);
}

const unavailableError = (reason: string, advice: string, cause?: unknown) =>
  new MetainfoError('ERR_NATIVE_UNAVAILABLE', `The native addon could not be loaded (${reason}): ${advice}.`, {
    cause,
  });

function load(): Addon {
  try {
    const folder = packageFolder();
    // node-gyp-build takes a folder that it may not read for an empty one.
    readdirSync(folder);
    return withLibc(() => nodeGypBuildOf(folder)(folder)) as Addon;
  } catch (error) {
    throwIfKernelError(error);
    unavailable = error instanceof MetainfoError ? error : loadError(error as NodeJS.ErrnoException);
    throw unavailable;
  }
}

/** Names the C library while node-gyp-build is loaded, if permissions forbid it to look for a file of Alpine Linux. */
function withLibc<T>(load: () => T): T {
  try {
    existsSync('/etc/alpine-release');
    return load();
  } catch (error) {
    if (!isDenied(error)) throw error;
    if (process.env['LIBC']) return load();
    const reportOf = () => process.report.getReport() as { header: { glibcVersionRuntime?: string } };
    // Deno forbids the report too, and needs glibc.
    const isMusl = !('Deno' in globalThis) && !reportOf().header.glibcVersionRuntime;
    process.env['LIBC'] = isMusl ? 'musl' : 'glibc';
    try {
      return load();
    } finally {
      delete process.env['LIBC'];
    }
  }
}

function loadError(error: NodeJS.ErrnoException): MetainfoError {
  if (error.code === 'MODULE_NOT_FOUND')
    return unavailableError('node-gyp-build is not installed', 'install metainfo with its dependencies', error);
  if (error.code === 'ERR_DLOPEN_DISABLED')
    return unavailableError('this process may not load addons', 'start Node with --allow-addons', error);
  const [firstLine = ''] = error.message.split('\n');
  const flags = 'Node: --allow-fs-read, Deno: --allow-read, --allow-env and --allow-ffi';
  if (isDenied(error)) return unavailableError(firstLine, `allow the process to read its package (${flags})`, error);
  // node-gyp-build goes on for half a page.
  const isMissing = firstLine.startsWith('No native build was found');
  const reason = isMissing ? 'there is no binary for this platform, and none was compiled' : firstLine.trim();
  return unavailableError(reason, 'install a C++ compiler and run `npm rebuild metainfo`', error);
}

/** Throws `ERR_KERNEL` if native code refused METAINFO_KERNEL. It checks the variable when the addon loads and whenever a job starts. */
export function throwIfKernelError(error: unknown): void {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === 'kernel') throw new MetainfoError('ERR_KERNEL', `${message}.`, { cause: error });
}

/**
 * Waits for a function of the addon that takes columns.
 *
 * @throws {MetainfoError} `ERR_NO_MEMORY`; `ERR_INTERNAL`
 */
export async function tableResult<T>(job: Promise<T>): Promise<T> {
  try {
    return await job;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'no-memory') {
      const text = 'Out of memory: the paths of all files do not fit.';
      throw new MetainfoError('ERR_NO_MEMORY', text, { cause: error });
    }
    throw new MetainfoError('ERR_INTERNAL', `The files could not be processed: ${message}.`, { cause: error });
  }
}
