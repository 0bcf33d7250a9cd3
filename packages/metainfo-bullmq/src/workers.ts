/** Workers of the queues: they hash parts, join them, and process batches. */
import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import {
  type Job,
  type RateLimiterOptions,
  UnrecoverableError,
  WaitingChildrenError,
  WaitingError,
  type Worker,
} from 'bullmq';
import { AbortError, MetainfoError, type OpenObject, type PartStore, type ResourceOptions } from 'metainfo';
import { integer, max, min, nullable, number, object, string } from 'superstruct';
import { backendOf, type QueueOptions } from './backend.ts';
import { runBatch } from './batch-job.ts';
import { CALLBACK, type Checks, checkOptions, option, unchecked } from './check-options.ts';
import {
  errorOf,
  failedPart,
  jobError,
  OtherWorkerError,
  publicError,
  textOf,
  UnseenError,
  UnseenOutputError,
} from './failures.ts';
import { giveBack, type IndexedData, isLastAttempt, type JobContext, passOn, type WorkerContext } from './jobs.ts';
import { runJoin } from './join-job.ts';
import { runPart } from './part-job.ts';
import { endsJob, judged, passedData, RestingError, RootWorkers, StallWatch, type WorkerState } from './passing.ts';
import { Plans } from './plans.ts';
import { RootQueues } from './root-queues.ts';
import { checkedRoots, requiredFiles, requireFolders, requireMounted, withoutFolders } from './roots.ts';
import { clockGuard, requireSameClock } from './server-clock.ts';
import { CANCELLED, type JobKind, queueName, RECOVERY } from './settings.ts';
import { requireStore } from './stored.ts';
import { untilAbort, withDeadline } from './with-deadline.ts';
import { storeOfWorker } from './worker-store.ts';

/** The options of {@link createWorkers}. */
export interface WorkersOptions extends QueueOptions, Pick<ResourceOptions, 'threads' | 'memoryLimit'> {
  /** Where plans and parts are: the same store for all workers and queues. */
  store: PartStore;
  /**
   * Folders by name. Jobs name their content and outputs beneath them, as `NAME/path`; nothing else is read or written. A worker that
   * only verifies and hashes needs no permission to write there.
   */
  roots: Readonly<Record<string, string | URL>>;
  /** Opens the objects of plans: files that were planned as range readers. */
  open?: OpenObject | undefined;
  /**
   * Jobs that this process runs at once, of each kind and root. One large part already uses all `threads`; jobs of several roots share
   * them.
   *
   * @default 1
   */
  concurrency?: number | undefined;
  /**
   * A file that a root must have before a worker takes its jobs: it tells that the root is mounted. `NAME/path` for one root, or the name of
   * a file that all roots have, such as `.mounted`.
   *
   * @default none
   */
  requiredFile?: string | undefined;
  /**
   * Milliseconds without progress after which a job goes to another worker: a disk or the store may never answer.
   *
   * @default 600000
   */
  stall?: number | undefined;
  /**
   * BullMQ's limit of each queue: at most `max` jobs in `duration` milliseconds, by all workers together.
   *
   * @default none
   */
  limiter?: RateLimiterOptions | undefined;
  /**
  /**
   * Called for errors that concern this worker, such as a lost connection, a clock that is wrong, or a store that refuses access. BullMQ
   * connects again by itself.
   *
   * @default ignored
   */
  onError?: ((error: Error) => void) | undefined;
  /**
   * Called when an attempt of a job has ended: `error` is null if it succeeded. A failure that may pass is tried again. A join whose part
   * has failed never starts, so only the part is reported.
   */
  onJob?: ((job: EndedJob) => void) | undefined;
  /**
   * Called when this worker rests because something is wrong with its machine, such as a root that is not mounted, and when a job has ended
   * well after that. Its jobs go to other workers meanwhile.
   */
  onWorker?: ((state: WorkerState) => void) | undefined;
}

/** A job that a worker has run. */
export interface EndedJob {
  /** The kind of the job. */
  kind: JobKind;
  /** The root whose queue had the job. */
  root: string;
  /** The id of the plan or batch. */
  plan: string;
  /** The index of the part or of the job of the batch; null for a join. */
  index: number | null;
  /** The code and message of its failure; null if it succeeded. */
  error: string | null;
  /** Seconds that this attempt took. */
  seconds: number;
  /** Bytes of content that this attempt hashed: 0 if the store had the part, if it failed, and for a join. Null for a batch. */
  bytes: number | null;
  /** The number of the attempt, from 1. */
  attempt: number;
}

