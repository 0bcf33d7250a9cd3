import { createHash } from 'node:crypto';
import type { Struct } from 'superstruct';
import { BencodeError, decode } from '../bencode/decode.ts';
import { encode } from '../bencode/encode.ts';
import { DEFAULT_LIMITS, type Limits, limitsOf, NO_LIMITS } from '../bencode/limits.ts';
import type { BencodeMap, BencodeValue } from '../bencode/value.ts';
import { readWithin } from '../disk/read-file.ts';
import { type WriteOptions, writeWhole } from '../disk/write-file.ts';
import { untilAbort } from '../errors/cancel.ts';
import { type Issue, MetainfoError, requirePath, shown, toHex, ValidationError, withPath } from '../errors/errors.ts';
import {
  argument,
  bytesOf,
  DateTime,
  expected,
  Flag,
  nearest,
  type OptionStructs,
  oneOf,
  options,
  reading,
  Signal,
  Text,
  Unchecked,
} from '../errors/guard.ts';
import { Limiter } from '../jobs/limiter.ts';
import { padsIn } from '../layout/padding.ts';
import { safePaths } from '../layout/safe-path.ts';
import { formatMagnet, MAGNET, type Magnet } from '../magnet/magnet.ts';
import { decodeFields, TORRENT, withTwin } from './codec.ts';
import { fromDecodedTorrent } from './decoded.ts';
import { infodictDiscriminator, type TorrentVersion } from './discriminator.ts';
import { type DumpedDictionary, dumpTorrent } from './dump.ts';
import { type FileItem, v1Files } from './file-item.ts';
import { type FileTree, type FileTreeItem, type FlatFile, unflattenTree } from './file-tree.ts';
import { RAW, RAW_INFO, RAW_INFO_UTF8 } from './files-codec.ts';
import type { InfoDictHybrid, InfoDictHybridCreate, InfoDictV1, InfoDictV2 } from './info-dict.ts';
import { absentFields, HYBRID_FIELDS, V1_FIELDS, V2_FIELDS } from './info-fields.ts';
import { Issues, requireContext, type ValidationContext } from './issues.ts';
import type { PieceLayers } from './piece-layers.ts';
import type { DhtNode } from './primitives.ts';
import {
  type FileRange,
  fileRange,
  lastAtMost,
  type RangeFile,
  type V1PieceRange,
  type V2PieceRange,
  validateV1,
  validateV2,
  webseedUrl,
} from './ranges.ts';
import { checkRules } from './rules.ts';
import { indexesOfTree, runsAt } from './selection.ts';

/** Reading and writing torrent files, each an open descriptor. */
const fileLimiter = new Limiter(16);

/** Fields as they are read: null where they are absent, and a Map without unknown keys. */
type Read<T> = { [K in keyof T]-?: Exclude<T[K], undefined> };

/** The infodict of each kind of torrent. */
export interface InfoDictOf {
  /** BEP 3. */
  v1: Read<InfoDictV1>;
  /** BEP 52. A meta version that is absent reads as 2; it is not enumerable then. */
  v2: Read<InfoDictV2>;
  /** Both. */
  hybrid: Read<InfoDictHybrid>;
}

/** A file of any kind of torrent, pads left out. */
export interface TorrentFile {
  /** From the torrent's root, with `/`: as the torrent says it, which may be hostile in `compat`. */
  path: string;
  /** Bytes. */
  length: number;
  /** BEP 47 flags; null for none. */
  attr: string | null;
  /** 32 bytes; null in v1 and for an empty file. */
  piecesRoot: Uint8Array | null;
}

/** How a torrent is read and checked. */
export interface ReadOptions {
  /** Default: all rules of BEP 3 and BEP 52. */
  context?: ValidationContext | undefined;
  /** What bounds time and memory. */
  limits?: Limits | undefined;
  /** {@link Torrent.read} then rejects at once with an {@link AbortError}, even where the file system does not answer. */
  signal?: AbortSignal | undefined;
}

/** How {@link Torrent.fromDecoded} reads and checks. */
export interface FromDecodedOptions extends ReadOptions {
  /** Fields that replace those of what was decoded. */
  data?: Readonly<Record<string, unknown>>;
}

const READ: OptionStructs<ReadOptions> = { context: Unchecked, limits: Unchecked, signal: Signal };
const FROM_DECODED: OptionStructs<FromDecodedOptions> = { ...READ, data: Unchecked };
const WRITE: OptionStructs<WriteOptions> = { force: Flag, mtime: DateTime };
const DUMP: OptionStructs<{ mode?: 'str' | 'binary' }> = { mode: oneOf('str', 'binary') };
const Paths = expected<readonly string[]>(
  'a list of paths',
  (value) => Array.isArray(value) && value.every((path) => typeof path === 'string'),
);

