import type { Dirent } from 'node:fs';
import { readdir, realpath, stat } from 'node:fs/promises';
import nodePath from 'node:path';
import { fromSystemError, throwIfAborted } from '../errors.ts';

/** A file that is there, with links resolved; or why it cannot be read. */
export type Found = { diskPath: string; size: number; mtimeMs: number } | { problem: string };

/** How many calls wait at once. */
const AT_ONCE = 16;

/**
 * All that is in a folder, by its path from there with `/`. Links are followed as long as they stay within the folder;
 * nothing is opened, and nothing that leads out is looked at.
 *
 * @param wanted The paths whose sizes are wanted; of the others it is only told that they are there.
 * @throws {MetainfoError} `ERR_NOT_FOUND`, `ERR_UNREADABLE` for the folder itself; `ERR_ABORTED`
 */
export async function inventory(
  folder: string,
  wanted: ReadonlySet<string>,
  signal: AbortSignal | undefined,
): Promise<Map<string, Found | null>> {
  const found = new Map<string, Found | null>();
  const root = await realpath(folder).catch((error: unknown) => {
    throw fromSystemError(error, folder, 'read');
  });
  let level = [{ path: '', real: root, above: [root] }];
  while (level.length > 0) {
    const below: typeof level = [];
    for (let i = 0; i < level.length; i += AT_ONCE) {
      throwIfAborted(signal);
      await Promise.all(
        level.slice(i, i + AT_ONCE).map(async (one) => {
          for (const entry of await entriesOf(one.real, one.path === '' ? folder : null)) {
            const path = one.path + entry.name;
            const real = nodePath.join(one.real, entry.name);
            if (entry.isDirectory()) below.push({ path: `${path}/`, real, above: [...one.above, real] });
            else if (!entry.isSymbolicLink()) found.set(path, wanted.has(path) ? await look(real) : null);
            else {
              const target = await follow(real, root);
              if (!('folder' in target)) found.set(path, target);
              else if (one.above.includes(target.folder))
                found.set(path, { problem: 'a link to a folder that it is in' });
              else below.push({ path: `${path}/`, real: target.folder, above: [...one.above, target.folder] });
            }
          }
        }),
      );
    }
    level = below;
  }
  return found;
}

/** Of a folder that cannot be read nothing is there; the first one must be readable. */
async function entriesOf(real: string, first: string | null): Promise<Dirent[]> {
  try {
    return await readdir(real, { withFileTypes: true });
  } catch (error) {
    if (first !== null) throw fromSystemError(error, first, 'read');
    return [];
  }
}

async function look(real: string): Promise<Found> {
  try {
    const status = await stat(real);
    if (!status.isFile()) return { problem: 'not a regular file' };
    return { diskPath: real, size: status.size, mtimeMs: status.mtimeMs };
  } catch (error) {
    return { problem: fromSystemError(error, real, 'read').message };
  }
}

async function follow(link: string, root: string): Promise<Found | { folder: string }> {
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
