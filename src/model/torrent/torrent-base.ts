/** The class of a valid torrent: its fields, files, infohashes, piece ranges and magnet link. */
import { decode, decodeTrusted, type Span } from '../../bencode/decode.ts';
import { NO_LIMITS } from '../../bencode/limits.ts';
import type { BencodeMap } from '../../bencode/value.ts';
import type { WriteOptions } from '../../disk/write-file.ts';
import { type Issue, shown, toHex, ValidationError } from '../../errors/errors.ts';
import {
  checkArgument,
  checkedPath,
  checkOptions,
  DateTime,
  Flag,
  invalidArgument,
  type OptionStructs,
  oneOf,
  Path,
  Signal,
  Text,
  Texts,
} from '../../errors/guard.ts';
import { torrents } from '../../errors/shared.ts';
import { safePaths } from '../../layout/safe-path.ts';
import { formatMagnet, MAGNET, type Magnet } from '../../magnet/magnet.ts';
import { copyOf, inNode } from '../../platform/node.ts';
import type { TorrentVersion } from '../discriminator.ts';
import { type DumpedDictionary, dumpTorrent } from '../dump.ts';
import { v1Files, v1List } from '../file-item.ts';
import type { InfoDictHybrid, InfoDictV1, InfoDictV2 } from '../info-dict.ts';
import { Issues } from '../issues.ts';
import type { FileTreeItem, FlatFile } from '../lazy/flat-tree.ts';
import { copyProperty } from '../lazy/lazy.ts';
import type { PieceLayers } from '../piece-layers.ts';
import type { DhtNode } from '../primitives.ts';
import { isSameContext, requireContext, type ValidationContext } from '../profile.ts';
import {
  displayPath,
  rangeOfV1Piece,
  rangeOfV2Piece,
  type V1FileOffsets,
  type V1PieceRange,
  type V2PieceRange,
  v1FileOffsets,
} from '../ranges.ts';
import { readOnly } from '../read-only.ts';
import { indexesOfTree, indexRangesOf } from '../selection.ts';
import { infohashOf, rememberInfo } from './infohash.ts';
import { decodeTopLevelWithoutLayers, type TopLevelFields } from './top-level.ts';
import type { Torrent } from './torrent.ts';
import { writeTorrentFile } from './torrent-io.ts';
import { type TorrentJson, torrentJson } from './torrent-json.ts';

/** A model as a torrent exposes it: fields are null where they are absent. */
type Exposed<T> = { readonly [K in keyof T]-?: Exclude<T[K], undefined> };

/** The info dictionary of each torrent version. */
export interface InfoDictOf {
  /** BEP 3. */
  v1: Exposed<InfoDictV1>;
  /** BEP 52. An absent meta version reads as 2 and is not enumerable. */
  v2: Exposed<InfoDictV2>;
  /** The v1 and the v2 description of the same files. */
  hybrid: Exposed<InfoDictHybrid>;
}

/** A file of a torrent of any version. Pad files are left out. */
export interface TorrentFile {
  /** The path below the torrent's root, with `/`, as the torrent has it: it may be unsafe in the `compat` profile. */
  readonly path: string;
  /** Bytes. */
  readonly length: number;
  /** BEP 47 flags, one letter each; null for none. */
  readonly attr: string | null;
  /** The pieces root, 32 bytes (BEP 52), as a copy; null in v1 and for an empty file. */
  readonly piecesRoot: Uint8Array | null;
}

/** The fields of a torrent as its model holds them. */
interface ModelFields<V extends TorrentVersion> extends TopLevelFields {
  info: InfoDictOf[V];
}

/** Sums over the files of a torrent, pad files left out. */
export interface ContentTotals {
  /** The number of files. */
  files: number;
  /** Bytes. */
  bytes: number;
  /** The pieces of all files, counted file by file: those of v2. */
  pieces: number;
}

