import { Cursor, template } from '../bencode/cursor.ts';
import { decodeTrusted as decode } from '../bencode/decode.ts';
import { encode, Writer } from '../bencode/encode.ts';
import { NO_LIMITS } from '../bencode/limits.ts';
import { type BencodeMap, type BencodeValue, keyBytes, RawBencode } from '../bencode/value.ts';
import { shown } from '../errors/errors.ts';
import { unsafeComponent } from '../layout/safe-path.ts';
import {
  checkCount,
  checkRoot,
  decodeFileItem,
  decodeFolder,
  decodeName,
  encodeFields,
  encodeFileItem,
  FILE_TREE_ITEM,
  type Field,
  INFO,
  UniqueNames,
} from './codec.ts';
import type { FileItem } from './file-item.ts';
import type { FileTreeItem, FlatFile } from './file-tree.ts';
import type { Issues } from './issues.ts';

// File lists and trees are what is large in a torrent beside its hashes. The decoder checks them without building them,
// and here they are read straight from its bytes: entries in the usual form in place, any other the long way, by the
// same functions that report what is wrong with it. They are written in the same way.

/** What the decoder is to leave as it is. */
export const RAW = { within: 'info', keys: new Set(['files', 'file tree']) };

/** Of bytes that have been checked, within the limits of the caller. */
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
      : INFO.files.decode(plain(value), issues);
  },
  encode: encodeFileList,
};

const fileTree: Field<FlatFile[]> = {
  key: 'file tree',
  decode: (value, issues) => {
    const raw = value as unknown;
    if (raw instanceof RawBencode && raw.bytes[0] === DICTIONARY) return readTree(raw.bytes, issues);
    return INFO.fileTree.decode(plain(value), issues) as undefined;
  },
  encode: encodeFlatTree,
};

/** The fields of an infodict decoded with {@link RAW}. Its `fileTree` is flat: the nested one is made when it is asked for. */
export const RAW_INFO = { ...INFO, files, fileTree };

/** The same where another key has the name: a bad one is then only warned of. */
export const RAW_INFO_UTF8 = { ...RAW_INFO, name: { ...INFO.name, lenient: true } };

/** A value that is raw but of the wrong type, as any other. */
function plain(value: BencodeValue): BencodeValue {
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
    let item = plainItem(cursor);
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

/** `d[4:attrN:..]6:lengthi..e4:pathl..ee` with safe names and no other key; null for anything else. */
function plainItem(cursor: Cursor): FileItem | null {
  if (!cursor.pass(DICT)) return null;
  const attr = cursor.pass(ATTR) ? attrOf(cursor) : undefined;
  if (attr === null || attr?.includes('l') || !cursor.pass(LENGTH)) return null;
  const length = cursor.digits();
  if (length < 0 || !cursor.pass(PATH)) return null;
  const path: string[] = [];
  while (!cursor.atEnd) {
    const name = isString(cursor.next) ? cursor.text() : null;
    if (name === null || (cursor.suspicious && unsafeComponent(name))) return null;
    path.push(name);
  }
  if (path.length === 0 || !cursor.pass(ENDS)) return null;
  return attr === undefined ? { length, path } : { attr, length, path };
}

function attrOf(cursor: Cursor): string | null {
  return isString(cursor.next) ? cursor.latin1() : null;
}

function isString(byte: number): boolean {
  return byte >= 0x30 && byte <= 0x39;
}

function readTree(bytes: Uint8Array, issues: Issues): FlatFile[] | undefined {
  const cursor = new Cursor(bytes);
  const flat: FlatFile[] = [];
  const empty = bytes.length === 2;
  if (!checkRoot(empty ? 0 : 1, bytes[1] === 0x30, issues)) return undefined;
  const whole = readFolder(cursor, [], flat, issues);
  issues.requireWithin('files', flat.length);
  return whole ? flat : undefined;
}

/** A folder at the cursor, which is not empty and has no empty name. The decoder bounds the depth, so this may recurse. */
function readFolder(cursor: Cursor, path: string[], flat: FlatFile[], issues: Issues): boolean {
  const names = new UniqueNames();
  let whole = true;
  cursor.at += 1;
  while (!cursor.atEnd) {
    const keyAt = cursor.at;
    const text = cursor.text();
    const suspicious = cursor.suspicious;
    const nodeAt = cursor.at;
    issues.requireWithin('files', flat.length);
    const usual = text !== null && !(suspicious && (unsafeComponent(text) || text.includes('\ufffd')));
    if (usual && plainLeaf(cursor, path, text, flat)) continue;
    cursor.at = nodeAt;
    // A file, or something that is no folder, goes the long way.
    const isFolder = cursor.next === DICTIONARY && !cursor.pass(LEAF_START) && !cursor.pass(EMPTY);
    cursor.at = keyAt;
    issues.path.push(cursor.latin1());
    const name = usual ? text : decodeName(keyOf(cursor, keyAt), names, issues);
    const below = [...path, name ?? ''];
    cursor.at = nodeAt;
    if (isFolder) {
      whole = readFolder(cursor, below, flat, issues) && name !== null && whole;
    } else {
      cursor.skip();
      const { value } = decode(cursor.bytes.subarray(nodeAt, cursor.at), CHECKED);
      whole = decodeEntry(value, below, flat, issues) && name !== null && whole;
    }
    issues.path.pop();
  }
  cursor.at += 1;
  return whole;
}

function decodeEntry(value: BencodeValue, path: string[], flat: FlatFile[], issues: Issues): boolean {
  if (value instanceof Map) return decodeFolder(value as BencodeMap, path, flat, issues);
  issues.add('type', [], `expected a dictionary, got ${shown(value)}`);
  return false;
}

/** The bytes of the key that begins at an offset. */
function keyOf(cursor: Cursor, keyAt: number): Uint8Array {
  cursor.at = keyAt;
  const from = cursor.string();
  return cursor.bytes.subarray(from, cursor.at);
}

/** `d0:d6:lengthi..e[11:pieces root32:..]ee`; adds the file. False, with the cursor anywhere, for anything else. */
function plainLeaf(cursor: Cursor, path: string[], name: string, flat: FlatFile[]): boolean {
  if (!cursor.pass(LEAF)) return false;
  const length = cursor.digits();
  if (length < 0) return false;
  if (!cursor.pass(ROOT)) {
    if (!cursor.pass(ENDS)) return false;
    flat.push({ length, path: [...path, name] });
    return true;
  }
  const piecesRoot = cursor.bytes.subarray(cursor.at, cursor.at + 32);
  cursor.at += 32;
  if (!cursor.pass(ENDS)) return false;
  flat.push({ length, piecesRoot, path: [...path, name] });
  return true;
}

/** A `files` list. */
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
 * A `file tree`.
 *
 * @param files In v2 order.
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
