/** The fields of a draft, and the rules that they must follow. */

import { optional, refine, type Struct, type, unknown } from 'superstruct';
import { encodeParts } from '../bencode/encode.ts';
import type { BencodeMap, Encodable } from '../bencode/value.ts';
import { componentsWithin } from '../disk/path-within.ts';
import type { ScanFilter, ScanPolicies } from '../disk/scan.ts';
import { MetainfoError, shown, ValidationError } from '../errors/errors.ts';
import { absolutePath, Callback, Flag, pathOrNull, suggestName } from '../errors/guard.ts';
import { isPowerOfTwo } from '../layout/piece-length.ts';
import { INFO, TORRENT } from '../model/codec.ts';
import { keysOf } from '../model/field.ts';
import { InfoDictHybridCreate } from '../model/info-dict.ts';
import { fromInput, type InputContext, isDictionary, withInput } from '../model/input.ts';
import { Issues } from '../model/issues.ts';
import {
  type GivenValues,
  IN_INFO,
  KEYS,
  type Key,
  namesOfKind,
  READ,
  type Structs,
  structsOf,
  type TOP,
} from '../model/keys.ts';
import type { PieceLayers } from '../model/piece-layers.ts';
import {
  choice,
  DhtNode,
  type FieldStructs,
  list,
  maybe,
  NewDate,
  RootPath,
  sparse,
  Text,
  TextList,
  TrackerTiers,
  V1PieceLength,
} from '../model/primitives.ts';
import { addFailures, failuresOf } from '../model/rules/rules.ts';
import { rawInfo } from '../model/torrent/infohash.ts';
import { TorrentFields } from '../model/torrent/torrent-fields.ts';
import { basename, currentFolder, inNode, isAbsolute, isMap, resolvePath } from '../platform/node.ts';
import { checkSources, commonFolder, frozenSources, namedSource, type Source } from '../sources/sources.ts';
import { isUrl } from '../text/urls.ts';

/** The values that a draft takes for each kind of key. */
interface DraftValues extends Omit<GivenValues, 'nodes' | 'urls'> {
  nodes: DhtNode[];
  urls: string | string[];
}

type DraftKeys<T> = { [P in keyof T]?: T[P] extends Key<infer K> ? DraftValues[K] | null | undefined : never };

/** The fields of a draft: the fields of a Torrent, all optional, and shorthands for those of `info`. Empty texts are left out. */
export interface TorrentCreateFields
  extends DraftKeys<typeof TOP>,
    DraftKeys<typeof IN_INFO>,
    ScanFilter,
    ScanPolicies {
  /**
   * Write BEP 47 flags from the disk: `x` for files that their owner may execute (not on Windows), `h` for names that begin with a
   * dot. A single-file torrent has none.
   *
   * @default false
   */
  attributes?: boolean | undefined;
  /**
   * Write all names in a Unicode form: `nfc`, which most systems and clients use. macOS may give decomposed names (NFD).
   *
   * @default the form that the disk has
   */
  normalize?: 'nfc' | undefined;
  /** The only tracker that old clients use (BEP 3). `trackers` sets `announce` and `announceList`. */
  announce?: string | null | undefined;
  /** Trackers in tiers (BEP 12). */
  announceList?: string[][] | null | undefined;
  /**
   * The program that makes the torrent; null and an empty text leave it out.
   *
   * @default 'metainfo (VERSION)'
   */
  createdBy?: string | null | undefined;
  /**
   * When the torrent was made.
   *
   * @default the time in SOURCE_DATE_EPOCH if that is set, else none
   */
  creationDate?: Date | null | undefined;
  /**
   * The known part of the info dictionary: a name, `private`, a source tag. Sizes and hashes given here must match the
   * files. `private: false` and empty texts are left out, except from a decoded dictionary and the `info` of a torrent.
   *
   * @default {}
   */
  info?: InfoDictHybridCreate | undefined;
  /** Expected piece layers: they must match the files. */
  pieceLayers?: PieceLayers | null | undefined;
  /** Unknown keys beside `info`: latin1 keys, bencode values. */
  extra?: BencodeMap | undefined;

  /**
   * The files and folders to include, beneath `pathRoot`: absolute, or relative to it. v1 sorts them as `sortV1` does.
   *
   * @default everything beneath `pathRoot`
   */
  paths?: readonly string[] | null | undefined;
  /**
   * Files whose content does not come from this disk. With sources, files on disk are included only if `paths` names them,
   * and `include` and `exclude` apply to those. In v1, the sources follow the files on disk in the given order.
   */
  sources?: readonly Source[] | null | undefined;
  /**
   * The folder that holds `paths`, or a single file; an input may give it as a relative path or a `file:` URL. The current folder must not stand in for a missing variable, so
   * `undefined` is an error.
   *
   * @default process.cwd()
   */
  pathRoot?: string;
  /** `info.private`: whether only the trackers may announce peers (BEP 27). False leaves the key out. */
  private?: boolean | null | undefined;
  /** A flat list puts each tracker in a tier of its own; a list of lists gives the tiers (BEP 12). */
  trackers?: string[] | string[][] | null | undefined;
  /** Webseeds (BEP 19): another word for `urlList`. */
  webseeds?: string | string[] | null | undefined;
  /**
   * Bytes: a power of two, at least 16 KiB for v2 and hybrid.
   *
   * @default chosen by the total size
   */
  pieceLength?: number | null | undefined;
  /** `info.similar`: infohashes of torrents that may share files with this one (BEP 38), as bytes or in hexadecimal. */
  similar?: readonly (Uint8Array | string)[] | null | undefined;
}

