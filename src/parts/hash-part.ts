/** Hashes one part of a plan, on any machine that can read its files. */
import { realpath, stat } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import type { RangeReader } from '../create/sources/source-data.ts';
import { hashStreams } from '../create/sources/streams.ts';
import { type BeneathOptions, requireBeneath } from '../disk/beneath.ts';
import { millisecondsOf } from '../disk/stat-files.ts';
import { untilAbort } from '../errors/cancel.ts';
import { fromSystemError, MetainfoError } from '../errors/errors.ts';
import { Callback, checkOptions, type OptionStructs, Path } from '../errors/guard.ts';
import { defaultEngine } from '../hash/default-engine.ts';
import { AnyEngine, type Engine } from '../hash/engine.ts';
import {
  checkedResources,
  type Digests,
  type HashRequest,
  RESOURCES,
  type ResourceOptions,
} from '../hash/hash-request.ts';
import { toRequestedFile } from '../hash/request-files.ts';
import { jobLimiter, LARGE_JOB_BYTES } from '../jobs/job-limiter.ts';
import { deletedSinceScan, runningJob, WATCH, type WatchOptions, watch } from '../jobs/watch.ts';
import { FileTable } from '../layout/file-table.ts';
import { HASH_PLAN, type PortableHashPlan, restoredHashPlan } from './hash-plan.ts';
import { diskPathOf, Objects, type OpenObject, requireUnchanged } from './identity.ts';
import { payloadOf, rangesOf, requirePart, type SplitPlan } from './part-payload.ts';
import { type RestoredPlan, restoredPlan } from './restored-plan.ts';
import { seal } from './sealed-part.ts';
import type { PartRange } from './split-into-parts.ts';
import type { TorrentPlan } from './torrent-plan.ts';

/** Options of {@link hashPart}. */
export interface HashPartOptions extends ResourceOptions, WatchOptions, BeneathOptions {
  /**
   * Where the path root of the plan is on this machine.
   *
   * @default the path root of the plan
   */
  root?: string | undefined;
  /** Opens the objects of the plan: files that were planned as range readers. */
  open?: OpenObject | undefined;
  /**
   * The engine that hashes.
   *
   * @default the engine that METAINFO_ENGINE names, else `nativeEngine()`, or `nodeEngine()` if the addon does not load
   */
  engine?: Engine | undefined;
}

const HASH_PART: OptionStructs<HashPartOptions> = {
  root: Path,
  beneath: Path,
  open: Callback,
  engine: AnyEngine,
  ...RESOURCES,
  ...WATCH,
};

/**
 * Hashes one part of a plan.
 *
 * The part is refused unless its files have the size, mtime and ctime that were planned, before and after they are read; objects must
 * have their size and entity tag.
 *
 * @param plan A plan of {@link TorrentCreate.plan} with `partSize`, or one that {@link partsEngine} gave.
 * @param index The index of the part, from 0.
 * @returns The sealed part: its digests with the id of the plan, the index and a checksum.
 * @throws {MetainfoError} `ERR_PLAN`; `ERR_FILE_CHANGED`; `ERR_NOT_FOUND` for the root; `ERR_UNREADABLE`, `ERR_READ`;
 *   `ERR_INVALID_ARGUMENT`
 * @throws {AbortError} if the signal fires; its reason is the `cause`
 * @example
 * ```ts
 * import path from 'node:path';
 * import { hashPart, joinParts, TorrentCreate } from 'metainfo';
 *
 * const draft = new TorrentCreate({ pathRoot: path.resolve('album') });
 * const plan = await draft.plan({ version: 'v2', partSize: 2 ** 30 });
 * // Each call may run in another process, or on another machine.
 * const parts = await Promise.all(Array.from({ length: plan.parts }, (_, index) => hashPart(plan, index)));
 * const torrent = await joinParts(plan, (index) => parts[index] ?? null);
 * console.log(torrent.nFiles);
 * ```
 */
