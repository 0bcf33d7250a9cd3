/** Finds, among files of the same content, the one that is nearest to a path. */
import nodePath from 'node:path';

/** A folder above the roots of all drives. */
const TOP = '';

/** The paths of equal files, by the folders above them, so that a search does not go through all of them. */
export class NearestFiles {
  /**
   * The paths below each folder, and those of one name below it: {@link keyOf}. The best one is last, and is dropped once it is
   * taken.
   */
  readonly #lists = new Map<string, string[]>();
  /** The only path: most files have no equals, and need no lists. */
  readonly #only: string | null = null;

  /** @param paths Absolute, without repetitions: those with the fewest folders first. */
  constructor(paths: readonly string[]) {
    if (paths.length === 1) {
      this.#only = paths[0] as string;
      return;
    }
    for (const path of paths.toReversed()) {
      const name = nodePath.basename(path);
      for (const folder of foldersAbove(path)) {
        for (const key of [keyOf(folder, null), keyOf(folder, name)]) {
          const list = this.#lists.get(key);
          if (list) list.push(path);
          else this.#lists.set(key, [path]);
        }
      }
    }
  }

  /**
   * The path with the fewest steps from one folder to the other; null if none is left.
   *
   * @param name The file name that the path must have; null for any.
   * @param isFree Whether a path may be chosen. A path that is not free is dropped.
   */
  nearest(to: string, name: string | null, isFree: (path: string) => boolean): string | null {
    if (this.#only !== null) {
      const isNamed = name === null || nodePath.basename(this.#only) === name;
      return isNamed && isFree(this.#only) ? this.#only : null;
    }
    let [best, bestSteps] = [null as string | null, Infinity];
    for (const [up, folder] of foldersAbove(to).entries()) {
      const list = this.#lists.get(keyOf(folder, name)) ?? [];
      while (list.length > 0 && !isFree(list.at(-1) as string)) list.pop();
      const path = list.at(-1);
      if (path === undefined) continue;
      // The steps up and down, apart from a number that is the same for all: the folder is as many levels less deep as it is up.
      const steps = 2 * up + depthOf(path);
      if (steps < bestSteps) [best, bestSteps] = [path, steps];
    }
    return best;
  }
}

/** The number of components of a path. */
export function depthOf(path: string): number {
  return path.split(nodePath.sep).length;
}

function keyOf(folder: string, name: string | null): string {
  return name === null ? folder : `${folder}\0${name}`;
}

/** The folder of a path and all folders above it, up to {@link TOP}. */
function foldersAbove(path: string): string[] {
  const folders: string[] = [];
  for (let folder = nodePath.dirname(path); folder !== folders.at(-1); folder = nodePath.dirname(folder))
    folders.push(folder);
  return [...folders, TOP];
}
