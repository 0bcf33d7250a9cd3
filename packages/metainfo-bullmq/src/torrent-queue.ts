/** The producer side of the queues: torrents in parts, batches, and an engine for verification. */
import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import type { Job } from 'bullmq';
import {
  type Engine,
  MetainfoError,
  type PartStore,
  type PartsEngineOptions,
  parsePlan,
  partsEngine,
  type TorrentPlan,
} from 'metainfo';
import { array, boolean, integer, is, max, min, nonempty, string } from 'superstruct';
import { type Backend, backendOf, type QueueOptions } from './backend.ts';
import type { BatchItems, BatchOperation } from './batch-job.ts';
import { batchResults, checkBatch, dividedItems, refuseItems } from './batches.ts';
import { type Checks, checkOptions, option, SIGNAL, unchecked } from './check-options.ts';
import { EngineRun, type HashRequest, startJob } from './engine-run.ts';
import { refused, shown } from './failures.ts';
import { JobWaits, type OnNoWorker } from './job-waits.ts';
import { cancelledRuns, isOtherRequest, type JoinData, joinData, partJob } from './jobs.ts';
import type { AddTorrentOptions, QueuedBatch, QueuedTorrent } from './queued.ts';
import { forgetTorrent, type Producer, queuedTorrent } from './queued-torrent.ts';
import { type QueueCounts, RootQueues } from './root-queues.ts';
import { requireContent, requiredRoot, requireOutput } from './roots.ts';
import { QueueServer } from './server.ts';
import { CANCELLED, joinJobId, KEEP, MAX_CHILDREN, partJobId, queueName, RETRIES } from './settings.ts';
import { requestOf, requireStore, storeObject, storeRequest } from './stored.ts';
import { throwIfAborted, withDeadline } from './with-deadline.ts';

/** The options of {@link TorrentQueue}. */
export interface TorrentQueueOptions extends QueueOptions {
  /** Where plans and parts are: the same store for all workers and queues. */
  store: PartStore;
}

const Priority = max(min(integer(), 1), 2 ** 21);
const QUEUE = unchecked('connection', 'backend', 'prefix', 'telemetry', 'store');
const ADDED: Checks = { priority: option(Priority, 'a whole number from 1 to 2097152'), ...SIGNAL };
const ADD_TORRENT: Checks = {
  root: option(nonempty(string()), 'a path beneath a root'),
  output: option(nonempty(string()), 'a path beneath a root'),
  force: option(boolean(), 'true or false'),
  ...ADDED,
};
const ADD_BATCH: Checks = { perJob: option(min(integer(), 1), 'a whole number of at least 1'), ...ADDED };

/** Milliseconds for which connections may take to close. */
const CLOSE_MS = 2000;

