/** The struct of a v2 file tree, and the failures of one (BEP 52). */
import { define, type Struct } from 'superstruct';
import { DEFAULT_LIMITS } from '../bencode/limits.ts';
import { shown } from '../errors/errors.ts';
import { unsafeComponent } from '../layout/safe-path.ts';
import { FILE_TREE_ITEM } from './file-fields.ts';
import { entryProblem } from './file-item.ts';
import { treeOf, withInput } from './input.ts';
import type { FileTree, FileTreeItem } from './lazy/flat-tree.ts';
import { MAX_TREE_DEPTH } from './limits.ts';

/** `FileTree` without its functions, which models and pages do not need. */
export const TreeStruct: Struct<FileTree, null> = withInput(
  define<FileTree>('fileTree', (value, { path }) =>
    value instanceof Map ? failuresOfTree(value, path) : `expected a file tree, got ${shown(value)}`,
  ),
  treeOf(FILE_TREE_ITEM),
);

/** As many failures are listed as issues of a torrent: a hostile tree may have millions. */
const MAX_FAILURES = 1000;
/** Entries: more than memory holds, so that only folders that contain each other reach it. */
const MAX_ENTRIES = 10 * DEFAULT_LIMITS.items;

/**
 * The failures of a tree. Their paths are those of its files and folders, below `at`. May recurse, because the depth is bounded; the
 * bound on entries ends the check of folders that contain each other.
 */
export function failuresOfTree(tree: FileTree, at: readonly (string | number)[] = []) {
  const failures: { path: (string | number)[]; message: string }[] = [];
  const path = [...at];
  let left = MAX_ENTRIES;
  /** Ends the check. */
  const tooMany = (most: number, what: string) => {
    if (left >= 0) failures.push({ path: [...at], message: `expected at most ${most} ${what}, got more` });
    left = -1;
  };
  const add = (message: string | null) => {
    if (message && failures.length === MAX_FAILURES) tooMany(MAX_FAILURES, 'failures');
    else if (message) failures.push({ path: [...path], message });
  };
  const check = (node: FileTree) => {
    const depth = path.length - at.length;
    if (node.size === 0)
      add(`expected at least one ${depth > 0 ? 'entry in a folder, got none' : 'file, got an empty tree'}`);
    if (depth >= MAX_TREE_DEPTH) tooMany(MAX_TREE_DEPTH, 'levels of folders');
    for (const [name, child] of node) {
      if (left === 0) tooMany(MAX_ENTRIES, 'entries');
      if (left < 0) return;
      left -= 1;
      if (name === '') {
        add(depth === 0 ? 'expected a name at the root of the tree, got an empty one' : leafProblem(node, child));
        continue;
      }
      path.push(name);
      const unsafe = unsafeComponent(name);
      if (unsafe) add(`${unsafe} in a path: ${shown(name)}`);
      if (child instanceof Map) check(child);
      else add(`expected a folder or a file, got ${shown(child)}`);
      path.pop();
    }
  };
  check(tree);
  return failures;
}

function leafProblem(node: FileTree, item: FileTree | FileTreeItem): string | null {
  if (node.size !== 1) return 'expected a file or a folder, got a file beside other entries';
  const problem = entryProblem(item);
  if (problem) return problem;
  const { attr, piecesRoot: root } = item as FileTreeItem;
  if (attr?.includes('p')) return 'a pad file has no place in a v2 tree';
  if (root == null) return null;
  if (attr?.includes('l')) return 'a symbolic link has no pieces root';
  const isRoot = root instanceof Uint8Array && root.length === 32;
  return isRoot ? null : `expected a pieces root of 32 bytes, got ${shown(root)}`;
}
