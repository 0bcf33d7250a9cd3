/** The data of jobs, which nobody trusts, and the context in which workers run them. */
import { DelayedError, type Job, WaitingError } from 'bullmq';
import { any, type Infer, integer, is, min, optional, pattern, string, type } from 'superstruct';
import type { Backend } from './backend.ts';
import { refused, shown } from './failures.ts';
import type { Plans } from './plans.ts';
import { CHILD, partJobId } from './settings.ts';
import type { WorkersOptions } from './workers.ts';

/** The context of all jobs of a worker. */
export interface WorkerContext extends WorkersOptions {
  plans: Plans;
  closing: AbortController;
  queues: Record<'parts' | 'joins', InstanceType<Backend['classes']['Queue']>>;
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
const INDEXED = type({ plan: Id, index: Count, cancelled: optional(any()) });
const JOIN = type({
  plan: Id,
  /** The hash of a `JoinRequest`, which the store has. */
  request: Id,
  /** The parts whose jobs have been added. */
  next: Count,
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
  if (is(data, JOIN)) return { plan: data.plan, request: data.request, next: data.next };
  throw refused(`The data of a join must be { plan, request, next }, not ${shown(JSON.stringify(data))}`);
}

/** Whether the data of two joins have different requests. Damaged data have none: the worker reports them. */
export function isOtherRequest(one: unknown, other: unknown): boolean {
  return is(one, JOIN) && is(other, JOIN) && one.request !== other.request;
}

/** A job that hashes a part. */
export function partJob(planId: string, index: number, more: object = {}) {
  return { name: 'part', data: { plan: planId, index }, opts: { ...CHILD, jobId: partJobId(planId, index), ...more } };
}

/** Milliseconds until a job that this worker cannot run is offered again. */
const PASS_ON_MS = 500;
/** How often a job may start before it fails on a worker that lacks its root: for about a minute, a worker that has it may come. */
const MAX_STARTS = 100;

/** Whether a job may still be passed on to a worker that has its root. */
export const mayPassOn = ({ attemptsStarted }: Job): boolean => attemptsStarted < MAX_STARTS;

/** Lets another worker run a job soon. It counts as no attempt. */
export async function passOn(job: Job, token: string | undefined): Promise<never> {
  await job.moveToDelayed(Date.now() + PASS_ON_MS, token);
  throw new DelayedError();
}

/** Lets another worker run a job. */
export async function giveBack(job: Job, token: string | undefined): Promise<never> {
  await job.moveToWait(token);
  throw new WaitingError();
}
