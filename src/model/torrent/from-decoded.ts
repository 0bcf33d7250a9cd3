/** Converts the output of other bencode decoders, and dictionaries written by hand, to values that the encoder takes. */
import { type Encodable, isObjectPrototype, RawBencode, toKey } from '../../bencode/value.ts';
import { shown, ValidationError } from '../../errors/errors.ts';
import { isListOf } from '../../errors/guard.ts';
import {
  concatBytes,
  hexBytes,
  isArrayBuffer,
  isDate,
  isMap,
  isUint8Array,
  latin1Bytes,
  latin1Text,
  utf8Length,
} from '../../platform/node.ts';
import { INFO, TORRENT } from '../codec.ts';
import { infodictDiscriminator } from '../discriminator.ts';
import { FILE_ITEM, FILE_TREE_ITEM } from '../file-fields.ts';
import { HashList, type HashSize } from '../hash-list.ts';
import { isDictionary, isLatin1, isSameFlag, keyOf } from '../input.ts';
import type { Issues } from '../issues.ts';
import { rawInfo } from './infohash.ts';

type Path = readonly (string | number)[];

/**
 * Converts a whole torrent. Keys of plain objects are text; keys of Maps are bytes, or text with one character per byte, as our own
 * decoder gives them. Dictionaries that the models know may use property names. Returns undefined for other values.
 */
export function fromDecodedTorrent(decoded: unknown, issues: Issues): Map<string, Encodable> | undefined {
  if (isDictionary(decoded) && Object.hasOwn(decoded, 'infoBytes')) {
    const message =
      'expected a dictionary, got a copy of a torrent: pass the torrent itself, or { info: torrent.info }';
    return issues.add('type', [], message);
  }
  const known = dictionary(decoded, [], issues, TORRENT);
  if (!known) return undefined;
  const info = known.get('info');
  const layers = known.get('piece layers');
  // In v1, they may be anything.
  const hasLayers = info === undefined || infodictDiscriminator(info) !== 'v1';
  if (info !== undefined) known.set('info', rawInfo(info) ?? fromInfo(info, issues));
  if (layers !== undefined) known.set('piece layers', fromLayers(layers, hasLayers, issues));
  return convertMap(known, [], issues);
}

function fromInfo(value: unknown, issues: Issues): unknown {
  if (!isDictionary(value)) return value;
  const known = dictionary(value, ['info'], issues, INFO) as Map<string, unknown>;
  if (isMap(value) && [...known.keys()].some((key, i, keys) => i > 0 && (keys[i - 1] as string) > key)) {
    const message =
      'expected keys in byte order: the infohash is that of keys in order, not that of the bytes that were decoded';
    issues.add('not_canonical', ['info'], message, 'warning');
  }
  const pieces = known.get('pieces');
  if (typeof pieces === 'string') lost(['info', 'pieces'], issues);
  if (pieces !== undefined) known.set('pieces', asHashes(pieces, 20, ['info', 'pieces'], issues));
  // The names of a model are text, and its flags have one character per byte; in decoded values it is the other way round.
  const isModel = !isMap(value) && (Object.hasOwn(value, 'pieceLength') || Object.hasOwn(value, 'fileTree'));
  const files = known.get('files');
  if (Array.isArray(files)) {
    const at = (i: number) => ['info', 'files', i];
    known.set(
      'files',
      files.map((file, i) => withoutEmptyPath(withKeys(file, FILE_ITEM, at(i), { isModel, issues }), file)),
    );
  }
  const tree = known.get('file tree');
  if (tree !== undefined) known.set('file tree', fromTree(tree, ['info', 'file tree'], { isModel, issues }));
  return known;
}

interface Conversion {
  /** Whether the values are those of a model. */
  isModel: boolean;
  issues: Issues;
}

/** Renames the properties of a file to on-disk keys. Returns any other value unchanged. */
function withKeys(value: unknown, fields: object, path: Path, { isModel, issues }: Conversion): unknown {
  const file = isDictionary(value) ? dictionary(value, path, issues, fields) : undefined;
  const attr = file?.get('attr');
  if (isModel && typeof attr === 'string' && isLatin1(attr)) {
    file?.set('attr', latin1Bytes(attr));
    const message = 'a copied link has a length of 0: if the torrent has none for it, the infohash differs';
    if (attr.includes('l') && file?.get('length') === 0) issues.add('symlink', [...path, 'length'], message, 'warning');
  }
  return file ?? value;
}

