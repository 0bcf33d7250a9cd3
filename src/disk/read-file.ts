/** Reads whole files of bounded size. */
import { open } from 'node:fs/promises';
import { LimitError } from '../bencode/limits.ts';
import { fromSystemError, requirePath, withPath } from '../errors/errors.ts';
import { closeRead, readToEnd } from '../hash/read.ts';

/**
 * The bytes of a file, of a pipe or of a device: never more than the limit is read.
 *
 * @throws {LimitError}
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
