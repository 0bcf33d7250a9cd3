// What callers give as fields, under attribute names: copied out of plain objects or Maps with either name of each key.
import { isDate, isMap, isUint8Array } from 'node:util/types';
import { type BencodeMap, type BencodeValue, keyBytes, RawBencode, toKey } from '../bencode/value.ts';
import { shown } from '../errors/errors.ts';
import { meantBy } from '../errors/guard.ts';
import type { Field } from './codec.ts';
import { type FileTree, type FileTreeItem, sortTree } from './flat-tree.ts';
import { HashList } from './hash-list.ts';
import type { Issues } from './issues.ts';

/** Where input stands, and who is told what is wrong with it. */
export interface InputContext {
  path: readonly (string | number)[];
  issues: Issues;
}

/**
 * What a caller gives, as attributes: under the on-disk key or the attribute name (both at once is an issue), unknown
 * keys in `extra`. A key that is one letter off a known one is an issue too: give it in `extra` if it is meant.
 *
 * @param input A plain object, or a Map whose keys are text (one char a byte) or bytes.
 * @param own Attributes that are no fields: their arrays are copied.
 */
export function fromInput(
  input: unknown,
  fields: object,
  { own = [], path, issues }: InputContext & { own?: readonly string[] },
): Record<string, unknown> {
  const byKey = keysOf(fields);
  const model: Record<string, unknown> = {};
  let extra: BencodeMap | undefined;
  for (const [given, value] of isMap(input) ? input : Object.entries(input as object)) {
    if (value === undefined) continue;
    const key = keyOf(given, isMap(input));
    if (key === 'extra' && !isMap(input)) {
      extra = new Map([...extraOf(value, path, issues), ...(extra ?? [])]);
      continue;
    }
    const attribute = Object.hasOwn(fields, key) ? key : byKey.get(key)?.attribute;
    if (attribute !== undefined) {
      if (Object.hasOwn(model, attribute))
        issues.add('alias', [...path, key], `${attribute} is given under both its names`);
      const { coerce } = (fields as Record<string, Field<unknown>>)[attribute] as Field<unknown>;
      model[attribute] = coerce ? coerce(value, { path: [...path, attribute], issues }) : value;
    } else if (own.includes(key)) {
      model[key] = copied(value);
    } else {
      const meant = meantBy(key, [...byKey.keys(), ...Object.keys(fields), ...own]);
      if (meant) issues.add('misspelled', [...path, key], `an unknown key: did you mean ${meant}?`);
      extra ??= new Map();
      extra.set(key, value as BencodeValue);
    }
  }
  for (const key of extra?.keys() ?? []) {
    const attribute = byKey.get(key)?.attribute;
    if (attribute !== undefined && Object.hasOwn(model, attribute))
      issues.add('alias', [...path, 'extra', key], `${attribute} is given in extra too`);
  }
  return extra?.size ? { ...model, extra } : model;
}

function extraOf(value: unknown, path: InputContext['path'], issues: Issues): BencodeMap {
  if (value === null) return new Map();
  if (isDictionary(value)) {
    return new Map(
      [...(isMap(value) ? value : Object.entries(value))].map(([key, entry]) => [keyOf(key, isMap(value)), entry]),
    );
  }
  issues.add('type', [...path, 'extra'], `expected a Map of unknown keys, got ${shown(value)}`);
  return new Map();
}

/** A plain object or a Map: what can have fields. */
export function isDictionary(value: unknown): value is object {
  const isObject = value !== null && typeof value === 'object' && !Array.isArray(value) && !ArrayBuffer.isView(value);
  return isObject && !(isDate(value) || value instanceof HashList || value instanceof RawBencode);
}

/** A key as it stands on disk, one char a byte. A Map's text keys are that already, unless they cannot be. */
export function keyOf(key: unknown, isMap: boolean): string {
  if (isUint8Array(key)) return Buffer.from(key).toString('latin1');
  const text = String(key);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the range is what latin1 is
  return isMap && /^[\u0000-\u00ff]*$/.test(text) ? text : toKey(text);
}

/** Lists, and lists in them, that the caller cannot change any more. */
export function copied(value: unknown): unknown {
  return Array.isArray(value) ? value.map((item: unknown) => (Array.isArray(item) ? [...item] : item)) : value;
}

/** Each dictionary of a list by its fields. */
export const listOf =
  (fields: object) =>
  (value: unknown, { path, issues }: InputContext) =>
    Array.isArray(value)
      ? value.map((item, i) => (isDictionary(item) ? fromInput(item, fields, { path: [...path, i], issues }) : item))
      : value;

/** A file tree out of Maps or plain objects, its names in byte order and its leaves by their fields. */
export const treeOf =
  (leaf: object) =>
  (value: unknown, { path, issues }: InputContext): unknown => {
    const above = new Set<unknown>();
    const folder = (node: object, at: InputContext['path']): FileTree => {
      if (above.has(node) || above.size > MOST_DEPTH) {
        issues.add('tree', path as string[], `expected at most ${MOST_DEPTH} levels of folders, got more`);
        return new Map();
      }
      above.add(node);
      const tree: FileTree = new Map();
      for (const [key, child] of isMap(node) ? node : Object.entries(node)) {
        const name = isUint8Array(key) ? Buffer.from(key).toString('utf8') : String(key);
        const below = [...at, name];
        if (!isDictionary(child)) tree.set(name, child as never);
        else if (name !== '') tree.set(name, folder(child, below));
        else tree.set(name, fromInput(child, leaf, { path: below, issues }) as unknown as FileTreeItem);
      }
      above.delete(node);
      return tree;
    };
    return isDictionary(value) ? sortTree(folder(value, path)) : value;
  };

/** Deeper than any file system goes. */
const MOST_DEPTH = 1000;

/** Layers out of a Map or a plain object: roots as bytes or in hexadecimal, hashes packed or in a list. */
export function layersOf(value: unknown): unknown {
  if (!isDictionary(value)) return value;
  const entries: Iterable<[unknown, unknown]> = isMap(value) ? value : Object.entries(value);
  return new Map([...entries].map(([key, layer]) => [rootOf(key), hashesOf(layer, 32)]));
}

function rootOf(key: unknown): unknown {
  const bytes = typeof key === 'string' && key.length === 32 ? keyBytes(key) : key;
  return isUint8Array(bytes) ? Buffer.from(bytes).toString('hex') : key;
}

/** Hashes of one size as a list of them; anything else as it is. */
export function hashesOf(value: unknown, hashSize: 20 | 32): unknown {
  const packed = isUint8Array(value) && value.length % hashSize === 0;
  const listed = Array.isArray(value) && value.every((hash) => isUint8Array(hash) && hash.length === hashSize);
  return packed || listed ? new HashList(value as Uint8Array | Uint8Array[], hashSize) : value;
}

/** The attribute and field of each on-disk key. */
const keyCache = new WeakMap<object, Map<string, { attribute: string; field: Field<never> }>>();
export function keysOf(fields: object) {
  let keys = keyCache.get(fields);
  if (!keys) {
    keys = new Map(
      Object.entries(fields as Record<string, Field<never>>).map(([attribute, field]) => [
        field.key,
        { attribute, field },
      ]),
    );
    keyCache.set(fields, keys);
  }
  return keys;
}
