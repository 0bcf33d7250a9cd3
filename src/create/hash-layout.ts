/** Hashes the files of a layout, except those whose digests are known. */
import { defaultEngine } from '../hash/default-engine.ts';
import { type Engine, isOwnEngine, type OnHashed } from '../hash/engine.ts';
import { type DigestTable, type FileDigests, packDigests, splitDigests } from '../hash/file-digests.ts';
import { forEachConcurrently } from '../hash/for-each-concurrently.ts';
import type { checkedResources, Digests, HashRequest } from '../hash/hash-request.ts';
import { lengthsOf, toRequestedFile, toRequestedFiles, toRequestedFilesAt } from '../hash/make-requested-files.ts';
import type { StreamSink } from '../hash/open-without-links.ts';
import { deletedSinceScan, type RunningJob, runningJob, watch } from '../jobs/watch.ts';
import { engineReadsBlobs } from '../platform/node.ts';
import { StreamHasher } from '../sources/stream-hasher.ts';
import { StreamJobs, type StreamResources } from '../sources/stream-jobs.ts';
import type { HashCache } from './known/cache.ts';
import { findKnown, type ReuseOptions } from './known/known.ts';
import type { GenerateOptions } from './options.ts';
import { hasAllSizes, type LaidOutFile, type SizedLayout, type TorrentLayout } from './torrent-layout.ts';

/** The result of {@link hashLayout}. */
export interface HashedLayout {
  /** The digests of all files, in their order. */
  digests: TorrentDigests;
  /** Bytes of each file, if hashing had to find out the length of a stream; null if the layout has the length of every file. */
  lengths: readonly number[] | null;
  /** Bytes of content that were read and hashed; the digests of all others were known. */
  bytesRead: number;
}

/** The digests of a whole torrent: plain data. */
export type TorrentDigests = { [Version in 'v1' | 'v2']?: Digests[Version] | undefined };

/** @internal How {@link hashLayout} hashes. */
export interface HashOptions
  extends ReuseOptions,
    Pick<GenerateOptions, 'readSize' | 'memoryLimit' | 'signal' | 'progress' | 'onProgress'> {
  engine: Engine;
  /** The resources of the job: checked, with defaults filled in. */
  resources: ReturnType<typeof checkedResources>;
  /** The cache to use; null for none. */
  hashCache: HashCache | null;
  /** Adds digests that are known otherwise. Called only for aligned layouts without streams. */
  knownDigests?: (layout: SizedLayout, digests: DigestTable) => Promise<void>;
}

/** @internal Hashes the files of a layout. Throws the errors of docs/errors.md. */
export async function hashLayout(layout: TorrentLayout, options: HashOptions): Promise<HashedLayout> {
  try {
    if (layout.streams.length > 0 || !hasAllSizes(layout)) return await hashStreamed(layout, options);
    return { ...(await hashSized(layout, options)), lengths: null };
  } catch (error) {
    throw deletedSinceScan(error);
  }
}

/** Hashes a layout with streams. */
async function hashStreamed(layout: TorrentLayout, options: HashOptions): Promise<HashedLayout> {
  // A page has one engine for streams, and no memory limit.
  const { engine, memoryLimit } = engineReadsBlobs ? { engine: defaultEngine(), memoryLimit: null } : options;
  const hashed = await watch(() => hashStreams(engine, layout, { ...options, memoryLimit }), options);
  return { ...hashed, bytesRead: hashed.lengths.reduce((sum, length) => sum + length, 0) };
}

/** Hashes the files whose digests are not known. Files that share pieces are all known or all unknown. */
async function hashSized(layout: SizedLayout, options: HashOptions): Promise<Omit<HashedLayout, 'lengths'>> {
  const known = await findKnown(layout, options);
  if (!known) {
    const digests = await hashFiles(layout, null, options);
    return {
      digests: isOwnEngine(options.engine) ? digests : ownDigests(layout, digests),
      bytesRead: layout.files.totalLength,
    };
  }
  const { digests, rest, onHashed, finish } = known;
  const bytesRead = rest.reduce((sum, index) => sum + (digests.lengths[index] as number), 0);
  const some = rest.length < digests.lengths.length ? rest : null;
  if (rest.length > 0) digests.add(rest, await hashFiles(layout, some, options, onHashed));
  await finish(bytesRead);
  return { digests: digests.packed, bytesRead };
}

/** A copy: an engine of the caller may transfer or change the memory of its digests later. */
function ownDigests({ version }: SizedLayout, { v1, v2 }: Digests): TorrentDigests {
  const copy = (bytes: Uint8Array | undefined) => new Uint8Array(bytes as Uint8Array);
  return {
    ...(version !== 'v2' && { v1: copy(v1) }),
    ...(version !== 'v1' && { v2: { roots: copy(v2?.roots), layers: copy(v2?.layers) } }),
  };
}

