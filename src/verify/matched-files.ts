/** The files of a torrent and their counterparts on disk, however those were found. */
import type { ScannedFile } from '../disk/scan.ts';
import type { MetainfoError } from '../errors/errors.ts';
import type { FileRanges } from '../hash/addon.ts';
import type { RequestedFile, RequestedFiles } from '../hash/hash-request.ts';
import { RequestedTable, requestedPadFile } from '../hash/make-requested-files.ts';
import { NO_PATH } from '../hash/match-paths.ts';
import { systemPath } from '../hash/system-path.ts';
import { type DiskFiles, FileTable, type PathColumn, pathColumn } from '../layout/file-table.ts';
import { libtorrentPath, withoutBytes } from '../layout/libtorrent-names.ts';
import { safePaths, unsafeComponent } from '../layout/safe-path.ts';
import { contentOf, type TorrentContent } from '../model/lazy/content.ts';
import { type StoredNames, storedNames } from '../model/stored-names.ts';
import type { Torrent } from '../model/torrent/torrent.ts';
import { inNode } from '../platform/node.ts';

/** A regular file on disk. */
export interface DiskFile {
  /** Absolute, with symbolic links resolved; bytes that are not UTF-8 as in `nameText`. */
  diskPath: string;
  /** Bytes. */
  size: number;
  mtimeMs: number;
  ctimeMs: number;
  /** Its path from the folder, with `/`, if it was renamed. */
  foundAs?: string;
}

/** A file of a scan. */
export function diskFileAt(table: FileTable<ScannedFile>, index: number): DiskFile {
  const { diskPath, length, mtimeMs, ctimeMs } = table.at(index) as ScannedFile;
  return { diskPath, size: length, mtimeMs, ctimeMs };
}

/** A range of a file. */
export function rangeOf({ diskPath, size, mtimeMs }: DiskFile, offset: number, length: number): RequestedFile {
  return { path: systemPath(diskPath), offset, length, size, mtimeMs };
}

/** Something on disk that cannot be read as a file. */
export interface Unreadable {
  /** The reason, in words for the user. */
  problem: string;
  /** Whether there is no content that could be read. */
  isAbsent?: boolean;
  /** The system's error, where a system call failed. */
  error?: MetainfoError;
}

/** A file of a torrent and its counterpart on disk. */
export interface MatchedFile {
  /** In the torrent, from its root, with `/`. */
  path: string;
  /** Bytes, as the torrent says. */
  length: number;
  /** Null for a missing file. */
  onDisk: DiskFile | Unreadable | null;
}

/** The counterparts on disk of the files of a torrent. */
export interface FoundFiles {
  /** All files that were listed. */
  listed: DiskFiles;
  /**
   * For each file of the torrent, the index of its counterpart among those that were listed, or, beyond their number, among
   * `others`; {@link NO_PATH} for a missing file.
   */
  indexes: Uint32Array;
  /** Files that were found in other ways, and entries that cannot be read. */
  others: (DiskFile | Unreadable)[];
  /** The paths of other files in the same folder, with `/`. */
  extraFiles: string[];
}

/** The files of a torrent, in its order, and their counterparts on disk: in columns, because there may be a million. */
export class MatchedFiles {
  readonly content: TorrentContent;
  /** See {@link FoundFiles}. */
  readonly indexes: Uint32Array;
  /** How many bytes from the start of each file can be read. */
  readonly available: Float64Array;
  /** See {@link FoundFiles}. */
  readonly extraFiles: string[];
  /** A byte for each file: 1 for one that is verified. Null for all. Set it with {@link select}. */
  selected: Uint8Array | null = null;
  protected readonly listed: FileTable<ScannedFile>;
  protected readonly others: (DiskFile | Unreadable)[];

