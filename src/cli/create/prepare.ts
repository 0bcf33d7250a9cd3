/** Prepares a creation from the paths and options of a command line, as `create`, `plan`, `--queue` and `--resume` do. */
import path from 'node:path';
import type { TorrentCreateFields } from '../../create/draft-fields.ts';
import type { Finding } from '../../create/findings/findings.ts';
import { findingOfError, type PlanReport } from '../../create/findings/plan-report.ts';
import type { GenerateOptions } from '../../create/options.ts';
import { exists } from '../../disk/write-file.ts';
import { MetainfoError } from '../../errors/errors.ts';
import type { Checked } from '../../errors/guard.ts';
import { unsafeComponent } from '../../layout/safe-path.ts';
import type { TorrentVersion } from '../../model/discriminator.ts';
import { filledOutput } from '../options/output-template.ts';
import { rootAndPaths } from '../options/roots.ts';
import { isFolder, isStdout, makesFolder, realFile, requireWritable } from '../options/target.ts';
import { flagText } from '../terminal/messages.ts';
import { draftOf } from './draft-of.ts';
import { gradeFindings } from './findings.ts';
import { foreignInput, type WebObject } from './inputs.ts';
import { requireLinkFile } from './link-file.ts';
import type { CreateOptions } from './options.ts';

/** How {@link prepare} prepares a creation. */
export interface PrepareOptions {
  /**
   * The output is a torrent, or a plan in parts. A report makes findings of the problems of its output, and a comparison accepts one
   * that exists.
   *
   * @default 'torrent'
   */
  purpose?: 'torrent' | 'parts' | 'report' | 'comparison';
  signal?: AbortSignal | undefined;
}

/** A creation that is ready to be laid out. */
export interface Prepared {
  /** The output file, or `-` for standard output. */
  target: string;
  /** The fields of the draft. */
  fields: TorrentCreateFields;
  /** The options of the library. */
  settings: Checked<GenerateOptions> & { version: TorrentVersion; outputPath: string | undefined };
  /** The web object that is read; null for anything else. */
  web: WebObject | null;
  /** All findings of a plan and of the command itself, after `--strict` and `--allow`. */
  findingsOf: (plan: PlanReport) => Finding[];
  /** Adds to a contradiction of piece lengths where the configuration sets them. */
  explained: <T>(problem: T) => T;
}

/** Prepares a creation: checks its output, and makes its fields and the options of the library. A web object is asked for its size. */
export async function prepare(
  paths: readonly string[],
  options: CreateOptions,
  { purpose = 'torrent', signal }: PrepareOptions,
): Promise<Prepared> {
  const target = await targetFor(paths, options, purpose === 'parts' ? '.plan.json' : '.torrent');
  const { outputPath, problems } = await outputOf(paths, options, { target, purpose });
  // URLs that a draft refuses are findings of a report, beside all others.
  const unchecked = purpose === 'report' && { check: () => {} };
  const { fields, findings, web } = await draftOf(paths, options, { output: outputPath, signal, ...unchecked });
  return {
    target,
    fields,
    settings: { ...settingsOf(options), outputPath, signal },
    web,
    findingsOf: (plan) => gradeFindings(plan, [...problems, ...findings()], options),
    explained: (problem) => explained(problem, options),
  };
}

/** The file that is never part of the torrent, if there is one, and the problems of a report. */
async function outputOf(
  paths: readonly string[],
  options: CreateOptions,
  { target, purpose }: Pick<PrepareOptions, 'purpose'> & { target: string },
): Promise<{ outputPath: string | undefined; problems: Finding[] }> {
  if (purpose === 'comparison') return { outputPath: await realFile(target), problems: [] };
  const isReport = purpose === 'report';
  const problems: Finding[] = [];
  const attempt = async (check: () => Promise<unknown>) => {
    try {
      await check();
    } catch (error) {
      if (!isReport || !(error instanceof MetainfoError) || error.code === 'ERR_INVALID_ARGUMENT') throw error;
      problems.push(findingOfError(error));
    }
  };
  const { output = target } = options;
  let outputPath: string | undefined;
  // A report makes no folder, and plans are text, which may go to a terminal.
  const isNewFolder = isReport && makesFolder(output) && !(await exists(path.dirname(target)));
  if (!isNewFolder && (purpose === 'torrent' || !isStdout(target)))
    await attempt(async () => {
      const given = { ...options, output: isReport ? target : output };
      const { file, isNew } = await requireWritable(target, given);
      // An output that replaces nothing replaces no content.
      if (!isNew) outputPath = file;
    });
  if (purpose !== 'parts') await attempt(() => requireLinkFile(options, target, paths));
  return { outputPath, problems };
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

function settingsOf(options: CreateOptions): Checked<GenerateOptions> & { version: TorrentVersion } {
  const { torrentVersion: version, threads = null, memoryLimit, readSize, padNames, padding } = options;
  const { maxPieceLength, targetPieces, maxTorrentSize } = options;
  const limits = { maxPieceLength, targetPieces, maxTorrentSize };
  return { version, threads, memoryLimit, readSize, padNames, ...limits, ...(padding && { padding }) };
}

function explained<T>(problem: T, { fromConfig }: CreateOptions): T {
  const { code, message = '', option = {} } = problem as Partial<Finding>;
  if (code !== 'ERR_PIECE_LENGTH') return problem;
  const places = Object.keys(option).flatMap((key) => {
    const place = fromConfig?.get(key as keyof CreateOptions);
    return place === undefined ? [] : [`${flagText(key)} is set in ${place}`];
  });
  if (places.length === 0) return problem;
  return Object.assign(problem as object, { message: `${message.replace(/\.$/, '')} (${places.join(', ')}).` }) as T;
}
