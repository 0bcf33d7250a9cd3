/** Sealed parts: the digests of a part of a plan in a form that shows whether they are whole, and to which plan they belong. */
import { createHash, timingSafeEqual } from 'node:crypto';
import { isUint8Array } from 'node:util/types';
import { shown } from '../errors/errors.ts';
import { PartError } from '../errors/part-error.ts';

//   magic (8 bytes), id of the plan (32), index of the part (u64), length of the payload (u64), payload, SHA-256 of all that (32)
//   payload: the v1 pieces of the part, 20 bytes each; then 32 bytes for each v2 piece of a file longer than a piece, and the
//   pieces root of each shorter file, in the order of the files

const MAGIC = Buffer.from('\x89mipart\n', 'latin1');
const AT = { id: 8, index: 40, length: 48, payload: 56 };
const CHECKSUM_BYTES = 32;

/** A part of a plan. */
export interface PartPlace {
  /** The id of the plan, in hexadecimal. */
  id: string;
  /** The index of the part in the plan. */
  index: number;
}

/** Bytes of a sealed part beside its payload. */
export const SEAL_BYTES = AT.payload + CHECKSUM_BYTES;

/** Seals the payload of a part. */
export function seal({ id, index }: PartPlace, payload: Uint8Array): Uint8Array {
  const sealed = Buffer.allocUnsafeSlow(payload.length + SEAL_BYTES);
  MAGIC.copy(sealed);
  sealed.write(id, AT.id, 'hex');
  sealed.writeBigUInt64LE(BigInt(index), AT.index);
  sealed.writeBigUInt64LE(BigInt(payload.length), AT.length);
  sealed.set(payload, AT.payload);
  sealed.set(checksum(sealed), sealed.length - CHECKSUM_BYTES);
  return sealed;
}

/**
 * The payload of a sealed part: a view.
 *
 * @param length The bytes that the payload of this part has.
 * @throws {PartError} `ERR_PART`
 */
export function unsealed(bytes: Uint8Array, { id, index, length }: PartPlace & { length: number }): Uint8Array {
  const isBytes = isUint8Array(bytes);
  const problem = isBytes
    ? problemOf(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length), { id, index, length })
    : `is ${shown(bytes)} instead of bytes`;
  if (problem === null) return bytes.subarray(AT.payload, bytes.length - CHECKSUM_BYTES);
  throw new PartError('ERR_PART', `Part ${index} ${problem}: delete it and hash the part again.`, [index]);
}

function problemOf(bytes: Buffer, { id, index, length }: PartPlace & { length: number }): string | null {
  if (bytes.length < SEAL_BYTES || !bytes.subarray(0, MAGIC.length).equals(MAGIC)) return 'is not a sealed part';
  if (!timingSafeEqual(checksum(bytes), bytes.subarray(-CHECKSUM_BYTES))) return 'is damaged';
  const found = bytes.toString('hex', AT.id, AT.index);
  if (found !== id) return `belongs to the plan ${found}, not to ${id}`;
  const at = bytes.readBigUInt64LE(AT.index);
  if (at !== BigInt(index)) return `holds part ${at}`;
  const payload = bytes.readBigUInt64LE(AT.length);
  if (payload === BigInt(length) && bytes.length === length + SEAL_BYTES) return null;
  return `has ${bytes.length - SEAL_BYTES} bytes of digests instead of ${length}`;
}

function checksum(bytes: Buffer): Buffer {
  return createHash('sha256')
    .update(bytes.subarray(0, bytes.length - CHECKSUM_BYTES))
    .digest();
}
