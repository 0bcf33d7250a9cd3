import { textOrNull } from './value.ts';

const ZERO = 0x30;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
const SLASH = 0x2f;
const DOT = 0x2e;
const DICTIONARY = 0x64;
const END = 0x65;
const INTEGER = 0x69;
const LIST = 0x6c;

/** More digits may not be exact in a number. */
const SAFE_DIGITS = 15;

/** The bytes of ASCII bencode, for {@link Cursor.pass}. */
export function template(text: string): Uint8Array {
  return Buffer.from(text, 'latin1');
}

/** Reads bencode that a decoder has checked, in place: large regular structures need no values in between. */
export class Cursor {
  readonly bytes: Uint8Array;
  /** Where the next byte to read is. */
  at = 0;
  /** Whether the last text may be more than a plain file name: it is not ASCII, or has dots or separators of paths. */
  suspicious = false;
  readonly #buffer: Buffer & { latin1Slice(start: number, end: number): string };

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
    this.#buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength) as never;
  }

  /** The next byte. */
  get next(): number {
    return this.bytes[this.at] as number;
  }

  get atEnd(): boolean {
    return this.bytes[this.at] === END;
  }

  /** Passes over these very bytes, if they are next. */
  pass(expected: Uint8Array): boolean {
    const { bytes, at } = this;
    for (let i = 0; i < expected.length; i += 1) if (bytes[at + i] !== expected[i]) return false;
    this.at = at + expected.length;
    return true;
  }

  /** The rest of an integer from 0, past its `e`; -1 when it is negative or large. */
  digits(): number {
    let value = 0;
    const start = this.at;
    for (; this.next !== END; this.at += 1) value = value * 10 + this.next - ZERO;
    const plain = this.bytes[start] !== 0x2d && this.at - start <= SAFE_DIGITS && this.at > start;
    this.at += 1;
    return plain ? value : -1;
  }

  /** Passes over a string; gives where it begins. It ends at `at`. */
  string(): number {
    let length = 0;
    for (; this.next !== COLON; this.at += 1) length = length * 10 + this.next - ZERO;
    const from = this.at + 1;
    this.at = from + length;
    return from;
  }

  /** A string as text, and whether it is suspicious; null when it is no UTF-8. */
  text(): string | null {
    const from = this.string();
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
    return ascii ? this.#buffer.latin1Slice(from, to) : textOrNull(this.bytes, from, to);
  }

  /** A string, one char a byte. */
  latin1(): string {
    const from = this.string();
    return this.#buffer.latin1Slice(from, this.at);
  }

  /** Passes over one value. */
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
      else this.string();
    } while (depth > 0);
  }
}
