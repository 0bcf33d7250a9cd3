/**
 * Hashes a layout with streams. Streams that start at piece boundaries are hashed separately, several at once, beside all other files.
 * Files that share pieces are hashed as one stream.
 */
import type { Engine } from '../hash/engine.ts';
import { type FileDigests, packDigests, splitDigests } from '../hash/file-digests.ts';
import { forEachConcurrently } from '../hash/for-each-concurrently.ts';
import { lengthsOf, toRequestedFile } from '../hash/make-requested-files.ts';
import type { StreamSink } from '../hash/open-without-links.ts';
import type { RunningJob } from '../jobs/watch.ts';
import { StreamHasher } from '../sources/stream-hasher.ts';
import { StreamJobs, type StreamResources } from '../sources/stream-jobs.ts';
import type { HashedLayout } from './hash-layout.ts';
import type { LaidOutFile, TorrentLayout } from './torrent-layout.ts';

/** The digests of files that were hashed as one, and the length of each. */
interface SizedDigests extends FileDigests {
  lengths: number[];
}

/** The digests of a layout, and the lengths that hashing found out. */
type StreamedDigests = Pick<HashedLayout, 'digests'> & { lengths: readonly number[] };

/** Hashes a layout of which some files are streams. */
export function hashStreams(
  engine: Engine,
  layout: TorrentLayout,
  resources: StreamResources,
): RunningJob<StreamedDigests> {
  const { files, streams } = layout;
  const jobs = new StreamJobs(
    engine,
    {
      ...layout,
      files: files.length,
      streams: streams.map((index) => files.at(index) as LaidOutFile),
      totalBytes: files.totalLength,
    },
    resources,
  );
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
    digests[index] = await hashFiles(jobs, [files.at(index) as LaidOutFile], index < paddedFiles);
  });
  await Promise.all([hashReady(), streamed]);
  return { lengths: digests.flatMap(({ lengths }) => lengths), digests: packDigests(digests, version) };
}

/** Hashes v1 files whose pieces may span them, one after another. */
async function hashAsOne(jobs: StreamJobs, { files }: TorrentLayout): Promise<StreamedDigests> {
  const { lengths, pieces } = await hashFiles(jobs, files, false);
  return { lengths, digests: { v1: pieces } };
}

/** @param isPadded As in {@link StreamHasher.hash}. */
async function hashFiles(jobs: StreamJobs, files: Iterable<LaidOutFile>, isPadded: boolean): Promise<SizedDigests> {
  const lengths: number[] = [];
  const read = async (sink: StreamSink) => {
    for (const file of files) lengths.push(await jobs.read(file, sink));
  };
  return { lengths, ...(await new StreamHasher(jobs).hash(read, isPadded)) };
}
