/**
 * Takes the digests of files from other torrents that have files of the same size and name. A few pieces of each file are read as a
 * check: it does not find out a torrent that lies about other pieces.
 */
import { randomInt } from 'node:crypto';
import { stat } from 'node:fs/promises';
import path from 'node:path';
import { scan, scannedFiles } from '../../disk/scan.ts';
import { throwIfAborted } from '../../errors/cancel.ts';
import { MetainfoError } from '../../errors/errors.ts';
import { checkedPath } from '../../errors/guard.ts';
import { throwSystemError } from '../../errors/system-error.ts';
import type { DigestTable, FileDigests } from '../../hash/file-digests.ts';
import type { RequestedFile } from '../../hash/hash-request.ts';
import { toRequestedFile } from '../../hash/make-requested-files.ts';
import { raisedRoot } from '../../hash/merkle.ts';
import { runningJob, watch } from '../../jobs/watch.ts';
import { sumOf } from '../../layout/file-table.ts';
import { BLOCK_SIZE } from '../../layout/piece-length.ts';
import { PAD } from '../../model/lazy/content.ts';
import { Torrent, TorrentBase } from '../../model/torrent/torrent.ts';
import { compareBytes, concatBytes } from '../../platform/node.ts';
import { joinFirst } from '../../text/printable.ts';
import type { HashOptions } from '../hash-layout.ts';
import type { LaidOutFile, SizedLayout } from '../torrent-layout.ts';
import type { ReuseOptions, ReusePlan } from './known.ts';
import { StoredDigests } from './stored-digests.ts';

/** Different digests of one file, and files of one size and name: hostile torrents may have any number. */
const MAX_CANDIDATES = 16;
const NOTHING = new Uint8Array();

type Options = Pick<HashOptions, 'reuse' | 'reuseVerify' | 'signal'>;

/** The version and piece length of a torrent. */
type Format = NonNullable<ReusePlan['instead']>;

/** The digests that other torrents have for a layout. */
interface Candidates extends Pick<ReusePlan, 'torrents' | 'skipped'> {
  /** By file: the different digests of files with its size and name. Files that share pieces are one file, 0. */
  found: Map<number, FileDigests[]>;
  /** By format, as JSON: the files whose digests another format could take. */
  others: Map<string, Set<number>>;
}

/** A plan looks for them before the files are hashed. */
const candidates = new WeakMap<SizedLayout, Promise<Candidates>>();

function candidatesOf(layout: SizedLayout, options: Options): Promise<Candidates> {
  const known = candidates.get(layout) ?? findCandidates(layout, options);
  candidates.set(layout, known);
  return known;
}

/** Tells what a creation will take from other torrents, before content is read. */
export async function planReuse(layout: SizedLayout, options: Options): Promise<ReusePlan> {
  const { found, others, ...counts } = await candidatesOf(layout, options);
  const formats = [...others].map(([format, files]) => ({ format, ...sizesOf(layout, [...files]) }));
  const [most] = formats.sort((a, b) => b.bytes - a.bytes);
  const instead = found.size === 0 && most ? (JSON.parse(most.format) as Format) : null;
  return { ...counts, ...sizesOf(layout, [...found.keys()]), instead };
}

/** The files and bytes of some entries of {@link Candidates}. */
function sizesOf({ files, isAligned }: SizedLayout, indexes: readonly number[]): { files: number; bytes: number } {
  if (!isAligned && indexes.length > 0) return { files: files.length, bytes: files.totalLength };
  return { files: indexes.length, bytes: indexes.reduce((sum, index) => sum + (files.lengths[index] as number), 0) };
}

async function findCandidates(layout: SizedLayout, { reuse = [], reuseVerify, signal }: Options): Promise<Candidates> {
  const all: Candidates = { found: new Map(), others: new Map(), torrents: 0, skipped: 0 };
  const isWanted = (index: number) => reuseVerify || sampleOf(layout, index) !== null;
  const wanted = layout.isAligned ? filesByName(layout, isWanted) : null;
  for await (const torrent of torrentsOf(reuse, signal)) {
    all[torrent ? 'torrents' : 'skipped'] += 1;
    if (torrent && wanted) addFiles(all, torrent, wanted, layout);
    else if (torrent && isWanted(0)) addWhole(all, torrent, layout);
  }
  return all;
}

