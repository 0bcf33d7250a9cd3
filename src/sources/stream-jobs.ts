/** The hash jobs of content with streams, and the memory and threads that they share. */
import { untilAbort } from '../errors/cancel.ts';
import { MetainfoError } from '../errors/errors.ts';
import type { Engine } from '../hash/engine.ts';
import { checkedResources, type Digests, type HashRequest, type RequestedFile } from '../hash/hash-request.ts';
import { Limiter } from '../hash/limiter.ts';
import { toRequestedFile } from '../hash/make-requested-files.ts';
import { copyRequested, type StreamSink } from '../hash/open-without-links.ts';
import { BufferPool } from '../jobs/buffer-pool.ts';
import { JobGroup } from '../jobs/job-group.ts';
import type { RunningJob } from '../jobs/watch.ts';
import { BLOCK_SIZE, powerOfTwoWithin } from '../layout/piece-length.ts';
import { engineReadsBlobs } from '../platform/node.ts';
import { MEMORY_CHANGED, requestSizeOf, sourceError } from './source-data.ts';
import { type ReadAhead, SourceReader } from './source-reader.ts';
import { memoryReader, type SourceFile } from './sources.ts';

/** Content of which some files are streams. */
export interface StreamedContent extends Pick<HashRequest, 'version' | 'pieceLength'> {
  /** The number of files. */
  files: number;
  streams: readonly Pick<SourceFile, 'stream'>[];
  /** Bytes of the files whose size is known. */
  totalBytes: number;
  /** Whether every file starts at a v1 piece boundary, or there are no v1 pieces. */
  isAligned: boolean;
}

/** A file that is read: a source or a file on disk. */
type ReadFile = SourceFile & { diskPath?: string | undefined; mtimeMs?: number | undefined };

/** The resources of content with streams. */
export interface StreamResources {
  resources: Pick<HashRequest, 'threads' | 'memoryLimit'>;
  /** Bytes of all buffers; default: those of `resources`, or more. */
  memoryLimit?: number | null | undefined;
  /** Bytes per read, for files on disk and range readers; default: chosen by the memory limit. */
  readSize?: number | null | undefined;
  /** Bytes of all content and pad files, if they are known: no segment is longer. */
  mostBytes?: number | undefined;
}

/** The widest kernel hashes this many pieces at once. */
const LANES = 16;
/** Bytes: a shorter segment is not worth the start of a hash job. */
const SMALL_SEGMENT = 4 * 2 ** 20;
const V2_SEGMENT = 8 * 2 ** 20;
/** Streams that are read at once if each is hashed by itself. They may all come from one server. A page reads them in order. */
const STREAMS_AT_ONCE = engineReadsBlobs ? 1 : 4;
const REQUESTS_AT_ONCE = 4;

/** The hash jobs of one kind: how many run at once, and the resources of each. */
interface JobKind {
  limiter: Limiter;
  resources: Pick<HashRequest, 'threads' | 'readSize' | 'memoryLimit'>;
}

/** How memory is divided between segments and requests. */
interface MemoryShares {
  /** Bytes of a segment: a power of two, or all that there is. With v1 pieces, whole pieces. */
  segmentSize: number;
  segmentCount: number;
  streamsAtOnce: number;
  readAhead: ReadAhead;
}

/** The hash jobs of one torrent's content. */
export class StreamJobs {
  readonly version: HashRequest['version'];
  readonly pieceLength: number;
  /** Buffers that streams are gathered in. */
  readonly segments: BufferPool;
  readonly segmentSize: number;
  readonly streamsAtOnce: number;
  readonly readAhead: ReadAhead;
  readonly #group: JobGroup;
  /** Jobs that hash one segment each, on one thread. */
  readonly #small: JobKind;
  /** Jobs that hash files on disk, on all other threads. */
  readonly #large: JobKind;
  #totalBytes: number;
  /** Bytes that {@link read} has got. */
  #arrivedBytes = 0;
  /** The paths of the streams that are being read. */
  readonly #reading: string[] = [];

