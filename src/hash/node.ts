import { createHash, type Hash } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, open, readlink, realpath } from 'node:fs/promises';
import nodePath from 'node:path';
import { hashingCancelled } from '../errors/cancel.ts';
import { fromSystemError, MetainfoError } from '../errors/errors.ts';
import { BLOCK_SIZE } from '../layout/piece-length.ts';
import type { Engine } from './engine.ts';
import { merkleRoot, sha256, zeroRoot } from './merkle.ts';
import {
  checkedPlan,
  checkPlanFiles,
  type Digests,
  type HashJob,
  type HashPlan,
  isPad,
  layerCount,
  type PlanFile,
  tooManyHashes,
} from './plan.ts';
import { withPrivateData } from './private-buffer.ts';
import { closeRead, readFully } from './read.ts';

/**
 * The same results on node:crypto: the oracle of the native engine, and what is left where no addon loads. It hashes on the
 * thread of JavaScript, a read at a time, so that the event loop goes on.
 */
export function nodeEngine(): Engine {
  return { name: 'node', kernel: 'node:crypto', start: startNode };
}

function startNode(given: HashPlan): HashJob {
  const plan = checkedPlan(given);
  checkPlanFiles(plan.files);
  return new NodeJob(withPrivateData(plan));
}

/** Larger reads would hold up the event loop while they are hashed. */
const MOST_AT_ONCE = 2 ** 20;

/**
 * All jobs of the process take turns, in the order in which they ask: there is one thread to hash on. So one buffer does
 * for all, a small job does not wait for a large one, and between two turns the event loop does what it has to.
 */
const waiting: { job: NodeJob; start: () => void }[] = [];
let isTaken = false;
/** Of the job that has its turn. It is kept: the garbage of so many would not be collected in time. */
let buffer = Buffer.alloc(0);
const TURN_SECONDS = 0.01;

function takeTurn(job: NodeJob): Promise<void> {
  return new Promise((start) => {
    waiting.push({ job, start });
    if (!isTaken) endTurn();
  });
}

function endTurn(): void {
  const next = waiting.shift();
  isTaken = next !== undefined;
  if (next) setImmediate(next.start);
}

class NodeJob implements HashJob {
  readonly done: Promise<Digests>;
  readonly #plan: HashPlan;
  readonly #missing: number[] = [];
  readonly #progress = { bytes: 0, fileIndex: 0 };
  /** Bytes of a read, or of what is taken at once of content in memory. */
  readonly #size: number;
  #cancelled = false;
  #stopWaiting: (() => void) | null = null;
  /** When its turn ends, by the clock of the process. */
  #turnEnd = 0;

  constructor(plan: HashPlan) {
    this.#plan = plan;
    this.#size = Math.min(plan.readSize, MOST_AT_ONCE);
    this.done = this.#run();
  }

