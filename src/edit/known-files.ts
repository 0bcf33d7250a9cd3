/** The digests that a torrent has of files that are unchanged on disk, and how the files differ from it. */
import { type FileTimes, requireTimesOf } from '../create/file-times.ts';
import type { KnownDigests } from '../create/hash-files.ts';
import type { SizedLayout } from '../create/torrent-layout.ts';
import { toHex } from '../errors/errors.ts';
import { matchPaths, NO_PATH } from '../hash/match-paths.ts';
import { layerRoots, raisedRoot } from '../hash/merkle.ts';
import { sumOf } from '../layout/file-table.ts';
import type { PadNames } from '../layout/padding.ts';
import { BLOCK_SIZE } from '../layout/piece-length.ts';
import { HashList } from '../model/hash-list.ts';
import type { InfoDictV1 } from '../model/info-dict.ts';
import { viewOfLayer } from '../model/piece-layers.ts';
import { storedLinks } from '../model/stored-links.ts';
import { contentOf, EMPTY, PAD, rootAt, type TorrentContent } from '../model/torrent/content.ts';
import { type Torrent, TorrentBase } from '../model/torrent/torrent.ts';
import { concatBytes } from '../platform/node.ts';
import { isAligned, v1PieceLayout } from '../verify/piece-layout.ts';
import type { UpdateOptions, UpdateResult } from './update.ts';

/** The v1 pieces of the files of a hybrid whose files begin with a piece. */
interface V1Pieces {
  /** The index of the first piece of each file; -1 where the pieces hold bytes of other files too. */
  firsts: Int32Array;
  /** Whether a pad file fills the last piece of each file: 1 if so. */
  arePadded: Uint8Array;
  /** Whether the torrent ends with a pad file, if it has any. */
  tailPad: boolean;
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
  readonly #content: TorrentContent;
  readonly #v1: V1Pieces;
  /** The times of files decide, instead of `#since`; undefined for none. */
  readonly #times: FileTimes | undefined;
  /** Files that were last changed before are unchanged: milliseconds since 1970. */
  readonly #since: number;

