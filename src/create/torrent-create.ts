import { readFileSync } from 'node:fs';
import path from 'node:path';
import { array, coerce, dynamic, func, optional, refine, type Struct, type, unknown } from 'superstruct';
import type { BencodeMap, BencodeValue } from '../bencode/value.ts';
import { type ScanFilter, type ScannedFile, type ScanOptions, scan } from '../disk/scan.ts';
import { ISSUE_CODES, type IssueCode } from '../errors/codes.ts';
import { MetainfoError, shown, ValidationError } from '../errors/errors.ts';
import { checkOptions, Flag, type OptionStructs, readSafely } from '../errors/guard.ts';
import { sortV1, sortV2 } from '../layout/order.ts';
import { isPadFile } from '../layout/padding.ts';
import { isPowerOfTwo } from '../layout/piece-length.ts';
import { INFO, TORRENT } from '../model/codec.ts';
import type { TorrentVersion } from '../model/discriminator.ts';
import type { DumpedDictionary } from '../model/dump.ts';
import type { FileItem } from '../model/file-item.ts';
import { type FileTree, type FileTreeItem, flattenTree } from '../model/file-tree.ts';
import type { HashList } from '../model/hash-list.ts';
import { InfoDictHybridCreate } from '../model/info-dict.ts';
import { fromInput, isDictionary } from '../model/input.ts';
import { Issues } from '../model/issues.ts';
import { PieceLayers } from '../model/piece-layers.ts';
import {
  AbsolutePath,
  DhtNode,
  Extra,
  type FieldStructs,
  Infohash,
  maybe,
  Text,
  TextList,
  Tiers,
  Timestamp,
  V1PieceLength,
} from '../model/primitives.ts';
import { failuresOf } from '../model/rules.ts';
import type { TorrentOf } from '../model/torrent.ts';
import type { ContentFile } from './content.ts';
import { GENERATE, type GenerateOptions, generate } from './generate.ts';
import type { GenerateExtOptions } from './libtorrent.ts';
import { checkSources, frozenSources, type Source, type SourceFile, sourceFiles } from './sources.ts';

/** This package's version. */
export const { version: VERSION } = JSON.parse(
  readFileSync(path.join(import.meta.dirname, '../../package.json'), 'utf8'),
) as { version: string };

/** `created by` of a draft that says nothing else. */
export const CREATED_BY = `metainfo (${VERSION})`;

/** What a draft is made of: the fields of a Torrent, all optional, and shorthands for the common ones. */
export interface TorrentCreateFields extends ScanFilter {
  /** The one tracker of old clients (BEP 3). `trackers` sets this and the next. */
  announce?: string | null | undefined;
  /** Trackers in tiers (BEP 12). */
  announceList?: string[][] | null | undefined;
  /** Text for people. */
  comment?: string | null | undefined;
  /** Default `metainfo (VERSION)`; null leaves it out. */
  createdBy?: string | null | undefined;
  /** Default: none, or SOURCE_DATE_EPOCH when that is set. */
  creationDate?: Date | null | undefined;
  /** Of the infodict what is known beforehand: a name, `private`, a source. Hashes that it names are held against the files. */
  info?: InfoDictHybridCreate | undefined;
  /** Held against the files, like the hashes of `info`. */
  pieceLayers?: PieceLayers | null | undefined;
  /** Webseeds (BEP 19). */
  urlList?: string | string[] | null | undefined;
  /** Scripts that give pieces over HTTP (BEP 17). */
  httpseeds?: string | string[] | null | undefined;
  /** Nodes of the DHT to begin with (BEP 5). */
  nodes?: DhtNode[] | null | undefined;
  /** Unknown keys beside `info`: latin1 keys, bencode values. */
  extra?: BencodeMap | undefined;

  /** Files and folders to include, beneath `pathRoot`; absolute, or relative to it. Absent: all that is beneath it. */
  paths?: readonly string[] | null | undefined;
  /**
   * Files whose content is not on this disk. Files on disk are then taken only where `paths` names them; `include` and
   * `exclude` are for those. v1 keeps the order: first the paths, then the sources.
   */
  sources?: readonly Source[] | null | undefined;
  /** The folder that `paths` are in, or a single file; absolute. Default: the current folder. */
  pathRoot?: string | undefined;
  /** A flat list puts each tracker in a tier of its own; a list of lists gives the tiers (BEP 12). */
  trackers?: string[] | string[][] | null | undefined;
  /** Bytes: a power of two, from 16 KiB for v2 and hybrid. Absent: chosen by the total size. */
  pieceLength?: number | null | undefined;
  /** `info.similar`: infohashes of torrents that may hold the same files (BEP 38), as bytes or in hexadecimal. */
  similar?: readonly (Uint8Array | string)[] | null | undefined;
  /** `info.collections`: what it belongs to, where other torrents may hold the same files (BEP 38). */
  collections?: readonly string[] | null | undefined;
}

