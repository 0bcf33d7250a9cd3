/** Hashes the files of a layout, except those whose digests are known or in the cache. */
import { deletedSinceScan, watch } from '../jobs/watch.ts';
import type { HashedLayout, HashOptions } from './hash-files.ts';
import { hashUnknown } from './hash-unknown.ts';
import { hashStreams } from './sources/hash-streams.ts';
import { hasAllSizes, type TorrentLayout } from './torrent-layout.ts';

/**
 * Hashes the files of a layout.
 *
 * @throws {MetainfoError} see docs/errors.md
 */
export async function hashLayout(layout: TorrentLayout, options: HashOptions): Promise<HashedLayout> {
  try {
    if (layout.streams.length > 0 || !hasAllSizes(layout)) return await hashStreamed(layout, options);
    return await hashUnknown(layout, options);
  } catch (error) {
    throw deletedSinceScan(error);
  }
}

/** Hashes a layout with streams. */
async function hashStreamed(layout: TorrentLayout, options: HashOptions): Promise<HashedLayout> {
  const digests = await watch(() => hashStreams(options.engine, layout, options), options);
  return { digests, bytesRead: digests.lengths.reduce((sum, length) => sum + length, 0) };
}
