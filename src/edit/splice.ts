import { Cursor } from '../bencode/cursor.ts';
import { encode } from '../bencode/encode.ts';
import { type Encodable, RawBencode } from '../bencode/value.ts';

/** A key of a dictionary with its value, as they stand in the bytes. */
export interface Entry {
  /** One char a byte. */
  key: string;
  /** Both. */
  whole: Uint8Array;
  value: Uint8Array;
}

const OPEN = Buffer.from('d');
const CLOSE = Buffer.from('e');

/** The entries of a dictionary in their order. */
export interface Entries {
  list: Entry[];
  /** Where the dictionary ends in the bytes. */
  end: number;
}

/**
 * Takes apart a dictionary that a decoder has checked.
 *
 * @param info The value of the key `info`, a view of the same bytes: it may be large, and need not be gone through.
 */
export function entriesOf(bytes: Uint8Array, info?: Uint8Array): Entries {
  const cursor = new Cursor(bytes);
  const list: Entry[] = [];
  cursor.at = 1;
  while (!cursor.atEnd) {
    const start = cursor.at;
    const key = cursor.latin1();
    const from = cursor.at;
    if (info && key === 'info' && info.byteOffset === bytes.byteOffset + from) cursor.at += info.length;
    else cursor.skip();
    list.push({ key, whole: bytes.subarray(start, cursor.at), value: bytes.subarray(from, cursor.at) });
  }
  return { list, end: cursor.at + 1 };
}

/**
 * The entries of a dictionary with other values for some keys, null for none. Everything else stays byte for byte and
 * where it is, in whatever order that was; a new key comes before the first that is greater.
 */
export function splice({ list }: Entries, changes: ReadonlyMap<string, Encodable | null>): Entry[] {
  let entries = [...list];
  for (const [key, value] of changes) {
    const at = entries.findIndex((entry) => entry.key === key);
    if (value === null) {
      // Of keys that come twice, none is left.
      entries = entries.filter((entry) => entry.key !== key);
      continue;
    }
    const bytes = encode(value);
    const whole = encode(new Map([[key, new RawBencode(bytes)]])).subarray(1, -1);
    const entry = { key, whole, value: bytes };
    // Of keys that come twice, the first counts.
    if (at >= 0) entries = entries.flatMap((old, i) => (old.key !== key ? [old] : i === at ? [entry] : []));
    else {
      const next = entries.findIndex((old) => old.key > key);
      entries.splice(next < 0 ? entries.length : next, 0, entry);
    }
  }
  return entries;
}

/** A dictionary of these entries, and what stands after it. */
export function joined(entries: readonly Entry[], rest: Uint8Array = new Uint8Array()): Uint8Array {
  return Buffer.concat([OPEN, ...entries.map(({ whole }) => whole), CLOSE, rest]);
}
