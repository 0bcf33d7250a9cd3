/** The digests that a torrent has of files that are unchanged on disk, and how the files differ from it. */
import { type FileTimes, requireTimesOf } from '../create/file-times.ts';
import type { KnownDigests } from '../create/hash-files.ts';
import { StoredDigests } from '../create/reuse/stored-digests.ts';
import type { SizedLayout } from '../create/torrent-layout.ts';
import { toHex } from '../errors/errors.ts';
import { matchPaths, NO_PATH } from '../hash/match-paths.ts';
import type { PadNames } from '../layout/padding.ts';
import { storedLinks } from '../model/stored-links.ts';
import { contentOf, rootAt, type TorrentContent } from '../model/torrent/content.ts';
import { type Torrent, TorrentBase } from '../model/torrent/torrent.ts';
import type { UpdateOptions, UpdateResult } from './update.ts';

/** The files of the torrent that is updated. */
export class KnownFiles {
  /** Whether the new torrent should end with a pad file, as the old one does. */
  readonly tailPad: boolean;
  readonly padNames: PadNames;
  /** BEP 47 flags of files, by path with `/`. */
  readonly attrs = new Map<string, string>();
  /** Targets of stored links, by path; both with `/`. */
  readonly links: ReadonlyMap<string, string>;
  readonly #content: TorrentContent;
  readonly #digests: StoredDigests;
  /** The times of files decide, instead of `#since`; undefined for none. */
  readonly #times: FileTimes | undefined;
  /** Files that were last changed before are unchanged: milliseconds since 1970. */
  readonly #since: number;

  constructor(torrent: Torrent, { since, fileTimes }: Pick<UpdateOptions, 'since' | 'fileTimes'>) {
    this.#content = contentOf(torrent);
    this.links = storedLinks(torrent);
    this.#times = since === undefined ? fileTimes : undefined;
    if (this.#times) requireTimesOf(torrent, this.#times);
    const madeAt = since === undefined ? torrent.creationDate : since;
    this.#since = since === null ? Infinity : (madeAt?.getTime() ?? -Infinity);
    this.#digests = new StoredDigests(torrent);
    this.tailPad = this.#digests.v1.tailPad;
    this.padNames = this.#content.padNames;
    for (const { path, attr } of this.#content.hasAttributes ? TorrentBase.filesOf(torrent) : []) {
      // Content is never padding (p).
      const flags = attr?.replaceAll('p', '');
      if (flags) this.attrs.set(path, flags);
    }
  }

  /** The digests of the files of a layout that are unchanged; null if all files must be read. */
  async find(layout: SizedLayout): Promise<KnownDigests | null> {
    const { files, paddedFiles, pieceLength } = layout;
    const indexes = await matchPaths(files.columns.paths, this.#content.paths);
    for (let i = 0; i < indexes.length; i += 1) {
      const old = indexes[i] as number;
      const isKnown =
        old !== NO_PATH && this.#isUnchanged(old, files, i) && this.#digests.has(old, layout, i < paddedFiles);
      if (!isKnown) indexes[i] = NO_PATH;
    }
    if (indexes.every((index) => index === NO_PATH)) return null;
    return {
      indexes,
      roots: this.#content.roots as Uint8Array,
      layerAt: (index) => this.#digests.layerAt(index, pieceLength),
      pieces: this.#digests.pieces,
      firstPieces: this.#digests.v1.firsts,
    };
  }

  /** How the files of the new torrent differ from those of the old one. */
  async changes(updated: Torrent): Promise<Pick<UpdateResult, 'added' | 'changed' | 'removed' | 'renamed'>> {
    const [old, now] = [this.#content, contentOf(updated)];
    const matches = await matchPaths(now.paths, old.paths);
    const isKept = new Uint8Array(old.lengths.length);
    for (let i = 0; i < matches.length; i += 1) isKept[matches[i] as number] = 1;
    const gone = indexesWhere(isKept.length, (index) => isKept[index] === 0);
    const fresh = indexesWhere(matches.length, (index) => matches[index] === NO_PATH);
    const renamed = renamedFiles({ content: old, indexes: gone }, { content: now, indexes: fresh });
    const [from, to] = [new Set(renamed.map((file) => file.from)), new Set(renamed.map((file) => file.to))];
    const links = storedLinks(updated);
    const hasOtherLink = (path: string) => this.links.get(path) !== links.get(path);
    const hasLinks = this.links.size + links.size > 0;
    const isChanged = (index: number) => {
      const before = matches[index] as number;
      if (before === NO_PATH) return false;
      if (hasLinks && hasOtherLink(now.pathAt(index))) return true;
      return now.lengths[index] !== old.lengths[before] || !isSameRoot(now, index, old, before);
    };
    return {
      added: fresh.map((index) => now.pathAt(index)).filter((path) => !to.has(path)),
      changed: indexesWhere(matches.length, isChanged).map((index) => now.pathAt(index)),
      removed: gone.map((index) => old.pathAt(index)).filter((path) => !from.has(path)),
      renamed,
    };
  }

  /** Compares mtime and ctime: programs set the mtime back, and moving an older file here changes only the ctime. */
  #isUnchanged(old: number, files: SizedLayout['files'], index: number): boolean {
    const { lengths, mtimes, ctimes } = files.columns;
    if (this.#content.lengths[old] !== lengths[index]) return false;
    const [mtime, ctime] = [mtimes[index] as number, ctimes[index] as number];
    if (this.#times) return this.#times.mtimeMs[old] === mtime && this.#times.ctimeMs[old] === ctime;
    return Math.max(mtime, ctime) < this.#since;
  }
}

function indexesWhere(count: number, isChosen: (index: number) => boolean): number[] {
  const indexes: number[] = [];
  for (let i = 0; i < count; i += 1) if (isChosen(i)) indexes.push(i);
  return indexes;
}

function isSameRoot(one: TorrentContent, index: number, other: TorrentContent, otherIndex: number): boolean {
  const [roots, others] = [one.roots as Uint8Array, other.roots as Uint8Array];
  for (let k = 0; k < 32; k += 1) if (roots[index * 32 + k] !== others[otherIndex * 32 + k]) return false;
  return true;
}

/** Some files of a torrent. */
interface SomeFiles {
  content: TorrentContent;
  indexes: readonly number[];
}

/** Pairs each new file with a removed file of the same content. */
function renamedFiles(removed: SomeFiles, added: SomeFiles): UpdateResult['renamed'] {
  const byRoot = new Map<string, string[]>();
  const hasRoot =
    ({ content }: SomeFiles) =>
    (index: number) =>
      (content.lengths[index] as number) > 0;
  for (const index of removed.indexes.filter(hasRoot(removed))) {
    const root = toHex(rootAt(removed.content, index));
    const paths = byRoot.get(root) ?? [];
    paths.push(removed.content.pathAt(index));
    byRoot.set(root, paths);
  }
  return added.indexes.filter(hasRoot(added)).flatMap((index) => {
    const from = byRoot.get(toHex(rootAt(added.content, index)))?.shift();
    return from ? [{ from, to: added.content.pathAt(index) }] : [];
  });
}
