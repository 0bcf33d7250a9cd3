import type { FileHandle } from 'node:fs/promises';

/** Node ends the process when it is asked for 2 GiB at once. */
const MOST_READ = 2 ** 30;

/**
 * Fills a buffer with what a file has, as far as it goes: a read may give less than there is, or be interrupted, which libuv
 * takes for a failure.
 *
 * @param position Null: where the last read ended, as pipes are read.
 * @returns How many bytes there were.
 */
export async function readFully(file: FileHandle, into: Uint8Array, position: number | null): Promise<number> {
  for (let done = 0; done < into.length; ) {
    try {
      const length = Math.min(into.length - done, MOST_READ);
      const { bytesRead } = await file.read(into, done, length, position === null ? null : position + done);
      if (bytesRead === 0) return done;
      done += bytesRead;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EINTR') throw error;
    }
  }
  return into.length;
}

/** After reading: that it fails takes nothing from what was read. */
export async function closeRead(file: FileHandle): Promise<void> {
  await file.close().catch(() => {});
}

/** For what has no size, such as a pipe. */
const LEAST_BYTES = 65_536;

/** All of a file, of a pipe or of a device; null when that is more than `most` bytes: no more than one beyond them is read. */
export async function readToEnd(file: FileHandle, most: number): Promise<Uint8Array | null> {
  const { size } = await file.stat();
  if (size > most) return null;
  const parts: Buffer[] = [];
  for (let total = 0; total <= most; ) {
    // One byte more shows the end.
    const part = Buffer.allocUnsafeSlow(Math.min(Math.max(size, LEAST_BYTES), most - total) + 1);
    const bytes = await readFully(file, part, null);
    total += bytes;
    parts.push(part.subarray(0, bytes));
    if (bytes < part.length) return parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts);
  }
  return null;
}
