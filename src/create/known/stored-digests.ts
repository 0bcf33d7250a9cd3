/** The digests that a torrent has of its files, for another torrent that holds the same files. */
import type { FileDigests } from '../../hash/file-digests.ts';
import { layerRoots, raisedRoot } from '../../hash/merkle.ts';
import { sumOf } from '../../layout/file-table.ts';
import { BLOCK_SIZE } from '../../layout/piece-length.ts';
import { HashList } from '../../model/hash-list.ts';
import type { InfoDictV1 } from '../../model/info-dict.ts';
import { contentOf, EMPTY, PAD, rootAt, type TorrentContent } from '../../model/lazy/content.ts';
import { viewOfLayer } from '../../model/piece-layers.ts';
import type { Torrent } from '../../model/torrent/torrent.ts';
import { concatBytes } from '../../platform/node.ts';
import type { SizedLayout } from '../torrent-layout.ts';

const NOTHING = new Uint8Array();

/** The v1 pieces of files that begin with a piece. */
interface V1Pieces {
  /** The index of the first piece of each file; -1 where the pieces hold bytes of other files too. */
  firsts: Int32Array;
  /** Whether a pad file fills the last piece of each file: 1 if so. */
  arePadded: Uint8Array;
  /** Whether the torrent ends with a pad file, if it has any. */
  tailPad: boolean;
}

/** The digests of the files of a torrent, by file. */
export class StoredDigests {
  readonly content: TorrentContent;
  readonly v1: V1Pieces;
  /** The hashes of all v1 pieces; empty in v2. */
  readonly pieces: Uint8Array;
  readonly #torrent: Torrent;

  constructor(torrent: Torrent) {
    this.#torrent = torrent;
    this.content = contentOf(torrent);
    this.v1 = v1PiecesOf(torrent);
    const { pieces } = torrent.info as Partial<InfoDictV1>;
    this.pieces = pieces ? HashList.viewOf(pieces) : NOTHING;
  }

  /** Whether the torrent has the digests of a file for a layout. @param isPadded Whether a pad file fills its last piece there. */
  has(index: number, { version, pieceLength }: SizedLayout, isPadded: boolean): boolean {
    const length = this.content.lengths[index] as number;
    const { pieceLength: ownLength } = this.#torrent.info;
    const hasLayer = () =>
      ownLength <= pieceLength &&
      viewOfLayer(this.#torrent, rootAt(this.content, index))?.length === Math.ceil(length / ownLength) * 32;
    const hasTree = version === 'v1' || (this.content.roots !== null && (length <= pieceLength || hasLayer()));
    if (version === 'v2' || !hasTree) return hasTree;
    const hasSamePadding = length % pieceLength === 0 || (this.v1.arePadded[index] === 1) === isPadded;
    return ownLength === pieceLength && (this.v1.firsts[index] as number) >= 0 && hasSamePadding;
  }

  /** The digests of a file that the torrent {@link has}: views of the torrent. */
  at(index: number, { version, pieceLength }: SizedLayout): FileDigests {
    const length = this.content.lengths[index] as number;
    const [first, count] = [this.v1.firsts[index] as number, Math.ceil(length / pieceLength)];
    const root = version === 'v1' ? null : rootAt(this.content, index);
    return {
      pieces: version === 'v2' ? NOTHING : this.pieces.subarray(first * 20, (first + count) * 20),
      root,
      layer: root && length > pieceLength ? this.#layerOf(root, pieceLength) : NOTHING,
    };
  }

  /** The piece layer below a root, for pieces of this length. */
  #layerOf(root: Uint8Array, pieceLength: number): Uint8Array {
    const layer = viewOfLayer(this.#torrent, root) as Uint8Array;
    const { pieceLength: ownLength } = this.#torrent.info;
    return ownLength === pieceLength ? layer : raisedLayer(layer, ownLength, pieceLength);
  }
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

/** Finds the v1 pieces of each file, if all files with content start at piece boundaries. */
function v1PiecesOf(torrent: Torrent): V1Pieces {
  const { lengths: all, entries } = contentOf(torrent);
  const { pieceLength } = torrent.info;
  const found = { firsts: new Int32Array(all.length).fill(-1), arePadded: new Uint8Array(all.length), tailPad: true };
  if (!entries) return found;
  const { lengths, files } = entries;
  const total = sumOf(lengths);
  let [start, end] = [0, 0];
  let hasPadAfterEmptyFile = false;
  for (let i = 0; i < lengths.length; i += 1) {
    const [length, file] = [lengths[i] as number, files[i] as number];
    if (file === PAD) hasPadAfterEmptyFile ||= files[i - 1] === EMPTY;
    else {
      if (length > 0 && start % pieceLength !== 0) return { ...found, firsts: found.firsts.fill(-1), tailPad: true };
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
