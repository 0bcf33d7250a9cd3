/** Finds the offsets of values in bencode, for the offsets of issues. */
import { Cursor } from './unchecked-cursor.ts';
import { BYTES } from './value.ts';

/** Steps from the top-level value: dictionary keys (latin1, as `decode` returns them) and list indexes. */
export type BencodePath = readonly (string | number)[];

interface Trie {
  /** Indexes of the paths that end here. */
  pathIndexes: number[];
  children: Map<string | number, Trie>;
}

/**
 * Finds where values begin, in one pass over bytes that the decoder has accepted. For a path that does not exist, the result
 * is the offset of the deepest value on the way to it.
 *
 * @returns Offsets in bytes, in the order of the paths.
 */
export function locate(bytes: Uint8Array, paths: readonly BencodePath[]): number[] {
  const offsets = new Array<number>(paths.length).fill(0);
  visit(new Cursor(bytes), trieOf(paths), offsets);
  return offsets;
}

/** Sets the offsets of the paths through the next value, and skips it. */
function visit(cursor: Cursor, trie: Trie, offsets: number[]): void {
  setOffsets(trie, cursor.at, offsets);
  const isList = cursor.next === BYTES.LIST;
  if (trie.children.size === 0 || !(isList || cursor.next === BYTES.DICTIONARY)) {
    cursor.skip();
    return;
  }
  cursor.at += 1;
  for (let index = 0; !cursor.atEnd; index += 1) {
    const step = isList ? index : cursor.latin1();
    const child = trie.children.get(step);
    // The first of two equal keys wins.
    trie.children.delete(step);
    if (child) visit(cursor, child, offsets);
    else cursor.skip();
  }
  cursor.at += 1;
}

function trieOf(paths: readonly BencodePath[]): Trie {
  const root: Trie = { pathIndexes: [], children: new Map() };
  for (const [index, path] of paths.entries()) {
    let node = root;
    for (const step of path) {
      const child = node.children.get(step) ?? { pathIndexes: [], children: new Map() };
      node.children.set(step, child);
      node = child;
    }
    node.pathIndexes.push(index);
  }
  return root;
}

/** Sets the offset of all paths through a node. A deeper value overrides it for the paths that lead there. */
function setOffsets(trie: Trie, at: number, offsets: number[]): void {
  for (const index of trie.pathIndexes) offsets[index] = at;
  for (const child of trie.children.values()) setOffsets(child, at, offsets);
}
