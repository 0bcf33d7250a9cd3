/** Chooses a file for each missing path whose content was found, perhaps several times. */
import nodePath from 'node:path';
import { isWithin } from '../disk/path-within.ts';
import { isTemporary } from '../disk/write-file.ts';
import { type Candidate, MAX_LISTED, type Search, type Wanted } from './collect-candidates.ts';
import type { MovedFile } from './find-moved.ts';
import { depthOf, NearestFiles } from './nearest.ts';

/**
 * Chooses a file for each wanted path that was found. Files in the content's own folder come first, because a file elsewhere may
 * belong to another copy of the content. Among either, files of the same name come first.
 */
export function chooseMoved({ torrent, place, wanted, byPath }: Search): MovedFile[] {
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
  return found.map((one): MovedFile => {
    const { path, to } = one;
    const { paths, shared } = equalOf(one);
    const from = choices.get(one) ?? (shared().nearest(to, null, () => true) as string);
    const others = paths.slice(0, MAX_LISTED + 1).filter((other) => other !== from);
    const { size, mtimeMs, ctimeMs } = (byPath.get(from) as Candidate).file;
    return {
      path,
      to,
      from,
      also: others.slice(0, MAX_LISTED),
      hashed: { size, mtimeMs, ctimeMs },
      proof: torrent.torrentVersion === 'v1' ? 'pieces' : 'root',
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

/**
 * @param own The content's own folder; null if the content is a file.
 * @param targets The paths that want the content.
 */
function equalFiles(candidates: readonly Candidate[], own: string | null, targets: readonly string[]): EqualFiles {
  const files = candidates
    .map(({ file: { diskPath: path }, isInPlace }) => ({ path, isInPlace, depth: depthOf(path) }))
    .sort((a, b) => Number(a.isInPlace) - Number(b.isInPlace) || a.depth - b.depth || (a.path < b.path ? -1 : 1));
  const paths = files.map(({ path }) => path);
  const free = files.flatMap(({ path, isInPlace }) => (isInPlace ? [] : [path]));
  const byRank: [string[], string[], string[]] = [[], [], []];
  for (const path of free) byRank[rankOf(path, own)].push(path);
  let shared: NearestFiles | null = null;
  return {
    paths,
    free: byRank.map((some) => new NearestFiles(some, targets)),
    shared: () => {
      shared ??= new NearestFiles(free.length > 0 ? free : paths, targets);
      return shared;
    },
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
