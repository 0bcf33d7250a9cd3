/** Work that Ctrl-C and SIGTERM stop by its signal, whose reason is then the name of theirs: see `exitCodeOf`. */
export async function interruptible<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const stop = new AbortController();
  const interrupt = (signal: NodeJS.Signals) => stop.abort(signal);
  process.once('SIGINT', interrupt);
  process.once('SIGTERM', interrupt);
  try {
    return await work(stop.signal);
  } finally {
    process.removeListener('SIGINT', interrupt);
    process.removeListener('SIGTERM', interrupt);
  }
}
