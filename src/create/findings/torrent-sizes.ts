/** The sizes of a torrent before it is hashed: its bencode, pieces and pad files. */
import { encode } from '../../bencode/encode.ts';
import type { Encodable } from '../../bencode/value.ts';
import { MAX_TREE_DEPTH } from '../../model/limits.ts';
import { isMap, utf8Length } from '../../platform/node.ts';
import type { ListShape } from '../file-list.ts';
import { add, type FileSizes, measureFiles, pair, type Size, stringBytes } from './file-sizes.ts';

/** A torrent without its hashes. */
export interface TorrentShape extends ListShape {
  name: string;
  /** The torrent as bencode, without the keys that describe its files. */
  otherFields: ReadonlyMap<string, Encodable>;
}

/** The properties of a torrent that `limits` bounds. */
type Amounts = Record<'bytes' | 'depth' | 'items' | 'text' | 'paths' | 'files' | 'pieces' | 'padding', number>;

/** The properties of a torrent that some reader bounds. */
export interface Sizes extends Amounts {
  pieceLength: number;
  /** Bytes of the longest file. */
  length: number;
}

/** Dictionaries around the components of a path in the file tree: the torrent, `info`, the tree and the file. */
const LEVELS = 4;

/** The components that a path in a v2 file tree may have. */
export const MAX_COMPONENTS = MAX_TREE_DEPTH - LEVELS;

/** The sizes of a torrent before it is hashed. Other files of equal content count with one layer each, although they share one. */
export function sizesOf(shape: TorrentShape, fileSizes: FileSizes): Sizes {
  const { version, isSingleFile, pieceLength, files } = shape;
  const { list, tree, layers, pads, padBytes, components } = fileSizes;
  const total = { items: 0, bytes: 0, text: 0 };
  add(total, sizeOfOtherFields(shape.otherFields, total));
  add(total, pair('piece length', String(pieceLength).length + 2));
  const v1Pieces = Math.ceil((fileSizes.total + padBytes) / pieceLength);
  if (version !== 'v2') {
    add(total, pair('pieces', stringBytes(20 * v1Pieces)));
    add(total, list ?? pair('length', String(fileSizes.total).length + 2));
  }
  if (version !== 'v1') {
    add(total, pair('meta version', 3));
    add(total, tree);
    add(total, pair('piece layers', 2));
    add(total, layers);
  }
  return {
    items: total.items,
    bytes: total.bytes,
    text: total.text,
    depth: version === 'v1' ? (isSingleFile ? 2 : 5) : components + LEVELS,
    paths: version === 'v1' ? 0 : fileSizes.pathUnits,
    files: files.length + pads,
    pieces: version === 'v2' ? fileSizes.pieces : v1Pieces,
    padding: padBytes,
    pieceLength,
    length: fileSizes.longest,
  };
}

/** The size of all other fields. Also finds the longest text. */
function sizeOfOtherFields(otherFields: Encodable, longest: { text: number }): Size {
  // Encode first: it refuses values that are not bencode, and cycles.
  const bytes = encode(otherFields).length;
  let items = 0;
  const stack = [otherFields];
  for (let value = stack.pop(); value !== undefined; value = stack.pop()) {
    items += 1;
    if (typeof value === 'string') longest.text = Math.max(longest.text, utf8Length(value));
    else if (Array.isArray(value)) for (const entry of value as readonly Encodable[]) stack.push(entry);
    else if (isMap(value)) {
      items += value.size;
      for (const entry of (value as ReadonlyMap<string, Encodable>).values()) stack.push(entry);
    }
  }
  return { items, bytes };
}

/** The properties that decide the sizes of given files: other values may be tried. */
export type SizeChoice = Partial<Pick<TorrentShape, 'version' | 'pieceLength' | 'padding'>>;

/** Measures a torrent, also with other piece lengths and as other versions. It measures each only once. */
export class SizesOf {
  readonly shape: TorrentShape;
  readonly #measured = new Map<string, Promise<FileSizes>>();

  constructor(shape: TorrentShape) {
    this.shape = shape;
  }

  /** The sizes of the files: for a million files, a native thread takes about 0.1 seconds. */
  files(choice: SizeChoice = {}): Promise<FileSizes> {
    const { version, pieceLength, padding } = { ...this.shape, ...choice };
    const key = `${version} ${pieceLength} ${padding !== null}`;
    const known = this.#measured.get(key);
    if (known) return known;
    const measured = measureFiles({ ...this.shape, ...choice }, MAX_COMPONENTS);
    this.#measured.set(key, measured);
    return measured;
  }

  /** The sizes of the torrent. */
  async torrent(choice: SizeChoice = {}): Promise<Sizes> {
    return sizesOf({ ...this.shape, ...choice }, await this.files(choice));
  }
}