/** The model of a pad file has an empty path where the file has none (BEP 47). */
function withoutEmptyPath(file: unknown, given: unknown): unknown {
  if (!isMap(file) || isMap(given)) return file;
  const path = file.get('path');
  const { attr } = given as { attr?: unknown };
  if (Array.isArray(path) && path.length === 0 && typeof attr === 'string' && attr.includes('p')) file.delete('path');
  return file;
}

function fromTree(value: unknown, path: Path, context: Conversion): unknown {
  const { isModel, issues } = context;
  if (!isDictionary(value)) return value;
  if (path.length > MAX_DEPTH) throw tooDeep(path, issues);
  issues.countItem();
  const named = isModel && isMap(value) ? new Map([...value].map(([key, node]) => [textKey(key), node])) : value;
  const tree = dictionary(named, path, issues) as Map<string, unknown>;
  for (const [key, node] of tree) {
    const below = [...path, key];
    tree.set(key, key === '' ? withKeys(node, FILE_TREE_ITEM, below, context) : fromTree(node, below, context));
  }
  return tree;
}

function textKey(key: unknown): unknown {
  return typeof key === 'string' ? toKey(key) : key;
}

/** Converts keys in hexadecimal to bytes and, unless the layers may be anything, lists of hashes to packed hashes. */
function fromLayers(value: unknown, areLayers: boolean, issues: Issues): unknown {
  if (!isDictionary(value)) return value;
  const layers = dictionary(value, ['piece layers'], issues) as Map<string, unknown>;
  const result = new Map<string, unknown>();
  for (const [key, layer] of layers) {
    const isHex = /^[0-9a-f]{64}$/.test(key);
    if (!isHex && key.includes('\u00ef\u00bf\u00bd')) lost(['piece layers', key], issues);
    if (typeof layer === 'string') lost(['piece layers', key], issues);
    const hashes = isHex || areLayers ? asHashes(layer, 32, ['piece layers', key], issues) : layer;
    result.set(isHex ? latin1Text(hexBytes(key)) : key, hashes);
  }
  return result;
}

/**
 * Reads a dictionary by its on-disk keys.
 *
 * @param fields Those whose properties a plain object may have. A Map, or an object without a prototype, is decoded: it has none.
 */
function dictionary(value: unknown, path: Path, issues: Issues, fields: object = {}): Map<string, unknown> | undefined {
  if (!isDictionary(value)) return issues.add('type', path, `expected a dictionary, got ${shown(value)}`);
  // The npm package `bencode` assigns a key __proto__, which makes its value the prototype.
  const prototype = Object.getPrototypeOf(value) as object | null;
  if (!isMap(value) && prototype !== null && !isObjectPrototype(prototype)) lost(path, issues);
  const map = new Map<string, unknown>();
  const properties = isMap(value) || prototype === null ? {} : (fields as Record<string, { key: string }>);
  let extra: Map<string, unknown> | null = null;
  for (const [given, entry] of (isMap(value) ? value : Object.entries(value as object)) as Iterable<
    [string, unknown]
  >) {
    if (entry === undefined || entry === null) continue;
    if (given === 'extra' && !isMap(value) && isExtra(entry)) {
      extra = entry;
      continue;
    }
    const key = Object.hasOwn(properties, given) ? (properties[given]?.key as string) : keyOf(given, isMap(value));
    if (map.has(key)) issues.add('alias', [...path, key], `${key} is also given under its property name: use only one`);
    map.set(key, entry);
  }
  for (const [given, entry] of extra ?? []) {
    const key = keyOf(given, true);
    if (map.has(key) && !isSameFlag(map.get(key), entry))
      issues.add('alias', [...path, given], `${given} is also given in extra: use only one`);
    map.set(key, entry);
  }
  return map;
}

/** Whether a value is the `extra` of a model, a Map of on-disk keys: decoded values of a key `extra` are no such Map. */
function isExtra(value: unknown): value is Map<string, unknown> {
  return isMap(value) && [...value.keys()].every((key) => typeof key === 'string');
}

