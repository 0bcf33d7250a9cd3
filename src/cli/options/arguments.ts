/** Reads the torrent file named on the command line, and suggests a correction when an argument is something else. */
import { readdir, stat } from 'node:fs/promises';
import nodePath from 'node:path';
import { BencodeError } from '../../bencode/bencode-error.ts';
import { limitsOf } from '../../bencode/limits.ts';
import { MetainfoError, shown, withPath } from '../../errors/errors.ts';
import { invalidArgument } from '../../errors/guard.ts';
import { systemPath } from '../../hash/system-path.ts';
import { isTorrentFileName } from '../../layout/safe-path.ts';
import { storedNames } from '../../model/stored-names.ts';
import { Torrent } from '../../model/torrent/torrent.ts';
import { printable } from '../../text/printable.ts';
import { isSingleFile } from '../../verify/content-place.ts';
import { UNFINISHED_ENDINGS } from '../../verify/matched-files.ts';
import { exitCodeOf } from '../exit.ts';
import { host } from '../run.ts';
import { shellWords } from '../terminal/advice.ts';
import { stderr, writeLines } from '../terminal/output.ts';
import { isStdin, named, readInput, requireOneStdin, STDIN } from '../terminal/standard-input.ts';
import { type ProfileOptions, readOptionsOf } from './option-values.ts';
import { torrentsIn } from './torrents-of.ts';

/**
 * Reads a torrent file or, for `-`, standard input. The error suggests a correction if the arguments are swapped, or if the
 * file is a folder.
 *
 * @param content The next argument, for commands that take a torrent and its content.
 */
export async function readTorrent(file: string, options: ProfileOptions, content?: string): Promise<Torrent> {
  if (isStdin(file)) return torrentFromStdin(await readStdin(options), options);
  try {
    return await Torrent.read(file, readOptionsOf(options));
  } catch (error) {
    if (!(error instanceof MetainfoError) || error.code === 'ERR_INVALID_ARGUMENT') throw error;
    error.message += await suggestionFor(file, options, { content, error });
    throw error;
  }
}

/** The bytes of standard input, within the limit for a torrent. */
export function readStdin({ limit }: ProfileOptions): Promise<Uint8Array> {
  return readInput(STDIN, limitsOf(limit).bytes);
}

/** A torrent from the bytes of standard input. */
export function torrentFromStdin(bytes: Uint8Array, options: ProfileOptions): Torrent {
  try {
    return Torrent.fromBytes(bytes, readOptionsOf(options));
  } catch (error) {
    throw named(withPath(error, STDIN));
  }
}

/** A sentence about an argument that is something else than a torrent file; empty if there is none. */
export async function suggestionFor(
  file: string,
  { each }: ProfileOptions,
  { content, error }: { content?: string | undefined; error?: unknown } = {},
): Promise<string> {
  const type = await fileType(file);
  const mayBeSwapped = content !== undefined && isTorrentFileName(content) && !isTorrentFileName(file);
  if (mayBeSwapped && (await fileType(content)) === 'file')
    return ` Did you swap the arguments? The torrent file comes first: ${shellWords(content, file)}`;
  if (error instanceof BencodeError && error.format === null && !isTorrentFileName(file))
    return ` If it is content, make a torrent of it: metainfo create ${shellWords(file)}`;
  if (type !== 'folder') return '';
  const sibling = `${nodePath.normalize(file).replace(/[\\/]$/, '')}.torrent`;
  if ((await fileType(sibling)) === 'file') return ` Did you mean ${sibling}?`;
  if (each === false && (await torrentsIn(file).catch(() => null))) return ' To read all torrents in it, use --each.';
  return ' Expected a torrent file: create one with metainfo create.';
}

/** Whether a path is a folder; null if there is nothing. Everything else counts as a file. */
export async function fileType(file: string): Promise<'file' | 'folder' | null> {
  return stat(systemPath(file)).then(
    (status) => (status.isDirectory() ? 'folder' : 'file'),
    () => null,
  );
}

