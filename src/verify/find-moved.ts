/** Finds content that was renamed or moved: files of the same size as missing ones, with the hashes that the torrent has. */

import { stat } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import nodePath from 'node:path';
import { isWithin } from '../disk/path-within.ts';
import { realPath } from '../disk/real-path.ts';
import { type ScannedFile, scan } from '../disk/scan.ts';
import { isTemporary } from '../disk/write-file.ts';
import { fromSystemError, type MetainfoError, requirePath, toHex } from '../errors/errors.ts';
import { checkArgument, checkOptions, List } from '../errors/guard.ts';
import { defaultEngine } from '../hash/default-engine.ts';
import { checkedResources, type RequestedFile } from '../hash/hash-request.ts';
import type { Slot } from '../hash/limiter.ts';
import { requestedPadFile } from '../hash/make-requested-files.ts';
import { jobLimiter, LARGE_JOB_BYTES } from '../jobs/job-limiter.ts';
import { watch } from '../jobs/watch.ts';
import { FileTable } from '../layout/file-table.ts';
import { HashList } from '../model/hash-list.ts';
import type { InfoDictV1 } from '../model/info-dict.ts';
import { AnyTorrent, type Torrent, TorrentBase } from '../model/torrent/torrent.ts';
import { systemPath } from '../text/name-bytes.ts';
import { bytesOf, CandidateHashes, type CandidateHashing, type CandidateRange } from './candidates.ts';
import { type DiskFile, diskFileAt, diskNames, type MatchedFile, rangeOf, statFile } from './match-files.ts';
import { depthOf, NearestFiles } from './nearest.ts';
import { type PieceLayout, v1PieceLayout, v2PieceLayout } from './piece-layout.ts';
import { reportOf, type VerifiedFile, type VerifyReport } from './report.ts';
import { VERIFY, type VerifyOptions, verify } from './verify.ts';

/** Options of {@link findMoved}. */
export type FindMovedOptions = Omit<VerifyOptions, 'beneath'>;

const { beneath: _, ...FIND } = VERIFY;

/** A file of a torrent that was found under another path. */
export interface MovedFile {
  /** From the torrent's root, with `/`. */
  path: string;
  /** Where the torrent wants it: absolute. */
  to: string;
  /** Where it is: absolute. */
  from: string;
  /** Other files with the same content, absolute: at most 100. */
  also: string[];
  /** The file at `from` as it was hashed: {@link placeMoved} refuses any other. */
  hashed: {
    /** Bytes. */
    size: number;
    /** When its content changed last, in milliseconds since 1970. */
    mtimeMs: number;
    /** When its content or its status changed last, in the same way. */
    ctimeMs: number;
  };
  /**
   * `root`: the whole file has the pieces root of the torrent (v2). `pieces`: all pieces that lie within the file are good (v1), or
   * those of a smaller file together with its neighbors, which are in place.
   */
  proof: 'root' | 'pieces';
  /** Whether `from` is in its place for another path of the torrent, or is the only file for another one too. */
  isShared: boolean;
}

/** A file that no hash of the torrent can tell from others of its size: a small file of a v1 torrent, next to others that are missing. */
export interface UnprovenFile {
  /** From the torrent's root, with `/`. */
  path: string;
  /** Files of the same size, absolute: at most 100. */
  candidates: string[];
}

/** The result of {@link findMoved}. */
export interface FoundContent {
  /** The verification of the content as it is. If `path` does not exist, everything is missing. */
  report: VerifyReport;
  /** The files that were found, in the torrent's order. */
  moved: MovedFile[];
  /** Missing files that are empty, from the torrent's root, with `/`; and where the torrent wants them. */
  empty: Pick<MovedFile, 'path' | 'to'>[];
  /** Files that cannot be told from others. */
  unproven: UnprovenFile[];
  /** Files that were not found, from the torrent's root, with `/`. */
  notFound: string[];
  /**
   * Files and folders that could not be searched, absolute: what is missing may be there. The error is `ERR_NAME` for a name that
   * no torrent can hold, such as one that is not UTF-8, `ERR_UNREADABLE`, `ERR_READ` or `ERR_FILE_CHANGED`.
   */
  skipped: {
    /** The file or folder, absolute. */
    path: string;
    /** Why it could not be searched. */
    error: MetainfoError;
  }[];
  /** The root of the torrent on disk, absolute: where {@link placeMoved} may write. */
  root: string;
  /** Bytes of candidates that were read. */
  bytesRead: number;
}

