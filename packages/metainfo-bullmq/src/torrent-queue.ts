/** The producer side of the queues: torrents in parts, batches, and an engine for verification. */
import { createHash, randomBytes } from 'node:crypto';
import type { Job, JobsOptions } from 'bullmq';
import {
  type Engine,
  MetainfoError,
  type PartStore,
  type PartsEngineOptions,
  parsePlan,
  partsEngine,
  type TorrentPlan,
} from 'metainfo';
import { array, boolean, integer, is, max, min, nonempty, object, size, string } from 'superstruct';
import { type Backend, backendOf, type QueueOptions } from './backend.ts';
import type { BatchItems, BatchOperation } from './batch-job.ts';
import { addBatch, checkBatch, foundBatch, MAX_PER_JOB } from './batches.ts';
import { type Checks, checkOptions, option, SIGNAL, unchecked } from './check-options.ts';
import { EngineRun, type HashRequest, startJob } from './engine-run.ts';
import { refused, shown } from './failures.ts';
import { JobWaits, type OnNoWorker } from './job-waits.ts';
import { cancelledRuns, type JoinData, joinData, partJob } from './jobs.ts';
import type { AddBatchOptions, AddOptions, AddTorrentOptions, QueuedBatch, QueuedTorrent } from './queued.ts';
import { forgetTorrent, type Producer, queuedTorrent } from './queued-torrent.ts';
import { type QueueCounts, RootQueues } from './root-queues.ts';
import { requireContent, requiredRoot, requireOutput } from './roots.ts';
import { QueueServer } from './server.ts';
import {
  CANCELLED,
  joinJobId,
  KEEP,
  KEEP_RESULTS,
  MAX_CHILDREN,
  MAX_PRIORITY,
  priorityOf,
  queueName,
  RETRIES,
} from './settings.ts';
import { requestOf, requireStore, sealRequest } from './stored.ts';
import { withDeadline } from './with-deadline.ts';

/** The options of {@link TorrentQueue}. */
export interface TorrentQueueOptions extends QueueOptions {
  /** Where plans and parts are: the same store for all workers and queues. */
  store: PartStore;
}

const upTo = (most: number) => option(max(min(integer(), 1), most), `a whole number from 1 to ${most}`);
const NAME = option(size(string(), 1, 200), 'a text of 1 to 200 characters');
const PLACE = option(nonempty(string()), 'a path beneath a root');
const QUEUE = unchecked('connection', 'backend', 'prefix', 'telemetry', 'store');
const ADDED: Checks = {
  priority: upTo(MAX_PRIORITY),
  label: NAME,
  job: option(object(), 'an object'),
  ...SIGNAL,
};
const PASSED: Checks = unchecked(
  ...['parent', 'failParentOnFailure', 'continueParentOnFailure', 'ignoreDependencyOnFailure'],
  ...['removeDependencyOnFailure', 'delay', 'removeOnComplete', 'removeOnFail'],
);
const COUNTS: Checks = { maxAge: option(min(integer(), 0), 'milliseconds'), ...SIGNAL };
const ADD_TORRENT: Checks = { root: PLACE, output: PLACE, force: option(boolean(), 'true or false'), ...ADDED };
const ADD_BATCH: Checks = { perJob: upTo(MAX_PER_JOB), id: NAME, ...ADDED };

/** Milliseconds for which connections may take to close. */
const CLOSE_MS = 2000;

/** The most bytes of content of a small torrent, and characters of its plan. Larger ones have parts, which outlast their workers. */
const MAX_WHOLE = { bytes: 2 ** 26, plan: 2 ** 16 };

function jobOptions({ priority, job = {} }: AddOptions, keep: JobsOptions = {}): JobsOptions {
  return { ...RETRIES, ...KEEP, ...keep, ...checkOptions(job, PASSED), priority: priorityOf(priority) };
}

/** Milliseconds until an engine tells again that a root has no worker: each of its parts notices it. */
const TOLD_MS = 10_000;

/**
 * Queues torrents for workers ({@link createWorkers}): large ones in parts, small ones in batches.
 *
 * @example
 * ```ts
 * import path from 'node:path';
 * import { folderStore, planParts, TorrentCreate } from 'metainfo';
 * import { createWorkers, TorrentQueue } from 'metainfo-bullmq';
 *
 * const shared = { connection: process.env['QUEUE_URL'] ?? 'redis://127.0.0.1', store: folderStore('store') };
 * // In practice, workers run on other machines that mount the same folders.
 * const workers = createWorkers({ ...shared, roots: { media: path.resolve('.') } });
 *
 * const queue = new TorrentQueue(shared);
 * const draft = new TorrentCreate({ pathRoot: path.resolve('album') });
 * const plan = await planParts(draft, { root: 'media/album', partSize: 2 ** 30 });
 * const queued = await queue.addTorrent(plan, { output: 'media/queued.torrent' });
 * console.log((await queued.done()).output);
 *
 * const batch = await queue.addBatch('validate', [{ torrent: 'media/queued.torrent' }]);
 * for await (const { item, ok } of batch.results()) console.log(item, ok);
 * await queue.close();
 * await workers.close();
 * ```
 *
 * ```text
 * media/queued.torrent
 * 0 true
 * ```
 */
