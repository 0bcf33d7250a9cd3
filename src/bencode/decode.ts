/** The bencode decoder: strict, iterative and bounded by limits. It knows nothing of torrents. */
import { bytesOf, checkOptions, Flag, type OptionStructs, Text, Unchecked } from '../errors/guard.ts';
import { heapLimit, isSharedArrayBuffer, latin1Text } from '../platform/node.ts';
import { type BencodeCode, BencodeError, type ForgivableCode } from './bencode-error.ts';
import { DEFAULT_LIMITS, LimitError, type LimitName, type Limits, limitsOf } from './limits.ts';
import { notBencode, tooManyBytes } from './other-format.ts';
import { type BencodeMap, type BencodeValue, BYTES, RawBencode, SAFE_DIGITS } from './value.ts';

/** The options of {@link decode}. */
export interface DecodeOptions {
  /** A top-level key: {@link Decoded.span} then says where its value lies in the input. */
  span?: string;
  /**
   * Collect errors that do not change the value (unsorted and duplicate keys, leading zeros, `-0`, trailing data) in
   * {@link Decoded.errors} instead of throwing the first. The first of two equal keys wins.
   *
   * @default false
   */
  tolerant?: boolean;
  /**
   * Bounds of time and memory. `files`, `paths`, `pieces` and `padding` apply to torrents only.
   *
   * @default {@link DEFAULT_LIMITS}
   */
  limits?: Limits;
}

/** A range of bytes of the input. */
export interface Span {
  /** The first byte of the range. */
  start: number;
  /** The first byte after the range. */
  end: number;
}

/** The result of {@link decode}. */
export interface Decoded {
  /** The decoded value. A dictionary is a Map with latin1 keys. */
  value: BencodeValue;
  /** The errors that `tolerant` forgave, in the order of the input, at most 100. Empty unless `tolerant`. */
  errors: BencodeError[];
  /** The place of the value of the top-level key that `span` names; null if there is none. */
  span: Span | null;
}

const { COLON, DICTIONARY, END, INTEGER, LIST, MINUS, NINE, ZERO } = BYTES;

const MAX_ERRORS = 100;

/** The heap is looked at only once there are so many values: fewer fit into any. */
const MANY_ITEMS = 2 ** 15;
/** Bytes of the heap for each value: it takes up to 200, and edits hold two torrents and what they make of them. */
const HEAP_PER_ITEM = 700;

/** A list or dictionary whose end was not reached yet. Both `list` and `map` are null in a raw one, which is not built. */
interface Container {
  list: BencodeValue[] | null;
  map: BencodeMap | null;
  isMap: boolean;
  start: number;
  /** Whether a key was read and its value comes next. */
  hasKey: boolean;
  /** That key; empty in a raw dictionary. */
  key: string;
  /** Where the last key is in the bytes; -1 before the first one. */
  keyFrom: number;
  keyTo: number;
}

/** Stands for every value within a raw one. */
const SKIPPED = 0;

/**
 * Decodes canonical bencode (BEP 3). It rejects leading zeros, `-0`, unsorted and duplicate keys, trailing data and
 * truncated input, with the offset. Byte strings are views of `bytes`, not copies. It does not recurse, so deep input
 * cannot overflow the stack.
 *
 * @param bytes One bencoded value, with nothing after it.
 * @throws {BencodeError} when the bytes are not canonical bencode
 * @throws {LimitError} when the input exceeds one of `limits`
 * @throws {MetainfoError} `ERR_INVALID_ARGUMENT` for an invalid argument or option
 *
 * @example
 * ```ts
 * import { type BencodeMap, decode } from 'metainfo';
 *
 * const { value, span } = decode(Buffer.from('d4:infod4:name5:albumee'), { span: 'info' });
 * const info = (value as BencodeMap).get('info') as BencodeMap;
 * console.log(Buffer.from(info.get('name') as Uint8Array).toString()); // album
 * console.log(span); // { start: 7, end: 22 }
 * ```
 */
export function decode(bytes: Uint8Array, options: DecodeOptions = {}): Decoded {
  return decodeTrusted(bytesOf('bytes', bytes), checkOptions(options, DECODE, { example: "{ span: 'info' }" }));
}

const DECODE: OptionStructs<DecodeOptions> = { span: Text, tolerant: Flag, limits: Unchecked };

/** The options of {@link decodeTrusted}. */
export interface TrustedDecodeOptions extends DecodeOptions {
  /** Lists and dictionaries to check without building them: they become {@link RawBencode}. */
  raw?: {
    /** The top-level key whose dictionary holds them; null for the top level itself. */
    within: string | null;
    /** Their keys in that dictionary, as latin1 strings. */
    keys: ReadonlySet<string>;
    /** Checks one of them at an offset, in less time than the decoder takes; null to leave it to the decoder. */
    check?(key: string, bytes: Uint8Array, at: number): CheckedValue | null;
  };
  /** Lists and dictionaries that become {@link RawBencode} unread: the bytes of each, by its one or two keys, joined with `/`. */
  encoded?: ReadonlyMap<string, number>;
}

