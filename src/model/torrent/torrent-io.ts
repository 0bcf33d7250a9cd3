/** Reads and writes torrent files, a bounded number at a time: the only file I/O of the model. */
import { LimitError } from '../../bencode/limits.ts';
import { HEAD, notBencode } from '../../bencode/other-format.ts';
import type { BeneathOptions } from '../../disk/held-folder.ts';
import { readWithin } from '../../disk/read-file.ts';
import { type WriteOptions, writeWhole } from '../../disk/write-file.ts';
import { MAX_GROUP } from '../../disk/write-group.ts';
import { untilAbort } from '../../errors/cancel.ts';
import type { Checked } from '../../errors/guard.ts';
import { fromSystemError } from '../../errors/system-error.ts';
import { Limiter } from '../../hash/limiter.ts';

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
  file: string | Blob,
  limit: number,
  { signal, beneath }: Checked<BeneathOptions> & { signal?: AbortSignal | undefined },
): Promise<Uint8Array> {
  if (typeof file !== 'string') return untilAbort(signal, readBlob(file, limit));
  const options = { beneath, onlyFiles: beneath !== undefined, isBencode: true };
  return limiter.run(signal, () => untilAbort(signal, readWithin(file, limit, options)));
}

async function readBlob(blob: Blob, limit: number): Promise<Uint8Array> {
  try {
    if (blob.size <= limit) return new Uint8Array(await blob.arrayBuffer());
    const head = new Uint8Array(await blob.slice(0, HEAD).arrayBuffer());
    throw notBencode(head) ?? new LimitError('bytes', limit, limit);
  } catch (error) {
    throw fromSystemError(error, nameOf(blob), 'read');
  }
}

/** The name of a File. */
export function nameOf(file: string | Blob): string {
  return typeof file === 'string' ? file : ((file as { name?: string }).name ?? 'a Blob');
}

/**
 * Writes a torrent file atomically.
 *
 * @throws {MetainfoError} as {@link writeWhole}
 */
export function writeTorrentFile(target: string, bytes: Uint8Array, options: Checked<WriteOptions>): Promise<void> {
  return writes.run(options.signal, () => writeWhole(target, bytes, options));
}
