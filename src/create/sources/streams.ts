/**
 * Hashes a layout with streams. A stream is gathered in segments of memory, and a segment is hashed like any data in memory.
 * Streams that start at piece boundaries are hashed separately, several at once; v1 streams without pad files one after
 * another, as a piece may span them.
 */
import type { Engine } from '../../hash/engine.ts';
import { type FileDigests, joinTrees, packTrees, splitDigests } from '../../hash/file-digests.ts';
import { forEachConcurrently } from '../../hash/for-each-concurrently.ts';
import type { Digests, RequestedFile } from '../../hash/hash-request.ts';
import { lengthsOf, requestedMemory, splitRequestedFiles, toRequestedFile } from '../../hash/request-files.ts';
import type { RunningJob } from '../../jobs/watch.ts';
import { filesToHash, type TorrentDigests } from '../digests.ts';
import type { LaidOutFile } from '../torrent-layout.ts';
import type { SourceFile } from './sources.ts';
import { StreamJobs, type StreamLayout, type StreamResources, type StreamSink } from './stream-jobs.ts';

/** The digests of a file, and its length: the end of a stream tells it. */
interface SizedDigests extends FileDigests {
  length: number;
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
    done: jobs.finish(layout.isAligned ? hashSeparately(jobs) : hashContiguously(jobs)),
    progress: () => jobs.progress(),
    cancel: () => jobs.cancel(),
  };
}

/** Hashes files that start at piece boundaries: files on disk and in memory in one job, and some streams at a time. */
async function hashSeparately(jobs: StreamJobs): Promise<StreamedDigests> {
  const { files, streams, version, paddedFiles } = jobs.layout;
  const digests: SizedDigests[] = [];
  const streamed = forEachConcurrently(streams, { concurrency: jobs.streamsAtOnce }, async (index) => {
    digests[index] = await new StreamHasher(jobs).hash(files.at(index) as SourceFile, index < paddedFiles);
  });
  await Promise.all([hashReadyFiles(jobs, digests), streamed]);
  return {
    lengths: digests.map(({ length }) => length),
    pieces: version === 'v2' ? null : Buffer.concat(digests.map(({ pieces }) => pieces)),
    trees: version === 'v1' ? null : packTrees(digests),
  };
}

/** Hashes the files on disk and in memory in one job. */
async function hashReadyFiles(jobs: StreamJobs, digests: SizedDigests[]): Promise<void> {
  const ready = filesToHash(jobs.layout);
  if (ready.files.length === 0) return;
  const split = splitDigests(lengthsOf(ready.files), await jobs.hashLarge(ready.files, ready.paddedFiles), jobs.layout);
  for (const [i, { length }] of ready.files.entries())
    digests[ready.indexes[i] as number] = { ...(split[i] as FileDigests), length };
}

/** Hashes one stream by itself, a segment at a time. */
class StreamHasher implements StreamSink {
  readonly #jobs: StreamJobs;
  readonly #digests: Promise<Digests>[] = [];
  /** Bytes of each hashed segment. */
  readonly #sizes: number[] = [];
  #segment: Buffer | null = null;
  /** Bytes of the segment that are filled. */
  #filled = 0;

  constructor(jobs: StreamJobs) {
    this.#jobs = jobs;
  }

