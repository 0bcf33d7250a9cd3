/** Hashes the files of a layout with an engine, except those whose digests are known or in the cache. */
import { type Engine, isOwnEngine } from '../hash/engine.ts';
import { type FileDigests, type PackedTrees, packTrees, splitDigests } from '../hash/file-digests.ts';
import type { checkedResources, Digests, HashRequest, RequestedFiles } from '../hash/hash-request.ts';
import { lengthsOf, toRequestedFiles } from '../hash/make-requested-files.ts';
import { deletedSinceScan, runningJob, watch } from '../jobs/watch.ts';
import type { HashCache } from './cache/cache.ts';
import { type FilesToHash, filesToHash, type TorrentDigests } from './files-to-hash.ts';
import type { GenerateOptions } from './options.ts';
import { hashStreams } from './sources/hash-streams.ts';
import { hasAllSizes, type SizedLayout, type TorrentLayout } from './torrent-layout.ts';

/** The result of {@link hashLayout}. */
export interface HashedLayout {
  digests: TorrentDigests;
  /** Bytes of content that were read and hashed; the digests of all others were known. */
  bytesRead: number;
}

/** How {@link hashLayout} hashes. */
export interface HashOptions
  extends Pick<GenerateOptions, 'readSize' | 'memoryLimit' | 'signal' | 'progress' | 'onProgress'> {
  engine: Engine;
  /** The resources of the job: checked, with defaults filled in. */
  resources: ReturnType<typeof checkedResources>;
  /** The cache to use; null for none. */
  hashCache: HashCache | null;
  /** The digests of files that are known; null for files that must be read. Called only for aligned layouts without streams. */
  knownDigests?: (layout: SizedLayout) => (FileDigests | null)[];
}

/**
 * Hashes the files of a layout.
 *
 * @throws {MetainfoError} see docs/errors.md
 */
export async function hashLayout(layout: TorrentLayout, options: HashOptions): Promise<HashedLayout> {
  try {
    if (layout.streams.length > 0 || !hasAllSizes(layout)) return await hashStreamed(layout, options);
    return await hashUnknown(layout, options);
  } catch (error) {
    throw deletedSinceScan(error);
  }
}

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

/** Hashes a layout with streams. */
async function hashStreamed(layout: TorrentLayout, options: HashOptions): Promise<HashedLayout> {
  const { engine, resources, readSize } = options;
  const streaming = {
    threads: resources.threads,
    // A stream needs room for some pieces.
    memoryLimit: options.memoryLimit ?? Math.max(resources.memoryLimit, 8 * layout.pieceLength),
    readSize,
  };
  const digests = await watch(() => hashStreams(engine, layout, streaming), options);
  return { digests, bytesRead: digests.lengths.reduce((sum, length) => sum + length, 0) };
}

/** Hashes the files whose digests are not known. Files that share pieces are all known or all unknown. */
async function hashUnknown(layout: SizedLayout, options: HashOptions): Promise<HashedLayout> {
  const { hashCache } = options;
  const { version, files, isAligned } = layout;
  const given = isAligned ? (options.knownDigests?.(layout) ?? null) : null;
  if (!given && !hashCache) return hashAll(layout, options);
  const none = () => Array<null>(isAligned ? files.length : 1).fill(null);
  const lookup = hashCache && (await hashCache.find(layout, given ?? none()));
  const known = lookup?.digests ?? (given as (FileDigests | null)[]);
  if (!known.some((one) => one)) {
    const all = await hashAll(layout, options);
    if (lookup) await hashCache?.keep(lookup, eachOf(all.digests, layout));
    return all;
  }
  const unknown = filesToHash(layout, (index) => isAligned && !known[index]);
  const digests = unknown.files.length > 0 ? await hashFiles(unknown, layout, options) : null;
  const hashed = digests ? splitDigests(lengthsOf(unknown.files), digests, layout) : [];
  let next = 0;
  const each = known.map((one) => one ?? (hashed[next++] as FileDigests));
  if (lookup) await hashCache?.keep(lookup, each);
  return {
    digests: {
      lengths: null,
      pieces: version === 'v2' ? null : Buffer.concat(each.map((file) => file.pieces)),
      trees: version === 'v1' ? null : packTrees(each),
    },
    bytesRead: sumOf(unknown.files),
  };
}

/** The digests of each file, or those of all files that share pieces as one. */
function eachOf({ pieces, trees }: TorrentDigests, layout: SizedLayout): FileDigests[] {
  if (!layout.isAligned) return [{ pieces: pieces as Uint8Array, root: null, layer: new Uint8Array() }];
  const digests = { ...(pieces && { v1: pieces }), ...(trees && { v2: trees }), missing: [] };
  return splitDigests(layout.files.lengths, digests, layout);
}

/** Hashes all files of a layout. The engine gives their digests in the order of the torrent. */
async function hashAll(layout: SizedLayout, options: HashOptions): Promise<HashedLayout> {
  const { version, files, paddedFiles } = layout;
  const { v1, v2 } = await hashFiles({ files: toRequestedFiles(files), indexes: null, paddedFiles }, layout, options);
  // An engine of the caller may transfer or change the memory of its digests later.
  const keep = (bytes: Uint8Array) => (isOwnEngine(options.engine) ? bytes : new Uint8Array(bytes));
  const pieces = version === 'v2' ? null : keep(v1 as Uint8Array);
  const trees =
    version === 'v1' ? null : { roots: keep((v2 as PackedTrees).roots), layers: keep((v2 as PackedTrees).layers) };
  return { digests: { lengths: null, pieces, trees }, bytesRead: files.totalLength };
}

interface JobFiles extends Omit<FilesToHash, 'files' | 'indexes'> {
  files: RequestedFiles;
  /** The index of each file in the layout; null if these are all files of the layout. */
  indexes: readonly number[] | null;
}

/** Hashes files in one hash job. */
async function hashFiles(
  { files, indexes, paddedFiles }: JobFiles,
  { files: all, version, pieceLength }: SizedLayout,
  options: HashOptions,
): Promise<Digests> {
  const { engine, resources } = options;
  const job: HashRequest = { files, paddedFiles, version, pieceLength, onMissing: 'fail', ...resources };
  const totalBytes = indexes ? sumOf(files) : all.totalLength;
  const nameOf = (index: number) => all.pathAt(indexes?.[index] ?? index);
  return watch(() => runningJob(engine.start(job), { totalBytes, nameOf }), options);
}

function sumOf(files: RequestedFiles): number {
  let sum = 0;
  for (const { length } of files) sum += length;
  return sum;
}
