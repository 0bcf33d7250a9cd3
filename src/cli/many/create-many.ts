/** `metainfo create --each` and `--batch`: makes many torrents, and reports each. */
import { stat } from 'node:fs/promises';
import type { Finding } from '../../create/findings/findings.ts';
import type { PlanReport } from '../../create/findings/plan-report.ts';
import type { ReuseReport } from '../../create/known/known.ts';
import { MAX_GROUP } from '../../disk/write-group.ts';
import { MetainfoError } from '../../errors/errors.ts';
import { throwSystemError } from '../../errors/system-error.ts';
import { Limiter, Slot } from '../../hash/limiter.ts';
import { LARGE_JOB_BYTES } from '../../jobs/job-limiter.ts';
import { formatBytes, plural } from '../../text/format.ts';
import { printable } from '../../text/printable.ts';
import type { OptionsFor } from '../config/resolve-options.ts';
import { findingLines } from '../create/findings.ts';
import type { CreateOptions } from '../create/options.ts';
import { planFor } from '../create/plan-report.ts';
import { runCreate } from '../create/run-create.ts';
import { contentPathOf, differentLines, hashesText, summaryJson } from '../create/summary.ts';
import { hashesKept } from '../terminal/advice.ts';
import { printableJson, stderr, stdout, writeLines } from '../terminal/output.ts';
import { jobsOfFile } from './jobs-of-file.ts';
import { type CreateJob, jobsOfFolders, type ListedJob, nameOfJob } from './jobs-of-folders.ts';
import { countsText, type JobResult, type JobWatch, LARGE_JOBS, rateText, runMany } from './run-many.ts';
import { AHEAD_NOTE, isAhead, upToDateOutput } from './up-to-date.ts';

type Status = 'done' | 'skipped' | 'failed';

/** Makes a torrent of each entry of some folders, or of each job of a list. */
export async function createMany(
  folders: readonly string[],
  optionsFor: OptionsFor,
  signal: AbortSignal,
): Promise<void> {
  const options = optionsFor([]);
  const { batch, resume, json, quiet, dryRun } = options;
  const list =
    batch === undefined ? await jobsOfFolders(folders, options) : await jobsOfFile(batch, optionsFor, signal);
  const large = new Limiter(options.jobs ?? LARGE_JOBS);
  // Else every job would fail.
  for (const file of options.reuse ?? []) await stat(file).catch(throwSystemError(file, 'read'));
  let bytes = 0;
  const reused = { files: 0, bytes: 0 };
  const plansByCode = new Map<string, number>();
  await runMany<ListedJob, Status>(
    list,
    {
      statuses: ['done', 'skipped'],
      // So that their files can be written in whole groups.
      defaultJobs: MAX_GROUP,
      goOn: hashesKept(options),
      nameOf: nameOfJob,
      about: (job) =>
        'error' in job ? { torrent: null, ...job.place } : { torrent: job.target, path: contentPathOf(job.paths) },
      run: async (job, watch) => {
        if ('error' in job) throw job.error;
        const old = resume ? await upToDateOutput(job, signal) : null;
        if (old) return skipped(job, old.magnet(), (await isAhead(old, job.target)) ? AHEAD_NOTE : null, options);
        if (dryRun) {
          const planned = await plan(job, options, signal).catch((error: unknown) => {
            if (error instanceof MetainfoError) plansByCode.set(error.code, (plansByCode.get(error.code) ?? 0) + 1);
            throw error;
          });
          bytes += planned.totalSize;
          for (const code of planned.codes) plansByCode.set(code, (plansByCode.get(code) ?? 0) + 1);
          return planned.result;
        }
        const slot = new Slot(large, signal);
        await watch.onStart();
        const attempt = () => create(job, options, { ...watch, slot, signal });
        try {
          const { result, totalSize, reuse } = await attempt().catch(async (error: unknown) => {
            if (error !== NO_SLOT) throw error;
            await slot.acquire();
            return attempt();
          });
          bytes += totalSize;
          reused.files += reuse?.files ?? 0;
          reused.bytes += reuse?.bytes ?? 0;
          return result;
        } finally {
          slot.release();
        }
      },
      summarize: async ({ jobs, counts, seconds }) => {
        const { done, skipped, failed } = counts;
        const rest = { skipped, failed, 'not started or cancelled': jobs - done - skipped - failed };
        const found = Array.from(plansByCode, ([code, count]) => `${count.toLocaleString('en')} with ${code}`);
        const taken = reused.files > 0 ? `; reused ${hashesText(reused)}` : '';
        const size = dryRun ? [formatBytes(bytes), ...found].join(', ') : `${rateText(bytes, seconds)}${taken}`;
        const text = `${plural(done, 'torrent')} ${dryRun ? 'to make' : 'made'}${countsText(rest)}: ${size}`;
        if (json) await writeLines([printableJson({ event: 'summary', jobs, ...counts, bytes, seconds })]);
        else if (!quiet) await writeLines([text]);
      },
    },
    options,
    signal,
  );
}