/** The fields of a torrent as its model holds them: null where the key is absent. */
interface TorrentFields<V extends TorrentVersion> {
  announce: string | null;
  announceList: string[][] | null;
  comment: string | null;
  createdBy: string | null;
  creationDate: Date | null;
  info: InfoDictOf[V];
  pieceLayers: PieceLayers | null;
  urlList: string[] | null;
  httpseeds: string[] | null;
  nodes: DhtNode[] | null;
  similar: Uint8Array[] | null;
  collections: string[] | null;
  extra: BencodeMap;
}

/** What a torrent is made of beside its fields. */
interface Origin {
  bytes: Uint8Array;
  infoBytes: Uint8Array;
  /** The flattened v2 tree; null in v1. */
  flat: FlatFile[] | null;
  warnings: readonly Issue[];
  /** What it was checked with. */
  context: ValidationContext;
}

/** Everything that has a place on the axis of v1 pieces, with prefix sums to search in. */
interface V1Layout {
  files: RangeFile[];
  starts: Float64Array;
}

/** What stands in `JSON.stringify(torrent)`, and in `metainfo show --json`: plain data, hashes in hexadecimal. */
export interface TorrentJson {
  /** Its kind. */
  version: TorrentVersion;
  /** Of the file or folder. */
  name: string;
  /** In hexadecimal; null for a version that the torrent is not of. */
  infohash: {
    /** SHA-1; null for v2. */
    v1: string | null;
    /** SHA-256; null for v1. */
    v2: string | null;
  };
  /** Bytes. */
  pieceLength: number;
  /** The number of pieces. */
  pieces: number;
  /** No pads. */
  files: {
    /** From the torrent's root, with `/`. */
    path: string;
    /** Bytes. */
    length: number;
  }[];
  /** Bytes of content. */
  totalSize: number;
  /** Each once. */
  trackers: string[];
  /** Each once. */
  webseeds: string[];
  /** BEP 17. */
  httpseeds: string[];
  /** BEP 5. */
  nodes: DhtNode[];
  /** In hexadecimal (BEP 38). */
  similar: string[];
  /** BEP 38. */
  collections: string[];
  /** BEP 39. */
  updateUrl: string | null;
  /** Text for people. */
  comment: string | null;
  /** The program that made it. */
  createdBy: string | null;
  /** ISO 8601. */
  creationDate: string | null;
  /** BEP 27. */
  private: boolean;
  /** Where it is shared. */
  source: string | null;
  /** What was found and let pass. */
  warnings: readonly Issue[];
}

/**
 * A valid torrent, never changed. It remembers the bytes it was read from and writes those. To send one to another thread,
 * send `torrent.bencode()` and read it there: `structuredClone` keeps fields alone, without infohashes and methods.
 */
export class TorrentBase<V extends TorrentVersion> implements TorrentFields<V> {
  /** Its kind, which narrows the types of what depends on it. */
  readonly torrentVersion: V;
  /** The one tracker of old clients (BEP 3); all of them are in `flatTrackers`. */
  readonly announce: string | null;
  /** Trackers in tiers, as they were written (BEP 12). */
  readonly announceList: string[][] | null;
  /** Text for people. */
  readonly comment: string | null;
  /** The program that made it. */
  readonly createdBy: string | null;
  /** When it was made, to the second. */
  readonly creationDate: Date | null;
  /** What the infohash is of: names, sizes, hashes. */
  readonly info: InfoDictOf[V];
  /** Piece hashes of the files that are longer than a piece (BEP 52); null in v1, empty where `compat` let them be absent. */
  readonly pieceLayers: V extends 'v1' ? null : PieceLayers;
  /** Webseeds, as a list however they were written (BEP 19). */
  readonly urlList: string[] | null;
  /** Scripts that give pieces over HTTP (BEP 17). */
  readonly httpseeds: string[] | null;
  /** Nodes of the DHT to begin with, for torrents without trackers (BEP 5). */
  readonly nodes: DhtNode[] | null;
  /**
   * Infohashes of torrents that may hold the same files: those in `info`, then those beside it, each once (BEP 38). 20
   * bytes, or 32.
   */
  readonly similar: Uint8Array[];
  /** Collections that it belongs to, whose torrents may hold the same files: as `similar` (BEP 38). */
  readonly collections: string[];
  /** Unknown keys beside `info`, as they were read. */
  readonly extra: BencodeMap;
  /** The raw `info` dictionary: what the infohash is the hash of. */
  readonly infoBytes: Uint8Array;
  /** What was found and let pass. */
  readonly warnings: readonly Issue[];
  readonly #bytes: Uint8Array;
  readonly #flat: FlatFile[] | null;
  readonly #context: ValidationContext;
  #files: TorrentFile[] | undefined;
  #flatFiles: Map<string, FileTreeItem> | undefined;
  #v1Layout: V1Layout | undefined;

  /** @internal */
  static isTorrent(this: void, value: unknown): value is Torrent {
    return typeof value === 'object' && value !== null && #bytes in value;
  }

