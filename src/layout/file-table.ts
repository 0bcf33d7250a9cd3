/** The files of a torrent in packed columns, so that a million files take no object each; native: `core/table/file_columns.h`. */
import { MetainfoError } from '../errors/errors.ts';
import { includesBytes, sep, utf8Length, utf8Text } from '../platform/node.ts';
import { nameBytes, nameText } from '../text/name-bytes.ts';
import { BITCOMET_PAD, isNamedLikePad, PAD_FOLDER } from './padding.ts';

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
  /** Bytes of each file. NaN: only the end of a stream tells. */
  lengths: Float64Array;
  /** When the content of each file changed last, in milliseconds since 1970. NaN: the file is not on disk. */
  mtimes: Float64Array;
  /** When the content or the status of each file changed last, in milliseconds since 1970. NaN: the file is not on disk. */
  ctimes: Float64Array;
  /** Where the files are on disk, from the real root; null if every file is at its path, because no link leads to any. */
  diskPaths: PathColumn | null;
}

/** A file of a {@link FileTable}. */
export interface TableFile {
  /** Components from the root of the torrent. */
  path: readonly string[];
  /** Bytes; null if only the end of a stream tells. */
  length: number | null;
  /** The path on disk, without links; undefined for a file that is not on disk. */
  diskPath?: string | undefined;
  /** Milliseconds since 1970; undefined for a file that is not on disk. */
  mtimeMs?: number | undefined;
  /** Milliseconds since 1970; undefined for a file that is not on disk. */
  ctimeMs?: number | undefined;
}

/** Files on disk below one folder. */
export interface DiskFiles {
  /** The real path of the folder, or of the only file. */
  root: string;
  columns: FileColumns;
}

/** The content of a {@link FileTable}: plain data, which `structuredClone` copies if the files are plain data. */
export type FileTableData<File extends TableFile> = readonly File[] | DiskFiles;

/** Properties of all files of a table, which take a moment to find out for a million files. */
export interface TableFacts {
  /** The bytes of all files together. A file of unknown length counts as empty. */
  totalLength: number;
  /** Whether any file or folder is named like a pad file of BitComet: see {@link isNamedLikePad}. */
  hasNamesLikePads: boolean;
}

/**
 * The files of a torrent. A table of few files, or of files that are not all on disk, is a list of objects. A table of many
 * files on disk is columns, and makes an object for a file only when somebody asks for it.
 */
export class FileTable<File extends TableFile = TableFile> implements Iterable<File> {
  /** The content of the table: `new FileTable(data)` makes the same table. */
  readonly data: FileTableData<File>;
  /** The number of files. */
  readonly length: number;
  #columns: FileColumns | null = null;
  #lengths: Float64Array | null = null;
  readonly #facts: Partial<TableFacts>;

  /** @param facts What is known already. */
  constructor(data: FileTableData<File>, facts: Readonly<Partial<TableFacts>> = {}) {
    this.data = data;
    this.#facts = { ...facts };
    this.length = 'columns' in data ? data.columns.lengths.length : data.length;
  }

  /** The files, if the table is columns of files on disk. */
  get onDisk(): DiskFiles | null {
    return 'columns' in this.data ? this.data : null;
  }

  /** The columns of the table. A list makes its columns when they are first needed, without `diskPaths`. */
  get columns(): FileColumns {
    this.#columns ??= 'columns' in this.data ? this.data.columns : columnsOf(this.data);
    return this.#columns;
  }

  /** Bytes of each file. NaN: only the end of a stream tells. */
  get lengths(): Float64Array {
    this.#lengths ??= 'columns' in this.data ? this.data.columns.lengths : lengthsOf(this.data);
    return this.#lengths;
  }

  /** The bytes of all files together. A file of unknown length counts as empty. */
  get totalLength(): number {
    this.#facts.totalLength ??= sumOf(this.lengths);
    return this.#facts.totalLength;
  }

  /** Whether the length of every file is known. */
  get hasAllLengths(): boolean {
    return this.onDisk !== null || !this.lengths.includes(Number.NaN);
  }

  /** Whether any file or folder is named like a pad file of BitComet: see {@link isNamedLikePad}. */
  get hasNamesLikePads(): boolean {
    this.#facts.hasNamesLikePads ??= hasNamesLikePads(this.data);
    return this.#facts.hasNamesLikePads;
  }

  /** Whether a file or folder at the top has the name of the folder of pad files. */
  get hasPadFolder(): boolean {
    if ('columns' in this.data && !holds(this.data, PAD_FOLDER)) return false;
    for (const { path } of this) if (path[0] === PAD_FOLDER) return true;
    return false;
  }

  /** The file at an index; undefined out of range. */
  at(index: number): File | undefined {
    return 'columns' in this.data ? (fileAt(this.data, index) as File | undefined) : this.data[index];
  }

  /** The path of the file at an index, with `/`; empty out of range. */
  pathAt(index: number): string {
    return this.at(index)?.path.join('/') ?? '';
  }

  /** The files in order. A table of columns makes them one by one. */
  *[Symbol.iterator](): Generator<File> {
    for (let i = 0; i < this.length; i += 1) yield this.at(i) as File;
  }

