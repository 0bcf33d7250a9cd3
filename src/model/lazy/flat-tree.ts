/** The v2 file tree as plain data, and its conversion to a flat list of files and back. */
import { type BencodeMap, compareUtf8 } from '../../bencode/value.ts';
import { copyOf } from '../../platform/node.ts';

/** A file in a v2 tree (BEP 52). */
export interface FileTreeItem {
  /** Bytes. */
  readonly length: number;
  /** The pieces root, 32 bytes; absent for an empty file. */
  readonly piecesRoot?: Uint8Array | null;
  /** BEP 47 flags, one letter each. */
  readonly attr?: string | null;
  /** The target of a symbolic link (`attr` with `l`): components below the torrent's root. */
  readonly symlinkPath?: readonly string[] | null;
  /** Unknown keys: keys with one character per byte, values as the decoder gives them. */
  readonly extra?: BencodeMap;
}

/**
 * A folder: a Map from each name to another tree. A file is a tree with the single key `''` and a {@link FileTreeItem}. Names
 * iterate in byte order (BEP 52).
 */
export type FileTree = ReadonlyMap<string, FileTree | FileTreeItem>;

/** A value that is being built: it becomes read-only for its callers. */
export type Mutable<T> = { -readonly [K in keyof T]: T[K] };
type MutableTree = Map<string, MutableTree | FileTreeItem>;

/** A file of a tree with its path. */
export interface FlatFile extends FileTreeItem {
  /** Components below the torrent's root. */
  readonly path: readonly string[];
}

/** The files of a tree in its order. Does not recurse, so the tree may be of any depth. */
export function flattenTree(tree: FileTree): FlatFile[] {
  const files: FlatFile[] = [];
  const stack: { path: string[]; node: FileTree | FileTreeItem }[] = [{ path: [], node: tree }];
  for (let next = stack.pop(); next; next = stack.pop()) {
    const { path, node } = next;
    if (!(node instanceof Map)) {
      files.push({ ...(node as FileTreeItem), path });
      continue;
    }
    // Not spread into push(): a folder may have more entries than a call can have arguments.
    for (const [name, child] of [...node].reverse()) {
      stack.push({ path: name === '' ? path : [...path, name], node: child });
    }
  }
  return files;
}

/** The tree of copies of files, its names in byte order. Paths must differ, and none may lead through a file. */
export function unflattenTree(files: Iterable<FlatFile>): FileTree {
  const root: MutableTree = new Map();
  for (const { path, ...file } of files) {
    const item: Mutable<FileTreeItem> = file;
    let node = root;
    for (const name of path) {
      let child = node.get(name);
      if (!(child instanceof Map)) {
        child = new Map();
        node.set(name, child);
      }
      node = child;
    }
    item.piecesRoot &&= copyOf(item.piecesRoot);
    node.set('', item);
  }
  return sortTree(root);
}

/** The same tree with the names of every folder in byte order. */
export function sortTree(tree: FileTree): FileTree {
  const sorted: MutableTree = new Map();
  const stack: [from: FileTree, to: MutableTree][] = [[tree, sorted]];
  for (let next = stack.pop(); next; next = stack.pop()) {
    const [from, to] = next;
    for (const [name, child] of [...from].sort(([a], [b]) => compareUtf8(a, b))) {
      if (child instanceof Map) {
        const folder: MutableTree = new Map();
        to.set(name, folder);
        stack.push([child, folder]);
      } else {
        to.set(name, child as FileTreeItem);
      }
    }
  }
  return sorted;
}
