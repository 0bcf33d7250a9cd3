import type { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import { MetainfoError, shown } from '../errors.ts';
import { unsafeComponent } from '../layout/safe-path.ts';
import type { Issues } from '../model/issues.ts';

/** Something that gives any of its bytes, in any order and several at once: an object store, an HTTP server, a database. */
export interface RangeReader {
  /** Bytes of all of it. */
  size: number;
  /**
   * Exactly `length` bytes from `offset`.
   *
   * @param signal Fires when they are no longer wanted.
   */
  read(offset: number, length: number, signal: AbortSignal): Promise<Uint8Array>;
}

/** Content that is not in a file on this disk. A stream is read once, and destroyed when the work fails. */
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
  /** Bytes; a stream that has more or fewer fails. May be left out: then a stream is as long as it turns out to be. */
  size?: number | null | undefined;
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

/** Sources as files of a draft. */
export function sourceFiles(sources: readonly Source[]): SourceFile[] {
  return sources.map(({ path, size, data }) => {
    const file = { path: path.split('/'), length: sizeOf(data) ?? size ?? null };
    return data instanceof Uint8Array ? { ...file, data: steady(data) } : { ...file, stream: data };
  });
}

/** Memory that may be taken away or shared while it is hashed is copied. */
function steady(bytes: Uint8Array): Uint8Array {
  const { buffer } = bytes as { buffer: ArrayBufferLike & { resizable?: boolean } };
  return buffer instanceof ArrayBuffer && !buffer.resizable ? bytes : new Uint8Array(bytes);
}

function isData(data: unknown): data is SourceData {
  if (data === null || typeof data !== 'object') return false;
  return data instanceof Uint8Array || isBlob(data) || isStream(data) || isRanges(data);
}

function isBlob(data: object): data is Blob {
  return data instanceof Blob;
}

/** ReadableStream and Readable are async iterables too. */
function isStream(data: object): data is AsyncIterable<Uint8Array> {
  return Symbol.asyncIterator in data;
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
  if (isStream(data)) return null;
  return (data as Blob | RangeReader).size;
}

/** Whether data can be read only once. */
function isOnce(data: SourceData): boolean {
  if (!isStream(data)) return false;
  return isReadable(data) || 'getReader' in data || 'next' in data;
}

/** Generators that have been read: unlike streams they do not tell. */
const read = new WeakSet<object>();

/**
 * Makes ready to read every stream of the files, and keeps errors of those that are not read yet from ending the process.
 *
 * @returns what destroys all that are not read to their end
 * @throws {MetainfoError} `ERR_SOURCE` for a stream that somebody reads or has read
 */
export function takeStreams(files: readonly SourceFile[]): () => void {
  const streams = files.flatMap(({ stream, path }) => (stream ? [{ stream, path: path.join('/') }] : []));
  const ignore = () => {};
  for (const { stream } of streams) if (isReadable(stream)) stream.on('error', ignore);
  for (const { stream, path } of streams) {
    if (!isOnce(stream)) continue;
    const used = read.has(stream) || ((isReadable(stream) || 'getReader' in stream) && isDisturbed(stream as Readable));
    if (used) throw new MetainfoError('ERR_SOURCE', `${path} has been read already: give a new stream.`, { path });
  }
  for (const { stream } of streams) if (isOnce(stream)) read.add(stream);
  return () => {
    for (const { stream } of streams) destroy(stream);
  };
}

/** Whether somebody has read from a stream, of Node or of the web. What tells is loaded when there is one. */
function isDisturbed(stream: Readable): boolean {
  return process.getBuiltinModule('node:stream').Readable.isDisturbed(stream);
}

function destroy(stream: Exclude<SourceData, Uint8Array>): void {
  const ignore = () => {};
  if (isReadable(stream)) stream.destroy();
  else if ('getReader' in stream && !stream.locked) stream.cancel().catch(ignore);
  else if ('next' in stream && 'return' in stream) {
    // A generator: it may still be at its last `next`, and then ends after that.
    Promise.resolve((stream as unknown as AsyncGenerator).return(undefined)).catch(ignore);
  }
}

/** How much of a range reader is asked for ahead. */
export interface Ahead {
  /** Bytes a request. */
  size: number;
  /** Requests at once. */
  count: number;
}

/** The chunks of a source in order, checked. */
export class SourceReader {
  readonly #path: string;
  readonly #expected: number | null;
  readonly #chunks: AsyncIterator<unknown>;
  readonly #signal: AbortSignal;
  #length = 0;
  /** Ends the waiting for a chunk that may never come. */
  #stopWaiting: (() => void) | null = null;
  readonly #onAbort = () => this.#stopWaiting?.();

  constructor({ path, length, stream }: SourceFile, ahead: Ahead, signal: AbortSignal) {
    this.#path = path.join('/');
    this.#expected = length;
    this.#signal = signal;
    this.#chunks = iterate(stream as NonNullable<SourceFile['stream']>, ahead, signal);
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
    const result = await this.#wait();
    if (result.done) {
      this.close();
      if (this.#expected === null || this.#length === this.#expected) return null;
      throw this.#wrongSize(`ended after ${this.#length} of ${this.#expected} bytes`);
    }
    const { value } = result;
    if (!(value instanceof Uint8Array)) {
      const message = `${this.#path} gave ${shown(value)}, not bytes: streams must give Uint8Arrays.`;
      throw new MetainfoError('ERR_SOURCE', message, { path: this.#path });
    }
    this.#length += value.length;
    if (this.#length > (this.#expected ?? Number.MAX_SAFE_INTEGER))
      throw this.#wrongSize(`is longer than its ${this.#expected ?? 'most'} bytes`);
    return value;
  }

  /** Nothing more will be read. What gives the chunks is told so, and not waited for. */
  close(): void {
    this.#signal.removeEventListener('abort', this.#onAbort);
    Promise.resolve(this.#chunks.return?.()).catch(() => {});
  }

  #wait(): Promise<IteratorResult<unknown>> {
    return new Promise((resolve, reject) => {
      const fail = (error: unknown) => {
        if (error instanceof MetainfoError) return reject(error);
        const { message } = error instanceof Error ? error : { message: shown(error) };
        reject(
          new MetainfoError('ERR_SOURCE', `${this.#path} could not be read: ${message}`, {
            path: this.#path,
            cause: error,
          }),
        );
      };
      const aborted = () => reject(new MetainfoError('ERR_ABORTED', 'Hashing was cancelled.'));
      if (this.#signal.aborted) return aborted();
      this.#stopWaiting = aborted;
      // `next` of somebody's iterator may throw.
      try {
        Promise.resolve(this.#chunks.next()).then(resolve, fail);
      } catch (error) {
        fail(error);
      }
    });
  }

  #wrongSize(problem: string): MetainfoError {
    return new MetainfoError('ERR_SOURCE_SIZE', `${this.#path} ${problem}.`, { path: this.#path });
  }
}

function iterate(stream: NonNullable<SourceFile['stream']>, ahead: Ahead, signal: AbortSignal): AsyncIterator<unknown> {
  // Its own iterator cannot be ended while a chunk is awaited.
  if ('getReader' in stream) {
    const reader = stream.getReader();
    const end = async () => ({ done: true as const, value: await reader.cancel() });
    return { next: () => reader.read() as Promise<IteratorResult<unknown>>, return: end };
  }
  if (isStream(stream)) return stream[Symbol.asyncIterator]();
  if (!isBlob(stream)) return ranges(stream as RangeReader, ahead, signal);
  const read = async (offset: number, length: number) =>
    new Uint8Array(await stream.slice(offset, offset + length).arrayBuffer());
  return ranges({ size: stream.size, read }, ahead, signal);
}

/** All of a range reader in order, with requests ahead of what is wanted. */
async function* ranges(reader: RangeReader, { size, count }: Ahead, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  const total = reader.size;
  const requests: Promise<Uint8Array>[] = [];
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
    given += expected;
    yield bytes;
  }
}
