import nodePath from 'node:path';
import { MetainfoError } from '../errors/errors.ts';

/**
 * One path is the root itself; several are taken from the folder that they share.
 *
 * @param path The module of that name, of this system.
 * @throws {MetainfoError} `ERR_PATH_OUTSIDE` where they share none: on different drives.
 */
export function rootAndPaths(paths: readonly string[], path = nodePath): { pathRoot: string; paths?: string[] } {
  const absolute = paths.map((entry) => path.resolve(entry));
  const [first = '.', ...others] = absolute;
  if (others.length === 0) return { pathRoot: first };
  const isBeneath = (folder: string, file: string) => {
    const relative = path.relative(folder, file);
    return !path.isAbsolute(relative) && relative.split(path.sep)[0] !== '..';
  };
  const { root } = path.parse(first);
  const outside = others.find((other) => !isBeneath(root, other));
  if (outside !== undefined) {
    const message = `${outside} shares no folder with ${first}: they are on different drives.`;
    throw new MetainfoError('ERR_PATH_OUTSIDE', message, { path: outside });
  }
  let shared = path.dirname(first);
  while (!others.every((other) => isBeneath(shared, other))) shared = path.dirname(shared);
  return { pathRoot: shared, paths: absolute };
}