/** A checked draft as plain data: the input of the creation pipeline. Every {@link TorrentCreate} is one. */
export interface Draft {
  /** The fields as they were given, under their property names. */
  readonly fields: Readonly<TorrentCreateFields>;
  /** The folder that holds the files, or a single file; absolute. */
  readonly pathRoot: string;
  /** The known part of the info dictionary; it always has a name. */
  readonly info: Readonly<InfoDictHybridCreate>;
  /** The program that makes the torrent; null leaves it out. */
  readonly createdBy: string | null;
}

/**
 * A checked copy of a draft's input.
 *
 * @param anyUrl Accept texts that are no URL: {@link trackerFindings} tells of them.
 * @throws {MetainfoError} `ERR_INVALID_ARGUMENT` for anything but a plain object or a Map
 * @throws {ValidationError} with every rule that the fields break
 */
export function checkedFields(input: object, { anyUrl }: { anyUrl: boolean }): TorrentCreateFields {
  const issues = new Issues();
  const given = fieldsOf(input, { path: [], issues });
  addFailures(issues, given, fields as unknown as Struct);
  for (const rule of Object.values(RULES)) if (!(anyUrl && rule === checkUrls)) rule(given, issues);
  if (issues.hasErrors) throw new ValidationError(issues.finish(), 'draft');
  const kept = withoutEmpty(given, given.private === false);
  // A decoded dictionary keeps its keys, and with them its infohash.
  const { info } = isMap(input) ? {} : (input as TorrentCreateFields);
  if (given.info && !isMap(info) && rawInfo(info) === null)
    kept.info = withoutEmpty(given.info, info?.private === false);
  return kept.sources ? { ...kept, ...namedByFolder(kept, frozenSources(kept.sources)) } : kept;
}

/** The keys that may be empty texts and lists of texts. A torrent without a name is an error. */
const TEXTS = namesOfKind(KEYS, 'text').filter((name) => name !== 'name');
const LISTS_OF_TEXT = namesOfKind(KEYS, 'texts');

/** A copy of fields whose empty texts, alone and in lists, are null, as is `private` if `isPublic`: no key stands for them. */
export function withoutEmpty<T extends object>(fields: T, isPublic = false): T {
  const copy: Record<string, unknown> = { ...fields, ...(isPublic && { private: null }) };
  for (const key of TEXTS) if (copy[key] === '') copy[key] = null;
  for (const key of LISTS_OF_TEXT) {
    const all = [copy[key] ?? []].flat();
    const texts = all.filter((text) => text !== '');
    if (texts.length < all.length) copy[key] = texts.length > 0 ? texts : null;
  }
  return copy as T;
}

