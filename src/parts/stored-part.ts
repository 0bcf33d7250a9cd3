/** Hashes a part unless a store has it. */

import { PartError } from '../errors/part-error.ts';
import { type HashPartOptions, hashPart, splitOf } from './hash-part.ts';
import { payloadBytes, rangesOf, requirePart } from './part-payload.ts';
import { type RestoredPlan, restoredPlan } from './restored-plan.ts';
import { unsealed } from './sealed-part.ts';
import type { PartStore } from './store.ts';
import type { TorrentPlan } from './torrent-plan.ts';

/** A part that is in a store. */
export interface StoredPart {
  /** Bytes of content of the part. */
  bytes: number;
  /** False if the part was in the store before. */
  hashed: boolean;
}

/**
 * Hashes a part and puts it into a store, unless it is there. A damaged part is hashed again.
 *
 * @throws {MetainfoError} as {@link hashPart}, and the errors of the store
 */
export async function storePart(
  plan: TorrentPlan,
  index: number,
  store: PartStore,
  options: HashPartOptions = {},
): Promise<StoredPart> {
  const restored = await restoredPlan(plan);
  const split = splitOf(restored);
  requirePart(split, index);
  let bytes = 0;
  for (const { length } of rangesOf(split, index)) bytes += length;
  if (await isStored(restored, index, store)) return { bytes, hashed: false };
  await store.put(restored.id, index, await hashPart(plan, index, options));
  return { bytes, hashed: true };
}

async function isStored(restored: RestoredPlan, index: number, store: PartStore): Promise<boolean> {
  const sealed = await store.get(restored.id, index);
  if (!sealed) return false;
  try {
    unsealed(sealed, { id: restored.id, index, length: payloadBytes(splitOf(restored), index) });
    return true;
  } catch (error) {
    if (error instanceof PartError) return false;
    throw error;
  }
}