/** The validated bytes of a torrent. */
interface ValidatedBytes {
  /** The whole torrent file. */
  bytes: Uint8Array;
  /** The raw `info` within them. */
  infoBytes: Uint8Array;
  /** Gives the flat v2 file tree; null in v1. */
  flat: (() => FlatFile[]) | null;
  /** Null unless they are known without a list of files. */
  totals: ContentTotals | null;
  /** The infohashes that have been computed: torrents with the same `info` share them. */
  infohashes?: { v1?: string | null; v2?: string | null } | undefined;
  warnings: readonly Issue[];
  /** The context of the validation. */
  context: ValidationContext;
}

const WRITE: OptionStructs<WriteOptions> = { force: Flag, mtime: DateTime, beneath: Path, signal: Signal };
const DUMP: OptionStructs<{ mode?: 'str' | 'binary' | undefined }> = { mode: oneOf('str', 'binary') };
/** An own property. All torrents share the accessor, because V8 makes a hidden class for each accessor of its own. */
const INFO_BYTES = {
  enumerable: true,
  get(this: Torrent) {
    return copyOf(TorrentBase.bytesOf(this).infoBytes);
  },
};

/**
 * A valid torrent. It is immutable, and {@link write} writes exactly the bytes that it was read from. Its lists, objects and Maps are
 * read-only. All bytes, hashes, dates and unknown keys that it gives out are copies, so you may change or transfer them. To send a torrent to another thread, transfer `torrent.bencode()`
 * and read it there: `structuredClone` keeps the fields alone, without infohashes
 * and methods.
 *
 * @example
 * ```ts
 * import { Torrent } from 'metainfo';
 *
 * const torrent = await Torrent.read('album.torrent');
 * console.log(`${torrent.name}: ${torrent.nFiles} files, ${torrent.totalSize} bytes`);
 * for (const { path, length } of torrent.files) console.log(path, length);
 * console.log(torrent.magnet());
 * await torrent.write('copy.torrent');
 * ```
 *
 * @typeParam V - The version of the torrent.
 */
export class TorrentBase<V extends TorrentVersion> implements ModelFields<V> {
  /** `v1`, `v2` or `hybrid`. Narrows the types of the fields that depend on the version. */
  readonly torrentVersion: V;
  /** The single tracker of old clients (BEP 3). {@link flatTrackers} has all trackers. */
  readonly announce: string | null;
  /** Tiers of trackers, as the torrent has them (BEP 12). */
  readonly announceList: readonly (readonly string[])[] | null;
  /** Free text. */
  readonly comment: string | null;
  /** The program that created the torrent. */
  readonly createdBy: string | null;
  /** When the torrent was created, to the second. */
  readonly creationDate: Date | null;
  /** The info dictionary: names, sizes and hashes. Its raw bytes give the infohash. */
  readonly info: InfoDictOf[V];
  /** Piece hashes of files longer than a piece (BEP 52). Null in v1; empty where `compat` accepts their absence. */
  readonly pieceLayers!: V extends 'v1' ? null : PieceLayers;
  /** Webseeds (BEP 19). A single URL on disk reads as a list of one. */
  readonly urlList: readonly string[] | null;
  /** HTTP seeds (BEP 17). */
  readonly httpseeds: readonly string[] | null;
  /** DHT nodes to start from, for torrents without trackers (BEP 5). */
  readonly nodes: readonly DhtNode[] | null;
  /** Infohashes of torrents that may hold the same files, 20 or 32 bytes each (BEP 38): those in `info`, then those beside it, without duplicates. */
  readonly similar: readonly Uint8Array[];
  /** Collections whose torrents may hold the same files (BEP 38): in the order of {@link similar}, without duplicates. */
  readonly collections: readonly string[];
  /** Unknown keys beside `info`: keys with one character per byte, values as the decoder gives them. */
  readonly extra: BencodeMap;
  /** A copy of the raw `info` dictionary, which the infohash is the hash of. */
  declare readonly infoBytes: Uint8Array<ArrayBuffer>;
  /** Issues that did not make the torrent invalid. */
  declare readonly warnings: readonly Issue[];
  readonly #own: ValidatedBytes;
  #files: readonly TorrentFile[] | undefined;
  #flatFiles: ReadonlyMap<string, FileTreeItem> | undefined;
  /** {@link flatFiles} with views of their pieces roots. */
  #flatViews: Map<string, FlatFile> | undefined;
  #v1Offsets: V1FileOffsets | undefined;

