/** Reads and writes torrent files, a bounded number at a time: the only file I/O of the model. */
import { LimitError } from '../../bencode/limits.ts';
import { notBencode } from '../../bencode/other-format.ts';
import type { BeneathOptions } from '../../disk/held-folder.ts';
import { readWithin } from '../../disk/read-file.ts';
import { type WriteOptions, writeWhole } from '../../disk/write-file.ts';
import { MAX_GROUP } from '../../disk/write-group.ts';
import { untilAbort } from '../../errors/cancel.ts';
import { shown } from '../../errors/errors.ts';
import { type Checked, invalidArgument, isBlob } from '../../errors/guard.ts';
import { fromSystemError } from '../../errors/system-error.ts';
import { type ByteStream, chunksOf, ignoreFailure, isReadable } from '../../hash/byte-stream.ts';
import { Limiter } from '../../hash/limiter.ts';
import { concatBytes, copyOf, inNode, isUint8Array } from '../../platform/node.ts';

/** Each read holds a file descriptor. */
const limiter = new Limiter(16);
/** One group of files is written while the next one comes together. */
const writes = new Limiter(2 * MAX_GROUP);

/**
 * Reads a torrent file of at most `limit` bytes. In a folder `beneath`, only a regular file: a FIFO would keep the reader waiting.
 *
 * @throws {LimitError} when the file is larger, or a {@link BencodeError} that says what it is instead
 * @throws {MetainfoError} `ERR_NOT_FOUND`, `ERR_UNREADABLE`, `ERR_NOT_A_FILE`, `ERR_READ`, `ERR_INVALID_ARGUMENT`
 * @throws {AbortError} as soon as the signal is aborted, even where the file system does not answer
 */
export function readTorrentFile(
  file: string | Blob | ByteStream,
  limit: number,
  { signal, beneath }: Checked<BeneathOptions> & { signal?: AbortSignal | undefined },
): Promise<Uint8Array> {
  if (typeof file !== 'string') return readStream(file, limit, signal);
  if (!inNode()) return readWithin(file, limit);
  const options = { beneath, onlyFiles: beneath !== undefined, isBencode: true };
  return limiter.run(signal, () => untilAbort(signal, readWithin(file, limit, options)));
}

/** Reads a Blob or a stream to its end, and ends it if that fails. */
async function readStream(
  file: Blob | ByteStream,
  limit: number,
  signal: AbortSignal | undefined,
): Promise<Uint8Array> {
  const stream = isBlob(file) ? file.stream() : file;
  let chunks: AsyncIterator<unknown> | undefined;
  const read = async () => {
    chunks = chunksOf(stream);
    const parts: Uint8Array[] = [];
    for (let size = 0; ; ) {
      const { done, value } = await chunks.next();
      if (done) return concatBytes(parts);
      if (!isUint8Array(value)) throw invalidArgument(`file must be a stream of Uint8Arrays, not of ${shown(value)}`);
      size += value.length;
      if (size > limit) throw notBencode(parts[0] ?? value) ?? new LimitError('bytes', limit, limit);
      // The stream may use its memory again.
      parts.push(copyOf(value));
    }
  };
  try {
    return await untilAbort(signal, read());
  } catch (error) {
    // The iterator of a Readable does not end while it waits for a chunk.
    ignoreFailure(() => (inNode() && isReadable(stream) ? stream.destroy() : chunks?.return?.()));
    throw fromSystemError(error, nameOf(file), 'read');
  }
}

/** The name of a File, or of what has no name. */
export function nameOf(file: string | Blob | ByteStream): string {
  return typeof file === 'string' ? file : ((file as { name?: string }).name ?? (isBlob(file) ? 'a Blob' : 'a stream'));
}

/** Writes a torrent file atomically. Throws as {@link writeWhole}. */
export function writeTorrentFile(target: string, bytes: Uint8Array, options: Checked<WriteOptions>): Promise<void> {
  const write = () => writeWhole(target, bytes, options);
  return inNode() ? writes.run(options.signal, write) : write();
}
