/** Prepares a creation from the paths and options of a command line, as `create`, `plan`, `--queue` and `--resume` do. */
import { stat } from 'node:fs/promises';
import path from 'node:path';
import { type BencodeMap, toKey } from '../../bencode/value.ts';
import { TorrentCreate } from '../../create/draft.ts';
import type { TorrentCreateFields } from '../../create/draft-fields.ts';
import { type Finding, warning } from '../../create/findings/findings.ts';
import { findingOfError, type PlanReport } from '../../create/findings/plan-report.ts';
import type { GenerateOptions } from '../../create/options.ts';
import { hasAllSizes, tryLayOut } from '../../create/torrent-layout.ts';
import { exists } from '../../disk/write-file.ts';
import { MetainfoError, shown } from '../../errors/errors.ts';
import { type Checked, invalidArgument } from '../../errors/guard.ts';
import { systemPath } from '../../hash/system-path.ts';
import { choosePieceLength, powerOfTwoWithin } from '../../layout/piece-length.ts';
import { unsafeComponent } from '../../layout/safe-path.ts';
import { INFO, TORRENT } from '../../model/codec.ts';
import type { TorrentVersion } from '../../model/discriminator.ts';
import { IN_INFO } from '../../model/keys.ts';
import { sourceFiles } from '../../sources/sources.ts';
import { ENTROPY_KEY, entropyText } from '../../text/entropy.ts';
import { countingFilter, policiesOf, type UnmatchedGlob } from '../options/content.ts';
import { FIELD_OF_OPTION } from '../options/key-options.ts';
import { cacheFolders, type ExtraKey, lengthBySize } from '../options/option-values.ts';
import { filledOutput } from '../options/output-template.ts';
import { rootAndPaths } from '../options/roots.ts';
import { isFolder, isStdout, makesFolder, outputToSkip, realFile, requireWritable } from '../options/target.ts';
import { flagText } from '../terminal/messages.ts';
import { gradeFindings, longer, type RuledPlan } from './findings.ts';
import { type ForeignInput, foreignArgument, foreignInput, openInput, type WebObject } from './inputs.ts';
import { linkFileToSkip, requireLinkFile } from './link-file.ts';
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
  /** Adds to a contradiction of piece lengths where the configuration sets them, and to a duplicate path that `--normalize` caused it. */
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
  const renamed = await renamedFile(paths, options);
  const given = { output: outputPath, signal, ...unchecked };
  const { fields, findings, web, longestPath } = await draftOf(paths, options, given);
  return {
    target,
    fields,
    settings: { ...settingsOf(options), outputPath, signal },
    web,
    findingsOf: (plan) => gradeFindings({ ...plan, longestPath }, [...problems, ...findings(), ...renamed], options),
    explained: (problem) => explained(problem, options),
  };
}

