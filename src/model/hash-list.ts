/** Hashes of one size in one packed array. */
import { toHex } from '../errors/errors.ts';
import { bytesOf, bytesOrNull, checkArgument, invalidArgument, List, oneOf, readSafely } from '../errors/guard.ts';
import { shareClass } from '../errors/shared.ts';
import { concatBytes, copyOf } from '../platform/node.ts';

/** The size of a hash in bytes: 20 for SHA-1 (v1 pieces), 32 for SHA-256 (v2). */
export type HashSize = 20 | 32;

/** An own property, as a field would be, so that comparisons and copies include it. */
const BYTES = {
  enumerable: true,
  get(this: HashList) {
    return copyOf(HashList.viewOf(this));
  },
};

/** A list of hashes of one size, stored in one packed array. It is immutable: it gives out copies of its hashes. */
export class HashList implements Iterable<Uint8Array> {
  /** A copy of the concatenation of all hashes, as it stands on disk. */
  declare readonly bytes: Uint8Array<ArrayBuffer>;
  /** Bytes of each hash: 20 or 32. */
  readonly hashSize: HashSize;
  readonly #bytes: Uint8Array;

  /**
   * @param hashes The concatenation, or a list of hashes of `hashSize` bytes each.
   * @throws {MetainfoError} `ERR_INVALID_ARGUMENT` when the bytes are not a whole number of hashes, a hash has another size, or
   *   `hashSize` is neither 20 nor 32
   */
  constructor(hashes: Uint8Array | readonly Uint8Array[], hashSize: HashSize);
  /** @internal @param isOwn Whether nobody else can change the concatenation: it is then viewed instead of copied. */
  constructor(hashes: Uint8Array | readonly Uint8Array[], hashSize: HashSize, isOwn: boolean);
  constructor(hashes: Uint8Array | readonly Uint8Array[], hashSize: HashSize, isOwn = false) {
    // Checked without a struct, because a torrent may have a HashList for each of many files.
    if (hashSize !== 20 && hashSize !== 32) checkArgument('hashSize', hashSize, oneOf(20, 32));
    this.hashSize = hashSize;
    const packed = bytesOrNull(hashes);
    this.#bytes = packed
      ? isOwn
        ? packed
        : copyOf(packed)
      : readSafely('hashes', () => pack(checkArgument('hashes', hashes, List), hashSize));
    Object.defineProperty(this, 'bytes', BYTES);
    if (this.#bytes.length % hashSize !== 0)
      throw invalidArgument(`${this.#bytes.length} bytes are not a whole number of ${hashSize}-byte hashes`);
    Object.freeze(this);
  }

  /** @internal The concatenation itself. Never hand it to a caller. */
  static viewOf(this: void, list: HashList): Uint8Array {
    // Another copy of this package keeps its bytes to itself.
    return #bytes in list ? list.#bytes : bytesOf('bytes', (list as HashList).bytes);
  }

  /** The number of hashes. */
  get length(): number {
    return this.#bytes.length / this.hashSize;
  }

  /** A copy of the hash at `index`, like Array's `at`: negative indexes count from the end; undefined out of range. */
  at(index: number): Uint8Array | undefined {
    const integer = Math.trunc(index) || 0;
    const from = integer < 0 ? integer + this.length : integer;
    if (from < 0 || from >= this.length) return undefined;
    return copyOf(this.#bytes.subarray(from * this.hashSize, (from + 1) * this.hashSize));
  }

  /** The hashes from `start` up to `end`, like Array's `slice`. */
  slice(start = 0, end = this.length): HashList {
    const offset = (index: number) => Math.trunc(index) * this.hashSize;
    return new HashList(this.#bytes.subarray(offset(start), offset(end)), this.hashSize, true);
  }

  /** The hash at `index` in hexadecimal; undefined out of range. */
  toHex(index: number): string | undefined {
    const hash = this.at(index);
    return hash && toHex(hash);
  }

  /** Copies of the hashes, in order. */
  *[Symbol.iterator](): Generator<Uint8Array> {
    for (let i = 0; i < this.length; i += 1) yield this.at(i) as Uint8Array;
  }
}
shareClass(HashList, 'HashList');

function pack(hashes: readonly unknown[], hashSize: number): Uint8Array {
  const list = Array.from(hashes, (hash, i) => bytesOf(`hash ${i}`, hash));
  const wrong = list.findIndex((hash) => hash.length !== hashSize);
  if (wrong < 0) return concatBytes(list);
  throw invalidArgument(`Hash ${wrong} has ${list[wrong]?.length} bytes: expected ${hashSize}`);
}
