import { isSharedArrayBuffer } from 'node:util/types';
import { MetainfoError } from '../errors/errors.ts';
import { bytesOf, expected, Flag, type OptionStructs, options, Text, Unchecked } from '../errors/guard.ts';
import { LimitError, type LimitName, type Limits, limitsOf } from './limits.ts';
import { type BencodeMap, type BencodeValue, RawBencode } from './value.ts';

/**
 * What can be wrong with the bytes: stable names of the rules of bencode (BEP 3).
 *
 * @enum
 */
export const BENCODE_CODES = {
  bad_character: 'A byte that starts no value.',
  bad_integer: 'An integer that is not digits up to an `e`.',
  bad_length: "A string's length that is not digits and a colon.",
  duplicate_key: 'A key that comes twice in a dictionary.',
  empty: 'No data.',
  key_not_string: 'A key that is not a string.',
  leading_zero: 'An integer or a length with leading zeros.',
  missing_value: 'A key without a value.',
  negative_zero: 'The integer `-0`.',
  trailing_data: 'Data after the end.',
  truncated: 'Data that ends too early.',
  unsorted_key: 'Keys that are not in byte order.',
} as const;
/**
 * A name of {@link BENCODE_CODES}.
 *
 * @useDeclaredType
 */
export type BencodeCode = keyof typeof BENCODE_CODES;

/** Bytes that are not canonical bencode. */
export class BencodeError extends MetainfoError {
  override readonly name = 'BencodeError';
  /** The rule that is broken. */
  readonly bencodeCode: BencodeCode;
  /** Where in the input, in bytes. */
  readonly offset: number;
  /** The message without its place. */
  readonly reason: string;

  /** An error whose message begins with its place. */
  constructor(bencodeCode: BencodeCode, offset: number, message: string) {
    super('ERR_BENCODE', `Not valid bencode at byte ${offset}: ${message}.`);
    this.bencodeCode = bencodeCode;
    this.offset = offset;
    this.reason = message;
  }
}

/** Codes of errors that do not change the decoded value. libtorrent accepts them in v1 torrents. */
export type ForgivableCode = 'duplicate_key' | 'leading_zero' | 'negative_zero' | 'trailing_data' | 'unsorted_key';

/** How {@link decode} decodes. */
export interface DecodeOptions {
  /** A top-level key whose value's place is wanted. */
  span?: string;
  /** Collect forgivable errors in `errors` instead of throwing the first. Of duplicate keys, the first counts. */
  tolerant?: boolean;
  /** Lists and dictionaries to check but not to build, in the dictionary of a top-level key: they become RawBencode. */
  raw?: {
    /** The top-level key. */
    within: string;
    /** Keys of that dictionary, latin1. */
    keys: ReadonlySet<string>;
  };
  /** `files`, `paths`, `pieces` and `padding` bound torrents only. */
  limits?: Limits;
}

/** A part of the input. */
export interface Span {
  /** The first byte. */
  start: number;
  /** The first byte past it. */
  end: number;
}

/** What {@link decode} gives. */
export interface Decoded {
  /** Mostly a dictionary, which is a Map. */
  value: BencodeValue;
  /** Forgivable errors in the order of the input, at most 100. Empty unless `tolerant`. */
  errors: BencodeError[];
  /** Where the value of the top-level key named by `span` is; null when there is none. */
  span: Span | null;
}

const ZERO = 0x30;
const NINE = 0x39;
const MINUS = 0x2d;
const COLON = 0x3a;
const DICTIONARY = 0x64;
const END = 0x65;
const INTEGER = 0x69;
const LIST = 0x6c;

const MAX_ERRORS = 100;
/** Number('9007199254740991') has 16 digits: one less is always exact. */
const SAFE_DIGITS = 15;

interface Container {
  list: BencodeValue[] | null;
  map: BencodeMap | null;
  start: number;
  /** The key whose value comes next. */
  key: string | null;
  /** The key before it. */
  last: string | null;
}

