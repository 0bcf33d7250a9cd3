/** Lets Ctrl-C, SIGTERM and a closed standard output cancel a job. */
import { onAbort } from '../errors/cancel.ts';
import { CLOSED, outputClosed } from './output.ts';

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
  }
}
