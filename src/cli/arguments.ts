/** Reads the torrent file named on the command line, and suggests a correction when an argument is something else. */
import { stat } from 'node:fs/promises';
import path from 'node:path';
import { MetainfoError } from '../errors/errors.ts';
import { Torrent } from '../model/torrent.ts';
import { type ProfileOptions, readOptionsOf } from './options.ts';

/**
 * Reads a torrent file. The error suggests a correction if the arguments are swapped, or if the file is a folder.
 *
 * @param content The next argument, for commands that take a torrent and its content.
 */
export async function readTorrent(file: string, options: ProfileOptions, content?: string): Promise<Torrent> {
  try {
    return await Torrent.read(file, readOptionsOf(options));
  } catch (error) {
    if (!(error instanceof MetainfoError) || error.code === 'ERR_INVALID_ARGUMENT') throw error;
    const suggestion = await suggestionFor(file, content);
    if (suggestion !== null) error.message += ` ${suggestion}`;
    throw error;
  }
}

async function suggestionFor(file: string, content: string | undefined): Promise<string | null> {
  const type = await fileType(file);
  if (content !== undefined && hasTorrentName(content) && !hasTorrentName(file) && (await fileType(content)) === 'file')
    return `Did you swap the arguments? The torrent file comes first: ${shellWords(content, file)}`;
  if (type !== 'folder') return null;
  const sibling = `${path.normalize(file).replace(/[\\/]$/, '')}.torrent`;
  if ((await fileType(sibling)) === 'file') return `Did you mean ${sibling}?`;
  return 'Expected a torrent file: create one with metainfo create.';
}

const hasTorrentName = (file: string) => /\.torrent$/i.test(file);

async function fileType(file: string): Promise<'file' | 'folder' | null> {
  return stat(file).then(
    (status) => (status.isDirectory() ? 'folder' : 'file'),
    () => null,
  );
}

/** The subfolder named like the torrent, for users who gave its parent; null if there is none. */
export async function ownFolderWithin({ name }: Torrent, folder: string): Promise<string | null> {
  const own = path.join(folder, name);
  // The compat profile accepts names that leave the folder.
  if (path.basename(own) !== name || name === '..') return null;
  return (await fileType(own)) === 'folder' ? own : null;
}

/** Joins words into a command line, and quotes those that a shell would split or expand. */
export function shellWords(...words: string[]): string {
  return words
    .map((word) => (/^[\p{L}\p{N}./\\:_-]+$/u.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`))
    .join(' ');
}
