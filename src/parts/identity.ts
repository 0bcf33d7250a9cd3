/** Compares files and objects with what a plan says about them. */
import path from 'node:path';
import type { RangeReader } from '../create/sources/source-data.ts';
import { errnoOf, nanosecondsText, STAT_NUMBERS, statFiles } from '../disk/stat-files.ts';
import { throwIfAborted, untilAbort } from '../errors/cancel.ts';
import { errnoName, fromSystemError, MetainfoError, shown } from '../errors/errors.ts';
import type { TorrentPlanFiles } from './torrent-plan.ts';

/** A file of a plan that is behind a range reader. */
export interface ObjectFile {
  /** The path from the root of the torrent, with `/`. */
  path: string;
  /** The index of the file in the plan. */
  index: number;
  /** Bytes. */
  length: number;
  /** The entity tag that it had when it was planned; null if it had none. */
  etag: string | null;
  /** Where it is, if its range reader said so; else null. */
  url: string | null;
}

/** Opens an object of a plan on this machine: an object store, a web server. */
export type OpenObject = (file: ObjectFile) => RangeReader | Promise<RangeReader>;

/** Where a file of a plan is on this machine. */
export function diskPathOf({ path: paths, diskPath }: TorrentPlanFiles, index: number, root: string): string {
  const below = diskPath[index] ?? (paths[index] as string);
  return below === '' ? root : path.join(root, below);
}

/** Files whose status is asked for at once. */
const FILES_PER_STAT = 4096;

/**
 * Requires that files on disk are as they were planned. One error reports all of those that are not.
 *
 * @throws {MetainfoError} `ERR_FILE_CHANGED`; `ERR_READ` and others for files whose status cannot be read
 */
export async function requireUnchanged(
  files: TorrentPlanFiles,
  indexes: Iterable<number>,
  { root, signal }: { root: string; signal: AbortSignal | undefined },
): Promise<void> {
  const problems: MetainfoError[] = [];
  const check = async (some: readonly number[]) => {
    throwIfAborted(signal);
    const paths = some.map((index) => diskPathOf(files, index, root));
    const numbers = await untilAbort(signal, statFiles(paths.map((real) => ({ real }))));
    for (const [i, index] of some.entries()) {
      const error = changeOf(numbers.subarray(i * STAT_NUMBERS, (i + 1) * STAT_NUMBERS), files, {
        index,
        path: paths[i] as string,
      });
      if (error) problems.push(error);
    }
  };
  let batch: number[] = [];
  for (const index of indexes) {
    if (files.mtimeNs[index] === null) continue;
    batch.push(index);
    if (batch.length < FILES_PER_STAT) continue;
    await check(batch);
    batch = [];
  }
  await check(batch);
  throwAll(problems);
}

/** The problems that a message lists. */
const MAX_LISTED = 10;

/** Throws one error for all files that are not as they were planned. */
function throwAll(problems: readonly MetainfoError[]): void {
  const [first] = problems;
  if (!first || problems.length === 1) {
    if (first) throw first;
    return;
  }
  const { code, path: file } = first;
  const messages = problems
    .slice(0, MAX_LISTED)
    .map(({ message }) => message.replace(/\. Plan the torrent again\.$/, ''));
  const more = problems.length > MAX_LISTED ? `; and ${problems.length - MAX_LISTED} more` : '';
  const message = `${problems.length} files are not as they were planned: ${messages.join('; ')}${more}. Plan the torrent again.`;
  throw new MetainfoError(code, message, { path: file, cause: new AggregateError(problems, message) });
}

function changeOf(
  numbers: Float64Array,
  { length, mtimeNs, ctimeNs }: TorrentPlanFiles,
  { index, path: file }: { index: number; path: string },
): MetainfoError | null {
  const [errno = 0, , size = 0, mtimeMs = 0, ctimeMs = 0, , , mtime = 0, ctime = 0] = numbers;
  if (errno === ENOENT || errno === ENOTDIR) return changed(file, 'it was deleted');
  if (errno !== 0)
    return fromSystemError(Object.assign(new Error(errnoName(errno)), { code: errnoName(errno) }), file, 'read');
  if (size !== length[index]) return changed(file, `its size went from ${length[index]} to ${size} bytes`);
  if (nanosecondsText(mtimeMs, mtime) !== mtimeNs[index]) return changed(file, 'its modification time changed');
  if (nanosecondsText(ctimeMs, ctime) !== ctimeNs[index])
    return changed(file, 'its status changed (ctime), so it may have been written to');
  return null;
}

const ENOENT = errnoOf(Object.assign(new Error(), { code: 'ENOENT' }));
const ENOTDIR = errnoOf(Object.assign(new Error(), { code: 'ENOTDIR' }));

function changed(file: string, how: string): MetainfoError {
  return new MetainfoError(
    'ERR_FILE_CHANGED',
    `${file} changed after it was planned: ${how}. Plan the torrent again.`,
    { path: file },
  );
}

/** The objects of a plan, opened when they are first needed. */
export class Objects {
  readonly #files: TorrentPlanFiles;
  readonly #open: OpenObject | undefined;

  constructor(files: TorrentPlanFiles, open: OpenObject | undefined) {
    this.#files = files;
    this.#open = open;
  }

  /** Whether a file is an object. */
  has(index: number): boolean {
    return Object.hasOwn(this.#files.objects, index);
  }

  /** The indexes of all objects. */
  indexes(): number[] {
    return Object.keys(this.#files.objects).map(Number);
  }

  /**
   * Opens an object.
   *
   * @throws {MetainfoError} `ERR_FILE_CHANGED` if it is not the object that was planned; `ERR_INVALID_ARGUMENT` without `open`
   */
  async open(index: number): Promise<RangeReader> {
    const { path: paths, length, objects } = this.#files;
    const { etag = null, url = null } = objects[index] ?? {};
    const file = { path: paths[index] as string, index, length: length[index] as number, etag, url };
    if (!this.#open) {
      const message = `${file.path} is not on disk: give the option open, which makes a range reader for it.`;
      throw new MetainfoError('ERR_INVALID_ARGUMENT', message, { path: file.path });
    }
    const reader = await this.#open(file);
    if (typeof reader?.read !== 'function')
      throw new MetainfoError('ERR_INVALID_ARGUMENT', `open must return a range reader, not ${shown(reader)}.`);
    if (reader.size !== file.length)
      throw changed(file.path, `its size went from ${file.length} to ${shown(reader.size)} bytes`);
    if (etag !== null && reader.etag !== etag)
      throw changed(file.path, `its entity tag went from ${shown(etag)} to ${shown(reader.etag)}`);
    return reader;
  }
}
