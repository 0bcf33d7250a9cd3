/** The lines of `metainfo worker` about its server and its jobs. */
import { setTimeout as delay } from 'node:timers/promises';
import { RestingError, type WorkerState } from '../passing.ts';
import type { EndedJob, Workers } from '../workers.ts';
import { notice, Outage } from './notices.ts';
import type { PrintOptions, Terminal } from './terminal.ts';

/** Milliseconds between two attempts to reach a server that is gone. */
const RETRY_MS = 1000;

/** Watches the connection of workers. */
export class WorkerWatch extends Outage {
  #workers: Workers | null = null;
  #isChecking = false;
  #last = '';

  /** Waits until workers are connected. Throws for anything but a server that does not answer yet. */
  async ready(workers: Workers): Promise<'ready'> {
    await workers.ready().catch((error: unknown) => {
      this.close();
      throw error;
    });
    this.#workers = workers;
    this.answered();
    return 'ready';
  }

  /** Takes an error of the workers that concerns no single job. */
  failed(error: Error): void {
    if (this.#workers) void this.#check(error, this.#workers);
    // An error that ends the start is reported by it.
    else setImmediate(() => this.lost(error));
  }

  /** Tells an error from an outage, and waits for the end of an outage. */
  async #check(error: Error, workers: Workers): Promise<void> {
    if (this.#isChecking || this.isClosed) return;
    this.#isChecking = true;
    if (!(await answers(workers))) {
      this.lost(error);
      do await delay(RETRY_MS);
      while (!this.isClosed && !(await answers(workers)));
      this.answered();
    } else if (!this.isClosed && error.message !== this.#last) {
      this.#last = error.message;
      await notice({ event: 'error', message: error.message }, this.options);
    }
    this.#isChecking = false;
  }
}

/** Whether the server of workers answers, so that they can take jobs and give them back. */
export function answers(workers: Workers): Promise<boolean> {
  return workers.check().then(
    () => true,
    (error: unknown) => error instanceof RestingError,
  );
}

/** Tells that a worker rests, or works again. */
export function reportState({ root, reason }: WorkerState, options: PrintOptions): Promise<void> {
  if (reason === null)
    return notice({ event: 'recovered', message: `root ${root}: works again`, more: { root } }, options);
  const message = `root ${root}: its jobs go to other workers: ${reason}`;
  return notice({ event: 'resting', message, more: { root, reason } }, options);
}

/** Reports a job that has ended. */
export async function reportJob(
  job: EndedJob,
  { quiet, json, terminal }: PrintOptions & { quiet?: boolean | undefined },
): Promise<void> {
  const { kind, root, plan, index, error, seconds, bytes, attempt } = job;
  const { writeLines } = terminal;
  if (json) return writeLines([terminal.printableJson({ kind, root, plan, index, error, seconds, bytes, attempt })]);
  if (quiet && error === null) return;
  const what = `${kind}${index === null ? '' : ` ${index}`} of ${plan.slice(0, 8)} in ${root}`;
  const tried = attempt > 1 ? `, attempt ${attempt}` : '';
  const end = error === null ? doneText(job, terminal) : terminal.printable(error);
  await writeLines([`${what}: ${end}${tried}`]);
}

/** The end of an attempt, as text: `done, 4.00 GiB in 2.1 s (1.90 GiB/s)`. */
function doneText({ kind, seconds, bytes }: EndedJob, { formatBytes }: Terminal): string {
  const time = `${seconds.toFixed(seconds < 10 ? 1 : 0)} s`;
  if (kind === 'part' && bytes === 0) return `taken from the store in ${time}`;
  if (!bytes) return `done in ${time}`;
  const rate = formatBytes(Math.round(bytes / Math.max(seconds, 0.001)));
  return `done, ${formatBytes(bytes)} in ${time} (${rate}/s)`;
}