  constructor(torrent: Torrent, { since, fileTimes }: Pick<UpdateOptions, 'since' | 'fileTimes'>) {
    this.#torrent = torrent;
    this.#content = contentOf(torrent);
    this.links = storedLinks(torrent);
    this.#times = since === undefined ? fileTimes : undefined;
    if (this.#times) requireTimesOf(torrent, this.#times);
    const madeAt = since === undefined ? torrent.creationDate : since;
    this.#since = since === null ? Infinity : (madeAt?.getTime() ?? -Infinity);
    this.#v1 = v1PiecesOf(torrent);
    this.tailPad = this.#v1.tailPad;
    this.padNames = this.#content.padNames;
    for (const { path, attr } of this.#content.hasAttributes ? TorrentBase.filesOf(torrent) : []) {
      // Content is never padding (p).
      const flags = attr?.replaceAll('p', '');
      if (flags) this.attrs.set(path, flags);
    }
  }

  /** The digests of the files of a layout that are unchanged; null if all files must be read. */
  async find(layout: SizedLayout): Promise<KnownDigests | null> {
    const { files, version, paddedFiles } = layout;
    const indexes = await matchPaths(files.columns.paths, this.#content.paths);
    for (let i = 0; i < indexes.length; i += 1) {
      const old = indexes[i] as number;
      const isKnown =
        old !== NO_PATH && this.#isUnchanged(old, files, i) && this.#hasDigests(old, layout, i < paddedFiles);
      if (!isKnown) indexes[i] = NO_PATH;
    }
    if (indexes.every((index) => index === NO_PATH)) return null;
    return {
      indexes,
      roots: this.#content.roots as Uint8Array,
      layerAt: (index) => {
        const layer = this.#layerOf(index) as Uint8Array;
        const { pieceLength } = this.#torrent.info;
        return pieceLength === layout.pieceLength ? layer : raisedLayer(layer, pieceLength, layout.pieceLength);
      },
      pieces: version === 'v2' ? new Uint8Array() : HashList.viewOf((this.#torrent.info as InfoDictV1).pieces),
      firstPieces: this.#v1.firsts,
    };
  }

  /** How the files of the new torrent differ from those of the old one. */
  async changes(updated: Torrent): Promise<Pick<UpdateResult, 'added' | 'changed' | 'removed' | 'renamed'>> {
    const [old, now] = [this.#content, contentOf(updated)];
    const matches = await matchPaths(now.paths, old.paths);
    const isKept = new Uint8Array(old.lengths.length);
    for (let i = 0; i < matches.length; i += 1) isKept[matches[i] as number] = 1;
    const gone = indexesWhere(isKept.length, (index) => isKept[index] === 0);
    const fresh = indexesWhere(matches.length, (index) => matches[index] === NO_PATH);
    const renamed = renamedFiles({ content: old, indexes: gone }, { content: now, indexes: fresh });
    const [from, to] = [new Set(renamed.map((file) => file.from)), new Set(renamed.map((file) => file.to))];
    const links = storedLinks(updated);
    const hasOtherLink = (path: string) => this.links.get(path) !== links.get(path);
    const hasLinks = this.links.size + links.size > 0;
    const isChanged = (index: number) => {
      const before = matches[index] as number;
      if (before === NO_PATH) return false;
      if (hasLinks && hasOtherLink(now.pathAt(index))) return true;
      return now.lengths[index] !== old.lengths[before] || !isSameRoot(now, index, old, before);
    };
    return {
      added: fresh.map((index) => now.pathAt(index)).filter((path) => !to.has(path)),
      changed: indexesWhere(matches.length, isChanged).map((index) => now.pathAt(index)),
      removed: gone.map((index) => old.pathAt(index)).filter((path) => !from.has(path)),
      renamed,
    };
  }

  /** Compares mtime and ctime: programs set the mtime back, and moving an older file here changes only the ctime. */
  #isUnchanged(old: number, files: SizedLayout['files'], index: number): boolean {
    const { lengths, mtimes, ctimes } = files.columns;
    if (this.#content.lengths[old] !== lengths[index]) return false;
    const [mtime, ctime] = [mtimes[index] as number, ctimes[index] as number];
    if (this.#times) return this.#times.mtimeMs[old] === mtime && this.#times.ctimeMs[old] === ctime;
    return Math.max(mtime, ctime) < this.#since;
  }

  /** Whether the old torrent has the digests of a file as a layout needs them. */
  #hasDigests(index: number, { version, pieceLength }: SizedLayout, isPadded: boolean): boolean {
    const length = this.#content.lengths[index] as number;
    const { pieceLength: oldPieceLength } = this.#torrent.info;
    const hasTree = length <= pieceLength || (oldPieceLength <= pieceLength && this.#layerOf(index) !== undefined);
    if (version === 'v2' || !hasTree) return hasTree;
    const hasSamePadding = length % pieceLength === 0 || (this.#v1.arePadded[index] === 1) === isPadded;
    return oldPieceLength === pieceLength && (this.#v1.firsts[index] as number) >= 0 && hasSamePadding;
  }

  #layerOf(index: number): Uint8Array | undefined {
    return viewOfLayer(this.#torrent, rootAt(this.#content, index));
  }
}

function indexesWhere(count: number, isChosen: (index: number) => boolean): number[] {
  const indexes: number[] = [];
  for (let i = 0; i < count; i += 1) if (isChosen(i)) indexes.push(i);
  return indexes;
}

function isSameRoot(one: TorrentContent, index: number, other: TorrentContent, otherIndex: number): boolean {
  const [roots, others] = [one.roots as Uint8Array, other.roots as Uint8Array];
  for (let k = 0; k < 32; k += 1) if (roots[index * 32 + k] !== others[otherIndex * 32 + k]) return false;
  return true;
}

/** Some files of a torrent. */
interface SomeFiles {
  content: TorrentContent;
  indexes: readonly number[];
}

/** Pairs each new file with a removed file of the same content. */
function renamedFiles(removed: SomeFiles, added: SomeFiles): UpdateResult['renamed'] {
  const byRoot = new Map<string, string[]>();
  const hasRoot =
    ({ content }: SomeFiles) =>
    (index: number) =>
      (content.lengths[index] as number) > 0;
  for (const index of removed.indexes.filter(hasRoot(removed))) {
    const root = toHex(rootAt(removed.content, index));
    const paths = byRoot.get(root) ?? [];
    paths.push(removed.content.pathAt(index));
    byRoot.set(root, paths);
  }
  return added.indexes.filter(hasRoot(added)).flatMap((index) => {
    const from = byRoot.get(toHex(rootAt(added.content, index)))?.shift();
    return from ? [{ from, to: added.content.pathAt(index) }] : [];
  });
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
  return concatBytes([roots.subarray(0, -32), last]);
}

/** Finds the v1 pieces of each file of a hybrid whose files start at piece boundaries. */
function v1PiecesOf(torrent: Torrent): V1Pieces {
  const { lengths: all, entries } = contentOf(torrent);
  const { pieceLength } = torrent.info;
  const found = { firsts: new Int32Array(all.length).fill(-1), arePadded: new Uint8Array(all.length), tailPad: true };
  if (torrent.torrentVersion !== 'hybrid' || !entries || !isAligned(v1PieceLayout(torrent))) return found;
  const { lengths, files } = entries;
  const total = sumOf(lengths);
  let [start, end] = [0, 0];
  let hasPadAfterEmptyFile = false;
  for (let i = 0; i < lengths.length; i += 1) {
    const [length, file] = [lengths[i] as number, files[i] as number];
    if (file === PAD) hasPadAfterEmptyFile ||= files[i - 1] === EMPTY;
    else {
      end = start + length;
      // Only pad files and empty files follow in the last piece. At the end of the torrent they may leave it unfilled: the
      // digests of such a piece cannot be used.
      const isPadded = total >= Math.ceil(end / pieceLength) * pieceLength;
      if (file !== EMPTY && (isPadded || end === total)) {
        found.firsts[file] = start / pieceLength;
        found.arePadded[file] = isPadded ? 1 : 0;
      }
    }
    start += length;
  }
  for (let i = 0; i < all.length; i += 1) if (all[i] === 0) found.firsts[i] = 0;
  // A torrent of one file has no pad file either way. If the last piece is full, the place of pad files among empty files
  // tells whether one was wanted (see `withPads`).
  found.tailPad = all.length === 1 || (end % pieceLength === 0 ? !hasPadAfterEmptyFile : total > end);
  return found;
}