/** The sources, and the name that their common folder gives if nothing else does. Their paths then begin in that folder. */
function namedByFolder(
  { name, info, paths, pathRoot }: TorrentCreateFields,
  sources: readonly Source[],
): Pick<TorrentCreateFields, 'name' | 'sources'> {
  const hasName = (name ?? info?.name ?? paths ?? pathRoot) != null;
  const folder = hasName ? null : commonFolder(sources);
  if (folder === null) return { sources };
  return { name: folder, sources: sources.map((one) => ({ ...one, path: one.path.slice(folder.length + 1) })) };
}

/**
 * The info dictionary with the fields that stand beside it, and with a name: by default that of the path root, or of the only
 * source at the top level.
 *
 * @throws {MetainfoError} `ERR_NAME` if neither gives a name
 */
export function infoOf(fields: TorrentCreateFields, pathRoot: string): InfoDictHybridCreate {
  const { sources, paths, pathRoot: given, normalize } = fields;
  const info = { ...fields.info };
  for (const key of Object.keys(IN_INFO) as (keyof typeof IN_INFO)[]) {
    const value = fields[key];
    // An empty list beside `info` means the same as none.
    if (value != null && !(Array.isArray(value) && value.length === 0)) Object.assign(info, { [key]: value });
  }
  if (info.name != null) return info;
  const only = sources?.length === 1 && !paths ? sources[0]?.path : undefined;
  if (only !== undefined && !only.includes('/')) return { ...info, name: only };
  if (sources && !paths && given === undefined) throw new MetainfoError('ERR_NAME', 'Sources need a name: give one.');
  const onDisk = basename(pathRoot);
  const name = normalize ? onDisk.normalize('NFC') : onDisk;
  if (name !== '') return { ...info, name };
  const message = `The path root ${pathRoot} has no name: give the torrent one (name).`;
  throw new MetainfoError('ERR_NAME', message, { path: pathRoot, option: { name: null } });
}

/** The components of an entry of `paths`, relative to the path root; null if the entry is outside. */
export function relativeParts(entry: string, pathRoot: string): string[] | null {
  return componentsWithin(pathRoot, resolvePath(pathRoot, entry));
}

/** The fields that say how the disk is read. */
const POLICIES = ['symlinks', 'followOutside', 'skipUnreadable', 'hidden', 'systemFiles', 'attributes', 'normalize'];

/** The fields of a draft that a torrent does not have. */
const DRAFT_ONLY = [
  ...['info', 'paths', 'sources', 'pathRoot', 'trackers', 'webseeds', 'pieceLength', 'exclude', 'include'],
  ...POLICIES,
];

const FIELDS = { ...TORRENT, ...IN_INFO };
/** The property names of all fields. */
export const FIELD_NAMES: readonly string[] = [...DRAFT_ONLY, ...Object.keys(FIELDS), 'extra'];
const namesOf = (fields: object) => [...keysOf(fields)].flatMap(([key, { property }]) => [key, property]);
const KNOWN = new Set([...DRAFT_ONLY, ...namesOf(FIELDS)]);
const MISPLACED = new Set(namesOf(INFO).filter((name) => !KNOWN.has(name)));
/** Words for options of `generate`, which a draft would write as unknown keys. */
const OF_GENERATE = ['version', 'threads', 'outputPath', 'padNames', 'memoryLimit', 'readSize'];
const isOfGenerate = (key: string) => OF_GENERATE.includes(suggestName(key, OF_GENERATE) ?? key);
const OUTSIDE_INFO = new Set([...KNOWN].filter((name) => !namesOf(INFO).includes(name)));

