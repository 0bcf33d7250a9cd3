/** Waits for jobs: for their ends, and for workers that could run them. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Job } from 'bullmq';
import { MetainfoError } from 'metainfo';
import type { BullQueue } from './backend.ts';
import { errorOf, failedPart, lostError, wasCancelledError } from './failures.ts';
import { partsOf, Wake } from './job-ends.ts';
import { isOtherRequest, wasCancelled } from './jobs.ts';
import type { DoneOptions } from './queued.ts';
import type { RootQueues } from './root-queues.ts';
import type { QueueServer } from './server.ts';
import { CANCELLED, queueName } from './settings.ts';
import { throwIfAborted } from './with-deadline.ts';

/** Tells that no worker serves a root. If it throws, the wait ends with that error. */
export type OnNoWorker = (root: string) => unknown;

/** How to wait for a job. */
export interface WaitOptions {
  signal?: AbortSignal | undefined;
  /** Called with the job now and then, and when it has succeeded. */
  onPoll?: ((job: Job) => unknown) | undefined;
  /** Also called after something has happened to the parts of this plan. */
  plan?: string | undefined;
}

/** Milliseconds until somebody asks again for a job that is missing or being cancelled, for its progress, and for a server that is away. */
export const AGAIN_MS = { job: 250, progress: 250, server: 2000 };

/** Milliseconds for which waiting for a job goes on although the server does not answer. */
const OUTAGE_MS = 600_000;

/** Milliseconds for which a job may be missing: a torrent that was cancelled is being queued again. */
const MISSING_MS = 5000;

/** Milliseconds without a worker until somebody is told, and between two questions about workers. */
const NO_WORKER_MS = 10_000;
const ASK_WORKERS_MS = 2000;

/** Waits for the jobs of a server. */
export class JobWaits {
  readonly #server: QueueServer;
  readonly #queues: RootQueues;
  /** The last answers about the workers of roots. */
  readonly #workers = new Map<string, { answer: Promise<number | null>; until: number }>();

  constructor(server: QueueServer, queues: RootQueues) {
    this.#server = server;
    this.#queues = queues;
  }

  /** The present state of a job. Undefined if it is gone, also if the same torrent was queued again with another output. */
  async current({ id, data }: Job, queue: BullQueue, signal?: AbortSignal): Promise<Job | undefined> {
    const now = await this.#server.answer(queue.getJob(id as string), signal);
    if (now && wasCancelled(now.data, data)) throw wasCancelledError();
    return now && !isOtherRequest(now.data, data) ? now : undefined;
  }

  /** How a job has ended; null if it has not. Its `failedReason` stays when an attempt fails and the next one succeeds. */
  async endOf(job: Job, signal?: AbortSignal): Promise<'completed' | 'failed' | null> {
    if (!job.finishedOn) return null;
    const state = await this.#server.answer(job.getState(), signal);
    return state === 'completed' || state === 'failed' ? state : null;
  }

  /** Waits for the end of a job, and returns its result. It asks when something has happened to it. */
  async ended(job: Job, queue: BullQueue, { signal, onPoll, plan }: WaitOptions): Promise<unknown> {
    const wake = new Wake();
    const unwatch = [this.#queues.ends(queue).watch(job.id as string, wake.tell, job.timestamp)];
    if (plan) {
      const parts = this.#queues.get('part', queue.name.slice(queueName('join', '').length));
      let later: NodeJS.Timeout | undefined;
      const tell = () => {
        later = undefined;
        wake.tell();
      };
      const tellLater = () => {
        later ??= setTimeout(tell, AGAIN_MS.progress);
      };
      unwatch.push(this.#queues.ends(parts).watch(partsOf(plan), tellLater), () => clearTimeout(later));
    }
    let answered = performance.now();
    let seen = answered;
    const look = async () => {
      const now = await this.current(job, queue, signal);
      return { now, end: now ? await this.endOf(now, signal) : null };
    };
    try {
      for (;;) {
        throwIfAborted(signal);
        const found = await look().catch((error) => {
          if (performance.now() - answered < OUTAGE_MS) return unlessOutage(error);
          throw error;
        });
        if (found) answered = performance.now();
        const { now, end } = found ?? {};
        if (now) {
          seen = answered;
          if (end === 'failed') throw await this.#failureOf(now, queue);
          if (now.progress === CANCELLED && end === null) throw wasCancelledError();
          await onPoll?.(now);
          if (end === 'completed') return now.returnvalue;
        } else if (answered - seen > MISSING_MS) throw lostError(job.name === 'join' ? 'torrent' : 'job');
        const most = found ? (now ? undefined : AGAIN_MS.job) : AGAIN_MS.server;
        await this.#server.wait(wake.wait(most), signal);
      }
    } finally {
      for (const end of unwatch) end();
      wake.tell();
    }
  }

  /** The error of a failed job: of the part, if that has failed its parent. */
  async #failureOf(job: Job, queue: BullQueue): Promise<MetainfoError> {
    const child = failedPart(job.failedReason);
    const parts = child ? this.#queues.get('part', queue.name.slice(queueName('join', '').length)) : undefined;
    const part = parts && (await this.#server.answer(parts.getJob(child as string)));
    return errorOf(part?.failedReason ?? job.failedReason);
  }

  /** Runs a wait, and meanwhile tells when some root has had no worker for ten seconds. */
  async withWorkers<T>(
    roots: Iterable<string>,
    { signal, onNoWorker }: Pick<DoneOptions, 'signal' | 'onNoWorker'>,
    wait: (signal: AbortSignal | undefined) => Promise<T>,
  ): Promise<T> {
    if (!onNoWorker) return wait(signal);
    const done = new AbortController();
    const stop = AbortSignal.any([done.signal, ...(signal ? [signal] : [])]);
    const ended = wait(stop);
    ended.catch(() => {});
    const watch = Promise.all([...new Set(roots)].map((root) => this.#watchWorkers(root, onNoWorker, stop)));
    try {
      return await Promise.race([ended, watch.then(() => ended)]);
    } finally {
      done.abort();
    }
  }

  /** Counts the workers of a root, for all who wait: null if the server does not answer. */
  #workersOf(root: string): Promise<number | null> {
    const last = this.#workers.get(root);
    if (last && performance.now() < last.until) return last.answer;
    const answer = this.#server.answer(this.#queues.workersOf([root])).then(
      ([count = 0]) => count,
      () => null,
    );
    this.#workers.set(root, { answer, until: performance.now() + ASK_WORKERS_MS });
    return answer;
  }

  async #watchWorkers(root: string, onNoWorker: OnNoWorker, stop: AbortSignal): Promise<void> {
    let since: number | null = null;
    let isTold = false;
    while (!stop.aborted) {
      const workers = await this.#workersOf(root);
      const now = performance.now();
      if (workers !== 0) [since, isTold] = [null, false];
      else since ??= now;
      if (since !== null && now - since >= NO_WORKER_MS && !isTold && !stop.aborted) {
        isTold = true;
        await onNoWorker(root);
      }
      await delay(ASK_WORKERS_MS, undefined, { signal: stop }).catch(() => {});
    }
  }
}

/** Null if the server does not answer: it may be starting again. */
export function unlessOutage(error: unknown): null {
  if (error instanceof MetainfoError && error.code === 'ERR_QUEUE') return null;
  throw error;
}
