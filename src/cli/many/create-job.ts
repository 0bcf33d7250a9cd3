/** One creation of `metainfo create --each` or `--batch`. */
import type { Finding } from '../../create/findings/findings.ts';
import { MetainfoError } from '../../errors/errors.ts';
import type { Progress } from '../../jobs/watch.ts';
import type { Torrent } from '../../model/torrent/torrent.ts';
import { type Created, runCreate } from '../create/run-create.ts';
import type { ListedJob } from './job-list.ts';
import { progressClock } from './run-jobs.ts';
import { wholeOutput } from './up-to-date.ts';

/** Something that happened to a job. */
export type JobEvent = { index: number; job: ListedJob } & (
  | { event: 'start' }
  | { event: 'progress'; progress: Progress }
  | { event: 'done'; created: Created; warnings: readonly Finding[] }
  | { event: 'skipped'; torrent: Torrent }
  | { event: 'failed'; error: MetainfoError }
  | { event: 'cancelled' }
);

export interface CreateJobOptions {
  /** Skip the job if its output is up to date. */
  resume: boolean;
  signal: AbortSignal;
  onEvent: (event: JobEvent) => Promise<void>;
  /** Called about ten times a second, and with the last state. */
  onProgress: (progress: Progress) => void;
}

/**
 * Runs a job. Its failure is an event.
 *
 * @throws {AbortError} when the signal fires
 */
export async function runCreateJob(job: ListedJob, index: number, settings: CreateJobOptions): Promise<void> {
  const { resume, signal, onEvent, onProgress } = settings;
  const about = { index, job };
  try {
    if ('error' in job) throw job.error;
    const whole = resume ? await wholeOutput(job, signal) : null;
    if (whole) {
      await onEvent({ ...about, event: 'skipped', torrent: whole });
      return;
    }
    await onEvent({ ...about, event: 'start' });
    let warnings: readonly Finding[] = [];
    const isDue = progressClock();
    const created = await runCreate(job.paths, job.options, {
      signal,
      onFindings: (findings) => {
        warnings = findings.filter(({ severity }) => severity === 'warning');
      },
      onProgress: (progress) => {
        onProgress(progress);
        return (isDue() ? onEvent({ ...about, event: 'progress', progress }) : undefined) as never;
      },
    });
    await onEvent({ ...about, event: 'done', created, warnings });
  } catch (error) {
    if (!(error instanceof MetainfoError) || signal.aborted) throw error;
    await onEvent({ ...about, event: 'failed', error });
  }
}
