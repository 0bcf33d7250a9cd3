/** Sources: files of a draft whose content does not come from this disk. */
import { contentOfOpenFile, openFileProblem } from '../disk/open-file.ts';
import type { Save, SaveTarget } from '../disk/save-files.ts';
import { frozenSave, saveProblem, saveTarget } from '../disk/save-target.ts';
import { MetainfoError, shown } from '../errors/errors.ts';
import { isSize, suggestName } from '../errors/guard.ts';
import { privateCopy, reusePrivate } from '../hash/private-buffer.ts';
import { unsafeComponent } from '../layout/safe-path.ts';
import type { Issues } from '../model/issues.ts';
import { engineReadsBlobs, inNode, isUint8Array } from '../platform/node.ts';
import {
  isBlob,
  isData,
  isReadOnce,
  MEMORY_CHANGED,
  type RangeReader,
  type SourceData,
  type StreamData,
  sizeOf,
} from './source-data.ts';

/**
 * A file of a torrent whose content does not come from a path.
 *
 * @example
 * ```ts
 * import { TorrentCreate } from 'metainfo';
 *
 * const sources = [
 *   { path: 'readme.txt', data: Buffer.from('hello') },
 *   { path: 'zeros/4.bin', data: new Blob([new Uint8Array(4)]) },
 * ];
 * const torrent = await new TorrentCreate({ info: { name: 'mixed' }, sources }).generate();
 * console.log(torrent.nFiles);
 * ```
 *
 * ```text
 * 2
 * ```
 */
export interface Source {
  /** The path from the torrent's root, with `/`. */
  path: string;
  /**
   * Bytes. A source that has more or fewer fails with `ERR_SOURCE_SIZE`.
   *
   * @default the size of the data; for a stream, its length when it ends
   */
  size?: number | null | undefined;
  /** The content. */
  data: SourceData;
  /**
   * A file to which the content goes while it is hashed: a path or a `file:` URL, in a folder that exists; null for none. The files of all sources get
   * their names when the torrent is complete. If the creation fails or is cancelled, none of them stays, but a file that was replaced
   * before another one failed is not restored.
   *
   * @default none
   */
  saveTo?: string | URL | null | undefined;
  /**
   * Let `saveTo` replace an existing file, instead of failing with `ERR_OUTPUT_EXISTS`.
   *
   * @default false
   */
  force?: boolean | undefined;
}

/** Data that knows its own path in a torrent: a `File`, or the result of {@link webFile}. */
export type NamedData = SourceData & {
  /** Its path from the torrent's root, with `/`. */
  readonly name: string | null;
};

/** A source as it is given: data with a name needs no path. */
export type SourceInput =
  | NamedData
  | (Omit<Source, 'path'> & {
      /**
       * The path from the torrent's root, with `/`.
       *
       * @default the name of the data
       */
      path?: string | undefined;
    });

/** A source as a file of a draft. */
export interface SourceFile {
  /** Components from the torrent's root. */
  path: readonly string[];
  /** Bytes; null if only the end of the stream tells. */
  length: number | null;
  /** The content, if all of it is in memory. */
  data?: Uint8Array | undefined;
  /** The content, if the engine reads it. */
  blob?: Blob | undefined;
  /** The content, if it has to be read for the engine. */
  stream?: StreamData | undefined;
  /** Where the content is saved. */
  saveTo?: SaveTarget;
  /** Takes the content. */
  save?: Save;
}

/** Reports problems of sources as issues of the field `sources`. */
export function checkSources(sources: unknown, issues: Issues): void {
  if (sources === undefined || sources === null) return;
  if (!Array.isArray(sources)) {
    issues.add('sources', ['sources'], `expected a list of sources, got ${shown(sources)}`);
    return;
  }
  if (sources.length === 0) issues.add('sources', ['sources'], 'expected at least one source, got none');
  const known = new Set<unknown>();
  for (const [index, source] of sources.entries()) {
    const problem = sourceProblem(source as Partial<Source> | null);
    if (problem) issues.add('sources', ['sources', index, ...problem.slice(0, -1)], problem.at(-1) as string);
    const { data } = (source ?? {}) as Partial<Source>;
    if (isData(data) && isReadOnce(data) && known.has(data)) {
      const message = 'expected a stream of its own, got the stream of another source';
      issues.add('sources', ['sources', index, 'data'], message);
    }
    known.add(data);
  }
}

/** A problem of a source, after the field that has it, if one has. */
type Problem = [field: string, problem: string] | [problem: string];

function sourceProblem(source: Partial<Source> | null): Problem | null {
  if (source === null || typeof source !== 'object') return ['expected a source'];
  return (
    (inNode() ? keyProblem(source) : null) ?? pathProblem(source.path) ?? sizeProblem(source) ?? saveProblem(source)
  );
}

const KEYS = ['path', 'size', 'data', 'saveTo', 'force'];

