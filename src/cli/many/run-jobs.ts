/** Runs many jobs, several at once, cancels them together, and writes the parts of their last line. */
import { AbortError } from '../../errors/cancel.ts';
import { forEachConcurrently } from '../../hash/for-each-concurrently.ts';
import { formatBytes } from '../../text/format.ts';
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
  let taken = 0;
  const cancelled: [Job, number][] = [];
  let bug: { error: unknown } | null = null;
  try {
    await forEachConcurrently(jobs, { concurrency: limit, signal }, async (job, index) => {
      taken += 1;
      try {
        await run(job, index);
      } catch (error) {
        if (error instanceof AbortError) cancelled.push([job, index]);
        else bug ??= { error };
        throw error;
      }
    });
  } catch (error) {
    if (bug) throw (bug as { error: unknown }).error;
    if (!(error instanceof AbortError)) throw error;
    process.exitCode = exitCodeOfSignal(error);
    if (Array.isArray(jobs)) for (let i = taken; i < jobs.length; i += 1) cancelled.push([jobs[i] as Job, i]);
    for (const [job, index] of cancelled.sort(([, a], [, b]) => a - b)) await onCancelled(job, index);
  }
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