export async function hashPart(
  plan: TorrentPlan | PortableHashPlan,
  index: number,
  options: HashPartOptions = {},
): Promise<Uint8Array> {
  const checked = checkOptions(options, HASH_PART);
  const work =
    plan?.format === HASH_PLAN
      ? ofHashPlan(await restoredHashPlan(plan), checked)
      : ofTorrent(await restoredPlan(plan), checked);
  const { split } = work;
  requirePart(split, index);
  const { signal, engine = defaultEngine() } = checked;
  const resources = checkedResources(checked, split.version, availableParallelism());
  return jobLimiter.run(signal, async (slot) => {
    const files = await work.files(index);
    if (files.reduce((sum, { range }) => sum + range.length, 0) > LARGE_JOB_BYTES) slot.release();
    const digests = await hashFiles(files, { split, engine, resources, options: checked });
    await work.files(index);
    return seal({ id: split.id, index }, payloadOf(split, index, { digests, ranges: files.map(({ range }) => range) }));
  });
}

/** A share of a file, and where it is: on disk, or behind a range reader. Neither for a pad file. */
interface PartFile {
  range: PartRange;
  /** The path from the root of the torrent, with `/`. */
  name: string;
  diskPath?: string;
  mtimeMs?: number;
  /** Where the share starts in the file on disk, and the bytes of that file. */
  offset?: number;
  size?: number;
  reader?: RangeReader;
}

/** The work on one plan. */
interface PartWork {
  split: SplitPlan;
  /** The files of a part, after a check that they are as they were planned. */
  files(index: number): Promise<PartFile[]>;
}

/** The split of a planned torrent. */
export function splitOf({ id, plan, parts }: RestoredPlan): SplitPlan {
  const { version, pieceLength, files, paddedFiles } = plan;
  return { id, version, pieceLength, lengths: files.lengths, paddedFiles, parts, isPad: () => false };
}

function ofTorrent(restored: RestoredPlan, options: HashPartOptions): PartWork {
  const { root: given, open, signal } = options;
  const { files } = restored;
  const split = splitOf(restored);
  const objects = new Objects(files, open);
  return {
    split,
    files: async (index) => {
      // A stored link has no content anywhere.
      const ranges = [...rangesOf(split, index)].filter(
        ({ file }) => objects.has(file) || files.mtimeNs[file] !== null,
      );
      const isOnDisk = ranges.some(({ file }) => !objects.has(file));
      const root = isOnDisk ? await realRoot(given ?? restored.root, options) : '';
      await requireUnchanged(
        files,
        ranges.map(({ file }) => file),
        { root, signal },
      );
      const found: PartFile[] = [];
      for (const range of ranges) {
        const { file } = range;
        const name = files.path[file] as string;
        if (objects.has(file)) found.push({ range, name, reader: await objects.open(file) });
        else found.push({ range, name, ...onDisk(restored, range, root) });
      }
      return found;
    },
  };
}

function onDisk({ files, plan }: RestoredPlan, { file, offset }: PartRange, root: string): Partial<PartFile> {
  const mtimeMs = millisecondsOf(files.mtimeNs[file] as string);
  return { diskPath: diskPathOf(files, file, root), mtimeMs, offset, size: plan.files.lengths[file] as number };
}

function ofHashPlan(
  { root: plannedRoot, split, fileAt }: Awaited<ReturnType<typeof restoredHashPlan>>,
  options: HashPartOptions,
): PartWork {
  return {
    split,
    files: async (index) => {
      const real = await realRoot(options.root ?? plannedRoot, options);
      const files: PartFile[] = Array.from(rangesOf(split, index), (range) => ({ range, ...fileAt(range, real) }));
      await requireLargeSizes(files, split.pieceLength);
      return files;
    },
  };
}

/** Pieces of a file whose hashes take too much memory for a file that may not be there. */
const MANY_PIECES = 2 ** 10;

