/** Copies fields that callers give out of plain objects and Maps, whose keys may be on-disk keys or property names. */
import { Struct } from 'superstruct';
import {
  type BencodeMap,
  type BencodeValue,
  copyOfValue,
  keyBytes,
  RawBencode,
  textOrNull,
  toKey,
} from '../bencode/value.ts';
import { type Issue, shown } from '../errors/errors.ts';
import { isListOf, suggestName } from '../errors/guard.ts';
import { hexText, isDate, isMap, isUint8Array, latin1Text, utf8Text } from '../platform/node.ts';
import { type Field, keysOf } from './field.ts';
import { HashList } from './hash-list.ts';
import { Issues } from './issues.ts';
import { type FileTree, type FileTreeItem, type Mutable, sortTree } from './lazy/flat-tree.ts';
import { MAX_TREE_DEPTH } from './limits.ts';

/** The path of an input value, and the collector of issues. */
export interface InputContext {
  path: readonly (string | number)[];
  issues: Issues;
}

/**
 * Reads the fields of an input object as properties, unknown keys as `extra`. Reports a field that is given under both its
 * on-disk key and its property name, and an unknown key that is one letter off a known one: such a key belongs in `extra`. In a
 * decoded dictionary, that is only a warning.
 *
 * @param input A plain object, or a Map whose keys are text (one character per byte) or bytes.
 * @param own Properties that are not fields: their arrays are copied.
 */
export function fromInput(
  input: object,
  fields: object,
  { own = [], path, issues }: InputContext & { own?: readonly string[] },
): Record<string, unknown> {
  const known = keysOf(fields);
  const model: Record<string, unknown> = {};
  let extra: BencodeMap | undefined;
  const isDecoded = isMap(input) || Object.getPrototypeOf(input) === null;
  for (const [given, value] of entriesOf(input)) {
    const key = keyOf(given, isMap(input));
    const property = known.get(key)?.property ?? (!isDecoded && Object.hasOwn(fields, key) ? key : undefined);
    // A misspelt key with undefined may stand for one that must have a value.
    if (value === undefined && (property !== undefined || [...own, 'extra'].includes(key))) continue;
    if (key === 'extra' && !isDecoded) {
      extra = new Map([...extraOf(value, path, issues), ...(extra ?? [])]);
      continue;
    }
    if (property !== undefined) {
      const message = `${property} is given under its on-disk key and its property name: use only one`;
      if (Object.hasOwn(model, property)) issues.add('alias', [...path, key], message);
      const { coerce } = (fields as Record<string, Field<unknown>>)[property] as Field<unknown>;
      model[property] = coerce ? coerce(value, { path: [...path, property], issues }) : value;
      if (isDecoded && isSameFlag(model[property], value) && value !== 0 && value !== 1)
        extra = new Map(extra).set(key, value as number);
    } else if (own.includes(key)) {
      model[key] = textsOf(value);
    } else {
      const similar = suggestName(key, [...known.keys(), ...Object.keys(fields), ...own]);
      const severity = isDecoded ? 'warning' : 'error';
      if (similar) issues.add('misspelled', [...path, key], `an unknown key: did you mean ${similar}?`, severity);
      if (value == null) continue;
      extra ??= new Map();
      extra.set(key, copyOfValue(value as BencodeValue));
    }
  }
  for (const key of extra?.keys() ?? []) {
    const property = known.get(key)?.property;
    if (property !== undefined && Object.hasOwn(model, property) && !isSameFlag(model[property], extra?.get(key)))
      issues.add('alias', [...path, 'extra', key], `${property} is also given in extra: use only one`);
  }
  takeUtf8(model, 'name', 'nameUtf8');
  takeUtf8(model, 'path', 'pathUtf8');
  return extra?.size ? { ...model, extra } : model;
}

/** Replaces a name that is not UTF-8 by the one in UTF-8 that an old creator wrote beside it, as reading does. */
function takeUtf8(model: Record<string, unknown>, name: string, utf8: string): void {
  if (model[utf8] === undefined) return;
  const [given, shownParts] = [[model[name]].flat(), [model[utf8]].flat()];
  const isText = shownParts.length === given.length && shownParts.every((part) => typeof part === 'string');
  if (isText && given.some(isUint8Array)) model[name] = model[utf8];
}

function extraOf(value: unknown, path: InputContext['path'], issues: Issues): BencodeMap {
  if (isDictionary(value))
    return new Map(
      entriesOf(value).flatMap(([key, entry]) =>
        entry === null ? [] : [[keyOf(key, isMap(value)), copyOfValue(entry as BencodeValue)]],
      ),
    );
  if (value !== null) issues.add('type', [...path, 'extra'], `expected a Map of unknown keys, got ${shown(value)}`);
  return new Map();
}

/** The entries of a plain object or a Map. */
function entriesOf(dictionary: object): [key: unknown, value: unknown][] {
  return isMap(dictionary) ? [...dictionary] : Object.entries(dictionary);
}

/** Whether a value can have fields: a plain object or a Map. */
export function isDictionary(value: unknown): value is object {
  const isObject = value !== null && typeof value === 'object' && !Array.isArray(value) && !ArrayBuffer.isView(value);
  return isObject && !(isDate(value) || value instanceof HashList || value instanceof RawBencode);
}

/** A key in its on-disk form, one character per byte. Text keys of a Map have that form already, unless a char is beyond 255. */
export function keyOf(key: unknown, isMap: boolean): string {
  if (isUint8Array(key)) return latin1Text(key);
  const text = String(key);
  return isMap && isLatin1(text) ? text : toKey(text);
}

