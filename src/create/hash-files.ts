/** Hashes files of a layout with an engine. */
import { type Engine, isOwnEngine } from '../hash/engine.ts';
import type { PackedTrees } from '../hash/file-digests.ts';
import type { checkedResources, Digests, HashRequest, RequestedFiles } from '../hash/hash-request.ts';
import { toRequestedFiles, toRequestedFilesAt } from '../hash/make-requested-files.ts';
import { runningJob, watch } from '../jobs/watch.ts';
import type { HashCache } from './cache/cache.ts';
import type { TorrentDigests } from './files-to-hash.ts';
import type { ReuseOptions } from './hash-unknown.ts';
import type { GenerateOptions } from './options.ts';
import type { SizedLayout } from './torrent-layout.ts';

/** The result of {@link hashLayout}. */
export interface HashedLayout {
  digests: TorrentDigests;
  /** Bytes of content that were read and hashed; the digests of all others were known. */
  bytesRead: number;
}

/** How {@link hashLayout} hashes. */
export interface HashOptions
  extends ReuseOptions,
    Pick<GenerateOptions, 'readSize' | 'memoryLimit' | 'signal' | 'progress' | 'onProgress'> {
  engine: Engine;
  /** The resources of the job: checked, with defaults filled in. */
  resources: ReturnType<typeof checkedResources>;
  /** The cache to use; null for none. */
  hashCache: HashCache | null;
  /** Gives digests that are known; null for none. Called only for aligned layouts without streams. */
  knownDigests?: (layout: SizedLayout) => Promise<KnownDigests | null>;
}

/** The digests of known files: those of another torrent. */
export interface KnownDigests {
  /** For each file of the layout, its index among the known files; {@link NO_PATH} for a file that must be read. */
  indexes: Uint32Array;
  /** The pieces root of each known file, 32 bytes each, packed. */
  roots: Uint8Array;
  /** The piece layer of a known file that is longer than a piece. */
  layerAt(index: number): Uint8Array;
  /** The v1 pieces of all known files, 20 bytes each; empty in v2. */
  pieces: Uint8Array;
  /** The index of the first of the v1 pieces of each known file. */
  firstPieces: ArrayLike<number>;
}

/** Hashes all files of a layout. The engine gives their digests in the order of the torrent. */
export async function hashAll(layout: SizedLayout, options: HashOptions): Promise<HashedLayout> {
  const { version, files, paddedFiles } = layout;
  const { v1, v2 } = await hashFiles({ files: toRequestedFiles(files), indexes: null, paddedFiles }, layout, options);
  // An engine of the caller may transfer or change the memory of its digests later.
  const keep = (bytes: Uint8Array) => (isOwnEngine(options.engine) ? bytes : new Uint8Array(bytes));
  const pieces = version === 'v2' ? null : keep(v1 as Uint8Array);
  const trees =
    version === 'v1' ? null : { roots: keep((v2 as PackedTrees).roots), layers: keep((v2 as PackedTrees).layers) };
  return { digests: { lengths: null, pieces, trees }, bytesRead: files.totalLength };
}

interface JobFiles {
  files: RequestedFiles;
  /** The index of each file in the layout; null if these are all files of the layout. */
  indexes: Uint32Array | null;
  /** How many of them, from the first on, have their last piece filled up by a pad file. */
  paddedFiles: number;
}

/** Hashes files in one hash job. */
async function hashFiles(
  { files, indexes, paddedFiles }: JobFiles,
  layout: SizedLayout,
  options: HashOptions,
): Promise<Digests> {
  const { files: all, version, pieceLength } = layout;
  const { engine, resources } = options;
  const job: HashRequest = { files, paddedFiles, version, pieceLength, onMissing: 'fail', ...resources };
  const totalBytes = indexes ? bytesOf(indexes, layout) : all.totalLength;
  const nameOf = (index: number) => all.pathAt(indexes?.[index] ?? index);
  return watch(() => runningJob(engine.start(job), { totalBytes, nameOf }), options);
}

/** Hashes some files of a layout. */
export async function hashFilesAt(indexes: Uint32Array, layout: SizedLayout, options: HashOptions): Promise<Digests> {
  if (indexes.length === 0) return { missing: [] };
  const paddedFiles = indexes.filter((index) => index < layout.paddedFiles).length;
  return hashFiles({ files: toRequestedFilesAt(layout.files, indexes), indexes, paddedFiles }, layout, options);
}

/** Bytes of some files of a layout. */
export function bytesOf(indexes: Uint32Array, { files }: SizedLayout): number {
  return indexes.reduce((sum, index) => sum + (files.lengths[index] as number), 0);
}
