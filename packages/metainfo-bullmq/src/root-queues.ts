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

  /** Watches the jobs of a queue. */
  ends(queue: BullQueue): JobEnds {
    const ends = this.#ends.get(queue) ?? new JobEnds(queue, this.#backend, this.#onError);
    this.#ends.set(queue, ends);
    return ends;
  }

  /** Counts the processes that serve any of some roots, and those that serve each of them. */
  workersOf(roots: readonly string[]): Promise<number[]> {
    return this.#backend.workersOf(this.get('part', roots[0] as string), roots);
  }

  /** Counts the jobs and workers of some roots. An answer that is some milliseconds old will do. */
  async counts(given: readonly string[], maxAge = 0): Promise<QueueCounts> {
    const roots = [...new Set(given)];
    const ask = () => this.#counts(roots);
    if (maxAge === 0) return ask();
    const name = `counts:${roots.sort().join()}`;
    return this.#backend.shared(this.get('part', roots[0] as string), name, maxAge, ask);
  }

  async #counts(roots: readonly string[]): Promise<QueueCounts> {
    const [all = 0, ...each] = await this.workersOf(roots);
    const total: QueueCounts = { workers: all, ...NO_JOBS, roots: {} };
    for (const [i, root] of roots.entries()) {
      const counts: RootCounts = { workers: each[i] as number, ...NO_JOBS };
      for (const kind of ['part', 'join', 'batch'] as const) {
        const found = await this.get(kind, root).getJobCounts('prioritized', ...STATES);
        counts.waiting += found['prioritized'] ?? 0;
        for (const state of STATES) counts[state] += found[state] ?? 0;
      }
      for (const state of STATES) total[state] += counts[state];
      total.roots[root] = counts;
    }
    return total;
  }

  /** Closes all connections of the process, also those of others. It waits some milliseconds for the server. */
  async close(ms: number, others: readonly Closable[] = []): Promise<void> {
    const all: Closable[] = [...this.#ends.values(), ...this.#queues.values(), ...others];
    await withDeadline(ms, Promise.all(all.map((one) => one.close())), () =>
      Promise.all(all.map((one) => one.disconnect())),
    );
    await withDeadline(ms, this.#backend.end());
  }
}

type Closable = Pick<BullQueue, 'close' | 'disconnect'>;
