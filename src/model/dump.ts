/** Dumps decoded bencode as dictionaries with text keys, for `modelDumpTorrent`. */
import { type BencodeMap, type BencodeValue, keyBytes } from '../bencode/value.ts';
import { latin1Text, utf8Bytes, utf8Text } from '../platform/node.ts';

/** A dictionary key as bytes. It prints as one character per byte, which is how the npm package `bencode` sorts keys. */
class ByteKey extends Uint8Array {
  override toString(): string {
    return latin1Text(this);
  }
}

/** A value in the output of {@link Torrent.modelDumpTorrent} in mode `str`. */
export type DumpedValue = bigint | number | Uint8Array | DumpedValue[] | DumpedDictionary | DumpedMap;
/** A dictionary with text keys, as an object without a prototype. */
export interface DumpedDictionary {
  [key: string]: DumpedValue;
}
/** A dictionary with keys that are not text, or that the npm package `bencode` would sort wrongly, as a Map of bytes. */
export type DumpedMap = Map<string | Uint8Array, DumpedValue>;

/** Dumps a torrent. If a top-level key is not text, the result is a {@link DumpedMap} with the text keys as properties too. */
export function dumpTorrent(value: BencodeMap): DumpedDictionary {
  const dumped = toStringKeys(value);
  if (dumped instanceof Map) {
    for (const [key, entry] of dumped as DumpedMap) {
      const name = utf8Text(key as Uint8Array);
      if (!(name in dumped)) Object.defineProperty(dumped, name, { value: entry });
    }
  }
  return dumped as DumpedDictionary;
}

/**
 * Converts decoded bencode to text keys, such that the npm package `bencode` encodes it to the original bytes. That package
 * sorts text by UTF-16 units and writes it as UTF-8, so a dictionary whose keys this would change becomes a Map of bytes.
 */
export function toStringKeys(value: BencodeValue): DumpedValue {
  // May recurse, because the decoder bounds the depth.
  if (Array.isArray(value)) return value.map(toStringKeys);
  if (!(value instanceof Map)) return value;
  return survivesAsText(value) ? toObject(value) : toByteMap(value);
}

function survivesAsText(map: BencodeMap): boolean {
  const keys = [...map.keys()];
  const texts = keys.map((key) => utf8Text(keyBytes(key)));
  const sorted = [...texts].sort();
  return texts.every((text, i) => latin1Text(utf8Bytes(text)) === keys[i] && text === sorted[i]);
}

function toObject(map: BencodeMap): DumpedDictionary {
  // Without a prototype, `__proto__` is an ordinary key.
  const object = Object.create(null) as { [key: string]: DumpedValue };
  for (const [key, value] of map) object[utf8Text(keyBytes(key))] = toStringKeys(value);
  return object;
}

function toByteMap(map: BencodeMap): DumpedMap {
  return new Map([...map].map(([key, value]) => [new ByteKey(keyBytes(key)), toStringKeys(value)]));
}
