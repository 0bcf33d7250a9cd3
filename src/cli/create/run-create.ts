/** Runs one creation: from the paths and options of a command line to a written torrent. */
import path from 'node:path';
import { TorrentCreate } from '../../create/draft.ts';
import type { Finding } from '../../create/findings/findings.ts';
import { describeLayout, findingOfError, type PlanReport } from '../../create/findings/plan-report.ts';
import type { ReuseReport } from '../../create/hash-unknown.ts';
import type { GenerateOptions } from '../../create/options.ts';
import { sourceFiles } from '../../create/sources/sources.ts';
import type { TorrentLayout } from '../../create/torrent-layout.ts';
import { throwProblems } from '../../disk/scan-problems.ts';
import { exists, writeWhole } from '../../disk/write-file.ts';
import { MetainfoError } from '../../errors/errors.ts';
import type { Checked } from '../../errors/guard.ts';
import { defaultEngine } from '../../hash/default-engine.ts';
import type { Progress, WatchOptions } from '../../jobs/watch.ts';
import { unsafeComponent } from '../../layout/safe-path.ts';
import type { TorrentVersion } from '../../model/discriminator.ts';
import type { Torrent } from '../../model/torrent/torrent.ts';
import { cacheOf } from '../options/option-values.ts';
import { filledOutput } from '../options/output-template.ts';
import { rootAndPaths } from '../options/roots.ts';
import {
  isFolder,
  isStdout,
  makesFolder,
  type OutputFolders,
  realFile,
  requireWritable,
  writeTorrent,
} from '../options/target.ts';
import { flagText } from '../terminal/messages.ts';
import { shellWords } from '../terminal/shell-words.ts';
import { draftOf } from './draft-of.ts';
import { gradeFindings, refuse } from './findings.ts';
import { foreignInput, type WebObject } from './inputs.ts';
import { requireLinkFile } from './link-file.ts';
import type { CreateOptions } from './options.ts';

/** Callbacks and the signal of a creation. */
export interface CreateWatch extends WatchOptions {
  /** Called with the findings before the first file is hashed. */
  onFindings: (findings: readonly Finding[], plan: PlanReport) => unknown;
  /** The folders of all outputs of the run. */
  folders?: OutputFolders;
}

/** A torrent that was created and written. */
export interface Created extends Creation {
  /** The torrent file, or `-` for standard output. */
  target: string;
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
  { onFindings, folders, ...watch }: CreateWatch,
): Promise<Created> {
  const target = await targetFor(paths, options);
  const output = await requireWritable(target, { ...options, output: options.output ?? target }, folders);
  await requireLinkFile(options, target, paths);
  const place = { output: output.file, isNew: output.isNew, signal: watch.signal };
  const { fields, findings: ownFindings, web } = await draftOf(paths, options, place);
  const onPlan = (plan: PlanReport): unknown => {
    const findings = gradeFindings(plan, ownFindings(), options);
    const answer = onFindings(findings, plan);
    if (answer instanceof Promise) return answer.then(() => refuse(findings));
    return refuse(findings);
  };
  const started = process.uptime();
  // Taken before hashing: `update` must read files again that change from now on.
  const mtime = new Date();
  const creation = await createTorrent(new TorrentCreate(fields), options, {
    ...watch,
    // An output that replaces nothing replaces no content.
    outputPath: output.isNew ? undefined : output.file,
    onPlan,
  }).catch((error: unknown) => {
    throw explained(error, options);
  });
  const seconds = process.uptime() - started;
  const force = options.force ?? false;
  await writeTorrent(creation.torrent, target, { force, mtime });
  const link = options.magnet || options.linkFile !== undefined ? creation.torrent.magnet() : null;
  if (options.linkFile !== undefined) await writeLink(options.linkFile, `${link}\n`, target, force);
  return { ...creation, target, seconds, link, web };
}

/**
 * Writes the file for the magnet link, after the torrent.
 *
 * @throws {MetainfoError} as {@link writeWhole}; the message tells that the torrent was written
 */
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

/** A plan of a creation. */
export interface Planned {
  /** The torrent file that would be written, or `-` for standard output. */
  target: string;
  /** The plan with all findings, those of the output and of the command's options too. */
  plan: PlanReport;
  /** The web object that would be read; null for anything else. */
  web: WebObject | null;
}

/** Plans a creation without reading content or writing anything. */
export async function planCreate(
  paths: readonly string[],
  options: CreateOptions,
  signal: AbortSignal,
): Promise<Planned> {
  const target = await targetFor(paths, options);
  const { output: given } = options;
  const isNewFolder = given !== undefined && makesFolder(given) && !(await exists(path.dirname(target)));
  const unwritable = [
    ...(isStdout(target) || isNewFolder
      ? []
      : await problemOf(() => requireWritable(target, { ...options, output: target }))),
    ...(await problemOf(() => requireLinkFile(options, target, paths))),
  ];
  const output = unwritable.length > 0 || isNewFolder ? undefined : await realFile(target);
  // URLs that a draft refuses are findings beside all others.
  const { fields, findings: ownFindings, web } = await draftOf(paths, options, { output, check: () => {}, signal });
  const plan = await TorrentCreate.plan(fields, { ...reusingOptions(options), outputPath: output, signal });
  for (const finding of plan.findings) explained(finding, options);
  const findings = gradeFindings(plan, [...unwritable, ...ownFindings()], options);
  return { target, plan: { ...plan, findings }, web };
}

