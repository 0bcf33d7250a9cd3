import type { Encodable } from '../bencode/value.ts';
import type { Wanted } from '../create/cache.ts';
import type { ContentFile, FileDigests, TreeDigests } from '../create/content.ts';
import { GENERATE, type GenerateOptions, hashContent, type TorrentContent } from '../create/generate.ts';
import { FILTER, type ScanFilter } from '../create/scan.ts';
import { rememberTimes, timesOf } from '../create/times.ts';
import { TorrentCreate } from '../create/torrent-create.ts';
import { layerRoots, raisedRoot } from '../digest/merkle.ts';
import { MetainfoError, requirePath, toHex } from '../errors.ts';
import { argument, DateTime, type OptionStructs, options, orNull, Unchecked } from '../guard.ts';
import { firstUnaligned, padsIn } from '../layout/padding.ts';
import { BLOCK_SIZE } from '../layout/piece-length.ts';
import type { InfoDictV1 } from '../model/info-dict.ts';
import { encodeFlatTree } from '../model/raw-files.ts';
import { AnyTorrent, type ReadOptions, type Torrent, type TorrentFile } from '../model/torrent.ts';
import { TORRENT } from '../model/wire.ts';
import { replaced } from './edit.ts';

/** What {@link update} reads, and how. */
export interface UpdateOptions
  extends Omit<GenerateOptions, 'version' | 'padding' | 'tailPad'>,
    Pick<ReadOptions, 'context'>,
    ScanFilter {
  /** Bytes. Default: that of the torrent. A larger one reads nothing more of a v2 torrent; v1 pieces are hashed anew. */
  pieceLength?: number | null | undefined;
  /**
   * When the torrent was made: files that were modified at that time or later are read. Default: this process knows it of
   * torrents that it has made; of others it is their creation date. Null, and a torrent without one: files of the same path
   * and size are taken to be the same.
   */
  since?: Date | null | undefined;
}

const { version: _, padding: __, tailPad: ___, ...OF_GENERATE } = GENERATE;
const UPDATE: OptionStructs<UpdateOptions> = {
  ...OF_GENERATE,
  ...FILTER,
  context: Unchecked,
  pieceLength: Unchecked,
  since: orNull(DateTime),
};

/** A file that has another path than before. */
export interface Renamed {
  /** The old path, from the torrent's root with `/`. */
  from: string;
  /** The new one. */
  to: string;
}

/** A torrent of what is there now. */
export interface Updated {
  /** The new torrent. */
  torrent: Torrent;
  /** Bytes of content that were read. */
  bytesRead: number;
  /** Files that are new: paths from the torrent's root, with `/`. */
  added: string[];
  /** Files that were read again. */
  changed: string[];
  /** Files that are gone. */
  removed: string[];
  /** Files that have another path: they were not read. */
  renamed: Renamed[];
}

/**
 * The same torrent of other files: those that were added or changed since are read, and all others are taken from it. In
 * v2 a file's hashes do not depend on where it stands, and in a hybrid its v1 pieces are its own (BEP 52). What is not about files
 * stays byte for byte.
 *
 * @param pathRoot The folder, or the one file, absolute. All files beneath it are taken, as in a creation.
 * @throws {MetainfoError} `ERR_INVALID_ARGUMENT` for a v1 torrent, or what is no path; what {@link TorrentCreate.generate} throws
 */
export async function update(torrent: Torrent, pathRoot: string, given: UpdateOptions = {}): Promise<Updated> {
  argument('torrent', torrent, AnyTorrent);
  requirePath(pathRoot);
  const { torrentVersion: version } = torrent;
  if (version === 'v1') {
    const message = 'The pieces of a v1 torrent depend on all files before them: upgrade it, or create it again.';
    throw new MetainfoError('ERR_INVALID_ARGUMENT', message);
  }
  const checked = options(given, UPDATE);
  const { since, pieceLength, include, exclude } = checked;
  const known = new KnownFiles(torrent, since);
  const draft = new TorrentCreate({
    pathRoot,
    info: { name: torrent.info.name },
    pieceLength: pieceLength ?? torrent.info.pieceLength,
    include,
    exclude,
  });
  const content = await hashContent(draft, {
    ...checked,
    version,
    tailPad: known.tailPad,
    sources: [],
    attrs: known.attrs,
    known: (files, wanted) => known.find(files, wanted),
  });
  const updated = withContent(torrent, content, checked);
  rememberTimes(updated, content.files);
  return { torrent: updated, bytesRead: content.bytesRead, ...known.changes(content.files) };
}

