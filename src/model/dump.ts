import { type BencodeMap, type BencodeValue, keyBytes } from '../bencode/value.ts';

/** A dictionary key that is not text: bytes that print as one char each, which is how the `bencode` package sorts keys. */
class ByteKey extends Uint8Array {
  override toString(): string {
    return Buffer.from(this.buffer, this.byteOffset, this.byteLength).toString('latin1');
  }
}

/** A value of what {@link TorrentBase.modelDumpTorrent} gives in mode `str`. */
export type DumpedValue = bigint | number | Uint8Array | DumpedValue[] | DumpedDictionary | DumpedMap;
/** A dictionary with text keys: an object without a prototype. */
export interface DumpedDictionary {
  [key: string]: DumpedValue;
}
/** A dictionary with keys that are not text, or that the npm package `bencode` would sort wrongly. */
export type DumpedMap = Map<string | Uint8Array, DumpedValue>;

/** A torrent. Where its own keys are not all text it is a {@link DumpedMap} that has the others as properties too. */
export function dumpTorrent(value: BencodeMap): DumpedDictionary {
  const dumped = toStringKeys(value);
  if (dumped instanceof Map) {
    for (const [key, entry] of dumped as DumpedMap) {
      const name = Buffer.from(key as Uint8Array).toString('utf8');
      if (!(name in dumped)) Object.defineProperty(dumped, name, { value: entry });
    }
  }
  return dumped as DumpedDictionary;
}

/**
 * Decoded bencode with string keys, which the npm package `bencode` encodes to the bytes it came from. That package
 * sorts text by UTF-16 units and writes it as UTF-8, so a dictionary with keys that this would change is a Map of bytes.
 */
export function toStringKeys(value: BencodeValue): DumpedValue {
  // Only decoded values come here, and the decoder bounds their depth.
  if (Array.isArray(value)) return value.map(toStringKeys);
  if (!(value instanceof Map)) return value;
  return survivesAsText(value) ? toObject(value) : toByteMap(value);
}

function survivesAsText(map: BencodeMap): boolean {
  const keys = [...map.keys()];
  const texts = keys.map((key) => keyBytes(key).toString('utf8'));
  const sorted = [...texts].sort();
  return texts.every((text, i) => Buffer.from(text).toString('latin1') === keys[i] && text === sorted[i]);
}

function toObject(map: BencodeMap): DumpedDictionary {
  // Without a prototype, `__proto__` is a key like any other.
  const object = Object.create(null) as { [key: string]: DumpedValue };
  for (const [key, value] of map) object[keyBytes(key).toString('utf8')] = toStringKeys(value);
  return object;
}

function toByteMap(map: BencodeMap): DumpedMap {
  return new Map([...map].map(([key, value]) => [new ByteKey(keyBytes(key)), toStringKeys(value)]));
}
