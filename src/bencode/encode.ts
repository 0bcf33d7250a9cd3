/** The bencode encoder: canonical and iterative. */
import { type MetainfoError, shown } from '../errors/errors.ts';
import { bytesOf, invalidArgument } from '../errors/guard.ts';
import {
  concatBytes,
  isMap,
  isProxy,
  isUint8Array,
  latin1Bytes,
  latin1Text,
  shortBytes,
  utf8Bytes,
} from '../platform/node.ts';
import { BYTES, codeUnitsAtMost, type Encodable, isObjectPrototype, RawBencode, toKey } from './value.ts';

/** The depth from which cycles are looked for: a power of two above any usual depth. */
const CHECKED_DEPTH = 128;

/** Longer byte strings are kept as views, because copying them costs more. */
const SHORT = 1024;
const LARGEST_CHUNK = 64 * 1024;

const { COLON, DICTIONARY, END, INTEGER, LIST } = BYTES;

/** A list, or a dictionary with its keys in order, that is being written. */
interface Level {
  /** The list or dictionary of the caller. */
  from: object;
  list: readonly Encodable[] | null;
  map: ReadonlyMap<string, Encodable> | null;
  keys: readonly string[];
  at: number;
}

/**
 * Encodes a value as canonical bencode (BEP 3), with dictionary keys in byte order. Strings become UTF-8, as do the keys of plain
 * objects. Keys of Maps are bytes, or latin1 strings with one character per byte. So it takes what {@link decode} and both modes of
 * `modelDumpTorrent` give. It does not recurse, so deep values cannot overflow the stack.
 *
 * @throws {MetainfoError} `ERR_INVALID_ARGUMENT` for a number that is not a safe integer, a key of a Map that is not latin1 or is
 *   given twice, a value that contains itself, or a type that bencode does not have
 *
 * @example
 * ```ts
 * import { encode } from 'metainfo';
 *
 * const bytes = encode({ name: 'album', length: 5 });
 * console.log(Buffer.from(bytes).toString()); // d6:lengthi5e4:name5:albume
 * ```
 */
export function encode(value: Encodable): Uint8Array<ArrayBuffer> {
  return concatBytes(encodeParts(value));
}

/** Encodes a value like {@link encode}, but as parts that follow each other: long byte strings are not copied. */
export function encodeParts(value: Encodable): readonly Uint8Array[] {
  const out = new Writer();
  const levels: Level[] = [];
  for (let level = write(value, out); level !== null; ) {
    const inner = fill(level, out);
    if (inner !== null) {
      levels.push(level);
      requireNoCycle(levels);
    }
    level = inner ?? levels.pop() ?? null;
  }
  return out.parts();
}

/**
 * Throws for a value that contains itself, which would be written forever. Such a value soon fills every level, so looking at
 * depths that are powers of two is enough.
 */
function requireNoCycle(levels: readonly Level[]): void {
  const { length } = levels;
  if (length < CHECKED_DEPTH || (length & (length - 1)) !== 0) return;
  const open = new Set(levels.map(({ from }) => from));
  if (open.size < length) throw invalidArgument('A list or dictionary contains itself');
}

/** Writes the rest of a level. Stops at the first list or dictionary in it, writes its first byte and returns it. */
function fill(level: Level, out: Writer): Level | null {
  const { list, map, keys } = level;
  const count = list ? list.length : keys.length;
  while (level.at < count) {
    const { at } = level;
    level.at += 1;
    let value: Encodable;
    if (list) value = list[at] as Encodable;
    else {
      const key = keys[at] as string;
      out.key(key);
      value = map?.get(key) as Encodable;
    }
    const inner = write(value, out);
    if (inner !== null) return inner;
  }
  out.byte(END);
  return null;
}

/** Writes a value. If it is a list or dictionary, writes only its first byte and returns it as a level. */
function write(value: Encodable, out: Writer): Level | null {
  if (typeof value === 'string') out.text(value);
  else if (typeof value === 'number' || typeof value === 'bigint') out.integer(value);
  else if (isUint8Array(value)) out.string(value.byteLength > 0 ? value : bytesOf('value', value));
  else if (Array.isArray(value) && !isProxy(value)) {
    out.byte(LIST);
    return { from: value, list: value, map: null, keys: [], at: 0 };
  } else if (isMap(value) || isPlainObject(value)) {
    out.byte(DICTIONARY);
    const map = isMap(value)
      ? withTextKeys(value)
      : new Map(Object.entries(value).map(([key, of]) => [toKey(key), of]));
    return { from: value, list: null, map, keys: sorted([...map.keys()]), at: 0 };
  } else if (value instanceof RawBencode) out.bytes(value.bytes);
  else throw invalidArgument(`A value of type ${nameOf(value)} cannot be encoded`);
  return null;
}

