/** Proves by hashes which candidates have the content of missing files, also in the pieces of v1 that files share with their neighbors. */
import { toHex } from '../../errors/errors.ts';
import type { RequestedFile } from '../../hash/hash-request.ts';
import { requestedPadFile } from '../../hash/make-requested-files.ts';
import { HashList } from '../../model/hash-list.ts';
import type { InfoDictV1 } from '../../model/info-dict.ts';
import { type Torrent, TorrentBase } from '../../model/torrent/torrent.ts';
import { targetOf } from '../content-place.ts';
import { followed } from '../match-files.ts';
import { type DiskFile, rangeOf } from '../matched-files.ts';
import { type PieceInterval, type PieceLayout, v1PieceLayout } from '../piece-layout.ts';
import { type Candidate, MAX_LISTED, type Search, type Wanted } from './collect-candidates.ts';
import { hashCandidates } from './hash-candidates.ts';

/** The lists of files that have some hashes, by these hashes in hex. */
type ByHashes = Map<string, Candidate[]>;

/** Fills the `proven` and `unproven` files of a search, and no longer wants files that are good in their places. */
export async function proveCandidates(search: Search): Promise<void> {
  await (search.torrent.torrentVersion === 'v1' ? proveV1(search) : proveV2(search));
  leaveOutOwners(search);
}

/** Files that are good in their own places: in v1, they share damaged pieces with other files. */
function leaveOutOwners({ wanted }: Search): void {
  for (const proven of new Set([...wanted.values()].map((file) => file.proven)))
    for (const candidate of proven) {
      const { owner } = candidate;
      if (owner === null || wanted.get(owner)?.proven !== proven) continue;
      candidate.isInPlace = true;
      wanted.delete(owner);
    }
}

/** Gives a wanted file the list of those with the same hashes. */
function shareList(wanted: Wanted, byHashes: ByHashes, hashes: string): void {
  wanted.proven = byHashes.get(hashes) ?? wanted.proven;
  byHashes.set(hashes, wanted.proven);
}

/** Hashes some content of each candidate, and adds the candidate to the list of these hashes. */
async function compare(
  search: Search,
  candidates: readonly Candidate[],
  contentOf: (file: DiskFile) => RequestedFile[],
  byHashes: ByHashes,
): Promise<void> {
  const contents = candidates.map(({ file }) => contentOf(file));
  for (const [i, hashes] of (await hashCandidates(search, contents)).entries())
    if (hashes) byHashes.get(toHex(hashes))?.push(candidates[i] as Candidate);
}

/** Compares whole files with pieces roots. */
async function proveV2(search: Search): Promise<void> {
  const files = TorrentBase.filesOf(search.torrent);
  const rootOf = (index: number) => toHex(files[index]?.piecesRoot as Uint8Array);
  const byRoot: ByHashes = new Map();
  for (const [index, wanted] of search.wanted) shareList(wanted, byRoot, rootOf(index));
  const candidates = [...search.byPath.values()];
  // The verification has read those that are in their place, if they are wanted.
  const isRead = ({ isInPlace, owner }: Candidate) => isInPlace && search.files[owner as number] !== undefined;
  for (const one of candidates) if (isRead(one)) byRoot.get(rootOf(one.owner as number))?.push(one);
  const others = candidates.filter((one) => !isRead(one));
  await compare(search, others, (file) => [rangeOf(file, 0, file.size)], byRoot);
}

/** Compares the pieces that lie within one file, and then those that small files share with files in their places. */
async function proveV1(search: Search): Promise<void> {
  const { torrent, wanted, byPath } = search;
  const map = v1PieceLayout(torrent);
  const groups = new Map<string, WantedSpan[]>();
  const small: { index: number; entry: number; file: Wanted }[] = [];
  for (const [entry, index] of map.fileIndexes.entries()) {
    const file = wanted.get(index);
    if (!file) continue;
    const span = spanOf(map, entry);
    if (span) {
      const key = JSON.stringify([file.length, { ...span, first: 0 }]);
      const group = groups.get(key) ?? [];
      groups.set(key, group);
      group.push({ file, span, entry });
    } else small.push({ index, entry, file });
  }
  for (const group of groups.values()) await compareGroup(search, group as [WantedSpan], map.pieceLength);
  for (const one of [...groups.values()].flat()) await leaveOutOthers(search, one, map);
  for (const { entry, file } of small) await compareSmall(search, file, map, entry);
  // A small file may be good where it is, unless it is another one.
  const isSmall = new Set(small.map(({ index }) => index));
  const isOther = new Set(small.flatMap(({ index, file }) => file.proven.filter(({ owner }) => owner !== index)));
  for (const one of byPath.values())
    if (one.owner !== null && isSmall.has(one.owner)) one.isInPlace = !isOther.has(one);
}

