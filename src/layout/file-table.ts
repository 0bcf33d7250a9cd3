/** The files of a torrent in packed columns, so that a million files take no object each. */

/** Paths as bytes. */
export interface PathColumn {
  /** The paths in UTF-8, one directly after the other; a zero byte stands between the components of a path. */
  bytes: Uint8Array;
  /** Where each path ends in `bytes`. */
  ends: Uint32Array;
}

/** The columns of a {@link FileTable}: plain data that native code reads and makes. */
export interface FileColumns {
  /** The path of each file from the root of the torrent; no components for the root itself. */
  paths: PathColumn;
  /** Bytes of each file. */
  lengths: Float64Array;
  /** When the content of each file changed last, in milliseconds since 1970. */
  mtimes: Float64Array;
  /** When the content or the status of each file changed last, in milliseconds since 1970. */
  ctimes: Float64Array;
  /** Where the files are on disk, from the real root; null if every file is at its path, because no link leads to any. */
  diskPaths: PathColumn | null;
}

/** A file of a {@link FileTable}. */
export interface TableFile {
  /** Components from the root of the torrent. */
  path: string[];
  /** Bytes. */
  length: number;
  /** Milliseconds since 1970. */
  mtimeMs: number;
  /** Milliseconds since 1970. */
  ctimeMs: number;
}

/** The bytes of one path of a column. */
export function pathBytes({ bytes, ends }: PathColumn, index: number): Uint8Array {
  return bytes.subarray(index === 0 ? 0 : ends[index - 1], ends[index]);
}

/** The components of one path of a column. */
export function pathAt(column: PathColumn, index: number): string[] {
  const bytes = pathBytes(column, index);
  return bytes.length === 0 ? [] : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString().split('\0');
}
