/** Replaces single entries of a bencoded dictionary and keeps the bytes of all others. */
import { encode } from '../bencode/encode.ts';
import { Cursor } from '../bencode/unchecked-cursor.ts';
import { type Encodable, RawBencode } from '../bencode/value.ts';
import { concatBytes, utf8Bytes } from '../platform/node.ts';

/** A key of a dictionary and its value, as bytes. */
export interface Entry {
  /** One character per byte. */
  key: string;
  /** Key and value. */
  whole: Uint8Array;
  value: Uint8Array;
}

/** The entries of a dictionary, in the order of its bytes. */
export interface Entries {
  list: Entry[];
  /** Offset of the first byte after the dictionary. */
  end: number;
}

/** New values by key. Null removes the key. */
export type EntryChanges = ReadonlyMap<string, Encodable | null>;

const OPEN = utf8Bytes('d');
const CLOSE = utf8Bytes('e');

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
    list.push({ key, whole: bytes.subarray(start, cursor.at), value: bytes.subarray(valueStart, cursor.at) });
  }
  return { list, end: cursor.at + 1 };
}

/**
 * The entries of a dictionary with some values changed. All other entries keep their bytes and their order. A new key goes
 * before the first key that is greater.
 */
export function splice({ list }: Entries, changes: EntryChanges): Entry[] {
  let entries = [...list];
  for (const [key, value] of changes) {
    // A key may occur twice: then the first one counts, and the others are removed.
    const first = entries.findIndex((entry) => entry.key === key);
    const at = first < 0 ? entries.findIndex((entry) => entry.key > key) : first;
    entries = entries.filter((entry) => entry.key !== key);
    if (value === null) continue;
    const bytes = encode(value);
    const whole = encode(new Map([[key, new RawBencode(bytes)]])).subarray(1, -1);
    entries.splice(at < 0 ? entries.length : at, 0, { key, whole, value: bytes });
  }
  return entries;
}

/** Joins entries to a dictionary, followed by other bytes. */
export function joinEntries(entries: readonly Entry[], trailing: Uint8Array = new Uint8Array()): Uint8Array {
  return concatBytes([OPEN, ...entries.map(({ whole }) => whole), CLOSE, trailing]);
}
