/** Reads from open files. */
import type { FileHandle } from 'node:fs/promises';

const SECOND = 1_000_000_000n;

/** A time of `BigIntStats` as Node's milliseconds, and its nanoseconds within the second. */
export function withinSecond(time: bigint): { ms: number; ns: number } {
  const ns = ((time % SECOND) + SECOND) % SECOND;
  return { ms: Number((time - ns) / SECOND) * 1e3 + Number(ns) / 1e6, ns: Number(ns) };
}

/** Deno's own functions give times in whole milliseconds. The addon gives them in nanoseconds. */
const WHOLE_MILLISECONDS = 'deno' in process.versions;

/** Whether a time from `stat` is the planned one, which may come from the addon. @param whole Whether `stat` leaves out the fraction. */
export function isSameTime(time: number, planned: number, whole = WHOLE_MILLISECONDS): boolean {
  return time === planned || (whole && time === Math.floor(planned));
}

/** Node aborts the process when it is asked for 2 GiB at once. */
const MAX_READ = 2 ** 30;

/**
 * Reads until the buffer is full or the file ends. It repeats reads that return less than the file has, or that a signal
 * interrupts (libuv reports those as failures).
 *
 * @param position Where to start in the file; null continues after the last read, which pipes require.
 * @returns The number of bytes read.
 */
export async function readFully(file: FileHandle, into: Uint8Array, position: number | null): Promise<number> {
  for (let done = 0; done < into.length; ) {
    try {
      const length = Math.min(into.length - done, MAX_READ);
      const { bytesRead } = await file.read(into, done, length, position === null ? null : position + done);
      if (bytesRead === 0) return done;
      done += bytesRead;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EINTR') throw error;
    }
  }
  return into.length;
}

/** Closes a file that was only read. A failure is ignored: it cannot harm the bytes that were read. */
export async function closeRead(file: FileHandle): Promise<void> {
  await file.close().catch(() => {});
}

/** The first read of a file without a size, such as a pipe. */
const MIN_READ = 65_536;

/** Reads a file, pipe or device to its end. Returns null if it has more than `most` bytes; then it reads one byte more at most. */
export async function readToEnd(file: FileHandle, most: number): Promise<Uint8Array | null> {
  const { size } = await file.stat();
  if (size > most) return null;
  const parts: Buffer[] = [];
  for (let total = 0; total <= most; ) {
    // Ask for one byte more, to see whether the file ends.
    const part = Buffer.allocUnsafeSlow(Math.min(Math.max(size, MIN_READ), most - total) + 1);
    const bytes = await readFully(file, part, null);
    total += bytes;
    parts.push(part.subarray(0, bytes));
    if (bytes < part.length) return parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts);
  }
  return null;
}
