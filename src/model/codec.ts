import { isUtf8 } from 'node:buffer';
import {
  type BencodeMap,
  type BencodeValue,
  type Encodable,
  keyBytes,
  lossyText,
  textOrNull,
  toKey,
} from '../bencode/value.ts';
import { shown, toHex } from '../errors/errors.ts';
import { nearest } from '../errors/guard.ts';
import { unsafeComponent } from '../layout/safe-path.ts';
import type { FileItem } from './file-item.ts';
import { type FileTree, type FileTreeItem, type FlatFile, unflattenTree } from './flat-tree.ts';
import { HashList, type HashSize } from './hash-list.ts';
import { copied, hashesOf, type InputContext, keysOf, layersOf, listOf, treeOf } from './input.ts';
import type { Issues } from './issues.ts';
import type { PieceLayers } from './piece-layers.ts';
import { type DhtNode, isInfohash, isPort } from './primitives.ts';

/** How one field crosses between the model and bencode. `decode` gives undefined after it has reported an issue. */
export interface Field<T> {
  /** The on-disk key. */
  key: string;
  /** Whether libtorrent passes over a bad value: compat then warns and leaves it out. */
  lenient?: boolean;
  decode(value: BencodeValue, issues: Issues): T | undefined;
  encode(value: T): Encodable;
  /** Other forms that a caller may give, copied: returned unchanged when it is none of them. */
  coerce?(value: unknown, at: InputContext): unknown;
}

function decodeText(value: BencodeValue, issues: Issues): string | undefined {
  if (!(value instanceof Uint8Array)) return issues.add('type', [], () => `expected text, got ${shown(value)}`);
  return textOf(value, issues);
}

/** Compat shows what is not UTF-8 with replacement characters; the torrent's own bytes stay. */
function textOf(bytes: Uint8Array, issues: Issues): string | undefined {
  issues.requireWithin('text', bytes.length);
  const text = textOrNull(bytes);
  if (text !== null) return text;
  issues.forgivable('not_utf8', [], () => `expected UTF-8, got the bytes ${cutHex(bytes)}`);
  return issues.compat || issues.severity === 'warning' ? lossyText(bytes) : undefined;
}

function cutHex(bytes: Uint8Array): string {
  return bytes.length > 24 ? `${toHex(bytes.subarray(0, 24))}...` : toHex(bytes);
}

function decodeInteger(value: BencodeValue, issues: Issues): number | undefined {
  if (typeof value === 'number') return value;
  if (typeof value === 'bigint')
    return issues.add('too_large', [], () => `expected an integer within 2^53, got ${shown(value)}`);
  return issues.add('type', [], () => `expected an integer, got ${shown(value)}`);
}

function decodeSize(value: BencodeValue, issues: Issues): number | undefined {
  const size = decodeInteger(value, issues);
  if (size === undefined || size >= 0) return size;
  return issues.add('negative', [], () => `expected a size from 0, got ${size}`);
}

function decodeMap(value: BencodeValue, issues: Issues): BencodeMap | undefined {
  return value instanceof Map ? value : issues.add('type', [], () => `expected a dictionary, got ${shown(value)}`);
}

/** A list whose items decode one by one. Undefined when any of them does not; where compat is lenient, without those. */
function decodeList<T>(
  value: BencodeValue,
  issues: Issues,
  item: (value: BencodeValue, issues: Issues) => T | undefined,
): T[] | undefined {
  if (!Array.isArray(value)) return issues.add('type', [], () => `expected a list, got ${shown(value)}`);
  const items: T[] = [];
  const { path } = issues;
  for (let i = 0; i < value.length; i += 1) {
    path.push(i);
    const decoded = item(value[i] as BencodeValue, issues);
    path.pop();
    if (decoded !== undefined) items.push(decoded);
  }
  return items.length === value.length || issues.severity === 'warning' ? items : undefined;
}

/** Runs `work` where clients pass over what is wrong: outside of `info`. Only strict takes it for an error. */
function passedOver<T>(issues: Issues, work: () => T): T {
  const { severity } = issues;
  if (issues.profile !== 'strict') issues.severity = 'warning';
  const result = work();
  issues.severity = severity;
  return result;
}

/** A list outside of `info`: without the entries that are wrong. */
function decodeEntries<T>(
  value: BencodeValue,
  issues: Issues,
  item: (value: BencodeValue, issues: Issues) => T | undefined,
): T[] | undefined {
  return Array.isArray(value)
    ? passedOver(issues, () => decodeList(value, issues, item))
    : decodeList(value, issues, item);
}

