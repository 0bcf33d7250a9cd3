/** Verifies a torrent of one short file in one step: a native thread opens and reads the file. */
import type { BeneathOptions } from '../disk/held-folder.ts';
import { readSmallTree } from '../disk/small-tree.ts';
import type { Checked } from '../errors/guard.ts';
import { isOwnEngine, MAX_SHORT } from '../hash/engine.ts';
import { BLOCK_SIZE, isPowerOfTwo } from '../layout/piece-length.ts';
import type { Torrent } from '../model/torrent/torrent.ts';
import type { CheckOptions, Hashing } from './check-pieces.ts';
import { clearBadV1, clearBadV2 } from './clear-bad-pieces.ts';
import { nothingFound } from './match-files.ts';
import { MatchedFiles } from './matched-files.ts';
import { contentOfPieces, type PieceInterval, pieceLayoutOf } from './piece-layout.ts';
import { reportOf, type VerifyReport } from './report.ts';

/**
 * The report on a short file: the one that `verify` gives. Null for any other torrent or path, for a file of another size, and after
 * every error: the general path finds out what is wrong.
 *
 * @throws {AbortError} if the signal fires
 */
export async function verifyShort(
  torrent: Torrent,
  path: string,
  { engine, version, options }: Hashing & { options: Checked<CheckOptions & BeneathOptions & { cache?: unknown }> },
): Promise<VerifyReport | null> {
  const { fast, progress, onProgress, cache } = options;
  const { totalSize, nFiles } = torrent;
  const { pieceLength } = torrent.info;
  if (fast || cache || progress || onProgress || nFiles !== 1 || totalSize === 0 || totalSize > MAX_SHORT) return null;
  if (!isOwnEngine(engine) || !engine.short || pieceLength < BLOCK_SIZE || !isPowerOfTwo(pieceLength)) return null;
  const map = pieceLayoutOf(torrent, version);
  // A pad file has hashes too.
  if (map.fileIndexes.length !== 1 || map.end !== totalSize) return null;
  const tree = await readSmallTree(path, { ...options, maxBytes: totalSize, maxFiles: 0 });
  const [file] = tree?.files ?? [];
  if (file?.length !== totalSize) return null;
  const { length: size, mtimeMs, ctimeMs, content: bytes } = file;
  const digests = engine.short.hash(bytes, version, pieceLength);
  const found = {
    ...nothingFound(1),
    indexes: new Uint32Array(1),
    others: [{ diskPath: path, size, mtimeMs, ctimeMs }],
  };
  const matched = new MatchedFiles(torrent, found);
  const good = new Uint8Array(map.pieceCount).fill(1);
  const all: PieceInterval[] = [[0, map.pieceCount]];
  if (version !== 'v2') clearBadV1(torrent, all, digests, good);
  const content = contentOfPieces(map, matched, all);
  if (version !== 'v1') clearBadV2(torrent, { map, content, digests }, { good, isCheckedByV1: version === 'hybrid' });
  return reportOf(matched, map, { good, sample: null });
}
