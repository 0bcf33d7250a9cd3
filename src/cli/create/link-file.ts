/** The file that `--link-file` names: checked before hashing, and never part of the torrent. */
import { realpath } from 'node:fs/promises';
import { LimitError } from '../../bencode/limits.ts';
import { isWithin } from '../../disk/path-within.ts';
import { readWithin } from '../../disk/read-file.ts';
import { exists, requireOutput } from '../../disk/write-file.ts';
import { MetainfoError } from '../../errors/errors.ts';
import { invalidArgument } from '../../errors/guard.ts';
import { isStdout, realFile, requireWritableFolder } from '../options/target.ts';
import type { CreateOptions } from './options.ts';

/** The start of a file that holds a magnet link. */
const MAGNET = 'magnet:?';
/** Bytes: more than any link that a creation writes. */
const MAX_LINK = 2 ** 24;

/**
 * Checks, before hashing, that the file for the magnet link can be written, and that it replaces no content.
 *
 * @param paths The content: no file of it may be replaced.
 * @throws {MetainfoError} `ERR_INVALID_ARGUMENT`, `ERR_NOT_FOUND`, `ERR_NOT_A_FILE`, `ERR_WRITE`,
 *   `ERR_OUTPUT_EXISTS`, `ERR_OUTPUT_IS_INPUT`
 */
export async function requireLinkFile(
  { linkFile, force }: Pick<CreateOptions, 'linkFile' | 'force'>,
  target: string,
  paths: readonly string[],
): Promise<void> {
  if (linkFile === undefined) return;
  if (isStdout(linkFile)) throw invalidArgument('--link-file needs the name of a file: --magnet prints the link');
  await requireWritableFolder(linkFile);
  if ((await realFile(linkFile)) === (await realFile(target)))
    throw invalidArgument(`${linkFile} cannot hold both the torrent and its magnet link`);
  if (!(await requireOutput(linkFile, { force }))) return;
  const replaced = await realpath(linkFile);
  const isFree = !(await holdsNoLink(linkFile));
  for (const entry of paths) {
    const content = await realpath(entry).catch(() => null);
    // A link in a folder is left out of the torrent.
    if (content === null || !isWithin(content, replaced) || (isFree && content !== replaced)) continue;
    const message = `${linkFile} is one of the torrent's files: choose another file for the link.`;
    throw new MetainfoError('ERR_OUTPUT_IS_INPUT', message, { path: linkFile });
  }
}

/** The link file as a list of paths to leave out of the torrent. */
export async function linkFileToSkip({ linkFile }: Pick<CreateOptions, 'linkFile'>): Promise<string[]> {
  if (linkFile === undefined || ((await exists(linkFile)) && (await holdsNoLink(linkFile)))) return [];
  return [linkFile];
}

/** Whether a file has content that is no magnet link. */
async function holdsNoLink(file: string): Promise<boolean> {
  try {
    const bytes = await readWithin(file, MAX_LINK);
    return bytes.length > 0 && Buffer.from(bytes.subarray(0, MAGNET.length)).toString('latin1') !== MAGNET;
  } catch (error) {
    if (error instanceof LimitError) return true;
    throw error;
  }
}
