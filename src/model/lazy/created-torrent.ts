/** Makes the torrent of bytes that a creation has just encoded, without decoding its files again. */
import { decodeTrusted } from '../../bencode/decode.ts';
import { NO_LIMITS } from '../../bencode/limits.ts';
import { type BencodeMap, RawBencode } from '../../bencode/value.ts';
import type { TorrentVersion } from '../discriminator.ts';
import { checkKeys } from '../rules/rules.ts';
import { fromOwnBytes, type Torrent } from '../torrent/torrent.ts';
import type { ContentTotals } from '../torrent/torrent-base.ts';
import { usualTorrent } from './usual-torrent.ts';

/** The paths of the values that are decoded when they are first accessed. */
export type LazyPath = 'info/files' | 'info/file tree' | 'piece layers';

/** A torrent that was just encoded. It has a name, and a piece length that its version may have. */
export interface EncodedTorrent {
  version: TorrentVersion;
  /** The whole torrent, which nobody else can change. */
  bytes: Uint8Array;
  /**
   * The size of the encoded value at each {@link LazyPath} that the torrent has, in bytes. Those values must be valid: names are
   * safe, paths differ, and the hashes fit the sizes of the files.
   */
  encoded: ReadonlyMap<LazyPath, number>;
  totals: ContentTotals;
}

/**
 * The torrent that `Torrent.fromBytes` makes of the same bytes. Its lists of files are decoded when they are first accessed;
 * all other fields are checked now. A torrent with anything unusual in those is decoded as a whole.
 *
 * @throws as {@link fromOwnBytes}
 */
export function createdTorrent(created: EncodedTorrent): Torrent {
  // Limits are for untrusted input.
  return torrentOfLists(created) ?? fromOwnBytes(created.bytes, { limits: NO_LIMITS });
}

/** The torrent, or null where decoding all of it may find an issue. */
function torrentOfLists({ version, bytes, encoded, totals }: EncodedTorrent): Torrent | null {
  const decoded = decodeTrusted(bytes, { span: 'info', tolerant: true, limits: NO_LIMITS, encoded });
  const { value, errors, span } = decoded;
  const map = value as BencodeMap;
  const layers: unknown = map.get('piece layers');
  if (errors.length > 0 || !span || (layers !== undefined && !(layers instanceof RawBencode))) return null;
  const infoBytes = bytes.subarray(span.start, span.end);
  const known = { version, bytes, infoBytes, map, totals, context: {}, limits: NO_LIMITS };
  return usualTorrent(known, ({ infoMap, info, issues }) => {
    const has = (key: string) => infoMap.has(key);
    checkKeys({ version, info, has, isPad: () => false, layers: undefined, flat: null, context: {}, issues });
    return null;
  });
}