/** Unknown keys: a Map of on-disk keys (one char a byte), or an object of text keys. */
type ExtraInput = BencodeMap | Readonly<Record<string, BencodeValue>> | null | undefined;
type HashesInput = HashList | Uint8Array | readonly Uint8Array[] | null | undefined;

/** A file of a list, under attribute names or on-disk keys. */
export interface FileItemInput extends Omit<FileItem, 'extra' | 'path'> {
  /** Components, from the torrent's root. */
  path: readonly string[];
  /** The on-disk key of `pathUtf8`. */
  'path.utf-8'?: readonly string[] | null;
  /** The on-disk key of `symlinkPath`. */
  'symlink path'?: readonly string[] | null;
  /** Unknown keys. */
  extra?: ExtraInput;
}

/** A file of a tree, under attribute names or on-disk keys. */
export interface FileTreeItemInput extends Omit<FileTreeItem, 'extra'> {
  /** The on-disk key of `piecesRoot`. */
  'pieces root'?: Uint8Array | null;
  /** The on-disk key of `symlinkPath`. */
  'symlink path'?: readonly string[] | null;
  /** Unknown keys. */
  extra?: ExtraInput;
}

/** A file tree: objects or Maps. */
export type FileTreeInput =
  | FileTree
  | ReadonlyMap<string | Uint8Array, FileTreeInput | FileTreeItemInput>
  | { readonly [name: string]: FileTreeInput | FileTreeItemInput };

/** The infodict of a draft, under attribute names or on-disk keys. */
export interface InfoDictInput
  extends Omit<InfoDictHybridCreate, 'extra' | 'files' | 'fileTree' | 'pieces' | 'similar'> {
  /** The on-disk key of `nameUtf8`. */
  'name.utf-8'?: string | null | undefined;
  /** The on-disk key of `updateUrl`. */
  'update-url'?: string | null | undefined;
  /** The on-disk key of `pieceLength`. */
  'piece length'?: number | null | undefined;
  /** SHA-1 of each piece: packed, or a list of 20 bytes each. */
  pieces?: HashesInput;
  /** The files of a folder. */
  files?: readonly FileItemInput[] | null | undefined;
  /** The on-disk key of `metaVersion`. */
  'meta version'?: number | null | undefined;
  /** The files, with the roots of their Merkle trees. */
  fileTree?: FileTreeInput | null | undefined;
  /** The on-disk key of `fileTree`. */
  'file tree'?: FileTreeInput | null | undefined;
  /** Infohashes of torrents that may hold the same files (BEP 38), as bytes or in hexadecimal. */
  similar?: readonly (Uint8Array | string)[] | null | undefined;
  /** Unknown keys. */
  extra?: ExtraInput;
}

/** What {@link TorrentCreate} takes: its fields, under attribute names or on-disk keys. Unknown keys go into `extra`. */
export interface TorrentCreateInput
  extends Omit<TorrentCreateFields, 'creationDate' | 'extra' | 'info' | 'pieceLayers'> {
  /** The on-disk key of `announceList`. */
  'announce-list'?: string[][] | null | undefined;
  /** The on-disk key of `createdBy`. */
  'created by'?: string | null | undefined;
  /** A number is seconds since 1970. */
  creationDate?: Date | number | null | undefined;
  /** The on-disk key of `creationDate`. */
  'creation date'?: Date | number | null | undefined;
  /** The infodict so far. */
  info?: InfoDictInput | ReadonlyMap<string | Uint8Array, unknown> | undefined;
  /** By root: 32 bytes, or in hexadecimal. */
  pieceLayers?: LayersInput;
  /** The on-disk key of `pieceLayers`. */
  'piece layers'?: LayersInput;
  /** The on-disk key of `urlList`. */
  'url-list'?: string | string[] | null | undefined;
  /** Unknown keys beside `info`. */
  extra?: ExtraInput;
}

