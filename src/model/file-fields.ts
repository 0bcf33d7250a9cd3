/** Fields of files: entries of a v1 `files` list and leaves of a v2 file tree. */
import { type BencodeMap, type BencodeValue, keyBytes } from '../bencode/value.ts';
import { shown } from '../errors/errors.ts';
import { unsafeComponent } from '../layout/safe-path.ts';
import { isUint8Array, isUtf8, latin1Text } from '../platform/node.ts';
import { decodeFields, type Field } from './field.ts';
import type { FileItem } from './file-item.ts';
import { textsOf } from './input.ts';
import type { Issues } from './issues.ts';
import type { FileTreeItem, Mutable } from './lazy/flat-tree.ts';
import { MAX_COMPONENTS } from './limits.ts';
import { decodeList, decodeMap, decodeText, root, size, textList } from './value-fields.ts';

/** BEP 47 flags. Latin-1 represents any byte without loss. */
const attr: Field<string> = {
  key: 'attr',
  lenient: true,
  decode: (value, issues) => {
    if (!(value instanceof Uint8Array)) return issues.add('type', [], () => `expected text, got ${shown(value)}`);
    issues.requireWithin('text', value.length);
    return latin1Text(value);
  },
  encode: (value) => keyBytes(value),
  coerce: (value) => (isUint8Array(value) ? latin1Text(value) : value),
};

/** A path as a list of components. An unsafe component is an error, in compat a warning. */
const pathList = (key: string, { lenient = false } = {}): Field<string[]> => ({
  key,
  lenient,
  decode: (value, issues) => {
    const parts = decodeList(value, issues, decodeComponent);
    const message = () => `expected at most ${MAX_COMPONENTS} components, got ${parts?.length}`;
    if (parts && parts.length > MAX_COMPONENTS) issues.add('deep_path', [], message, issues.rules.ignoredByClients);
    return parts?.length === 0 ? issues.add('required', [], 'expected at least one component, got none') : parts;
  },
  coerce: textsOf,
});

function decodeComponent(value: BencodeValue, issues: Issues): string | undefined {
  // libtorrent refuses this even where it ignores every other issue of a path.
  if (!(value instanceof Uint8Array))
    return issues.add('type', [], () => `expected text, got ${shown(value)}`, 'error', { lenient: false });
  const name = decodeText(value, issues);
  if (name !== undefined) checkComponent(name, issues);
  return name;
}

/** Reports a path component that is unsafe on disk. */
export function checkComponent(name: string, issues: Issues): void {
  const problem = unsafeComponent(name);
  if (problem) issues.forgivable('unsafe_path', [], () => `${problem} in a path: ${shown(name)}`);
}

/** libtorrent ignores a value that is not a list, but refuses a list that does not decode. */
const pathUtf8: Field<string[]> = {
  ...pathList('path.utf-8'),
  decode: (value, issues) => {
    if (Array.isArray(value)) return pathList('path.utf-8').decode(value, issues);
    return issues.forgivable('type', [], () => `expected a list, got ${shown(value)}`);
  },
};

/** The fields of an entry of a v1 list. */
export const FILE_ITEM = {
  length: size('length'),
  path: pathList('path'),
  attr,
  pathUtf8,
  symlinkPath: pathList('symlink path', { lenient: true }),
};

/** A pad file: libtorrent ignores its path. */
const PAD_ITEM = { ...FILE_ITEM, path: pathList('path', { lenient: true }), pathUtf8: { ...pathUtf8, lenient: true } };
const PAD_FLAG = 0x70;
/** A file with `path.utf-8`: libtorrent then ignores `path`. */
const UTF8_ITEM = { ...FILE_ITEM, path: textList('path') };

function hasUtf8Path(map: BencodeMap): boolean {
  const path = map.get('path.utf-8');
  return Array.isArray(path) && path.length > 0;
}

/** The fields of a leaf of a v2 tree. */
export const FILE_TREE_ITEM = {
  length: size('length'),
  piecesRoot: root('pieces root'),
  attr,
  symlinkPath: pathList('symlink path', { lenient: true }),
};

/** An empty file or a symbolic link: libtorrent ignores its pieces root. */
export const EMPTY_TREE_ITEM = { ...FILE_TREE_ITEM, piecesRoot: { ...root('pieces root'), lenient: true } };

