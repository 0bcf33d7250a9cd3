/** Draws the progress of many jobs as one line at the bottom of a terminal. */
import type { Progress } from '../../jobs/watch.ts';
import { showsProgress, stderr } from '../output.ts';
import type { OverallState, overallText } from './progress-text.ts';

/** Jobs that end sooner show nothing. */
const DELAY_MS = 1000;
const INTERVAL_MS = 200;
const CLEAR_LINE = '\r\u001b[K';

/** The last progress of a job. */
interface Running {
  bytes: number;
  totalBytes: number | null;
}

/**
 * The progress of many jobs. It is drawn on standard error if that is a terminal, and never by the jobs themselves, so that they
 * do not overwrite each other. {@link OverallProgress.clear} makes room for lines.
 */
export class OverallProgress {
  readonly #running = new Map<number, Running>();
  readonly #started = performance.now();
  readonly #timer: NodeJS.Timeout | null;
  #count: number | null;
  #ended = 0;
  #failed = 0;
  /** Bytes of the jobs that have ended: those that were hashed, and all of their content. */
  #endedBytes = { hashed: 0, all: 0 };
  #name = '';
  #text: typeof overallText | null = null;
  #isDrawn = false;

  /** @param count The number of jobs; null if it is not known. */
  constructor(count: number | null, options: { quiet?: boolean; json?: boolean }) {
    this.#count = count;
    const isShown = showsProgress(options) && Boolean(stderr().isTTY);
    this.#timer = isShown ? setInterval(() => this.#draw(), INTERVAL_MS).unref() : null;
  }

  /** A job has started. */
  start(job: number): void {
    this.#running.set(job, { bytes: 0, totalBytes: null });
  }

  /** @param name The path of the job. */
  update(job: number, { bytes, totalBytes, totalGrows, file }: Progress, name: string): void {
    this.#running.set(job, { bytes, totalBytes: totalGrows ? null : totalBytes });
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
    if (this.#isDrawn) stderr().write(CLEAR_LINE);
    this.#isDrawn = false;
  }

  /** Removes the line for good. */
  stop(): void {
    if (this.#timer) clearInterval(this.#timer);
    this.clear();
  }

  #draw(): void {
    if (performance.now() - this.#started < DELAY_MS) return;
    if (!this.#text) {
      // Loaded only here: small jobs end before. Without the module there is no line.
      import('./progress-text.ts').then(
        (module) => {
          this.#text = module.overallText;
        },
        () => {},
      );
      return;
    }
    stderr().write(CLEAR_LINE + this.#text(this.#state(), stderr().columns || 80));
    this.#isDrawn = true;
  }

  #state(): OverallState {
    const running = [...this.#running.values()];
    const known = this.#ended + running.filter(({ totalBytes }) => totalBytes !== null).length;
    const knownBytes = this.#sum(({ totalBytes }) => totalBytes ?? 0, this.#endedBytes.all);
    return {
      ended: this.#ended,
      failed: this.#failed,
      count: this.#count,
      bytes: this.bytes,
      totalBytes: known === this.#count ? knownBytes : null,
      likelyBytes: this.#count === null || known === 0 ? null : (knownBytes / known) * this.#count,
      seconds: (performance.now() - this.#started) / 1000,
      name: this.#name,
    };
  }

  #sum(value: (job: Running) => number, from: number): number {
    let sum = from;
    for (const job of this.#running.values()) sum += value(job);
    return sum;
  }
}
