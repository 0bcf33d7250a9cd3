/** Workers of the queues: they hash parts, join them, and process batches. */
import { once } from 'node:events';
import { type Job, WaitingChildrenError, WaitingError, type Worker } from 'bullmq';
import { func, integer, is, max, min, nullable, optional, type Struct } from 'superstruct';
import { AbortError, type OpenObject, type PartStore, type ResourceOptions } from '../index.ts';
import { backendOf, type QueueOptions } from './backend.ts';
import { runBatchJob } from './batch-job.ts';
import { jobError, publicError, refused, shown, textOf, UnknownRootError } from './failures.ts';
import { giveBack, indexedData, mayPassOn, passOn, type WorkerContext } from './jobs.ts';
import { runJoin } from './join-job.ts';
import { runPart } from './part-job.ts';
import { Plans } from './plans.ts';
import { checkedRoots, type Roots, requireFolders, withoutFolders } from './roots.ts';
import { BATCHES, JOINS, PARTS, RECOVERY } from './settings.ts';
import { requireStore } from './stored.ts';
import { withDeadline } from './with-deadline.ts';

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
  /** Called when an attempt of a job has ended: `error` is null if it succeeded. A failure that may pass is tried again. */
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
  /**
   * Resolves when the roots are found to be folders, and the workers are connected.
   *
   * @throws {MetainfoError} `ERR_NOT_FOUND`, `ERR_UNREADABLE` or `ERR_INVALID_ARGUMENT` for a root; `ERR_QUEUE`
   */
  ready(): Promise<void>;
  /**
   * Takes no more jobs, and ends. Jobs that do not end within the grace time go back to the queue at once, for other workers. A second
   * call with a shorter grace time ends the first one earlier.
   *
   * @param options How to end.
   * @param options.grace Milliseconds, by default 0.
   */
  close(options?: { grace?: number | undefined }): Promise<void>;
}

/** The options of workers that nothing else checks before a job runs. */
const OPTIONS = {
  threads: [nullable(min(max(integer(), 1024), 1)), '1 to 1024 or null'],
  memoryLimit: [nullable(min(integer(), 2 ** 14)), 'at least 16384 bytes'],
  concurrency: [min(integer(), 1), 'a whole number of at least 1'],
  open: [func(), 'a function'],
  onError: [func(), 'a function'],
  onJob: [func(), 'a function'],
} as const;

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
  const roots = checkedRoots(options.roots);
  const plans = new Plans(requireStore(options.store));
  const { concurrency = 1, onJob = () => {} } = options;
  // A wrong option would fail every job, for good.
  for (const [name, [struct, what]] of Object.entries(OPTIONS)) {
    const value: unknown = options[name as keyof typeof OPTIONS];
    if (!is(value, optional(struct as Struct<unknown>))) throw refused(`${name} must be ${what}, not ${shown(value)}`);
  }
  const onError = (error: Error) => options.onError?.(publicError(error));
  const { Queue } = backend.classes;
  const queues = { parts: new Queue(PARTS, backend.options), joins: new Queue(JOINS, backend.options) };
  for (const queue of Object.values(queues)) queue.on('error', onError);
  const context: WorkerContext = { ...options, roots, plans, closing, queues };
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
  const joins = start(JOINS, 'join', (job, token, signal) => runJoin(job, { token, signal, context }), 1);
  // The failure of a child comes to its parent: then nobody waits for the others.
  joins.on('failed', (job) => {
    // An attempt that is repeated needs them.
    if (job?.finishedOn) job.removeUnprocessedChildren().catch(onError);
  });
  const workers = [
    start(PARTS, 'part', (job, token, signal) => runPart(job, { token, signal, context }), concurrency),
    joins,
    start(BATCHES, 'batch', (job, _, signal) => runBatch(job, signal, context), concurrency),
  ];
  return {
    ready: async () => {
      await requireFolders(roots);
      await Promise.all(workers.map((worker) => worker.waitUntilReady())).catch((error: unknown) => {
        throw publicError(error);
      });
    },
    close: async ({ grace = 0 } = {}) => {
      await closeWorkers(workers, context.closing, grace);
      const open = Object.values(queues);
      await withDeadline(FORCE_AFTER_MS, Promise.all(open.map((queue) => queue.close())), () =>
        Promise.all(open.map((queue) => queue.disconnect())),
      );
    },
  };
}

type RunJob = (job: Job, token: string, signal: AbortSignal) => Promise<object | null>;

function placeOf({ data }: Job): { plan: string; index: number | null } {
  return { plan: String(data?.plan), index: typeof data?.index === 'number' ? data.index : null };
}

/** The processor of a queue: gives jobs back when the worker closes, and translates errors. */
function processor(run: RunJob, { closing, roots, store }: WorkerContext) {
  const folders = { ...(store.folder && { store: store.folder }), ...roots };
  // BullMQ passes a signal only to functions of three parameters.
  return async (job: Job, token: string | undefined, cancel: AbortSignal | undefined): Promise<object | null> => {
    const signals = [closing.signal, cancel].filter((signal) => signal !== undefined);
    try {
      return await run(job, token as string, AbortSignal.any(signals));
    } catch (error) {
      if (error instanceof WaitingChildrenError || error instanceof WaitingError) throw error;
      if (closing.signal.aborted && error instanceof AbortError) await giveBack(job, token);
      if (error instanceof UnknownRootError && mayPassOn(job)) await passOn(job, token);
      throw jobError(error, await withoutFolders(textOf(error), folders));
    }
  };
}

function runBatch(job: Job, signal: AbortSignal, context: WorkerContext): Promise<object> {
  const isLastAttempt = job.attemptsMade + 1 >= (job.opts.attempts ?? 1);
  return runBatchJob(indexedData(job.data), { ...context, signal, isLastAttempt, needsRoots: mayPassOn(job) });
}

async function closeWorkers(workers: readonly Worker[], closing: AbortController, grace: number): Promise<void> {
  await withDeadline(PAUSE_MS, Promise.all(workers.map((worker) => worker.pause(true))), () => {});
  const ended = Promise.all(workers.map((worker) => worker.close()));
  ended.catch(() => {});
  if (grace > 0 && !closing.signal.aborted)
    await withDeadline(grace, Promise.race([ended, once(closing.signal, 'abort')]), () => {});
  closing.abort(CLOSING);
  await withDeadline(FORCE_AFTER_MS, ended, () => Promise.all(workers.map((worker) => worker.disconnect())));
}

/** Milliseconds for which closing waits until no more jobs are taken. */
const PAUSE_MS = 2000;
/** Milliseconds for which closing waits for the server. */
const FORCE_AFTER_MS = 5000;
