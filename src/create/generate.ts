/** Generates the torrent of a draft: plan, hash, assemble. */
import { availableParallelism } from 'node:os';
import type { RawBencode } from '../bencode/value.ts';
import { throwProblems } from '../disk/scan-problems.ts';
import { defaultEngine } from '../hash/default-engine.ts';
import { isOwnEngine } from '../hash/engine.ts';
import { planResources } from '../hash/hash-request.ts';
import type { Slot } from '../hash/limiter.ts';
import { jobLimiter, LARGE_JOB_BYTES } from '../jobs/job-limiter.ts';
import type { TorrentVersion } from '../model/discriminator.ts';
import type { TorrentOf } from '../model/torrent/torrent.ts';
import { assemble } from './assemble.ts';
import type { HashCache } from './cache/cache.ts';
import type { Draft } from './draft-fields.ts';
import { encodedFileList } from './file-list.ts';
import { warn } from './findings/warnings.ts';
import { type HashedPlan, type HashOptions, hashPlan, isWorthCaching } from './hash.ts';
import { requireMatch } from './match-draft.ts';
import type { CacheChoice, GenerateOptions } from './options.ts';
import { detachMemory, reuseMemory, sourceFiles } from './sources/sources.ts';
import { takeStreams } from './sources/take-streams.ts';
import {
  type CreatePlan,
  checkVersion,
  hasAllSizes,
  type PlanOptions,
  planTorrent,
  requireContent,
  type SizedPlan,
  sizedPlan,
} from './torrent-layout.ts';

/** A torrent that was just made, and its files. */
export interface MadeTorrent {
  torrent: TorrentOf<TorrentVersion>;
  /** The files of the torrent, in its order. */
  files: SizedPlan['files'];
}

/** Makes the torrent of a draft. See {@link TorrentCreate.generate}. */
export async function generate(draft: Draft, options: GenerateOptions): Promise<MadeTorrent> {
  const sources = detachMemory(sourceFiles(draft.fields.sources ?? []));
  const streams = takeStreams(sources);
  try {
    const { plan, digests, fileList, bytesRead } = await planAndHash(draft, { sources, ...options });
    const hasOwnEngine = !options.engine || isOwnEngine(options.engine);
    const isHashedHere = hasOwnEngine && bytesRead === plan.files.totalLength;
    const torrent = (await assemble(plan, digests, { fileList, isHashedHere })) as TorrentOf<TorrentVersion>;
    requireMatch(draft, torrent);
    streams.release();
    // An engine of the caller may still hold the data.
    if (hasOwnEngine) reuseMemory(sources);
    return { torrent, files: plan.files };
  } catch (error) {
    streams.destroy();
    throw error;
  }
}

/** The options of {@link planAndHash}. */
export interface PlanAndHashOptions
  extends GenerateOptions,
    Pick<PlanOptions, 'sources' | 'otherFields' | 'attrs'>,
    Pick<HashOptions, 'knownDigests'> {}

/** The input of {@link assemble}. */
export interface PlannedAndHashed extends HashedPlan {
  plan: SizedPlan;
  /** The v1 file list of the plan, encoded; null if the torrent has none. */
  fileList: RawBencode | null;
}

/** Plans the torrent of a draft and hashes its files, once the limiter has a slot. */
export function planAndHash(draft: Draft, options: PlanAndHashOptions): Promise<PlannedAndHashed> {
  return jobLimiter.run(options.signal, (slot) => planAndHashInSlot(draft, options, slot));
}

async function planAndHashInSlot(draft: Draft, options: PlanAndHashOptions, slot: Slot): Promise<PlannedAndHashed> {
  // Fail for bad options before the scan.
  const { engine = defaultEngine() } = options;
  const resources = planResources(options, checkVersion(options.version), availableParallelism());
  const { cache = false } = options;
  // The spread comes last, because V8 takes ten times as long to add properties to a copy.
  const settings = { slot, resources, hashCache: null as HashCache | null, ...options, engine };
  const plan = await announcedPlan(draft, settings);
  if (!isSmall(plan)) slot.release();
  if (cache !== false && isWorthCaching(plan)) settings.hashCache = await openCache(cache);
  const hashing = hashPlan(plan, settings);
  if (hasAllSizes(plan)) {
    // The threads of the engine hash in the meantime.
    const [hashed, fileList] = await Promise.all([hashing, encodedFileList(plan)]);
    return { plan, fileList, ...hashed };
  }
  const hashed = await hashing;
  const sized = sizedPlan(plan, hashed.digests.lengths as readonly number[]);
  requireContent(sized, draft);
  await warn(sized, options);
  return { plan: sized, fileList: await encodedFileList(sized), ...hashed };
}

/** Plans a torrent, and gives the described plan to `onPlan` before anything is hashed. */
export async function announcedPlan(
  draft: Draft,
  { onPlan, ...options }: PlanOptions & Pick<GenerateOptions, 'onPlan'>,
): Promise<CreatePlan> {
  if (!onPlan) return planTorrent(draft, options);
  // Loaded only here: most creations have no `onPlan`.
  const { describePlan } = await import('./findings/plan-report.ts');
  const { plan, description, problems } = await describePlan(draft, options);
  await onPlan(description);
  throwProblems(problems);
  return plan as CreatePlan;
}

/** Whether a job keeps its slot while it hashes. A stream may take any time, and may be the output of another job. */
function isSmall({ files, streams }: CreatePlan): boolean {
  return streams.length === 0 && files.totalLength <= LARGE_JOB_BYTES;
}

/** Opens the cache, whose code is loaded only if there is one. */
async function openCache(choice: CacheChoice): Promise<HashCache | null> {
  return (await import('./cache/cache.ts')).openCacheIfAny(choice);
}
