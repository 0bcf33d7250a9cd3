import { constants, type Dirent } from 'node:fs';
import { readdir, realpath, stat } from 'node:fs/promises';
import nodePath from 'node:path';
import { STAT_NUMBERS, statNumbers } from '../create/scan.ts';
import { fromSystemError, throwIfAborted } from '../errors.ts';

/** A file that is there, with links resolved; why it cannot be read; or that it is a link to a folder. */
export type Found = { diskPath: string; size: number; mtimeMs: number } | { problem: string } | { folder: string };

/** How many calls wait at once. */
const AT_ONCE = 16;
const SIZES_AT_ONCE = 4096;

/** What is in a folder. */
export interface Inventory {
  /** By its path with `/`; null for what is there and was not asked for. */
  found: Map<string, Found | null>;
  /** Folders that could not be read, with `/` at the end, and why. */
  unreadable: { folder: string; problem: string }[];
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
  signal: AbortSignal | undefined,
): Promise<Inventory> {
  const found = new Map<string, Found | null>();
  const unreadable: Inventory['unreadable'] = [];
  const wantedFolders = foldersOf(wanted);
  const sizesWanted: { path: string; real: string }[] = [];
  const root = await realpath(folder).catch((error: unknown) => {
    throw fromSystemError(error, folder, 'read');
  });
  // What is behind a link is there a second time: only what is wanted of it is gone through.
  let level = [{ path: '', real: root, isBehindLink: false }];
  while (level.length > 0) {
    const below: typeof level = [];
    const visit = async ({ path: above, real: parent, isBehindLink }: (typeof level)[number]) => {
      for (const entry of await entriesOf(parent)) {
        const path = above + entry.name;
        const real = nodePath.join(parent, entry.name);
        const isWanted = wantedFolders.has(path);
        if (entry.isDirectory()) {
          if (isWanted || !isBehindLink) below.push({ path: `${path}/`, real, isBehindLink });
        } else if (!entry.isSymbolicLink()) {
          found.set(path, null);
          if (wanted.has(path)) sizesWanted.push({ path, real });
        } else if (!isWanted) {
          found.set(path, wanted.has(path) ? await follow(real, root) : null);
        } else {
          const target = await follow(real, root);
          if ('folder' in target) below.push({ path: `${path}/`, real: target.folder, isBehindLink: true });
          else found.set(path, target);
        }
      }
    };
    for (let i = 0; i < level.length; i += AT_ONCE) {
      throwIfAborted(signal);
      await Promise.all(
        level.slice(i, i + AT_ONCE).map((one) =>
          visit(one).catch((error: unknown) => {
            const failure = fromSystemError(error, nodePath.join(folder, one.path), 'read');
            if (one.path === '') throw failure;
            unreadable.push({ folder: one.path, problem: failure.message });
          }),
        ),
      );
    }
    level = below;
  }
  for (let i = 0; i < sizesWanted.length; i += SIZES_AT_ONCE) {
    throwIfAborted(signal);
    const some = sizesWanted.slice(i, i + SIZES_AT_ONCE);
    for (const [j, one] of (await lookAtAll(some)).entries()) found.set((some[j] as { path: string }).path, one);
  }
  return { found, unreadable };
}

/** As the scan of a creation does it: one call after the other takes longer than hashing small files. */
async function lookAtAll(files: readonly { real: string }[]): Promise<Found[]> {
  const numbers = await statNumbers(files);
  return Promise.all(
    files.map(({ real }, i): Found | Promise<Found> => {
      const [error, mode, size, mtimeMs] = numbers.subarray(i * STAT_NUMBERS);
      const isFile = error === 0 && ((mode as number) & constants.S_IFMT) === constants.S_IFREG;
      // Of all others it is told what is wrong.
      return isFile ? { diskPath: real, size: size as number, mtimeMs: mtimeMs as number } : look(real);
    }),
  );
}

/** All folders that files are in. */
function foldersOf(files: ReadonlySet<string>): Set<string> {
  const folders = new Set<string>();
  for (const file of files) {
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
    return { diskPath: real, size: status.size, mtimeMs: status.mtimeMs };
  } catch (error) {
    return { problem: fromSystemError(error, real, 'read').message };
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
  } catch {
    return { problem: 'a link to something that does not exist' };
  }
}
