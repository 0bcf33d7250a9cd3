/** Keeps an output from replacing a file that is hashed. */
import { stat } from 'node:fs/promises';
import { MetainfoError } from '../errors/errors.ts';
import { STAT_NUMBERS, statNumbers } from './scan.ts';

/** A file that is read; null or undefined where it is not on disk. */
interface Input {
  diskPath?: string | null | undefined;
  length: number | null;
}

/**
 * Refuses an output that is one of the files, by whatever name or link.
 *
 * @throws {MetainfoError} `ERR_OUTPUT_IS_INPUT`
 */
export async function requireNoInput(output: string | null | undefined, files: readonly Input[]): Promise<void> {
  if (output == null) return;
  // What cannot be looked at cannot be replaced either: writing says why.
  const status = await stat(output).catch(() => null);
  const alike = files.flatMap(({ diskPath, length }) =>
    diskPath && length === status?.size ? [{ real: diskPath }] : [],
  );
  if (!status || alike.length === 0) return;
  const numbers = await statNumbers(alike);
  for (const [index, { real }] of alike.entries()) {
    const [device, inode] = numbers.subarray(index * STAT_NUMBERS + 5);
    if (device !== status.dev || inode !== status.ino) continue;
    const message = `${output} is one of the files of the torrent (${real}), which the output would replace: choose another output.`;
    throw new MetainfoError('ERR_OUTPUT_IS_INPUT', message, { path: output });
  }
}