const text = (key: string, { lenient = false } = {}): Field<string> => ({
  key,
  lenient,
  decode: decodeText,
  encode: (value) => value,
});

/** Text outside of `info`, which is shown with replacement characters where it is not UTF-8. */
const shownText = (key: string): Field<string> => ({
  ...text(key, { lenient: true }),
  decode: (value, issues) =>
    value instanceof Uint8Array ? passedOver(issues, () => textOf(value, issues)) : decodeText(value, issues),
});

const textList = (key: string): Field<string[]> => ({
  key,
  lenient: true,
  decode: (value, issues) => decodeList(value, issues, decodeText),
  encode: (value) => value,
  coerce: copied,
});

const url = (key: string): Field<string> => ({ key, lenient: true, decode: decodeUrl, encode: (value) => value });

const urlList = (key: string): Field<string[]> => ({
  key,
  lenient: true,
  // One URL alone is a list of one; the empty text is an empty list (BEP 19, and libtorrent for BEP 17).
  decode: (value, issues) => {
    if (!(value instanceof Uint8Array)) return decodeEntries(value, issues, decodeUrl);
    const only = passedOver(issues, () => textOf(value, issues));
    return only === undefined ? undefined : only === '' ? [] : [only];
  },
  encode: (value) => value,
  coerce: (value) => (typeof value === 'string' ? [value].filter((url) => url !== '') : copied(value)),
});

function decodeUrl(value: BencodeValue, issues: Issues): string | undefined {
  const url = decodeText(value, issues);
  return url === '' ? issues.add('url', [], 'expected a URL, got an empty text') : url;
}

/** Tiers may be empty, and URLs may have blanks around them: kept as they are (BEP 12). */
const tiers = (key: string): Field<string[][]> => ({
  key,
  lenient: true,
  decode: (value, issues) => {
    if (!(value instanceof Uint8Array))
      return decodeEntries(value, issues, (tier) => decodeList(tier, issues, decodeText));
    return passedOver(issues, () => issues.add('type', [], `expected a list of tiers, got ${shown(value)}`));
  },
  encode: (value) => value,
  coerce: copied,
});

const integer = (key: string, { lenient = false } = {}): Field<number> => ({
  key,
  lenient,
  decode: decodeInteger,
  encode: (value) => value,
});
const size = (key: string): Field<number> => ({ key, decode: decodeSize, encode: (value) => value });

/** Whether only its trackers may tell of peers: 1 says so (BEP 27), and to libtorrent all but 0. */
const privateFlag: Field<boolean> = {
  key: 'private',
  lenient: true,
  decode: (value, issues) => {
    const number = decodeInteger(value, issues);
    if (number !== undefined && number !== 0 && number !== 1) {
      const severity = issues.profile === 'strict' ? 'error' : 'warning';
      issues.add(
        'private',
        [],
        () => `expected 1 (or 0), got ${number}: not every client keeps that private`,
        severity,
      );
    }
    return number === undefined ? undefined : number !== 0;
  },
  encode: (value) => (value ? 1 : 0),
};

/** Infohashes of other torrents (BEP 38). */
const infohashList = (key: string): Field<Uint8Array[]> => ({
  key,
  lenient: true,
  decode: (value, issues) => decodeList(value, issues, decodeInfohash),
  encode: (value) => value,
  coerce: (value) => (Array.isArray(value) ? value.map((hash) => toInfohash(hash) ?? (hash as unknown)) : value),
});

function decodeInfohash(value: BencodeValue, issues: Issues): Uint8Array | undefined {
  if (!(value instanceof Uint8Array)) return issues.add('type', [], () => `expected an infohash, got ${shown(value)}`);
  const { length } = value;
  return isInfohash(value)
    ? value
    : issues.add('similar', [], () => `expected an infohash of 20 or 32 bytes, got ${length}`);
}

/** An infohash as bytes: from 20 or 32 bytes, or their hexadecimal. Null for anything else. */
export function toInfohash(hash: unknown): Uint8Array | null {
  if (typeof hash === 'string' && /^([0-9a-f]{40}|[0-9a-f]{64})$/i.test(hash)) return Buffer.from(hash, 'hex');
  return isInfohash(hash) ? hash : null;
}