/** Engines allocate the hashes of all content before they open the first file: requires that large files have the planned size. */
async function requireLargeSizes(files: readonly PartFile[], pieceLength: number): Promise<void> {
  for (const { range, diskPath, size = 0, offset = 0 } of files) {
    if (diskPath === undefined || range.length / pieceLength < MANY_PIECES) continue;
    const found = await stat(diskPath).catch((error: unknown) => {
      throw fromSystemError(error, diskPath, 'read');
    });
    if (found.size === size && offset + range.length <= size) continue;
    const message = `${diskPath} changed after it was planned: it has another size.`;
    throw new MetainfoError('ERR_FILE_CHANGED', message, { path: diskPath });
  }
}

/** @throws {MetainfoError} `ERR_NOT_FOUND`, `ERR_PATH_OUTSIDE`, `ERR_UNREADABLE`, `ERR_READ` */
export function realRoot(
  root: string,
  { signal, beneath }: BeneathOptions & { signal?: AbortSignal | undefined } = {},
): Promise<string> {
  const find = async () => {
    const real = await realpath(root);
    await requireBeneath(real, { beneath }, root);
    return real;
  };
  const found = find().catch((error: unknown) => {
    throw fromSystemError(error, root, 'read');
  });
  return untilAbort(signal, found);
}

interface HashContext {
  split: SplitPlan;
  engine: Engine;
  resources: ReturnType<typeof checkedResources>;
  options: HashPartOptions;
}

async function hashFiles(files: readonly PartFile[], context: HashContext): Promise<Pick<Digests, 'v1' | 'v2'>> {
  const { split, engine, resources, options } = context;
  const { version, pieceLength } = split;
  const paddedFiles = files.filter(({ range }) => range.file < split.paddedFiles).length;
  try {
    if (files.some(({ reader }) => reader)) return await hashObjects(files, paddedFiles, context);
    const plan: HashRequest = {
      files: files.map(({ range, ...file }) => toRequestedFile({ ...file, length: range.length })),
      version,
      pieceLength,
      paddedFiles,
      onMissing: 'fail',
      ...resources,
    };
    const totalBytes = files.reduce((sum, { range, diskPath }) => sum + (diskPath === undefined ? 0 : range.length), 0);
    const nameOf = (index: number) => files[index]?.name ?? '';
    return await watch(() => runningJob(engine.start(plan), { totalBytes, nameOf }), options);
  } catch (error) {
    throw deletedSinceScan(error);
  }
}

/** Hashes a part with objects, as a creation hashes its sources. */
async function hashObjects(
  files: readonly PartFile[],
  paddedFiles: number,
  { split, engine, resources, options }: HashContext,
): Promise<Pick<Digests, 'v1' | 'v2'>> {
  const { version, pieceLength } = split;
  const table = new FileTable(
    files.map(({ range: { offset, length }, name, reader, ...disk }) => ({
      path: name.split('/'),
      length,
      ...(reader ? { stream: shareOf(reader, offset, length) } : disk),
    })),
  );
  const plan = {
    version,
    pieceLength,
    files: table as never,
    isAligned: version !== 'v1' || split.paddedFiles > 0 || split.lengths.length === 1,
    paddedFiles,
    streams: files.flatMap(({ reader }, i) => (reader ? [i] : [])),
  };
  const memoryLimit = options.memoryLimit ?? Math.max(resources.memoryLimit, 8 * pieceLength);
  const { threads } = resources;
  const job = () => hashStreams(engine, plan, { threads, memoryLimit, readSize: options.readSize });
  const { pieces, trees } = await watch(job, options);
  return { ...(pieces && { v1: pieces }), ...(trees && { v2: trees }) };
}

/** A share of an object as a range reader. */
function shareOf(reader: RangeReader, start: number, size: number): RangeReader {
  const { requestSize } = reader;
  return { size, requestSize, read: (offset, length, signal) => reader.read(start + offset, length, signal) };
}
