/**
 * SHA-1 and SHA-256 in JavaScript (FIPS 180-4), for infohashes, Merkle nodes and pages without WebCrypto. In Chromium, it takes half the
 * time of @noble/hashes (docs/decisions/0044-browsers.md).
 */

/** A hash that takes its data in parts. */
export interface Hasher {
  update(bytes: Uint8Array): Hasher;
  digest(): Uint8Array;
}

/** Hashes a block of 64 bytes into the state. */
type Compress = (state: Int32Array, view: DataView, at: number) => void;

const BLOCK = 64;
/** Where the last block has the length. */
const LENGTH_AT = 56;

class BlockHasher implements Hasher {
  readonly #state: Int32Array;
  readonly #compress: Compress;
  readonly #block = new Uint8Array(BLOCK);
  readonly #view = new DataView(this.#block.buffer);
  #filled = 0;
  #length = 0;

  constructor(initial: Int32Array, compress: Compress) {
    this.#state = initial.slice();
    this.#compress = compress;
  }

  update(bytes: Uint8Array): this {
    this.#length += bytes.length;
    let at = this.#filled > 0 ? this.#fill(bytes) : 0;
    if (at + BLOCK <= bytes.length) {
      const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
      for (; at + BLOCK <= bytes.length; at += BLOCK) this.#compress(this.#state, view, at);
    }
    if (at < bytes.length) this.#fill(bytes.subarray(at));
    return this;
  }

  digest(): Uint8Array {
    const block = this.#block;
    block[this.#filled] = 0x80;
    block.fill(0, this.#filled + 1);
    if (this.#filled >= LENGTH_AT) {
      this.#compress(this.#state, this.#view, 0);
      block.fill(0);
    }
    const bits = this.#length * 8;
    this.#view.setUint32(LENGTH_AT, Math.floor(bits / 2 ** 32));
    this.#view.setUint32(LENGTH_AT + 4, bits % 2 ** 32);
    this.#compress(this.#state, this.#view, 0);
    const hash = new Uint8Array(this.#state.byteLength);
    const view = new DataView(hash.buffer);
    for (let i = 0; i < this.#state.length; i += 1) view.setInt32(i * 4, wordAt(this.#state, i));
    return hash;
  }

  /** Adds to the block. Returns how many bytes it took. */
  #fill(bytes: Uint8Array): number {
    const part = bytes.subarray(0, BLOCK - this.#filled);
    this.#block.set(part, this.#filled);
    this.#filled += part.length;
    if (this.#filled === BLOCK) {
      this.#compress(this.#state, this.#view, 0);
      this.#filled = 0;
    }
    return part.length;
  }
}

/** The words of the block that is hashed. Nothing else runs meanwhile. */
const WORDS = new Int32Array(80);
const PRIMES = Array.from({ length: 312 }, (_, n) => n).filter(
  (n, _, all) => n > 1 && !all.some((m) => m > 1 && m < n && n % m === 0),
);
/** The first 32 bits of the fractions of roots of the first primes. */
const fractions = (count: number, root: (prime: number) => number) =>
  Int32Array.from(PRIMES.slice(0, count), (prime) => (root(prime) % 1) * 2 ** 32);

const SHA1_IV = Int32Array.of(0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0);
const SHA256_IV = fractions(8, Math.sqrt);
const SHA256_K = fractions(64, Math.cbrt);

const wordAt = (words: Int32Array, index: number) => words[index] as number;
const rotated = (word: number, bits: number) => (word >>> bits) | (word << (32 - bits));

function sha1Block(state: Int32Array, view: DataView, at: number): void {
  const words = WORDS;
  for (let i = 0; i < 16; i += 1) words[i] = view.getInt32(at + i * 4);
  for (let i = 16; i < 80; i += 1) {
    const word = wordAt(words, i - 3) ^ wordAt(words, i - 8) ^ wordAt(words, i - 14) ^ wordAt(words, i - 16);
    words[i] = (word << 1) | (word >>> 31);
  }
  let a = wordAt(state, 0);
  let b = wordAt(state, 1);
  let c = wordAt(state, 2);
  let d = wordAt(state, 3);
  let e = wordAt(state, 4);
  for (let i = 0; i < 80; i += 1) {
    let mixed = b ^ c ^ d;
    let k = 0x6ed9eba1;
    if (i < 20) {
      mixed = d ^ (b & (c ^ d));
      k = 0x5a827999;
    } else if (i >= 60) k = -0x359d3e2a;
    else if (i >= 40) {
      mixed = (b & c) | (d & (b | c));
      k = -0x70e44324;
    }
    const next = (((a << 5) | (a >>> 27)) + mixed + e + k + wordAt(words, i)) | 0;
    e = d;
    d = c;
    c = (b << 30) | (b >>> 2);
    b = a;
    a = next;
  }
  state[0] = wordAt(state, 0) + a;
  state[1] = wordAt(state, 1) + b;
  state[2] = wordAt(state, 2) + c;
  state[3] = wordAt(state, 3) + d;
  state[4] = wordAt(state, 4) + e;
}

function sha256Block(state: Int32Array, view: DataView, at: number): void {
  const [words, constants] = [WORDS, SHA256_K];
  for (let i = 0; i < 16; i += 1) words[i] = view.getInt32(at + i * 4);
  for (let i = 16; i < 64; i += 1) {
    const early = wordAt(words, i - 15);
    const late = wordAt(words, i - 2);
    const s0 = rotated(early, 7) ^ rotated(early, 18) ^ (early >>> 3);
    const s1 = rotated(late, 17) ^ rotated(late, 19) ^ (late >>> 10);
    words[i] = (wordAt(words, i - 16) + s0 + wordAt(words, i - 7) + s1) | 0;
  }
  let a = wordAt(state, 0);
  let b = wordAt(state, 1);
  let c = wordAt(state, 2);
  let d = wordAt(state, 3);
  let e = wordAt(state, 4);
  let f = wordAt(state, 5);
  let g = wordAt(state, 6);
  let h = wordAt(state, 7);
  for (let i = 0; i < 64; i += 1) {
    const s1 = rotated(e, 6) ^ rotated(e, 11) ^ rotated(e, 25);
    const t1 = (h + s1 + (g ^ (e & (f ^ g))) + wordAt(constants, i) + wordAt(words, i)) | 0;
    const s0 = rotated(a, 2) ^ rotated(a, 13) ^ rotated(a, 22);
    const t2 = (s0 + ((a & b) | (c & (a | b)))) | 0;
    h = g;
    g = f;
    f = e;
    e = (d + t1) | 0;
    d = c;
    c = b;
    b = a;
    a = (t1 + t2) | 0;
  }
  state[0] = wordAt(state, 0) + a;
  state[1] = wordAt(state, 1) + b;
  state[2] = wordAt(state, 2) + c;
  state[3] = wordAt(state, 3) + d;
  state[4] = wordAt(state, 4) + e;
  state[5] = wordAt(state, 5) + f;
  state[6] = wordAt(state, 6) + g;
  state[7] = wordAt(state, 7) + h;
}

export const sha1 = (): Hasher => new BlockHasher(SHA1_IV, sha1Block);
export const sha256 = (): Hasher => new BlockHasher(SHA256_IV, sha256Block);
