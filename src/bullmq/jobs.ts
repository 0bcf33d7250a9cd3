/** The data of jobs, which nobody trusts, and the context in which workers run them. */
import { type Job, WaitingError } from 'bullmq';
import { MetainfoError, shown } from '../errors/errors.ts';
import type { Backend } from './backend.ts';
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

/** The plan and the index of a job. Nobody trusts the queue. */
export function indexedData(data: unknown): IndexedData {
  const { plan, index, cancelled } = Object(data) as Record<string, unknown>;
  if (isPlanId(plan) && isCount(index)) return { plan, index, cancelled: cancelled === true };
  throw new MetainfoError(
    'ERR_INVALID_ARGUMENT',
    `The data of a job must be { plan, index }, not ${shown(JSON.stringify(data))}.`,
  );
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

/** Whether a value is the id of a plan, or another hash like it. */
function isPlanId(id: unknown): id is string {
  return typeof id === 'string' && /^[0-9a-f]{64}$/.test(id);
}

/** The data of the job that joins a plan. */
export interface JoinData {
  plan: string;
  /** The hash of a `JoinRequest`, which the store has. */
  request: string;
  /** The parts whose jobs have been added. */
  next: number;
}

/** The data of a join. Nobody trusts the queue. */
export function joinData(data: unknown): JoinData {
  const { plan, request, next } = Object(data) as Record<string, unknown>;
  if (isPlanId(plan) && isPlanId(request) && isCount(next)) return { plan, request, next };
  throw new MetainfoError(
    'ERR_INVALID_ARGUMENT',
    `The data of a join must be { plan, request, next }, not ${shown(JSON.stringify(data))}.`,
  );
}

/** Whether the data of two joins have different requests. Damaged data have none: the worker reports them. */
export function isOtherRequest(one: unknown, other: unknown): boolean {
  const [a, b] = [Object(one).request, Object(other).request];
  return isPlanId(a) && isPlanId(b) && a !== b;
}

/** A job that hashes a part. */
export function partJob(planId: string, index: number, more: object = {}) {
  return { name: 'part', data: { plan: planId, index }, opts: { ...CHILD, jobId: partJobId(planId, index), ...more } };
}

/** Lets another worker run a job. */
export async function giveBack(job: Job, token: string | undefined): Promise<never> {
  await job.moveToWait(token);
  throw new WaitingError();
}