  /** @internal */
  static isTorrent(this: void, value: unknown): value is Torrent {
    return typeof value === 'object' && value !== null && torrents.has(value);
  }

  /** Accepts torrents of another copy of this package in the process too. */
  static [Symbol.hasInstance](value: unknown): boolean {
    return TorrentBase.isTorrent(value);
  }

  /** @internal The memory of a torrent. Never hand it to a caller. */
  static bytesOf(this: void, torrent: Torrent): Pick<ValidatedBytes, 'bytes' | 'infoBytes'> {
    return TorrentBase.isOwn(torrent) ? torrent.#own : copiesOf(torrent);
  }

  /** @internal Whether a torrent is of this copy of the package. */
  static isOwn(this: void, torrent: Torrent): boolean {
    return #own in torrent;
  }

  /** @internal {@link files}, with views in place of copies. Never hand them to a caller. */
  static filesOf(this: void, torrent: Torrent): readonly TorrentFile[] {
    return torrent.torrentVersion === 'v1' || !TorrentBase.isOwn(torrent) ? torrent.files : torrent.#filesOfTree();
  }

  /** @internal Torrents come from `Torrent.fromBytes`, `Torrent.read`, `Torrent.fromDecoded` and `draft.generate`. */
  constructor(version: V, fields: ModelFields<V>, validated: ValidatedBytes) {
    this.torrentVersion = version;
    this.announce = fields.announce;
    this.announceList = fields.announceList;
    this.comment = fields.comment;
    this.createdBy = fields.createdBy;
    this.creationDate = fields.creationDate;
    this.info = fields.info;
    // A torrent that was just created decodes it when it is first read.
    copyProperty('pieceLayers', fields, this);
    this.urlList = fields.urlList;
    this.httpseeds = fields.httpseeds;
    this.nodes = fields.nodes;
    this.similar = distinct(fields.info.similar, fields.similar, toHex);
    this.collections = distinct(fields.info.collections, fields.collections, (name) => name);
    this.extra = fields.extra;
    Object.defineProperty(this, 'infoBytes', INFO_BYTES);
    this.warnings = validated.warnings;
    // A copy, because the caller may change its context.
    const { bytes, infoBytes, flat, totals, infohashes = {}, warnings, context } = validated;
    this.#own = { bytes, infoBytes, flat, totals, infohashes, warnings, context: { ...context } };
    readOnly(this);
    torrents.add(this);
    rememberInfo(fields.info, validated.infoBytes);
  }

