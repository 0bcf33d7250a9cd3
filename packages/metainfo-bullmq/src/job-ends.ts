/** Tells producers when something happens to jobs, by the events of a queue: nobody needs to ask for each job all the time. */
import { setTimeout as delay } from 'node:timers/promises';
import type { QueueEvents } from 'bullmq';
import type { Backend, BullQueue } from './backend.ts';
import { MOST_MS } from './with-deadline.ts';

/** Wakes up one who waits. */
export class Wake {
  #isTold = false;
  #stop = (): void => {};

  /** Tells that something has happened. */
  readonly tell = (): void => {
    this.#isTold = true;
    this.#stop();
  };

  /** Waits until something has happened since the last wait, but no longer than some milliseconds. */
  async wait(ms: number = MOST_MS): Promise<void> {
    if (!this.#isTold)
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, ms);
        this.#stop = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    this.#isTold = false;
  }
}

/** Milliseconds between two questions about all jobs together: events can be lost, or their connection is not there yet. */
const NET_MS = { events: 10_000, none: 250 };

/** Milliseconds within which the connection for events is there. */
const CONNECT_MS = 3000;

/** Stands for all parts of a plan. */
export const partsOf = (plan: string): string => `parts of ${plan}`;

/** Watches the jobs of one queue. It connects when the first job is watched. */
export class JobEnds {
  readonly #queue: BullQueue;
  readonly #backend: Backend;
  readonly #onError: (error: Error) => void;
  /** Null if the connection of the caller cannot give events; undefined before the first job. */
  #events: QueueEvents | null | undefined;
  #connected = 0;
  /** The functions to call, by the ids of jobs. */
  readonly #watched = new Map<string, Map<() => void, number | undefined>>();
  readonly #closed = new AbortController();
  #net: Promise<void> | null = null;

  constructor(queue: BullQueue, backend: Backend, onError: (error: Error) => void) {
    this.#queue = queue;
    this.#backend = backend;
    this.#onError = onError;
  }

  /** Calls a function when something happens to a job, or to {@link partsOf} a plan. A job that was added later is another one. */
  watch(id: string, tell: () => void, added?: number): () => void {
    if (this.#events === undefined) this.#events = this.#connect();
    const all = this.#watched.get(id) ?? new Map();
    this.#watched.set(id, all.set(tell, added));
    this.#net ??= this.#watchAll();
    return () => {
      all.delete(tell);
      if (all.size === 0 && this.#watched.get(id) === all) this.#watched.delete(id);
    };
  }

  #connect(): QueueEvents | null {
    const { classes, options } = this.#backend;
    this.#connected = performance.now();
    if (!canBlock(options.connection)) return null;
    const events = new classes.QueueEvents(this.#queue.name, options);
    events.on('error', this.#onError);
    // A part has the id of its plan, and its index.
    const tell = ({ jobId }: { jobId: string }) => {
      for (const id of [jobId, partsOf(jobId.replace(/-\d+$/, ''))])
        for (const wake of this.#watched.get(id)?.keys() ?? []) wake();
    };
    for (const event of ['completed', 'failed', 'progress', 'removed'] as const) events.on(event, tell);
    return events;
  }

  /** Asks about all jobs from time to time, as long as somebody waits. */
  async #watchAll(): Promise<void> {
    const { signal } = this.#closed;
    while (this.#watched.size > 0 && !signal.aborted) {
      const isLive = this.#events && performance.now() - this.#connected > CONNECT_MS;
      await delay(isLive ? NET_MS.events : NET_MS.none, undefined, { signal, ref: false }).catch(() => {});
      const ids = [...this.#watched.keys()].filter((id) => !id.startsWith(partsOf('')));
      // All look for themselves after an outage.
      const open = await this.#backend.openJobs(this.#queue, ids).catch(() => null);
      for (const id of ids)
        for (const [wake, added] of this.#watched.get(id) ?? [])
          if (!open?.has(id) || open.get(id) !== (added ?? open.get(id))) wake();
    }
    this.#net = null;
  }

  /** Closes the connection, if there is one. */
  async close(): Promise<void> {
    this.#closed.abort();
    await this.#events?.close();
  }

  /** Closes it without waiting for the server. */
  async disconnect(): Promise<void> {
    this.#closed.abort();
    await this.#events?.disconnect();
  }
}

/** Whether BullMQ may wait for events with a connection. It refuses a client of the caller that gives up requests. */
function canBlock(connection: object): boolean {
  const { options } = connection as { options?: { maxRetriesPerRequest?: unknown } };
  return !('duplicate' in connection) || options?.maxRetriesPerRequest === null;
}
