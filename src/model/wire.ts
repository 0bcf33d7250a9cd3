import { type BencodeMap, type BencodeValue, type Encodable, keyBytes, toKey } from '../bencode/value.ts';
import type { Issue } from '../errors.ts';
import type { FileItem } from './file-item.ts';
import type { FileTree, FileTreeItem } from './file-tree.ts';
import { HashList, type HashSize, toHex } from './hash-list.ts';
import type { PieceLayers } from './piece-layers.ts';
import { shown } from './primitives.ts';

/** Where a value stands in the data. */
type Path = readonly (string | number)[];

/** Collects what is wrong while values are decoded. */
export class Issues {
  readonly list: Issue[] = [];

  add(code: string, path: Path, message: string, spec?: string): undefined {
    this.list.push({ code, severity: 'error', path: [...path], message, ...(spec && { spec }) });
    return undefined;
  }
}

/** How one field crosses between the model and bencode. `decode` gives undefined after it has reported an issue. */
interface Field<T> {
  /** The on-disk key. */
  key: string;
  decode(value: BencodeValue, path: Path, issues: Issues): T | undefined;
  encode(value: T): Encodable;
  /** Other forms that a caller may give: returned unchanged when it is none of them. */
  coerce?(value: unknown): unknown;
}

/** The fields of one dictionary by attribute name; what they do not name is kept in `extra`. */
type Fields = Record<string, Field<never>>;

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function decodeText(value: BencodeValue, path: Path, issues: Issues): string | undefined {
  if (!(value instanceof Uint8Array)) return issues.add('type', path, `expected text, got ${shown(value)}`);
  try {
    return utf8.decode(value);
  } catch {
    return issues.add('not_utf8', path, 'the text is not UTF-8', 'BEP 3');
  }
}

function decodeInteger(value: BencodeValue, path: Path, issues: Issues): number | undefined {
  if (typeof value === 'number') return value;
  const what = typeof value === 'bigint' ? `an integer within 2^53, got ${value}` : `an integer, got ${shown(value)}`;
  return issues.add(typeof value === 'bigint' ? 'too_large' : 'type', path, `expected ${what}`);
}

function decodeMap(value: BencodeValue, path: Path, issues: Issues): BencodeMap | undefined {
  return value instanceof Map ? value : issues.add('type', path, `expected a dictionary, got ${shown(value)}`);
}

/** A list whose items decode one by one; undefined when any of them does not. */
function decodeList<T>(
  value: BencodeValue,
  path: Path,
  issues: Issues,
  item: (value: BencodeValue, path: Path, issues: Issues) => T | undefined,
): T[] | undefined {
  if (!Array.isArray(value)) return issues.add('type', path, `expected a list, got ${shown(value)}`);
  const items = value.map((entry, index) => item(entry, [...path, index], issues));
  return items.includes(undefined) ? undefined : (items as T[]);
}

const text = (key: string): Field<string> => ({ key, decode: decodeText, encode: (value) => value });

const textList = (key: string): Field<string[]> => ({
  key,
  // One URL alone is a list of one; the empty text is an empty list (BEP 19).
  decode: (value, path, issues) => {
    if (!(value instanceof Uint8Array)) return decodeList(value, path, issues, decodeText);
    const only = decodeText(value, path, issues);
    return only === undefined ? undefined : only === '' ? [] : [only];
  },
  encode: (value) => value,
  coerce: (value) => (typeof value === 'string' ? [value].filter((url) => url !== '') : value),
});

const tiers = (key: string): Field<string[][]> => ({
  key,
  decode: (value, path, issues) =>
    decodeList(value, path, issues, (tier, at) => decodeList(tier, at, issues, decodeText)),
  encode: (value) => value,
});

const integer = (key: string): Field<number> => ({ key, decode: decodeInteger, encode: (value) => value });

const flag = (key: string): Field<boolean> => ({
  key,
  decode: (value, path, issues) => {
    const number = decodeInteger(value, path, issues);
    return number === undefined ? undefined : number !== 0;
  },
  encode: (value) => (value ? 1 : 0),
});

