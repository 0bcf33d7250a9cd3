/** The node engine: hashes requests with node:crypto on the JavaScript thread. It is the fallback of the native engine, and its oracle in tests. */
import type { FileHandle } from 'node:fs/promises';
import { hashingCancelled } from '../errors/cancel.ts';
import type { MetainfoError } from '../errors/errors.ts';
import { invalidArgument } from '../errors/guard.ts';
import { fromSystemError } from '../errors/system-error.ts';
import { newBytes, nextRound, uptime } from '../platform/node.ts';
import { type Engine, hashedHere, ownEngine } from './engine.ts';
import {
  type Digests,
  type HashJob,
  type HashRequest,
  isPad,
  type JobProgress,
  layerCount,
  type RequestedFile,
  tooManyHashes,
} from './hash-request.ts';
import { Limiter, Slot } from './limiter.ts';
import { bytesToPieceEnd, requestedPadFile } from './make-requested-files.ts';
import { PieceHasher, TreeHasher } from './node-hashers.ts';
import { openRequested, pathOf, readRange, requireAsRequested, requireNoLinks } from './open-without-links.ts';
import { withPrivateData } from './private-buffer.ts';
import { closeRead } from './read.ts';
import { inSteps } from './steps.ts';

/**
 * The engine that hashes with node:crypto, without the addon. It gives the same digests as {@link nativeEngine} and the same
 * errors, but it uses a single thread: the one of JavaScript. It hashes one read at a time, so the event loop goes on.
 *
 * @example
 * ```ts
 * import path from 'node:path';
 * import { nodeEngine, TorrentCreate } from 'metainfo';
 *
 * const draft = new TorrentCreate({ pathRoot: path.resolve('album') });
 * const torrent = await draft.generate({ version: 'v2', engine: nodeEngine() });
 * console.log(torrent.torrentVersion);
 * ```
 * ```text
 * v2
 * ```
 */
export function nodeEngine(): Engine {
  const start = inSteps((request) => new NodeJob(withPrivateData(request)));
  return ownEngine({ name: 'node', kernel: 'node:crypto', start });
}

/** Hashing a larger read would hold up the event loop. */
const MAX_READ = 2 ** 20;

/**
 * Lets the hash jobs of the process, which share one thread, run in turn for a short time each. One buffer serves all of them, a small
 * job does not wait for a large one, and the event loop runs in between.
 */
const slotLimiter = new Limiter(1);
/** How the node engine is used now. */
export const nodeEngineUse: Pick<Limiter, 'waiting'> = slotLimiter;
const SLOT_SECONDS = 0.01;
/** The buffer of the job that has the slot. Jobs do not allocate their own: the garbage would not be collected in time. */
let buffer: Uint8Array = new Uint8Array(0);

class NodeJob implements HashJob {
  readonly done: Promise<Digests>;
  readonly #request: HashRequest;
  readonly #missing: number[] = [];
  readonly #progress = { bytes: 0, fileIndex: 0 };
  /** Bytes that are read or hashed at once. */
  readonly #readSize: number;
  readonly #slot = new Slot(slotLimiter);
  /** When the job must offer its slot, in seconds of `process.uptime()`. */
  #slotEnd = 0;
  #isCancelled = false;
  #stopWaiting: (() => void) | null = null;

  constructor(request: HashRequest) {
    this.#request = request;
    this.#readSize = Math.min(request.readSize, MAX_READ);
    this.done = this.#run();
  }