/** Running workers. */
export interface Workers {
  /**
   * Resolves when the roots are found to be folders, and the workers are connected and take jobs.
   *
   * @throws {MetainfoError} `ERR_NOT_FOUND`, `ERR_UNREADABLE` or `ERR_INVALID_ARGUMENT` for a root; `ERR_QUEUE`, also if the clock of
   *   this machine differs from that of the server by more than five seconds: then no job is taken
   */
  ready(): Promise<void>;
  /** Jobs that run now. */
  readonly running: number;
  /** The workers of BullMQ: one for each kind of job and root. Their `name` is that of the queue. */
  readonly workers: readonly Worker[];
  /**
   * Asks the server whether the workers can take jobs.
   *
   * @throws {MetainfoError} `ERR_QUEUE` if the server does not answer within two seconds, if the clocks differ, or if the workers are
   *   closing; a {@link MetainfoError} with the reason while this worker rests
   */
  check(): Promise<void>;
  /**
   * Takes no more jobs, and ends. Jobs that do not end within the grace time go back to the queue at once, for other workers. A second
   * call with a shorter grace time ends the first one earlier.
   *
   * @param options How to end.
   * @param options.grace Milliseconds, by default 0.
   */
  close(options?: { grace?: number | undefined }): Promise<void>;
  /** The same as {@link Workers.close} without a grace time, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** The options of workers that nothing else checks before a job runs. */
const OPTIONS: Checks = {
  ...unchecked('connection', 'backend', 'prefix', 'telemetry', 'store', 'roots'),
  threads: option(nullable(min(max(integer(), 1024), 1)), '1 to 1024 or null'),
  memoryLimit: option(nullable(min(integer(), 2 ** 14)), 'at least 16384 bytes'),
  concurrency: option(min(integer(), 1), 'a whole number of at least 1'),
  requiredFile: option(string(), 'the path of a file'),
  stall: option(min(integer(), 1000), 'at least 1000 milliseconds'),
  limiter: option(object({ max: number(), duration: number() }), '{ max, duration }'),
  open: CALLBACK,
  onError: CALLBACK,
  onJob: CALLBACK,
  onWorker: CALLBACK,
};
const CLOSE: Checks = { grace: option(min(number(), 0), 'milliseconds') };

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
 * import { createWorkers } from 'metainfo-bullmq';
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
  // A wrong option would fail every job, for good.
  checkOptions(options, OPTIONS);
  const roots = checkedRoots(options.roots);
  const backend = backendOf(options, { closing: closing.signal, roots: Object.keys(roots) });
  const { concurrency = 1, limiter, stall = STALL_MS, onJob = () => {}, onWorker = () => {} } = options;
  const store = storeOfWorker(requireStore(options.store), stall);
  const mounts = { roots, required: requiredFiles(roots, options.requiredFile) };
  const onError = (error: unknown) => options.onError?.(publicError(error));
  const queues = new RootQueues(backend, onError);
  const common = { ...options, ...mounts, store, stall, plans: new Plans(store), closing, onError };
  let running = 0;
  // Others count the workers of a root by this name.
  const name = randomBytes(8).toString('hex');
  const workersOf = (root: string): RootWorkers => {
    const all: Worker[] = [];
    const tell = (reason: string | null) => {
      try {
        if (!closing.signal.aborted) onWorker({ root, reason });
      } catch (error) {
        onError(error);
      }
    };
    const its = new RootWorkers(all, {
      // A root may be empty until its first output.
      probe: (isStart) => requireMounted(mounts, [root], { mayBeEmpty: isStart }),
      tell,
      closing: closing.signal,
    });
    const context: WorkerContext = {
      ...common,
      root,
      name,
      workers: its,
      queues: {
        parts: queues.get('part', root),
        joins: queues.get('join', root),
        batches: queues.get('batch', root),
        count: async () => (await queues.workersOf([root]))[0] ?? 0,
      },
    };
    const start = (kind: JobKind, runJob: RunJob, jobs: number) => {
      const seconds = new WeakMap<Job, number>();
      const timed: RunJob = async (job, how) => {
        const started = performance.now();
        running += 1;
        try {
          return await runJob(job, how);
        } finally {
          running -= 1;
          seconds.set(job, (performance.now() - started) / 1000);
        }
      };
      const tell = (job: Job, error: string | null, result?: unknown) => {
        const { plan, index = null } = Object(job.data) as Partial<IndexedData>;
        const bytes = kind === 'batch' ? null : Number(Object(result).bytes ?? 0);
        const about = { kind, root, plan: String(plan), index: typeof index === 'number' ? index : null };
        onJob({ ...about, error, seconds: seconds.get(job) ?? 0, bytes, attempt: job.attemptsMade });
      };
      const settings = {
        ...backend.options,
        ...RECOVERY,
        name,
        concurrency: jobs,
        autorun: false,
        ...(limiter && { limiter }),
      };
      const worker = new backend.classes.Worker(queueName(kind, root), processor(kind, timed, context), settings);
      // BullMQ calls it after a pause, and ignores how it ends.
      const run = worker.run.bind(worker);
      worker.run = () => run().catch(onError);
      worker.on('error', onError);
      worker.on('completed', (job, result) => tell(job, null, result));
      worker.on('failed', (job, error) => {
        // No attempt: the part that failed the join was told. BullMQ's own failures, as of a job whose workers died, have no code.
        if (job && failedPart(error.message) === undefined) tell(job, textOf(errorOf(error.message)));
      });
      return worker;
    };
    for (const [kind, run] of Object.entries({ part: runPart, join: runJoin, batch: runBatch }))
      all.push(start(kind as JobKind, run, concurrency));
    return its;
  };
  const rootsWorkers = Object.keys(roots).map(workersOf);
  const workers = rootsWorkers.flatMap(({ workers }) => workers);
  const asked = queues.get('part', Object.keys(roots)[0] as string);
  const requireClock = () => requireSameClock(backend, asked);
  let [isStarted, isClosing] = [false, false];
  const started = Promise.all(workers.map((worker) => worker.waitUntilReady()))
    .then(requireClock)
    .then(() => backend.announce(asked))
    .then(() => {
      isStarted = true;
      return Promise.all(rootsWorkers.map((its) => its.start()));
    })
    .catch(throwPublic);
  started.catch((error: unknown) => {
    if (!isClosing) onError(error);
  });
  const look = clockGuard(rootsWorkers, requireClock, onError);
  const watch = setInterval(() => {
    if (isStarted) void look().catch(onError);
  }, CLOCK_MS).unref();
  return {
    ready: async () => {
      await requireFolders(roots, mounts.required);
      await started;
    },
    workers,
    get running() {
      return running;
    },
    check: async () => {
      const reason = rootsWorkers.map(({ resting }) => resting).find((one) => one !== null);
      if (reason) throw new RestingError('ERR_QUEUE', `The worker rests: ${reason}`);
      if (isClosing || !isStarted)
        throw new MetainfoError('ERR_QUEUE', `The workers ${isClosing ? 'are closing' : 'take no jobs yet'}.`);
      const silence = () => {
        throw new MetainfoError('ERR_QUEUE', 'The server of the queue does not answer.');
      };
      await withDeadline(ANSWER_MS, requireClock(), silence).catch(throwPublic);
    },
    close,
    [Symbol.asyncDispose]: () => close(),
  };

