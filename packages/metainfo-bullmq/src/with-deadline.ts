/** Waits for a server that may be gone, or until a signal fires. */
import { setMaxListeners } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { AbortError } from 'metainfo';

/** Milliseconds for which closing waits for connections to end. */
const DISCONNECT_MS = 1000;

/** The longest time of a timer, in milliseconds: longer ones fire at once. */
const MOST_MS = 2 ** 31 - 1;

const LATE = Symbol('late');

/** Waits for a promise, but ends otherwise when it takes too long: a server that is gone answers no more. */
export async function withDeadline<T>(
  ms: number,
  promise: Promise<T>,
  otherwise: () => unknown = () => {},
): Promise<T | undefined> {
  const timer = new AbortController();
  const late = delay(Math.min(ms, MOST_MS), LATE, { signal: timer.signal }).catch(() => LATE);
  try {
    const first = await Promise.race([promise, late]);
    if (typeof first !== 'symbol') return first as T;
    await Promise.race([otherwise(), delay(DISCONNECT_MS)]);
    return undefined;
  } finally {
    timer.abort();
  }
}

/** @throws {AbortError} if the signal has fired */
export function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw new AbortError(signal);
}

/**
 * Waits for a promise until the signal fires.
 *
 * @throws {AbortError} if the signal fires first
 */
export async function untilAbort<T>(signal: AbortSignal | undefined, promise: Promise<T>): Promise<T> {
  if (!signal) return promise;
  const done = new AbortController();
  // All parts of a job wait for its signal, which is no leak.
  setMaxListeners(0, signal);
  const aborted = new Promise<never>((_, reject) => {
    const abort = () => reject(new AbortError(signal));
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true, signal: done.signal });
  });
  return Promise.race([promise, aborted]).finally(() => done.abort());
}
