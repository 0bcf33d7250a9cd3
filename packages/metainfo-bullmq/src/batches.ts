/** Batches of small torrents, as their producer sees them: how items become jobs, and how results are read. */

import { MetainfoError } from 'metainfo';
import { boolean, enums } from 'superstruct';
import { type BatchOperation, type ItemResult, placesOf } from './batch-job.ts';
import { CALLBACK, type Checks, checkOptions, option, SIGNAL } from './check-options.ts';
import { lostError, notInStore, refused, shown, textOf } from './failures.ts';
import type { OnNoWorker } from './job-waits.ts';
import type { Producer } from './queued-torrent.ts';
import { rootOf } from './roots.ts';
import { partJobId } from './settings.ts';
import { storedItems, storedResults, storeObject } from './stored.ts';
import { throwIfAborted } from './with-deadline.ts';

/** The items of one job. */
export interface BatchJobItems {
  index: number;
  /** The index of the first item in the batch. */
  first: number;
  items: unknown[];
  /** The roots that the items name: first that of the content, whose workers take the job. Empty if they name none. */
  roots: string[];
}

/** Divides items into jobs. All items of a job name the same roots, so that a worker that can do one of them can do all. */
export async function* dividedItems(
  items: Iterable<unknown> | AsyncIterable<unknown>,
  perJob: number,
): AsyncGenerator<BatchJobItems> {
  let job: BatchJobItems = { index: 0, first: 0, items: [], roots: [] };
  for await (const item of items) {
    const roots = [...new Set(placesOf(item).map(rootOf))].filter((root) => root !== null);
    const isOther = roots.length > 0 && job.roots.length > 0 && roots.join('/') !== job.roots.join('/');
    if (job.items.length === perJob || isOther) {
      yield job;
      job = { index: job.index + 1, first: job.first + job.items.length, items: [], roots: [] };
    }
    job.items.push(item);
    if (job.roots.length === 0) job.roots = roots;
  }
  if (job.items.length > 0) yield job;
}

/** The text of the error of items without a root. */
const NO_ROOT = textOf(refused('a path must begin with the name of a root, as in NAME/path'));

/** Stores the results of items that no worker can process. */
export async function refuseItems(
  { index, first, items }: BatchJobItems,
  id: string,
  { store }: Pick<Producer, 'store'>,
): Promise<void> {
  const results = items.map((_, i) => failed(first + i, NO_ROOT));
  await storeObject(store, id, `results-${index}`, results);
}

function failed(item: number, error: string): ItemResult {
  return { item, ok: false, error, infohashV1: null, infohashV2: null };
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

/** A batch whose jobs are in the queue. */
export interface BatchJobs {
  id: string;
  /** The roots of each job. */
  roots: readonly (readonly string[])[];
  /** The indexes of the jobs whose results were read and deleted. */
  read: Set<number>;
}

const RESULTS: Checks = {
  order: option(enums(['items', 'completed']), 'items or completed'),
  keep: option(boolean(), 'true or false'),
  onNoWorker: CALLBACK,
  ...SIGNAL,
};

/** Reads the results of a batch. */
export async function* batchResults(
  batch: BatchJobs,
  producer: Producer,
  options: ResultsOptions,
): AsyncGenerator<ItemResult> {
  const { order = 'items', keep = false, signal: given, onNoWorker } = checkOptions(options, RESULTS);
  const jobs = [...batch.roots.keys()].filter((index) => !batch.read.has(index));
  if (batch.read.size > 0 && jobs.length === 0)
    throw refused(
      `All results of the batch ${batch.id} were read, which deletes them. Read them once, or with keep: true`,
    );
  const stop = new AbortController();
  const signal = AbortSignal.any([stop.signal, ...(given ? [given] : [])]);
  const atOnce = order === 'items' ? 1 : JOBS_AT_ONCE;
  const running = new Map<number, Promise<{ index: number; results: ItemResult[] }>>();
  try {
    while (jobs.length > 0 || running.size > 0) {
      for (const index of jobs.splice(0, atOnce - running.size)) {
        const read = jobResults(batch, index, producer, { signal, onNoWorker }).then((results) => ({ index, results }));
        read.catch(() => {});
        running.set(index, read);
      }
      const { index, results } = await Promise.race(running.values());
      running.delete(index);
      yield* results;
      if (keep) continue;
      batch.read.add(index);
      await forgetJob(batch, index, producer);
    }
  } finally {
    stop.abort();
  }
}

type ReadOptions = Pick<ResultsOptions, 'signal' | 'onNoWorker'>;

async function jobResults(
  { id, roots }: BatchJobs,
  index: number,
  producer: Producer,
  options: ReadOptions,
): Promise<ItemResult[]> {
  const { store, server, waits } = producer;
  const { signal } = options;
  const names = roots[index] as readonly string[];
  const ended = (signal: AbortSignal | undefined) => failureOfJob({ id, index, root: names[0] }, producer, signal);
  const failure = await waits.withWorkers(names, options, ended);
  const stored = await server.wait(storedItems(store, id, index), signal);
  if (!stored && failure) throw notInStore(`the items ${index} of the batch ${id}`);
  if (!stored) {
    const problem = `The results ${index} of the batch ${id} are gone: somebody has read them, or has cleaned the store.`;
    throw new MetainfoError('ERR_QUEUE', `${problem} Read them once, or with keep: true.`);
  }
  const results = await server.wait(storedResults(store, id, index, stored), signal);
  const error = textOf(failure ?? lostError('job of the batch'));
  return stored.items.map((_, i) => results?.[i] ?? failed(stored.first + i, error));
}

/** Waits for a job of a batch: why it failed, or null. */
async function failureOfJob(
  { id, index, root }: { id: string; index: number; root: string | undefined },
  { queues, server, waits }: Producer,
  signal: AbortSignal | undefined,
): Promise<MetainfoError | null> {
  if (root === undefined) return null;
  const queue = queues.get('batch', root);
  const job = await server.answer(queue.getJob(partJobId(id, index)), signal);
  if (!job) return null;
  try {
    await waits.ended(job, queue, { signal });
    return null;
  } catch (error) {
    throwIfAborted(signal);
    const now = await server.answer(queue.getJob(job.id as string), signal);
    if (now && !(await waits.endOf(now, signal))) throw error;
    return error as MetainfoError;
  }
}

/** Deletes what nobody reads again. A store that cannot delete keeps it. */
async function forgetJob({ id, roots }: BatchJobs, index: number, { store, queues }: Producer): Promise<void> {
  const root = roots[index]?.[0];
  const job = root === undefined ? null : queues.get('batch', root).remove(partJobId(id, index));
  await job?.catch(() => {});
  // The results first: without items, they could not be read.
  await store.delete?.(id, `results-${index}`).catch(() => {});
  await store.delete?.(id, `items-${index}`).catch(() => {});
}

/** @throws {MetainfoError} `ERR_INVALID_ARGUMENT` */
export function checkBatch(operation: BatchOperation, items: unknown): void {
  const isList = typeof items === 'object' && items !== null;
  if (!isList || !(Symbol.iterator in items || Symbol.asyncIterator in items))
    throw refused(`items must be a list of items, not ${shown(items)}`);
  if (!['create', 'verify', 'validate'].includes(operation))
    throw refused(`unknown operation ${shown(operation)}: expected create, verify or validate`);
}
