/** Compares two torrents key by key. */
import { checkArgument } from '../errors/guard.ts';
import { AnyTorrent, type Torrent, TorrentBase } from '../model/torrent/torrent.ts';
import { compareBytes, copyOf } from '../platform/node.ts';
import { decodeOwn, type Entries, entriesOf } from './replace-fields.ts';

/** One key whose value differs between two torrents. */
export interface Difference {
  /** The key as on disk, one character per byte; a key of `info` follows `info.`, as in `info.source`. */
  key: string;
  /** The decoded bencode value in the first torrent; undefined where it has no such key. */
  before: unknown;
  /** The decoded bencode value in the second torrent; undefined where it has no such key. */
  after: unknown;
}

/**
 * Lists the keys whose values differ between two torrents: first those beside `info`, then those in `info`.
 *
 * @param before The old torrent.
 * @param after The new torrent.
 * @throws {MetainfoError} `ERR_INVALID_ARGUMENT` for an argument that is not a torrent
 * @example
 * ```ts
 * import { differences, edit, Torrent } from 'metainfo';
 *
 * const torrent = await Torrent.read('album.torrent');
 * const edited = edit(torrent, { source: 'ACME' });
 * console.log(differences(torrent, edited).map(({ key }) => key)); // [ 'info.source' ]
 * ```
 */
export function differences(before: Torrent, after: Torrent): Difference[] {
  checkArgument('before', before, AnyTorrent);
  checkArgument('after', after, AnyTorrent);
  return differencesOf(TorrentBase.bytesOf(before), TorrentBase.bytesOf(after));
}

/** The bytes of a torrent, and those of its info dictionary. */
type TorrentBytes = ReturnType<typeof TorrentBase.bytesOf>;

/** @internal As {@link differences}; the second torrent may be invalid. @param undecoded Keys whose values are null where any are. */
export function differencesOf(a: TorrentBytes, b: TorrentBytes, undecoded: readonly string[] = []): Difference[] {
  const [old, now] = [a, b].map(({ bytes, infoBytes }) => entriesOf(bytes, infoBytes));
  const top = differingEntries(old as Entries, now as Entries, undecoded);
  // `info` is most of a large torrent: split it only where it differs.
  if (compareBytes(a.infoBytes, b.infoBytes) === 0) return top;
  return [...top, ...differingEntries(entriesOf(a.infoBytes), entriesOf(b.infoBytes), undecoded, 'info.')];
}

function differingEntries(before: Entries, after: Entries, undecoded: readonly string[], prefix = ''): Difference[] {
  // A key may occur twice: then the first one counts.
  const byKey = ({ list }: Entries) => new Map(list.toReversed().map(({ key, value }) => [prefix + key, value]));
  const [old, now] = [byKey(before), byKey(after)];
  return [...new Set([...old.keys(), ...now.keys()])].flatMap((key) => {
    const [a, b] = [old.get(key), now.get(key)];
    if (key === 'info' || (a && b && compareBytes(a, b) === 0)) return [];
    const decoded = (value: Uint8Array) => (undecoded.includes(key) ? null : decodeOwn(copyOf(value)));
    return [{ key, before: a && decoded(a), after: b && decoded(b) }];
  });
}

/** Whether two torrents have the same infohashes. */
export function hasSameInfo(before: Torrent, after: Torrent): boolean {
  return compareBytes(TorrentBase.bytesOf(before).infoBytes, TorrentBase.bytesOf(after).infoBytes) === 0;
}
