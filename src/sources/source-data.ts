/** The forms that the content of a source may have, told apart by what they can do. */
import { isOpenFile, type OpenFile, sizeOfOpenFile } from '../disk/open-file.ts';
import type { MetainfoErrorCode } from '../errors/codes.ts';
import { MetainfoError, shown } from '../errors/errors.ts';
import { isBlob } from '../errors/guard.ts';
import { isByteStream, isReadable, isStream } from '../hash/byte-stream.ts';
import { isUint8Array } from '../platform/node.ts';

export { ignoreFailure, isReadable } from '../hash/byte-stream.ts';
export { isBlob };

/** Content that can be read in any order, several ranges at once: an object store, an HTTP server, a database. */
export interface RangeReader {
  /** Bytes of the whole content. */
  size: number;
  /**
   * Reads exactly `length` bytes from `offset`. Several requests run at once, so each must return memory of its own: two
   * requests that return the same memory fail the source.
   *
   * @param offset The first byte.
   * @param length The number of bytes.
   * @param signal Fires when the bytes are no longer needed.
   */
  read(offset: number, length: number, signal: AbortSignal): Promise<Uint8Array>;
  /**
   * Bytes of a request that suit the content. The option `readSize` and the memory limit go first.
   *
   * @default 1 MiB
   */
  requestSize?: number | undefined;
  /**
   * The entity tag of an object of a store, or another text that changes with the content. Plans for parts record it
   * ({@link TorrentCreate.plan}), and parts of another object are refused.
   *
   * @default null
   */
  etag?: string | null | undefined;
}

/**
 * Content that does not come from a path: bytes, a Blob, a stream, a range reader or a `FileHandle` of a regular file. A `FileHandle` is
 * read from its first byte on, and stays open.
 *
 * Bytes are copied before they are hashed: up to 256 KiB when `generate` starts, larger ones part by part. So large ones must
 * not change until `generate` ends; if they are transferred or shrink before that, it fails with `ERR_SOURCE`.
 *
 * Streams give Uint8Arrays and are read once. If `generate` fails, it destroys them. It reads at most four at a time, in the
 * given order; a v1 torrent without pad files reads all its files one after another. So no stream may wait for a later one.
 */
export type SourceData =
  | Uint8Array
  | Blob
  | ReadableStream<Uint8Array>
  | AsyncIterable<Uint8Array>
  | RangeReader
  | OpenFile;

/** Content that has to be read piece by piece. */
export type StreamData = Exclude<SourceData, Uint8Array | OpenFile>;

/** Why bytes that a source gave can no longer be read. */
export const MEMORY_CHANGED = 'its memory was transferred or resized while it was hashed';

export function isData(data: unknown): data is SourceData {
  if (data === null || typeof data !== 'object') return false;
  return isUint8Array(data) || isBlob(data) || isByteStream(data) || isRangeReader(data) || isOpenFile(data);
}

/** The data of a source, or the data that is given without a source. */
export function dataIn(given: unknown): unknown {
  return isData(given) ? given : (given as { data?: unknown } | null | undefined)?.data;
}

function isRangeReader(data: object): data is RangeReader {
  return 'size' in data && 'read' in data && typeof data.read === 'function';
}

/** The bytes that data has; null if only its end tells. NaN for a file that cannot be read. */
export function sizeOf(data: SourceData): number | null {
  if (isUint8Array(data)) return data.length;
  if (isByteStream(data)) return null;
  if (isOpenFile(data)) return sizeOfOpenFile(data) ?? Number.NaN;
  return (data as Blob | RangeReader).size;
}

/** Whether data can be read only once. */
export function isReadOnce(data: SourceData): boolean {
  return 'getReader' in data || (isStream(data) && (isReadable(data) || 'next' in data));
}

/** The codes of errors that web objects fail with: they say all that there is to say. */
const OWN_CODES: readonly MetainfoErrorCode[] = ['ERR_HTTP', 'ERR_FILE_CHANGED'];

/** The error of a source that failed. */
export function sourceError(path: string, error: unknown): MetainfoError {
  if (error instanceof MetainfoError && OWN_CODES.includes(error.code)) return error;
  const { message } = error instanceof Error ? error : { message: shown(error) };
  return new MetainfoError('ERR_SOURCE', `${path} could not be read: ${message}`, { path, cause: error });
}

const DEFAULT_REQUEST = 2 ** 20;

/** The longest request that the range readers among sources ask for. */
export function requestSizeOf(sources: readonly { stream?: StreamData | undefined }[]): number {
  const sizes = sources.map(({ stream }) => (stream as Partial<RangeReader> | undefined)?.requestSize);
  const asked = sizes.filter((size) => Number.isSafeInteger(size) && (size as number) > 0) as number[];
  return asked.length === 0 ? DEFAULT_REQUEST : Math.max(...asked);
}