  /** @internal Torrents come from `Torrent.fromBytes`, `Torrent.read`, `Torrent.fromDecoded` and `draft.generate`. */
  constructor(version: V, fields: TorrentFields<V>, { bytes, infoBytes, flat, warnings, context }: Origin) {
    this.torrentVersion = version;
    this.announce = fields.announce;
    this.announceList = fields.announceList;
    this.comment = fields.comment;
    this.createdBy = fields.createdBy;
    this.creationDate = fields.creationDate;
    this.info = fields.info;
    this.pieceLayers = (version === 'v1' ? null : (fields.pieceLayers ?? new Map())) as this['pieceLayers'];
    this.urlList = fields.urlList;
    this.httpseeds = fields.httpseeds;
    this.nodes = fields.nodes;
    const similar = [...(fields.info.similar ?? []), ...(fields.similar ?? [])];
    this.similar = [...new Map(similar.map((hash) => [toHex(hash), hash])).values()];
    this.collections = [...new Set([...(fields.info.collections ?? []), ...(fields.collections ?? [])])];
    this.extra = fields.extra;
    this.infoBytes = infoBytes;
    this.warnings = warnings;
    this.#bytes = bytes;
    this.#flat = flat;
    // The caller's own may change.
    this.#context = { ...context };
    Object.freeze(this);
  }

