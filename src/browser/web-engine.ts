/** The engine of browsers: it reads Blobs and memory, and hashes with WebCrypto, which has threads of its own. */
import type { ReadableStream } from 'node:stream/web';
import { hashingCancelled } from '../errors/cancel.ts';
import { MetainfoError } from '../errors/errors.ts';
import { type Engine, ownEngine } from '../hash/engine.ts';
import {
  type Digests,
  type HashJob,
  type HashRequest,
  isPad,
  type JobProgress,
  type RequestedFile,
} from '../hash/hash-request.ts';
import { bytesToPieceEnd } from '../hash/make-requested-files.ts';
import { hashesIn, merkleRoot, zeroRoot } from '../hash/merkle.ts';
import { BLOCK_SIZE } from '../layout/piece-length.ts';
import { concatBytes, createHasher, nextRound } from '../platform/node.ts';

/** Bytes of a request to a Blob. A longer file is read as a stream, which takes less time and memory. */
const REQUEST = 4 * 2 ** 20;
/** Bytes of a stream that are hashed at once: a piece, but within these. */
const [LEAST_PART, MOST_PART] = [2 ** 20, 8 * 2 ** 20];
/** Requests that run while others are hashed: many, because small files have short ones. */
const REQUESTS_AT_ONCE = 16;
/** Bytes of those requests. */
const BYTES_AHEAD = 2 * REQUEST;
/** WebCrypto copies what it hashes, so few large pieces, but many blocks. */
const DIGESTS_AT_ONCE = 64;
const DIGEST_BYTES_AT_ONCE = 8 * 2 ** 20;
/** Bytes that JavaScript hashes before the page goes on. */
const BYTES_PER_ROUND = 2 ** 20;
const ZERO_HASH = new Uint8Array(32);

/**
 * The engine that hashes with WebCrypto: the default engine of `metainfo/browser`.
 *
 * Pages without https have no WebCrypto. There it hashes in JavaScript, at a tenth of the rate.
 */
export function webEngine(): Engine {
  const start = (request: HashRequest) => new WebJob(request);
  return ownEngine({ name: 'web', kernel: subtle() ? 'WebCrypto' : 'JavaScript', start });
}

/** Bytes of a file of a request, in the order of the torrent. */
interface Part {
  index: number;
  bytes: Uint8Array;
  /** Whether the file ends with them. */
  isLast: boolean;
}

class WebJob implements HashJob {
  readonly done: Promise<Digests>;
  readonly #request: HashRequest;
  readonly #progress = { bytes: 0, fileIndex: 0 };
  readonly #digester = new Digester();
  readonly #cancelled = new AbortController();
  #rejectDone: (error: unknown) => void = () => {};

  constructor(request: HashRequest) {
    this.#request = request;
    // A read that never ends must not hold up a job that is cancelled.
    this.done = new Promise((resolve, reject) => {
      this.#rejectDone = reject;
      this.#hash().then(resolve, reject);
    });
    // A caller that has cancelled may not look at it again.
    this.done.catch(() => {});
  }

