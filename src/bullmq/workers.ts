/** Workers of the queues: they hash parts, join them, and work off batches. */
import { setTimeout as delay } from 'node:timers/promises';
import { type Job, UnrecoverableError, WaitingChildrenError, WaitingError, type Worker } from 'bullmq';
import type { TorrentPlan } from '../create/torrent-plan.ts';
import { AbortError } from '../errors/cancel.ts';
import { MetainfoError, shown } from '../errors/errors.ts';
import type { ResourceOptions } from '../hash/plan.ts';
import type { Progress } from '../jobs/watch.ts';
import { hashPart } from '../parts/hash-part.ts';
import { HASH_PLAN } from '../parts/hash-plan.ts';
import type { OpenObject } from '../parts/identity.ts';
import { joinParts } from '../parts/join-parts.ts';
import { requireOutputNotPlanned } from '../parts/planned-output.ts';
import type { PartStore } from '../parts/store.ts';
import { storePart } from '../parts/stored-part.ts';
import { type Backend, backendOf, type QueueOptions } from './backend.ts';
import { type BatchJob, runBatchJob } from './batch-job.ts';
import { jobError, publicError } from './failures.ts';
import { Plans } from './plans.ts';
import { checkedRoots, contentAt, outputAt, type Roots } from './roots.ts';
import { BATCHES, CHILD, JOINS, MAX_CHILDREN, PARTS, PROGRESS_MS, partJobId, RECOVERY } from './settings.ts';
import { writeOnce } from './write-once.ts';

/** The options of {@link createWorkers}. */
export interface WorkersOptions extends QueueOptions, Pick<ResourceOptions, 'threads' | 'memoryLimit'> {
  /** Where plans and parts are: the same store for all workers and queues. */
  store: PartStore;
  /**
   * Folders by name. Jobs name their content and outputs beneath them, as `NAME/path`; nothing else is read or written. A worker that
   * only verifies and hashes needs no permission to write there.
   */
  roots: Roots;
  /** Opens the objects of plans: files that were planned as range readers. */
  open?: OpenObject | undefined;
  /**
   * Jobs that this process runs at once, of each kind. One large part already uses all `threads`.
   *
   * @default 1
   */
  concurrency?: number | undefined;
  /**
   * Called for errors that concern no single job, such as a lost connection. BullMQ connects again by itself.
   *
   * @default ignored
   */
  onError?: ((error: Error) => void) | undefined;
  /** Called when a job has ended: `error` is null if it succeeded. */
  onJob?: ((job: EndedJob) => void) | undefined;
}

/** A job that a worker has run. */
export interface EndedJob {
  /** The kind of the job. */
  kind: 'part' | 'join' | 'batch';
  /** The id of the plan or batch. */
  plan: string;
  /** The index of the part or of the job of the batch; null for a join. */
  index: number | null;
  /** The code and message of its failure; null if it succeeded. */
  error: string | null;
}

/** Running workers. */
export interface Workers {
  /** Resolves when the workers are connected. */
  ready(): Promise<void>;
  /**
   * Takes no more jobs, and ends. Jobs that do not end within the grace time go back to the queue at once, for other workers.
   *
   * @param options How to end.
   * @param options.grace Milliseconds, by default 0.
   */
  close(options?: { grace?: number | undefined }): Promise<void>;
}

/** Why jobs are given back. */
const CLOSING = 'the worker closes';

/**
 * Starts workers in this process. They run until {@link Workers.close}.
 *
 * @throws {MetainfoError} `ERR_INVALID_ARGUMENT`
 * @example
 * ```ts
 * import path from 'node:path';
 * import { folderStore } from 'metainfo';
 * import { createWorkers } from 'metainfo/bullmq';
 *
 * const workers = createWorkers({
 *   connection: process.env['QUEUE_URL'] ?? 'redis://127.0.0.1',
 *   store: folderStore('store'),
 *   roots: { media: path.resolve('.') },
 *   onJob: ({ kind, plan, index, error }) => console.log(kind, plan, index, error ?? 'done'),
 * });
 * await workers.ready();
 * // Later, for example on SIGTERM: jobs get ten seconds to end.
 * await workers.close({ grace: 10_000 });
 * ```
 */
