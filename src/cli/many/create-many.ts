/** `metainfo create --each` and `--batch`: makes many torrents, and reports each. */
import { AbortError } from '../../errors/cancel.ts';
import { formatBytes, printable, printableJson } from '../../layout/text.ts';
import { plural } from '../../model/pprint.ts';
import type { CommandLine } from '../config/command-line.ts';
import { findingLines } from '../create/findings.ts';
import type { CreateOptions } from '../create/options.ts';
import { summaryJson } from '../create/summary.ts';
import { exitCodeOf, exitCodeOfSignal, FAILED } from '../exit.ts';
import { messageOf } from '../messages.ts';
import { stderr, stdout, writeLines } from '../output.ts';
import { type CreateJob, jobsOfFile, jobsOfFolders } from './job-list.ts';
import { type JobEvent, runJobs } from './run-jobs.ts';

/** Enough to keep all cores busy with small torrents; large ones share the threads. */
const DEFAULT_JOBS = 4;

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
  const jobs = batch === undefined ? await jobsOfFolders(folders, options) : await jobsOfFile(batch, optionsFor);
  const totals: Totals = { done: 0, skipped: 0, failed: 0, bytes: 0 };
  const started = process.uptime();
  const onEvent = async (event: JobEvent) => {
    count(event, totals);
    if (event.event === 'failed') process.exitCode = FAILED;
    if (json) await writeLines([printableJson(eventJson(event, options))]);
    else await report(event, jobs, options);
  };
  try {
    await runJobs(jobs, { jobs: limit, resume, signal, onEvent });
  } catch (error) {
    if (!(error instanceof AbortError)) throw error;
    process.exitCode = exitCodeOfSignal(error);
  } finally {
    const seconds = process.uptime() - started;
    if (json) await writeLines([printableJson({ event: 'summary', jobs: jobs.length, ...totals, seconds })]);
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

function eventJson(event: JobEvent, options: CreateOptions): object {
  const { job, target } = event;
  const about = { event: event.event, job, output: target };
  switch (event.event) {
    case 'start':
    case 'skipped':
      return about;
    case 'progress': {
      const { bytes, totalBytes, file, seconds } = event.progress;
      return { ...about, bytes, totalBytes, file, seconds };
    }
    case 'done':
      return { ...about, ...summaryJson({ ...event.created, warnings: event.warnings }, options) };
    case 'failed': {
      const { code, path = null } = event.error;
      return { ...about, error: { code, message: messageOf(event.error), path } };
    }
  }
}

async function report(event: JobEvent, jobs: readonly CreateJob[], options: CreateOptions): Promise<void> {
  const name = printable(event.target);
  if (event.event === 'failed') {
    await writeLines([`${printable(jobs[event.job]?.paths[0] ?? name)}:`], stderr);
    await exitCodeOf(event.error, false);
  } else if (event.event === 'skipped') {
    if (!options.quiet) await writeLines([`${name}: skipped, because it is there and whole`]);
  } else if (event.event === 'done') {
    const { created, warnings } = event;
    if (warnings.length > 0) await writeLines([`${name}:`, ...(await findingLines(warnings))], stderr);
    const { torrentVersion, nFiles, totalSize } = created.torrent;
    const line = `${name}: ${torrentVersion}, ${plural(nFiles, 'file')}, ${formatBytes(totalSize)}`;
    if (!options.quiet) await writeLines([line]);
    if (options.magnet) await writeLines([created.link as string], stdout);
  }
}

function summaryOf(jobs: readonly CreateJob[], { done, skipped, failed, bytes }: Totals, seconds: number): string {
  const rate = seconds > 0 ? `, ${formatBytes(Math.round(bytes / seconds))}/s` : '';
  const left = jobs.length - done - skipped - failed;
  const parts = [
    `${plural(done, 'torrent')} made`,
    ...(skipped > 0 ? [`${skipped} skipped`] : []),
    ...(failed > 0 ? [`${failed} failed`] : []),
    ...(left > 0 ? [`${left} not started or cancelled`] : []),
  ];
  return `${parts.join(', ')}: ${formatBytes(bytes)} in ${seconds.toFixed(1)} s${rate}`;
}
