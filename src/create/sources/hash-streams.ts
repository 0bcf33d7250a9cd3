/**
 * Hashes a layout with streams. A stream is gathered in segments of memory, and a segment is hashed like any data in memory.
 * Streams that start at piece boundaries are hashed separately, several at once, beside all other files. Files that share
 * pieces are hashed as one stream.
 */
import type { Engine } from '../../hash/engine.ts';
import { type FileDigests, joinTrees, packTrees, splitDigests } from '../../hash/file-digests.ts';
import { forEachConcurrently } from '../../hash/for-each-concurrently.ts';
import type { Digests } from '../../hash/hash-request.ts';
import { lengthsOf, requestedMemory } from '../../hash/make-requested-files.ts';
import type { RunningJob } from '../../jobs/watch.ts';
import { concatBytes } from '../../platform/node.ts';
import { filesToHash, type TorrentDigests } from '../files-to-hash.ts';
import type { LaidOutFile } from '../torrent-layout.ts';
import { StreamJobs, type StreamLayout, type StreamResources, type StreamSink } from './stream-jobs.ts';

/** The digests of files that were hashed as one, and the length of each. */
interface SizedDigests extends FileDigests {
  lengths: number[];
}

/** The digests of a layout, and the lengths that hashing found out. */
interface StreamedDigests extends TorrentDigests {
  lengths: readonly number[];
}

/** Hashes a layout of which some files are streams. */
export function hashStreams(
  engine: Engine,
  layout: StreamLayout,
  resources: StreamResources,
): RunningJob<StreamedDigests> {
  const jobs = new StreamJobs(engine, layout, resources);
  return {
    done: jobs.finish(layout.isAligned ? hashSeparately(jobs) : hashAsOne(jobs)),
    progress: () => jobs.progress(),
    cancel: () => jobs.cancel(),
  };
}

/** Hashes files that start at piece boundaries: files on disk and in memory in one job, and some streams at a time. */
async function hashSeparately(jobs: StreamJobs): Promise<StreamedDigests> {
  const { files, streams, version, paddedFiles } = jobs.layout;
  const digests: SizedDigests[] = [];
  const streamed = forEachConcurrently(streams, { concurrency: jobs.streamsAtOnce }, async (index) => {
    digests[index] = await hashFiles(jobs, [files.at(index) as LaidOutFile], index < paddedFiles);
  });
  await Promise.all([hashReadyFiles(jobs, digests), streamed]);
  return {
    lengths: digests.flatMap(({ lengths }) => lengths),
    pieces: version === 'v2' ? null : concatBytes(digests.map(({ pieces }) => pieces)),
    trees: version === 'v1' ? null : packTrees(digests),
  };
}

/** Hashes the files on disk and in memory in one job. */
async function hashReadyFiles(jobs: StreamJobs, digests: SizedDigests[]): Promise<void> {
  const ready = filesToHash(jobs.layout);
  if (ready.files.length === 0) return;
  const split = splitDigests(lengthsOf(ready.files), await jobs.hashLarge(ready.files, ready.paddedFiles), jobs.layout);
  for (const [i, { length }] of ready.files.entries())
    digests[ready.indexes[i] as number] = { ...(split[i] as FileDigests), lengths: [length] };
}

/** Hashes v1 files whose pieces may span them, one after another. */
async function hashAsOne(jobs: StreamJobs): Promise<StreamedDigests> {
  const { lengths, pieces } = await hashFiles(jobs, jobs.layout.files, false);
  return { lengths, pieces, trees: null };
}

/** @param isPadded As in {@link StreamHasher.hash}. */
async function hashFiles(jobs: StreamJobs, files: Iterable<LaidOutFile>, isPadded: boolean): Promise<SizedDigests> {
  const lengths: number[] = [];
  const read = async (sink: StreamSink) => {
    for (const file of files) lengths.push(await jobs.read(file, sink));
  };
  return { lengths, ...(await new StreamHasher(jobs).hash(read, isPadded)) };
}

/** Hashes a stream, or several files as if they were one, a segment at a time. */
export class StreamHasher implements StreamSink {
  readonly #jobs: StreamJobs;
  readonly #digests: Promise<Digests>[] = [];
  /** Bytes of each hashed segment. */
  readonly #sizes: number[] = [];
  #segment: Uint8Array | null = null;
  /** Bytes of the segment that are filled. */
  #filled = 0;

  constructor(jobs: StreamJobs) {
    this.#jobs = jobs;
  }

  /**
   * Hashes everything that is copied to the sink.
   *
   * @param isPadded Whether the last piece is filled up with zeros.
   */
  async hash(read: (sink: StreamSink) => Promise<void>, isPadded: boolean): Promise<FileDigests> {
    try {
      await read(this);
      if (this.#segment) this.#start(isPadded);
      return this.#joined(await Promise.all(this.#digests));
    } finally {
      if (this.#segment) this.#jobs.segments.give(this.#segment);
      // Their segments are in use until then.
      await Promise.allSettled(this.#digests);
    }
  }

  room(): Uint8Array | Promise<Uint8Array> {
    return this.#segment?.subarray(this.#filled) ?? this.#nextSegment();
  }

  async #nextSegment(): Promise<Uint8Array> {
    this.#segment = await this.#jobs.segments.take();
    return this.#segment;
  }

  filled(bytes: number): void {
    this.#filled += bytes;
    if (this.#filled === this.#segment?.length) this.#start(false);
  }

  /** Starts to hash the segment. If it is padded, its last piece is filled up with zeros. */
  #start(isPadded: boolean): void {
    const segment = this.#segment as Uint8Array;
    const digests = this.#jobs
      .hashSmall([requestedMemory(segment, 0, this.#filled)], isPadded ? 1 : 0)
      .finally(() => this.#jobs.segments.give(segment));
    // A failure cancels the stream, and is thrown where all are awaited.
    digests.catch(() => {});
    this.#digests.push(digests);
    this.#sizes.push(this.#filled);
    this.#segment = null;
    this.#filled = 0;
  }

  /** The digests of the file from those of its segments. */
  #joined(segments: readonly Digests[]): FileDigests {
    const { layout, segmentSize } = this.#jobs;
    const pieces = concatBytes(segments.map(({ v1 }) => v1 ?? new Uint8Array()));
    if (layout.version === 'v1') return { pieces, root: null, layer: new Uint8Array() };
    const trees = segments.map(({ v2 }) => ({
      root: v2?.roots.subarray(0, 32) ?? null,
      layer: v2?.layers ?? new Uint8Array(),
    }));
    return { pieces, ...joinTrees(trees, this.#sizes, { pieceLength: layout.pieceLength, segmentSize }) };
  }
}
