/** Hashes pieces whose content comes from sources, in the same hash jobs as a creation from sources. */
import { StreamHasher } from '../create/sources/hash-streams.ts';
import {
  isBlob,
  isReadOnce,
  isStream,
  MEMORY_CHANGED,
  type RangeReader,
  type StreamData,
  sourceError,
} from '../create/sources/source-data.ts';
import { SourceReader } from '../create/sources/source-reader.ts';
import { memoryReader } from '../create/sources/sources.ts';
import { StreamJobs, type StreamSink } from '../create/sources/stream-jobs.ts';
import type { LaidOutFile } from '../create/torrent-layout.ts';
import { hashingCancelled } from '../errors/cancel.ts';
import type { MetainfoError } from '../errors/errors.ts';
import { invalidArgument } from '../errors/guard.ts';
import { type FileDigests, packTrees } from '../hash/file-digests.ts';
import { forEachConcurrently } from '../hash/for-each-concurrently.ts';
import type { HashRequest } from '../hash/hash-request.ts';
import type { RunningJob } from '../jobs/watch.ts';
import { FileTable, sumOf } from '../layout/file-table.ts';
import { concatBytes, isUint8Array } from '../platform/node.ts';
import type { HashedPieces, PieceCheck } from './check-pieces.ts';
import { isAligned, type PieceInterval, type PieceLayout, type PieceRanges, rangesOfPieces } from './piece-layout.ts';
import type { ContentData, StreamedSources } from './streamed-sources.ts';

/** A source of a file, and the ranges of it that are hashed: indexes of {@link PieceRanges}. */
interface FileStep {
  index: number;
  ranges: readonly number[];
  /** Whether a pad file fills up the last piece of the file. */
  isPadded: boolean;
}

/** Consecutive content: a file, or a pad file of some bytes. */
type Step = FileStep | { padBytes: number };

/** Hashes pieces whose content comes from sources. Corrects the sizes of streams, and leaves out sources that fail. */
export function hashSources(
  check: PieceCheck & { matched: StreamedSources },
  intervals: readonly PieceInterval[],
  version: HashRequest['version'],
): RunningJob<HashedPieces | null> {
  const { map, matched, engine, resources, options } = check;
  if (check.version === 'hybrid') requireOnePass(map);
  const ranges = rangesOfPieces(map, intervals);
  const steps = [...stepsOf(map, matched, ranges)];
  const rows = steps
    .filter((step) => 'index' in step)
    .map(({ index, ranges: own }): LaidOutFile => {
      const length = own.reduce((sum, i) => sum + (ranges.lengths[i] as number), 0);
      return { path: [matched.content.pathAt(index)], length, stream: readable(matched.dataAt(index) as ContentData) };
    });
  const { pieceLength } = map;
  const layout = { version, pieceLength, files: new FileTable(rows), isAligned: version !== 'v1', paddedFiles: 0 };
  const jobs = new StreamJobs(
    engine,
    { ...layout, streams: [...rows.keys()] },
    {
      threads: resources.threads,
      // A stream needs room for some pieces.
      memoryLimit: options.memoryLimit ?? Math.max(resources.memoryLimit, 8 * pieceLength),
      readSize: options.readSize,
      mostBytes: sumOf(ranges.lengths),
    },
  );
  const hashing = new SourceHashing({ map, matched, ranges }, jobs);
  const work = version === 'v1' ? hashing.asOne(steps, intervals) : hashing.separately(steps);
  return {
    done: jobs.finish(work),
    progress: () => {
      const { bytes, totalBytes, queued } = jobs.progress();
      // Zeros in place of content that did not arrive are hashed too.
      return { bytes: Math.min(bytes, totalBytes), totalBytes, file: hashing.file, queued };
    },
    cancel: () => jobs.cancel(),
  };
}

