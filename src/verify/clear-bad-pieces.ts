/** Compares digests of content on disk with the hashes in a torrent, and clears the mark of every piece that differs. */
import type { Digests } from '../hash/hash-request.ts';
import { layerRoots, raisedRoot } from '../hash/merkle.ts';
import { BLOCK_SIZE } from '../layout/piece-length.ts';
import { HashList } from '../model/hash-list.ts';
import type { InfoDictV1 } from '../model/info-dict.ts';
import { contentOf, rootAt } from '../model/lazy/content.ts';
import { viewOfLayer } from '../model/piece-layers.ts';
import type { Torrent } from '../model/torrent/torrent.ts';
import { compareBytes } from '../platform/node.ts';
import type { PieceInterval, PieceLayout, PieceRanges } from './piece-layout.ts';

/** Hashes in a buffer, one after the other, from an offset on. */
interface PackedHashes {
  bytes: Uint8Array;
  offset: number;
}

/**
 * Clears `good` for each piece whose SHA-1 differs from that in the torrent.
 *
 * @param intervals The pieces that were hashed, in the order of their hashes.
 * @param good A byte for each piece of the torrent: 1 for good.
 */
export function clearBadV1(
  torrent: Torrent,
  intervals: readonly PieceInterval[],
  digests: Digests,
  good: Uint8Array,
): void {
  const expected = HashList.viewOf((torrent.info as InfoDictV1).pieces);
  const actual = digests.v1 as Uint8Array;
  let offset = 0;
  for (const [first, end] of intervals) {
    const size = (end - first) * 20;
    // Most pieces are good, and one comparison of a whole interval is fast.
    const isSame = compareBytes(actual.subarray(offset, offset + size), expected.subarray(first * 20, end * 20)) === 0;
    for (let i = 0; !isSame && i < size; i += 1)
      if (actual[offset + i] !== expected[first * 20 + i]) good[first + Math.floor(i / 20)] = 0;
    offset += size;
  }
}

/** Content that was hashed. */
export interface HashedContent {
  map: PieceLayout;
  content: Pick<PieceRanges, 'entries' | 'offsets' | 'lengths'>;
  digests: Digests;
}

/**
 * Clears `good` for each piece whose Merkle hash differs from that in the torrent. Without its piece layer (`compat`) a
 * file can be compared as a whole only.
 *
 * @param options.isCheckedByV1 Whether {@link clearBadV1} has checked the same pieces: it then decides on those for which
 *   the torrent has no v2 hash. Otherwise they count as bad.
 */
export function clearBadV2(
  torrent: Torrent,
  { map, content, digests }: HashedContent,
  { good, isCheckedByV1 }: { good: Uint8Array; isCheckedByV1: boolean },
): void {
  const { pieceLength } = map;
  const { roots, layers } = digests.v2 as NonNullable<Digests['v2']>;
  const all = contentOf(torrent);
  let layerOffset = 0;
  for (let i = 0; i < content.entries.length; i += 1) {
    const entry = content.entries[i] as number;
    const file = map.fileIndexes[entry] as number;
    if (file < 0) continue;
    const [offset, length] = [content.offsets[i] as number, content.lengths[i] as number];
    const fileLength = all.lengths[file] as number;
    const pieces = Math.ceil(length / pieceLength);
    const inLayer = length > pieceLength ? pieces : 0;
    const actual =
      inLayer > 0 ? { bytes: layers, offset: layerOffset } : rootAsPiece(roots, i, { length, fileLength, pieceLength });
    layerOffset += inLayer * 32;
    const firstPiece = ((map.starts[entry] as number) + offset) / pieceLength;
    const piecesRoot = rootAt(all, file);
    const expected = fileLength > pieceLength ? viewOfLayer(torrent, piecesRoot) : piecesRoot;
    if (expected) {
      const expectedOffset = (offset / pieceLength) * 32;
      for (let k = 0; k < pieces * 32; k += 1)
        if (actual.bytes[actual.offset + k] !== expected[expectedOffset + k]) good[firstPiece + Math.floor(k / 32)] = 0;
    } else {
      const isWholeFile = offset === 0 && length === fileLength;
      const layer = actual.bytes.subarray(actual.offset, actual.offset + pieces * 32);
      const root = () => layerRoots([layer], pieceLength / BLOCK_SIZE);
      const isGood = isWholeFile ? compareBytes(root(), piecesRoot) === 0 : isCheckedByV1;
      if (!isGood) good.fill(0, firstPiece, firstPiece + pieces);
    }
  }
}

/** The root of a range of at most one piece. In a longer file it is raised to the height of a piece (BEP 52). */
function rootAsPiece(
  roots: Uint8Array,
  index: number,
  { length, fileLength, pieceLength }: { length: number; fileLength: number; pieceLength: number },
): PackedHashes {
  if (fileLength <= pieceLength) return { bytes: roots, offset: index * 32 };
  const root = roots.subarray(index * 32, (index + 1) * 32);
  return { bytes: raisedRoot(root, Math.ceil(length / BLOCK_SIZE), pieceLength / BLOCK_SIZE), offset: 0 };
}