export function createWorkers(options: WorkersOptions): Workers {
  const closing = new AbortController();
  const backend = backendOf(options, closing.signal);
  const context: WorkerContext = {
    ...options,
    backend,
    roots: checkedRoots(options.roots),
    plans: new Plans(requireStore(options.store)),
    closing,
  };
  const { concurrency = 1, onJob = () => {} } = options;
  const onError = (error: Error) => options.onError?.(publicError(error));
  if (!Number.isSafeInteger(concurrency) || concurrency < 1)
    throw new MetainfoError(
      'ERR_INVALID_ARGUMENT',
      `concurrency must be a whole number of at least 1, not ${shown(concurrency)}.`,
    );
  const queue = new backend.classes.Queue(PARTS, backend.options);
  queue.on('error', onError);
  const start = (name: string, kind: EndedJob['kind'], run: RunJob, jobs: number) => {
    const process = processor(run, context);
    const worker = new backend.classes.Worker(name, process, { ...backend.options, ...RECOVERY, concurrency: jobs });
    worker.on('error', onError);
    worker.on('completed', (job) => onJob({ kind, ...placeOf(job), error: null }));
    worker.on('failed', (job, error) => {
      if (job) onJob({ kind, ...placeOf(job), error: error.message });
    });
    return worker;
  };
  const joins = start(JOINS, 'join', (job, token, signal) => runJoin(job, { token, signal, queue, context }), 1);
  // The failure of a child comes to its parent: then nobody waits for the others.
  joins.on('failed', (job) => void job?.removeUnprocessedChildren().catch(onError));
  const workers = [
    start(PARTS, 'part', (job, _, signal) => runPart(job, signal, context), concurrency),
    joins,
    start(BATCHES, 'batch', (job, _, signal) => runBatchJob(job.data as BatchJob, { ...context, signal }), concurrency),
  ];
  return {
    ready: async () => {
      await Promise.all(workers.map((worker) => worker.waitUntilReady())).catch((error: unknown) => {
        throw publicError(error);
      });
    },
    close: async ({ grace = 0 } = {}) => {
      await closeWorkers(workers, context.closing, grace);
      await within(FORCE_AFTER_MS, queue.close(), () => queue.disconnect());
    },
  };
}

/** The context of all jobs of a worker. */
export interface WorkerContext extends Omit<WorkersOptions, 'backend'> {
  backend: Backend;
  plans: Plans;
  closing: AbortController;
}

type RunJob = (job: Job, token: string, signal: AbortSignal) => Promise<object | null>;

function requireStore(store: PartStore): PartStore {
  if (typeof store?.get === 'function' && typeof store?.put === 'function') return store;
  throw new MetainfoError(
    'ERR_INVALID_ARGUMENT',
    `store must be a part store, such as folderStore('parts'), not ${shown(store)}.`,
  );
}

function placeOf({ data }: Job): { plan: string; index: number | null } {
  return { plan: String(data?.plan), index: typeof data?.index === 'number' ? data.index : null };
}

/** The processor of a queue: gives jobs back when the worker closes, and translates errors. */
function processor(run: RunJob, { closing }: WorkerContext) {
  // BullMQ passes a signal only to functions of three parameters.
  return async (job: Job, token: string | undefined, cancel: AbortSignal | undefined): Promise<object | null> => {
    const signals = [closing.signal, cancel].filter((signal) => signal !== undefined);
    try {
      return await run(job, token as string, AbortSignal.any(signals));
    } catch (error) {
      if (error instanceof WaitingChildrenError) throw error;
      if (closing.signal.aborted && error instanceof AbortError) {
        await job.moveToWait(token);
        throw new WaitingError();
      }
      throw jobError(error);
    }
  };
}

/** The plan and the index of a part job. Nobody trusts the queue. */
function checkedPart(data: unknown): { plan: string; index: number } {
  const { plan, index } = Object(data) as Record<string, unknown>;
  if (isPlanId(plan) && Number.isSafeInteger(index) && (index as number) >= 0) return { plan, index: index as number };
  throw new MetainfoError(
    'ERR_INVALID_ARGUMENT',
    `The data of a part must be { plan, index }, not ${shown(JSON.stringify(data))}.`,
  );
}

/** Whether a value is the id of a plan. */
export function isPlanId(id: unknown): id is string {
  return typeof id === 'string' && /^[0-9a-f]{64}$/.test(id);
}

async function runPart(job: Job, signal: AbortSignal, context: WorkerContext): Promise<object> {
  const { store, roots, plans, threads, memoryLimit, open } = context;
  const { plan: id, index } = checkedPart(job.data);
  const plan = await plans.get(id);
  const root = await contentAt(roots, plan.root);
  const options = { root, threads, memoryLimit, open, signal, onProgress: throttled(job) };
  // A verification must read the content: its parts are never taken from the store.
  if (plan.format !== HASH_PLAN) return storePart(plan, index, store, options);
  await store.put(id, index, await hashPart(plan, index, options));
  return { hashed: true };
}

