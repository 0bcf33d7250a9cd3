import { createHash } from 'node:crypto';
import { availableParallelism } from 'node:os';
import path from 'node:path';
import type { Struct } from 'superstruct';
import { componentsWithin } from '../disk/containment.ts';
import { type ScannedFile, scan } from '../disk/scan.ts';
import { untilAbort } from '../errors/cancel.ts';
import { ISSUE_CODES, type IssueCode } from '../errors/codes.ts';
import { MetainfoError, shown, ValidationError } from '../errors/errors.ts';
import {
  bytesOf,
  checkArgument,
  checkOptions,
  expected,
  List,
  type OptionStructs,
  orNull,
  readSafely,
  suggestName,
  Text,
} from '../errors/guard.ts';
import { defaultEngine } from '../hash/default-engine.ts';
import { AnyEngine, type Engine } from '../hash/engine.ts';
import { sha256 } from '../hash/merkle.ts';
import { DEFAULT_MEMORY_PER_THREAD, type Digests, type HashPlan, isPad, planResources } from '../hash/plan.ts';
import { JobGroup } from '../jobs/job-group.ts';
import { deletedSinceScan, type RunningJob, WATCH, type WatchOptions, watch } from '../jobs/watch.ts';
import { BLOCK_SIZE, powerOfTwoWithin } from '../layout/piece-length.ts';
import { Issues } from '../model/issues.ts';
import { failuresOf } from '../model/rules.ts';
import { HasherConfig, V2HasherConfig } from './config.ts';
import { HashPool } from './pool.ts';
import { type Chunk, type Hash, hashProblem } from './records.ts';

/** How {@link HasherBase.process} hashes. */
export interface ProcessOptions extends Pick<WatchOptions, 'signal' | 'onProgress'> {
  /** Default: the one that METAINFO_ENGINE names; else the native one, or where that does not load `nodeEngine()`. */
  engine?: Engine | undefined;
}

const CONFIG_NAMES = ['paths', 'pathRoot', 'pieceLength', 'threads', 'progress', 'readSize', 'memoryLimit'];
const PROCESS: OptionStructs<ProcessOptions> = {
  signal: WATCH.signal,
  onProgress: WATCH.onProgress,
  engine: AnyEngine,
};
const Pool = orNull(expected<HashPool>('a HashPool', (value) => value instanceof HashPool));

/** Bytes that are to be hashed, and what the hash is of. */
export interface HashUnit {
  /** A whole piece or block, or what is left of one. */
  bytes: Uint8Array;
  /** The type, path and index of its hash. */
  of: Omit<Hash, 'hash'>;
}

/** A plan of a hasher, and what its digests are the hashes of. */
export interface HasherPlan {
  /** What an engine hashes. */
  plan: Pick<HashPlan, 'files' | 'version' | 'pieceLength'>;
  /** Makes records of the digests of the plan. */
  hashes: (digests: Digests) => Hash[];
}

/**
 * Hashes files in parts: `update` takes chunks as somebody reads them, `complete` makes the last hashes and puts all in
 * order. `process` does both for whole files, natively.
 */
export abstract class HasherBase {
  /** In the order in which they are hashed. */
  readonly paths: readonly string[];
  /** The folder that they are in; absolute. */
  readonly pathRoot: string;
  /** Bytes. */
  readonly pieceLength: number;
  /** null: one a core. */
  readonly threads: number | null;
  /** Whether {@link HasherBase.process} shows a bar. */
  readonly progress: boolean;
  /** Bytes. */
  readonly readSize: number;
  /** Bytes; null: 64 MiB a thread. */
  readonly memoryLimit: number | null;
  /** The number of each path in the order. */
  readonly #places: ReadonlyMap<string, number>;
  /** Of each path, the number of the chunk that comes next. */
  #next = new Map<string, number>();
  /** Bytes of each path, as far as its chunks have come. */
  readonly #sizes = new Map<string, number>();

