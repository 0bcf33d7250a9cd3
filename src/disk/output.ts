/** Prevents an output from replacing a file that is hashed. */
import { stat } from 'node:fs/promises';
import { MetainfoError } from '../errors/errors.ts';
import { STAT_NUMBERS, statFiles } from './stat-files.ts';

/** A file that is hashed. Its path is null or undefined if it is not on disk. */
interface Input {
  diskPath?: string | null | undefined;
  length: number | null;
}

/**
 * Rejects an output that is one of the hashed files, even under another name or through a link.
 *
 * @throws {MetainfoError} `ERR_OUTPUT_IS_INPUT`
 */
export async function requireNoInput(output: string | null | undefined, files: readonly Input[]): Promise<void> {
  if (output == null) return;
  // If stat fails, writing fails too, with a better error.
  const status = await stat(output).catch(() => null);
  const candidates = files.flatMap(({ diskPath, length }) =>
    diskPath && length === status?.size ? [{ real: diskPath }] : [],
  );
  if (!status || candidates.length === 0) return;
  const numbers = await statFiles(candidates);
  for (const [index, { real }] of candidates.entries()) {
    const [device, inode] = numbers.subarray(index * STAT_NUMBERS + 5);
    if (device !== status.dev || inode !== status.ino) continue;
    const message = `${output} is one of the torrent's files (${real}): choose another output, or it would be replaced.`;
    throw new MetainfoError('ERR_OUTPUT_IS_INPUT', message, { path: output });
  }
}
