/** Compares the files of two torrents in columns: an object is made only of files that differ. */
import { NO_PATH } from '../hash/match-paths.ts';
import type { TorrentContent } from '../model/lazy/content.ts';

/** The index of a file in the old torrent, and in the new one. */
export type IndexPair = readonly [old: number, now: number];

/** How the files of a torrent differ from those of an older one. */
export interface ContentChanges {
  /** The number of files that are the same at the same path. */
  same: number;
  /** Files of the same path that differ. */
  changed: IndexPair[];
  /** Files that have the same content at another path. */
  renamed: IndexPair[];
  /** The indexes of the other files of the old torrent. */
  removed: number[];
  /** The indexes of the other files of the new torrent. */
  added: number[];
}

/** The files of a torrent, as far as they are compared. */
export type ComparedContent = Pick<TorrentContent, 'lengths' | 'roots' | 'pathAt'>;

/** How two files are compared. */
export interface Comparison<Content> {
  /** Whether two files of the same path are the same. */
  isSame(old: number, now: number): boolean;
  /** Stands for the content of a file; null for a file that was not renamed whatever others there are. */
  keyOf(content: Content, index: number): string | null;
}

/**
 * Compares the files of two torrents.
 *
 * @param matches For each file of the new torrent, the index of the file of the old one that has its path; {@link NO_PATH} for none
 */
export function contentChanges<Content extends ComparedContent>(
  old: Content,
  now: Content,
  matches: Uint32Array,
  { isSame, keyOf }: Comparison<Content>,
): ContentChanges {
  const isKept = new Uint8Array(old.lengths.length);
  const changed: IndexPair[] = [];
  const fresh: number[] = [];
  for (let i = 0; i < matches.length; i += 1) {
    const before = matches[i] as number;
    // A path may occur twice.
    if (before === NO_PATH || isKept[before] === 1) {
      fresh.push(i);
      continue;
    }
    isKept[before] = 1;
    if (!isSame(before, i)) changed.push([before, i]);
  }
  const gone: number[] = [];
  for (let i = isKept.indexOf(0); i >= 0; i = isKept.indexOf(0, i + 1)) gone.push(i);
  const byKey = new Map<string, number[]>();
  // Backwards, because the last one is taken first.
  for (const index of gone.toReversed()) {
    const key = keyOf(old, index);
    if (key === null) continue;
    const indexes = byKey.get(key);
    if (indexes) indexes.push(index);
    else byKey.set(key, [index]);
  }
  const renamed: IndexPair[] = [];
  const added = fresh.filter((index) => {
    const key = keyOf(now, index);
    const from = key === null ? undefined : byKey.get(key)?.pop();
    if (from !== undefined) renamed.push([from, index]);
    return from === undefined;
  });
  const from = new Set(renamed.map(([index]) => index));
  const same = matches.length - fresh.length - changed.length;
  return { same, changed, renamed, removed: gone.filter((index) => !from.has(index)), added };
}