/** The most other files that are listed for a file. */
const MAX_LISTED = 100;

/**
 * Verifies content, and looks for each missing or damaged file: among files of the same size in some folders and in the folder of
 * the content itself. It reads only such files. Nothing is changed: {@link placeMoved} does that.
 *
 * @param torrent The torrent to verify against.
 * @param path As in {@link verify}; it may be absent.
 * @param folders Folders to look in, and single files. Links in them are not followed, and unreadable folders are `skipped`.
 * @throws {MetainfoError} `ERR_NOT_FOUND` or `ERR_UNREADABLE` for one of `folders` itself; every error of {@link verify}
 * @example
 * ```ts
 * import { rename } from 'node:fs/promises';
 * import { findMoved, placeMoved, Torrent } from 'metainfo';
 *
 * const torrent = await Torrent.read('album.torrent');
 * await rename('album/01 fifth.wav', 'album/first track.wav');
 * const found = await findMoved(torrent, 'album', []);
 * for (const { path, proof } of found.moved) console.log(path, proof);
 * const { failed } = await placeMoved(found, 'rename');
 * console.log(failed.length);
 * ```
 *
 * ```text
 * 01 fifth.wav root
 * 0
 * ```
 */
export async function findMoved(
  torrent: Torrent,
  path: string,
  folders: readonly string[],
  options: FindMovedOptions = {},
): Promise<FoundContent> {
  checkArgument('torrent', torrent, AnyTorrent);
  requirePath(path);
  checkArgument('folders', folders, List);
  folders.forEach(requirePath);
  const checked = checkOptions(options, FIND);
  // Before the verification, which may take hours. Without missing files, nothing else would look at the folders.
  for (const folder of folders)
    await stat(folder).catch((error: unknown) => {
      throw fromSystemError(error, folder, 'read');
    });
  const place = await placeOf(torrent, path);
  const report = place.exists ? await verify(torrent, path, checked) : nothingOf(torrent);
  return jobLimiter.run(checked.signal, async (slot) => {
    const search = new Search(torrent, { place, report, options: checked, slot });
    return search.run(place.exists && place.isFolder ? [path, ...folders] : folders);
  });
}

/** Where the content of a torrent is, or will be. */
export interface Place {
  exists: boolean;
  isFolder: boolean;
  /** Absolute. */
  root: string;
  /** The absolute path of each file of the torrent. */
  targets: string[];
}

/** Finds out where the content of a torrent is, or will be. */
export async function placeOf(torrent: Torrent, path: string): Promise<Place> {
  const status = await stat(systemPath(path)).catch(() => null);
  const isSingleFile = torrent.nFiles === 1 && torrent.files[0]?.path === torrent.info.name;
  const isFolder = status ? status.isDirectory() : !isSingleFile;
  const root = status ? await realPath(path) : nodePath.resolve(path);
  const targets = isFolder ? diskNames(torrent).map((name) => nodePath.join(root, ...name.split('/'))) : [root];
  return { exists: status !== null, isFolder, root: isFolder ? root : nodePath.dirname(root), targets };
}

/** The empty files of a torrent that are not there; stored links are no such files. */
export function missingEmpty({ files }: Torrent, report: VerifyReport, { targets }: Place): FoundContent['empty'] {
  return report.files.flatMap(({ path, length, status }, i) =>
    length === 0 && status !== 'complete' && !files[i]?.attr?.includes('l') ? [{ path, to: targets[i] as string }] : [],
  );
}

