/** Tells producers when jobs end, by the events of a queue, so that they need not ask for it all the time. */
import { EventEmitter } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
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
  /** Has an event for the end of each job, by its id. */
  readonly #ended: EventEmitter = new EventEmitter().setMaxListeners(0);

  constructor(name: string, { classes, options }: Backend, onError: (error: Error) => void) {
    this.#connect = () => {
      if (!canBlock(options.connection)) return null;
      const events = new classes.QueueEvents(name, options);
      events.on('error', onError);
      const tell = ({ jobId }: { jobId: string }) => void this.#ended.emit(jobId);
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
    this.#ended.on(id, told);
    return {
      wait: async (ms) => {
        const timer = new AbortController();
        wake = () => timer.abort();
        await delay(hasEnded ? 0 : ms, undefined, { signal: timer.signal }).catch(() => {});
        hasEnded = false;
      },
      close: () => {
        wake();
        this.#ended.off(id, told);
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
