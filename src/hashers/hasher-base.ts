/** The base class of hashers: chunks in, hashes out. */
import { createHash } from 'node:crypto';
import path from 'node:path';
import type { Struct } from 'superstruct';
import { componentsWithin } from '../disk/path-within.ts';
import { type ScannedFile, scan, scannedFiles } from '../disk/scan.ts';
import { untilAbort } from '../errors/cancel.ts';
import { MetainfoError, shown, ValidationError } from '../errors/errors.ts';
import {
  absolutePath,
  bytesOf,
  checkArgument,
  checkOptions,
  expected,
  invalidArgument,
  List,
  type OptionStructs,
  orNull,
  readSafely,
  suggestName,
  Text,
} from '../errors/guard.ts';
import { defaultEngine } from '../hash/default-engine.ts';
import { AnyEngine, type Engine } from '../hash/engine.ts';
import { checkedResources, DEFAULT_MEMORY_PER_THREAD, type Digests, type HashRequest } from '../hash/hash-request.ts';
import { sha256 } from '../hash/merkle.ts';
import { JobGroup } from '../jobs/job-group.ts';
import { type Job, track } from '../jobs/track.ts';
import { deletedSinceScan, type RunningJob, WATCH, type WatchOptions, watch } from '../jobs/watch.ts';
import { sortV1, sortV2 } from '../layout/order.ts';
import { BLOCK_SIZE, powerOfTwoWithin } from '../layout/piece-length.ts';
import { Issues } from '../model/issues.ts';
import { addFailures } from '../model/rules/rules.ts';
import { availableParallelism } from '../platform/node.ts';
import { HasherConfig, V2HasherConfig } from './config.ts';
import { HashPool } from './pool.ts';
import { type Chunk, type Hash, hashProblem } from './records.ts';

/** Options of {@link HasherBase.process}. */
export interface ProcessOptions extends Pick<WatchOptions, 'signal' | 'onProgress'> {
  /**
   * The engine that hashes.
   *
   * @default the engine that METAINFO_ENGINE names, else `nativeEngine()`, or `nodeEngine()` if the addon does not load
   */
  engine?: Engine | undefined;
}

const CONFIG_NAMES = Object.keys(HasherConfig.schema);
const PROCESS: OptionStructs<ProcessOptions> = {
  signal: WATCH.signal,
  onProgress: WATCH.onProgress,
  engine: AnyEngine,
};
/** Sorts paths into the order of a torrent. v2 keeps the order that is given: each file has a tree of its own. */
const ORDER = { v1: sortV1, v2: (paths: readonly string[]) => paths, hybrid: sortV2 } as const;
/** The smallest default of `readSize` for v2. Larger reads gain nothing. */
const V2_READ_SIZE = 2 ** 20;
const Pool = orNull(expected<HashPool>('a HashPool', (value) => value instanceof HashPool));

/** Bytes to be hashed, and a description of their hash. */
export interface HashUnit {
  /** A piece or block; the last one may be shorter. */
  bytes: Uint8Array;
  /** The type, path and index of its hash. */
  of: Omit<Hash, 'hash'>;
}

/** A request of a hasher, and how to read its digests. */
export interface HasherRequest {
  /** The part of the request that the hasher determines. */
  request: Pick<HashRequest, 'files' | 'paddedFiles' | 'version' | 'pieceLength'>;
  /** Turns the digests of the request into records. */
  hashes: (digests: Digests) => Hash[];
}

/**
 * The base of all hashers. `update` hashes chunks as you read them; `complete` makes the last hashes and sorts all of them.
 * `process` does both for whole files, on the threads of an engine.
 */
export abstract class HasherBase {
  /** The files, in the order in which they are hashed. */
  readonly paths: readonly string[];
  /** The absolute path of the folder that holds the files. */
  readonly pathRoot: string;
  /** Piece length in bytes. */
  readonly pieceLength: number;
  /** Threads of {@link HasherBase.process}; null means one per core. */
  readonly threads: number | null;
  /** Whether {@link HasherBase.process} shows a bar. */
  readonly progress: boolean;
  /** Bytes of a read. */
  readonly readSize: number;
  /** Bytes of all buffers; null means 64 MiB per thread. */
  readonly memoryLimit: number | null;
  /** The index of each path in {@link paths}. */
  readonly #places: ReadonlyMap<string, number>;
  /** The index of the next chunk of each path. */
  #next = new Map<string, number>();
  /** Bytes of the chunks of each path so far. */
  readonly #sizes = new Map<string, number>();

