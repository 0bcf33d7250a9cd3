/** Makes the fields of a draft from the paths and options of the command line. */
import { type BencodeMap, toKey } from '../../bencode/value.ts';
import { TorrentCreate } from '../../create/draft.ts';
import type { TorrentCreateFields } from '../../create/draft-fields.ts';
import { type Finding, warning } from '../../create/findings/findings.ts';
import { hasAllSizes, tryLayOut } from '../../create/torrent-layout.ts';
import { shown } from '../../errors/errors.ts';
import { invalidArgument } from '../../errors/guard.ts';
import { powerOfTwoWithin } from '../../layout/piece-length.ts';
import { INFO, TORRENT } from '../../model/codec.ts';
import { IN_INFO } from '../../model/keys.ts';
import { sourceFiles } from '../../sources/sources.ts';
import { ENTROPY_KEY, entropyText } from '../../text/entropy.ts';
import { countingFilter, policiesOf, type UnmatchedGlob } from '../options/content.ts';
import { FIELD_OF_OPTION } from '../options/key-options.ts';
import { cacheFolders, type ExtraKey } from '../options/option-values.ts';
import { rootAndPaths } from '../options/roots.ts';
import { outputToSkip } from '../options/target.ts';
import { type ForeignInput, foreignInput, openInput, type WebObject } from './inputs.ts';
import { linkFileToSkip } from './link-file.ts';
import type { CreateOptions } from './options.ts';

/** The fields of a draft, and the findings of the command itself. */
export interface CommandDraft {
  fields: TorrentCreateFields;
  /** Findings that are known once the files have been listed: patterns that have matched nothing, and those of a web object. */
  findings: () => Finding[];
  /** The web object that is read; null for anything else. */
  web: WebObject | null;
}

/** How {@link draftOf} makes a draft. */
export interface DraftOptions {
  /** The resolved path of the torrent file, which is never part of the torrent; undefined for standard output. */
  output: string | undefined;
  /** Whether the torrent file does not exist, so that the scan cannot find it. */
  isNew?: boolean;
  /** Checks the fields before a server is asked; by default, as a draft does. */
  check?: (fields: TorrentCreateFields) => unknown;
  signal?: AbortSignal | undefined;
}

/** The fields of a draft. A web object is asked for its size. */
export async function draftOf(
  paths: readonly string[],
  options: CreateOptions,
  { output, isNew = false, ...rest }: DraftOptions,
): Promise<CommandDraft> {
  const foreign = foreignInput(paths, options);
  if (foreign) return foreignDraft(foreign, options, rest);
  const roots = rootAndPaths(paths);
  const ownFiles = isNew ? [] : await outputToSkip(output, roots.pathRoot);
  const skipped = [...ownFiles, ...(await linkFileToSkip(options)), ...cacheFolders(options)];
  const { filter, unmatched } = await countingFilter(options, roots.pathRoot, skipped);
  // A pattern of the configuration need not match anything in each torrent.
  const isOwn = ({ option }: UnmatchedGlob) => !options.fromConfig?.has(option === '--exclude' ? 'exclude' : 'include');
  const content = { ...policiesOf(options), ...roots, ...filter };
  const fields = { ...fieldsOf(options), ...content, ...(await lengthBySize(content, options, rest.signal)) };
  return { fields, findings: () => unmatched().filter(isOwn).map(unmatchedPattern), web: null };
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
  const fields = { ...named, urlList, sources: [source], ...(await lengthBySize(content, options, signal)) };
  return { fields, findings: () => findings, web };
}

/**
 * The piece length that `--piece-lengths` gives, as a field. The files are listed for it, and once more by the creation, which reports
 * every problem.
 *
 * @param content The fields that give the content.
 */
async function lengthBySize(
  content: TorrentCreateFields,
  { pieceLength, pieceLengths, maxPieceLength = Number.POSITIVE_INFINITY, torrentVersion: version }: CreateOptions,
  signal: AbortSignal | undefined,
): Promise<Pick<TorrentCreateFields, 'pieceLength'>> {
  if (!pieceLengths || pieceLength !== 'auto') return {};
  const draft = new TorrentCreate(content);
  const sources = sourceFiles(draft.fields.sources ?? []);
  const { layout } = await tryLayOut(draft, { version, sources, signal });
  if (layout && !hasAllSizes(layout)) return {};
  const totalSize = layout?.files.totalLength ?? 0;
  const [, length = 'auto'] = pieceLengths.find(([size]) => totalSize <= size) ?? [];
  return length === 'auto' ? {} : { pieceLength: Math.min(length, powerOfTwoWithin(maxPieceLength)) };
}

function unmatchedPattern({ option, glob, otherCase }: UnmatchedGlob): Finding {
  if (otherCase !== null) {
    const message = `${option} ${glob} matches nothing, but it matches ${shown(otherCase)} in another letter case.`;
    return warning('pattern_unmatched', glob, message, { advice: 'Ignore the case with --ignore-case.' });
  }
  const advice =
    'Quote patterns, so that the shell leaves them alone. A pattern with a slash starts at the folder of the torrent.';
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
    // False, as of `--no-created-by`, leaves out a default, and true keeps it.
    const isDefault = typeof value === 'boolean' && field !== 'private';
    if (value !== undefined) (field in IN_INFO ? info : keys)[field] = isDefault ? (value ? undefined : null) : value;
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