/** Jobs of a batch that are added at once. */
const ADDED_AT_ONCE = 8;

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
   * Queues the parts of a plan and, as their parent, the job that joins them. A torrent that is in the queue already is not queued
   * again; parts that the store has are not hashed again.
   *
   * @param given A plan of `planParts`. Its `root`, or that of the options, is the content on the workers: `NAME`, or `NAME/path` beneath
   *   one of their roots.
   * @throws {MetainfoError} `ERR_INVALID_ARGUMENT`, also if the same torrent is in the queue with another output; `ERR_PATH_OUTSIDE`
   *   for a path with `..`; `ERR_PLAN`; `ERR_QUEUE` if the server does not answer
   */
  async addTorrent(given: TorrentPlan, options: AddTorrentOptions): Promise<QueuedTorrent> {
    const { output, force = false, priority, signal } = checkOptions(options, ADD_TORRENT);
    const plan = (await parsePlan(given, { root: options.root })) as TorrentPlan;
    if (!plan.torrent) throw new MetainfoError('ERR_PLAN', 'The plan of an engine has no torrent.');
    const { id, parts } = plan;
    const [root, outputRoot] = [requireContent(plan.root), requireOutput(output)];
    const { server, store, queues, waits } = this.#producer;
    const joins = queues.get('join', root);
    const known = { plan, root, outputRoot };
    const torrent = (job: Job, attached: boolean) => queuedTorrent({ ...known, job, attached }, this.#producer);
    const found = await server.answer(joins.getJob(joinJobId(id)), signal);
    // A cancelled one ends by itself, or waits for parts that still run: nobody needs it.
    if (found && found.progress !== CANCELLED && !(await waits.endOf(found, signal))) {
      await this.#requireOutput(found, output);
      return torrent(found, true);
    }
    const stored = Promise.all([
      storeRequest(id, { output, force }, store),
      store.put(id, 'plan', Buffer.from(JSON.stringify(plan))),
    ]);
    const [request] = await server.wait(stored, signal);
    if (found) await forgetTorrent({ ...known, job: found }, this.#producer, signal);
    const next = Math.min(parts, MAX_CHILDREN);
    const more = priority === undefined ? {} : { priority };
    const queue = { queueName: queueName('part', root) };
    const children = Array.from({ length: next }, (_, index) => ({ ...queue, ...partJob(id, index, more) }));
    const cancelled = cancelledRuns(found?.data, found?.progress === CANCELLED);
    const run = randomBytes(8).toString('hex');
    const data: JoinData = { plan: id, request, next, run, ...(cancelled.length > 0 && { cancelled }) };
    const opts = { ...RETRIES, ...KEEP, ...more, jobId: joinJobId(id) };
    const flow = { name: 'join', queueName: joins.name, data, opts, children };
    const { job } = await server.answer(this.#flows.add(flow), signal, next);
    // Another producer may have added it meanwhile: BullMQ keeps the first job of an id.
    const kept = (await server.answer(joins.getJob(joinJobId(id)), signal)) ?? job;
    if (isOtherRequest(kept.data, data)) await this.#requireOutput(kept, output);
    return torrent(kept, Object(kept.data).run !== run);
  }

  /**
   * Queues a batch: many small torrents to create, verify or validate.
   *
   * @param operation The operation for every item.
   * @param items What to do: their fields are those of {@link BatchItems}.
   * @param options How to divide the items.
   * @param options.perJob The most items of one job, by default 500: give fewer if their content is large. Items of other roots begin a
   *   new job.
   * @param options.priority Jobs of a smaller number run earlier, from 1 to 2097152; those without one run first.
   * @param options.signal Stops queuing: jobs that were queued before go on.
   * @throws {MetainfoError} `ERR_QUEUE` if the server does not answer
   */
  async addBatch<Operation extends BatchOperation>(
    operation: Operation,
    items: Iterable<BatchItems[Operation]> | AsyncIterable<BatchItems[Operation]>,
    options: { perJob?: number; priority?: number; signal?: AbortSignal | undefined } = {},
  ): Promise<QueuedBatch> {
    checkBatch(operation, items);
    const { perJob = 500, priority, signal } = checkOptions(options, ADD_BATCH);
    const { server, store, queues } = this.#producer;
    const id = randomBytes(32).toString('hex');
    const roots: string[][] = [];
    const add = async (job: { index: number; first: number; items: unknown[]; roots: string[] }) => {
      throwIfAborted(signal);
      const { index, first, items } = job;
      roots[index] = job.roots;
      await server.wait(storeObject(store, id, `items-${index}`, { operation, first, items }), signal);
      const [root] = job.roots;
      if (root === undefined) return refuseItems(job, id, this.#producer);
      const more = priority === undefined ? {} : { priority };
      const opts = { ...RETRIES, ...KEEP, ...more, jobId: partJobId(id, index) };
      await server.answer(queues.get('batch', root).add('batch', { plan: id, index }, opts), signal);
    };
    const divided = Readable.from(dividedItems(items, perJob));
    try {
      // Several at once, because a store may be slow.
      await server.wait(divided.forEach(add, { concurrency: ADDED_AT_ONCE }), signal);
    } finally {
      divided.destroy();
    }
    const batch = { id, roots, read: new Set<number>() };
    return { id, jobs: roots.length, results: (options = {}) => batchResults(batch, this.#producer, options) };
  }

  /**
   * Counts jobs and connected workers, for whoever waits for them.
   *
   * @param roots Names of roots.
   * @param options How to ask.
   * @param options.signal Cancels the question.
   * @throws {MetainfoError} `ERR_QUEUE` if the server does not answer
   */
  async counts(roots: readonly string[], options: { signal?: AbortSignal | undefined } = {}): Promise<QueueCounts> {
    const { signal } = checkOptions(options, SIGNAL);
    if (!is(roots, array(string())) || !roots.every((root) => requiredRoot(root) === root))
      throw refused(`roots must be the names of roots, such as ['media'], not ${shown(roots)}`);
    const { server, queues } = this.#producer;
    return server.answer(queues.counts(roots), signal);
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
    /** Runs that can be attached to. */
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

  /** @throws {MetainfoError} `ERR_INVALID_ARGUMENT` if a queued torrent has another output */
  async #requireOutput(job: Job, output: string): Promise<void> {
    const request = await requestOf(joinData(job.data), this.#producer.store);
    if (request.output === output) return;
    throw refused(`This torrent is in the queue already, with the output ${request.output}`);
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