/** The report of content that does not exist. */
function nothingOf(torrent: Torrent): VerifyReport {
  const files = TorrentBase.filesOf(torrent).map(
    ({ path, length, piecesRoot }): MatchedFile => ({ path, length, piecesRoot, onDisk: null, available: 0 }),
  );
  const map =
    torrent.torrentVersion === 'v2' ? v2PieceLayout(files, torrent.info.pieceLength) : v1PieceLayout(torrent, files);
  const good = new Uint8Array(map.pieceCount);
  return reportOf(torrent, { files, extraFiles: [] }, map, { good, sample: null });
}

/** A file that is missing or damaged. */
interface Wanted {
  path: string;
  to: string;
  length: number;
  /** The files that have its content. Wanted files of the same content share one list. */
  proven: Candidate[];
}

/** A file that has the size of a wanted one. */
interface Candidate {
  file: DiskFile;
  /** The index of the torrent's file in whose place it is; null for a file elsewhere. */
  owner: number | null;
  /** Whether it stays there: it has the content of its owner, or nothing shows that it has another one. */
  isInPlace: boolean;
}

interface SearchOptions {
  place: Place;
  report: VerifyReport;
  options: FindMovedOptions;
  slot: Slot;
}

/** The problems of entries that are no files, or are gone. */
const NO_CANDIDATES = ['ERR_BROKEN_LINK', 'ERR_NOT_A_FILE', 'ERR_NOT_FOUND'];

/** One search for all files that are missing or damaged. */
class Search {
  readonly #torrent: Torrent;
  readonly #place: Place;
  readonly #report: VerifyReport;
  readonly #options: FindMovedOptions;
  readonly #slot: Slot;
  /** By the index of the file in the torrent. */
  readonly #wanted = new Map<number, Wanted>();
  readonly #bySize = new Map<number, Candidate[]>();
  /** The paths of all candidates: the folders may overlap. */
  readonly #known = new Set<string>();
  /** The indexes of files in the torrent that have the right size, by their real paths. */
  readonly #owners = new Map<string, number>();
  /** By path: the folders may overlap. */
  readonly #skipped = new Map<string, MetainfoError>();
  #bytesRead = 0;

  constructor(torrent: Torrent, { place, report, options, slot }: SearchOptions) {
    this.#torrent = torrent;
    this.#place = place;
    this.#report = report;
    this.#options = options;
    this.#slot = slot;
    for (const [i, { path, length, status, foundAs }] of report.files.entries()) {
      const isLink = torrent.files[i]?.attr?.includes('l') ?? false;
      const isInPlace = status === 'complete' && foundAs === undefined;
      if (isInPlace || length === 0 || isLink) continue;
      this.#wanted.set(i, { path, to: place.targets[i] as string, length, proven: [] });
      this.#bySize.set(length, []);
    }
  }

