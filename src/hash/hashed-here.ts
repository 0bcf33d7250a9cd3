/** Counts content that native threads do not count. */

/** Bytes that were hashed on this JavaScript thread, or in a single step of the addon. */
export const hashedHere = { bytes: 0 };