/** Hashes files of a layout in one hash job. @param indexes The indexes of the files; null for all. */
function hashFiles(
  layout: SizedLayout,
  indexes: Uint32Array | null,
  options: HashOptions,
  onHashed?: OnHashed,
): Promise<Digests> {
  const { files, version, pieceLength } = layout;
  const { engine, resources } = options;
  const job: HashRequest = {
    files: indexes ? toRequestedFilesAt(files, indexes) : toRequestedFiles(files),
    paddedFiles: indexes ? indexes.filter((index) => index < layout.paddedFiles).length : layout.paddedFiles,
    ...{ version, pieceLength, onMissing: 'fail', ...resources },
  };
  const lengthOf = (index: number) => files.lengths[index] as number;
  const totalBytes = indexes?.reduce((sum, index) => sum + lengthOf(index), 0) ?? files.totalLength;
  const nameOf = (index: number) => files.pathAt(indexes?.[index] ?? index);
  return watch(() => runningJob(engine.start(job, onHashed), { totalBytes, nameOf }), options);
}

/** The digests of files that were hashed as one, and the length of each. */
interface SizedDigests extends FileDigests {
  lengths: number[];
}

/** The digests of a layout, and the lengths that hashing found out. */
type StreamedDigests = Pick<HashedLayout, 'digests'> & { lengths: readonly number[] };

/**
 * Hashes a layout with streams. Streams that start at piece boundaries are hashed separately, several at once, beside all other files.
 * Files that share pieces are hashed as one stream.
 */
function hashStreams(engine: Engine, layout: TorrentLayout, resources: StreamResources): RunningJob<StreamedDigests> {
  const { files, streams } = layout;
  const streamed = streams.map((index) => files.at(index) as LaidOutFile);
  const content = { ...layout, files: files.length, streams: streamed, totalBytes: files.totalLength };
  const jobs = new StreamJobs(engine, content, resources);
  return {
    done: jobs.finish(layout.isAligned ? hashSeparately(jobs, layout) : hashAsOne(jobs, layout)),
    progress: () => ({ ...jobs.progress(), ...(!files.hasAllLengths && { totalGrows: true }) }),
    cancel: () => jobs.cancel(),
  };
}

/** Hashes files that start at piece boundaries: files on disk and in memory in one job, and some streams at a time. */
async function hashSeparately(
  jobs: StreamJobs,
  { files, streams, version, paddedFiles, pieceLength }: TorrentLayout,
): Promise<StreamedDigests> {
  const digests: SizedDigests[] = [];
  const hashReady = async () => {
    const ready = files.map((file, index) => ({ file, index })).filter(({ file }) => !file.stream);
    if (ready.length === 0) return;
    const requested = ready.map(({ file }) => toRequestedFile(file));
    const padded = ready.filter(({ index }) => index < paddedFiles).length;
    const nameOf = (i: number) => ready[i]?.file.path.join('/') ?? '';
    const hashed = await jobs.hashLarge(requested, padded, nameOf);
    const split = splitDigests(lengthsOf(requested), hashed, { version, pieceLength });
    for (const [i, { file, index }] of ready.entries())
      digests[index] = { ...(split[i] as FileDigests), lengths: [file.length as number] };
  };
  const streamed = forEachConcurrently(streams, { concurrency: jobs.streamsAtOnce }, async (index) => {
    digests[index] = await hashInOrder(jobs, [files.at(index) as LaidOutFile], index < paddedFiles);
  });
  await Promise.all([hashReady(), streamed]);
  return { lengths: digests.flatMap(({ lengths }) => lengths), digests: packDigests(digests, version) };
}

/** Hashes v1 files whose pieces may span them, one after another. */
async function hashAsOne(jobs: StreamJobs, { files }: TorrentLayout): Promise<StreamedDigests> {
  const { lengths, pieces } = await hashInOrder(jobs, files, false);
  return { lengths, digests: { v1: pieces } };
}

/** Hashes files one after another. @param isPadded As in {@link StreamHasher.hash}. */
async function hashInOrder(jobs: StreamJobs, files: Iterable<LaidOutFile>, isPadded: boolean): Promise<SizedDigests> {
  const lengths: number[] = [];
  const read = async (sink: StreamSink) => {
    for (const file of files) lengths.push(await jobs.read(file, sink));
  };
  return { lengths, ...(await new StreamHasher(jobs).hash(read, isPadded)) };
}
