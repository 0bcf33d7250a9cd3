/** Hashes the files of a plan with an engine, except those whose digests are known or in the cache. */
import type { Engine } from '../hash/engine.ts';
import { type FileDigests, splitDigests } from '../hash/file-digests.ts';
import { alignedPlanFiles, padAfter } from '../hash/file-plan.ts';
import type { Digests, planResources } from '../hash/plan.ts';
import { deletedSinceScan, runningJob, watch } from '../jobs/watch.ts';
import type { HashCache } from './cache.ts';
import { type FileToHash, filesToHash, type TorrentDigests } from './digests.ts';
import type { GenerateOptions } from './options.ts';
import { type CreatePlan, hasAllSizes, type PlannedFile, type SizedPlan } from './plan.ts';
import { hashStreams } from './streams.ts';

/** The result of {@link hashPlan}. */
export interface HashedPlan {
  digests: TorrentDigests;
  /** Bytes of content that were read and hashed; the digests of all others were known. */
  bytesRead: number;
}

/** How {@link hashPlan} hashes. */
export interface HashOptions
  extends Pick<GenerateOptions, 'readSize' | 'memoryLimit' | 'signal' | 'progress' | 'onProgress'> {
  engine: Engine;
  /** The resources of the job: checked, with defaults filled in. */
  resources: ReturnType<typeof planResources>;
  /** The cache to use; null for none. */
  hashCache: HashCache | null;
  /** The digests of files that are known; null for files that must be read. Called only for aligned plans without streams. */
  knownDigests?: (plan: SizedPlan) => (FileDigests | null)[];
}

/**
 * Hashes the files of a plan.
 *
 * @throws {MetainfoError} see docs/errors.md
 */
export async function hashPlan(plan: CreatePlan, options: HashOptions): Promise<HashedPlan> {
  try {
    if (plan.streams.length > 0 || !hasAllSizes(plan)) return await hashStreamed(plan, options);
    return await (plan.isAligned ? hashAligned(plan, options) : hashContiguous(plan, options));
  } catch (error) {
    throw deletedSinceScan(error);
  }
}

/** Hashes a plan with streams. */
async function hashStreamed(plan: CreatePlan, options: HashOptions): Promise<HashedPlan> {
  const { engine, resources, readSize } = options;
  const streaming = {
    threads: resources.threads,
    // A stream needs room for some pieces.
    memoryLimit: options.memoryLimit ?? Math.max(resources.memoryLimit, 8 * plan.pieceLength),
    readSize,
  };
  const digests = await watch(() => hashStreams(engine, plan, streaming), options);
  return { digests, bytesRead: sum(digests.lengths) };
}

/** Hashes files that start at piece boundaries, so that each has digests of its own: only those that are not known. */
async function hashAligned(plan: SizedPlan, options: HashOptions): Promise<HashedPlan> {
  const { version, files } = plan;
  const given = options.knownDigests?.(plan) ?? files.map(() => null);
  const lookup = options.hashCache && (await options.hashCache.find(plan, given));
  const known = lookup?.digests ?? given;
  const unknown = filesToHash(plan).filter((_, index) => !known[index]);
  const digests = unknown.length > 0 ? await hashFiles(unknown, plan, options) : null;
  const hashed = digests ? splitDigests(unknown, digests, plan) : [];
  if (lookup) await options.hashCache?.keep(lookup, hashed);
  let next = 0;
  const trees = known.map((one) => one ?? (hashed[next++] as FileDigests));
  // Without known files the engine's own buffer has all pieces in order.
  const pieces = unknown.length === files.length ? digests?.v1 : Buffer.concat(trees.map((file) => file.pieces));
  return {
    digests: {
      lengths: files.map(({ length }) => length),
      pieces: version === 'v2' ? null : (pieces as Uint8Array),
      trees: version === 'v1' ? null : trees,
    },
    bytesRead: sum(unknown.map(({ plan: { length } }) => length)),
  };
}

/** Hashes v1 files without pad files. A piece may span files, so either all digests are known or none. */
async function hashContiguous(plan: SizedPlan, options: HashOptions): Promise<HashedPlan> {
  const lengths = plan.files.map(({ length }) => length);
  const lookup = options.hashCache && (await options.hashCache.findContiguous(plan));
  if (lookup?.pieces) return { digests: { lengths, pieces: lookup.pieces, trees: null }, bytesRead: 0 };
  const { v1 } = await hashFiles(filesToHash(plan), plan, options);
  const pieces = v1 as Uint8Array;
  if (lookup) await options.hashCache?.keepContiguous(lookup, pieces);
  return { digests: { lengths, pieces, trees: null }, bytesRead: sum(lengths) };
}

/** Hashes files in one hash job. */
function hashFiles(files: readonly FileToHash[], plan: SizedPlan, options: HashOptions): Promise<Digests> {
  const { version, pieceLength } = plan;
  const { engine, resources } = options;
  const planFiles = alignedPlanFiles(files, pieceLength);
  const start = () => engine.start({ files: planFiles, version, pieceLength, onMissing: 'fail', ...resources });
  const totalBytes = sum(files.map((file) => file.plan.length));
  const nameOf = (index: number) => fileAt(files, index, pieceLength).path.join('/');
  return watch(() => runningJob(start(), { totalBytes, nameOf }), options);
}

/** The file at an index of the hash plan, which has pad files too; a pad file belongs to the file before it. */
function fileAt(files: readonly FileToHash[], index: number, pieceLength: number): PlannedFile {
  let end = 0;
  const owner = files.find(({ plan, isPadded }) => {
    end += isPadded ? 1 + padAfter(plan.length, pieceLength).length : 1;
    return index < end;
  });
  return (owner ?? (files.at(-1) as FileToHash)).file;
}

function sum(lengths: readonly number[]): number {
  return lengths.reduce((total, length) => total + length, 0);
}
