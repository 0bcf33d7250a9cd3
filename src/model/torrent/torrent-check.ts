/** Decodes and validates the bytes of a torrent file: the one way from bytes to a torrent. */
import { BencodeError } from '../../bencode/bencode-error.ts';
import { decodeTrusted } from '../../bencode/decode.ts';
import { type Limits, limitsOf, NO_LIMITS } from '../../bencode/limits.ts';
import type { BencodeMap, BencodeValue } from '../../bencode/value.ts';
import type { BeneathOptions } from '../../disk/held-folder.ts';
import { type Issue, MetainfoError, shown } from '../../errors/errors.ts';
import { bytesOf, checkOptions, type OptionStructs, Path, Signal, Unchecked } from '../../errors/guard.ts';
import { sumOf } from '../../layout/file-table.ts';
import { padsIn } from '../../layout/padding.ts';
import { copyOf, utf8Text } from '../../platform/node.ts';
import { decoderOf, type TextDecoding } from '../../text/name-bytes.ts';
import { TORRENT } from '../codec.ts';
import { infodictDiscriminator, type TorrentVersion } from '../discriminator.ts';
import { Issues } from '../issues.ts';
import { keepContent, type NativeLists, rawLists, rootAt, type TorrentContent, usualContent } from '../lazy/content.ts';
import type { FlatFile } from '../lazy/flat-tree.ts';
import { type UsualTorrent, usualTorrent } from '../lazy/usual-torrent.ts';
import { MAX_COMPONENTS, MAX_TREE_DEPTH, TORRENT_LIMITS } from '../limits.ts';
import { requireContext, type ValidationContext } from '../profile.ts';
import { checkBesideFiles, checkRules } from '../rules/rules.ts';
import { type DecodedInfo, decodeInfo, exposedInfo } from './info-decode.ts';
import { decodeTopLevel, type TopLevelFields } from './top-level.ts';
import type { Torrent } from './torrent.ts';
import { TorrentBase } from './torrent-base.ts';

/** Options of {@link Torrent.read}, {@link Torrent.fromBytes} and {@link Torrent.inspect}. */
export interface ReadOptions extends BeneathOptions {
  /**
   * How strictly the torrent is validated.
   *
   * @default { profile: 'default' }
   */
  context?: ValidationContext | undefined;
  /**
   * Bounds on the time and memory that an untrusted torrent may take.
   *
   * @default DEFAULT_LIMITS, but depth 99 and digits 20
   */
  limits?: Limits | undefined;
  /** Cancels {@link Torrent.read}: it rejects at once with an {@link AbortError}. */
  signal?: AbortSignal | undefined;
}

/** The checks of {@link ReadOptions} as an options bag. */
export const READ_OPTIONS: OptionStructs<ReadOptions> = {
  context: Unchecked,
  limits: Unchecked,
  signal: Signal,
  beneath: Path,
};

/** The outcome of checking bytes. */
export interface TorrentCheck {
  /** Null when there are errors. */
  torrent: Torrent | null;
  /** Null when the info dictionary has neither `pieces` nor `file tree`. */
  version: TorrentVersion | null;
  /** The raw `info` dictionary; empty when there is none. */
  infoBytes: Uint8Array;
  /** Errors first, then warnings. */
  issues: Issue[];
}

/**
 * Checks the bytes of a torrent file.
 *
 * @param made About the bytes: whether nobody else can change them, so that they are viewed instead of copied, and warnings of how
 *   they were made.
 * @throws {LimitError} when the torrent exceeds one of the limits
 * @throws {BencodeError} when the bytes are not bencode
 * @throws {MetainfoError} `ERR_INVALID_ARGUMENT` for invalid options
 */
