import { createHash } from 'node:crypto';
import { isUint8Array } from 'node:util/types';
import { argument, bytesOf, expected, reading, Text } from '../errors/guard.ts';
import { merkleRoot, sha256 } from '../hash/merkle.ts';
import { BLOCK_SIZE } from '../layout/piece-length.ts';

/** The part of one file that a v1 piece covers. */
export interface FileRange {
  /** From the torrent's root, with `/`. */
  path: string;
  /** The whole file, in bytes. */
  length: number;
  /** BEP 47 flags; `p`: zeros that are on no disk. */
  attr: string | null;
  /** The first byte of the range within the file. */
  rangeStart: number;
  /** The first byte past it. */
  rangeEnd: number;
  /** The path with the torrent's name before it, as a client lays it out. */
  fullPath: string;
  /** Where a webseed has the file (BEP 19). */
  webseedUrl(base: string): string;
}

/** A v1 piece: which bytes of which files it is the hash of. */
export interface V1PieceRange {
  /** From 0. */
  pieceIdx: number;
  /** SHA-1, 20 bytes. */
  pieceHash: Uint8Array;
  /** In order; pads among them. */
  ranges: FileRange[];
  /**
   * Whether bytes hash to the piece.
   *
   * @param chunks The piece's bytes in order, cut anywhere; with the zeros of its pads, or without any of them.
   */
  validateData(chunks: Iterable<Uint8Array>): boolean;
}

/** A piece of one file of a v2 torrent, or the whole of a file that is no longer than a piece. */
export interface V2PieceRange {
  /** Within the file, from 0. */
  pieceIdx: number;
  /** From the torrent's root, with `/`. */
  path: string;
  /** Bytes within the file. */
  rangeStart: number;
  /** The first byte past the range. */
  rangeEnd: number;
  /** Bytes; a range at the end of a file is shorter. */
  pieceLength: number;
  /** Bytes. */
  fileSize: number;
  /** What the bytes hash to, 32 bytes: the piece's hash, or the root for a file of one piece. */
  pieceHash: Uint8Array;
  /** The file's pieces root, 32 bytes. */
  rootHash: Uint8Array;
  /** The path with the torrent's name before it. */
  fullPath: string;
  /** Where a webseed has the file (BEP 19). */
  webseedUrl(base: string): string;
  /**
   * Whether bytes hash to `pieceHash`.
   *
   * @param blocks The range's bytes in order, cut anywhere.
   */
  validateData(blocks: Iterable<Uint8Array>): boolean;
}

/** A file that a range is taken from. */
export interface RangeFile {
  path: string;
  length: number;
  attr: string | null;
  /** Whether it is padding: not every pad file has the flag. */
  isPad: boolean;
  fullPath: string;
  /** Whether it is the whole torrent: a webseed's URL may then be that of the file itself. */
  single: boolean;
}

/** The index of the last number that is at most `value`, in ascending numbers of which the first is. O(log n). */
export function lastAtMost(ascending: Float64Array, value: number): number {
  let [low, high] = [0, ascending.length];
  while (high - low > 1) {
    const middle = (low + high) >>> 1;
    if ((ascending[middle] as number) <= value) low = middle;
    else high = middle;
  }
  return low;
}

export function fileRange(file: RangeFile, rangeStart: number, rangeEnd: number): FileRange {
  const { path, length, attr, fullPath } = file;
  return { path, length, attr, rangeStart, rangeEnd, fullPath, webseedUrl: (base) => webseedUrl(base, file) };
}

/** BEP 19: the path is appended to a URL that ends in a slash; a single file may be the URL itself. */
export function webseedUrl(base: string, { fullPath, single }: Pick<RangeFile, 'fullPath' | 'single'>): string {
  argument('base', base, Text);
  if (single && !base.endsWith('/')) return base;
  const path = fullPath.split('/').map(encodeURIComponent).join('/');
  return `${base.endsWith('/') ? base : `${base}/`}${path}`;
}

/** Whether chunks are the bytes of a v1 piece; `pads` tells which of its ranges are padding. */
export function validateV1(
  pieceHash: Uint8Array,
  ranges: readonly FileRange[],
  { pads, chunks }: { pads: readonly boolean[]; chunks: Iterable<Uint8Array> },
): boolean {
  const data = joined('chunks', chunks);
  const sizeOf = (some: readonly FileRange[]) =>
    some.reduce((sum, range) => sum + range.rangeEnd - range.rangeStart, 0);
  const hash = createHash('sha1');
  if (data.length === sizeOf(ranges)) {
    hash.update(data);
  } else {
    const content = ranges.filter((_, i) => !pads[i]);
    if (data.length !== sizeOf(content)) return false;
    let at = 0;
    for (const [i, range] of ranges.entries()) {
      const size = range.rangeEnd - range.rangeStart;
      hash.update(pads[i] ? Buffer.alloc(size) : data.subarray(at, at + size));
      if (!pads[i]) at += size;
    }
  }
  return hash.digest().equals(pieceHash);
}

function joined(name: string, chunks: Iterable<Uint8Array>): Buffer {
  return reading(name, () => Buffer.concat(Array.from(argument(name, chunks, Chunks), (one) => bytesOf(name, one))));
}

const Chunks = expected<Iterable<Uint8Array>>(
  'a list of bytes',
  (value) => Object(value) === value && !isUint8Array(value) && Symbol.iterator in (value as object),
);

/** Whether blocks are the bytes of a v2 range. */
export function validateV2(range: Omit<V2PieceRange, 'validateData'>, blocks: Iterable<Uint8Array>): boolean {
  const { rangeStart, rangeEnd, pieceLength, fileSize, pieceHash } = range;
  const data = joined('blocks', blocks);
  if (data.length !== rangeEnd - rangeStart || data.length === 0) return false;
  const leaves = Array.from({ length: Math.ceil(data.length / BLOCK_SIZE) }, (_, i) =>
    sha256(data.subarray(i * BLOCK_SIZE, (i + 1) * BLOCK_SIZE)),
  );
  const width = fileSize > pieceLength ? pieceLength / BLOCK_SIZE : undefined;
  return Buffer.compare(merkleRoot(leaves, Buffer.alloc(32), width), pieceHash) === 0;
}
