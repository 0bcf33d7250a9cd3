/** Generates the torrent of a draft: layout, hash, assemble. */
import type { RawBencode } from '../bencode/value.ts';
import type { SaveGroup } from '../disk/save-files.ts';
import { loadSaves } from '../disk/save-target.ts';
import { throwProblems } from '../disk/scan-problems.ts';
import type { Checked } from '../errors/guard.ts';
import { defaultEngine } from '../hash/default-engine.ts';
import { isOwnEngine } from '../hash/engine.ts';
import { checkedResources } from '../hash/hash-request.ts';
import type { Slot } from '../hash/limiter.ts';
import { jobLimiter, LARGE_JOB_BYTES } from '../jobs/job-limiter.ts';
import { factsOfLayout, type Job, track } from '../jobs/track.ts';
import type { TorrentVersion } from '../model/discriminator.ts';
import type { TorrentOf } from '../model/torrent/torrent.ts';
import { detachMemory, reuseMemory, sourceFiles } from '../sources/sources.ts';
import { takeStreams } from '../sources/take-streams.ts';
import { assemble } from './assemble.ts';
import type { Draft } from './draft-fields.ts';
import { encodedFileList } from './file-list.ts';
import { secretFindings } from './findings/secret-findings.ts';
import { warn } from './findings/warnings.ts';
import { generateShortSource, generateShortTree } from './generate-short.ts';
import { type HashedLayout, type HashOptions, hashLayout } from './hash-layout.ts';
import type { HashCache } from './known/cache.ts';
import { openKnown } from './known/known.ts';
import { loadPlanReport } from './load.ts';
import { requireMatch } from './match-draft.ts';
import type { GenerateOptions } from './options.ts';
import {
  checkVersion,
  hasAllSizes,
  type LayoutOptions,
  layOutTorrent,
  requireContent,
  type SizedLayout,
  sizedLayout,
  type TorrentLayout,
  tryLayOut,
} from './torrent-layout.ts';

/** A torrent that was just made, and its files. */
export interface MadeTorrent {
  torrent: TorrentOf<TorrentVersion>;
  /** The files of the torrent, in its order. */
  files: SizedLayout['files'];
}

/** Makes the torrent of a draft. See {@link TorrentCreate.generate}. */
export async function generate(draft: Draft, options: Checked<GenerateOptions>): Promise<MadeTorrent> {
  const made = track('create', (job) => {
    if (draft.fields.sources?.length)
      return generateShortSource(draft, options, job) ?? generateAny(draft, options, job);
    return jobLimiter.run(options.signal, async (slot) => {
      job.begin();
      return (await generateShortTree(draft, options, job)) ?? generateAny(draft, options, job, slot);
    });
  });
  // Every await takes a moment.
  return made instanceof Promise ? await made : made;
}

/** @param slot The slot that the job has already. */
async function generateAny(
  draft: Draft,
  options: Checked<GenerateOptions>,
  job: Job,
  slot?: Slot,
): Promise<MadeTorrent> {
  let sources = detachMemory(sourceFiles(draft.fields.sources ?? []));
  const streams = takeStreams(sources);
  let saves: SaveGroup | null = null;
  try {
    const loading = loadSaves(sources, options.beneath);
    if (loading) {
      saves = await loading;
      sources = await saves.addAll(sources);
    }
    const { layout, digests, fileList, bytesRead } = await layOutAndHash(draft, { sources, job, ...options }, slot);
    const hasOwnEngine = !options.engine || isOwnEngine(options.engine);
    const isHashedHere = hasOwnEngine && bytesRead === layout.files.totalLength;
    const torrent = (await assemble(layout, digests, { fileList, isHashedHere })) as TorrentOf<TorrentVersion>;
    requireMatch(draft, torrent);
    await saves?.finish();
    streams.release();
    // An engine of the caller may still hold the data.
    if (hasOwnEngine) reuseMemory(sources);
    return { torrent, files: layout.files };
  } catch (error) {
    streams.destroy();
    await saves?.discard();
    throw error;
  }
}

/** The options of {@link layOutAndHash}. */
export interface LayOutAndHashOptions
  extends Checked<GenerateOptions>,
    Pick<LayoutOptions, 'sources' | 'otherFields' | 'attrs' | 'keepsTorrent'>,
    Pick<HashOptions, 'knownDigests'> {
  job: Job;
}

/** The input of {@link assemble}. */
export interface LaidOutAndHashed extends HashedLayout {
  layout: SizedLayout;
  /** The v1 file list of the layout, encoded; null if the torrent has none. */
  fileList: RawBencode | null;
}

/** Plans the torrent of a draft and hashes its files, in a slot of the limiter. */
export function layOutAndHash(draft: Draft, options: LayOutAndHashOptions, slot?: Slot): Promise<LaidOutAndHashed> {
  if (slot) return layOutAndHashInSlot(draft, options, slot);
  return jobLimiter.run(options.signal, (slot) => layOutAndHashInSlot(draft, options, slot));
}

async function layOutAndHashInSlot(draft: Draft, options: LayOutAndHashOptions, slot: Slot): Promise<LaidOutAndHashed> {
  options.job.begin();
  // Fail for bad options before the scan.
  const { engine = defaultEngine() } = options;
  const resources = checkedResources(options, checkVersion(options.version));
  // The spread comes last, because V8 takes ten times as long to add properties to a copy.
  const settings = { slot, resources, hashCache: null as HashCache | null, ...options, engine };
  const layout = await announcedLayout(draft, settings);
  options.job.describe(factsOfLayout(layout));
  if (!isSmall(layout)) slot.release();
  if (options.cache || options.reuse) settings.hashCache = await openKnown(layout, options);
  const hashing = hashLayout(layout, settings);
  if (hasAllSizes(layout)) {
    // The threads of the engine hash in the meantime.
    const [hashed, fileList] = await Promise.all([hashing, encodedFileList(layout)]);
    return { layout, fileList, ...hashed };
  }
  const hashed = await hashing;
  const sized = sizedLayout(layout, hashed.lengths as readonly number[]);
  options.job.describe(factsOfLayout(sized));
  requireContent(sized, draft);
  await warn(sized, options, secretFindings(draft, sized));
  return { layout: sized, fileList: await encodedFileList(sized), ...hashed };
}

/** Plans a torrent, and gives the described layout to `onPlan` before anything is hashed. */
export async function announcedLayout(
  draft: Draft,
  { onPlan, ...options }: LayoutOptions & Pick<GenerateOptions, 'onPlan'>,
): Promise<TorrentLayout> {
  if (!onPlan) return layOutTorrent(draft, options);
  const tried = await tryLayOut(draft, options);
  const { describeLayout } = await loadPlanReport();
  await onPlan(await describeLayout(draft, tried, options));
  throwProblems(tried.problems);
  return tried.layout as TorrentLayout;
}

/** Whether a job keeps its slot while it hashes. A stream may take any time, and may be the output of another job. */
function isSmall({ files, streams }: TorrentLayout): boolean {
  return streams.length === 0 && files.totalLength <= LARGE_JOB_BYTES;
}
