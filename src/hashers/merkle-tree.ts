/** Merkle trees of files, and their shapes (BEP 52). */
import {
  bytesOrNull,
  checkArgument,
  checkOptions,
  expected,
  Given,
  invalidArgument,
  iterable,
  type OptionStructs,
  readSafely,
  Size,
  Text,
  Unchecked,
} from '../errors/guard.ts';
import { layerRoots, zeroRoot } from '../hash/merkle.ts';
import { BLOCK_SIZE, checkPieceLength, isPowerOfTwo } from '../layout/piece-length.ts';
import { HashList } from '../model/hash-list.ts';
import { compareBytes, concatBytes, copyOf } from '../platform/node.ts';

const SIZES: OptionStructs<{ fileSize: number; pieceLength: number }> = {
  fileSize: Unchecked,
  pieceLength: Unchecked,
};
const SIZES_EXAMPLE = '{ fileSize: 100000, pieceLength: 16384 }';

/**
 * The shape of a file's v2 Merkle tree (BEP 52). It follows from the size and the piece length.
 *
 * @example
 * ```ts
 * import { MerkleTreeShape } from 'metainfo';
 *
 * const shape = new MerkleTreeShape({ fileSize: 3_000_000, pieceLength: 2 ** 20 });
 * console.log(shape.nBlocks, shape.nPieces, shape.nPadPieces);
 * ```
 * ```text
 * 184 3 1
 * ```
 */
export class MerkleTreeShape {
  /** Size of the file in bytes. */
  readonly fileSize: number;
  /** Piece length in bytes. */
  readonly pieceLength: number;

  /** @throws {MetainfoError} `ERR_INVALID_ARGUMENT`, `ERR_PIECE_LENGTH` */
  constructor(sizes: { fileSize: number; pieceLength: number }) {
    const given = checkOptions(checkArgument('sizes', sizes, Given), SIZES, { name: 'sizes', example: SIZES_EXAMPLE });
    this.fileSize = checkArgument('fileSize', given.fileSize, Size);
    this.pieceLength = checkPieceLength(given.pieceLength, 'v2');
  }

  /** Blocks of 16 KiB with content: the leaves without padding. */
  get nBlocks(): number {
    return Math.ceil(this.fileSize / BLOCK_SIZE);
  }

  /** Blocks of a full piece: a power of two. */
  get nBlocksPerPiece(): number {
    return this.pieceLength / BLOCK_SIZE;
  }

  /** Hashes in the piece layer; 0 for a file that is not longer than a piece, which has no piece layer. */
  get nPieces(): number {
    return this.fileSize > this.pieceLength ? Math.ceil(this.fileSize / this.pieceLength) : 0;
  }

  /** Blocks of zeros that fill the last piece, or the tree of a file without a piece layer. */
  get nPadBlocks(): number {
    if (this.nBlocks === 0) return 0;
    return (this.nPieces > 0 ? this.nPieces * this.nBlocksPerPiece : ceilPowerOfTwo(this.nBlocks)) - this.nBlocks;
  }

  /** Pieces of zeros that fill the piece layer to a power of two. */
  get nPadPieces(): number {
    return this.nPieces > 0 ? ceilPowerOfTwo(this.nPieces) - this.nPieces : 0;
  }
}

const Shape = expected<MerkleTreeShape>('a MerkleTreeShape', (value) => value instanceof MerkleTreeShape);

/**
 * The v2 Merkle tree of a file (BEP 52).
 *
 * @example
 * ```ts
 * import { createHash } from 'node:crypto';
 * import { MerkleTree, MerkleTreeShape } from 'metainfo';
 *
 * const block = Buffer.from('less than 16 KiB');
 * const shape = new MerkleTreeShape({ fileSize: block.length, pieceLength: 2 ** 14 });
 * const { rootHash } = new MerkleTree('a.txt', [createHash('sha256').update(block).digest()], shape);
 * console.log(rootHash?.length);
 * ```
 *
 * ```text
 * 32
 * ```
 */
export class MerkleTree {
  /** The path of the file in the torrent. */
  readonly path: string;
  /** The shape of the tree. */
  readonly shape: MerkleTreeShape;
  /** The SHA-256 of each block with content, in order. */
  readonly leafHashes: HashList;
  /** The piece layer; null for a file that is not longer than a piece. */
  readonly pieceHashes: HashList | null;
  readonly #rootHash: Uint8Array | null;

