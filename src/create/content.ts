import type { ScannedFile } from '../disk/scan.ts';
import { type Digests, type HashPlan, layerCount, type PlanFile } from '../hash/plan.ts';
import type { SourceFile } from './sources.ts';

/** A file of a torrent under construction: on disk, in memory, or yet to come in a stream. */
export type ContentFile =
  | (ScannedFile & { data?: undefined; stream?: undefined })
  | (SourceFile & { diskPath?: undefined; mtimeMs?: undefined; ctimeMs?: undefined });

/** What a file hashes to in v2 (BEP 52). */
export interface TreeDigests {
  /** 32 bytes; null for an empty file. */
  root: Uint8Array | null;
  /** 32 bytes a piece, packed; empty unless the file is longer than a piece. */
  layer: Uint8Array;
}

/** What a file hashes to that begins with a piece. */
export interface FileDigests extends TreeDigests {
  /** v1: 20 bytes a piece, packed; the last with the pad after the file, where there is one. */
  pieces: Uint8Array;
}

/** What the files of a torrent hash to, in its order. */
export interface Hashed {
  /** Bytes of each: those of streams are known now. */
  lengths: readonly number[];
  /** v1: 20 bytes a piece, packed. */
  pieces: Uint8Array | null;
  /** v2: of each file. */
  trees: readonly TreeDigests[] | null;
}

/** A file that is there, as an engine takes it. */
export function onPlan({ length, diskPath, mtimeMs, data }: ContentFile): PlanFile {
  const size = length as number;
  return { path: diskPath ?? null, data, offset: 0, length: size, size, mtimeMs: mtimeMs ?? Number.NaN };
}

export function padOnPlan(length: number): PlanFile {
  return { path: null, offset: 0, length, size: length, mtimeMs: Number.NaN };
}

/** A part of what is in memory. */
export function inMemory(data: Uint8Array, offset = 0, length = data.length): PlanFile {
  return { path: null, data, offset, length, size: data.length, mtimeMs: Number.NaN };
}

/** A file on a plan where each begins with a piece: there is a pad after it when its last piece is to be filled. */
export interface AlignedFile {
  plan: PlanFile;
  isPadded: boolean;
}

/** The pad after a file: none, or one. */
export function padAfter(length: number, pieceLength: number): PlanFile[] {
  const missing = (pieceLength - (length % pieceLength)) % pieceLength;
  return missing > 0 ? [padOnPlan(missing)] : [];
}

/** The files with their pads. */
export function alignedPlan(files: readonly AlignedFile[], pieceLength: number): PlanFile[] {
  return files.flatMap(({ plan, isPadded }) => [plan, ...(isPadded ? padAfter(plan.length, pieceLength) : [])]);
}

/** Whose is what of the digests of an {@link alignedPlan}: views of them, a file each. */
export function splitDigests(
  files: readonly AlignedFile[],
  { v1, v2 }: Digests,
  { version, pieceLength }: Pick<HashPlan, 'version' | 'pieceLength'>,
): FileDigests[] {
  let [piece, layerAt, at] = [0, 0, 0];
  return files.map(({ plan, isPadded }) => {
    const { length } = plan;
    const [pieceFrom, layerFrom, index] = [piece, layerAt, at];
    piece += version === 'v2' ? 0 : Math.ceil(length / pieceLength) * 20;
    layerAt += layerCount(plan, pieceLength) * 32;
    at += isPadded && length % pieceLength !== 0 ? 2 : 1;
    return {
      pieces: v1?.subarray(pieceFrom, piece) ?? new Uint8Array(),
      root: v2 && length > 0 ? v2.roots.subarray(index * 32, (index + 1) * 32) : null,
      layer: v2?.layers.subarray(layerFrom, layerAt) ?? new Uint8Array(),
    };
  });
}
