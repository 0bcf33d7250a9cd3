/** The model of a file in a v1 `files` list. */
import { define, type Struct } from 'superstruct';
import type { BencodeMap } from '../bencode/value.ts';
import { shown } from '../errors/errors.ts';
import { isSize } from '../errors/guard.ts';
import { type PaddedFile, padsIn } from '../layout/padding.ts';
import { unsafeComponent } from '../layout/safe-path.ts';
import { isMap } from '../platform/node.ts';
import { FILE_ITEM } from './file-fields.ts';
import type { InfoDictHybridCreate } from './info-dict.ts';
import { fileOf, filesOf, isDictionary, withInput } from './input.ts';

/** An entry of a v1 `files` list (BEP 3; `attr` and links by BEP 47). */
export interface FileItem extends PaddedFile {
  /** The path to show (`path.utf-8`), where an old creator wrote `path` in another encoding. */
  readonly pathUtf8?: readonly string[] | null;
  /** The target of a symbolic link (`attr` with `l`): components below the torrent's root. */
  readonly symlinkPath?: readonly string[] | null;
  /** Unknown keys: keys with one character per byte, values as the decoder gives them. */
  readonly extra?: BencodeMap;
}

/** Checks an entry of a v1 list. superstruct's `create` accepts decoded dictionaries, on-disk keys and property names. */
export const FileItem: Struct<FileItem, null> = withInput(
  define<FileItem>('file', (value) => {
    const problem = fileProblem(value);
    return problem === null || `in a file: ${problem}`;
  }),
  fileOf(FILE_ITEM),
);

/**
 * Checks a v1 file list, of at least one file. superstruct's `create` accepts the same forms of its items as that of
 * {@link FileItem}. One pass, because a struct for each element takes seconds for 100,000 files.
 */
export const FileList: Struct<readonly FileItem[], null> = withInput(
  define('files', (value, { path: at }) => {
    if (!Array.isArray(value)) return `expected a list of files, got ${shown(value)}`;
    if (value.length === 0) return 'expected at least one file, got an empty list';
    return failuresOfFiles(value, at);
  }),
  filesOf(FILE_ITEM),
);

function* failuresOfFiles(files: readonly unknown[], at: readonly (string | number)[]) {
  for (const [index, file] of files.entries()) {
    const message = fileProblem(file);
    if (message) yield { path: [...at, index], message };
  }
}

function fileProblem(file: unknown): string | null {
  const problem = entryProblem(file);
  if (problem) return problem;
  const { path, pathUtf8, attr } = file as FileItem;
  // BEP 47: a pad file needs no path.
  if (!(Array.isArray(path) && path.length === 0 && attr?.includes('p'))) {
    const ofPath = pathProblem('path', path);
    if (ofPath) return ofPath;
  }
  return pathUtf8 == null ? null : pathProblem('pathUtf8', pathUtf8);
}

/** Describes the first problem of the properties that files of v1 lists and v2 trees share; null for none. */
export function entryProblem(file: unknown): string | null {
  if (!isDictionary(file) || isMap(file)) return `expected a file, got ${shown(file)}`;
  const { length, attr, symlinkPath, extra } = file as Partial<FileItem>;
  if (!isSize(length)) return `expected a length of 0 or more, got ${shown(length)}`;
  if (attr != null && typeof attr !== 'string') return `expected attr to be text, got ${shown(attr)}`;
  if (extra !== undefined && !isMap(extra)) return `expected extra to be a Map, got ${shown(extra)}`;
  const ofTarget = symlinkPath == null ? null : pathProblem('symlinkPath', symlinkPath);
  if (ofTarget || !attr?.includes('l')) return ofTarget;
  if (symlinkPath == null) return 'a symbolic link must have a symlinkPath';
  return length === 0 ? null : `expected a symbolic link without content, got ${length} bytes`;
}

function pathProblem(name: string, path: unknown): string | null {
  if (!(Array.isArray(path) && path.length > 0 && path.every((part) => typeof part === 'string')))
    return `expected ${name} to be a list of at least one component, got ${shown(path)}`;
  const unsafe = path.find((part: string) => unsafeComponent(part) !== null) as string | undefined;
  return unsafe === undefined ? null : `${unsafeComponent(unsafe)} in ${name}: ${shown(unsafe)}`;
}

type V1Content = Pick<InfoDictHybridCreate, 'name' | 'length' | 'files'>;

/** The files of a v1 info dictionary, a single file as a list of one. Null when it has neither `files` nor `length`. */
export function v1Files({ name, length, files }: V1Content): readonly FileItem[] | null {
  if (files) return files;
  return length != null ? [{ path: [name ?? ''], length }] : null;
}

/** The files of a complete v1 info dictionary, and a test for the pad files among them. */
export function v1List(info: object): { list: readonly FileItem[]; isPad: (file: FileItem) => boolean } {
  const list = v1Files(info as V1Content) ?? [];
  return { list, isPad: padsIn(list, (info as { pieceLength: number }).pieceLength) };
}
