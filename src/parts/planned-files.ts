/** Finds the files of a plan on this machine, and compares them with what the plan says. */
import { lstat, realpath } from 'node:fs/promises';
import path from 'node:path';
import { type BeneathOptions, requireBeneath } from '../disk/held-folder.ts';
import { isWithin } from '../disk/path-within.ts';
import { errnoOf, STAT_NUMBERS, statFiles } from '../disk/stat-files.ts';
import { throwIfAborted, untilAbort } from '../errors/cancel.ts';
import { MetainfoError, shown } from '../errors/errors.ts';
import { Callback, type Checked, Flag, invalidArgument, type OptionStructs, Path } from '../errors/guard.ts';
import { fromSystemError, throwSystemError } from '../errors/system-error.ts';
import { forEachConcurrently } from '../hash/for-each-concurrently.ts';
import { errnoName } from '../platform/node.ts';
import type { RangeReader } from '../sources/source-data.ts';
import { joinFirst } from '../text/printable.ts';
import type { PlanFiles } from './plan.ts';
import { type CheckedPlan, isOnDisk } from './read-plan.ts';

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

interface PlaceOptions extends BeneathOptions {
  root?: string | URL | undefined;
  open?: OpenObject | undefined;
  openAll?: boolean | undefined;
}

/** @internal The structs of {@link PlaceOptions}. */
export const PLACE: OptionStructs<PlaceOptions> = { root: Path, beneath: Path, open: Callback, openAll: Flag };

/** Objects that are opened at once: each takes a request. */
const OPENED_AT_ONCE = 16;

/** @internal Requires that files are as they were planned, and opens the objects among them. `root` is where the others are. */
export async function openPlanned(
  { files, root: planned }: CheckedPlan,
  indexes: readonly number[],
  options: Checked<PlaceOptions> & { signal?: AbortSignal | undefined },
): Promise<{ root: string; readers: ReadonlyMap<number, RangeReader> }> {
  const { open, openAll = false, signal } = options;
  const onDisk = openAll ? [] : indexes.filter((index) => isOnDisk(files, index));
  const opened = indexes.filter((index) => Object.hasOwn(files.objects, index) || (openAll && isOnDisk(files, index)));
  const readers = new Map<number, RangeReader>();
  await forEachConcurrently(opened, { concurrency: OPENED_AT_ONCE, signal }, async (index) => {
    readers.set(index, await openObject(files, index, open, signal));
  });
  const root = onDisk.length > 0 ? await realRoot(options.root ?? planned, options) : '';
  await requireUnchanged(files, onDisk, { root, signal });
  return { root, readers };
}

/** @internal @throws {MetainfoError} `ERR_NOT_FOUND`, `ERR_PATH_OUTSIDE`, `ERR_UNREADABLE`, `ERR_READ` */
export function realRoot(
  root: string,
  { signal, beneath }: Checked<BeneathOptions> & { signal?: AbortSignal | undefined },
): Promise<string> {
  const find = async () => {
    const real = await realpath(root).catch(throwSystemError(root, 'read'));
    await requireBeneath(real, { beneath }, root);
    return real;
  };
  return untilAbort(signal, find());
}

/** @internal Where a file of a plan is on this machine. */
export function diskPathOf({ path: paths, diskPath }: PlanFiles, index: number, root: string): string {
  const below = diskPath[index] ?? (paths[index] as string);
  return below === '' ? root : path.join(root, below);
}

const FILES_PER_STAT = 4096;