function skipped(
  { target }: CreateJob,
  link: string,
  note: string | null,
  { quiet, magnet }: CreateOptions,
): JobResult<Status> {
  const line = `${printable(target)}: skipped, because it is up to date${note ? ` (${note})` : ''}`;
  return {
    status: 'skipped',
    ok: true,
    json: () => ({ event: 'skipped', ...(note && { note }), ...(magnet && { magnet: link }) }),
    print: () => writeLines([...(quiet ? [] : [line]), ...(magnet ? [link] : [])]),
  };
}

/** Plans the torrent of a job. */
async function plan({ paths, options: own, target }: CreateJob, { quiet }: CreateOptions, signal: AbortSignal) {
  const { plan, json, ok } = await planFor(paths, own, signal);
  const { version, files, totalSize, pieces, pieceLength, torrentSize, findings } = plan;
  const facts = [
    ...[version, plural(files, 'file'), totalSize === null ? 'size unknown' : formatBytes(totalSize)],
    ...(pieces === null ? [] : [`${plural(pieces, 'piece')} of ${formatBytes(pieceLength ?? 0)}`]),
    ...(torrentSize === null ? [] : [`torrent of about ${formatBytes(torrentSize)}`]),
  ];
  const print = async () => {
    const lines = await findingLines(findings, stdout);
    await writeLines(quiet && lines.length === 0 ? [] : [`${printable(target)}: ${facts.join(', ')}`, ...lines]);
  };
  const status: Status = ok ? 'done' : 'failed';
  const result = { status, ok, json: () => ({ event: status, ...json }), print };
  return { result, totalSize: totalSize ?? 0, codes: new Set(findings.map(({ code }) => code)) };
}

/** A large job has no slot yet. It is scanned again when it has one: its files may change, and its plan takes memory, as long as it waits. */
const NO_SLOT = new Error('no slot');

async function create(
  { paths, options: own, target }: CreateJob,
  options: CreateOptions,
  { onProgress, slot, signal }: Pick<JobWatch, 'onProgress'> & { slot: Slot; signal: AbortSignal },
): Promise<{ result: JobResult<Status>; totalSize: number; reuse: ReuseReport | null }> {
  let warnings: readonly Finding[] = [];
  const onFindings = (findings: readonly Finding[], { totalSize: size }: PlanReport) => {
    warnings = findings.filter(({ severity }) => severity === 'warning');
    // The size of a stream is not known, and it can be read only once.
    if (size === null) return slot.acquire();
    if (size > LARGE_JOB_BYTES && !slot.tryAcquire()) throw NO_SLOT;
    return undefined;
  };
  const created = await runCreate(paths, own, { signal, onFindings, onProgress });
  const { torrentVersion, nFiles, totalSize } = created.torrent;
  const line = `${printable(target)}: ${torrentVersion}, ${plural(nFiles, 'file')}, ${formatBytes(totalSize)}`;
  const { reuse } = created;
  const print = async () => {
    if (warnings.length > 0) await writeLines([`${printable(target)}:`, ...(await findingLines(warnings))], stderr);
    const lines = [line, ...(reuse ? differentLines(reuse) : [])];
    await writeLines([...(options.quiet ? [] : lines), ...(options.magnet ? [created.link as string] : [])]);
  };
  const json = () => summaryJson({ ...created, warnings }, options);
  return { result: { status: 'done', ok: true, json, print }, totalSize, reuse };
}
