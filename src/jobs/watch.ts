import { availableParallelism } from 'node:os';
import { AbortError, onAbort, throwIfAborted } from '../errors/cancel.ts';
import { MetainfoError } from '../errors/errors.ts';
import { Callback, Flag, type OptionStructs, Signal } from '../errors/guard.ts';
import type { Digests, HashJob } from '../hash/plan.ts';
import { Limiter } from './limiter.ts';
import type { ProgressBar } from './progress-bar.ts';

/** Creating and verifying, from the first look at the disk to its last hash: enough to keep the disk and all cores busy. */
export const jobLimiter = new Limiter(Math.max(8, availableParallelism()));

/**
 * Bytes of content above which a job gives up its turn when it begins to hash: native threads share themselves out among
 * those, and small ones must not wait for them.
 */
export const LARGE_JOB = 64 * 2 ** 20;

/** How far a generation is. */
export interface Progress {
  /** Bytes of content hashed. */
  bytes: number;
  /** Of a stream of unknown size, what has come of it so far. */
  totalBytes: number;
  /** The file being hashed, from the torrent's root with `/`. */
  file: string;
  /** Since hashing began. */
  seconds: number;
  /** Jobs of this process that go before this one while it waits for a thread; 0 while it has one. */
  queued: number;
}

/** What every long work takes. */
export interface WatchOptions {
  /** Show a bar (lines, when it is no terminal) on standard error; default false. */
  progress?: boolean;
  /**
   * Called about ten times a second while files are hashed. When it throws, or gives a promise that rejects, the work stops and
   * fails with that error; a promise is waited for at the end of the work.
   */
  onProgress?: ((progress: Progress) => void) | undefined;
  /** Stops the work, which then rejects with an {@link AbortError}. */
  signal?: AbortSignal | undefined;
}

export const WATCH: OptionStructs<WatchOptions> = { progress: Flag, onProgress: Callback, signal: Signal };

/** Work that goes on and can be asked how far it is: a hash job, or several of them. */
export interface Work<T> {
  done: Promise<T>;
  progress(): Omit<Progress, 'seconds'>;
  /** `done` then rejects with `ERR_ABORTED`. */
  cancel(): void;
}

interface JobContent {
  totalBytes: number;
  /** The name of a file of the plan. */
  nameOf: (index: number) => string;
}

/** A job as work. */
export function workOf(job: HashJob, { totalBytes, nameOf }: JobContent): Work<Digests> {
  return {
    done: job.done,
    progress: () => {
      const { bytes, fileIndex, queued } = job.progress();
      return { bytes, totalBytes, file: nameOf(fileIndex), queued };
    },
    cancel: () => job.cancel(),
  };
}

const PROGRESS_INTERVAL_MS = 100;
/** Before it has anything to show, and after small torrents are made: what draws it takes longer than they do. */
const LOAD_BAR_AFTER_MS = 500;

/**
 * Starts work and waits for its end: tells how far it is, and cancels it when the signal says so or `onProgress` throws.
 *
 * @throws {AbortError} with the signal's reason as `cause`; whatever the work, or `onProgress`, threw
 */
export async function watch<T>(
  start: () => Work<T>,
  { signal, onProgress, progress = false }: WatchOptions,
): Promise<T> {
  throwIfAborted(signal);
  const started = process.uptime();
  const work = start();
  const cancel = () => work.cancel();
  const forget = onAbort(signal, cancel);
  // It may have fired while the work started.
  if (signal?.aborted) cancel();
  let bar = null as ProgressBar | null;
  const loadBar = () =>
    import('./progress-bar.ts').then(
      ({ progressBar }) => {
        bar = progressBar(process.stderr);
      },
      // The work goes on without.
      () => {},
    );
  // A callback that throws ends the work; thrown in a timer, or rejected, it would end the process.
  let thrown: { error: unknown } | null = null;
  const fail = (error: unknown) => {
    thrown ??= { error };
    work.cancel();
  };
  const told = new Set<Promise<void>>();
  const report = () => {
    const now: Progress = { ...work.progress(), seconds: process.uptime() - started };
    const answer: unknown = onProgress?.(now);
    if (typeof answer === 'object' && answer !== null) {
      const answered: Promise<void> = Promise.resolve(answer).then(() => void told.delete(answered), fail);
      told.add(answered);
    }
    bar?.update(now);
  };
  const tick = () => {
    try {
      report();
    } catch (error) {
      fail(error);
    }
  };
  const timer = onProgress || progress ? setInterval(tick, PROGRESS_INTERVAL_MS) : null;
  const barTimer = progress ? setTimeout(loadBar, LOAD_BAR_AFTER_MS) : null;
  try {
    const result = await work.done;
    if (timer) report();
    await Promise.all(told);
    if (thrown) throw (thrown as { error: unknown }).error;
    return result;
  } catch (error) {
    if (thrown) throw (thrown as { error: unknown }).error;
    if (signal?.aborted && (error as MetainfoError).code === 'ERR_ABORTED') throw new AbortError(signal);
    throw error;
  } finally {
    if (timer) clearInterval(timer);
    if (barTimer) clearTimeout(barTimer);
    bar?.finish();
    forget();
  }
}

/** What the scan has seen and the job has not. */
export function vanished(error: unknown): unknown {
  if (!(error instanceof MetainfoError) || error.code !== 'ERR_NOT_FOUND') return error;
  const { path, cause } = error;
  return new MetainfoError('ERR_FILE_CHANGED', `${path} was deleted before it was hashed.`, { path, cause });
}