/** The torrent with other content; what is not about it stays byte for byte. */
export function withContent(torrent: Torrent, content: TorrentContent, options: Pick<ReadOptions, 'context'>): Torrent {
  const { single, lengths, pieceLength, pieces, list, flat, pieceLayers } = content;
  const info = new Map<string, Encodable | null>([
    ['file tree', flat && encodeFlatTree(flat)],
    ['files', list],
    ['length', single && pieces ? (lengths[0] as number) : null],
    ['meta version', flat && 2],
    ['piece length', pieceLength],
    ['pieces', pieces?.bytes ?? null],
  ]);
  const top = new Map<string, Encodable | null>([
    ['piece layers', pieceLayers && TORRENT.pieceLayers.encode(pieceLayers)],
  ]);
  return replaced(torrent, { info, top, ...options });
}

/** A file of the torrent that is updated. */
interface OldFile {
  file: TorrentFile;
  /** Of the remembered times; NaN for none. */
  mtimeMs: number;
  /** v1: of its pieces the first, and whether the last is filled; null where there are none that are its own. */
  v1: { first: number; isPadded: boolean } | null;
}

/** What a torrent tells of files that are there. */
class KnownFiles {
  readonly tailPad: boolean;
  readonly attrs = new Map<string, string>();
  readonly #torrent: Torrent;
  readonly #files = new Map<string, OldFile>();
  /** Whether it is remembered when files were modified. */
  readonly #remembers: boolean;
  readonly #since: number | null;
  readonly #single: string | null;
  #kept = new Map<ContentFile, OldFile>();

  constructor(torrent: Torrent, since: Date | null | undefined) {
    this.#torrent = torrent;
    const times = since === undefined ? timesOf(torrent) : undefined;
    this.#remembers = times !== undefined;
    this.#since = (since === undefined ? torrent.creationDate : since)?.getTime() ?? null;
    const v1 = v1PiecesOf(torrent);
    this.tailPad = v1.tailPad;
    for (const [index, file] of torrent.files.entries()) {
      const mtimeMs = times?.[index] ?? Number.NaN;
      this.#files.set(file.path, { file, mtimeMs, v1: v1.places.get(file.path) ?? null });
      // A link has become what it leads to, and what is no pad cannot be one.
      const attr = file.attr?.replaceAll(/[lp]/g, '');
      if (attr) this.attrs.set(file.path, attr);
    }
    const [only] = torrent.files;
    this.#single = torrent.nFiles === 1 && only?.path === torrent.info.name ? only.path : null;
  }