/** A wanted file and the pieces that lie within it. */
interface WantedSpan {
  file: Wanted;
  span: Span;
  entry: number;
}

/**
 * Compares all candidates of a size with all files whose pieces lie at the same offsets: first one piece of each candidate, then
 * all pieces of those that may be the file.
 */
async function compareGroup(search: Search, group: [WantedSpan, ...WantedSpan[]], pieceLength: number): Promise<void> {
  const [{ file, span }] = group;
  const { count, offset, length, padding } = span;
  let candidates = search.bySize.get(file.length) ?? [];
  if (count > 1) {
    const byFirst: ByHashes = new Map(group.map(({ span: { first } }) => [expected(search.torrent, first, 1), []]));
    await compare(search, candidates, (one) => [rangeOf(one, offset, pieceLength)], byFirst);
    candidates = [...byFirst.values()].flat();
  }
  const byHashes: ByHashes = new Map();
  for (const one of group) shareList(one.file, byHashes, expected(search.torrent, one.span.first, count));
  const after = padding > 0 ? [requestedPadFile(padding)] : [];
  await compare(search, candidates, (one) => [rangeOf(one, offset, length), ...after], byHashes);
}

/** Compares candidates for a file without a piece of its own: with the pieces that it shares, if the rest of them is there. */
async function compareSmall(search: Search, wanted: Wanted, map: PieceLayout, entry: number): Promise<void> {
  const candidates = (search.bySize.get(wanted.length) ?? []).slice(0, MAX_LISTED);
  if (candidates.length === 0) return;
  const [first, end] = piecesOf(map, entry);
  const contentOf = await sharedContent(search, map, entry, [first, end]);
  if (contentOf) {
    const byHashes: ByHashes = new Map([[expected(search.torrent, first, end - first), wanted.proven]]);
    await compare(search, candidates, contentOf, byHashes);
  }
  if (wanted.proven.length === 0) wanted.unproven = candidates;
}

/** The most files of one content whose shared pieces are compared before one of them is chosen. */
const MAX_COMPARED = 16;

/** Leaves out files whose own pieces are good, but which a shared piece shows to differ, if that leaves one. */
async function leaveOutOthers(
  search: Search,
  { file: wanted, span, entry }: WantedSpan,
  map: PieceLayout,
): Promise<void> {
  for (const piece of sharedPieces(map, entry, span)) {
    const { proven } = wanted;
    if (proven.length < 2 || proven.length > MAX_COMPARED) return;
    const contentOf = await sharedContent(search, map, entry, [piece, piece + 1]);
    if (!contentOf) continue;
    const good: Candidate[] = [];
    await compare(search, proven, contentOf, new Map([[expected(search.torrent, piece, 1), good]]));
    if (good.length > 0 && good.length < proven.length) wanted.proven = good;
  }
}

/** The v1 hashes of consecutive pieces in the torrent. */
function expected({ info }: Torrent, first: number, count: number): string {
  return toHex(HashList.viewOf((info as InfoDictV1).pieces).subarray(first * 20, (first + count) * 20));
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
  /** Bytes of pad files in the last piece. */
  padding: number;
}

/** The pieces within the file of an entry; null if there are none. */
function spanOf(map: PieceLayout, entry: number): Span | null {
  const { pieceLength, starts, lengths, fileIndexes, end: torrentEnd } = map;
  const start = starts[entry] as number;
  const end = start + (lengths[entry] as number);
  const first = Math.ceil(start / pieceLength);
  let next = entry + 1;
  while (next < fileIndexes.length && fileIndexes[next] === -1) next += 1;
  const pieceEnd = Math.ceil(end / pieceLength) * pieceLength;
  const lastEnd = Math.min(pieceEnd, torrentEnd);
  // Behind the file, there are only pad files up to the next entry.
  const isLastOwn = (starts[next] ?? torrentEnd) >= lastEnd;
  const last = isLastOwn ? pieceEnd / pieceLength : Math.floor(end / pieceLength);
  const offset = first * pieceLength - start;
  const length = Math.min(end, last * pieceLength) - start - offset;
  return first < last ? { first, count: last - first, offset, length, padding: isLastOwn ? lastEnd - end : 0 } : null;
}