/** A hint at the file that clients will not find under the name of the torrent. */
async function renamedFile(paths: readonly string[], { name }: CreateOptions): Promise<Finding[]> {
  if (name === undefined || foreignArgument(paths) !== undefined) return [];
  const file = rootAndPaths(paths).pathRoot;
  const own = path.basename(file);
  const status = own === name ? null : await stat(systemPath(file)).catch(() => null);
  if (!status?.isFile()) return [];
  const message = `Clients look for the file ${shown(name)}, and do not find ${shown(own)}.`;
  const advice = 'Rename the file before you seed it, or leave out --name.';
  return [{ code: 'other_name', severity: 'hint', path: own, message, advice }];
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
      const { cause } = error as { cause?: NodeJS.ErrnoException };
      // As a report advises.
      if (cause?.code === 'ENAMETOOLONG')
        Object.assign(error as object, { advice: 'Choose a shorter name with -o FILE.' });
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

function explained<T>(problem: T, { fromConfig, normalize }: CreateOptions): T {
  const { code, message = '', option = {} } = problem as Partial<Finding>;
  if (code === 'ERR_DUPLICATE_PATH' && normalize !== undefined) {
    const reason = 'two names are the same after --normalize: rename one, or leave out the option.';
    return Object.assign(problem as object, {
      message: message.replace(/\.$/, `, because ${reason}`),
      ...('severity' in (problem as object) && { advice: '' }),
    }) as T;
  }
  if (code !== 'ERR_PIECE_LENGTH') return problem;
  const places = Object.keys(option).flatMap((key) => {
    const place = fromConfig?.get(key as keyof CreateOptions);
    return place === undefined ? [] : [`${flagText(key)} is set in ${place}`];
  });
  if (places.length === 0) return problem;
  return Object.assign(problem as object, { message: `${message.replace(/\.$/, '')} (${places.join(', ')}).` }) as T;
}

/** The fields of a draft, and the findings of the command itself. */
interface CommandDraft {
  fields: TorrentCreateFields;
  /** Findings that are known once the files have been listed: patterns that have matched nothing, and those of a web object. */
  findings: () => Finding[];
  /** The web object that is read; null for anything else. */
  web: WebObject | null;
  longestPath: RuledPlan['longestPath'];
}

/** How {@link draftOf} makes a draft. */
interface DraftOptions {
  /** The resolved path of the torrent file, which is never part of the torrent; undefined for standard output. */
  output: string | undefined;
  /** Checks the fields before a server is asked; by default, as a draft does. */
  check?: (fields: TorrentCreateFields) => unknown;
  signal?: AbortSignal | undefined;
}

/** The fields of a draft. A web object is asked for its size. */
async function draftOf(
  paths: readonly string[],
  options: CreateOptions,
  { output, ...rest }: DraftOptions,
): Promise<CommandDraft> {
  const foreign = foreignInput(paths, options);
  if (foreign) return foreignDraft(foreign, options, rest);
  const roots = rootAndPaths(paths);
  const ownFiles = await outputToSkip(output, roots.pathRoot);
  const skipped = [...ownFiles, ...(await linkFileToSkip(options)), ...cacheFolders(options)];
  const { filter, unmatched } = await countingFilter(options, roots.pathRoot, skipped);
  // A pattern of the configuration need not match anything in each torrent.
  const isOwn = ({ option }: UnmatchedGlob) => {
    const name = option === '--exclude' ? 'exclude' : 'include';
    return !(options.fromConfig?.has(name) || options.matched?.has(name));
  };
  const content = { ...policiesOf(options), ...roots, ...filter };
  const { length, longestPath } = await listed(content, options, rest.signal);
  const fields = { ...fieldsOf(options), ...content, ...length };
  return { fields, findings: () => unmatched().filter(isOwn).map(unmatchedPattern), web: null, longestPath };
}

async function foreignDraft(
  input: ForeignInput,
  options: CreateOptions,
  { check = (fields) => new TorrentCreate(fields), signal }: Pick<DraftOptions, 'check' | 'signal'>,
): Promise<CommandDraft> {
  const named = fieldsOf({ ...options, name: input.name });
  check(named);
  const { source, web, webseed, findings } = await openInput(input, signal);
  const webseeds = [...new Set([...(webseed === null ? [] : [webseed]), ...(options.webseed ?? [])])];
  const urlList = webseeds.length > 0 ? webseeds : undefined;
  const content = { info: { name: input.name }, sources: [source] };
  const { length, longestPath } = await listed(content, options, signal);
  const fields = { ...named, urlList, sources: [source], ...length };
  return { fields, findings: () => findings, web, longestPath };
}

/**
 * The piece length that `--piece-lengths` or the rules of hosts give, as a field, and the longest path. The files are listed for it, and
 * once more by the creation, which reports every problem.
 *
 * @param content The fields that give the content.
 */
async function listed(content: TorrentCreateFields, options: CreateOptions, signal: AbortSignal | undefined) {
  const { pieceLengths = [], minPieceLength = 1, maxPieceLength = Number.POSITIVE_INFINITY } = options;
  const { pieceLength, targetPieces, maxTorrentSize, maxPathLength, torrentVersion: version, name } = options;
  const choosesLength = pieceLength === 'auto' && (pieceLengths.length > 0 || minPieceLength > 1);
  if (!choosesLength && maxPathLength === undefined) return {};
  const draft = new TorrentCreate(content);
  const sources = sourceFiles(draft.fields.sources ?? []);
  const { layout } = await tryLayOut(draft, { ...settingsOf(options), version, sources, signal });
  if (!layout) return {};
  const ofFile = (path: readonly string[]) => [name ?? layout.name, ...(layout.isSingleFile ? [] : path)].join('/');
  const longestPath =
    maxPathLength === undefined ? undefined : layout.files.map(({ path }) => ofFile(path)).reduce(longer, '');
  if (!choosesLength || !hasAllSizes(layout)) return { longestPath };
  const { totalLength } = layout.files;
  const bySize = lengthBySize(pieceLengths, totalLength);
  const chosen = layout.pieceLength;
  const least = 2 ** Math.ceil(Math.log2(minPieceLength));
  if (bySize === 'auto' && chosen >= least) return { longestPath };
  // A small torrent needs longer pieces.
  const needed = maxTorrentSize !== undefined && chosen > choosePieceLength(totalLength) ? chosen : 0;
  const length = Math.max(bySize === 'auto' ? chosen : bySize, least, targetPieces === undefined ? needed : 0);
  // The shortest length of the rule is the closest one to the target. Lengths by size contradict a target.
  if (bySize === 'auto') delete options.targetPieces;
  return { longestPath, length: { pieceLength: Math.min(length, powerOfTwoWithin(maxPieceLength)) } };
}

function unmatchedPattern({ option, glob, otherCase }: UnmatchedGlob): Finding {
  if (otherCase !== null) {
    const message = `${option} ${glob} matches nothing, but it matches ${shown(otherCase)} in another letter case.`;
    return warning('pattern_unmatched', glob, message, { advice: 'Ignore the case with --ignore-case.' });
  }
  // Other programs separate the patterns of a list in these ways.
  const advice = /[|;]|,(?![^{]*\})/.test(glob)
    ? 'Repeat the option for each pattern, or use braces: *.{nfo,jpg}.'
    : 'Quote patterns, so that the shell leaves them alone. A pattern with a slash starts at the folder of the torrent.';
  return warning('pattern_unmatched', glob, `${option} ${glob} matches nothing.`, { advice });
}

function fieldsOf(options: CreateOptions): TorrentCreateFields {
  const { set = [] } = options;
  const infoExtra = extraOf(set.filter(({ isInfo }) => isInfo));
  if (options.entropy && set.some(({ isInfo, key }) => isInfo && key === ENTROPY_KEY))
    throw invalidArgument('--set info.entropy and --entropy set the same key: use one of them');
  if (options.entropy) infoExtra.set(ENTROPY_KEY, Buffer.from(entropyText()));
  const extra = extraOf(set.filter(({ isInfo }) => !isInfo));
  const keys: Record<string, unknown> = {};
  const info: Record<string, unknown> = infoExtra.size > 0 ? { extra: infoExtra } : {};
  for (const [option, field] of FIELD_OF_OPTION) {
    const value = options[option as keyof CreateOptions];
    // False, as of `--no-created-by`, leaves out a default, and true keeps it. So does an empty text.
    const isDefault = typeof value === 'boolean' && field !== 'private';
    const isLeftOut = isDefault ? !value : value === '' && field !== 'name';
    if (isLeftOut) (field in IN_INFO ? info : keys)[field] = null;
    else if (value !== undefined && !isDefault) (field in IN_INFO ? info : keys)[field] = value;
  }
  return {
    ...keys,
    info,
    normalize: options.normalize,
    pieceLength: options.pieceLength === 'auto' ? null : options.pieceLength,
    ...(extra.size > 0 && { extra }),
  };
}

/** The keys beside `info` and in it that the draft itself sets. */
const TOP_KEYS = new Set(['info', ...Object.values(TORRENT).map(({ key }) => key)]);
const INFO_KEYS = new Set(Object.values(INFO).map(({ key }) => key));

function extraOf(keys: readonly ExtraKey[]): BencodeMap {
  const taken = keys.find(({ isInfo, key }) => INFO_KEYS.has(key) || (!isInfo && TOP_KEYS.has(key)));
  if (taken) {
    const own = ['name', 'private', 'source', 'update-url'].includes(taken.key) ? `--${taken.key}` : null;
    const advice = own ? `use ${own}` : 'use the option for it, if there is one';
    throw invalidArgument(`--set cannot set ${taken.isInfo ? 'info.' : ''}${taken.key}: ${advice}`);
  }
  return new Map(keys.map(({ key, value }) => [toKey(key), value]));
}