  find(files: readonly ContentFile[], wanted: Wanted): (FileDigests | null)[] {
    const paths = new Set(files.map((file) => this.#pathOf(file)));
    const moved = this.#remembers ? this.#movable(files, paths) : new Map<string, OldFile>();
    return files.map((file, index) => {
      const path = this.#pathOf(file);
      const old = this.#files.get(path) ?? moved.get(path);
      if (!old || old.file.length !== file.length || !this.#isSame(old, file)) return null;
      const digests = this.#digestsOf(old, wanted, wanted.isPadded(index));
      if (digests) this.#kept.set(file, old);
      return digests;
    });
  }

  changes(files: readonly ContentFile[]): Pick<Updated, 'added' | 'changed' | 'removed' | 'renamed'> {
    const renamed = [...this.#kept].flatMap(([file, old]) => {
      const to = this.#pathOf(file);
      return to === old.file.path ? [] : [{ from: old.file.path, to }];
    });
    const [from, to] = [new Set(renamed.map((one) => one.from)), new Set(renamed.map((one) => one.to))];
    const paths = new Set(files.map((file) => this.#pathOf(file)));
    const read = files.filter((file) => !this.#kept.has(file)).map((file) => this.#pathOf(file));
    return {
      added: read.filter((path) => !this.#files.has(path) && !to.has(path)),
      changed: read.filter((path) => this.#files.has(path)),
      removed: [...this.#files.keys()].filter((path) => !paths.has(path) && !from.has(path)),
      renamed,
    };
  }

  /** The path root itself is the torrent's one file, whatever it is called on disk. */
  #pathOf({ path }: ContentFile): string {
    return path.length === 0 ? (this.#single ?? this.#torrent.info.name) : path.join('/');
  }

  #isSame(old: OldFile, { mtimeMs }: ContentFile): boolean {
    if (this.#remembers) return old.mtimeMs === mtimeMs;
    return this.#since === null || (mtimeMs as number) < this.#since;
  }

  /**
   * Files that are gone, by the path at which one is now that has its size and its very mtime. Not where that could be
   * chance: a mtime of whole seconds may be one that an archive gave to all of its files.
   */
  #movable(files: readonly ContentFile[], paths: ReadonlySet<string>): Map<string, OldFile> {
    const keyOf = (length: number, mtimeMs: number) => `${length} ${mtimeMs}`;
    const gone = new Map<string, OldFile | null>();
    for (const [path, old] of this.#files) {
      if (paths.has(path) || Number.isNaN(old.mtimeMs) || old.mtimeMs % 1000 === 0) continue;
      const key = keyOf(old.file.length, old.mtimeMs);
      gone.set(key, gone.has(key) ? null : old);
    }
    const moved = new Map<string, OldFile>();
    const taken = new Map<OldFile, string>();
    for (const file of gone.size > 0 ? files : []) {
      const path = this.#pathOf(file);
      const old = this.#files.has(path) ? null : gone.get(keyOf(file.length as number, file.mtimeMs as number));
      if (!old) continue;
      // Two that could be it: neither is.
      const other = taken.get(old);
      if (other === undefined) moved.set(path, old);
      else moved.delete(other);
      taken.set(old, path);
    }
    return moved;
  }

  #digestsOf({ file, v1 }: OldFile, { kind, pieceLength }: Wanted, isPadded: boolean): FileDigests | null {
    const tree = this.#treeOf(file, pieceLength);
    if (kind === 'v2' || !tree) return tree && { ...tree, pieces: new Uint8Array() };
    const { info } = this.#torrent;
    const isFilled = file.length % pieceLength === 0 || v1?.isPadded === isPadded;
    if (info.pieceLength !== pieceLength || !v1 || !isFilled) return null;
    const count = Math.ceil(file.length / pieceLength);
    const { bytes } = (info as InfoDictV1).pieces;
    return { ...tree, pieces: bytes.subarray(v1.first * 20, (v1.first + count) * 20) };
  }

  #treeOf({ length, piecesRoot }: TorrentFile, pieceLength: number): TreeDigests | null {
    const none = new Uint8Array();
    if (length === 0) return { root: null, layer: none };
    // Links and damaged torrents that compat takes.
    if (!piecesRoot) return null;
    if (length <= pieceLength) return { root: piecesRoot, layer: none };
    const layer = this.#torrent.pieceLayers?.get(toHex(piecesRoot))?.bytes;
    const own = this.#torrent.info.pieceLength;
    if (!layer || own > pieceLength) return null;
    return { root: piecesRoot, layer: own === pieceLength ? layer : raisedLayer(layer, own, pieceLength) };
  }
}

/** A layer of longer pieces: each hash is the root above as many of the shorter ones as it holds (BEP 52). */
function raisedLayer(layer: Uint8Array, from: number, to: number): Uint8Array {
  const width = to / from;
  const groups: Uint8Array[] = [];
  for (let at = 0; at < layer.length; at += width * 32) groups.push(layer.subarray(at, at + width * 32));
  const roots = layerRoots(groups, from / BLOCK_SIZE);
  const last = (groups.at(-1) as Uint8Array).length / 32;
  const raised = raisedRoot(roots.subarray(-32), last * (from / BLOCK_SIZE), to / BLOCK_SIZE);
  return Buffer.concat([roots.subarray(0, -32), raised]);
}

interface V1Places {
  places: Map<string, NonNullable<OldFile['v1']>>;
  /** Whether the last file has a pad after it; true when that cannot be told. */
  tailPad: boolean;
}

/** Where the v1 pieces of files are, of a hybrid whose files begin with pieces. */
function v1PiecesOf({ info, torrentVersion }: Torrent): V1Places {
  const places: V1Places['places'] = new Map();
  const { files, pieceLength } = info as InfoDictV1;
  if (torrentVersion !== 'hybrid') return { places, tailPad: true };
  if (!files) {
    places.set(info.name, { first: 0, isPadded: false });
    return { places, tailPad: true };
  }
  if (firstUnaligned(files, pieceLength) >= 0) return { places, tailPad: true };
  const total = files.reduce((sum, { length }) => sum + length, 0);
  const isPad = padsIn(files, pieceLength);
  let start = 0;
  let end = 0;
  for (const file of files) {
    const { length, path } = file;
    if (!isPad(file)) {
      end = start + length;
      // Before the next piece there are pads and empty files alone. At the end they may stop anywhere: such a piece is of no use.
      const isPadded = total >= Math.ceil(end / pieceLength) * pieceLength;
      if (isPadded || end === total) places.set(path.join('/'), { first: start / pieceLength, isPadded });
    }
    start += length;
  }
  // A file alone has none, whatever was asked for.
  return { places, tailPad: places.size === 1 || end % pieceLength === 0 || total > end };
}