/** Adds to a contradiction of piece lengths where the configuration sets them. */
export function explained<T>(problem: T, { fromConfig }: CreateOptions): T {
  const { code, message = '', option = {} } = problem as Partial<Finding>;
  if (code !== 'ERR_PIECE_LENGTH') return problem;
  const places = Object.keys(option).flatMap((key) => {
    const place = fromConfig?.get(key as keyof CreateOptions);
    return place === undefined ? [] : [`${flagText(key)} is set in ${place}`];
  });
  if (places.length === 0) return problem;
  return Object.assign(problem as object, { message: `${message.replace(/\.$/, '')} (${places.join(', ')}).` }) as T;
}

/** The layout of a creation whose output may exist, and what else decides about its torrent. */
export interface ExpectedCreation {
  layout: TorrentLayout;
  /** The web object that would be read; null for anything else. */
  web: WebObject | null;
}

/**
 * Plans a creation to compare it with the torrent that is there. It ignores that the output exists.
 *
 * @throws {MetainfoError} every error with which the creation would fail before it hashes
 */
export async function expectedCreation(
  paths: readonly string[],
  options: CreateOptions,
  target: string,
  signal: AbortSignal,
): Promise<ExpectedCreation> {
  const output = await realFile(target);
  const { fields, findings: ownFindings, web } = await draftOf(paths, options, { output, signal });
  const draft = new TorrentCreate(fields);
  const sources = sourceFiles(draft.fields.sources ?? []);
  const settings = { ...generateOptions(options), outputPath: output, sources, signal };
  const { layout, description, problems } = await describeLayout(draft, settings);
  throwProblems(problems.map(({ error, ...problem }) => ({ ...problem, error: explained(error, options) })));
  refuse(gradeFindings(description, ownFindings(), options));
  return { layout: layout as TorrentLayout, web };
}

/** The error of a check as findings. */
async function problemOf(check: () => Promise<unknown>): Promise<Finding[]> {
  try {
    await check();
    return [];
  } catch (error) {
    if (!(error instanceof MetainfoError) || error.code === 'ERR_INVALID_ARGUMENT') throw error;
    return [findingOfError(error)];
  }
}

/** The file that a creation writes: by default `NAME.torrent` in the current folder. */
export async function targetFor(
  paths: readonly string[],
  options: CreateOptions,
  ending = '.torrent',
): Promise<string> {
  const { output, name } = options;
  const foreign = foreignInput(paths, options);
  // A name that no torrent can have is an error of the draft: its output must not be another problem.
  const own = name !== undefined && unsafeComponent(name) === null ? name : undefined;
  const base = foreign?.name ?? own ?? path.basename(rootAndPaths(paths).pathRoot);
  const file = `${base}${ending}`;
  if (output === undefined) return file;
  if (isStdout(output)) return output;
  const filled = filledOutput(output, base, options);
  return (await isFolder(filled)) ? path.join(filled, file) : filled;
}

/** A torrent that was created. */
interface Creation {
  torrent: Torrent;
  kernel: string;
  /** With a cache or torrents to reuse, the bytes that were read; null without, where every byte is read. */
  bytesRead: number | null;
  /** The report on `--reuse`; null without it, and for streams. */
  reuse: ReuseReport | null;
}

type CreationOptions = WatchOptions & { outputPath: string | undefined; onPlan: (plan: PlanReport) => unknown };

async function createTorrent(draft: TorrentCreate, options: CreateOptions, watch: CreationOptions): Promise<Creation> {
  const engine = defaultEngine();
  const cache = cacheOf(options);
  let bytesRead = 0;
  const onProgress = (progress: Progress) => {
    bytesRead = progress.bytes;
    return watch.onProgress?.(progress);
  };
  const counted = cache === false ? watch : { ...watch, onProgress };
  const reports: ReuseReport[] = [];
  const onReuse = (report: ReuseReport) => void reports.push(report);
  const torrent = await draft.generate({ ...reusingOptions(options), onReuse, engine, cache, ...counted });
  const [reuse = null] = reports;
  return { torrent, kernel: engine.kernel, bytesRead: reuse?.bytesRead ?? (cache ? bytesRead : null), reuse };
}

function reusingOptions({ reuse, reuseVerify = false, ...options }: CreateOptions): Checked<GenerateOptions> {
  return { ...generateOptions(options), reuse, reuseVerify };
}

/** The options of the library for a creation and its plan. */
export function generateOptions(options: CreateOptions): Checked<GenerateOptions> & { version: TorrentVersion } {
  const { torrentVersion: version, threads = null, memoryLimit, readSize, padNames, padding } = options;
  const { maxPieceLength, targetPieces, maxTorrentSize } = options;
  const limits = { maxPieceLength, targetPieces, maxTorrentSize };
  return { version, threads, memoryLimit, readSize, padNames, ...limits, ...(padding && { padding }) };
}