type LayersInput =
  | ReadonlyMap<string | Uint8Array, NonNullable<HashesInput>>
  | Readonly<Record<string, NonNullable<HashesInput>>>
  | null
  | undefined;

/** What a draft has beside a torrent's fields. */
const OWN = ['info', 'paths', 'sources', 'pathRoot', 'trackers', 'pieceLength', 'exclude', 'include'];

/** Trackers under their on-disk keys. */
export interface TrackerFields {
  /** The first tracker. */
  announce?: string;
  /** All of them in tiers (BEP 12), where there are several. */
  'announce-list'?: string[][];
}

/** Which paths {@link TorrentCreate.getPaths} gives, in which order. */
export interface GetPathsOptions {
  /**
   * Leave out what operating systems put into folders (.DS_Store, Thumbs.db, desktop.ini) unless it is named outright, and
   * sort; default true.
   */
  clean?: boolean;
  /** v1 order instead of the order of a v2 tree; default false. An order that the draft gives outright is kept. */
  v1Order?: boolean;
}

const GET_PATHS: OptionStructs<GetPathsOptions> = { clean: Flag, v1Order: Flag };

interface FindOptions extends Pick<ScanOptions, 'readable' | 'systemFiles' | 'signal' | 'slot'> {
  v1Order: boolean;
  /** Of the draft. */
  sources: readonly SourceFile[];
}

/** The files of a draft, in the torrent's order. */
export interface DraftFiles {
  /** Whether the torrent is one file, not a folder. */
  single: boolean;
  files: ContentFile[];
}

/**
 * A torrent under construction. It is checked when it is made and never changes; the shorthands become torrent fields
 * when it is generated.
 */
export class TorrentCreate {
  /** As they were given, under their attribute names. */
  readonly fields: Readonly<TorrentCreateFields>;
  /** Absolute. */
  readonly pathRoot: string;
  /** The infodict so far: with a name, and with what the shorthands say of it. */
  readonly info: Readonly<InfoDictHybridCreate>;
  /** Null: the torrent does not say. */
  readonly createdBy: string | null;

  /** @throws {ValidationError} with every rule that the fields break */
  constructor(input: TorrentCreateInput | ReadonlyMap<string | Uint8Array, unknown> = {}) {
    const fields = readSafely('fields', () => checkedFields(input));
    this.fields = fields;
    this.pathRoot = fields.pathRoot ?? process.cwd();
    this.info = withName(fields.info ?? {}, this.pathRoot, fields);
    this.createdBy = fields.createdBy === undefined ? CREATED_BY : fields.createdBy;
  }

  /**
   * Hashes the files and makes the torrent.
   *
   * @throws {MetainfoError} see docs/errors.md; with the signal's reason as `cause` when it stopped the work
   */
  async generate<V extends TorrentVersion = 'hybrid'>(
    given: GenerateOptions & { version?: V } = {},
  ): Promise<TorrentOf<V>> {
    const checked: GenerateOptions = checkOptions(given, GENERATE, { example: "{ version: 'v1' }" });
    return (await generate(this, checked)) as TorrentOf<V>;
  }

  /**
   * The same torrent by another engine: libtorrent, which an optional addon brings (`npm run build:libtorrent`).
   *
   * @returns The torrent as a dictionary (see {@link TorrentBase.modelDumpTorrent}), or with `bencode` its bytes.
   * @throws {MetainfoError} `ERR_MAKER_UNAVAILABLE` when it is not built; `ERR_MAKER` for what libtorrent says; as
   *   {@link generate}
   */
  generateExt(options: GenerateExtOptions & { bencode: true }): Promise<Uint8Array>;
  generateExt(options?: GenerateExtOptions & { bencode?: false }): Promise<DumpedDictionary>;
  generateExt(options?: GenerateExtOptions & { bencode?: boolean }): Promise<Uint8Array | DumpedDictionary>;
  async generateExt(given: GenerateExtOptions & { bencode?: boolean } = {}) {
    const engine = await import('./libtorrent.ts');
    const checked = checkOptions(given, engine.GENERATE_EXT, { example: "{ version: 'v1' }" });
    const { output, force = false, bencode = false } = checked;
    const torrent = await engine.generateExt(this, checked);
    if (output != null) await torrent.write(output, { force });
    return bencode ? torrent.bencode() : torrent.modelDumpTorrent();
  }

