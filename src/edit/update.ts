/** Updates a v2 or hybrid torrent to changed files: reads only new and changed files. */
import { lstat, stat } from 'node:fs/promises';
import nodePath from 'node:path';
import { contentKeys, knownValues } from '../create/assemble.ts';
import { TorrentCreate } from '../create/draft.ts';
import { type FileTimes, FileTimesStruct, fileTimesOf } from '../create/file-times.ts';
import { emit } from '../create/findings/warnings.ts';
import { type LaidOutAndHashed, layOutAndHash } from '../create/generate.ts';
import type { ReuseOptions } from '../create/known/known.ts';
import { type GenerateOptions, WITHOUT_REUSE } from '../create/options.ts';
import { FILTER, type ScanFilter, type ScanPolicies } from '../disk/scan.ts';
import { MetainfoError } from '../errors/errors.ts';
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
import { type Job, track } from '../jobs/track.ts';
import { AnyTorrent, type ReadOptions, type Torrent } from '../model/torrent/torrent.ts';
import { KnownFiles } from './known-files.ts';
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
