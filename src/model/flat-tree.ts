// A v2 file tree as data: to a list of files, and back.
import { type BencodeMap, compareUtf8 } from '../bencode/value.ts';

/** A file in a v2 tree (BEP 52). */
export interface FileTreeItem {
  /** Bytes. */
  length: number;
  /** The root of the file's Merkle tree, 32 bytes; none for an empty file. */
  piecesRoot?: Uint8Array | null;
  /** BEP 47 flags, one letter each. */
  attr?: string | null;
  /** What a symbolic link (`attr` with `l`) leads to, from the torrent's root. */
  symlinkPath?: string[] | null;
  /** Unknown keys, as they were read. */
  extra?: BencodeMap;
}

/**
 * Names to what they hold: another tree for a folder, or a tree with the one key `''` and a {@link FileTreeItem} for a
 * file. Iterates in the byte order of the names (BEP 52).
 */
export type FileTree = Map<string, FileTree | FileTreeItem>;

/** A file with its path from the tree's root. */
export interface FlatFile extends FileTreeItem {
  /** Components, from the torrent's root. */
  path: string[];
}

/** The files of a tree in its order. Does not recurse. */
export function flattenTree(tree: FileTree): FlatFile[] {
  const files: FlatFile[] = [];
  const stack: { path: string[]; node: FileTree | FileTreeItem }[] = [{ path: [], node: tree }];
  for (let next = stack.pop(); next; next = stack.pop()) {
    const { path, node } = next;
    if (!(node instanceof Map)) {
      files.push({ ...node, path });
      continue;
    }
    // Not spread into push(): a folder may hold more entries than a call takes arguments.
    for (const [name, child] of [...node].reverse()) {
      stack.push({ path: name === '' ? path : [...path, name], node: child });
    }
  }
  return files;
}

/** The tree that holds the files, its names in byte order. Paths must differ, and none may lead through a file. */
export function unflattenTree(files: Iterable<FlatFile>): FileTree {
  const root: FileTree = new Map();
  for (const { path, ...item } of files) {
    let node = root;
    for (const name of path) {
      let child = node.get(name);
      if (!(child instanceof Map)) {
        child = new Map();
        node.set(name, child);
      }
      node = child;
    }
    node.set('', item);
  }
  return sortTree(root);
}

/** The same tree with the names of every folder in byte order. */
export function sortTree(tree: FileTree): FileTree {
  const sorted: FileTree = new Map();
  const stack: [from: FileTree, to: FileTree][] = [[tree, sorted]];
  for (let next = stack.pop(); next; next = stack.pop()) {
    const [from, to] = next;
    for (const [name, child] of [...from].sort(([a], [b]) => compareUtf8(a, b))) {
      if (child instanceof Map) {
        const folder: FileTree = new Map();
        to.set(name, folder);
        stack.push([child, folder]);
      } else {
        to.set(name, child);
      }
    }
  }
  return sorted;
}
