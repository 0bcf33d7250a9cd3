/** Decides whether the cache may save time. */
import type { TorrentLayout } from '../torrent-layout.ts';

/** Bytes. Shorter files are not in the cache: to look one up and to keep its digests takes longer than to hash it. */
export const MIN_CACHED_BYTES = 2 ** 20;
/** Bytes that the cache must be able to save for each file of a torrent: the files that are not in it cost time, too. */
const MIN_BYTES_PER_FILE = 2 ** 18;

/** Whether a cache may save time for a layout. */
export function isWorthCaching({ isAligned, files, streams }: TorrentLayout): boolean {
  if (streams.length > 0) return false;
  // Files that share pieces have one record for all of them.
  const least = isAligned ? MIN_CACHED_BYTES : 0;
  const bytes = files.lengths.reduce((sum, length) => (length >= least ? sum + length : sum), 0);
  return bytes >= Math.max(MIN_CACHED_BYTES, files.length * MIN_BYTES_PER_FILE);
}
