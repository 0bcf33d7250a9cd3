/** Counts content that native threads do not count. */

/** Bytes that were hashed on this JavaScript thread, or in a single step of the addon, without those of speed tests. */
export const hashedHere = { bytes: 0 };
