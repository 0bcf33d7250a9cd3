/** Mutates bencode as a tree, so that most inputs have the right form and wrong content, and shrinks failing inputs. */
import { latin1 } from '../../test/support/build.ts';
import { below, pick } from './random.ts';

/** A tree of bencode that need not be valid: keys may lack values, and come in any order. */
type Node =
  | { type: 'scalar'; bytes: Buffer }
  | { type: 'string'; bytes: Buffer }
  | { type: 'list' | 'dictionary'; items: Node[] };

/** More levels than a decoder accepts, but few enough to recurse. */
const MOST_LEVELS = 120;
const MOST_BYTES = 8192;
const NUMBERS = '0 -0 -1 1 2 07 20 16384 16385 65536 9007199254740991 9007199254740992'.split(' ');
const LONG_NUMBERS = ['4611686018427387904', '-9223372036854775808', '18446744073709551616', `1${'0'.repeat(21)}`];

/** Parses an input; null if it is not bencode. */
function parse(bytes: Buffer): Node | null {
  let at = 0;
  const read = (level: number): Node | null => {
    const type = bytes[at];
    if (type === 0x6c || type === 0x64) {
      const items: Node[] = [];
      for (at += 1; bytes[at] !== 0x65; ) {
        const item = level < MOST_LEVELS ? read(level + 1) : null;
        if (!item) return null;
        items.push(item);
      }
      at += 1;
      return { type: type === 0x6c ? 'list' : 'dictionary', items };
    }
    const end = bytes.indexOf(type === 0x69 ? 'e' : ':', at) + 1;
    if (end === 0) return null;
    const start = at;
    at = end;
    if (type === 0x69) return { type: 'scalar', bytes: bytes.subarray(start, at) };
    const length = Number(bytes.toString('latin1', start, end - 1));
    if (!(length >= 0 && end + length <= bytes.length)) return null;
    at = end + length;
    return { type: 'string', bytes: bytes.subarray(end, at) };
  };
  const node = read(0);
  return node && at === bytes.length ? node : null;
}

function write(node: Node): Buffer {
  if (node.type === 'scalar') return node.bytes;
  if (node.type === 'string') return Buffer.concat([latin1(`${node.bytes.length}:`), node.bytes]);
  const open = latin1(node.type === 'list' ? 'l' : 'd');
  return Buffer.concat([open, ...node.items.map(write), latin1('e')]);
}

type Container = Extract<Node, { items: Node[] }>;

/** The number of items that an entry takes: a key and its value, or a value alone. */
const stepOf = (node: Container) => (node.type === 'dictionary' ? 2 : 1);

const string = (bytes: Buffer): Node => ({ type: 'string', bytes });

function* containers(node: Node): Generator<Container> {
  if (!('items' in node)) return;
  yield node;
  for (const item of node.items) yield* containers(item);
}

/** Sorts the keys if each has a value, because a decoder refuses unsorted keys before anything else. */
function sort(node: Container): void {
  const pairs: [Node, Node][] = [];
  for (let i = 0; i + 1 < node.items.length; i += 2) pairs.push([node.items[i] as Node, node.items[i + 1] as Node]);
  if (node.items.length % 2 !== 0 || !pairs.every(([key]) => key.type === 'string')) return;
  const bytes = (key: Node) => (key as { bytes: Buffer }).bytes;
  node.items = pairs.toSorted(([a], [b]) => Buffer.compare(bytes(a), bytes(b))).flat();
}

