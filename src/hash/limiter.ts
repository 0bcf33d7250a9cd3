/** Bounds how many jobs run at once: the others wait in a queue. */
import { AbortError, onAbort, throwIfAborted } from '../errors/cancel.ts';

/** A job goes to the end of the queue after this many steps. */
const STEPS_PER_SLOT = 16;

/**
 * Lends slots to jobs, in the order in which the jobs ask. It bounds memory and open files however many jobs there are, and
 * the first job ends long before the last one begins.
 */
export class Limiter {
  readonly #queue = new Set<() => void>();
  /** Keep one iterator: a new one would skip over every deleted entry again (quadratic). */
  #waiting = this.#queue.values();
  #free: number;

  /** @param slots How many jobs may run at once. */
  constructor(slots: number) {
    this.#free = slots;
  }

  /**
   * Runs a job as soon as there is a slot for it.
   *
   * @throws {AbortError} when the signal fires while the job waits
   * @throws the error of the job
   */
  async run<T>(signal: AbortSignal | undefined, job: (slot: Slot) => Promise<T>): Promise<T> {
    const slot = new Slot(this, signal);
    await slot.acquire();
    try {
      return await job(slot);
    } finally {
      slot.release();
    }
  }

  /** Whether a job waits for a slot. */
  get hasWaiting(): boolean {
    return this.#queue.size > 0;
  }

  /** The number of jobs in the queue before the one that `start` starts; -1 if it does not wait. */
  indexOf(start: (() => void) | null): number {
    return start === null ? -1 : [...this.#queue].indexOf(start);
  }

  /** Takes a free slot, if there is one. */
  take(): boolean {
    if (this.#free === 0) return false;
    this.#free -= 1;
    return true;
  }

  /** Hands a slot to the first job in the queue. */
  give(): void {
    const { value: start, done } = this.#waiting.next();
    if (done) {
      // An iterator that has ended does not see later entries.
      this.#waiting = this.#queue.values();
      this.#free += 1;
      return;
    }
    this.#queue.delete(start);
    // Start it in another round of the event loop: otherwise, jobs that fail at once would all run in this round.
    setImmediate(start);
  }

  /** Adds a job to the end of the queue. */
  enqueue(start: () => void): void {
    this.#queue.add(start);
  }

  /** Removes a job from the queue. */
  leave(start: () => void): void {
    this.#queue.delete(start);
  }
}

/** The slot of one job. */
export class Slot {
  readonly #limiter: Limiter;
  readonly #signal: AbortSignal | undefined;
  #isHeld = false;
  #steps = 0;
  /** Starts the job that waits for this slot. */
  #start: (() => void) | null = null;

  constructor(limiter: Limiter, signal?: AbortSignal) {
    this.#limiter = limiter;
    this.#signal = signal;
  }

  /** How many waiting jobs go first; -1 if this one does not wait. */
  get queueIndex(): number {
    return this.#limiter.indexOf(this.#start);
  }

  /**
   * Waits for the slot.
   *
   * @throws {AbortError} when the signal fires first
   */
  async acquire(): Promise<void> {
    throwIfAborted(this.#signal);
    if (!this.#limiter.take()) await this.#wait();
    this.#isHeld = true;
    this.#steps = 0;
  }

  /** Counts a step of a long job. After some steps, it goes to the end of the queue if other jobs wait. */
  async offer(): Promise<void> {
    this.#steps += 1;
    if (this.#isHeld && this.#steps > STEPS_PER_SLOT && this.#limiter.hasWaiting) await this.requeue();
  }

  /** Goes to the end of the queue, also when no other job waits: the event loop runs before this job goes on. */
  async requeue(): Promise<void> {
    throwIfAborted(this.#signal);
    const waiting = this.#wait();
    this.release();
    await waiting;
    this.#isHeld = true;
    this.#steps = 0;
  }

  /** Releases the slot, at the latest when the job ends. */
  release(): void {
    if (this.#isHeld) this.#limiter.give();
    this.#isHeld = false;
  }

  #wait(): Promise<void> {
    const signal = this.#signal;
    return new Promise((resolve, reject) => {
      const removeListener = onAbort(signal, () => {
        // If the slot is on its way already, `start` passes it on.
        this.#limiter.leave(start);
        this.#start = null;
        reject(new AbortError(signal as AbortSignal));
      });
      const start = () => {
        removeListener();
        this.#start = null;
        if (signal?.aborted) this.#limiter.give();
        else resolve();
      };
      this.#start = start;
      this.#limiter.enqueue(start);
    });
  }
}
