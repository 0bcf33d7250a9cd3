/**
 * Makes system calls on files fail. It arms the preloaded library faults/shim.c through a file that both map or write: so a
 * process can change its own faults, and the counts outlive the process.
 */
import { spawnSync } from 'node:child_process';
import { closeSync, constants, openSync, readSync, writeFileSync, writeSync } from 'node:fs';
import { constants as system } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { missing } from './external.ts';

/** The calls that read a file. */
export const READING = ['open', 'fstat', 'read', 'advise'] as const;
export const CALLS = [
  ...READING,
  // open for writing
  'create',
  'write',
  'sync',
  'truncate',
  // fchmod, futimens
  'attribute',
  'close',
  // stat, lstat and access, by path or from a folder
  'stat',
  // readdir, and opening a folder for it
  'list',
  // realpath
  'resolve',
  'rename',
  'link',
  'unlink',
  'mkdir',
  // mmap
  'map',
  'lock',
] as const;
/** A group of calls: `read` is read, pread, preadv and so on; `advise` is posix_fadvise and readahead. */
export type Call = (typeof CALLS)[number];

export interface Fault {
  call: Call;
  /**
   * An errno by name. `short` handles half of the bytes, `end` none. `stall` does the work, but later. `kill` ends the process
   * before the call, `tear` in the middle of a write. `cut` also drops content that was not synced, as a power cut may do, and
   * `cut-names` also new names whose folder was not synced.
   */
  action: keyof typeof system.errno | keyof typeof ACTION;
  /** The first call that fails, counted from 1 among the calls on files of `match`. */
  first?: number;
  /** The distance to each further call that fails; 0 for only one call. */
  every?: number;
  /** Whether to skip calls on the JavaScript thread. */
  elsewhere?: boolean;
  /** A part of the file's path. By default, any file in the folder. */
  match?: string;
}

export interface Counts {
  calls: Record<Call, number>;
  /** Bytes read. */
  bytes: number;
  /** Open descriptors, now and at their peak. */
  open: number;
  /** Calls that stalled and have not returned. */
  stalled: number;
  most: number;
  /** Threads that read, up to 8. */
  readers: number;
  /** Calls of the fault's group on its files. */
  matched: number;
  /** How often the fault occurred, and on which files: the first 32. */
  fired: number;
  paths: string[];
}

/** The layout of `struct control` in shim.c: 64-bit words, then text. */
const WORD = {
  call: 0,
  action: 1,
  value: 2,
  first: 3,
  every: 4,
  elsewhere: 5,
  go: 6,
  fired: 8,
  matched: 9,
  open: 10,
  most: 11,
  bytes: 12,
  calls: 13,
  readers: 14 + CALLS.length,
  stalled: 22 + CALLS.length,
};
const FAIL = 1;
const ACTION = { short: 2, end: 3, stall: 4, kill: 5, tear: 6, cut: 7, 'cut-names': 8 } as const;
const MATCH = 512;
const PATHS = 768;
const PATH_BYTES = 512;
const MOST_PATHS = 32;
const MOST_READERS = 8;
const SIZE = PATHS + MOST_PATHS * PATH_BYTES;

/** A stalled call continues after this time, so that no test hangs. */
const MOST_STALL_MS = 120_000;

const SOURCE = fileURLToPath(new URL('faults/shim.c', import.meta.url));

/** Returns why tests that need the shim must skip. */
export function shimMissing(): string | false {
  return process.platform === 'linux' ? missing('a C compiler (cc)', 'cc', ['--version']) : 'LD_PRELOAD needs Linux';
}

/** Builds the shim into a folder. */
export function buildShim(folder: string): string {
  const shim = path.join(folder, 'shim.so');
  const flags = ['-shared', '-fPIC', '-O1', '-Wall', '-Wextra', '-Werror', '-pthread'];
  const { status, stderr, error } = spawnSync('cc', [...flags, SOURCE, '-ldl', '-o', shim], { encoding: 'utf8' });
  if (error || status !== 0) throw error ?? new Error(stderr);
  return shim;
}