/** Seconds since 1970 on disk. */
const date = (key: string): Field<Date> => ({
  key,
  decode: (value, path, issues) => {
    const seconds = decodeInteger(value, path, issues);
    if (seconds === undefined) return undefined;
    const time = new Date(seconds * 1000);
    return Number.isNaN(time.getTime())
      ? issues.add('date_range', path, `${seconds} is no date that can be told`)
      : time;
  },
  encode: (value) => Math.floor(value.getTime() / 1000),
  coerce: (value) => (typeof value === 'number' ? new Date(value * 1000) : value),
});

const hashes = (key: string, size: HashSize): Field<HashList> => ({
  key,
  decode: (value, path, issues) => decodeHashes(value, size, path, issues),
  encode: (value) => value.bytes,
  coerce: (value) => {
    const packed = value instanceof Uint8Array && value.length % size === 0;
    const listed = Array.isArray(value) && value.every((hash) => hash instanceof Uint8Array && hash.length === size);
    return packed || listed ? new HashList(value as Uint8Array | Uint8Array[], size) : value;
  },
});

function decodeHashes(value: BencodeValue, size: HashSize, path: Path, issues: Issues): HashList | undefined {
  if (!(value instanceof Uint8Array)) return issues.add('type', path, `expected hashes, got ${shown(value)}`);
  if (value.length % size === 0) return new HashList(value, size);
  return issues.add('hash_length', path, `expected a multiple of ${size} bytes, got ${value.length}`);
}

/** A hash of 32 bytes. */
const root = (key: string): Field<Uint8Array> => ({
  key,
  decode: (value, path, issues) => {
    if (value instanceof Uint8Array && value.length === 32) return value;
    return issues.add('hash_length', path, `expected 32 bytes, got ${shown(value)}`, 'BEP 52');
  },
  encode: (value) => value,
});

/** `attr` is letters; latin1 loses nothing. */
const attr: Field<string> = {
  key: 'attr',
  decode: (value, path, issues) =>
    value instanceof Uint8Array
      ? Buffer.from(value).toString('latin1')
      : issues.add('type', path, `expected text, got ${shown(value)}`),
  encode: (value) => keyBytes(value),
};

const pathList: Field<string[]> = {
  key: 'path',
  decode: (value, path, issues) => decodeList(value, path, issues, decodeText),
  encode: (value) => value,
};

const FILE_ITEM = { length: integer('length'), path: pathList, attr };
const FILE_TREE_ITEM = { length: integer('length'), piecesRoot: root('pieces root'), attr };

const fileList: Field<FileItem[]> = {
  key: 'files',
  decode: (value, path, issues) =>
    decodeList(value, path, issues, (entry, at) => {
      const map = decodeMap(entry, at, issues);
      if (!map) return undefined;
      const item = decodeFields(map, FILE_ITEM, at, issues) as Partial<FileItem>;
      if (!map.has('length')) issues.add('required', [...at, 'length'], 'a file must have a length', 'BEP 3');
      if (!map.has('path')) issues.add('required', [...at, 'path'], 'a file must have a path', 'BEP 3');
      return item as FileItem;
    }),
  encode: (value) => value.map((item) => encodeFields(item, FILE_ITEM)),
};

// The decoder bounds the depth of what is read, so these may recurse.
const fileTree: Field<FileTree> = {
  key: 'file tree',
  decode: (value, path, issues) => {
    const map = decodeMap(value, path, issues);
    return map && decodeTree(map, path, issues);
  },
  encode: (value) => encodeTree(value),
};

/** A key as text where it is UTF-8, else one char a byte. */
function readableKey(key: string): string {
  const text = keyBytes(key).toString('utf8');
  return text.includes('\ufffd') ? key : text;
}

