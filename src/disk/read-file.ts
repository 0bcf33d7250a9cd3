/** Reads whole files up to a size limit. */
import { constants, open } from 'node:fs/promises';
import { LimitError } from '../bencode/limits.ts';
import { fromSystemError, MetainfoError, requirePath, withPath } from '../errors/errors.ts';
import { closeRead, readToEnd } from '../hash/read.ts';
import { type BeneathOptions, holdBeneath } from './beneath.ts';

/**
 * Reads a file, pipe or device to its end.
 *
 * @param most The maximum size, in bytes.
 * @param options.onlyFiles Refuse pipes and devices, which may never end. Without it, they are read.
 * @throws {LimitError} if there are more bytes
 * @throws {MetainfoError} `ERR_NOT_FOUND`, `ERR_UNREADABLE`, `ERR_NOT_A_FILE` for a folder, `ERR_PATH_OUTSIDE`, `ERR_READ`
 */
export async function readWithin(
  file: string,
  most: number,
  { onlyFiles = false, beneath }: BeneathOptions & { onlyFiles?: boolean } = {},
): Promise<Uint8Array> {
  requirePath(file);
  try {
    return await holdBeneath(file, { beneath }, async (held, flags) => {
      // Without O_NONBLOCK, opening a FIFO would wait for a writer.
      const handle = await open(held, constants.O_RDONLY | (onlyFiles ? constants.O_NONBLOCK : 0) | flags);
      try {
        if (onlyFiles && !(await handle.stat()).isFile())
          throw new MetainfoError('ERR_NOT_A_FILE', 'not a regular file.');
        const bytes = await readToEnd(handle, most);
        if (!bytes) throw new LimitError('bytes', most, most);
        return bytes;
      } finally {
        await closeRead(handle);
      }
    });
  } catch (error) {
    throw withPath(fromSystemError(error, file, 'read'), file);
  }
}