  /** @throws {ValidationError} with every rule that the configuration breaks */
  protected constructor(config: HasherConfig, version: HashRequest['version']) {
    const issues = new Issues();
    readSafely('config', () => {
      const struct = version === 'v1' ? HasherConfig : V2HasherConfig;
      addFailures(issues, config ?? {}, struct as unknown as Struct);
      for (const key of Object.keys(config ?? {})) {
        const meant = CONFIG_NAMES.includes(key) ? undefined : suggestName(key, CONFIG_NAMES);
        if (meant) issues.add('misspelled', [key], `an unknown option: did you mean ${meant}?`);
      }
    });
    if (issues.hasErrors) throw new ValidationError(issues.finish(), 'hasher');
    const { paths, pathRoot, pieceLength, threads = 1, progress = false, readSize, memoryLimit = null } = config;
    this.paths = ORDER[version](paths);
    this.pathRoot = absolutePath(pathRoot) as string;
    this.pieceLength = pieceLength;
    this.threads = threads;
    this.progress = progress;
    this.readSize = readSize ?? Math.max(pieceLength, version === 'v2' ? V2_READ_SIZE : 0);
    this.memoryLimit = memoryLimit;
    this.#places = new Map(this.paths.map((name, place) => [name, place]));
  }

  /**
   * Hashes the pieces (v1) and blocks (v2) that a chunk completes. The hasher keeps the remaining bytes for the next chunk of
   * the file, or for {@link complete}. The chunks of a file must come in order, but may have any size. In v1 and hybrid, the
   * files must come in order too.
   *
   * @param chunk Its path is one of the hasher's paths, or an absolute path within `pathRoot`, as `iterBlocks` may give it.
   * @param pool Hashes on the threads of a pool. The chunk is copied first, so you may reuse it at once. Without a pool, the
   *   hashes are made before `update` returns.
   * @throws {MetainfoError} `ERR_INVALID_ARGUMENT` for a chunk of another file, or out of order
   */
  update(chunk: Chunk, pool?: null): Hash[];
  update(chunk: Chunk, pool: HashPool): Promise<Hash>[];
  update(chunk: Chunk, pool: HashPool | null | undefined): Hash[] | Promise<Hash>[];
  update(chunk: Chunk, pool?: HashPool | null): Hash[] | Promise<Hash>[] {
    checkArgument('pool', pool ?? null, Pool);
    const units = this.take(this.#nextOf(chunk));
    if (!pool) return units.map(hashed);
    return units.map(async ({ bytes, of }) => ({
      ...of,
      hash: await pool.hash(bytes, of.type === 'v1_piece' ? this.pieceLength : 0),
    }));
  }

  /**
   * Hashes the remaining bytes, and returns all hashes in the torrent's order. After that, you can use the hasher again.
   *
   * @param hashes The hashes that all calls of `update` returned.
   * @throws {MetainfoError} `ERR_INVALID_ARGUMENT` for an invalid hash, or one of another path
   */
  complete(hashes: readonly Hash[]): Hash[] {
    this.requireHashes(hashes);
    this.#next = new Map();
    const rank = (hash: Hash) => (hash.type === 'v1_piece' ? -1 : (this.#places.get(hash.path) ?? this.paths.length));
    const types: Hash['type'][] = ['v1_piece', 'v2_piece', 'block'];
    return [...hashes, ...this.rest().map(hashed)].sort(
      (a, b) => types.indexOf(a.type) - types.indexOf(b.type) || rank(a) - rank(b) || a.idx - b.idx,
    );
  }

  /**
   * Hashes all files from disk, on the threads of an engine.
   *
   * @returns The same hashes as `complete` for all chunks of the files.
   * @throws {MetainfoError} as `TorrentCreate.generate` for files that cannot be read, or that change meanwhile
   */
  async process(options: ProcessOptions = {}): Promise<Hash[]> {
    const checked = checkOptions(options, PROCESS);
    return track('process', (job) => this.#process(checked, job));
  }

  async #process({ signal, onProgress, engine = defaultEngine() }: ProcessOptions, job: Job): Promise<Hash[]> {
    job.begin();
    const entries = this.paths.map((name) => name.split('/'));
    const scanned = await untilAbort(signal, scan(this.pathRoot, entries, { signal, anyFiles: true }));
    const files = scannedFiles(scanned);
    for (const [i, wanted] of this.paths.entries()) {
      this.#sizes.set(wanted, files[i]?.length ?? 0);
      if (files[i]?.path.join('/') === wanted) continue;
      const name = path.join(this.pathRoot, wanted);
      throw new MetainfoError('ERR_NOT_A_FILE', `${name} is a folder.`, { path: name });
    }
    const requests = this.requests(files);
    job.describe({ bytes: files.reduce((sum, { length }) => sum + length, 0), files: files.length });
    const digests = await watch(() => this.#hash(requests, files, engine), {
      signal,
      onProgress,
      progress: this.progress,
    }).catch((error) => {
      throw deletedSinceScan(error);
    });
    return requests.flatMap(({ hashes }, i) => hashes(digests[i] as Digests));
  }

  /** Hashes one request after the other, so that together they use no more threads and memory than the configuration allows. */
  #hash(requests: readonly HasherRequest[], files: readonly ScannedFile[], engine: Engine): RunningJob<Digests[]> {
    const totalBytes = files.reduce((sum, { length }) => sum + length, 0);
    const group = new JobGroup(engine);
    const hashAll = async () => {
      const digests: Digests[] = [];
      for (const { request } of requests) {
        const nameOf = (fileIndex: number) => this.paths[fileIndex] ?? '';
        digests.push(await group.run({ ...request, onMissing: 'fail', ...this.#resources(request.version) }, nameOf));
      }
      return digests;
    };
    return {
      done: group.finish(hashAll()),
      progress: () => {
        const { bytes, file, queued } = group.progress();
        // Every request reads all of the content.
        return { bytes: Math.floor(bytes / requests.length), totalBytes, file, queued };
      },
      cancel: () => group.cancel(),
    };
  }

  #resources(version: HashRequest['version']): Pick<HashRequest, 'threads' | 'readSize' | 'memoryLimit'> {
    const threads = this.threads ?? availableParallelism();
    const memoryLimit = this.memoryLimit ?? Math.max(DEFAULT_MEMORY_PER_THREAD, this.readSize) * threads;
    // Engines accept powers of two only.
    const most = Math.max(BLOCK_SIZE, Math.min(this.readSize, memoryLimit));
    return checkedResources({ threads, readSize: powerOfTwoWithin(most), memoryLimit }, version, threads);
  }

  /** Checks that a chunk comes next, and returns it with the path that the hasher uses. */
  #nextOf(given: Chunk): Chunk {
    const { name, chunk, idx } = readSafely('chunk', () => ({
      name: this.#nameOf(checkArgument('chunk.path', given.path, Text)),
      chunk: bytesOf('chunk.chunk', given.chunk),
      idx: given.idx,
    }));
    const place = this.#next.get(name) ?? 0;
    if (idx !== place) {
      const problem = `chunks must come in order: expected chunk ${place} of ${name}, got ${shown(idx)}`;
      throw invalidArgument(problem, { path: name });
    }
    this.#next.set(name, place + 1);
    this.#sizes.set(name, (place === 0 ? 0 : (this.#sizes.get(name) as number)) + chunk.length);
    return { path: name, chunk, idx };
  }

  /** Finds the hasher's path for a path that is relative, or absolute and within the root. */
  #nameOf(given: string): string {
    if (this.#places.has(given)) return given;
    const name = path.isAbsolute(given) ? componentsWithin(this.pathRoot, given)?.join('/') : undefined;
    if (name !== undefined && this.#places.has(name)) return name;
    throw invalidArgument(`${shown(given)} is not one of the hasher's paths`, { path: given });
  }

  /** @internal The size of a file, if its chunks or `process` have told it. */
  sizeOf(name: string): number | undefined {
    return this.#sizes.get(name);
  }

  /** @internal @throws {MetainfoError} `ERR_INVALID_ARGUMENT` for invalid hashes, or hashes of other paths */
  requireHashes(hashes: readonly Hash[]): void {
    checkArgument('hashes', hashes, List);
    readSafely('hashes', () => {
      for (const hash of hashes) {
        const problem =
          hashProblem(hash) ??
          (this.#places.has(hash.path) ? null : `${shown(hash.path)} is not one of the hasher's paths`);
        if (problem !== null) throw invalidArgument(`hashes: ${problem}`);
      }
    });
  }

  /** @internal The index of a path in {@link paths}. */
  protected placeOf(name: string): number {
    return this.#places.get(name) as number;
  }

  /** @internal Returns the pieces or blocks that a chunk completes. */
  protected abstract take(chunk: Chunk): HashUnit[];
  /** @internal Returns the incomplete pieces or blocks, and resets the hasher. */
  protected abstract rest(): HashUnit[];
  /** @internal Makes the requests for {@link process}. */
  protected abstract requests(files: readonly ScannedFile[]): HasherRequest[];
}

function hashed({ bytes, of }: HashUnit): Hash {
  return { ...of, hash: of.type === 'v1_piece' ? createHash('sha1').update(bytes).digest() : sha256(bytes) };
}
