// Reads the torrent that a command was given, and says what to give where an argument is something else.
import { stat } from 'node:fs/promises';
import path from 'node:path';
import { MetainfoError } from '../errors/errors.ts';
import { Torrent } from '../model/torrent.ts';
import { type ProfileOptions, readOptionsOf } from './options.ts';

/**
 * Reads a torrent file. An error says so where the arguments are swapped, or where the torrent is beside a folder.
 *
 * @param content The argument after it, of commands that take a torrent and its files.
 */
export async function readTorrent(file: string, options: ProfileOptions, content?: string): Promise<Torrent> {
  try {
    return await Torrent.read(file, readOptionsOf(options));
  } catch (error) {
    if (!(error instanceof MetainfoError) || error.code === 'ERR_INVALID_ARGUMENT') throw error;
    const advice = await adviceFor(file, content);
    if (advice !== null) error.message += ` ${advice}`;
    throw error;
  }
}

async function adviceFor(file: string, content: string | undefined): Promise<string | null> {
  const given = await kindOf(file);
  if (content !== undefined && isNamedTorrent(content) && !isNamedTorrent(file) && (await kindOf(content)) === 'file')
    return `Did you swap the arguments? The torrent file comes first: ${shellWords(content, file)}`;
  if (given !== 'folder') return null;
  const beside = `${path.normalize(file).replace(/[\\/]$/, '')}.torrent`;
  if ((await kindOf(beside)) === 'file') return `Did you mean ${beside}?`;
  return 'Give a torrent file: metainfo create makes one.';
}

const isNamedTorrent = (file: string) => /\.torrent$/i.test(file);

async function kindOf(file: string): Promise<'file' | 'folder' | null> {
  return stat(file).then(
    (status) => (status.isDirectory() ? 'folder' : 'file'),
    () => null,
  );
}

/** The folder of the torrent's name within a given one, for users who gave its parent; null where there is none. */
export async function ownFolderWithin({ name }: Torrent, folder: string): Promise<string | null> {
  const own = path.join(folder, name);
  // A name may lead anywhere in the compat profile.
  if (path.basename(own) !== name || name === '..') return null;
  return (await kindOf(own)) === 'folder' ? own : null;
}

/** Words of a command line, those with blanks or other special characters in quotes. */
export function shellWords(...words: string[]): string {
  return words
    .map((word) => (/^[\p{L}\p{N}./\\:_-]+$/u.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`))
    .join(' ');
}
