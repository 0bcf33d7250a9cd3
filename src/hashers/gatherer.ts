import { allocPrivate } from '../hash/private-buffer.ts';

/** Cuts bytes that come in any sizes into units of one size. */
export class Gatherer {
  readonly #size: number;
  #carry: Buffer | null = null;
  #filled = 0;

  constructor(size: number) {
    this.#size = size;
  }

  /** Whether nothing is left over. */
  get isEmpty(): boolean {
    return this.#filled === 0;
  }

  /** The units that these bytes complete: views of them where that is possible. */
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

  /** What is left over; null when nothing is. */
  rest(): Uint8Array | null {
    const rest = this.#filled > 0 ? (this.#carry as Buffer).subarray(0, this.#filled) : null;
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