/** A list or dictionary that is checked and not built: where its last key was is all there is to remember. */
interface SkippedLevel {
  isMap: boolean;
  /** Whether a key waits for its value. */
  hasKey: boolean;
  lastFrom: number;
  lastTo: number;
}

/**
 * Decodes strict bencode: refuses leading zeros, `-0`, unsorted and duplicate keys, trailing data and anything cut
 * short, with the offset. Does not recurse. Byte strings are views of `bytes`.
 *
 * @throws {BencodeError}
 * @throws {LimitError} for more than `limits` allow
 */
export function decode(bytes: Uint8Array, given: DecodeOptions = {}): Decoded {
  return decodeTrusted(bytesOf('bytes', bytes), options(given, DECODE, { example: "{ span: 'info' }" }));
}

const Raw = expected<DecodeOptions['raw']>('an object with the text within and the set keys', (value) => {
  const { within, keys } = (value ?? {}) as Partial<NonNullable<DecodeOptions['raw']>>;
  return typeof within === 'string' && keys instanceof Set;
});
const DECODE: OptionStructs<DecodeOptions> = { span: Text, tolerant: Flag, raw: Raw, limits: Unchecked };

/** The same of bytes and options of our own, which may come by the million. */
export function decodeTrusted(bytes: Uint8Array, given: DecodeOptions): Decoded {
  return new Decoder(bytes, given).run();
}

class Decoder {
  readonly #bytes: Uint8Array;
  /** The same memory with Buffer's latin1 decoding. */
  readonly #buffer: Buffer;
  readonly #spanKey: string | null;
  readonly #limits: Readonly<Record<LimitName, number>>;
  readonly #tolerant: boolean;
  readonly #raw: DecodeOptions['raw'];
  readonly #errors: BencodeError[] = [];
  #itemsLeft: number;
  #at = 0;
  #span: { start: number; end: number } | null = null;
  #spanStart = -1;
  readonly #stack: Container[] = [];

  constructor(bytes: Uint8Array, { span, tolerant = false, raw, limits }: DecodeOptions) {
    this.#limits = limitsOf(limits);
    if (bytes.length > this.#limits.bytes) throw this.#beyond('bytes', this.#limits.bytes);
    if (bytes.length === 0) throw new BencodeError('empty', 0, 'there is no data');
    // Another thread could change what was checked already.
    this.#bytes = isSharedArrayBuffer(bytes.buffer) ? new Uint8Array(bytes) : bytes;
    const { buffer, byteOffset, byteLength } = this.#bytes;
    this.#buffer = Buffer.from(buffer, byteOffset, byteLength);
    this.#spanKey = span ?? null;
    this.#tolerant = tolerant;
    this.#raw = raw;
    this.#itemsLeft = this.#limits.items;
  }

  run(): Decoded {
    for (;;) {
      const value = this.#next();
      if (value === null) continue;
      if (this.#stack.length === 0) {
        if (this.#at !== this.#bytes.length) this.#forgivable('trailing_data', this.#at, 'there is data after the end');
        return { value, errors: this.#errors, span: this.#span };
      }
      this.#store(value);
    }
  }

  /** Reads up to one value, or opens a container and returns null: the stack's top then has it. */
  #next(): BencodeValue | null {
    const top = this.#stack.at(-1);
    const start = this.#at;
    const byte = this.#byte();
    if (byte === END && top) return this.#close(top);
    if (top?.map && top.key === null) {
      this.#readKey(top);
      return null;
    }
    this.#count(start);
    if ((byte === LIST || byte === DICTIONARY) && this.#raw && this.#isRaw(this.#raw, top)) {
      // Whoever asks for it knows that it is there.
      return this.#skipContainer() as unknown as BencodeValue;
    }
    switch (byte) {
      case INTEGER:
        return this.#readInteger();
      case LIST:
        return this.#open({ list: [], map: null, start, key: null, last: null });
      case DICTIONARY:
        return this.#open({ list: null, map: new Map(), start, key: null, last: null });
      default:
        return this.#readString();
    }
  }

  #isRaw({ within, keys }: NonNullable<DecodeOptions['raw']>, top: Container | undefined): boolean {
    return this.#stack.length === 2 && this.#stack[0]?.key === within && keys.has(top?.key ?? '');
  }

  /** Checks a list or dictionary as if it were built, without building it. */
  #skipContainer(): RawBencode {
    const start = this.#at;
    // Levels are used again and again: a list of files has two for each file.
    const levels: SkippedLevel[] = [];
    let depth = 0;
    let top: SkippedLevel | null = null;
    for (;;) {
      const byte = this.#byteAt(this.#at);
      if (top?.isMap && !top.hasKey && byte !== END) {
        this.#skipKey(top, byte);
        continue;
      }
      if (byte === END && top) {
        if (top.hasKey) throw this.#error('missing_value', this.#at, 'a key has no value');
        this.#at += 1;
        depth -= 1;
        if (depth === 0) return new RawBencode(this.#bytes.subarray(start, this.#at));
        top = levels[depth - 1] as SkippedLevel;
        continue;
      }
      if (top) {
        // What opened the outermost one is counted already.
        this.#count(this.#at);
        top.hasKey = false;
      }
      if (byte === LIST || byte === DICTIONARY) {
        this.#requireDepth(this.#stack.length + depth, this.#at);
        top = levels[depth] ??= { isMap: false, hasKey: false, lastFrom: -1, lastTo: -1 };
        top.isMap = byte === DICTIONARY;
        top.hasKey = false;
        top.lastFrom = -1;
        depth += 1;
        this.#at += 1;
      } else if (byte === INTEGER) this.#passInteger();
      else this.#passText();
    }
  }

  #skipKey(level: SkippedLevel, byte: number): void {
    const start = this.#at;
    if (byte < ZERO || byte > NINE) throw this.#error('key_not_string', start, 'a key must be a string');
    this.#count(start);
    const from = this.#passText();
    const to = this.#at;
    if (level.lastFrom >= 0) {
      const order = this.#compare(level.lastFrom, level.lastTo, from, to);
      if (order === 0) this.#forgivable('duplicate_key', start, 'a key comes twice');
      else if (order > 0) this.#forgivable('unsorted_key', start, 'keys are not in byte order');
    }
    level.hasKey = true;
    level.lastFrom = from;
    level.lastTo = to;
  }

