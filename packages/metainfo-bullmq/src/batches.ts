/** Batches of small torrents, as their producer sees them: how items become jobs, and how results are read. */
import { createHash, type Hash, randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import type { Job, JobsOptions } from 'bullmq';
import { MetainfoError } from 'metainfo';
import { boolean, enums } from 'superstruct';
import type { BullQueue } from './backend.ts';
import { type BatchOperation, type ItemResult, MAX_INLINE, MAX_ITEM, placesOf } from './batch-job.ts';
import { CALLBACK, type Checks, checkOptions, option, SIGNAL } from './check-options.ts';
import { lostError, refused, shown, textOf, wasCancelledError } from './failures.ts';
import type { OnNoWorker } from './job-waits.ts';
import { forEachIndex } from './jobs.ts';
import type { AddBatchOptions, BatchProgress, QueuedBatch } from './queued.ts';
import type { Producer } from './queued-torrent.ts';
import { rootOf } from './roots.ts';
import { CANCELLED, partJobId } from './settings.ts';
import { type StoredBatch, storedBatch, storedResults, storeObject } from './stored.ts';
import { throwIfAborted } from './with-deadline.ts';

/** The most items of a job: with errors of the greatest length, their results fit into an object of the store. */
export const MAX_PER_JOB = 2000;

/** The characters of JSON after which a job takes no more items. */
const FULL_JOB = 2 ** 22;

const MAX_JOBS = 2 ** 20;

interface BatchJobItems {
  index: number;
  /** The index of the first item in the batch. */
  first: number;
  /** The items as JSON. */
  items: string[];
  /** The roots that the items name: first that of the content, whose workers take the job. Empty if they name none. */
  roots: string[];
}

/** Divides items into jobs. All items of a job name the same roots, so that a worker that can do one of them can do all. */
async function* dividedItems(
  items: Iterable<unknown> | AsyncIterable<unknown>,
  perJob: number,
  hash: Hash,
): AsyncGenerator<BatchJobItems> {
  let job: BatchJobItems = { index: 0, first: 0, items: [], roots: [] };
  let length = 0;
  for await (const item of items) {
    const text = JSON.stringify(item) ?? 'null';
    hash.update(`\n${text}`);
    const roots = [...new Set(placesOf(item).map(rootOf))].filter((root) => root !== null);
    const isOther = roots.length > 0 && job.roots.length > 0 && roots.join('/') !== job.roots.join('/');
    if (job.items.length === perJob || length > FULL_JOB || isOther) {
      yield job;
      job = { index: job.index + 1, first: job.first + job.items.length, items: [], roots: [] };
      length = 0;
      if (job.index === MAX_JOBS) throw refused(`a batch has at most ${MAX_JOBS} jobs: give more items to each`);
    }
    // Its own failure: the other items of the job may be of somebody else.
    const kept = text.length > MAX_ITEM ? `{"tooLong":${text.length}}` : text;
    job.items.push(kept);
    length += kept.length;
    if (job.roots.length === 0) job.roots = roots;
  }
  if (job.items.length > 0) yield job;
}

/** The text of the error of items without a root. */
const NO_ROOT = textOf(refused('a path must begin with the name of a root, as in NAME/path'));

function failed(item: number, error: string): ItemResult {
  return { item, ok: false, error, infohashV1: null, infohashV2: null };
}

interface NewBatch extends Pick<AddBatchOptions, 'id' | 'label' | 'signal'> {
  operation: BatchOperation;
  items: Iterable<unknown> | AsyncIterable<unknown>;
  perJob: number;
  opts: JobsOptions;
}

const ADDED_AT_ONCE = 8;

/** Queues a batch, or attaches to the one with the caller's id. */
export async function addBatch(batch: NewBatch, producer: Producer): Promise<QueuedBatch> {
  const { operation, items, perJob, id: own, label, opts, signal } = batch;
  const { server, store, queues } = producer;
  const id = own === undefined ? randomBytes(32).toString('hex') : batchId(own);
  const before = own === undefined ? null : await server.wait(storedBatch(store, id), signal);
  const hash = createHash('sha256').update(operation);
  const rootsOf = new Map<string, number>();
  const stored: StoredBatch = { digest: '', cancelled: false, roots: [], jobs: [] };
  const add = async ({ index, first, items, roots }: BatchJobItems) => {
    throwIfAborted(signal);
    if (!rootsOf.has(roots.join('/'))) rootsOf.set(roots.join('/'), stored.roots.push(roots) - 1);
    stored.jobs[index] = [rootsOf.get(roots.join('/')) as number, items.length];
    const [root] = roots;
    if (before) return;
    if (root === undefined) {
      const results = JSON.stringify(items.map((_, i) => failed(first + i, NO_ROOT)));
      return void (await server.wait(storeObject(store, id, `results-${index}`, results), signal));
    }
    const text = `{"operation":"${operation}","first":${first},"items":[${items.join(',')}]}`;
    const sealed = await server.wait(storeObject(store, id, `items-${index}`, text, MAX_INLINE), signal);
    const what = label ?? `${operation}: items ${first} to ${first + items.length - 1}`;
    const data = { plan: id, index, label: what, ...(sealed && { sealed }) };
    await server.answer(queues.get('batch', root).add('batch', data, { ...opts, jobId: partJobId(id, index) }), signal);
  };
  const divided = Readable.from(dividedItems(items, perJob, hash));
  try {
    // Several at once, because a store may be slow.
    await server.wait(divided.forEach(add, { concurrency: ADDED_AT_ONCE }), signal);
  } finally {
    divided.destroy();
  }
  stored.digest = hash.digest('hex');
  if (before && before.digest !== stored.digest)
    throw refused(`The batch ${shown(own)} is in the queue with other items`);
  if (!before) await server.wait(storeObject(store, id, 'batch', JSON.stringify(stored)), signal);
  return new Batch(id, before ?? stored, before !== null, producer);
}

/** The id in the store of a batch that the caller has named, or that {@link addBatch} has. */
function batchId(own: string): string {
  return /^[0-9a-f]{64}$/.test(own) ? own : createHash('sha256').update(`batch ${own}`).digest('hex');
}

/** A batch that somebody has queued. Throws `ERR_QUEUE` if the store does not have it. */
export async function foundBatch(own: string, producer: Producer, signal?: AbortSignal): Promise<QueuedBatch> {
  const stored = await producer.server.wait(storedBatch(producer.store, batchId(own)), signal);
  if (stored) return new Batch(batchId(own), stored, true, producer);
  throw new MetainfoError(
    'ERR_QUEUE',
    `The part store has no batch ${shown(own)}: all of its results were read, or adding it did not end. Add it again with the same id.`,
  );
}

/** How to read the results of a batch. */
export interface ResultsOptions {
  /** Cancels reading. */
  signal?: AbortSignal | undefined;
  /**
   * `items` for the order of the items; `completed` for the order in which jobs end, among 64 at once.
   *
   * @default 'items'
   */
  order?: 'items' | 'completed' | undefined;
  /**
   * Keep the items and results in the store, for another reader.
   *
   * @default false
   */
  keep?: boolean | undefined;
  /** Called after ten seconds without a worker of a root. If it throws, the reading ends with that error. */
  onNoWorker?: OnNoWorker | undefined;
}

/** Jobs that a reader waits for at once. */
const JOBS_AT_ONCE = 64;

const RESULTS: Checks = {
  order: option(enums(['items', 'completed']), 'items or completed'),
  keep: option(boolean(), 'true or false'),
  onNoWorker: CALLBACK,
  ...SIGNAL,
};

interface BatchJob {
  roots: readonly string[];
  first: number;
  count: number;
}

/** The results of a job, and whether the store may have something of it. */
interface JobResults {
  results: ItemResult[];
  isStored: boolean;
}

class Batch implements QueuedBatch {
  readonly id: string;
  readonly attached: boolean;
  readonly jobs: number;
  readonly #jobs: readonly BatchJob[];
  readonly #producer: Producer;
  /** The indexes of the jobs whose results were read and deleted. */
  readonly #read = new Set<number>();

  constructor(id: string, { jobs, roots }: StoredBatch, attached: boolean, producer: Producer) {
    let first = 0;
    this.#jobs = jobs.map(([list, count]) => {
      first += count;
      return { roots: roots[list] ?? [], first: first - count, count };
    });
    [this.id, this.attached, this.jobs, this.#producer] = [id, attached, jobs.length, producer];
  }

  readonly progress = async (options: Pick<ResultsOptions, 'signal'> = {}): Promise<BatchProgress> => {
    const items = this.#jobs.reduce((sum, { count }) => sum + count, 0);
    const progress = { jobs: this.jobs, doneJobs: this.jobs, items, doneItems: items };
    await this.#forEachRunning(checkOptions(options, SIGNAL).signal, (_, count) => {
      progress.doneJobs -= 1;
      progress.doneItems -= count;
    });
    return progress;
  };

  readonly cancel = async (options: Pick<ResultsOptions, 'signal'> = {}): Promise<boolean> => {
    const { signal } = checkOptions(options, SIGNAL);
    const { server, store } = this.#producer;
    const stored = await server.wait(storedBatch(store, this.id), signal);
    if (!stored) return false;
    await server.wait(storeObject(store, this.id, 'batch', JSON.stringify({ ...stored, cancelled: true })), signal);
    let isCancelled = false;
    await this.#forEachRunning(signal, async (job) => {
      isCancelled = true;
      // A job that runs is locked: its worker sees the mark.
      const removed = job.remove().catch(() => job.updateProgress(CANCELLED));
      await server.answer(removed, signal);
    });
    return isCancelled;
  };

  /** Visits the jobs that are in the queue and have not ended. */
  async #forEachRunning(signal: AbortSignal | undefined, visit: (job: Job, count: number) => unknown): Promise<void> {
    const { server, waits } = this.#producer;
    await forEachIndex(this.jobs, async (index) => {
      const queue = this.#read.has(index) ? null : this.#queueOf(index);
      const job = queue && (await server.answer(queue.getJob(partJobId(this.id, index)), signal));
      if (job && !(await waits.endOf(job, signal))) await visit(job, this.#jobs[index]?.count as number);
    });
  }

  /** The queue of a job; null if its items name no root. */
  #queueOf(index: number): BullQueue | null {
    const root = this.#jobs[index]?.roots[0];
    return root === undefined ? null : this.#producer.queues.get('batch', root);
  }

  readonly results = (options: ResultsOptions = {}): AsyncGenerator<ItemResult> => this.#results(options);

  async *#results(options: ResultsOptions): AsyncGenerator<ItemResult> {
    const { order = 'items', keep = false, signal: given, onNoWorker } = checkOptions(options, RESULTS);
    const jobs = [...this.#jobs.keys()].filter((index) => !this.#read.has(index));
    if (this.#read.size > 0 && jobs.length === 0)
      throw refused(
        `All results of the batch ${this.id} were read, which deletes them. Read them once, or with keep: true`,
      );
    const stop = new AbortController();
    const signal = AbortSignal.any([stop.signal, ...(given ? [given] : [])]);
    const atOnce = order === 'items' ? 1 : JOBS_AT_ONCE;
    const running = new Map<number, Promise<JobResults & { index: number }>>();
    try {
      while (jobs.length > 0 || running.size > 0) {
        for (const index of jobs.splice(0, atOnce - running.size)) {
          const read = this.#resultsOf(index, { signal, onNoWorker }).then((found) => ({ index, ...found }));
          read.catch(() => {});
          running.set(index, read);
        }
        const { index, results, isStored } = await Promise.race(running.values());
        running.delete(index);
        yield* results;
        if (!keep) await this.#forget(index, isStored);
      }
    } finally {
      stop.abort();
    }
  }

  async #resultsOf(index: number, options: Pick<ResultsOptions, 'signal' | 'onNoWorker'>): Promise<JobResults> {
    const { store, server, waits } = this.#producer;
    const { signal } = options;
    const { roots, first, count } = this.#jobs[index] as BatchJob;
    const ended = await waits.withWorkers(roots, options, (signal) => this.#endOf(index, signal));
    const { failure, sealed, isStored = true } = ended;
    const results = await server.wait(storedResults(store, this.id, index, { first, count, sealed }), signal);
    const others = failure ?? (results ? lostError('job of the batch') : await this.#missingError(signal));
    const all = Array.from({ length: count }, (_, i) => results?.[i] ?? failed(first + i, textOf(others)));
    return { results: all, isStored };
  }

  /** Why a job has no results: somebody has cancelled the batch, or the server has lost it. */
  async #missingError(signal: AbortSignal | undefined): Promise<MetainfoError> {
    const { server, store } = this.#producer;
    const batch = await server.wait(storedBatch(store, this.id), signal);
    if (batch) return batch.cancelled ? wasCancelledError() : lostError('job of the batch');
    const problem = `The results of the batch ${this.id} are gone: somebody has read them, or has cleaned the store.`;
    throw new MetainfoError('ERR_QUEUE', `${problem} Read them once, or with keep: true.`);
  }

  /** Waits for a job: why it failed, or its sealed results. */
  async #endOf(
    index: number,
    signal: AbortSignal | undefined,
  ): Promise<{ failure?: MetainfoError; sealed?: string; isStored?: boolean }> {
    const { server, waits } = this.#producer;
    const queue = this.#queueOf(index);
    const find = async () => queue && server.answer(queue.getJob(partJobId(this.id, index)), signal);
    const job = await find();
    if (!queue || !job) return {};
    try {
      const { sealed } = Object(await waits.ended(job, queue, { signal }));
      return typeof sealed === 'string' ? { sealed, isStored: Object(job.data).sealed === undefined } : {};
    } catch (error) {
      throwIfAborted(signal);
      const now = await find();
      const isCancelled = error instanceof MetainfoError && error.code === 'ERR_ABORTED';
      if (now && !isCancelled && !(await waits.endOf(now, signal))) throw error;
      return now ? { failure: error as MetainfoError } : {};
    }
  }

  /** Deletes what nobody reads again. A store that cannot delete keeps it. */
  async #forget(index: number, isStored: boolean): Promise<void> {
    this.#read.add(index);
    const removed = this.#queueOf(index)?.remove(partJobId(this.id, index));
    await removed?.catch(() => {});
    const names = isStored ? [`results-${index}`, `items-${index}`] : [];
    if (this.#read.size === this.jobs) names.push('batch');
    for (const name of names) await this.#producer.store.delete?.(this.id, name).catch(() => {});
  }
}

/** Requires an operation and a list of items. Throws `ERR_INVALID_ARGUMENT`. */
export function checkBatch(operation: BatchOperation, items: unknown): void {
  const isList = typeof items === 'object' && items !== null;
  if (!isList || !(Symbol.iterator in items || Symbol.asyncIterator in items))
    throw refused(`items must be a list of items, not ${shown(items)}`);
  if (!['create', 'verify', 'validate'].includes(operation))
    throw refused(`unknown operation ${shown(operation)}: expected create, verify or validate`);
}
