/** Runs many jobs, several at once, cancels them together, and writes the parts of their last line. */
import { AbortError, throwIfAborted, untilAbort } from '../../errors/cancel.ts';
import { formatBytes } from '../../layout/text.ts';
import { exitCodeOfSignal } from '../exit.ts';

/** Enough to keep all cores busy with small torrents; large ones share the threads. */
export const DEFAULT_JOBS = 4;

/** The jobs to run, in order. */
export interface JobQueue<Job> {
  jobs: Iterable<Job> | AsyncIterable<Job>;
  /** How many jobs there are; null if only the end of a stream tells. */
  count: number | null;
}

/** A queue of jobs that are all at hand. */
export function listQueue<Job>(jobs: readonly Job[]): JobQueue<Job> {
  return { jobs, count: jobs.length };
}

export interface RunJobsOptions<Job> {
  /** How many jobs run at once. */
  limit: number;
  signal: AbortSignal;
  /** Runs one job. Only a bug, or the cancellation of all jobs, may make it fail. */
  run: (job: Job, index: number) => Promise<void>;
  /** Called for each job that was cancelled while it ran, or that was at hand and has not started. */
  onCancelled: (job: Job, index: number) => Promise<void>;
}

/**
 * Runs the jobs of a queue: takes the next one when another has ended. If the signal fires, the running jobs end first, and the
 * exit code of the process is set.
 *
 * @returns How many jobs were taken from the queue.
 */
export async function runJobs<Job>({ jobs }: JobQueue<Job>, options: RunJobsOptions<Job>): Promise<number> {
  const { limit, signal, run, onCancelled } = options;
  const iterator = Symbol.asyncIterator in jobs ? jobs[Symbol.asyncIterator]() : jobs[Symbol.iterator]();
  let taken = 0;
  let isBroken = false;
  const cancelled: [Job, number][] = [];
  const lane = async () => {
    while (!isBroken) {
      throwIfAborted(signal);
      const { done, value: job } = await untilAbort(signal, Promise.resolve(iterator.next()));
      if (done) return;
      const index = taken;
      taken += 1;
      try {
        await run(job, index);
      } catch (error) {
        if (error instanceof AbortError) cancelled.push([job, index]);
        throw error;
      }
    }
  };
  const guarded = () =>
    lane().catch((error: unknown) => {
      isBroken = true;
      throw error;
    });
  const lanes = await Promise.allSettled(Array.from({ length: limit }, guarded));
  const reasons = lanes.flatMap((result) => (result.status === 'rejected' ? [result.reason as unknown] : []));
  const abort = reasons.find((reason) => reason instanceof AbortError);
  if (abort && reasons.every((reason) => reason instanceof AbortError)) {
    process.exitCode = exitCodeOfSignal(abort);
    if (Array.isArray(jobs)) for (let i = taken; i < jobs.length; i += 1) cancelled.push([jobs[i] as Job, i]);
    for (const [job, index] of cancelled.sort(([, a], [, b]) => a - b)) await onCancelled(job, index);
  } else if (reasons.length > 0) throw reasons.find((reason) => !(reason instanceof AbortError));
  return taken;
}

/** The least time between two progress events of one job, in milliseconds. */
const PROGRESS_MS = 1000;

/** Whether a progress event of a job is due: at most one a second, and the first after a second. */
export function progressClock(): () => boolean {
  let last = performance.now();
  return () => {
    const now = performance.now();
    if (now - last < PROGRESS_MS) return false;
    last = now;
    return true;
  };
}

/** The counts that are not 0, each after a comma: `, 2 failed`. */
export function countsText(counts: Readonly<Record<string, number>>): string {
  return Object.entries(counts)
    .map(([what, count]) => (count > 0 ? `, ${count} ${what}` : ''))
    .join('');
}

/** Bytes, seconds and the rate: `3 GiB in 2.5 s, 1.2 GiB/s`. */
export function rateText(bytes: number, seconds: number): string {
  const rate = seconds > 0 ? `, ${formatBytes(Math.round(bytes / seconds))}/s` : '';
  return `${formatBytes(bytes)} in ${seconds.toFixed(1)} s${rate}`;
}
