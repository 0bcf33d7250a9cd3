/**
 * Reads files in place, because lists and trees of them are the largest part of most torrents. Files of an unusual form, valid or
 * not, are left to the functions that report issues.
 */
import { Cursor, template } from '../../bencode/unchecked-cursor.ts';
import { BYTES } from '../../bencode/value.ts';
import { unsafeComponent } from '../../layout/safe-path.ts';
import type { FileItem } from '../file-item.ts';
import type { Issues } from '../issues.ts';
import { MAX_COMPONENTS } from '../limits.ts';
import type { FlatFile, Mutable } from './flat-tree.ts';

const { DICTIONARY, NINE, ZERO } = BYTES;

const ATTR = template('4:attr');
const DICT = template('d');
const ENDS = template('ee');
const LEAF = template('d0:d');
const LENGTH = template('6:lengthi');
const PATH = template('4:pathl');
const ROOT = template('11:pieces root32:');

/** Reads a file of a list of the form `d[4:attrN:..]6:lengthi..e4:pathl..ee`. Null, with the cursor anywhere, for any other. */
export function readUsualItem(cursor: Cursor): FileItem | null {
  if (!cursor.skipExpected(DICT)) return null;
  const attr = readAttr(cursor);
  if (attr?.includes('l') || !cursor.skipExpected(LENGTH)) return null;
  const length = cursor.digits();
  if (length < 0 || !cursor.skipExpected(PATH)) return null;
  const path: string[] = [];
  while (!cursor.atEnd) {
    const name = isString(cursor.next) ? readName(cursor) : null;
    if (name === null) return null;
    path.push(name);
  }
  if (path.length === 0 || path.length > MAX_COMPONENTS || !cursor.skipExpected(ENDS)) return null;
  return { attr: attr ?? null, length, path };
}

/** Reads a `file tree` that the decoder has checked. Null if it or a folder is empty, or an entry is unusual. */
export function readUsualTree(bytes: Uint8Array, issues: Issues): FlatFile[] | null {
  const flat: FlatFile[] = [];
  return bytes[0] === DICTIONARY && readFolder(new Cursor(bytes), [], flat, issues) ? flat : null;
}

/** Adds the files of the folder at the cursor. May recurse, because the decoder bounds the depth. */
function readFolder(cursor: Cursor, path: string[], flat: FlatFile[], issues: Issues): boolean {
  cursor.at += 1;
  if (cursor.atEnd) return false;
  while (!cursor.atEnd) {
    const name = readName(cursor);
    // Names with replacement characters may have to be made unique.
    if (name === null || (cursor.suspicious && name.includes('\ufffd'))) return false;
    const below = [...path, name];
    if (cursor.skipExpected(LEAF)) {
      const file = readLeaf(cursor, below);
      if (!file) return false;
      flat.push(file);
      issues.requireWithin('files', flat.length);
    } else if (cursor.next !== DICTIONARY || !readFolder(cursor, below, flat, issues)) return false;
  }
  cursor.at += 1;
  return true;
}

/** Reads the rest of a file of the form `d0:d[4:attrN:..]6:lengthi..e[11:pieces root32:..]ee`. */
function readLeaf(cursor: Cursor, path: string[]): FlatFile | null {
  const attr = readAttr(cursor);
  if (attr?.includes('l') || attr?.includes('p') || !cursor.skipExpected(LENGTH)) return null;
  const length = cursor.digits();
  if (length < 0) return null;
  const file: Mutable<FlatFile> = attr === undefined ? { length, path } : { attr, length, path };
  if (cursor.skipExpected(ROOT)) {
    file.piecesRoot = cursor.bytes.subarray(cursor.at, cursor.at + 32);
    cursor.at += 32;
  }
  return cursor.skipExpected(ENDS) ? file : null;
}

function readAttr(cursor: Cursor): string | undefined {
  return cursor.skipExpected(ATTR) && isString(cursor.next) ? cursor.latin1() : undefined;
}

/** Reads a path component. Null if it is not UTF-8, or unsafe. */
function readName(cursor: Cursor): string | null {
  const name = cursor.text();
  return name !== null && cursor.suspicious && unsafeComponent(name) ? null : name;
}

function isString(byte: number): boolean {
  return byte >= ZERO && byte <= NINE;
}
