/** A torrent in the queue, as its producer sees it. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Job } from 'bullmq';
import { AbortError, MetainfoError, type PartStore, type TorrentPlan } from 'metainfo';
import { CALLBACK, type Checks, checkOptions, SIGNAL } from './check-options.ts';
import { AGAIN_MS, type JobWaits, unlessOutage } from './job-waits.ts';
import { forEachIndex, type JoinData } from './jobs.ts';
import { type JoinedTorrent, joinedTorrent, type QueuedTorrent, type QueueProgress } from './queued.ts';
import type { RootQueues } from './root-queues.ts';
import { CONNECT_MS, type QueueServer } from './server.ts';
import { CANCELLED, partJobId } from './settings.ts';

/** The parts of a queue that producers share. */
export interface Producer {
  store: PartStore;
  server: QueueServer;
  queues: RootQueues;
  waits: JobWaits;
}

/** The job that joins a torrent. */
export interface JoinJob {
  plan: TorrentPlan;
  job: Job;
  /** The root of the content, whose workers run the jobs. */
  root: string;
  /** The root of the output. */
  outputRoot: string;
  attached: boolean;
}

const DONE: Checks = { onProgress: CALLBACK, onNoWorker: CALLBACK, ...SIGNAL };

/** A torrent whose join is in the queue. */
export function queuedTorrent(join: JoinJob, producer: Producer): QueuedTorrent {
  const { plan, job, root, outputRoot, attached } = join;
  const { queues, waits } = producer;
  return {
    id: plan.id,
    attached,
    progress: async (options = {}) => {
      const { signal } = checkOptions(options, SIGNAL);
      return progressOf(join, await waits.current(job, queues.get('join', root), signal), producer, signal);
    },
    done: async (options = {}): Promise<JoinedTorrent> => {
      const { signal, onProgress, onNoWorker } = checkOptions(options, DONE);
      const ended = (signal: AbortSignal | undefined) => {
        const onPoll = async (job: Job) => {
          // The question about the job notices how long an outage lasts.
          const now = await progressOf(join, job, producer, signal).catch(unlessOutage);
          if (now) await onProgress?.(now);
        };
        const watch = onProgress && { onPoll, plan: plan.id };
        return waits.ended(job, queues.get('join', root), { signal, ...watch });
      };
      return joinedTorrent(await waits.withWorkers([root, outputRoot], { signal, onNoWorker }, ended));
    },
    cancel: async (options = {}) => cancel(join, producer, checkOptions(options, SIGNAL).signal),
  };
}

async function progressOf(
  { plan, root }: JoinJob,
  job: Job | undefined,
  { queues, waits, server }: Producer,
  signal: AbortSignal | undefined,
): Promise<QueueProgress> {
  const { parts, totalSize, partSize, id } = plan;
  const all = { parts, totalBytes: totalSize };
  const end = job ? await waits.endOf(job, signal) : 'failed';
  if (!job || end === 'failed') return { state: 'failed', hashed: 0, bytes: 0, ...all };
  if (end === 'completed') return { state: 'done', hashed: parts, bytes: totalSize, ...all };
  const { unprocessed = 0 } = await server.answer(job.getDependenciesCount({ unprocessed: true }), signal);
  const hashed = (job.data as JoinData).next - unprocessed;
  if (hashed === parts) return { state: 'joining', hashed, bytes: totalSize, ...all };
  const active = await server.answer(queues.get('part', root).getActive(0, 1000), signal);
  const running = active.reduce((sum, one) => sum + (Object(one.data).plan === id ? bytesOf(one) : 0), 0);
  return { state: 'waiting', hashed, bytes: Math.min(totalSize, hashed * partSize + running), ...all };
}

async function cancel(
  { job, root }: JoinJob,
  { queues, waits, server }: Producer,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  const joins = queues.get('join', root);
  const current = await waits.current(job, joins, signal).catch(unlessCancelled);
  if (!current || (await waits.endOf(current, signal))) return false;
  await server.answer(current.updateProgress(CANCELLED), signal);
  // A worker fails the join as soon as no part holds it back.
  await server.answer(current.removeUnprocessedChildren(), signal);
  // A join that runs may have begun to write before it was cancelled.
  for (let waited = 0; waited < CONNECT_MS && (await server.answer(current.isActive(), signal)); waited += AGAIN_MS.job)
    await server.wait(delay(AGAIN_MS.job), signal);
  const now = await waits.current(job, joins, signal).catch(unlessCancelled);
  return !now || (await waits.endOf(now, signal)) !== 'completed';
}

/** Milliseconds after which a locked job is tried again to be removed. */
const LOCKED_MS = 500;
const LOCKED_TRIES = 15;

/** Removes the jobs of a torrent that has ended, so that it can be queued again. */
export async function forgetTorrent(
  { plan: { id, parts }, job, root }: Pick<JoinJob, 'plan' | 'job' | 'root'>,
  { queues, server }: Producer,
  signal: AbortSignal | undefined,
): Promise<void> {
  // A part that still runs is locked, and cannot be removed together with its parent.
  const remove = () => job.remove({ removeChildren: true }).catch(() => job.remove({ removeChildren: false }));
  // A cancelled join is locked while it fails.
  const removeLater = () => delay(LOCKED_MS).then(remove);
  let removed = remove();
  for (let tries = 0; tries < LOCKED_TRIES; tries += 1) removed = removed.catch(removeLater);
  await server.answer(removed, signal);
  const queue = queues.get('part', root);
  const forget = async (index: number) => {
    const part = await server.answer(queue.getJob(partJobId(id, index)), signal);
    if (part && !(await part.isActive())) await part.remove().catch(() => {});
  };
  await forEachIndex(parts, forget);
}

/** Bytes that a running part has hashed. */
export function bytesOf({ progress }: Job): number {
  const { bytes } = Object(progress) as { bytes?: unknown };
  return typeof bytes === 'number' ? bytes : 0;
}

/** Undefined for a torrent that was cancelled before. */
function unlessCancelled(error: unknown): undefined {
  if (error instanceof AbortError || !(error instanceof MetainfoError && error.code === 'ERR_ABORTED')) throw error;
}
