/** Finds, among files of the same content, the one that is nearest to a path. */
import nodePath from 'node:path';

/** A file, and the number of components of its path. */
interface Place {
  path: string;
  depth: number;
}

/** A folder above one of the paths that are asked for, and the files below it. */
interface Folder {
  below: Map<string, Folder>;
  /** The files of each name, and all of them as those of null. The best one is last, and is dropped once it is taken. */
  files: Map<string | null, Place[]>;
}

/**
 * The paths of equal files, in a tree of the folders that are above the targets: what a path has below them does not matter, so deep
 * paths take little time and memory.
 */
export class NearestFiles {
  readonly #root: Folder = newFolder();
  /** The only path: most files have no equals, and need no tree. */
  readonly #only: string | null = null;

  /**
   * @param paths Absolute, without repetitions: those with the fewest folders first.
   * @param targets The paths that {@link nearest} will be asked about.
   */
  constructor(paths: readonly string[], targets: Iterable<string>) {
    if (paths.length <= 1) {
      this.#only = paths[0] ?? null;
      return;
    }
    for (const target of targets) this.#foldersOf(target, true);
    for (const path of paths.toReversed()) {
      const place = { path, depth: depthOf(path) };
      for (const { files } of this.#foldersOf(path)) {
        for (const name of [null, nodePath.basename(path)]) {
          const list = files.get(name);
          if (list) list.push(place);
          else files.set(name, [place]);
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
    const folders = this.#foldersOf(to).reverse();
    let [best, bestSteps] = [null as string | null, Infinity];
    for (const [up, { files }] of folders.entries()) {
      const list = files.get(name) ?? [];
      while (list.length > 0 && !isFree((list.at(-1) as Place).path)) list.pop();
      const place = list.at(-1);
      if (place === undefined) continue;
      // The steps up and down, apart from a number that is the same for all: the folder is as many levels less deep as it is up.
      const steps = 2 * up + place.depth;
      if (steps < bestSteps) [best, bestSteps] = [place.path, steps];
    }
    return best;
  }

  /** The folders above a path from the top, as far as there are any here. @param isNew Whether to add the others. */
  #foldersOf(path: string, isNew = false): Folder[] {
    let folder = this.#root;
    const folders = [folder];
    for (let from = 0; ; ) {
      const end = path.indexOf(nodePath.sep, from);
      if (end < 0) return folders;
      const name = path.slice(from, end);
      const next = folder.below.get(name) ?? (isNew ? newFolder() : undefined);
      if (!next) return folders;
      folder.below.set(name, next);
      folders.push(next);
      folder = next;
      from = end + 1;
    }
  }
}

function newFolder(): Folder {
  return { below: new Map(), files: new Map() };
}

/** The number of components of a path. */
export function depthOf(path: string): number {
  let depth = 1;
  for (let at = path.indexOf(nodePath.sep); at >= 0; at = path.indexOf(nodePath.sep, at + 1)) depth += 1;
  return depth;
}
