/** Reads the names in a packed column of paths, and reports those that some systems cannot store. */
import type { PathColumn } from '../../layout/file-table.ts';
import { nameKey } from '../../layout/safe-path.ts';
import { DEVICE_STARTS, MAX_DEVICE_BYTES, WINDOWS_CHARACTERS } from '../../layout/windows-names.ts';
import { MAX_TREE_DEPTH } from '../../model/limits.ts';

/** Windows programs support paths of so many UTF-16 units by default (MAX_PATH). */
export const MAX_PATH_UNITS = 260;
/** The bytes of UTF-8 that common file systems store in one name. */
export const MAX_NAME_BYTES = 255;

/** Where a {@link NameScan} reports names. Each name of a folder is reported once, whatever number of files is in the folder. */
export interface NameReports {
  /** A name that may break a rule about single names. */
  checkName(name: string, path: string): void;
  /** Two names in one folder that some systems take for one. */
  addSimilar(path: string, before: string, names: readonly [string, string]): void;
  /** A path of more than {@link MAX_PATH_UNITS}. */
  addLongPath(path: string, units: number): void;
}

const MAX_HASH = 2 ** 30 - 1;
const ZERO = 0;
const [DOT, SPACE] = [0x2e, 0x20];
/** The classes of bytes. */
const [FORBIDDEN, NON_ASCII] = [1, 2];
const CLASSES = Uint8Array.from({ length: 256 }, (_, byte) => {
  if (byte >= 0x80) return NON_ASCII;
  return byte < 0x20 || `${WINDOWS_CHARACTERS}\\`.includes(String.fromCharCode(byte)) ? FORBIDDEN : 0;
});

/** A random number for each byte, so that nobody can choose names whose hashes collide. Letters of either case have the same. */
const MIX = Int32Array.from({ length: 256 }, () => Math.floor(Math.random() * 2 ** 32));
for (let byte = 0x41; byte <= 0x5a; byte += 1) MIX[byte] = MIX[byte + 0x20] as number;

function mixed(hash: number, random: number): number {
  const product = Math.imul(hash ^ random, 0x9e3779b1);
  return product ^ (product >>> 15);
}

/** The hash of a name that is not ASCII: equal for names that some systems take for one. */
function keyHash(name: string): number {
  const key = nameKey(name);
  let hash = 0;
  for (let i = 0; i < key.length; i += 1) {
    const unit = key.charCodeAt(i);
    hash = mixed(hash, MIX[unit & 0xff] as number);
    if (unit > 0x7f) hash = mixed(hash, MIX[unit >>> 8] as number);
  }
  return hash;
}

const STARTS: ReadonlySet<number> = new Set(
  DEVICE_STARTS.map((start) => Buffer.from(start).reduce((sum, byte) => sum * 256 + byte, 0)),
);

/** Reads paths in v2 order, in which all files of a folder stand together. */
export class NameScan {
  readonly #bytes: Buffer;
  readonly #ends: Uint32Array;
  /** UTF-16 units of the name of the torrent and a separator. */
  readonly #rootUnits: number;
  readonly #reports: NameReports;
  /** The folders of the last path: bytes of the path of each, with its zero. */
  readonly #prefixes: number[] = [0];
  /** The names in each of these folders, by depth: a file for each hash, or for the next free number after it. */
  readonly #siblings: Map<number, number>[] = [new Map()];