/** A copy of the input with every field under its property name. */
function fieldsOf(input: object, context: InputContext): TorrentCreateFields {
  const { issues } = context;
  const given = fromInput(input, FIELDS, { ...context, own: DRAFT_ONLY }) as TorrentCreateFields;
  takeWebseeds(given, issues);
  // The scan and the rules know absolute paths, and names beneath them.
  if (given.pathRoot !== undefined) given.pathRoot = absolutePath(given.pathRoot) as string;
  if (Array.isArray(given.paths)) given.paths = given.paths.map((entry) => (pathOrNull(entry) ?? entry) as string);
  if (Array.isArray(given.sources)) given.sources = given.sources.map((one) => namedSource(one) as Source);
  if (isDictionary(given.info)) given.info = fromInput(given.info, INFO, { path: ['info'], issues });
  // A decoded torrent may have any key beside `info`, and in it.
  for (const key of isMap(input) ? [] : Object.keys(input))
    if (MISPLACED.has(key)) issues.add('misplaced', [key], `${key} belongs in info: { info: { ... } }`);
    else if (inNode() && isOfGenerate(key))
      issues.add('misplaced', [key], `${key} is no field of a draft, but an option of generate`);
  const { info } = input as { info?: object };
  const isWritten = isDictionary(info) && Object.getPrototypeOf(info) === Object.prototype;
  for (const key of isWritten ? Object.keys(info) : [])
    if (OUTSIDE_INFO.has(key)) issues.add('misplaced', ['info', key], `${key} belongs beside info: { ${key}: ... }`);
  requireEncodable(given.extra ?? [], [], issues);
  requireEncodable(given.info?.extra ?? [], ['info'], issues);
  requireRoot(input, given, issues);
  return given;
}

/** Moves webseeds to the property that the key `url-list` has. */
function takeWebseeds(given: TorrentCreateFields, issues: Issues): void {
  const { webseeds } = given;
  delete given.webseeds;
  if (webseeds == null) return;
  if (given.urlList != null)
    issues.add('no_duplicated_params', ['webseeds'], 'webseeds and urlList set the same value: use only one');
  given.urlList = TORRENT.urlList.coerce?.(webseeds, { path: [], issues }) as string[];
}

/** An unknown key with a value that bencode does not have would fail after everything has been hashed. */
export function requireEncodable(extra: Iterable<[string, unknown]>, path: string[], issues: Issues): void {
  for (const [key, value] of extra)
    try {
      if (value !== null) encodeParts(value as Encodable);
    } catch {
      issues.add('type', [...path, key], `expected a value that bencode can represent, got ${shown(value)}`);
    }
}

/** A missing variable must not mean the current folder: it may be that of a server, with its secrets. */
function requireRoot(input: object, given: TorrentCreateFields, issues: Issues): void {
  const isMissing = (key: string) =>
    isMap(input)
      ? input.has(key) && input.get(key) === undefined
      : Object.hasOwn(input, key) && (input as Record<string, unknown>)[key] === undefined;
  const isCurrentFolder = given.pathRoot === undefined && given.paths == null && given.sources == null;
  const missing = ['pathRoot', ...(isCurrentFolder ? ['paths', 'sources'] : [])].find(isMissing);
  if (missing === undefined) return;
  const message = 'expected a value, got undefined: to mean the current folder, set pathRoot to process.cwd()';
  issues.add('path_root', [missing], message);
}

/** The rules between fields, by the `refinement` of their failures in the struct. */
const RULES: Readonly<Record<string, (fields: TorrentCreateFields, issues: Issues) => void>> = {
  paths: checkPaths,
  expected_n_pieces: checkPieces,
  sources: ({ sources }, issues) => checkSources(sources, issues),
  url: checkUrls,
  no_duplicated_params: checkShorthands,
};

type Schema = FieldStructs<TorrentCreateFields>;

/** The structs of values for new torrents. Other rules check the URLs. */
export const GIVEN: Structs = { ...READ, date: NewDate, url: Text, urls: TextList, nodes: list(DhtNode) };

const fields = sparse(
  type({
    ...TorrentFields.schema,
    ...structsOf(KEYS, GIVEN),
    info: maybe(InfoDictHybridCreate),
    paths: maybe(TextList),
    sources: unknown(),
    pathRoot: optional(RootPath),
    trackers: maybe(TrackerTiers),
    webseeds: maybe(GIVEN.urls),
    pieceLength: maybe(V1PieceLength),
    exclude: optional(Callback),
    include: optional(Callback),
    symlinks: optional(choice('follow', 'skip', 'store', 'error')),
    followOutside: optional(Flag),
    skipUnreadable: optional(Flag),
    hidden: optional(Flag),
    systemFiles: optional(Flag),
    attributes: optional(Flag),
    normalize: optional(choice('nfc')),
  } as unknown as Schema),
);

