/** The producer side of the queues: torrents in parts, batches, and an engine for verification. */
import { createHash, randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import type { Job } from 'bullmq';
import { boolean, is, nonempty, object, optional, string } from 'superstruct';
import {
  type Engine,
  MetainfoError,
  type PartStore,
  type PartsEngineOptions,
  type PartsPlan,
  parsePlan,
  partsEngine,
  type RunPartContext,
  type TorrentPlan,
} from '../index.ts';
import { type Backend, backendOf, type QueueOptions } from './backend.ts';
import type { BatchItems, BatchOperation, ItemResult } from './batch-job.ts';
import { errorOf, lostError, notInStore, refused, shown, textOf } from './failures.ts';
import { JobEnds, type WatchedJob } from './job-ends.ts';
import { type IndexedData, isOtherRequest, type JoinData, joinData, partJob } from './jobs.ts';
import { requestOf, storeRequest } from './join-request.ts';
import {
  type AddTorrentOptions,
  joinedTorrent,
  type QueuedBatch,
  type QueuedTorrent,
  type QueueProgress,
} from './queued.ts';
import { BATCHES, CANCELLED, JOINS, joinJobId, KEEP, MAX_CHILDREN, PARTS, partJobId, RETRIES } from './settings.ts';
import { requireStore, storedItems, storedResults, storeObject } from './stored.ts';
import { throwIfAborted, untilAbort, withDeadline } from './with-deadline.ts';

/** The options of {@link TorrentQueue}. */
export interface TorrentQueueOptions extends QueueOptions {
  /** Where plans and parts are: the same store for all workers and queues. */
  store: PartStore;
}

const ADD_TORRENT = object({
  root: optional(nonempty(string())),
  output: nonempty(string()),
  force: optional(boolean()),
});

/** Milliseconds after which a locked job is tried again to be removed. */
const LOCKED_MS = 500;
const LOCKED_TRIES = 15;

/** Milliseconds for which connections may take to close. */
const CLOSE_MS = 2000;

/** Jobs of a batch that are added at once. */
const ADDED_AT_ONCE = 8;

/** Milliseconds between two questions about a job: they grow to the last one. */
const POLL_MS = { first: 50, most: 250 };

/** Seconds-long outages of the server are survived by BullMQ; a producer that cannot reach it at all fails after this time. */
const CONNECT_MS = 10_000;

/** Milliseconds for which waiting for a job goes on although the server does not answer. */
const OUTAGE_MS = 600_000;

/**
 * Queues torrents for workers ({@link createWorkers}): large ones in parts, small ones in batches.
 *
 * @example
 * ```ts
 * import path from 'node:path';
 * import { folderStore, planParts, TorrentCreate } from 'metainfo';
 * import { createWorkers, TorrentQueue } from 'metainfo/bullmq';
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
  readonly #store: PartStore;
  readonly #flows: InstanceType<Backend['classes']['FlowProducer']>;
  readonly #parts: InstanceType<Backend['classes']['Queue']>;
  readonly #joins: InstanceType<Backend['classes']['Queue']>;
  readonly #batches: InstanceType<Backend['classes']['Queue']>;
  readonly #ends: ReadonlyMap<unknown, JobEnds>;
  /** Parts of engines that run, or that are being removed. */
  readonly #running = new Set<Promise<unknown>>();
  /** The last error of the connection: it explains why nothing answers. */
  #lost: Error | null = null;

  /** @throws {MetainfoError} `ERR_INVALID_ARGUMENT` */
  constructor(options: TorrentQueueOptions) {
    const backend = backendOf(options);
    this.#store = requireStore(options.store);
    const { Queue, FlowProducer } = backend.classes;
    this.#flows = new FlowProducer(backend.options);
    this.#parts = new Queue(PARTS, backend.options);
    this.#joins = new Queue(JOINS, backend.options);
    this.#batches = new Queue(BATCHES, backend.options);
    const onError = (error: Error) => {
      this.#lost = error;
    };
    this.#flows.on('error', onError);
    const queues = [this.#parts, this.#joins, this.#batches];
    for (const queue of queues) queue.on('error', onError);
    this.#ends = new Map(queues.map((queue) => [queue, new JobEnds(queue.name, backend, onError)]));
  }

  /**
   * Queues the parts of a plan and, as their parent, the job that joins them. A torrent that is in the queue already is not queued
   * again; parts that the store has are not hashed again.
   *
   * @param given A plan of `planParts`. Its `root`, or that of the options, is the content on the workers: `NAME`, or `NAME/path` beneath
   *   one of their roots.
   * @throws {MetainfoError} `ERR_INVALID_ARGUMENT`, also if the same torrent is in the queue with another output; `ERR_PLAN`;
   *   `ERR_QUEUE` if the server does not answer
   */
  async addTorrent(given: TorrentPlan, options: AddTorrentOptions): Promise<QueuedTorrent> {
    if (!is(options, ADD_TORRENT))
      throw refused(`options must be { output: 'media/album.torrent', force: false }, not ${shown(options)}`);
    const { root, output, force = false } = options;
    const plan = (await parsePlan(given, { root })) as TorrentPlan;
    if (!plan.torrent) throw new MetainfoError('ERR_PLAN', 'The plan of an engine has no torrent.');
    const { id, parts } = plan;
    const found = await this.#answer(this.#joins.getJob(joinJobId(id)));
    // A cancelled one ends by itself, or waits for parts that still run: nobody needs it.
    if (found && found.progress !== CANCELLED && !(await this.#endOf(found))) {
      await this.#requireOutput(found, output);
      return this.#torrent(plan, found, true);
    }
    await this.#store.put(id, 'plan', Buffer.from(JSON.stringify(plan)));
    await this.#forget(plan, found);
    const next = Math.min(parts, MAX_CHILDREN);
    const children = Array.from({ length: next }, (_, index) => ({ queueName: PARTS, ...partJob(id, index) }));
    const request = await storeRequest(id, { output, force }, this.#store);
    const data: JoinData = { plan: id, request, next };
    const opts = { ...RETRIES, ...KEEP, jobId: joinJobId(id) };
    const { job } = await this.#answer(this.#flows.add({ name: 'join', queueName: JOINS, data, opts, children }));
    // Another producer may have added it meanwhile: BullMQ keeps the first job of an id.
    const kept = (await this.#answer(this.#joins.getJob(joinJobId(id)))) ?? job;
    const isOurs = Object(kept.data).request === request;
    if (!isOurs) await this.#requireOutput(kept, output);
    return this.#torrent(plan, kept, !isOurs);
  }

  /**
   * Queues a batch: many small torrents to create, verify or validate.
   *
   * @param operation The operation for every item.
   * @param items What to do: their fields are those of {@link BatchItems}.
   * @param options How to divide the items.
   * @param options.perJob The items of one job, by default 50.
   * @param options.signal Stops queuing: jobs that were queued before go on.
   * @throws {MetainfoError} `ERR_QUEUE` if the server does not answer
   */
  async addBatch<Operation extends BatchOperation>(
    operation: Operation,
    items: Iterable<BatchItems[Operation]> | AsyncIterable<BatchItems[Operation]>,
    { perJob = 50, signal }: { perJob?: number; signal?: AbortSignal | undefined } = {},
  ): Promise<QueuedBatch> {
    const isList = typeof items === 'object' && items !== null;
    if (!isList || !(Symbol.iterator in items || Symbol.asyncIterator in items))
      throw refused(`items must be a list of items, not ${shown(items)}`);
    if (!['create', 'verify', 'validate'].includes(operation))
      throw refused(`unknown operation ${shown(operation)}: expected create, verify or validate`);
    if (!Number.isSafeInteger(perJob) || perJob < 1)
      throw refused(`perJob must be a whole number of at least 1, not ${shown(perJob)}`);
    const id = createHash('sha256').update(randomBytes(32)).digest('hex');
    let jobs = 0;
    const add = async ({ index, items }: { index: number; items: unknown[] }) => {
      throwIfAborted(signal);
      await storeObject(this.#store, id, `items-${index}`, { operation, first: index * perJob, items });
      const opts = { ...RETRIES, ...KEEP, jobId: partJobId(id, index) };
      await this.#answer(this.#batches.add('batch', { plan: id, index }, opts), signal);
    };
    const batches = async function* () {
      let batch: unknown[] = [];
      for await (const item of items) {
        batch.push(item);
        if (batch.length < perJob) continue;
        yield { index: jobs++, items: batch };
        batch = [];
      }
      if (batch.length > 0) yield { index: jobs++, items: batch };
    };
    // Several at once, because a store may be slow.
    await Readable.from(batches()).forEach(add, { concurrency: ADDED_AT_ONCE });
    return { id, jobs, results: (options = {}) => this.#results(id, jobs, options) };
  }

  /**
   * An engine whose parts the workers hash: for `generate`, `verify`, `update` and `upgrade`. Nothing is taken from the store.
   *
   * @param options.root The folder on this machine that all files are below.
   * @param options.remoteRoot The name of that folder on the workers: `NAME`, or `NAME/path`.
   */
  engine(options: Pick<PartsEngineOptions, 'partSize' | 'concurrency'> & { root: string; remoteRoot: string }): Engine {
    /** Plans that are in the store, and their parts under way. */
    const sent = new Map<string, { stored: Promise<void>; running: number }>();
    const runPart = async (plan: PartsPlan, index: number, context: RunPartContext): Promise<Uint8Array> => {
      const { id } = plan;
      const state = sent.get(id) ?? {
        stored: this.#store.put(id, 'plan', Buffer.from(JSON.stringify(plan))),
        running: 0,
      };
      sent.set(id, state);
      state.running += 1;
      try {
        await state.stored;
        return await this.#runPart(plan, index, context);
      } finally {
        state.running -= 1;
        if (state.running === 0) {
          sent.delete(id);
          // Nobody asks for them again. A store that cannot delete keeps them.
          await this.#store.delete?.(id, 'plan').catch(() => {});
        }
      }
    };
    const run: PartsEngineOptions['run'] = (...part) => {
      const running = runPart(...part).finally(() => this.#running.delete(running));
      this.#running.add(running);
      return running;
    };
    return partsEngine({ ...options, run });
  }

  /** Closes the connections. Queued work goes on. */
  async close(): Promise<void> {
    const all = [this.#flows, this.#parts, this.#joins, this.#batches, ...this.#ends.values()];
    // Parts of a cancelled job are being removed.
    await withDeadline(CLOSE_MS, Promise.allSettled(this.#running), () => {});
    await withDeadline(CLOSE_MS, Promise.all(all.map((one) => one.close())), () =>
      Promise.all(all.map((one) => one.disconnect())),
    );
  }

  /** @throws {MetainfoError} `ERR_INVALID_ARGUMENT` if a queued torrent has another output */
  async #requireOutput(job: Job, output: string): Promise<void> {
    const request = await requestOf(joinData(job.data), this.#store);
    if (request.output === output) return;
    throw refused(`This torrent is in the queue already, with the output ${request.output}`);
  }

  async #runPart({ id }: PartsPlan, index: number, { signal, onProgress }: RunPartContext): Promise<Uint8Array> {
    const opts = { ...RETRIES, ...KEEP, jobId: partJobId(id, index) };
    const job = await this.#answer(this.#parts.add('part', { plan: id, index }, opts), signal);
    try {
      await this.#ended(job, this.#parts, { signal, onPoll: (now) => onProgress(bytesOf(now)) });
    } catch (error) {
      await this.#drop(job);
      throw error;
    }
    await job.remove().catch(() => {});
    const sealed = await this.#store.get(id, index);
    await this.#store.delete?.(id, index).catch(() => {});
    if (sealed) return sealed;
    throw notInStore(`part ${index}, which was hashed`);
  }

  /** Removes a part that nobody waits for. One that runs is locked: its worker sees the mark, and stores nothing. */
  async #drop(job: Job): Promise<void> {
    const { plan, index } = job.data as IndexedData;
    const drop = async () => {
      try {
        await job.remove();
      } catch {
        await job.updateData({ plan, index, cancelled: true } satisfies IndexedData);
        await this.#store.delete?.(plan, index);
      }
    };
    await withDeadline(CLOSE_MS, drop(), () => {}).catch(() => {});
  }

  /** Removes the jobs of a torrent that has ended, so that it can be queued again. */
  async #forget({ id, parts }: TorrentPlan, join: Job | undefined): Promise<void> {
    if (!join) return;
    // A part that still runs is locked, and cannot be removed together with its parent.
    const remove = () => join.remove({ removeChildren: true }).catch(() => join.remove({ removeChildren: false }));
    // A cancelled join is locked while it fails.
    const removeLater = () => delay(LOCKED_MS).then(remove);
    let removed = remove();
    for (let tries = 0; tries < LOCKED_TRIES; tries += 1) removed = removed.catch(removeLater);
    await this.#answer(removed);
    for (let index = 0; index < parts; index += 1) {
      const part = await this.#answer(this.#parts.getJob(partJobId(id, index)));
      if (part && !(await part.isActive())) await part.remove().catch(() => {});
    }
  }

  #torrent(plan: TorrentPlan, job: Job, attached: boolean): QueuedTorrent {
    const progress = () => this.#progress(plan, job);
    return {
      id: plan.id,
      attached,
      progress,
      done: async ({ signal, onProgress } = {}) => {
        const onPoll =
          onProgress &&
          (async () => {
            // The question about the job notices how long an outage lasts.
            const now = await progress().catch(unlessOutage);
            if (now) await onProgress(now);
          });
        return joinedTorrent(await this.#ended(job, this.#joins, { signal, onPoll }));
      },
      cancel: () => this.#cancel(job),
    };
  }

  async #progress({ parts, totalSize, partSize, id }: TorrentPlan, queued: Job): Promise<QueueProgress> {
    const job = await this.#current(queued, this.#joins);
    const state = job ? await this.#answer(job.getState()) : 'failed';
    const all = { parts, totalBytes: totalSize };
    if (!job || state === 'failed') return { state: 'failed', hashed: 0, bytes: 0, ...all };
    if (state === 'completed') return { state: 'done', hashed: parts, bytes: totalSize, ...all };
    const { unprocessed = 0 } = await this.#answer(job.getDependenciesCount({ unprocessed: true }));
    const hashed = (job.data as JoinData).next - unprocessed;
    const active = await this.#answer(this.#parts.getActive(0, 1000));
    const running = active
      .filter(({ data }) => (data as { plan?: string }).plan === id)
      .reduce((sum, one) => sum + bytesOf(one), 0);
    const bytes = hashed === parts ? totalSize : Math.min(totalSize, hashed * partSize + running);
    return { state: hashed === parts ? 'joining' : 'waiting', hashed, bytes, ...all };
  }

  async #cancel(job: Job): Promise<boolean> {
    const current = await this.#current(job, this.#joins);
    if (!current || (await this.#endOf(current))) return false;
    await this.#answer(current.updateProgress(CANCELLED));
    // A worker fails the join as soon as no part holds it back.
    await this.#answer(current.removeUnprocessedChildren());
    return this.#isNotWritten(current);
  }

  /** Waits for a join that runs: it may have begun to write before it was cancelled. */
  async #isNotWritten(job: Job): Promise<boolean> {
    for (let waited = 0; waited < CONNECT_MS && (await this.#answer(job.isActive())); waited += POLL_MS.most)
      await delay(POLL_MS.most);
    const now = await this.#current(job, this.#joins);
    return !now || (await this.#endOf(now)) !== 'completed';
  }

  /** The present state of a job. Undefined if it is gone, also if the same torrent was queued again with another output. */
  async #current(
    { id, data }: Job,
    queue: InstanceType<Backend['classes']['Queue']>,
    signal?: AbortSignal,
  ): Promise<Job | undefined> {
    const now = await this.#answer(queue.getJob(id as string), signal);
    return now && !isOtherRequest(now.data, data) ? now : undefined;
  }

  /**
   * How a job has ended; null if it has not. Its `failedReason` does not tell: it stays when an attempt fails and the next one succeeds.
   */
  async #endOf(job: Job, signal?: AbortSignal): Promise<'completed' | 'failed' | null> {
    if (!job.finishedOn) return null;
    const state = await this.#answer(job.getState(), signal);
    return state === 'completed' || state === 'failed' ? state : null;
  }

  /** Waits for the end of a job, and returns its result. */
  async #ended(
    job: Job,
    queue: InstanceType<Backend['classes']['Queue']>,
    options: { signal?: AbortSignal | undefined; onPoll?: ((job: Job) => unknown) | undefined },
  ): Promise<unknown> {
    const watched = (this.#ends.get(queue) as JobEnds).watch(job.id as string);
    try {
      return await this.#asked(job, queue, { ...options, watched });
    } finally {
      watched.close();
    }
  }

  /** Asks for a job until it has ended: after each event of its end, and from time to time. */
  async #asked(
    job: Job,
    queue: InstanceType<Backend['classes']['Queue']>,
    {
      signal,
      onPoll,
      watched,
    }: { signal?: AbortSignal | undefined; onPoll?: ((job: Job) => unknown) | undefined; watched: WatchedJob },
  ): Promise<unknown> {
    let answered = performance.now();
    for (let wait = POLL_MS.first; ; wait = Math.min(POLL_MS.most, wait * 1.5)) {
      throwIfAborted(signal);
      const look = async () => {
        const now = await this.#current(job, queue, signal);
        return { now, end: now ? await this.#endOf(now, signal) : null };
      };
      const found = await look().catch((error) => {
        if (performance.now() - answered < OUTAGE_MS) return unlessOutage(error);
        throw error;
      });
      if (!found) {
        await untilAbort(signal, watched.wait(wait));
        continue;
      }
      answered = performance.now();
      const { now, end } = found;
      if (!now) throw lostError(queue === this.#joins ? 'torrent' : 'job');
      if (end === 'failed') throw await this.#failureOf(now);
      if (end === 'completed') {
        await onPoll?.(now);
        return now.returnvalue;
      }
      if (now.progress === CANCELLED) throw new MetainfoError('ERR_ABORTED', 'The torrent was cancelled.');
      await onPoll?.(now);
      await untilAbort(signal, watched.wait(wait));
    }
  }

  /** The error of a failed job: of the part, if that has failed its parent. */
  async #failureOf(job: Job): Promise<MetainfoError> {
    const [, child] = /^child .*:([0-9a-f]{64}-\d+) failed$/.exec(job.failedReason) ?? [];
    const part = child ? await this.#answer(this.#parts.getJob(child)) : undefined;
    return errorOf(part?.failedReason ?? job.failedReason);
  }

  async *#results(id: string, jobs: number, { signal }: { signal?: AbortSignal }): AsyncGenerator<ItemResult> {
    for (let index = 0; index < jobs; index += 1) {
      const job = await this.#answer(this.#batches.getJob(partJobId(id, index)), signal);
      const failure = job ? await this.#failureOfBatch(job, signal) : null;
      const stored = await storedItems(this.#store, id, index);
      if (!stored) throw notInStore(`the items ${index} of the batch ${id}`);
      const results = await storedResults(this.#store, id, index, stored);
      if (results?.every((result) => result !== null)) {
        yield* results as ItemResult[];
        continue;
      }
      const error = textOf(failure ?? lostError('job of the batch'));
      for (const [i] of stored.items.entries())
        yield results?.[i] ?? { item: stored.first + i, ok: false, error, infohashV1: null, infohashV2: null };
    }
  }

  /** Waits for a job of a batch: why it failed, or null. */
  async #failureOfBatch(job: Job, signal: AbortSignal | undefined): Promise<MetainfoError | null> {
    try {
      await this.#ended(job, this.#batches, { signal });
      return null;
    } catch (error) {
      throwIfAborted(signal);
      const now = await this.#answer(this.#batches.getJob(job.id as string), signal);
      if (now && !(await this.#endOf(now, signal))) throw error;
      return error as MetainfoError;
    }
  }

  /** The answer of the server; an error if there is none, because a client without a connection waits for ever. */
  async #answer<T>(question: Promise<T>, signal?: AbortSignal): Promise<T> {
    const timer = new AbortController();
    const silence = delay(CONNECT_MS, undefined, { signal: timer.signal }).then(
      () => {
        const why = this.#lost ? ` (${textOf(this.#lost)})` : '';
        throw new MetainfoError('ERR_QUEUE', `The server of the queue does not answer${why}.`);
      },
      () => undefined as never,
    );
    try {
      return await untilAbort(signal, Promise.race([question, silence.then(() => new Promise<never>(() => {}))]));
    } catch (error) {
      if (error instanceof MetainfoError) throw error;
      throw new MetainfoError('ERR_QUEUE', `The queue failed: ${textOf(error)}`);
    } finally {
      timer.abort();
    }
  }
}

/** Null if the server does not answer: it may be starting again. */
function unlessOutage(error: unknown): null {
  if (error instanceof MetainfoError && error.code === 'ERR_QUEUE') return null;
  throw error;
}

function bytesOf({ progress }: Job): number {
  const { bytes } = Object(progress) as { bytes?: unknown };
  return typeof bytes === 'number' ? bytes : 0;
}