/** The subfolder named like the torrent, for users who gave its parent; null if there is none. */
async function ownFolderWithin(torrent: Torrent, folder: string): Promise<string | null> {
  for (const name of ownNames(torrent)) {
    const own = nodePath.join(folder, name);
    if ((await fileType(own)) === 'folder') return own;
  }
  return null;
}

/** The names under which clients store the content: that of the torrent, its bytes, and that of a single file in a v2 tree. */
function ownNames(torrent: Torrent): string[] {
  const { name, nFiles, torrentVersion } = torrent;
  const only = torrentVersion === 'v2' && nFiles === 1 ? torrent.files[0]?.path : undefined;
  const names = [name, storedNames(torrent)?.name, only].filter((one) => one !== undefined);
  // The compat profile accepts names that leave the folder.
  return names.filter((one) => nodePath.basename(one) === one && one !== '' && one !== '.' && one !== '..');
}

/** The content of a torrent in a folder: the first of its names that is there. Throws `ERR_INVALID_ARGUMENT` if none can be that of a file. */
export async function ownPlaceIn(torrent: Torrent, folder: string): Promise<string> {
  const places = ownNames(torrent).map((name) => nodePath.join(folder, name));
  for (const place of places) if ((await fileType(place)) !== null) return place;
  if (places[0] !== undefined) return (await unfinishedAt(torrent, places[0])) ?? places[0];
  const message = `The torrent has the name ${shown(torrent.name)}, which is no safe path: say where its files are`;
  throw invalidArgument(message);
}

/**
 * Runs an action for each file of a command line. With several files, an error is reported and the others go on; the exit code
 * is then that of the first error.
 */
export async function forEachFile(files: readonly string[], action: (file: string) => Promise<void>): Promise<void> {
  requireOneStdin(files);
  if (files.length === 1) return action(files[0] as string);
  for (const file of files) {
    try {
      await action(file);
    } catch (error) {
      const code = await exitCodeOf(withPath(error, file));
      host().exitCode ||= code;
    }
  }
}

/**
 * Finds the content of a torrent: by default below the current folder. The parent of the torrent's folder stands for the folder,
 * unless the parent has any of the torrent's own files or folders. Tells the user about a path that was not given.
 *
 * @throws {MetainfoError} `ERR_INVALID_ARGUMENT` without a path, if the torrent's name cannot be that of a file
 */
export async function contentPlace(
  torrent: Torrent,
  path: string | undefined,
  { quiet, json }: { quiet?: boolean; json?: boolean },
): Promise<string> {
  const unfinished = path === undefined ? null : await unfinishedAt(torrent, path);
  const own =
    path === undefined ? await ownPlaceIn(torrent, '.') : (unfinished ?? (await ownFolderWithin(torrent, path)));
  if (own === null || (path !== undefined && !unfinished && (await hasFilesOf(torrent, path)))) return path as string;
  const problem = unfinished ? 'is not there' : 'has no files of this torrent';
  const reason = path === undefined ? '' : `, because ${path} ${problem}`;
  if (!quiet && !json) await writeLines([printable(`checking ${nodePath.join('.', own)}${reason}`)], stderr);
  return own;
}

/** The unfinished file that a client has left in place of the file of a single-file torrent; null if there is none. */
async function unfinishedAt(torrent: Torrent, place: string): Promise<string | null> {
  if (!isSingleFile(torrent) || (await fileType(place)) !== null) return null;
  for (const ending of UNFINISHED_ENDINGS) if ((await fileType(place + ending)) === 'file') return place + ending;
  return null;
}

/** Whether a folder has one of the torrent's top-level files or folders. */
async function hasFilesOf({ files }: Torrent, folder: string): Promise<boolean> {
  const names = new Set(await readdir(folder));
  return files.some(({ path }) => names.has(path.split('/')[0] as string));
}
