/** Joins the parts of a plan, and writes the torrent. A small torrent is hashed here, too. */
import { type Job, WaitingChildrenError } from 'bullmq';
import { hashPart, isPermanent, joinParts, MetainfoError, PartError, type Torrent } from 'metainfo';
import { cancelledError, notInStore, UnseenOutputError } from './failures.ts';
import { forEachIndex, type JobContext, joinData, partJob } from './jobs.ts';
import { touching } from './passing.ts';
import { contentAt, outputAt, requireMounted } from './roots.ts';
import { CANCELLED, MAX_CHILDREN, partJobId, priorityOf } from './settings.ts';
import { requestOf } from './stored.ts';
import { writeOnce } from './write-once.ts';

/** Adds the parts that have no job yet, or joins all parts. */
export async function runJoin(job: Job, how: JobContext): Promise<object> {
  const { token, signal, touch, context } = how;
  const { store, roots, plans, threads, memoryLimit, open, queues } = context;
  const data = joinData(job.data);
  const requireWanted = async () => {
    const { progress } = Object(await queues.joins.getJob(job.id as string)) as Partial<Job>;
    if (progress === CANCELLED) throw cancelledError();
  };
  if (job.progress === CANCELLED) throw cancelledError();
  const request = await requestOf(data, store);
  const plan = await (request.plan ? plans.parsed(data.plan, Buffer.from(request.plan)) : plans.get(data.plan));
  const isWhole = request.plan !== undefined;
  /** Has parts hashed, and joins all parts after that. */
  const joinAfter = async (indexes: readonly number[], facts: object) => {
    const parent = { id: job.id as string, queue: job.queueQualifiedName };
    const priority = (job.opts.priority ?? 0) / priorityOf(1);
    await queues.parts.addBulk(indexes.map((index) => partJob(plan.id, index, { parent, priority })));
    await job.updateData({ ...job.data, ...facts });
    // An earlier cancel() did not see these parts.
    await requireWanted();
    if (await job.moveToWaitingChildren(token)) throw new WaitingChildrenError();
    return runJoin(job, how);
  };
  if (data.next < plan.parts && !isWhole) {
    const end = Math.min(plan.parts, data.next + MAX_CHILDREN);
    const indexes = Array.from({ length: end - data.next }, (_, i) => data.next + i);
    return joinAfter(indexes, { next: end });
  }
  // A worker may have died after it added the last parts.
  if (!isWhole && (await job.moveToWaitingChildren(token))) throw new WaitingChildrenError();
  const { path: root, beneath } = await contentAt(roots, plan.root);
  const requireOutputRoot = () => requireMounted(context, [request.output], { mayBeEmpty: true });
  await requireOutputRoot();
  const output = await outputAt(roots, request.output).catch((error: unknown) => {
    const isUnseen = error instanceof MetainfoError && isPermanent(error) && error.code !== 'ERR_INVALID_ARGUMENT';
    throw isUnseen ? new UnseenOutputError(error.code, error.message, { cause: error }) : error;
  });
  let asked = performance.now();
  const get = async (index: number, most: number) => {
    touch();
    if (performance.now() - asked > CHECK_MS) {
      await requireWanted();
      asked = performance.now();
    }
    return store.get(plan.id, index, most);
  };
  const place = { root, beneath, open, signal };
  const hashed = () => hashPart(plan, 0, { ...place, threads, memoryLimit, onProgress: touching(touch) });
  let torrent: Torrent;
  try {
    torrent = await joinParts(plan, isWhole ? hashed : get, {
      ...place,
      outputPath: output.path,
      // The part was compared with its files when it was hashed.
      recheck: !isWhole,
    });
  } catch (error) {
    const { again = 0 } = job.data as { again?: number };
    if (!(error instanceof PartError) || error.code !== 'ERR_PART_MISSING' || again >= MAX_AGAIN) throw error;
    if (!(await store.get(plan.id, 'plan'))) throw notInStore(`the plan ${plan.id}`);
    // Another worker has put them into another store.
    const lost = error.indexes.slice(0, MAX_CHILDREN);
    for (const index of lost) await queues.parts.remove(partJobId(plan.id, index));
    return joinAfter(lost, { again: again + 1 });
  }
  // A short job is not asked: cancel() waits until it has ended.
  if (performance.now() - asked > CHECK_MS || !isWhole) await requireWanted();
  await requireOutputRoot();
  await writeOnce(torrent, output.path, { force: request.force, beneath: output.beneath });
  // They were kept until now. One that stays costs a kilobyte.
  if (!isWhole)
    await forEachIndex(plan.parts, (index) => queues.parts.remove(partJobId(plan.id, index)).then(nothing, nothing));
  const { torrentVersion, infohashV1, infohashV2, nFiles, totalSize } = torrent;
  const facts = { version: torrentVersion, infohashV1, infohashV2, files: nFiles, totalSize };
  return { output: request.output, ...facts, bytes: isWhole ? totalSize : 0 };
}

const nothing = () => {};

/** How often lost parts of a torrent are hashed again. */
const MAX_AGAIN = 3;

/** Milliseconds between two looks at whether a join that reads parts is cancelled. */
const CHECK_MS = 1000;