  constructor(engine: Engine, content: StreamedContent, given: StreamResources) {
    const { resources: checked, readSize, mostBytes = Number.POSITIVE_INFINITY } = given;
    const { files, streams, version, pieceLength, isAligned, totalBytes } = content;
    const { threads } = checked;
    // A stream needs room for some pieces.
    const memoryLimit = given.memoryLimit ?? Math.max(checked.memoryLimit, 8 * pieceLength);
    requireRoom(content, memoryLimit);
    this.version = version;
    this.pieceLength = pieceLength;
    this.#group = new JobGroup(engine);
    this.#totalBytes = totalBytes;
    // Streams get one thread of their own beside files on disk, even if it exceeds the limit: their senders wait.
    const large = Math.max(1, threads - 1);
    const small = streams.length === files || !isAligned ? threads : Math.max(1, threads - large);
    // Half of the memory is for segments, a quarter for requests, a quarter for the buffers of hash jobs.
    const half = Math.floor(memoryLimit / 2);
    const shares = memoryShares({
      version,
      pieceLength,
      room: half,
      small,
      streams: streams.length,
      mostBytes,
      requestSize: readSize ?? requestSizeOf(streams),
    });
    this.segmentSize = shares.segmentSize;
    this.segments = new BufferPool(shares.segmentCount, shares.segmentSize);
    this.streamsAtOnce = shares.streamsAtOnce;
    this.readAhead = shares.readAhead;
    const resources = (count: number, bytes: number) => {
      const share = Math.max(BLOCK_SIZE, Math.floor(bytes));
      const read = readSize ? Math.min(readSize, powerOfTwoWithin(share)) : undefined;
      return checkedResources({ threads: count, memoryLimit: share, readSize: read }, version, count);
    };
    this.#small = { limiter: new Limiter(small), resources: resources(1, half / 4 / small) };
    this.#large = { limiter: new Limiter(1), resources: resources(large, half / 4) };
  }

  /** Fires when the jobs are cancelled or one fails. */
  get signal(): AbortSignal {
    return this.#group.signal;
  }

  /** Hashes files of which some are on disk, when no other such job runs. */
  hashLarge(files: readonly RequestedFile[], paddedFiles: number, nameOf: (index: number) => string): Promise<Digests> {
    return this.#hash({ files, paddedFiles }, this.#large, nameOf);
  }

  /** Hashes data in memory, when a thread is free. */
  hashSmall(files: readonly RequestedFile[], paddedFiles = 0): Promise<Digests> {
    return this.#hash({ files, paddedFiles }, this.#small);
  }