  async function close(options: { grace?: number | undefined } = {}): Promise<void> {
    const { grace = 0 } = checkOptions(options, CLOSE);
    isClosing = true;
    clearInterval(watch);
    await closeWorkers(workers, closing, { grace, isIdle: () => running === 0 });
    await withDeadline(PAUSE_MS, backend.announce(asked, true)).catch(() => {});
    await queues.close(FORCE_AFTER_MS);
  }
}

function throwPublic(error: unknown): never {
  throw publicError(error);
}

type RunJob = (job: Job, how: JobContext) => Promise<object>;

/** The processor of a queue: gives jobs back when the worker closes, passes on what other workers can run, and translates errors. */
function processor(kind: JobKind, run: RunJob, context: WorkerContext) {
  const { closing, roots, root, required, store, stall, name, workers, queues, onError } = context;
  const folders = { ...(store.folder && { store: store.folder }), ...roots };
  // BullMQ passes a signal only to functions of three parameters.
  return async (job: Job, token: string | undefined, cancel: AbortSignal | undefined): Promise<object> => {
    const watch = new StallWatch(stall);
    const signal = AbortSignal.any([closing.signal, watch.signal, ...(cancel ? [cancel] : [])]);
    let count: Promise<number> | undefined;
    const counted = () => {
      count ??= queues.count();
      return count;
    };
    const isFinal = (error: OtherWorkerError) =>
      endsJob(job, error, {
        worker: name,
        // A torrent was planned, and somebody has filled the store.
        isProven: !(error instanceof UnseenOutputError) && (kind !== 'batch' || error.code === 'ERR_QUEUE'),
        workers: counted,
      });
    try {
      const mounted = Object.hasOwn(required, root) ? requireMounted(context, [root]) : Promise.resolve();
      const how = { token: token as string, signal, touch: watch.touch, isFinal, context };
      const result = await untilAbort(
        watch.signal,
        mounted.then(() => run(job, how)),
      );
      workers.succeeded();
      return result;
    } catch (cause) {
      if (cause instanceof WaitingChildrenError || cause instanceof WaitingError) throw cause;
      if (closing.signal.aborted && cause instanceof AbortError) await giveBack(job, token);
      const error = await untilAbort(watch.signal, judged(cause, context, [root])).catch(() => watch.error);
      if (error instanceof OtherWorkerError && !(await isFinal(error))) {
        // Items of strangers may name anything.
        const isOfItem = kind === 'batch' && error instanceof UnseenError && error.code !== 'ERR_QUEUE';
        if (!isOfItem) await workers.failed(error);
        // A verification may have been cancelled meanwhile.
        const now = kind === 'part' ? await queues.parts.getJob(job.id as string) : job;
        await passOn(job, token, passedData(now ?? job, error, name));
      }
      const failure = jobError(error, await withoutFolders(textOf(error), folders));
      if (failure instanceof UnrecoverableError || isLastAttempt(job))
        await removeWaitingParts(job, context).catch(onError);
      throw failure;
    } finally {
      watch.close();
    }
  };
}

