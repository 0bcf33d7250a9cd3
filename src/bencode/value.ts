import { isUtf8 } from 'node:buffer';
import { bytesOf } from '../errors/guard.ts';

/**
 * What bencode can say (BEP 3). Byte strings are views of the bytes that were read. Integers are numbers where that is
 * exact, else bigints. Keys are latin1 strings, one char a byte: comparing them with `<` is comparing bytes, and a key
 * that is no UTF-8 survives.
 */
export type BencodeValue = bigint | number | Uint8Array | BencodeValue[] | BencodeMap;
/** A dictionary in the order of its keys, which are latin1 strings: one char a byte. */
export type BencodeMap = Map<string, BencodeValue>;

/** Bytes that are bencode already and are written as they are, such as a torrent's raw `info`. */
export class RawBencode {
  /** One whole value. */
  readonly bytes: Uint8Array;

  /** Views the bytes; that they are bencode is not checked. */
  constructor(bytes: Uint8Array) {
    this.bytes = bytesOf('bytes', bytes);
  }
}

/** What {@link encode} takes: decoded values and, for convenience, text (written as UTF-8) and raw bencode. */
export type Encodable =
  | bigint
  | number
  | string
  | Uint8Array
  | RawBencode
  | readonly Encodable[]
  | ReadonlyMap<string, Encodable>;

/** Text as a dictionary key: its UTF-8 bytes, one char each. */
export function toKey(text: string): string {
  if (isWithin(text, 0x7f)) return text;
  return Buffer.from(text, 'utf8').toString('latin1');
}

/** Whether no character of a text is above `most`. */
export function isWithin(text: string, most: number): boolean {
  for (let i = 0; i < text.length; i += 1) if (text.charCodeAt(i) > most) return false;
  return true;
}

/** A dictionary key as bytes. */
export function keyBytes(key: string): Buffer {
  return Buffer.from(key, 'latin1');
}

const { latin1Slice, utf8Slice } = Buffer.prototype as unknown as Record<
  'latin1Slice' | 'utf8Slice',
  (this: Uint8Array, start: number, end: number) => string
>;

/**
 * A byte string as text; null when it is not UTF-8. A TextDecoder would throw instead, which takes 100 times as long: a
 * torrent may hold millions of such strings.
 */
export function textOrNull(bytes: Uint8Array, from = 0, to = bytes.length): string | null {
  let at = from;
  while (at < to && (bytes[at] as number) < 0x80) at += 1;
  if (at === to) return latin1Slice.call(bytes, from, to);
  return isUtf8(bytes.subarray(at, to)) ? utf8Slice.call(bytes, from, to) : null;
}

/** A byte string as text, with U+FFFD for what is not UTF-8. */
export function lossyText(bytes: Uint8Array): string {
  return utf8Slice.call(bytes, 0, bytes.length);
}

/**
 * The order of two texts by their UTF-8 bytes, as bencode orders keys. JavaScript's own `<` compares UTF-16 units, which
 * puts U+E000 to U+FFFF after the characters beyond them.
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

/** Moves surrogates (which stand for the highest characters) above the rest of the 16-bit range. */
function utf8Rank(unit: number): number {
  if (unit >= 0xe000) return unit - 0x800;
  return unit >= 0xd800 ? unit + 0x2000 : unit;
}
