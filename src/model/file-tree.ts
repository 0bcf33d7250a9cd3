/** The model of a v2 file tree (BEP 52). */
import type { Struct } from 'superstruct';
import { shown } from '../errors/errors.ts';
import { checkArgument, expected, invalidArgument, iterable, readSafely } from '../errors/guard.ts';
import { isMap } from '../platform/node.ts';
import {
  type FileTreeItem,
  type FlatFile,
  flattenTree,
  type FileTree as Tree,
  unflattenTree,
} from './lazy/flat-tree.ts';
import { failuresOfTree, TreeStruct } from './tree-struct.ts';

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
} = Object.assign(TreeStruct, { flatten, unflatten });

const AnyTree = expected<FileTree>('a file tree: a Map', isMap);
const Files = iterable<FlatFile>('a list of files');

function flatten(tree: FileTree): FlatFile[] {
  checkArgument('tree', tree, AnyTree);
  return readSafely('tree', () => {
    const [failure] = tree.size === 0 ? [] : failuresOfTree(tree);
    if (failure)
      throw invalidArgument(
        `tree: ${failure.path.map((name) => `/${name}`).join('')}${failure.path.length > 0 ? ': ' : ''}${failure.message}`,
      );
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