function mutateTree(tree: Node, other: Node | null, words: readonly string[]): void {
  const all = [...containers(tree)];
  if (all.length === 0) return;
  // Every container is equally likely, however large.
  const node = pick(all);
  const step = stepOf(node);
  const at = below(Math.floor(node.items.length / step) + 1) * step;
  const value = node.items[at + step - 1];
  const insert = (...items: Node[]) => void node.items.splice(at, 0, ...items);
  const replace = (make: (value: Node) => Node) => {
    if (value) node.items[at + step - 1] = make(value);
  };
  const word = () => string(latin1(pick(words)));
  const foreign = () => (other && pick([...containers(other)].flatMap(({ items }) => items))) ?? word();
  const number = (): Node => ({ type: 'scalar', bytes: latin1(`i${pick(below(4) === 0 ? LONG_NUMBERS : NUMBERS)}e`) });
  const mutations = [
    () => void node.items.splice(at, step),
    () => insert(...node.items.slice(at, at + step)),
    () => insert(...(step === 2 ? [word()] : []), pick([foreign, word, number])()),
    () => replace(foreign),
    () => replace(number),
    () =>
      replace((old) =>
        old.type === 'string'
          ? string(mutateBytes(old.bytes, words))
          : { type: pick(['list', 'dictionary'] as const), items: [old] },
      ),
    () => {
      if (step === 2 && value) node.items[at] = word();
    },
    () => {
      // An entry of one dictionary in another.
      const from = pick(all);
      const first = below(Math.floor(from.items.length / 2) + 1) * 2;
      if (from !== node && ![...containers(from)].includes(node)) insert(...from.items.slice(first, first + 2));
    },
    () => {
      // Another length: sizes that are valid for another number of pieces.
      if (value?.type !== 'string') return;
      const size = pick([0, 19, 20, 21, 32, 40, 64, 96]);
      replace(() => string(Buffer.alloc(size, value.bytes.length > 0 ? value.bytes : 'x')));
    },
  ];
  pick(mutations)();
  if (node.type === 'dictionary' && below(10) !== 0) sort(node);
}

function mutateBytes(bytes: Buffer, words: readonly string[]): Buffer {
  const at = below(bytes.length + 1);
  const size = 1 + below(pick([1, 4, 32]));
  const replace = (removed: number, added: Buffer) =>
    Buffer.concat([bytes.subarray(0, at), added, bytes.subarray(at + removed)]);
  const mutations = [
    () => replace(0, latin1(pick(words))),
    () => replace(0, Buffer.from(Array.from({ length: size }, () => below(256)))),
    () => replace(size, Buffer.alloc(0)),
    () => replace(0, bytes.subarray(below(bytes.length), below(bytes.length))),
    () => {
      const word = latin1(pick(words));
      return replace(word.length, word);
    },
    () => {
      const old = bytes[at];
      if (old === undefined) return bytes;
      return replace(1, Buffer.of(pick([old ^ (1 << below(8)), below(256), ...latin1('01de:il%&')])));
    },
  ];
  return pick(mutations)();
}

/** Returns a changed copy of an input, sometimes with parts of another one. */
export function mutate(input: Buffer, other: Buffer, words: readonly string[]): Buffer {
  const tree = below(5) === 0 ? null : parse(input);
  let bytes = input;
  if (tree) {
    // Parsed each time: a node in two places could end up inside itself.
    for (let rounds = 1 + below(pick([1, 3, 8])); rounds > 0; rounds -= 1) mutateTree(tree, parse(other), words);
    bytes = write(tree);
  }
  if (!tree || below(8) === 0)
    for (let rounds = 1 + below(4); rounds > 0; rounds -= 1) bytes = mutateBytes(bytes, words);
  return bytes.length > MOST_BYTES ? bytes.subarray(0, MOST_BYTES) : bytes;
}

/** Returns the smallest input that still fails, after at most this many tries. */
export async function shrink(input: Buffer, fails: (input: Buffer) => Promise<boolean>, tries = 3000): Promise<Buffer> {
  let [best, left] = [input, tries];
  const attempt = async (smaller: Buffer) => {
    left -= 1;
    if (left < 0 || smaller.length >= best.length || !(await fails(smaller))) return false;
    best = smaller;
    return true;
  };
  for (let before = Infinity; best.length < before && left > 0; ) {
    before = best.length;
    // First removes entries and items, or halves strings; then removes bytes.
    for (let index = 0; left > 0; index += 1) {
      const tree = parse(best);
      const places = tree
        ? [...containers(tree)].flatMap((node) =>
            node.items.flatMap((_, at) => (at % stepOf(node) === 0 ? [{ node, at }] : [])),
          )
        : [];
      const place = places[index];
      if (!tree || !place) break;
      const { node, at } = place;
      const removed = node.items.splice(at, stepOf(node));
      if (await attempt(write(tree))) index -= 1;
      else {
        const value = removed.at(-1) as Node;
        if (value.type !== 'string' || value.bytes.length < 2) continue;
        const half = string(value.bytes.subarray(0, value.bytes.length >> 1));
        node.items.splice(at, 0, ...removed.slice(0, -1), half);
        await attempt(write(tree));
      }
    }
    for (let size = best.length >> 1; size >= 1 && left > 0; size >>= 1)
      for (let at = 0; at < best.length && left > 0; )
        if (!(await attempt(Buffer.concat([best.subarray(0, at), best.subarray(at + size)])))) at += size;
  }
  return best;
}
