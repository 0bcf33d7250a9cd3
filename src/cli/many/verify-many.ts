/** `metainfo verify` of many torrents: verifies several at once, and reports each. */
import { realpath } from 'node:fs/promises';
import path from 'node:path';
import { printable } from '../../text/printable.ts';
import type { VerifyOptions } from '../../verify/verify.ts';
import { exitCodeOf, FAILED } from '../exit.ts';
import { colorsFor } from '../terminal/colors.ts';
import { printableJson } from '../terminal/json.ts';
import { messageOf } from '../terminal/messages.ts';
import { stderr, stdout, writeLines } from '../terminal/output.ts';
import { nameOfInput } from '../terminal/standard-input.ts';
import { type ResumeOptions, resumeLines } from '../verify/resume.ts';
import { extraLines, reportLines } from '../verify/verify-report.ts';
import { contentNames } from './job-list.ts';
import { OverallProgress } from './overall-progress.ts';
import { countsText, DEFAULT_JOBS, listQueue, rateText, runJobs } from './run-jobs.ts';
import type { ManyTorrents, VerifyManyOptions } from './verify-arguments.ts';
import { runVerifyJob, type VerifyEvent } from './verify-job.ts';

interface Options extends VerifyManyOptions, ResumeOptions {
  quiet?: boolean;
  json?: boolean;
}

/** The numbers of torrents by their result. */
interface Totals {
  complete: number;
  incomplete: number;
  missing: number;
  failed: number;
}

/** Verifies many torrents. */
export async function verifyMany(
  { files, folder, torrents }: ManyTorrents,
  options: Options,
  settings: Omit<VerifyOptions, 'signal' | 'onProgress' | 'progress'>,
  signal: AbortSignal,
): Promise<void> {
  const { jobs: limit = DEFAULT_JOBS, json = false, quiet = false } = options;
  const totals: Totals = { complete: 0, incomplete: 0, missing: 0, failed: 0 };
  const known = new Set<string>();
  const started = process.uptime();
  const progress = new OverallProgress(files.length, options);
  const onEvent = async (event: VerifyEvent) => {
    const status = statusOf(event);
    if (status) {
      totals[status] += 1;
      known.add('name' in event ? event.name : path.basename(event.file, '.torrent'));
      if (status !== 'complete') process.exitCode ||= FAILED;
      progress.end(event.index, { failed: status !== 'complete' });
    } else if (event.event === 'start') progress.start(event.index);
    if (json) await writeLines([printableJson(eventJson(event))]);
    else await report(event, quiet, progress);
  };
  try {
    await runJobs(listQueue(files), {
      limit,
      signal,
      run: (file, index) =>
        runVerifyJob(file, index, {
          folder,
          profile: options,
          resume: options,
          verify: settings,
          signal,
          onEvent,
          onProgress: (state) => progress.update(index, state, file),
        }),
      onCancelled: (file, index) => onEvent({ event: 'cancelled', index, file }),
    });
  } finally {
    progress.stop();
  }
  const extra = torrents !== null && !signal.aborted ? await contentWithout(known, folder, torrents) : [];
  const seconds = process.uptime() - started;
  if (json) {
    await writeLines(extra.map((name) => printableJson({ event: 'extra', path: name })));
    const summary = { ...totals, extra: extra.length, bytes: progress.bytes, seconds };
    await writeLines([printableJson({ event: 'summary', jobs: files.length, ...summary })]);
  } else if (!quiet) {
    const sample = settings.fast ? '; checked only a sample of each (--fast)' : '';
    await writeLines(extraLines(extra, await colorsFor(stdout()), ' (no torrent)'));
    await writeLines([summaryOf(files.length, totals, `${rateText(progress.bytes, seconds)}${sample}`)]);
  }
}

function statusOf(event: VerifyEvent): keyof Totals | null {
  if (event.event === 'done') return event.report.ok ? 'complete' : 'incomplete';
  return event.event === 'missing' || event.event === 'failed' ? event.event : null;
}

/** The content that no torrent has, as paths. The folder of the torrents does not count. */
async function contentWithout(known: ReadonlySet<string>, folder: string, torrents: string): Promise<string[]> {
  const own = await realpath(torrents);
  const inside = await realpath(folder);
  const { names, errors } = await contentNames(folder);
  const extra = names.filter((name) => !known.has(name) && path.join(inside, name) !== own);
  return [...extra.map((name) => path.join(folder, name)), ...errors.map((error) => error.path as string)];
}

function eventJson(event: VerifyEvent): object {
  const { index, file } = event;
  const about = { job: index, torrent: file };
  switch (event.event) {
    case 'start':
    case 'cancelled':
      return { event: event.event, ...about };
    case 'progress': {
      const { bytes, totalBytes, file: name, seconds } = event.progress;
      return { event: 'progress', ...about, path: event.path, bytes, totalBytes, file: name, seconds };
    }
    case 'done': {
      const bitfield = Buffer.from(event.report.bitfield).toString('hex');
      const more = { bitfield, ...(event.resume && { resumeFiles: event.resume.files }) };
      return { event: 'done', ...about, status: statusOf(event), path: event.path, ...event.report, ...more };
    }
    case 'missing':
      return { event: 'done', ...about, status: 'missing', path: event.path, ok: false };
    case 'failed': {
      const { code, path: place = null } = event.error;
      return { event: 'failed', ...about, error: { code, message: messageOf(event.error), path: place } };
    }
  }
}

async function report(event: VerifyEvent, quiet: boolean, progress: OverallProgress): Promise<void> {
  const name = nameOfInput(event.file);
  if (event.event === 'failed') {
    progress.clear();
    await writeLines([`${printable(name)}:`], stderr);
    await exitCodeOf(event.error, false);
  } else if (event.event === 'missing') {
    const { red } = await colorsFor(stdout());
    progress.clear();
    await writeLines([`${printable(name)}: ${red('missing')}; there is no ${printable(event.path)}`]);
  } else if (event.event === 'done' && !(quiet && event.report.ok)) {
    const colors = await colorsFor(stdout());
    progress.clear();
    await writeLines(reportLines(name, event.report, colors));
    if (event.resume && !quiet) await writeLines(resumeLines(event.resume));
  }
}

function summaryOf(count: number, { complete, incomplete, missing, failed }: Totals, rate: string): string {
  const rest = count - complete - incomplete - missing - failed;
  return `${complete} complete${countsText({ incomplete, missing, failed, 'not checked or cancelled': rest })}: ${rate}`;
}
