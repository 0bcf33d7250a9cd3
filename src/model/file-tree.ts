/** The model of a v2 file tree (BEP 52). */
import { define, type Struct } from 'superstruct';
import { shown } from '../errors/errors.ts';
import { checkArgument, expected, invalidArgument, iterable, readSafely } from '../errors/guard.ts';
import { unsafeComponent } from '../layout/safe-path.ts';
import { isMap } from '../platform/node.ts';
import { FILE_TREE_ITEM } from './file-fields.ts';
import { entryProblem } from './file-item.ts';
import { treeOf, withInput } from './input.ts';
import {
  type FileTreeItem,
  type FlatFile,
  flattenTree,
  type FileTree as Tree,
  unflattenTree,
} from './lazy/flat-tree.ts';
import { MAX_TREE_DEPTH } from './limits.ts';

export { type FileTreeItem, type FlatFile, flattenTree, sortTree, unflattenTree } from './lazy/flat-tree.ts';

/**
 * A folder: a Map from each name to another tree. A file is a tree with the single key `''` and a {@link FileTreeItem}. Names
 * iterate in byte order (BEP 52).
 */
export type FileTree = Tree;

/**
 * Checks a file tree of at least one file. superstruct's `create` accepts Maps and plain objects, with on-disk keys or property
 * names in the leaves, and sorts the tree. `flatten` and `unflatten` convert a tree to a list of files and back.
 */
export const FileTree: Struct<FileTree, null> & {
  /** The files of a tree in its order. Throws {@link MetainfoError} `ERR_INVALID_ARGUMENT` for an invalid tree. */
  flatten(tree: FileTree): FlatFile[];
  /**
   * The tree of a list of files, its names in byte order. Paths must differ, and none may lead through a file. Throws
   * {@link MetainfoError} `ERR_INVALID_ARGUMENT` for a file without a path.
   */
  unflatten(files: Iterable<FlatFile>): FileTree;
} = Object.assign(
  withInput(
    define<FileTree>('fileTree', (value) => {
      if (!(value instanceof Map)) return `expected a file tree, got ${shown(value)}`;
      return treeProblem(value as FileTree) ?? true;
    }),
    treeOf(FILE_TREE_ITEM),
  ),
  { flatten, unflatten },
);

const AnyTree = expected<FileTree>('a file tree: a Map', isMap);
const Files = iterable<FlatFile>('a list of files');

function flatten(tree: FileTree): FlatFile[] {
  checkArgument('tree', tree, AnyTree);
  return readSafely('tree', () => {
    const problem = tree.size === 0 ? null : treeProblem(tree);
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

function treeProblem(tree: FileTree): string | null {
  if (tree.size === 0) return 'expected at least one file, got an empty tree';
  if (tree.has('')) return 'expected a name at the root of the tree, got an empty one';
  // The bound on the depth also ends a tree that contains itself.
  const stack: [path: string, node: FileTree, depth: number][] = [['', tree, 1]];
  for (let next = stack.pop(); next; next = stack.pop()) {
    const [folder, node, depth] = next;
    if (depth > MAX_TREE_DEPTH) return `expected at most ${MAX_TREE_DEPTH} levels of folders, got more`;
    for (const [name, child] of node) {
      const path = `${folder}/${name}`;
      const problem = name === '' ? leafProblem(folder, node, child) : folderProblem(path, name, child);
      if (problem) return problem;
      if (name !== '') stack.push([path, child as FileTree, depth + 1]);
    }
  }
  return null;
}

function leafProblem(path: string, node: FileTree, item: FileTree | FileTreeItem): string | null {
  if (node.size !== 1) return `${path}: expected a file or a folder, got a file beside other entries`;
  const problem = entryProblem(item);
  if (problem) return `${path}: ${problem}`;
  const { attr, piecesRoot: root } = item as FileTreeItem;
  if (attr?.includes('p')) return `${path}: a pad file has no place in a v2 tree`;
  if (root == null) return null;
  if (attr?.includes('l')) return `${path}: a symbolic link has no pieces root`;
  const isRoot = root instanceof Uint8Array && root.length === 32;
  return isRoot ? null : `${path}: expected a pieces root of 32 bytes, got ${shown(root)}`;
}

function folderProblem(path: string, name: string, child: FileTree | FileTreeItem): string | null {
  const unsafe = unsafeComponent(name);
  if (unsafe) return `${path}: ${unsafe} in a path: ${shown(name)}`;
  if (!(child instanceof Map)) return `${path}: expected a folder or a file, got ${shown(child)}`;
  return child.size === 0 ? `${path}: expected at least one entry in a folder, got none` : null;
}