export function checkTorrent(
  input: Uint8Array,
  readOptions: ReadOptions,
  { isOwn = false, warnings = [] }: { isOwn?: boolean; warnings?: readonly Issue[] } = {},
): TorrentCheck {
  const view = bytesOf('bytes', input);
  const { context: givenContext = {}, limits: givenLimits } = checkOptions(readOptions, READ_OPTIONS, {
    example: "{ context: { profile: 'strict' } }",
  });
  const context = requireContext(givenContext);
  const limits = limitsOf(givenLimits, TORRENT_LIMITS);
  if (limits.depth > MAX_TREE_DEPTH && limits !== NO_LIMITS)
    throw new MetainfoError('ERR_INVALID_ARGUMENT', `limits.depth of a torrent must be at most ${MAX_TREE_DEPTH}.`);
  // The caller may change or transfer its memory. Bytes beyond the limit are refused below, so they are not copied.
  const bytes = isOwn || view.length > limits.bytes ? view : copyOf(view);
  const issues = new Issues(context.profile, limits);
  const lists: NativeLists = {};
  const decoded = decodeTrusted(bytes, { span: 'info', tolerant: true, raw: rawLists(lists), limits });
  const { value, errors, span } = decoded;
  if (!(value instanceof Map)) {
    issues.add('type', [], `expected a dictionary, got ${shown(value)}`);
    return { torrent: null, version: null, infoBytes: new Uint8Array(), issues: issues.finish(bytes) };
  }
  issues.decoder = decoderFor(context, value.get('encoding'));
  const version = infodictDiscriminator(value.get('info'));
  const infoBytes = span ? bytes.subarray(span.start, span.end) : new Uint8Array();
  const isClean = errors.length + warnings.length === 0;
  const usual =
    isClean && value instanceof Map && version && span && isDefault(context)
      ? torrentOfLists({ version, bytes, infoBytes, map: value, context, limits }, lists)
      : null;
  if (usual) return { torrent: usual, version, infoBytes, issues: [] };
  reportBencodeErrors(errors, { version, span, isNewer: hasMetaVersion(value), issues });
  const { fields, info } = decodeModel(value, { version, context, issues });
  const listed = [...issues.finish(bytes), ...warnings];
  if (issues.hasErrors || !version || !info) return { torrent: null, version, infoBytes, issues: listed };
  const { fileTree } = info;
  const flat = fileTree ? () => fileTree : null;
  const pieceLayers = version === 'v1' ? null : (fields.pieceLayers ?? new Map());
  const all = { ...fields, pieceLayers, info: exposedInfo(info, version, flat) };
  const validated = { bytes, infoBytes, flat, totals: null, warnings: listed, context };
  const torrent = new TorrentBase(version, all as never, validated);
  // A caller of `inspect` may sort or filter its issues.
  return { torrent: torrent as Torrent, version, infoBytes, issues: structuredClone(listed) };
}

function isDefault({ profile, padding, paddingPath }: ValidationContext): boolean {
  return [profile, padding, paddingPath].every((setting = 'default') => setting === 'default');
}

/** The torrent of usual lists. Null if it has anything to report: then all of it is decoded, to find and describe that. */
function torrentOfLists(given: Omit<UsualTorrent, 'totals'>, lists: NativeLists): Torrent | null {
  const { version, map, context, limits } = given;
  const pieceLength = (map.get('info') as BencodeMap).get('piece length');
  if (typeof pieceLength !== 'number' || !(pieceLength > 0)) return null;
  const content = usualContent(lists, { version, pieceLength });
  if (!content) return null;
  const { lengths, entries } = content;
  const { files: list, 'file tree': tree } = lists;
  const counts = [list?.count ?? 0, tree?.count ?? 0];
  const bytes = sumOf(lengths);
  const all = entries ? sumOf(entries.lengths) : bytes;
  const isWithin =
    Math.max(...counts) <= limits.files && (tree?.pathUnits ?? 0) <= limits.paths && all - bytes <= limits.padding;
  // A component takes two bytes at least.
  const isDeep = list?.paths.ends.some((end, i, ends) => end - (ends[i - 1] ?? 0) > 2 * MAX_COMPONENTS);
  if (!isWithin || isDeep || bytes === 0 || !Number.isSafeInteger(all)) return null;
  const pieces = lengths.reduce((sum, length) => sum + Math.ceil(length / pieceLength), 0);
  const totals = { files: lengths.length, bytes, pieces };
  const layersValue = map.get('piece layers');
  if (version === 'v1' && layersValue !== undefined) return null;
  const torrent = usualTorrent({ ...given, totals }, ({ infoMap, info, issues }) => {
    if (entries && info.pieces?.length !== Math.ceil(all / pieceLength)) return 'unusual';
    const layers = layersValue === undefined ? null : TORRENT.pieceLayers.decode(layersValue, issues);
    const has = (key: string) => infoMap.has(key);
    const flat = filesLongerThan(pieceLength, content);
    checkBesideFiles({ version, info, has, isPad: () => false, layers, flat, context, issues });
    return layers ?? null;
  });
  if (torrent) keepContent(torrent, content);
  return torrent;
}

