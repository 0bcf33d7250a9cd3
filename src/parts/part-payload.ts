/** The payload of a sealed part: the digests of its shares of files. */
import { invalidArgument } from '../errors/guard.ts';
import type { Digests } from '../hash/engine.ts';
import { raisedRoot } from '../hash/merkle.ts';
import { BLOCK_SIZE } from '../layout/piece-length.ts';
import type { SplitPlan } from './plan.ts';
import { type PartRange, rangesOf } from './split-into-parts.ts';

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
export function payloadOf(plan: SplitPlan, index: number, digests: Pick<Digests, 'v1' | 'v2'>): Uint8Array {
  const { version, pieceLength } = plan;
  const payload = Buffer.alloc(payloadBytes(plan, index));
  let at = pieceBytes(plan, index);
  if (version !== 'v2') payload.set(digests.v1 as Uint8Array);
  if (version === 'v1') return payload;
  const { roots, layers } = digests.v2 as NonNullable<Digests['v2']>;
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
