/** The folders that a scan starts listings from: which of them holds an entry, and whether links lead around in a circle. */
import { MetainfoError } from '../errors/errors.ts';
import { diskPathOf, type ListedFolder } from './listing.ts';

/** A file or folder, and its path as the user knows it. */
export interface Place extends ListedFolder {
  shown: string;
}

/** A folder whose listing is asked for. */
export interface Start extends Place {
  /** Where the entry is that led here: a start above this one, and the folder on disk, below that start, that holds the entry. */
  from?: { start: Start; disk: string };
}

/** The start of a listing that found a folder: the longest path, because a start may be below another one. */
export function startOf(folder: string, starts: ReadonlyMap<string, Start>): Start {
  for (let end = folder.length; end > 0; end = folder.lastIndexOf('\0', end - 1)) {
    const start = starts.get(folder.slice(0, end));
    if (start) return start;
  }
  return starts.get('') as Start;
}

/** The path of what a listing found, as the user knows it. */
export function shownBelow({ path: top, shown }: Start, path: string): string {
  return diskPathOf(shown, path.slice(top === '' ? 0 : top.length + 1));
}

function isAtOrBelow(folder: string, disk: string): boolean {
  return folder === '' || disk === folder || disk.startsWith(`${folder}\0`);
}

/**
 * Adds the folder that an entry leads to.
 *
 * @throws {MetainfoError} `ERR_LINK_LOOP` if the entry is in that folder
 */
export function enter(place: Place, from: NonNullable<Start['from']>, starts: Start[]): void {
  for (let above: Start['from'] = from; above; above = above.start.from) {
    // All folders from the start down to the entry contain it.
    if (!isAtOrBelow(above.start.disk, place.disk) || !isAtOrBelow(place.disk, above.disk)) continue;
    throw new MetainfoError('ERR_LINK_LOOP', `${place.shown} links to a folder that contains it.`, {
      path: place.shown,
    });
  }
  starts.push({ ...place, from });
}

/** Whether a folder below this one may contain it, because links led here from there. */
export function mayLoop(start: Start): boolean {
  for (let above = start.from; above; above = above.start.from) if (isAtOrBelow(start.disk, above.disk)) return true;
  return false;
}