/** A value that a caller has found to be canonical bencode. */
export interface CheckedValue {
  /** The offset of its end. */
  end: number;
  /** Values and keys in it. */
  items: number;
  /** Bytes of its longest string. */
  longest: number;
  /** Levels of lists and dictionaries in it. */
  depth: number;
}

/** Decodes without checking the arguments, for callers inside the library that decode millions of small values. */
export function decodeTrusted(bytes: Uint8Array, options: TrustedDecodeOptions): Decoded {
  return new Decoder(bytes, options).run();
}

class Decoder {
  readonly #bytes: Uint8Array;
  readonly #spanKey: string | null;
  readonly #limits: Readonly<Record<LimitName, number>>;
  readonly #tolerant: boolean;
  readonly #raw: TrustedDecodeOptions['raw'];
  readonly #encoded: TrustedDecodeOptions['encoded'];
  readonly #errors: BencodeError[] = [];
  #itemsLeft: number;
  /** Values and keys that were read here, not by {@link CheckedValue}, and the most that the heap holds. */
  #read = 0;
  #heapItems = Infinity;
  #at = 0;
  #span: { start: number; end: number } | null = null;
  #spanStart = -1;
  readonly #stack: Container[] = [];
  /** The depth of the raw list or dictionary that is being checked; -1 outside of one. */
  #rawDepth = -1;

