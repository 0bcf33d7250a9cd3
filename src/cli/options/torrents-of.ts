/** The torrents that a command line names: files, or those of folders with `--each`. */
import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import type { Command } from 'commander';
import { MetainfoError } from '../../errors/errors.ts';
import { invalidArgument } from '../../errors/guard.ts';
import { fromSystemError } from '../../errors/system-error.ts';
import { isTorrentFileName } from '../../layout/safe-path.ts';
import { isStdin } from '../terminal/standard-input.ts';
import type { ProfileOptions } from './option-values.ts';

/** Adds `--each`. The value without it is false, but the help shows no default. */
export function eachOption(command: Command, description = 'read every torrent of the given folders'): Command {
  return command.option('--each', description).setOptionValue('each', false);
}

/** The torrents that the arguments name, and whether they are reported as many: a folder may have one only. */
export async function torrentsOf(names: readonly string[], { each = false }: ProfileOptions) {
  const files = each ? (await Promise.all(names.map(torrentsIn))).flat() : names;
  return { files, isMany: each || files.length > 1 };
}

/** The torrents of a folder, sorted, without those of its folders. Throws `ERR_NO_FILES` if there are none. */
export async function torrentsIn(folder: string): Promise<string[]> {
  if (isStdin(folder)) throw invalidArgument('--each needs a folder of torrents, not standard input (-)');
  const entries = await readdir(folder, { withFileTypes: true }).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code === 'ENOTDIR')
      throw invalidArgument(`--each needs a folder of torrents, and ${folder} is a file: omit --each`);
    throw fromSystemError(error, folder, 'read');
  });
  // Hidden files are no torrents here: macOS leaves a `._NAME.torrent` beside NAME.torrent on other file systems.
  const named = entries.filter(({ name }) => isTorrentFileName(name) && !name.startsWith('.'));
  const names: string[] = [];
  for (const entry of named) {
    // Reading a pipe may never end. A broken link has its own error.
    const found = entry.isFile() ? null : await stat(path.join(folder, entry.name)).catch(() => null);
    if (found?.isFile() ?? true) names.push(entry.name);
  }
  if (names.length === 0) throw new MetainfoError('ERR_NO_FILES', `There are no torrents (*.torrent) in ${folder}.`);
  return names.sort().map((name) => path.join(folder, name));
}