/** Nodes of the DHT (BEP 5). */
const nodes: Field<DhtNode[]> = {
  key: 'nodes',
  lenient: true,
  decode: (value, issues) => decodeEntries(value, issues, decodeNode),
  encode: (value) => value,
  coerce: copied,
};

function decodeNode(value: BencodeValue, issues: Issues): DhtNode | undefined {
  if (!Array.isArray(value)) return issues.add('type', [], () => `expected a host and a port, got ${shown(value)}`);
  if (value.length !== 2) return issues.add('node', [], () => `expected a host and a port, got ${shown(value)}`);
  const host = issues.within(0, () => decodeText(value[0] as BencodeValue, issues));
  const port = issues.within(1, () => decodeInteger(value[1] as BencodeValue, issues));
  if (host === '') issues.add('node', [0], 'expected a host, got an empty text');
  if (port !== undefined && !isPort(port))
    issues.add('node', [1], () => `expected a port from 1 to 65535, got ${port}`);
  return host && isPort(port) ? [host, port as number] : undefined;
}

/** Seconds since 1970 on disk. */
const date = (key: string): Field<Date> => ({
  key,
  lenient: true,
  decode: (value, issues) => {
    if (typeof value !== 'number' && typeof value !== 'bigint') {
      return issues.add('type', [], () => `expected an integer, got ${shown(value)}`);
    }
    const time = new Date(Number(value) * 1000);
    const range = `expected seconds within 100 million days of 1970, got ${shown(value)}`;
    return Number.isNaN(time.getTime()) ? issues.add('date_range', [], range) : time;
  },
  encode: (value) => Math.floor(value.getTime() / 1000),
  coerce: (value) => (typeof value === 'number' ? new Date(value * 1000) : value),
});

const hashes = (key: string, hashSize: HashSize): Field<HashList> => ({
  key,
  decode: (value, issues) => decodeHashes(value, hashSize, issues),
  encode: (value) => value.bytes,
  coerce: (value) => hashesOf(value, hashSize),
});

function decodeHashes(value: BencodeValue, hashSize: HashSize, issues: Issues): HashList | undefined {
  if (!(value instanceof Uint8Array)) return issues.add('type', [], () => `expected hashes, got ${shown(value)}`);
  if (value.length % hashSize === 0) return new HashList(value, hashSize);
  return issues.add('hash_length', [], () => `expected a multiple of ${hashSize} bytes, got ${value.length}`);
}

/** A hash of 32 bytes. */
const root = (key: string): Field<Uint8Array> => ({
  key,
  decode: (value, issues) => {
    if (!(value instanceof Uint8Array)) return issues.add('type', [], () => `expected a hash, got ${shown(value)}`);
    if (value.length === 32) return value;
    return issues.add('hash_length', [], () => `expected 32 bytes, got ${value.length}`);
  },
  encode: (value) => value,
});

/** Letters; latin1 loses nothing. */
const attr: Field<string> = {
  key: 'attr',
  lenient: true,
  decode: (value, issues) => {
    if (!(value instanceof Uint8Array)) return issues.add('type', [], () => `expected text, got ${shown(value)}`);
    issues.requireWithin('text', value.length);
    return Buffer.from(value.buffer, value.byteOffset, value.length).toString('latin1');
  },
  encode: (value) => keyBytes(value),
};

/** A path as components, each of them safe (compat warns of those that are not). */
const pathList = (key: string, { lenient = false } = {}): Field<string[]> => ({
  key,
  lenient,
  decode: (value, issues) => {
    const parts = decodeList(value, issues, decodeComponent);
    return parts?.length === 0 ? issues.add('required', [], 'expected at least one component, got none') : parts;
  },
  encode: (value) => value,
  coerce: copied,
});

function decodeComponent(value: BencodeValue, issues: Issues): string | undefined {
  // Even where libtorrent ignores the rest of a path, it refuses this.
  if (!(value instanceof Uint8Array))
    return issues.add('type', [], () => `expected text, got ${shown(value)}`, 'error', { lenient: false });
  const name = decodeText(value, issues);
  if (name !== undefined) checkComponent(name, issues);
  return name;
}

function checkComponent(name: string, issues: Issues): void {
  const problem = unsafeComponent(name);
  if (problem) issues.forgivable('unsafe_path', [], () => `${problem} in a path: ${shown(name)}`);
}