/** The files that must have piece layers. */
function filesLongerThan(pieceLength: number, content: TorrentContent): FlatFile[] {
  const { lengths, roots } = content;
  const files: FlatFile[] = [];
  for (let i = 0; roots && i < lengths.length; i += 1) {
    const length = lengths[i] as number;
    if (length > pieceLength) files.push({ length, path: [content.pathAt(i)], piecesRoot: rootAt(content, i) });
  }
  return files;
}

/** The decoder of texts that are not UTF-8: the caller's choice wins over the key that old creators wrote. */
function decoderFor({ encoding }: ValidationContext, stored: BencodeValue | undefined): TextDecoding | null {
  if (encoding !== undefined) return decoderOf(encoding);
  return stored instanceof Uint8Array && stored.length < 100 ? decoderOf(utf8Text(stored)) : null;
}

interface ModelContext {
  version: TorrentVersion | null;
  context: ValidationContext;
  issues: Issues;
}

/** Decodes all fields and runs the rules over those that decoded. */
function decodeModel(
  map: BencodeMap,
  { version, context, issues }: ModelContext,
): { fields: TopLevelFields; info: DecodedInfo | undefined } {
  const infoValue = map.get('info');
  const fields = decodeTopLevel(map, version, issues);
  const info = issues.within('info', () => decodeInfo(infoValue, version, issues));
  const flat = info?.fileTree ?? null;
  if (flat) requirePaths(flat, issues);
  if (version && info && infoValue instanceof Map) {
    checkRules({
      version,
      info,
      has: (key) => infoValue.has(key),
      isPad: padsIn(info.files ?? [], info.pieceLength ?? 0),
      layers: map.has('piece layers') ? (fields.pieceLayers ?? undefined) : null,
      flat,
      context,
      issues,
    });
  }
  return { fields, info };
}

/** Whether the info dictionary has a meta version above 0. */
function hasMetaVersion(map: BencodeMap): boolean {
  const info = map.get('info');
  const metaVersion = info instanceof Map ? info.get('meta version') : undefined;
  return typeof metaVersion === 'number' && metaVersion > 0;
}

/** A tree names each folder once, but each file has the names of its folders in its path. */
function requirePaths(flat: readonly FlatFile[], issues: Issues): void {
  let count = 0;
  for (const { path } of flat) for (const part of path) count += part.length + 1;
  issues.requireWithin('paths', count);
}

interface BencodeErrorContext {
  version: TorrentVersion | null;
  /** Where `info` is in the bytes. */
  span: { start: number; end: number } | null;
  isNewer: boolean;
  issues: Issues;
}

/**
 * Warns of bencode that is not canonical in v1, outside `info` and after the end: no client refuses it there. Throws for
 * it in a v2 info dictionary, which would have another infohash in another client.
 */
function reportBencodeErrors(
  errors: readonly BencodeError[],
  { version, span, isNewer, issues }: BencodeErrorContext,
): void {
  for (const error of errors) {
    const isOutside = span !== null && (error.offset < span.start || error.offset >= span.end);
    const isV1 = version === 'v1' && !(issues.compat && isNewer);
    const isWarning = !issues.rules.isExact && (isV1 || isOutside);
    if (!isWarning) throw new BencodeError(error.bencodeCode, error.offset, error.reason);
    const code = error.bencodeCode === 'trailing_data' ? 'trailing_data' : 'not_canonical';
    issues.warnAt(code, error.offset, error.reason);
  }
}
