import { setMaxListeners } from 'node:events';
import { hashingCancelled } from '../errors/cancel.ts';
import { MetainfoError } from '../errors/errors.ts';
import type { Engine } from '../hash/engine.ts';
import { type Digests, type HashJob, type HashPlan, type PlanFile, planResources } from '../hash/plan.ts';
import { allocPrivate } from '../hash/private-buffer.ts';
import type { RunningJob } from '../jobs/watch.ts';
import { BLOCK_SIZE, powerOfTwoWithin } from '../layout/piece-length.ts';
import type { ContentFile } from './content.ts';
import { type Ahead, type SourceFile, SourceReader } from './sources.ts';

export interface StreamedContent {
  /** In the torrent's order. */
  files: readonly ContentFile[];
  /** Those of them that are to be read, in the order to read them in. */
  streams: readonly SourceFile[];
  version: HashPlan['version'];
  pieceLength: number;
  /** Which files have a pad after them; null when none has. The last of v1 may need a length that is not known. */
  isPadded: ((index: number) => boolean) | null;
  threads: number;
  /** Bytes of all buffers. */
  memoryLimit: number;
  readSize?: number | null | undefined;
}

/** The lanes of the widest kernel: as many pieces are hashed at once. */
const LANES = 16;
/** Less is not worth the start of a job. */
const SMALL_SEGMENT = 4 * 2 ** 20;
const V2_SEGMENT = 8 * 2 ** 20;
/** Files that are read at once where each is hashed by itself. Somebody else's server may have to answer them. */
const STREAMS_AT_ONCE = 4;
const REQUESTS_AT_ONCE = 4;
const DEFAULT_REQUEST = 2 ** 20;

/** Things to lend, and those who wait for one. */
class Stock<T> {
  readonly #make: () => T;
  readonly #free: T[] = [];
  readonly #waiting: ((item: T) => void)[] = [];
  #left: number;

  constructor(count: number, make: () => T) {
    this.#left = count;
    this.#make = make;
  }

  take(): T | Promise<T> {
    const free = this.#free.pop();
    if (free !== undefined) return free;
    if (this.#left > 0) {
      this.#left -= 1;
      return this.#make();
    }
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  give(item: T): void {
    const next = this.#waiting.shift();
    if (next) next(item);
    else this.#free.push(item);
  }
}

type Resources = Pick<HashPlan, 'threads' | 'readSize' | 'memoryLimit'>;

/** What jobs of one sort may use at once. */
interface Share {
  slots: Stock<true>;
  resources: Resources;
}

/** The jobs of one run, and what they share. */
export class Jobs {
  readonly content: StreamedContent;
  readonly segments: Stock<Buffer>;
  /** Bytes of a segment: a power of two, and at least a piece where pieces are hashed whole. */
  readonly segmentSize: number;
  readonly streamsAtOnce: number;
  readonly ahead: Ahead;
  readonly #engine: Engine;
  readonly #stop = new AbortController();
  readonly #small: Share;
  readonly #large: Share;
  readonly #running = new Set<HashJob>();
  readonly #ends = new Set<Promise<unknown>>();
  #failure: { error: unknown } | null = null;
  #totalBytes: number;
  #hashed = 0;
  /** Of the streams that are being read, and of the last large job. */
  readonly #reading: string[] = [];
  #files: readonly PlanFile[] = [];
  #largeJob: HashJob | null = null;

