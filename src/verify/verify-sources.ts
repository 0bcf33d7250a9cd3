/** Verifies content that is not on this disk: buffers, Blobs, range readers, web objects and streams. */
import { MetainfoError, shown } from '../errors/errors.ts';
import { invalidArgument } from '../errors/guard.ts';
import { jobLimiter, LARGE_JOB_BYTES } from '../jobs/job-limiter.ts';
import { factsOf, type Job, track } from '../jobs/track.ts';
import { watch } from '../jobs/watch.ts';
import { Issues } from '../model/issues.ts';
import type { Torrent } from '../model/torrent/torrent.ts';
import {
  dataIn,
  isData,
  isReadable,
  isReadOnce,
  type SourceData,
  type StreamData,
  sizeOf,
} from '../sources/source-data.ts';
import {
  checkSources,
  frozenSources,
  memoryReader,
  namedSource,
  type Source,
  type SourceFile,
  type SourceInput,
  sourceFiles,
} from '../sources/sources.ts';
import { destroyStream, takeStreams } from '../sources/take-streams.ts';
import { type CheckOptions, type Hashing, hashingOf, verifyMatched } from './check-pieces.ts';
import { hashSources, StreamedSources } from './hash-sources.ts';
import { matchSources, type SourceWithPath } from './match-sources.ts';
import { safeNames } from './matched-files.ts';
import type { VerifyReport } from './report.ts';

/** Content for {@link verify} that is not on this disk: sources with paths or names, or the data of a single-file torrent. */
export type VerifySources = SourceData | readonly SourceInput[];

/** See {@link verify}. @param checkedOptions Gives the options, or throws for bad ones. */
export async function verifySources(
  torrent: Torrent,
  content: VerifySources,
  checkedOptions: () => CheckOptions,
): Promise<VerifyReport> {
  const { hashing, files } = checkedInput(torrent, content, checkedOptions);
  const { options } = hashing;
  const verifyNow = async (job: Job) => {
    const streams = takeStreams(files);
    try {
      const report = await jobLimiter.run(options.signal, async (slot) => {
        job.begin();
        job.describe(factsOf(torrent));
        const sources = files.map(withData);
        // A stream may take any time, and may be the output of another job.
        if (torrent.totalSize > LARGE_JOB_BYTES || sources.some(({ data }) => isReadOnce(data))) slot.release();
        const matched = await matchStreams(torrent, sources);
        matched.select(hashing.selected);
        destroyUnused(matched, sources);
        return verifyMatched(
          torrent,
          matched,
          hashing,
          async () => {},
          async (check, intervals, version) => [
            await watch(() => hashSources({ ...check, matched }, intervals, version), options),
          ],
        );
      });
      streams.release();
      return report;
    } catch (error) {
      streams.destroy();
      throw error;
    }
  };
  return track('verify', verifyNow);
}

/** A stream that has failed already: its file is unreadable, as if it failed while it is read. */
function failedSource(file: SourceFile): SourceFile {
  const { stream } = file;
  if (!stream || !isReadable(stream) || !stream.errored) return file;
  const { errored } = stream;
  return { ...file, stream: { [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(errored) }) } };
}

/** After an error, the streams are destroyed. */
function checkedInput(
  torrent: Torrent,
  content: VerifySources,
  checkedOptions: () => CheckOptions,
): { hashing: Hashing; files: SourceFile[] } {
  try {
    return {
      hashing: hashingOf(torrent, checkedOptions()),
      files: sourceFiles(sourcesOf(torrent, content)).map(failedSource),
    };
  } catch (error) {
    for (const one of Array.isArray(content) ? content : [content]) destroyStream(dataIn(one));
    throw error;
  }
}

/** @throws {MetainfoError} `ERR_INVALID_ARGUMENT` */
function sourcesOf(torrent: Torrent, content: VerifySources): Source[] {
  const name = safeNames(torrent)[0] as string;
  const isOne = isData(content);
  if (isOne && torrent.nFiles !== 1)
    throw invalidArgument(
      `the content is a single source, but the torrent has ${torrent.nFiles} files: give a list of sources with paths`,
    );
  if (!isOne && !Array.isArray(content))
    throw invalidArgument(`the content must be a path, a source or a list of sources, not ${shown(content)}`);
  const list = isOne ? [{ path: name, data: content }] : (content.map(namedSource) as Source[]);
  const issues = new Issues();
  if (list.length > 0) checkSources(list, issues);
  const [issue] = issues.finish();
  if (issue) throw invalidArgument(`${issue.path.join('.')}: ${issue.message}`);
  if (list.some(({ saveTo }) => saveTo != null)) throw invalidArgument('saveTo is for creations: verify saves nothing');
  return frozenSources(list);
}

function withData({ path, data, blob, stream }: SourceFile): SourceWithPath<StreamData> {
  const content = (data ? memoryReader(data) : (blob ?? stream)) as StreamData;
  const { lastModified = Number.NaN } = content as { lastModified?: number };
  return { path: path.join('/'), data: content, size: sizeOf(content), mtimeMs: lastModified };
}

/** @throws {MetainfoError} `ERR_DUPLICATE_PATH` for two sources with one path */
async function matchStreams(
  torrent: Torrent,
  sources: readonly SourceWithPath<StreamData>[],
): Promise<StreamedSources> {
  const paths = new Set<string>();
  for (const { path } of sources) {
    const message = `Two sources have the path ${shown(path)}: give one source for each file.`;
    if (paths.has(path)) throw new MetainfoError('ERR_DUPLICATE_PATH', message, { path });
    paths.add(path);
  }
  const matched = new StreamedSources(torrent, sources, await matchSources(torrent, sources, false));
  // Until a stream ends, it counts as long as its file.
  for (const [i, available] of matched.available.entries())
    if (Number.isNaN(available)) matched.resize(i, matched.content.lengths[i] as number);
  return matched;
}

/** Destroys the streams of files that the torrent does not have, or that are not selected. */
function destroyUnused(matched: StreamedSources, sources: readonly SourceWithPath<StreamData>[]): void {
  const used = new Set(Array.from(matched.content.lengths, (_, i) => matched.dataAt(i)));
  for (const { data } of sources) if (!used.has(data)) destroyStream(data);
}
