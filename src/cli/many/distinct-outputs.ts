/** Finds jobs that would write the same file, with eight bytes of memory for each job. */

/** The hashes of output paths. Two equal hashes are a reason to look again, because different paths can have one hash. */
export class OutputHashes {
  #hashes = new Float64Array(1024);
  #count = 0;

  /** @param output An absolute path. */
  add(output: string): void {
    if (this.#count === this.#hashes.length) {
      const larger = new Float64Array(this.#count * 2);
      larger.set(this.#hashes);
      this.#hashes = larger;
    }
    this.#hashes[this.#count] = hashOf(output);
    this.#count += 1;
  }

  /** A check for the outputs whose hash was added more than once; null if there are none. */
  repeated(): ((output: string) => boolean) | null {
    const sorted = this.#hashes.slice(0, this.#count).sort();
    const repeated = new Set<number>();
    for (let i = 1; i < sorted.length; i += 1) if (sorted[i] === sorted[i - 1]) repeated.add(sorted[i] as number);
    return repeated.size === 0 ? null : (output) => repeated.has(hashOf(output));
  }
}

/** A hash of 53 bits (cyrb53 by bryc, in the public domain). */
function hashOf(text: string): number {
  let [a, b] = [0xdeadbeef, 0x41c6ce57];
  for (let i = 0; i < text.length; i += 1) {
    const unit = text.charCodeAt(i);
    a = Math.imul(a ^ unit, 2654435761);
    b = Math.imul(b ^ unit, 1597334677);
  }
  a = Math.imul(a ^ (a >>> 16), 2246822507) ^ Math.imul(b ^ (b >>> 13), 3266489909);
  b = Math.imul(b ^ (b >>> 16), 2246822507) ^ Math.imul(a ^ (a >>> 13), 3266489909);
  return 2 ** 32 * (b & 0x1fffff) + (a >>> 0);
}
