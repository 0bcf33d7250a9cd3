import type { BencodeMap } from '../bencode/value.ts';

/**
 * The kinds of torrents: what their infodict describes (BEP 3, BEP 52).
 *
 * @enum
 */
export const TorrentVersion = { v1: 'v1', v2: 'v2', hybrid: 'hybrid' } as const;
/** The kind of a torrent. */
export type TorrentVersion = keyof typeof TorrentVersion;

/**
 * Which model an infodict is to be held against: by the presence of `pieces` (v1) and `file tree` (v2), under their
 * on-disk or their attribute names. Null when neither is there.
 */
export function infodictDiscriminator(value: unknown): TorrentVersion | null {
  if (value === null || typeof value !== 'object') return null;
  const has = (name: string) => (value instanceof Map ? (value as BencodeMap).has(name) : Object.hasOwn(value, name));
  const v1 = has('pieces');
  const v2 = has('file tree') || has('fileTree');
  if (v1 && v2) return 'hybrid';
  if (v1) return 'v1';
  return v2 ? 'v2' : null;
}
