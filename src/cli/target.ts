import { realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import { fromSystemError, MetainfoError } from '../errors.ts';
import { exists, outputExists } from '../model/torrent.ts';

/**
 * Where a changed torrent goes: to the output, a file or a folder, or in place.
 *
 * @param count How many torrents go to that output.
 */
export async function targetOf(file: string, output: string | undefined, count = 1): Promise<string> {
  // A link stays one.
  if (output === undefined) return resolved(file);
  if (await isFolder(output)) return path.join(output, path.basename(file));
  if (count === 1) return output;
  throw new MetainfoError('ERR_INVALID_ARGUMENT', `${output} must be a folder: there are ${count} torrents.`);
}

/** Whether the path of an output ends as only a folder's does. */
export function saysFolder(output: string, { sep } = path): boolean {
  return output.endsWith('/') || output.endsWith(sep);
}

/** Whether an output is a folder, to put a file into. */
export async function isFolder(output: string): Promise<boolean> {
  if (saysFolder(output)) return true;
  return stat(output).then(
    (status) => status.isDirectory(),
    () => false,
  );
}

/** The folder of an output without links; before the work, so that a missing one is not found after it. */
export async function realFolder(target: string): Promise<string> {
  return resolved(path.dirname(path.resolve(target)));
}

async function resolved(file: string): Promise<string> {
  return realpath(file).catch((error: unknown) => {
    throw fromSystemError(error, file, 'write');
  });
}

/** When a torrent file was written. */
export async function mtimeOf(file: string): Promise<Date> {
  const { mtime } = await stat(file).catch((error: unknown) => {
    throw fromSystemError(error, file, 'read');
  });
  return mtime;
}

/** Before the work: there is a folder, and what is there stays, unless it is the torrent itself or to be replaced. */
export async function requireFree(
  target: string,
  { output, force }: { output?: string; force?: boolean },
): Promise<void> {
  await realFolder(target);
  if (output !== undefined && !force && (await exists(target))) throw outputExists(target);
}
