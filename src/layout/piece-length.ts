/** The rules for piece lengths, and the automatic choice of one. */
import { MetainfoError, shown } from '../errors/errors.ts';
import { checkArgument, Size } from '../errors/guard.ts';

/** The length of a block in bytes; each leaf of a Merkle tree is the hash of one (BEP 52). */
export const BLOCK_SIZE = 16384;

/** The shortest piece length that {@link choosePieceLength} chooses, in bytes. */
export const MIN_AUTO_PIECE_LENGTH = BLOCK_SIZE;
/** The longest piece length that {@link choosePieceLength} chooses, in bytes. */
export const MAX_AUTO_PIECE_LENGTH = 16 * 2 ** 20;

/** {@link choosePieceLength} doubles the piece length while there would be more pieces. */
const MAX_AUTO_PIECES = 2000;

/** The longest piece length in bytes. A longer piece does not fit the 32-bit offsets that clients exchange (BEP 3). */
export const MAX_PIECE_LENGTH = 2 ** 31;

/** The piece length for content of unknown size: the one that is chosen for 512 MiB to 1 GiB. */
export const UNKNOWN_PIECE_LENGTH = 2 ** 20;

/**
 * Chooses a piece length for content of `totalSize` bytes: the smallest power of two from 16 KiB to 16 MiB that gives at most 2,000
 * pieces. Content of 16 MiB to 31 GiB thus has 1,000 to 2,000 pieces. See docs/piece-length.md.
 *
 * @param totalSize The size of all files in bytes, without pad files.
 * @returns The piece length in bytes.
 * @throws {MetainfoError} `ERR_INVALID_ARGUMENT` when `totalSize` is not a whole number of at least 0
 *
 * @example
 * ```ts
 * import { choosePieceLength } from 'metainfo';
 *
 * console.log(choosePieceLength(2 ** 30)); // 1048576
 * ```
 */
export function choosePieceLength(totalSize: number): number {
  checkArgument('totalSize', totalSize, Size);
  let length = MIN_AUTO_PIECE_LENGTH;
  while (length < MAX_AUTO_PIECE_LENGTH && totalSize > length * MAX_AUTO_PIECES) length *= 2;
  return length;
}

/** @throws {MetainfoError} `ERR_PIECE_LENGTH` when the value is not a piece length of that version */
export function checkPieceLength(pieceLength: unknown, version: 'v1' | 'v2' | 'hybrid'): number {
  const lengthError = (expected: string) =>
    new MetainfoError(
      'ERR_PIECE_LENGTH',
      `A piece length for ${version} must be ${expected}, not ${shown(pieceLength)}.`,
    );
  if (!isPowerOfTwo(pieceLength)) throw lengthError('a power of two');
  if (version !== 'v1' && pieceLength < BLOCK_SIZE) throw lengthError(`at least 16 KiB (${BLOCK_SIZE})`);
  if (pieceLength > MAX_PIECE_LENGTH) throw lengthError(`at most 2 GiB (${MAX_PIECE_LENGTH})`);
  return pieceLength;
}

/** Whether a value is a power of two, from 1 to 2^52. */
export function isPowerOfTwo(value: unknown): value is number {
  // Math.log2 rounds near 2^49 and above, so compare the power, not the logarithm.
  return (
    typeof value === 'number' && Number.isSafeInteger(value) && value > 0 && 2 ** Math.round(Math.log2(value)) === value
  );
}

/** Returns the largest power of two that is at most `value`; 1 if `value` is below 1. */
export function powerOfTwoWithin(value: number): number {
  return 2 ** Math.floor(Math.log2(Math.max(1, value)));
}
