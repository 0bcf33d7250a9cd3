/** Splits chunks into pieces or blocks. */
import { allocPrivate } from '../hash/private-buffer.ts';

/** Splits chunks of any size into units of one size. It keeps incomplete units for the next chunk. */
export class ChunkSplitter {
  readonly #size: number;
  #carry: Uint8Array | null = null;
  #filled = 0;

  constructor(size: number) {
    this.#size = size;
  }

  /** Whether no bytes are kept. */
  get isEmpty(): boolean {
    return this.#filled === 0;
  }

  /** Returns the units that these bytes complete: views of the bytes where possible. */
  push(bytes: Uint8Array): Uint8Array[] {
    const units: Uint8Array[] = [];
    let at = 0;
    if (this.#filled > 0) {
      at = this.#keep(bytes.subarray(0, this.#size - this.#filled));
      if (this.#filled === this.#size) units.push(this.rest() as Uint8Array);
    }
    for (; at + this.#size <= bytes.length; at += this.#size) units.push(bytes.subarray(at, at + this.#size));
    if (at < bytes.length) this.#keep(bytes.subarray(at));
    return units;
  }

  /** Returns the kept bytes and forgets them; null if there are none. */
  rest(): Uint8Array | null {
    const rest = this.#filled > 0 ? (this.#carry as Uint8Array).subarray(0, this.#filled) : null;
    this.#carry = null;
    this.#filled = 0;
    return rest;
  }

  #keep(bytes: Uint8Array): number {
    this.#carry ??= allocPrivate(this.#size);
    this.#carry.set(bytes, this.#filled);
    this.#filled += bytes.length;
    return bytes.length;
  }
}
