/** The piece layout: where each file and pad file of a torrent lies among its pieces. */
import type { RequestedFiles } from '../hash/hash-request.ts';
import { NO_PATH } from '../hash/match-paths.ts';
import { contentOf, type V1Entries } from '../model/lazy/content.ts';
import type { Torrent } from '../model/torrent/torrent.ts';
import type { MatchedFiles } from './matched-files.ts';

/**
 * The entries of a torrent (its files and pad files that are not empty) in the order of their pieces. Stored by column,
 * because a torrent may have a million files.
 */
export interface PieceLayout {
  pieceLength: number;
  pieceCount: number;
  /** Offset of the end of the last entry, in bytes. */
  end: number;
  /** Offset of each entry, in bytes. */
  starts: Float64Array;
  /** Bytes of each entry. */
  lengths: Float64Array;
  /** Index of each entry among the torrent's files; -1 for a pad file. */
  fileIndexes: Int32Array;
}

/** Consecutive pieces: the first, and the one after the last. */
export type PieceInterval = readonly [first: number, end: number];

/** The piece layout of a torrent, or of one version of a hybrid. */
export function pieceLayoutOf(torrent: Torrent, version = torrent.torrentVersion): PieceLayout {
  return version === 'v2' ? v2PieceLayout(torrent) : v1PieceLayout(torrent);
}

/** The piece layout of v2, where every file begins with a piece. */
export function v2PieceLayout(torrent: Torrent): PieceLayout {
  const { lengths } = contentOf(torrent);
  return layoutOfEntries({ lengths, files: Int32Array.from(lengths, (_, i) => i) }, torrent.info.pieceLength, true);
}

/** The piece layout of v1 and hybrid, where entries follow each other in the order of the v1 file list. */
export function v1PieceLayout(torrent: Torrent): PieceLayout {
  return layoutOfEntries(contentOf(torrent).entries as V1Entries, torrent.info.pieceLength, false);
}

/** @param isAligned Whether each entry starts at the start of a piece. */
function layoutOfEntries(all: V1Entries, pieceLength: number, isAligned: boolean): PieceLayout {
  const [starts, lengths] = [new Float64Array(all.lengths.length), new Float64Array(all.lengths.length)];
  const files = new Int32Array(all.lengths.length);
  let [count, end] = [0, 0];
  for (let i = 0; i < all.lengths.length; i += 1) {
    const length = all.lengths[i] as number;
    if (length === 0) continue;
    starts[count] = isAligned ? Math.ceil(end / pieceLength) * pieceLength : end;
    lengths[count] = length;
    files[count] = all.files[i] as number;
    end = (starts[count] as number) + length;
    count += 1;
  }
  return {
    pieceLength,
    pieceCount: Math.ceil(end / pieceLength),
    end,
    starts: starts.subarray(0, count),
    lengths: lengths.subarray(0, count),
    // Only pad files have negative indexes, because no entry is empty.
    fileIndexes: files.subarray(0, count),
  };
}

/** The path of the file of an entry; empty for a pad file. */
export function pathOfEntry(map: PieceLayout, { content }: MatchedFiles, entry: number): string {
  const file = map.fileIndexes[entry] as number;
  return file < 0 ? '' : content.pathAt(file);
}

/** Whether every file begins with a piece. */
export function isAligned({ starts, fileIndexes, pieceLength }: PieceLayout): boolean {
  return starts.every((start, entry) => fileIndexes[entry] === -1 || start % pieceLength === 0);
}

/** The pieces from a byte on that starts a piece. */
export function intervalFrom(start: number, length: number, { pieceLength }: PieceLayout): PieceInterval {
  const first = start / pieceLength;
  return [first, first + Math.ceil(length / pieceLength)];
}

/** The intervals without others, each of which lies in one of them. Both are in order. */
export function intervalsWithout(
  intervals: readonly PieceInterval[],
  others: readonly PieceInterval[],
): PieceInterval[] {
  let next = 0;
  return intervals.flatMap(([first, end]) => {
    const rest: PieceInterval[] = [];
    let from = first;
    for (let other = others[next]; other && other[0] < end; other = others[next]) {
      next += 1;
      rest.push([from, other[0]]);
      from = other[1];
    }
    return [...rest, [from, end] as const].filter((interval) => interval[0] < interval[1]);
  });
}

export function countPieces(intervals: readonly PieceInterval[]): number {
  return intervals.reduce((sum, [first, end]) => sum + end - first, 0);
}

