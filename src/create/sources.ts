import type { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import { hashingCancelled } from '../errors/cancel.ts';
import { MetainfoError, shown } from '../errors/errors.ts';
import { privateCopy } from '../hash/private-buffer.ts';
import { unsafeComponent } from '../layout/safe-path.ts';
import type { Issues } from '../model/issues.ts';

/** Something that gives any of its bytes, in any order and several at once: an object store, an HTTP server, a database. */
export interface RangeReader {
  /** Bytes of all of it. */
  size: number;
  /**
   * Exactly `length` bytes from `offset`. Several requests run at once, so each must give memory of its own: the same
   * memory for two of them fails the source.
   *
   * @param signal Fires when they are no longer wanted.
   */
  read(offset: number, length: number, signal: AbortSignal): Promise<Uint8Array>;
}

/**
 * Content that is not in a file on this disk.
 *
 * Bytes in memory are copied before they are hashed: small ones when `generate` starts, large ones part by part. So large
 * ones must not change until it has ended; when they are transferred or shrink before that, it fails with `ERR_SOURCE`.
 * Streams give Uint8Arrays, are read once, and are destroyed when the work fails; in the order they are given, four at most
 * at once, in v1 one after another: none may wait for one that comes later.
 */
export type SourceData =
  | Uint8Array
  | Blob
  | ReadableStream<Uint8Array>
  | Readable
  | AsyncIterable<Uint8Array>
  | RangeReader;

/** A file of a torrent whose content comes from somewhere else than the disk. */
export interface Source {
  /** From the torrent's root, with `/`. */
  path: string;
  /** Bytes: a source that has more or fewer fails. Left out, a stream is as long as it turns out to be. */
  size?: number | null | undefined;
  /** Its content. */
  data: SourceData;
}

/** A source among the files of a draft. */
export interface SourceFile {
  /** Components from the torrent's root. */
  path: string[];
  /** Bytes; null where only the stream's end tells. */
  length: number | null;
  /** Where it is all in memory. */
  data?: Uint8Array;
  /** Where it has to be read. */
  stream?: Exclude<SourceData, Uint8Array>;
}

/** Reports what is wrong with sources, as issues of the field `sources`. */
export function checkSources(sources: unknown, issues: Issues): void {
  if (sources === undefined || sources === null) return;
  if (!Array.isArray(sources)) {
    issues.add('sources', ['sources'], `expected a list of sources, got ${shown(sources)}`);
    return;
  }
  if (sources.length === 0) issues.add('sources', ['sources'], 'expected at least one source, got none');
  const taken = new Set<unknown>();
  for (const [index, source] of sources.entries()) {
    const problem = problemOf(source as Partial<Source> | null);
    if (problem) issues.add('sources', ['sources', index, ...problem.at], problem.message);
    const { data } = (source ?? {}) as Partial<Source>;
    if (isData(data) && isOnce(data) && taken.has(data))
      issues.add(
        'sources',
        ['sources', index, 'data'],
        'expected a stream of its own, got one that another source has',
      );
    taken.add(data);
  }
}

function problemOf(source: Partial<Source> | null): { at: string[]; message: string } | null {
  if (source === null || typeof source !== 'object')
    return { at: [], message: `expected a source, got ${shown(source)}` };
  const { path, size, data } = source;
  if (typeof path !== 'string') return { at: ['path'], message: `expected a path, got ${shown(path)}` };
  const unsafe = path
    .split('/')
    .map(unsafeComponent)
    .find((problem) => problem !== null);
  if (unsafe) return { at: ['path'], message: `expected a relative path, got ${unsafe}: ${shown(path)}` };
  if (!path.isWellFormed())
    return { at: ['path'], message: `expected text, got half a surrogate pair: ${shown(path)}` };
  const wrong = (value: unknown) => !(Number.isSafeInteger(value) && (value as number) >= 0);
  if (size != null && wrong(size)) return { at: ['size'], message: `expected a size from 0, got ${shown(size)}` };
  if (!isData(data))
    return { at: ['data'], message: `expected bytes or something to read them from, got ${shown(data)}` };
  const own = sizeOf(data);
  if (own !== null && wrong(own)) return { at: ['data'], message: `expected data of a size from 0, got ${shown(own)}` };
  if (own !== null && size != null && own !== size)
    return { at: ['size'], message: `expected ${own}, the size of its data, got ${size}` };
  return null;
}

/** Sources as a draft keeps them, which nobody changes: with the sizes that they have now. */
export function frozenSources(sources: readonly Source[]): Source[] {
  return sources.map(({ path, size, data }) => ({ path, size: sizeOf(data) ?? size ?? null, data }));
}

/**
 * Frozen sources as files of a draft.
 *
 * @throws {MetainfoError} `ERR_SOURCE_SIZE` for bytes that were transferred since
 */
export function sourceFiles(sources: readonly Source[]): SourceFile[] {
  return sources.map(({ path, size = null, data }) => {
    const file = { path: path.split('/'), length: size };
    if (!(data instanceof Uint8Array)) return { ...file, stream: data };
    if (data.length === size) return { ...file, data };
    throw new MetainfoError('ERR_SOURCE_SIZE', `${path} has ${data.length} bytes now, not ${size}.`, { path });
  });
}

/** Memory of at most so many bytes is copied at once. */
const MOST_COPIED = 2 ** 18;

/** The files with memory that their owner may transfer, resize or write: small ones are copied, large ones are read in parts. */
export function detachMemory(files: readonly SourceFile[]): SourceFile[] {
  return files.map(({ data, ...file }) => {
    if (!data) return file;
    if (data.length <= MOST_COPIED) return { ...file, data: privateCopy(data) };
    return { ...file, stream: memoryReader(data) };
  });
}

function memoryReader(bytes: Uint8Array): RangeReader {
  const size = bytes.length;
  return {
    size,
    read: async (offset, length) => {
      if (bytes.length !== size) throw new Error(MEMORY_CHANGED);
      return bytes.subarray(offset, offset + length);
    },
  };
}

const MEMORY_CHANGED = 'its memory was transferred or resized while it was hashed';

function isData(data: unknown): data is SourceData {
  if (data === null || typeof data !== 'object') return false;
  return data instanceof Uint8Array || isBlob(data) || isStream(data) || 'getReader' in data || isRanges(data);
}

/** Also those of other libraries. */
function isBlob(data: object): data is Blob {
  return 'arrayBuffer' in data && 'slice' in data && typeof data.slice === 'function' && 'size' in data;
}

/** ReadableStream and Readable are async iterables too. */
function isStream(data: object): data is AsyncIterable<Uint8Array> {
  return typeof (data as Partial<AsyncIterable<unknown>>)[Symbol.asyncIterator] === 'function';
}

function isRanges(data: object): data is RangeReader {
  return 'size' in data && 'read' in data && typeof data.read === 'function';
}

function isReadable(data: object): data is Readable {
  return 'pipe' in data && 'destroy' in data && typeof data.destroy === 'function' && 'on' in data;
}

/** The bytes that data says it has; null when only its end tells. */
function sizeOf(data: SourceData): number | null {
  if (data instanceof Uint8Array) return data.length;
  if (isStream(data) || 'getReader' in data) return null;
  return (data as Blob | RangeReader).size;
}

/** Whether data can be read only once. */
function isOnce(data: SourceData): boolean {
  return 'getReader' in data || (isStream(data) && (isReadable(data) || 'next' in data));
}

/** Generators that have been read: unlike streams they do not tell. */
const read = new WeakSet<object>();

/** Streams that one generation has for itself. */
export interface TakenStreams {
  /** After success: nothing is held of them any more. */
  release(): void;
  /** After failure: none goes on. */
  destroy(): void;
}

/**
 * Makes ready to read every stream of the files, and keeps errors of those that are not read yet from ending the process.
 *
 * @throws {MetainfoError} `ERR_SOURCE` for a stream that somebody reads or has read, or that has failed; the others are
 *   destroyed
 */
export function takeStreams(files: readonly SourceFile[]): TakenStreams {
  const streams = files.flatMap(({ stream, path }) => (stream ? [{ stream, path: path.join('/') }] : []));
  const ignore = () => {};
  const mine: (typeof streams)[number]['stream'][] = [];
  let problem: MetainfoError | null = null;
  for (const { stream, path } of streams) {
    const wrong = isOnce(stream) ? takenProblem(stream, path) : null;
    problem ??= wrong;
    if (wrong) continue;
    if (isReadable(stream)) stream.on('error', ignore);
    if (isOnce(stream)) read.add(stream);
    mine.push(stream);
  }
  const taken = {
    release: () => {
      for (const stream of mine) if (isReadable(stream)) stream.removeListener('error', ignore);
    },
    destroy: () => {
      for (const stream of mine) destroy(stream);
    },
  };
  if (!problem) return taken;
  taken.destroy();
  throw problem;
}

function takenProblem(stream: object, path: string): MetainfoError | null {
  if (isReadable(stream) && stream.errored) return failed(path, stream.errored);
  const told = isReadable(stream) || 'getReader' in stream;
  const used =
    read.has(stream) || (told && ('locked' in stream ? stream.locked : false)) || (told && isDisturbed(stream));
  const message = `${path} is read, or has been read, by somebody else: give a new stream.`;
  return used ? new MetainfoError('ERR_SOURCE', message, { path }) : null;
}

/** Whether somebody has read from a stream, of Node or of the web. What tells is loaded when there is one. */
function isDisturbed(stream: object): boolean {
  return process.getBuiltinModule('node:stream').Readable.isDisturbed(stream as Readable);
}

/** Somebody's code, which may throw: nothing is done about that any more. */
function quietly(action: () => unknown): void {
  try {
    Promise.resolve(action()).catch(() => {});
  } catch {
    // As a promise that rejects.
  }
}

function destroy(stream: Exclude<SourceData, Uint8Array>): void {
  if (isReadable(stream)) quietly(() => stream.destroy());
  else if ('getReader' in stream) quietly(() => stream.cancel());
  // A generator: it may still be at its last `next`, and then ends after that.
  else if ('next' in stream) quietly(() => (stream as unknown as AsyncGenerator).return?.(undefined));
}

/** What somebody's source failed with, as an error that names it. */
function failed(path: string, error: unknown): MetainfoError {
  const { message } = error instanceof Error ? error : { message: shown(error) };
  return new MetainfoError('ERR_SOURCE', `${path} could not be read: ${message}`, { path, cause: error });
}

/** The requests that a range reader gets ahead of their use. */
export interface ReadAhead {
  /** Bytes a request. */
  size: number;
  /** Requests at once. */
  count: number;
}

/** The event loop turns at least so often while chunks come that nobody has to wait for. */
const MOST_MS = 15;

/** The chunks of a source in order, checked. */
export class SourceReader {
  readonly #path: string;
  readonly #expected: number | null;
  readonly #chunks: AsyncIterator<unknown>;
  readonly #signal: AbortSignal;
  #length = 0;
  #hasEnded = false;
  #turned = performance.now();
  /** The chunk that was given last, and how long it was then. */
  #last: { chunk: Uint8Array; length: number } | null = null;
  /** Ends the waiting for a chunk that may never come. */
  #stopWaiting: (() => void) | null = null;
  readonly #onAbort = () => this.#stopWaiting?.();

  constructor({ path, length, stream }: SourceFile, readAhead: ReadAhead, signal: AbortSignal) {
    this.#path = path.join('/');
    this.#expected = length;
    this.#signal = signal;
    this.#chunks = iterate(stream as NonNullable<SourceFile['stream']>, readAhead, signal);
    signal.addEventListener('abort', this.#onAbort, { once: true });
  }

  /** Bytes so far. */
  get length(): number {
    return this.#length;
  }

  /**
   * The next chunk; null after the last.
   *
   * @throws {MetainfoError} `ERR_SOURCE` when the source fails or gives something else; `ERR_SOURCE_SIZE` when it is
   *   longer or shorter than it should be; `ERR_ABORTED`
   */
  async next(): Promise<Uint8Array | null> {
    if (performance.now() - this.#turned > MOST_MS) {
      await new Promise(setImmediate);
      this.#turned = performance.now();
    }
    this.#requireLast();
    const { done, value } = await this.#wait();
    if (done) {
      this.#hasEnded = true;
      if (this.#expected === null || this.#length === this.#expected) return null;
      throw this.#wrongSize(`ended after ${this.#length} of ${this.#expected} bytes`);
    }
    if (!(value instanceof Uint8Array)) {
      const message = `${this.#path} gave ${shown(value)}, not bytes: streams must give Uint8Arrays.`;
      throw new MetainfoError('ERR_SOURCE', message, { path: this.#path });
    }
    this.#last = { chunk: value, length: value.length };
    this.#length += value.length;
    if (this.#length > (this.#expected ?? Number.MAX_SAFE_INTEGER))
      throw this.#wrongSize(`is longer than its ${this.#expected ?? 'most'} bytes`);
    return value;
  }

  /**
   * A part of the chunk that was given last. While the caller waited for room, its owner may have taken it away.
   *
   * @throws {MetainfoError} `ERR_SOURCE`
   */
  part(from: number, to: number): Uint8Array {
    this.#requireLast();
    const { chunk } = this.#last as { chunk: Uint8Array };
    return chunk.subarray(from, to);
  }

  #requireLast(): void {
    if (this.#last && this.#last.chunk.length !== this.#last.length)
      throw failed(this.#path, new Error(MEMORY_CHANGED));
  }

  /** Nothing more will be read. What gives the chunks is told so, unless it has ended, and not waited for. */
  close(): void {
    this.#signal.removeEventListener('abort', this.#onAbort);
    if (!this.#hasEnded) quietly(() => this.#chunks.return?.());
  }

  #wait(): Promise<IteratorResult<unknown>> {
    return new Promise((resolve, reject) => {
      const aborted = () => reject(hashingCancelled());
      if (this.#signal.aborted) return aborted();
      this.#stopWaiting = aborted;
      const fail = (error: unknown) => {
        this.#hasEnded = true;
        reject(failed(this.#path, error));
      };
      // Somebody's iterator: it may throw, and give anything.
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

  #wrongSize(problem: string): MetainfoError {
    return new MetainfoError('ERR_SOURCE_SIZE', `${this.#path} ${problem}.`, { path: this.#path });
  }
}

function iterate(
  stream: NonNullable<SourceFile['stream']>,
  readAhead: ReadAhead,
  signal: AbortSignal,
): AsyncIterator<unknown> {
  try {
    if ('getReader' in stream) return webChunks(stream);
    if (isStream(stream)) return stream[Symbol.asyncIterator]();
  } catch (error) {
    // Told of when the first chunk is wanted.
    return { next: () => Promise.reject(error) };
  }
  if (!isBlob(stream)) return ranges(stream as RangeReader, readAhead, signal);
  const read = async (offset: number, length: number) =>
    new Uint8Array(await stream.slice(offset, offset + length).arrayBuffer());
  return ranges({ size: stream.size, read }, readAhead, signal);
}

/** Its own iterator cannot be ended while a chunk is awaited. */
function webChunks(stream: ReadableStream<Uint8Array>): AsyncIterator<unknown> {
  const reader = stream.getReader();
  return {
    next: async () => {
      const result = await reader.read();
      if (result.done) reader.releaseLock();
      return result as IteratorResult<unknown>;
    },
    return: async () => {
      await reader.cancel();
      reader.releaseLock();
      return { done: true, value: undefined };
    },
  };
}

/** All of a range reader in order, with requests ahead of what is wanted. */
async function* ranges(
  reader: RangeReader,
  { size, count }: ReadAhead,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const total = reader.size;
  const requests: Promise<Uint8Array>[] = [];
  /** Of the requests that ran beside the next one. */
  const beside: MemoryRange[] = [];
  let asked = 0;
  for (let given = 0; given < total; ) {
    while (requests.length < count && asked < total) {
      const length = Math.min(size, total - asked);
      // Somebody's function: it may throw instead of rejecting.
      const request = Promise.resolve(asked).then((offset) => reader.read(offset, length, signal));
      // One that fails is told of when it is its turn.
      request.catch(() => {});
      requests.push(request);
      asked += length;
    }
    const bytes = await (requests.shift() as Promise<Uint8Array>);
    const expected = Math.min(size, total - given);
    if (bytes instanceof Uint8Array && bytes.length !== expected)
      throw new Error(`expected ${expected} bytes from ${given}, got ${bytes.length}`);
    if (bytes instanceof Uint8Array && count > 1) requireOwnMemory(bytes, beside, count - 1);
    given += expected;
    yield bytes;
  }
}

interface MemoryRange {
  buffer: ArrayBufferLike;
  start: number;
  end: number;
}

/** Throws where two requests that ran at once have written into the same memory: one has overwritten the other. */
function requireOwnMemory({ buffer, byteOffset, length }: Uint8Array, beside: MemoryRange[], most: number): void {
  const range = { buffer, start: byteOffset, end: byteOffset + length };
  if (beside.some((other) => other.buffer === buffer && other.start < range.end && range.start < other.end))
    throw new Error('read() gave the same memory for two requests that ran at once: return a new Uint8Array each time');
  beside.push(range);
  if (beside.length > most) beside.shift();
}
