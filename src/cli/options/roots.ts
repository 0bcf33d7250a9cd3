/** Finds the path root of a creation from the paths on the command line. */
import nodePath from 'node:path';
import { isWithin } from '../../disk/path-within.ts';
import { MetainfoError } from '../../errors/errors.ts';
import { invalidArgument } from '../../errors/guard.ts';

/**
 * A single path is the path root itself; several paths have their closest common folder as path root.
 *
 * @param path The Node module `path` of the target system.
 * @throws {MetainfoError} `ERR_PATH_OUTSIDE` if the paths are on different drives; `ERR_INVALID_ARGUMENT` for an empty path
 */
export function rootAndPaths(paths: readonly string[], path = nodePath): { pathRoot: string; paths?: string[] } {
  // An unset variable of a shell must not mean the current folder.
  if (paths.includes('')) throw invalidArgument('A path is empty: name a file or folder (. is the current folder)');
  const absolute = paths.map((entry) => path.resolve(entry));
  const [first = '.', ...others] = absolute;
  if (others.length === 0) return { pathRoot: first };
  const { root } = path.parse(first);
  const outside = others.find((other) => !isWithin(root, other, path));
  if (outside !== undefined) {
    const message = `${outside} and ${first} have no common folder: they are on different drives.`;
    throw new MetainfoError('ERR_PATH_OUTSIDE', message, { path: outside });
  }
  let common = path.dirname(first);
  while (!others.every((other) => isWithin(common, other, path))) common = path.dirname(common);
  return { pathRoot: common, paths: absolute };
}
