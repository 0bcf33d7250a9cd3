/** Hashes the files of a v1 torrent twice in one read: as pieces of a hybrid, and as pieces of the v1 torrent. */
import { availableParallelism } from 'node:os';
import type { GenerateOptions } from '../create/options.ts';
import { throwIfAborted } from '../errors/cancel.ts';
import { MetainfoError } from '../errors/errors.ts';
import { defaultEngine } from '../hash/default-engine.ts';
import { type FileDigests, joinTrees, splitDigests } from '../hash/file-digests.ts';
import { forEachConcurrently } from '../hash/for-each-concurrently.ts';
import { checkedResources, type Digests, type HashRequest, type RequestedFile } from '../hash/hash-request.ts';
import { allocPrivate } from '../hash/private-buffer.ts';
import { lengthsOf, requestedMemory, requestedPadFile, splitRequestedFiles } from '../hash/request-files.ts';
import { readRequested } from '../hash/requested-file.ts';
import { JobGroup } from '../jobs/job-group.ts';
import type { RunningJob } from '../jobs/watch.ts';
import { BLOCK_SIZE, powerOfTwoWithin } from '../layout/piece-length.ts';
import type { UpgradeFile } from './upgrade-files.ts';

/** The result of {@link HashTwice}. */
export interface TwiceHashed {
  /** The hybrid's digests of each file, in the order of the files. */
  digests: FileDigests[];
  /** The pieces of the v1 torrent: 20 bytes each, packed. */
  v1Pieces: Uint8Array;
}

type HashTwiceOptions = Pick<GenerateOptions, 'engine' | 'threads' | 'memoryLimit'>;

/** A range of a file that begins with a piece of the file, and where it lies in a segment. */
interface SegmentRange {
  file: UpgradeFile;
  offset: number;
  length: number;
  segmentOffset: number;
}

/** Bytes of content that are read into memory at once, unless a piece is longer or the memory limit is lower. */
const SEGMENT_SIZE = 8 * 2 ** 20;
const FILES_AT_ONCE = 16;

/**
 * Reads content in segments of memory and hashes each segment twice. One segment is read while the one before is hashed.
 * Files of a hybrid start at piece boundaries, but pieces of the v1 torrent may hold the ends of several files.
 */
export class HashTwice implements RunningJob<TwiceHashed> {
  readonly done: Promise<TwiceHashed>;
  readonly #files: readonly UpgradeFile[];
  readonly #pieceLength: number;
  readonly #totalBytes: number;
  readonly #segmentSize: number;
  readonly #resources: ReturnType<typeof checkedResources>;
  readonly #group: JobGroup;
  /** The digests of each file's ranges, and the bytes of each range. */
  readonly #ranges = new Map<UpgradeFile, { digests: FileDigests[]; sizes: number[] }>();
  /** The v1 pieces of each segment. */
  readonly #v1Pieces: Uint8Array[] = [];
  /** Bytes that begin the next v1 piece: less than a piece. */
  #v1Rest: Uint8Array = new Uint8Array();
  #bytesRead = 0;
  #reading = '';

  constructor(files: readonly UpgradeFile[], pieceLength: number, options: HashTwiceOptions) {
    this.#files = files;
    this.#pieceLength = pieceLength;
    this.#totalBytes = files.reduce((sum, { item }) => sum + item.length, 0);
    const { segmentSize, resources } = memoryOf(options, pieceLength);
    // A torrent may claim pieces that are longer than its content.
    this.#segmentSize = Math.min(segmentSize, this.#totalBytes);
    this.#resources = resources;
    this.#group = new JobGroup(options.engine ?? defaultEngine());
    this.done = this.#group.finish(this.#run());
  }

