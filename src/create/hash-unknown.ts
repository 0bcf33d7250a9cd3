/** Hashes the files of a layout whose digests are neither known nor in the cache. Only Node has either. */
import { type FileDigests, packTrees, splitDigests } from '../hash/file-digests.ts';
import { NO_PATH } from '../hash/match-paths.ts';
import { concatBytes } from '../platform/node.ts';
import type { TorrentDigests } from './files-to-hash.ts';
import { bytesOf, type HashedLayout, type HashOptions, hashAll, hashFilesAt, type KnownDigests } from './hash-files.ts';
import type { SizedLayout, TorrentLayout } from './torrent-layout.ts';

/** Bytes. Shorter files are not in the cache: to look one up and to keep its digests takes longer than to hash it. */
export const MIN_CACHED_BYTES = 2 ** 20;
/** Bytes that the cache must be able to save for each file of a torrent: the files that are not in it cost time, too. */
const MIN_BYTES_PER_FILE = 2 ** 18;

/** Whether a cache may save time for a layout. */
export function isWorthCaching({ isAligned, files, streams }: TorrentLayout): boolean {
  if (streams.length > 0) return false;
  // Files that share pieces have one record for all of them.
  const least = isAligned ? MIN_CACHED_BYTES : 0;
  const bytes = files.lengths.reduce((sum, length) => (length >= least ? sum + length : sum), 0);
  return bytes >= Math.max(MIN_CACHED_BYTES, files.length * MIN_BYTES_PER_FILE);
}

/** Hashes the files whose digests are not known. Files that share pieces are all known or all unknown. */
export async function hashUnknown(layout: SizedLayout, options: HashOptions): Promise<HashedLayout> {
  const { hashCache } = options;
  const { version, files, isAligned } = layout;
  const given = isAligned ? ((await options.knownDigests?.(layout)) ?? null) : null;
  if (!hashCache) return given ? hashOthers(layout, given, options) : hashAll(layout, options);
  const none = () => Array<null>(isAligned ? files.length : 1).fill(null);
  const lookup = await hashCache.find(layout, given ? knownOf(layout, given) : none());
  const known = lookup.digests;
  if (!known.some((one) => one)) {
    const all = await hashAll(layout, options);
    await hashCache.keep(lookup, eachOf(all.digests, layout));
    return all;
  }
  const unknown = indexesOf(files.length, (index) => isAligned && !known[index]);
  const digests = await hashFilesAt(unknown, layout, options);
  const hashed = splitDigests(
    Float64Array.from(unknown, (i) => files.lengths[i] as number),
    digests,
    layout,
  );
  let next = 0;
  const each = known.map((one) => one ?? (hashed[next++] as FileDigests));
  await hashCache.keep(lookup, each);
  return {
    digests: {
      lengths: null,
      pieces: version === 'v2' ? null : concatBytes(each.map((file) => file.pieces)),
      trees: version === 'v1' ? null : packTrees(each),
    },
    bytesRead: bytesOf(unknown, layout),
  };
}

/** Hashes the files whose digests are not known, and packs the digests of all files. */
async function hashOthers(layout: SizedLayout, known: KnownDigests, options: HashOptions): Promise<HashedLayout> {
  const { version, pieceLength, files } = layout;
  const { lengths, length: count } = files;
  const unknown = indexesOf(count, (index) => known.indexes[index] === NO_PATH);
  const { v1 = NOTHING, v2 = { roots: NOTHING, layers: NOTHING } } = await hashFilesAt(unknown, layout, options);
  const roots = new Uint8Array(count * 32);
  const layers: Uint8Array[] = [];
  const pieces: Uint8Array[] = [];
  let [read, piece, layer] = [0, 0, 0];
  for (let i = 0; i < count; ) {
    const isKnown = known.indexes[i] !== NO_PATH;
    const first = isKnown ? (known.indexes[i] as number) : read;
    const firstPiece = isKnown ? (known.firstPieces[first] as number) : piece;
    let end = firstPiece;
    // Files that follow each other here and there are copied at once.
    const start = i;
    for (; i < count && isKnown === (known.indexes[i] !== NO_PATH); i += 1) {
      const index = first + i - start;
      if (isKnown && (known.indexes[i] !== index || (version === 'hybrid' && known.firstPieces[index] !== end))) break;
      const size = Math.ceil((lengths[i] as number) / pieceLength);
      end += size;
      if (size < 2) continue;
      layers.push(isKnown ? known.layerAt(index) : v2.layers.subarray(layer, layer + size * 32));
      if (!isKnown) layer += size * 32;
    }
    roots.set((isKnown ? known.roots : v2.roots).subarray(first * 32, (first + i - start) * 32), start * 32);
    if (version === 'hybrid') pieces.push((isKnown ? known.pieces : v1).subarray(firstPiece * 20, end * 20));
    if (!isKnown) [read, piece] = [read + i - start, end];
  }
  const digests = {
    lengths: null,
    pieces: version === 'v2' ? null : concatBytes(pieces),
    trees: { roots, layers: concatBytes(layers) },
  };
  return { digests, bytesRead: bytesOf(unknown, layout) };
}

const NOTHING = new Uint8Array();

/** The known digests of each file; null for a file that must be read. */
function knownOf({ version, files, pieceLength }: SizedLayout, known: KnownDigests): (FileDigests | null)[] {
  return Array.from(known.indexes, (index, i) => {
    if (index === NO_PATH) return null;
    const length = files.lengths[i] as number;
    const first = known.firstPieces[index] as number;
    const end = first + Math.ceil(length / pieceLength);
    return {
      root: length > 0 ? known.roots.subarray(index * 32, (index + 1) * 32) : null,
      layer: length > pieceLength ? known.layerAt(index) : NOTHING,
      pieces: version === 'v2' ? NOTHING : known.pieces.subarray(first * 20, end * 20),
    };
  });
}

/** The indexes below a count for which a test is true. */
function indexesOf(count: number, isChosen: (index: number) => boolean): Uint32Array {
  const indexes = new Uint32Array(count);
  let chosen = 0;
  for (let i = 0; i < count; i += 1) if (isChosen(i)) indexes[chosen++] = i;
  return indexes.subarray(0, chosen);
}

/** The digests of each file, or those of all files that share pieces as one. */
function eachOf({ pieces, trees }: TorrentDigests, layout: SizedLayout): FileDigests[] {
  if (!layout.isAligned) return [{ pieces: pieces as Uint8Array, root: null, layer: new Uint8Array() }];
  const digests = { ...(pieces && { v1: pieces }), ...(trees && { v2: trees }), missing: [] };
  return splitDigests(layout.files.lengths, digests, layout);
}
