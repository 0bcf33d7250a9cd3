/** A cursor over checked bencode: reads large, regular structures in place, without building values. */
import { latin1Bytes, latin1Text } from '../platform/node.ts';
import { BYTES, SAFE_DIGITS, textOrNull } from './value.ts';

const { COLON, DICTIONARY, END, INTEGER, LIST, MINUS, ZERO } = BYTES;
const BACKSLASH = 0x5c;
const SLASH = 0x2f;
const DOT = 0x2e;

/** Returns the bytes of ASCII bencode, for {@link Cursor.skipExpected}. */
export function template(text: string): Uint8Array {
  return latin1Bytes(text);
}

/** Reads bencode in place. The decoder must have checked the bytes before. */
export class Cursor {
  readonly bytes: Uint8Array;
  /** The offset of the next byte to read. */
  at = 0;
  /** Whether the last text needs the full checks of a file name: it is not ASCII, or has dots or path separators. */
  suspicious = false;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }

  get next(): number {
    return this.bytes[this.at] as number;
  }

  get atEnd(): boolean {
    return this.bytes[this.at] === END;
  }

  /** Skips the expected bytes if they come next, and returns whether they did. */
  skipExpected(expected: Uint8Array): boolean {
    const { bytes, at } = this;
    for (let i = 0; i < expected.length; i += 1) if (bytes[at + i] !== expected[i]) return false;
    this.at = at + expected.length;
    return true;
  }

  /** Reads the rest of an integer up to its `e`. Returns -1 if it is negative or has more than 15 digits. */
  digits(): number {
    let value = 0;
    const start = this.at;
    for (; this.next !== END; this.at += 1) value = value * 10 + this.next - ZERO;
    const plain = this.bytes[start] !== MINUS && this.at - start <= SAFE_DIGITS && this.at > start;
    this.at += 1;
    return plain ? value : -1;
  }

  /** Skips a string and returns where it begins. It ends at `at`. */
  skipString(): number {
    let length = 0;
    for (; this.next !== COLON; this.at += 1) length = length * 10 + this.next - ZERO;
    const from = this.at + 1;
    this.at = from + length;
    return from;
  }

  /** Reads a string as text and sets `suspicious`. Returns null if it is not UTF-8. */
  text(): string | null {
    const from = this.skipString();
    const to = this.at;
    let ascii = true;
    let odd = to - from === 0;
    for (let i = from; i < to; i += 1) {
      const byte = this.bytes[i] as number;
      if (byte >= 0x80) ascii = false;
      if (byte === SLASH || byte === BACKSLASH || byte === COLON || byte === 0 || (byte === DOT && to - from <= 2))
        odd = true;
    }
    this.suspicious = odd || !ascii;
    return ascii ? latin1Text(this.bytes, from, to) : textOrNull(this.bytes, from, to);
  }

  /** Reads a string as latin1, one character per byte. */
  latin1(): string {
    const from = this.skipString();
    return latin1Text(this.bytes, from, this.at);
  }

  /** Skips one value. */
  skip(): void {
    let depth = 0;
    do {
      const byte = this.next;
      if (byte === DICTIONARY || byte === LIST) {
        depth += 1;
        this.at += 1;
      } else if (byte === END) {
        depth -= 1;
        this.at += 1;
      } else if (byte === INTEGER) this.at = this.bytes.indexOf(END, this.at) + 1;
      else this.skipString();
    } while (depth > 0);
  }
}
