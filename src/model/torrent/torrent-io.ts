/** Reads and writes torrent files, a bounded number at a time: the only file I/O of the model. */
import { readWithin } from '../../disk/read-file.ts';
import { type WriteWholeOptions, writeWhole } from '../../disk/write-file.ts';
import { untilAbort } from '../../errors/cancel.ts';
import { Limiter } from '../../hash/limiter.ts';

/** Each read or write holds a file descriptor. */
const limiter = new Limiter(16);

/**
 * Reads a torrent file of at most `limit` bytes.
 *
 * @throws {LimitError} when the file is larger
 * @throws {MetainfoError} `ERR_NOT_FOUND`, `ERR_UNREADABLE`, `ERR_NOT_A_FILE`, `ERR_READ`, `ERR_INVALID_ARGUMENT`
 * @throws {AbortError} as soon as the signal is aborted, even where the file system does not answer
 */
export function readTorrentFile(file: string, limit: number, signal: AbortSignal | undefined): Promise<Uint8Array> {
  return limiter.run(signal, () => untilAbort(signal, readWithin(file, limit)));
}

/**
 * Writes a torrent file atomically.
 *
 * @throws {MetainfoError} as {@link writeWhole}
 */
export function writeTorrentFile(target: string, bytes: Uint8Array, options: WriteWholeOptions): Promise<void> {
  return limiter.run(undefined, () => writeWhole(target, bytes, options));
}
