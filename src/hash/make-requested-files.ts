/** Makes the files of a hash request: files on disk, data in memory, and pad files. */
import type { FileTable, TableFile } from '../layout/file-table.ts';
import type { NativeTable } from './addon.ts';
import type { RequestedFile, RequestedFiles } from './engine.ts';
import { systemPath } from './system-path.ts';

/** A file of known length, on disk (`diskPath`) or in memory (`data`). */
interface PlannedContent {
  /** The path in the torrent. */
  path?: readonly string[] | undefined;
  length: number | null;
  diskPath?: string | undefined;
  mtimeMs?: number | undefined;
  data?: Uint8Array | undefined;
  blob?: Blob | undefined;
  /** Where the content starts in the file. Default: at its start. */
  offset?: number | undefined;
  /** Bytes of the whole file. Default: those of the content. */
  size?: number | undefined;
}

/** The request file of a scanned file or a buffer. */
export function toRequestedFile({
  path: parts,
  length,
  diskPath,
  mtimeMs,
  data,
  blob,
  offset = 0,
  size,
}: PlannedContent): RequestedFile {
  const bytes = length as number;
  // Errors name a Blob by its path in the torrent.
  const named = blob && parts ? parts.join('/') : null;
  const path = diskPath === undefined ? named : systemPath(diskPath);
  return { path, data, blob, offset, length: bytes, size: size ?? bytes, mtimeMs: mtimeMs ?? Number.NaN };
}

/** The request file of a pad file of `length` bytes. */
export function requestedPadFile(length: number): RequestedFile {
  return { path: null, offset: 0, length, size: length, mtimeMs: Number.NaN };
}

/** The request file of `length` bytes of a buffer, from `offset`. */
export function requestedMemory(data: Uint8Array, offset = 0, length = data.length): RequestedFile {
  return { path: null, data, offset, length, size: data.length, mtimeMs: Number.NaN };
}

/** Request files that are made one by one when an engine asks for them. The native engine takes their columns instead. */
export class RequestedTable implements RequestedFiles {
  readonly length: number;
  /** Bytes of each file. */
  readonly lengths: Float64Array;
  readonly native: NativeTable;
  readonly #fileAt: (index: number) => RequestedFile;

  constructor(lengths: Float64Array, native: NativeTable, fileAt: (index: number) => RequestedFile) {
    this.length = lengths.length;
    this.lengths = lengths;
    this.native = native;
    this.#fileAt = fileAt;
  }

  at(index: number): RequestedFile | undefined {
    return index >= 0 && index < this.length ? this.#fileAt(index) : undefined;
  }

  *[Symbol.iterator](): Generator<RequestedFile> {
    for (let i = 0; i < this.length; i += 1) yield this.#fileAt(i);
  }
}

/** The request files of a table whose lengths are known. */
export function toRequestedFiles<File extends TableFile & PlannedContent>(table: FileTable<File>): RequestedFiles {
  if (!table.onDisk) return table.map(toRequestedFile);
  const native = { ...table.onDisk, ranges: null };
  return new RequestedTable(table.lengths, native, (index) => toRequestedFile(table.at(index) as File));
}

/** The request files of some files of a table, by their indexes. */
export function toRequestedFilesAt<File extends TableFile & PlannedContent>(
  table: FileTable<File>,
  indexes: Uint32Array,
): RequestedFiles {
  const fileAt = (i: number) => toRequestedFile(table.at(indexes[i] as number) as File);
  if (!table.onDisk) return Array.from(indexes, (_, i) => fileAt(i));
  const lengths = Float64Array.from(indexes, (index) => table.lengths[index] as number);
  const ranges = { files: indexes, offsets: new Float64Array(indexes.length), lengths };
  return new RequestedTable(lengths, { ...table.onDisk, ranges }, fileAt);
}

/** The files of a request from `first` to, but not including, `end`. */
export function requestedBetween(files: RequestedFiles, first: number, end: number): RequestedFiles {
  const fileAt = (i: number) => files.at(first + i) as RequestedFile;
  if (!(files instanceof RequestedTable)) return Array.from({ length: end - first }, (_, i) => fileAt(i));
  const { ranges } = files.native;
  const lengths = files.lengths.subarray(first, end);
  const offsets = ranges?.offsets.subarray(first, end) ?? new Float64Array(lengths.length);
  const indexes = ranges?.files.subarray(first, end) ?? Uint32Array.from(lengths, (_, i) => first + i);
  return new RequestedTable(lengths, { ...files.native, ranges: { files: indexes, offsets, lengths } }, fileAt);
}

/** Bytes that are missing to the end of the last piece of a file. */
export function bytesToPieceEnd(length: number, pieceLength: number): number {
  return (pieceLength - (length % pieceLength)) % pieceLength;
}

/** Bytes of each file of a request. */
export function lengthsOf(files: RequestedFiles): ArrayLike<number> {
  return files instanceof RequestedTable ? files.lengths : Array.from(files, ({ length }) => length);
}