function decodeTree(map: BencodeMap, path: Path, issues: Issues): FileTree {
  const tree: FileTree = new Map();
  for (const [key, value] of map) {
    const at = [...path, readableKey(key)];
    const node = decodeMap(value, at, issues);
    if (!node) continue;
    if (key === '') {
      const item = decodeFields(node, FILE_TREE_ITEM, at, issues) as Partial<FileTreeItem>;
      if (!node.has('length')) issues.add('required', [...at, 'length'], 'a file must have a length', 'BEP 52');
      tree.set('', item as FileTreeItem);
      continue;
    }
    const name = decodeText(keyBytes(key), at, issues);
    if (name !== undefined) tree.set(name, decodeTree(node, at, issues));
  }
  return tree;
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
  decode: (value, path, issues) => {
    const map = decodeMap(value, path, issues);
    if (!map) return undefined;
    const layers = new Map<string, HashList>();
    for (const [key, layer] of map) {
      const at = [...path, toHex(keyBytes(key))];
      if (key.length !== 32) issues.add('hash_length', at, `expected a key of 32 bytes, got ${key.length}`, 'BEP 52');
      const list = decodeHashes(layer, 32, at, issues);
      if (list) layers.set(toHex(keyBytes(key)), list);
    }
    return layers;
  },
  encode: (value) =>
    new Map([...value].map(([key, layer]) => [Buffer.from(key, 'hex').toString('latin1'), layer.bytes])),
};

/** The fields of all three infodicts. */
export const INFO = {
  name: text('name'),
  source: text('source'),
  private: flag('private'),
  pieceLength: integer('piece length'),
  pieces: hashes('pieces', 20),
  length: integer('length'),
  files: fileList,
  metaVersion: integer('meta version'),
  fileTree,
};

/** The fields of a torrent beside `info`. */
export const TORRENT = {
  announce: text('announce'),
  announceList: tiers('announce-list'),
  comment: text('comment'),
  createdBy: text('created by'),
  creationDate: date('creation date'),
  pieceLayers,
  urlList: textList('url-list'),
};

/** A dictionary as a model: attributes for the fields, `extra` for all other keys. Reports what does not decode. */
export function decodeFields(map: BencodeMap, fields: object, path: Path, issues: Issues): Record<string, unknown> {
  const byKey = keysOf(fields as Fields);
  const model: Record<string, unknown> = {};
  let extra: BencodeMap | undefined;
  for (const [key, value] of map) {
    const found = byKey.get(key);
    if (found) {
      const decoded = found.field.decode(value, [...path, key], issues);
      if (decoded !== undefined) model[found.attribute] = decoded;
    } else {
      extra ??= new Map();
      extra.set(key, value);
    }
  }
  if (extra) model['extra'] = extra;
  return model;
}

/** A model as a dictionary: null and absent attributes are left out. */
export function encodeFields(model: object, fields: object): Map<string, Encodable> {
  const map = new Map<string, Encodable>((model as { extra?: BencodeMap }).extra);
  for (const [attribute, field] of Object.entries(fields as Fields)) {
    const value = (model as Record<string, unknown>)[attribute];
    if (value !== undefined && value !== null) map.set(field.key, field.encode(value as never));
  }
  return map;
}

/**
 * What a caller gives, as attributes: under the on-disk key or the attribute name (both at once is an issue), unknown
 * keys in `extra`.
 *
 * @param own Attributes that are no fields, kept as they are.
 */
export function fromInput(
  input: Readonly<Record<string, unknown>>,
  fields: object,
  { own, path, issues }: { own: readonly string[]; path: Path; issues: Issues },
): Record<string, unknown> {
  const byKey = keysOf(fields as Fields);
  const model: Record<string, unknown> = {};
  const extra = new Map(input['extra'] as BencodeMap | undefined);
  for (const [key, value] of Object.entries(input)) {
    if (value === undefined || key === 'extra') continue;
    const attribute = Object.hasOwn(fields, key) ? key : (byKey.get(key)?.attribute ?? null);
    if (attribute !== null) {
      if (Object.hasOwn(model, attribute))
        issues.add('alias', [...path, key], `${attribute} is given under both its names`);
      const { coerce } = (fields as Fields)[attribute] as Field<unknown>;
      model[attribute] = coerce ? coerce(value) : value;
    } else if (own.includes(key)) {
      model[key] = value;
    } else {
      extra.set(toKey(key), value as BencodeValue);
    }
  }
  return extra.size > 0 ? { ...model, extra } : model;
}

/** The on-disk key of each attribute, and back. */
const keyCache = new WeakMap<object, Map<string, { attribute: string; field: Field<never> }>>();
function keysOf(fields: Fields) {
  let keys = keyCache.get(fields);
  if (!keys) {
    keys = new Map(Object.entries(fields).map(([attribute, field]) => [field.key, { attribute, field }]));
    keyCache.set(fields, keys);
  }
  return keys;
}
