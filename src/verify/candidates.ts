/** Hashes files that may be what a torrent misses. A file that cannot be read is left out, and the others go on. */
import { throwIfAborted } from '../errors/cancel.ts';
import { MetainfoError } from '../errors/errors.ts';
import type { Engine } from '../hash/engine.ts';
import type { checkedResources, Digests, HashJob, HashRequest, RequestedFile } from '../hash/hash-request.ts';
import { pathOf } from '../hash/open-without-links.ts';
import type { RunningJob } from '../jobs/watch.ts';
import { type DiskFile, rangeOf } from './match-files.ts';

/** A range of a file that is to be hashed. */
export interface CandidateRange {
  file: DiskFile;
  /** Bytes. */
  offset: number;
  /** Bytes. */
  length: number;
  /** v1: the rest of its pieces, before and after it: files that are in their places, and pad files. */
  before?: readonly RequestedFile[];
  after?: readonly RequestedFile[];
  /** Whether the torrent ends with it, perhaps in a short piece. */
  isLast?: boolean;
}

/** A range with the rest of its pieces. */
function planFiles({ file, offset, length, before = [], after = [] }: CandidateRange): RequestedFile[] {
  return [...before, rangeOf(file, offset, length), ...after];
}

/** The bytes that are hashed for a range, pad files included. */
export function bytesOf(range: CandidateRange): number {
  return planFiles(range).reduce((sum, { length }) => sum + length, 0);
}

/** How to hash ranges. */
export interface CandidateHashing {
  engine: Engine;
  version: 'v1' | 'v2';
  pieceLength: number;
  resources: ReturnType<typeof checkedResources>;
  /** Called with the error of each file that could not be read. */
  onUnreadable: (error: MetainfoError) => void;
}

/** Ranges and bytes of one hash job. After a file that cannot be read, the job starts again without it. */
const MAX_RANGES = 1024;
const MAX_BYTES = 2 ** 30;

/**
 * Hashes ranges, in jobs of a bounded size. The result has the hashes of each range: in v1 those of its pieces, in v2 the root of
 * the range; null for a range that could not be read.
 */
export class CandidateHashes implements RunningJob<(Uint8Array | null)[]> {
  readonly done: Promise<(Uint8Array | null)[]>;
  readonly #ranges: readonly CandidateRange[];
  readonly #hashing: CandidateHashing;
  readonly #totalBytes: number;
  #job: HashJob | null = null;
  #batch: readonly CandidateRange[] = [];
  /** Bytes of the jobs that have ended. */
  #bytes = 0;
  readonly #stop = new AbortController();

  constructor(ranges: readonly CandidateRange[], hashing: CandidateHashing) {
    this.#ranges = ranges;
    this.#hashing = hashing;
    this.#totalBytes = ranges.reduce((sum, range) => sum + bytesOf(range), 0);
    this.done = this.#run();
  }

  progress(): ReturnType<RunningJob<unknown>['progress']> {
    const { bytes = 0, fileIndex = 0, queued = 0 } = this.#job?.progress() ?? {};
    const file = this.#batch[fileIndex]?.file.diskPath ?? '';
    return { bytes: Math.min(this.#bytes + bytes, this.#totalBytes), totalBytes: this.#totalBytes, file, queued };
  }

  cancel(): void {
    this.#stop.abort();
    this.#job?.cancel();
  }

  async #run(): Promise<(Uint8Array | null)[]> {
    const hashes: (Uint8Array | null)[] = [];
    for (const batch of batchesOf(this.#ranges)) {
      for (const hash of await this.#hash(batch)) hashes.push(hash);
      this.#bytes += batch.reduce((sum, range) => sum + bytesOf(range), 0);
    }
    return hashes;
  }

  async #hash(batch: readonly CandidateRange[]): Promise<(Uint8Array | null)[]> {
    const unreadable = new Set<string>();
    for (;;) {
      throwIfAborted(this.#stop.signal);
      const isReadable = (range: CandidateRange) => !pathsOf(range).some((path) => unreadable.has(path));
      const ranges = batch.filter(isReadable);
      if (ranges.length === 0) return batch.map(() => null);
      try {
        const hashes = await this.#hashAll(ranges);
        let next = 0;
        return batch.map((range) => (isReadable(range) ? (hashes[next++] as Uint8Array) : null));
      } catch (error) {
        const { path } = error as MetainfoError;
        const isOfFile =
          error instanceof MetainfoError && path !== undefined && ranges.some((range) => pathsOf(range).includes(path));
        if (!isOfFile) throw error;
        unreadable.add(path as string);
        this.#hashing.onUnreadable(error);
      } finally {
        this.#job = null;
      }
    }
  }

  async #hashAll(ranges: readonly CandidateRange[]): Promise<Uint8Array[]> {
    const { engine, version, pieceLength, resources } = this.#hashing;
    const request: HashRequest = {
      files: ranges.flatMap(planFiles),
      version,
      pieceLength,
      onMissing: 'fail',
      ...resources,
    };
    this.#batch = ranges;
    this.#job = engine.start(request);
    const digests = await this.#job.done;
    return version === 'v2' ? rootsOf(ranges, digests) : piecesOf(ranges, digests, pieceLength);
  }
}

/** The files that are read for a range, as errors name them. */
function pathsOf(range: CandidateRange): string[] {
  return planFiles(range).flatMap((file) => (file.path === null ? [] : [pathOf(file)]));
}

/** A range whose last piece is short ends its job, because the pieces of a job follow each other. */
function* batchesOf(ranges: readonly CandidateRange[]): Generator<CandidateRange[]> {
  let batch: CandidateRange[] = [];
  let bytes = 0;
  for (const range of ranges) {
    batch.push(range);
    bytes += bytesOf(range);
    if (batch.length < MAX_RANGES && bytes < MAX_BYTES && !range.isLast) continue;
    yield batch;
    [batch, bytes] = [[], 0];
  }
  if (batch.length > 0) yield batch;
}

function rootsOf(ranges: readonly CandidateRange[], { v2 }: Digests): Uint8Array[] {
  const { roots } = v2 as NonNullable<Digests['v2']>;
  return ranges.map((_, i) => roots.slice(i * 32, (i + 1) * 32));
}

function piecesOf(ranges: readonly CandidateRange[], { v1 }: Digests, pieceLength: number): Uint8Array[] {
  let first = 0;
  return ranges.map((range) => {
    const count = Math.ceil(bytesOf(range) / pieceLength);
    const hashes = (v1 as Uint8Array).slice(first * 20, (first + count) * 20);
    first += count;
    return hashes;
  });
}