export class TorrentQueue {
  readonly #flows: InstanceType<Backend['classes']['FlowProducer']>;
  readonly #producer: Producer;
  /** Parts of engines that run, or that are being removed. */
  readonly #running = new Set<Promise<unknown>>();

  /** @throws {MetainfoError} `ERR_INVALID_ARGUMENT` */
  constructor(options: TorrentQueueOptions) {
    checkOptions(options, QUEUE);
    const server = new QueueServer();
    const backend = backendOf(options, { closing: server.closing });
    const store = requireStore(options.store);
    this.#flows = new backend.classes.FlowProducer(backend.options);
    this.#flows.on('error', server.onError);
    const queues = new RootQueues(backend, server.onError);
    this.#producer = { store, server, queues, waits: new JobWaits(server, queues) };
  }

  /**
   * Queues the parts of a plan and, as their parent, the job that joins them. A torrent of one part and at most 64 MiB is one job. A torrent that is in the queue already is not queued
   * again; parts that the store has are not hashed again.
   *
   * @param given A plan of `planParts`. Its `root`, or that of the options, is the content on the workers: `NAME`, or `NAME/path` beneath
   *   one of their roots.
   * @throws {MetainfoError} `ERR_INVALID_ARGUMENT`, also if the same torrent is in the queue with another output; `ERR_PATH_OUTSIDE`
   *   for a path with `..`; `ERR_PLAN`; `ERR_QUEUE` if the server does not answer
   */
  async addTorrent(given: TorrentPlan, options: AddTorrentOptions): Promise<QueuedTorrent> {
    const { output, force = false, signal, label = output } = checkOptions(options, ADD_TORRENT);
    const added = jobOptions(options);
    const plan = (await parsePlan(given, { root: options.root })) as TorrentPlan;
    if (!plan.torrent) throw new MetainfoError('ERR_PLAN', 'The plan of an engine has no torrent.');
    const { id, parts } = plan;
    const [root, outputRoot] = [requireContent(plan.root), requireOutput(output)];
    const { server, store, queues, waits } = this.#producer;
    const joins = queues.get('join', root);
    const known = { plan, root, outputRoot };
    const torrent = (job: Job, attached: boolean) => queuedTorrent({ ...known, job, attached }, this.#producer);
    const find = () => server.answer(joins.getJob(joinJobId(id)), signal);
    const text = JSON.stringify(plan);
    // A small torrent is one job, which has the plan.
    const isWhole = parts === 1 && plan.totalSize <= MAX_WHOLE.bytes && text.length <= MAX_WHOLE.plan;
    const sealing = sealRequest(id, { output, force, ...(isWhole && { plan: text }) }, store);
    const request = createHash('sha256').update(JSON.stringify({ output, force })).digest('hex');
    const run = randomBytes(8).toString('hex');
    sealing.catch(() => {});
    const { priority = 0, job: { delay = 0 } = {} } = options;
    const next = isWhole ? 0 : Math.min(parts, MAX_CHILDREN);
    const children = Array.from({ length: next }, (_, index) => {
      return { queueName: queueName('part', root), ...partJob(id, index, { priority, delay }) };
    });
    const opts = { ...added, jobId: joinJobId(id), ...(!isWhole && { delay: 0 }) };
    // BullMQ keeps the first job of an id: a small torrent is added at once, and the answer tells whose job it is.
    for (let found = isWhole ? undefined : await find(); ; ) {
      // A cancelled one ends by itself, or waits for parts that still run: nobody needs it.
      if (found && found.progress !== CANCELLED && !(await waits.endOf(found, signal))) {
        const queued = await requestOf(joinData(found.data), store);
        if (queued.output === output) return torrent(found, true);
        throw refused(`This torrent is in the queue already, with the output ${queued.output}`);
      }
      const sealed = await server.wait(sealing, signal);
      if (!isWhole) await server.wait(store.put(id, 'plan', Buffer.from(text)), signal);
      if (found) await forgetTorrent({ ...known, job: found }, this.#producer, signal);
      const cancelled = cancelledRuns(found?.data, found?.progress === CANCELLED);
      const join: JoinData = { plan: id, request, sealed, next, run, ...(cancelled.length > 0 && { cancelled }) };
      const flow = { name: 'join', queueName: joins.name, data: { ...join, label }, opts, children };
      const adding = isWhole ? joins.add(flow.name, flow.data, opts) : this.#flows.add(flow).then(({ job }) => job);
      const job = await server.answer(adding, signal, next);
      const kept: Job = (await find()) ?? job;
      if (Object(kept.data).run === run) return torrent(kept, false);
      found = kept;
    }
  }

  /**
   * Queues a batch: many small torrents to create, verify or validate.
   *
   * @param operation The operation for every item.
   * @param items What to do: their fields are those of {@link BatchItems}.
   * @param options How to divide and to name them.
   * @throws {MetainfoError} `ERR_INVALID_ARGUMENT`, also for other items than those of a batch with the same id; `ERR_QUEUE` if the
   *   server does not answer
   */
  async addBatch<Operation extends BatchOperation>(
    operation: Operation,
    items: Iterable<BatchItems[Operation]> | AsyncIterable<BatchItems[Operation]>,
    options: AddBatchOptions = {},
  ): Promise<QueuedBatch> {
    checkBatch(operation, items);
    const { perJob = 500, id, label, signal } = checkOptions(options, ADD_BATCH);
    const opts = jobOptions(options, KEEP_RESULTS);
    return addBatch({ operation, items, perJob, id, label, signal, opts }, this.#producer);
  }

  /**
   * A batch that this or another process has queued, until its results were read.
   *
   * @param id The `id` of the options, or of the batch.
   * @param options How to ask.
   * @param options.signal Cancels the question.
   * @throws {MetainfoError} `ERR_QUEUE` if there is none
   */
  async batch(id: string, options: { signal?: AbortSignal | undefined } = {}): Promise<QueuedBatch> {
    if (typeof id !== 'string') throw refused(`the id of a batch must be a text, not ${shown(id)}`);
    return foundBatch(id, this.#producer, checkOptions(options, SIGNAL).signal);
  }

  /**
   * Counts jobs and connected workers, for whoever waits for them.
   *
   * @param roots Names of roots.
   * @param options How to ask.
   * @param options.signal Cancels the question.
   * @param options.maxAge Milliseconds: an answer that another process got within this time will do, on Redis. By default 0.
   * @throws {MetainfoError} `ERR_QUEUE` if the server does not answer
   */
  async counts(
    roots: readonly string[],
    options: { signal?: AbortSignal | undefined; maxAge?: number | undefined } = {},
  ): Promise<QueueCounts> {
    const { signal, maxAge } = checkOptions(options, COUNTS);
    if (!is(roots, array(string())) || !roots.every((root) => requiredRoot(root) === root))
      throw refused(`roots must be the names of roots, such as ['media'], not ${shown(roots)}`);
    const { server, queues } = this.#producer;
    return server.answer(queues.counts(roots, maxAge), signal);
  }

  /**
   * An engine whose parts the workers hash: for `generate`, `verify`, `update` and `upgrade`. Nothing is taken from the store, except
   * the parts of the same job with `attach` that was interrupted.
   *
   * @throws {MetainfoError} `ERR_INVALID_ARGUMENT` for a `remoteRoot` that no root can have
   */
  engine({ onNoWorker: given, attach = false, ...options }: QueueEngineOptions): QueueEngine {
    const root = requiredRoot(options.remoteRoot);
    let told = Number.NEGATIVE_INFINITY;
    const onNoWorker =
      given &&
      ((root: string) => {
        if (performance.now() - told < TOLD_MS) return null;
        told = performance.now();
        return given(root);
      });
    const track = <T>(work: Promise<T>) => {
      const running = work.finally(() => this.#running.delete(running));
      this.#running.add(running);
      return running;
    };
    const runs = new Set<EngineRun>();
    const engineOf = (run: EngineRun, nonce?: () => Promise<string>) =>
      partsEngine({ ...options, run: run.part, ...(attach && { nonce }) });
    const newRun = () => new EngineRun(this.#producer, { root, attach, onNoWorker, track });
    const engine = engineOf(newRun());
    const queueEngine = {
      name: engine.name,
      get kernel() {
        return engine.kernel;
      },
      start: (request: HashRequest) => {
        const run = newRun();
        const nonce = () => run.nonce(request, [options.partSize, options.remoteRoot]);
        if (attach) runs.add(run);
        return run.watched(startJob(engineOf(run, nonce), request), () => runs.delete(run));
      },
      discard: async () => {
        for (const run of runs) await run.forget();
      },
    };
    return queueEngine as QueueEngine;
  }

  /** Closes the connections. Queued work goes on; everything that waits for it ends with `ERR_QUEUE`. */
  async close(): Promise<void> {
    const { server, queues } = this.#producer;
    server.close();
    // Parts of a cancelled job are being removed.
    await withDeadline(CLOSE_MS, Promise.allSettled(this.#running));
    await queues.close(CLOSE_MS, [this.#flows]);
  }

  /** The same as {@link TorrentQueue.close}, for `await using`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

/** The options of {@link TorrentQueue.engine}. */
export interface QueueEngineOptions extends Pick<PartsEngineOptions, 'partSize' | 'concurrency'> {
  /** The folder on this machine that all files are below. */
  root: string;
  /** The name of that folder on the workers: `NAME`, or `NAME/path`. */
  remoteRoot: string;
  /** Called after ten seconds without a worker of the root. If it throws, the job ends with that error. */
  onNoWorker?: OnNoWorker | undefined;
  /**
   * Leaves the parts of a cancelled job in the queue, and takes those of the same job that was cancelled or killed within 24 hours, if
   * neither the size, the times nor the inode of any file has changed. A job that has ended is always done anew.
   *
   * @default false
   */
  attach?: boolean | undefined;
}

/** An engine of a queue. */
export interface QueueEngine extends Engine {
  /** Removes what cancelled jobs with `attach` have left in the queue and in the store. */
  discard(): Promise<void>;
}
