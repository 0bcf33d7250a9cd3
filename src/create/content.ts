import type { PlanFile } from '../hash/plan.ts';
import type { ScannedFile } from './scan.ts';
import type { SourceFile } from './sources.ts';

/** A file of a torrent under construction: on disk, in memory, or yet to come in a stream. */
export type ContentFile =
  | (ScannedFile & { data?: undefined; stream?: undefined })
  | (SourceFile & { diskPath?: undefined; mtimeMs?: undefined });

/** What a file hashes to in v2 (BEP 52). */
export interface TreeDigests {
  /** 32 bytes; null for an empty file. */
  root: Uint8Array | null;
  /** 32 bytes a piece, packed; empty unless the file is longer than a piece. */
  layer: Uint8Array;
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
