/** Runs many creations, several at once: one that fails does not end the others. */
import { setMaxListeners } from 'node:events';
import type { Finding } from '../../create/findings.ts';
import { exists } from '../../disk/write-file.ts';
import { throwIfAborted } from '../../errors/cancel.ts';
import { MetainfoError } from '../../errors/errors.ts';
import type { Progress } from '../../jobs/watch.ts';
import { Torrent } from '../../model/torrent.ts';
import { type Created, planCreate, runCreate } from '../create/run-create.ts';
import type { CreateJob } from './job-list.ts';

/** Something that happened to a job. */
export type JobEvent = { job: number; target: string } & (
  | { event: 'start' }
  | { event: 'progress'; progress: Progress }
  | { event: 'done'; created: Created; warnings: readonly Finding[] }
  | { event: 'skipped'; torrent: Torrent }
  | { event: 'failed'; error: MetainfoError }
);

export interface RunJobsOptions {
  /** How many jobs run at once. */
  jobs: number;
  /** Skip the jobs whose output is there and whole. */
  resume: boolean;
  signal: AbortSignal;
  onEvent: (event: JobEvent) => Promise<void>;
}

/** The least time between two progress events of one job, in milliseconds. */
const PROGRESS_MS = 1000;

/**
 * Runs all jobs. The events of several jobs are mixed.
 *
 * @throws {AbortError} when the signal fires, after the running jobs have ended
 */
export async function runJobs(jobs: readonly CreateJob[], options: RunJobsOptions): Promise<void> {
  // Each running job listens to the signal.
  setMaxListeners(0, options.signal);
  let next = 0;
  const lane = async () => {
    while (next < jobs.length) {
      throwIfAborted(options.signal);
      const index = next;
      next += 1;
      await runJob(jobs[index] as CreateJob, index, options);
    }
  };
  const lanes = await Promise.allSettled(Array.from({ length: Math.min(options.jobs, jobs.length) }, lane));
  const failed = lanes.find((result) => result.status === 'rejected');
  if (failed) throw failed.reason;
}

async function runJob({ paths, options, target }: CreateJob, job: number, settings: RunJobsOptions): Promise<void> {
  const { resume, signal, onEvent } = settings;
  const about = { job, target };
  try {
    const whole = resume ? await wholeOutput({ paths, options, target }, signal) : null;
    if (whole) {
      await onEvent({ ...about, event: 'skipped', torrent: whole });
      return;
    }
    await onEvent({ ...about, event: 'start' });
    let warnings: readonly Finding[] = [];
    let last = 0;
    const created = await runCreate(paths, options, {
      signal,
      onFindings: (findings) => {
        warnings = findings.filter(({ severity }) => severity === 'warning');
      },
      onProgress: (progress) => {
        if (performance.now() - last < PROGRESS_MS) return undefined;
        last = performance.now();
        return onEvent({ ...about, event: 'progress', progress }) as never;
      },
    });
    await onEvent({ ...about, event: 'done', created, warnings });
  } catch (error) {
    if (!(error instanceof MetainfoError) || signal.aborted) throw error;
    await onEvent({ ...about, event: 'failed', error });
  }
}

/**
 * The output of a job if it is there and whole: it has what the plan of the job tells. Null if there is no output.
 *
 * @throws {MetainfoError} `ERR_OUTPUT_EXISTS` for another torrent or another file, unless the job may replace it
 */
async function wholeOutput({ paths, options, target }: CreateJob, signal: AbortSignal): Promise<Torrent | null> {
  if (!(await exists(target))) return null;
  const torrent = await Torrent.read(target).catch(() => null);
  const { plan } = await planCreate(paths, { ...options, force: true }, signal);
  const { info } = torrent ?? { info: null };
  const isWhole =
    torrent &&
    info &&
    torrent.torrentVersion === plan.version &&
    [torrent.name, torrent.nFiles, torrent.totalSize, info.pieceLength, torrent.nPieces].join('\0') ===
      [plan.name, plan.files, plan.totalSize, plan.pieceLength, plan.pieces].join('\0') &&
    (info.private ?? false) === (options.private ?? false) &&
    (info.source ?? null) === (options.source ?? null);
  if (isWhole) return torrent;
  if (options.force) return null;
  const message = `output file exists: ${target}, and is not the torrent of this job (use --force to replace it)`;
  throw new MetainfoError('ERR_OUTPUT_EXISTS', message, { path: target });
}
