/** The folders that a scan starts listings from: which of them holds an entry, and whether links lead around in a circle. */
import { MetainfoError } from '../errors/errors.ts';
import { diskPathBelow } from '../layout/file-table.ts';
import type { ListedFolder } from './listing.ts';

/** A file or folder, and its path as the user knows it. */
export interface Place extends ListedFolder {
  shown: string;
}

/** A folder whose listing is asked for. */
export interface Start extends Place {
  /** Where its path on disk begins: the folders from here down to the folder itself were entered one from another, without links. */
  top: string;
  /** Where the link is that led to `top`; null if none did. */
  link: Found | null;
  /** Whether it is a path that the caller of the scan named. */
  isNamed?: boolean;
}

/** Where an entry is. */
interface Found {
  /** The start of the listing that found the entry. */
  start: Start;
  /** The folder on disk that holds the entry, at or below that start. */
  disk: string;
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
  return diskPathBelow(shown, path.slice(top === '' ? 0 : top.length + 1));
}

function isAtOrBelow(folder: string, disk: string): boolean {
  return folder === '' || disk === folder || disk.startsWith(`${folder}\0`);
}

/** Adds the folder of an entry or of its target. Throws `ERR_LINK_LOOP` if the entry is in that folder. */
export function enter(place: Place, entry: Found, isTarget: boolean, starts: Start[]): void {
  for (let above: Found | null = entry; above; above = above.start.link) {
    // All folders from the top down to the entry contain it.
    if (!isAtOrBelow(above.start.top, place.disk) || !isAtOrBelow(place.disk, above.disk)) continue;
    throw new MetainfoError('ERR_LINK_LOOP', `${place.shown} links to a folder that contains it.`, {
      path: place.shown,
    });
  }
  // Without a link, the chain of links stays the same: one element for each level would make deep trees quadratic.
  const { top, link } = entry.start;
  starts.push(isTarget ? { ...place, top: place.disk, link: entry } : { ...place, top, link });
}

/** Whether a folder below this one may contain it, because links led here from there. */
export function mayLoop({ disk, link }: Start): boolean {
  for (let above = link; above; above = above.start.link) if (isAtOrBelow(disk, above.disk)) return true;
  return false;
}
