/** Looks up sizes, times and types of files. */
import { type BigIntStats, constants } from 'node:fs';
import { stat } from 'node:fs/promises';
import { constants as osConstants } from 'node:os';
import { fromSystemError } from '../errors/system-error.ts';
import { addonOrNull } from '../hash/addon.ts';
import { withinSecond } from '../hash/read.ts';
import { systemPath } from '../hash/system-path.ts';
import { errnoName } from '../platform/node.ts';
import { nameBytes } from '../text/name-bytes.ts';

/** The fields of `fs.Stats` that a scan uses. */
export interface Status {
  mode: number;
  /** Bytes. */
  size: number;
  mtimeMs: number;
  ctimeMs: number;
}

/**
 * Numbers that {@link statFiles} gives for each file: errno (or 0), mode, size, `mtimeMs`, `ctimeMs`, device, inode, and the
 * nanoseconds within the second of both times.
 */
export const STAT_NUMBERS = 9;

/**
 * Calls stat(2) for many files. The addon does it on its own threads: through libuv's pool, 20,000 calls take five times as
 * long.
 *
 * @returns {@link STAT_NUMBERS} numbers per file.
 */
export async function statFiles(files: readonly { real: string }[]): Promise<Float64Array> {
  const addon = addonOrNull();
  const numbers = await addon?.statFiles(nameBytes(files.map(({ real }) => `${real}\0`).join('')));
  if (numbers && numbers.length > 0) return numbers;
  const each = await Promise.all(
    files.map(({ real }) =>
      stat(systemPath(real), { bigint: true }).then(numbersOf, (error: NodeJS.ErrnoException) => [
        errnoOf(error),
        ...Array<number>(STAT_NUMBERS - 1).fill(0),
      ]),
    ),
  );
  return Float64Array.from(each.flat());
}

function numbersOf({ mode, size, mtimeNs, ctimeNs, dev, ino }: BigIntStats): number[] {
  const [mtime, ctime] = [withinSecond(mtimeNs), withinSecond(ctimeNs)];
  return [0, Number(mode), Number(size), mtime.ms, ctime.ms, Number(dev), Number(ino), mtime.ns, ctime.ns];
}

/** The number of a system error. */
export function errnoOf({ code = 'EIO', errno }: { code?: string | undefined; errno?: number | undefined }): number {
  // Use the code: on Windows, `errno` is a number of libuv's own. libuv has no name for some errors, such as EDQUOT.
  if (code.startsWith('Unknown') && errno !== undefined) return -errno;
  return (osConstants.errno as Partial<Record<string, number>>)[code] ?? osConstants.errno.EIO;
}

/** Calls stat(2) for a path without links. @param shown The path as the user knows it, for errors. */
export async function statusOf(real: string, shown: string): Promise<Status> {
  // The times of all files come from one function: those of Node, Bun and Deno have different precision.
  const [errno, mode, size, mtimeMs, ctimeMs] = (await statFiles([{ real }])) as unknown as number[];
  if (errno === 0) return { mode, size, mtimeMs, ctimeMs } as Status;
  const code = errnoName(errno as number);
  throw fromSystemError(Object.assign(new Error(code), { code }), shown, 'read');
}

export function isFolder(status: Status): boolean {
  return typeOf(status) === constants.S_IFDIR;
}

export function isRegularFile(status: Status): boolean {
  return typeOf(status) === constants.S_IFREG;
}

export function isLink(status: Status): boolean {
  return typeOf(status) === constants.S_IFLNK;
}

/** Whether somebody may not read a file: then only the system can tell who. */
export function isRestricted({ mode }: Status): boolean {
  return (mode & 0o444) !== 0o444;
}

/** The type of a file that is neither regular nor a folder, in words. */
export function describeType(status: Status): string {
  if (typeOf(status) === constants.S_IFIFO) return 'a FIFO';
  if (typeOf(status) === constants.S_IFSOCK) return 'a socket';
  return 'a device';
}

function typeOf({ mode }: Status): number {
  return mode & constants.S_IFMT;
}
