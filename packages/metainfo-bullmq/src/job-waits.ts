/** Waits for jobs: for their ends, and for workers that could run them. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Job } from 'bullmq';
import { MetainfoError } from 'metainfo';
import type { BullQueue } from './backend.ts';
import { errorOf, failedPart, lostError, wasCancelledError } from './failures.ts';
import { isOtherRequest, wasCancelled } from './jobs.ts';
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
}

/** Milliseconds between two questions about a job: they grow to the last one. */
export const POLL_MS = { first: 50, most: 250 };

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

  /**
   * How a job has ended; null if it has not. Its `failedReason` does not tell: it stays when an attempt fails and the next one succeeds.
   */
  async endOf(job: Job, signal?: AbortSignal): Promise<'completed' | 'failed' | null> {
    if (!job.finishedOn) return null;
    const state = await this.#server.answer(job.getState(), signal);
    return state === 'completed' || state === 'failed' ? state : null;
  }

  /** Waits for the end of a job, and returns its result. It asks after each event of its end, and from time to time. */
  async ended(job: Job, queue: BullQueue, { signal, onPoll }: WaitOptions): Promise<unknown> {
    const watched = this.#queues.ends(queue).watch(job.id as string);
    let answered = performance.now();
    let seen = answered;
    const look = async () => {
      const now = await this.current(job, queue, signal);
      return { now, end: now ? await this.endOf(now, signal) : null };
    };
    try {
      for (let wait = POLL_MS.first; ; wait = Math.min(POLL_MS.most, wait * 1.5)) {
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
        await this.#server.wait(watched.wait(wait), signal);
      }
    } finally {
      watched.close();
    }
  }

  /** The error of a failed job: of the part, if that has failed its parent. */
  async #failureOf(job: Job, queue: BullQueue): Promise<MetainfoError> {
    const child = failedPart(job.failedReason);
    const parts = child ? this.#queues.get('part', queue.name.slice(queueName('join', '').length)) : undefined;
    const part = parts && (await this.#server.answer(parts.getJob(child as string)));
    return errorOf(part?.failedReason ?? job.failedReason);
  }

  /**
   * Runs a wait, and meanwhile tells when some root has had no worker for ten seconds.
   *
   * @throws {unknown} what the wait or `onNoWorker` throws
   */
  async withWorkers<T>(
    roots: Iterable<string>,
    { signal, onNoWorker }: { signal?: AbortSignal | undefined; onNoWorker?: OnNoWorker | undefined },
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

  async #watchWorkers(root: string, onNoWorker: OnNoWorker, stop: AbortSignal): Promise<void> {
    let since: number | null = null;
    let isTold = false;
    while (!stop.aborted) {
      // Nobody knows the workers of a server that does not answer.
      const workers = await this.#server.answer(this.#queues.workersOf(root), stop).catch(() => null);
      const now = performance.now();
      if (workers?.length !== 0) [since, isTold] = [null, false];
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