  progress(): JobProgress {
    return { ...this.#progress, queued: 0 };
  }

  cancel(): void {
    this.#cancelled.abort();
    this.#rejectDone(hashingCancelled());
  }

  async #hash(): Promise<Digests> {
    const { version, pieceLength, paddedFiles = 0 } = this.#request;
    const files = [...this.#request.files];
    const total = files.reduce(
      (sum, { length }, i) => sum + length + (i < paddedFiles ? bytesToPieceEnd(length, pieceLength) : 0),
      0,
    );
    const pieces = version === 'v2' ? null : new Pieces(pieceLength, total, this.#digester);
    const trees = version === 'v1' ? null : new Trees(files.length, this.#digester);
    let tree: Tree | null = null;
    for await (const { index, bytes, isLast } of this.#parts(files)) {
      if (this.#cancelled.signal.aborted) throw hashingCancelled();
      const file = files[index] as RequestedFile;
      this.#progress.fileIndex = index;
      await pieces?.update(bytes);
      if (trees && !isPad(file) && bytes.length > 0) {
        tree ??= new Tree(file.length, pieceLength, this.#digester);
        await tree.update(bytes);
      }
      if (isLast && tree) {
        await trees?.add(index, tree);
        tree = null;
      }
      if (!isPad(file)) this.#progress.bytes += bytes.length;
      if (isLast && index < paddedFiles) await pieces?.pad();
    }
    const v1 = await pieces?.finish();
    const v2 = await trees?.finish();
    if (this.#cancelled.signal.aborted) throw hashingCancelled();
    return { ...(v1 && { v1 }), ...(v2 && { v2 }), missing: [] };
  }

  /** All content in order: requests run ahead of the hashing, and long files are streams. */
  async *#parts(files: readonly RequestedFile[]): AsyncGenerator<Part> {
    const ahead: { part: Promise<Part>; size: number }[] = [];
    let bytes = 0;
    for (const [index, file] of files.entries()) {
      const chunks = chunksOf(file);
      for (const { part } of chunks ? ahead.splice(0) : []) yield await part;
      if (chunks) {
        bytes = 0;
        yield* this.#streamed(file, index, chunks);
        continue;
      }
      for (const { size, part } of requestsOf(file, index)) {
        // It is thrown when the part is next in order.
        part.catch(() => {});
        ahead.push({ part, size });
        bytes += size;
        while (ahead.length >= REQUESTS_AT_ONCE || bytes > BYTES_AHEAD) {
          const next = ahead.shift() as (typeof ahead)[number];
          bytes -= next.size;
          yield await next.part;
        }
      }
    }
    for (const { part } of ahead) yield await part;
  }

  /** Gathers a stream in one buffer: it is free again when the next part is asked for. */
  async *#streamed({ length }: RequestedFile, index: number, chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Part> {
    const size = Math.min(Math.max(this.#request.pieceLength, LEAST_PART), MOST_PART, length);
    const buffer = new Uint8Array(size);
    let filled = 0;
    for await (const chunk of chunks) {
      for (let at = 0; at < chunk.length; ) {
        if (filled === size) {
          yield { index, bytes: buffer, isLast: false };
          filled = 0;
        }
        const some = chunk.subarray(at, at + size - filled);
        buffer.set(some, filled);
        at += some.length;
        filled += some.length;
      }
    }
    yield { index, bytes: buffer.subarray(0, filled), isLast: true };
  }
}

/** The content of a long file in a Blob, as a stream; null for any other file. Not all libraries with Blobs of their own have streams. */
function chunksOf(file: RequestedFile): AsyncIterable<Uint8Array> | null {
  const { data, blob, offset, length } = file;
  if (data || !blob || length <= REQUEST) return null;
  const part: Partial<Blob> = blob.slice(offset, offset + length);
  const stream = part.stream?.() as ReadableStream<Uint8Array> | undefined;
  return stream ? chunksOfStream(file, stream) : null;
}

async function* chunksOfStream(file: RequestedFile, stream: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = stream.getReader();
  let left = file.length;
  try {
    while (left > 0) {
      const { done, value } = await reader.read().catch((error: unknown) => {
        throw changed(file, error);
      });
      if (done || value.length > left) throw unreadable(file, 'its size has changed.');
      left -= value.length;
      yield value;
    }
  } finally {
    // No error of a stream that is not read to its end matters.
    reader.cancel().catch(() => {});
  }
}

/** Starts the requests of a file, one after another. */
function* requestsOf(file: RequestedFile, index: number): Generator<{ size: number; part: Promise<Part> }> {
  let at = 0;
  do {
    const size = Math.min(REQUEST, file.length - at);
    const isLast = at + size === file.length;
    yield { size, part: bytesOf(file, at, size).then((bytes) => ({ index, bytes, isLast })) };
    at += size;
  } while (at < file.length);
}

/** Reads a range of a file of a request. */
async function bytesOf(file: RequestedFile, from: number, size: number): Promise<Uint8Array> {
  const { blob, data, offset } = file;
  const start = offset + from;
  if (data) return data.subarray(start, start + size);
  if (!blob && file.path === null) return new Uint8Array(size);
  if (!blob) throw unreadable(file, 'a browser opens no paths.');
  // To slice thousands of small files doubles the time of reading them.
  const part = start === 0 && size === blob.size ? blob : blob.slice(start, start + size);
  const buffer = await part.arrayBuffer().catch((error: unknown) => {
    throw changed(file, error);
  });
  if (buffer.byteLength !== size) throw unreadable(file, 'its size has changed.');
  return new Uint8Array(buffer);
}

function unreadable({ path, blob }: RequestedFile, problem: string, cause?: unknown): MetainfoError {
  const name = (path ?? (blob as { name?: string }).name ?? 'a Blob') as string;
  return new MetainfoError('ERR_READ', `${name} could not be read: ${problem}`, { path: name, cause });
}

function changed(file: RequestedFile, error: unknown): MetainfoError {
  return unreadable(file, `it may have been changed, moved or deleted (${String(error)}).`, error);
}

/** WebCrypto, where the page has it. */
function subtle(): { digest(name: string, bytes: Uint8Array): Promise<ArrayBuffer> } | undefined {
  return globalThis.crypto?.subtle as never;
}

/** Runs digests, few at once, so that memory is bounded. */
class Digester {
  readonly #subtle = subtle();
  #running = 0;
  #bytes = 0;
  #wake: (() => void) | null = null;
  #failure: unknown = null;
  #sinceRound = 0;

  /** Waits for room, and starts to hash. The hash is put into `target` later. The bytes may be used again at once. */
  async start(algorithm: 'sha1' | 'sha256', bytes: Uint8Array, target: Uint8Array): Promise<void> {
    if (!this.#subtle) return this.#inJavaScript(algorithm, bytes, target);
    while (this.#running >= DIGESTS_AT_ONCE || (this.#running > 0 && this.#bytes + bytes.length > DIGEST_BYTES_AT_ONCE))
      await this.#change();
    this.#running += 1;
    this.#bytes += bytes.length;
    this.#subtle
      .digest(algorithm === 'sha1' ? 'SHA-1' : 'SHA-256', bytes)
      .then((hash) => target.set(new Uint8Array(hash)))
      .catch((error: unknown) => {
        this.#failure = error;
      })
      .finally(() => {
        this.#running -= 1;
        this.#bytes -= bytes.length;
        this.#wake?.();
      });
  }

  /** Waits for all digests. */
  async end(): Promise<void> {
    while (this.#running > 0) await this.#change();
    if (this.#failure) throw this.#failure;
  }

  #change(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = () => {
        this.#wake = null;
        resolve();
      };
    });
  }

  async #inJavaScript(algorithm: 'sha1' | 'sha256', bytes: Uint8Array, target: Uint8Array): Promise<void> {
    const hasher = createHasher(algorithm);
    for (let at = 0; at < bytes.length; at += BYTES_PER_ROUND) {
      const part = bytes.subarray(at, at + BYTES_PER_ROUND);
      hasher.update(part);
      this.#sinceRound += part.length;
      if (this.#sinceRound < BYTES_PER_ROUND) continue;
      this.#sinceRound = 0;
      await nextRound();
    }
    target.set(hasher.digest());
  }
}

/** Hashes of one size. */
class Hashes {
  readonly bytes: Uint8Array;
  readonly #size: number;
  #used = 0;

  constructor(size: number, count: number) {
    this.#size = size;
    this.bytes = new Uint8Array(size * count);
  }

  /** Room for the next hash. */
  next(): Uint8Array {
    this.#used += this.#size;
    return this.bytes.subarray(this.#used - this.#size, this.#used);
  }
}

/** The v1 pieces of a request: SHA-1 of every `pieceLength` bytes. */
class Pieces {
  readonly #pieceLength: number;
  readonly #hashes: Hashes;
  readonly #digester: Digester;
  /** The start of a piece whose end comes later. */
  #rest: Uint8Array | null = null;
  #filled = 0;

  constructor(pieceLength: number, total: number, digester: Digester) {
    this.#pieceLength = pieceLength;
    this.#hashes = new Hashes(20, Math.ceil(total / pieceLength));
    this.#digester = digester;
  }

  async update(bytes: Uint8Array): Promise<void> {
    for (let at = 0; at < bytes.length; ) {
      const part = bytes.subarray(at, at + this.#pieceLength - this.#filled);
      at += part.length;
      if (part.length === this.#pieceLength) await this.#start(part);
      else await this.#gather(part);
    }
  }

  /** Fills up the last piece with zeros. */
  async pad(): Promise<void> {
    if (this.#filled > 0) await this.update(new Uint8Array(this.#pieceLength - this.#filled));
  }

  async finish(): Promise<Uint8Array> {
    if (this.#filled > 0) await this.#start((this.#rest as Uint8Array).subarray(0, this.#filled));
    await this.#digester.end();
    return this.#hashes.bytes;
  }

  async #gather(part: Uint8Array): Promise<void> {
    this.#rest ??= new Uint8Array(this.#pieceLength);
    this.#rest.set(part, this.#filled);
    this.#filled += part.length;
    if (this.#filled < this.#pieceLength) return;
    this.#filled = 0;
    await this.#start(this.#rest);
  }

  async #start(piece: Uint8Array): Promise<void> {
    await this.#digester.start('sha1', piece, this.#hashes.next());
  }
}

/** Gathers the trees of all files. It finishes those of short files together: waiting for the digests of each would take longer. */
class Trees {
  readonly #roots: Uint8Array;
  readonly #layers: Uint8Array[] = [];
  readonly #digester: Digester;
  #waiting: { index: number; tree: Tree }[] = [];
  #size = 0;

  constructor(files: number, digester: Digester) {
    this.#roots = new Uint8Array(files * 32);
    this.#digester = digester;
  }

  async add(index: number, tree: Tree): Promise<void> {
    this.#waiting.push({ index, tree });
    this.#size += tree.size;
    if (this.#size >= LEAVES_AT_ONCE * 32) await this.#end();
  }

  async finish(): Promise<{ roots: Uint8Array; layers: Uint8Array }> {
    await this.#end();
    return { roots: this.#roots, layers: concatBytes(this.#layers) };
  }

  async #end(): Promise<void> {
    await this.#digester.end();
    for (const { index, tree } of this.#waiting) {
      const { root, layer } = tree.finish();
      this.#roots.set(root, index * 32);
      if (layer.length > 0) this.#layers.push(layer);
    }
    this.#waiting = [];
    this.#size = 0;
    await nextRound();
  }
}

/** Leaves that are hashed before their parents are: few, because JavaScript hashes those, and the page must go on. */
const LEAVES_AT_ONCE = 2 ** 12;

/** The Merkle tree of a file. */
class Tree {
  /** Leaves of a piece. */
  readonly #width: number;
  readonly #digester: Digester;
  /** The hashes of blocks whose parents are not known yet. */
  readonly #leaves: Uint8Array;
  #count = 0;
  /** The hashes of the pieces so far. */
  readonly #layer: Hashes;

  constructor(length: number, pieceLength: number, digester: Digester) {
    this.#width = pieceLength / BLOCK_SIZE;
    this.#digester = digester;
    const blocks = Math.ceil(length / BLOCK_SIZE);
    this.#leaves = new Uint8Array(Math.min(blocks, Math.max(this.#width, LEAVES_AT_ONCE)) * 32);
    this.#layer = new Hashes(32, blocks <= this.#width ? 0 : Math.ceil(length / pieceLength));
  }

  /** @param bytes Whole blocks; only the last block of the file may be shorter. */
  async update(bytes: Uint8Array): Promise<void> {
    for (let at = 0; at < bytes.length; at += BLOCK_SIZE) {
      if (this.#count * 32 === this.#leaves.length) await this.#endPieces();
      const place = this.#count * 32;
      this.#count += 1;
      const block = bytes.subarray(at, at + BLOCK_SIZE);
      await this.#digester.start('sha256', block, this.#leaves.subarray(place, place + 32));
    }
  }

  /** Bytes of the hashes that wait for their parents. */
  get size(): number {
    return this.#count * 32;
  }

  /** Call it when the digester has ended. A file that is no longer than a piece has no layer. */
  finish(): { root: Uint8Array; layer: Uint8Array } {
    const layer = this.#layer.bytes;
    if (layer.length === 0) return { root: merkleRoot(this.#hashes(), ZERO_HASH), layer };
    this.#reduce();
    return { root: merkleRoot(hashesIn(layer), zeroRoot(this.#width)), layer };
  }

  async #endPieces(): Promise<void> {
    await this.#digester.end();
    this.#reduce();
    await nextRound();
  }

  #hashes(): Uint8Array[] {
    return hashesIn(this.#leaves.subarray(0, this.#count * 32));
  }

  /** Hashes the leaves to pieces. */
  #reduce(): void {
    const leaves = this.#hashes();
    for (let i = 0; i < leaves.length; i += this.#width)
      this.#layer.next().set(merkleRoot(leaves.slice(i, i + this.#width), ZERO_HASH, this.#width));
    this.#count = 0;
  }
}