/** Whether text has one character per byte. */
export function isLatin1(text: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the range is what latin1 is
  return /^[\u0000-\u00ff]*$/.test(text);
}

/** Whether a flag is what a model makes of a number, such as 2, that `extra` keeps. */
export function isSameFlag(flag: unknown, number: unknown): boolean {
  return typeof flag === 'boolean' && typeof number === 'number' && flag === (number !== 0);
}

/** Text of bytes that are UTF-8, also in lists and in lists of lists, which are copied. Returns any other value unchanged. */
export function textsOf(value: unknown): unknown {
  return textsWithin(value, 2);
}

function textsWithin(value: unknown, depth: number): unknown {
  if (isUint8Array(value)) return textOrNull(value) ?? value;
  return Array.isArray(value) && depth > 0 ? value.map((item: unknown) => textsWithin(item, depth - 1)) : value;
}

/** Converts an entry of a v1 file list with the given fields. A pad file needs no path (BEP 47). */
export const fileOf =
  (fields: object) =>
  (value: unknown, context: InputContext): unknown => {
    if (!isDictionary(value)) return value;
    const file = { attr: null, ...entryOf(value, fields, context) };
    if (hasFlag(file, 'p')) file.path ??= [];
    return file;
  };

/** A file with the given fields. A symbolic link needs no length (BEP 47). */
function entryOf(
  value: object,
  fields: object,
  context: InputContext,
): Partial<Mutable<FileTreeItem> & { path: unknown }> {
  const file: Partial<Mutable<FileTreeItem>> = fromInput(value, fields, context);
  if (hasFlag(file, 'l')) file.length ??= 0;
  return file;
}

function hasFlag({ attr }: Partial<FileTreeItem>, flag: string): boolean {
  return typeof attr === 'string' && attr.includes(flag);
}

/** Converts a v1 file list. */
export const filesOf =
  (fields: object) =>
  (value: unknown, { path, issues }: InputContext): unknown =>
    Array.isArray(value) ? value.map((item, i) => fileOf(fields)(item, { path: [...path, i], issues })) : value;

/**
 * Converts a file tree of Maps or plain objects: sorts its names in byte order and reads the fields of its leaves. Where the leaves
 * are Maps too, a decoder has made the tree, and its names have one character per byte.
 */
export const treeOf =
  (leaf: object) =>
  (value: unknown, { path, issues }: InputContext): unknown => {
    const above = new Set<unknown>();
    const isDecoded = hasMapAsLeaf(value);
    const convertFolder = (node: object, folderPath: InputContext['path']): FileTree => {
      if (above.has(node) || above.size > MAX_TREE_DEPTH) {
        issues.add('tree', path as string[], `expected at most ${MAX_TREE_DEPTH} levels of folders, got more`);
        return new Map();
      }
      above.add(node);
      const tree = new Map<string, FileTree | FileTreeItem>();
      for (const [key, child] of entriesOf(node)) {
        const bytes = isUint8Array(key) ? key : isDecoded && isMap(node) ? keyBytes(keyOf(key, true)) : null;
        const name = bytes ? utf8Text(bytes) : String(key);
        const below = [...folderPath, name];
        if (bytes && textOrNull(bytes) === null) issues.add('not_utf8', below, 'expected a name in UTF-8');
        if (!isDictionary(child)) tree.set(name, child as never);
        else if (name !== '') tree.set(name, convertFolder(child, below));
        else tree.set(name, entryOf(child, leaf, { path: below, issues }) as FileTreeItem);
      }
      above.delete(node);
      return tree;
    };
    return isDictionary(value) ? sortTree(convertFolder(value, path)) : value;
  };

function hasMapAsLeaf(tree: unknown): boolean {
  let node = tree;
  for (let depth = 0; isMap(node) && depth <= MAX_TREE_DEPTH; depth += 1) {
    if (node.has('')) return isMap(node.get(''));
    node = node.values().next().value;
  }
  return false;
}

/** Converts piece layers of a Map or a plain object: roots as bytes or in hexadecimal, hashes packed or in a list. */
export function layersOf(value: unknown): unknown {
  if (!isDictionary(value)) return value;
  return new Map(entriesOf(value).map(([key, layer]) => [rootOf(key), hashesOf(layer, 32)]));
}

function rootOf(key: unknown): unknown {
  const bytes = typeof key === 'string' && key.length === 32 ? keyBytes(key) : key;
  return isUint8Array(bytes) ? hexText(bytes) : key;
}

/** Converts packed or listed hashes of one size to a HashList. Returns any other value unchanged. */
export function hashesOf(value: unknown, hashSize: 20 | 32): unknown {
  const packed = isUint8Array(value) && value.length % hashSize === 0;
  const listed = isListOf(value, (hash) => isUint8Array(hash) && hash.length === hashSize);
  return packed || listed ? new HashList(value as Uint8Array | Uint8Array[], hashSize) : value;
}

/** Lets `create` of superstruct accept input of callers. @param convert Returns what it does not convert unchanged. */
export function withInput<T, S>(
  struct: Struct<T, S>,
  convert: (value: unknown, context: InputContext) => unknown,
): Struct<T, S> {
  const found = new WeakMap<object, readonly Issue[]>();
  return new Struct<T, S>({
    ...struct,
    coercer(value, context) {
      const issues = new Issues();
      const result: unknown = struct.coercer(convert(value, { path: [], issues }), context);
      if (issues.hasErrors) found.set(result as object, issues.errors());
      return result;
    },
    *validator(value, context) {
      for (const { code, path, message } of found.get(value as object) ?? [])
        yield { refinement: code, path: [...context.path, ...path], message };
      yield* struct.validator(value, context);
    },
  });
}
