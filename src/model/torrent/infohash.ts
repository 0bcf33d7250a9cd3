/** The infohashes of a torrent. */
import { createHash } from 'node:crypto';
import type { TorrentVersion } from '../discriminator.ts';

/**
 * The hash of the raw `info` in hexadecimal: SHA-1 in v1 (BEP 3), SHA-256 in v2 (BEP 52). Null for a version that the torrent does
 * not have.
 */
export function infohashOf(
  infoBytes: Uint8Array,
  version: TorrentVersion | null,
  wanted: Exclude<TorrentVersion, 'hybrid'>,
): string | null {
  if (version !== 'hybrid' && version !== wanted) return null;
  return createHash(wanted === 'v1' ? 'sha1' : 'sha256')
    .update(infoBytes)
    .digest('hex');
}
