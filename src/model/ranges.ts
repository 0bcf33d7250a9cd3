/** Maps pieces to byte ranges of files, and checks bytes against the hash of a piece. */
import { MetainfoError, shown, toHex } from '../errors/errors.ts';
import { bytesOf, checkArgument, invalidArgument, iterable, readSafely, Text } from '../errors/guard.ts';
import { merkleRoot, sha256 } from '../hash/merkle.ts';
import { padsIn } from '../layout/padding.ts';
import { BLOCK_SIZE } from '../layout/piece-length.ts';
import { compareBytes, concatBytes, copyOf, createHasher } from '../platform/node.ts';
import { urlBelow } from '../text/urls.ts';
import { type FileItem, v1Files } from './file-item.ts';
import type { InfoDictV1 } from './info-dict.ts';
import type { FileTreeItem } from './lazy/flat-tree.ts';
import type { PieceLayers } from './piece-layers.ts';

/** The part of one file that a v1 piece covers. */
export interface FileRange {
  /** The path below the torrent's root, with `/`. */
  path: string;
  /** The length of the whole file in bytes. */
  length: number;
  /** BEP 47 flags; `p` marks a pad file: zeros that are not on disk. */
  attr: string | null;
  /** The offset of the first byte of the range within the file. */
  rangeStart: number;
  /** The offset after the last byte. */
  rangeEnd: number;
  /** The path below the folder of the download: with the torrent's name before it. */
  fullPath: string;
  /** The URL of the file on a webseed (BEP 19). */
  webseedUrl(base: string): string;
}

/** A v1 piece, its hash and the byte ranges that it covers. */
export interface V1PieceRange {
  /** From 0. */
  pieceIdx: number;
  /** SHA-1, 20 bytes. */
  pieceHash: Uint8Array;
  /** The ranges of files in their order, pad files included. */
  ranges: FileRange[];
  /**
   * Whether bytes hash to the piece.
   *
   * @param chunks The bytes of the piece in order, split anywhere, with the zeros of all its pad files or of none.
   * @throws {MetainfoError} `ERR_INVALID_ARGUMENT` when it is not a list of bytes
   */
  validateData(chunks: Iterable<Uint8Array>): boolean;
}

/** A piece of one file of a v2 torrent, or the whole of a file that is at most one piece long. */
export interface V2PieceRange {
  /** Within the file, from 0. */
  pieceIdx: number;
  /** The path below the torrent's root, with `/`. */
  path: string;
  /** The offset of the first byte within the file. */
  rangeStart: number;
  /** The offset after the last byte. */
  rangeEnd: number;
  /** The piece length in bytes. The last range of a file may be shorter. */
  pieceLength: number;
  /** The length of the whole file in bytes. */
  fileSize: number;
  /** The hash of the range, 32 bytes: of the piece, or the pieces root for a file of at most one piece. */
  pieceHash: Uint8Array;
  /** The pieces root of the file, 32 bytes. */
  rootHash: Uint8Array;
  /** The path below the folder of the download: with the torrent's name before it. */
  fullPath: string;
  /** The URL of the file on a webseed (BEP 19). */
  webseedUrl(base: string): string;
  /**
   * Whether bytes hash to `pieceHash`.
   *
   * @param blocks The bytes of the range in order, split anywhere.
   * @throws {MetainfoError} `ERR_INVALID_ARGUMENT` when it is not a list of bytes
   */
  validateData(blocks: Iterable<Uint8Array>): boolean;
}

/** The files of a v1 list, pad files included, with the offset of each from the first piece, for lookups in O(log files). */
export interface V1FileOffsets {
  items: readonly FileItem[];
  isPad: (file: FileItem) => boolean;
  /** Bytes, ascending. */
  starts: Float64Array;
}

/** The offsets of the files of an info dictionary that has `files` or `length`. */
export function v1FileOffsets(info: InfoDictV1): V1FileOffsets {
  const items = v1Files(info) as FileItem[];
  const starts = new Float64Array(items.length);
  for (let i = 1; i < items.length; i += 1) starts[i] = (starts[i - 1] as number) + (items[i - 1] as FileItem).length;
  return { items, isPad: padsIn(items, info.pieceLength), starts };
}

/** The path to show for a file: the torrent's name for a single file. */
export function displayPath(file: FileItem, singleName: string | null): string {
  return singleName ?? (file.pathUtf8 ?? file.path).join('/');
}

/** The range of a v1 piece. Throws `ERR_OUT_OF_RANGE`. */
export function rangeOfV1Piece(
  pieceIdx: number,
  { name, info, offsets }: { name: string; info: InfoDictV1; offsets: V1FileOffsets },
): V1PieceRange {
  const { pieces, pieceLength, files } = info;
  const { items, isPad, starts } = offsets;
  requirePieceIndex(pieceIdx, pieces.length);
  const [begin, end] = [pieceIdx * pieceLength, (pieceIdx + 1) * pieceLength];
  const single = !files;
  const ranges: FileRange[] = [];
  const pads: boolean[] = [];
  for (let i = lastAtMost(starts, begin); i < items.length && (starts[i] as number) < end; i += 1) {
    const [item, start] = [items[i] as FileItem, starts[i] as number];
    const { length, attr = null } = item;
    const [rangeStart, rangeEnd] = [Math.max(0, begin - start), Math.min(length, end - start)];
    if (rangeEnd <= rangeStart) continue;
    const path = displayPath(item, single ? name : null);
    const fullPath = single ? name : `${name}/${path}`;
    const urlOf = (base: string) => webseedUrl(base, { fullPath, single });
    ranges.push({ path, length, attr, rangeStart, rangeEnd, fullPath, webseedUrl: urlOf });
    pads.push(isPad(item));
  }
  const pieceHash = pieces.at(pieceIdx) as Uint8Array;
  const validateData = (chunks: Iterable<Uint8Array>) => matchesV1Piece(pieceHash, ranges, { pads, chunks });
  return { pieceIdx, pieceHash: copyOf(pieceHash), ranges, validateData };
}

