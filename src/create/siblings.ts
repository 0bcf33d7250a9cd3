/** The names of one folder by their hashes: finds names that are alike without a string for each. */

/** The slots of a folder's first table: a power of two. */
const FIRST_SLOTS = 16;
/** A larger table is dropped rather than cleared when the next folder begins. */
const MAX_KEPT_SLOTS = 64;

/** The names of the folder that is being read: each is the number of a file below it, under the hash of the name. */
export class Siblings {
  #count = 0;
  /** File numbers from 1; 0 marks a free slot. */
  #files = new Uint32Array(FIRST_SLOTS);
  #hashes = new Uint32Array(FIRST_SLOTS);

  /** Forgets all names. */
  clear(): void {
    this.#count = 0;
    if (this.#files.length <= MAX_KEPT_SLOTS) this.#files.fill(0);
    else {
      this.#files = new Uint32Array(FIRST_SLOTS);
      this.#hashes = new Uint32Array(FIRST_SLOTS);
    }
  }

  /**
   * Adds a name, unless one that is alike is here already.
   *
   * @param isAlike Compares the name with that of another file with the same hash.
   * @returns The file whose name is alike; -1 if the name was added.
   */
  add(hash: number, file: number, isAlike: (other: number) => boolean): number {
    const mask = this.#files.length - 1;
    let slot = hash & mask;
    for (let other = this.#files[slot] as number; other !== 0; other = this.#files[slot] as number) {
      if (this.#hashes[slot] === hash && isAlike(other - 1)) return other - 1;
      slot = (slot + 1) & mask;
    }
    this.#files[slot] = file + 1;
    this.#hashes[slot] = hash;
    this.#count += 1;
    if (this.#count * 2 > mask) this.#grow();
    return -1;
  }

  #grow(): void {
    const [files, hashes] = [this.#files, this.#hashes];
    this.#files = new Uint32Array(files.length * 2);
    this.#hashes = new Uint32Array(files.length * 2);
    const mask = this.#files.length - 1;
    for (let i = 0; i < files.length; i += 1) {
      if (files[i] === 0) continue;
      let slot = (hashes[i] as number) & mask;
      while (this.#files[slot] !== 0) slot = (slot + 1) & mask;
      this.#files[slot] = files[i] as number;
      this.#hashes[slot] = hashes[i] as number;
    }
  }
}