  #compare(aFrom: number, aTo: number, bFrom: number, bTo: number): number {
    const length = Math.min(aTo - aFrom, bTo - bFrom);
    for (let i = 0; i < length; i += 1) {
      const order = (this.#bytes[aFrom + i] as number) - (this.#bytes[bFrom + i] as number);
      if (order !== 0) return order;
    }
    return aTo - aFrom - (bTo - bFrom);
  }

  #store(value: BencodeValue): void {
    const top = this.#stack.at(-1) as Container;
    if (top.list) {
      top.list.push(value);
      return;
    }
    const key = top.key as string;
    const isSpan = this.#stack.length === 1 && key === this.#spanKey;
    if (isSpan && this.#spanStart >= 0) this.#span ??= { start: this.#spanStart, end: this.#at };
    // Only a tolerant decoder gets here with a key that comes twice.
    if (!top.map?.has(key)) top.map?.set(key, value);
    top.key = null;
  }

  #open(container: Container): null {
    this.#requireDepth(this.#stack.length, container.start);
    this.#at += 1;
    this.#stack.push(container);
    return null;
  }

  #requireDepth(depth: number, start: number): void {
    if (depth >= this.#limits.depth) throw this.#beyond('depth', start);
  }

  #close(top: Container): BencodeValue {
    if (top.key !== null) throw this.#error('missing_value', this.#at, 'a key has no value');
    this.#at += 1;
    this.#stack.pop();
    return (top.list ?? top.map) as BencodeValue;
  }

  #readKey(top: Container): void {
    const start = this.#at;
    const byte = this.#byte();
    if (byte < ZERO || byte > NINE) throw this.#error('key_not_string', start, 'a key must be a string');
    this.#count(start);
    const from = this.#passText();
    const key = this.#buffer.toString('latin1', from, this.#at);
    if (top.last !== null && key <= top.last) {
      if (key === top.last) this.#forgivable('duplicate_key', start, 'a key comes twice');
      else this.#forgivable('unsorted_key', start, 'keys are not in byte order');
    }
    top.key = key;
    top.last = key;
    if (this.#stack.length === 1 && key === this.#spanKey) this.#spanStart = this.#at;
  }

  #readString(): Uint8Array {
    const from = this.#passString();
    return this.#bytes.subarray(from, this.#at);
  }

  /** Reads `<length>:` and passes over the string; gives where it begins. */
  #passString(): number {
    const start = this.#at;
    let length = 0;
    let at = start;
    for (; ; at += 1) {
      const byte = this.#byteAt(at);
      if (byte === COLON && at > start) break;
      if (byte < ZERO || byte > NINE) {
        const code = at === start ? 'bad_character' : 'bad_length';
        throw this.#error(
          code,
          at,
          at === start ? 'no value starts with this byte' : 'a length must be digits and a colon',
        );
      }
      if (at === start + 1 && length === 0) this.#forgivable('leading_zero', start, 'a length has a leading zero');
      length = length * 10 + (byte - ZERO);
      if (length > this.#bytes.length) throw this.#error('truncated', start, 'a string is longer than the data');
    }
    const from = at + 1;
    const to = from + length;
    if (to > this.#bytes.length) throw this.#error('truncated', start, 'a string is longer than the data');
    this.#at = to;
    return from;
  }

  /** The same of what becomes text: Node ends with an error of its own at half a GiB. */
  #passText(): number {
    const start = this.#at;
    const from = this.#passString();
    if (this.#at - from > this.#limits.text) throw this.#beyond('text', start);
    return from;
  }

  #readInteger(): number | bigint {
    const first = this.#at + 1;
    this.#passInteger();
    const text = this.#buffer.toString('latin1', first, this.#at - 1);
    // Adding 0 makes -0 a 0.
    if (text.length <= SAFE_DIGITS) return Number(text) + 0;
    const value = BigInt(text);
    return value >= Number.MIN_SAFE_INTEGER && value <= Number.MAX_SAFE_INTEGER ? Number(value) : value;
  }

  /** Checks an integer and passes over it. */
  #passInteger(): void {
    const start = this.#at;
    const first = start + 1;
    const negative = this.#byteAt(first) === MINUS;
    const digits = negative ? first + 1 : first;
    let at = digits;
    for (let byte = this.#byteAt(at); byte !== END; byte = this.#byteAt(at)) {
      if (byte < ZERO || byte > NINE) throw this.#error('bad_integer', at, 'an integer must be digits up to an e');
      if (at - digits >= this.#limits.digits) throw this.#beyond('digits', start);
      at += 1;
    }
    const count = at - digits;
    if (count === 0) throw this.#error('bad_integer', start, 'an integer has no digits');
    if (this.#bytes[digits] === ZERO) {
      if (negative && count === 1) this.#forgivable('negative_zero', start, 'an integer is -0');
      if (count > 1) this.#forgivable('leading_zero', start, 'an integer has leading zeros');
    }
    this.#at = at + 1;
  }

  #byte(): number {
    return this.#byteAt(this.#at);
  }

  #byteAt(at: number): number {
    const byte = this.#bytes[at];
    if (byte === undefined) throw this.#error('truncated', this.#bytes.length, 'the data ends too early');
    return byte;
  }

  #count(offset: number): void {
    this.#itemsLeft -= 1;
    if (this.#itemsLeft < 0) throw this.#beyond('items', offset);
  }

  #forgivable(code: ForgivableCode, offset: number, message: string): void {
    if (!this.#tolerant) throw this.#error(code, offset, message);
    // An error takes its stack with it: far more time than a byte of input may take.
    if (this.#errors.length < MAX_ERRORS) this.#errors.push(this.#error(code, offset, message));
  }

  #beyond(limit: LimitName, offset: number): LimitError {
    return new LimitError(limit, this.#limits[limit], offset);
  }

  #error(code: BencodeCode, offset: number, message: string): BencodeError {
    return new BencodeError(code, offset, message);
  }
}