  #hash(
    files: Pick<HashRequest, 'files' | 'paddedFiles'>,
    kind: JobKind,
    nameOf?: (index: number) => string,
  ): Promise<Digests> {
    const { version, pieceLength } = this;
    const request: HashRequest = { ...files, version, pieceLength, onMissing: 'fail', ...kind.resources };
    return this.#group.track(kind.limiter.run(this.signal, () => this.#group.run(request, nameOf)));
  }

  /** Copies a file to a sink and returns its bytes. If that fails, all hash jobs are cancelled and all streams end. */
  read(file: ReadFile, sink: StreamSink): Promise<number> {
    return this.#group.track(this.#read(file, sink));
  }

  async #read(file: ReadFile, sink: StreamSink): Promise<number> {
    const name = file.path.join('/');
    this.#reading.push(name);
    try {
      if (file.diskPath !== undefined) return await untilAbort(this.signal, this.#readDisk(file, sink));
      const { data, blob, ...source } = file;
      const stream = data ? memoryReader(data) : blob;
      return await this.#readStream(stream ? { ...source, stream } : file, sink);
    } finally {
      this.#reading.splice(this.#reading.indexOf(name), 1);
    }
  }

  async #readStream(file: SourceFile, sink: StreamSink): Promise<number> {
    const reader = new SourceReader(file, this.readAhead, this.signal);
    let copied = 0;
    try {
      for (let chunk = await reader.next(); chunk; chunk = await reader.next()) {
        this.#arrivedBytes += chunk.length;
        await file.save?.write(chunk);
        if (file.length === null) this.#totalBytes += chunk.length;
        copied += await this.copy(chunk, sink);
        if (copied !== reader.length) throw sourceError(file.path.join('/'), new Error(MEMORY_CHANGED));
      }
      await file.save?.end();
      return reader.length;
    } finally {
      reader.close();
    }
  }

  /** Copies a chunk to a sink. Returns how many bytes it copied: fewer if its owner changed the memory meanwhile, or after a failure. */
  async copy(chunk: Uint8Array, sink: StreamSink): Promise<number> {
    let copied = 0;
    while (copied < chunk.length && !this.signal.aborted) {
      const room = sink.room();
      const free = room instanceof Promise ? await room : room;
      // Its owner may have shrunk or transferred it meanwhile.
      if (copied >= chunk.length) break;
      const part = chunk.subarray(copied, copied + free.length);
      free.set(part);
      copied += part.length;
      sink.filled(part.length);
    }
    return copied;
  }

  #readDisk(file: ReadFile, sink: StreamSink): Promise<number> {
    const filled = (bytes: number) => {
      this.#arrivedBytes += bytes;
      sink.filled(bytes);
    };
    return copyRequested(toRequestedFile(file), { room: () => sink.room(), filled }, this.signal);
  }

  /** Waits for `work` and for all hash jobs: their memory is in use until then. Rejects with the first failure. */
  finish<T>(work: Promise<T>): Promise<T> {
    return this.#group.finish(work);
  }

  progress(): ReturnType<RunningJob<unknown>['progress']> {
    const { bytes, namedBytes, file, queued } = this.#group.progress();
    const arrivedBytes = this.#arrivedBytes + namedBytes;
    return { bytes, arrivedBytes, totalBytes: this.#totalBytes, file: this.#reading.at(-1) ?? file, queued };
  }

  cancel(): void {
    this.#group.cancel();
  }
}

/** A v1 piece may have to be in memory whole, and the next one beside it. */
function requireRoom({ version, pieceLength }: StreamedContent, memoryLimit: number): void {
  const least = 2 * pieceLength;
  if (version === 'v2' || least <= memoryLimit) return;
  const message = `Streams need memory for two pieces: memoryLimit must be at least ${least}, not ${memoryLimit}.`;
  throw new MetainfoError('ERR_INVALID_ARGUMENT', message, { option: { memoryLimit: null } });
}

interface MemoryNeeds extends Pick<HashRequest, 'version' | 'pieceLength'> {
  /** Bytes of a request, if there is memory for it. */
  requestSize: number;
  /** The number of streams. */
  streams: number;
  /** See {@link StreamResources}. */
  mostBytes: number;
  /** Bytes for segments; requests get half as much. */
  room: number;
  /** Small jobs that run at once. */
  small: number;
}

function memoryShares(needs: MemoryNeeds): MemoryShares {
  const { version, pieceLength, room, small, streams, mostBytes, requestSize } = needs;
  const least = version === 'v2' ? BLOCK_SIZE : pieceLength;
  const most = version === 'v2' ? V2_SEGMENT : Math.max(LANES * pieceLength, SMALL_SEGMENT);
  const wished = Math.max(least, Math.min(most, powerOfTwoWithin(room / (small + 1))));
  // The pieces of old v1 torrents may have any length.
  const segmentSize = Math.max(1, Math.min(wished - (wished % least), mostBytes));
  const segmentCount = Math.max(1, Math.min(small + STREAMS_AT_ONCE, Math.floor(room / segmentSize)));
  const streamsAtOnce = Math.min(STREAMS_AT_ONCE, segmentCount, Math.max(1, streams));
  const size = Math.max(BLOCK_SIZE, Math.min(requestSize, powerOfTwoWithin(room / 2)));
  const requests = Math.floor(room / 2 / size / streamsAtOnce);
  return {
    segmentSize,
    segmentCount,
    streamsAtOnce,
    readAhead: { size, count: Math.max(1, Math.min(REQUESTS_AT_ONCE, requests)) },
  };
}
