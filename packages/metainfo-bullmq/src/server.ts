/** Questions to the server of a queue: each ends when the server is silent, when the caller cancels, and when the queue is closed. */
import { MetainfoError } from 'metainfo';
import { publicError } from './failures.ts';
import { untilAbort, withDeadline } from './with-deadline.ts';

/** Seconds-long outages of the server are survived by BullMQ; a producer that cannot reach it at all fails after this time. */
export const CONNECT_MS = 10_000;

/** Milliseconds more for each job that is added. */
const JOB_MS = 10;

/** The server, as a producer asks it. */
export class QueueServer {
  readonly #closed = new AbortController();
  /** Aborted when the queue is closed. */
  readonly closing: AbortSignal = this.#closed.signal;
  /** The last error of the connection: it explains why nothing answers. */
  #lost: Error | null = null;

  /** Remembers an error of a connection. */
  readonly onError = (error: Error): void => {
    this.#lost = error;
  };

  /** Ends everything that waits. */
  close(): void {
    this.#closed.abort();
  }

  /** Waits for a promise. Throws an {@link AbortError} if the signal fires first; `ERR_QUEUE` if the queue is closed first. */
  async wait<T>(promise: Promise<T>, signal?: AbortSignal): Promise<T> {
    const closed = this.closing;
    try {
      return await untilAbort(closed, untilAbort(signal, promise));
    } catch (error) {
      if (!closed.aborted || signal?.aborted) throw error;
      throw new MetainfoError(
        'ERR_QUEUE',
        'The queue was closed: queued work goes on. Open a new TorrentQueue to wait for it.',
      );
    }
  }

  /** The answer of the server to a question, which may add jobs. A client without a connection waits for ever, so silence is an error. */
  async answer<T>(question: Promise<T>, signal?: AbortSignal, jobs = 1): Promise<T> {
    const silence = () => {
      const why = this.#lost ? ` (${publicError(this.#lost).message})` : '';
      throw new MetainfoError('ERR_QUEUE', `The server of the queue does not answer${why}.`);
    };
    try {
      return (await withDeadline(CONNECT_MS + jobs * JOB_MS, this.wait(question, signal), silence)) as T;
    } catch (error) {
      throw publicError(error, 'The queue failed: ');
    }
  }
}