  /**
   * @param path The path of the file in the torrent.
   * @param leafHashes The SHA-256 of each block, 32 bytes each.
   * @param shape The shape that follows from the size of the file.
   * @throws {MetainfoError} `ERR_INVALID_ARGUMENT` if the number of leaves does not match the shape
   */
  constructor(path: string, leafHashes: HashList | Uint8Array | readonly Uint8Array[], shape: MerkleTreeShape) {
    this.path = checkArgument('path', path, Text);
    this.shape = checkArgument('shape', shape, Shape);
    this.leafHashes = leavesOf(listOf('leafHashes', leafHashes), shape);
    this.pieceHashes = hashPieces(this.leafHashes, shape);
    this.#rootHash = shape.nBlocks === 0 ? null : getRootHash(this.pieceHashes ?? this.leafHashes, shape);
  }

  /** A copy of the pieces root, 32 bytes; null for an empty file. */
  get rootHash(): Uint8Array | null {
    return this.#rootHash && copyOf(this.#rootHash);
  }
}

/** Computes the root over a full layer: see `V2Hasher.hashRoot`. */
export function hashRoot(hashes: Iterable<Uint8Array>): Uint8Array {
  const list = listOf('hashes', hashes);
  if (!isPowerOfTwo(list.length))
    throw invalidArgument(`The number of hashes must be a power of two, not ${list.length}`);
  return layerRoots([HashList.viewOf(list)], 1);
}

/** Computes the pieces root: see `V2Hasher.getRootHash`. */
export function getRootHash(hashes: Iterable<Uint8Array>, shape: MerkleTreeShape): Uint8Array {
  checkArgument('shape', shape, Shape);
  const given = listOf('hashes', hashes);
  if (shape.nBlocks === 0) throw invalidArgument('An empty file has no root (BEP 52)');
  const { nPieces, nBlocksPerPiece } = shape;
  const list =
    nPieces === 0 ? leavesOf(given, shape) : unpadded(given, nPieces, 'piece hashes', () => zeroRoot(nBlocksPerPiece));
  return layerRoots([HashList.viewOf(list)], shape.nPieces ? shape.nBlocksPerPiece : 1);
}

/** Computes the piece layer: see `V2Hasher.hashPieces`. */
export function hashPieces(hashes: Iterable<Uint8Array>, shape: MerkleTreeShape): HashList | null {
  checkArgument('shape', shape, Shape);
  const list = leavesOf(listOf('hashes', hashes), shape);
  const { nPieces, nBlocksPerPiece } = shape;
  if (nPieces === 0) return null;
  const pieceBytes = nBlocksPerPiece * 32;
  // The zeros after the last leaf are the hashes of zero blocks, which fill the last piece.
  const leaves = concatBytes([HashList.viewOf(list)], nPieces * pieceBytes);
  const pieces = Array.from({ length: nPieces }, (_, i) => leaves.subarray(i * pieceBytes, (i + 1) * pieceBytes));
  return new HashList(layerRoots(pieces, 1), 32);
}

/** @throws {MetainfoError} `ERR_INVALID_ARGUMENT` for hashes that are not 32 bytes each */
function listOf(name: string, hashes: Iterable<Uint8Array> | Uint8Array): HashList {
  if (!(hashes instanceof HashList))
    return new HashList(bytesOrNull(hashes) ?? readSafely(name, () => [...checkArgument(name, hashes, Hashes)]), 32);
  if (hashes.hashSize === 32) return hashes;
  throw invalidArgument(`Expected hashes of 32 bytes, not of ${hashes.hashSize}`);
}

const Hashes = iterable<Uint8Array>('hashes, packed or one by one');

function leavesOf(list: HashList, { nBlocks }: MerkleTreeShape): HashList {
  return unpadded(list, nBlocks, 'leaf hashes', () => zeroRoot(1));
}

/** Removes the padding after the hashes, if any. Throws `ERR_INVALID_ARGUMENT` if their number does not match the shape. */
function unpadded(list: HashList, count: number, name: string, padding: () => Uint8Array): HashList {
  if (list.length === count) return list;
  const pad = list.length > count ? padding() : null;
  if (pad && [...list.slice(count)].every((hash) => compareBytes(hash, pad) === 0)) return list.slice(0, count);
  throw invalidArgument(
    `The shape has ${count} ${name}, not ${list.length}${pad ? ', and the surplus is not padding' : ''}`,
  );
}

function ceilPowerOfTwo(count: number): number {
  return 2 ** Math.ceil(Math.log2(count));
}