/**
 * The struct of a draft's fields, with the rules that {@link TorrentCreate} checks. superstruct's `create` accepts every form
 * of input that the class accepts; `assign`, `omit` and the like keep the fields and drop the rules between them.
 */
export const TorrentCreateFields: Struct<TorrentCreateFields, Schema> = Object.entries(RULES).reduce(
  (struct, [name, rule]) =>
    refine(struct, name, (given, { path: at }) => {
      const issues = new Issues();
      rule(given, issues);
      return issues.finish().map(({ path: below, message }) => ({ path: [...at, ...below], message }));
    }),
  withInput(fields as Struct<TorrentCreateFields, Schema>, (value, context) =>
    isDictionary(value) ? fieldsOf(value, context) : value,
  ),
);

/** Paths must be beneath the path root. The scan checks where links lead. */
function checkPaths({ paths, pathRoot = currentFolder() }: TorrentCreateFields, issues: Issues): void {
  if (Array.isArray(paths) && paths.length === 0)
    issues.add('paths', ['paths'], 'expected at least one path, got none');
  if (!Array.isArray(paths) || typeof pathRoot !== 'string' || !isAbsolute(pathRoot)) return;
  for (const [index, entry] of paths.entries()) {
    if (typeof entry !== 'string' || (pathOrNull(entry) !== null && relativeParts(entry, pathRoot))) continue;
    issues.add('paths', ['paths', index], `expected a path beneath ${pathRoot}, got ${shown(entry)}`);
  }
}

/** Checks the number of pieces in `info` if the piece length is given beside it. */
function checkPieces({ info, pieceLength }: TorrentCreateFields, issues: Issues): void {
  if (!isDictionary(info) || info.pieceLength != null || !isPowerOfTwo(pieceLength)) return;
  for (const { path: at, message, refinement } of failuresOf({ ...info, pieceLength }, InfoDictHybridCreate as never))
    if (refinement === 'expected_n_pieces') issues.add('expected_n_pieces', ['info', ...at], message);
}

/** The keys whose values must be URLs. */
export const URLS = namesOfKind(KEYS, 'url', 'urls') as (keyof typeof KEYS)[];

/** Trackers, webseeds, HTTP seeds and the update feed must be URLs. */
function checkUrls(fields: TorrentCreateFields, issues: Issues): void {
  for (const name of ['announce', 'announceList', 'trackers', ...URLS] as const)
    requireUrls([name], fields[name], issues);
  for (const name of URLS) if (name in IN_INFO) requireUrls(['info', name], fields.info?.[name as 'updateUrl'], issues);
}

/** Adds an issue for each text in a field that is not a URL. */
export function requireUrls(at: readonly string[], value: unknown, issues: Issues): void {
  if (value == null) return;
  for (const url of [value].flat(2)) {
    if (typeof url === 'string' && !isUrl(url)) issues.add('url', at, `expected a URL, got ${shown(url)}`);
  }
}

/** The fields that each shorthand sets or replaces. */
const SHORTHANDS: readonly (readonly [shorthand: string, others: readonly string[]])[] = [
  ['paths', ['info.files', 'info.fileTree', 'info.length']],
  ['sources', ['info.files', 'info.fileTree', 'info.length']],
  ['trackers', ['announce', 'announceList']],
  ...['pieceLength', ...Object.keys(IN_INFO)].map((key) => [key, [`info.${key}`]] as const),
];

/** A shorthand excludes the fields that it sets. */
function checkShorthands(fields: TorrentCreateFields, issues: Issues): void {
  const inInfo = Object.entries(fields.info ?? {}).map(([key, value]) => [`info.${key}`, value] as const);
  const given: Readonly<Record<string, unknown>> = { ...fields, ...Object.fromEntries(inInfo) };
  for (const [shorthand, others] of SHORTHANDS)
    for (const other of others)
      if (given[shorthand] != null && given[other] != null)
        issues.add('no_duplicated_params', [shorthand], `${shorthand} and ${other} set the same value: use only one`);
}