  /** `announce`, and `announce-list` for more than one tracker (BEP 12). */
  getTrackers(): TrackerFields {
    const { trackers, announce, announceList } = this.fields;
    if (!trackers) return { ...(announce && { announce }), ...(announceList && { 'announce-list': announceList }) };
    const tiers = trackers.map((tier) => (typeof tier === 'string' ? [tier] : tier)).filter((tier) => tier.length > 0);
    const first = tiers[0]?.[0];
    if (first === undefined) return {};
    return tiers.flat().length === 1 ? { announce: first } : { announce: first, 'announce-list': tiers };
  }

  /**
   * The files' paths relative to the path root, with `/`. The first that is there of: `paths`, `info.fileTree`,
   * `info.files`, `info.name` with `info.length`, and all files beneath the path root.
   */
  async getPaths(given: GetPathsOptions = {}): Promise<string[]> {
    const { clean = true, v1Order = false } = checkOptions(given, GET_PATHS, { example: '{ clean: false }' });
    const named = this.#givenPaths();
    const sources = sourceFiles(this.fields.sources ?? []);
    if ((named || sources.length > 0) && !clean)
      return [...(named ?? []), ...sources.map(({ path: parts }) => parts)].map((parts) => parts.join('/'));
    const { single, files } = await this.findFiles({ v1Order, systemFiles: !clean, sources });
    return files.map((file) => file.path.join('/') || (single ? this.#singlePath() : ''));
  }

  /** @internal The files, in v1 or v2 order; what the draft lists by name in v1 order stays as it is given. */
  async findFiles({ v1Order, sources, ...options }: FindOptions): Promise<DraftFiles> {
    const { exclude, include } = this.fields;
    const given = this.#givenPaths();
    const onDisk = given !== null || sources.length === 0;
    const found = onDisk ? await scan(this.pathRoot, given, { exclude, include, ...options }) : [];
    if (sources.length === 0) {
      const single = found.length === 1 && (found[0]?.path.length === 0 || this.#isSingleFile());
      if (!v1Order) return { single, files: sortV2(found) };
      return { single, files: given ? inGivenOrder(found, given) : sortV1(found) };
    }
    const files = [...(given ? inGivenOrder(found, given) : found), ...sources];
    requireDifferentPaths(files);
    const single = files.length === 1 && found.length === 0 && this.#isSingleSource();
    return { single, files: v1Order ? files : sortV2(files) };
  }

  /** The paths that the draft names, by order of precedence; null when it names none. */
  #givenPaths(): string[][] | null {
    const { fileTree, files, name, length } = this.info;
    if (this.fields.paths) return this.fields.paths.map((entry) => relativeParts(entry, this.pathRoot) as string[]);
    if (fileTree) return flattenTree(fileTree).map((file) => file.path);
    if (files) return files.filter((file) => !isPadFile(file)).map((file) => file.path);
    return name != null && length != null ? [[name]] : null;
  }

  /** Whether the infodict says that the torrent is one file: by `length`, or a tree whose one leaf has its name. */
  #isSingleFile(): boolean {
    const { name, length, files, fileTree } = this.info;
    if (this.fields.paths || files) return false;
    if (!fileTree) return length != null;
    return (
      fileTree.size === 1 &&
      name != null &&
      fileTree.get(name) instanceof Map &&
      (fileTree.get(name) as Map<string, unknown>).has('')
    );
  }

  /** One source at the top level is the whole torrent when it has its name, or when the draft has no other. */
  #isSingleSource(): boolean {
    return this.fields.sources?.length === 1 && this.fields.sources[0]?.path === this.info.name;
  }

  #singlePath(): string {
    return this.#isSingleFile() ? (this.info.name as string) : path.basename(this.pathRoot);
  }
}

/** A copy of what is given, checked. */
function checkedFields(input: TorrentCreateInput | ReadonlyMap<string | Uint8Array, unknown>): TorrentCreateFields {
  const issues = new Issues();
  if (!isDictionary(input) || 'infoBytes' in input || input instanceof TorrentCreate)
    throw new MetainfoError(
      'ERR_INVALID_ARGUMENT',
      `The fields of a draft must be a plain object or a Map, ${hint(input)}.`,
    );
  const fields = fieldsOf(input, issues);
  checkFields(fields, issues);
  if (issues.hasErrors) throw new ValidationError(issues.finish(), 'draft');
  if (fields.sources) fields.sources = frozenSources(fields.sources);
  return fields;
}