/** The files of a layout, by size and path, and by size and name. */
function filesByName(layout: SizedLayout, isWanted: (index: number) => boolean): Map<string, number[]> {
  const wanted = new Map<string, number[]>();
  for (const [index, length] of layout.files.lengths.entries()) {
    if (length === 0 || !isWanted(index)) continue;
    const path = pathOf(layout, index);
    wanted.set(`${length} /${path}`, [index]);
    const sameName = wanted.get(`${length} ${nameOf(path)}`) ?? [];
    if (sameName.length < MAX_CANDIDATES) wanted.set(`${length} ${nameOf(path)}`, [...sameName, index]);
  }
  return wanted;
}

/** The path of a file as other torrents have it: a single file has the name of its torrent. */
const pathOf = ({ files, name }: SizedLayout, index: number): string => files.pathAt(index) || name;
const nameOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1);

/** Adds the digests that a torrent has of files that start at piece boundaries: for a file of the same path, else of the same name. */
function addFiles(all: Candidates, torrent: Torrent, wanted: Map<string, number[]>, layout: SizedLayout): void {
  const stored = new StoredDigests(torrent);
  const { lengths, pathAt } = stored.content;
  const other = otherLayout(torrent, layout);
  if (!other.isAligned) {
    if (hasSameFiles(stored, layout)) addOther(all, other, [...layout.files.lengths.keys()]);
    return;
  }
  for (const [i, length] of lengths.entries()) {
    const path = pathAt(i);
    for (const index of wanted.get(`${length} /${path}`) ?? wanted.get(`${length} ${nameOf(path)}`) ?? []) {
      const isPadded = index < layout.paddedFiles;
      if (stored.has(i, layout, isPadded)) add(all, index, stored.at(i, layout));
      else if (stored.has(i, other, isPadded)) addOther(all, other, [index]);
    }
  }
}

/** Adds the pieces of a torrent that has the same v1 files in the same order. */
function addWhole(all: Candidates, torrent: Torrent, layout: SizedLayout): void {
  const stored = new StoredDigests(torrent);
  if (!hasSameFiles(stored, layout)) return;
  if (torrent.info.pieceLength === layout.pieceLength)
    add(all, 0, { root: null, layer: NOTHING, pieces: stored.pieces });
  else addOther(all, otherLayout(torrent, layout), [0]);
}

/** Whether a torrent has the v1 files of a layout in the same order, by size and name. */
function hasSameFiles({ content: { entries, pathAt } }: StoredDigests, layout: SizedLayout): boolean {
  // Most torrents of a folder end here.
  if (!entries || sumOf(entries.lengths) !== layout.files.totalLength) return false;
  const filesOf = (lengths: Float64Array, nameAt: (index: number) => string) =>
    Array.from(lengths, (length, i) => (length > 0 ? `${length} ${nameAt(i)}` : ''))
      .filter((file) => file !== '')
      .join('/');
  const fileAt = (i: number) => entries.files[i] as number;
  const own = filesOf(layout.files.lengths, (index) => nameOf(pathOf(layout, index)));
  return own === filesOf(entries.lengths, (i) => (fileAt(i) === PAD ? '' : nameOf(pathAt(fileAt(i)))));
}

/** Adds digests of a file, unless they are there already. */
function add({ found }: Candidates, index: number, digests: FileDigests): void {
  const known = found.get(index) ?? [];
  if (known.length >= MAX_CANDIDATES || known.some((one) => isSame(one, digests))) return;
  // Copies, because views would keep the whole torrent in memory.
  const { root, layer, pieces } = digests;
  found.set(index, [...known, { root: root?.slice() ?? null, layer: layer.slice(), pieces: pieces.slice() }]);
}

/** The layout with the piece length of a torrent, and of its version unless the torrent has the wanted one too. */
function otherLayout({ torrentVersion, info: { pieceLength } }: Torrent, layout: SizedLayout): SizedLayout {
  const version = torrentVersion === 'hybrid' ? layout.version : torrentVersion;
  // In v1, the files do not begin with a piece.
  const isAligned = version === 'v1' && layout.version !== 'v1' ? layout.files.length === 1 : layout.isAligned;
  return { ...layout, version, pieceLength, isAligned };
}

/** Notes files whose digests a creation with another layout could take. */
function addOther({ others }: Candidates, other: SizedLayout, indexes: readonly number[]): void {
  if (sampleOf(other, indexes[0] as number) === null) return;
  const format: Format = { version: other.version, pieceLength: other.pieceLength };
  const key = JSON.stringify(format);
  const files = others.get(key) ?? new Set();
  if (others.size < MAX_CANDIDATES) others.set(key, files);
  for (const index of indexes) files.add(index);
}

