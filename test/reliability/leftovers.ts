/** Detects descriptors and threads that a job left behind in its process. */
import { readdirSync, readlinkSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';

const threadCount = () => readdirSync('/proc/self/task').length;

/** Returns the descriptors of files in a folder. */
function openFiles(folder: string): string[] {
  return readdirSync('/proc/self/fd').flatMap((descriptor) => {
    try {
      const target = readlinkSync(`/proc/self/fd/${descriptor}`);
      return target.startsWith(`${folder}/`) ? [target] : [];
    } catch {
      // The descriptor of readdir itself is closed already.
      return [];
    }
  });
}

export class Leftovers {
  readonly #folder: string;
  readonly #idleThreads: number;
  /** The waits of 5 ms that remain for all jobs, so that many leftovers are reported soon. */
  #patience = 2000;

  /** Call it when the process has all threads that it has without a job. */
  constructor(folder: string) {
    this.#folder = folder;
    this.#idleThreads = threadCount();
  }

  /**
   * A failed or cancelled job settles at once, but its threads close their files and end a moment later.
   *
   * @param open The number of open descriptors that the shim counted.
   */
  async problems(open: () => number): Promise<string[]> {
    let problems = this.#left(open());
    for (; problems.length > 0 && this.#patience > 0; this.#patience -= 1) {
      await sleep(5);
      problems = this.#left(open());
    }
    return problems;
  }

  #left(open: number): string[] {
    const problems: string[] = [];
    const files = openFiles(this.#folder);
    if (files.length > 0 || open !== 0) problems.push(`left open: ${open}, ${files}`);
    const threads = threadCount();
    // The addon keeps threads parked for the next job. Leaked threads become more with each job.
    if (threads > this.#idleThreads + availableParallelism())
      problems.push(`${threads} threads, ${this.#idleThreads} before`);
    return problems;
  }
}
