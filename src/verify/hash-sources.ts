/** Hashes pieces whose content comes from sources, in the same hash jobs as a creation from sources. */

import { hashingCancelled } from '../errors/cancel.ts';
import type { MetainfoError } from '../errors/errors.ts';
import { invalidArgument } from '../errors/guard.ts';
import { type FileDigests, packDigests } from '../hash/file-digests.ts';
import { forEachConcurrently } from '../hash/for-each-concurrently.ts';
import type { HashRequest } from '../hash/hash-request.ts';
import type { StreamSink } from '../hash/open-without-links.ts';
import type { RunningJob } from '../jobs/watch.ts';
import { sumOf } from '../layout/file-table.ts';
import {
  isBlob,
  MEMORY_CHANGED,
  type RangeReader,
  type StreamData,
  sizeOf,
  sourceError,
} from '../sources/source-data.ts';
import { SourceReader } from '../sources/source-reader.ts';
import { shareOf } from '../sources/sources.ts';
import { StreamHasher } from '../sources/stream-hasher.ts';
import { StreamJobs } from '../sources/stream-jobs.ts';
import type { HashedPieces, PieceCheck } from './check-pieces.ts';
import { MatchedSources } from './match-sources.ts';
import {
  intervalFrom,
  intervalsWithout,
  isAligned,
  type PieceInterval,
  type PieceLayout,
  type PieceRanges,
  rangesOfPieces,
} from './piece-layout.ts';

/** The files of a torrent and their counterparts among sources whose sizes only their ends may tell. */
export class StreamedSources extends MatchedSources<StreamData> {
  /** Corrects the size of the source of a file. */
  resize(index: number, size: number): void {
    const found = this.indexes[index] as number;
    const other = this.others[found - this.listed.length];
    if (other && 'size' in other) other.size = size;
    else this.listed.columns.lengths[found] = size;
    this.available[index] = Math.min(this.content.lengths[index] as number, size);
  }
}

/** A range of a file that is hashed. */
interface SourceRange {
  /** The entry of the piece layout. */
  entry: number;
  /** Bytes from the start of the file. */
  offset: number;
  /** Bytes from the start of the first piece of the torrent. */
  start: number;
  /** Bytes. */
  length: number;
}

