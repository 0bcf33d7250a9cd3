/** Copies fields that callers give out of plain objects and Maps, whose keys may be on-disk keys or property names. */
import { isDate, isMap, isUint8Array } from 'node:util/types';
import { copyOfValue } from '../bencode/copy.ts';
import { type BencodeMap, type BencodeValue, keyBytes, RawBencode, toKey } from '../bencode/value.ts';
import { shown } from '../errors/errors.ts';
import { suggestName } from '../errors/guard.ts';
import { type Field, keysOf } from './field.ts';
import { type FileTree, type FileTreeItem, sortTree } from './flat-tree.ts';
import { HashList } from './hash-list.ts';
import type { Issues } from './issues.ts';
import { MAX_TREE_DEPTH } from './limits.ts';

/** The path of an input value, and the collector of issues. */
export interface InputContext {
  path: readonly (string | number)[];
  issues: Issues;
}

/**
 * Reads the fields of an input object as properties, unknown keys as `extra`. Reports a field that is given under both its
 * on-disk key and its property name, and an unknown key that is one letter off a known one: such a key belongs in `extra`.
 *
 * @param input A plain object, or a Map whose keys are text (one character per byte) or bytes.
 * @param own Properties that are not fields: their arrays are copied.
 */
export function fromInput(
  input: unknown,
  fields: object,
  { own = [], path, issues }: InputContext & { own?: readonly string[] },
): Record<string, unknown> {
  const known = keysOf(fields);
  const model: Record<string, unknown> = {};
  let extra: BencodeMap | undefined;
  for (const [given, value] of isMap(input) ? input : Object.entries(input as object)) {
    if (value === undefined) continue;
    const key = keyOf(given, isMap(input));
    if (key === 'extra' && !isMap(input)) {
      extra = new Map([...extraOf(value, path, issues), ...(extra ?? [])]);
      continue;
    }
    const property = Object.hasOwn(fields, key) ? key : known.get(key)?.property;
    if (property !== undefined) {
      if (Object.hasOwn(model, property))
        issues.add(
          'alias',
          [...path, key],
          `${property} is given under its on-disk key and its property name: use only one`,
        );
      const { coerce } = (fields as Record<string, Field<unknown>>)[property] as Field<unknown>;
      model[property] = coerce ? coerce(value, { path: [...path, property], issues }) : value;
    } else if (own.includes(key)) {
      model[key] = copied(value);
    } else {
      const similar = suggestName(key, [...known.keys(), ...Object.keys(fields), ...own]);
      if (similar) issues.add('misspelled', [...path, key], `an unknown key: did you mean ${similar}?`);
      extra ??= new Map();
      extra.set(key, copyOfValue(value as BencodeValue));
    }
  }
  for (const key of extra?.keys() ?? []) {
    const property = known.get(key)?.property;
    if (property !== undefined && Object.hasOwn(model, property))
      issues.add('alias', [...path, 'extra', key], `${property} is also given in extra: use only one`);
  }
  return extra?.size ? { ...model, extra } : model;
}

function extraOf(value: unknown, path: InputContext['path'], issues: Issues): BencodeMap {
  if (value === null) return new Map();
  if (isDictionary(value)) {
    return new Map(
      [...(isMap(value) ? value : Object.entries(value))].map(([key, entry]) => [
        keyOf(key, isMap(value)),
        copyOfValue(entry),
      ]),
    );
  }
  issues.add('type', [...path, 'extra'], `expected a Map of unknown keys, got ${shown(value)}`);
  return new Map();
}

/** Whether a value can have fields: a plain object or a Map. */
export function isDictionary(value: unknown): value is object {
  const isObject = value !== null && typeof value === 'object' && !Array.isArray(value) && !ArrayBuffer.isView(value);
  return isObject && !(isDate(value) || value instanceof HashList || value instanceof RawBencode);
}

/** A key in its on-disk form, one character per byte. Text keys of a Map have that form already, unless a char is beyond 255. */
export function keyOf(key: unknown, isMap: boolean): string {
  if (isUint8Array(key)) return Buffer.from(key).toString('latin1');
  const text = String(key);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the range is what latin1 is
  return isMap && /^[\u0000-\u00ff]*$/.test(text) ? text : toKey(text);
}

/** A copy of a list and of the lists in it, which the caller cannot change. */
export function copied(value: unknown): unknown {
  return Array.isArray(value) ? value.map((item: unknown) => (Array.isArray(item) ? [...item] : item)) : value;
}

/** Converts a list of dictionaries with the given fields. */
export const listOf =
  (fields: object) =>
  (value: unknown, { path, issues }: InputContext) =>
    Array.isArray(value)
      ? value.map((item, i) => (isDictionary(item) ? fromInput(item, fields, { path: [...path, i], issues }) : item))
      : value;

/** Converts a file tree of Maps or plain objects: sorts its names in byte order and reads the fields of its leaves. */
export const treeOf =
  (leaf: object) =>
  (value: unknown, { path, issues }: InputContext): unknown => {
    const above = new Set<unknown>();
    const convertFolder = (node: object, folderPath: InputContext['path']): FileTree => {
      if (above.has(node) || above.size > MAX_TREE_DEPTH) {
        issues.add('tree', path as string[], `expected at most ${MAX_TREE_DEPTH} levels of folders, got more`);
        return new Map();
      }
      above.add(node);
      const tree: FileTree = new Map();
      for (const [key, child] of isMap(node) ? node : Object.entries(node)) {
        const name = isUint8Array(key) ? Buffer.from(key).toString('utf8') : String(key);
        const below = [...folderPath, name];
        if (!isDictionary(child)) tree.set(name, child as never);
        else if (name !== '') tree.set(name, convertFolder(child, below));
        else tree.set(name, fromInput(child, leaf, { path: below, issues }) as unknown as FileTreeItem);
      }
      above.delete(node);
      return tree;
    };
    return isDictionary(value) ? sortTree(convertFolder(value, path)) : value;
  };

/** Converts piece layers of a Map or a plain object: roots as bytes or in hexadecimal, hashes packed or in a list. */
export function layersOf(value: unknown): unknown {
  if (!isDictionary(value)) return value;
  const entries: Iterable<[unknown, unknown]> = isMap(value) ? value : Object.entries(value);
  return new Map([...entries].map(([key, layer]) => [rootOf(key), hashesOf(layer, 32)]));
}

function rootOf(key: unknown): unknown {
  const bytes = typeof key === 'string' && key.length === 32 ? keyBytes(key) : key;
  return isUint8Array(bytes) ? Buffer.from(bytes).toString('hex') : key;
}

/** Converts packed or listed hashes of one size to a HashList. Returns any other value unchanged. */
export function hashesOf(value: unknown, hashSize: 20 | 32): unknown {
  const packed = isUint8Array(value) && value.length % hashSize === 0;
  const listed = Array.isArray(value) && value.every((hash) => isUint8Array(hash) && hash.length === hashSize);
  return packed || listed ? new HashList(value as Uint8Array | Uint8Array[], hashSize) : value;
}
