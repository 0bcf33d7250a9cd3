/** Streams of bytes: telling them apart, reading their chunks, and ending them. */

/** Bytes that arrive in order: a `Readable` of Node, a web stream, or any async iterable. */
export type ByteStream = ReadableStream<Uint8Array> | AsyncIterable<Uint8Array>;

/** A `Readable` of Node, which has no type in browsers. */
export interface NodeStream {
  readonly errored: Error | null;
  on(event: 'error', listener: () => void): void;
  removeListener(event: 'error', listener: () => void): void;
  destroy(): void;
}

export function isByteStream(data: object): data is ByteStream {
  return 'getReader' in data || isStream(data);
}

/** ReadableStream and Readable are async iterables too. */
export function isStream(data: object): data is AsyncIterable<Uint8Array> {
  return typeof (data as Partial<AsyncIterable<unknown>>)[Symbol.asyncIterator] === 'function';
}

export function isReadable(data: object): data is NodeStream {
  return 'pipe' in data && 'destroy' in data && typeof data.destroy === 'function' && 'on' in data;
}

/** The iterator of a web stream cannot be ended while it waits for a chunk, but its reader can be cancelled. */
export function chunksOf(stream: ByteStream): AsyncIterator<unknown> {
  if (!('getReader' in stream)) return stream[Symbol.asyncIterator]();
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

/** Runs foreign code whose failure no longer matters. */
export function ignoreFailure(action: () => unknown): void {
  try {
    Promise.resolve(action()).catch(() => {});
  } catch {
    // The same as a promise that rejects.
  }
}
