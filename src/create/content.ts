/** The files that a draft names, and what they hash to. */
import type { ScannedFile } from '../disk/scan.ts';
import type { TreeDigests } from '../hash/file-digests.ts';
import type { SourceFile } from './sources.ts';

/** A file of a torrent under construction: on disk, in memory, or yet to come in a stream. */
export type ContentFile =
  | (ScannedFile & { data?: undefined; stream?: undefined })
  | (SourceFile & { diskPath?: undefined; mtimeMs?: undefined; ctimeMs?: undefined });

/** What the files of a torrent hash to, in its order. */
export interface Hashed {
  /** Bytes of each: those of streams are known now. */
  lengths: readonly number[];
  /** v1: 20 bytes a piece, packed. */
  pieces: Uint8Array | null;
  /** v2: of each file. */
  trees: readonly TreeDigests[] | null;
}
