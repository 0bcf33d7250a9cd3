import { layerRoots, merkleRoot, zeroRoot } from '../digest/merkle.ts';
import { MetainfoError, shown } from '../errors.ts';
import { BLOCK_SIZE, checkPieceLength, isPowerOfTwo } from '../layout/piece-length.ts';
import { HashList } from '../model/hash-list.ts';

/** How large the v2 Merkle tree of a file is (BEP 52): what follows from its size and the piece length. */
export class MerkleTreeShape {
  /** Bytes. */
  readonly fileSize: number;
  /** Bytes. */
  readonly pieceLength: number;

  /** @throws {MetainfoError} `ERR_INVALID_ARGUMENT`, `ERR_PIECE_LENGTH` */
  constructor({ fileSize, pieceLength }: { fileSize: number; pieceLength: number }) {
    if (!(Number.isSafeInteger(fileSize) && fileSize >= 0))
      throw new MetainfoError('ERR_INVALID_ARGUMENT', `fileSize must be a size from 0, not ${shown(fileSize)}.`);
    checkPieceLength(pieceLength, 'v2');
    this.fileSize = fileSize;
    this.pieceLength = pieceLength;
  }

  /** Blocks of 16 KiB with content: the leaves that are not padding. */
  get nBlocks(): number {
    return Math.ceil(this.fileSize / BLOCK_SIZE);
  }

  /** Leaves of a whole piece: a power of two. */
  get nBlocksPerPiece(): number {
    return this.pieceLength / BLOCK_SIZE;
  }

  /** Hashes in the layer of pieces; 0 for a file that is no longer than a piece, which has no such layer. */
  get nPieces(): number {
    return this.fileSize > this.pieceLength ? Math.ceil(this.fileSize / this.pieceLength) : 0;
  }

  /** Blocks of zeros that complete the last piece, or the tree of a file without a layer. */
  get nPadBlocks(): number {
    if (this.nBlocks === 0) return 0;
    return (this.nPieces > 0 ? this.nPieces * this.nBlocksPerPiece : ceilPowerOfTwo(this.nBlocks)) - this.nBlocks;
  }

  /** Pieces of zeros that complete the layer to a power of two. */
  get nPadPieces(): number {
    return this.nPieces > 0 ? ceilPowerOfTwo(this.nPieces) - this.nPieces : 0;
  }
}

/** The v2 Merkle tree of a file (BEP 52). */
export class MerkleTree {
  /** The file, from the torrent's root. */
  readonly path: string;
  /** Its size, and what follows from it. */
  readonly shape: MerkleTreeShape;
  /** SHA-256 of each block with content, in order. */
  readonly leafHashes: HashList;
  /** The layer of pieces; null for a file that is no longer than a piece. */
  readonly pieceHashes: HashList | null;
  /** 32 bytes; null for an empty file. */
  readonly rootHash: Uint8Array | null;

  /**
   * @param leafHashes SHA-256 of each block, 32 bytes each.
   * @throws {MetainfoError} `ERR_INVALID_ARGUMENT` unless there is a leaf for every block of the shape
   */
  constructor(path: string, leafHashes: HashList | Uint8Array | readonly Uint8Array[], shape: MerkleTreeShape) {
    this.path = path;
    this.shape = shape;
    this.leafHashes = listOf(leafHashes);
    requireCount(this.leafHashes.length, shape.nBlocks, 'leaf hashes');
    this.pieceHashes = hashPieces(this.leafHashes, shape);
    this.rootHash = shape.nBlocks === 0 ? null : getRootHash(this.pieceHashes ?? this.leafHashes, shape);
  }
}

/** See `V2Hasher.hashRoot`. */
export function hashRoot(hashes: Iterable<Uint8Array>): Uint8Array {
  const list = listOf(hashes);
  if (!isPowerOfTwo(list.length))
    throw new MetainfoError('ERR_INVALID_ARGUMENT', `hashes must be a power of two in number, not ${list.length}.`);
  return layerRoots([list.bytes], 1);
}

/** See `V2Hasher.getRootHash`. */
export function getRootHash(hashes: Iterable<Uint8Array>, shape: MerkleTreeShape): Uint8Array {
  const list = listOf(hashes);
  if (shape.nBlocks === 0) throw new MetainfoError('ERR_INVALID_ARGUMENT', 'An empty file has no root (BEP 52).');
  requireCount(list.length, shape.nPieces || shape.nBlocks, shape.nPieces ? 'piece hashes' : 'leaf hashes');
  return layerRoots([list.bytes], shape.nPieces ? shape.nBlocksPerPiece : 1);
}

/** See `V2Hasher.hashPieces`. */
export function hashPieces(hashes: Iterable<Uint8Array>, shape: MerkleTreeShape): HashList | null {
  const list = listOf(hashes);
  requireCount(list.length, shape.nBlocks, 'leaf hashes');
  const { nPieces, nBlocksPerPiece } = shape;
  if (nPieces === 0) return null;
  const layers = Array.from({ length: nPieces }, (_, i) => list.slice(i * nBlocksPerPiece, (i + 1) * nBlocksPerPiece));
  const last = layers.at(-1) as HashList;
  if (last.length === nBlocksPerPiece)
    return new HashList(
      layerRoots(
        layers.map(({ bytes }) => bytes),
        1,
      ),
      32,
    );
  // Alone it would be as high as it must be, not as high as a piece.
  const whole = layers.slice(0, -1).map(({ bytes }) => bytes);
  const end = merkleRoot([...last], zeroRoot(1), nBlocksPerPiece);
  return new HashList(Buffer.concat([...(whole.length > 0 ? [layerRoots(whole, 1)] : []), end]), 32);
}

/** @throws {MetainfoError} `ERR_INVALID_ARGUMENT` for hashes that are not 32 bytes each */
function listOf(hashes: Iterable<Uint8Array> | Uint8Array): HashList {
  if (!(hashes instanceof HashList)) return new HashList(hashes instanceof Uint8Array ? hashes : [...hashes], 32);
  if (hashes.hashSize === 32) return hashes;
  throw new MetainfoError('ERR_INVALID_ARGUMENT', `Expected hashes of 32 bytes, not of ${hashes.hashSize}.`);
}

function requireCount(count: number, expected: number, what: string): void {
  if (count === expected) return;
  throw new MetainfoError('ERR_INVALID_ARGUMENT', `The shape has ${expected} ${what}, not ${count}.`);
}

function ceilPowerOfTwo(count: number): number {
  return 2 ** Math.ceil(Math.log2(count));
}
