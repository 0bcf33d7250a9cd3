/** Finds the offsets of values in bencode, for the offsets of issues. */

/** Steps from the top-level value: dictionary keys (latin1, as `decode` returns them) and list indexes. */
export type BencodePath = readonly (string | number)[];

interface Trie {
  /** Whether its value was reached. The first of two equal keys wins. */
  seen: boolean;
  /** Indexes of the paths that end here. */
  pathIndexes: number[];
  children: Map<string | number, Trie>;
}

interface Level {
  trie: Trie | undefined;
  /** The index of the next value of a list. The key of the next value of a dictionary, null before a key. */
  at: number | string | null;
  isList: boolean;
}

/**
 * Finds where values begin, in one pass over bytes that the decoder has accepted. For a path that does not exist, the result
 * is the offset of the deepest value on the way to it.
 *
 * @returns Offsets in bytes, in the order of the paths.
 */
export function locate(bytes: Uint8Array, paths: readonly BencodePath[]): number[] {
  const offsets = new Array<number>(paths.length).fill(0);
  const root = trieOf(paths);
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const levels: Level[] = [];
  for (let at = 0; at < bytes.length; ) {
    const top = levels.at(-1);
    const byte = bytes[at] as number;
    if (byte === 0x65) {
      levels.pop();
      at += 1;
    } else if (top && top.at === null) {
      const [from, to] = stringAt(bytes, at);
      top.at = buffer.toString('latin1', from, to);
      at = to;
      continue;
    } else {
      const found = top ? top.trie?.children.get(top.at as string | number) : root;
      const trie = found?.seen ? undefined : found;
      if (trie) trie.seen = true;
      if (trie) setOffsets(trie, at, offsets);
      if (byte === 0x64 || byte === 0x6c) {
        levels.push({ trie, at: byte === 0x6c ? 0 : null, isList: byte === 0x6c });
        at += 1;
        continue;
      }
      at = byte === 0x69 ? bytes.indexOf(0x65, at) + 1 : stringAt(bytes, at)[1];
    }
    // A value is complete.
    const parent = levels.at(-1);
    if (!parent) break;
    parent.at = parent.isList ? (parent.at as number) + 1 : null;
  }
  return offsets;
}

function trieOf(paths: readonly BencodePath[]): Trie {
  const root: Trie = { seen: false, pathIndexes: [], children: new Map() };
  for (const [index, path] of paths.entries()) {
    let node = root;
    for (const step of path) {
      let child = node.children.get(step);
      if (!child) {
        child = { seen: false, pathIndexes: [], children: new Map() };
        node.children.set(step, child);
      }
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

/** Returns where the string at an offset begins (after its length) and ends. */
function stringAt(bytes: Uint8Array, start: number): [from: number, to: number] {
  let length = 0;
  let at = start;
  for (; bytes[at] !== 0x3a; at += 1) length = length * 10 + ((bytes[at] as number) - 0x30);
  return [at + 1, at + 1 + length];
}
