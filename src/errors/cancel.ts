/** Cancels jobs through an AbortSignal, and makes the errors of cancelled jobs. */
import { MetainfoError } from './errors.ts';
import { shareClass } from './shared.ts';

/** A job was cancelled through the caller's signal; the signal's reason is the `cause`. */
export class AbortError extends MetainfoError {
  override readonly name = 'AbortError';

  /** Makes the error of a signal that has fired. */
  constructor(signal: AbortSignal) {
    super('ERR_ABORTED', 'The job was cancelled by its AbortSignal.', { cause: signal?.reason });
  }
}
shareClass(AbortError, 'AbortError');

/** Makes the error of a hash job that was cancelled before it ended. */
export function hashingCancelled(cause?: unknown): MetainfoError {
  return new MetainfoError('ERR_ABORTED', 'Hashing was cancelled.', { cause });
}

/** @throws {AbortError} when the signal has fired */
export function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw new AbortError(signal);
}

/** Calls `abort` once when the signal fires. Returns a function that removes the callback. */
export function onAbort(signal: AbortSignal | undefined, abort: () => void): () => void {
  if (!signal) return () => {};
  const shared = sharedListeners.get(signal) ?? listen(signal);
  shared.callbacks.add(abort);
  return () => {
    shared.callbacks.delete(abort);
    if (shared.callbacks.size === 0) shared.remove();
  };
}

interface SharedListener {
  callbacks: Set<() => void>;
  remove: () => void;
}

/** One listener per signal: with one per job, Node would take quadratic time to add and remove them, and warn of a leak. */
const sharedListeners = new WeakMap<AbortSignal, SharedListener>();

function listen(signal: AbortSignal): SharedListener {
  const callbacks = new Set<() => void>();
  const onEvent = () => {
    // A signal fires once: do not keep the callbacks as long as the signal.
    sharedListeners.delete(signal);
    for (const callback of callbacks) callback();
  };
  const remove = () => {
    signal.removeEventListener('abort', onEvent);
    if (sharedListeners.get(signal) === shared) sharedListeners.delete(signal);
  };
  const shared = { callbacks, remove };
  sharedListeners.set(signal, shared);
  signal.addEventListener('abort', onEvent, { once: true });
  return shared;
}

/**
 * Waits for a promise until the signal fires. It is meant for system calls that may never answer, such as those of a dead
 * network drive: the call goes on, but its result is dropped.
 *
 * @throws {AbortError} when the signal fires first
 */
export function untilAbort<T>(signal: AbortSignal | undefined, promise: Promise<T>): Promise<T> {
  if (!signal) return promise;
  return new Promise((resolve, reject) => {
    const abort = () => reject(new AbortError(signal));
    const removeListener = onAbort(signal, abort);
    if (signal.aborted) abort();
    promise.finally(removeListener).then(resolve, reject);
  });
}