/** Streams cannot be read a second time for the other hashes of a hybrid. */
function requireOnePass(map: PieceLayout): void {
  const { starts, lengths, fileIndexes, pieceLength } = map;
  const endsPiece = (start: number, i: number) =>
    fileIndexes[i] !== -1 ||
    ((start + (lengths[i] as number)) % pieceLength === 0 && (lengths[i] as number) < pieceLength);
  if (isAligned(map) && starts.every(endsPiece)) return;
  const problem = 'the files of this hybrid do not start at piece boundaries, so sources can prove one version only';
  throw invalidArgument(`${problem}: give version 'v1' or 'v2'`, { option: { version: 'v1' } });
}

/** The sources that are read and the pad files that are hashed, in the torrent's order. A stream is always read, for its size. */
function* stepsOf(map: PieceLayout, matched: StreamedSources, ranges: PieceRanges): Generator<Step> {
  const count = ranges.entries.length;
  const fileOf = (i: number) => (i < count ? map.fileIndexes[ranges.entries[i] as number] : undefined);
  let next = 0;
  for (let index = 0; index <= matched.length; index += 1) {
    for (; fileOf(next) === -1; next += 1) yield { padBytes: ranges.lengths[next] as number };
    const own: number[] = [];
    for (; fileOf(next) === index; next += 1) own.push(next);
    const data = index < matched.length ? matched.dataAt(index) : undefined;
    if (data && (own.length > 0 || isSequential(data))) yield { index, ranges: own, isPadded: fileOf(next) === -1 };
  }
}

/** Whether data is read from its start to its end. */
function isSequential(data: ContentData): boolean {
  return !isUint8Array(data) && (isReadOnce(data) || isStream(data));
}

function readable(data: ContentData): StreamData {
  return isUint8Array(data) ? memoryReader(data) : data;
}

/** A part of data that can be read in any order. */
function partOf(data: StreamData, offset: number, size: number): StreamData {
  if (isBlob(data)) return data.slice(offset, offset + size);
  const { read, requestSize } = data as RangeReader;
  return { size, requestSize, read: (at, length, signal) => read.call(data, offset + at, length, signal) };
}

/** Hashes sources, and notes what they turn out to be. */
class SourceHashing {
  /** The file that was opened last. */
  file = '';
  readonly #jobs: StreamJobs;
  readonly #map: PieceLayout;
  readonly #matched: StreamedSources;
  readonly #ranges: PieceRanges;

  constructor(content: { map: PieceLayout; matched: StreamedSources; ranges: PieceRanges }, jobs: StreamJobs) {
    this.#jobs = jobs;
    this.#map = content.map;
    this.#matched = content.matched;
    this.#ranges = content.ranges;
  }