/** Files that a folder among the given paths holds are in v1 order at that folder's place. */
function inGivenOrder(files: readonly ScannedFile[], given: readonly (readonly string[])[]): ScannedFile[] {
  const ranks = new Map(given.map((parts, index) => [parts.join('/'), index]));
  const rankOf = (parts: readonly string[]) => {
    for (let depth = parts.length; depth >= 0; depth -= 1) {
      const rank = ranks.get(parts.slice(0, depth).join('/'));
      if (rank !== undefined) return rank;
    }
    return given.length;
  };
  const ranked = sortV1(files).map((file) => ({ file, rank: rankOf(file.path) }));
  return ranked.sort((a, b) => a.rank - b.rank).map(({ file }) => file);
}

/** A path beneath the root as components; null for one that is elsewhere. */
function relativeParts(entry: string, pathRoot: string): string[] | null {
  const relative = path.relative(pathRoot, path.resolve(pathRoot, entry));
  const parts = relative.split(path.sep).filter((part) => part !== '');
  return parts[0] === '..' || path.isAbsolute(relative) ? null : parts;
}

function hint(input: object): string {
  return 'infoBytes' in Object(input)
    ? 'not a torrent: give what it is to share with that, such as { info: torrent.info }'
    : `not ${shown(input)}`;
}

/** Every field, and then the rules that hold between them: none stops another. */
function checkFields(given: TorrentCreateFields, issues: Issues): void {
  for (const { path: at, message, type: name, refinement } of failuresOf(given, fields as unknown as Struct)) {
    const rule = refinement ?? name;
    issues.add(Object.hasOwn(ISSUE_CODES, rule) ? (rule as IssueCode) : 'type', at, message);
  }
  for (const rule of Object.values(RULES)) rule(given, issues);
}

/** By the name that a failure of the struct has as its `refinement`. */
const RULES: Readonly<Record<string, (fields: TorrentCreateFields, issues: Issues) => void>> = {
  paths: checkPaths,
  expected_n_pieces: checkPieces,
  sources: ({ sources }, issues) => checkSources(sources, issues),
  url: checkUrls,
  no_duplicated_params: checkShorthands,
};

type Schema = FieldStructs<TorrentCreateFields>;

const fields = type({
  announce: maybe(Text),
  announceList: maybe(Tiers),
  comment: maybe(Text),
  createdBy: maybe(Text),
  creationDate: maybe(Timestamp),
  info: maybe(InfoDictHybridCreate),
  pieceLayers: maybe(PieceLayers),
  urlList: maybe(TextList),
  httpseeds: maybe(TextList),
  nodes: maybe(array(DhtNode)),
  extra: optional(Extra),
  paths: maybe(TextList),
  sources: unknown(),
  pathRoot: optional(AbsolutePath),
  trackers: maybe(
    dynamic((value) => (Array.isArray(value) && value.some(Array.isArray) ? Tiers : TextList) as Struct<unknown>),
  ),
  pieceLength: maybe(V1PieceLength),
  similar: maybe(array(Infohash)),
  collections: maybe(TextList),
  exclude: optional(func()),
  include: optional(func()),
} as unknown as Schema);

/** Fields under attribute names, copied out of what a caller gives. */
function fieldsOf(input: object, issues: Issues): TorrentCreateFields {
  const given = fromInput(input, TORRENT, { own: OWN, path: [], issues }) as TorrentCreateFields;
  if (isDictionary(given.info)) given.info = fromInput(given.info, INFO, { path: ['info'], issues });
  return given;
}

/**
 * Checks the fields of a draft, as {@link TorrentCreate} does when it is made. superstruct's `create` takes them in every
 * form that it takes; `assign`, `omit` and the like keep the fields, without the rules between them.
 */
export const TorrentCreateFields: Struct<TorrentCreateFields, Schema> = Object.entries(RULES).reduce(
  (struct, [name, rule]) =>
    refine(struct, name, (given, { path: at }) => {
      const issues = new Issues();
      rule(given, issues);
      return issues.finish().map(({ path: below, message }) => ({ path: [...at, ...below], message }));
    }),
  coerce(fields as Struct<TorrentCreateFields, Schema>, unknown(), (value) =>
    isDictionary(value) ? fieldsOf(value, new Issues()) : (value as TorrentCreateFields),
  ),
);

