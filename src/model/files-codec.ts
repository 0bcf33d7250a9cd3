/**
 * Reads and writes file lists and file trees directly in bencode, because they are the largest part of most torrents. Entries
 * of the usual form are read in place; all others go through the functions that report issues.
 */
import { Cursor, template } from '../bencode/cursor.ts';
import { decodeTrusted as decode } from '../bencode/decode.ts';
import { encode, Writer } from '../bencode/encode.ts';
import { NO_LIMITS } from '../bencode/limits.ts';
import { type BencodeMap, type BencodeValue, keyBytes, RawBencode } from '../bencode/value.ts';
import { shown } from '../errors/errors.ts';
import { unsafeComponent } from '../layout/safe-path.ts';
import { INFO } from './codec.ts';
import { encodeFields, type Field } from './field.ts';
import { checkCount, decodeFileItem, encodeFileItem, FILE_TREE_ITEM } from './file-fields.ts';
import type { FileItem } from './file-item.ts';
import type { FileTreeItem, FlatFile } from './flat-tree.ts';
import type { Issues } from './issues.ts';
import { checkRoot, decodeFolder, decodeName, UniqueNames } from './tree-fields.ts';

/** Tells the decoder to check the bytes of file lists and trees without building values from them. */
export const RAW = { within: 'info', keys: new Set(['files', 'file tree']) };

/** Options for bytes that the decoder has checked within the limits of the caller. */
const CHECKED = { tolerant: true, limits: NO_LIMITS };

const DICTIONARY = 0x64;
const LIST = 0x6c;

const ATTR = template('4:attr');
const DICT = template('d');
const EMPTY = template('de');
const ENDS = template('ee');
const LENGTH = template('6:lengthi');
const PATH = template('4:pathl');
const LEAF = template('d0:d6:lengthi');
const LEAF_START = template('d0:');
const ROOT = template('11:pieces root32:');

const files: Field<FileItem[]> = {
  key: 'files',
  decode: (value, issues) => {
    const raw = value as unknown;
    return raw instanceof RawBencode && raw.bytes[0] === LIST
      ? checkCount(readList(raw.bytes, issues), issues)
      : INFO.files.decode(decodeRaw(value), issues);
  },
  encode: encodeFileList,
};

const fileTree: Field<FlatFile[]> = {
  key: 'file tree',
  decode: (value, issues) => {
    const raw = value as unknown;
    if (raw instanceof RawBencode && raw.bytes[0] === DICTIONARY) return readTree(raw.bytes, issues);
    return INFO.fileTree.decode(decodeRaw(value), issues) as undefined;
  },
  encode: encodeFlatTree,
};

/** The fields of an info dictionary decoded with {@link RAW}. Its `fileTree` is a flat list of files. */
export const RAW_INFO = { ...INFO, files, fileTree };

/** The same where `name.utf-8` has the name: an invalid `name` is then only a warning. */
export const RAW_INFO_UTF8 = { ...RAW_INFO, name: { ...INFO.name, lenient: true } };

/** Decodes a raw value of the wrong type, for the function that reports it. */
function decodeRaw(value: BencodeValue): BencodeValue {
  const raw = value as unknown;
  return raw instanceof RawBencode ? decode(raw.bytes, CHECKED).value : value;
}

function readList(bytes: Uint8Array, issues: Issues): FileItem[] | undefined {
  const cursor = new Cursor(bytes);
  const items: FileItem[] = [];
  let index = 0;
  cursor.at = 1;
  for (; !cursor.atEnd; index += 1) {
    issues.requireWithin('files', index + 1);
    const start = cursor.at;
    let item = readUsualItem(cursor);
    if (!item) {
      cursor.at = start;
      cursor.skip();
      const { value } = decode(bytes.subarray(start, cursor.at), CHECKED);
      item = issues.within(index, () => decodeFileItem(value, issues)) ?? null;
    }
    if (item) items.push(item);
  }
  return items.length === index ? items : undefined;
}

/**
 * Reads an entry of the usual form: `d[4:attrN:..]6:lengthi..e4:pathl..ee` with safe names. Returns null, with the cursor
 * anywhere, for any other.
 */
function readUsualItem(cursor: Cursor): FileItem | null {
  if (!cursor.skipExpected(DICT)) return null;
  const attr = cursor.skipExpected(ATTR) ? readAttr(cursor) : undefined;
  if (attr === null || attr?.includes('l') || !cursor.skipExpected(LENGTH)) return null;
  const length = cursor.digits();
  if (length < 0 || !cursor.skipExpected(PATH)) return null;
  const path: string[] = [];
  while (!cursor.atEnd) {
    const name = isString(cursor.next) ? cursor.text() : null;
    if (name === null || (cursor.suspicious && unsafeComponent(name))) return null;
    path.push(name);
  }
  if (path.length === 0 || !cursor.skipExpected(ENDS)) return null;
  return attr === undefined ? { length, path } : { attr, length, path };
}

function readAttr(cursor: Cursor): string | null {
  return isString(cursor.next) ? cursor.latin1() : null;
}

function isString(byte: number): boolean {
  return byte >= 0x30 && byte <= 0x39;
}

function readTree(bytes: Uint8Array, issues: Issues): FlatFile[] | undefined {
  const cursor = new Cursor(bytes);
  const flat: FlatFile[] = [];
  const isEmpty = bytes.length === 2;
  if (!checkRoot(isEmpty ? 0 : 1, bytes[1] === 0x30, issues)) return undefined;
  const isValid = readFolder(cursor, [], flat, issues);
  issues.requireWithin('files', flat.length);
  return isValid ? flat : undefined;
}

