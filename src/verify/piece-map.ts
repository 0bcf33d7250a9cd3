import type { PlanFile } from '../hash/plan.ts';
import { padsIn } from '../layout/padding.ts';
import type { FileItem } from '../model/file-item.ts';
import type { InfoDictV1 } from '../model/info-dict.ts';
import type { Torrent } from '../model/torrent.ts';
import type { Found } from './inventory.ts';

/** A file of the torrent and what is there of it. */
export interface Checked {
  path: string;
  length: number;
  found: Found | null;
  /** Bytes from its start that are there to be read. */
  there: number;
  root: Uint8Array | null;
}

/**
 * What the pieces are pieces of, in its order: content and pads, nothing that is empty. Columns, because a torrent may have
 * a million files.
 */
export interface Axis {
  pieceLength: number;
  pieces: number;
  /** Where the last one ends. */
  end: number;
  starts: Float64Array;
  lengths: Float64Array;
  /** Which file it is; -1 for a pad. */
  files: Int32Array;
}

/** First and past the last. */
export type Run = readonly [number, number];

/** v2: every file begins with a piece. */
export function rowOf(files: readonly Checked[], pieceLength: number): Axis {
  const axis = emptyAxis(files.length, pieceLength);
  let [count, start] = [0, 0];
  for (const [i, { length }] of files.entries()) {
    if (length === 0) continue;
    put(axis, count, { start, length, file: i });
    count += 1;
    start += Math.ceil(length / pieceLength) * pieceLength;
  }
  return cut(axis, count);
}

/** v1 and hybrid: the list, pads among it. */
export function listOf(torrent: Torrent, files: readonly Checked[]): Axis {
  const info = torrent.info as InfoDictV1;
  const list = info.files ?? [{ length: info.length as number, path: [info.name] }];
  const isPadding = padsIn<FileItem>(list, info.pieceLength);
  const axis = emptyAxis(list.length, info.pieceLength);
  let [count, start, file] = [0, 0, 0];
  for (const entry of list) {
    const { length } = entry;
    if (length === 0) continue;
    const isPad = isPadding(entry);
    // A hybrid's list may have the empty ones elsewhere; all others come in the order of torrent.files.
    if (!isPad) while (files[file]?.length === 0) file += 1;
    put(axis, count, { start, length, file: isPad ? -1 : file });
    if (!isPad) file += 1;
    count += 1;
    start += length;
  }
  return cut(axis, count);
}

function emptyAxis(most: number, pieceLength: number): Axis {
  const [starts, lengths] = [new Float64Array(most), new Float64Array(most)];
  return { pieceLength, pieces: 0, end: 0, starts, lengths, files: new Int32Array(most) };
}

function put(axis: Axis, at: number, { start, length, file }: { start: number; length: number; file: number }): void {
  axis.starts[at] = start;
  axis.lengths[at] = length;
  axis.files[at] = file;
  axis.end = start + length;
}

function cut(axis: Axis, count: number): Axis {
  const [starts, lengths] = [axis.starts.subarray(0, count), axis.lengths.subarray(0, count)];
  const pieces = Math.ceil(axis.end / axis.pieceLength);
  return { ...axis, pieces, starts, lengths, files: axis.files.subarray(0, count) };
}

/** What is at a place of the axis; null for a pad. */
export function fileAt(axis: Axis, files: readonly Checked[], place: number): Checked | null {
  const index = axis.files[place] as number;
  return index < 0 ? null : (files[index] as Checked);
}

/** Whether every file begins with a piece. */
export function isAligned({ starts, files, pieceLength }: Axis): boolean {
  return starts.every((start, i) => files[i] === -1 || start % pieceLength === 0);
}

/** Runs of pieces of which every byte is there. */
export function runsOf(axis: Axis, files: readonly Checked[]): Run[] {
  const { pieceLength, pieces, end } = axis;
  const runs: Run[] = [];
  let from = 0;
  const close = (to: number) => {
    if (to > from) runs.push([from, to]);
  };
  for (let i = 0; i < axis.files.length; i += 1) {
    const file = fileAt(axis, files, i);
    const [start, length] = [axis.starts[i] as number, axis.lengths[i] as number];
    if (!file || file.there >= length) continue;
    // In v2 a piece ends with its file.
    close(Math.max(from, Math.floor((start + file.there) / pieceLength)));
    from = Math.max(from, Math.ceil(Math.min(end, start + length) / pieceLength));
  }
  close(pieces);
  return runs;
}

/** Pieces of a sample beside those at the ends of files. */
const SAMPLES = 100;

/** Of runs of pieces, single ones: those at the ends of files, and some at equal distances. */
export function sampleOf(runs: readonly Run[], { starts, lengths, files, pieceLength }: Axis): Run[] {
  const wanted = new Set<number>();
  for (const [i, start] of starts.entries()) {
    if (files[i] === -1) continue;
    wanted.add(Math.floor(start / pieceLength));
    wanted.add(Math.floor((start + (lengths[i] as number) - 1) / pieceLength));
  }
  const count = runs.reduce((sum, [from, to]) => sum + to - from, 0);
  const step = Math.max(1, Math.ceil(count / SAMPLES));
  const sample: Run[] = [];
  let at = 0;
  for (const [from, to] of runs) {
    for (let piece = from; piece < to; piece += 1, at += 1)
      if (at % step === 0 || wanted.has(piece)) sample.push([piece, piece + 1]);
  }
  return sample;
}

/** Parts of files, and pads, in runs of whole pieces. */
export interface Slices {
  plan: PlanFile[];
  /** Of what on the axis each is a part. */
  items: number[];
}

export function slicesOf(axis: Axis, files: readonly Checked[], runs: readonly Run[]): Slices {
  const { pieceLength, end } = axis;
  const slices: Slices = { plan: [], items: [] };
  let at = 0;
  const endOf = (i: number) => (axis.starts[i] as number) + (axis.lengths[i] as number);
  for (const [firstPiece, pastPiece] of runs) {
    const [from, to] = [firstPiece * pieceLength, Math.min(pastPiece * pieceLength, end)];
    // Both are in order: what ends before this run ends before all that follow.
    while (at < axis.files.length && endOf(at) <= from) at += 1;
    for (let i = at; i < axis.files.length && (axis.starts[i] as number) < to; i += 1) {
      const start = axis.starts[i] as number;
      const first = Math.max(from, start);
      const length = Math.min(to, endOf(i)) - first;
      // All of a file in a run is there.
      const found = fileAt(axis, files, i)?.found as Extract<Found, { size: number }> | undefined;
      slices.items.push(i);
      slices.plan.push(
        found
          ? { path: found.diskPath, offset: first - start, length, size: found.size, mtimeMs: found.mtimeMs }
          : { path: null, offset: 0, length, size: length, mtimeMs: Number.NaN },
      );
    }
  }
  return slices;
}
