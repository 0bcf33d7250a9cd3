/** Waits for a server that may be gone. */
import { setTimeout as delay } from 'node:timers/promises';

/** Milliseconds for which closing waits for connections to end. */
const DISCONNECT_MS = 1000;

/** The longest time of a timer, in milliseconds: longer ones fire at once. */
const MOST_MS = 2 ** 31 - 1;

/** Waits for a promise, but ends otherwise when it takes too long: a server that is gone answers no more. */
export async function within(ms: number, promise: Promise<unknown>, otherwise: () => unknown): Promise<void> {
  const timer = new AbortController();
  const late = delay(Math.min(ms, MOST_MS), 'late', { signal: timer.signal }).catch(() => {});
  const first = await Promise.race([promise, late]);
  timer.abort();
  if (first === 'late') await Promise.race([otherwise(), delay(DISCONNECT_MS)]);
}
