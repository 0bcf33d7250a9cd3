/** The digests that a torrent has of files that are unchanged on disk, and how the files differ from it. */
import { type FileTimes, requireTimesOf } from '../create/file-times.ts';
import { type Finding, warning } from '../create/findings/findings.ts';
import type { LaidOutAndHashed } from '../create/generate.ts';
import { StoredDigests } from '../create/known/stored-digests.ts';
import type { SizedLayout } from '../create/torrent-layout.ts';
import { toHex } from '../errors/errors.ts';
import type { DigestTable } from '../hash/file-digests.ts';
import { matchPaths, NO_PATH } from '../hash/match-paths.ts';
import { pathAt } from '../layout/file-table.ts';
import type { PadNames } from '../layout/padding.ts';
import { contentOf, rootAt, storedLinks, type TorrentContent } from '../model/lazy/content.ts';
import { type Torrent, TorrentBase } from '../model/torrent/torrent.ts';
import { compareBytes } from '../platform/node.ts';
import { type ComparedContent, contentChanges } from './content-changes.ts';
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
  /** Says that a time is in the future, so that all files are read. */
  readonly warning: Finding | null = null;
  readonly #content: TorrentContent;
  readonly #digests: StoredDigests;
  /** The index in the torrent of each file that {@link find} was given. */
  #matches: Uint32Array = new Uint32Array();
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
    // A clock was ahead: files that changed since have earlier times.
    if (!this.#times && madeAt !== null && this.#since > Date.now()) {
      this.#since = -Infinity;
      this.warning = futureDate(madeAt, since !== undefined);
    }
    this.#digests = new StoredDigests(torrent);
    this.tailPad = this.#digests.v1.tailPad;
    this.padNames = this.#content.padNames;
    for (const { path, attr } of this.#content.hasAttributes ? TorrentBase.filesOf(torrent) : []) {
      // Content is never padding (p).
      const flags = attr?.replaceAll('p', '');
      if (flags) this.attrs.set(path, flags);
    }
  }

  /** Whether the torrent has a file of this path, with `/`. */
  readonly hasPath = (path: string): boolean =>
    this.#content.lengths.some((_, index) => this.#content.pathAt(index) === path);

  /** Adds the digests of the files of a layout that are unchanged. */
  async find(layout: SizedLayout, digests: DigestTable): Promise<void> {
    const { files, paddedFiles } = layout;
    this.#matches = await matchPaths(files.columns.paths, this.#content.paths);
    for (let i = 0; i < this.#matches.length; i += 1) {
      const old = this.#matches[i] as number;
      const isKnown =
        old !== NO_PATH && this.#isUnchanged(old, files, i) && this.#digests.has(old, layout, i < paddedFiles);
      if (isKnown) digests.set(i, this.#digests.at(old, layout));
    }
  }

  /** How the files of the new torrent differ from those of the old one. */
  changes(updated: Torrent, made: LaidOutAndHashed): Pick<UpdateResult, 'added' | 'changed' | 'removed' | 'renamed'> {
    const onDisk = contentOnDisk(made);
    const [old, now] = [this.#content, onDisk ?? contentOf(updated)];
    const links = onDisk ? NO_LINKS : storedLinks(updated);
    const hasLinks = this.links.size + links.size > 0;
    const hasOtherLink = (index: number) => {
      const path = hasLinks ? now.pathAt(index) : '';
      return this.links.get(path) !== links.get(path);
    };
    const { added, changed, removed, renamed } = contentChanges<ComparedContent>(old, now, this.#matches, {
      isSame: (before, index) =>
        now.lengths[index] === old.lengths[before] &&
        compareBytes(rootAt(now, index), rootAt(old, before)) === 0 &&
        !hasOtherLink(index),
      keyOf: (content, index) => ((content.lengths[index] as number) > 0 ? toHex(rootAt(content, index)) : null),
    });
    return {
      added: added.map(now.pathAt),
      changed: changed.map(([, index]) => now.pathAt(index)),
      removed: removed.map(old.pathAt),
      renamed: renamed.map(([from, to]) => ({ from: old.pathAt(from), to: now.pathAt(to) })),
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

const NO_LINKS: ReturnType<typeof storedLinks> = new Map();

/** The files that were found in columns, none of which is a link; null for others. To read them from the new torrent takes longer. */
function contentOnDisk({ layout: { files }, digests: { v2 } }: LaidOutAndHashed): ComparedContent | null {
  if (!files.onDisk || !v2) return null;
  const { lengths, paths } = files.columns;
  return { lengths, roots: v2.roots, pathAt: (index) => pathAt(paths, index).join('/') };
}

function futureDate(date: Date, isOption: boolean): Finding {
  const what = isOption ? 'since' : 'The creation date';
  const message = `${what} ${date.toISOString()} is in the future, so it does not tell which files changed: all are read.`;
  const advice = isOption ? 'Give the time when the torrent was made.' : 'To read fewer, say when it was made: since.';
  return warning('future_date', null, message, { advice, option: { since: null } });
}
