/** The digests that a torrent has of files that are unchanged on disk, and how the files differ from it. */
import { requireTimesOf, timesAt } from '../create/file-times.ts';
import type { ContentFile } from '../create/find-files.ts';
import type { SizedLayout } from '../create/torrent-layout.ts';
import { toHex } from '../errors/errors.ts';
import type { FileDigests, TreeDigests } from '../hash/file-digests.ts';
import { layerRoots, raisedRoot } from '../hash/merkle.ts';
import type { FileTable } from '../layout/file-table.ts';
import { firstUnaligned, type PadNames, padNamesOf, padsIn } from '../layout/padding.ts';
import { BLOCK_SIZE } from '../layout/piece-length.ts';
import { HashList } from '../model/hash-list.ts';
import type { InfoDictV1 } from '../model/info-dict.ts';
import { viewOfLayer } from '../model/piece-layers.ts';
import { storedLinks } from '../model/stored-links.ts';
import { type Torrent, TorrentBase, type TorrentFile } from '../model/torrent/torrent.ts';
import type { UpdateOptions, UpdateResult } from './update.ts';

/** The v1 pieces of a file that begins with a piece. */
interface V1Pieces {
  /** Index of its first piece. */
  first: number;
  /** Whether a pad file fills its last piece. */
  isPadded: boolean;
}

/** A file of the old torrent. */
interface OldFile {
  file: TorrentFile;
  /** When the file was last changed before the torrent was made, if that is known. */
  times: ReturnType<typeof timesAt>;
  /** Null in v2, and where the pieces hold bytes of other files too. */
  v1: V1Pieces | null;
}

/** The files of the torrent that is updated. */
export class KnownFiles {
  /** Whether the new torrent should end with a pad file, as the old one does. */
  readonly tailPad: boolean;
  readonly padNames: PadNames;
  /** BEP 47 flags of files, by path with `/`. */
  readonly attrs = new Map<string, string>();
  /** Targets of stored links, by path; both with `/`. */
  readonly links: ReadonlyMap<string, string>;
  readonly #torrent: Torrent;
  /** By path with `/`. */
  readonly #files = new Map<string, OldFile>();
  /** Whether the times of files decide, instead of `#since`. */
  readonly #hasTimes: boolean;
  /** Files that were last changed before are unchanged: milliseconds since 1970. */
  readonly #since: number;

  constructor(torrent: Torrent, { since, fileTimes }: Pick<UpdateOptions, 'since' | 'fileTimes'>) {
    this.#torrent = torrent;
    this.links = storedLinks(torrent);
    const times = since === undefined ? fileTimes : undefined;
    if (times) requireTimesOf(torrent, times);
    this.#hasTimes = times !== undefined;
    const madeAt = since === undefined ? torrent.creationDate : since;
    this.#since = since === null ? Infinity : (madeAt?.getTime() ?? -Infinity);
    const { byPath, tailPad } = v1PiecesOf(torrent);
    this.tailPad = tailPad;
    this.padNames = padNamesOf((torrent.info as Partial<InfoDictV1>).files ?? []);
    for (const [index, file] of TorrentBase.filesOf(torrent).entries()) {
      this.#files.set(file.path, { file, times: timesAt(times, index), v1: byPath.get(file.path) ?? null });
      // Content is never padding (p).
      const attr = file.attr?.replaceAll('p', '');
      if (attr) this.attrs.set(file.path, attr);
    }
  }

