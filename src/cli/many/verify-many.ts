/** `metainfo verify` of many torrents: verifies several at once, and reports each. */
import { lstat, realpath } from 'node:fs/promises';
import path from 'node:path';
import { escaped } from '../../disk/entry-names.ts';
import { untilAbort } from '../../errors/cancel.ts';
import { withPath } from '../../errors/errors.ts';
import { fromSystemError } from '../../errors/system-error.ts';
import { systemPath } from '../../hash/system-path.ts';
import type { Progress } from '../../jobs/watch.ts';
import { nameBytes } from '../../text/name-bytes.ts';
import { printable } from '../../text/printable.ts';
import { UNFINISHED_ENDINGS } from '../../verify/matched-files.ts';
import { FolderIndex } from '../../verify/moved/folder-index.ts';
import { ownPlaceIn, readTorrent } from '../options/arguments.ts';
import { chosenFiles, unmatchedFiles } from '../options/content.ts';
import { hashesKept } from '../terminal/advice.ts';
import { colorsFor, printableJson, stdout, writeLines } from '../terminal/output.ts';
import { nameOfInput } from '../terminal/standard-input.ts';
import { placeable, placeHint, type Search, skippedJson, skippedLines } from '../verify/find.ts';
import { resumeLines, writeResume } from '../verify/resume.ts';
import { type Verified, type VerifyOptions, verifiedJson, verifiedLines, verifyContent } from '../verify/verify-job.ts';
import { extraLines } from '../verify/verify-report.ts';
import { contentNames } from './jobs-of-folders.ts';
import { countsText, type JobResult, rateText, runMany, type Totals } from './run-many.ts';
import type { ManyTorrents } from './verify-arguments.ts';

type Status = 'complete' | 'incomplete' | 'missing' | 'unwanted';

/** Verifies many torrents. */
export async function verifyMany(
  { files, folder, torrents }: ManyTorrents,
  options: VerifyOptions,
  signal: AbortSignal,
): Promise<void> {
  /** The names of the content. */
  const known = new Set<string>();
  const unmatched = new Map<string, string | null>(options.files?.map((glob) => [glob, null]));
  const index = options.find ? await FolderIndex.of(options.find, { signal }) : null;
  // They are reported once, and not for each torrent.
  const problems = index?.problems.splice(0) ?? [];
  let found = 0;
  await runMany<string, Status>(
    files,
    {
      statuses: ['complete', 'incomplete', 'missing', 'unwanted'],
      goOn: hashesKept(),
      // A torrent may find what was put in place for another one.
      ...(index && { defaultJobs: 1 }),
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
          const wanted = chosenFiles(torrent, options);
          for (const [glob, otherCase] of unmatched)
            if (wanted.unmatched.has(glob)) unmatched.set(glob, otherCase ?? wanted.unmatched.get(glob) ?? null);
            else unmatched.delete(glob);
          if (wanted.files?.length === 0) return nothing('unwanted', file, content);
          const watch = {
            signal,
            index,
            isThere: await isThere(content),
            onProgress: (progress: Progress) => onProgress(progress, { path: content }),
          };
          const verified = await verifyContent(torrent, content, { options, files: wanted.files }, watch);
          if (!verified) return nothing('missing', file, content);
          if (verified.searched) found += placeable(verified.searched, options);
          if (verified.resume) await writeResume(torrent, verified.report, verified.resume);
          return resultOf(file, content, verified, { ...options, unwantedFiles: wanted.unwantedFiles });
        } catch (error) {
          throw withPath(error, file);
        }
      },
      summarize: async (totals) => {
        const extra = torrents !== null && !signal.aborted ? await contentWithout(known, folder, torrents) : [];
        const skipped = problems.map((error) => ({ path: error.path as string, error }));
        await writeSummary(totals, { extra, skipped, found }, options);
        if (unmatched.size > 0 && totals.counts.failed === 0 && !signal.aborted) throw unmatchedFiles(unmatched);
      },
    },
    options,
    signal,
  );
}

/** The result of a torrent whose content is not there, or of which no file is wanted. */
function nothing(status: 'missing' | 'unwanted', file: string, content: string): JobResult<Status> {
  const ok = status === 'unwanted';
  return {
    status,
    ok,
    json: () => ({ status, path: content, ok }),
    print: async () => {
      const { red } = await colorsFor(stdout());
      if (!ok)
        await writeLines([`${printable(nameOfInput(file))}: ${red('missing')}; there is no ${printable(content)}`]);
    },
  };
}

function resultOf(
  file: string,
  content: string,
  verified: Verified,
  options: VerifyOptions & { unwantedFiles: number },
): JobResult<Status> {
  const { report, searched, resume, made } = verified;
  const { quiet, verbose, unwantedFiles } = options;
  const status = report.ok ? 'complete' : 'incomplete';
  const isUnfinished = UNFINISHED_ENDINGS.some((ending) => content.endsWith(ending));
  return {
    status,
    ok: report.ok,
    json: () => verifiedJson(content, verified, options),
    print: async () => {
      if (quiet && report.ok) return;
      const isMissing = searched && searched.moved.length + searched.unproven.length + searched.notFound.length > 0;
      const name = `${nameOfInput(file)}${isUnfinished ? ` (as ${path.basename(content)})` : ''}`;
      const shown = { unwantedFiles, verbose: verbose || quiet };
      const found = { ...verified, searched: isMissing ? searched : null };
      await writeLines(verifiedLines(name, found, options, shown, await colorsFor(stdout())));
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
  { jobs, counts, notOk, bytes, seconds }: Totals<Status>,
  { extra, skipped, found }: { extra: readonly string[]; skipped: Search['skipped']; found: number },
  options: VerifyOptions,
): Promise<void> {
  const { json, quiet, verbose, fast } = options;
  const { complete, incomplete, missing, failed, unwanted } = counts;
  if (json) {
    await writeLines(skippedJson(skipped).map((one) => printableJson({ event: 'skipped', ...one })));
    await writeLines(extra.map((name) => printableJson({ event: 'extra', path: name })));
    const summary = { event: 'summary', jobs, ...counts, extra: extra.length, bytes, seconds };
    return writeLines([printableJson(summary)]);
  }
  const colors = await colorsFor(stdout());
  // Their reports may stand thousands of lines above.
  const sorted = jobs === 1 ? [] : [...notOk].sort(([a], [b]) => a - b);
  const rows = sorted.map(([, { name, status }]) => `  ${colors.red(status.padEnd(10))}  ${printable(name)}`);
  const notComplete = rows.length > 0 ? ['not complete:', ...rows] : [];
  if (quiet) return writeLines(notComplete);
  const rest = jobs - complete - incomplete - missing - failed - unwanted;
  const others = { incomplete, missing, failed, 'without wanted files': unwanted, 'not checked or cancelled': rest };
  const sample = fast ? '; checked only a sample of each (--fast)' : '';
  await writeLines([
    ...(incomplete + missing > 0 ? skippedLines(skipped, verbose, colors) : []),
    ...extraLines(extra, colors, { verbose, note: ' (no torrent)' }),
    ...notComplete,
    `${complete} complete${countsText(others)}: ${rateText(bytes, seconds)}${sample}`,
    ...placeHint(found, options, colors),
  ]);
}
