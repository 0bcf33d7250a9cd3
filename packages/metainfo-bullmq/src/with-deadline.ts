/** Waits for a server that may be gone, or until a signal fires. */
import { setTimeout as delay } from 'node:timers/promises';
import { AbortError } from 'metainfo';

/** Milliseconds for which closing waits for connections to end. */
const DISCONNECT_MS = 1000;

/** The longest time of a timer, in milliseconds: longer ones fire at once. */
export const MOST_MS: number = 2 ** 31 - 1;

const LATE = Symbol('late');

/** Waits for a promise, but ends otherwise when it takes too long: a server that is gone answers no more. */
export async function withDeadline<T>(
  ms: number,
  promise: Promise<T>,
  otherwise: () => unknown = () => {},
): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<typeof LATE>((resolve) => {
    timer = setTimeout(resolve, Math.min(ms, MOST_MS), LATE);
  });
  try {
    const first = await Promise.race([promise, late]);
    if (typeof first !== 'symbol') return first as T;
    await Promise.race([otherwise(), delay(DISCONNECT_MS)]);
    return undefined;
  } finally {
    clearTimeout(timer);
  }
}

/** @throws {AbortError} if the signal has fired */
export function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw new AbortError(signal);
}

/** Waits until a signal fires share one listener, because adding many listeners takes long. */
const waiting = new WeakMap<AbortSignal, Set<() => void>>();

/** Waits for a promise. Throws an {@link AbortError} if the signal fires first. */
export async function untilAbort<T>(signal: AbortSignal | undefined, promise: Promise<T>): Promise<T> {
  if (!signal) return promise;
  if (signal.aborted) {
    promise.catch(() => {});
    throw new AbortError(signal);
  }
  let all = waiting.get(signal);
  if (!all) {
    const added = new Set<() => void>();
    signal.addEventListener('abort', () => added.forEach((abort) => void abort()), { once: true });
    waiting.set(signal, added);
    all = added;
  }
  const others = all;
  return new Promise<T>((resolve, reject) => {
    const abort = () => reject(new AbortError(signal));
    others.add(abort);
    promise.then(resolve, reject).finally(() => others.delete(abort));
  });
}
