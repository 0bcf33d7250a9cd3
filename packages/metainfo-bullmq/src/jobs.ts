/** The data of jobs, which nobody trusts, and the context in which workers run them. */
import { Readable } from 'node:stream';
import { DelayedError, type Job, type JobsOptions, WaitingError } from 'bullmq';
import { any, array, type Infer, integer, is, min, optional, pattern, size, string, type } from 'superstruct';
import type { BullQueue } from './backend.ts';
import { type OtherWorkerError, refused, shown } from './failures.ts';
import type { RootWorkers } from './passing.ts';
import type { Plans } from './plans.ts';
import type { Roots } from './roots.ts';
import { CHILD, partJobId, priorityOf } from './settings.ts';
import type { WorkersOptions } from './workers.ts';

/** The context of all jobs of a worker. */
export interface WorkerContext extends WorkersOptions {
  /** Their paths are absolute. */
  roots: Roots;
  /** The files that roots must have. */
  required: Roots;
  /** The root whose jobs run, and the workers that run them. */
  root: string;
  workers: RootWorkers;
  /** Tells this worker from others. */
  name: string;
  stall: number;
  plans: Plans;
  closing: AbortController;
  /** The queues of the root whose job runs. */
  queues: Record<'parts' | 'joins' | 'batches', BullQueue> & { count: () => Promise<number> };
}

/** How a job runs. */
export interface JobContext {
  token: string;
  signal: AbortSignal;
  /** Tells that the job makes progress. */
  touch: () => void;
  /** Whether a failure of this worker ends the job, because no other worker will do better. */
  isFinal: (error: OtherWorkerError) => Promise<boolean>;
  context: WorkerContext;
}

/** The data of a job that hashes a part or runs a batch. */
export interface IndexedData {
  plan: string;
  index: number;
  /** The items of a job of a batch, sealed; in the store if they are long. */
  sealed?: string | undefined;
  /** A part of a verification: true once nobody waits for it. */
  cancelled?: boolean;
}

const Id = pattern(string(), /^[0-9a-f]{64}$/);
const Count = min(integer(), 0);
const Run = pattern(string(), /^[0-9a-f]{16}$/);
const MAX_CANCELLED = 8;
/** Characters of a sealed object in the data of a job. */
const MAX_SEALED = 2 ** 18;
const Sealed = size(string(), 1, MAX_SEALED);
const INDEXED = type({ plan: Id, index: Count, sealed: optional(Sealed), cancelled: optional(any()) });
const JOIN = type({
  plan: Id,
  /** Tells this request from others of the same plan. */
  request: Id,
  /** The sealed `JoinRequest`. */
  sealed: Sealed,
  /** The parts whose jobs have been added. */
  next: Count,
  /** Tells this run of the torrent from earlier ones. */
  run: optional(Run),
  /** The last runs that were cancelled: those who wait for them are told so, although the torrent was queued again. */
  cancelled: optional(size(array(Run), 0, MAX_CANCELLED)),
});

/** The plan and the index of a job. Nobody trusts the queue. */
export function indexedData(data: unknown): IndexedData {
  if (is(data, INDEXED)) return { ...data, cancelled: data.cancelled === true };
  throw refused(`The data of a job must be { plan, index }, not ${shown(JSON.stringify(data))}`);
}

/** The data of the job that joins a plan. */
export type JoinData = Infer<typeof JOIN>;

/** The data of a join. Nobody trusts the queue. */
export function joinData(data: unknown): JoinData {
  if (is(data, JOIN)) {
    const { plan, request, sealed, next, run, cancelled } = data;
    return { plan, request, sealed, next, ...(run && { run }), ...(cancelled && { cancelled }) };
  }
  throw refused(`The data of a join must be { plan, request, sealed, next }, not ${shown(JSON.stringify(data))}`);
}

/** Whether the data of two joins have different requests. Damaged data have none: the worker reports them. */
export function isOtherRequest(one: unknown, other: unknown): boolean {
  const [request, another] = [one, other].map((data) => Object(data).request);
  return is(request, Id) && is(another, Id) && request !== another;
}

/** The runs of a torrent that were cancelled, for the join that replaces one of them. */
export function cancelledRuns(data: unknown, isCancelled: boolean): string[] {
  if (!is(data, JOIN)) return [];
  const { cancelled = [], run } = data;
  return [...cancelled, ...(isCancelled && run ? [run] : [])].slice(-MAX_CANCELLED);
}

/** Whether the run of a join was cancelled before the present join of the torrent was queued. */
export function wasCancelled(present: unknown, join: unknown): boolean {
  const [{ cancelled }, { run }] = [Object(present), Object(join)];
  return Array.isArray(cancelled) && cancelled.includes(run);
}

/** A job that hashes a part, for a torrent of some priority. */
export function partJob(planId: string, index: number, { priority = 0, ...more }: JobsOptions = {}) {
  const opts = { ...CHILD, jobId: partJobId(planId, index), priority: priorityOf(priority, index), ...more };
  return { name: 'part', data: { plan: planId, index }, opts };
}

/** Whether nobody tries a job again if it fails now. */
export const isLastAttempt = ({ attemptsMade, opts }: Job): boolean => attemptsMade + 1 >= (opts.attempts ?? 1);

/** Visits the indexes of the parts of a plan, several at once. */
export function forEachIndex(parts: number, visit: (index: number) => Promise<void>): Promise<void> {
  return Readable.from(Array(parts).keys()).forEach(visit, { concurrency: PARTS_AT_ONCE });
}

const PARTS_AT_ONCE = 100;

/** Milliseconds until a job that this worker cannot run is offered again. */
const PASS_ON_MS = 1000;

/** Lets another worker run a job soon. It counts as no attempt. */
export async function passOn(job: Job, token: string | undefined, data: object): Promise<never> {
  await job.updateData(data);
  await job.moveToDelayed(Date.now() + PASS_ON_MS, token);
  throw new DelayedError();
}

/** Lets another worker run a job. */
export async function giveBack(job: Job, token: string | undefined): Promise<never> {
  await job.moveToWait(token);
  throw new WaitingError();
}
