// What a job should not leave behind in its process: descriptors, threads.
import { readdirSync, readlinkSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

const threadCount = () => readdirSync('/proc/self/task').length;

/** Descriptors that lead to files of a folder. */
function openFiles(folder: string): string[] {
  return readdirSync('/proc/self/fd').flatMap((descriptor) => {
    try {
      const target = readlinkSync(`/proc/self/fd/${descriptor}`);
      return target.startsWith(`${folder}/`) ? [target] : [];
    } catch {
      // That of readdir itself.
      return [];
    }
  });
}

export class Leftovers {
  readonly #folder: string;
  readonly #idleThreads: number;
  /** Waits of 5 ms that there are in all, so that many leftovers are told soon. */
  #patience = 2000;

  /** Made when there are all threads that the process has while no job runs. */
  constructor(folder: string) {
    this.#folder = folder;
    this.#idleThreads = threadCount();
  }

  /**
   * A job that failed or was cancelled is settled at once: its threads close their files and end a moment later.
   *
   * @param open Descriptors that are open by the count of the shim.
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
    if (threads > this.#idleThreads) problems.push(`${threads} threads, ${this.#idleThreads} before`);
    return problems;
  }
}