/** The parts of a v2 or hybrid torrent that the range of a piece depends on. */
interface V2Torrent {
  name: string;
  pieceLength: number;
  flatFiles: ReadonlyMap<string, FileTreeItem>;
  pieceLayers: PieceLayers | null;
  /** Whether the torrent is one file and no folder. */
  single: boolean;
}

/** The range of a piece of one file. Throws `ERR_NOT_FOUND`, `ERR_OUT_OF_RANGE` or `ERR_INVALID_ARGUMENT`. */
export function rangeOfV2Piece(
  path: string,
  pieceIdx: number,
  { name, pieceLength, flatFiles, pieceLayers, single }: V2Torrent,
): V2PieceRange {
  const item = flatFiles.get(path);
  if (!item) throw new MetainfoError('ERR_NOT_FOUND', `The torrent has no file ${shown(path)}.`, { path });
  const rootHash = item.length > 0 ? item.piecesRoot : null;
  if (!rootHash) throw invalidArgument(`${shown(path)} is empty: it has no pieces`, { path });
  const isOnePiece = item.length <= pieceLength;
  const index = isOnePiece ? 0 : requirePieceIndex(pieceIdx, Math.ceil(item.length / pieceLength));
  const pieceHash = isOnePiece ? rootHash : pieceLayers?.get(toHex(rootHash))?.at(index);
  if (!pieceHash) throw invalidArgument(`The torrent has no piece layer for ${shown(path)}`, { path });
  const fullPath = single ? path : `${name}/${path}`;
  const range = {
    pieceIdx: index,
    path,
    rangeStart: index * pieceLength,
    rangeEnd: Math.min(item.length, (index + 1) * pieceLength),
    pieceLength,
    fileSize: item.length,
    pieceHash,
    rootHash,
    fullPath,
    webseedUrl: (base: string) => webseedUrl(base, { fullPath, single }),
  };
  const copies = { pieceHash: copyOf(pieceHash), rootHash: copyOf(rootHash) };
  return { ...range, ...copies, validateData: (blocks) => matchesV2Piece(range, blocks) };
}

function requirePieceIndex(index: number, count: number): number {
  if (Number.isInteger(index) && index >= 0 && index < count) return index;
  throw new MetainfoError('ERR_OUT_OF_RANGE', `Expected a piece index from 0 to ${count - 1}, got ${shown(index)}.`);
}

/** The index of the last number that is at most `value`. The numbers ascend, and the first is at most `value`. O(log n). */
export function lastAtMost(ascending: Float64Array, value: number): number {
  let [low, high] = [0, ascending.length];
  while (high - low > 1) {
    const middle = (low + high) >>> 1;
    if ((ascending[middle] as number) <= value) low = middle;
    else high = middle;
  }
  return low;
}

/** BEP 19 appends the path to a URL that ends in a slash; any other URL of a single file is the file itself. */
export function webseedUrl(base: string, { fullPath, single }: { fullPath: string; single: boolean }): string {
  checkArgument('base', base, Text);
  if (single && !base.endsWith('/')) return base;
  const url = urlBelow(base, fullPath.split('/'));
  if (url === null)
    throw invalidArgument(`files below a URL need one with a host, and without ? and #, not ${shown(base)}`);
  return url;
}

/** Whether chunks are the bytes of a v1 piece; `pads` tells which of its ranges are pad files. */
function matchesV1Piece(
  pieceHash: Uint8Array,
  ranges: readonly FileRange[],
  { pads, chunks }: { pads: readonly boolean[]; chunks: Iterable<Uint8Array> },
): boolean {
  const data = joined('chunks', chunks);
  const sizeOf = (parts: readonly FileRange[]) =>
    parts.reduce((sum, range) => sum + range.rangeEnd - range.rangeStart, 0);
  const hash = createHasher('sha1');
  if (data.length === sizeOf(ranges)) {
    hash.update(data);
  } else {
    const content = ranges.filter((_, i) => !pads[i]);
    if (data.length !== sizeOf(content)) return false;
    let offset = 0;
    for (const [i, range] of ranges.entries()) {
      const size = range.rangeEnd - range.rangeStart;
      hash.update(pads[i] ? new Uint8Array(size) : data.subarray(offset, offset + size));
      if (!pads[i]) offset += size;
    }
  }
  return compareBytes(hash.digest(), pieceHash) === 0;
}

function joined(name: string, chunks: Iterable<Uint8Array>): Uint8Array {
  return readSafely(name, () =>
    concatBytes(Array.from(checkArgument(name, chunks, Chunks), (chunk) => bytesOf(name, chunk))),
  );
}

const Chunks = iterable<Uint8Array>('a list of bytes');

/** Whether blocks are the bytes of a v2 range. */
function matchesV2Piece(range: Omit<V2PieceRange, 'validateData'>, blocks: Iterable<Uint8Array>): boolean {
  const { rangeStart, rangeEnd, pieceLength, fileSize, pieceHash } = range;
  const data = joined('blocks', blocks);
  if (data.length !== rangeEnd - rangeStart || data.length === 0) return false;
  const leaves = Array.from({ length: Math.ceil(data.length / BLOCK_SIZE) }, (_, i) =>
    sha256(data.subarray(i * BLOCK_SIZE, (i + 1) * BLOCK_SIZE)),
  );
  const width = fileSize > pieceLength ? pieceLength / BLOCK_SIZE : undefined;
  return compareBytes(merkleRoot(leaves, new Uint8Array(32), width), pieceHash) === 0;
}