  async hash(file: SourceFile, isPadded: boolean): Promise<SizedDigests> {
    try {
      const length = await this.#jobs.read(file, this);
      if (this.#segment) this.#start(isPadded);
      return { length, ...this.#joined(await Promise.all(this.#digests)) };
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

  filled(bytes: number): undefined {
    this.#filled += bytes;
    if (this.#filled === this.#segment?.length) this.#start(false);
  }

  /** Starts to hash the segment. If it is padded, its last piece is filled up with zeros. */
  #start(isPadded: boolean): void {
    const segment = this.#segment as Buffer;
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
    const pieces = Buffer.concat(segments.map(({ v1 }) => v1 ?? new Uint8Array()));
    if (layout.version === 'v1') return { pieces, root: null, layer: new Uint8Array() };
    const trees = segments.map(({ v2 }) => ({
      root: v2?.roots.subarray(0, 32) ?? null,
      layer: v2?.layers ?? new Uint8Array(),
    }));
    return { pieces, ...joinTrees(trees, this.#sizes, { pieceLength: layout.pieceLength, segmentSize }) };
  }
}

/** Hashes v1 files without pad files, one after another. */
async function hashContiguously(jobs: StreamJobs): Promise<StreamedDigests> {
  const hasher = new ContiguousHasher(jobs);
  const lengths: number[] = [];
  for (const file of jobs.layout.files) lengths.push(await hasher.add(file));
  return { lengths, pieces: await hasher.finish(), trees: null };
}

/** Hashes files whose pieces may span them: all whole pieces at hand in one job, the rest together with what follows. */
class ContiguousHasher implements StreamSink {
  readonly #jobs: StreamJobs;
  readonly #pieces: Promise<Uint8Array>[] = [];
  /** Plan files that are in no job yet: after each job, less than a piece. */
  #rest: RequestedFile[] = [];
  #restBytes = 0;
  /** The segment that the last layout files of the rest are in. */
  #segment: Buffer | null = null;
  /** Bytes of the segment that are filled. */
  #filled = 0;

  constructor(jobs: StreamJobs) {
    this.#jobs = jobs;
  }

  /** Adds a file, and resolves to its length. */
  async add(file: LaidOutFile): Promise<number> {
    if (file.stream) {
      // The files before the stream need not wait for it.
      if (this.#restBytes >= this.#jobs.segmentSize) await this.#start(false);
      return this.#jobs.read(file as SourceFile, this);
    }
    this.#push(toRequestedFile(file));
    return file.length as number;
  }

  async finish(): Promise<Uint8Array> {
    await this.#start(true);
    return Buffer.concat(await Promise.all(this.#pieces));
  }

  room(): Uint8Array | Promise<Uint8Array> {
    return this.#segment?.subarray(this.#filled) ?? this.#nextSegment();
  }

  async #nextSegment(): Promise<Uint8Array> {
    this.#segment = await this.#jobs.segments.take();
    return this.#segment;
  }

  filled(bytes: number): Promise<void> | undefined {
    const segment = this.#segment as Buffer;
    this.#push(requestedMemory(segment, this.#filled, bytes));
    this.#filled += bytes;
    return this.#filled === segment.length ? this.#start(false) : undefined;
  }

  #push(file: RequestedFile): void {
    const last = this.#rest.at(-1);
    // A stream may arrive byte by byte: extend the last layout file.
    if (last?.data && last.data === file.data && last.offset + last.length === file.offset) last.length += file.length;
    else this.#rest.push(file);
    this.#restBytes += file.length;
  }

  /** Starts to hash all whole pieces, or at the end everything. */
  async #start(isEnd: boolean): Promise<void> {
    const { pieceLength } = this.#jobs.layout;
    const whole = this.#restBytes - (this.#restBytes % pieceLength);
    // At the end, empty files remain: the engine checks that they still exist.
    if (isEnd ? this.#rest.length === 0 : whole === 0) return;
    const [files, rest] = isEnd ? [this.#rest, []] : splitRequestedFiles(this.#rest, whole);
    const segment = this.#segment;
    this.#hash(files, segment);
    this.#segment = null;
    this.#filled = 0;
    this.#rest = [];
    this.#restBytes = 0;
    for (const file of rest) {
      // The job releases the segment when it ends: copy the rest to the next one.
      if (file.data && file.data === segment) this.#push(await this.#moved(file));
      else this.#push(file);
    }
  }

  #hash(files: readonly RequestedFile[], segment: Buffer | null): void {
    const isSmall = files.every(({ data }) => data === segment);
    const pieces = (isSmall ? this.#jobs.hashSmall(files) : this.#jobs.hashLarge(files))
      .then(({ v1 }) => v1 as Uint8Array)
      .finally(() => {
        if (segment) this.#jobs.segments.give(segment);
      });
    // A failure cancels the stream, and is thrown where all are awaited.
    pieces.catch(() => {});
    this.#pieces.push(pieces);
  }

  async #moved({ data, offset, length }: RequestedFile): Promise<RequestedFile> {
    this.#segment ??= await this.#jobs.segments.take();
    const segment = this.#segment;
    segment.set((data as Uint8Array).subarray(offset, offset + length), this.#filled);
    this.#filled += length;
    return requestedMemory(segment, this.#filled - length, length);
  }
}
