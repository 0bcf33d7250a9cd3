/** Makes a torrent from another one with some keys changed; all other keys keep their bytes. */
import { BencodeError } from '../bencode/bencode-error.ts';
import { decode } from '../bencode/decode.ts';
import { encode } from '../bencode/encode.ts';
import { NO_LIMITS } from '../bencode/limits.ts';
import { Cursor } from '../bencode/unchecked-cursor.ts';
import { type BencodeMap, type BencodeValue, type Encodable, RawBencode } from '../bencode/value.ts';
import { MetainfoError } from '../errors/errors.ts';
import { createdTorrent, type EncodedTorrent } from '../model/lazy/created-torrent.ts';
import { fromOwnBytes, type ReadOptions, type Torrent, TorrentBase } from '../model/torrent/torrent.ts';
import { compareBytes, concatBytes, utf8Bytes } from '../platform/node.ts';

const OPEN = utf8Bytes('d');
const CLOSE = utf8Bytes('e');
const NOTHING = new Uint8Array();

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
  /** About values that were just encoded and need no check: see {@link createdTorrent}. */
  made?: Pick<EncodedTorrent, 'encoded' | 'totals'> | null;
}

/**
 * The torrent with other values of some keys.
 *
 * @throws {MetainfoError} `ERR_INFOHASH` when `keepInfohash` forbids the changes
 * @throws {ValidationError} when the result is not a valid torrent
 */
export function replaceFields(
  torrent: Torrent,
  { info, top, keepInfohash = false, made = null, context }: Replacement,
): Torrent {
  const changes = new Map(top);
  const own = TorrentBase.bytesOf(torrent);
  const infoParts = info.size > 0 ? partsOf(splice(infoEntries(torrent), info)) : [own.infoBytes];
  if (!areBytes(infoParts, own.infoBytes)) {
    if (keepInfohash) {
      const message = `Changing ${[...info.keys()].join(' or ')} would change the infohash: leave out keepInfohash to allow that.`;
      throw new MetainfoError('ERR_INFOHASH', message, { option: { keepInfohash: null } });
    }
    changes.set('info', new RawBencode(NOTHING));
  }
  const entries = entriesOf(own.bytes, own.infoBytes);
  const after = splice(entries, changes);
  // Bytes after the end of the torrent do not belong to it, but are kept as well.
  // A second `info`, which no reader looks at, keeps its bytes too.
  const parts = partsOf(after, changes.has('info') ? infoParts : undefined);
  const bytes = concatBytes([...parts, own.bytes.subarray(entries.end)]);
  if (made) return createdTorrent({ version: torrent.torrentVersion, bytes, ...made });
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
    for (const { key, head, value } of entries) {
      const start = offset + head.length;
      offset = start + value.length;
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
  const info = decodeExcept(infoEntries(torrent), CONTENT_KEYS);
  return decodeExcept(entriesOf(bytes, infoBytes), ['info', 'piece layers']).set('info', info);
}

/** Decodes bytes of a torrent that was read before, so neither limits nor strictness matter. */
export function decodeOwn(bytes: Uint8Array): BencodeValue {
  return decode(bytes, { tolerant: true, limits: NO_LIMITS }).value;
}

/** A key of a dictionary and its value, as bytes. */
interface Entry {
  /** One character per byte. */
  key: string;
  /** The key as bencode. */
  head: Uint8Array;
  value: Uint8Array;
}

/** The entries of a dictionary, in the order of its bytes. */
export interface Entries {
  list: Entry[];
  /** Offset of the first byte after the dictionary. */
  end: number;
}

const ofInfo = new WeakMap<Torrent, Entries>();

/** The entries of `info`, which are kept: skipping a list of many files takes a while. */
function infoEntries(torrent: Torrent): Entries {
  const entries = ofInfo.get(torrent) ?? entriesOf(TorrentBase.bytesOf(torrent).infoBytes);
  ofInfo.set(torrent, entries);
  return entries;
}

/** New values by key. Null removes the key. */
type EntryChanges = ReadonlyMap<string, Encodable | null>;

/**
 * Splits a dictionary, which the decoder has checked before, into its entries.
 *
 * @param info The value of the key `info`, as a view of the same bytes: it may be large, and is skipped in one step.
 */
export function entriesOf(bytes: Uint8Array, info?: Uint8Array): Entries {
  const cursor = new Cursor(bytes);
  const list: Entry[] = [];
  cursor.at = 1;
  while (!cursor.atEnd) {
    const start = cursor.at;
    const key = cursor.latin1();
    const valueStart = cursor.at;
    if (info && key === 'info' && info.byteOffset === bytes.byteOffset + valueStart) cursor.at += info.length;
    else cursor.skip();
    list.push({ key, head: bytes.subarray(start, valueStart), value: bytes.subarray(valueStart, cursor.at) });
  }
  return { list, end: cursor.at + 1 };
}

/**
 * The entries of a dictionary with some values changed. All other entries keep their bytes and their order. A new key goes
 * before the first key that is greater.
 */
function splice({ list }: Entries, changes: EntryChanges): Entry[] {
  let entries = [...list];
  for (const [key, value] of changes) {
    // A key may occur twice: then the first one counts, and the others are removed.
    const first = entries.findIndex((entry) => entry.key === key);
    const at = first < 0 ? entries.findIndex((entry) => entry.key > key) : first;
    entries = entries.filter((entry) => entry.key !== key);
    if (value === null) continue;
    // A list of files may be large: it is not copied here.
    const bytes = value instanceof RawBencode ? value.bytes : encode(value);
    const head = encode(new Map([[key, new RawBencode(new Uint8Array())]])).subarray(1, -1);
    entries.splice(at < 0 ? entries.length : at, 0, { key, head, value: bytes });
  }
  return entries;
}

/** The parts of a dictionary of these entries. @param info The parts of the value of `info`, which may be large. */
function partsOf(entries: readonly Entry[], info?: readonly Uint8Array[]): Uint8Array[] {
  const valueParts = ({ key, value }: Entry) => (info && key === 'info' ? info : [value]);
  return [OPEN, ...entries.flatMap((entry) => [entry.head, ...valueParts(entry)]), CLOSE];
}

function areBytes(parts: readonly Uint8Array[], bytes: Uint8Array): boolean {
  let at = 0;
  const isNext = (part: Uint8Array) => {
    at += part.length;
    return compareBytes(part, bytes.subarray(at - part.length, at)) === 0;
  };
  return parts.every(isNext) && at === bytes.length;
}
