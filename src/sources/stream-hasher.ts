/** Hashes streams: each is gathered in segments of memory, and a segment is hashed like any data in memory. */
import { type FileDigests, joinTrees } from '../hash/file-digests.ts';
import type { Digests } from '../hash/hash-request.ts';
import { requestedMemory } from '../hash/make-requested-files.ts';
import type { StreamSink } from '../hash/open-without-links.ts';
import { concatBytes } from '../platform/node.ts';
import type { StreamJobs } from './stream-jobs.ts';

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

  /** Hashes everything that is copied to the sink. @param isPadded Whether the last piece is filled up with zeros. */
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
    const { version, pieceLength, segmentSize } = this.#jobs;
    const pieces = concatBytes(segments.map(({ v1 }) => v1 ?? new Uint8Array()));
    if (version === 'v1') return { pieces, root: null, layer: new Uint8Array() };
    const trees = segments.map(({ v2 }) => ({
      root: v2?.roots.subarray(0, 32) ?? null,
      layer: v2?.layers ?? new Uint8Array(),
    }));
    return { pieces, ...joinTrees(trees, this.#sizes, { pieceLength, segmentSize }) };
  }
}