  constructor(engine: Engine, content: StreamedContent) {
    const { files, streams, version, pieceLength, threads, memoryLimit, readSize } = content;
    if (version !== 'v2' && 2 * pieceLength > memoryLimit) {
      const least = 2 * pieceLength;
      const message = `Streams need room for a piece: memoryLimit must be at least ${least}, not ${memoryLimit}.`;
      throw new MetainfoError('ERR_INVALID_ARGUMENT', message);
    }
    this.content = content;
    this.#engine = engine;
    this.#totalBytes = files.reduce((sum, { length }) => sum + (length ?? 0), 0);
    // Beside files on disk, streams have one thread; they need it even if it is one too many, for who sends them waits.
    const large = Math.max(1, threads - 1);
    const small = streams.length === files.length ? threads : Math.max(1, threads - large);
    // Half is for what has come, a quarter for what was asked for, a quarter for those who hash.
    const room = Math.floor(memoryLimit / 2);
    const [least, most] =
      version === 'v2' ? [BLOCK_SIZE, V2_SEGMENT] : [pieceLength, Math.max(LANES * pieceLength, SMALL_SEGMENT)];
    this.segmentSize = Math.max(least, Math.min(most, powerOfTwoWithin(room / (small + 1))));
    const count = Math.max(1, Math.min(small + STREAMS_AT_ONCE, Math.floor(room / this.segmentSize)));
    this.segments = new Stock<Buffer>(count, () => allocPrivate(this.segmentSize));
    this.streamsAtOnce = Math.min(STREAMS_AT_ONCE, count);
    const size = Math.max(BLOCK_SIZE, Math.min(readSize ?? DEFAULT_REQUEST, powerOfTwoWithin(room / 2)));
    const requests = Math.floor(room / 2 / size / this.streamsAtOnce);
    this.ahead = { size, count: Math.max(1, Math.min(REQUESTS_AT_ONCE, requests)) };
    const resources = (count: number, bytes: number) => {
      const share = Math.max(BLOCK_SIZE, Math.floor(bytes));
      const read = readSize ? Math.min(readSize, powerOfTwoWithin(share)) : undefined;
      return planResources({ threads: count, memoryLimit: share, readSize: read }, version, count);
    };
    this.#small = { slots: new Stock<true>(small, () => true), resources: resources(1, room / 4 / small) };
    this.#large = { slots: new Stock<true>(1, () => true), resources: resources(large, room / 4) };
    // Every request that is ahead may listen to it.
    setMaxListeners(0, this.#stop.signal);
  }

  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  /** Hashes files that are on disk, among others: one job at a time, on all threads that are there for it. */
  startLarge(files: readonly PlanFile[]): Promise<Digests> {
    return this.#track(this.#start(files, this.#large));
  }

  /** Hashes what is in memory, on one thread, when there is one for it. */
  startSmall(files: readonly PlanFile[]): Promise<Digests> {
    return this.#track(this.#start(files, this.#small));
  }

  async #start(files: readonly PlanFile[], { slots, resources }: Share): Promise<Digests> {
    const slot = await slots.take();
    try {
      return await this.#run(files, resources);
    } finally {
      slots.give(slot);
    }
  }

  async #run(files: readonly PlanFile[], resources: Resources): Promise<Digests> {
    const { version, pieceLength } = this.content;
    if (this.signal.aborted) throw hashingCancelled();
    const job = this.#engine.start({ files, version, pieceLength, onMissing: 'fail', ...resources });
    this.#running.add(job);
    if (resources === this.#large.resources) [this.#files, this.#largeJob] = [files, job];
    try {
      return await job.done;
    } finally {
      this.#running.delete(job);
      this.#hashed += job.progress().bytes;
    }
  }

  /** When one fails the others need not go on. It is thrown where it is awaited. */
  #track(done: Promise<Digests>): Promise<Digests> {
    this.#ends.add(done);
    const failed = (error: unknown) => {
      this.#failure ??= { error };
      this.cancel();
    };
    done.catch(failed).finally(() => this.#ends.delete(done));
    return done;
  }

  /** Begins to read a stream; what it returns tells of its end. */
  open(file: SourceFile): { reader: SourceReader; close: () => void } {
    const name = file.path.join('/');
    const reader = new SourceReader(file, this.ahead, this.signal);
    this.#reading.push(name);
    const close = () => {
      reader.close();
      this.#reading.splice(this.#reading.indexOf(name), 1);
    };
    return { reader, close };
  }

  /** Tells of bytes that no length has told of. */
  cameUnannounced(bytes: number): void {
    this.#totalBytes += bytes;
  }

  progress(): ReturnType<RunningJob<unknown>['progress']> {
    const now = [...this.#running].map((job) => job.progress());
    const bytes = now.reduce((sum, job) => sum + job.bytes, this.#hashed);
    const queued = now.length === 0 ? 0 : Math.min(...now.map((job) => job.queued));
    return { bytes, totalBytes: this.#totalBytes, file: this.#reading.at(-1) ?? this.#fileOnDisk(), queued };
  }

  #fileOnDisk(): string {
    const at = this.#largeJob && this.#files[this.#largeJob.progress().fileIndex];
    const file = at && this.content.files.find(({ diskPath }) => diskPath === at.path);
    return file?.path.join('/') ?? '';
  }

  cancel(): void {
    this.#stop.abort();
    for (const job of this.#running) job.cancel();
  }

  /** Ends everything, and waits for it: memory is in use until then. */
  async fail(error: unknown): Promise<never> {
    // What comes after the first failure is how the others were stopped.
    const first = this.#failure ?? { error };
    this.cancel();
    await Promise.allSettled(this.#ends);
    throw first.error;
  }
}
