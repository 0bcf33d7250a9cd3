/** The codec of file lists and file trees, whose raw bytes the decoder keeps; `native/core/table/file_encoder.cc` encodes those of many files. */
import { decodeTrusted } from '../bencode/decode.ts';
import { encode } from '../bencode/encode.ts';
import { NO_LIMITS } from '../bencode/limits.ts';
import { Cursor } from '../bencode/unchecked-cursor.ts';
import { type BencodeValue, BYTES, type Encodable, RawBencode, toKey } from '../bencode/value.ts';
import { decodeTree } from './decode-tree.ts';
import { encodeFields, type Field } from './field.ts';
import { checkCount, decodeFileItem, decodeFileList, FILE_ITEM, FILE_TREE_ITEM } from './file-fields.ts';
import type { FileItem } from './file-item.ts';
import { filesOf, treeOf } from './input.ts';
import type { Issues } from './issues.ts';
import type { FlatFile } from './lazy/flat-tree.ts';
import { readUsualItem, readUsualTree } from './lazy/usual-files.ts';

/** Tells the decoder to check the bytes of file lists and trees without building values from them. */
export const RAW = { within: 'info', keys: new Set(['files', 'file tree']) };

/** The v1 `files` list. */
export const fileList: Field<FileItem[]> = {
  key: 'files',
  decode: (value, issues) => {
    const raw = rawBytes(value);
    return raw?.[0] === BYTES.LIST ? readList(raw, issues) : decodeFileList(raw ? decodeRaw(raw) : value, issues);
  },
  coerce: filesOf(FILE_ITEM),
};

/** The v2 `file tree`: nested dictionaries on disk, a list of files after it is decoded. */
export const fileTree: Field<FlatFile[]> = {
  key: 'file tree',
  decode: (value, issues) => {
    const raw = rawBytes(value);
    return (raw && readUsualTree(raw, issues)) ?? decodeTree(raw ? decodeRaw(raw) : value, issues);
  },
  coerce: treeOf(FILE_TREE_ITEM),
};

/** Decodes one file after the other: building the values of all files takes much more memory. */
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
      const value = decodeRaw(bytes.subarray(start, cursor.at));
      item = issues.within(index, () => decodeFileItem(value, issues)) ?? null;
    }
    if (item) items.push(item);
  }
  return items.length === index ? checkCount(items, issues) : undefined;
}

function rawBytes(value: unknown): Uint8Array | null {
  return value instanceof RawBencode ? value.bytes : null;
}

/** Decodes bytes that the decoder has checked within the limits of the caller. */
export function decodeRaw(bytes: Uint8Array): BencodeValue {
  return decodeTrusted(bytes, { tolerant: true, limits: NO_LIMITS }).value;
}

/** Encodes a v1 `files` list. An empty path is left out, as BEP 47 lets pad files be. */
export function encodeFileList(items: readonly FileItem[]): RawBencode {
  return new RawBencode(
    encode(items.map((item) => encodeFields(item.path.length > 0 ? item : { ...item, path: null }, FILE_ITEM))),
  );
}

/** Encodes the v2 `file tree` of files, in any order. */
export function encodeFlatTree(files: readonly FlatFile[]): RawBencode {
  const root = new Map<string, Encodable>();
  for (const file of files) {
    let folder = root;
    for (const name of file.path) {
      const key = toKey(name);
      const below = (folder.get(key) as typeof root | undefined) ?? new Map<string, Encodable>();
      folder.set(key, below);
      folder = below;
    }
    folder.set('', encodeFields(file, FILE_TREE_ITEM));
  }
  return new RawBencode(encode(root));
}