const joined = ({ root, layer, pieces }: FileDigests): Uint8Array => concatBytes([root ?? NOTHING, layer, pieces]);
const isSame = (one: FileDigests, other: FileDigests): boolean => compareBytes(joined(one), joined(other)) === 0;

/**
 * Chooses the pieces of a file, or of all files that share pieces, which are read as a check: of each file the first and the last, where
 * programs write their tags, and one at random between them. Null if these are all pieces, so that nothing would be saved.
 */
function sampleOf({ files, isAligned, pieceLength }: SizedLayout, index: number): number[] | null {
  const sample = new Set<number>();
  let end = 0;
  for (const length of isAligned ? files.lengths.subarray(index, index + 1) : files.lengths) {
    if (length === 0) continue;
    const first = Math.floor(end / pieceLength);
    end += length;
    const last = Math.ceil(end / pieceLength) - 1;
    sample.add(first).add(last);
    if (last - first > 1) sample.add(randomInt(first + 1, last));
  }
  return sample.size < Math.ceil(end / pieceLength) ? [...sample].sort((a, b) => a - b) : null;
}

/**
 * Takes the digests of files from other torrents if the check of their content succeeds; with `reuseVerify` takes none.
 *
 * @param digests Those that are known otherwise, to which it adds.
 * @returns Calls `onReuse` once all digests are known, with the bytes of the files that were hashed.
 */
export async function reuseDigests(
  layout: SizedLayout,
  digests: DigestTable,
  options: HashOptions,
): Promise<(bytesHashed: number) => Promise<void>> {
  const { found, torrents, skipped } = await candidatesOf(layout, options);
  const entries = [...found].sort(([a], [b]) => a - b);
  const sampled = entries.flatMap(([index]) => {
    const pieces = options.reuseVerify || digests.has(index) ? null : sampleOf(layout, index);
    return pieces ? [{ index, pieces }] : [];
  });
  const { bytesRead, hashes } = await hashSamples(layout, sampled, options);
  for (const [i, { index, pieces }] of sampled.entries()) {
    const expected = ({ pieces: v1, layer }: FileDigests) =>
      concatBytes(pieces.flatMap((piece) => [hashAt(v1, piece, 20), hashAt(layer, piece, 32)]));
    const right = found.get(index)?.find((one) => compareBytes(expected(one), hashes[i] as Uint8Array) === 0);
    if (right) digests.set(index, right);
  }
  return async (bytesHashed) => {
    const compared = options.reuseVerify ? entries.map(([index]) => index) : sampled.map(({ index }) => index);
    const agrees = (index: number) => found.get(index)?.some((one) => isSame(one, digests.at(index))) === true;
    const different = compared.filter((index) => !agrees(index));
    await options.onReuse?.({
      torrents,
      skipped,
      ...sizesOf(layout, compared.filter(agrees)),
      different: different.map((index) => (layout.isAligned ? pathOf(layout, index) : layout.name)),
      bytesRead: bytesRead + bytesHashed,
    });
  };
}

const hashAt = (hashes: Uint8Array, index: number, size: number) => hashes.subarray(index * size, (index + 1) * size);

/** Hashes samples in one job. Gives the hashes of each sample: of each piece the v1 hash, then the v2 hash. */
async function hashSamples(
  layout: SizedLayout,
  sampled: readonly { index: number; pieces: number[] }[],
  { engine, resources, signal, progress }: HashOptions,
): Promise<{ bytesRead: number; hashes: Uint8Array[] }> {
  if (sampled.length === 0) return { bytesRead: 0, hashes: [] };
  const { files, version, isAligned, paddedFiles, pieceLength } = layout;
  const ranges = sampled.flatMap(({ index, pieces }) => [...rangesOf(layout, index, pieces)]);
  const totalBytes = ranges.reduce((sum, { request }) => sum + request.length, 0);
  const request = {
    files: ranges.map((range) => range.request),
    // The padded files come before all others, and only the last piece of a file is not full.
    paddedFiles: isAligned ? ranges.filter(({ file }) => file < paddedFiles).length : 0,
    ...{ version, pieceLength, onMissing: 'fail' as const, ...resources },
  };
  const nameOf = (i: number) => files.pathAt(ranges[i]?.file ?? -1);
  const start = () => runningJob(engine.start(request), { totalBytes, nameOf });
  const { v1 = NOTHING, v2 } = await watch(start, { signal, progress: progress ?? false });
  let next = 0;
  const hashes = sampled.map(({ pieces }) => {
    const each = pieces.flatMap(() => {
      const blocks = Math.ceil((ranges[next]?.request.length as number) / BLOCK_SIZE);
      // In v2, each piece was hashed as a file of its own.
      const root = v2 ? raisedRoot(hashAt(v2.roots, next, 32), blocks, pieceLength / BLOCK_SIZE) : NOTHING;
      next += 1;
      return [hashAt(v1, next - 1, 20), root];
    });
    return concatBytes(each);
  });
  return { bytesRead: totalBytes, hashes };
}