  constructor(torrent: Torrent, { listed, indexes, others, extraFiles }: FoundFiles) {
    this.content = contentOf(torrent);
    this.listed = new FileTable<ScannedFile>(listed);
    this.others = others;
    this.indexes = indexes;
    this.extraFiles = extraFiles;
    const { lengths } = this.content;
    this.available = lengths.map((length, i) => Math.max(0, Math.min(length, this.#sizeAt(i))));
  }

  /** Whether any counterpart was found in another way than by its name. */
  get hasOthers(): boolean {
    return this.others.length > 0;
  }

  get length(): number {
    return this.content.lengths.length;
  }

  /** When the content of the counterpart of a file changed last, if that was listed under the name of the file; else undefined. */
  listedMtimeAt(index: number): number | undefined {
    return this.content.links.has(index) ? undefined : this.listed.columns.mtimes[this.indexes[index] as number];
  }

  /** Whether the counterpart of a file has its size. */
  hasRightSize(index: number): boolean {
    return this.#sizeAt(index) === this.content.lengths[index];
  }

  /** Bytes of the counterpart of a file; -1 if there is none that can be read. */
  #sizeAt(index: number): number {
    const found = this.indexes[index] as number;
    if (this.content.links.has(index)) return found === NO_PATH ? -1 : (this.content.lengths[index] as number);
    const listed = this.listed.lengths[found];
    if (listed !== undefined) return listed;
    const other = this.others[found - this.listed.length];
    return other && 'size' in other ? other.size : -1;
  }

  /** The counterpart of a file; null for a missing one. */
  onDiskAt(index: number): DiskFile | Unreadable | null {
    const found = this.indexes[index] as number;
    if (found === NO_PATH) return null;
    // A symbolic link in a torrent has no content (BEP 47), so the target of the one on disk does not matter.
    if (this.content.links.has(index))
      return { diskPath: '', size: this.content.lengths[index] as number, mtimeMs: 0, ctimeMs: 0 };
    return this.foundAt(found);
  }

  /** Whether the counterpart of a file has content that cannot be read. */
  isUnreadable(index: number): boolean {
    const other = this.others[(this.indexes[index] as number) - this.listed.length];
    return other !== undefined && 'problem' in other && !other.isAbsent;
  }

  /** A counterpart by its index: see {@link FoundFiles}. */
  protected foundAt(found: number): DiskFile | Unreadable {
    return this.others[found - this.listed.length] ?? diskFileAt(this.listed, found);
  }

  at(index: number): MatchedFile {
    return {
      path: this.content.pathAt(index),
      length: this.content.lengths[index] as number,
      onDisk: this.onDiskAt(index),
    };
  }

  /** All files as an array. */
  rows(): MatchedFile[] {
    return Array.from({ length: this.length }, (_, i) => this.at(i));
  }

  /** Leaves out all but the selected files: null selects all. */
  select(selected: Uint8Array | null): void {
    this.selected = selected;
    for (const [i, isSelected] of selected?.entries() ?? []) if (isSelected === 0) this.available[i] = 0;
  }

  /** Notes that a file cannot be read. */
  leaveOut(index: number, problem: string): void {
    this.available[index] = 0;
    // The target of a link is never read.
    this.indexes[index] = this.listed.length + this.others.push({ problem }) - 1;
  }

  /** The files of a hash request: ranges of the files on disk, by {@link indexes}. */
  requested(ranges: FileRanges): RequestedFiles {
    const rangeAt = (i: number) => {
      const [found, length] = [ranges.files[i] as number, ranges.lengths[i] as number];
      if (found === NO_PATH) return requestedPadFile(length);
      return rangeOf(this.foundAt(found) as DiskFile, ranges.offsets[i] as number, length);
    };
    const native = { ...(this.listed.onDisk as DiskFiles), ranges };
    const table = new RequestedTable(ranges.lengths, native, rangeAt);
    // Native code takes the root as text.
    return this.others.length === 0 && native.root.isWellFormed() ? table : [...table];
  }
}

/** Where to look for each file: its path in the torrent, or in place of a path that could lead elsewhere, that of libtorrent. */
export function safeNames(torrent: Torrent): string[] {
  const { lengths, pathAt } = contentOf(torrent);
  const paths = Array.from(lengths, (_, i) => pathAt(i));
  // Reading the torrent warns of every unsafe path.
  if (torrent.warnings.length === 0) return paths;
  const isSafe = (path: string) => path.split('/').every((part) => unsafeComponent(part) === null);
  const safe = paths.every(isSafe) ? paths : libtorrentPaths(paths);
  return paths.map((path, i) => (isSafe(path) ? path : (safe[i] as string)));
}

/** The paths at which libtorrent stores files: with a number where two are the same for it. */
function libtorrentPaths(paths: readonly string[]): string[] {
  return Array.from(safePaths(paths.map((path) => libtorrentPath(path.split('/')))), (parts) => parts.join('/'));
}

/** The safe names of the files of a torrent, as a column. */
export function namesColumn(torrent: Torrent, namesOf: () => readonly string[]): PathColumn {
  // Without warnings, no path is unsafe.
  if (torrent.warnings.length === 0) return contentOf(torrent).paths;
  return pathColumn(namesOf().map((name) => name.replaceAll('/', '\0')));
}

/** The files of a table that are not among these indexes. */
export function othersIn(table: FileTable<ScannedFile>, indexes: Uint32Array): Listed['extra'] {
  const isMatched = new Uint8Array(table.length);
  for (let i = 0; i < indexes.length; i += 1) isMatched[indexes[i] as number] = 1;
  const others: Listed['extra'] = new Map();
  for (let i = isMatched.indexOf(0); i >= 0; i = isMatched.indexOf(0, i + 1)) others.set(table.pathAt(i), i);
  return others;
}

/** The torrent, and the safe names of its files. */
interface WantedNames {
  torrent: Torrent;
  names: readonly string[];
}

/**
 * Leaves a file on disk to the first of several files that have its path: a torrent that is not quite valid, or whose names are not UTF-8,
 * may show one name twice.
 */
export function withoutRepeats(indexes: Uint32Array, { warnings }: Torrent): Uint32Array {
  if (warnings.length === 0) return indexes;
  const taken = new Set<number>();
  return indexes.map((index) => {
    if (taken.has(index)) return NO_PATH;
    taken.add(index);
    return index;
  });
}

/** Gives the indexes of the files that were found under other names, behind those that are listed. */
export function indexOthers(
  indexes: Uint32Array,
  { found, table }: Pick<Listed, 'found' | 'table'>,
): (DiskFile | Unreadable)[] {
  const others: (DiskFile | Unreadable)[] = [];
  for (const [i, entry] of found) indexes[i] = table.length + others.push(entry) - 1;
  return others;
}

/** The endings that clients give to files which are not complete: qBittorrent; Transmission and others; µTorrent. */
export const UNFINISHED_ENDINGS = ['.!qB', '.part', '.!ut'];

/** A number before the ending of a name, or at its end. */
const HAS_NUMBER = /\.\d+(\.[^./\n]*)?$/m;

/** The names that libtorrent makes of bytes that are not UTF-8, in both ways. */
function namesWithoutBytes({ paths }: StoredNames): string[][] {
  return (['bytes', 'sequences'] as const).map((unit) =>
    libtorrentPaths(paths.map((path) => path.replace(/[^/]+/g, (part) => withoutBytes(part, unit)))),
  );
}

/** Finds other paths under which clients leave a file: for the index of a file, the most likely one first. */
function otherNames({ torrent, names }: WantedNames, extra: readonly string[]): (index: number) => string[] {
  // The names of a page's files are text.
  const stored = inNode() ? storedNames(torrent) : null;
  const numbered = torrent.warnings.length > 0 ? [torrent.safePaths] : [];
  // To make all of these takes a while.
  if (HAS_NUMBER.test(extra.join('\n'))) numbered.push(libtorrentPaths(names));
  if (inNode() && stored) numbered.push(...namesWithoutBytes(stored));
  // The name of the file in the tree may be another one than that of the torrent.
  const only = names.length === 1 && torrent.torrentVersion === 'v2' ? [torrent.name] : [];
  return (index) => {
    const name = names[index] as string;
    const changed = libtorrentPath(name.split('/')).join('/');
    const all = [stored?.paths[index] ?? name, ...only, changed, ...numbered.map((paths) => paths[index] as string)];
    const others = all.filter((other) => other !== name);
    return [...others, ...[name, ...others].flatMap((other) => UNFINISHED_ENDINGS.map((ending) => other + ending))];
  };
}

/** A folder as {@link filesIn} has listed it. */
interface Listed {
  /** Files that were found under another name, by their indexes in the torrent. */
  found: Map<number, DiskFile | Unreadable>;
  /** The files that no name of the torrent fits, with their indexes; null for a link and the like. */
  extra: Map<string, number | null>;
  table: FileTable<ScannedFile>;
}

/** Looks for missing files under other names, and under names that differ only in their Unicode form. They are no extra files then. */
export function findUnderOtherNames(
  wanted: WantedNames,
  missing: readonly number[],
  { found, extra, table }: Listed,
): void {
  const { names } = wanted;
  if (extra.size === 0 || missing.length === 0) return;
  const othersOf = otherNames(wanted, [...extra.keys()]);
  let composed: Map<string, string> | null = null;
  for (const i of missing) {
    const name = names[i] as string;
    if (found.has(i)) continue;
    let other = othersOf(i).find((path) => extra.has(path));
    if (other === undefined) {
      composed ??= new Map([...extra.keys()].map((path) => [path.normalize('NFC'), path]));
      other = composed.get(name.normalize('NFC'));
    }
    const index = other === undefined ? null : extra.get(other);
    if (other === undefined || index == null) continue;
    found.set(i, { ...diskFileAt(table, index), foundAs: other });
    extra.delete(other);
  }
}
