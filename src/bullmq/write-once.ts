/** Writes the torrent of a job that may have run before. */
import { readWithin } from '../disk/read-file.ts';
import type { WriteWholeOptions } from '../disk/write-file.ts';
import { MetainfoError } from '../errors/errors.ts';
import type { Torrent } from '../model/torrent/torrent.ts';
import { writeTorrentFile } from '../model/torrent/torrent-io.ts';

/**
 * Writes a torrent. An output with exactly these bytes is no failure: an earlier run of the job has written it.
 *
 * @throws {MetainfoError} `ERR_OUTPUT_EXISTS` for another file, unless `force` is true; else as {@link writeTorrentFile}
 */
export async function writeOnce(torrent: Torrent, output: string, options: WriteWholeOptions): Promise<void> {
  const bytes = torrent.bencode();
  const { beneath } = options;
  try {
    await writeTorrentFile(output, bytes, options);
  } catch (error) {
    const exists = error instanceof MetainfoError && error.code === 'ERR_OUTPUT_EXISTS';
    if (!exists) throw error;
    const before = await readWithin(output, bytes.length + 1, { onlyFiles: true, beneath }).catch(() => null);
    if (!before || Buffer.compare(before, bytes) !== 0) throw error;
  }
}
