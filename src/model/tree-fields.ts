/** The field of a v2 file tree: nested dictionaries on disk, a list of files while they are decoded. */
import { type BencodeMap, type Encodable, keyBytes, toKey } from '../bencode/value.ts';
import { decodeFields, encodeFields, type Field } from './field.ts';
import { checkComponent, checkLength, checkSymlink, FILE_TREE_ITEM } from './file-fields.ts';
import { type FileTree, type FileTreeItem, type FlatFile, unflattenTree } from './flat-tree.ts';
import { treeOf } from './input.ts';
import type { Issues } from './issues.ts';
import { decodeMap, textOf } from './value-fields.ts';

/** The v2 `file tree`. */
export const fileTree: Field<FileTree> = {
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

/** Reports a root that is empty or has an empty name. Returns whether the root is valid. */
export function checkRoot(size: number, hasLeaf: boolean, issues: Issues): boolean {
  if (hasLeaf) issues.add('tree', [''], 'expected a name, got an empty one at the root of the tree');
  else if (size === 0) issues.add('tree', [], 'expected at least one file, got an empty tree');
  return !hasLeaf && size > 0;
}

/**
 * Adds the files below a folder to `flat`. Returns false when an entry does not decode. May recurse, because the decoder
 * bounds the depth.
 */
export function decodeFolder(map: BencodeMap, path: string[], flat: FlatFile[], issues: Issues): boolean {
  let isValid = true;
  if (map.size === 0) {
    issues.forgivable('tree', [], 'expected at least one entry in a folder, got none');
    isValid = issues.compat;
  }
  const names = new UniqueNames();
  for (const [key, value] of map) {
    issues.path.push(key);
    const name = key === '' ? '' : decodeName(keyBytes(key), names, issues);
    const node = decodeMap(value, issues);
    if (!node || name === null) isValid = false;
    if (node && key === '') isValid = decodeLeaf(node, map, { path, flat, issues }) && isValid;
    else if (node) isValid = decodeFolder(node, [...path, name ?? ''], flat, issues) && isValid;
    issues.path.pop();
  }
  return isValid;
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
  // Null for a root that did not decode: it has been reported, so the rules must not report it as missing.
  if (node.has('pieces root')) item.piecesRoot ??= null;
  if (item.length === undefined || siblings.size > 1) return false;
  flat.push({ ...(item as FileTreeItem), path });
  issues.requireWithin('files', flat.length);
  return true;
}

/** Makes the names of a folder unique: names that are not UTF-8 may read alike, so compat adds a number to them. */
export class UniqueNames {
  /** Names with replacement characters that are in use, each with the number to try next. */
  #used: Map<string, number> | undefined;

  of(name: string): string {
    if (!name.includes('\ufffd')) return name;
    this.#used ??= new Map();
    let unique = name;
    for (let n = this.#used.get(name) ?? 0; this.#used.has(unique); n += 1) {
      unique = `${name}.${n + 1}`;
      this.#used.set(name, n + 1);
    }
    this.#used.set(unique, 0);
    return unique;
  }
}

/** The name of an entry of a tree; null when it is not text. */
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
