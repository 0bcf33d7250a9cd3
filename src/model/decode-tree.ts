/** Decodes the file tree of v2, and reports what is wrong with it. */
import { type BencodeMap, type BencodeValue, keyBytes } from '../bencode/value.ts';
import { decodeFields } from './field.ts';
import { checkComponent, checkLength, checkSymlink, EMPTY_TREE_ITEM, FILE_TREE_ITEM } from './file-fields.ts';
import type { Issues } from './issues.ts';
import type { FileTreeItem, FlatFile, Mutable } from './lazy/flat-tree.ts';
import { decodeMap, textOf } from './value-fields.ts';

/** Decodes a `file tree`. Returns undefined when the root or an entry does not decode. */
export function decodeTree(value: BencodeValue, issues: Issues): FlatFile[] | undefined {
  const map = decodeMap(value, issues);
  if (map?.has('')) return issues.add('tree', [''], 'expected a name, got an empty one at the root of the tree');
  if (map?.size === 0) return issues.add('tree', [], 'expected at least one file, got an empty tree');
  const flat: FlatFile[] = [];
  return map && decodeFolder(map, [], flat, issues) ? flat : undefined;
}

/** Adds the files below a folder to `flat`. Returns false when an entry does not decode. May recurse, because the decoder bounds the depth. */
function decodeFolder(map: BencodeMap, path: string[], flat: FlatFile[], issues: Issues): boolean {
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

const LINK_FLAG = 0x6c;

interface LeafContext {
  path: string[];
  flat: FlatFile[];
  issues: Issues;
}

function decodeLeaf(node: BencodeMap, siblings: BencodeMap, { path, flat, issues }: LeafContext): boolean {
  if (siblings.size > 1) issues.add('tree', [], 'expected a file or a folder, got a file beside other entries');
  const flags = node.get('attr');
  const isEmpty = node.get('length') === 0 || (flags instanceof Uint8Array && flags.includes(LINK_FLAG));
  const item = decodeFields(node, isEmpty ? EMPTY_TREE_ITEM : FILE_TREE_ITEM, issues) as Partial<Mutable<FileTreeItem>>;
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
class UniqueNames {
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
function decodeName(bytes: Uint8Array, names: UniqueNames, issues: Issues): string | null {
  const name = textOf(bytes, issues);
  if (name === undefined) return null;
  checkComponent(name, issues);
  return names.of(name);
}
