/** Joins the parts of a plan, and writes the torrent. */
import { type Job, WaitingChildrenError } from 'bullmq';
import { joinParts } from 'metainfo';
import { cancelledError } from './failures.ts';
import { forEachIndex, type JobContext, joinData, partJob } from './jobs.ts';
import { contentAt, outputAt } from './roots.ts';
import { CANCELLED, MAX_CHILDREN, partJobId } from './settings.ts';
import { requestOf } from './stored.ts';
import { writeOnce } from './write-once.ts';

/** Adds the parts that have no job yet, or joins all parts. */
export async function runJoin(job: Job, { token, signal, context }: JobContext): Promise<object> {
  const { store, roots, plans, open, queues } = context;
  const data = joinData(job.data);
  const requireWanted = async () => {
    const { progress } = Object(await queues.joins.getJob(job.id as string)) as Partial<Job>;
    if (progress === CANCELLED) throw cancelledError();
  };
  if (job.progress === CANCELLED) throw cancelledError();
  const plan = await plans.get(data.plan);
  if (data.next < plan.parts) {
    const end = Math.min(plan.parts, data.next + MAX_CHILDREN);
    const parent = { id: job.id as string, queue: job.queueQualifiedName };
    const indexes = Array.from({ length: end - data.next }, (_, i) => data.next + i);
    const priority = job.opts.priority ? { priority: job.opts.priority } : {};
    await queues.parts.addBulk(indexes.map((index) => partJob(plan.id, index, { parent, ...priority })));
    await job.updateData({ ...data, next: end });
    // An earlier cancel() did not see these parts.
    await requireWanted();
    if (await job.moveToWaitingChildren(token)) throw new WaitingChildrenError();
    return runJoin(job, { token, signal, context });
  }
  // A worker may have died after it added the last parts.
  if (await job.moveToWaitingChildren(token)) throw new WaitingChildrenError();
  const request = await requestOf(data, store);
  const { path: root, beneath } = await contentAt(roots, plan.root);
  const output = await outputAt(roots, request.output);
  let asked = performance.now();
  const get = async (index: number, most: number) => {
    if (performance.now() - asked > CHECK_MS) {
      await requireWanted();
      asked = performance.now();
    }
    return store.get(plan.id, index, most);
  };
  const torrent = await joinParts(plan, get, { root, beneath, outputPath: output.path, open, signal });
  await requireWanted();
  await writeOnce(torrent, output.path, { force: request.force, beneath: output.beneath });
  // They were kept until now. One that stays costs a kilobyte.
  await forEachIndex(plan.parts, (index) => queues.parts.remove(partJobId(plan.id, index)).then(nothing, nothing));
  const { torrentVersion, infohashV1, infohashV2, nFiles, totalSize } = torrent;
  return { output: request.output, version: torrentVersion, infohashV1, infohashV2, files: nFiles, totalSize };
}

const nothing = () => {};

/** Milliseconds between two looks at whether a join that reads parts is cancelled. */
const CHECK_MS = 1000;
