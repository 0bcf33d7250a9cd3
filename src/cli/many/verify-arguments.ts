/** Decides what the arguments of `metainfo verify` name: one torrent and its content, or many torrents. */
import { stat } from 'node:fs/promises';
import path from 'node:path';
import { MetainfoError } from '../../errors/errors.ts';
import { invalidArgument } from '../../errors/guard.ts';
import { isTorrentFileName } from '../../layout/safe-path.ts';
import { Torrent } from '../../model/torrent/torrent.ts';
import { fileType } from '../options/arguments.ts';
import { readOptionsOf } from '../options/option-values.ts';
import { torrentsIn } from '../options/torrents-of.ts';
import { shellWords } from '../terminal/advice.ts';
import { isStdin, requireOneStdin } from '../terminal/standard-input.ts';
import type { VerifyOptions } from '../verify/verify-job.ts';

/** One torrent, and its content if that is given. */
interface OneTorrent {
  file: string;
  path: string | undefined;
}

/** Many torrents, and the folder that holds the content of each under its name. */
export interface ManyTorrents {
  files: string[];
  folder: string;
  /** The folder of the torrents, with `--each`. Content without a torrent is then reported. */
  torrents: string | null;
}

/**
 * Tells what the arguments name. A second argument is the content, unless it can only be a torrent.
 *
 * @throws {MetainfoError} `ERR_INVALID_ARGUMENT` for arguments with two meanings, or none
 */
export async function verifyArguments(
  file: string,
  rest: readonly string[],
  options: VerifyOptions,
): Promise<OneTorrent | ManyTorrents> {
  const { each, content, jobs, fromFile } = options;
  if (each && fromFile !== undefined) throw invalidArgument('--each takes one folder of torrents: omit --from-file');
  const chosen = each
    ? await torrentsOfFolder(file, rest, content)
    : content === undefined
      ? await listed(file, rest, options)
      : await withContent([file, ...rest], content);
  if (jobs !== undefined && !('files' in chosen))
    throw invalidArgument('--jobs needs several torrents, --each or --content');
  return chosen;
}

async function torrentsOfFolder(
  torrents: string,
  rest: readonly string[],
  content: string | undefined,
): Promise<ManyTorrents> {
  const [folder = content ?? '.'] = rest;
  if (rest.length > 1 || (rest.length === 1 && content !== undefined))
    throw invalidArgument('--each takes one folder of torrents and one folder of content');
  const files = await torrentsIn(torrents);
  await requireFolder(folder, 'the folder of the content');
  return { files, folder, torrents };
}

async function withContent(files: string[], content: string): Promise<OneTorrent | ManyTorrents> {
  const [file = '', second] = files;
  if (second === undefined && (await fileType(content)) === 'file') return { file, path: content };
  await requireFolder(content, '--content');
  return many(files, content);
}

async function listed(
  file: string,
  rest: readonly string[],
  options: VerifyOptions,
): Promise<OneTorrent | ManyTorrents> {
  const [second] = rest;
  if (options.fromFile !== undefined) return many([file, ...rest], '.');
  if (second === undefined || (rest.length === 1 && !(await isTorrentToo(file, second, options))))
    return { file, path: second };
  return many([file, ...rest], '.');
}

async function many(files: string[], folder: string): Promise<ManyTorrents> {
  requireOneStdin(files);
  for (const file of files)
    if ((await fileType(file)) === 'folder') {
      const torrents = files.filter((other) => other !== file);
      const hint = shellWords('metainfo', 'verify', '--content', file, ...torrents.slice(0, 3));
      const dots = torrents.length > 3 ? ' ...' : '';
      throw invalidArgument(`${file} is a folder. If it holds the content of all torrents: ${hint}${dots}`);
    }
  return { files, folder, torrents: null };
}

/**
 * Whether the second of two arguments is a torrent to verify rather than the content of the first. The content of a single-file
 * torrent can be a torrent: then its name and size tell.
 */
async function isTorrentToo(first: string, second: string, options: VerifyOptions): Promise<boolean> {
  if (isStdin(first) || !isTorrentFileName(second)) return false;
  const status = await stat(second).catch(() => null);
  if (!status?.isFile()) return false;
  const read = readOptionsOf(options);
  const isTorrent = (await Torrent.read(second, read).catch(nullIfUnreadable)) !== null;
  const torrent = await Torrent.read(first, read).catch(nullIfUnreadable);
  // Its error comes with a hint if the arguments are swapped.
  if (!torrent) return isTorrentFileName(first) && isTorrent;
  const only = torrent.nFiles === 1 ? torrent.files[0] : undefined;
  if (only?.path !== torrent.name) return true;
  const hasName = path.basename(second) === torrent.name;
  const hasSize = only.length === status.size;
  if (hasName && (hasSize || !isTorrent)) return false;
  if (!hasName && !hasSize && isTorrent) return true;
  const asContent = shellWords('metainfo', 'verify', first, '--content', second);
  const asTorrent = shellWords('metainfo', 'verify', '--content', '.', first, second);
  throw invalidArgument(
    `${second} can be the content of ${first} (${asContent}) or another torrent with its content here (${asTorrent})`,
  );
}

/** Null for the error of a file that is no torrent, or cannot be read. */
function nullIfUnreadable(error: unknown): null {
  if (error instanceof MetainfoError && error.code !== 'ERR_INVALID_ARGUMENT') return null;
  throw error;
}

async function requireFolder(folder: string, what: string): Promise<void> {
  const type = await fileType(folder);
  if (type === 'folder') return;
  if (type === 'file') throw invalidArgument(`${what} must be a folder, and ${folder} is a file`);
  throw new MetainfoError('ERR_NOT_FOUND', `${folder}: no such file or folder.`, { path: folder });
}
