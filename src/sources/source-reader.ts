/** Reads the content of a source in order, chunk by chunk, and checks every chunk. */

import { hashingCancelled } from '../errors/cancel.ts';
import type { MetainfoErrorCode } from '../errors/codes.ts';
import { MetainfoError, shown } from '../errors/errors.ts';
import { chunksOf, isByteStream } from '../hash/byte-stream.ts';
import { isUint8Array, nextRound } from '../platform/node.ts';
import { ignoreFailure, isBlob, type RangeReader, type StreamData, sourceError } from './source-data.ts';
import type { SourceFile } from './sources.ts';

/** The requests that a range reader gets ahead of their use. */
export interface ReadAhead {
  /** Bytes of a request. */
  size: number;
  /** Requests that run at once. */
  count: number;
}

/** Let the event loop turn after this time, even if every chunk is ready at once. */
const MAX_BUSY_MS = 15;

/** Reads the chunks of one source. */
export class SourceReader {
  readonly #path: string;
  /** Bytes that the source must have; null for any number. */
  readonly #expected: number | null;
  readonly #stream: StreamData;
  readonly #chunks: AsyncIterator<unknown>;
  readonly #signal: AbortSignal;
  #length = 0;
  #hasEnded = false;
  /** When the event loop last turned. */
  #turned = performance.now();
  /** Ends the wait for a chunk: it may never arrive. */
  #stopWaiting: (() => void) | null = null;
  readonly #onAbort = () => this.#stopWaiting?.();

  constructor({ path, length, stream }: SourceFile, readAhead: ReadAhead, signal: AbortSignal) {
    this.#path = path.join('/');
    this.#expected = length;
    this.#signal = signal;
    this.#stream = stream as StreamData;
    this.#chunks = iterate(this.#stream, readAhead, signal);
    signal.addEventListener('abort', this.#onAbort, { once: true });
  }

  /** Bytes that have arrived. */
  get length(): number {
    return this.#length;
  }

  /**
   * The next chunk; null after the last.
   *
   * @throws {MetainfoError} `ERR_SOURCE` if the source fails or gives anything but bytes; `ERR_SOURCE_TRUNCATED`; `ERR_SOURCE_SIZE` if
   *   it is longer or shorter than its size; `ERR_ABORTED`
   */
  async next(): Promise<Uint8Array | null> {
    if (performance.now() - this.#turned > MAX_BUSY_MS) {
      await nextRound();
      this.#turned = performance.now();
    }
    const { done, value } = await this.#nextResult();
    if (done) {
      this.#hasEnded = true;
      // At their size limit, the file streams of busboy and @fastify/multipart end without an error.
      if ((this.#stream as { truncated?: unknown }).truncated === true)
        throw this.#wrong(`was truncated after ${this.#length} bytes, at a size limit`, 'ERR_SOURCE_TRUNCATED');
      if (this.#expected === null || this.#length === this.#expected) return null;
      throw this.#wrong(`ended after ${this.#length} of ${this.#expected} bytes`);
    }
    if (!isUint8Array(value)) {
      const message = `${this.#path} returned ${shown(value)}: the chunks of a stream must be Uint8Arrays.`;
      throw new MetainfoError('ERR_SOURCE', message, { path: this.#path });
    }
    this.#length += value.length;
    const max = this.#expected ?? Number.MAX_SAFE_INTEGER;
    if (this.#length > max) throw this.#wrong(`is longer than ${max} bytes`);
    return value;
  }

  /** Ends the source, unless it has ended, without waiting for it. */
  close(): void {
    this.#signal.removeEventListener('abort', this.#onAbort);
    if (!this.#hasEnded) ignoreFailure(() => this.#chunks.return?.());
  }

  #nextResult(): Promise<IteratorResult<unknown>> {
    return new Promise((resolve, reject) => {
      const onAbort = () => reject(hashingCancelled());
      if (this.#signal.aborted) return onAbort();
      this.#stopWaiting = onAbort;
      const fail = (error: unknown) => {
        this.#hasEnded = true;
        reject(sourceError(this.#path, error));
      };
      // A foreign iterator may throw, and may resolve to anything.
      try {
        Promise.resolve(this.#chunks.next()).then((result) => {
          if (typeof result === 'object' && result !== null) resolve(result);
          else fail(new TypeError(`the iterator gave ${shown(result)}`));
        }, fail);
      } catch (error) {
        fail(error);
      }
    });
  }

  #wrong(problem: string, code: MetainfoErrorCode = 'ERR_SOURCE_SIZE'): MetainfoError {
    return new MetainfoError(code, `${this.#path} ${problem}.`, { path: this.#path });
  }
}

function iterate(stream: StreamData, readAhead: ReadAhead, signal: AbortSignal): AsyncIterator<unknown> {
  try {
    if (isByteStream(stream)) return chunksOf(stream);
  } catch (error) {
    // Fail when the first chunk is asked for.
    return { next: () => Promise.reject(error) };
  }
  if (!isBlob(stream)) return ranges(stream as RangeReader, readAhead, signal);
  const read = async (offset: number, length: number) =>
    new Uint8Array(await stream.slice(offset, offset + length).arrayBuffer());
  return ranges({ size: stream.size, read }, readAhead, signal);
}

/** The content of a range reader in order, with several requests under way. */
async function* ranges(
  reader: RangeReader,
  { size, count }: ReadAhead,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const total = reader.size;
  const requests: Promise<Uint8Array>[] = [];
  /** The memory of the requests that ran at the same time as the next one. */
  const recent: MemoryRange[] = [];
  let asked = 0;
  for (let given = 0; given < total; ) {
    while (requests.length < count && asked < total) {
      const length = Math.min(size, total - asked);
      // A foreign function may throw instead of rejecting.
      const request = Promise.resolve(asked).then((offset) => reader.read(offset, length, signal));
      // A failure is reported when the request is next in order.
      request.catch(() => {});
      requests.push(request);
      asked += length;
    }
    const bytes = await (requests.shift() as Promise<Uint8Array>);
    const expected = Math.min(size, total - given);
    if (isUint8Array(bytes) && bytes.length !== expected)
      throw new Error(`expected ${expected} bytes from ${given}, got ${bytes.length}`);
    if (isUint8Array(bytes) && count > 1) requireOwnMemory(bytes, recent, count - 1);
    given += expected;
    yield bytes;
  }
}

/** A range of an ArrayBuffer, in bytes. */
interface MemoryRange {
  buffer: ArrayBufferLike;
  start: number;
  end: number;
}

/** Throws if two requests that ran at once returned the same memory: one has overwritten the other. */
function requireOwnMemory({ buffer, byteOffset, length }: Uint8Array, recent: MemoryRange[], max: number): void {
  const range = { buffer, start: byteOffset, end: byteOffset + length };
  if (recent.some((other) => other.buffer === buffer && other.start < range.end && range.start < other.end))
    throw new Error(
      'read() returned the same memory for two requests that ran at once: return a new Uint8Array each time',
    );
  recent.push(range);
  if (recent.length > max) recent.shift();
}
