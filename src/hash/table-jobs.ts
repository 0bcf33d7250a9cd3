/** Translates the failures of the addon's functions that take the columns of a file table. */
import { MetainfoError } from '../errors/errors.ts';

/**
 * Waits for a function of the addon that takes columns.
 *
 * @throws {MetainfoError} `ERR_NO_MEMORY`; `ERR_INTERNAL`
 */
export async function tableResult<T>(job: Promise<T>): Promise<T> {
  try {
    return await job;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'no-memory') {
      const text = 'Out of memory: the paths of all files do not fit.';
      throw new MetainfoError('ERR_NO_MEMORY', text, { cause: error });
    }
    throw new MetainfoError('ERR_INTERNAL', `The files could not be processed: ${message}.`, { cause: error });
  }
}