  async run(folders: readonly string[]): Promise<FoundContent> {
    if (this.#wanted.size > 0) {
      await this.#findOwners();
      for (const folder of folders) await this.#collect(folder);
    }
    const unproven = this.#torrent.torrentVersion === 'v1' ? await this.#clearBadV1() : await this.#clearBadV2();
    this.#leaveOutOwners();
    const wanted = [...this.#wanted.values()];
    const proof = this.#torrent.torrentVersion === 'v1' ? 'pieces' : 'root';
    const moved = chosen(wanted, proof, this.#place.isFolder ? this.#place.root : null);
    const unprovenPaths = new Set(unproven.map(({ path }) => path));
    return {
      report: this.#report,
      moved,
      empty: missingEmpty(this.#torrent, this.#report, this.#place),
      unproven,
      notFound: wanted
        .filter(({ path, proven }) => proven.length === 0 && !unprovenPaths.has(path))
        .map(({ path }) => path),
      skipped: [...this.#skipped].map(([path, error]) => ({ path, error })),
      root: this.#place.root,
      bytesRead: this.#bytesRead,
    };
  }

  /** Notes the files in their places that have a wanted size. */
  async #findOwners(): Promise<void> {
    for (const [i, { status, length }] of this.#report.files.entries()) {
      if ((status !== 'complete' && status !== 'partial') || !this.#bySize.has(length)) continue;
      const real = await realPath(this.#place.targets[i] as string).catch(() => null);
      if (real === null) continue;
      // Links may lead from several places to one file: it belongs where it is good.
      if (status === 'complete' || !this.#owners.has(real)) this.#owners.set(real, i);
    }
  }

  /** Files that are good in their own places: in v1, they share damaged pieces with other files. */
  #leaveOutOwners(): void {
    const lists = new Set([...this.#wanted.values()].map(({ proven }) => proven));
    for (const proven of lists) {
      for (const candidate of proven) {
        const { owner } = candidate;
        if (owner === null || this.#wanted.get(owner)?.proven !== proven) continue;
        candidate.isInPlace = true;
        this.#wanted.delete(owner);
      }
    }
  }

  /** Adds the files of a folder that have a wanted size. */
  async #collect(folder: string): Promise<void> {
    const scanned = await scan(nodePath.resolve(folder), null, {
      symlinks: 'skip',
      systemFiles: true,
      anyNames: true,
      signal: this.#options.signal,
      slot: this.#slot,
      onProblem: (error) => this.#skip(error),
    });
    const table = new FileTable<ScannedFile>(scanned);
    for (const [i, length] of table.lengths.entries()) {
      const candidates = this.#bySize.get(length);
      if (!candidates) continue;
      const file = diskFileAt(table, i);
      if (this.#known.has(file.diskPath)) continue;
      this.#known.add(file.diskPath);
      const owner = this.#owners.get(file.diskPath) ?? null;
      const isInPlace = owner !== null && this.#report.files[owner]?.status === 'complete';
      candidates.push({ file, owner, isInPlace });
    }
  }

  /** Notes an entry that may be wanted but cannot be compared. A FIFO or a broken link is no candidate. */
  #skip(error: MetainfoError): void {
    if (error.path !== undefined && !NO_CANDIDATES.includes(error.code)) this.#skipped.set(error.path, error);
  }

  /** Compares whole files with pieces roots. */
  async #clearBadV2(): Promise<UnprovenFile[]> {
    const byRoot = new Map<string, Candidate[]>();
    const files = TorrentBase.filesOf(this.#torrent);
    for (const [i, wanted] of this.#wanted) shareList(wanted, byRoot, toHex(files[i]?.piecesRoot as Uint8Array));
    const compare = (candidate: Candidate, root: Uint8Array | null | undefined) => {
      if (root) byRoot.get(toHex(root))?.push(candidate);
    };
    const candidates = [...this.#bySize.values()].flat();
    // The verification has read those that are in their place.
    for (const one of candidates) if (one.isInPlace) compare(one, files[one.owner as number]?.piecesRoot);
    const others = candidates.filter(({ isInPlace }) => !isInPlace);
    const ranges = others.map(({ file }) => ({ file, offset: 0, length: file.size }));
    for (const [i, root] of (await this.#hash(ranges, 'v2')).entries()) compare(others[i] as Candidate, root);
    return [];
  }

  /** Compares the pieces that lie within one file: first one of each candidate, then all of those that may be the file. */
  async #clearBadV1(): Promise<UnprovenFile[]> {
    const map = v1PieceLayout(this.#torrent, this.#report.files);
    const groups = new Map<string, { span: Span; wanted: { wanted: Wanted; first: number }[] }>();
    const small: number[] = [];
    const entries = new Int32Array(this.#report.files.length);
    for (const [entry, file] of map.fileIndexes.entries()) if (file !== -1) entries[file] = entry;
    for (const [index, wanted] of this.#wanted) {
      const span = spanOf(map, entries[index] as number);
      if (!span) {
        small.push(index);
        continue;
      }
      const { first, ...rest } = span;
      const key = JSON.stringify([wanted.length, rest]);
      const group = groups.get(key) ?? { span, wanted: [] };
      group.wanted.push({ wanted, first });
      groups.set(key, group);
    }
    for (const { span, wanted } of groups.values()) await this.#compareGroup(span, wanted, map);
    const unproven: UnprovenFile[] = [];
    for (const index of small) {
      const wanted = this.#wanted.get(index) as Wanted;
      const candidates = (this.#bySize.get(wanted.length) ?? []).slice(0, MAX_LISTED);
      await this.#compareSmall(wanted, { map, entry: entries[index] as number, candidates });
      if (candidates.length > 0 && wanted.proven.length === 0)
        unproven.push({ path: wanted.path, candidates: candidates.map(({ file }) => file.diskPath) });
    }
    // A small file may be good where it is, unless it is another one.
    const others = small.flatMap(
      (index) => this.#wanted.get(index)?.proven.filter(({ owner }) => owner !== index) ?? [],
    );
    const [isSmall, isOther] = [new Set(small), new Set(others)];
    for (const one of [...this.#bySize.values()].flat())
      if (one.owner !== null && isSmall.has(one.owner)) one.isInPlace = !isOther.has(one);
    return unproven;
  }

  /** Compares candidates for a file without a piece of its own: with the pieces that it shares, if the rest of them is there. */
  async #compareSmall(
    wanted: Wanted,
    { map, entry, candidates }: { map: PieceLayout; entry: number; candidates: readonly Candidate[] },
  ): Promise<void> {
    const { pieceLength, starts, lengths } = map;
    const start = starts[entry] as number;
    const end = start + (lengths[entry] as number);
    const [first, last] = [Math.floor(start / pieceLength), Math.ceil(end / pieceLength)];
    const from = first * pieceLength;
    const to = Math.min(last * pieceLength, map.end);
    let firstEntry = entry;
    while ((starts[firstEntry] as number) > from) firstEntry -= 1;
    const before = candidates.length > 0 ? await this.#contentBetween(map, firstEntry, [from, start]) : null;
    const after = before && (await this.#contentBetween(map, entry + 1, [end, to]));
    if (!before || !after) return;
    const isLast = to === map.end;
    const ranges = candidates.map(
      ({ file }): CandidateRange => ({ file, offset: 0, length: file.size, before, after, isLast }),
    );
    const expected = this.#expected(first, last - first);
    for (const [i, hashes] of (await this.#hash(ranges, 'v1')).entries())
      if (hashes && toHex(hashes) === expected) wanted.proven.push(candidates[i] as Candidate);
  }

  /**
   * The content from one offset to another: files in their places and pad files; null if some of it is not there.
   *
   * @param firstEntry The entry at the first offset.
   */
  async #contentBetween(
    map: PieceLayout,
    firstEntry: number,
    [from, to]: readonly [from: number, to: number],
  ): Promise<RequestedFile[] | null> {
    const content: RequestedFile[] = [];
    for (let entry = firstEntry; entry < map.starts.length; entry += 1) {
      const [start, length] = [map.starts[entry] as number, map.lengths[entry] as number];
      if (start >= to) break;
      const first = Math.max(from, start);
      const bytes = Math.min(to, start + length) - first;
      const index = map.fileIndexes[entry] as number;
      const file = index < 0 ? null : await this.#fileInPlace(index);
      if (index >= 0 && (!file || first - start + bytes > file.size)) return null;
      content.push(file ? rangeOf(file, first - start, bytes) : requestedPadFile(bytes));
    }
    return content;
  }

  /** The file that has the content of a file of the torrent: in its place or, if it was proven, elsewhere. */
  async #fileInPlace(index: number): Promise<DiskFile | null> {
    const proven = this.#wanted.get(index)?.proven[0];
    if (proven) return proven.file;
    const { status, foundAs } = this.#report.files[index] as VerifiedFile;
    if (status === 'missing' || status === 'unreadable') return null;
    const target = this.#place.targets[index] as string;
    const path = await realPath(foundAs === undefined ? target : nodePath.join(this.#place.root, foundAs)).catch(
      () => null,
    );
    const file = path === null ? null : await statFile(path);
    return file && 'size' in file ? file : null;
  }

  /** Compares all candidates of a size with all files whose pieces lie at the same offsets. */
  async #compareGroup(span: Span, wanted: { wanted: Wanted; first: number }[], map: PieceLayout): Promise<void> {
    let candidates = this.#bySize.get((wanted[0] as { wanted: Wanted }).wanted.length) ?? [];
    const { count, offset, length, after, isLast } = span;
    if (count > 1) {
      const firsts = candidates.map(({ file }) => ({ file, offset, length: map.pieceLength }));
      const hashes = await this.#hash(firsts, 'v1');
      const possible = new Set(wanted.map(({ first }) => this.#expected(first, 1)));
      candidates = candidates.filter((_, i) => hashes[i] && possible.has(toHex(hashes[i])));
    }
    const ranges = candidates.map(({ file }): CandidateRange => ({ file, offset, length, after, isLast }));
    const byHashes = new Map<string, Candidate[]>();
    for (const { wanted: one, first } of wanted) shareList(one, byHashes, this.#expected(first, count));
    for (const [i, hashes] of (await this.#hash(ranges, 'v1')).entries())
      if (hashes) byHashes.get(toHex(hashes))?.push(candidates[i] as Candidate);
  }

  /** The v1 hashes of consecutive pieces in the torrent. */
  #expected(first: number, count: number): string {
    const hashes = HashList.viewOf((this.#torrent.info as InfoDictV1).pieces);
    return toHex(hashes.subarray(first * 20, (first + count) * 20));
  }

  async #hash(ranges: readonly CandidateRange[], version: 'v1' | 'v2'): Promise<(Uint8Array | null)[]> {
    if (ranges.length === 0) return [];
    const { engine = defaultEngine(), signal, progress = false, onProgress } = this.#options;
    const total = ranges.reduce((sum, range) => sum + bytesOf(range), 0);
    this.#bytesRead += total;
    if (total > LARGE_JOB_BYTES) this.#slot.release();
    const resources = checkedResources(this.#options, version, availableParallelism());
    const { pieceLength } = this.#torrent.info;
    const onUnreadable = (error: MetainfoError) => this.#skip(error);
    const hashing: CandidateHashing = { engine, version, pieceLength, resources, onUnreadable };
    return watch(() => new CandidateHashes(ranges, hashing), { signal, progress, onProgress });
  }
}

/** Gives a wanted file the list of those with the same hashes. */
function shareList(wanted: Wanted, byHashes: Map<string, Candidate[]>, hashes: string): void {
  wanted.proven = byHashes.get(hashes) ?? wanted.proven;
  byHashes.set(hashes, wanted.proven);
}

/** The pieces that lie within one file of a v1 torrent, apart from pad files. */
interface Span {
  /** The first piece. */
  first: number;
  /** The number of pieces. */
  count: number;
  /** Where the first piece starts in the file, in bytes. */
  offset: number;
  /** Bytes of the file in these pieces. */
  length: number;
  /** The pad files in the last piece, as one. */
  after: RequestedFile[];
  /** Whether the torrent ends with the last piece. */
  isLast: boolean;
}

/** The pieces within the file of an entry; null if there are none. */
function spanOf(map: PieceLayout, entry: number): Span | null {
  const { pieceLength, starts, lengths, fileIndexes, end: torrentEnd } = map;
  const start = starts[entry] as number;
  const end = start + (lengths[entry] as number);
  const first = Math.ceil(start / pieceLength);
  const offset = first * pieceLength - start;
  let next = entry + 1;
  while (next < fileIndexes.length && fileIndexes[next] === -1) next += 1;
  const pieceEnd = Math.ceil(end / pieceLength) * pieceLength;
  // Behind the file, there are only pad files up to here.
  const ownEnd = next < fileIndexes.length ? (starts[next] as number) : torrentEnd;
  const isLastOwn = ownEnd >= Math.min(pieceEnd, torrentEnd);
  const last = isLastOwn ? pieceEnd / pieceLength : Math.floor(end / pieceLength);
  const count = last - first;
  if (count <= 0) return null;
  const length = Math.min(end, last * pieceLength) - start - offset;
  const padding = isLastOwn ? Math.min(pieceEnd, torrentEnd) - end : 0;
  const after = padding > 0 ? [requestedPadFile(padding)] : [];
  return { first, count, offset, length, after, isLast: last * pieceLength >= torrentEnd };
}

/**
 * Chooses a file for each wanted path that was found. Files in the content's own folder come first, because a file elsewhere may
 * belong to another copy of the content. Among either, files of the same name come first.
 *
 * @param own The content's own folder; null if the content is a file.
 */
function chosen(wanted: readonly Wanted[], proof: MovedFile['proof'], own: string | null): MovedFile[] {
  const found = wanted.filter(({ proven }) => proven.length > 0);
  const targets = new Map<readonly Candidate[], string[]>();
  for (const { proven } of found) targets.set(proven, []);
  for (const { proven, to } of found) targets.get(proven)?.push(to);
  const equals = new Map([...targets].map(([proven, to]) => [proven, new EqualFiles(proven, own, to)]));
  const choices = new Map<Wanted, string>();
  const used = new Set<string>();
  for (const [rank, isNamed] of [
    [0, false],
    [1, true],
    [1, false],
    [2, true],
    [2, false],
  ] as const) {
    for (const one of found) {
      if (choices.has(one)) continue;
      const name = isNamed ? nodePath.basename(one.to) : null;
      const free = equals.get(one.proven)?.free[rank];
      const from = free?.nearest(one.to, name, (path) => !used.has(path)) ?? null;
      if (from === null) continue;
      choices.set(one, from);
      used.add(from);
    }
  }
  return found.map((one): MovedFile => {
    const equal = equals.get(one.proven) as EqualFiles;
    const from = choices.get(one) ?? (equal.shared.nearest(one.to, null, () => true) as string);
    const others = equal.paths.slice(0, MAX_LISTED + 1).filter((path) => path !== from);
    return {
      path: one.path,
      to: one.to,
      from,
      also: others.slice(0, MAX_LISTED),
      hashed: equal.hashed(from),
      proof,
      isShared: !choices.has(one),
    };
  });
}

/** The files of one content. */
class EqualFiles {
  /** First those that are in no place, and those with few folders before others. */
  readonly paths: readonly string[];
  /** The files that may be moved, by {@link rankOf}. */
  readonly free: readonly NearestFiles[];
  readonly #freePaths: readonly string[];
  readonly #targets: readonly string[];
  readonly #files: ReadonlyMap<string, DiskFile>;
  #shared: NearestFiles | null = null;

  /** @param targets The paths that want the content. */
  constructor(candidates: readonly Candidate[], own: string | null, targets: readonly string[]) {
    this.#targets = targets;
    this.#files = new Map(candidates.map(({ file }) => [file.diskPath, file]));
    const sorted = candidates
      .map(({ file: { diskPath }, isInPlace }) => ({ path: diskPath, depth: depthOf(diskPath), isInPlace }))
      .sort((a, b) => Number(a.isInPlace) - Number(b.isInPlace) || a.depth - b.depth || (a.path < b.path ? -1 : 1));
    this.paths = sorted.map(({ path }) => path);
    this.#freePaths = sorted.flatMap(({ path, isInPlace }) => (isInPlace ? [] : [path]));
    const ranks = this.#freePaths.map((path) => rankOf(path, own));
    this.free = [0, 1, 2].map((rank) => {
      return new NearestFiles(
        this.#freePaths.filter((_, i) => ranks[i] === rank),
        targets,
      );
    });
  }

  hashed(path: string): MovedFile['hashed'] {
    const { size, mtimeMs, ctimeMs } = this.#files.get(path) as DiskFile;
    return { size, mtimeMs, ctimeMs };
  }

  /** Files to link to once all free ones are chosen: those in their places only if there are no others. */
  get shared(): NearestFiles {
    this.#shared ??= new NearestFiles(this.#freePaths.length > 0 ? this.#freePaths : this.paths, this.#targets);
    return this.#shared;
  }
}

/**
 * The rank of a file among those that may be moved. First comes what a swap that was killed has left, so that another one finishes
 * its work, then other files in the content's own folder, then files elsewhere.
 */
function rankOf(path: string, own: string | null): 0 | 1 | 2 {
  if (own === null || !isWithin(own, path)) return 2;
  return isTemporary(nodePath.basename(path)) ? 0 : 1;
}