/**
 * Reads a folder at the cursor, which is not empty and has no empty name. Returns false when an entry does not decode. May
 * recurse, because the decoder bounds the depth.
 */
function readFolder(cursor: Cursor, path: string[], flat: FlatFile[], issues: Issues): boolean {
  const names = new UniqueNames();
  let isValid = true;
  cursor.at += 1;
  while (!cursor.atEnd) {
    const keyStart = cursor.at;
    const text = cursor.text();
    const suspicious = cursor.suspicious;
    const nodeStart = cursor.at;
    issues.requireWithin('files', flat.length);
    const isUsual = text !== null && !(suspicious && (unsafeComponent(text) || text.includes('\ufffd')));
    if (isUsual && readUsualLeaf(cursor, path, text, flat)) continue;
    cursor.at = nodeStart;
    // Files of an unusual form and invalid values are decoded by the functions that report issues.
    const isFolder = cursor.next === DICTIONARY && !cursor.skipExpected(LEAF_START) && !cursor.skipExpected(EMPTY);
    cursor.at = keyStart;
    issues.path.push(cursor.latin1());
    const name = isUsual ? text : decodeName(keyOf(cursor, keyStart), names, issues);
    const below = [...path, name ?? ''];
    cursor.at = nodeStart;
    if (isFolder) {
      isValid = readFolder(cursor, below, flat, issues) && name !== null && isValid;
    } else {
      cursor.skip();
      const { value } = decode(cursor.bytes.subarray(nodeStart, cursor.at), CHECKED);
      isValid = decodeEntry(value, below, flat, issues) && name !== null && isValid;
    }
    issues.path.pop();
  }
  cursor.at += 1;
  return isValid;
}

function decodeEntry(value: BencodeValue, path: string[], flat: FlatFile[], issues: Issues): boolean {
  if (value instanceof Map) return decodeFolder(value as BencodeMap, path, flat, issues);
  issues.add('type', [], `expected a dictionary, got ${shown(value)}`);
  return false;
}

/** The bytes of the key that starts at an offset. */
function keyOf(cursor: Cursor, keyStart: number): Uint8Array {
  cursor.at = keyStart;
  const from = cursor.skipString();
  return cursor.bytes.subarray(from, cursor.at);
}

/**
 * Reads a file of the usual form, `d0:d6:lengthi..e[11:pieces root32:..]ee`, and adds it. Returns false, with the cursor
 * anywhere, for any other.
 */
function readUsualLeaf(cursor: Cursor, path: string[], name: string, flat: FlatFile[]): boolean {
  if (!cursor.skipExpected(LEAF)) return false;
  const length = cursor.digits();
  if (length < 0) return false;
  if (!cursor.skipExpected(ROOT)) {
    if (!cursor.skipExpected(ENDS)) return false;
    flat.push({ length, path: [...path, name] });
    return true;
  }
  const piecesRoot = cursor.bytes.subarray(cursor.at, cursor.at + 32);
  cursor.at += 32;
  if (!cursor.skipExpected(ENDS)) return false;
  flat.push({ length, piecesRoot, path: [...path, name] });
  return true;
}

/** Encodes a v1 `files` list. */
export function encodeFileList(items: readonly FileItem[]): RawBencode {
  const out = new Writer();
  out.latin1('l');
  for (const item of items) {
    const { attr, length, path } = item;
    if (item.extra || item.pathUtf8 || item.symlinkPath || path.length === 0) {
      out.bytes(encode(encodeFileItem(item)));
      continue;
    }
    out.latin1('d');
    if (attr != null) writeAttr(attr, out);
    out.latin1('6:length');
    out.integer(length);
    out.latin1('4:pathl');
    for (const part of path) out.text(part);
    out.latin1('ee');
  }
  out.latin1('e');
  return new RawBencode(out.finish());
}

/**
 * Encodes a v2 `file tree`.
 *
 * @param files In the order of {@link sortV2}.
 */
export function encodeFlatTree(files: readonly FlatFile[]): RawBencode {
  const out = new Writer();
  let folders: readonly string[] = [];
  out.latin1('d');
  for (const file of files) {
    const { path } = file;
    const last = path.length - 1;
    let shared = 0;
    while (shared < Math.min(folders.length, last) && folders[shared] === path[shared]) shared += 1;
    out.latin1('e'.repeat(folders.length - shared));
    folders = path.slice(0, last);
    for (const name of path.slice(shared)) {
      out.text(name);
      out.latin1('d');
    }
    out.latin1('0:');
    writeLeaf(file, out);
    out.latin1('e');
  }
  out.latin1('e'.repeat(folders.length + 1));
  return new RawBencode(out.finish());
}

function writeLeaf(item: FileTreeItem, out: Writer): void {
  const { attr, length, piecesRoot } = item;
  if (item.extra || item.symlinkPath) {
    out.bytes(encode(encodeFields(item, FILE_TREE_ITEM)));
    return;
  }
  out.latin1('d');
  if (attr != null) writeAttr(attr, out);
  out.latin1('6:length');
  out.integer(length);
  if (piecesRoot) {
    out.latin1('11:pieces root');
    out.string(piecesRoot);
  }
  out.latin1('e');
}

function writeAttr(attr: string, out: Writer): void {
  out.latin1('4:attr');
  out.string(keyBytes(attr));
}
