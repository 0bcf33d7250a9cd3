/** `metainfo verify` of many torrents: verifies several at once, and reports each. */
import { lstat, realpath } from 'node:fs/promises';
import path from 'node:path';
import { escaped } from '../../disk/entry-names.ts';
import { untilAbort } from '../../errors/cancel.ts';
import { withPath } from '../../errors/errors.ts';
import { fromSystemError } from '../../errors/system-error.ts';
import { systemPath } from '../../hash/system-path.ts';
import { nameBytes } from '../../text/name-bytes.ts';
import { printable } from '../../text/printable.ts';
import type { VerifyReport } from '../../verify/report.ts';
import { makeEmptyFiles } from '../../verify/resume/make-empty-files.ts';
import { type VerifyOptions, verify } from '../../verify/verify.ts';
import { ownPlaceIn, readTorrent } from '../options/arguments.ts';
import { colorsFor } from '../terminal/colors.ts';
import { printableJson } from '../terminal/json.ts';
import { stdout, writeLines } from '../terminal/output.ts';
import { nameOfInput } from '../terminal/standard-input.ts';
import { type ResumeOptions, type ResumeTarget, resumeLines, resumeTarget, writeResume } from '../verify/resume.ts';
import { extraLines, reportLines } from '../verify/verify-report.ts';
import { contentNames } from './jobs-of-folders.ts';
import { countsText, type JobResult, rateText, runMany, type Totals } from './run-many.ts';
import type { ManyTorrents, VerifyManyOptions } from './verify-arguments.ts';

type Status = 'complete' | 'incomplete' | 'missing';

interface Options extends VerifyManyOptions, ResumeOptions {
  quiet?: boolean;
  json?: boolean;
}

type Settings = Omit<VerifyOptions, 'signal' | 'onProgress' | 'progress'>;

/** Verifies many torrents. */
export async function verifyMany(
  { files, folder, torrents }: ManyTorrents,
  options: Options,
  settings: Settings,
  signal: AbortSignal,
): Promise<void> {
  /** The names of the content. */
  const known = new Set<string>();
  await runMany<string, Status>(
    files,
    {
      statuses: ['complete', 'incomplete', 'missing'],
      nameOf: nameOfInput,
      about: (torrent) => ({ torrent }),
      run: async (file, { onStart, onProgress }) => {
        try {
          await onStart();
          const torrent = await untilAbort(signal, readTorrent(file, options)).catch((error: unknown) => {
            known.add(path.basename(file, '.torrent'));
            throw error;
          });
          const content = await ownPlaceIn(torrent, folder);
          known.add(path.basename(content));
          if (!(await isThere(content))) return missing(file, content);
          const resume = await resumeTarget(torrent, content, options);
          const checked = await verify(torrent, content, {
            ...settings,
            signal,
            onProgress: (progress) => onProgress(progress, { path: content }),
          });
          const { report, made } = resume
            ? await makeEmptyFiles(torrent, checked, content)
            : { report: checked, made: [] };
          if (resume) await writeResume(torrent, report, resume);
          return verified(file, content, { report, resume, made, quiet: options.quiet ?? false });
        } catch (error) {
          throw withPath(error, file);
        }
      },
      summarize: async (totals) => {
        const extra = torrents !== null && !signal.aborted ? await contentWithout(known, folder, torrents) : [];
        await writeSummary(totals, extra, { ...options, ...settings });
      },
    },
    options,
    signal,
  );
}

function missing(file: string, content: string): JobResult<Status> {
  return {
    status: 'missing',
    ok: false,
    json: () => ({ status: 'missing', path: content, ok: false }),
    print: async () => {
      const { red } = await colorsFor(stdout());
      await writeLines([`${printable(nameOfInput(file))}: ${red('missing')}; there is no ${printable(content)}`]);
    },
  };
}

interface Verified {
  report: VerifyReport;
  resume: ResumeTarget | null;
  made: readonly string[];
  quiet: boolean;
}

function verified(file: string, content: string, { report, resume, made, quiet }: Verified): JobResult<Status> {
  const status = report.ok ? 'complete' : 'incomplete';
  const bitfield = Buffer.from(report.bitfield).toString('hex');
  return {
    status,
    ok: report.ok,
    json: () => ({ status, path: content, ...report, bitfield, ...(resume && { resumeFiles: resume.files, made }) }),
    print: async () => {
      if (quiet && report.ok) return;
      await writeLines(reportLines(nameOfInput(file), report, await colorsFor(stdout())));
      if (resume && !quiet) await writeLines(resumeLines(resume, made));
    },
  };
}

async function isThere(content: string): Promise<boolean> {
  try {
    await lstat(systemPath(content));
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw fromSystemError(error, content, 'read');
  }
}

/** The content that no torrent has, as paths. The folder of the torrents does not count. */
async function contentWithout(known: ReadonlySet<string>, folder: string, torrents: string): Promise<string[]> {
  const own = await realpath(torrents);
  const inside = await realpath(folder);
  const { names, errors } = await contentNames(folder);
  const extra = names.filter((name) => !known.has(name) && path.join(inside, name) !== own);
  const shown = new Set([...known].map((name) => (name.isWellFormed() ? name : escaped(nameBytes(name)))));
  const others = errors.map((error) => error.path as string).filter((place) => !shown.has(path.basename(place)));
  return [...extra.map((name) => path.join(folder, name)), ...others];
}

async function writeSummary(
  { jobs, counts, bytes, seconds }: Totals<Status>,
  extra: readonly string[],
  { json, quiet, fast }: Options & Settings,
): Promise<void> {
  if (json) {
    await writeLines(extra.map((name) => printableJson({ event: 'extra', path: name })));
    const summary = { event: 'summary', jobs, ...counts, extra: extra.length, bytes, seconds };
    await writeLines([printableJson(summary)]);
  } else if (!quiet) {
    const { complete, incomplete, missing, failed } = counts;
    const rest = jobs - complete - incomplete - missing - failed;
    const others = countsText({ incomplete, missing, failed, 'not checked or cancelled': rest });
    const sample = fast ? '; checked only a sample of each (--fast)' : '';
    await writeLines(extraLines(extra, await colorsFor(stdout()), ' (no torrent)'));
    await writeLines([`${complete} complete${others}: ${rateText(bytes, seconds)}${sample}`]);
  }
}
