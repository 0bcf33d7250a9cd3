/** Writes the torrent of a job that may have run before. */
import { MetainfoError, Torrent, type WriteOptions } from 'metainfo';

/** Writes a torrent. An output with exactly these bytes is no failure: an earlier run of the job has written it. */
export async function writeOnce(torrent: Torrent, output: string, options: WriteOptions): Promise<void> {
  try {
    await torrent.write(output, options);
  } catch (error) {
    const exists = error instanceof MetainfoError && error.code === 'ERR_OUTPUT_EXISTS';
    if (!exists) throw error;
    const before = await Torrent.read(output, { beneath: options.beneath }).catch(() => null);
    if (!before || Buffer.compare(before.bencode(), torrent.bencode()) !== 0) throw error;
  }
}
