import { MetainfoError, shown } from '../errors/errors.ts';
import { checkArgument, Size } from '../errors/guard.ts';

/** Bytes of a v2 block: the leaves of a file's Merkle tree (BEP 52). */
export const BLOCK_SIZE = 16384;

/** Bounds of {@link choosePieceLength}, in bytes. */
export const MIN_AUTO_PIECE_LENGTH = BLOCK_SIZE;
export const MAX_AUTO_PIECE_LENGTH = 16 * 2 ** 20;

const MOST_PIECES = 2000;

/** Beyond this a piece no longer fits the 32-bit offsets that clients exchange (BEP 3). */
export const MAX_PIECE_LENGTH = 2 ** 31;

/**
 * A piece length for that many bytes: the smallest power of two from 16 KiB to 16 MiB that gives at most 2,000 pieces,
 * so 1,000 to 2,000 of them from 16 MiB to 31 GiB. See docs/piece-length.md.
 */
export function choosePieceLength(totalSize: number): number {
  checkArgument('totalSize', totalSize, Size);
  let length = MIN_AUTO_PIECE_LENGTH;
  while (length < MAX_AUTO_PIECE_LENGTH && totalSize > length * MOST_PIECES) length *= 2;
  return length;
}

/** @throws {MetainfoError} `ERR_PIECE_LENGTH` */
export function checkPieceLength(pieceLength: unknown, version: 'v1' | 'v2' | 'hybrid'): number {
  const refuse = (expected: string) =>
    new MetainfoError(
      'ERR_PIECE_LENGTH',
      `A piece length for ${version} must be ${expected}, not ${shown(pieceLength)}.`,
    );
  if (!isPowerOfTwo(pieceLength)) throw refuse('a power of two');
  if (version !== 'v1' && pieceLength < BLOCK_SIZE) throw refuse(`at least 16 KiB (${BLOCK_SIZE})`);
  if (pieceLength > MAX_PIECE_LENGTH) throw refuse(`at most 2 GiB (${MAX_PIECE_LENGTH})`);
  return pieceLength;
}

export function isPowerOfTwo(value: unknown): value is number {
  // Math.log2 rounds near 2^49 and above, so the power is compared, not the logarithm.
  return (
    typeof value === 'number' && Number.isSafeInteger(value) && value > 0 && 2 ** Math.round(Math.log2(value)) === value
  );
}

/** The largest power of two that is no larger; 1 for less. */
export function powerOfTwoWithin(value: number): number {
  return 2 ** Math.floor(Math.log2(Math.max(1, value)));
}
