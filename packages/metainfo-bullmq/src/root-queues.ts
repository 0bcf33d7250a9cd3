/** The queues of each root, which are made when they are first used, and the ends of their jobs. */
import type { Backend, BullQueue } from './backend.ts';
import { JobEnds } from './job-ends.ts';
import { type JobKind, queueName } from './settings.ts';
import { withDeadline } from './with-deadline.ts';

/** Jobs and workers of a root, or of several roots. */
export interface RootCounts {
  /** Processes that serve the root. */
  workers: number;
  /** Jobs that wait for a worker. */
  waiting: number;
  /** Jobs that run. */
  active: number;
  /** Jobs that wait until they are tried again. */
  delayed: number;
  /** Jobs that have failed for good within the last day. */
  failed: number;
}

/** Jobs and workers of some roots. A process that serves several of them counts once. */
export interface QueueCounts extends RootCounts {
  /** The same for each root. */
  roots: Record<string, RootCounts>;
}

const STATES = ['waiting', 'active', 'delayed', 'failed'] as const;
const NO_JOBS = { waiting: 0, active: 0, delayed: 0, failed: 0 };

/** The queues of a process. */
export class RootQueues {
  readonly #backend: Backend;
  readonly #onError: (error: Error) => void;
  readonly #queues = new Map<string, BullQueue>();
  readonly #ends = new Map<BullQueue, JobEnds>();

  constructor(backend: Backend, onError: (error: Error) => void) {
    this.#backend = backend;
    this.#onError = onError;
  }

  /** The queue of the jobs of a kind for a root. */
  get(kind: JobKind | 'run', root: string): BullQueue {
    const name = queueName(kind, root);
    const found = this.#queues.get(name);
    if (found) return found;
    const queue = new this.#backend.classes.Queue(name, this.#backend.options);
    queue.on('error', this.#onError);
    this.#queues.set(name, queue);
    return queue;
  }

  /** The ends of the jobs of a queue. */
  ends(queue: BullQueue): JobEnds {
    const ends = this.#ends.get(queue) ?? new JobEnds(queue.name, this.#backend, this.#onError);
    this.#ends.set(queue, ends);
    return ends;
  }

  /** The ids of the processes that serve a root. */
  workersOf(root: string): Promise<string[]> {
    return this.#backend.workersOf(this.get('part', root), root);
  }

  /** Counts the jobs and workers of some roots. */
  async counts(roots: readonly string[]): Promise<QueueCounts> {
    const all = new Set<string>();
    const total: QueueCounts = { workers: 0, ...NO_JOBS, roots: {} };
    for (const root of new Set(roots)) {
      const workers = new Set(await this.workersOf(root));
      const counts: RootCounts = { workers: workers.size, ...NO_JOBS };
      for (const kind of ['part', 'join', 'batch'] as const) {
        const found = await this.get(kind, root).getJobCounts('prioritized', ...STATES);
        counts.waiting += found['prioritized'] ?? 0;
        for (const state of STATES) counts[state] += found[state] ?? 0;
      }
      for (const id of workers) all.add(id);
      for (const state of STATES) total[state] += counts[state];
      total.roots[root] = counts;
    }
    return { ...total, workers: all.size };
  }

  /**
   * Closes all connections of the process.
   *
   * @param ms Milliseconds for which it waits for the server.
   * @param others Connections besides those of the queues.
   */
  async close(ms: number, others: readonly Closable[] = []): Promise<void> {
    const all: Closable[] = [...this.#ends.values(), ...this.#queues.values(), ...others];
    await withDeadline(ms, Promise.all(all.map((one) => one.close())), () =>
      Promise.all(all.map((one) => one.disconnect())),
    );
    await withDeadline(ms, this.#backend.end());
  }
}

type Closable = Pick<BullQueue, 'close' | 'disconnect'>;
