/** Reads whole files up to a size limit. */
import { open } from 'node:fs/promises';
import { LimitError } from '../bencode/limits.ts';
import { fromSystemError, requirePath, withPath } from '../errors/errors.ts';
import { closeRead, readToEnd } from '../hash/read.ts';

/**
 * Reads a file, pipe or device to its end.
 *
 * @param most The maximum size, in bytes.
 *
 * @throws {LimitError} if there are more bytes
 * @throws {MetainfoError} `ERR_NOT_FOUND`, `ERR_UNREADABLE`, `ERR_NOT_A_FILE` for a folder, `ERR_READ`
 */
export async function readWithin(file: string, most: number): Promise<Uint8Array> {
  requirePath(file);
  try {
    const handle = await open(file);
    try {
      const bytes = await readToEnd(handle, most);
      if (!bytes) throw new LimitError('bytes', most, most);
      return bytes;
    } finally {
      await closeRead(handle);
    }
  } catch (error) {
    throw withPath(fromSystemError(error, file, 'read'), file);
  }
}