  /** Hashes files that start at piece boundaries: some at once, each by itself. */
  async separately(steps: readonly Step[]): Promise<HashedPieces | null> {
    const files = steps.filter((step) => 'index' in step);
    const hashed: HashedRange[][] = files.map(() => []);
    await forEachConcurrently(files, { concurrency: this.#jobs.streamsAtOnce }, async (step, i) => {
      await this.#withSource(step, async (source) => {
        for (const range of step.ranges) {
          const one = await this.#hashRange(source, range, step.isPadded);
          if (one) hashed[i]?.push(one);
        }
      });
    });
    return this.#packed(hashed.flat());
  }

  async #hashRange(source: OpenSource, range: number, isPadded: boolean): Promise<HashedRange | null> {
    const { pieceLength } = this.#map;
    const length = this.#ranges.lengths[range] as number;
    let copied = 0;
    const read = async (sink: StreamSink) => {
      copied = await source.copy(this.#ranges.offsets[range] as number, length, sink);
    };
    const { pieces, root, layer } = await new StreamHasher(this.#jobs).hash(read, isPadded);
    if (copied === length) return { range, length, pieces, root, layer };
    // A short file: only its whole pieces can be compared.
    const count = Math.floor(copied / pieceLength);
    if (count === 0) return null;
    const whole = layer.subarray(0, count * 32);
    return {
      range,
      length: count * pieceLength,
      pieces: pieces.subarray(0, count * 20),
      root: count === 1 && whole.length > 0 ? whole : root,
      layer: count === 1 ? new Uint8Array() : whole,
    };
  }

  /** The digests of ranges as those of a hash request. */
  #packed(hashed: readonly HashedRange[]): HashedPieces | null {
    if (hashed.length === 0) return null;
    const { pieceLength, starts } = this.#map;
    const entries = Uint32Array.from(hashed, ({ range }) => this.#ranges.entries[range] as number);
    const offsets = Float64Array.from(hashed, ({ range }) => this.#ranges.offsets[range] as number);
    const lengths = Float64Array.from(hashed, ({ length }) => length);
    const intervals = hashed.map(({ length }, i): PieceInterval => {
      const first = ((starts[entries[i] as number] as number) + (offsets[i] as number)) / pieceLength;
      return [first, first + Math.ceil(length / pieceLength)];
    });
    const digests = { v1: concatBytes(hashed.map(({ pieces }) => pieces)), v2: packTrees(hashed), missing: [] };
    return { intervals, content: { entries, offsets, lengths }, digests };
  }

  /** Hashes v1 pieces, which may span sources, one after another. Pieces of content that does not arrive are skipped. */
  async asOne(steps: readonly Step[], intervals: readonly PieceInterval[]): Promise<HashedPieces | null> {
    const skipped: PieceInterval[] = [];
    const read = async (sink: StreamSink) => {
      for (const step of steps) {
        if ('padBytes' in step) await this.#zeros(step.padBytes, sink);
        else await this.#copyFile(step, sink, skipped);
      }
    };
    const { pieces } = await new StreamHasher(this.#jobs).hash(read, false);
    const digests = { v1: pieces, missing: [] };
    return { intervals: without(intervals, skipped), content: this.#ranges, digests };
  }

  async #copyFile(step: FileStep, sink: StreamSink, skipped: PieceInterval[]): Promise<void> {
    const { offsets, lengths } = this.#ranges;
    let next = 0;
    let source: OpenSource | undefined;
    await this.#withSource(step, async (opened) => {
      source = opened;
      for (; next < step.ranges.length; next += 1) {
        const range = step.ranges[next] as number;
        const length = lengths[range] as number;
        if ((await opened.copy(offsets[range] as number, length, sink)) < length) return;
      }
    });
    // The source has failed or ended within this range.
    let copied = source?.copied ?? 0;
    for (; next < step.ranges.length; next += 1, copied = 0)
      await this.#fillGap(step.ranges[next] as number, copied, sink, skipped);
  }

  /** Fills up pieces of which some bytes are missing, and skips those that are missing whole. */
  async #fillGap(range: number, copied: number, sink: StreamSink, skipped: PieceInterval[]): Promise<void> {
    const { pieceLength, starts } = this.#map;
    const { entries, offsets, lengths } = this.#ranges;
    const start = (starts[entries[range] as number] as number) + (offsets[range] as number);
    const [from, end] = [start + copied, start + (lengths[range] as number)];
    const firstWhole = Math.ceil(from / pieceLength);
    const endWhole = Math.floor(end / pieceLength);
    if (firstWhole >= endWhole) return this.#zeros(end - from, sink);
    await this.#zeros(firstWhole * pieceLength - from, sink);
    skipped.push([firstWhole, endWhole]);
    await this.#zeros(end - endWhole * pieceLength, sink);
  }

  async #zeros(bytes: number, sink: StreamSink): Promise<void> {
    for (let left = bytes; left > 0; ) {
      if (this.#jobs.signal.aborted) throw hashingCancelled();
      const part = (await sink.room()).subarray(0, left);
      part.fill(0);
      left -= part.length;
      sink.filled(part.length);
    }
  }

  /** Reads a source. If it fails, its file is unreadable, and the others go on. */
  async #withSource({ index }: FileStep, read: (source: OpenSource) => Promise<void>): Promise<void> {
    const path = this.#matched.content.pathAt(index);
    this.file = path;
    const source = new OpenSource(path, this.#matched.dataAt(index) as ContentData, this.#jobs);
    try {
      await read(source);
      const size = await source.findSize(this.#matched.content.lengths[index] as number);
      if (size !== null) this.#matched.resize(index, size);
    } catch (error) {
      if (source.failure !== error || this.#jobs.signal.aborted) throw error;
      this.#matched.leaveOut(index, (error as MetainfoError).message);
    } finally {
      source.close();
    }
  }
}

/** The digests of a range of a file: one of {@link PieceRanges}, or its start. */
interface HashedRange extends FileDigests {
  range: number;
  length: number;
}

/** A source that is read in order: ranges of it, or a stream from its start. */
class OpenSource {
  /** Bytes of the last range that were copied. */
  copied = 0;
  /** Why it could not be read; null if it could. */
  failure: unknown = null;
  readonly #path: string;
  readonly #data: StreamData;
  readonly #jobs: StreamJobs;
  readonly #isSequential: boolean;
  #reader: SourceReader | null = null;
  /** The rest of the last chunk. */
  #chunk: Uint8Array = new Uint8Array();
  /** Bytes of a stream that were taken. */
  #taken = 0;
  #hasEnded = false;

  constructor(path: string, data: ContentData, jobs: StreamJobs) {
    this.#path = path;
    this.#data = readable(data);
    this.#jobs = jobs;
    this.#isSequential = isSequential(data);
    if (this.#isSequential) this.#open(this.#data, null);
  }

  #open(stream: StreamData, length: number | null): void {
    this.close();
    const file = { path: [this.#path], length, stream };
    this.#reader = new SourceReader(file, this.#jobs.readAhead, this.#jobs.signal);
  }

  /** Copies a range. Returns how many bytes it had: fewer if the stream ended. */
  async copy(offset: number, length: number, sink: StreamSink): Promise<number> {
    this.copied = 0;
    if (this.#isSequential) await this.#take(offset - this.#taken, null);
    else this.#open(partOf(this.#data, offset, length), length);
    await this.#take(length, sink);
    return this.copied;
  }

  /** The size of a stream that should have `length` bytes, or one byte more if it is longer. Null for other data, whose size is known. */
  async findSize(length: number): Promise<number | null> {
    if (!this.#isSequential) return null;
    await this.#take(length + 1 - this.#taken, null);
    return this.#taken;
  }

  close(): void {
    this.#reader?.close();
  }

  /** Takes bytes until the stream ends, and copies them to a sink. */
  async #take(bytes: number, sink: StreamSink | null): Promise<void> {
    for (let left = bytes; left > 0; ) {
      if (this.#chunk.length === 0) {
        if (!(await this.#next())) return;
        continue;
      }
      const part = this.#chunk.subarray(0, left);
      const { length } = part;
      const rest = this.#chunk.length - length;
      const copied = sink ? await this.#jobs.copy(part, sink) : length;
      this.#taken += copied;
      if (sink) this.copied += copied;
      this.#chunk = this.#chunk.subarray(length);
      if (copied !== length || this.#chunk.length !== rest)
        throw this.#fail(sourceError(this.#path, new Error(MEMORY_CHANGED)));
      left -= length;
    }
  }

  /** Reads the next chunk. Returns false after the last. */
  async #next(): Promise<boolean> {
    if (this.#hasEnded) return false;
    try {
      const chunk = await (this.#reader as SourceReader).next();
      this.#hasEnded = this.#isSequential && chunk === null;
      this.#chunk = chunk ?? new Uint8Array();
      return chunk !== null;
    } catch (error) {
      throw this.#fail(error);
    }
  }

  #fail(error: unknown): unknown {
    this.failure = error;
    return error;
  }
}

/** The pieces of ordered intervals without ordered parts of them. */
function without(intervals: readonly PieceInterval[], skipped: readonly PieceInterval[]): PieceInterval[] {
  let next = 0;
  return intervals.flatMap(([first, end]) => {
    const left: PieceInterval[] = [];
    let from = first;
    for (; next < skipped.length && (skipped[next] as PieceInterval)[0] < end; next += 1) {
      const [skip, until] = skipped[next] as PieceInterval;
      if (skip > from) left.push([from, skip]);
      from = until;
    }
    if (end > from) left.push([from, end]);
    return left;
  });
}
