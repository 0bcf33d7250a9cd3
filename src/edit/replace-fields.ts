/** Makes a torrent from another one with some keys changed; all other keys keep their bytes. */
import { BencodeError } from '../bencode/bencode-error.ts';
import { decode } from '../bencode/decode.ts';
import { NO_LIMITS } from '../bencode/limits.ts';
import { type BencodeMap, type BencodeValue, type Encodable, RawBencode } from '../bencode/value.ts';
import { MetainfoError } from '../errors/errors.ts';
import { fromOwnBytes, type ReadOptions, type Torrent, TorrentBase } from '../model/torrent/torrent.ts';
import { compareBytes } from '../platform/node.ts';
import { type Entries, type Entry, type EntryChanges, entriesOf, joinEntries, splice } from './splice.ts';

/** The keys of `info` that describe the content: other values need other hashes. */
export const CONTENT_KEYS = ['file tree', 'files', 'length', 'meta version', 'piece length', 'pieces'];

/** Which keys {@link replaceFields} changes, and how it checks the result. */
export interface Replacement extends Pick<ReadOptions, 'context'> {
  /** Keys of `info`. */
  info: EntryChanges;
  /** Keys beside `info`. */
  top: EntryChanges;
  /** Refuse changes that would change the infohash. */
  keepInfohash?: boolean | undefined;
}

/**
 * The torrent with other values of some keys.
 *
 * @throws {MetainfoError} `ERR_INFOHASH` when `keepInfohash` forbids the changes
 * @throws {ValidationError} when the result is not a valid torrent
 */
export function replaceFields(torrent: Torrent, { info, top, keepInfohash = false, context }: Replacement): Torrent {
  const changes = new Map(top);
  const own = TorrentBase.bytesOf(torrent);
  const infoBytes = info.size > 0 ? joinEntries(splice(entriesOf(own.infoBytes), info)) : own.infoBytes;
  if (compareBytes(infoBytes, own.infoBytes) !== 0) {
    if (keepInfohash) {
      const message = `Changing ${[...info.keys()].join(' or ')} would change the infohash: leave out keepInfohash to allow that.`;
      throw new MetainfoError('ERR_INFOHASH', message, { option: { keepInfohash: null } });
    }
    changes.set('info', new RawBencode(infoBytes));
  }
  const entries = entriesOf(own.bytes, own.infoBytes);
  const after = splice(entries, changes);
  // Bytes after the end of the torrent do not belong to it, but are kept as well.
  const bytes = joinEntries(after, own.bytes.subarray(entries.end));
  const keepsContent = !changes.has('info') && !changes.has('piece layers') && TorrentBase.isOwn(torrent);
  const quick = keepsContent ? withoutRevalidation(torrent, after, { bytes, context }) : null;
  return quick ?? fromOwnBytes(bytes, { context, limits: NO_LIMITS });
}

/**
 * Makes the torrent without checking `info` and the piece layers again: they are unchanged and may be large. Null when the
 * other entries are not canonical bencode. Then all bytes must be read, because a bad entry may change how the rest reads.
 */
function withoutRevalidation(
  torrent: Torrent,
  entries: readonly Entry[],
  { bytes, context }: { bytes: Uint8Array; context: ReadOptions['context'] },
): Torrent | null {
  const map: BencodeMap = new Map();
  let [offset, infoStart] = [1, 0];
  try {
    for (const { key, whole, value } of entries) {
      const start = offset + whole.length - value.length;
      offset += whole.length;
      if (key === 'info') infoStart = start;
      const isKept = key === 'info' || key === 'piece layers';
      const own = bytes.subarray(start, offset);
      map.set(key, isKept ? own : decode(own, { limits: NO_LIMITS }).value);
    }
  } catch (error) {
    if (error instanceof BencodeError) return null;
    throw error;
  }
  return torrent.withTopLevel(map, { bytes, infoStart, context }) as Torrent | null;
}

/** A torrent without the keys that describe its content, decoded. */
export function withoutContent(torrent: Torrent): Map<string, Encodable> {
  const decodeExcept = ({ list }: Entries, excluded: readonly string[]) =>
    new Map<string, Encodable>(
      list.flatMap(({ key, value }) => (excluded.includes(key) ? [] : [[key, decodeOwn(value)]])),
    );
  const { bytes, infoBytes } = TorrentBase.bytesOf(torrent);
  const info = decodeExcept(entriesOf(infoBytes), CONTENT_KEYS);
  return decodeExcept(entriesOf(bytes, infoBytes), ['info', 'piece layers']).set('info', info);
}

/** Decodes bytes of a torrent that was read before, so neither limits nor strictness matter. */
export function decodeOwn(bytes: Uint8Array): BencodeValue {
  return decode(bytes, { tolerant: true, limits: NO_LIMITS }).value;
}
