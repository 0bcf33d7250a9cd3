/** Incremental hashers of the node engine: v1 pieces and v2 Merkle trees with node:crypto. */
import { BLOCK_SIZE } from '../layout/piece-length.ts';
import { createHasher, type Hasher } from '../platform/node.ts';
import { hashesIn, merkleRoot, sha256, zeroRoot } from './merkle.ts';

const ZERO_HASH = new Uint8Array(32);

/** Hashes a file to its Merkle tree. It fills the piece layer piece by piece. */
export class TreeHasher {
  readonly #blocksPerPiece: number;
  readonly #layer: Uint8Array;
  #filled = 0;
  /** The leaves of the current piece. */
  #leaves: Uint8Array[] = [];

  /** @param layer Room for the piece layer of the file: empty unless the file is longer than a piece. */
  constructor(pieceLength: number, layer: Uint8Array) {
    this.#blocksPerPiece = pieceLength / BLOCK_SIZE;
    this.#layer = layer;
  }

  /** @param bytes Whole blocks; only the last block of the file may be shorter. */
  update(bytes: Uint8Array): void {
    for (let i = 0; i < bytes.length; i += BLOCK_SIZE) {
      this.#leaves.push(sha256(bytes.subarray(i, i + BLOCK_SIZE)));
      if (this.#leaves.length === this.#blocksPerPiece && this.#layer.length > 0) this.#endPiece();
    }
  }

  /** Returns the pieces root. */
  finish(): Uint8Array {
    if (this.#layer.length === 0) return merkleRoot(this.#leaves, ZERO_HASH);
    if (this.#leaves.length > 0) this.#endPiece();
    return merkleRoot(hashesIn(this.#layer), zeroRoot(this.#blocksPerPiece));
  }

  #endPiece(): void {
    this.#layer.set(merkleRoot(this.#leaves, ZERO_HASH, this.#blocksPerPiece), this.#filled);
    this.#filled += 32;
    this.#leaves = [];
  }
}

/** Hashes the content of a request to its v1 pieces: SHA-1 of every `pieceLength` bytes. */
export class PieceHasher {
  readonly #pieceLength: number;
  readonly #hashes: Uint8Array;
  #count = 0;
  #hash: Hasher = createHasher('sha1');
  #filled = 0;
  /** Whether content of the current piece is missing: then its hash stays zero. */
  #isIncomplete = false;

  constructor(pieceLength: number, totalLength: number) {
    this.#pieceLength = pieceLength;
    // A Buffer, as the addon gives.
    this.#hashes = Buffer.alloc(Math.ceil(totalLength / pieceLength) * 20);
  }

  update(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length; ) {
      const part = bytes.subarray(at, at + this.#pieceLength - this.#filled);
      this.#hash.update(part);
      at += part.length;
      this.#advance(part.length);
    }
  }

  /** Passes over bytes that are missing. */
  skip(length: number): void {
    for (let left = length; left > 0; ) {
      const part = Math.min(left, this.#pieceLength - this.#filled);
      this.#isIncomplete = true;
      left -= part;
      this.#advance(part);
    }
  }

  /** Returns the hashes of all pieces, packed. */
  finish(): Uint8Array {
    if (this.#filled > 0) this.#endPiece();
    return this.#hashes;
  }

  #advance(length: number): void {
    this.#filled += length;
    if (this.#filled === this.#pieceLength) this.#endPiece();
  }

  #endPiece(): void {
    if (!this.#isIncomplete) this.#hashes.set(this.#hash.digest(), this.#count * 20);
    this.#count += 1;
    this.#hash = createHasher('sha1');
    this.#filled = 0;
    this.#isIncomplete = false;
  }
}