/**
 * Removes the parts of a torrent that fails, unless a worker has begun them: nobody waits for them. This happens before the failure is
 * known, because then the torrent may be queued again at once, with parts of the same names.
 */
async function removeWaitingParts(job: Job, { queues }: WorkerContext): Promise<void> {
  const join = job.name === 'part' && job.parent?.id ? await queues.joins.getJob(job.parent.id) : job;
  // cancel() has removed those of a cancelled torrent, which may be queued again already.
  if (job !== join && join?.progress === CANCELLED) return;
  await join?.removeUnprocessedChildren();
}

/** Waits for running jobs until the grace time ends. A worker without a job may never close by itself: its server may be gone. */
async function closeWorkers(
  workers: readonly Worker[],
  closing: AbortController,
  { grace, isIdle }: { grace: number; isIdle: () => boolean },
): Promise<void> {
  await withDeadline(PAUSE_MS, Promise.all(workers.map((worker) => worker.pause(true))));
  const ended = Promise.all(workers.map((worker) => worker.close()));
  ended.catch(() => {});
  const idle = async () => {
    while (!isIdle() && !closing.signal.aborted) await delay(IDLE_MS);
  };
  if (!closing.signal.aborted) await withDeadline(grace, Promise.race([ended, idle()]));
  closing.abort(CLOSING);
  await withDeadline(FORCE_AFTER_MS, ended, () => Promise.all(workers.map((worker) => worker.disconnect())));
}

/** Milliseconds without progress after which a job goes to another worker. */
const STALL_MS = 600_000;
/** Milliseconds between two looks at the clock. */
const CLOCK_MS = 60_000;
/** Milliseconds for which the server may be silent when it is asked whether it is there. */
const ANSWER_MS = 2000;
/** Milliseconds for which closing waits until no more jobs are taken. */
const PAUSE_MS = 2000;
/** Milliseconds between two looks at whether jobs run. */
const IDLE_MS = 20;
/** Milliseconds for which closing waits for the server. */
const FORCE_AFTER_MS = 5000;