/** The pieces that hold bytes of an entry. */
function piecesOf({ starts, lengths, pieceLength }: PieceLayout, entry: number): PieceInterval {
  const start = starts[entry] as number;
  return [Math.floor(start / pieceLength), Math.ceil((start + (lengths[entry] as number)) / pieceLength)];
}

/** The pieces of an entry that do not lie within its file. */
function sharedPieces(map: PieceLayout, entry: number, span = spanOf(map, entry)): number[] {
  const [first, end] = piecesOf(map, entry);
  const isOwn = (piece: number) => span !== null && piece >= span.first && piece < span.first + span.count;
  return [...new Set([first, end - 1])].filter((piece) => !isOwn(piece));
}

/** The entries of consecutive pieces, and the range of each in its file. @param entry One of them. */
function* rangesIn(map: PieceLayout, entry: number, [first, endPiece]: PieceInterval) {
  const { starts, lengths, pieceLength, end } = map;
  const [from, to] = [first * pieceLength, Math.min(endPiece * pieceLength, end)];
  let at = entry;
  while ((starts[at] as number) > from) at -= 1;
  for (; (starts[at] as number) < to; at += 1) {
    const start = starts[at] as number;
    const offset = Math.max(from - start, 0);
    const length = Math.min(to - start, lengths[at] as number) - offset;
    yield { at, index: map.fileIndexes[at] as number, offset, length };
  }
}

/**
 * Gives the content of pieces in which a file has a part, with a candidate for that file, pad files, and other files in their places
 * or where they were found. Null if one of those is not there.
 */
async function sharedContent(
  search: Search,
  map: PieceLayout,
  entry: number,
  interval: PieceInterval,
): Promise<((candidate: DiskFile) => RequestedFile[]) | null> {
  const content: ((candidate: DiskFile) => RequestedFile)[] = [];
  for (const { at, index, offset, length } of rangesIn(map, entry, interval)) {
    const file = at === entry || index < 0 ? null : await fileInPlace(search, index);
    if (at === entry) content.push((candidate) => rangeOf(candidate, offset, length));
    else if (index < 0) content.push(() => requestedPadFile(length));
    else if (file && offset + length <= file.size) content.push(() => rangeOf(file, offset, length));
    else return null;
  }
  return (candidate) => content.map((range) => range(candidate));
}

/** The file that has the content of a file of the torrent: in its place or, if it was proven, elsewhere. */
async function fileInPlace({ wanted, files, place }: Search, index: number): Promise<DiskFile | null> {
  const { proven = [], chosen } = wanted.get(index) ?? {};
  const found = chosen ?? proven[0];
  if (found) return found.file;
  const { status, foundAs } = files[index] ?? {};
  if (status === 'missing' || status === 'unreadable') return null;
  const file = await followed(targetOf(place, index, foundAs), null);
  return 'size' in file ? file : null;
}

/** Finds out which of the files that were chosen are not proven in the pieces that they share. */
export async function checkSharedPieces(search: Search): Promise<void> {
  const { torrent, wanted, files } = search;
  const map = v1PieceLayout(torrent);
  const pieces = new Map<number, { entry: number; content: RequestedFile[] | null }>();
  for (const [entry, index] of map.fileIndexes.entries()) {
    const chosen = wanted.get(index)?.chosen;
    for (const piece of chosen ? sharedPieces(map, entry) : []) {
      if (pieces.has(piece)) continue;
      const contentOf = await sharedContent(search, map, entry, [piece, piece + 1]);
      pieces.set(piece, { entry, content: contentOf?.((chosen as Candidate).file) ?? null });
    }
  }
  const contents = [...pieces.values()].flatMap(({ content }) => (content ? [content] : []));
  const hashes = (await hashCandidates(search, contents)).values();
  const isFirm = (at: number, index: number) => {
    const file = wanted.get(index);
    return spanOf(map, at) !== null && (file ? file.chosen !== null : files[index] !== undefined);
  };
  for (const [piece, { entry, content }] of pieces) {
    const hash = content && hashes.next().value;
    if (hash && toHex(hash) === expected(torrent, piece, 1)) continue;
    const sharing = [...rangesIn(map, entry, [piece, piece + 1])].filter(({ index }) => index >= 0);
    const doubtful = sharing.filter(({ at, index }) => !isFirm(at, index));
    for (const { at, index } of sharing) {
      const file = wanted.get(index);
      const isContradicted = hash && doubtful.every((other) => other.at === at);
      if (file && file.content !== 'contradicted') file.content = isContradicted ? 'contradicted' : 'unproven';
    }
  }
}
