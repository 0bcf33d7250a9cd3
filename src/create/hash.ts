/** Hashes the files of a plan with an engine, except those whose digests are known or in the cache. */
import { type Engine, isOwnEngine } from '../hash/engine.ts';
import { type FileDigests, type PackedTrees, packTrees, splitDigests } from '../hash/file-digests.ts';
import type { Digests, HashPlan, PlanFiles, planResources } from '../hash/hash-request.ts';
import { hashNow } from '../hash/native.ts';
import { lengthsOf, toPlanFiles } from '../hash/request-files.ts';
import { deletedSinceScan, runningJob, watch } from '../jobs/watch.ts';
import type { HashCache } from './cache/cache.ts';
import { type FilesToHash, filesToHash, type TorrentDigests } from './digests.ts';
import type { GenerateOptions } from './options.ts';
import { hashStreams } from './sources/streams.ts';
import { type CreatePlan, hasAllSizes, type SizedPlan } from './torrent-layout.ts';

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

/** Bytes. Shorter files are not in the cache: to look one up and to keep its digests takes longer than to hash it. */
export const MIN_CACHED_BYTES = 2 ** 20;
/** Bytes that the cache must be able to save for each file of a torrent: the files that are not in it cost time, too. */
const MIN_BYTES_PER_FILE = 2 ** 18;

/** Whether a cache may save time for a plan. */
export function isWorthCaching({ isAligned, files, streams }: CreatePlan): boolean {
  if (streams.length > 0) return false;
  // Files that share pieces have one record for all of them.
  const least = isAligned ? MIN_CACHED_BYTES : 0;
  const bytes = files.lengths.reduce((sum, length) => (length >= least ? sum + length : sum), 0);
  return bytes >= Math.max(MIN_CACHED_BYTES, files.length * MIN_BYTES_PER_FILE);
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
  return { digests, bytesRead: digests.lengths.reduce((sum, length) => sum + length, 0) };
}

/** Hashes files that start at piece boundaries, so that each has digests of its own: only those that are not known. */
async function hashAligned(plan: SizedPlan, options: HashOptions): Promise<HashedPlan> {
  const { hashCache } = options;
  const given = options.knownDigests?.(plan) ?? null;
  if (!given && !hashCache) return hashAll(plan, options);
  const { version, files } = plan;
  const lookup = hashCache && (await hashCache.find(plan, given ?? Array<null>(files.length).fill(null)));
  const known = lookup?.digests ?? (given as (FileDigests | null)[]);
  if (!known.some((one) => one)) {
    const all = await hashAll(plan, options);
    const { pieces, trees } = all.digests;
    const digests = { ...(pieces && { v1: pieces }), ...(trees && { v2: trees }), missing: [] };
    if (lookup) await hashCache?.keep(lookup, splitDigests(files.lengths, digests, plan));
    return all;
  }
  const unknown = filesToHash(plan, (index) => !known[index]);
  const digests = unknown.files.length > 0 ? await hashFiles(unknown, plan, options) : null;
  const hashed = digests ? splitDigests(lengthsOf(unknown.files), digests, plan) : [];
  let next = 0;
  const each = known.map((one) => one ?? (hashed[next++] as FileDigests));
  if (lookup) await hashCache?.keep(lookup, each);
  return {
    digests: {
      lengths: null,
      pieces: version === 'v2' ? null : Buffer.concat(each.map((file) => file.pieces)),
      trees: version === 'v1' ? null : packTrees(each),
    },
    bytesRead: sumOf(unknown.files),
  };
}

/** Hashes v1 files without pad files. A piece may span files, so either all digests are known or none. */
async function hashContiguous(plan: SizedPlan, options: HashOptions): Promise<HashedPlan> {
  const { hashCache } = options;
  const lookup = hashCache && (await hashCache.findContiguous(plan));
  if (lookup?.pieces) return { digests: { lengths: null, pieces: lookup.pieces, trees: null }, bytesRead: 0 };
  const hashed = await hashAll(plan, options);
  if (lookup) await hashCache?.keepContiguous(lookup, hashed.digests.pieces as Uint8Array);
  return hashed;
}

/** Hashes all files of a plan. The engine gives their digests in the order of the torrent. */
async function hashAll(plan: SizedPlan, options: HashOptions): Promise<HashedPlan> {
  const { version, files, paddedFiles } = plan;
  const { v1, v2 } = await hashFiles({ files: toPlanFiles(files), indexes: null, paddedFiles }, plan, options);
  // An engine of the caller may transfer or change the memory of its digests later.
  const keep = (bytes: Uint8Array) => (isOwnEngine(options.engine) ? bytes : new Uint8Array(bytes));
  const pieces = version === 'v2' ? null : keep(v1 as Uint8Array);
  const trees =
    version === 'v1' ? null : { roots: keep((v2 as PackedTrees).roots), layers: keep((v2 as PackedTrees).layers) };
  return { digests: { lengths: null, pieces, trees }, bytesRead: files.totalLength };
}

interface JobFiles extends Omit<FilesToHash, 'files' | 'indexes'> {
  files: PlanFiles;
  /** The index of each file in the plan; null if these are all files of the plan. */
  indexes: readonly number[] | null;
}

/** Hashes files in one hash job. */
async function hashFiles(
  { files, indexes, paddedFiles }: JobFiles,
  { files: all, version, pieceLength }: SizedPlan,
  options: HashOptions,
): Promise<Digests> {
  const { engine, resources, signal, progress, onProgress } = options;
  const job: HashPlan = { files, paddedFiles, version, pieceLength, onMissing: 'fail', ...resources };
  const now = signal?.aborted || progress || onProgress ? null : hashNow(engine, job);
  if (now) return now;
  const totalBytes = indexes ? sumOf(files) : all.totalLength;
  const nameOf = (index: number) => all.pathAt(indexes?.[index] ?? index);
  return watch(() => runningJob(engine.start(job), { totalBytes, nameOf }), options);
}

function sumOf(files: PlanFiles): number {
  let sum = 0;
  for (const { length } of files) sum += length;
  return sum;
}
