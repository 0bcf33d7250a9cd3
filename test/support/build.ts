/** Builds valid and invalid torrents for tests, without using the code under test: a bencode writer and parts for fixtures. */
import { createHash } from 'node:crypto';

/** A value that {@link bencode} writes. Object keys are text; Map keys have one character per byte. Undefined is left out. */
export type Bencode =
  | Raw
  | bigint
  | number
  | string
  | Uint8Array
  | readonly Bencode[]
  | ReadonlyMap<string, Bencode>
  | Dictionary;
export interface Dictionary {
  readonly [key: string]: Bencode | undefined;
}

/** Bytes to write unchanged, such as bencode that no encoder would write. */
export class Raw {
  readonly bytes: Buffer;
  constructor(bytes: Uint8Array) {
    this.bytes = Buffer.from(bytes);
  }
}

export const latin1 = (text: string): Buffer => Buffer.from(text, 'latin1');
export const raw = (text: string): Raw => new Raw(latin1(text));

/** Encodes canonical bencode, except for {@link Raw} values. */
export function bencode(value: Bencode): Buffer {
  if (value instanceof Raw) return value.bytes;
  if (typeof value === 'number' || typeof value === 'bigint') return latin1(`i${value}e`);
  if (typeof value === 'string') return bencode(Buffer.from(value));
  if (value instanceof Uint8Array) return Buffer.concat([latin1(`${value.length}:`), value]);
  if (Array.isArray(value)) return Buffer.concat([latin1('l'), ...value.map(bencode), latin1('e')]);
  return inOrder(entriesOf(value as Dictionary).toSorted(([a], [b]) => Buffer.compare(a, b)));
}

function entriesOf(value: Dictionary | ReadonlyMap<string, Bencode>): [Buffer, Bencode][] {
  const isMap = value instanceof Map;
  const entries = [...(isMap ? (value as Map<string, Bencode>) : Object.entries(value as Dictionary))];
  return entries.flatMap(([key, item]) =>
    item === undefined ? [] : [[Buffer.from(key, isMap ? 'latin1' : 'utf8'), item]],
  );
}

function inOrder(entries: readonly (readonly [Uint8Array, Bencode])[]): Buffer {
  return Buffer.concat([latin1('d'), ...entries.flatMap(([key, item]) => [bencode(key), bencode(item)]), latin1('e')]);
}

/** Encodes a dictionary with its keys in the given order, duplicates included. */
export function unsorted(...entries: (readonly [key: string, value: Bencode])[]): Raw {
  return new Raw(inOrder(entries.map(([key, value]) => [Buffer.from(key), value] as const)));
}

export const sha1 = (...parts: Uint8Array[]): Buffer => createHash('sha1').update(Buffer.concat(parts)).digest();
export const sha256 = (...parts: Uint8Array[]): Buffer => createHash('sha256').update(Buffer.concat(parts)).digest();

/** Formats bytes as hexadecimal, for the paths of issues. */
export const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

export const PIECE = 16_384;

/** Arbitrary hashes: without a layer, only their size can be checked. */
export const H20 = Buffer.alloc(20, 1);
export const H32 = Buffer.alloc(32, 2);

export function torrent(info: Bencode, top: Dictionary = {}): Buffer {
  return bencode({ info, ...top });
}

/** v1: a single file of 5 bytes. */
export const single: Dictionary = { name: 'a', 'piece length': PIECE, pieces: H20, length: 5 };

export const file = (length: number | bigint, ...path: Bencode[]): Dictionary => ({ length, path });
export const pad = (length: number): Dictionary => ({ attr: 'p', length, path: ['.pad', String(length)] });

/** v1: a folder, with the number of hashes that the sizes imply. */
export function folder(files: readonly Bencode[], changes: Dictionary = {}): Dictionary {
  const sizes = files.map((item) => Number((item as Dictionary)['length'] ?? 0));
  const count = Math.ceil(sizes.reduce((sum, size) => sum + Math.max(0, size || 0), 0) / PIECE);
  const pieces = Buffer.alloc(20 * Math.min(count, 1000), 1);
  return { name: 'd', 'piece length': PIECE, pieces, files, ...changes };
}

/** A file of a v2 tree, with a pieces root if it has content. */
export function leaf(length: number | bigint, changes: Dictionary = {}): Dictionary {
  return { '': { length, 'pieces root': length === 0 ? undefined : H32, ...changes } };
}

/** v2: a torrent named `a` with this tree. */
export function v2(tree: Bencode, changes: Dictionary = {}): Dictionary {
  return { name: 'a', 'piece length': PIECE, 'meta version': 2, 'file tree': tree, ...changes };
}

/** A v2 or hybrid torrent with its piece layers; without layers if no file is longer than a piece. */
export function withLayers(info: Bencode, layers: Bencode | undefined = {}, top: Dictionary = {}): Buffer {
  return torrent(info, { 'piece layers': layers, ...top });
}

/** Two hashes, and the root of a file of two pieces. */
export const HASHES = [sha256(latin1('1')), sha256(latin1('2'))] as const;
export const LAYER = Buffer.concat(HASHES);
export const ROOT = sha256(LAYER);
/** v2: a single file of two pieces. */
export const long = v2({ a: leaf(20_000, { 'pieces root': ROOT }) });
export const layers = (...entries: (readonly [key: Uint8Array, layer: Bencode])[]): Map<string, Bencode> =>
  new Map(entries.map(([key, layer]) => [Buffer.from(key).toString('latin1'), layer]));

/** Hybrid: a single file of 5 bytes. */
export const both: Dictionary = { ...v2({ a: leaf(5) }), pieces: H20, length: 5 };

/** Hybrid: `files` beside a tree. */
export function hybrid(files: readonly Bencode[], tree: Bencode, changes: Dictionary = {}): Dictionary {
  return { ...v2(tree), ...folder(files), ...changes };
}

/** A hybrid folder of `a` (5 bytes) and `b` (6 bytes), as parts that fixtures rearrange. */
export const A = file(5, 'a');
export const PAD_A = pad(PIECE - 5);
export const B = file(6, 'b');
export const PAD_B = pad(PIECE - 6);
export const EMPTY = file(0, 'c');
export const TREE: Dictionary = { a: leaf(5), b: leaf(6) };
export const TREE_AND_EMPTY: Dictionary = { ...TREE, c: leaf(0) };
