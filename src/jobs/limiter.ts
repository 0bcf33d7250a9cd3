import { AbortError, onAbort, throwIfAborted } from '../errors/cancel.ts';

/** After so many steps of its work, the next in the queue goes first. */
const STEPS = 16;

/**
 * How many pieces of work are under way at once; all others wait, and start in the order in which they came. So however
 * many are asked for, their memory and descriptors are bounded, the first one ends long before the last one begins, and
 * what JavaScript has to do between two rounds of the event loop is little.
 */
export class Limiter {
  readonly #waiting = new Set<() => void>();
  /** Goes on where it was: one that begins anew goes over the holes of all who have left. */
  #queue = this.#waiting.values();
  #free: number;

  constructor(atOnce: number) {
    this.#free = atOnce;
  }

  /**
   * Does work when its turn has come.
   *
   * @throws {AbortError} when the signal fires before that; whatever the work throws
   */
  async run<T>(signal: AbortSignal | undefined, work: (turn: Slot) => Promise<T>): Promise<T> {
    const turn = new Slot(this, signal);
    await turn.begin();
    try {
      return await work(turn);
    } finally {
      turn.end();
    }
  }

  /** @internal Whether somebody waits. */
  get isCrowded(): boolean {
    return this.#waiting.size > 0;
  }

  /** @internal */
  take(signal: AbortSignal | undefined): Promise<void> | undefined {
    throwIfAborted(signal);
    if (this.#free === 0) return this.#wait(signal);
    this.#free -= 1;
    return undefined;
  }

  /** @internal */
  give(): void {
    const { value: next, done } = this.#queue.next();
    if (done) {
      // It has ended for good; those who come now are behind it.
      this.#queue = this.#waiting.values();
      this.#free += 1;
      return;
    }
    this.#waiting.delete(next);
    // In another round of the event loop: those who fail at once would all do so in this one.
    setImmediate(next);
  }

  #wait(signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const forget = onAbort(signal, () => {
        // Or it has been called already, and gives its turn to the next.
        this.#waiting.delete(start);
        reject(new AbortError(signal as AbortSignal));
      });
      const start = () => {
        forget();
        // It has been told already.
        if (signal?.aborted) this.give();
        else resolve();
      };
      this.#waiting.add(start);
    });
  }
}

/** The turn of one piece of work. */
export class Slot {
  readonly #turns: Limiter;
  readonly #signal: AbortSignal | undefined;
  #isHeld = false;
  #steps = 0;

  constructor(turns: Limiter, signal: AbortSignal | undefined) {
    this.#turns = turns;
    this.#signal = signal;
  }

  /** @internal */
  async begin(): Promise<void> {
    await this.#turns.take(this.#signal);
    this.#isHeld = true;
    this.#steps = 0;
  }

  /** Before a step of long work: when there were many and others wait, goes to the end of their queue. */
  async offer(): Promise<void> {
    this.#steps += 1;
    if (!this.#isHeld || this.#steps <= STEPS || !this.#turns.isCrowded) return;
    this.end();
    await this.begin();
  }

  /** Ends it before the work ends. */
  end(): void {
    if (this.#isHeld) this.#turns.give();
    this.#isHeld = false;
  }
}