  /** @throws {ValidationError} with every rule that the configuration breaks */
  protected constructor(config: HasherConfig, version: HashPlan['version']) {
    const issues = new Issues();
    readSafely('config', () => {
      checkConfig(config, version, issues);
      for (const key of Object.keys(config ?? {})) {
        const meant = CONFIG_NAMES.includes(key) ? undefined : suggestName(key, CONFIG_NAMES);
        if (meant) issues.add('misspelled', [key], `an unknown option: did you mean ${meant}?`);
      }
    });
    if (issues.hasErrors) throw new ValidationError(issues.finish(), 'hasher');
    const { paths, pathRoot, pieceLength, threads = 1, progress = false, readSize, memoryLimit = null } = config;
    this.paths = this.sortPaths(paths);
    this.pathRoot = pathRoot;
    this.pieceLength = pieceLength;
    this.threads = threads;
    this.progress = progress;
    this.readSize = readSize ?? this.defaultReadSize(pieceLength);
    this.memoryLimit = memoryLimit;
    this.#places = new Map(this.paths.map((name, place) => [name, place]));
  }

  /** The paths in the order of the torrent; here as they are given. */
  protected sortPaths(paths: readonly string[]): readonly string[] {
    return paths;
  }

  /** `readSize` when none is given: the piece length. */
  protected defaultReadSize(pieceLength: number): number {
    return pieceLength;
  }

