/** Hashes one part of a plan, on any machine that can read its files. */
import { hashLayout } from '../create/hash-layout.ts';
import type { LaidOutFile, TorrentLayout } from '../create/torrent-layout.ts';
import type { BeneathOptions } from '../disk/held-folder.ts';
import { throwIfAborted, untilAbort } from '../errors/cancel.ts';
import { type Checked, checkOptions, type OptionStructs } from '../errors/guard.ts';
import { defaultEngine } from '../hash/default-engine.ts';
import { AnyEngine, type Engine } from '../hash/engine.ts';
import { checkedResources, RESOURCES, type ResourceOptions } from '../hash/hash-request.ts';
import type { Slot } from '../hash/limiter.ts';
import { jobLimiter, LARGE_JOB_BYTES } from '../jobs/job-limiter.ts';
import { type Job, track } from '../jobs/track.ts';
import { WATCH, type WatchOptions } from '../jobs/watch.ts';
import { FileTable } from '../layout/file-table.ts';
import { shareOf } from '../sources/sources.ts';
import type { PartsPlan } from './plan.ts';
import { diskPathOf, type OpenObject, openPlanned, PLACE } from './planned-files.ts';
import { type CheckedPlan, checkedPlan, isOnDisk } from './read-plan.ts';
import { PartError, payloadBytes, payloadOf, requirePart, SEAL_BYTES, seal, unsealed } from './sealed-part.ts';
import { rangesOf } from './split-into-parts.ts';
import type { PartStore } from './store.ts';

/** Options of {@link hashPart}. */
export interface HashPartOptions extends ResourceOptions, WatchOptions, BeneathOptions {
  /**
   * Where the path root of the plan is on this machine.
   *
   * @default the path root of the plan
   */
  root?: string | URL | undefined;
  /** Opens the objects of the plan: files that were planned as range readers. It is called for several at once. */
  open?: OpenObject | undefined;
  /**
   * Opens all files with `open`, also those that were planned on disk: their content lies in an object store. Only their sizes are
   * compared with the plan.
   *
   * @default false
   */
  openAll?: boolean | undefined;
  /**
   * The engine that hashes.
   *
   * @default the engine that METAINFO_ENGINE names, else `nativeEngine()`, or `nodeEngine()` if the addon does not load
   */
  engine?: Engine | undefined;
}

const HASH_PART: OptionStructs<HashPartOptions> = { engine: AnyEngine, ...PLACE, ...RESOURCES, ...WATCH };

/**
 * Hashes one part of a plan.
 *
 * The part is refused unless its files have the size, mtime and ctime that were planned, before and after they are read; objects must
 * have their size and entity tag.
 *
 * @param plan A plan of {@link planParts}, or one that a {@link partsEngine} gave.
 * @param index The index of the part, from 0.
 * @returns The sealed part: its digests with the id of the plan, the index and a checksum.
 * @throws {MetainfoError} `ERR_PLAN`; `ERR_FILE_CHANGED`; `ERR_NOT_FOUND` for the root; `ERR_UNREADABLE`, `ERR_READ`;
 *   `ERR_INVALID_ARGUMENT`
 * @throws {AbortError} if the signal fires; its reason is the `cause`
 * @example
 * ```ts
 * import path from 'node:path';
 * import { hashPart, joinParts, planParts, TorrentCreate } from 'metainfo';
 *
 * const draft = new TorrentCreate({ pathRoot: path.resolve('album') });
 * const plan = await planParts(draft, { version: 'v2', partSize: 2 ** 30 });
 * // Each call may run in another process, or on another machine.
 * const parts = await Promise.all(Array.from({ length: plan.parts }, (_, index) => hashPart(plan, index)));
 * const torrent = await joinParts(plan, (index) => parts[index] ?? null);
 * console.log(torrent.nFiles);
 * ```
 */
export async function hashPart(plan: PartsPlan, index: number, options: HashPartOptions = {}): Promise<Uint8Array> {
  const checked = checkOptions(options, HASH_PART);
  const found = await checkedPlan(plan);
  requirePart(found, index);
  const { signal, engine = defaultEngine() } = checked;
  const resources = checkedResources(checked, found.version);
  const hash = async (job: Job, slot: Slot) => {
    job.begin();
    const files = await filesOf(found, index, checked);
    const bytes = files.reduce((sum, { length }) => sum + (length as number), 0);
    job.describe({ version: found.version, bytes, files: files.length });
    if (bytes > LARGE_JOB_BYTES) slot.release();
    const layout = partLayout(found, index, files);
    const { digests } = await hashLayout(layout, { ...checked, engine, resources, hashCache: null });
    await filesOf(found, index, checked);
    return seal({ id: found.id, index }, payloadOf(found, index, digests));
  };
  return track('hashPart', (job) => jobLimiter.run(signal, (slot) => hash(job, slot)));
}