/** The pieces of which every byte is available on disk. */
export function availablePieces(map: PieceLayout, { available }: Pick<MatchedFiles, 'available'>): PieceInterval[] {
  const { pieceLength, pieceCount, end, fileIndexes, starts, lengths } = map;
  const intervals: PieceInterval[] = [];
  let first = 0;
  const close = (pieceEnd: number) => {
    if (pieceEnd > first) intervals.push([first, pieceEnd]);
  };
  for (let entry = 0; entry < fileIndexes.length; entry += 1) {
    const [start, length] = [starts[entry] as number, lengths[entry] as number];
    const onDisk = available[fileIndexes[entry] as number] ?? length;
    if (onDisk >= length) continue;
    close(Math.max(first, Math.floor((start + onDisk) / pieceLength)));
    // In v2 the last piece of a file ends with the file, so nothing follows in it.
    first = Math.max(first, Math.ceil(Math.min(end, start + length) / pieceLength));
  }
  close(pieceCount);
  return intervals;
}

/** How many pieces a sample holds beside those at the ends of files. */
const SAMPLE_SIZE = 100;

/** Picks single pieces from intervals: those at the ends of files, and others at equal distances. */
export function samplePieces(intervals: readonly PieceInterval[], map: PieceLayout): PieceInterval[] {
  const { starts, lengths, fileIndexes, pieceLength } = map;
  const atEnds = new Set<number>();
  for (const [entry, start] of starts.entries()) {
    if (fileIndexes[entry] === -1) continue;
    atEnds.add(Math.floor(start / pieceLength));
    atEnds.add(Math.floor((start + (lengths[entry] as number) - 1) / pieceLength));
  }
  const step = Math.max(1, Math.ceil(countPieces(intervals) / SAMPLE_SIZE));
  const sample: PieceInterval[] = [];
  let count = 0;
  for (const [first, end] of intervals) {
    for (let piece = first; piece < end; piece += 1, count += 1)
      if (count % step === 0 || atEnds.has(piece)) sample.push([piece, piece + 1]);
  }
  return sample;
}

/** The ranges of entries of a piece layout that hold some pieces, in order. */
export interface PieceRanges {
  /** The entry of each range. */
  entries: Uint32Array;
  /** Where each range starts in its file. */
  offsets: Float64Array;
  /** Bytes of each range. */
  lengths: Float64Array;
  /** Bytes of all ranges together, without pad files. */
  bytes: number;
}

/** The content of some pieces. */
export interface PieceContent extends PieceRanges {
  /** The ranges as an engine takes them. */
  files: RequestedFiles;
}

/** Lists the ranges of files that hold these pieces, all of which are on disk. */
export function contentOfPieces(
  map: PieceLayout,
  matched: MatchedFiles,
  intervals: readonly PieceInterval[],
): PieceContent {
  const ranges = rangesOfPieces(map, intervals);
  const { entries, offsets, lengths } = ranges;
  const files = Uint32Array.from(entries, (entry) => {
    const file = map.fileIndexes[entry] as number;
    return file < 0 ? NO_PATH : (matched.indexes[file] as number);
  });
  return { ...ranges, files: matched.requested({ files, offsets, lengths }) };
}

/** Lists the ranges of entries that hold these pieces. */
export function rangesOfPieces(map: PieceLayout, intervals: readonly PieceInterval[]): PieceRanges {
  const { pieceLength, starts, lengths, fileIndexes } = map;
  // Each entry begins in one interval or in none, and every interval may begin within an entry.
  const most = fileIndexes.length + intervals.length;
  const found = {
    entries: new Uint32Array(most),
    offsets: new Float64Array(most),
    lengths: new Float64Array(most),
  };
  const endOf = (entry: number) => (starts[entry] as number) + (lengths[entry] as number);
  let [next, count, bytes] = [0, 0, 0];
  for (const [firstPiece, endPiece] of intervals) {
    const [from, to] = [firstPiece * pieceLength, Math.min(endPiece * pieceLength, map.end)];
    // Intervals and entries are both in order, so an entry that ends before this interval is never needed again.
    while (next < fileIndexes.length && endOf(next) <= from) next += 1;
    for (let entry = next; entry < fileIndexes.length && (starts[entry] as number) < to; entry += 1, count += 1) {
      const start = starts[entry] as number;
      const first = Math.max(from, start);
      const length = Math.min(to, endOf(entry)) - first;
      const file = fileIndexes[entry] as number;
      found.entries[count] = entry;
      found.offsets[count] = file < 0 ? 0 : first - start;
      found.lengths[count] = length;
      if (file >= 0) bytes += length;
    }
  }
  return {
    entries: found.entries.subarray(0, count),
    offsets: found.offsets.subarray(0, count),
    lengths: found.lengths.subarray(0, count),
    bytes,
  };
}
