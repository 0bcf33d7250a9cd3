/** Collects the files that a torrent misses, and the files on disk that may have their content: those of the same size. */
import { realPath } from '../../disk/held-folder.ts';
import type { MetainfoError } from '../../errors/errors.ts';
import type { Slot } from '../../hash/limiter.ts';
import type { Torrent } from '../../model/torrent/torrent.ts';
import { type ContentPlace, targetOf } from '../content-place.ts';
import type { DiskFile } from '../matched-files.ts';
import type { VerifiedFile } from '../report.ts';
import type { VerifyOptions } from '../verify.ts';
import type { MovedFile } from './find-moved.ts';
import { FolderIndex } from './folder-index.ts';

/** The most files on disk that are listed for a file of the torrent. */
export const MAX_LISTED = 100;

/** A file that is missing or damaged. */
export interface Wanted {
  path: string;
  to: string;
  /** Bytes. */
  length: number;
  /** The files that have its content. Wanted files of the same content share one list. */
  proven: Candidate[];
  /** The files that no hash can tell from it. */
  unproven: readonly Candidate[];
  /** The proven file that is put in its place; null before the choice. */
  chosen: Candidate | null;
  /** How much of `chosen` is proven. */
  content: MovedFile['content'];
}

/** A file that has the size of a wanted one. */
export interface Candidate {
  file: DiskFile;
  /** The index of the torrent's file in whose place it is; null for a file elsewhere. */
  owner: number | null;
  /** Whether it stays there: it has the content of its owner, or nothing shows that it has another one. */
  isInPlace: boolean;
}

/** One search for all files that are missing or damaged. */
export interface Search {
  torrent: Torrent;
  /** Without symbolic links. */
  place: ContentPlace;
  /** The report of each file; undefined for those that are not wanted, with the option `files`. */
  files: readonly (VerifiedFile | undefined)[];
  options: VerifyOptions;
  slot: Slot;
  /** By the index of the file in the torrent. */
  wanted: Map<number, Wanted>;
  bySize: Map<number, Candidate[]>;
  /** All candidates by path: the folders may overlap. */
  byPath: Map<string, Candidate>;
  /** The errors of files and folders that could not be searched, by path. */
  skipped: Map<string, MetainfoError>;
  bytesRead: number;
}

/**
 * Starts a search: looks for files that have the size of a missing or damaged one.
 *
 * @param folder The content's own folder; null if the content is a file, or does not exist.
 * @param indexOf Gives the other folders, once something is missing.
 */
export async function collectCandidates(
  given: Pick<Search, 'torrent' | 'place' | 'files' | 'options' | 'slot'>,
  folder: string | null,
  indexOf: (slot: Slot) => Promise<FolderIndex>,
): Promise<Search> {
  const wanted = wantedFiles(given);
  const bySize = new Map([...wanted.values()].map(({ length }): [number, Candidate[]] => [length, []]));
  const search: Search = { ...given, wanted, bySize, byPath: new Map(), skipped: new Map(), bytesRead: 0 };
  if (wanted.size === 0) return search;
  const owners = await ownersOf(search);
  const { options, slot } = search;
  const own = await FolderIndex.of(folder === null ? [] : [folder], { signal: options.signal, slot });
  for (const one of [own, await indexOf(search.slot)]) collect(search, one, owners);
  return search;
}

function wantedFiles({ torrent, place, files }: Pick<Search, 'torrent' | 'place' | 'files'>): Search['wanted'] {
  const wanted: Search['wanted'] = new Map();
  for (const [i, file] of files.entries()) {
    if (!file) continue;
    const { path, length, status, foundAs } = file;
    const isLink = torrent.files[i]?.attr?.includes('l') ?? false;
    const isInPlace = (status === 'complete' || status === 'unchecked') && foundAs === undefined;
    if (isInPlace || length === 0 || isLink) continue;
    wanted.set(i, { path, to: targetOf(place, i), length, proven: [], unproven: [], chosen: null, content: 'proven' });
  }
  return wanted;
}

/** The indexes of files in the torrent that are in their places and have a wanted size, by their real paths. */
async function ownersOf({ torrent, files, place, bySize }: Search): Promise<Map<string, number>> {
  const owners = new Map<string, number>();
  for (const [i, { length }] of torrent.files.entries()) {
    const status = files[i]?.status;
    if (status === 'missing' || status === 'wrong-size' || status === 'unreadable' || !bySize.has(length)) continue;
    const real = await realPath(targetOf(place, i)).catch(() => null);
    // Links may lead from several places to one file: it belongs where it is good.
    if (real !== null && (status === 'complete' || !owners.has(real))) owners.set(real, i);
  }
  return owners;
}

/** Adds the files that have a wanted size. */
function collect(search: Search, index: FolderIndex, owners: ReadonlyMap<string, number>): void {
  const { files, bySize, byPath } = search;
  for (const error of index.problems) skip(search, error);
  for (const [size, candidates] of bySize)
    for (const file of index.filesOf(size)) {
      if (byPath.has(file.diskPath)) continue;
      const owner = owners.get(file.diskPath) ?? null;
      // A file that is not wanted stays where it is: nothing shows that it is not good.
      const isInPlace = owner !== null && (files[owner]?.status ?? 'complete') === 'complete';
      const candidate = { file, owner, isInPlace };
      byPath.set(file.diskPath, candidate);
      candidates.push(candidate);
    }
}

/** The problems of entries that are no files, or are gone. */
const NO_CANDIDATES = ['ERR_BROKEN_LINK', 'ERR_NOT_A_FILE', 'ERR_NOT_FOUND'];

/** Notes an entry that may be wanted but cannot be compared. A FIFO or a broken link is no candidate. */
export function skip({ skipped }: Search, error: MetainfoError): void {
  if (error.path !== undefined && !NO_CANDIDATES.includes(error.code)) skipped.set(error.path, error);
}