  /** The digests of each file of a layout; null for a file that must be read. */
  find(layout: SizedLayout): (FileDigests | null)[] {
    return layout.files.map((file, index) => {
      const old = this.#files.get(file.path.join('/'));
      if (!old || old.file.length !== file.length || !this.#isUnchanged(old, file)) return null;
      return this.#digestsOf(old, layout, index < layout.paddedFiles);
    });
  }

  /** How the files differ from those of the old torrent. */
  changes(
    files: FileTable<ContentFile>,
    updated: Torrent,
  ): Pick<UpdateResult, 'added' | 'changed' | 'removed' | 'renamed'> {
    const paths = new Set(files.map((file) => file.path.join('/')));
    const renamed = this.#renamed(updated, paths);
    const links = storedLinks(updated);
    const [oldPaths, newPaths] = [new Set(renamed.map(({ from }) => from)), new Set(renamed.map(({ to }) => to))];
    return {
      added: [...paths].filter((path) => !this.#files.has(path) && !newPaths.has(path)),
      changed: TorrentBase.filesOf(updated)
        .filter((file) => this.#hasNewContent(file, links))
        .map(({ path }) => path),
      removed: [...this.#files.keys()].filter((path) => !paths.has(path) && !oldPaths.has(path)),
      renamed,
    };
  }

  #hasNewContent({ path, length, piecesRoot }: TorrentFile, links: ReadonlyMap<string, string>): boolean {
    const old = this.#files.get(path)?.file;
    if (old !== undefined && this.links.get(path) !== links.get(path)) return true;
    return old !== undefined && (old.length !== length || !equalBytes(old.piecesRoot, piecesRoot));
  }

  /** Pairs each new file with a removed file of the same content. */
  #renamed(updated: Torrent, paths: ReadonlySet<string>): UpdateResult['renamed'] {
    const removed = new Map<string, string[]>();
    for (const [path, { file }] of this.#files) {
      if (!file.piecesRoot || paths.has(path)) continue;
      const root = toHex(file.piecesRoot);
      removed.set(root, [...(removed.get(root) ?? []), path]);
    }
    return TorrentBase.filesOf(updated).flatMap(({ path, piecesRoot }) => {
      const from = piecesRoot && !this.#files.has(path) && removed.get(toHex(piecesRoot))?.shift();
      return from ? [{ from, to: path }] : [];
    });
  }

  /** Compares mtime and ctime: programs set the mtime back, and moving an older file here changes only the ctime. */
  #isUnchanged({ times }: OldFile, { mtimeMs, ctimeMs }: ContentFile): boolean {
    if (this.#hasTimes) return times.mtimeMs === mtimeMs && times.ctimeMs === ctimeMs;
    return Math.max(mtimeMs as number, ctimeMs as number) < this.#since;
  }

  #digestsOf({ file, v1 }: OldFile, { version, pieceLength }: SizedLayout, isPadded: boolean): FileDigests | null {
    const tree = this.#treeOf(file, pieceLength);
    if (version === 'v2' || !tree) return tree && { ...tree, pieces: new Uint8Array() };
    const { info } = this.#torrent;
    const hasSamePadding = file.length % pieceLength === 0 || v1?.isPadded === isPadded;
    if (info.pieceLength !== pieceLength || !v1 || !hasSamePadding) return null;
    const count = Math.ceil(file.length / pieceLength);
    const bytes = HashList.viewOf((info as InfoDictV1).pieces);
    return { ...tree, pieces: bytes.subarray(v1.first * 20, (v1.first + count) * 20) };
  }

  #treeOf({ length, piecesRoot }: TorrentFile, pieceLength: number): TreeDigests | null {
    const none = new Uint8Array();
    if (length === 0) return { root: null, layer: none };
    // A symbolic link has no root.
    if (!piecesRoot) return null;
    if (length <= pieceLength) return { root: piecesRoot, layer: none };
    const layer = viewOfLayer(this.#torrent, piecesRoot);
    const oldPieceLength = this.#torrent.info.pieceLength;
    if (!layer || oldPieceLength > pieceLength) return null;
    if (oldPieceLength === pieceLength) return { root: piecesRoot, layer };
    return { root: piecesRoot, layer: raisedLayer(layer, oldPieceLength, pieceLength) };
  }
}

function equalBytes(one: Uint8Array | null, other: Uint8Array | null): boolean {
  return Buffer.compare(one ?? Buffer.alloc(0), other ?? Buffer.alloc(0)) === 0;
}

/** The piece layer for longer pieces: each hash is the root above the hashes of the shorter pieces in it (BEP 52). */
function raisedLayer(layer: Uint8Array, from: number, to: number): Uint8Array {
  const width = to / from;
  const groups: Uint8Array[] = [];
  for (let offset = 0; offset < layer.length; offset += width * 32)
    groups.push(layer.subarray(offset, offset + width * 32));
  const roots = layerRoots(groups, from / BLOCK_SIZE);
  const hashesInLast = (groups.at(-1) as Uint8Array).length / 32;
  const last = raisedRoot(roots.subarray(-32), hashesInLast * (from / BLOCK_SIZE), to / BLOCK_SIZE);
  return Buffer.concat([roots.subarray(0, -32), last]);
}

/** Finds the v1 pieces of each file of a hybrid whose files start at piece boundaries. */
function v1PiecesOf({ info, torrentVersion }: Torrent): { byPath: Map<string, V1Pieces>; tailPad: boolean } {
  const byPath = new Map<string, V1Pieces>();
  const { files, pieceLength } = info as InfoDictV1;
  if (torrentVersion !== 'hybrid') return { byPath, tailPad: true };
  if (!files) {
    byPath.set(info.name, { first: 0, isPadded: false });
    return { byPath, tailPad: true };
  }
  if (firstUnaligned(files, pieceLength) >= 0) return { byPath, tailPad: true };
  const total = files.reduce((sum, { length }) => sum + length, 0);
  const isPad = padsIn(files, pieceLength);
  let start = 0;
  let end = 0;
  let hasPadAfterEmptyFile = false;
  for (const [index, file] of files.entries()) {
    const { length, path } = file;
    if (isPad(file)) hasPadAfterEmptyFile ||= files[index - 1]?.length === 0;
    else {
      end = start + length;
      // Only pad files and empty files follow in the last piece. At the end of the torrent they may leave it unfilled: the
      // digests of such a piece cannot be used.
      const isPadded = total >= Math.ceil(end / pieceLength) * pieceLength;
      if (isPadded || end === total) byPath.set(path.join('/'), { first: start / pieceLength, isPadded });
    }
    start += length;
  }
  // A torrent of one file has no pad file either way. If the last piece is full, the place of pad files among empty files
  // tells whether one was wanted (see `withPads`).
  const tailPad = byPath.size === 1 || (end % pieceLength === 0 ? !hasPadAfterEmptyFile : total > end);
  return { byPath, tailPad };
}
