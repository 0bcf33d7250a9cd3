/** Runs many jobs, several at once, and reports what happens to each of them: as lines, or as JSON events. */
import { MetainfoError } from '../../errors/errors.ts';
import { forEachConcurrently } from '../../hash/for-each-concurrently.ts';
import type { Progress } from '../../jobs/watch.ts';
import { formatBytes } from '../../text/format.ts';
import { printable } from '../../text/printable.ts';
import { findingLines } from '../create/findings.ts';
import { errorJson, exitCodeOf, exitCodeOfSignal } from '../exit.ts';
import { type CacheOptions, cacheOf } from '../options/option-values.ts';
import { FAILED, host } from '../run.ts';
import { printableJson, stderr, writeLines } from '../terminal/output.ts';
import { OverallProgress } from './overall-progress.ts';

/** Large jobs that run at once by default: more would only share the threads, and make a disk seek. */
export const LARGE_JOBS = 4;

/** The least time between two progress events of one job, in milliseconds. */
const PROGRESS_MS = 1000;

/** The jobs to run, in order. Only the end of a stream tells their number. */
export type Jobs<Job> = readonly Job[] | AsyncIterable<Job>;

/** The result of a job. */
export interface JobResult<Status extends string> {
  status: Status;
  /** False if the command fails because of it. */
  ok: boolean;
  /** The fields of its JSON event. */
  json: () => object;
  print: () => Promise<void>;
}

/** How a running job reports. */
export interface JobWatch {
  onStart: () => Promise<void>;
  /** Takes about ten states a second, and the last one. @param more Other fields of the JSON event. */
  onProgress: (progress: Progress, more?: object) => void;
}

/** The results of all jobs. */
export interface Totals<Status extends string> {
  jobs: number;
  counts: Record<Status | 'failed', number>;
  /** The names and results of the jobs that are not ok, by the indexes of the jobs. */
  notOk: ReadonlyMap<number, { name: string; status: Status | 'failed' }>;
  /** The bytes that were hashed. */
  bytes: number;
  seconds: number;
}

/** Jobs of one kind: how to run them, and how to report them. */
export interface JobKind<Job, Status extends string> {
  /** The results that jobs can have, besides failures. */
  statuses: readonly Status[];
  /** The jobs that run at once, unless the options say it; by default, {@link LARGE_JOBS}. */
  defaultJobs?: number;
  /** How to go on with a cache after a cancellation. */
  goOn: string;
  nameOf: (job: Job) => string;
  /** The fields of all JSON events of a job. */
  about: (job: Job) => object;
  /** Runs a job. A `MetainfoError` is its result. */
  run: (job: Job, watch: JobWatch) => Promise<JobResult<Status>>;
  /** Called in the end, even after a cancellation. */
  summarize: (totals: Totals<Status>) => Promise<void>;
}

/** Runs jobs: takes the next one when another has ended. If the signal fires, the running jobs end first, and the exit code of the process is set. */
export async function runMany<Job, Status extends string>(
  jobs: Jobs<Job>,
  { statuses, defaultJobs = LARGE_JOBS, goOn, nameOf, about, run, summarize }: JobKind<Job, Status>,
  options: CacheOptions & { jobs?: number; json?: boolean; quiet?: boolean },
  signal: AbortSignal,
): Promise<void> {
  const { jobs: concurrency = defaultJobs, json = false } = options;
  const count = 'length' in jobs ? jobs.length : null;
  const progress = new OverallProgress(count, options);
  const started = process.uptime();
  const counts = Object.fromEntries([...statuses, 'failed'].map((status) => [status, 0])) as Totals<Status>['counts'];
  const notOk = new Map<number, { name: string; status: Status | 'failed' }>();
  const cancelled: [Job, number][] = [];
  let taken = 0;
  let printed = Promise.resolve();

  const writeEvent = async (event: string, job: Job, index: number, more: object = {}) => {
    if (json) await writeLines([printableJson({ event, job: index, ...about(job), ...more })]);
  };
  const watchOf = (job: Job, index: number): JobWatch => {
    let last = performance.now();
    return {
      onStart: () => {
        progress.start(index);
        return writeEvent('start', job, index);
      },
      onProgress: (state, more) => {
        progress.update(index, state, nameOf(job));
        if (performance.now() - last < PROGRESS_MS) return undefined;
        last = performance.now();
        const { bytes, totalBytes, file, seconds } = state;
        return writeEvent('progress', job, index, { ...more, bytes, totalBytes, file, seconds }) as never;
      },
    };
  };
  const runOne = async (job: Job, index: number) => {
    const result = await run(job, watchOf(job, index)).catch((error: unknown) => {
      if (!(error instanceof MetainfoError) || signal.aborted) throw error;
      return failureOf(error, nameOf(job));
    });
    counts[result.status] += 1;
    if (!result.ok) {
      host().exitCode ||= FAILED;
      notOk.set(index, { name: nameOf(job), status: result.status });
    }
    progress.end(index, { failed: !result.ok });
    if (json) return writeEvent('done', job, index, result.json());
    // One after the other, so that the lines of a job stay together.
    printed = printed.then(() => {
      progress.clear();
      return result.print();
    });
    await printed;
  };

  try {
    await forEachConcurrently(jobs, { concurrency, signal }, async (job, index) => {
      taken += 1;
      await runOne(job, index).catch((error: unknown) => {
        cancelled.push([job, index]);
        throw error;
      });
    });
  } catch (error) {
    if (!(error instanceof MetainfoError) || !signal.aborted) throw error;
    host().exitCode = exitCodeOfSignal({ cause: signal.reason });
    if ('length' in jobs) for (let i = taken; i < jobs.length; i += 1) cancelled.push([jobs[i] as Job, i]);
    for (const [job, index] of cancelled.sort(([, a], [, b]) => a - b)) await writeEvent('cancelled', job, index);
  } finally {
    progress.stop();
    const seconds = process.uptime() - started;
    await summarize({ jobs: count ?? taken, counts, notOk, bytes: progress.bytes, seconds });
  }
  if (signal.aborted && cacheOf(options) && !json) await writeLines([goOn], stderr);
}

function failureOf(error: MetainfoError, name: string): JobResult<'failed'> {
  const shown = errorJson(error);
  return {
    status: 'failed',
    ok: false,
    json: () => ({ event: 'failed', error: shown }),
    print: async () => {
      await writeLines([`${printable(name)}:`, ...(await findingLines(shown.findings ?? []))], stderr);
      await exitCodeOf(error, false);
    },
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
