/** The data of jobs, which nobody trusts, and the context in which workers run them. */
import { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { DelayedError, type Job, WaitingError } from 'bullmq';
import { any, array, type Infer, integer, is, min, optional, pattern, size, string, type } from 'superstruct';
import type { BullQueue } from './backend.ts';
import { type OtherWorkerError, refused, shown } from './failures.ts';
import type { Plans } from './plans.ts';
import type { Roots } from './roots.ts';
import { CHILD, partJobId } from './settings.ts';
import type { WorkersOptions } from './workers.ts';

/** The context of all jobs of a worker. */
export interface WorkerContext extends WorkersOptions {
  /** Their paths are absolute. */
  roots: Roots;
  plans: Plans;
  closing: AbortController;
  /** The queues of the root whose job runs. */
  queues: Record<'parts' | 'joins', BullQueue>;
}

/** How a job runs. */
export interface JobContext {
  token: string;
  signal: AbortSignal;
  context: WorkerContext;
}

/** The data of a job that hashes a part or runs a batch. */
export interface IndexedData {
  plan: string;
  index: number;
  /** A part of a verification: true once nobody waits for it. */
  cancelled?: boolean;
}

const Id = pattern(string(), /^[0-9a-f]{64}$/);
const Count = min(integer(), 0);
const Run = pattern(string(), /^[0-9a-f]{16}$/);
const MAX_CANCELLED = 8;
const INDEXED = type({ plan: Id, index: Count, cancelled: optional(any()) });
const JOIN = type({
  plan: Id,
  /** The hash of a `JoinRequest`, which the store has. */
  request: Id,
  /** The parts whose jobs have been added. */
  next: Count,
  /** Tells this run of the torrent from earlier ones. */
  run: optional(Run),
  /** The last runs that were cancelled: those who wait for them are told so, although the torrent was queued again. */
  cancelled: optional(size(array(Run), 0, MAX_CANCELLED)),
});

/** The plan and the index of a job. Nobody trusts the queue. */
export function indexedData(data: unknown): IndexedData {
  if (is(data, INDEXED)) return { plan: data.plan, index: data.index, cancelled: data.cancelled === true };
  throw refused(`The data of a job must be { plan, index }, not ${shown(JSON.stringify(data))}`);
}

/** The data of the job that joins a plan. */
export type JoinData = Infer<typeof JOIN>;

/** The data of a join. Nobody trusts the queue. */
export function joinData(data: unknown): JoinData {
  if (is(data, JOIN)) {
    const { plan, request, next, run, cancelled } = data;
    return { plan, request, next, ...(run && { run }), ...(cancelled && { cancelled }) };
  }
  throw refused(`The data of a join must be { plan, request, next }, not ${shown(JSON.stringify(data))}`);
}

/** Whether the data of two joins have different requests. Damaged data have none: the worker reports them. */
export function isOtherRequest(one: unknown, other: unknown): boolean {
  return is(one, JOIN) && is(other, JOIN) && one.request !== other.request;
}

/** The runs of a torrent that were cancelled, for the join that replaces one of them. */
export function cancelledRuns(data: unknown, isCancelled: boolean): string[] {
  if (!is(data, JOIN)) return [];
  const { cancelled = [], run } = data;
  return [...cancelled, ...(isCancelled && run ? [run] : [])].slice(-MAX_CANCELLED);
}

/** Whether the run of a join was cancelled before the present join of the torrent was queued. */
export function wasCancelled(present: unknown, join: unknown): boolean {
  return is(present, JOIN) && is(join, JOIN) && !!join.run && !!present.cancelled?.includes(join.run);
}

/** A job that hashes a part. */
export function partJob(planId: string, index: number, more: object = {}) {
  return { name: 'part', data: { plan: planId, index }, opts: { ...CHILD, jobId: partJobId(planId, index), ...more } };
}

/** Visits the indexes of the parts of a plan, several at once. */
export function forEachIndex(parts: number, visit: (index: number) => Promise<void>): Promise<void> {
  return Readable.from(Array(parts).keys()).forEach(visit, { concurrency: PARTS_AT_ONCE });
}

const PARTS_AT_ONCE = 100;

/** Milliseconds until a job that this worker cannot run is offered again, and for which this worker rests. */
const PASS_ON_MS = 1000;
const REST_MS = 2000;

/** Whether a job may still be passed on to a worker that can run it. */
export const mayPassOn = ({ attemptsStarted }: Job, { passes }: Pick<OtherWorkerError, 'passes'>): boolean =>
  attemptsStarted < passes;

/** Lets another worker run a job soon. It counts as no attempt. */
export async function passOn(job: Job, token: string | undefined, signal: AbortSignal): Promise<never> {
  await job.moveToDelayed(Date.now() + PASS_ON_MS, token);
  // BullMQ wakes up the worker that delayed a job: without a rest, it would take the job again, and again.
  await delay(REST_MS, undefined, { signal }).catch(() => {});
  throw new DelayedError();
}

/** Lets another worker run a job. */
export async function giveBack(job: Job, token: string | undefined): Promise<never> {
  await job.moveToWait(token);
  throw new WaitingError();
}
