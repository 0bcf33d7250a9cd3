/** Updates a v2 or hybrid torrent to changed files: reads only new and changed files. */
import { lstat, stat } from 'node:fs/promises';
import nodePath from 'node:path';
import { contentKeys, knownValues } from '../create/assemble.ts';
import { TorrentCreate } from '../create/draft.ts';
import { type FileTimes, FileTimesStruct, fileTimesOf, requireTimesOf } from '../create/file-times.ts';
import { type Finding, warning } from '../create/findings/findings.ts';
import { emit } from '../create/findings/warnings.ts';
import { type LaidOutAndHashed, layOutAndHash } from '../create/generate.ts';
import type { ReuseOptions } from '../create/known/known.ts';
import { StoredDigests } from '../create/known/stored-digests.ts';
import { type GenerateOptions, WITHOUT_REUSE } from '../create/options.ts';
import type { SizedLayout } from '../create/torrent-layout.ts';
import { FILTER, type ScanFilter, type ScanPolicies } from '../disk/scan.ts';
import { MetainfoError, toHex } from '../errors/errors.ts';
import {
  absolutePath,
  type Checked,
  checkArgument,
  checkedPath,
  checkOptions,
  DateTime,
  type OptionStructs,
  orNull,
  Unchecked,
} from '../errors/guard.ts';
import { isOwnEngine } from '../hash/engine.ts';
import type { DigestTable } from '../hash/file-digests.ts';
import { matchPaths, NO_PATH } from '../hash/match-paths.ts';
import { type Job, track } from '../jobs/track.ts';
import { pathAt } from '../layout/file-table.ts';
import type { PadNames } from '../layout/padding.ts';
import { contentOf, rootAt, storedLinks, type TorrentContent } from '../model/lazy/content.ts';
import { AnyTorrent, type ReadOptions, type Torrent, TorrentBase } from '../model/torrent/torrent.ts';
import { compareBytes } from '../platform/node.ts';
import { type ComparedContent, contentChanges } from './content-changes.ts';
import { replaceFields, withoutContent } from './replace-fields.ts';

/** Options of {@link update}. The new torrent is validated in `context`. */
export interface UpdateOptions
  extends Omit<GenerateOptions, 'version' | 'padding' | 'tailPad' | 'beneath' | keyof ReuseOptions>,
    Pick<ReadOptions, 'context'>,
    ScanFilter,
    Omit<ScanPolicies, 'symlinks'> {
  /**
   * Symbolic links in folders, as in a creation.
   *
   * @default 'store' for a torrent that has stored links, otherwise 'follow'
   */
  symlinks?: ScanPolicies['symlinks'];
  /**
   * Mark new files that are executable or hidden (BEP 47). Other files keep the flags that the torrent has.
   *
   * @default false
   */
  attributes?: boolean | undefined;
  /**
   * Bytes: a power of two, at least 16 KiB. For longer pieces than before, a v2 torrent needs no extra reads; a hybrid needs
   * all files to be read.
   *
   * @default the piece length of the torrent
   */
  pieceLength?: number | null | undefined;
  /**
   * When the torrent was made: files that were changed at that time or later are read. With null, files that have the same
   * path and size are assumed to be unchanged. A time in the future, also as the creation date, proves nothing: every file is read,
   * and `onWarning` is called.
   *
   * @default `fileTimes` decide; without them the creation date decides; without that every file is read
   */
  since?: Date | null | undefined;
  /**
   * The times of the torrent's files when it was made, from `generateWithTimes`, {@link UpdateResult} or {@link UpgradeResult}: files
   * with other times are read. `since` overrides them.
   */
  fileTimes?: FileTimes | undefined;
}

const { version: _, padding: __, tailPad: ___, beneath: ____, ...SHARED } = WITHOUT_REUSE;
const UPDATE: OptionStructs<UpdateOptions> = {
  ...SHARED,
  ...FILTER,
  // The draft checks these.
  symlinks: Unchecked,
  followOutside: Unchecked,
  skipUnreadable: Unchecked,
  hidden: Unchecked,
  systemFiles: Unchecked,
  attributes: Unchecked,
  context: Unchecked,
  pieceLength: Unchecked,
  since: orNull(DateTime),
  fileTimes: FileTimesStruct,
};

/** A file whose path has changed. Paths begin at the torrent's root, with `/`. */
export interface RenamedFile {
  /** The old path. */
  from: string;
  /** The new path. */
  to: string;
}

/** The result of {@link update}. Paths begin at the torrent's root, with `/`. */
export interface UpdateResult {
  /** The new torrent. */
  torrent: Torrent;
  /** When its files were last changed, for the next {@link update}. */
  fileTimes: FileTimes;
  /** Bytes of content that were read. */
  bytesRead: number;
  /** Paths of new files. */
  added: string[];
  /** Paths of files whose content has changed. */
  changed: string[];
  /** Paths of files that no longer exist. */
  removed: string[];
  /** New files with the content (pieces root) of a removed file. They were read like other new files. */
  renamed: RenamedFile[];
}

