/** Waits for a running job: reports its progress, and cancels it through a signal. */
import { AbortError, onAbort, throwIfAborted } from '../errors/cancel.ts';
import { MetainfoError } from '../errors/errors.ts';
import { Callback, Flag, type OptionStructs, Signal } from '../errors/guard.ts';
import type { Retrying } from '../hash/engine.ts';
import type { Digests, HashJob } from '../hash/hash-request.ts';
import { inNode, uptime } from '../platform/node.ts';
import { loadProgressBar } from './load.ts';
import type { ProgressBar } from './progress-bar.ts';

/** The progress of a job. */
export interface Progress {
  /** Bytes of content hashed. */
  bytes: number;
  /**
   * Bytes of content that have arrived: those that are hashed, and those of sources that wait for the rest of their pieces. Content
   * that the engine reads itself arrives when it is hashed.
   */
  arrivedBytes: number;
  /** Bytes of content to be hashed. A stream of unknown length counts with the bytes that have arrived. */
  totalBytes: number;
  /** True if there is a stream of unknown length, so that `totalBytes` grows. */
  totalGrows?: boolean;
  /** The file being hashed: its path in the torrent, with `/`. */
  file: string;
  /** Seconds since hashing began. */
  seconds: number;
  /** Jobs of this process that go first while this one waits for a thread; 0 while it has one. */
  queued: number;
  /** While the job waits before a further attempt to read a file that could not be read. */
  retrying?: Retrying;
}

/** Options of every job. */
export interface WatchOptions {
  /**
   * Show a progress bar on standard error; if that is not a terminal, a line at most every minute.
   *
   * @default false
   */
  progress?: boolean;
  /**
   * Called about ten times a second while files are hashed. If it throws or returns a promise that rejects, the job stops and
   * fails with that error. The job waits for the promises before it ends.
   */
  onProgress?: ((progress: Progress) => void) | undefined;
  /** Cancels the job, which then rejects with an {@link AbortError}. */
  signal?: AbortSignal | undefined;
}

export const WATCH: OptionStructs<WatchOptions> = { progress: Flag, onProgress: Callback, signal: Signal };

/** A job that runs: a hash job, or a group of them. */
export interface RunningJob<T> {
  done: Promise<T>;
  /** Without `arrivedBytes`, content arrives when it is hashed. */
  progress(): Omit<Progress, 'seconds' | 'arrivedBytes'> & { arrivedBytes?: number };
  /** Makes `done` reject with `ERR_ABORTED`. */
  cancel(): void;
}

/** Describes the content of a hash job, for its progress. */
interface JobContent {
  totalBytes: number;
  /** The name of a file of the request. */
  nameOf: (fileIndex: number) => string;
}

/** A single hash job as a running job. */
export function runningJob(job: HashJob, { totalBytes, nameOf }: JobContent): RunningJob<Digests> {
  return {
    done: job.done,
    progress: () => {
      const { fileIndex, ...progress } = job.progress();
      return { ...progress, totalBytes, file: nameOf(fileIndex) };
    },
    cancel: () => job.cancel(),
  };
}

const PROGRESS_INTERVAL_MS = 100;
/** The bar shows nothing before, and loading its module takes longer than making a small torrent. */
const LOAD_BAR_AFTER_MS = 500;

/**
 * Starts a job and waits for its end. Reports its progress, and cancels it when the signal fires or `onProgress` throws.
 *
 * @throws {AbortError} with the signal's reason as `cause`
 * @throws the error of the job or of `onProgress`
 */
export async function watch<T>(start: () => RunningJob<T>, options: WatchOptions): Promise<T> {
  const { signal, progress, onProgress } = options;
  // Small jobs take so little time that a watcher would show.
  if (!signal && !progress && !onProgress) return start().done;
  throwIfAborted(signal);
  const job = start();
  const reporter = new Reporter(job, options);
  const cancel = () => job.cancel();
  const removeListener = onAbort(signal, cancel);
  // The signal may have fired while the job started.
  if (signal?.aborted) cancel();
  try {
    const result = await job.done;
    await reporter.finish();
    return result;
  } catch (error) {
    reporter.throwIfFailed();
    if (signal?.aborted && (error as MetainfoError).code === 'ERR_ABORTED') throw new AbortError(signal);
    throw error;
  } finally {
    reporter.stop();
    removeListener();
  }
}

/** Reports the progress of a job to a callback and a bar. */
class Reporter {
  readonly #job: RunningJob<unknown>;
  readonly #onProgress: WatchOptions['onProgress'];
  readonly #started = uptime();
  readonly #timers: NodeJS.Timeout[] = [];
  /** Promises that the callback returned. */
  readonly #pending = new Set<Promise<void>>();
  #bar: ProgressBar | null = null;
  #failure: { error: unknown } | null = null;

  constructor(job: RunningJob<unknown>, { onProgress, progress = false }: WatchOptions) {
    this.#job = job;
    this.#onProgress = onProgress;
    if (onProgress || progress) this.#timers.push(setInterval(() => this.#tick(), PROGRESS_INTERVAL_MS));
    if (inNode() && progress)
      this.#timers.push(
        setTimeout(async () => {
          // If the module does not load, the job goes on without a bar.
          const loaded = loadProgressBar().then(({ progressBar }) => progressBar());
          this.#bar = await loaded.catch(() => null);
        }, LOAD_BAR_AFTER_MS),
      );
  }

  /** Reports the end of the job. */
  async finish(): Promise<void> {
    if (this.#timers.length > 0) this.#report();
    await Promise.all(this.#pending);
    this.throwIfFailed();
  }

  throwIfFailed(): void {
    if (this.#failure) throw this.#failure.error;
  }

  stop(): void {
    for (const timer of this.#timers) clearTimeout(timer);
    this.#bar?.finish();
  }

  /** An error thrown in a timer would end the process: it fails the job instead. */
  #tick(): void {
    try {
      this.#report();
    } catch (error) {
      this.#fail(error);
    }
  }

  #report(): void {
    const found = this.#job.progress();
    const progress: Progress = { arrivedBytes: found.bytes, ...found, seconds: uptime() - this.#started };
    const returned: unknown = this.#onProgress?.(progress);
    if (typeof returned === 'object' && returned !== null) {
      const pending: Promise<void> = Promise.resolve(returned).then(
        () => void this.#pending.delete(pending),
        (error) => this.#fail(error),
      );
      this.#pending.add(pending);
    }
    this.#bar?.update(progress);
  }

  #fail(error: unknown): void {
    this.#failure ??= { error };
    this.#job.cancel();
  }
}

/** Turns the `ERR_NOT_FOUND` of a file that the scan found into `ERR_FILE_CHANGED`; returns every other error as it is. */
export function deletedSinceScan(error: unknown): unknown {
  if (!(error instanceof MetainfoError) || error.code !== 'ERR_NOT_FOUND') return error;
  const { path, cause } = error;
  return new MetainfoError('ERR_FILE_CHANGED', `${path} was deleted before it was hashed.`, { path, cause });
}
