/** Runs one creation: from the paths and options of a command line to a written torrent. */
import { TorrentCreate } from '../../create/draft.ts';
import type { Finding } from '../../create/findings/findings.ts';
import type { PlanReport } from '../../create/findings/plan-report.ts';
import type { ReuseReport } from '../../create/known/known.ts';
import { writeWhole } from '../../disk/write-file.ts';
import { MetainfoError } from '../../errors/errors.ts';
import { defaultEngine } from '../../hash/default-engine.ts';
import type { Progress, WatchOptions } from '../../jobs/watch.ts';
import type { Torrent } from '../../model/torrent/torrent.ts';
import { cacheOf } from '../options/option-values.ts';
import { isStdout, writeTorrent } from '../options/target.ts';
import { shellWords, withAdvice } from '../terminal/advice.ts';
import { refuse } from './findings.ts';
import type { WebObject } from './inputs.ts';
import type { CreateOptions } from './options.ts';
import { prepare } from './prepare.ts';

/** Callbacks and the signal of a creation. */
export interface CreateWatch extends WatchOptions {
  /** Called with the findings before the first file is hashed. */
  onFindings: (findings: readonly Finding[], plan: PlanReport) => unknown;
}

/** A torrent that was created and written. */
export interface Created {
  torrent: Torrent;
  /** The torrent file, or `-` for standard output. */
  target: string;
  kernel: string;
  /** With a cache or torrents to reuse, the bytes that were read; null without, where every byte is read. */
  bytesRead: number | null;
  /** The report on `--reuse`; null without it, and for streams. */
  reuse: ReuseReport | null;
  /** The time from the scan to the last hash. */
  seconds: number;
  /** The magnet link, with `--magnet` or `--link-file`. */
  link: string | null;
  /** The web object that was read; null for anything else. */
  web: WebObject | null;
}

/** Creates a torrent and writes it. */
export async function runCreate(
  paths: readonly string[],
  options: CreateOptions,
  { onFindings, ...watch }: CreateWatch,
): Promise<Created> {
  const prepared = await prepare(paths, options, { signal: watch.signal });
  const { target, fields, settings, web } = prepared;
  const onPlan = (plan: PlanReport): unknown => {
    const findings = prepared.findingsOf(plan);
    const answer = onFindings(findings, plan);
    if (answer instanceof Promise) return answer.then(() => refuse(findings));
    return refuse(findings);
  };
  const started = process.uptime();
  // Taken before hashing: `update` must read files again that change from now on.
  const mtime = new Date();
  const engine = defaultEngine();
  const cache = cacheOf(options);
  const reports: ReuseReport[] = [];
  const onReuse = (report: ReuseReport) => void reports.push(report);
  let hashed = 0;
  const onProgress = (progress: Progress) => {
    hashed = progress.bytes;
    return watch.onProgress?.(progress);
  };
  const counting = { ...watch, ...(cache !== false && { onProgress }) };
  const draft = new TorrentCreate(fields);
  const hashing = draft.generate({ ...settings, ...reuseOf(options), ...counting, onPlan, onReuse, engine, cache });
  const torrent = await withAdvice(cache, hashing, options).catch((error: unknown) => {
    throw prepared.explained(error);
  });
  const seconds = process.uptime() - started;
  const force = options.force ?? false;
  await writeTorrent(torrent, target, { force, mtime });
  const link = options.magnet || options.linkFile !== undefined ? torrent.magnet() : null;
  if (options.linkFile !== undefined) await writeLink(options.linkFile, `${link}\n`, target, force);
  const [reuse = null] = reports;
  const bytesRead = reuse?.bytesRead ?? (cache ? hashed : null);
  return { torrent, target, kernel: engine.kernel, bytesRead, reuse, seconds, link, web };
}

/** Writes the magnet link, after the torrent. Throws as {@link writeWhole}, with a message that the torrent was written. */
async function writeLink(file: string, text: string, target: string, force: boolean): Promise<void> {
  try {
    await writeWhole(file, Buffer.from(text), { force });
  } catch (error) {
    if (!(error instanceof MetainfoError)) throw error;
    // --force would hash everything again.
    const problem = error.message.replace(/ \(use [^)]*\)$|\.$/, '');
    const hint = isStdout(target) ? '' : `; metainfo magnet ${shellWords(target)} prints the link`;
    const message = `${isStdout(target) ? 'The torrent' : target} was written, but its magnet link was not: ${problem}${hint}.`;
    throw new MetainfoError(error.code, message, { path: file, cause: error });
  }
}

/** The options of the library for `--reuse`. */
export const reuseOf = ({ reuse, reuseVerify = false }: CreateOptions) => ({ reuse, reuseVerify });
