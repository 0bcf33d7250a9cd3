/** Draws the progress of many jobs as one line at the bottom of a terminal. */
import type { BarState, ProgressBar } from '../../jobs/progress-bar.ts';
import type { Progress } from '../../jobs/watch.ts';
import { barFor, type ProgressOptions, progressForm } from '../terminal/progress.ts';

/** Loading the module of the line takes a moment, and small jobs end before. */
const LOAD_AFTER_MS = 500;
const INTERVAL_MS = 200;

/** The last progress of a job. */
interface Running extends Pick<Progress, 'retrying'> {
  bytes: number;
  totalBytes: number | null;
}

/**
 * The progress of many jobs. It is shown on standard error, and never by the jobs themselves, so that they
 * do not overwrite each other. {@link OverallProgress.clear} makes room for lines.
 */
export class OverallProgress {
  readonly #running = new Map<number, Running>();
  readonly #started = performance.now();
  readonly #timers: NodeJS.Timeout[] = [];
  readonly #count: number | null;
  #ended = 0;
  #failed = 0;
  /** Bytes of the jobs that have ended: those that were hashed, and all of their content. */
  #endedBytes = { hashed: 0, all: 0 };
  #name = '';
  #bar: ProgressBar | null = null;
  #isStopped = false;

  /** @param count The number of jobs; null if it is not known. */
  constructor(count: number | null, options: ProgressOptions) {
    this.#count = count;
    if (progressForm(options) === 'none') return;
    if (options.progress === 'json') this.#load(options);
    else this.#timers.push(setTimeout(() => this.#load(options), LOAD_AFTER_MS).unref());
    this.#timers.push(setInterval(() => this.#bar?.update(this.#state()), INTERVAL_MS).unref());
  }

  /** A job has started. */
  start(job: number): void {
    this.#running.set(job, { bytes: 0, totalBytes: null });
  }

  /** @param name The path of the job. */
  update(job: number, { bytes, totalBytes, totalGrows, file, ...rest }: Progress, name: string): void {
    this.#running.set(job, { ...rest, bytes, totalBytes: totalGrows ? null : totalBytes });
    this.#name = name.endsWith(file) ? name : `${name}: ${file}`;
  }

  /** A job has ended. */
  end(job: number, { failed = false } = {}): void {
    const { bytes, totalBytes } = this.#running.get(job) ?? { bytes: 0, totalBytes: 0 };
    this.#running.delete(job);
    this.#ended += 1;
    if (failed) this.#failed += 1;
    this.#endedBytes.hashed += bytes;
    // A job that fails or is skipped has nothing more to hash.
    this.#endedBytes.all += failed ? bytes : (totalBytes ?? bytes);
  }

  /** Bytes that were hashed. */
  get bytes(): number {
    return this.#sum(({ bytes }) => bytes, this.#endedBytes.hashed);
  }

  /** Removes the line, before anything else is written. It comes back. */
  clear(): void {
    this.#bar?.finish();
  }

  /** Removes the line for good. */
  stop(): void {
    for (const timer of this.#timers) clearTimeout(timer);
    this.#isStopped = true;
    this.#bar?.update(this.#state());
    this.clear();
    this.#bar = null;
  }

  async #load(options: ProgressOptions): Promise<void> {
    // If the module does not load, there is no line.
    const bar = await barFor(options).catch(() => null);
    // All jobs may have ended.
    if (this.#isStopped && options.progress === 'json') bar?.update(this.#state());
    else this.#bar = bar;
  }

  #state(): BarState {
    const running = [...this.#running.values()];
    const known = this.#ended + running.filter(({ totalBytes }) => totalBytes !== null).length;
    const retrying = running.find((job) => job.retrying)?.retrying;
    const knownBytes = this.#sum(({ totalBytes }) => totalBytes ?? 0, this.#endedBytes.all);
    return {
      jobs: { ended: this.#ended, failed: this.#failed, count: this.#count },
      bytes: this.bytes,
      ...(retrying && { retrying }),
      totalBytes: known === this.#count ? knownBytes : null,
      // If the other jobs have as many bytes as those of known size.
      likelyBytes: this.#count === null || knownBytes === 0 ? null : (knownBytes / known) * this.#count,
      seconds: (performance.now() - this.#started) / 1000,
      file: this.#name,
    };
  }

  #sum(value: (job: Running) => number, from: number): number {
    let sum = from;
    for (const job of this.#running.values()) sum += value(job);
    return sum;
  }
}
