/** Chooses a file for each missing path whose content was found, perhaps several times. */
import nodePath from 'node:path';
import { isWithin } from '../../disk/path-within.ts';
import { isTemporary } from '../../disk/write-file.ts';
import { once } from '../../model/lazy/lazy.ts';
import { type Candidate, MAX_LISTED, type Search, type Wanted } from './collect-candidates.ts';
import type { MovedFile } from './find-moved.ts';
import { checkSharedPieces } from './prove-candidates.ts';

/**
 * Chooses a file for each wanted path that was found. Files in the content's own folder come first, because a file elsewhere may
 * belong to another copy of the content. Among either, files of the same name come first.
 */
export async function chooseMoved(search: Search): Promise<MovedFile[]> {
  const { torrent, place, wanted, byPath } = search;
  const found = [...wanted.values()].filter(({ proven }) => proven.length > 0);
  const targets = new Map<readonly Candidate[], string[]>();
  for (const { proven } of found) targets.set(proven, []);
  for (const { proven, to } of found) targets.get(proven)?.push(to);
  const own = place.isFolder ? place.folder : null;
  const equals = new Map([...targets].map(([proven, to]) => [proven, equalFiles(proven, own, to)]));
  const equalOf = ({ proven }: Wanted) => equals.get(proven) as EqualFiles;
  const choices = new Map<Wanted, string>();
  const used = new Set<string>();
  const choose = (rank: number, isNamed: boolean) => {
    for (const one of found) {
      if (choices.has(one)) continue;
      const name = isNamed ? nodePath.basename(one.to) : null;
      const from = equalOf(one).free[rank]?.nearest(one.to, name, (path) => !used.has(path)) ?? null;
      if (from === null) continue;
      choices.set(one, from);
      used.add(from);
    }
  };
  for (const rank of [0, 1, 2]) for (const isNamed of [true, false]) choose(rank, isNamed);
  for (const one of found) {
    const { shared } = equalOf(one);
    const from = choices.get(one) ?? shared().nearest(one.to, null, () => true);
    one.chosen = byPath.get(from as string) as Candidate;
  }
  if (torrent.torrentVersion === 'v1') await checkSharedPieces(search);
  return found.map((one): MovedFile => {
    const { path, to, content } = one;
    const { diskPath: from, size, mtimeMs, ctimeMs } = (one.chosen as Candidate).file;
    const { paths } = equalOf(one);
    const others = paths.slice(0, MAX_LISTED + 1).filter((other) => other !== from);
    return {
      path,
      to,
      from,
      also: others.slice(0, MAX_LISTED),
      hashed: { size, mtimeMs, ctimeMs },
      proof: torrent.torrentVersion === 'v1' ? 'pieces' : 'root',
      content,
      isShared: !choices.has(one),
    };
  });
}

/** The files of one content. */
interface EqualFiles {
  /** First those that are in no place, and those with few folders before others. */
  paths: string[];
  /** The files that may be moved, by {@link rankOf}. */
  free: NearestFiles[];
  /** Files to link to once all free ones are chosen: those in their places only if there are no others. */
  shared: () => NearestFiles;
}

/** @param own The content's own folder; null if the content is a file. @param targets The paths that want the content. */
function equalFiles(candidates: readonly Candidate[], own: string | null, targets: readonly string[]): EqualFiles {
  const files = candidates
    .map(({ file: { diskPath: path }, isInPlace }) => ({ path, isInPlace, depth: depthOf(path) }))
    .sort((a, b) => Number(a.isInPlace) - Number(b.isInPlace) || a.depth - b.depth || (a.path < b.path ? -1 : 1));
  const paths = files.map(({ path }) => path);
  const free = files.flatMap(({ path, isInPlace }) => (isInPlace ? [] : [path]));
  const byRank: [string[], string[], string[]] = [[], [], []];
  for (const path of free) byRank[rankOf(path, own)].push(path);
  return {
    paths,
    free: byRank.map((some) => new NearestFiles(some, targets)),
    shared: once(() => new NearestFiles(free.length > 0 ? free : paths, targets)),
  };
}

/**
 * The rank of a file among those that may be moved. First comes what a swap that was killed has left, so that another one finishes
 * its work, then other files in the content's own folder, then files elsewhere.
 */
function rankOf(path: string, own: string | null): 0 | 1 | 2 {
  if (own === null || !isWithin(own, path)) return 2;
  return isTemporary(nodePath.basename(path)) ? 0 : 1;
}

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

  /** @param paths Absolute, each once, those with the fewest folders first. @param targets Those that {@link nearest} is asked about. */
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
