/** Bounds how many jobs run at once: the others wait in a queue. */

import { AbortError, onAbort, throwIfAborted } from '../errors/cancel.ts';
import { soon } from '../platform/node.ts';

/** A job goes to the end of the queue after this many steps. */
const STEPS_PER_SLOT = 16;

/** So many jobs start in one round of the event loop: many short jobs, one after the other, must not keep it from running. */
const STARTS_PER_ROUND = 16;
/** How much of a start {@link runShort} counts as: its jobs take no longer than 0.1 ms. */
const SHORT = 1 / 4;

/**
 * Lends slots to jobs, in the order in which the jobs ask. It bounds memory and open files however many jobs there are, and
 * the first job ends long before the last one begins.
 */
export class Limiter {
  readonly #queue = new Set<() => void>();
  /** Keep one iterator: a new one would skip over every deleted entry again (quadratic). */
  #waiting = this.#queue.values();
  #free: number;
  #startsLeft = STARTS_PER_ROUND;
  #isRoundPlanned = false;

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
    if (!slot.tryAcquire()) await slot.acquire();
    try {
      return await job(slot);
    } finally {
      slot.release();
    }
  }

  /** The jobs that wait for a slot. */
  get waiting(): number {
    return this.#queue.size;
  }

  /** The number of jobs in the queue before the one that `start` starts; -1 if it does not wait. */
  indexOf(start: (() => void) | null): number {
    return start === null ? -1 : [...this.#queue].indexOf(start);
  }

  /** Takes a free slot, if there is one for a job that does not wait. */
  take(starts = 1): boolean {
    if (this.#free === 0 || this.#startsLeft <= 0 || this.#queue.size > 0) return false;
    this.#free -= 1;
    this.#startsLeft -= starts;
    return true;
  }

  /** Takes a slot back. */
  give(): void {
    this.#free += 1;
    this.#planRound();
  }

  /** Adds a job to the end of the queue. */
  enqueue(start: () => void): void {
    this.#queue.add(start);
    this.#planRound();
  }

  /** Removes a job from the queue. */
  leave(start: () => void): void {
    this.#queue.delete(start);
    // An iterator keeps the entries that were deleted before it moved on.
    if (this.#queue.size === 0) this.#waiting = this.#queue.values();
  }

  /** Jobs start in another round of the event loop: otherwise, jobs that fail at once would all run in this round. */
  #planRound(): void {
    if (this.#isRoundPlanned || this.#free === 0 || this.#queue.size === 0) return;
    this.#isRoundPlanned = true;
    soon(() => {
      this.#isRoundPlanned = false;
      this.#startsLeft = STARTS_PER_ROUND;
      this.#startWaiting();
      this.#planRound();
    });
  }

  #startWaiting(): void {
    while (this.#queue.size > 0 && this.#free > 0 && this.#startsLeft > 0) {
      const start = this.#waiting.next().value as () => void;
      this.leave(start);
      this.#free -= 1;
      this.#startsLeft -= 1;
      start();
    }
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

  /** Waits for the slot. Throws {@link AbortError} when the signal fires first. */
  async acquire(): Promise<void> {
    if (!this.tryAcquire()) await this.#wait();
  }

  /** Takes a slot if one is free. Throws {@link AbortError} when the signal has fired. */
  tryAcquire(): boolean {
    throwIfAborted(this.#signal);
    if (this.#limiter.take()) this.#hold();
    return this.#isHeld;
  }

  #hold(): void {
    this.#isHeld = true;
    this.#steps = 0;
  }

  /** Counts a step of a long job. After some steps, it goes to the end of the queue if other jobs wait. */
  async offer(): Promise<void> {
    this.#steps += 1;
    if (this.#isHeld && this.#steps > STEPS_PER_SLOT && this.#limiter.waiting > 0) await this.requeue();
  }

  /** Goes to the end of the queue, also when no other job waits: the event loop runs before this job goes on. */
  async requeue(): Promise<void> {
    throwIfAborted(this.#signal);
    const waiting = this.#wait();
    this.release();
    await waiting;
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
        this.#limiter.leave(start);
        this.#start = null;
        reject(new AbortError(signal as AbortSignal));
      });
      const start = () => {
        removeListener();
        this.#start = null;
        this.#hold();
        resolve();
      };
      this.#start = start;
      this.#limiter.enqueue(start);
    });
  }
}

/** Runs a job that waits for nothing as soon as there is a slot for it: at once if one is free. @param delay Called if the job has to wait. */
export function runShort<T>(
  limiter: Limiter,
  job: () => T,
  { signal, delay }: { signal: AbortSignal | undefined; delay: () => void },
): T | Promise<T> {
  throwIfAborted(signal);
  if (limiter.take(SHORT)) {
    try {
      return job();
    } finally {
      limiter.give();
    }
  }
  delay();
  return limiter.run(signal, async () => job());
}
