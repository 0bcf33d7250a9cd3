// The v2 file tree as a struct (BEP 52).

import { isMap } from 'node:util/types';
import { coerce, define, type Struct, unknown } from 'superstruct';
import { shown } from '../errors/errors.ts';
import { checkArgument, expected, invalidArgument, readSafely } from '../errors/guard.ts';
import { FILE_TREE_ITEM } from './file-fields.ts';
import { type FileTreeItem, type FlatFile, flattenTree, type FileTree as Tree, unflattenTree } from './flat-tree.ts';
import { treeOf } from './input.ts';
import { Issues } from './issues.ts';

export { type FileTreeItem, type FlatFile, flattenTree, sortTree, unflattenTree } from './flat-tree.ts';

/**
 * Names to what they hold: another tree for a folder, or a tree with the one key `''` and a {@link FileTreeItem} for a
 * file. Iterates in the byte order of the names (BEP 52).
 */
export type FileTree = Tree;

const treeInput = treeOf(FILE_TREE_ITEM);

/**
 * A well-formed tree of at least one entry. superstruct's `create` makes one of Maps or plain objects, its leaves under
 * on-disk keys or attribute names, and sorts it; `flatten` and `unflatten` go to a list of files and back.
 */
export const FileTree: Struct<FileTree, null> & {
  /** The files of a tree in its order. */
  flatten(tree: FileTree): FlatFile[];
  /** The tree that holds the files, its names in byte order. Paths must differ, and none may lead through a file. */
  unflatten(files: Iterable<FlatFile>): FileTree;
} = Object.assign(
  coerce(
    define<FileTree>('fileTree', (value) => {
      if (!(value instanceof Map)) return `Expected a file tree, got ${shown(value)}`;
      return problemOf(value as FileTree) ?? true;
    }),
    unknown(),
    (value) => treeInput(value, { path: [], issues: new Issues() }) as FileTree,
  ),
  { flatten, unflatten },
);

const AnyTree = expected<FileTree>('a file tree: a Map', isMap);
const Files = expected<Iterable<FlatFile>>(
  'a list of files',
  (value) => Object(value) === value && Symbol.iterator in (value as object),
);

function flatten(tree: FileTree): FlatFile[] {
  checkArgument('tree', tree, AnyTree);
  return readSafely('tree', () => {
    const problem = tree.size === 0 ? null : problemOf(tree);
    if (problem) throw invalidArgument(`tree: ${problem}`);
    return flattenTree(tree);
  });
}

function unflatten(files: Iterable<FlatFile>): FileTree {
  checkArgument('files', files, Files);
  return readSafely('files', () => {
    const list = [...files];
    for (const [i, file] of list.entries()) {
      const path: unknown = file?.path;
      const isPath = Array.isArray(path) && path.length > 0 && path.every((part) => typeof part === 'string');
      if (!isPath)
        throw invalidArgument(`files: item ${i}: expected a path of at least one component, got ${shown(path)}`);
    }
    return unflattenTree(list);
  });
}

/** Deeper than any file system goes: a folder that holds itself is found there. */
const MOST_DEPTH = 1000;

function problemOf(tree: FileTree): string | null {
  if (tree.size === 0) return 'Expected at least one file, got an empty tree';
  if (tree.has('')) return 'An empty name at the root of the tree';
  const stack: [path: string, node: FileTree, depth: number][] = [['', tree, 1]];
  for (let next = stack.pop(); next; next = stack.pop()) {
    const [at, node, depth] = next;
    if (depth > MOST_DEPTH) return `more than ${MOST_DEPTH} folders within each other, or one that holds itself`;
    for (const [name, child] of node) {
      const path = `${at}/${name}`;
      const problem = name === '' ? leafProblem(at, node, child) : folderProblem(path, child);
      if (problem) return problem;
      if (name !== '') stack.push([path, child as FileTree, depth + 1]);
    }
  }
  return null;
}

function leafProblem(path: string, node: FileTree, item: FileTree | FileTreeItem): string | null {
  if (node.size !== 1) return `${path}: a file beside other entries`;
  if (item instanceof Map || item === null || typeof item !== 'object')
    return `${path}: expected a file, got ${shown(item)}`;
  if (!Number.isSafeInteger(item.length) || item.length < 0)
    return `${path}: expected a length from 0, got ${shown(item.length)}`;
  const root = item.piecesRoot ?? null;
  if (root !== null && !(root instanceof Uint8Array && root.length === 32)) {
    return `${path}: expected a pieces root of 32 bytes, got ${shown(root)}`;
  }
  return null;
}

function folderProblem(path: string, child: FileTree | FileTreeItem): string | null {
  if (!(child instanceof Map)) return `${path}: expected a folder or a file, got ${shown(child)}`;
  return child.size === 0 ? `${path}: an empty folder` : null;
}