  /**
   * @internal The torrent of bytes that hold the very `info` and layers of this one. Those are not gone through again, so
   * null where they might be judged otherwise: with another context, or when there was something to warn of. The models of
   * both are shared, and so the bytes of this one stay in memory.
   *
   * @param map The keys in their order; the values of `info` and `piece layers` are not looked at.
   * @param infoStart Where in the bytes the value of `info` begins.
   * @throws {ValidationError} for what is wrong with the others
   */
  withOthers(
    map: BencodeMap,
    {
      bytes,
      infoStart,
      context: asked = {},
    }: { bytes: Uint8Array; infoStart: number; context?: ValidationContext | undefined },
  ): TorrentBase<V> | null {
    const context = requireContext(asked);
    const old = this.#context;
    const isSame =
      (context.profile ?? 'default') === (old.profile ?? 'default') &&
      context.padding === old.padding &&
      context.paddingPath === old.paddingPath;
    if (!isSame || this.warnings.length > 0) return null;
    const issues = new Issues(context.profile);
    const { info, pieceLayers } = this;
    const fields = { ...absent(), ...decodeFields(map, OTHERS, issues), info, pieceLayers };
    const warnings = issues.finish(bytes);
    if (issues.hasErrors) throw new ValidationError(warnings);
    const infoBytes = bytes.subarray(infoStart, infoStart + this.infoBytes.length);
    return new TorrentBase(this.torrentVersion, fields, { bytes, infoBytes, flat: this.#flat, warnings, context });
  }

  /** The name to show: `name.utf-8` where an old creator wrote one, else `name`. */
  get name(): string {
    return this.info.nameUtf8 ?? this.info.name;
  }

  /** SHA-1 of the raw `info` in hexadecimal (BEP 3); null for v2. */
  get infohashV1(): V extends 'v2' ? null : string {
    const hash = this.torrentVersion === 'v2' ? null : createHash('sha1').update(this.infoBytes).digest('hex');
    return hash as V extends 'v2' ? null : string;
  }

  /** SHA-256 of the raw `info` in hexadecimal (BEP 52); null for v1. */
  get infohashV2(): V extends 'v1' ? null : string {
    const hash = this.torrentVersion === 'v1' ? null : createHash('sha256').update(this.infoBytes).digest('hex');
    return hash as V extends 'v1' ? null : string;
  }

  /** The files a user sees, in the torrent's order: no pads. */
  get files(): TorrentFile[] {
    this.#files ??= this.torrentVersion === 'v1' ? this.#filesOfList() : this.#filesOfTree();
    return this.#files;
  }

  /** Whether it is one file and no folder: in v2 when there is nothing else in the tree, as clients lay it out. */
  get #isSingle(): boolean {
    if (this.torrentVersion !== 'v2') return !(this.info as InfoDictV1).files;
    const flat = this.#flat as FlatFile[];
    const hasFolder = this.warnings.some(({ code }) => code === 'tree') || (this.info as InfoDictHybrid).files != null;
    return flat.length === 1 && flat[0]?.path.length === 1 && !hasFolder;
  }

  #filesOfList(): TorrentFile[] {
    const list = v1Files(this.info as InfoDictV1) as FileItem[];
    const isPad = padsIn(list, this.info.pieceLength);
    const visible = list.filter((file) => !isPad(file));
    return visible.map((file) => ({
      path: displayPath(file, this.#isSingle ? this.name : null),
      length: file.length,
      attr: file.attr ?? null,
      piecesRoot: null,
    }));
  }

  #filesOfTree(): TorrentFile[] {
    return (this.#flat as FlatFile[]).map((file) => ({
      path: file.path.join('/'),
      length: file.length,
      attr: file.attr ?? null,
      piecesRoot: file.length > 0 ? (file.piecesRoot ?? null) : null,
    }));
  }

  /** Where each of `files` may go on disk: no path leaves its folder, all differ. Equal to their paths for a good torrent. */
  get safePaths(): string[] {
    return safePaths(this.files.map((file) => file.path.split('/'))).map((parts) => parts.join('/'));
  }

  /** The v2 file tree, flattened: path with `/` to file. Null for v1. */
  get flatFiles(): V extends 'v1' ? null : Map<string, FileTreeItem> {
    if (this.torrentVersion !== 'v1')
      this.#flatFiles ??= new Map(
        (this.#flat as FlatFile[]).map(({ path: parts, ...item }) => [parts.join('/'), item]),
      );
    return (this.#flatFiles ?? null) as V extends 'v1' ? null : Map<string, FileTreeItem>;
  }

  /** The number of files, pads left out. */
  get nFiles(): number {
    return this.files.length;
  }

  /** Bytes of content, pads left out. */
  get totalSize(): number {
    return this.files.reduce((sum, file) => sum + file.length, 0);
  }

  /** Bytes of the torrent file. */
  get fileSize(): number {
    return this.#bytes.length;
  }

  /** The number of pieces: of the v1 description where there is one, else of all files. */
  get nPieces(): number {
    const { info } = this;
    if (this.torrentVersion !== 'v2') return (info as InfoDictV1).pieces.length;
    return this.files.reduce((sum, file) => sum + Math.ceil(file.length / info.pieceLength), 0);
  }

  /** All trackers, each once, without blanks: `announce-list` replaces `announce` when it names any (BEP 12). */
  get flatTrackers(): string[] {
    const trimmed = (urls: readonly string[]) => urls.map((url) => url.trim()).filter((url) => url !== '');
    const listed = trimmed((this.announceList ?? []).flat());
    return [...new Set(listed.length > 0 ? listed : trimmed(this.announce === null ? [] : [this.announce]))];
  }

  /**
   * A magnet link to it: its infohashes, name, size, trackers and webseeds; what is given replaces or adds to those.
   * `null` leaves a field out: `magnet({ infohashV2: null })` links to the v1 swarm of a hybrid.
   *
   * @throws {MetainfoError} `ERR_INVALID_ARGUMENT` for what a link cannot say
   */
  magnet(changes: Partial<Magnet> = {}): string {
    const checked = options(changes, MAGNET, { name: 'changes', example: "{ displayName: 'x' }" });
    const { infohashV1, infohashV2, name, totalSize, flatTrackers, webseeds } = this;
    const own = { infohashV1, infohashV2, displayName: name, length: totalSize, trackers: flatTrackers, webseeds };
    return formatMagnet({ ...own, ...checked });
  }

  /**
   * The files at these paths, or in these folders, for `selectOnly` of {@link magnet} (BEP 53). Indexes count pads, as
   * libtorrent and qBittorrent count them: so they are not those of `files`.
   *
   * @param paths As `files` has them: from the torrent's root, with `/`.
   * @throws {MetainfoError} `ERR_INVALID_ARGUMENT` for a path where the torrent has nothing
   */
  selectFiles(paths: readonly string[]): [first: number, last: number][] {
    const wanted = argument('paths', paths, Paths);
    const indexes =
      this.torrentVersion === 'v1' ? this.#indexesOfList() : indexesOfTree(this.files, this.info.pieceLength);
    const files = Array.from(indexes, (index, i) => ({ path: (this.files[i] as TorrentFile).path, index }));
    return runsAt(files, wanted);
  }

  #indexesOfList(): number[] {
    const list = v1Files(this.info as InfoDictV1) as FileItem[];
    const isPad = padsIn(list, this.info.pieceLength);
    return list.flatMap((file, index) => (isPad(file) ? [] : [index]));
  }

  /** Webseeds, each once (BEP 19). */
  get webseeds(): string[] {
    return [...new Set(this.urlList ?? [])];
  }

  /**
   * Which bytes of which files a v1 piece is the hash of. O(log files) after the first call.
   *
   * @throws {MetainfoError} `ERR_OUT_OF_RANGE`; `ERR_INVALID_ARGUMENT` for a v2 torrent
   */
  v1PieceRange(pieceIdx: number): V1PieceRange {
    if (this.torrentVersion === 'v2' || !v1Files(this.info as InfoDictV1)) {
      throw new MetainfoError('ERR_INVALID_ARGUMENT', 'This torrent has no v1 files.');
    }
    const { pieces, pieceLength } = this.info as InfoDictV1;
    requireIndex(pieceIdx, pieces.length, 'piece');
    this.#v1Layout ??= layoutOf(this.name, this.info as InfoDictV1);
    const { files, starts } = this.#v1Layout;
    const [begin, end] = [pieceIdx * pieceLength, (pieceIdx + 1) * pieceLength];
    const ranges: FileRange[] = [];
    const pads: boolean[] = [];
    for (let i = lastAtMost(starts, begin); i < files.length && (starts[i] as number) < end; i += 1) {
      const [file, start] = [files[i] as RangeFile, starts[i] as number];
      const range = fileRange(file, Math.max(0, begin - start), Math.min(file.length, end - start));
      if (range.rangeEnd <= range.rangeStart) continue;
      ranges.push(range);
      pads.push(file.isPad);
    }
    const pieceHash = pieces.at(pieceIdx) as Uint8Array;
    return { pieceIdx, pieceHash, ranges, validateData: (chunks) => validateV1(pieceHash, ranges, { pads, chunks }) };
  }

  /**
   * A piece of one file of a v2 or hybrid torrent. A file of at most one piece is its own range: `pieceIdx` is then
   * ignored, and the hash is the root.
   *
   * @param file Its path from the torrent's root, with `/`.
   * @throws {MetainfoError} `ERR_NOT_FOUND` for no such file; `ERR_OUT_OF_RANGE`; `ERR_INVALID_ARGUMENT` for a v1
   *   torrent, an empty file, or a torrent without the file's layer
   */
  v2PieceRange(file: string, pieceIdx = 0): V2PieceRange {
    argument('file', file, Text);
    const { flatFiles } = this;
    if (!flatFiles) throw new MetainfoError('ERR_INVALID_ARGUMENT', 'A v1 torrent has no v2 pieces.');
    const item = flatFiles.get(file);
    if (!item) throw new MetainfoError('ERR_NOT_FOUND', `The torrent has no file ${shown(file)}.`, { path: file });
    const rootHash = item.length > 0 ? item.piecesRoot : null;
    if (!rootHash)
      throw new MetainfoError('ERR_INVALID_ARGUMENT', `${shown(file)} is empty: it has no pieces.`, { path: file });
    const { pieceLength } = this.info;
    const whole = item.length <= pieceLength;
    const index = whole ? 0 : requireIndex(pieceIdx, Math.ceil(item.length / pieceLength), 'piece');
    const pieceHash = whole ? rootHash : this.pieceLayers?.get(Buffer.from(rootHash).toString('hex'))?.at(index);
    if (!pieceHash)
      throw new MetainfoError('ERR_INVALID_ARGUMENT', `The torrent has no layer for ${shown(file)}.`, { path: file });
    const single = this.#isSingle;
    const fullPath = single ? file : `${this.name}/${file}`;
    const range = {
      pieceIdx: index,
      path: file,
      rangeStart: index * pieceLength,
      rangeEnd: Math.min(item.length, (index + 1) * pieceLength),
      pieceLength,
      fileSize: item.length,
      pieceHash,
      rootHash,
      fullPath,
      webseedUrl: (base: string) => webseedUrl(base, { fullPath, single }),
    };
    return { ...range, validateData: (blocks) => validateV2(range, blocks) };
  }

  /**
   * The torrent as a dictionary. `str`: with string keys, which the npm package `bencode` encodes to the bytes of
   * {@link bencode} (Maps of bytes stand where text keys would not survive that; integers beyond 2^53, which that
   * package cannot write, are bigints). `binary`: as `decode` gives it and `encode` takes it, keys one char a byte. The npm
   * package `bencode` writes such keys as UTF-8 and corrupts the `piece layers` of v2 and hybrid torrents: encode `binary`
   * with {@link encode}, or give that package the `str` mode.
   */
  modelDumpTorrent(options?: { mode?: 'str' }): DumpedDictionary;
  modelDumpTorrent(options: { mode: 'binary' }): BencodeMap;
  modelDumpTorrent(given: { mode?: 'str' | 'binary' } = {}): DumpedDictionary | BencodeMap {
    const { mode = 'str' } = options(given, DUMP, { example: "{ mode: 'binary' }" });
    // They have been within the caller's limits.
    const { value } = decode(this.#bytes, { tolerant: true, limits: NO_LIMITS });
    return mode === 'binary' ? (value as BencodeMap) : dumpTorrent(value as BencodeMap);
  }

  /** For `JSON.stringify`: what `metainfo show --json` prints of it. */
  toJSON(): TorrentJson {
    const { info } = this;
    return {
      version: this.torrentVersion,
      name: this.name,
      infohash: { v1: this.infohashV1, v2: this.infohashV2 },
      pieceLength: info.pieceLength,
      pieces: this.nPieces,
      files: this.files.map(({ path: name, length }) => ({ path: name, length })),
      totalSize: this.totalSize,
      trackers: this.flatTrackers,
      webseeds: this.webseeds,
      httpseeds: this.httpseeds ?? [],
      nodes: this.nodes ?? [],
      similar: this.similar.map(toHex),
      collections: this.collections,
      updateUrl: info.updateUrl ?? null,
      comment: this.comment,
      createdBy: this.createdBy,
      creationDate: this.creationDate?.toISOString() ?? null,
      private: info.private ?? false,
      source: info.source ?? null,
      warnings: this.warnings,
    };
  }

  /** The bytes of the torrent file: those it was read from. */
  bencode(): Uint8Array {
    return this.#bytes;
  }

  /**
   * Writes the torrent file: a temporary file beside the target, renamed when it is whole. A process that is killed leaves a
   * `.metainfo-*.tmp`, which may be deleted and is no part of any torrent.
   *
   * @throws {MetainfoError} `ERR_OUTPUT_EXISTS`, `ERR_NOT_A_FILE`, `ERR_NO_SPACE`, `ERR_NOT_FOUND`, `ERR_WRITE`,
   *   `ERR_INVALID_ARGUMENT`
   */
  async write(target: string, given: WriteOptions = {}): Promise<void> {
    requirePath(target);
    const checked = options(given, WRITE, { example: '{ force: true }' });
    return fileLimiter.run(undefined, () => writeWhole(target, this.#bytes, checked));
  }
}

/** A single file is shown by the torrent's name. */
function displayPath(file: FileItem, single: string | null): string {
  return single ?? (file.pathUtf8 ?? file.path).join('/');
}

function requireIndex(index: number, count: number, what: string): number {
  if (Number.isInteger(index) && index >= 0 && index < count) return index;
  throw new MetainfoError('ERR_OUT_OF_RANGE', `Expected a ${what} index from 0 to ${count - 1}, got ${shown(index)}.`);
}

function layoutOf(name: string, info: InfoDictV1): V1Layout {
  const items = v1Files(info) as FileItem[];
  const starts = new Float64Array(items.length);
  const isPad = padsIn(items, info.pieceLength);
  let offset = 0;
  const files = items.map((item, i): RangeFile => {
    starts[i] = offset;
    offset += item.length;
    const single = !info.files;
    const shownPath = displayPath(item, single ? name : null);
    return {
      path: shownPath,
      length: item.length,
      attr: item.attr ?? null,
      isPad: isPad(item),
      single,
      fullPath: single ? name : `${name}/${shownPath}`,
    };
  });
  return { files, starts };
}

/** A torrent of one kind, or of one of several. */
export type TorrentOf<V extends TorrentVersion> = V extends TorrentVersion ? TorrentBase<V> : never;
/**
 * A torrent of any kind: `torrentVersion` tells which, and narrows the types of `info`, `flatFiles`, `pieceLayers` and the
 * infohashes.
 */
export type Torrent = TorrentBase<'v1'> | TorrentBase<'v2'> | TorrentBase<'hybrid'>;

/** A torrent as an argument: of this class, and neither a proxy of one nor an object that only inherits from one. */
export const AnyTorrent: Struct<Torrent, null> = expected(
  'a torrent, such as Torrent.read() gives',
  TorrentBase.isTorrent,
);

/** All that is known of some bytes, valid or not. */
export interface Inspection {
  /** Null when there are errors. */
  torrent: Torrent | null;
  /** Null when the infodict says neither. */
  version: TorrentVersion | null;
  /** Of the raw `info`, where there is one that reads; in hexadecimal. */
  infohash: {
    /** SHA-1; null for v2. */
    v1: string | null;
    /** SHA-256; null for v1. */
    v2: string | null;
  };
  /** Errors first. */
  issues: Issue[];
}

/** Where torrents come from: a file, bytes, a dictionary. Drafts make them too: {@link TorrentCreate.generate}. */
export const Torrent = {
  /**
   * Reads and checks a torrent file.
   *
   * @param file Anything that can be read to its end: of more than `limits.bytes` no more is read.
   * @throws {MetainfoError} `ERR_NOT_FOUND`, `ERR_UNREADABLE`, `ERR_READ`, `ERR_INVALID_ARGUMENT`; what {@link Torrent.fromBytes}
   *   throws
   */
  async read(file: string, given: ReadOptions = {}): Promise<Torrent> {
    const checked = options(given, READ, { example: "{ context: { profile: 'strict' } }" });
    const { limits, signal } = checked;
    const bytes = await fileLimiter.run(signal, () => untilAbort(signal, readWithin(file, limitsOf(limits).bytes)));
    try {
      return fromOwnBytes(bytes, checked);
    } catch (error) {
      throw withPath(error, file);
    }
  },

  /**
   * Checks the bytes of a torrent file. They are copied, so they can be changed or transferred afterwards.
   *
   * @throws {LimitError} when there is more of something than `limits` allow
   * @throws {BencodeError} when they are not bencode
   * @throws {ValidationError} when they are no valid torrent, with every issue
   */
  fromBytes(bytes: Uint8Array, given: ReadOptions = {}): Torrent {
    const { torrent, issues } = check(bytes, given);
    if (!torrent) throw new ValidationError(issues);
    return torrent;
  },

  /**
   * A torrent of what a bencode decoder gave, or of fields written by hand: plain objects (text keys) or Maps (keys one
   * char a byte, or bytes), under on-disk keys or attribute names. Its bytes are the canonical encoding.
   *
   * @throws {LimitError} when there is more of something than `limits` allow
   * @throws {ValidationError} with every issue; `lost` where the decoder has already lost information
   */
  fromDecoded(decoded: unknown, given: FromDecodedOptions = {}): Torrent {
    const { data = {}, ...rest } = options(given, FROM_DECODED, { example: "{ context: { profile: 'strict' } }" });
    const { context: asked = {}, limits } = rest;
    const context = requireContext(asked);
    const found = new Issues(context.profile, limitsOf(limits));
    const plain = TorrentBase.isTorrent(decoded) ? decoded.modelDumpTorrent({ mode: 'binary' }) : decoded;
    const value = reading('decoded', () => fromDecodedTorrent(plain, found));
    for (const [key, entry] of reading('data', () => fromDecodedTorrent(data, found)) ?? []) value?.set(key, entry);
    if (!value || found.hasErrors) throw new ValidationError(found.finish());
    return fromOwnBytes(encode(value), rest);
  },

  /**
   * Checks bytes without throwing for what is wrong with them: version and infohash where they can be told, and all
   * issues.
   *
   * @throws {LimitError} when there is more of something than `limits` allow
   * @throws {BencodeError} when they are not bencode
   */
  inspect(bytes: Uint8Array, given: ReadOptions = {}): Inspection {
    const { torrent, version, infoBytes, issues } = check(bytes, given);
    const hash = (algorithm: string) => createHash(algorithm).update(infoBytes).digest('hex');
    const infohash = {
      v1: version && version !== 'v2' ? hash('sha1') : null,
      v2: version && version !== 'v1' ? hash('sha256') : null,
    };
    return { torrent, version, infohash, issues };
  },
};

/**
 * {@link Torrent.fromBytes} of bytes that nobody else can change: they are viewed.
 *
 * @throws as {@link Torrent.fromBytes}
 */
export function fromOwnBytes(bytes: Uint8Array, given: ReadOptions = {}): Torrent {
  const { torrent, issues } = check(bytes, given, true);
  if (!torrent) throw new ValidationError(issues);
  return torrent;
}

/** A torrent without any key; a Map of its own each time. */
const absent = () => ({
  announce: null,
  announceList: null,
  comment: null,
  createdBy: null,
  creationDate: null,
  pieceLayers: null,
  urlList: null,
  httpseeds: null,
  nodes: null,
  similar: null,
  collections: null,
  extra: new Map() as BencodeMap,
});

/** An inspection that has hashed nothing yet. */
interface Checked extends Omit<Inspection, 'infohash'> {
  /** The raw `info`; empty when there is none. */
  infoBytes: Uint8Array;
}

/** Trees are gone through by functions that call themselves. */
export const MOST_DEPTH = 1000;
/** Below those of bencode: what libtorrent refuses is of no use to its clients. */
export const TORRENT_LIMITS = { ...DEFAULT_LIMITS, depth: 99, digits: 20 };

/** Of the same class: callers may use the methods of their Buffers. */
function copyOf(bytes: Uint8Array): Uint8Array {
  const copy = Buffer.isBuffer(bytes) ? Buffer.allocUnsafeSlow(bytes.length) : new Uint8Array(bytes.length);
  copy.set(bytes);
  return copy;
}

function check(input: Uint8Array, readOptions: ReadOptions, isOwn = false): Checked {
  const all = bytesOf('bytes', input);
  const { context: asked = {}, limits: given } = options(readOptions, READ, {
    example: "{ context: { profile: 'strict' } }",
  });
  const context = requireContext(asked);
  const limits = limitsOf(given, TORRENT_LIMITS);
  if (limits.depth > MOST_DEPTH && limits !== NO_LIMITS)
    throw new MetainfoError('ERR_INVALID_ARGUMENT', `limits.depth of a torrent must be at most ${MOST_DEPTH}.`);
  // Others may write to the memory, or take it away. What is beyond the limit is refused, not copied.
  const bytes = isOwn || all.length > limits.bytes ? all : copyOf(all);
  const issues = new Issues(context.profile, limits);
  const { value, errors, span } = decode(bytes, { span: 'info', tolerant: true, raw: RAW, limits });
  if (!(value instanceof Map)) {
    issues.add('type', [], `expected a dictionary, got ${shown(value)}`);
    return { torrent: null, version: null, infoBytes: new Uint8Array(), issues: issues.finish(bytes) };
  }
  const infoValue = value.get('info');
  const version = infodictDiscriminator(infoValue);
  const metaVersion = infoValue instanceof Map ? infoValue.get('meta version') : undefined;
  const newer = typeof metaVersion === 'number' && metaVersion > 0;
  reportBencodeErrors(errors, { version, span, newer, issues });

  // The rest of the dictionary without copying it: `info` is taken up by name.
  const fields = { ...absent(), ...decodeFields(value, TOP_LEVEL, issues) };
  const info = issues.within('info', () => decodeInfo(infoValue, version, issues));
  const flat = info?.fileTree ?? null;
  if (flat) requirePaths(flat, issues);
  if (version && info && infoValue instanceof Map) {
    checkRules({
      version,
      info,
      has: (key) => infoValue.has(key),
      isPad: padsIn(info.files ?? [], info.pieceLength ?? 0),
      layers: value.has('piece layers') ? (fields.pieceLayers ?? undefined) : null,
      flat,
      context,
      issues,
    });
  }

  const infoBytes = span ? bytes.subarray(span.start, span.end) : new Uint8Array();
  const found = issues.finish(bytes);
  if (issues.hasErrors || !version || !info) return { torrent: null, version, infoBytes, issues: found };
  const whole = { ...fields, info: readable(info, version, flat) };
  const torrent = new TorrentBase(version, whole as never, { bytes, infoBytes, flat, warnings: found, context });
  return { torrent: torrent as Torrent, version, infoBytes, issues: found };
}

/** A folder is named once, and its name is in the path of each of its files. */
function requirePaths(flat: readonly FlatFile[], issues: Issues): void {
  let count = 0;
  for (const { path: parts } of flat) for (const part of parts) count += part.length + 1;
  issues.requireWithin('paths', count);
}

/** `info` has a decoder of its own; at the top level it is only no unknown key. */
const TOP_LEVEL = { ...TORRENT, info: { key: 'info', decode: () => undefined, encode: () => 0 } };
const OTHERS = { ...TOP_LEVEL, pieceLayers: { ...TOP_LEVEL.info, key: TORRENT.pieceLayers.key } };

interface BencodeErrorContext {
  version: TorrentVersion | null;
  span: { start: number; end: number } | null;
  /** Whether the infodict has a meta version above 0. */
  newer: boolean;
  issues: Issues;
}

/**
 * Bencode that is not canonical is forgiven in v1, and outside of `info` and after the end, where no client minds; never in a
 * v2 infodict, where it would have another hash in another client.
 */
function reportBencodeErrors(
  errors: readonly BencodeError[],
  { version, span, newer, issues }: BencodeErrorContext,
): void {
  for (const error of errors) {
    const outside = span !== null && (error.offset < span.start || error.offset >= span.end);
    const trailing = error.bencodeCode === 'trailing_data';
    const old = version === 'v1' && !(issues.compat && newer);
    const forgiven = issues.profile !== 'strict' && (old || outside);
    if (!forgiven) throw new BencodeError(error.bencodeCode, error.offset, error.reason);
    issues.warnAt(trailing ? 'trailing_data' : 'not_canonical', error.offset, error.reason);
  }
}

/** An infodict whose tree is flat yet. */
type DecodedInfo = Omit<InfoDictHybridCreate, 'fileTree'> & { fileTree?: FlatFile[] };

const ABSENT = {
  v1: absentFields(V1_FIELDS),
  v2: absentFields(V2_FIELDS),
  hybrid: absentFields(HYBRID_FIELDS),
};

/**
 * An infodict to read from. A meta version that is absent is not enumerable, so that a copy has the same keys on disk. The
 * nested tree takes several times the memory of the flat one: it is made when it is first asked for.
 */
function readable(info: DecodedInfo, version: TorrentVersion, flat: readonly FlatFile[] | null): object {
  const read = { ...ABSENT[version], ...info, extra: info.extra ?? new Map() };
  if (version !== 'v1' && info.metaVersion == null)
    Object.defineProperty(read, 'metaVersion', { value: 2, enumerable: false });
  if (!flat) return read;
  let tree: FileTree | undefined;
  const fileTree = () => {
    tree ??= unflattenTree(flat);
    return tree;
  };
  return Object.defineProperty(read, 'fileTree', { enumerable: true, get: fileTree });
}

/** In compat `name.utf-8` is the name where there is one, as in libtorrent, whatever `name` is. */
function decodeNamed(given: BencodeMap, issues: Issues): DecodedInfo {
  const value = withTwin(given, 'name', issues);
  const named = issues.compat && value.get('name.utf-8') instanceof Uint8Array;
  const info = decodeFields(value, named ? RAW_INFO_UTF8 : RAW_INFO, issues) as DecodedInfo;
  if (named && info.nameUtf8 != null && info.name === undefined) {
    if (!value.has('name')) issues.add('required', ['name'], 'expected name, got nothing', 'warning');
    info.name = info.nameUtf8;
  }
  return info;
}

function decodeInfo(
  value: BencodeValue | undefined,
  version: TorrentVersion | null,
  issues: Issues,
): DecodedInfo | undefined {
  if (!(value instanceof Map)) {
    const missing = value === undefined;
    return issues.add(missing ? 'required' : 'type', [], `expected an info dictionary, got ${shown(value)}`);
  }
  if (version) return decodeNamed(value, issues);
  const near = [...value.keys()].find((key) => nearest(key, ['pieces', 'file tree']));
  const hint = near === undefined ? '' : `; did you mean ${nearest(near, ['pieces', 'file tree'])} by ${shown(near)}?`;
  return issues.add('infodict', [], `expected pieces (v1), file tree (v2) or both (hybrid), got neither${hint}`);
}
