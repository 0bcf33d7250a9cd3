/** Finds, among files of the same content, the one that is nearest to a path. */
import nodePath from 'node:path';

/** A file, and the number of components of its path. */
interface Place {
  path: string;
  depth: number;
}

/** A folder in which paths part: those above and between such folders do not matter, and a deep path has thousands. */
interface Folder {
  /** Characters of its path, with the separator at the end. */
  length: number;
  /** The number of components of its path. */
  depth: number;
  above: Folder | null;
  /** The files of each name, and all of them as those of null. The best one is last, and is dropped once it is taken. */
  files: Map<string | null, Place[]>;
}

/** The paths of equal files, in a tree of the folders in which they and the targets part. */
export class NearestFiles {
  /** The only path: most files have no equals, and need no tree. */
  readonly #only: string | null = null;
  /** The deepest folder above each path and target. */
  readonly #folders: ReadonlyMap<string, Folder> = new Map();

  /**
   * @param paths Absolute, without repetitions: those with the fewest folders first.
   * @param targets The paths that {@link nearest} will be asked about.
   */
  constructor(paths: readonly string[], targets: Iterable<string>) {
    if (paths.length <= 1) {
      this.#only = paths[0] ?? null;
      return;
    }
    this.#folders = foldersAbove([...paths, ...targets]);
    for (const path of paths.toReversed()) {
      const place = { path, depth: depthOf(path) };
      for (let at = this.#folders.get(path) ?? null; at; at = at.above) {
        for (const name of [null, nodePath.basename(path)]) {
          const list = at.files.get(name);
          if (list) list.push(place);
          else at.files.set(name, [place]);
        }
      }
    }
  }

  /**
   * The path with the fewest steps from one folder to the other; null if none is left.
   *
   * @param to One of the targets.
   * @param name The file name that the path must have; null for any.
   * @param isFree Whether a path may be chosen. A path that is not free is dropped.
   */
  nearest(to: string, name: string | null, isFree: (path: string) => boolean): string | null {
    if (this.#only !== null) {
      const isNamed = name === null || nodePath.basename(this.#only) === name;
      return isNamed && isFree(this.#only) ? this.#only : null;
    }
    let [best, bestSteps] = [null as string | null, Infinity];
    for (let at = this.#folders.get(to) ?? null; at; at = at.above) {
      const list = at.files.get(name) ?? [];
      while (list.length > 0 && !isFree((list.at(-1) as Place).path)) list.pop();
      const place = list.at(-1);
      if (place === undefined) continue;
      // The steps up and down, apart from the depth of the target, which is the same for all.
      const steps = place.depth - 2 * at.depth;
      if (steps < bestSteps) [best, bestSteps] = [place.path, steps];
    }
    return best;
  }
}

/** The deepest folder above each path in which it parts from another one. */
function foldersAbove(paths: readonly string[]): Map<string, Folder> {
  // The lowest character as the separator keeps the paths in a folder together. `replaceAll` would make chains of pieces.
  const sorted = paths.map((path) => ({ path, key: path.split(nodePath.sep).join('\0') }));
  sorted.sort((a, b) => (a.key < b.key ? -1 : 1));
  const root: Folder = { length: 0, depth: 0, above: null, files: new Map() };
  const folders = new Map<string, Folder>();
  let current = root;
  for (const [i, { path, key }] of sorted.entries()) {
    const length = sharedFolder(key, sorted[i + 1]?.key ?? '');
    const enter = () => ({ length, depth: depthOf(path.slice(0, length)) - 1, above: current, files: new Map() });
    if (current.length < length) current = enter();
    folders.set(path, current);
    let left: Folder | null = null;
    for (; current.length > length; current = current.above as Folder) left = current;
    if (!left || current.length === length) continue;
    current = enter();
    left.above = current;
  }
  return folders;
}

/** Characters of the folder in which two paths part. */
function sharedFolder(a: string, b: string): number {
  let end = 0;
  for (let i = 0; i < a.length && a.charCodeAt(i) === b.charCodeAt(i); i += 1) if (a[i] === '\0') end = i + 1;
  return end;
}

/** The number of components of a path. */
export function depthOf(path: string): number {
  let depth = 1;
  for (let at = path.indexOf(nodePath.sep); at >= 0; at = path.indexOf(nodePath.sep, at + 1)) depth += 1;
  return depth;
}
