/** Tells whether a path is within a folder, by its text alone: resolve links first. */
import nodePath from 'node:path';

/**
 * The components of a path, relative to a folder: none for the folder itself; null if the path is outside the folder or on
 * another drive.
 *
 * @param folder An absolute path.
 * @param target An absolute path.
 * @param path The rules for paths, by default those of this system.
 */
export function componentsWithin(folder: string, target: string, path = nodePath): string[] | null {
  const relative = path.relative(folder, target);
  const components = relative.split(path.sep).filter((component) => component !== '');
  return path.isAbsolute(relative) || components[0] === '..' ? null : components;
}

/** Whether a path is a folder or within it. The parameters are those of {@link componentsWithin}. */
export function isWithin(folder: string, target: string, path = nodePath): boolean {
  return componentsWithin(folder, target, path) !== null;
}
