/** Prevents an output from replacing a file that is hashed. */
import { stat } from 'node:fs/promises';
import { MetainfoError } from '../errors/errors.ts';
import { STAT_NUMBERS, statFiles } from './stat-files.ts';

/** The files that are hashed. */
interface Inputs {
  /** The files of a length. The path of a file is null or undefined if it is not on disk. */
  withLength(length: number): Iterable<{ diskPath?: string | null | undefined }>;
}

/** Throws `ERR_OUTPUT_IS_INPUT` for an output that is one of the hashed files, even under another name or through a link. */
export async function requireNoInput(output: string | null | undefined, files: Inputs): Promise<void> {
  if (output == null) return;
  // If stat fails, writing fails too, with a better error.
  const status = await stat(output).catch(() => null);
  if (!status) return;
  const candidates = [...files.withLength(status.size)].flatMap(({ diskPath }) =>
    diskPath ? [{ real: diskPath }] : [],
  );
  if (candidates.length === 0) return;
  const numbers = await statFiles(candidates);
  for (const [index, { real }] of candidates.entries()) {
    const [device, inode] = numbers.subarray(index * STAT_NUMBERS + 5);
    if (device !== status.dev || inode !== status.ino) continue;
    const message = `${output} is one of the torrent's files (${real}): choose another output, or it would be replaced.`;
    throw new MetainfoError('ERR_OUTPUT_IS_INPUT', message, { path: output });
  }
}