/** libtorrent passes over what is no list, but not over a bad list. */
const pathUtf8: Field<string[]> = {
  ...pathList('path.utf-8'),
  decode: (value, issues) => {
    if (Array.isArray(value)) return pathList('path.utf-8').decode(value, issues);
    return issues.forgivable('type', [], () => `expected a list, got ${shown(value)}`);
  },
};

/** An entry of a v1 list. */
export const FILE_ITEM = {
  length: size('length'),
  path: pathList('path'),
  attr,
  pathUtf8,
  symlinkPath: pathList('symlink path', { lenient: true }),
};

/** A pad, whose path libtorrent does not look at. */
const PAD_ITEM = { ...FILE_ITEM, path: pathList('path', { lenient: true }) };
const PAD_FLAG = 0x70;
/** A file that `path.utf-8` names: then libtorrent does not look at `path`, whatever it is. */
const NAMED_ITEM = { ...FILE_ITEM, path: textList('path') };

function isNamed(map: BencodeMap): boolean {
  const path = map.get('path.utf-8');
  return Array.isArray(path) && path.length > 0;
}

/** A leaf of a v2 tree. */
export const FILE_TREE_ITEM = {
  length: size('length'),
  piecesRoot: root('pieces root'),
  attr,
  symlinkPath: pathList('symlink path', { lenient: true }),
};

const fileList: Field<FileItem[]> = {
  key: 'files',
  decode: (value, issues) => checkCount(decodeList(value, issues, decodeFileItem), issues),
  encode: (value) => value.map(encodeFileItem),
  coerce: listOf(FILE_ITEM),
};

/** A pad needs no path. */
export function encodeFileItem(item: FileItem): Map<string, Encodable> {
  return encodeFields(item.path.length > 0 ? item : { ...item, path: null }, FILE_ITEM);
}

/** A list has at least one file. */
export function checkCount(files: FileItem[] | undefined, issues: Issues): FileItem[] | undefined {
  return files?.length === 0 ? issues.add('required', [], 'expected at least one file, got none') : files;
}

export function decodeFileItem(entry: BencodeValue, issues: Issues): FileItem | undefined {
  const given = decodeMap(entry, issues);
  if (!given) return undefined;
  const map = withTwin(given, 'path', issues);
  const attribute = map.get('attr');
  const isPad = attribute instanceof Uint8Array && attribute.includes(PAD_FLAG);
  const named = issues.compat && isNamed(map);
  const fields = isPad ? PAD_ITEM : named ? NAMED_ITEM : FILE_ITEM;
  const item = decodeFields(map, fields, issues) as Partial<FileItem>;
  const isLink = checkSymlink(item, map, issues);
  checkLength(item, map, { isLink, issues });
  // A pad needs no name (BEP 47).
  if (isPad && (issues.compat || !map.has('path'))) item.path ??= [];
  else if (named && item.pathUtf8 && !item.path?.length) {
    if (!map.has('path')) issues.add('required', ['path'], 'a file must have a path', 'warning');
    item.path = item.pathUtf8;
  } else if (!map.has('path')) issues.add('required', ['path'], 'a file must have a path');
  return item.length === undefined || item.path === undefined ? undefined : (item as FileItem);
}

/**
 * A dictionary whose name is not UTF-8, with the one that an old creator wrote in UTF-8 beside it (`name.utf-8`,
 * `path.utf-8`) in its place. Strict takes neither.
 */
export function withTwin(map: BencodeMap, key: 'name' | 'path', issues: Issues): BencodeMap {
  const twin = map.get(`${key}.utf-8`);
  const value = map.get(key);
  if (twin === undefined || value === undefined || issues.profile === 'strict') return map;
  const parts = (given: BencodeValue) => (Array.isArray(given) ? given : [given]);
  const isText = (part: BencodeValue) => part instanceof Uint8Array && isUtf8(part);
  const isOther = (part: BencodeValue) => part instanceof Uint8Array && !isUtf8(part);
  const fits = Array.isArray(twin) === Array.isArray(value) && parts(twin).length === parts(value).length;
  if (!fits || !parts(twin).every(isText) || !parts(value).some(isOther)) return map;
  issues.add('not_utf8', [key], `expected UTF-8: took ${key}.utf-8 instead`, 'warning');
  return new Map(map).set(key, twin);
}

