/** The keys of a torrent that the models do not know, and decoded values as JSON and text. */
import { type BencodeMap, type BencodeValue, keyBytes } from '../bencode/value.ts';
import { MetainfoError, toHex } from '../errors/errors.ts';
import { isUtf8, MAX_TEXT, utf8Text } from '../platform/node.ts';
import { printable } from '../text/printable.ts';
import type { InfoDictV1 } from './info-dict.ts';
import type { Torrent } from './torrent/torrent.ts';

/** The most unknown keys that are listed: JSON has all. */
const MAX_LISTED = 100;

/** A key that the models do not know. */
interface UnknownKey {
  /** Its place from the top of the torrent: keys, list indexes, and the path of a file in the tree. */
  path: (string | number)[];
  value: BencodeValue;
}

/** The unknown keys beside `info` and in it. */
export function unknownKeys({ extra, info }: Torrent): UnknownKey[] {
  return [...keysAt([], extra), ...keysAt(['info'], info.extra)];
}

/** The unknown keys of the files: those of the v1 list, then those of the v2 tree. */
export function* unknownKeysOfFiles({ info, flatFiles }: Torrent): Generator<UnknownKey> {
  for (const [i, { extra }] of ((info as InfoDictV1).files ?? []).entries()) yield* keysAt(['info', 'files', i], extra);
  for (const [path, { extra }] of flatFiles ?? []) yield* keysAt(['info', 'file tree', path], extra);
}

const keysAt = (place: UnknownKey['path'], extra: BencodeMap = new Map()): UnknownKey[] =>
  [...extra].map(([key, value]) => ({ path: [...place, keyText(key)], value }));

/** A key as text. */
export const keyText = (key: string): string => bytesText(keyBytes(key));

/** Bytes, or the first of them, as text: those that are not UTF-8, and text that looks like a replacement, as hexadecimal digits. */
function bytesText(bytes: Uint8Array, most = Infinity): string {
  const first = bytes.subarray(0, most);
  if (first.length > MAX_TEXT / 2)
    throw new MetainfoError('ERR_LIMIT', 'A value is longer than a text can be (512 MiB).');
  const text = isUtf8(bytes) ? utf8Text(first) : null;
  return text === null || /^(hex|int):/.test(text) ? `hex:${toHex(first)}` : text;
}

/**
 * A decoded value as data for `JSON.stringify`, without loss: see {@link TorrentJson.unknownKeys}.
 *
 * @param room The number of characters that are needed: when it is used up, zeros stand for the rest.
 */
export function bencodeJson(value: BencodeValue, room = { left: Infinity }): unknown {
  room.left -= 1;
  if (room.left < 0) return 0;
  if (Array.isArray(value)) return value.slice(0, room.left).map((item) => bencodeJson(item, room));
  if (typeof value === 'bigint') return `int:${value}`;
  if (typeof value === 'number') return value;
  if (value instanceof Uint8Array) {
    // Four bytes per character are enough, so a character cut at the end is never shown.
    const text = bytesText(value, 4 * Math.max(room.left, 1));
    room.left -= text.length;
    return text;
  }
  const entries = [...value].slice(0, room.left).map(([key, item]): [string, unknown] => {
    room.left -= key.length;
    return [keyText(key), bencodeJson(item, room)];
  });
  return Object.fromEntries(entries);
}

/** The longest value that is shown, in characters. */
const MAX_SHOWN = 200;

/** A decoded value as JSON in one line, shortened. */
export function shownValue(value: unknown): string {
  const json = JSON.stringify(bencodeJson(value as BencodeValue, { left: MAX_SHOWN }));
  const text = json.replace(/"int:(-?\d+)"/g, '$1');
  return printable(text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN - 3)}...` : text);
}

/** The first unknown keys with their values, shortened, and the number of the others. */
export function* unknownLines(keys: Iterable<UnknownKey>): Generator<string> {
  let count = 0;
  for (const { path, value } of keys) {
    count += 1;
    if (count <= MAX_LISTED) yield `${printable(path.join('.').slice(0, MAX_SHOWN))}: ${shownValue(value)}`;
  }
  if (count > MAX_LISTED) yield `and ${count - MAX_LISTED} more`;
}
