/** The digests of single files: split from the digests of a request, or joined from those of a file's segments. */
import { invalidArgument } from '../errors/guard.ts';
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

/** Packs the digests of files. */
export function packDigests(each: readonly FileDigests[], version: HashRequest['version']): Digests {
  const roots = new Uint8Array(each.length * 32);
  for (const [i, { root }] of each.entries()) if (root) roots.set(root, i * 32);
  return {
    ...(version !== 'v2' && { v1: concatBytes(each.map(({ pieces }) => pieces)) }),
    ...(version !== 'v1' && { v2: { roots, layers: concatBytes(each.map(({ layer }) => layer)) } }),
    missing: [],
  };
}

/** Splits the digests of files, as {@link DigestTable} takes them, by file. */
export function splitDigests(lengths: ArrayLike<number>, digests: Digests, format: Format): FileDigests[] {
  const table = new DigestTable(lengths, format, digests);
  return Array.from(lengths, (_, index) => table.at(index));
}

type Format = Pick<HashRequest, 'version' | 'pieceLength'>;
const NOTHING = new Uint8Array();

/** Packed digests of files that start at piece boundaries. The table says which of them are not known yet. */
export class DigestTable {
  /** Bytes of each file. */
  readonly lengths: ArrayLike<number>;
  /** The digests; those of files that are not known are zeros. */
  readonly packed: Digests;
  readonly #format: Format;
  readonly #isKnown: Uint8Array;
  /** The index of the first piece of each file, and that after the last one. */
  readonly #pieces: Uint32Array;
  /** The same among the hashes of piece layers. */
  readonly #layers: Uint32Array;

  /** @param lengths Bytes of each file; none is a pad file. @param packed The digests of all files, if they are known. */
  constructor(lengths: ArrayLike<number>, format: Format, packed?: Digests) {
    const { version, pieceLength } = format;
    const { length: count } = lengths;
    this.lengths = lengths;
    this.#format = format;
    this.#isKnown = new Uint8Array(count).fill(packed ? 1 : 0);
    this.#pieces = new Uint32Array(count + 1);
    this.#layers = new Uint32Array(count + 1);
    let [pieces, layers] = [0, 0];
    for (let i = 0; i < count; i += 1) {
      const own = Math.ceil((lengths[i] as number) / pieceLength);
      pieces += own;
      if (own > 1) layers += own;
      this.#pieces[i + 1] = pieces;
      this.#layers[i + 1] = layers;
    }
    this.packed = packed ?? {
      ...(version !== 'v2' && { v1: new Uint8Array(pieces * 20) }),
      ...(version !== 'v1' && { v2: { roots: new Uint8Array(count * 32), layers: new Uint8Array(layers * 32) } }),
      missing: [],
    };
  }

  has(index: number): boolean {
    return this.#isKnown[index] === 1;
  }

  /** The digests of a file, as views. */
  at(index: number): FileDigests {
    const { v1, v2 } = this.packed;
    const [first, end] = [this.#pieces[index] as number, this.#pieces[index + 1] as number];
    const [layer, layerEnd] = [this.#layers[index] as number, this.#layers[index + 1] as number];
    return {
      pieces: v1?.subarray(first * 20, end * 20) ?? NOTHING,
      root: v2 && end > first ? v2.roots.subarray(index * 32, (index + 1) * 32) : null,
      layer: v2 && layerEnd > layer ? v2.layers.subarray(layer * 32, layerEnd * 32) : NOTHING,
    };
  }

  /** Adds the digests of a file. */
  set(index: number, { pieces, root, layer }: FileDigests): void {
    const { v1, v2 } = this.packed;
    this.#isKnown[index] = 1;
    v1?.set(pieces, (this.#pieces[index] as number) * 20);
    if (root) v2?.roots.set(root, index * 32);
    if (layer.length > 0) v2?.layers.set(layer, (this.#layers[index] as number) * 32);
  }

  /** The indexes of the files whose digests are not known. */
  unknown(): Uint32Array {
    const indexes = new Uint32Array(this.#isKnown.length);
    let count = 0;
    for (let i = 0; i < indexes.length; i += 1) if (this.#isKnown[i] === 0) indexes[count++] = i;
    return indexes.subarray(0, count);
  }

  /** Adds packed digests of some files. Throws `ERR_INVALID_ARGUMENT` if an engine of the caller gave too few or too many. */
  add(indexes: Uint32Array, digests: Digests): void {
    const { v1, v2 } = this.packed;
    const lengths = Float64Array.from(indexes, (index) => this.lengths[index] as number);
    const some = new DigestTable(lengths, this.#format, digests);
    const [pieces, layers] = [some.#pieces, some.#layers].map((column) => column.at(-1) as number) as [number, number];
    const has = (bytes: Uint8Array | undefined, size: number) => bytes?.length === size;
    const hasTrees = () => has(digests.v2?.roots, indexes.length * 32) && has(digests.v2?.layers, layers * 32);
    if ((v1 && !has(digests.v1, pieces * 20)) || (v2 && !hasTrees()))
      throw invalidArgument('The engine gave digests of another size than the files have');
    for (let i = 0; i < indexes.length; i += 1) this.set(indexes[i] as number, some.at(i));
  }
}

/** How {@link joinTrees} reads its segments, in bytes. */
interface SegmentShape {
  pieceLength: number;
  /** The size of every segment but the last: a power of two. */
  segmentSize: number;
}

/** Joins the v2 digests of a file's segments to those of the file (BEP 52). @param sizes The bytes of each segment. */
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