  progress(): ReturnType<RunningJob<unknown>['progress']> {
    const { queued } = this.#group.progress();
    return { bytes: this.#bytesRead, totalBytes: this.#totalBytes, file: this.#reading, queued };
  }

  cancel(): void {
    this.#group.cancel();
  }

  async #run(): Promise<TwiceHashed> {
    const segments = planSegments(this.#files, this.#segmentSize, this.#pieceLength);
    const buffers = [0, 1].map(() => allocSegment(this.#segmentSize, this.#pieceLength));
    const hashing: Promise<void>[] = [];
    for (const [i, ranges] of segments.entries()) {
      // This segment uses the buffer of the one before the last.
      await hashing[i - 2];
      throwIfAborted(this.#group.signal);
      const buffer = buffers[i % 2] as Buffer;
      await this.#read(ranges, buffer);
      hashing.push(this.#group.track(this.#hash(ranges, buffer, i === segments.length - 1)));
    }
    await Promise.all(hashing);
    return { digests: this.#files.map((file) => this.#digestsOf(file)), v1Pieces: Buffer.concat(this.#v1Pieces) };
  }

  async #read(ranges: readonly SegmentRange[], segment: Buffer): Promise<void> {
    const options = { concurrency: FILES_AT_ONCE, signal: this.#group.signal };
    await forEachConcurrently(ranges, options, async ({ file, offset, length, segmentOffset }) => {
      if (!file.request) return;
      this.#reading = file.item.path.join('/');
      await readRequested({ ...file.request, offset, length }, segment.subarray(segmentOffset, segmentOffset + length));
      this.#bytesRead += length;
    });
  }

  async #hash(ranges: readonly SegmentRange[], segment: Buffer, isLast: boolean): Promise<void> {
    const planFiles = ranges.map(({ length, segmentOffset }) => requestedMemory(segment, segmentOffset, length));
    // A range that does not end its file ends with a piece.
    const paddedFiles = this.#files.length > 1 ? planFiles.length : 0;
    // Reserve the places of the results now: the next segment may be hashed before this one.
    const storeDigests = ranges.map(({ file, length }) => this.#reserve(file, length));
    const v1Index = this.#v1Pieces.push(new Uint8Array()) - 1;
    const v1Files = this.#v1Files(ranges, segment, isLast);
    const [hybrid, v1] = await Promise.all([
      this.#start({ files: planFiles, paddedFiles, version: 'hybrid' }, this.#resources.threads),
      v1Files.length > 0 ? this.#start({ files: v1Files, version: 'v1' }, 1) : null,
    ]);
    const digests = splitDigests(lengthsOf(planFiles), hybrid, { version: 'hybrid', pieceLength: this.#pieceLength });
    for (const [i, store] of storeDigests.entries()) store(digests[i] as FileDigests);
    if (v1) this.#v1Pieces[v1Index] = v1.v1 as Uint8Array;
  }

  /** Reserves the next place among the digests of a file; the function that is returned fills it. */
  #reserve(file: UpgradeFile, length: number): (digests: FileDigests) => void {
    const ranges = this.#ranges.get(file) ?? { digests: [], sizes: [] };
    this.#ranges.set(file, ranges);
    const index = ranges.sizes.push(length) - 1;
    return (digests) => {
      ranges.digests[index] = digests;
    };
  }

  /** The whole v1 pieces that this segment completes; with the last segment, also the shorter piece at the end. */
  #v1Files(ranges: readonly SegmentRange[], segment: Buffer, isLast: boolean): RequestedFile[] {
    const content = ranges.flatMap(({ file, offset, length, segmentOffset }) => {
      const isEnd = offset + length === file.item.length;
      const pads = isEnd && file.paddingAfter > 0 ? [requestedPadFile(file.paddingAfter)] : [];
      return [requestedMemory(segment, segmentOffset, length), ...pads];
    });
    const files = [requestedMemory(this.#v1Rest), ...content].filter(({ length }) => length > 0);
    const bytes = files.reduce((sum, { length }) => sum + length, 0);
    const [whole, rest] = splitRequestedFiles(files, isLast ? bytes : bytes - (bytes % this.#pieceLength));
    // A copy, because the segment is read into again.
    this.#v1Rest = Buffer.concat(
      rest.map(({ data, offset, length }) => data?.subarray(offset, offset + length) ?? Buffer.alloc(length)),
    );
    return whole;
  }

  #start(request: Pick<HashRequest, 'files' | 'paddedFiles' | 'version'>, threads: number): Promise<Digests> {
    const pieceLength = this.#pieceLength;
    return this.#group.run({ ...request, pieceLength, onMissing: 'fail', ...this.#resources, threads });
  }

  /** Joins the digests of a file's ranges. */
  #digestsOf(file: UpgradeFile): FileDigests {
    const { digests, sizes } = this.#ranges.get(file) as { digests: FileDigests[]; sizes: number[] };
    const tree = joinTrees(digests, sizes, { pieceLength: this.#pieceLength, segmentSize: this.#pieceLength });
    return { ...tree, pieces: Buffer.concat(digests.map(({ pieces }) => pieces)) };
  }
}

/** Divides the memory limit: a quarter for each of two segments, a quarter for a v1 piece, and the rest for hashing. */
function memoryOf(options: HashTwiceOptions, pieceLength: number) {
  const wanted = checkedResources(options, 'hybrid', availableParallelism());
  const limit = options.memoryLimit ?? Math.max(wanted.memoryLimit, 4 * pieceLength);
  if (4 * pieceLength > limit) {
    const message = `memoryLimit must be at least ${4 * pieceLength} bytes (four pieces), not ${limit}.`;
    throw new MetainfoError('ERR_INVALID_ARGUMENT', message, { option: { memoryLimit: null } });
  }
  // The v1 job runs beside the hybrid job and has one thread.
  const threads = Math.max(1, wanted.threads - 1);
  return {
    segmentSize: Math.max(pieceLength, Math.min(SEGMENT_SIZE, powerOfTwoWithin(limit / 4))),
    resources: checkedResources({ threads, memoryLimit: Math.max(BLOCK_SIZE, limit / 8) }, 'hybrid', threads),
  };
}

function allocSegment(size: number, pieceLength: number): Buffer {
  try {
    return allocPrivate(size);
  } catch (cause) {
    const message = `Not enough memory for pieces of ${pieceLength} bytes.`;
    throw new MetainfoError('ERR_NO_MEMORY', message, { cause });
  }
}

/** Distributes the files over segments. A file that does not fit is split where one of its pieces begins. */
function planSegments(files: readonly UpgradeFile[], segmentSize: number, pieceLength: number): SegmentRange[][] {
  const segments: SegmentRange[][] = [];
  let ranges: SegmentRange[] = [];
  let filled = 0;
  for (const file of files) {
    const size = file.item.length;
    if (size === 0) ranges.push({ file, offset: 0, length: 0, segmentOffset: filled });
    for (let offset = 0; offset < size; ) {
      const room = segmentSize - filled;
      const length = size - offset <= room ? size - offset : room - (room % pieceLength);
      if (length > 0) ranges.push({ file, offset, length, segmentOffset: filled });
      filled += length;
      offset += length;
      if (offset === size) continue;
      segments.push(ranges);
      ranges = [];
      filled = 0;
    }
  }
  return [...segments, ranges];
}
