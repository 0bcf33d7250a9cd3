/** Reads whole files up to a size limit. */
import { constants, open } from 'node:fs/promises';
import { LimitError } from '../bencode/limits.ts';
import { HEAD, notBencode } from '../bencode/other-format.ts';
import { MetainfoError, withPath } from '../errors/errors.ts';
import type { Checked } from '../errors/guard.ts';
import { fromSystemError } from '../errors/system-error.ts';
import { MAX_SHORT } from '../hash/engine.ts';
import { closeRead, readFully, readToEnd } from '../hash/read.ts';
import { type BeneathOptions, holdBeneath } from './held-folder.ts';
import { readSmallTree } from './small-tree.ts';

/**
 * Reads a file, pipe or device to its end.
 *
 * @param most The maximum size, in bytes.
 * @param options.isBencode Whether the file should be bencode: the error for a larger one then says what it is instead.
 * @param options.onlyFiles Refuse pipes and devices, which may never end. Without it, they are read.
 * @throws {LimitError} if there are more bytes
 * @throws {MetainfoError} `ERR_NOT_FOUND`, `ERR_UNREADABLE`, `ERR_NOT_A_FILE` for a folder, `ERR_PATH_OUTSIDE`, `ERR_READ`
 */
export async function readWithin(
  file: string,
  most: number,
  {
    onlyFiles = false,
    beneath,
    isBencode = false,
  }: Checked<BeneathOptions> & { onlyFiles?: boolean; isBencode?: boolean } = {},
): Promise<Uint8Array> {
  try {
    const short = onlyFiles && beneath !== undefined && (await readShort(file, most, { beneath }));
    if (short) return short;
    return await holdBeneath(file, { beneath }, async ({ path: held, flags }) => {
      // Without O_NONBLOCK, opening a FIFO would wait for a writer.
      const handle = await open(held, constants.O_RDONLY | (onlyFiles ? constants.O_NONBLOCK : 0) | flags);
      try {
        if (onlyFiles && !(await handle.stat()).isFile())
          throw new MetainfoError('ERR_NOT_A_FILE', 'not a regular file.');
        const bytes = await readToEnd(handle, most);
        if (bytes) return bytes;
        // A pipe has no first bytes any more.
        const head = Buffer.alloc(isBencode && (await handle.stat()).isFile() ? HEAD : 0);
        const read = await readFully(handle, head, 0);
        throw notBencode(head.subarray(0, read)) ?? new LimitError('bytes', most, most);
      } finally {
        await closeRead(handle);
      }
    });
  } catch (error) {
    throw withPath(fromSystemError(error, file, 'read'), file);
  }
}

/** Reads a short file in one step instead of ten. Null where the general way must do it, or find out what is wrong. */
async function readShort(file: string, most: number, options: Checked<BeneathOptions>): Promise<Uint8Array | null> {
  const tree = await readSmallTree(file, { ...options, maxBytes: Math.min(most, MAX_SHORT), maxFiles: 0 });
  return tree?.files[0]?.content ?? null;
}
