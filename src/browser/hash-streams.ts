/** Hashes a layout with streams in a page: the streams one after another, beside everything else. */
import type { TorrentDigests } from '../create/files-to-hash.ts';
import { MEMORY_CHANGED, requestSizeOf, sourceError } from '../create/sources/source-data.ts';
import { SourceReader } from '../create/sources/source-reader.ts';
import type { SourceFile } from '../create/sources/sources.ts';
import type { LaidOutFile, TorrentLayout } from '../create/torrent-layout.ts';
import { hashingCancelled } from '../errors/cancel.ts';
import type { Engine } from '../hash/engine.ts';
import { type FileDigests, packTrees, splitDigests } from '../hash/file-digests.ts';
import { toRequestedFile } from '../hash/make-requested-files.ts';
import type { RunningJob } from '../jobs/watch.ts';
import { concatBytes } from '../platform/node.ts';
import { type WebFile, WebJob } from './web-engine.ts';

/** Requests to a range reader that run at once. */
const REQUESTS_AT_ONCE = 4;

/** The digests of a layout, and the lengths that hashing found out. */
type StreamedDigests = TorrentDigests & { lengths: readonly number[] };

/** @param _engine Not used: only {@link WebJob} hashes streams. */
export function hashStreams(
  _engine: Engine,
  layout: TorrentLayout,
  { readSize }: { readSize?: number | null | undefined },
): RunningJob<StreamedDigests> {
  const { files, streams, version, pieceLength, paddedFiles, isAligned } = layout;
  const rows = [...files];
  const jobs: { job: WebJob; indexes: readonly number[] }[] = [];
  let isCancelled = false;
  /** Bytes of streams. */
  let streamedBytes = 0;
  const onChunk = (bytes: number) => {
    streamedBytes += bytes;
  };
  const cancel = () => {
    isCancelled = true;
    for (const { job } of jobs) job.cancel();
  };
  const digests: FileDigests[] = [];
  const lengths: number[] = [];
  const hash = async (indexes: readonly number[]) => {
    if (isCancelled) throw hashingCancelled();
    const some = indexes.map((index) => webFile(rows[index] as LaidOutFile, { readSize, onChunk }));
    const padded = indexes.filter((index) => index < paddedFiles).length;
    const job = new WebJob({ files: some, version, pieceLength, paddedFiles: padded });
    jobs.push({ job, indexes });
    const hashed = await job.done;
    const sizes = indexes.map((_, i) => job.lengths[i] as number);
    for (const [i, index] of indexes.entries()) lengths[index] = sizes[i] as number;
    return { hashed, sizes };
  };
  const hashSome = async (indexes: readonly number[]) => {
    const { hashed, sizes } = await hash(indexes);
    for (const [i, one] of splitDigests(sizes, hashed, layout).entries()) digests[indexes[i] as number] = one;
  };
  const hashSeparately = async (): Promise<StreamedDigests> => {
    const streamed = new Set(streams);
    const others = [...rows.keys()].filter((index) => !streamed.has(index));
    const hashStreamed = async () => {
      for (const index of streams) await hashSome([index]);
    };
    await Promise.all([hashSome(others), hashStreamed()]).finally(cancel);
    const pieces = version === 'v2' ? null : concatBytes(digests.map((one) => one.pieces));
    return { lengths, pieces, trees: version === 'v1' ? null : packTrees(digests) };
  };
  const hashAsOne = async (): Promise<StreamedDigests> => {
    const { hashed } = await hash([...rows.keys()]);
    return { lengths, pieces: hashed.v1 as Uint8Array, trees: null };
  };
  return {
    done: isAligned ? hashSeparately() : hashAsOne(),
    progress: () => {
      let bytes = 0;
      let arrivedBytes = streamedBytes;
      for (const { job, indexes } of jobs) {
        const hashed = job.progress().bytes;
        bytes += hashed;
        if (!indexes.some((index) => rows[index]?.stream)) arrivedBytes += hashed;
      }
      arrivedBytes = Math.max(bytes, arrivedBytes);
      const { job, indexes } = jobs.at(-1) ?? {};
      const file = rows[indexes?.[job?.progress().fileIndex ?? 0] ?? 0]?.path.join('/') ?? '';
      const growth = files.hasAllLengths ? {} : { totalGrows: true };
      return { bytes, arrivedBytes, totalBytes: Math.max(files.totalLength, arrivedBytes), ...growth, file, queued: 0 };
    },
    cancel,
  };
}

interface ChunkOptions {
  /** Bytes of a request. */
  readSize: number | null | undefined;
  /** Called with the bytes of each chunk that arrives. */
  onChunk: (bytes: number) => void;
}

/** A file of a layout as {@link WebJob} reads it. */
function webFile(file: LaidOutFile, options: ChunkOptions): WebFile {
  if (!file.stream) return toRequestedFile(file);
  const { path, length } = file;
  const name = path.join('/');
  const chunks = (signal: AbortSignal) => chunksOf(file, options, signal);
  return { path: name, offset: 0, length, size: length ?? 0, mtimeMs: Number.NaN, chunks };
}

async function* chunksOf(
  file: SourceFile,
  { readSize, onChunk }: ChunkOptions,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const size = readSize ?? requestSizeOf([file]);
  const reader = new SourceReader(file, { size, count: REQUESTS_AT_ONCE }, signal);
  try {
    for (let chunk = await reader.next(); chunk; chunk = await reader.next()) {
      const { length } = chunk;
      onChunk(length);
      yield chunk;
      // Its owner may have shrunk or transferred it meanwhile.
      if (chunk.length !== length) throw sourceError(file.path.join('/'), new Error(MEMORY_CHANGED));
    }
  } finally {
    reader.close();
  }
}
