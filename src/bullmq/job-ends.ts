/** Tells producers when jobs end, by the events of a queue, so that they need not ask for it all the time. */
import type { QueueEvents } from 'bullmq';
import type { Backend } from './backend.ts';

/** A job that somebody waits for. */
export interface WatchedJob {
  /** Waits until an event tells that the job has ended, but no longer than some milliseconds: an event can be lost. */
  wait(ms: number): Promise<void>;
  /** Stops watching. */
  close(): void;
}

/** The ends of the jobs of one queue. It connects when the first job is watched. */
export class JobEnds {
  readonly #connect: () => QueueEvents | null;
  /** Null if the connection of the caller cannot give events; undefined before the first job. */
  #events: QueueEvents | null | undefined;
  /** The callbacks for the end of each job, by its id. */
  readonly #told = new Map<string, Set<() => void>>();

  constructor(name: string, { classes, options }: Backend, onError: (error: Error) => void) {
    this.#connect = () => {
      if (!canBlock(options.connection)) return null;
      const events = new classes.QueueEvents(name, options);
      events.on('error', onError);
      const tell = ({ jobId }: { jobId: string }) => {
        for (const told of this.#told.get(jobId) ?? []) told();
      };
      events.on('completed', tell);
      events.on('failed', tell);
      return events;
    };
  }

  /** Watches a job from now on. */
  watch(id: string): WatchedJob {
    if (this.#events === undefined) this.#events = this.#connect();
    let hasEnded = false;
    let wake = () => {};
    const told = () => {
      hasEnded = true;
      wake();
    };
    const all = this.#told.get(id) ?? new Set();
    this.#told.set(id, all.add(told));
    return {
      wait: (ms) =>
        new Promise((resolve) => {
          const timer = setTimeout(() => wake(), hasEnded ? 0 : ms);
          wake = () => {
            clearTimeout(timer);
            hasEnded = false;
            wake = () => {};
            resolve();
          };
        }),
      close: () => {
        wake();
        all.delete(told);
        if (all.size === 0) this.#told.delete(id);
      },
    };
  }

  /** Closes the connection, if there is one. */
  async close(): Promise<void> {
    await this.#events?.close();
  }

  /** Closes it without waiting for the server. */
  async disconnect(): Promise<void> {
    await this.#events?.disconnect();
  }
}

/** Whether BullMQ may wait for events with a connection. It refuses a client of the caller that gives up requests. */
function canBlock(connection: object): boolean {
  const { options } = connection as { options?: { maxRetriesPerRequest?: unknown } };
  return !('duplicate' in connection) || options?.maxRetriesPerRequest === null;
}
