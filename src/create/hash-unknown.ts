/** Hashes the files of a layout whose digests are not known, in the cache or in torrents to reuse. Only Node has any of these. */
import { Callback, Flag, List, type OptionStructs } from '../errors/guard.ts';
import { type FileDigests, packTrees, splitDigests } from '../hash/file-digests.ts';
import { NO_PATH } from '../hash/match-paths.ts';
import type { TorrentVersion } from '../model/discriminator.ts';
import type { Torrent } from '../model/torrent/torrent.ts';
import { concatBytes } from '../platform/node.ts';
import type { HashCache } from './cache/cache.ts';
import { isWorthCaching } from './cache/worth-caching.ts';
import type { TorrentDigests } from './files-to-hash.ts';
import { bytesOf, type HashedLayout, type HashOptions, hashAll, hashFilesAt, type KnownDigests } from './hash-files.ts';
import type { GenerateOptions } from './options.ts';
import { hasAllSizes, type SizedLayout, type TorrentLayout } from './torrent-layout.ts';

/** @internal Reads the torrents to reuse, where an error means that nothing is hashed. Opens the cache if it may save time; null if not. */
export async function openKnown(layout: TorrentLayout, options: GenerateOptions): Promise<HashCache | null> {
  await reusePlan(layout, options);
  if (!options.cache || !isWorthCaching(layout)) return null;
  // Its code is loaded only if there is one.
  return (await import('./cache/cache.ts')).openCacheIfAny(options.cache);
}

/** The options of a creation that takes hashes from other torrents. */
export interface ReuseOptions {
  /**
   * Torrents whose hashes to take for files of the same size and name: torrents, or paths of torrent files and of folders with files that
   * end with `.torrent`. In folders, other files and invalid torrents are skipped. Of each file, the first piece, the last one and one at
   * random between them are read as a check, and a file that differs is hashed. v1 pieces that files share are taken only if the torrent
   * has the same files in the same order. Give only torrents that you trust: a torrent that lies about pieces which are not
   * read is not found out.
   *
   * Files of at most three pieces are hashed in any case. Drafts with streams among their sources, or with more than 64 KiB in memory, do
   * not use it.
   *
   * @default []
   */
  reuse?: readonly (Torrent | string | URL)[] | undefined;
  /**
   * Hash all files in spite of `reuse`, and compare.
   *
   * @default false
   */
  reuseVerify?: boolean;
  /** Called once when all files are hashed. If it throws or returns a promise that rejects, the job fails with that error. */
  onReuse?: ((report: ReuseReport) => unknown) | undefined;
}

/** The hashes that a creation took from other torrents. */
export interface ReuseReport {
  /** Torrents that were read. */
  torrents: number;
  /** Entries of folders that were skipped: they are no valid torrents, or cannot be read. */
  skipped: number;
  /** Files whose hashes were taken; with `reuseVerify`, those whose hashes agree. */
  files: number;
  /** Bytes of these files. */
  bytes: number;
  /**
   * The paths of files whose content differs from that in each torrent with a file of their size and name. They were hashed. The name of
   * the torrent stands for all files that share pieces.
   */
  different: string[];
  /** Bytes of content that were read, as a check or to hash them. */
  bytesRead: number;
}

/** The hashes that a creation can take from other torrents. */
export interface ReusePlan extends Pick<ReuseReport, 'torrents' | 'skipped' | 'files' | 'bytes'> {
  /** If it can take none: the version and piece length of a torrent that has such files; else null. */
  instead: {
    /** The version of the torrents. */
    version: TorrentVersion;
    /** Bytes. */
    pieceLength: number;
  } | null;
}

/** @internal The structs of {@link ReuseOptions}. A browser has none of these options. */
export const REUSE: OptionStructs<ReuseOptions> = { reuse: List, reuseVerify: Flag, onReuse: Callback };

/** @internal Looks for hashes in the torrents to reuse, without reading content; null without such torrents, and for streams. */
export async function reusePlan(layout: TorrentLayout | null, options: GenerateOptions): Promise<ReusePlan | null> {
  if (!options.reuse || !layout || layout.streams.length > 0 || !hasAllSizes(layout)) return null;
  return (await import('./reuse/reuse.ts')).planReuse(layout, options);
}

/** @internal Hashes the files whose digests are not known. Files that share pieces are all known or all unknown. */
export async function hashUnknown(layout: SizedLayout, options: HashOptions): Promise<HashedLayout> {
  const { hashCache, reuse } = options;
  const { version, files, isAligned } = layout;
  const given = isAligned ? ((await options.knownDigests?.(layout)) ?? null) : null;
  if (!hashCache && !reuse) return given ? hashOthers(layout, given, options) : hashAll(layout, options);
  const none = () => Array<null>(isAligned ? files.length : 1).fill(null);
  const start = given ? knownOf(layout, given) : none();
  const lookup = (await hashCache?.find(layout, start)) ?? { digests: start, missing: [] };
  const reused = reuse ? await (await import('./reuse/reuse.ts')).reuseDigests(layout, lookup.digests, options) : null;
  const known = reused?.digests ?? lookup.digests;
  // Digests of other torrents are not proven, so the cache must not hold them.
  const own = { ...lookup, missing: lookup.missing.filter(({ index }) => !known[index]) };
  const finish = async (each: readonly FileDigests[], bytesRead: number) => {
    await hashCache?.keep(own, each);
    await reused?.report(each, bytesRead);
  };
  if (!known.some((one) => one)) {
    const all = await hashAll(layout, options);
    await finish(eachOf(all.digests, layout), all.bytesRead);
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
  const bytesRead = bytesOf(unknown, layout);
  await finish(each, bytesRead);
  return {
    digests: {
      lengths: null,
      pieces: version === 'v2' ? null : concatBytes(each.map((file) => file.pieces)),
      trees: version === 'v1' ? null : packTrees(each),
    },
    bytesRead,
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
