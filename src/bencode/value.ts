/** The types of bencoded values, and conversions between text, keys and bytes. */
import { bytesOf } from '../errors/guard.ts';
import { shareClass } from '../errors/shared.ts';
import {
  copyOf,
  isMap,
  isProxy,
  isUint8Array,
  isUtf8,
  latin1Bytes,
  latin1Text,
  utf8Bytes,
  utf8Text,
} from '../platform/node.ts';

/**
 * A decoded value (BEP 3). Byte strings are views of the input. Integers are numbers if those are exact, otherwise bigints.
 * Dictionary keys are latin1 strings with one character per byte: so `<` compares bytes, and keys that are not UTF-8
 * round-trip.
 */
export type BencodeValue = bigint | number | Uint8Array | BencodeValue[] | BencodeMap;
/** A dictionary in the order of its keys. Keys are latin1 strings with one character per byte. */
export type BencodeMap = Map<string, BencodeValue>;

/** The bytes of ASCII that structure bencode. A file that looks at every byte takes them apart: its own constants are faster. */
export const BYTES = {
  ZERO: 0x30,
  NINE: 0x39,
  MINUS: 0x2d,
  COLON: 0x3a,
  DICTIONARY: 0x64,
  END: 0x65,
  INTEGER: 0x69,
  LIST: 0x6c,
} as const;

/** 2^53 has 16 digits, so an integer of 15 digits is always exact in a number. */
export const SAFE_DIGITS = 15;

/** Bytes that are bencode already: {@link encode} writes them unchanged. An example is the raw `info` of a torrent. */
export class RawBencode {
  /** The bencode of exactly one value. */
  readonly bytes: Uint8Array;

  /**
   * Wraps bytes without copying them, and without checking that they are bencode.
   *
   * @throws {MetainfoError} `ERR_INVALID_ARGUMENT` when `bytes` is not a Uint8Array
   */
  constructor(bytes: Uint8Array) {
    this.bytes = bytesOf('bytes', bytes);
  }
}
shareClass(RawBencode, 'RawBencode');

/** A value that {@link encode} accepts: a decoded or dumped value, a string (written as UTF-8) or raw bencode. */
export type Encodable =
  | bigint
  | number
  | string
  | Uint8Array
  | RawBencode
  | readonly Encodable[]
  | ReadonlyMap<string | Uint8Array, Encodable>
  | { readonly [key: string]: Encodable };

/** Whether a value is Object.prototype, of this realm or of another one, such as the vm context of a test runner. */
export function isObjectPrototype(value: object): boolean {
  return Object.getPrototypeOf(value) === null && Object.hasOwn(value, 'isPrototypeOf');
}

/** Turns text into a dictionary key: a latin1 string with one character per UTF-8 byte. */
export function toKey(text: string): string {
  if (codeUnitsAtMost(text, 0x7f)) return text;
  return latin1Text(utf8Bytes(text));
}

/** Whether every UTF-16 code unit of a text is at most `max`. */
export function codeUnitsAtMost(text: string, max: number): boolean {
  for (let i = 0; i < text.length; i += 1) if (text.charCodeAt(i) > max) return false;
  return true;
}

/** Turns a dictionary key into the bytes that it stands for. */
export function keyBytes(key: string): Uint8Array {
  return latin1Bytes(key);
}

/**
 * Decodes a byte string as UTF-8; returns null if it is not UTF-8. A torrent may hold millions of invalid strings, and a
 * TextDecoder would throw for each, which takes 100 times as long.
 */
export function textOrNull(bytes: Uint8Array, from = 0, to = bytes.length): string | null {
  let at = from;
  while (at < to && (bytes[at] as number) < 0x80) at += 1;
  if (at === to) return latin1Text(bytes, from, to);
  return isUtf8(bytes.subarray(at, to)) ? utf8Text(bytes, from, to) : null;
}

/**
 * Compares two texts by their UTF-8 bytes, as bencode orders keys. JavaScript's `<` compares UTF-16 code units, which puts
 * U+E000 to U+FFFF after all higher characters.
 */
export function compareUtf8(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i += 1) {
    const left = a.charCodeAt(i);
    const right = b.charCodeAt(i);
    if (left !== right) return utf8Rank(left) - utf8Rank(right);
  }
  return a.length - b.length;
}

/** Ranks surrogates, which encode the highest characters, above all other code units. */
function utf8Rank(unit: number): number {
  if (unit >= 0xe000) return unit - 0x800;
  return unit >= 0xd800 ? unit + 0x2000 : unit;
}

/** A copy of a value with all lists, dictionaries and bytes in it. Other objects are kept. A value may contain itself. */
export function copyOfValue<T>(value: T): T {
  const copies = new Map<unknown, unknown[] | Map<unknown, unknown>>();
  const copied = (one: unknown): unknown => {
    if (isUint8Array(one)) return copyOf(one);
    if (one instanceof RawBencode) return new RawBencode(copyOf(one.bytes));
    if (!(isMap(one) || Array.isArray(one)) || isProxy(one)) return one;
    const copy = copies.get(one) ?? (isMap(one) ? new Map() : []);
    copies.set(one, copy);
    return copy;
  };
  const result = copied(value) as T;
  // Iterating a Map also visits the entries that are added meanwhile.
  for (const [original, copy] of copies) {
    if (Array.isArray(copy)) for (const item of original as unknown[]) copy.push(copied(item));
    else for (const [key, item] of original as Map<unknown, unknown>) copy.set(key, copied(item));
  }
  return result;
}