  /**
   * @internal A torrent with the same `info` and piece layers and other fields beside them. Only those fields are validated,
   * so this returns null where `info` might validate differently: with another context, or when this torrent has warnings.
   * Both torrents share the models of `info` and layers, which keeps the bytes of this one in memory.
   *
   * @param map All keys in their order; the values of `info` and `piece layers` are ignored.
   * @param infoStart The offset of the value of `info` in the bytes.
   * @throws {ValidationError} when one of the other fields is invalid
   */
  withTopLevel(
    map: BencodeMap,
    {
      bytes,
      infoStart,
      context: newContext = {},
    }: { bytes: Uint8Array; infoStart: number; context?: ValidationContext | undefined },
  ): TorrentBase<V> | null {
    const context = requireContext(newContext);
    const { context: old, flat, totals, infohashes } = this.#own;
    const isSame = isSameContext(context, old);
    if (!isSame || this.warnings.length > 0) return null;
    const issues = new Issues(context.profile);
    const fields = { ...decodeTopLevelWithoutLayers(map, issues), info: this.info };
    copyProperty('pieceLayers', this, fields);
    const warnings = issues.finish(bytes);
    if (issues.hasErrors) throw new ValidationError(warnings);
    const infoBytes = bytes.subarray(infoStart, infoStart + this.#own.infoBytes.length);
    return new TorrentBase(this.torrentVersion, fields, {
      bytes,
      infoBytes,
      flat,
      totals,
      infohashes,
      warnings,
      context,
    });
  }

  /** The name to show: `name.utf-8` where an old creator wrote one, else `name`. */
  get name(): string {
    return this.info.nameUtf8 ?? this.info.name;
  }

  /** SHA-1 of the raw `info` in hexadecimal (BEP 3); null for v2. */
  get infohashV1(): V extends 'v2' ? null : string {
    return this.#infohash('v1') as V extends 'v2' ? null : string;
  }

  /** SHA-256 of the raw `info` in hexadecimal (BEP 52); null for v1. */
  get infohashV2(): V extends 'v1' ? null : string {
    return this.#infohash('v2') as V extends 'v1' ? null : string;
  }

  /** Hashing a large info dictionary takes a while, so it is done once. */
  #infohash(version: 'v1' | 'v2'): string | null {
    const { infoBytes, infohashes = {} } = this.#own;
    if (infohashes[version] === undefined) infohashes[version] = infohashOf(infoBytes, this.torrentVersion, version);
    return infohashes[version];
  }

  /** The files in the torrent's order, without pad files. */
  get files(): readonly TorrentFile[] {
    this.#files ??= readOnly(this.torrentVersion === 'v1' ? this.#filesOfList() : this.#filesOfTree());
    return this.#files;
  }

  /** The files of the v2 tree, which v1 does not have. */
  get #flatList(): FlatFile[] {
    return (this.#own.flat as () => FlatFile[])();
  }