/** A list of hashes to be packed, after its bytes have been counted against the limit. */
class UnpackedHashes {
  readonly list: readonly Uint8Array[];

  constructor(list: readonly Uint8Array[]) {
    this.list = list;
  }
}

/** Prepares hashes that are in a list, or in what `structuredClone` makes of a HashList. Returns any other value unchanged. */
function asHashes(value: unknown, hashSize: HashSize, path: Path, issues: Issues): unknown {
  if (isDictionary(value) && (value as Partial<HashList>).hashSize === hashSize) return (value as HashList).bytes;
  if (!isListOf(value, isUint8Array)) return value;
  const list = value as readonly Uint8Array[];
  const wrong = list.findIndex(({ length }) => length !== hashSize);
  if (wrong >= 0) issues.add('hash_length', [...path, wrong], `expected ${hashSize} bytes, got ${list[wrong]?.length}`);
  return new UnpackedHashes(list);
}

/** Reports text where bytes are expected. */
function lost(path: Path, issues: Issues): void {
  const message =
    'expected bytes, got text: the decoder has lost bytes; use Torrent.fromBytes, or a decoder that returns buffers';
  issues.add('lost', path, message);
}

/** Converts any value. May recurse, because the depth is bounded. */
function convert(value: unknown, path: Path, issues: Issues): Encodable {
  issues.countItem();
  if (path.length > MAX_DEPTH) throw tooDeep(path, issues);
  if (typeof value === 'boolean') return value ? 1 : 0;
  if (typeof value === 'number') return convertNumber(value, path, issues);
  if (typeof value === 'bigint') return value;
  if (isUint8Array(value)) return counted(value, issues);
  if (value instanceof RawBencode) {
    counted(value.bytes, issues);
    return value;
  }
  if (value instanceof UnpackedHashes) {
    for (const hash of value.list) counted(hash, issues);
    return concatBytes(value.list);
  }
  if (typeof value === 'string') return convertText(value, path, issues);
  if (isArrayBuffer(value)) return counted(new Uint8Array(value), issues);
  if (isDate(value)) return convertDate(value, path, issues);
  if (value instanceof HashList) return counted(HashList.viewOf(value), issues);
  if (Array.isArray(value)) return value.map((item, i) => convert(item, [...path, i], issues));
  if (!isDictionary(value)) {
    issues.add('type', path, `expected a value that bencode can represent, got ${shown(value)}`);
    return 0;
  }
  return convertMap(dictionary(value, path, issues) as Map<string, unknown>, path, issues);
}

const MAX_DEPTH = 100;

/** Ends the conversion: a value that contains itself would be converted without end. */
function tooDeep(path: Path, issues: Issues): ValidationError {
  issues.add('type', path.slice(0, 3), `expected at most ${MAX_DEPTH} levels of nesting, got more`);
  return new ValidationError(issues.finish());
}

function convertMap(map: Map<string, unknown>, path: Path, issues: Issues): Map<string, Encodable> {
  const result = new Map<string, Encodable>();
  for (const [key, value] of map) result.set(key, convert(value, [...path, key], issues));
  return result;
}

function convertNumber(value: number, path: Path, issues: Issues): Encodable {
  if (Number.isSafeInteger(value)) return value;
  const message = `expected an integer below 2^53 or a bigint, got ${value}: the decoder may have rounded it`;
  issues.add(Number.isInteger(value) ? 'lost' : 'type', path, message);
  return 0;
}

function convertDate(value: Date, path: Path, issues: Issues): Encodable {
  const seconds = Math.floor(value.getTime() / 1000);
  if (!Number.isNaN(seconds)) return seconds;
  issues.add('type', path, 'expected a valid date, got an invalid one');
  return 0;
}

/** Counts bytes against the limit. */
function counted(bytes: Uint8Array, issues: Issues): Uint8Array {
  issues.countBytes(bytes.length);
  return bytes;
}

function convertText(value: string, path: Path, issues: Issues): Encodable {
  issues.countBytes(utf8Length(value));
  // A decoder puts replacement characters where bytes are not UTF-8.
  if (value.includes('\ufffd')) lost(path, issues);
  return value;
}
