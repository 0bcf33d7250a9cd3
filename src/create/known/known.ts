/** Finds digests that need no hashing: in the cache, in torrents to reuse, and those of the caller. Only Node has any of these. */
import { Callback, Flag, List, type OptionStructs } from '../../errors/guard.ts';
import type { OnHashed } from '../../hash/engine.ts';
import { DigestTable } from '../../hash/file-digests.ts';
import { requireHashesFit } from '../../hash/hash-request.ts';
import { toRequestedFiles } from '../../hash/make-requested-files.ts';
import type { TorrentVersion } from '../../model/discriminator.ts';
import type { Torrent } from '../../model/torrent/torrent.ts';
import type { HashOptions } from '../hash-layout.ts';
import type { GenerateOptions } from '../options.ts';
import { hasAllSizes, type LaidOutFile, type SizedLayout, type TorrentLayout } from '../torrent-layout.ts';
import type { CacheEntry, HashCache } from './cache.ts';

/** Bytes. Shorter files are not in the cache: to look one up and to keep its digests takes longer than to hash it. */
export const MIN_CACHED_BYTES = 2 ** 20;
/** Bytes that the cache must be able to save for each file of a torrent: the files that are not in it cost time, too. */
const MIN_BYTES_PER_FILE = 2 ** 18;

/** Whether a cache may save time for a layout. */
function isWorthCaching({ isAligned, files, streams }: TorrentLayout): boolean {
  if (streams.length > 0) return false;
  // Files that share pieces have one record for all of them.
  const least = isAligned ? MIN_CACHED_BYTES : 0;
  const bytes = files.lengths.reduce((sum, length) => (length >= least ? sum + length : sum), 0);
  return bytes >= Math.max(MIN_CACHED_BYTES, files.length * MIN_BYTES_PER_FILE);
}

/** @internal Reads the torrents to reuse, where an error means that nothing is hashed. Opens the cache if it may save time; null if not. */
export async function openKnown(layout: TorrentLayout, options: GenerateOptions): Promise<HashCache | null> {
  await reusePlan(layout, options);
  if (!options.cache || !isWorthCaching(layout)) return null;
  // Its code is loaded only if there is one.
  return (await import('./cache.ts')).openCacheIfAny(options.cache);
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
  return (await import('./reuse.ts')).planReuse(layout, options);
}

/** @internal Digests that are known without hashing, and who wants to know the others. */
export interface Known {
  /** One entry for each file; one for all files if they share pieces. */
  digests: DigestTable;
  /** The entries whose digests must be added. */
  rest: Uint32Array;
  /** Takes the digests of the rest as they become known. Only for aligned layouts. */
  onHashed: OnHashed | undefined;
  /** To be called once all digests were added. @param bytesRead Bytes of the rest. */
  finish(bytesRead: number): Promise<void>;
}

/** @internal Looks for digests; null if there is nowhere to look. */
export async function findKnown(layout: SizedLayout, options: HashOptions): Promise<Known | null> {
  const { hashCache, reuse, knownDigests } = options;
  if (!hashCache && !reuse && !knownDigests) return null;
  const { files, isAligned } = layout;
  requireHashesFit({ ...layout, files: toRequestedFiles(files) });
  const digests = new DigestTable(isAligned ? files.lengths : [files.totalLength], layout);
  if (isAligned) await knownDigests?.(layout, digests);
  const cached = await hashCache?.find(cacheEntries(layout, digests.unknown()), layout);
  for (const [index, one] of cached?.found ?? []) digests.set(index, one);
  const report = reuse ? await (await import('./reuse.ts')).reuseDigests(layout, digests, options) : null;
  const rest = digests.unknown();
  return {
    digests,
    rest,
    onHashed:
      cached && isAligned
        ? (first, each) => cached.keep(each.map((one, i) => [rest[first + i] as number, one]))
        : undefined,
    finish: async (bytesRead) => {
      // Digests of other torrents are not proven, so the cache must not hold them.
      await cached?.keep(Array.from(rest, (index) => [index, digests.at(index)]));
      await report?.(bytesRead);
    },
  };
}

/** The entries of a layout that may be in the cache. */
function cacheEntries({ files, isAligned, paddedFiles }: SizedLayout, unknown: Uint32Array): CacheEntry[] {
  if (!isAligned) return [{ index: 0, files: files.rows(), length: files.totalLength, isPadded: false }];
  const lengthOf = (index: number) => files.lengths[index] as number;
  const worthy = unknown.filter((index) => lengthOf(index) >= MIN_CACHED_BYTES);
  return Array.from(worthy, (index) => {
    const onDisk = files.at(index) as LaidOutFile;
    return { index, files: [onDisk], length: lengthOf(index), isPadded: index < paddedFiles };
  });
}