/** Reports the progress of a job to the queue now and then. */
function throttled(job: Job): (progress: Progress) => void {
  let last = performance.now();
  return ({ bytes, totalBytes }) => {
    if (performance.now() - last < PROGRESS_MS) return;
    last = performance.now();
    job.updateProgress({ bytes, totalBytes }).catch(() => {});
  };
}

/** The data of the job that joins a plan. */
export interface JoinData {
  plan: string;
  /** `NAME/path` of the torrent file. */
  output: string;
  /** Whether to replace a file. */
  force: boolean;
  /** The parts whose jobs have been added. */
  next: number;
  /** True once somebody has cancelled it. */
  cancelled?: boolean;
}

interface JoinContext {
  token: string;
  signal: AbortSignal;
  queue: InstanceType<Backend['classes']['Queue']>;
  context: WorkerContext;
}

async function runJoin(job: Job, { token, signal, queue, context }: JoinContext): Promise<object> {
  const data = job.data as JoinData;
  // ERR_ABORTED by itself is tried again.
  if (data.cancelled) throw new UnrecoverableError('ERR_ABORTED: It was cancelled.');
  if (!isPlanId(data.plan)) throw new MetainfoError('ERR_INVALID_ARGUMENT', 'The data of a join has no plan.');
  const { store, roots, plans, open } = context;
  const plan = await plans.get(data.plan);
  if (plan.format === HASH_PLAN) throw new MetainfoError('ERR_PLAN', 'A hash plan makes no torrent.');
  if (data.next < plan.parts) {
    const end = Math.min(plan.parts, data.next + MAX_CHILDREN);
    const parent = { id: job.id as string, queue: job.queueQualifiedName };
    const indexes = Array.from({ length: end - data.next }, (_, i) => data.next + i);
    await queue.addBulk(indexes.map((index) => partJob(plan.id, index, { parent })));
    await job.updateData({ ...data, next: end });
    if (await job.moveToWaitingChildren(token)) throw new WaitingChildrenError();
    return runJoin(job, { token, signal, queue, context });
  }
  const root = await contentAt(roots, plan.root);
  const output = await outputAt(roots, data.output);
  await requireOutputNotPlanned(output, plan, { root });
  const torrent = await joinParts(plan, (index) => store.get(plan.id, index), { root, open, signal });
  await writeOnce(torrent, output, { force: data.force });
  await removeParts(queue, plan);
  const { torrentVersion, infohashV1, infohashV2, nFiles, totalSize } = torrent;
  return { output: data.output, version: torrentVersion, infohashV1, infohashV2, files: nFiles, totalSize };
}

/** Jobs that are removed at once. */
const REMOVED_AT_ONCE = 100;

/** Removes the jobs of the parts, which were kept until now. One that stays costs a kilobyte. */
async function removeParts(queue: JoinContext['queue'], { id, parts }: TorrentPlan): Promise<void> {
  for (let first = 0; first < parts; first += REMOVED_AT_ONCE) {
    const indexes = Array.from({ length: Math.min(REMOVED_AT_ONCE, parts - first) }, (_, i) => first + i);
    await Promise.allSettled(indexes.map((index) => queue.remove(partJobId(id, index))));
  }
}

/** A job that hashes a part. */
export function partJob(planId: string, index: number, more: object = {}) {
  return { name: 'part', data: { plan: planId, index }, opts: { ...CHILD, jobId: partJobId(planId, index), ...more } };
}

async function closeWorkers(workers: readonly Worker[], closing: AbortController, grace: number): Promise<void> {
  await within(PAUSE_MS, Promise.all(workers.map((worker) => worker.pause(true))), () => {});
  const ended = Promise.all(workers.map((worker) => worker.close()));
  ended.catch(() => {});
  if (grace > 0) await Promise.race([ended, delay(grace)]);
  closing.abort(CLOSING);
  await within(FORCE_AFTER_MS, ended, () => Promise.all(workers.map((worker) => worker.disconnect())));
}

/** Milliseconds for which closing waits until no more jobs are taken. */
const PAUSE_MS = 2000;
/** Milliseconds for which closing waits for the server. */
const FORCE_AFTER_MS = 5000;
/** Milliseconds for which closing waits for connections to end. */
const DISCONNECT_MS = 1000;

/** Waits for a promise, but ends otherwise when it takes too long: a server that is gone answers no more. */
export async function within(ms: number, promise: Promise<unknown>, otherwise: () => unknown): Promise<void> {
  const timer = new AbortController();
  const late = delay(ms, 'late', { signal: timer.signal }).catch(() => {});
  const first = await Promise.race([promise, late]);
  timer.abort();
  if (first === 'late') await Promise.race([otherwise(), delay(DISCONNECT_MS)]);
}
