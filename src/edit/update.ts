import { lstat, stat } from 'node:fs/promises';
import nodePath from 'node:path';
import { contentKeys } from '../create/assemble.ts';
import { TorrentCreate } from '../create/draft.ts';
import { type FileTimes, FileTimesStruct, fileTimesOf, requireTimesOf, timesAt } from '../create/file-times.ts';
import type { ContentFile } from '../create/find-files.ts';
import { type PlannedAndHashed, planAndHash } from '../create/generate.ts';
import { GENERATE, type GenerateOptions } from '../create/options.ts';
import type { SizedPlan } from '../create/plan.ts';
import { FILTER, type ScanFilter } from '../disk/scan.ts';
import { MetainfoError, requirePath, toHex } from '../errors/errors.ts';
import { checkArgument, checkOptions, DateTime, type OptionStructs, orNull, Unchecked } from '../errors/guard.ts';
import type { FileDigests, TreeDigests } from '../hash/file-digests.ts';
import { layerRoots, raisedRoot } from '../hash/merkle.ts';
import { firstUnaligned, type PadNames, padNamesOf, padsIn } from '../layout/padding.ts';
import { BLOCK_SIZE } from '../layout/piece-length.ts';
import type { InfoDictV1 } from '../model/info-dict.ts';
import { AnyTorrent, type ReadOptions, type Torrent, type TorrentFile } from '../model/torrent.ts';
import { replaceFields, withoutContent } from './replace-fields.ts';

/** What {@link update} reads, and how. */
export interface UpdateOptions
  extends Omit<GenerateOptions, 'version' | 'padding' | 'tailPad'>,
    Pick<ReadOptions, 'context'>,
    ScanFilter {
  /** Bytes. Default: that of the torrent. A larger one reads nothing more of a v2 torrent; v1 pieces are hashed anew. */
  pieceLength?: number | null | undefined;
  /**
   * When the torrent was made: files that were changed at that time or later are read. Null: files of the same path and size
   * are assumed to be unchanged.
   *
   * @default `fileTimes` decide; without them the creation date, and without that everything is read
   */
  since?: Date | null | undefined;
  /**
   * The times of the torrent's files when it was made, from `generateWithTimes`, {@link Updated} or {@link Upgraded}: files
   * with other times are read. `since` overrides them.
   */
  fileTimes?: FileTimes | undefined;
}

const { version: _, padding: __, tailPad: ___, ...OF_GENERATE } = GENERATE;
const UPDATE: OptionStructs<UpdateOptions> = {
  ...OF_GENERATE,
  ...FILTER,
  context: Unchecked,
  pieceLength: Unchecked,
  since: orNull(DateTime),
  fileTimes: FileTimesStruct,
};

/** A file that has another path than before. */
export interface Renamed {
  /** The old path, from the torrent's root with `/`. */
  from: string;
  /** The new one. */
  to: string;
}

/** A torrent of what is there now. */
export interface Updated {
  /** The new torrent. */
  torrent: Torrent;
  /** When its files were last changed, for the next {@link update}. */
  fileTimes: FileTimes;
  /** Bytes of content that were read. */
  bytesRead: number;
  /** Files that are new: paths from the torrent's root, with `/`. */
  added: string[];
  /** Files with other content than before. */
  changed: string[];
  /** Files that are gone. */
  removed: string[];
  /** Files that have another path, by their v2 hash: they were read. */
  renamed: Renamed[];
}

/**
 * The same torrent of other files: those that were added or changed since are read, and all others are taken from it. In
 * v2 a file's hashes do not depend on where it stands, and in a hybrid its v1 pieces are its own (BEP 52). What is not about files
 * stays byte for byte.
 *
 * @param pathRoot The folder, or the one file, absolute. All files beneath it are taken, as in a creation. Of a torrent of a
 *   single file it may be the folder that holds that file, as for `verify`.
 * @throws {MetainfoError} `ERR_INVALID_ARGUMENT` for a v1 torrent, or what is no path; `ERR_NOT_FOUND`; what {@link TorrentCreate.generate} throws
 */
export async function update(torrent: Torrent, pathRoot: string, given: UpdateOptions = {}): Promise<Updated> {
  checkArgument('torrent', torrent, AnyTorrent);
  requirePath(pathRoot);
  const { torrentVersion: version } = torrent;
  if (version === 'v1') {
    const message = 'The pieces of a v1 torrent depend on all files before them: upgrade it, or create it again.';
    throw new MetainfoError('ERR_INVALID_ARGUMENT', message);
  }
  const checked = checkOptions(given, UPDATE);
  const root = await contentRoot(torrent, pathRoot);
  const { pieceLength, include, exclude } = checked;
  const known = new KnownFiles(torrent, checked);
  const draft = new TorrentCreate({
    pathRoot: root,
    info: { name: torrent.info.name },
    pieceLength: pieceLength ?? torrent.info.pieceLength,
    include,
    exclude,
  });
  const result = await planAndHash(draft, {
    ...checked,
    version,
    tailPad: known.tailPad,
    padNames: checked.padNames ?? known.padNames,
    sources: [],
    otherFields: withoutContent(torrent),
    attrs: known.attrs,
    knownDigests: (plan) => known.find(plan),
  });
  const updated = withContent(torrent, result, checked);
  const { files } = result.plan;
  const changes = known.changes(files, updated);
  return { torrent: updated, fileTimes: fileTimesOf(files), bytesRead: result.bytesRead, ...changes };
}