  constructor(bytes: Uint8Array, { span, tolerant = false, raw, limits, encoded }: TrustedDecodeOptions) {
    this.#limits = limitsOf(limits);
    if (bytes.length > this.#limits.bytes) throw tooManyBytes(this.#limits.bytes, bytes);
    if (bytes.length === 0) throw new BencodeError('empty', 0, 'there is no data');
    // Another thread could change shared memory after it was checked.
    this.#bytes = isSharedArrayBuffer(bytes.buffer) ? new Uint8Array(bytes) : bytes;
    this.#spanKey = span ?? null;
    this.#tolerant = tolerant;
    this.#raw = raw;
    this.#encoded = encoded;
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

  /** Reads one value; returns null after a key, or after the start of a container, which is then the top of the stack. */
  #next(): BencodeValue | null {
    const top = this.#stack.at(-1);
    const start = this.#at;
    const byte = this.#byte();
    if (byte === END && top) return this.#close(top);
    if (top?.isMap && !top.hasKey) {
      this.#readKey(top);
      return null;
    }
    this.#count(start);
    const isSkipped = this.#rawDepth >= 0;
    switch (byte) {
      case INTEGER:
        return isSkipped ? this.#skipInteger() : this.#readInteger();
      case LIST:
      case DICTIONARY:
        // Only callers that set `raw` or `encoded` get raw values, and they expect them.
        return (this.#skipWhole(top) as BencodeValue | null) ?? this.#open(byte === DICTIONARY, top);
      default:
        return isSkipped ? this.#skipText() && SKIPPED : this.#readString();
    }
  }

  #isRaw({ within, keys }: NonNullable<TrustedDecodeOptions['raw']>, top: Container | undefined): boolean {
    const isWithin =
      within === null ? this.#stack.length === 1 : this.#stack.length === 2 && this.#stack[0]?.key === within;
    return isWithin && keys.has(top?.key ?? '');
  }

  /** Skips a list or dictionary that the caller has encoded or checks itself; null if it is none of those. */
  #skipWhole(top: Container | undefined): RawBencode | null {
    const depth = this.#stack.length;
    if (!top || depth > 2 || this.#rawDepth >= 0) return null;
    const size = this.#encoded?.get(depth === 1 ? `${top.key}` : `${this.#stack[0]?.key}/${top.key}`);
    const end = size === undefined ? this.#endOfChecked(top) : this.#at + size;
    if (end === null) return null;
    const start = this.#at;
    this.#at = end;
    return new RawBencode(this.#bytes.subarray(start, end));
  }

  /** The end of a raw value that the caller has checked, if it is within the limits. */
  #endOfChecked(top: Container): number | null {
    if (!this.#raw?.check || !this.#isRaw(this.#raw, top)) return null;
    const checked = this.#raw.check(top.key, this.#bytes, this.#at);
    const { text, depth, digits } = this.#limits;
    if (!checked || checked.longest > text || this.#stack.length + checked.depth >= depth || digits < SAFE_DIGITS)
      return null;
    if (checked.items > this.#itemsLeft) return null;
    this.#itemsLeft -= checked.items;
    return checked.end;
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
    top.hasKey = false;
    if (top.list) top.list.push(value);
    if (!top.map) return;
    const { key, map } = top;
    const isSpan = this.#stack.length === 1 && key === this.#spanKey;
    if (isSpan && this.#spanStart >= 0) this.#span ??= { start: this.#spanStart, end: this.#at };
    // Only a tolerant decoder gets here with a duplicate key: the first one wins.
    if (!map.has(key)) map.set(key, value);
  }

  #open(isMap: boolean, top: Container | undefined): null {
    const depth = this.#stack.length;
    const start = this.#at;
    if (depth >= this.#limits.depth) throw this.#beyond('depth', start);
    if (this.#raw && this.#rawDepth < 0 && this.#isRaw(this.#raw, top)) this.#rawDepth = depth;
    const isBuilt = this.#rawDepth < 0;
    const list = isBuilt && !isMap ? [] : null;
    const map = isBuilt && isMap ? new Map() : null;
    this.#stack.push({ list, map, isMap, start, hasKey: false, key: '', keyFrom: -1, keyTo: -1 });
    this.#at += 1;
    return null;
  }

  #close(top: Container): BencodeValue {
    if (top.hasKey) throw this.#error('missing_value', this.#at, 'a key has no value');
    this.#at += 1;
    this.#stack.pop();
    const built = top.list ?? top.map;
    if (built || this.#stack.length > this.#rawDepth) return built ?? SKIPPED;
    this.#rawDepth = -1;
    return new RawBencode(this.#bytes.subarray(top.start, this.#at)) as unknown as BencodeValue;
  }

  #readKey(top: Container): void {
    const start = this.#at;
    const byte = this.#byte();
    if (byte < ZERO || byte > NINE) throw this.#error('key_not_string', start, 'a key must be a string');
    this.#count(start);
    const from = this.#skipText();
    if (top.keyFrom >= 0) {
      const order = this.#compare(top.keyFrom, top.keyTo, from, this.#at);
      if (order === 0) this.#forgivable('duplicate_key', start, 'a key appears twice');
      else if (order > 0) this.#forgivable('unsorted_key', start, 'keys are not in byte order');
    }
    top.hasKey = true;
    top.keyFrom = from;
    top.keyTo = this.#at;
    if (!top.map) return;
    top.key = latin1Text(this.#bytes, from, this.#at);
    if (this.#stack.length === 1 && top.key === this.#spanKey) this.#spanStart = this.#at;
  }

  #readString(): Uint8Array {
    const from = this.#skipString();
    return this.#bytes.subarray(from, this.#at);
  }

  /** Reads `<length>:`, skips the string and returns where it begins. */
  #skipString(): number {
    const start = this.#at;
    let length = 0;
    let at = start;
    for (; ; at += 1) {
      const byte = this.#byteAt(at);
      if (byte === COLON && at > start) break;
      if (byte < ZERO || byte > NINE) {
        const other = start === 0 ? notBencode(this.#bytes) : null;
        if (other) throw other;
        if (at === start) throw this.#error('bad_character', at, 'no value starts with this byte');
        throw this.#error('bad_length', at, 'a length must be digits followed by a colon');
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

  /** Skips a string that becomes text: beyond half a GiB Node would throw an error of its own. */
  #skipText(): number {
    const start = this.#at;
    const from = this.#skipString();
    if (this.#at - from > this.#limits.text) throw this.#beyond('text', start);
    return from;
  }

  #readInteger(): number | bigint {
    const first = this.#at + 1;
    this.#skipInteger();
    const text = latin1Text(this.#bytes, first, this.#at - 1);
    // Adding 0 turns -0 into 0.
    if (text.length <= SAFE_DIGITS) return Number(text) + 0;
    const value = BigInt(text);
    return value >= Number.MIN_SAFE_INTEGER && value <= Number.MAX_SAFE_INTEGER ? Number(value) : value;
  }

  /** Checks an integer and skips it. */
  #skipInteger(): BencodeValue {
    const start = this.#at;
    const first = start + 1;
    const negative = this.#byteAt(first) === MINUS;
    const digits = negative ? first + 1 : first;
    let at = digits;
    for (let byte = this.#byteAt(at); byte !== END; byte = this.#byteAt(at)) {
      if (byte < ZERO || byte > NINE)
        throw this.#error('bad_integer', at, 'an integer must be digits followed by an e');
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
    return SKIPPED;
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
    this.#read += 1;
    if (this.#read === MANY_ITEMS && this.#limits.items === DEFAULT_LIMITS.items) {
      this.#heapItems = Math.floor(heapLimit() / HEAP_PER_ITEM);
      this.#itemsLeft = Math.min(this.#itemsLeft, this.#heapItems - MANY_ITEMS);
    }
    if (this.#itemsLeft < 0) throw this.#beyond('items', offset);
  }

  #forgivable(code: ForgivableCode, offset: number, message: string): void {
    if (!this.#tolerant) throw this.#error(code, offset, message);
    // An Error captures its stack, which is slow: hostile input must not cause one for every few bytes.
    if (this.#errors.length < MAX_ERRORS) this.#errors.push(this.#error(code, offset, message));
  }

  #beyond(limit: LimitName, offset: number): LimitError {
    const most = limit === 'items' ? Math.min(this.#limits.items, this.#heapItems) : this.#limits[limit];
    return new LimitError(limit, most, offset, most < this.#limits[limit]);
  }

  #error(code: BencodeCode, offset: number, message: string): BencodeError {
    return new BencodeError(code, offset, message);
  }
}
