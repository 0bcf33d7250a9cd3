/** Hashes files that may be what a torrent misses. A file that cannot be read is left out, and the others go on. */
import { hashingCancelled } from '../../errors/cancel.ts';
import { MetainfoError } from '../../errors/errors.ts';
import { defaultEngine } from '../../hash/default-engine.ts';
import { checkedResources, type HashJob, type RequestedFile } from '../../hash/hash-request.ts';
import { pathOf } from '../../hash/open-without-links.ts';
import { LARGE_JOB_BYTES } from '../../jobs/job-limiter.ts';
import { type RunningJob, watch } from '../../jobs/watch.ts';
import { type Search, skip } from './collect-candidates.ts';

/** A range of a candidate; in v1 with the rest of its pieces: files that are in their places, and pad files. */
type Content = readonly RequestedFile[];

/** The hashes of each content: in v1 those of its pieces, in v2 its root; null for one that could not be read. */
type Hashes = (Uint8Array | null)[];

/** Contents and bytes of one hash job. After a file that cannot be read, the job starts again without it. */
const MAX_CONTENTS = 1024;
const MAX_BYTES = 2 ** 30;

/** Hashes contents, in jobs of a bounded size. */
export async function hashCandidates(search: Search, contents: readonly Content[]): Promise<Hashes> {
  if (contents.length === 0) return [];
  const totalBytes = bytesOf(contents.flat());
  search.bytesRead += totalBytes;
  if (totalBytes > LARGE_JOB_BYTES) search.slot.release();
  return watch(() => startHashing(search, contents, totalBytes), search.options);
}

/** The bytes that are hashed, those of pad files included. */
function bytesOf(content: Content): number {
  return content.reduce((sum, { length }) => sum + length, 0);
}

function startHashing(search: Search, contents: readonly Content[], totalBytes: number): RunningJob<Hashes> {
  const { options, torrent } = search;
  const { engine = defaultEngine() } = options;
  const { pieceLength } = torrent.info;
  const version = torrent.torrentVersion === 'v1' ? 'v1' : 'v2';
  const resources = checkedResources(options, version);
  const hashes = new Map<Content, Uint8Array>();
  let files: Content = [];
  let job: HashJob | null = null;
  let isCancelled = false;
  let endedBytes = 0;
  const hash = async (batch: readonly Content[]) => {
    if (isCancelled) throw hashingCancelled();
    files = batch.flat();
    job = engine.start({ files, version, pieceLength, onMissing: 'fail', ...resources });
    const { v1, v2 } = await job.done;
    let end = 0;
    for (const content of batch) {
      const start = end;
      end += v2 ? 32 : 20 * Math.ceil(bytesOf(content) / pieceLength);
      hashes.set(content, (v2?.roots ?? (v1 as Uint8Array)).slice(start, end));
    }
  };
  const run = async () => {
    // In v2, every file begins with a piece.
    for (const batch of batchesOf(contents, version === 'v1' ? pieceLength : 1)) {
      for (let left = batch; left.length > 0; ) {
        const failure = await hash(left).catch((error: unknown) => error);
        if (failure === undefined) break;
        const { path } = failure as MetainfoError;
        if (!(failure instanceof MetainfoError) || path === undefined || !pathsOf(files).includes(path)) throw failure;
        skip(search, failure);
        left = left.filter((content) => !pathsOf(content).includes(path));
      }
      job = null;
      endedBytes += bytesOf(batch.flat());
    }
    return contents.map((content) => hashes.get(content) ?? null);
  };
  return {
    done: run(),
    progress: () => {
      const { bytes, fileIndex, ...progress } = job?.progress() ?? { bytes: 0, fileIndex: 0, queued: 0 };
      const file = pathsOf(files.slice(fileIndex, fileIndex + 1))[0] ?? '';
      return { bytes: Math.min(endedBytes + bytes, totalBytes), totalBytes, file, ...progress };
    },
    cancel: () => {
      isCancelled = true;
      job?.cancel();
    },
  };
}

/** The files that are read, as errors name them. */
function pathsOf(content: Content): string[] {
  return content.flatMap((file) => (file.path === null ? [] : [pathOf(file)]));
}

/** A content whose last piece is short ends its job, because the pieces of a job follow each other. */
function* batchesOf(contents: readonly Content[], pieceLength: number): Generator<Content[]> {
  let batch: Content[] = [];
  let bytes = 0;
  for (const content of contents) {
    batch.push(content);
    bytes += bytesOf(content);
    if (batch.length < MAX_CONTENTS && bytes < MAX_BYTES && bytes % pieceLength === 0) continue;
    yield batch;
    [batch, bytes] = [[], 0];
  }
  if (batch.length > 0) yield batch;
}