/** A part that is in a store. */
export interface StoredPart {
  /** Bytes of content of the part. */
  bytes: number;
  /** False if the part was in the store before. */
  hashed: boolean;
}

/**
 * Hashes a part and puts it into a store, unless it is there. A damaged part is hashed again.
 *
 * @param plan A plan of {@link planParts}. Parts of a {@link partsEngine} must not be taken from a store.
 * @param index The index of the part, from 0.
 * @throws {MetainfoError} as {@link hashPart}, and the errors of the store
 * @example
 * ```ts
 * import path from 'node:path';
 * import { folderStore, planParts, storePart, TorrentCreate } from 'metainfo';
 *
 * const plan = await planParts(new TorrentCreate({ pathRoot: path.resolve('album') }));
 * const store = folderStore('stored-parts');
 * const first = await storePart(plan, 0, store);
 * console.log(first.hashed, (await storePart(plan, 0, store)).hashed);
 * ```
 *
 * ```text
 * true false
 * ```
 */
export async function storePart(
  plan: PartsPlan,
  index: number,
  store: PartStore,
  options: HashPartOptions = {},
): Promise<StoredPart> {
  const { signal } = checkOptions(options, HASH_PART);
  const found = await checkedPlan(plan);
  requirePart(found, index);
  const bytes = [...rangesOf(found, index)].reduce((sum, { length }) => sum + length, 0);
  throwIfAborted(signal);
  if (await untilAbort(signal, isStored(found, index, store))) return { bytes, hashed: false };
  const part = await hashPart(plan, index, options);
  await untilAbort(signal, Promise.resolve(store.put(found.id, index, part)));
  return { bytes, hashed: true };
}

async function isStored(plan: CheckedPlan, index: number, store: PartStore): Promise<boolean> {
  const { id } = plan;
  const length = payloadBytes(plan, index);
  try {
    const sealed = await store.get(id, index, length + SEAL_BYTES);
    if (sealed) unsealed(sealed, { id, index, length });
    return Boolean(sealed);
  } catch (error) {
    if (error instanceof PartError) return false;
    throw error;
  }
}

const NO_CONTENT = new Uint8Array(0);

/** The files of a part, each with its share, after a check that they are as they were planned. */
async function filesOf(plan: CheckedPlan, index: number, options: Checked<HashPartOptions>): Promise<LaidOutFile[]> {
  const { files } = plan;
  const ranges = [...rangesOf(plan, index)];
  const indexes = ranges.map(({ file }) => file);
  const { root, readers } = await openPlanned(plan, indexes, options);
  const found: object[] = [];
  for (const { file, offset, length } of ranges) {
    const name = files.path[file];
    const share = { path: (name ?? '').split('/'), length };
    const reader = readers.get(file);
    if (reader) found.push({ ...share, stream: shareOf(reader, offset, length) });
    else if (isOnDisk(files, file)) {
      const { offset: start = 0, size = files.length[file] } = files.shares[file] ?? {};
      const mtimeMs = files.mtimeMs[file] ?? Number.NaN;
      found.push({ ...share, diskPath: diskPathOf(files, file, root), mtimeMs, offset: start + offset, size });
    } else found.push(name === null ? share : { ...share, data: NO_CONTENT });
  }
  return found as LaidOutFile[];
}

function partLayout(plan: CheckedPlan, index: number, files: readonly LaidOutFile[]): TorrentLayout {
  const { version, pieceLength, paddedFiles, lengths } = plan;
  return {
    version,
    pieceLength,
    name: '',
    isSingleFile: false,
    padding: null,
    otherFields: new Map(),
    files: new FileTable(files),
    isAligned: version !== 'v1' || paddedFiles > 0 || lengths.length === 1,
    paddedFiles: Math.max(0, Math.min(files.length, paddedFiles - (plan.parts.files[index] as number))),
    streams: files.flatMap(({ stream }, i) => (stream ? [i] : [])),
  };
}
