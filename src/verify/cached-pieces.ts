/** Takes the digests of unchanged files from the cache of creations, and keeps there those of files that are hashed. */
import { type CacheEntry, openCacheIfAny } from '../create/known/cache.ts';
import { MIN_CACHED_BYTES } from '../create/known/known.ts';
import type { CacheChoice } from '../create/options.ts';
import { type FileDigests, packDigests } from '../hash/file-digests.ts';
import { type HashPieces, hashContent, type PieceCheck } from './check-pieces.ts';
import type { DiskFile } from './matched-files.ts';
import { intervalFrom, intervalsWithout, rangesOfPieces } from './piece-layout.ts';

/** A pad file has no digests. */
const NONE: FileDigests = { pieces: new Uint8Array(), root: null, layer: new Uint8Array() };

/** Hashes pieces with a cache, if it can be opened. A sample of pieces does not use it. */
export async function cachedHash(choice: CacheChoice): Promise<HashPieces> {
  const cache = await openCacheIfAny(choice);
  return async (check, intervals, version) => {
    const { map, options } = check;
    const entries = cache && !options.fast ? cacheEntries(check) : null;
    if (!cache || !entries) return hashContent(check, intervals, version);
    const { found, keep } = await cache.find(entries, { version, pieceLength: map.pieceLength });
    const known = new Map(found);
    const ofKnown = Array.from(known.keys(), (entry) =>
      intervalFrom(map.starts[entry] as number, map.lengths[entry] as number, map),
    );
    const content = rangesOfPieces(map, ofKnown);
    const taken = Array.from(content.entries, (entry) => known.get(entry) ?? NONE);
    const digests = packDigests(taken, version);
    const hashed = await hashContent(check, intervalsWithout(intervals, ofKnown), version, keep);
    return [...hashed, { intervals: ofKnown, content, digests, cachedBytes: content.bytes }];
  };
}

/** The whole files, by their entries; null if any files share v1 pieces, or a pad file is not the rest of a piece. */
function cacheEntries({ map, matched }: PieceCheck): CacheEntry[] | null {
  const { pieceLength, starts, lengths, fileIndexes } = map;
  const entries = [...fileIndexes.keys()];
  const hasOwnPieces = (entry: number) => {
    const at = (starts[entry] as number) % pieceLength;
    return fileIndexes[entry] === -1 ? at > 0 && at + (lengths[entry] as number) === pieceLength : at === 0;
  };
  if (!entries.every(hasOwnPieces)) return null;
  return entries.flatMap((index) => {
    const [file, length] = [fileIndexes[index] as number, lengths[index] as number];
    if (length < MIN_CACHED_BYTES || matched.available[file] !== length) return [];
    const onDisk = { ...(matched.onDiskAt(file) as DiskFile), length };
    // Only a pad file stands between files.
    return [{ index, files: [onDisk], length, isPadded: index < entries.length - 1 }];
  });
}