  /** An array of what `convert` makes of each file. */
  map<T>(convert: (file: File, index: number) => T): T[] {
    // A list's own map, because an iterator takes ten times as long.
    return 'columns' in this.data ? Array.from(this, convert) : this.data.map((file, index) => convert(file, index));
  }

  /** The files as an array: those of columns are made anew. */
  rows(): readonly File[] {
    return 'columns' in this.data ? [...this] : this.data;
  }

  /** The files of this length. */
  *withLength(length: number): Generator<File> {
    for (let i = this.lengths.indexOf(length); i >= 0; i = this.lengths.indexOf(length, i + 1)) {
      yield this.at(i) as File;
    }
  }
}

/** The bytes of one path of a column. */
export function pathBytes({ bytes, ends }: PathColumn, index: number): Uint8Array {
  return bytes.subarray(index === 0 ? 0 : ends[index - 1], ends[index]);
}

/** The components of one path of a column. */
export function pathAt(column: PathColumn, index: number): string[] {
  const bytes = pathBytes(column, index);
  return bytes.length === 0 ? [] : nameText(bytes).split('\0');
}

/** The components of the paths from `first` up to `end`. ASCII is decoded all at once, in half the time of single paths. */
export function pathsAt(column: PathColumn, first: number, end: number): string[][] {
  const { bytes, ends } = column;
  const start = first === 0 ? 0 : (ends[first - 1] as number);
  const last = Math.min(end, ends.length);
  const text = utf8Text(bytes, start, ends[last - 1]);
  const isAscii = text.length === (ends[last - 1] as number) - start;
  return Array.from({ length: last - first }, (_, i) => {
    const [from, to] = [i === 0 ? start : (ends[first + i - 1] as number), ends[first + i] as number];
    return isAscii ? text.slice(from - start, to - start).split('\0') : pathAt(column, first + i);
  });
}

/** A column of paths, with zero characters between their components. Throws `ERR_TOO_LARGE`. */
export function pathColumn(paths: readonly string[]): PathColumn {
  const text = paths.join('');
  const isUtf8 = text.isWellFormed();
  let end = 0;
  const ends = paths.map((path) => {
    end += isUtf8 ? utf8Length(path) : nameBytes(path).length;
    return end;
  });
  requireColumnFits(end);
  return { bytes: nameBytes(text), ends: Uint32Array.from(ends) };
}

/** Throws `ERR_TOO_LARGE`: a column holds the ends of its paths in 32 bits. */
export function requireColumnFits(bytes: number): void {
  if (bytes < 2 ** 32) return;
  throw new MetainfoError('ERR_TOO_LARGE', 'The paths of all files together are longer than 4 GiB: add fewer files.');
}

function columnsOf(files: readonly TableFile[]): FileColumns {
  return {
    paths: pathColumn(files.map(({ path }) => path.join('\0'))),
    lengths: lengthsOf(files),
    mtimes: Float64Array.from(files, ({ mtimeMs }) => mtimeMs ?? Number.NaN),
    ctimes: Float64Array.from(files, ({ ctimeMs }) => ctimeMs ?? Number.NaN),
    diskPaths: null,
  };
}

function hasNamesLikePads(data: FileTableData<TableFile>): boolean {
  if (!('columns' in data)) return data.some(({ path }) => isNamedLikePad(path));
  return holds(data, BITCOMET_PAD);
}

/** Whether a text is anywhere in the paths. */
function holds({ columns }: DiskFiles, text: string): boolean {
  return includesBytes(columns.paths.bytes, text);
}

/** The sum of lengths. A file of unknown length counts as empty. */
export function sumOf(lengths: ArrayLike<number>): number {
  let sum = 0;
  // An index, because an iterator takes ten times as long, and there may be millions.
  for (let i = 0; i < lengths.length; i += 1) sum += lengths[i] || 0;
  return sum;
}

function lengthsOf(files: readonly TableFile[]): Float64Array {
  const lengths = new Float64Array(files.length);
  for (let i = 0; i < files.length; i += 1) lengths[i] = files[i]?.length ?? Number.NaN;
  return lengths;
}

function fileAt({ root, columns }: DiskFiles, index: number): TableFile | undefined {
  const { paths, lengths, mtimes, ctimes, diskPaths } = columns;
  if (!(index >= 0 && index < lengths.length)) return undefined;
  const path = nameText(pathBytes(paths, index));
  return {
    path: path === '' ? [] : path.split('\0'),
    length: lengths[index] as number,
    diskPath: diskPathBelow(root, diskPaths ? nameText(pathBytes(diskPaths, index)) : path),
    mtimeMs: mtimes[index],
    ctimeMs: ctimes[index],
  };
}

/** The path on disk of a path with zero characters; the folder itself has no components. */
export function diskPathBelow(root: string, path: string): string {
  if (path === '') return root;
  // Not `replaceAll`: its result is a chain of pieces, which takes 30 times the memory for a deep path.
  return (root.endsWith(sep) ? root : root + sep) + path.split('\0').join(sep);
}