/** A Map of latin1 keys. Most Maps are that already. */
function withTextKeys(map: ReadonlyMap<string | Uint8Array, Encodable>): ReadonlyMap<string, Encodable> {
  let hasBytes = false;
  for (const key of map.keys()) hasBytes ||= isUint8Array(key);
  if (!hasBytes) return map as ReadonlyMap<string, Encodable>;
  const entries = [...map].map(([key, value]): [string, Encodable] => [
    isUint8Array(key) ? latin1Text(key) : key,
    value,
  ]);
  const result = new Map(entries);
  if (result.size === entries.length) return result;
  throw invalidArgument('A dictionary has a key twice: as bytes and as text');
}

function isPlainObject(value: unknown): value is Readonly<Record<string, Encodable>> {
  if (value === null || typeof value !== 'object' || isProxy(value)) return false;
  const prototype = Object.getPrototypeOf(value) as object | null;
  return prototype === null || isObjectPrototype(prototype);
}

function nameOf(value: unknown): string {
  if (isProxy(value)) return 'proxy';
  return value === null ? 'null' : typeof value;
}

/** Sorts latin1 keys: comparing their code units compares bytes. */
function sorted(keys: string[]): string[] {
  for (const key of keys) if (typeof key !== 'string') throw badKey(key);
  for (let i = 1; i < keys.length; i += 1) {
    if ((keys[i - 1] as string) > (keys[i] as string)) return keys.sort((a, b) => (a < b ? -1 : 1));
  }
  return keys;
}

function badKey(key: unknown): MetainfoError {
  return invalidArgument(`The key ${shown(key)} is not a latin1 string with one character per byte`);
}

/** A buffer of bencode that grows. Short values are copied into chunks; long byte strings are kept as views until the end. */
class Writer {
  readonly #parts: Uint8Array[] = [];
  #chunk = shortBytes(SHORT);
  /** The start of the bytes in the chunk that are not yet in `#parts`. */
  #start = 0;
  #at = 0;

  byte(byte: number): void {
    this.#reserve(1);
    this.#chunk[this.#at] = byte;
    this.#at += 1;
  }

  integer(value: number | bigint): void {
    if (typeof value === 'number' && !Number.isSafeInteger(value))
      throw invalidArgument(`${value} is not a safe integer: use a bigint`);
    this.byte(INTEGER);
    // Number -0 prints as 0.
    this.latin1(value.toString());
    this.byte(END);
  }

  key(key: string): void {
    if (!codeUnitsAtMost(key, 0xff)) throw badKey(key);
    this.#length(key.length);
    this.latin1(key);
  }

  text(text: string): void {
    if (!codeUnitsAtMost(text, 0x7f)) {
      this.string(utf8Bytes(text));
      return;
    }
    this.#length(text.length);
    this.latin1(text);
  }

  string(bytes: Uint8Array): void {
    this.#length(bytes.length);
    this.bytes(bytes);
  }

  bytes(bytes: Uint8Array): void {
    if (bytes.length > SHORT) {
      this.#flush();
      this.#parts.push(bytes);
      return;
    }
    this.#reserve(bytes.length);
    this.#chunk.set(bytes, this.#at);
    this.#at += bytes.length;
  }

  /** Writes a latin1 string, one byte per character, without a length. */
  latin1(text: string): void {
    if (text.length > SHORT) {
      this.bytes(latin1Bytes(text));
      return;
    }
    this.#reserve(text.length);
    const chunk = this.#chunk;
    const at = this.#at;
    for (let i = 0; i < text.length; i += 1) chunk[at + i] = text.charCodeAt(i);
    this.#at = at + text.length;
  }

  /** Everything that was written, as parts that follow each other. */
  parts(): readonly Uint8Array[] {
    this.#flush();
    return this.#parts;
  }

  #length(length: number): void {
    this.latin1(String(length));
    this.byte(COLON);
  }

  #reserve(size: number): void {
    if (this.#at + size <= this.#chunk.length) return;
    this.#flush();
    this.#chunk = shortBytes(Math.min(LARGEST_CHUNK, this.#chunk.length * 4));
    this.#start = 0;
    this.#at = 0;
  }

  #flush(): void {
    if (this.#at > this.#start) this.#parts.push(this.#chunk.subarray(this.#start, this.#at));
    this.#start = this.#at;
  }
}
