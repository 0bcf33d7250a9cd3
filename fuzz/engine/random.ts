/** Random numbers, which a seed makes reproducible. */

let random = Math.random;

/** Replaces `Math.random` with mulberry32, a generator of 32 bits by Tommy Ettinger. */
export function seedRandom(seed: number): void {
  let state = seed;
  random = () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** A whole number from 0, below the limit. */
export const below = (limit: number): number => Math.floor(random() * limit);
export const pick = <T>(list: readonly T[]): T => list[below(list.length)] as T;
