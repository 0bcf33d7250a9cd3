/** Lets Ctrl-C, SIGTERM and a closed standard output cancel a job. */
import { onAbort } from '../../errors/cancel.ts';
import { CLOSED, outputClosed } from './output.ts';

/** How long a cancelled command has to end, in milliseconds. */
const GRACE_MS = 1000;

/**
 * Runs a job with an abort signal that SIGINT, SIGTERM and a closed standard output fire. The reason is the name of the signal or
 * {@link CLOSED}: see `exitCodeOf`.
 */
export async function interruptible<T>(job: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController();
  const interrupt = (signal: NodeJS.Signals) => controller.abort(signal);
  process.once('SIGINT', interrupt);
  process.once('SIGTERM', interrupt);
  const removeListener = onAbort(outputClosed, () => controller.abort(CLOSED));
  try {
    return await job(controller.signal);
  } finally {
    removeListener();
    process.removeListener('SIGINT', interrupt);
    process.removeListener('SIGTERM', interrupt);
    const { reason } = controller.signal;
    if (reason === 'SIGINT' || reason === 'SIGTERM') endIfStuck(reason);
  }
}

/**
 * Ends the process by a signal if it still runs after the grace time. A read from a pipe without data keeps it: libuv waits for its
 * threads, even in `process.exit`.
 */
function endIfStuck(signal: NodeJS.Signals): void {
  setTimeout(() => process.kill(process.pid, signal), GRACE_MS).unref();
}