function keyProblem(source: object): Problem | null {
  const unknown = Object.entries(source).find(([key, value]) => value !== undefined && !KEYS.includes(key))?.[0];
  if (unknown === undefined) return null;
  const meant = suggestName(unknown, KEYS);
  return [unknown, `an unknown key: ${meant ? `did you mean ${meant}?` : `expected one of ${KEYS.join(', ')}`}`];
}

function pathProblem(path: unknown): Problem | null {
  if (typeof path !== 'string') return ['path', `expected a path or name, got ${shown(path)}`];
  const unsafe = path
    .split('/')
    .map(unsafeComponent)
    .find((problem) => problem !== null);
  if (unsafe) return ['path', `expected a relative path, got ${unsafe}: ${shown(path)}`];
  if (path.isWellFormed()) return null;
  return ['path', `expected text, got half a surrogate pair: ${shown(path)}`];
}

function sizeProblem({ size, data }: Partial<Source>): Problem | null {
  if (size != null && !isSize(size)) return ['size', `expected a size of 0 or more, got ${shown(size)}`];
  if (!isData(data))
    return ['data', `expected bytes, a Blob, a stream, a range reader or a FileHandle, got ${shown(data)}`];
  const own = sizeOf(data);
  if (own !== null && !isSize(own))
    return ['data', openFileProblem(data) ?? `expected data whose size is 0 or more, got ${shown(own)}`];
  if (own === null || size == null || own === size) return null;
  return ['size', `expected ${own}, the size of the data, got ${size}`];
}

/** A source with a path: data, and a source without a path, have the name of the data. Anything else stays as it is. */
export function namedSource(given: unknown): unknown {
  const source: unknown = isData(given) ? { data: given } : given;
  const { path, data } = (source ?? {}) as Partial<Source>;
  const { name } = (data ?? {}) as Partial<NamedData>;
  return path === undefined && isData(data) && typeof name === 'string'
    ? { ...(source as Source), path: name }
    : source;
}

/** The folder that all sources are in, which names a torrent; null if there is none. */
export function commonFolder(sources: readonly Source[]): string | null {
  const { path: first } = sources[0] as Source;
  const folder = first.split('/', 1)[0] as string;
  // A single source with the name of the torrent is a torrent without a folder.
  const isFile = sources.length === 1 && first === `${folder}/${folder}`;
  return !isFile && sources.every(({ path }) => path.startsWith(`${folder}/`)) ? folder : null;
}

/** Copies of sources with the sizes that they have now. */
export function frozenSources(sources: readonly Source[]): Source[] {
  return sources.map((source) => {
    const { path, size, data } = source;
    return { path, size: sizeOf(data) ?? size ?? null, data, ...frozenSave(source) };
  });
}

/** The files of frozen sources. Throws `ERR_SOURCE_SIZE` for bytes that were transferred since. */
export function sourceFiles(sources: readonly Source[]): SourceFile[] {
  return sources.map((source) => {
    const { path, size = null, data } = source;
    const file = { path: path.split('/'), length: size, ...saveTarget(source) };
    if (engineReadsBlobs && isBlob(data)) return { ...file, blob: data };
    const opened = contentOfOpenFile(data, { path, size: size as number });
    if (opened) return { ...file, stream: opened };
    if (!isUint8Array(data)) return { ...file, stream: data as StreamData };
    if (data.length === size) return { ...file, data };
    throw new MetainfoError('ERR_SOURCE_SIZE', `${path} now has ${data.length} bytes, not ${size}.`, { path });
  });
}

/** Longer data is read in parts instead of being copied at once. */
const MAX_COPY_BYTES = 2 ** 18;

/** The files without memory that the caller may transfer, resize or write to: short data is copied, long data is read in parts. */
export function detachMemory(files: readonly SourceFile[]): SourceFile[] {
  return files.map((file) => {
    const { data, ...rest } = file;
    if (!data) return file;
    const isShort = data.length <= MAX_COPY_BYTES;
    const copy = isShort ? privateCopy(data) : data;
    // Saved content goes through the hashing of streams.
    return isShort && !file.saveTo ? { ...rest, data: copy } : { ...rest, stream: memoryReader(copy) };
  });
}

/** Lets later jobs use the copies of {@link detachMemory} again, after a job that no engine reads for any more. */
export function reuseMemory(files: readonly SourceFile[]): void {
  for (const { data } of files) if (data) reusePrivate(data);
}

/** Bytes in memory as a range reader. */
export function memoryReader(bytes: Uint8Array): RangeReader {
  const size = bytes.length;
  return {
    size,
    read: async (offset, length) => {
      if (bytes.length !== size) throw new Error(MEMORY_CHANGED);
      return bytes.subarray(offset, offset + length);
    },
  };
}

/** A share of what a range reader reads, from an offset on. */
export function shareOf(reader: RangeReader, start: number, size: number): RangeReader {
  const { requestSize } = reader;
  return { size, requestSize, read: (offset, length, signal) => reader.read(start + offset, length, signal) };
}
