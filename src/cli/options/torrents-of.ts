/** The torrents that a command line names: files, those of a list with `--from-file`, or those of folders with `--each`. */
import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import type { Command } from 'commander';
import { MetainfoError } from '../../errors/errors.ts';
import { invalidArgument } from '../../errors/guard.ts';
import { fromSystemError } from '../../errors/system-error.ts';
import { isTorrentFileName } from '../../layout/safe-path.ts';
import { isStdin, nameOfInput, readInput, requireOneStdin } from '../terminal/standard-input.ts';
import { type ProfileOptions, parseFile } from './option-values.ts';

/** Adds `--each` and `--from-file`. The value of `--each` without it is false, but the help shows no default. */
export function eachOption(command: Command, description = 'read every torrent of the given folders'): Command {
  return command
    .option('--each', description)
    .setOptionValue('each', false)
    .option(
      '--from-file <file>',
      'also take the files of a list, or - for standard input: one a line, or with NUL between them',
      parseFile,
    )
    .hook('preAction', async (_, action) => {
      // Arguments of the form `[file...]`, or `[file] [path...]`.
      const [first, rest] = action.processedArgs as [string[] | string | undefined, string[]?];
      const { fromFile } = action.opts<ProfileOptions>();
      const listed = fromFile === undefined ? [] : await listOf(fromFile);
      const names = [first ?? [], rest ?? [], listed].flat();
      if (names.length === 0) action.error("error: missing required argument 'file'");
      // The list and one of the torrents.
      if (fromFile !== undefined) requireOneStdin([fromFile, ...names]);
      action.processedArgs = rest ? [names[0], names.slice(1)] : [names];
    });
}

/** The largest list of files, in bytes. */
const MAX_LIST = 64 * 2 ** 20;
const LIST_INPUT = { what: 'a list of files', example: "find /srv -name '*.torrent' | metainfo show --from-file -" };

/** The files of a list. Throws `ERR_NO_FILES` if there are none; as {@link readInput}. */
async function listOf(list: string): Promise<string[]> {
  const text = new TextDecoder().decode(await readInput(list, MAX_LIST, LIST_INPUT));
  const names = text.includes('\0') ? text.split('\0') : text.split(/\r?\n/);
  const files = names.filter((name) => name.trim() !== '');
  if (files.length > 0) return files;
  throw new MetainfoError('ERR_NO_FILES', `There are no files in the list ${nameOfInput(list)}.`, { path: list });
}

/** The torrents that the arguments name, and whether they are reported as many: a folder or a list may have one only. */
export async function torrentsOf(names: readonly string[], { each = false, fromFile }: ProfileOptions) {
  const files = each ? (await Promise.all(names.map(torrentsIn))).flat() : names;
  return { files, isMany: each || fromFile !== undefined || files.length > 1 };
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
