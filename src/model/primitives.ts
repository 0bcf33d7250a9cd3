import { array, boolean, define, instance, integer, nullable, optional, type Struct, string } from 'superstruct';
import { HashList, type HashSize } from './hash-list.ts';

/** Bytes of a v2 block: the leaves of a file's Merkle tree (BEP 52). */
export const BLOCK_SIZE = 16384;

/** A file's size in bytes: a safe integer from 0. */
export const ByteLength: Struct<number, null> = define(
  'byteLength',
  (value) =>
    (Number.isSafeInteger(value) && (value as number) >= 0) ||
    `Expected a whole number from 0 to 2^53 - 1, got ${shown(value)}`,
);

/** v1: a power of two (BEP 3 leaves it open, its creators do not). */
export const V1PieceLength: Struct<number, null> = define(
  'pieceLength',
  (value) => isPowerOfTwo(value) || `Expected a power of two, got ${shown(value)}`,
);

/** v2 and hybrid: a power of two of at least 16 KiB (BEP 52). */
export const V2PieceLength: Struct<number, null> = define(
  'pieceLength',
  (value) =>
    (isPowerOfTwo(value) && value >= BLOCK_SIZE) ||
    `Expected a power of two of at least ${BLOCK_SIZE}, got ${shown(value)}`,
);

/** Packed hashes of one size. */
export const hashList = (hashSize: HashSize): Struct<HashList, null> =>
  define('hashList', (value) => {
    if (!(value instanceof HashList)) return `Expected a HashList, got ${shown(value)}`;
    return value.hashSize === hashSize || `Expected hashes of ${hashSize} bytes, got ${value.hashSize}`;
  });

/** A value that may be absent or null. */
export const maybe = <T, S>(struct: Struct<T, S>) => optional(nullable(struct));

export const Text = string();
export const TextList = array(string());
export const Tiers = array(TextList);
/** A point in time; an invalid Date is refused. */
export const Timestamp: Struct<Date, null> = define(
  'date',
  (value) => (value instanceof Date && !Number.isNaN(value.getTime())) || `Expected a valid Date, got ${shown(value)}`,
);
/** Keys that the models do not know, as they were read: latin1 keys, decoded bencode. */
export const Extra = instance(Map);

export function isPowerOfTwo(value: unknown): value is number {
  // Math.log2 rounds near 2^49 and above, so the power is compared, not the logarithm.
  return (
    typeof value === 'number' && Number.isSafeInteger(value) && value > 0 && 2 ** Math.round(Math.log2(value)) === value
  );
}

/** A value for a message, cut. */
export function shown(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (value instanceof Uint8Array) return `${value.length} bytes`;
  if (value instanceof Map) return 'a dictionary';
  if (Array.isArray(value)) return `a list of ${value.length}`;
  const text = typeof value === 'string' ? JSON.stringify(value) : String(value);
  return text.length > 80 ? `${text.slice(0, 77)}...` : text;
}

export const Whole = integer();
export const Flag = boolean();
