/** Reserves the streams of a draft for one generation, and destroys them if it fails. */
import { MetainfoError } from '../errors/errors.ts';
import { isDisturbed } from '../platform/node.ts';
import { ignoreFailure, isData, isReadable, isReadOnce, type StreamData, sourceError } from './source-data.ts';
import type { SourceFile } from './sources.ts';

/** The streams that one generation has reserved. */
export interface TakenStreams {
  /** After success: removes all listeners. */
  release(): void;
  /** After failure: destroys the streams. */
  destroy(): void;
}

/** Streams that were read. Other streams tell that themselves, but a generator does not. */
const used = new WeakSet<object>();

const ignore = () => {};

/**
 * Reserves every stream of the files. Until it is read, errors of a stream are ignored: otherwise they would end the process.
 *
 * @throws {MetainfoError} `ERR_SOURCE` for a stream that is or was read elsewhere, or that has failed; all others are destroyed
 */
export function takeStreams(files: readonly SourceFile[]): TakenStreams {
  const taken: StreamData[] = [];
  let problem: MetainfoError | null = null;
  for (const { stream, path } of files) {
    if (!stream) continue;
    const wrong = isReadOnce(stream) ? streamProblem(stream, path.join('/')) : null;
    problem ??= wrong;
    if (wrong) continue;
    if (isReadOnce(stream)) used.add(stream);
    taken.push(stream);
  }
  const release = ignoreErrors(taken);
  const destroy = () => {
    for (const stream of taken) destroyStream(stream);
  };
  if (!problem) return { release, destroy };
  destroy();
  throw problem;
}

/** Ignores errors of streams that will be taken soon. Returns a function that ends that. */
export function ignoreErrors(streams: readonly unknown[]): () => void {
  const readable = streams.flatMap((stream) => (isData(stream) && isReadable(stream) ? [stream] : []));
  for (const stream of readable) stream.on('error', ignore);
  return () => {
    for (const stream of readable) stream.removeListener('error', ignore);
  };
}

function streamProblem(stream: object, path: string): MetainfoError | null {
  if (isReadable(stream) && stream.errored) return sourceError(path, stream.errored);
  const isKnownStream = isReadable(stream) || 'getReader' in stream;
  const isLocked = 'locked' in stream && Boolean(stream.locked);
  if (!used.has(stream) && !(isKnownStream && (isLocked || isDisturbed(stream)))) return null;
  const message = `${path} is being read elsewhere, or was read before: pass a new stream.`;
  return new MetainfoError('ERR_SOURCE', message, { path });
}

/** Ends a stream without waiting for it. Anything else stays as it is. */
export function destroyStream(stream: unknown): void {
  if (!isData(stream)) return;
  if (isReadable(stream)) ignoreFailure(() => stream.destroy());
  else if ('getReader' in stream) ignoreFailure(() => stream.cancel());
  // A generator that is inside `next` ends after that.
  else if ('next' in stream) ignoreFailure(() => (stream as unknown as AsyncGenerator).return?.(undefined));
}