function equalBytes(one: Uint8Array | null, other: Uint8Array | null): boolean {
  return Buffer.compare(one ?? Buffer.alloc(0), other ?? Buffer.alloc(0)) === 0;
}

/** The name of the one file of a torrent that has no folder; null for any other torrent. */
function singleOf({ files, nFiles, info }: Torrent): string | null {
  return nFiles === 1 && files[0]?.path === info.name ? info.name : null;
}

async function contentRoot(torrent: Torrent, pathRoot: string): Promise<string> {
  const single = singleOf(torrent);
  const status = single === null ? null : await stat(pathRoot).catch(() => null);
  if (single === null || !status?.isDirectory()) return pathRoot;
  const file = nodePath.join(pathRoot, single);
  // A name may lead anywhere in the compat profile.
  const isThere = nodePath.basename(file) === single && (await lstat(file).catch(() => null)) !== null;
  if (isThere) return file;
  const message = `${pathRoot} does not hold ${single}, the one file of the torrent: give the file, or create a torrent of the folder.`;
  throw new MetainfoError('ERR_NOT_FOUND', message, { path: file });
}

/** The torrent with other content; what is not about it stays byte for byte. */
function withContent(
  torrent: Torrent,
  { plan, digests, fileList }: PlannedAndHashed,
  options: Pick<ReadOptions, 'context'>,
): Torrent {
  const { info, pieceLayers } = contentKeys(plan, digests, fileList);
  return replaceFields(torrent, { info, top: new Map([['piece layers', pieceLayers]]), ...options });
}

/** A file of the torrent that is updated. */
interface OldFile {
  file: TorrentFile;
  /** When the file was last changed before the torrent was made, if that is known. */
  times: ReturnType<typeof timesAt>;
  /** v1: of its pieces the first, and whether the last is filled; null where there are none that are its own. */
  v1: { first: number; isPadded: boolean } | null;
}

/** What a torrent tells of files that are there. */
class KnownFiles {
  readonly tailPad: boolean;
  readonly padNames: PadNames;
  readonly attrs = new Map<string, string>();
  readonly #torrent: Torrent;
  readonly #files = new Map<string, OldFile>();
  /** Whether the times of the files decide, instead of `since`. */
  readonly #hasTimes: boolean;
  /** Files that were changed before are the same. */
  readonly #since: number;

  constructor(torrent: Torrent, { since, fileTimes }: Pick<UpdateOptions, 'since' | 'fileTimes'>) {
    this.#torrent = torrent;
    const times = since === undefined ? fileTimes : undefined;
    if (times) requireTimesOf(torrent, times);
    this.#hasTimes = times !== undefined;
    const madeAt = since === undefined ? torrent.creationDate : since;
    this.#since = since === null ? Infinity : (madeAt?.getTime() ?? -Infinity);
    const v1 = v1PiecesOf(torrent);
    this.tailPad = v1.tailPad;
    this.padNames = padNamesOf((torrent.info as Partial<InfoDictV1>).files ?? []);
    for (const [index, file] of torrent.files.entries()) {
      this.#files.set(file.path, { file, times: timesAt(times, index), v1: v1.places.get(file.path) ?? null });
      // A link has become what it leads to, and what is no pad cannot be one.
      const attr = file.attr?.replaceAll(/[lp]/g, '');
      if (attr) this.attrs.set(file.path, attr);
    }
  }

