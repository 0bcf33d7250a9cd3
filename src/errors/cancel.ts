/** Waits for promises and listens to signals so that a caller can cancel its work. */
import { setMaxListeners } from 'node:events';
import { AbortError } from './errors.ts';

/** Calls back when the signal fires, until what it returns is called. */
export function onAbort(signal: AbortSignal | undefined, abort: () => void): () => void {
  // Any number of jobs may share one: Node would take more than ten for a leak.
  if (signal instanceof EventTarget) setMaxListeners(0, signal);
  signal?.addEventListener('abort', abort, { once: true });
  return () => signal?.removeEventListener('abort', abort);
}

/**
 * What comes of a promise, unless the signal fires first: for calls of the system that may never answer. They go on, and
 * nobody waits for them.
 *
 * @throws {AbortError}
 */
export function untilAbort<T>(signal: AbortSignal | undefined, promise: Promise<T>): Promise<T> {
  if (!signal) return promise;
  return new Promise((resolve, reject) => {
    const abort = () => reject(new AbortError(signal));
    const forget = onAbort(signal, abort);
    if (signal.aborted) abort();
    promise.finally(forget).then(resolve, reject);
  });
}
