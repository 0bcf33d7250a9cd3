/** The model of a file in a v1 `files` list. */
import { coerce, define, type Struct, unknown } from 'superstruct';
import type { BencodeMap } from '../bencode/value.ts';
import { shown } from '../errors/errors.ts';
import type { PaddedFile } from '../layout/padding.ts';
import { FILE_ITEM } from './file-fields.ts';
import { fromInput, isDictionary } from './input.ts';
import { Issues } from './issues.ts';

/** An entry of a v1 `files` list (BEP 3; `attr` and links by BEP 47). */
export interface FileItem extends PaddedFile {
  /** The path to show (`path.utf-8`), where an old creator wrote `path` in another encoding. */
  pathUtf8?: string[] | null;
  /** The target of a symbolic link (`attr` with `l`): components below the torrent's root. */
  symlinkPath?: string[] | null;
  /** Unknown keys: keys with one character per byte, values as the decoder gives them. */
  extra?: BencodeMap;
}

/** Checks an entry of a v1 list. superstruct's `create` accepts on-disk keys and property names. */
export const FileItem: Struct<FileItem, null> = coerce(
  define<FileItem>('file', (value) => {
    const problem = problemOf(value as Partial<FileItem> | null);
    return problem === null || `In a file: ${problem}`;
  }),
  unknown(),
  (value) =>
    (isDictionary(value)
      ? { attr: null, ...fromInput(value, FILE_ITEM, { path: [], issues: new Issues() }) }
      : value) as FileItem,
);

/** Checks a v1 file list, of at least one file. One pass, because a struct for each element takes seconds for 100,000 files. */
export const FileList: Struct<FileItem[], null> = define('files', (value) => {
  if (!Array.isArray(value)) return `Expected a list of files, got ${shown(value)}`;
  if (value.length === 0) return 'Expected at least one file, got an empty list';
  for (const [index, file] of value.entries()) {
    const problem = problemOf(file);
    if (problem) return `Item ${index}: ${problem}`;
  }
  return true;
});

function problemOf(file: Partial<FileItem> | null): string | null {
  if (file === null || typeof file !== 'object') return `expected a file, got ${shown(file)}`;
  const { length, path, attr } = file;
  if (!Number.isSafeInteger(length) || (length as number) < 0)
    return `expected a length of 0 or more, got ${shown(length)}`;
  if (attr !== undefined && attr !== null && typeof attr !== 'string')
    return `expected attr to be text, got ${shown(attr)}`;
  // BEP 47: a pad file needs no path.
  const hasPath = Array.isArray(path) && (path.length > 0 || (attr?.includes('p') ?? false));
  const isValid = hasPath && path.every((part) => typeof part === 'string');
  return isValid ? null : `expected a path of at least one component, got ${shown(path)}`;
}

/** The files of a v1 info dictionary, a single file as a list of one. Null when it has neither `files` nor `length`. */
export function v1Files({
  name,
  length,
  files,
}: {
  name?: string | null | undefined;
  length?: number | null | undefined;
  files?: FileItem[] | null | undefined;
}): FileItem[] | null {
  if (files) return files;
  return length != null ? [{ path: [name ?? ''], length }] : null;
}