/** Requires that files on disk are as they were planned. One error reports all of those that are not. */
async function requireUnchanged(
  files: PlanFiles,
  indexes: readonly number[],
  { root, signal }: { root: string; signal: AbortSignal | undefined },
): Promise<void> {
  const problems: MetainfoError[] = [];
  const folders = new Set<string>();
  for (let first = 0; first < indexes.length; first += FILES_PER_STAT) {
    throwIfAborted(signal);
    const chunk = indexes.slice(first, first + FILES_PER_STAT);
    const some = chunk.map((index) => ({ index, real: diskPathOf(files, index, root) }));
    const numbers = await untilAbort(signal, statFiles(some));
    for (const [i, { index, real }] of some.entries()) {
      const error = changeOf(numbers.subarray(i * STAT_NUMBERS), files, index, real);
      // A file with the planned times is the planned file. Any other answer could be about a file outside the root.
      const isUnproven = error !== null || files.mtimeMs[index] === null || files.ctimeMs[index] === null;
      if (isUnproven && (await leadsOut(real, root, folders)))
        problems.push(changed(real, 'a symbolic link leads out of the root'));
      else if (error) problems.push(error);
    }
  }
  const [problem] = problems;
  if (!problem) return;
  const { code, path: file } = problem;
  const messages = problems.map((error) => error.message);
  const all = `${problems.length} files are not as they were planned: ${joinFirst(messages, MAX_LISTED)}.`;
  const message = problems.length > 1 ? all : problem.message;
  throw new MetainfoError(code, code === 'ERR_FILE_CHANGED' ? `${message} ${ADVICE}` : message, { path: file });
}

/** Whether a symlink from the root to a file leads out, or nowhere. `folders` takes those that are no links: each is seen once. */
async function leadsOut(file: string, root: string, folders: Set<string>): Promise<boolean> {
  let place = root;
  for (const name of path.relative(root, file).split(path.sep)) {
    place = path.join(place, name);
    if (folders.has(place)) continue;
    const status = await lstat(place).catch(() => null);
    if (status === null) return false;
    if (status.isDirectory()) folders.add(place);
    if (!status.isSymbolicLink()) continue;
    const real = await realpath(place).catch(() => null);
    if (real === null || !isWithin(root, real)) return true;
  }
  return false;
}

const MAX_LISTED = 10;
const ADVICE = 'Make a new plan.';

function changeOf(numbers: Float64Array, files: PlanFiles, index: number, file: string): MetainfoError | null {
  const { length, mtimeMs, ctimeMs, shares } = files;
  const [errno = 0, , size = 0, mtime = 0, ctime = 0] = numbers;
  if (errno === ENOENT || errno === ENOTDIR) return changed(file, 'it was deleted');
  if (errno !== 0)
    return fromSystemError(Object.assign(new Error(errnoName(errno)), { code: errnoName(errno) }), file, 'read');
  const planned = shares[index]?.size ?? length[index];
  if (size !== planned) return changed(file, `its size went from ${planned} to ${size} bytes`);
  if (mtime !== (mtimeMs[index] ?? mtime)) return changed(file, 'its modification time changed');
  if (ctime !== (ctimeMs[index] ?? ctime))
    return changed(file, 'its status changed (ctime), so it may have been written to');
  return null;
}

const ENOENT = errnoOf(Object.assign(new Error(), { code: 'ENOENT' }));
const ENOTDIR = errnoOf(Object.assign(new Error(), { code: 'ENOTDIR' }));

function changed(file: string, how: string): MetainfoError {
  return new MetainfoError('ERR_FILE_CHANGED', `${file} changed after it was planned: ${how}.`, { path: file });
}

/** Opens an object of a plan. Throws `ERR_FILE_CHANGED` if it is another one; `ERR_INVALID_ARGUMENT` without `open`. */
async function openObject(
  { path: paths, length, objects }: PlanFiles,
  index: number,
  open: OpenObject | undefined,
  signal: AbortSignal | undefined,
): Promise<RangeReader> {
  throwIfAborted(signal);
  const { etag = null, url = null } = objects[index] ?? {};
  const file = { path: paths[index] as string, index, length: length[index] as number, etag, url };
  if (!open) {
    const problem = `${file.path} is not on disk: give the option open, which makes a range reader for it`;
    throw invalidArgument(problem, { path: file.path });
  }
  const reader = await untilAbort(signal, Promise.resolve(open(file)));
  if (typeof reader?.read !== 'function')
    throw invalidArgument(`open must return a range reader, not ${shown(reader)}`);
  if (reader.size !== file.length)
    throw changed(file.path, `its size went from ${file.length} to ${shown(reader.size)} bytes`);
  if (etag !== null && reader.etag !== etag)
    throw changed(file.path, `its entity tag went from ${shown(etag)} to ${shown(reader.etag)}`);
  return reader;
}
