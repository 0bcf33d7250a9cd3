/** Visits the items of an iterable, a bounded number at once. */
import { onAbort, throwIfAborted, untilAbort } from '../errors/cancel.ts';

/** How {@link forEachConcurrently} visits. */
export interface ConcurrencyOptions {
  /** How many items are visited at once. */
  concurrency: number;
  signal?: AbortSignal | undefined;
}

/**
 * Visits every item, and takes the next one when a visit has ended: only items that are being visited are in memory. After the
 * first failure no item is taken, and the signal of the visits fires.
 *
 * @param visit Its signal fires with the caller's signal, or when another visit fails.
 * @throws {AbortError} when the signal fires
 * @throws the first failure of the iterator or of a visit, when all visits have ended
 */
export async function forEachConcurrently<T>(
  items: Iterable<T> | AsyncIterable<T>,
  { concurrency, signal }: ConcurrencyOptions,
  visit: (item: T, index: number, signal: AbortSignal) => Promise<void>,
): Promise<void> {
  throwIfAborted(signal);
  const stop = new AbortController();
  const removeListener = onAbort(signal, () => stop.abort(signal?.reason));
  const iterator = Symbol.asyncIterator in items ? items[Symbol.asyncIterator]() : items[Symbol.iterator]();
  let taken = 0;
  let failure: { error: unknown } | null = null;
  const visitNext = async () => {
    try {
      while (!stop.signal.aborted) {
        const next = iterator.next();
        const { done, value } = next instanceof Promise ? await untilAbort(stop.signal, next) : next;
        if (done) return;
        await visit(value, taken++, stop.signal);
      }
    } catch (error) {
      failure ??= { error };
      stop.abort(error);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, visitNext));
  removeListener();
  // An iterator that waits for its next item may never end.
  if (stop.signal.aborted) Promise.resolve(iterator.return?.()).catch(() => {});
  throwIfAborted(signal);
  if (failure) throw (failure as { error: unknown }).error;
}