/** A source of a file, and the ranges of it that are hashed. */
interface FileStep {
  index: number;
  ranges: readonly SourceRange[];
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
): RunningJob<HashedPieces> {
  const { map, matched, engine, resources, options } = check;
  const { pieceLength } = map;
  if (check.version === 'hybrid') requireOnePass(map);
  const content = rangesOfPieces(map, intervals);
  const steps = [...stepsOf(map, matched, content)];
  const files = steps.filter((step) => 'index' in step);
  const streams = files.map(({ index }) => ({ stream: matched.dataAt(index) as StreamData }));
  const totalBytes = sumOf(files.flatMap(({ ranges }) => ranges.map(({ length }) => length)));
  const jobs = new StreamJobs(
    engine,
    { version, pieceLength, files: files.length, streams, totalBytes, isAligned: version !== 'v1' },
    { ...options, resources, mostBytes: sumOf(content.lengths) },
  );
  const hashing = new SourceHashing(jobs, matched);
  const work = version === 'v1' ? hashing.asOne(steps, { intervals, content }) : hashing.separately(steps, map);
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
function* stepsOf(
  map: PieceLayout,
  matched: StreamedSources,
  { entries, offsets, lengths }: PieceRanges,
): Generator<Step> {
  const fileOf = (i: number) => (i < entries.length ? map.fileIndexes[entries[i] as number] : undefined);
  let next = 0;
  for (let index = 0; index <= matched.length; index += 1) {
    for (; fileOf(next) === -1; next += 1) yield { padBytes: lengths[next] as number };
    const ranges: SourceRange[] = [];
    for (; fileOf(next) === index; next += 1) {
      const [entry, offset] = [entries[next] as number, offsets[next] as number];
      ranges.push({ entry, offset, start: (map.starts[entry] as number) + offset, length: lengths[next] as number });
    }
    const data = index < matched.length ? matched.dataAt(index) : undefined;
    if (data && (ranges.length > 0 || isSequential(data))) yield { index, ranges, isPadded: fileOf(next) === -1 };
  }
}

/** Whether data is read from its start to its end, which tells its size. */
const isSequential = (data: StreamData): boolean => sizeOf(data) === null;

/** The digests of a range, or of as much of it as there is. */
type HashedRange = SourceRange & FileDigests;

/** Hashes sources, and notes what they turn out to be. */
class SourceHashing {
  /** The file that was opened last. */
  file = '';
  readonly #jobs: StreamJobs;
  readonly #matched: StreamedSources;

  constructor(jobs: StreamJobs, matched: StreamedSources) {
    this.#jobs = jobs;
    this.#matched = matched;
  }

  /** Hashes files that start at piece boundaries: some at once, each by itself. */
  async separately(steps: readonly Step[], map: PieceLayout): Promise<HashedPieces> {
    const files = steps.filter((step) => 'index' in step);
    const each: HashedRange[][] = files.map(() => []);
    await forEachConcurrently(files, { concurrency: this.#jobs.streamsAtOnce }, async (step, i) => {
      await this.#withSource(step, async (source) => {
        for (const range of step.ranges) {
          let length = 0;
          const read = async (sink: StreamSink) => {
            length = await source.copy(range, sink);
          };
          const digests = await new StreamHasher(this.#jobs).hash(read, step.isPadded);
          if (length > 0 && !source.failure) each[i]?.push({ ...range, length, ...digests });
        }
      });
    });
    const hashed = each.flat();
    const content = {
      entries: Uint32Array.from(hashed, ({ entry }) => entry),
      offsets: Float64Array.from(hashed, ({ offset }) => offset),
      lengths: Float64Array.from(hashed, ({ length }) => length),
    };
    const intervals = hashed.map(({ start, length }) => intervalFrom(start, length, map));
    return { intervals, content, digests: packDigests(hashed, this.#jobs.version) };
  }

  /** Hashes v1 pieces, which may span sources, one after another. Pieces of content that does not arrive are skipped. */
  async asOne(
    steps: readonly Step[],
    { intervals, content }: Pick<HashedPieces, 'intervals' | 'content'>,
  ): Promise<HashedPieces> {
    const skipped: PieceInterval[] = [];
    const copyFile = async (step: FileStep, sink: StreamSink) => {
      await this.#withSource(step, async (source) => {
        for (const range of step.ranges) await this.#fillGap(range, await source.copy(range, sink), { sink, skipped });
      });
    };
    const read = async (sink: StreamSink) => {
      for (const step of steps) await ('padBytes' in step ? this.#zeros(step.padBytes, sink) : copyFile(step, sink));
    };
    const { pieces } = await new StreamHasher(this.#jobs).hash(read, false);
    return { intervals: intervalsWithout(intervals, skipped), content, digests: { v1: pieces, missing: [] } };
  }

  /** Fills up pieces of which some bytes are missing after those that were copied, and skips those that are missing whole. */
  async #fillGap(
    { start, length }: SourceRange,
    copied: number,
    { sink, skipped }: { sink: StreamSink; skipped: PieceInterval[] },
  ): Promise<void> {
    const { pieceLength } = this.#jobs;
    const [from, end] = [start + copied, start + length];
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
    const matched = this.#matched;
    const { content } = matched;
    this.file = content.pathAt(index);
    const source = new OpenSource(this.file, matched.dataAt(index) as StreamData, this.#jobs);
    try {
      await read(source);
      const size = await source.findSize(content.lengths[index] as number);
      if (source.failure) matched.leaveOut(index, source.failure.message);
      else if (size !== null) matched.resize(index, size);
    } finally {
      source.close();
    }
  }
}

/** A source that is read in order: ranges of it, or a stream from its start. */
class OpenSource {
  /** Why it cannot be read any more. */
  failure: MetainfoError | null = null;
  readonly #path: string;
  readonly #data: StreamData;
  readonly #jobs: StreamJobs;
  readonly #isSequential: boolean;
  #reader: SourceReader | null = null;
  /** The rest of the last chunk; null after the end and after a failure. */
  #chunk: Uint8Array | null = null;
  /** Bytes of a stream that were taken. */
  #taken = 0;

  constructor(path: string, data: StreamData, jobs: StreamJobs) {
    this.#path = path;
    this.#data = data;
    this.#jobs = jobs;
    this.#isSequential = isSequential(data);
    if (this.#isSequential) this.#open(data, null);
  }

  #open(stream: StreamData, length: number | null): void {
    this.close();
    const file = { path: [this.#path], length, stream };
    this.#reader = new SourceReader(file, this.#jobs.readAhead, this.#jobs.signal);
    this.#chunk = new Uint8Array();
  }

  /** Copies a range. Returns how many bytes it had: fewer if the stream ended, or if the source failed. */
  async copy({ offset, length }: SourceRange, sink: StreamSink): Promise<number> {
    if (this.#isSequential) await this.#take(offset - this.#taken, null);
    else if (!this.failure) {
      const data = this.#data as Blob | RangeReader;
      this.#open(isBlob(data) ? data.slice(offset, offset + length) : shareOf(data, offset, length), length);
    }
    return this.#take(length, sink);
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

  /** Takes bytes until the end or a failure, and copies them to a sink. Returns how many there were. */
  async #take(bytes: number, sink: StreamSink | null): Promise<number> {
    let taken = 0;
    while (taken < bytes && this.#chunk) {
      if (this.#chunk.length === 0) {
        await this.#next();
        continue;
      }
      const part = this.#chunk.subarray(0, bytes - taken);
      const { length } = part;
      const rest = this.#chunk.subarray(length);
      const { length: left } = rest;
      const copied = sink ? await this.#jobs.copy(part, sink) : length;
      if (this.#jobs.signal.aborted) throw hashingCancelled();
      taken += copied;
      this.#taken += copied;
      this.#chunk = rest;
      if (copied !== length || rest.length !== left) this.#fail(sourceError(this.#path, new Error(MEMORY_CHANGED)));
    }
    return taken;
  }

  /** Reads the next chunk. */
  async #next(): Promise<void> {
    try {
      this.#chunk = await (this.#reader as SourceReader).next();
    } catch (error) {
      if (this.#jobs.signal.aborted) throw error;
      this.#fail(error as MetainfoError);
    }
  }

  #fail(error: MetainfoError): void {
    this.failure = error;
    this.#chunk = null;
  }
}