/** Decodes a v1 `files` list. Returns undefined when it is empty or a file does not decode. */
export function decodeFileList(value: BencodeValue, issues: Issues): FileItem[] | undefined {
  return checkCount(decodeList(value, issues, decodeFileItem), issues);
}

/** Reports an empty list of files. */
export function checkCount(files: FileItem[] | undefined, issues: Issues): FileItem[] | undefined {
  return files?.length === 0 ? issues.add('required', [], 'expected at least one file, got an empty list') : files;
}

/** Decodes a file of a v1 list. */
export function decodeFileItem(entry: BencodeValue, issues: Issues): FileItem | undefined {
  const onDisk = decodeMap(entry, issues);
  if (!onDisk) return undefined;
  const map = withUtf8Name(onDisk, 'path', issues);
  const flags = map.get('attr');
  const isPad = flags instanceof Uint8Array && flags.includes(PAD_FLAG);
  const usesUtf8 = issues.compat && hasUtf8Path(map);
  const fields = isPad ? PAD_ITEM : usesUtf8 ? UTF8_ITEM : FILE_ITEM;
  const item: Partial<Mutable<FileItem>> = { attr: null, ...decodeFields(map, fields, issues) };
  const isLink = checkSymlink(item, map, issues);
  checkLength(item, map, { isLink, issues });
  // BEP 47: a pad file needs no path.
  if (isPad && (issues.compat || !map.has('path'))) item.path ??= [];
  else if (usesUtf8 && item.pathUtf8 && !item.path?.length) {
    if (!map.has('path')) issues.add('required', ['path'], 'a file must have a path', 'warning');
    item.path = item.pathUtf8;
  } else if (!map.has('path')) issues.add('required', ['path'], 'a file must have a path');
  return item.length === undefined || item.path === undefined ? undefined : (item as FileItem);
}

/** Replaces a name that is not UTF-8 by the name in UTF-8 that an old creator wrote beside it (`name.utf-8`, `path.utf-8`), except in strict. */
export function withUtf8Name(map: BencodeMap, key: 'name' | 'path', issues: Issues): BencodeMap {
  const utf8 = map.get(`${key}.utf-8`);
  const value = map.get(key);
  if (utf8 === undefined || value === undefined || issues.rules.isExact) return map;
  const parts = (name: BencodeValue) => (Array.isArray(name) ? name : [name]);
  const isText = (part: BencodeValue) => part instanceof Uint8Array && isUtf8(part);
  const isNotUtf8 = (part: BencodeValue) => part instanceof Uint8Array && !isUtf8(part);
  const fits = Array.isArray(utf8) === Array.isArray(value) && parts(utf8).length === parts(value).length;
  if (!fits || !parts(utf8).every(isText) || !parts(value).some(isNotUtf8)) return map;
  issues.add('not_utf8', [key], `expected UTF-8, got other bytes: used ${key}.utf-8 instead`, 'warning');
  return new Map(map).set(key, utf8);
}

/** Whether a file is a symbolic link, after its target and pieces root have been checked (BEP 47). */
export function checkSymlink(item: Partial<FileItem & FileTreeItem>, map: BencodeMap, issues: Issues): boolean {
  if (!item.attr?.includes('l')) return false;
  if (!map.has('symlink path')) issues.forgivable('symlink', [], 'a symbolic link must have a symlink path');
  if (item.piecesRoot) issues.forgivable('symlink', ['pieces root'], 'a symbolic link has no pieces root');
  return true;
}

/** Checks that a file has a length. A symbolic link has no content (BEP 47), so its length becomes 0. */
export function checkLength(
  item: Partial<Mutable<FileItem & FileTreeItem>>,
  map: BencodeMap,
  { isLink, issues }: { isLink: boolean; issues: Issues },
): void {
  if (item.length === undefined && isLink && !map.has('length')) item.length = 0;
  else if (!map.has('length')) issues.add('required', ['length'], 'a file must have a length');
  if (!isLink || !item.length) return;
  const { length } = item;
  issues.forgivable('symlink', ['length'], () => `expected a symbolic link without content, got ${length} bytes`);
  item.length = 0;
}