  /** Whether the torrent is one file and no folder. In v2 that means a tree of one file, as clients lay it out. */
  get #isSingle(): boolean {
    if (this.torrentVersion !== 'v2') return !(this.info as InfoDictV1).files;
    const flat = this.#flatList;
    const hasFolder = this.warnings.some(({ code }) => code === 'tree') || (this.info as InfoDictHybrid).files != null;
    return flat.length === 1 && flat[0]?.path.length === 1 && !hasFolder;
  }

  #filesOfList(): TorrentFile[] {
    const { list, isPad } = v1List(this.info);
    const visible = list.filter((file) => !isPad(file));
    return visible.map((file) => ({
      path: displayPath(file, this.#isSingle ? this.name : null),
      length: file.length,
      attr: file.attr ?? null,
      piecesRoot: null,
    }));
  }

  #filesOfTree(): TorrentFile[] {
    return this.#flatList.map((file) => ({
      path: file.path.join('/'),
      length: file.length,
      attr: file.attr ?? null,
      piecesRoot: file.length > 0 ? (file.piecesRoot ?? null) : null,
    }));
  }

  /**
   * A safe path on disk for each of `files`: no path leaves the folder and no two are equal. They equal the paths of the files
   * where those are safe already.
   */
  get safePaths(): string[] {
    const { files } = this;
    // One by one: the components of all paths would take much memory.
    const paths = function* () {
      for (const { path } of files) yield path.split('/');
    };
    return Array.from(safePaths(paths()), (parts) => parts.join('/'));
  }

  /** The flat v2 file tree: paths with `/` to files. Null for v1. */
  get flatFiles(): V extends 'v1' ? null : ReadonlyMap<string, FileTreeItem> {
    if (this.torrentVersion !== 'v1') {
      this.#flatFiles ??= readOnly(new Map(this.#flatList.map(({ path, ...item }) => [path.join('/'), item])));
    }
    return (this.#flatFiles ?? null) as V extends 'v1' ? null : ReadonlyMap<string, FileTreeItem>;
  }

  /** The number of files, without pad files. */
  get nFiles(): number {
    return this.#own.totals?.files ?? this.files.length;
  }

  /** Bytes of content, without pad files. */
  get totalSize(): number {
    return this.#own.totals?.bytes ?? this.files.reduce((sum, file) => sum + file.length, 0);
  }

  /** Bytes of the torrent file. */
  get fileSize(): number {
    return this.#own.bytes.length;
  }

  /** The number of pieces: v1 pieces in v1 and hybrid torrents, else the pieces of all files. */
  get nPieces(): number {
    const { info } = this;
    if (this.torrentVersion !== 'v2') return (info as InfoDictV1).pieces.length;
    const count = () => this.files.reduce((sum, file) => sum + Math.ceil(file.length / info.pieceLength), 0);
    return this.#own.totals?.pieces ?? count();
  }

  /** All tracker URLs, trimmed and without duplicates. `announce-list` replaces `announce` when it has any (BEP 12). */
  get flatTrackers(): string[] {
    const listed = trimmed((this.announceList ?? []).flat());
    return [...new Set(listed.length > 0 ? listed : trimmed([this.announce ?? '']))];
  }

  /**
   * The trackers in their tiers, trimmed, without duplicates and empty tiers. `announce` comes first, in a tier of its own, unless
   * `announce-list` has it: clients that know tiers ignore it beside a list (BEP 12), others know nothing else.
   */
  get trackerTiers(): string[][] {
    const tiers = (this.announceList ?? []).map(trimmed);
    const left = new Set(tiers.flat());
    const own = trimmed([this.announce ?? '']).filter((url) => !left.has(url));
    return [own, ...tiers.map((tier) => tier.filter((url) => left.delete(url)))].filter(({ length }) => length > 0);
  }

  /**
   * A magnet link to the torrent (BEP 9, BEP 53), with its infohashes, name, size, trackers and webseeds. Do not publish that of a private
   * torrent: its trackers may have your passkey, and clients ask the DHT before they know that the torrent is private.
   *
   * @example
   * ```ts
   * import { Torrent } from 'metainfo';
   *
   * const torrent = await Torrent.read('album.torrent');
   * console.log(torrent.magnet());
   * // Only the v1 swarm of a hybrid torrent, and only two of its files:
   * console.log(torrent.magnet({ infohashV2: null, selectOnly: torrent.selectFiles(['02 third.wav', 'notes']) }));
   * ```
   *
   * @param changes Fields to add to the link or to replace; null leaves a field out.
   * @throws {MetainfoError} `ERR_INVALID_ARGUMENT` for a field that a link cannot express
   */
  magnet(changes: Partial<Magnet> = {}): string {
    const checked = checkOptions(changes, MAGNET, { name: 'changes', example: "{ displayName: 'x' }" });
    const { infohashV1, infohashV2, name, totalSize, flatTrackers, webseeds } = this;
    const own = { infohashV1, infohashV2, displayName: name, length: totalSize, trackers: flatTrackers, webseeds };
    return formatMagnet({ ...own, ...checked });
  }

  /**
   * The index ranges of files and folders, for `selectOnly` of {@link magnet} (BEP 53). Indexes count pad files, as libtorrent
   * and qBittorrent do, so they are not the indexes of `files`.
   *
   * @param paths Paths as `files` has them: below the torrent's root, with `/`.
   * @throws {MetainfoError} `ERR_INVALID_ARGUMENT` for a path that is not in the torrent
   */
  selectFiles(paths: readonly string[]): [first: number, last: number][] {
    const selected = checkArgument('paths', paths, Texts);
    const indexes =
      this.torrentVersion === 'v1' ? this.#indexesOfList() : indexesOfTree(this.files, this.info.pieceLength);
    return indexRangesOf(this.files, [...indexes], selected);
  }

  #indexesOfList(): number[] {
    const { list, isPad } = v1List(this.info);
    return list.flatMap((file, index) => (isPad(file) ? [] : [index]));
  }

  /** The webseed URLs, without duplicates (BEP 19). */
  get webseeds(): string[] {
    return [...new Set(this.urlList ?? [])];
  }

  /**
   * The bytes that a v1 piece is the hash of: ranges of one or more files. O(log files) after the first call.
   *
   * @example
   * ```ts
   * import { open } from 'node:fs/promises';
   * import { Torrent } from 'metainfo';
   *
   * const torrent = await Torrent.read('album.torrent');
   * const range = torrent.v1PieceRange(0);
   * const chunks: Uint8Array[] = [];
   * for (const { fullPath, attr, rangeStart, rangeEnd } of range.ranges) {
   *   if (attr?.includes('p')) continue; // Pad files are not on disk.
   *   const file = await open(fullPath);
   *   const { buffer } = await file.read(Buffer.alloc(rangeEnd - rangeStart), 0, rangeEnd - rangeStart, rangeStart);
   *   chunks.push(buffer);
   *   await file.close();
   * }
   * console.log(range.validateData(chunks) ? 'piece 0 is complete' : 'piece 0 is corrupt');
   * ```
   * ```text
   * piece 0 is complete
   * ```
   *
   * @param pieceIdx From 0.
   * @throws {MetainfoError} `ERR_OUT_OF_RANGE` for an index without a piece; `ERR_INVALID_ARGUMENT` for a v2 torrent
   */
  v1PieceRange(pieceIdx: number): V1PieceRange {
    if (this.torrentVersion === 'v2' || !v1Files(this.info as InfoDictV1)) {
      throw invalidArgument('This torrent has no v1 files');
    }
    const info = this.info as InfoDictV1;
    this.#v1Offsets ??= v1FileOffsets(info);
    return rangeOfV1Piece(pieceIdx, { name: this.name, info, offsets: this.#v1Offsets });
  }

  /**
   * The bytes that a piece of one file of a v2 or hybrid torrent is the hash of. A file of at most one piece is one range: its
   * hash is the pieces root, and `pieceIdx` is ignored.
   *
   * @example
   * ```ts
   * import { readFile } from 'node:fs/promises';
   * import { Torrent } from 'metainfo';
   *
   * const torrent = await Torrent.read('album.torrent');
   * const range = torrent.v2PieceRange('02 third.wav');
   * const file = await readFile(range.fullPath);
   * console.log(range.validateData([file.subarray(range.rangeStart, range.rangeEnd)]));
   * ```
   * ```text
   * true
   * ```
   *
   * @param file The path of the file below the torrent's root, with `/`.
   * @param pieceIdx Within the file, from 0.
   * @throws {MetainfoError} `ERR_NOT_FOUND` for no such file; `ERR_OUT_OF_RANGE` for an index without a piece;
   *   `ERR_INVALID_ARGUMENT` for a v1 torrent, an empty file, or a torrent without the piece layer of the file
   */
  v2PieceRange(file: string, pieceIdx = 0): V2PieceRange {
    checkArgument('file', file, Text);
    const { pieceLayers, name } = this;
    if (this.torrentVersion === 'v1') throw invalidArgument('A v1 torrent has no v2 pieces');
    const { pieceLength } = this.info;
    this.#flatViews ??= new Map(this.#flatList.map((item) => [item.path.join('/'), item]));
    return rangeOfV2Piece(file, pieceIdx, {
      flatFiles: this.#flatViews,
      pieceLayers,
      pieceLength,
      name,
      single: this.#isSingle,
    });
  }

  /**
   * The torrent as a dictionary. Mode `str` has text keys, and the npm package `bencode` encodes it to the bytes of
   * {@link bencode}: dictionaries whose keys are not text are Maps of bytes, integers beyond 2^53 are bigints, which that
   * package cannot encode. Mode `binary` is what `decode` gives, with keys of one character per byte: that package would write
   * them as UTF-8 and corrupt the piece layers. {@link encode} takes both.
   *
   * @throws {MetainfoError} `ERR_INVALID_ARGUMENT` for an unknown mode
   */
  modelDumpTorrent(options?: { mode?: 'str' | undefined }): DumpedDictionary;
  modelDumpTorrent(options: { mode: 'binary' }): BencodeMap;
  modelDumpTorrent(options: { mode?: 'str' | 'binary' | undefined }): DumpedDictionary | BencodeMap;
  modelDumpTorrent(options: { mode?: 'str' | 'binary' | undefined } = {}): DumpedDictionary | BencodeMap {
    const { mode = 'str' } = checkOptions(options, DUMP, { example: "{ mode: 'binary' }" });
    // The bytes were within the limits of the caller when they were read.
    const { value } = decode(copyOf(this.#own.bytes), { tolerant: true, limits: NO_LIMITS });
    const map = value as BencodeMap;
    const dumped = mode === 'binary' ? map : dumpTorrent(map);
    const info = mode === 'binary' ? map.get('info') : (dumped as DumpedDictionary)['info'];
    rememberInfo(info as object, this.#own.infoBytes);
    return dumped;
  }

  /** The torrent for `JSON.stringify`, which is also the output of `metainfo show --json`. */
  toJSON(): TorrentJson {
    return torrentJson(this as Torrent);
  }

  /** The name, version, size and infohashes in one line, for logs. */
  toString(): string {
    const { name, torrentVersion, totalSize, infohashV1, infohashV2 } = this;
    const infohashes = [infohashV1, infohashV2].filter((one) => one !== null);
    return `Torrent ${shown(name)} (${torrentVersion}, ${totalSize} bytes, infohash ${infohashes.join(' and ')})`;
  }

  /** Gives Node the text to print. */
  [Symbol.for('nodejs.util.inspect.custom')](): string {
    return this.toString();
  }

  /** A copy of the bytes of the torrent file, exactly as they were read. */
  bencode(): Uint8Array<ArrayBuffer> {
    return copyOf(this.#own.bytes);
  }

  /**
   * Writes the torrent file atomically: it gets its name when it is complete. On Linux, it has none before, so a killed process leaves nothing
   * of a new file, and at most a `.metainfo-replace-*.tmp` of one that replaces another. Elsewhere, a killed process may leave a
   * `.metainfo-*.tmp`, which you may delete. No scan includes these files. docs/reliability.md says what holds where.
   *
   * @param target The path or `file:` URL of the torrent file.
   * @throws {MetainfoError} `ERR_OUTPUT_EXISTS`, `ERR_NOT_A_FILE`, `ERR_NO_SPACE`, `ERR_NOT_FOUND`, `ERR_WRITE`,
   *   `ERR_INVALID_ARGUMENT`
   * @throws {AbortError} if the signal fires before the write begins
   */
  async write(target: string | URL, options: WriteOptions = {}): Promise<void> {
    const path = checkedPath(target);
    const checked = inNode() ? checkOptions(options, WRITE, { example: '{ force: true }' }) : (options as object);
    return writeTorrentFile(path, this.#own.bytes, checked);
  }
}

/** The bytes of a torrent of another copy of this package. */
function copiesOf(torrent: Torrent): Pick<ValidatedBytes, 'bytes' | 'infoBytes'> {
  const bytes = torrent.bencode();
  const { start, end } = decodeTrusted(bytes, { span: 'info', tolerant: true, limits: NO_LIMITS }).span as Span;
  return { bytes, infoBytes: bytes.subarray(start, end) };
}

function trimmed(urls: readonly string[]): string[] {
  return urls.map((url) => url.trim()).filter((url) => url !== '');
}

/** The values of two lists, each once: values are equal if their keys are. */
function distinct<T>(
  first: readonly T[] | null | undefined,
  second: readonly T[] | null | undefined,
  keyOf: (value: T) => string,
): T[] {
  if (!first && !second) return [];
  return [...new Map([...(first ?? []), ...(second ?? [])].map((value) => [keyOf(value), value])).values()];
}
