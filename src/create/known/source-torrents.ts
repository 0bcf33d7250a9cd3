/** Reads the torrents whose hashes a creation reuses. */
import { stat } from 'node:fs/promises';
import path from 'node:path';
import { scan, scannedFiles } from '../../disk/scan.ts';
import { throwIfAborted } from '../../errors/cancel.ts';
import { MetainfoError } from '../../errors/errors.ts';
import { checkedPath } from '../../errors/guard.ts';
import { throwSystemError } from '../../errors/system-error.ts';
import { Torrent, TorrentBase } from '../../model/torrent/torrent.ts';
import { joinFirst } from '../../text/printable.ts';
import type { ReuseOptions } from './known.ts';

/** The torrents of a folder that are in memory at once. */
const READ_AT_ONCE = 16;
/** How many problems an error lists. */
const MAX_LISTED = 5;

/**
 * Reads torrents: those of a folder, of all folders in it too, are the files that end with `.torrent`. Gives them in the order of the list
 * and of the paths in a folder, and null for each entry of a folder that is no valid torrent or cannot be read.
 *
 * @throws {MetainfoError} one error for all entries of the list that do not exist, or are files but no torrents
 */
export async function* torrentsOf(
  sources: NonNullable<ReuseOptions['reuse']>,
  signal: AbortSignal | undefined,
): AsyncGenerator<Torrent | null> {
  const opened = await Promise.allSettled(sources.map((source) => torrentOrFolder(source, signal)));
  throwIfAborted(signal);
  const failures = opened.flatMap((one) => (one.status === 'rejected' ? [one.reason as MetainfoError] : []));
  const [first] = failures;
  if (first && failures.length > 1) {
    const problems = failures.map(({ message }) => message);
    const message = `Some torrents to reuse cannot be read: ${joinFirst(problems, MAX_LISTED)}.`;
    throw new MetainfoError(first.code, message, { path: first.path, cause: first });
  }
  if (first) throw first;
  for (const one of opened) {
    const { value } = one as PromiseFulfilledResult<Torrent | string>;
    if (typeof value === 'string') yield* torrentsIn(value, signal);
    else yield value;
  }
}

async function torrentOrFolder(source: Torrent | string | URL, signal?: AbortSignal): Promise<Torrent | string> {
  if (TorrentBase.isTorrent(source)) return source;
  const file = checkedPath(source);
  const status = await stat(file).catch(throwSystemError(file, 'read'));
  return status.isDirectory() ? path.resolve(file) : Torrent.read(file, { signal });
}

async function* torrentsIn(folder: string, signal?: AbortSignal): AsyncGenerator<Torrent | null> {
  const skipped: null[] = [];
  const include = (name: string) => /\.torrent$/i.test(name);
  const onProblem = () => void skipped.push(null);
  const found = await scan(folder, null, { include, anyNames: true, hidden: false, signal, onProblem });
  yield* skipped;
  const files = scannedFiles(found).map(({ diskPath }) => diskPath);
  files.sort();
  const read = (file: string) => Torrent.read(file, { signal, beneath: folder }).catch(nullIfBad);
  for (let i = 0; i < files.length; i += READ_AT_ONCE)
    yield* await Promise.all(files.slice(i, i + READ_AT_ONCE).map(read));
}

/** @throws any error that does not concern the torrent */
function nullIfBad(error: unknown): null {
  if (error instanceof MetainfoError && error.code !== 'ERR_ABORTED') return null;
  throw error;
}