/** Whether it is a symbolic link: then with a target inside of the torrent (BEP 47). */
function checkSymlink(item: Partial<FileItem & FileTreeItem>, map: BencodeMap, issues: Issues): boolean {
  if (!item.attr?.includes('l')) return false;
  if (!map.has('symlink path')) issues.forgivable('symlink', [], 'a symbolic link must have a symlink path');
  if (item.piecesRoot) issues.forgivable('symlink', ['pieces root'], 'a symbolic link has no pieces root');
  return true;
}

/** A symbolic link has no content, whatever it says (BEP 47). */
function checkLength(
  item: Partial<FileItem & FileTreeItem>,
  map: BencodeMap,
  { isLink, issues }: { isLink: boolean; issues: Issues },
): void {
  if (item.length === undefined && isLink && !map.has('length')) item.length = 0;
  else if (!map.has('length')) issues.add('required', ['length'], 'a file must have a length');
  if (!isLink || !item.length) return;
  const { length } = item;
  issues.forgivable('symlink', ['length'], () => `expected no content of a symbolic link, got ${length} bytes`);
  item.length = 0;
}

const fileTree: Field<FileTree> = {
  key: 'file tree',
  decode: (value, issues) => {
    const flat: FlatFile[] = [];
    const map = decodeMap(value, issues);
    return map && decodeRoot(map, flat, issues) ? unflattenTree(flat) : undefined;
  },
  encode: (value) => encodeTree(value),
  coerce: treeOf(FILE_TREE_ITEM),
};

function decodeRoot(map: BencodeMap, flat: FlatFile[], issues: Issues): boolean {
  return checkRoot(map.size, map.has(''), issues) && decodeFolder(map, [], flat, issues);
}

/** What a tree's root must not be. */
export function checkRoot(size: number, hasLeaf: boolean, issues: Issues): boolean {
  if (hasLeaf) issues.add('tree', [''], 'expected a name, got an empty one at the root of the tree');
  else if (size === 0) issues.add('tree', [], 'expected at least one file, got an empty tree');
  return !hasLeaf && size > 0;
}

/**
 * Adds the files in a folder of a v2 tree; false when anything in it does not decode. The decoder bounds the depth of
 * what is read, so this may recurse.
 */
export function decodeFolder(map: BencodeMap, path: string[], flat: FlatFile[], issues: Issues): boolean {
  let whole = true;
  if (map.size === 0) {
    issues.forgivable('tree', [], 'expected at least one entry in a folder, got none');
    whole = issues.compat;
  }
  const names = new UniqueNames();
  for (const [key, value] of map) {
    issues.path.push(key);
    const name = key === '' ? '' : decodeName(keyBytes(key), names, issues);
    const node = decodeMap(value, issues);
    if (!node || name === null) whole = false;
    if (node && key === '') whole = decodeLeaf(node, map, { path, flat, issues }) && whole;
    else if (node) whole = decodeFolder(node, [...path, name ?? ''], flat, issues) && whole;
    issues.path.pop();
  }
  return whole;
}

interface LeafContext {
  path: string[];
  flat: FlatFile[];
  issues: Issues;
}

function decodeLeaf(node: BencodeMap, siblings: BencodeMap, { path, flat, issues }: LeafContext): boolean {
  if (siblings.size > 1) issues.add('tree', [], 'expected a file or a folder, got a file beside other entries');
  const item = decodeFields(node, FILE_TREE_ITEM, issues) as Partial<FileTreeItem>;
  const isLink = checkSymlink(item, node, issues);
  if (item.attr?.includes('p')) issues.add('pad_in_tree', ['attr'], 'a pad file has no place in a v2 tree');
  checkLength(item, node, { isLink, issues });
  // Null for one that did not decode, of which is said enough.
  if (node.has('pieces root')) item.piecesRoot ??= null;
  if (item.length === undefined || siblings.size > 1) return false;
  flat.push({ ...(item as FileTreeItem), path });
  issues.requireWithin('files', flat.length);
  return true;
}

/** Names that are not UTF-8 may look alike: compat tells them apart by a number. */
export class UniqueNames {
  /** Names in use, with the number that the next of the same name may have. */
  #replaced: Map<string, number> | undefined;

  of(name: string): string {
    if (!name.includes('\ufffd')) return name;
    this.#replaced ??= new Map();
    let unique = name;
    for (let n = this.#replaced.get(name) ?? 0; this.#replaced.has(unique); n += 1) {
      unique = `${name}.${n + 1}`;
      this.#replaced.set(name, n + 1);
    }
    this.#replaced.set(unique, 0);
    return unique;
  }
}

