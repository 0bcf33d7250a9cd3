/** Detects descriptors and threads that a job left behind in its process. */
import { stat } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Counts } from '../support/faults.ts';
import { openFilesIn, threadCount } from '../support/proc.ts';

/** A thread that has left a job may not be parked yet when the next job needs one, so that there are more than a job has. */
const MOST_PARKED = 2 * availableParallelism();

export class Leftovers {
  readonly #folder: string;
  readonly #idleThreads: number;
  /** The waits of 5 ms that remain for all jobs, so that many leftovers are reported soon. */
  #patience = 2000;

  private constructor(folder: string) {
    this.#folder = folder;
    this.#idleThreads = threadCount();
  }

  /** Call it before the first job. */
  static async of(folder: string): Promise<Leftovers> {
    // Node starts all its threads for the file system, which stay.
    await stat(folder);
    return new Leftovers(folder);
  }

  /**
   * A failed or cancelled job settles at once, but its threads close their files and leave a moment later. Some stay parked for the
   * next job.
   *
   * @param counts What the shim counts.
   */
  async problems(counts: () => Pick<Counts, 'open' | 'stalled'>): Promise<string[]> {
    const left = () => [...this.#openFilesIn(counts()), ...this.#threads(MOST_PARKED)];
    let problems = left();
    for (; problems.length > 0 && this.#patience > 0; this.#patience -= 1) {
      await sleep(5);
      problems = left();
    }
    return problems;
  }

  /** Returns the threads that have not ended 10 s after the last job. Parked ones end after 3 s. */
  async threadsAtEnd(): Promise<string[]> {
    for (let waits = 0; waits < 200 && this.#threads(0).length > 0; waits += 1) await sleep(50);
    return this.#threads(0);
  }

  #openFilesIn({ open, stalled }: Pick<Counts, 'open' | 'stalled'>): string[] {
    const files = openFilesIn(this.#folder);
    const none = files.length === 0 && open === 0 && stalled === 0;
    return none ? [] : [`left open: ${open}, ${files}; ${stalled} calls stall`];
  }

  #threads(parked: number): string[] {
    const threads = threadCount();
    return threads > this.#idleThreads + parked ? [`${threads} threads, ${this.#idleThreads} before`] : [];
  }
}