/**
 * Makes a new torrent of a folder whose files have changed. It reads new and changed files, and takes the hashes of all
 * others from the old torrent: in v2 and hybrid torrents they do not depend on the other files (BEP 52). Fields that do not
 * describe the content keep their bytes.
 *
 * @param torrent A v2 or hybrid torrent of the files as they were.
 * @param pathRoot The folder, or the file of a single-file torrent, or the folder that holds that file.
 *   All files below it are included, as in a creation.
 * @throws {MetainfoError} `ERR_INVALID_ARGUMENT` for a v1 torrent or an invalid option; `ERR_NOT_FOUND`; every error of
 *   {@link TorrentCreate.generate}
 * @example
 * ```ts
 * import path from 'node:path';
 * import { Torrent, update } from 'metainfo';
 *
 * const old = await Torrent.read('album.torrent');
 * const { torrent, added, changed, removed } = await update(old, path.resolve('album'), { threads: null });
 * console.log(added, changed, removed);
 * await torrent.write('album.torrent', { force: true });
 * ```
 */
export async function update(
  torrent: Torrent,
  pathRoot: string | URL,
  options: UpdateOptions = {},
): Promise<UpdateResult> {
  checkArgument('torrent', torrent, AnyTorrent);
  const given = absolutePath(checkedPath(pathRoot)) as string;
  const { torrentVersion: version } = torrent;
  if (version === 'v1') {
    const message = 'A v1 torrent cannot be updated, because its pieces span files: upgrade it, or create it again.';
    throw new MetainfoError('ERR_INVALID_ARGUMENT', message);
  }
  const checked = checkOptions(options, UPDATE);
  return track('update', (job) => updateTo(torrent, given, { ...checked, version, job }));
}

async function updateTo(
  torrent: Torrent,
  given: string,
  checked: Checked<UpdateOptions> & { version: 'v2' | 'hybrid'; job: Job },
): Promise<UpdateResult> {
  const root = await contentRoot(torrent, given);
  const { include, exclude, followOutside, skipUnreadable, hidden, systemFiles, attributes } = checked;
  const policies = { include, exclude, followOutside, skipUnreadable, hidden, systemFiles, attributes };
  const known = new KnownFiles(torrent, checked);
  if (known.warning) await (checked.onWarning ?? emit)(known.warning);
  const draft = new TorrentCreate({
    pathRoot: root,
    info: { name: torrent.info.name },
    pieceLength: checked.pieceLength ?? torrent.info.pieceLength,
    symlinks: checked.symlinks ?? (known.links.size > 0 ? 'store' : 'follow'),
    ...policies,
  });
  const hashed = await layOutAndHash(draft, {
    ...checked,
    tailPad: known.tailPad,
    padNames: checked.padNames ?? known.padNames,
    sources: [],
    keepsTorrent: known.hasPath,
    otherFields: withoutContent(torrent),
    attrs: known.attrs,
    knownDigests: (layout, digests) => known.find(layout, digests),
  });
  const updated = await replaceContent(torrent, hashed, checked);
  const changes = known.changes(updated, hashed);
  return { torrent: updated, fileTimes: fileTimesOf(hashed.layout.files), bytesRead: hashed.bytesRead, ...changes };
}

/** The path to scan: the file itself where a folder was given for a single-file torrent. */
async function contentRoot(torrent: Torrent, pathRoot: string): Promise<string> {
  const { nFiles, info } = torrent;
  const isSingleFile = nFiles === 1 && torrent.files[0]?.path === info.name;
  const status = isSingleFile ? await stat(pathRoot).catch(() => null) : null;
  if (!status?.isDirectory()) return pathRoot;
  const file = nodePath.join(pathRoot, info.name);
  // In the compat profile the name may hold separators and lead out of the folder.
  const exists = nodePath.basename(file) === info.name && (await lstat(file).catch(() => null)) !== null;
  if (exists) return file;
  const message = `${pathRoot} does not contain ${info.name}, the only file of the torrent: give that file, or create a torrent of the folder.`;
  throw new MetainfoError('ERR_NOT_FOUND', message, { path: file });
}

/** The torrent with other content. All other fields keep their bytes. */
async function replaceContent(
  torrent: Torrent,
  { layout, digests, fileList }: LaidOutAndHashed,
  { context, engine }: Pick<ReadOptions, 'context'> & Pick<GenerateOptions, 'engine'>,
): Promise<Torrent> {
  const content = await contentKeys(layout, digests, fileList);
  const isTrusted = context === undefined && (!engine || isOwnEngine(engine)) && torrent.warnings.length === 0;
  const made = isTrusted ? await knownValues(layout, content) : null;
  return replaceFields(torrent, {
    info: content.info,
    top: new Map([['piece layers', content.pieceLayers]]),
    made,
    context,
  });
}

/** The files of the torrent that is updated. */
class KnownFiles {
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
  /** Whether {@link find} has found each file unchanged: 1 if so. */
  #isFound: Uint8Array = new Uint8Array();
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
    this.padNames = this.#content.padNames();
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
    this.#isFound = new Uint8Array(this.#matches.length);
    for (let i = 0; i < this.#matches.length; i += 1) {
      const old = this.#matches[i] as number;
      const isKnown =
        old !== NO_PATH && this.#isUnchanged(old, files, i) && this.#digests.has(old, layout, i < paddedFiles);
      if (!isKnown) continue;
      digests.set(i, this.#digests.at(old, layout));
      this.#isFound[i] = 1;
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
        (this.#isFound[index] === 1 ||
          (now.lengths[index] === old.lengths[before] &&
            compareBytes(rootAt(now, index), rootAt(old, before)) === 0)) &&
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
