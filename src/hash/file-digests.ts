/** The digests of single files: split from the digests of a request, or joined from those of a file's segments. */
import { BLOCK_SIZE } from '../layout/piece-length.ts';
import { concatBytes } from '../platform/node.ts';
import type { Digests, HashRequest } from './engine.ts';
import { hashesIn, layerRoots, merkleRoot, raisedRoot, zeroRoot } from './merkle.ts';

/** The v2 digests of a file (BEP 52). */
export interface TreeDigests {
  /** The pieces root, 32 bytes; null for an empty file. */
  root: Uint8Array | null;
  /** The piece layer, 32 bytes per piece, packed; empty unless the file is longer than a piece. */
  layer: Uint8Array;
}

/** The digests of a file that starts at a piece boundary. */
export interface FileDigests extends TreeDigests {
  /** v1: 20 bytes per piece, packed. The last piece includes the pad file after the file, if there is one. */
  pieces: Uint8Array;
}

/** The v2 digests of several files, packed. */
export interface PackedTrees {
  /** The pieces root of each file, 32 bytes each; zeros for an empty file. */
  roots: Uint8Array;
  /** The piece layers of the files that are longer than a piece, in the order of the files. */
  layers: Uint8Array;
}

/** Packs the v2 digests of files. */
export function packTrees(trees: readonly TreeDigests[]): PackedTrees {
  const roots = new Uint8Array(trees.length * 32);
  for (const [i, { root }] of trees.entries()) if (root) roots.set(root, i * 32);
  return { roots, layers: concatBytes(trees.map(({ layer }) => layer)) };
}

/**
 * Splits the digests of files that start at piece boundaries by file: each gets views of them.
 *
 * @param lengths Bytes of each file. None is a pad file.
 */
export function splitDigests(
  lengths: ArrayLike<number>,
  { v1, v2 }: Digests,
  { version, pieceLength }: Pick<HashRequest, 'version' | 'pieceLength'>,
): FileDigests[] {
  let [piece, layer] = [0, 0];
  return Array.from(lengths, (length, index) => {
    const [firstPiece, firstLayer, root] = [piece, layer, index * 32];
    const count = Math.ceil(length / pieceLength);
    piece += version === 'v2' ? 0 : count * 20;
    layer += count > 1 ? count * 32 : 0;
    return {
      pieces: v1?.subarray(firstPiece, piece) ?? new Uint8Array(),
      root: v2 && length > 0 ? v2.roots.subarray(root, root + 32) : null,
      layer: v2?.layers.subarray(firstLayer, layer) ?? new Uint8Array(),
    };
  });
}

/** How {@link joinTrees} reads its segments, in bytes. */
interface SegmentShape {
  pieceLength: number;
  /** The size of every segment but the last: a power of two. */
  segmentSize: number;
}

/**
 * Joins the v2 digests of a file's segments to those of the file (BEP 52).
 *
 * @param sizes The bytes of each segment.
 */
export function joinTrees(
  segments: readonly TreeDigests[],
  sizes: readonly number[],
  { pieceLength, segmentSize }: SegmentShape,
): TreeDigests {
  const length = sizes.reduce((sum, size) => sum + size, 0);
  if (length === 0) return { root: null, layer: new Uint8Array() };
  // Each hash of a segment covers this many bytes: a piece, or the whole segment if that is shorter.
  const unit = Math.min(pieceLength, segmentSize);
  const hashes = segments.map(({ root, layer }, i) => {
    if (layer.length > 0) return layer;
    // The root of a short segment is too low in the tree, unless the segment is the whole file.
    const whole = root as Uint8Array;
    return length <= unit ? whole : raisedRoot(whole, blocksOf(sizes[i] as number), unit / BLOCK_SIZE);
  });
  const units = concatBytes(hashes);
  if (length <= unit) return { root: units, layer: new Uint8Array() };
  const each = hashesIn(units);
  const padding = zeroRoot(unit / BLOCK_SIZE);
  if (length <= pieceLength) return { root: merkleRoot(each, padding), layer: new Uint8Array() };
  const width = pieceLength / unit;
  const pieces: Uint8Array[] = [];
  for (let i = 0; i < each.length; i += width) pieces.push(merkleRoot(each.slice(i, i + width), padding, width));
  const layer = unit === pieceLength ? units : concatBytes(pieces);
  return { root: layerRoots([layer], pieceLength / BLOCK_SIZE), layer };
}

function blocksOf(bytes: number): number {
  return Math.ceil(bytes / BLOCK_SIZE);
}