/** The name of an entry of a tree; null when it is no text. */
export function decodeName(bytes: Uint8Array, names: UniqueNames, issues: Issues): string | null {
  const name = textOf(bytes, issues);
  if (name === undefined) return null;
  checkComponent(name, issues);
  return names.of(name);
}

function encodeTree(tree: FileTree): Encodable {
  const map = new Map<string, Encodable>();
  for (const [name, node] of tree) {
    map.set(toKey(name), node instanceof Map ? encodeTree(node) : encodeFields(node, FILE_TREE_ITEM));
  }
  return map;
}

const pieceLayers: Field<PieceLayers> = {
  key: 'piece layers',
  lenient: true,
  decode: (value, issues) => {
    const map = decodeMap(value, issues);
    if (!map) return undefined;
    const layers = new Map<string, HashList>();
    // A single bad layer is more than libtorrent lets pass.
    const { severity, lenient } = issues;
    issues.severity = 'error';
    issues.lenient = false;
    for (const [key, layer] of map) {
      issues.path.push(key);
      if (key.length !== 32) issues.add('layers_key', [], () => `expected a key of 32 bytes, got ${key.length}`);
      const list = decodeHashes(layer, 32, issues);
      if (list) layers.set(toHex(keyBytes(key)), list);
      issues.path.pop();
    }
    issues.severity = severity;
    issues.lenient = lenient;
    return layers;
  },
  encode: (value) =>
    new Map([...value].map(([key, layer]) => [Buffer.from(key, 'hex').toString('latin1'), layer.bytes])),
  coerce: layersOf,
};

/** The fields of all three infodicts. */
export const INFO = {
  name: text('name'),
  nameUtf8: text('name.utf-8', { lenient: true }),
  source: text('source', { lenient: true }),
  private: privateFlag,
  similar: infohashList('similar'),
  collections: textList('collections'),
  updateUrl: url('update-url'),
  pieceLength: integer('piece length'),
  pieces: hashes('pieces', 20),
  length: size('length'),
  files: fileList,
  metaVersion: integer('meta version', { lenient: true }),
  fileTree,
};

/** The fields of a torrent beside `info`. */
export const TORRENT = {
  announce: shownText('announce'),
  announceList: tiers('announce-list'),
  comment: shownText('comment'),
  createdBy: shownText('created by'),
  creationDate: date('creation date'),
  pieceLayers,
  urlList: urlList('url-list'),
  httpseeds: urlList('httpseeds'),
  nodes,
  similar: infohashList('similar'),
  collections: textList('collections'),
};

/** A dictionary as a model: attributes for the fields, `extra` for all other keys. Reports what does not decode. */
export function decodeFields(map: BencodeMap, fields: object, issues: Issues): Record<string, unknown> {
  const byKey = keysOf(fields);
  const model: Record<string, unknown> = {};
  let extra: BencodeMap | undefined;
  for (const [key, value] of map) {
    const found = byKey.get(key);
    if (!found) {
      extra ??= new Map();
      extra.set(key, value);
      continue;
    }
    const { severity, lenient } = issues;
    issues.lenient = found.field.lenient ?? false;
    if (issues.lenient && issues.compat) issues.severity = 'warning';
    issues.path.push(key);
    const decoded = found.field.decode(value, issues);
    issues.path.pop();
    issues.severity = severity;
    issues.lenient = lenient;
    if (decoded !== undefined) model[found.attribute] = decoded;
  }
  if (extra) {
    model['extra'] = extra;
    for (const key of extra.keys()) {
      const meant = nearest(key, byKey.keys());
      if (meant && !map.has(meant))
        issues.add('misspelled', [key], () => `an unknown key: did you mean ${meant}?`, 'warning');
    }
  }
  return model;
}

/** A model as a dictionary: null and absent attributes are left out. */
export function encodeFields(model: object, fields: object): Map<string, Encodable> {
  const map = new Map<string, Encodable>((model as { extra?: BencodeMap }).extra);
  for (const [key, { attribute, field }] of keysOf(fields)) {
    const value = (model as Record<string, unknown>)[attribute];
    if (value !== undefined && value !== null) map.set(key, field.encode(value as never));
  }
  return map;
}