export interface FaultsEnvOptions {
  shim: string;
  /** The control file that {@link Faults.create} made. */
  control: string;
  /** The folder, as a path without links: only calls on files below it can fail. */
  folder: string;
  /** The limit on open descriptors of the process. */
  descriptors?: number;
}

/** Returns the environment of a process with the shim. */
export function faultsEnv({ shim, control, folder, descriptors }: FaultsEnvOptions): Record<string, string> {
  return {
    LD_PRELOAD: shim,
    METAINFO_FAULT_CONTROL: control,
    METAINFO_FAULT_FOLDER: folder,
    ...(descriptors && { METAINFO_FAULT_DESCRIPTORS: String(descriptors) }),
  };
}

/** The faults of a process: this one, or another that uses the same control file. */
export class Faults {
  readonly #descriptor: number;

  private constructor(descriptor: number) {
    this.#descriptor = descriptor;
  }

  /** Makes a control file without a fault. */
  static create(file: string): Faults {
    writeFileSync(file, Buffer.alloc(SIZE));
    return Faults.open(file);
  }

  static open(file: string): Faults {
    return new Faults(openSync(file, constants.O_RDWR));
  }

  close(): void {
    closeSync(this.#descriptor);
  }

  /** Sets the fault, resets all counts, and lets stalled calls continue. No job may run meanwhile. */
  arm(fault: Fault | null): void {
    const buffer = Buffer.alloc(SIZE);
    const word = (at: number, value: number) => buffer.writeBigUInt64LE(BigInt(value), at * 8);
    this.#nextGo().copy(buffer, WORD.go * 8);
    if (fault) {
      const { call, action, first = 1, every = 0, elsewhere = false, match = '' } = fault;
      word(WORD.call, 1 + CALLS.indexOf(call));
      if (action in ACTION) {
        word(WORD.action, ACTION[action as keyof typeof ACTION]);
        word(WORD.value, MOST_STALL_MS);
      } else {
        word(WORD.action, FAIL);
        word(WORD.value, system.errno[action as keyof typeof system.errno]);
      }
      word(WORD.first, first);
      word(WORD.every, every);
      word(WORD.elsewhere, elsewhere ? 1 : 0);
      buffer.write(match, MATCH);
    }
    writeSync(this.#descriptor, buffer, 0, SIZE, 0);
  }

  /** Lets stalled calls continue. */
  go(): void {
    writeSync(this.#descriptor, this.#nextGo(), 0, 8, WORD.go * 8);
  }

  /** Returns another value for the word that stalled calls watch: they continue when it changes. */
  #nextGo(): Buffer {
    const word = Buffer.alloc(8);
    readSync(this.#descriptor, word, 0, 8, WORD.go * 8);
    word.writeBigUInt64LE(word.readBigUInt64LE() + 1n);
    return word;
  }

  counts(): Counts {
    const buffer = Buffer.alloc(SIZE);
    readSync(this.#descriptor, buffer, 0, SIZE, 0);
    const word = (at: number) => Number(buffer.readBigUInt64LE(at * 8));
    const fired = word(WORD.fired);
    const paths = Array.from({ length: Math.min(fired, MOST_PATHS) }, (_, i) => {
      const text = buffer.subarray(PATHS + i * PATH_BYTES, PATHS + (i + 1) * PATH_BYTES);
      return text.toString('utf8', 0, text.indexOf(0));
    });
    const calls = CALLS.map((call, i) => [call, word(WORD.calls + 1 + i)] as const);
    return {
      calls: Object.fromEntries(calls) as Counts['calls'],
      bytes: word(WORD.bytes),
      open: word(WORD.open),
      stalled: word(WORD.stalled),
      most: word(WORD.most),
      readers: Array.from({ length: MOST_READERS }, (_, i) => word(WORD.readers + i)).filter((thread) => thread > 0)
        .length,
      matched: word(WORD.matched),
      fired,
      paths,
    };
  }
}