  constructor({ bytes, ends }: PathColumn, torrentName: string, reports: NameReports) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    this.#ends = ends;
    this.#rootUnits = torrentName.length + 1;
    this.#reports = reports;
  }

  /** Checks the files from `first` to, but not including, `end`; returns false if they are not in v2 order. */
  check(first: number, end: number): boolean {
    for (let file = first; file < end; file += 1) {
      const shared = file === 0 ? 0 : this.#sharedBytes(file);
      if (shared < 0) return false;
      while ((this.#prefixes.at(-1) as number) > shared) this.#prefixes.pop();
      this.#checkNames(file);
      this.#checkLength(file);
    }
    return true;
  }

  #start(file: number): number {
    return file === 0 ? 0 : (this.#ends[file - 1] as number);
  }

  /** The bytes that a path shares with the path before it; -1 if it must stand before that one. */
  #sharedBytes(file: number): number {
    const bytes = this.#bytes;
    const [before, start, end] = [this.#start(file - 1), this.#start(file), this.#ends[file] as number];
    const length = Math.min(start - before, end - start);
    let shared = 0;
    while (shared < length && bytes[before + shared] === bytes[start + shared]) shared += 1;
    if (shared === length) return start - before > length ? -1 : shared;
    return (bytes[before + shared] as number) > (bytes[start + shared] as number) ? -1 : shared;
  }

  /** Checks the names of a path that the path before it does not have. */
  #checkNames(file: number): void {
    const bytes = this.#bytes;
    const [start, end] = [this.#start(file), this.#ends[file] as number];
    for (let from = start + (this.#prefixes.at(-1) as number); from < end; ) {
      let [hash, classes, to] = [0, 0, from];
      for (; to < end; to += 1) {
        const byte = bytes[to] as number;
        if (byte === ZERO) break;
        classes |= CLASSES[byte] as number;
        hash = mixed(hash, MIX[byte] as number);
      }
      if (classes & FORBIDDEN || to - from > MAX_NAME_BYTES || this.#mayBreakRule(from, to))
        this.#reports.checkName(this.#text(from, to), this.#path(file, to));
      this.#compare(file, { from, to, hash: classes & NON_ASCII ? keyHash(this.#text(from, to)) : hash });
      if (to < end) this.#enter(to + 1 - start);
      from = to + 1;
    }
  }

  #enter(prefix: number): void {
    const depth = this.#prefixes.push(prefix) - 1;
    // No system has deeper folders.
    if (depth >= MAX_TREE_DEPTH) return;
    this.#siblings[depth]?.clear();
    this.#siblings[depth] ??= new Map();
  }

  /** Whether a name may be that of a device, or ends with a dot or a space. */
  #mayBreakRule(from: number, to: number): boolean {
    const bytes = this.#bytes;
    const last = bytes[to - 1];
    if (last === DOT || last === SPACE) return true;
    if (to - from < 3) return false;
    const start =
      ((bytes[from] as number) << 16) | ((bytes[from + 1] as number) << 8) | (bytes[from + 2] as number) | 0x202020;
    if (!STARTS.has(start)) return false;
    let base = from + 3;
    while (base < to && bytes[base] !== DOT && bytes[base] !== SPACE) base += 1;
    return base - from <= MAX_DEVICE_BYTES;
  }

  /** Compares a name with those before it in its folder. */
  #compare(file: number, { from, to, hash }: { from: number; to: number; hash: number }): void {
    const siblings = this.#siblings[this.#prefixes.length - 1];
    if (!siblings) return;
    const prefix = from - this.#start(file);
    let name: string | undefined;
    const isAlike = (before: number) => {
      name ??= this.#text(from, to);
      return nameKey(this.#nameAt(before, prefix)) === nameKey(name);
    };
    // V8 stores numbers of 31 bits in place.
    let slot = hash & MAX_HASH;
    let other = siblings.get(slot);
    for (; other !== undefined && !isAlike(other); other = siblings.get(slot)) slot = (slot + 1) & MAX_HASH;
    if (other === undefined) {
      siblings.set(slot, file);
      return;
    }
    const names = [this.#nameAt(other, prefix), this.#text(from, to)] as const;
    // Two files with one path are an error of its own.
    if (names[0] === names[1]) return;
    const before = this.#path(other, this.#start(other) + prefix + Buffer.byteLength(names[0]));
    this.#reports.addSimilar(this.#path(file, to), before, names);
  }

  /** The name after so many bytes of a path. */
  #nameAt(file: number, prefix: number): string {
    const [from, end] = [this.#start(file) + prefix, this.#ends[file] as number];
    // Search this path only: the next zero may be far away.
    const zero = this.#bytes.subarray(from, end).indexOf(ZERO);
    return this.#text(from, zero < 0 ? end : from + zero);
  }

  #checkLength(file: number): void {
    const [start, end] = [this.#start(file), this.#ends[file] as number];
    if (end - start + this.#rootUnits <= MAX_PATH_UNITS) return;
    let units = this.#rootUnits;
    // Each byte that begins a character is one UTF-16 unit, or two for a character of four bytes.
    for (let i = start; i < end; i += 1) {
      const byte = this.#bytes[i] as number;
      if ((byte & 0xc0) !== 0x80) units += byte >= 0xf0 ? 2 : 1;
    }
    if (units > MAX_PATH_UNITS) this.#reports.addLongPath(this.#path(file, end), units);
  }

  #text(from: number, to: number): string {
    return this.#bytes.toString('utf8', from, to);
  }

  /** The path of a file up to a byte, with `/`. */
  #path(file: number, to: number): string {
    return this.#text(this.#start(file), to).replaceAll('\0', '/');
  }
}
