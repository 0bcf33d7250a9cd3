/** Does long work in slices, and lets the event loop run in between. */
import { concatBytes, newBytes, nextRound } from '../platform/node.ts';

/** The numbers of a column that a slice goes through: it takes a few milliseconds at most. */
const NUMBERS_PER_SLICE = 2 ** 16;
/** The bytes that a slice copies: it takes a few milliseconds, because the memory that it writes to is new. */
const BYTES_PER_SLICE = 4 * 2 ** 20;

/** Calls `work` for slices of the indexes below `count`: from `first` to, but not including, `end`. */
export async function inSlices(count: number, work: (first: number, end: number) => void): Promise<void> {
  for (let first = 0; first < count; first += NUMBERS_PER_SLICE) {
    if (first > 0) await nextRound();
    work(first, Math.min(first + NUMBERS_PER_SLICE, count));
  }
}

/** Joins parts like `Buffer.concat`. Nobody may change them meanwhile. */
export async function joinInSlices(parts: readonly Uint8Array[]): Promise<Uint8Array> {
  const size = parts.reduce((sum, { length }) => sum + length, 0);
  if (size <= BYTES_PER_SLICE) return concatBytes(parts);
  const joined = newBytes(size);
  let at = 0;
  let left = BYTES_PER_SLICE;
  for (const part of parts) {
    for (let from = 0; from < part.length; ) {
      const slice = part.subarray(from, from + left);
      joined.set(slice, at);
      at += slice.length;
      from += slice.length;
      left -= slice.length;
      if (left > 0) continue;
      await nextRound();
      left = BYTES_PER_SLICE;
    }
  }
  return joined;
}