  progress(): JobProgress {
    // The job that has the slot goes first too.
    return { ...this.#progress, queued: this.#slot.queueIndex + 1 };
  }

  cancel(): void {
    this.#isCancelled = true;
    this.#stopWaiting?.();
  }

  /**
   * Waits for a system call, which may never answer. A job that is cancelled stops waiting and leaves the buffer to the read,
   * which may still write to it. The call keeps a thread of libuv until it answers, and Node waits for it on exit.
   */
  #untilCancelled<T>(call: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#stopWaiting = () => {
        buffer = new Uint8Array(0);
        reject(hashingCancelled());
      };
      const end = () => {
        this.#stopWaiting = null;
      };
      call.finally(end).then(resolve, reject);
    });
  }

  async #run(): Promise<Digests> {
    await this.#slot.acquire();
    try {
      // The caller's code goes on first.
      await nextRound();
      this.#beginTurn();
      return await this.#hash();
    } finally {
      this.#slot.release();
    }
  }

  #beginTurn(): void {
    this.#slotEnd = uptime() + SLOT_SECONDS;
  }

  /** Offers the slot to other jobs if its time is over. Call it before every step that takes time. */
  async #nextStep(): Promise<void> {
    if (uptime() >= this.#slotEnd) {
      await this.#slot.requeue();
      this.#beginTurn();
    }
    if (this.#isCancelled) throw hashingCancelled();
  }

  /** Allocates room for all hashes. */
  #allocate() {
    const { version, files, pieceLength } = this.#request;
    const layerBytes = (file: RequestedFile) => layerCount(file, pieceLength) * 32;
    let [total, layersTotal, index] = [0, 0, 0];
    for (const file of files) {
      total += file.length + this.#padding(index, file);
      layersTotal += layerBytes(file);
      index += 1;
    }
    try {
      const pieces = version === 'v2' ? null : new PieceHasher(pieceLength, total);
      const [roots, layers] = version === 'v1' ? [] : [Buffer.alloc(files.length * 32), Buffer.alloc(layersTotal)];
      return { pieces, roots, layers, layerBytes };
    } catch (error) {
      if (error instanceof RangeError) throw tooManyHashes(this.#request, error);
      throw error;
    }
  }

  /** Bytes of zeros that fill the last piece of a file. */
  #padding(index: number, { length }: RequestedFile): number {
    const { paddedFiles = 0, pieceLength } = this.#request;
    return index < paddedFiles ? bytesToPieceEnd(length, pieceLength) : 0;
  }

  async #hash(): Promise<Digests> {
    const { files, pieceLength } = this.#request;
    const { pieces, roots, layers, layerBytes } = this.#allocate();
    let start = 0;
    let index = -1;
    for (const file of files) {
      index += 1;
      const end = start + layerBytes(file);
      const tree = layers && !isPad(file) ? new TreeHasher(pieceLength, layers.subarray(start, end)) : null;
      start = end;
      const update = (bytes: Uint8Array) => {
        pieces?.update(bytes);
        tree?.update(bytes);
        if (isPad(file)) return;
        this.#progress.bytes += bytes.length;
        hashedHere.bytes += bytes.length;
      };
      const exists = await this.#readContent(index, file, update);
      if (!exists) pieces?.skip(file.length);
      else if (tree && file.length > 0) roots?.set(tree.finish(), index * 32);
      const padding = pieces ? this.#padding(index, file) : 0;
      if (padding > 0) await this.#readContent(index, requestedPadFile(padding), (bytes) => pieces?.update(bytes));
    }
    if (this.#isCancelled) throw hashingCancelled();
    return {
      ...(pieces && { v1: pieces.finish() }),
      ...(roots && layers && { v2: { roots, layers } }),
      missing: this.#missing,
    };
  }

  /** Reads content in parts that start with a block. Returns false if the file is missing. */
  async #readContent(index: number, file: RequestedFile, update: (bytes: Uint8Array) => void): Promise<boolean> {
    await this.#nextStep();
    if (file.path !== null) return this.#readFile(index, file, update);
    const { data, offset, length } = file;
    if (data && offset + length > data.byteLength) throw invalidArgument('a file ends beyond its data');
    for (let at = 0; at < length; at += this.#readSize) {
      await this.#nextStep();
      const size = Math.min(this.#readSize, length - at);
      // A pad file has no data: it is zeros.
      update(data ? data.subarray(offset + at, offset + at + size) : new Uint8Array(size));
    }
    return true;
  }

  /** Returns null if the file is missing and the request allows that. */
  async #open(file: RequestedFile): Promise<FileHandle | null> {
    try {
      const opening = openRequested(file);
      // After a cancellation, nobody else closes a file that is opened too late.
      const closeLate = async (late: FileHandle) => {
        if (this.#isCancelled) await closeRead(late);
      };
      opening.then(closeLate).catch(() => {});
      return await this.#untilCancelled(opening);
    } catch (error) {
      if ((error as MetainfoError).code === 'ERR_NOT_FOUND' && this.#request.onMissing === 'mark') return null;
      throw error;
    }
  }

  async #readFile(index: number, file: RequestedFile, update: (bytes: Uint8Array) => void): Promise<boolean> {
    const path = pathOf(file);
    this.#progress.fileIndex = index;
    const handle = await this.#open(file);
    if (!handle) {
      this.#missing.push(index);
      return false;
    }
    try {
      // Check empty files too: they must still be empty.
      await this.#untilCancelled(requireAsRequested(handle, file));
      await this.#untilCancelled(requireNoLinks(handle, file));
      for (let at = 0; at < file.length; ) {
        await this.#nextStep();
        if (buffer.length < this.#readSize) buffer = newBytes(this.#readSize);
        const part = buffer.subarray(0, Math.min(this.#readSize, file.length - at));
        await this.#untilCancelled(readRange(handle, part, file.offset + at, path));
        update(part);
        at += part.length;
      }
      await this.#untilCancelled(requireAsRequested(handle, file));
      return true;
    } catch (error) {
      throw fromSystemError(error, path, 'read');
    } finally {
      const closed = closeRead(handle);
      // Closing waits for a pending read, which may never end.
      if (!this.#isCancelled) await closed;
    }
  }
}
