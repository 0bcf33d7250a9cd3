/** Collects the files of a scan in columns. */

import { type FileColumns, type PathColumn, pathColumn, requireColumnFits } from '../layout/file-table.ts';
import { concatBytes, shortBytes } from '../platform/node.ts';

/** A file that is added by itself. Zero characters stand between the components of its paths. */
export interface FileRow {
  /** The path from the root of the torrent. */
  path: string;
  /** Where it is on disk, from the real root. */
  disk: string;
  /** Bytes. */
  size: number;
  /** Milliseconds since 1970. */
  mtimeMs: number;
  /** Milliseconds since 1970. */
  ctimeMs: number;
}

/** Collects files, one by one or in columns, in the order in which they are added. */
export class FileColumnsBuilder {
  readonly #parts: FileColumns[] = [];
  /** The files that were added after the last part. */
  #rows: FileRow[] = [];

  addFile(file: FileRow): void {
    this.#rows.push(file);
  }

  addColumns(columns: FileColumns): void {
    this.#finishRows();
    if (columns.lengths.length > 0) this.#parts.push(columns);
  }

  /** @throws {MetainfoError} `ERR_TOO_LARGE` if the paths do not fit into a column */
  finish(): FileColumns {
    this.#finishRows();
    return joined(this.#parts);
  }

  #finishRows(): void {
    if (this.#rows.length > 0) this.#parts.push(columnsOf(this.#rows));
    this.#rows = [];
  }
}

/** A copy of the files whose byte in `keeps` is not zero. */
export function filteredColumns(columns: FileColumns, keeps: Uint8Array): FileColumns {
  const kept = (values: Float64Array) => values.filter((_, i) => keeps[i] !== 0);
  return {
    paths: filteredPaths(columns.paths, keeps),
    lengths: kept(columns.lengths),
    mtimes: kept(columns.mtimes),
    ctimes: kept(columns.ctimes),
    diskPaths: columns.diskPaths && filteredPaths(columns.diskPaths, keeps),
  };
}

function filteredPaths({ bytes, ends }: PathColumn, keeps: Uint8Array): PathColumn {
  const startOf = (i: number) => (i === 0 ? 0 : (ends[i - 1] as number));
  let [count, size] = [0, 0];
  const keptEnds = new Uint32Array(ends.length);
  for (const [i, end] of ends.entries()) {
    if (keeps[i] === 0) continue;
    size += end - startOf(i);
    keptEnds[count] = size;
    count += 1;
  }
  const keptBytes = shortBytes(size);
  let at = 0;
  for (const [i, end] of ends.entries()) {
    if (keeps[i] === 0) continue;
    keptBytes.set(bytes.subarray(startOf(i), end), at);
    at += end - startOf(i);
  }
  return { bytes: keptBytes, ends: keptEnds.slice(0, count) };
}

function columnsOf(rows: readonly FileRow[]): FileColumns {
  return {
    paths: pathColumn(rows.map(({ path }) => path)),
    lengths: Float64Array.from(rows, ({ size }) => size),
    mtimes: Float64Array.from(rows, ({ mtimeMs }) => mtimeMs),
    ctimes: Float64Array.from(rows, ({ ctimeMs }) => ctimeMs),
    diskPaths: rows.every(({ path, disk }) => path === disk) ? null : pathColumn(rows.map(({ disk }) => disk)),
  };
}

function joined(parts: readonly FileColumns[]): FileColumns {
  const [first] = parts;
  if (first && parts.length === 1) return first;
  const hasDiskPaths = parts.some(({ diskPaths }) => diskPaths);
  return {
    paths: joinedPaths(parts.map(({ paths }) => paths)),
    lengths: joinedNumbers(parts.map(({ lengths }) => lengths)),
    mtimes: joinedNumbers(parts.map(({ mtimes }) => mtimes)),
    ctimes: joinedNumbers(parts.map(({ ctimes }) => ctimes)),
    diskPaths: hasDiskPaths ? joinedPaths(parts.map(({ paths, diskPaths }) => diskPaths ?? paths)) : null,
  };
}

function joinedNumbers(parts: readonly Float64Array[]): Float64Array {
  const all = new Float64Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

function joinedPaths(parts: readonly PathColumn[]): PathColumn {
  requireColumnFits(parts.reduce((sum, { bytes }) => sum + bytes.length, 0));
  const ends = new Uint32Array(parts.reduce((sum, part) => sum + part.ends.length, 0));
  let [count, size] = [0, 0];
  for (const part of parts) {
    for (const end of part.ends) {
      ends[count] = size + end;
      count += 1;
    }
    size += part.bytes.length;
  }
  return { bytes: concatBytes(parts.map(({ bytes }) => bytes)), ends };
}
