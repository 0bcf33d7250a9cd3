/** Hashes a part of a plan. */
import { stat } from 'node:fs/promises';
import path from 'node:path';
import type { Job } from 'bullmq';
import { AbortError, type PartStore, type Progress, partKey, storePart } from 'metainfo';
import { cancelledError, notInStore } from './failures.ts';
import { giveBack, indexedData, type JobContext } from './jobs.ts';
import { touching } from './passing.ts';
import { contentAt } from './roots.ts';
import { CANCELLED, joinJobId, PROGRESS_MS, partJobId } from './settings.ts';

/** Hashes a part, unless the store has it. It ends soon after nobody wants the part any more. */
export async function runPart(job: Job, { token, signal, touch, context }: JobContext): Promise<object> {
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
  const report = async (progress: Pick<Progress, 'bytes' | 'totalBytes'>) => {
    await job.updateProgress(progress);
    if (await isCancelled()) unwanted.abort('nobody waits for the part');
  };
  const { path: root, beneath } = await contentAt(roots, plan.root);
  const stop = AbortSignal.any([signal, unwanted.signal]);
  const touched = touching(touch);
  let reported = performance.now();
  const onProgress = ({ bytes, totalBytes }: Progress) => {
    touched({ bytes });
    if (performance.now() - reported < PROGRESS_MS) return;
    reported = performance.now();
    report({ bytes, totalBytes }).catch(() => {});
  };
  const options = { root, beneath, threads, memoryLimit, open, signal: stop, onProgress };
  const put: PartStore['put'] = async (...part) => {
    // The server of a torrent may be gone: its part is stored all the same.
    if (isVerification && (await isCancelled())) throw cancelledError();
    // The plan may be in memory only: an empty mount point would take the part.
    const stored = store.folder && path.join(store.folder, partKey(id, 'plan'));
    if (stored && !(await stat(stored).catch(() => null))) throw notInStore(`the plan ${id}`);
    await store.put(...part);
  };
  try {
    // A verification must read the content: its parts are never taken from the store.
    const its = { get: isVerification ? async () => null : store.get, put };
    const { hashed, bytes } = await storePart(plan, index, its, options);
    return { hashed, bytes: hashed ? bytes : 0 };
  } catch (error) {
    if (!(unwanted.signal.aborted && error instanceof AbortError)) throw error;
    // The torrent may have been queued again in the meantime.
    if (await isCancelled()) throw cancelledError();
    return giveBack(job, token);
  }
}
