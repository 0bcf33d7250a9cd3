import { createHash, type Hash } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { merkleRoot, sha256, zeroRoot } from '../digest/merkle.ts';
import { fromSystemError, MetainfoError } from '../errors.ts';
import { BLOCK_SIZE } from '../layout/piece-length.ts';
import type { Engine } from './engine.ts';
import { type Digests, type HashJob, type HashPlan, isPad, layerCount, type PlanFile } from './plan.ts';

/** The same results on node:crypto, one file after the other: the oracle of the native engine. */
export function nodeEngine(): Engine {
  return { name: 'node', kernel: 'node:crypto', start: (plan) => new NodeJob(plan) };
}

class NodeJob implements HashJob {
  readonly done: Promise<Digests>;
  readonly #plan: HashPlan;
  readonly #missing: number[] = [];
  readonly #progress = { bytes: 0, fileIndex: 0 };
  #cancelled = false;

  constructor(plan: HashPlan) {
    this.#plan = plan;
    this.done = this.#run();
  }

  progress(): { bytes: number; fileIndex: number; queued: number } {
    return { ...this.#progress, queued: 0 };
  }

  cancel(): void {
    this.#cancelled = true;
  }

  async #run(): Promise<Digests> {
    const { kind, files, pieceLength } = this.#plan;
    const pieces = kind === 'v2' ? null : new PieceHasher(pieceLength);
    const roots: Uint8Array[] = [];
    const layers: Uint8Array[] = [];
    for (const [index, file] of files.entries()) {
      const leaves: Uint8Array[] = [];
      const leavesOf = kind === 'v1' ? null : leaves;
      if (isPad(file)) pieces?.zeros(file.length);
      else if (file.data) this.#take(file.data.subarray(file.offset, file.offset + file.length), pieces, leavesOf);
      // An empty file is opened too: it must be what it was.
      else await this.#read(index, file, pieces, leavesOf);
      const tree = leaves.length === 0 ? null : finishTree(leaves, layerCount(file, pieceLength), pieceLength);
      roots.push(tree?.root ?? Buffer.alloc(32));
      layers.push(tree?.layer ?? Buffer.alloc(layerCount(file, pieceLength) * 32));
    }
    this.#throwIfCancelled();
    return {
      ...(pieces && { v1: pieces.finish() }),
      ...(kind !== 'v1' && { v2: { roots: Buffer.concat(roots), layers: Buffer.concat(layers) } }),
      missing: this.#missing,
    };
  }

