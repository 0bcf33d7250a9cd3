/** Hashes a part of a plan. */
import type { Job } from 'bullmq';
import { AbortError, type PartStore, type Progress, storePart } from 'metainfo';
import { cancelledError } from './failures.ts';
import { giveBack, indexedData, type JobContext } from './jobs.ts';
import { contentAt } from './roots.ts';
import { CANCELLED, joinJobId, PROGRESS_MS, partJobId } from './settings.ts';

/** Why a part is no longer hashed. */
const UNWANTED = 'nobody waits for the part';

/** Hashes a part, unless the store has it. It ends soon after nobody wants the part any more. */
export async function runPart(job: Job, { token, signal, context }: JobContext): Promise<object> {
  const { store, roots, plans, threads, memoryLimit, open, queues } = context;
  const { plan: id, index, cancelled } = indexedData(job.data);
  if (cancelled) throw cancelledError();
  const isDropped = async () => Object(await queues.parts.getJob(partJobId(id, index))).data?.cancelled === true;
  const plan = await plans.get(id).catch(async (error: unknown) => {
    // A verification that ends deletes its plan.
    throw (await isDropped()) ? cancelledError() : error;
  });
  const isVerification = plan.torrent === null;
  const isCancelled = async () => {
    if (isVerification) return isDropped();
    return Object(await queues.joins.getJob(joinJobId(id))).progress === CANCELLED;
  };
  const unwanted = new AbortController();
  const onProgress = throttled(async (progress) => {
    await job.updateProgress(progress);
    if (await isCancelled()) unwanted.abort(UNWANTED);
  });
  const { path: root, beneath } = await contentAt(roots, plan.root);
  const stop = AbortSignal.any([signal, unwanted.signal]);
  const options = { root, beneath, threads, memoryLimit, open, signal: stop, onProgress };
  const put: PartStore['put'] = async (...part) => {
    if (await isCancelled()) throw cancelledError();
    await store.put(...part);
  };
  try {
    // A verification must read the content: its parts are never taken from the store.
    const { hashed, bytes } = await storePart(
      plan,
      index,
      isVerification ? { get: async () => null, put } : store,
      options,
    );
    return { hashed, bytes: hashed ? bytes : 0 };
  } catch (error) {
    if (!(unwanted.signal.aborted && error instanceof AbortError)) throw error;
    // The torrent may have been queued again in the meantime.
    if (await isCancelled()) throw cancelledError();
    return giveBack(job, token);
  }
}

/** Reports the progress of a job now and then. */
function throttled(report: (progress: Pick<Progress, 'bytes' | 'totalBytes'>) => Promise<void>) {
  let last = performance.now();
  return ({ bytes, totalBytes }: Progress) => {
    if (performance.now() - last < PROGRESS_MS) return;
    last = performance.now();
    report({ bytes, totalBytes }).catch(() => {});
  };
}
