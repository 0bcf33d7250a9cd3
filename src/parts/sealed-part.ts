/** Sealed parts: the digests of a part of a plan in a form that shows whether they are whole, and to which plan they belong. */
import { createHash, timingSafeEqual } from 'node:crypto';
import { isUint8Array } from 'node:util/types';
import type { TorrentDigests } from '../create/hash-layout.ts';
import { MetainfoError, shown } from '../errors/errors.ts';
import { invalidArgument } from '../errors/guard.ts';
import { shareClass } from '../errors/shared.ts';
import { raisedRoot } from '../hash/merkle.ts';
import { BLOCK_SIZE } from '../layout/piece-length.ts';
import type { SplitPlan } from './plan.ts';
import { type PartRange, rangesOf } from './split-into-parts.ts';

//   magic (8 bytes), id of the plan (32), index of the part (u64), length of the payload (u64), payload, SHA-256 of all that (32)
//   payload: the v1 pieces of the part, 20 bytes each; then 32 bytes for each v2 piece of a file longer than a piece, and the
//   pieces root of each shorter file, in the order of the files

const MAGIC = Buffer.from('\x89mipart\n', 'latin1');
const AT = { id: 8, index: 40, length: 48, payload: 56 };
const CHECKSUM_BYTES = 32;

/** Parts of a plan are missing (`ERR_PART_MISSING`), or damaged, foreign or contradictory (`ERR_PART`). */
export class PartError extends MetainfoError {
  override readonly name = 'PartError';
  /** The indexes of all such parts, in order. */
  readonly indexes: readonly number[];

  /** Makes the error of some parts. */
  constructor(code: 'ERR_PART' | 'ERR_PART_MISSING', message: string, indexes: readonly number[]) {
    super(code, message);
    this.indexes = indexes;
  }
}
shareClass(PartError, 'PartError');

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

/** The payload of a sealed part, which has `length` bytes: a view. Throws `ERR_PART`. */
export function unsealed(bytes: Uint8Array, { id, index, length }: PartPlace & { length: number }): Uint8Array {
  const isBytes = isUint8Array(bytes);
  const problem = isBytes
    ? partProblem(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length), { id, index, length })
    : `is ${shown(bytes)} instead of bytes`;
  if (problem === null) return bytes.subarray(AT.payload, bytes.length - CHECKSUM_BYTES);
  throw new PartError('ERR_PART', `Part ${index} ${problem}: delete it and hash the part again.`, [index]);
}

function partProblem(bytes: Buffer, { id, index, length }: PartPlace & { length: number }): string | null {
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

/** @throws {MetainfoError} `ERR_INVALID_ARGUMENT` for anything but the index of a part */
export function requirePart({ parts }: SplitPlan, index: number): void {
  if (Number.isSafeInteger(index) && index >= 0 && index < parts.count) return;
  throw invalidArgument(`The plan has the parts 0 to ${parts.count - 1}: there is no part ${String(index)}`);
}

/** Bytes of the v1 pieces of a part. */
export function pieceBytes({ parts: { pieces } }: SplitPlan, index: number): number {
  return pieces ? ((pieces[index + 1] as number) - (pieces[index] as number)) * 20 : 0;
}

/** Bytes of the v2 hashes of a share of a file: one for each piece; the pieces root if the file is no longer than a piece. */
export function treeBytes({ version, pieceLength, files }: SplitPlan, { file, length }: PartRange): number {
  if (version === 'v1' || length === 0 || files.path[file] === null) return 0;
  return Math.ceil(length / pieceLength) * 32;
}

/** Whether a file has a piece layer, so that its parts hold piece hashes instead of its root. */
export function hasLayer({ version, lengths, pieceLength, files }: SplitPlan, file: number): boolean {
  return version !== 'v1' && (lengths[file] as number) > pieceLength && files.path[file] !== null;
}

/** Bytes of the payload of a sealed part. */
export function payloadBytes(plan: SplitPlan, index: number): number {
  let bytes = pieceBytes(plan, index);
  if (plan.version !== 'v1') for (const range of rangesOf(plan, index)) bytes += treeBytes(plan, range);
  return bytes;
}

/** The payload of a part from the digests of its shares of files. */
export function payloadOf(plan: SplitPlan, index: number, digests: TorrentDigests): Uint8Array {
  const { version, pieceLength } = plan;
  const payload = Buffer.alloc(payloadBytes(plan, index));
  let at = pieceBytes(plan, index);
  if (version !== 'v2') payload.set(digests.v1 as Uint8Array);
  if (version === 'v1') return payload;
  const { roots, layers } = digests.v2 as NonNullable<TorrentDigests['v2']>;
  let layer = 0;
  for (const [i, range] of [...rangesOf(plan, index)].entries()) {
    const bytes = treeBytes(plan, range);
    if (range.length > pieceLength) {
      payload.set(layers.subarray(layer, layer + bytes), at);
      layer += bytes;
    } else if (bytes > 0) {
      const root = roots.subarray(i * 32, (i + 1) * 32);
      // The only piece of the share: the tree over it is as wide as those of the other pieces of its file.
      const blocks = Math.ceil(range.length / BLOCK_SIZE);
      payload.set(hasLayer(plan, range.file) ? raisedRoot(root, blocks, pieceLength / BLOCK_SIZE) : root, at);
    }
    at += bytes;
  }
  return payload;
}