  find(plan: SizedPlan): (FileDigests | null)[] {
    return plan.files.map((file, index) => {
      const old = this.#files.get(file.path.join('/'));
      if (!old || old.file.length !== file.length || !this.#isSame(old, file)) return null;
      return this.#digestsOf(old, plan, index < plan.paddedFiles);
    });
  }

  changes(files: readonly ContentFile[], updated: Torrent): Pick<Updated, 'added' | 'changed' | 'removed' | 'renamed'> {
    const paths = new Set(files.map((file) => file.path.join('/')));
    const renamed = this.#renamed(updated, paths);
    const [from, to] = [new Set(renamed.map((one) => one.from)), new Set(renamed.map((one) => one.to))];
    return {
      added: [...paths].filter((path) => !this.#files.has(path) && !to.has(path)),
      changed: updated.files.filter((file) => this.#isChanged(file)).map(({ path }) => path),
      removed: [...this.#files.keys()].filter((path) => !paths.has(path) && !from.has(path)),
      renamed,
    };
  }

  #isChanged({ path, length, piecesRoot }: TorrentFile): boolean {
    const old = this.#files.get(path)?.file;
    return old !== undefined && (old.length !== length || !equalBytes(old.piecesRoot, piecesRoot));
  }

  /** Files that are gone, with the content of one that is new. */
  #renamed(updated: Torrent, paths: ReadonlySet<string>): Renamed[] {
    const gone = new Map<string, string[]>();
    for (const [path, { file }] of this.#files) {
      if (!file.piecesRoot || paths.has(path)) continue;
      const root = toHex(file.piecesRoot);
      gone.set(root, [...(gone.get(root) ?? []), path]);
    }
    return updated.files.flatMap(({ path, piecesRoot }) => {
      const from = piecesRoot && !this.#files.has(path) && gone.get(toHex(piecesRoot))?.shift();
      return from ? [{ from, to: path }] : [];
    });
  }

  /** The mtime alone may be that of an older file that was moved in, or have been set back. */
  #isSame({ times }: OldFile, { mtimeMs, ctimeMs }: ContentFile): boolean {
    if (this.#hasTimes) return times.mtimeMs === mtimeMs && times.ctimeMs === ctimeMs;
    return Math.max(mtimeMs as number, ctimeMs as number) < this.#since;
  }

  #digestsOf({ file, v1 }: OldFile, { version, pieceLength }: SizedPlan, isPadded: boolean): FileDigests | null {
    const tree = this.#treeOf(file, pieceLength);
    if (version === 'v2' || !tree) return tree && { ...tree, pieces: new Uint8Array() };
    const { info } = this.#torrent;
    const isFilled = file.length % pieceLength === 0 || v1?.isPadded === isPadded;
    if (info.pieceLength !== pieceLength || !v1 || !isFilled) return null;
    const count = Math.ceil(file.length / pieceLength);
    const { bytes } = (info as InfoDictV1).pieces;
    return { ...tree, pieces: bytes.subarray(v1.first * 20, (v1.first + count) * 20) };
  }

  #treeOf({ length, piecesRoot }: TorrentFile, pieceLength: number): TreeDigests | null {
    const none = new Uint8Array();
    if (length === 0) return { root: null, layer: none };
    // Links and damaged torrents that compat takes.
    if (!piecesRoot) return null;
    if (length <= pieceLength) return { root: piecesRoot, layer: none };
    const layer = this.#torrent.pieceLayers?.get(toHex(piecesRoot))?.bytes;
    const own = this.#torrent.info.pieceLength;
    if (!layer || own > pieceLength) return null;
    return { root: piecesRoot, layer: own === pieceLength ? layer : raisedLayer(layer, own, pieceLength) };
  }
}

/** A layer of longer pieces: each hash is the root above as many of the shorter ones as it holds (BEP 52). */
function raisedLayer(layer: Uint8Array, from: number, to: number): Uint8Array {
  const width = to / from;
  const groups: Uint8Array[] = [];
  for (let at = 0; at < layer.length; at += width * 32) groups.push(layer.subarray(at, at + width * 32));
  const roots = layerRoots(groups, from / BLOCK_SIZE);
  const last = (groups.at(-1) as Uint8Array).length / 32;
  const raised = raisedRoot(roots.subarray(-32), last * (from / BLOCK_SIZE), to / BLOCK_SIZE);
  return Buffer.concat([roots.subarray(0, -32), raised]);
}

interface V1Places {
  places: Map<string, NonNullable<OldFile['v1']>>;
  /** Whether the last file has a pad after it; true when that cannot be told. */
  tailPad: boolean;
}

/** Where the v1 pieces of files are, of a hybrid whose files begin with pieces. */
function v1PiecesOf({ info, torrentVersion }: Torrent): V1Places {
  const places: V1Places['places'] = new Map();
  const { files, pieceLength } = info as InfoDictV1;
  if (torrentVersion !== 'hybrid') return { places, tailPad: true };
  if (!files) {
    places.set(info.name, { first: 0, isPadded: false });
    return { places, tailPad: true };
  }
  if (firstUnaligned(files, pieceLength) >= 0) return { places, tailPad: true };
  const total = files.reduce((sum, { length }) => sum + length, 0);
  const isPad = padsIn(files, pieceLength);
  let start = 0;
  let end = 0;
  // Where the end needs no pad, a pad behind empty files tells that there would be none (see `withPads`).
  let isBehindEmpty = false;
  for (const [index, file] of files.entries()) {
    const { length, path } = file;
    if (isPad(file)) isBehindEmpty ||= files[index - 1]?.length === 0;
    else {
      end = start + length;
      // Before the next piece there are pads and empty files alone. At the end they may stop anywhere: such a piece is of no use.
      const isPadded = total >= Math.ceil(end / pieceLength) * pieceLength;
      if (isPadded || end === total) places.set(path.join('/'), { first: start / pieceLength, isPadded });
    }
    start += length;
  }
  // A file alone has none, whatever was asked for.
  return { places, tailPad: places.size === 1 || (end % pieceLength === 0 ? !isBehindEmpty : total > end) };
}
