/** Makes the files of a hash request: files on disk, data in memory, and pad files. */
import type { DiskFiles, FileTable, TableFile } from '../layout/file-table.ts';
import { systemPath } from '../text/name-bytes.ts';
import type { RequestedFile, RequestedFiles } from './engine.ts';

/** A file of known length, on disk (`diskPath`) or in memory (`data`). */
interface PlannedContent {
  length: number | null;
  diskPath?: string | undefined;
  mtimeMs?: number | undefined;
  data?: Uint8Array | undefined;
  /** Where the content starts in the file. Default: at its start. */
  offset?: number | undefined;
  /** Bytes of the whole file. Default: those of the content. */
  size?: number | undefined;
}

/** The request file of a scanned file or a buffer. */
export function toRequestedFile({ length, diskPath, mtimeMs, data, offset = 0, size }: PlannedContent): RequestedFile {
  const bytes = length as number;
  const path = diskPath === undefined ? null : systemPath(diskPath);
  return { path, data, offset, length: bytes, size: size ?? bytes, mtimeMs: mtimeMs ?? Number.NaN };
}

/** The request file of a pad file of `length` bytes. */
export function requestedPadFile(length: number): RequestedFile {
  return { path: null, offset: 0, length, size: length, mtimeMs: Number.NaN };
}

/** The request file of `length` bytes of a buffer, from `offset`. */
export function requestedMemory(data: Uint8Array, offset = 0, length = data.length): RequestedFile {
  return { path: null, data, offset, length, size: data.length, mtimeMs: Number.NaN };
}

/** The request files of a table, made one by one when an engine asks for them. The native engine takes the columns instead. */
export class RequestedTable implements RequestedFiles {
  readonly length: number;
  /** Bytes of each file. */
  readonly lengths: Float64Array;
  readonly onDisk: DiskFiles;
  readonly #table: FileTable;

  constructor(table: FileTable, onDisk: DiskFiles) {
    this.length = table.length;
    this.lengths = table.lengths;
    this.onDisk = onDisk;
    this.#table = table;
  }

  /** Bytes of all files together. */
  get totalLength(): number {
    return this.#table.totalLength;
  }

  at(index: number): RequestedFile | undefined {
    const file = this.#table.at(index);
    return file && toRequestedFile(file);
  }

  *[Symbol.iterator](): Generator<RequestedFile> {
    for (const file of this.#table) yield toRequestedFile(file);
  }
}

/** The request files of a table whose lengths are known. */
export function toRequestedFiles<File extends TableFile & PlannedContent>(table: FileTable<File>): RequestedFiles {
  return table.onDisk ? new RequestedTable(table, table.onDisk) : table.map(toRequestedFile);
}

/** Bytes that are missing to the end of the last piece of a file. */
export function bytesToPieceEnd(length: number, pieceLength: number): number {
  return (pieceLength - (length % pieceLength)) % pieceLength;
}

/** Bytes of each file of a request. */
export function lengthsOf(files: RequestedFiles): ArrayLike<number> {
  return files instanceof RequestedTable ? files.lengths : Array.from(files, ({ length }) => length);
}
