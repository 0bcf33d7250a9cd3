/** Lets Ctrl-C and SIGTERM cancel a job. */

/** Runs a job with an abort signal that SIGINT and SIGTERM fire. The reason is the signal's name: see `exitCodeOf`. */
export async function interruptible<T>(job: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController();
  const interrupt = (signal: NodeJS.Signals) => controller.abort(signal);
  process.once('SIGINT', interrupt);
  process.once('SIGTERM', interrupt);
  try {
    return await job(controller.signal);
  } finally {
    process.removeListener('SIGINT', interrupt);
    process.removeListener('SIGTERM', interrupt);
  }
}
