/** The piece layout: where each file and pad file of a torrent lies among its pieces. */

import type { RequestedFile } from '../hash/hash-request.ts';
import { requestedPadFile } from '../hash/make-requested-files.ts';
import { padsIn } from '../layout/padding.ts';
import type { FileItem } from '../model/file-item.ts';
import type { InfoDictV1 } from '../model/info-dict.ts';
import type { Torrent } from '../model/torrent/torrent.ts';
import { type DiskFile, type MatchedFile, rangeOf } from './match-files.ts';

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
export function pieceLayoutOf(
  torrent: Torrent,
  files: readonly Pick<MatchedFile, 'length'>[],
  version = torrent.torrentVersion,
): PieceLayout {
  return version === 'v2' ? v2PieceLayout(files, torrent.info.pieceLength) : v1PieceLayout(torrent, files);
}

/** The piece layout of v2, where every file begins with a piece. */
export function v2PieceLayout(files: readonly Pick<MatchedFile, 'length'>[], pieceLength: number): PieceLayout {
  const entries = files.map(({ length }, file) => ({ length, file }));
  return layoutOf(entries, pieceLength, pieceLength);
}

/** The piece layout of v1 and hybrid, where entries follow each other in the order of the v1 file list. */
export function v1PieceLayout(torrent: Torrent, files: readonly Pick<MatchedFile, 'length'>[]): PieceLayout {
  const info = torrent.info as InfoDictV1;
  const list = info.files ?? [{ length: info.length as number, path: [info.name] }];
  const isPad = padsIn<FileItem>(list, info.pieceLength);
  let file = -1;
  const entries = list.map((entry) => {
    const { length } = entry;
    if (length === 0 || isPad(entry)) return { length, file: -1 };
    // A hybrid may list empty files elsewhere than `torrent.files` does; all others have the same order there.
    do file += 1;
    while (files[file]?.length === 0);
    return { length, file };
  });
  return layoutOf(entries, info.pieceLength, 1);
}

/** @param alignment Each entry starts at a multiple of this, in bytes. */
function layoutOf(all: readonly Entry[], pieceLength: number, alignment: number): PieceLayout {
  const entries = all.filter(({ length }) => length > 0);
  const lengths = Float64Array.from(entries, ({ length }) => length);
  let end = 0;
  const starts = lengths.map((length) => {
    const start = Math.ceil(end / alignment) * alignment;
    end = start + length;
    return start;
  });
  const fileIndexes = Int32Array.from(entries, ({ file }) => file);
  return { pieceLength, pieceCount: Math.ceil(end / pieceLength), end, starts, lengths, fileIndexes };
}

/** A file of the torrent by its index, or a pad file as -1. */
interface Entry {
  length: number;
  file: number;
}

/** The file of an entry; null for a pad file. */
export function fileOfEntry(map: PieceLayout, files: readonly MatchedFile[], entry: number): MatchedFile | null {
  const index = map.fileIndexes[entry] as number;
  return index < 0 ? null : (files[index] as MatchedFile);
}

/** Whether every file begins with a piece. */
export function isAligned({ starts, fileIndexes, pieceLength }: PieceLayout): boolean {
  return starts.every((start, entry) => fileIndexes[entry] === -1 || start % pieceLength === 0);
}

export function countPieces(intervals: readonly PieceInterval[]): number {
  return intervals.reduce((sum, [first, end]) => sum + end - first, 0);
}

/** The pieces of which every byte is available on disk. */
export function availablePieces(map: PieceLayout, files: readonly MatchedFile[]): PieceInterval[] {
  const { pieceLength, pieceCount, end } = map;
  const intervals: PieceInterval[] = [];
  let first = 0;
  const close = (pieceEnd: number) => {
    if (pieceEnd > first) intervals.push([first, pieceEnd]);
  };
  for (let entry = 0; entry < map.fileIndexes.length; entry += 1) {
    const file = fileOfEntry(map, files, entry);
    const [start, length] = [map.starts[entry] as number, map.lengths[entry] as number];
    if (!file || file.available >= length) continue;
    close(Math.max(first, Math.floor((start + file.available) / pieceLength)));
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

/** The content of some pieces, as an engine takes it. */
export interface PieceContent {
  /** Ranges of files, and pads. */
  files: RequestedFile[];
  /** For each of `files`, its entry in the piece layout. */
  entries: number[];
}

/** Lists the ranges of files that hold these pieces. */
export function contentOfPieces(
  map: PieceLayout,
  files: readonly MatchedFile[],
  intervals: readonly PieceInterval[],
): PieceContent {
  const { pieceLength, starts, lengths, fileIndexes } = map;
  const content: PieceContent = { files: [], entries: [] };
  const endOf = (entry: number) => (starts[entry] as number) + (lengths[entry] as number);
  let next = 0;
  for (const [firstPiece, endPiece] of intervals) {
    const [from, to] = [firstPiece * pieceLength, Math.min(endPiece * pieceLength, map.end)];
    // Intervals and entries are both in order, so an entry that ends before this interval is never needed again.
    while (next < fileIndexes.length && endOf(next) <= from) next += 1;
    for (let entry = next; entry < fileIndexes.length && (starts[entry] as number) < to; entry += 1) {
      const start = starts[entry] as number;
      const first = Math.max(from, start);
      const length = Math.min(to, endOf(entry)) - first;
      // Every piece given here is available, so its files are on disk.
      const file = fileOfEntry(map, files, entry)?.onDisk as DiskFile | undefined;
      content.entries.push(entry);
      content.files.push(file ? rangeOf(file, first - start, length) : requestedPadFile(length));
    }
  }
  return content;
}