  /** Content, from the start of a block. */
  #take(bytes: Uint8Array, pieces: PieceHasher | null, leaves: Uint8Array[] | null): void {
    pieces?.update(bytes);
    for (let i = 0; leaves && i < bytes.length; i += BLOCK_SIZE) leaves.push(sha256(bytes.subarray(i, i + BLOCK_SIZE)));
    this.#progress.bytes += bytes.length;
  }

  #throwIfCancelled(): void {
    if (this.#cancelled) throw new MetainfoError('ERR_ABORTED', 'Hashing was cancelled.');
  }

  async #read(index: number, file: PlanFile, pieces: PieceHasher | null, leaves: Uint8Array[] | null): Promise<void> {
    const path = pathOf(file);
    this.#progress.fileIndex = index;
    let handle: FileHandle;
    try {
      handle = await openPlanned(file);
    } catch (error) {
      if ((error as MetainfoError).code !== 'ERR_NOT_FOUND' || this.#plan.onMissing === 'fail') throw error;
      this.#missing.push(index);
      pieces?.skip(file.length);
      return;
    }
    try {
      await requireAsPlanned(handle, file, path);
      const buffer = Buffer.alloc(Math.min(this.#plan.readSize, file.length));
      for (let at = 0; at < file.length; ) {
        this.#throwIfCancelled();
        const part = buffer.subarray(0, Math.min(buffer.length, file.length - at));
        await readFully(handle, part, file.offset + at, path);
        this.#take(part, pieces, leaves);
        at += part.length;
      }
      await requireAsPlanned(handle, file, path);
    } catch (error) {
      throw fromSystemError(error, path, 'read');
    } finally {
      await handle.close();
    }
  }
}

function pathOf({ path }: PlanFile): string {
  return (path as string | Buffer).toString();
}

async function openPlanned(file: PlanFile): Promise<FileHandle> {
  try {
    return await open(file.path as string | Buffer, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    // What open(2) says of a socket.
    if ((error as NodeJS.ErrnoException).code === 'ENXIO') throw notAFile(pathOf(file));
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
    await readFully(handle, into.subarray(0, file.length), file.offset, path);
    await requireAsPlanned(handle, file, path);
  } catch (error) {
    throw fromSystemError(error, path, 'read');
  } finally {
    await handle.close();
  }
}

async function requireAsPlanned(handle: FileHandle, file: PlanFile, path: string): Promise<void> {
  const stats = await handle.stat();
  if (!stats.isFile()) throw notAFile(path);
  const sameTime = Number.isNaN(file.mtimeMs) || stats.mtimeMs === file.mtimeMs;
  if (stats.size !== file.size || stats.nlink === 0 || !sameTime) throw changed(path);
}

/** Node ends the process when it is asked for 2 GiB at once. */
const MOST_READ = 2 ** 30;

async function readFully(handle: FileHandle, part: Uint8Array, position: number, path: string): Promise<void> {
  for (let done = 0; done < part.length; ) {
    try {
      const length = Math.min(part.length - done, MOST_READ);
      const { bytesRead } = await handle.read(part, done, length, position + done);
      if (bytesRead === 0) throw changed(path);
      done += bytesRead;
    } catch (error) {
      // libuv tries again after an interrupted open, not after an interrupted read.
      if ((error as NodeJS.ErrnoException).code !== 'EINTR') throw error;
    }
  }
}

function notAFile(path: string): MetainfoError {
  return new MetainfoError('ERR_NOT_A_FILE', `${path} is not a regular file.`, { path });
}

function changed(path: string): MetainfoError {
  return new MetainfoError('ERR_FILE_CHANGED', `${path} changed while it was hashed.`, { path });
}

function finishTree(leaves: Uint8Array[], layerLength: number, pieceLength: number) {
  const zero = Buffer.alloc(32);
  if (layerLength === 0) return { root: merkleRoot(leaves, zero), layer: Buffer.alloc(0) };
  const blocks = pieceLength / BLOCK_SIZE;
  const layer: Uint8Array[] = [];
  for (let i = 0; i < leaves.length; i += blocks) layer.push(merkleRoot(leaves.slice(i, i + blocks), zero, blocks));
  return { root: merkleRoot(layer, zeroRoot(blocks)), layer: Buffer.concat(layer) };
}

/** SHA-1 of every `pieceLength` bytes of what comes. */
class PieceHasher {
  readonly #pieceLength: number;
  readonly #hashes: Uint8Array[] = [];
  #hash: Hash = createHash('sha1');
  #filled = 0;
  /** Whether the piece touches content that is missing: its hash is left zero. */
  #skipped = false;

  constructor(pieceLength: number) {
    this.#pieceLength = pieceLength;
  }

  update(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length; ) {
      const part = bytes.subarray(at, at + this.#pieceLength - this.#filled);
      this.#hash.update(part);
      at += part.length;
      this.#advance(part.length);
    }
  }

  zeros(length: number): void {
    const buffer = Buffer.alloc(Math.min(length, 2 ** 20));
    for (let left = length; left > 0; left -= buffer.length) this.update(buffer.subarray(0, left));
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
    return Buffer.concat(this.#hashes);
  }

  #advance(length: number): void {
    this.#filled += length;
    if (this.#filled === this.#pieceLength) this.#emit();
  }

  #emit(): void {
    this.#hashes.push(this.#skipped ? Buffer.alloc(20) : this.#hash.digest());
    this.#hash = createHash('sha1');
    this.#filled = 0;
    this.#skipped = false;
  }
}
