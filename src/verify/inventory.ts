import { constants, type Dirent } from 'node:fs';
import { readdir, realpath, stat } from 'node:fs/promises';
import nodePath from 'node:path';
import { STAT_NUMBERS, statNumbers } from '../disk/scan.ts';
import { throwIfAborted } from '../errors/cancel.ts';
import { fromSystemError, type MetainfoError } from '../errors/errors.ts';
import type { Slot } from '../jobs/limiter.ts';

/** Why something that is there cannot be read, and what the system said, if that was asked. */
export interface Unreadable {
  problem: string;
  error?: MetainfoError;
}

/** A file that is there, with links resolved; why it cannot be read; or that it is a link to a folder. */
export type Found =
  | { diskPath: string; size: number; mtimeMs: number; ctimeMs: number }
  | Unreadable
  | { folder: string };

/** How many calls wait at once. */
const AT_ONCE = 16;
const SIZES_AT_ONCE = 1024;

/** What is in a folder. */
export interface Inventory {
  /** What was wanted, by its path with `/`. */
  found: Map<string, Found>;
  /** What was not. */
  extraFiles: string[];
  /** Folders that could not be read, with `/` at the end, and why. */
  unreadable: { folder: string; why: Unreadable }[];
}

/**
 * All that is in a folder, by its path from there. A link is followed when a wanted file may be behind it, and as long as it
 * stays within the folder; nothing is opened, and nothing that leads out is looked at.
 *
 * @param wanted The paths whose sizes are wanted; of the others it is only told that they are there.
 * @throws {MetainfoError} `ERR_NOT_FOUND`, `ERR_UNREADABLE` for the folder itself; `ERR_ABORTED`
 */
export async function inventory(
  folder: string,
  wanted: ReadonlySet<string>,
  { signal, slot }: { signal: AbortSignal | undefined; slot?: Slot },
): Promise<Inventory> {
  const found = new Map<string, Found>();
  const extraFiles: string[] = [];
  const unreadable: Inventory['unreadable'] = [];
  const wantedFolders = foldersOf(wanted);
  const root = await realpath(folder).catch((error: unknown) => {
    throw fromSystemError(error, folder, 'read');
  });
  const put = (path: string, one: Found) => {
    if (wanted.has(path)) found.set(path, one);
    else extraFiles.push(path);
  };
  // Another thread asks for sizes while folders are listed.
  let waiting: Sized[] = [];
  let sized = Promise.resolve();
  const flush = () => {
    const some = waiting;
    waiting = [];
    sized = sized.then(() => {
      throwIfAborted(signal);
      return lookAtAll(some, found);
    });
    // It is waited for at the end.
    sized.catch(() => {});
  };
  // What is behind a link is there a second time: only what is wanted of it is gone through.
  let level = [{ path: '', real: root, isBehindLink: false }];
  while (level.length > 0) {
    const below: typeof level = [];
    const visit = async ({ path: above, real: parent, isBehindLink }: (typeof level)[number]) => {
      const within = parent.endsWith(nodePath.sep) ? parent : parent + nodePath.sep;
      for (const entry of await entriesOf(parent)) {
        const path = above + entry.name;
        const real = within + entry.name;
        if (entry.isDirectory()) {
          if (!isBehindLink || wantedFolders.has(path)) below.push({ path: `${path}/`, real, isBehindLink });
        } else if (!entry.isSymbolicLink()) {
          if (!wanted.has(path)) extraFiles.push(path);
          else if (waiting.push({ path, real }) >= SIZES_AT_ONCE) flush();
        } else if (!wantedFolders.has(path)) {
          if (wanted.has(path)) found.set(path, await follow(real, root));
          else extraFiles.push(path);
        } else {
          const target = await follow(real, root);
          if ('folder' in target) below.push({ path: `${path}/`, real: target.folder, isBehindLink: true });
          else put(path, target);
        }
      }
    };
    for (let i = 0; i < level.length; i += AT_ONCE) {
      throwIfAborted(signal);
      await slot?.offer();
      await Promise.all(
        level.slice(i, i + AT_ONCE).map((one) =>
          visit(one).catch((error: unknown) => {
            const failure = fromSystemError(error, nodePath.join(folder, one.path.slice(0, -1)), 'read');
            if (one.path === '') throw failure;
            unreadable.push({ folder: one.path, why: { problem: failure.message, error: failure } });
          }),
        ),
      );
    }
    level = below;
  }
  flush();
  await sized;
  return { found, extraFiles, unreadable };
}

/** A file whose size is wanted. */
interface Sized {
  path: string;
  real: string;
}

/** As the scan of a creation does it: one call after the other takes longer than hashing small files. */
async function lookAtAll(files: readonly Sized[], found: Map<string, Found>): Promise<void> {
  const numbers = await statNumbers(files);
  const others: Promise<unknown>[] = [];
  for (const [i, { path, real }] of files.entries()) {
    const at = i * STAT_NUMBERS;
    const [mode = 0, size = 0, mtimeMs = 0, ctimeMs = 0] = numbers.subarray(at + 1, at + 5);
    const isFile = numbers[at] === 0 && (mode & constants.S_IFMT) === constants.S_IFREG;
    if (isFile) found.set(path, { diskPath: real, size, mtimeMs, ctimeMs });
    // Of all others it is told what is wrong.
    else others.push(look(real).then((one) => found.set(path, one)));
  }
  await Promise.all(others);
}

/** All folders that files are in. */
function foldersOf(files: ReadonlySet<string>): Set<string> {
  const folders = new Set<string>();
  let last = '/';
  for (const file of files) {
    // Those of one folder come together.
    if (file.startsWith(last) && file.indexOf('/', last.length) < 0) continue;
    last = file.slice(0, file.lastIndexOf('/') + 1) || '/';
    for (let end = file.lastIndexOf('/'); end > 0; end = file.lastIndexOf('/', end - 1)) {
      const folder = file.slice(0, end);
      if (folders.has(folder)) break;
      folders.add(folder);
    }
  }
  return folders;
}

function entriesOf(real: string): Promise<Dirent[]> {
  return readdir(real, { withFileTypes: true });
}

export async function look(real: string): Promise<Found> {
  try {
    const status = await stat(real);
    if (!status.isFile()) return { problem: 'not a regular file' };
    return { diskPath: real, size: status.size, mtimeMs: status.mtimeMs, ctimeMs: status.ctimeMs };
  } catch (error) {
    const failure = fromSystemError(error, real, 'read');
    return { problem: failure.message, error: failure };
  }
}

async function follow(link: string, root: string): Promise<Found> {
  try {
    const target = await realpath(link);
    const relative = nodePath.relative(root, target);
    if (relative === '..' || relative.startsWith(`..${nodePath.sep}`) || nodePath.isAbsolute(relative))
      return { problem: 'a link that leads out of the folder' };
    if ((await stat(target)).isDirectory()) return { folder: target };
    return await look(target);
  } catch (error) {
    const failure = fromSystemError(error, link, 'read');
    if (failure.code === 'ERR_NOT_FOUND') return { problem: 'a link to something that does not exist' };
    return { problem: failure.message, error: failure };
  }
}