/** Whether links lead elsewhere is for the scan to find. */
function checkPaths({ paths, pathRoot = process.cwd() }: TorrentCreateFields, issues: Issues): void {
  if (Array.isArray(paths) && paths.length === 0)
    issues.add('paths', ['paths'], 'expected at least one path, got none');
  if (!Array.isArray(paths) || typeof pathRoot !== 'string' || !path.isAbsolute(pathRoot)) return;
  for (const [index, entry] of paths.entries()) {
    if (typeof entry !== 'string' || relativeParts(entry, pathRoot)) continue;
    issues.add('paths', ['paths', index], `expected a path beneath ${pathRoot}, got ${shown(entry)}`);
  }
}

/** The rule of `info`, where the piece length stands beside it. */
function checkPieces({ info, pieceLength }: TorrentCreateFields, issues: Issues): void {
  if (!isDictionary(info) || info.pieceLength != null || !isPowerOfTwo(pieceLength)) return;
  for (const { path: at, message, refinement } of failuresOf({ ...info, pieceLength }, InfoDictHybridCreate as never))
    if (refinement === 'expected_n_pieces') issues.add('expected_n_pieces', ['info', ...at], message);
}

/** Trackers, webseeds and the feed must be URLs. */
function checkUrls(fields: TorrentCreateFields, issues: Issues): void {
  const { info, announce, announceList, trackers, urlList, httpseeds } = fields;
  const named = { announce, announceList, trackers, urlList, httpseeds, 'info.updateUrl': info?.updateUrl };
  for (const [name, value] of Object.entries(named)) {
    for (const url of [value ?? []].flat(2)) {
      if (typeof url === 'string' && !URL.canParse(url))
        issues.add('url', name.split('.'), `expected a URL, got ${shown(url)}`);
    }
  }
}

/** What a shorthand sets must not be set in the torrent's own field too. */
function checkShorthands(fields: TorrentCreateFields, issues: Issues): void {
  const { info = {} } = fields;
  const pairs: [shorthand: keyof TorrentCreateFields, other: string, value: unknown][] = [
    ['paths', 'info.files', info.files],
    ['paths', 'info.fileTree', info.fileTree],
    ['paths', 'info.length', info.length],
    ['sources', 'info.files', info.files],
    ['sources', 'info.fileTree', info.fileTree],
    ['sources', 'info.length', info.length],
    ['trackers', 'announce', fields.announce],
    ['trackers', 'announceList', fields.announceList],
    ['pieceLength', 'info.pieceLength', info.pieceLength],
    ['similar', 'info.similar', info.similar],
    ['collections', 'info.collections', info.collections],
  ];
  for (const [shorthand, other, value] of pairs) {
    if (fields[shorthand] == null || value == null) continue;
    issues.add('no_duplicated_params', [shorthand], `${shorthand} and ${other} say the same thing: give one of them`);
  }
}

/** A name that is not given is that of the path root, or of the one source at the top level. */
function withName(
  info: InfoDictHybridCreate,
  pathRoot: string,
  { sources, paths, pathRoot: given }: TorrentCreateFields,
): InfoDictHybridCreate {
  if (info.name != null) return info;
  const only = sources?.length === 1 && !paths ? sources[0]?.path : undefined;
  if (only !== undefined && !only.includes('/')) return { ...info, name: only };
  if (sources && !paths && given === undefined)
    throw new MetainfoError('ERR_NAME', 'Nothing gives the torrent a name: give one (info.name).');
  const name = path.basename(pathRoot);
  if (name !== '') return { ...info, name };
  throw new MetainfoError('ERR_NAME', `${pathRoot} gives the torrent no name: give one (info.name, --name).`, {
    path: pathRoot,
  });
}

/** Of files on disk the disk sees to it. */
function requireDifferentPaths(files: readonly ContentFile[]): void {
  const paths = files.map(({ path: parts }) => parts.join('/'));
  const all = new Set<string>();
  for (const one of paths) {
    if (all.has(one)) throw new MetainfoError('ERR_DUPLICATE_PATH', `${one} is named twice.`, { path: one });
    all.add(one);
  }
  for (const one of paths) {
    for (let end = one.lastIndexOf('/'); end > 0; end = one.lastIndexOf('/', end - 1)) {
      if (!all.has(one.slice(0, end))) continue;
      const message = `${one.slice(0, end)} is a file, and a folder with ${one} in it.`;
      throw new MetainfoError('ERR_DUPLICATE_PATH', message, { path: one });
    }
  }
}
