/** Hashes files that may be what a torrent misses. A file that cannot be read is left out, and the others go on. */
import { availableParallelism } from 'node:os';
import { throwIfAborted } from '../errors/cancel.ts';
import { MetainfoError } from '../errors/errors.ts';
import { defaultEngine } from '../hash/default-engine.ts';
import { checkedResources, type HashJob, type RequestedFile } from '../hash/hash-request.ts';
import { pathOf } from '../hash/open-without-links.ts';
import { LARGE_JOB_BYTES } from '../jobs/job-limiter.ts';
import { type RunningJob, watch } from '../jobs/watch.ts';
import { type Search, skip } from './collect-candidates.ts';

/** A range of a candidate; in v1 with the rest of its pieces: files that are in their places, and pad files. */
type Content = readonly RequestedFile[];

/** The hashes of each content: in v1 those of its pieces, in v2 its root; null for one that could not be read. */
type Hashes = (Uint8Array | null)[];

/** Contents and bytes of one hash job. After a file that cannot be read, the job starts again without it. */
const MAX_CONTENTS = 1024;
const MAX_BYTES = 2 ** 30;

/** Hashes contents, in jobs of a bounded size. */
export async function hashCandidates(search: Search, contents: readonly Content[]): Promise<Hashes> {
  if (contents.length === 0) return [];
  const totalBytes = bytesOf(contents.flat());
  search.bytesRead += totalBytes;
  if (totalBytes > LARGE_JOB_BYTES) search.slot.release();
  return watch(() => new CandidateHashes(search, contents, totalBytes), search.options);
}

/** The bytes that are hashed, those of pad files included. */
function bytesOf(content: Content): number {
  return content.reduce((sum, { length }) => sum + length, 0);
}

class CandidateHashes implements RunningJob<Hashes> {
  readonly done: Promise<Hashes>;
  readonly #search: Search;
  readonly #totalBytes: number;
  readonly #version: 'v1' | 'v2';
  #job: HashJob | null = null;
  /** The files of the job. */
  #files: Content = [];
  /** Bytes of the jobs that have ended. */
  #bytes = 0;
  readonly #stop = new AbortController();

  constructor(search: Search, contents: readonly Content[], totalBytes: number) {
    this.#search = search;
    this.#totalBytes = totalBytes;
    this.#version = search.torrent.torrentVersion === 'v1' ? 'v1' : 'v2';
    this.done = this.#run(contents);
  }

  progress(): ReturnType<RunningJob<unknown>['progress']> {
    const { bytes = 0, fileIndex = 0, queued = 0 } = this.#job?.progress() ?? {};
    const file = this.#files[fileIndex];
    const name = file && file.path !== null ? pathOf(file) : '';
    return { bytes: Math.min(this.#bytes + bytes, this.#totalBytes), totalBytes: this.#totalBytes, file: name, queued };
  }

  cancel(): void {
    this.#stop.abort();
    this.#job?.cancel();
  }

  async #run(contents: readonly Content[]): Promise<Hashes> {
    const hashes: Hashes = [];
    // In v2, every file begins with a piece.
    const pieceLength = this.#version === 'v1' ? this.#search.torrent.info.pieceLength : 1;
    for (const batch of batchesOf(contents, pieceLength)) {
      for (const hash of await this.#hash(batch)) hashes.push(hash);
      this.#bytes += bytesOf(batch.flat());
    }
    return hashes;
  }

  async #hash(batch: readonly Content[]): Promise<Hashes> {
    const unreadable = new Set<string>();
    for (;;) {
      throwIfAborted(this.#stop.signal);
      const isReadable = (content: Content) => !pathsOf(content).some((path) => unreadable.has(path));
      const contents = batch.filter(isReadable);
      if (contents.length === 0) return batch.map(() => null);
      try {
        const hashes = await this.#hashAll(contents);
        let next = 0;
        return batch.map((content) => (isReadable(content) ? (hashes[next++] as Uint8Array) : null));
      } catch (error) {
        const { path } = error as MetainfoError;
        const isOfFile = error instanceof MetainfoError && path !== undefined && pathsOf(this.#files).includes(path);
        if (!isOfFile) throw error;
        unreadable.add(path);
        skip(this.#search, error);
      } finally {
        this.#job = null;
      }
    }
  }

  async #hashAll(contents: readonly Content[]): Promise<Uint8Array[]> {
    const { options, torrent } = this.#search;
    const { engine = defaultEngine() } = options;
    const { pieceLength } = torrent.info;
    const version = this.#version;
    const resources = checkedResources(options, version, availableParallelism());
    this.#files = contents.flat();
    this.#job = engine.start({ files: this.#files, version, pieceLength, onMissing: 'fail', ...resources });
    const { v1, v2 } = await this.#job.done;
    const hashes = (v2?.roots ?? v1) as Uint8Array;
    let end = 0;
    return contents.map((content) => {
      const start = end;
      end += v2 ? 32 : 20 * Math.ceil(bytesOf(content) / pieceLength);
      return hashes.slice(start, end);
    });
  }
}

/** The files that are read, as errors name them. */
function pathsOf(content: Content): string[] {
  return content.flatMap((file) => (file.path === null ? [] : [pathOf(file)]));
}

/** A content whose last piece is short ends its job, because the pieces of a job follow each other. */
function* batchesOf(contents: readonly Content[], pieceLength: number): Generator<Content[]> {
  let batch: Content[] = [];
  let bytes = 0;
  for (const content of contents) {
    batch.push(content);
    bytes += bytesOf(content);
    if (batch.length < MAX_CONTENTS && bytes < MAX_BYTES && bytes % pieceLength === 0) continue;
    yield batch;
    [batch, bytes] = [[], 0];
  }
  if (batch.length > 0) yield batch;
}