/** The ranges of files that hold some pieces. */
function* rangesOf(
  { files, isAligned, pieceLength }: SizedLayout,
  index: number,
  pieces: readonly number[],
): Generator<{ file: number; request: RequestedFile }> {
  let [i, start] = [isAligned ? index : 0, 0];
  for (const piece of pieces)
    for (const end = (piece + 1) * pieceLength; ; i += 1) {
      const file = files.at(i) as LaidOutFile & { length: number };
      const [from, to] = [Math.max(start, end - pieceLength), Math.min(start + file.length, end)];
      const request = toRequestedFile({ ...file, offset: from - start, length: to - from, size: file.length });
      if (to > from) yield { file: i, request };
      if (start + file.length >= end || isAligned || i === files.length - 1) break;
      start += file.length;
    }
}

/** The torrents of a folder that are in memory at once. */
const READ_AT_ONCE = 16;
/** How many problems an error lists. */
const MAX_LISTED = 5;

/**
 * Reads torrents: those of a folder, of all folders in it too, are the files that end with `.torrent`. Gives them in the order of the list
 * and of the paths in a folder, and null for each entry of a folder that is no valid torrent or cannot be read.
 *
 * @throws {MetainfoError} one error for all entries of the list that do not exist, or are files but no torrents
 */
async function* torrentsOf(
  sources: NonNullable<ReuseOptions['reuse']>,
  signal: AbortSignal | undefined,
): AsyncGenerator<Torrent | null> {
  const opened = await Promise.allSettled(sources.map((source) => torrentOrFolder(source, signal)));
  throwIfAborted(signal);
  const failures = opened.flatMap((one) => (one.status === 'rejected' ? [one.reason as MetainfoError] : []));
  const [first] = failures;
  if (first && failures.length > 1) {
    const problems = failures.map(({ message }) => message);
    const message = `Some torrents to reuse cannot be read: ${joinFirst(problems, MAX_LISTED)}.`;
    throw new MetainfoError(first.code, message, { path: first.path, cause: first });
  }
  if (first) throw first;
  for (const one of opened) {
    const { value } = one as PromiseFulfilledResult<Torrent | string>;
    if (typeof value === 'string') yield* torrentsIn(value, signal);
    else yield value;
  }
}

async function torrentOrFolder(source: Torrent | string | URL, signal?: AbortSignal): Promise<Torrent | string> {
  if (TorrentBase.isTorrent(source)) return source;
  const file = checkedPath(source);
  const status = await stat(file).catch(throwSystemError(file, 'read'));
  return status.isDirectory() ? path.resolve(file) : Torrent.read(file, { signal });
}

async function* torrentsIn(folder: string, signal?: AbortSignal): AsyncGenerator<Torrent | null> {
  const skipped: null[] = [];
  const include = (name: string) => /\.torrent$/i.test(name);
  const onProblem = () => void skipped.push(null);
  const found = await scan(folder, null, { include, anyNames: true, hidden: false, signal, onProblem });
  yield* skipped;
  const files = scannedFiles(found).map(({ diskPath }) => diskPath);
  files.sort();
  const read = (file: string) => Torrent.read(file, { signal, beneath: folder }).catch(nullIfBad);
  for (let i = 0; i < files.length; i += READ_AT_ONCE)
    yield* await Promise.all(files.slice(i, i + READ_AT_ONCE).map(read));
}

/** @throws any error that does not concern the torrent */
function nullIfBad(error: unknown): null {
  if (error instanceof MetainfoError && error.code !== 'ERR_ABORTED') return null;
  throw error;
}
