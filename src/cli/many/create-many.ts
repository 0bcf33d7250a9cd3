/** `metainfo create --each` and `--batch`: makes many torrents, and reports each. */

import { formatBytes, plural } from '../../text/format.ts';
import { printable } from '../../text/printable.ts';
import type { CommandLine } from '../config/command-line.ts';
import { findingLines } from '../create/findings.ts';
import type { CreateOptions } from '../create/options.ts';
import { summaryJson } from '../create/summary.ts';
import { detailsOf, exitCodeOf, FAILED } from '../exit.ts';
import { printableJson } from '../terminal/json.ts';
import { messageOf } from '../terminal/messages.ts';
import { stderr, writeLines } from '../terminal/output.ts';
import { jobsOfFile } from './batch.ts';
import { type JobEvent, runCreateJob } from './create-job.ts';
import { jobsOfFolders, type ListedJob, nameOfJob } from './job-list.ts';
import { OverallProgress } from './overall-progress.ts';
import { countsText, DEFAULT_JOBS, type JobQueue, listQueue, rateText, runJobs } from './run-jobs.ts';

/** The numbers of jobs by their result. */
interface Totals {
  done: number;
  skipped: number;
  failed: number;
  bytes: number;
}

/** Makes a torrent of each entry of some folders, or of each job of a list. */
export async function createMany(
  folders: readonly string[],
  { optionsFor }: CommandLine,
  signal: AbortSignal,
): Promise<void> {
  const options = optionsFor([]);
  const { batch, jobs: limit = DEFAULT_JOBS, resume = false, json = false, quiet = false } = options;
  const queue: JobQueue<ListedJob> =
    batch === undefined
      ? listQueue(await jobsOfFolders(folders, options))
      : await jobsOfFile(batch, optionsFor, signal);
  const totals: Totals = { done: 0, skipped: 0, failed: 0, bytes: 0 };
  const started = process.uptime();
  const progress = new OverallProgress(queue.count, options);
  let reported = Promise.resolve();
  const onEvent = async (event: JobEvent) => {
    count(event, totals);
    track(event, progress);
    if (event.event === 'failed') process.exitCode ||= FAILED;
    if (json) return writeLines([printableJson(eventJson(event, options))]);
    // One after the other, so that the lines of an event stay together.
    reported = reported.then(() => report(event, options, progress));
    await reported;
  };
  let taken = 0;
  try {
    taken = await runJobs(queue, {
      limit,
      signal,
      run: (job, index) =>
        runCreateJob(job, index, {
          resume,
          signal,
          onEvent,
          onProgress: (state) => progress.update(index, state, nameOfJob(job)),
        }),
      onCancelled: (job, index) => onEvent({ event: 'cancelled', index, job }),
    });
  } finally {
    progress.stop();
    const seconds = process.uptime() - started;
    const jobs = queue.count ?? taken;
    if (json) await writeLines([printableJson({ event: 'summary', jobs, ...totals, seconds })]);
    else if (!quiet) await writeLines([summaryOf(jobs, totals, seconds)]);
  }
}

function count(event: JobEvent, totals: Totals): void {
  if (event.event === 'done') {
    totals.done += 1;
    totals.bytes += event.created.torrent.totalSize;
  } else if (event.event === 'skipped') totals.skipped += 1;
  else if (event.event === 'failed') totals.failed += 1;
}

function track({ event, index }: JobEvent, progress: OverallProgress): void {
  if (event === 'start') progress.start(index);
  else if (event !== 'progress' && event !== 'cancelled') progress.end(index, { failed: event === 'failed' });
}

function eventJson(event: JobEvent, options: CreateOptions): object {
  const { job, index } = event;
  const place = 'error' in job ? { output: null, ...job.place } : { output: job.target };
  const about = { event: event.event, job: index, ...place };
  switch (event.event) {
    case 'start':
    case 'cancelled':
      return about;
    case 'skipped':
      return { ...about, ...(options.magnet && { magnet: event.torrent.magnet() }) };
    case 'progress': {
      const { bytes, totalBytes, file, seconds } = event.progress;
      return { ...about, bytes, totalBytes, file, seconds };
    }
    case 'done':
      return { ...about, ...summaryJson({ ...event.created, warnings: event.warnings }, options) };
    case 'failed': {
      const { code, path = null } = event.error;
      return { ...about, error: { code, message: messageOf(event.error), path, ...detailsOf(event.error) } };
    }
  }
}

async function report(event: JobEvent, { quiet, magnet }: CreateOptions, progress: OverallProgress): Promise<void> {
  const { job } = event;
  const target = 'error' in job ? '' : printable(job.target);
  if (event.event === 'failed') {
    progress.clear();
    const { findings = [] } = detailsOf(event.error);
    await writeLines([`${printable(nameOfJob(job))}:`, ...(await findingLines(findings))], stderr);
    await exitCodeOf(event.error, false);
  } else if (event.event === 'skipped') {
    progress.clear();
    const line = `${target}: skipped, because it is up to date`;
    await writeLines([...(quiet ? [] : [line]), ...(magnet ? [event.torrent.magnet()] : [])]);
  } else if (event.event === 'done') {
    const { created, warnings } = event;
    progress.clear();
    if (warnings.length > 0) await writeLines([`${target}:`, ...(await findingLines(warnings))], stderr);
    const { torrentVersion, nFiles, totalSize } = created.torrent;
    const line = `${target}: ${torrentVersion}, ${plural(nFiles, 'file')}, ${formatBytes(totalSize)}`;
    await writeLines([...(quiet ? [] : [line]), ...(magnet ? [created.link as string] : [])]);
  }
}

function summaryOf(jobs: number, { done, skipped, failed, bytes }: Totals, seconds: number): string {
  const rest = countsText({ skipped, failed, 'not started or cancelled': jobs - done - skipped - failed });
  return `${plural(done, 'torrent')} made${rest}: ${rateText(bytes, seconds)}`;
}