  /**
   * Hashes what a chunk completes: whole pieces (v1) and whole blocks (v2). What is left over waits for the next chunk of
   * the file, or for {@link complete}. Chunks of a file must come in order, in any sizes; in v1 and hybrid the files too.
   *
   * @param chunk Of one of the paths; an absolute path beneath `pathRoot`, as `iterBlocks` may give it, is made relative.
   * @param pool Without it the hashes are made at once. With it, on its threads: the chunk is copied first, so that
   *   it can be reused at once.
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
   * All hashes in the torrent's order: those given, and those of what was left over. The hasher can then be used anew.
   *
   * @param hashes What every `update` gave.
   * @throws {MetainfoError} `ERR_INVALID_ARGUMENT` for what is no hash of the hasher's paths
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
   * Hashes all files from disk, natively and off the event loop.
   *
   * @returns what `complete` gives for all of their chunks
   * @throws {MetainfoError} as `TorrentCreate.generate` for files that cannot be read or that change
   */
  async process(given: ProcessOptions = {}): Promise<Hash[]> {
    const { signal, onProgress, engine = defaultEngine() } = checkOptions(given, PROCESS);
    const entries = this.paths.map((name) => name.split('/'));
    const files = await untilAbort(signal, scan(this.pathRoot, entries, { signal, systemFiles: true }));
    for (const [i, wanted] of this.paths.entries()) {
      this.#sizes.set(wanted, files[i]?.length ?? 0);
      if (files[i]?.path.join('/') === wanted) continue;
      const name = path.join(this.pathRoot, wanted);
      throw new MetainfoError('ERR_NOT_A_FILE', `${name} is a folder.`, { path: name });
    }
    const parts = this.parts(files);
    const digests = await watch(() => this.#hash(parts, files, engine), {
      signal,
      onProgress,
      progress: this.progress,
    }).catch((error) => {
      throw deletedSinceScan(error);
    });
    return parts.flatMap(({ hashes }, i) => hashes(digests[i] as Digests));
  }

  /** Hashes one plan after the other, so that together they use no more threads and memory than the configuration allows. */
  #hash(plans: readonly HasherPlan[], files: readonly ScannedFile[], engine: Engine): RunningJob<Digests[]> {
    const totalBytes = files.reduce((sum, { length }) => sum + length, 0);
    const group = new JobGroup(engine);
    const hashAll = async () => {
      const digests: Digests[] = [];
      for (const { plan } of plans) {
        const nameOf = (fileIndex: number) => {
          const files = plan.files.slice(0, fileIndex + 1).filter((file) => !isPad(file));
          return this.paths[Math.max(0, files.length - 1)] ?? '';
        };
        digests.push(await group.run({ ...plan, onMissing: 'fail', ...this.#resources(plan.version) }, nameOf));
      }
      return digests;
    };
    return {
      done: group.finish(hashAll()),
      progress: () => {
        const { bytes, file, queued } = group.progress();
        // Every plan reads all of the content.
        return { bytes: Math.floor(bytes / plans.length), totalBytes, file, queued };
      },
      cancel: () => group.cancel(),
    };
  }

  #resources(version: HashPlan['version']): Pick<HashPlan, 'threads' | 'readSize' | 'memoryLimit'> {
    const threads = this.threads ?? availableParallelism();
    const memoryLimit = this.memoryLimit ?? Math.max(DEFAULT_MEMORY_PER_THREAD, this.readSize) * threads;
    // An engine reads powers of two.
    const most = Math.max(BLOCK_SIZE, Math.min(this.readSize, memoryLimit));
    return planResources({ threads, readSize: powerOfTwoWithin(most), memoryLimit }, version, threads);
  }

  /** A chunk that comes next, under the path that the hasher has for it. */
  #nextOf(given: Chunk): Chunk {
    const {
      path: name,
      chunk,
      idx,
    } = readSafely('chunk', () => {
      const { path: at, chunk: bytes, idx: number } = given;
      return {
        path: this.#nameOf(checkArgument('chunk.path', at, Text)),
        chunk: bytesOf('chunk.chunk', bytes),
        idx: number,
      };
    });
    const place = this.#next.get(name) ?? 0;
    if (idx !== place) {
      const problem = `Chunks must come in order: expected ${place} of ${name}, got ${shown(idx)}.`;
      throw new MetainfoError('ERR_INVALID_ARGUMENT', problem, { path: name });
    }
    this.#next.set(name, place + 1);
    this.#sizes.set(name, (place === 0 ? 0 : (this.#sizes.get(name) as number)) + chunk.length);
    return { path: name, chunk, idx };
  }

  /** The one of the paths that a path means: itself, or where an absolute one is beneath the root. */
  #nameOf(given: string): string {
    if (this.#places.has(given)) return given;
    const name = path.isAbsolute(given) ? componentsWithin(this.pathRoot, given)?.join('/') : undefined;
    if (name !== undefined && this.#places.has(name)) return name;
    const problem = `${shown(given)} is none of the hasher's paths.`;
    throw new MetainfoError('ERR_INVALID_ARGUMENT', problem, { path: given });
  }

  /** @internal Bytes of a path, where its chunks have come or `process` has read it. */
  sizeOf(name: string): number | undefined {
    return this.#sizes.get(name);
  }

  /** @internal @throws {MetainfoError} `ERR_INVALID_ARGUMENT` for what are no hashes of the paths */
  requireHashes(hashes: readonly Hash[]): void {
    checkArgument('hashes', hashes, List);
    readSafely('hashes', () => {
      for (const hash of hashes) {
        const problem =
          hashProblem(hash) ??
          (this.#places.has(hash.path) ? null : `${shown(hash.path)} is none of the hasher's paths`);
        if (problem !== null) throw new MetainfoError('ERR_INVALID_ARGUMENT', `hashes: ${problem}.`);
      }
    });
  }

  /** The place of a path in the order. */
  protected placeOf(name: string): number {
    return this.#places.get(name) as number;
  }

  /** What a chunk completes. */
  protected abstract take(chunk: Chunk): HashUnit[];
  /** What is left over. Nothing is, afterwards. */
  protected abstract rest(): HashUnit[];
  /** What an engine is to do. */
  protected abstract parts(files: readonly ScannedFile[]): HasherPlan[];
}

function hashed({ bytes, of }: HashUnit): Hash {
  return { ...of, hash: of.type === 'v1_piece' ? createHash('sha1').update(bytes).digest() : sha256(bytes) };
}

function checkConfig(config: HasherConfig, version: HashPlan['version'], issues: Issues): void {
  const struct = version === 'v1' ? HasherConfig : V2HasherConfig;
  for (const { path: at, message, type } of failuresOf(config ?? {}, struct as unknown as Struct))
    issues.add(Object.hasOwn(ISSUE_CODES, type) ? (type as IssueCode) : 'type', at, message);
}