  progress(): { bytes: number; fileIndex: number; queued: number } {
    const ahead = waiting.findIndex(({ job }) => job === this);
    // The one that has its turn goes before those who wait.
    return { ...this.#progress, queued: ahead + 1 };
  }

  cancel(): void {
    this.#cancelled = true;
    this.#stopWaiting?.();
  }

  /**
   * Waits for the system, which may never answer: a cancelled job waits no longer, and leaves the buffer to the read that may
   * still write to it. One of libuv's threads is held until then, and Node waits for it when the process exits.
   */
  #answer<T>(call: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#stopWaiting = () => {
        buffer = Buffer.alloc(0);
        reject(hashingCancelled());
      };
      const end = () => {
        this.#stopWaiting = null;
      };
      call.finally(end).then(resolve, reject);
    });
  }

  async #run(): Promise<Digests> {
    await this.#takeTurn();
    try {
      return await this.#hash();
    } finally {
      endTurn();
    }
  }

  /** Room for all hashes. */
  #prepare() {
    const { version, files, pieceLength } = this.#plan;
    const sum = (of: (file: PlanFile) => number) => files.reduce((all, file) => all + of(file), 0);
    const count = (file: PlanFile) => layerCount(file, pieceLength) * 32;
    try {
      const total = sum(({ length }) => length);
      const pieces = version === 'v2' ? null : new PieceHasher(pieceLength, total);
      const [roots, layers] = version === 'v1' ? [] : [Buffer.alloc(files.length * 32), Buffer.alloc(sum(count))];
      return { pieces, roots, layers, count };
    } catch (error) {
      if (error instanceof RangeError) throw tooManyHashes(this.#plan, error);
      throw error;
    }
  }

  async #hash(): Promise<Digests> {
    const { files, pieceLength } = this.#plan;
    const { pieces, roots, layers, count } = this.#prepare();
    let at = 0;
    for (const [index, file] of files.entries()) {
      const end = at + count(file);
      const tree = layers && !isPad(file) ? new TreeHasher(pieceLength, layers.subarray(at, end)) : null;
      at = end;
      const take = (bytes: Uint8Array) => {
        pieces?.update(bytes);
        tree?.update(bytes);
        if (!isPad(file)) this.#progress.bytes += bytes.length;
      };
      const isThere = await this.#read(index, file, take);
      if (!isThere) pieces?.skip(file.length);
      else if (tree && file.length > 0) roots?.set(tree.finish(), index * 32);
    }
    this.#throwIfCancelled();
    return {
      ...(pieces && { v1: pieces.finish() }),
      ...(roots && layers && { v2: { roots, layers } }),
      missing: this.#missing,
    };
  }

  #throwIfCancelled(): void {
    if (this.#cancelled) throw hashingCancelled();
  }

  async #takeTurn(): Promise<void> {
    await takeTurn(this);
    this.#turnEnd = process.uptime() + TURN_SECONDS;
  }

  /** Before anything that takes time: waits for the next turn when this one is over. */
  async #inTurn(): Promise<void> {
    if (process.uptime() >= this.#turnEnd) {
      const next = this.#takeTurn();
      endTurn();
      await next;
    }
    this.#throwIfCancelled();
  }

  /** Content in parts, each from the start of a block; false where the file is missing. */
  async #read(index: number, file: PlanFile, take: (bytes: Uint8Array) => void): Promise<boolean> {
    await this.#inTurn();
    if (file.path !== null) return this.#readFile(index, file, take);
    // Zeros, where it is a pad.
    const { data, offset, length } = file;
    for (let at = 0; at < length; at += this.#size) {
      await this.#inTurn();
      const size = Math.min(this.#size, length - at);
      take(data ? data.subarray(offset + at, offset + at + size) : Buffer.alloc(size));
    }
    return true;
  }

  async #readFile(index: number, file: PlanFile, take: (bytes: Uint8Array) => void): Promise<boolean> {
    const path = pathOf(file);
    this.#progress.fileIndex = index;
    let handle: FileHandle;
    try {
      const opening = openPlanned(file);
      // Nobody else closes what is opened too late.
      const closeLate = async (late: FileHandle) => {
        if (this.#cancelled) await closeRead(late);
      };
      opening.then(closeLate).catch(() => {});
      handle = await this.#answer(opening);
    } catch (error) {
      if ((error as MetainfoError).code !== 'ERR_NOT_FOUND' || this.#plan.onMissing === 'fail') throw error;
      this.#missing.push(index);
      return false;
    }
    try {
      // An empty file is looked at too: it must be what it was.
      await this.#answer(requireAsPlanned(handle, file, path));
      await this.#answer(requireNoLinks(handle, file, path));
      for (let at = 0; at < file.length; ) {
        await this.#inTurn();
        if (buffer.length < this.#size) buffer = Buffer.allocUnsafeSlow(this.#size);
        const part = buffer.subarray(0, Math.min(this.#size, file.length - at));
        await this.#answer(readAll(handle, part, file.offset + at, path));
        take(part);
        at += part.length;
      }
      await this.#answer(requireAsPlanned(handle, file, path));
      return true;
    } catch (error) {
      throw fromSystemError(error, path, 'read');
    } finally {
      const closed = closeRead(handle);
      // It waits for reads.
      if (!this.#cancelled) await closed;
    }
  }
}

function pathOf({ path }: PlanFile): string {
  return (path as string | Buffer).toString();
}

async function openPlanned(file: PlanFile): Promise<FileHandle> {
  try {
    const flags = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW;
    return await open(file.path as string | Buffer, flags);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // What open(2) says of a socket.
    if (code === 'ENXIO') throw notAFile(pathOf(file));
    if (code === 'ELOOP') throw changed(pathOf(file), A_LINK);
    throw fromSystemError(error, pathOf(file), 'read');
  }
}

/**
 * Reads the content of a file of a plan that fits into a buffer.
 *
 * @throws {MetainfoError} as an engine does: `ERR_FILE_CHANGED`, `ERR_NOT_A_FILE`, `ERR_NOT_FOUND`, `ERR_READ` ...
 */
export async function readPlanned(file: PlanFile, into: Uint8Array): Promise<void> {
  const path = pathOf(file);
  const handle = await openPlanned(file);
  try {
    await requireAsPlanned(handle, file, path);
    await requireNoLinks(handle, file, path);
    await readAll(handle, into.subarray(0, file.length), file.offset, path);
    await requireAsPlanned(handle, file, path);
  } catch (error) {
    throw fromSystemError(error, path, 'read');
  } finally {
    await closeRead(handle);
  }
}

async function requireAsPlanned(handle: FileHandle, file: PlanFile, path: string): Promise<void> {
  const stats = await handle.stat();
  if (!stats.isFile()) throw notAFile(path);
  if (stats.size !== file.size) throw changed(path, `its size went from ${file.size} to ${stats.size} bytes`);
  if (stats.nlink === 0) throw changed(path, 'it was deleted or replaced');
  const sameTime = Number.isNaN(file.mtimeMs) || stats.mtimeMs === file.mtimeMs;
  if (!sameTime) throw changed(path, 'its modification time changed');
}

const A_LINK = 'there is a symbolic link in its path';

/**
 * Before anything is read. Node cannot tell the system to follow no link, but Linux tells where the file is that was opened;
 * elsewhere a link that comes and goes between the two calls is not noticed.
 */
async function requireNoLinks({ fd }: FileHandle, file: PlanFile, path: string): Promise<void> {
  const bytes = { encoding: 'buffer' } as const;
  const place = await readlink(`/proc/self/fd/${fd}`, bytes).catch(() => realpath(path, bytes));
  const planned = typeof file.path === 'string' ? Buffer.from(nodePath.resolve(file.path)) : (file.path as Buffer);
  if (!place.equals(planned)) throw changed(path, A_LINK);
}

async function readAll(handle: FileHandle, part: Uint8Array, position: number, path: string): Promise<void> {
  const bytes = await readFully(handle, part, position);
  if (bytes < part.length) throw changed(path, `it ended at byte ${position + bytes}`);
}

function notAFile(path: string): MetainfoError {
  return new MetainfoError('ERR_NOT_A_FILE', `${path} is not a regular file.`, { path });
}

function changed(path: string, how: string): MetainfoError {
  return new MetainfoError('ERR_FILE_CHANGED', `${path} changed while it was hashed: ${how}.`, { path });
}

const ZERO_HASH = Buffer.alloc(32);

/** The Merkle tree of a file: its layer is filled piece by piece. */
class TreeHasher {
  readonly #blocks: number;
  /** The file's, which is empty unless it is longer than a piece. */
  readonly #layer: Buffer;
  #filled = 0;
  /** Of the piece that is being hashed. */
  #leaves: Uint8Array[] = [];

  constructor(pieceLength: number, layer: Buffer) {
    this.#blocks = pieceLength / BLOCK_SIZE;
    this.#layer = layer;
  }

  /** @param bytes Whole blocks, but for the end of the file. */
  update(bytes: Uint8Array): void {
    for (let i = 0; i < bytes.length; i += BLOCK_SIZE) {
      this.#leaves.push(sha256(bytes.subarray(i, i + BLOCK_SIZE)));
      if (this.#leaves.length === this.#blocks && this.#layer.length > 0) this.#endPiece();
    }
  }

  finish(): Uint8Array {
    if (this.#layer.length === 0) return merkleRoot(this.#leaves, ZERO_HASH);
    if (this.#leaves.length > 0) this.#endPiece();
    const hashes = Array.from({ length: this.#layer.length / 32 }, (_, i) =>
      this.#layer.subarray(i * 32, (i + 1) * 32),
    );
    return merkleRoot(hashes, zeroRoot(this.#blocks));
  }

  #endPiece(): void {
    this.#layer.set(merkleRoot(this.#leaves, ZERO_HASH, this.#blocks), this.#filled);
    this.#filled += 32;
    this.#leaves = [];
  }
}

/** SHA-1 of every `pieceLength` bytes of what comes. */
class PieceHasher {
  readonly #pieceLength: number;
  readonly #hashes: Buffer;
  #count = 0;
  #hash: Hash = createHash('sha1');
  #filled = 0;
  /** Whether the piece touches content that is missing: its hash is left zero. */
  #skipped = false;

  constructor(pieceLength: number, totalLength: number) {
    this.#pieceLength = pieceLength;
    this.#hashes = Buffer.alloc(Math.ceil(totalLength / pieceLength) * 20);
  }

  update(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length; ) {
      const part = bytes.subarray(at, at + this.#pieceLength - this.#filled);
      this.#hash.update(part);
      at += part.length;
      this.#advance(part.length);
    }
  }

  skip(length: number): void {
    for (let left = length; left > 0; ) {
      const part = Math.min(left, this.#pieceLength - this.#filled);
      this.#skipped = true;
      left -= part;
      this.#advance(part);
    }
  }

  finish(): Uint8Array {
    if (this.#filled > 0) this.#emit();
    return this.#hashes;
  }

  #advance(length: number): void {
    this.#filled += length;
    if (this.#filled === this.#pieceLength) this.#emit();
  }

  #emit(): void {
    if (!this.#skipped) this.#hashes.set(this.#hash.digest(), this.#count * 20);
    this.#count += 1;
    this.#hash = createHash('sha1');
    this.#filled = 0;
    this.#skipped = false;
  }
}
