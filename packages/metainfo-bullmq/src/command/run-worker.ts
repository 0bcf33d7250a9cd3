/** Runs `metainfo worker`. */
import { setTimeout as delay } from 'node:timers/promises';
import { RefusedError } from '../failures.ts';
import { TorrentQueue } from '../torrent-queue.ts';
import { MOST_MS } from '../with-deadline.ts';
import { createWorkers, type Workers, type WorkersOptions } from '../workers.ts';
import type { Address } from './metrics.ts';
import { notice } from './notices.ts';
import { nameOfConnection } from './server-name.ts';
import type { PrintOptions } from './terminal.ts';
import { answers, reportJob, reportState, WorkerWatch } from './watch-worker.ts';

interface WorkerOptions
  extends PrintOptions,
    Pick<WorkersOptions, 'store' | 'roots' | 'threads' | 'memoryLimit' | 'concurrency' | 'requiredFile' | 'stall'> {
  connection: string;
  grace?: number | undefined;
  metrics?: Address | undefined;
  quiet?: boolean | undefined;
}

/** The default grace time: below the 30 s after which Kubernetes kills, so that jobs can still be given back. */
const GRACE_MS = 25_000;
/** How long a server may take to answer a worker that ends. */
const ANSWER_MS = 500;
const POLL_MS = 50;
/** How long a scrape waits for the server. */
const COUNTS_MS = 3000;
/** Scrapes of all workers share an answer for so long. */
const AGE_MS = 5000;

/** Works until a signal stops it, and ends the process. */
export async function runWorker(options: WorkerOptions): Promise<void> {
  const { connection, roots, store, grace = GRACE_MS, quiet, json, terminal } = options;
  const { threads = null, memoryLimit, concurrency, requiredFile, stall } = options;
  const limits = { threads, memoryLimit, concurrency, requiredFile, stall };
  const print = { json, terminal };
  const server = nameOfConnection(connection);
  const watch = new WorkerWatch(server, print);
  const shared = { connection, store };
  let asked: TorrentQueue | undefined;
  const counts = () => {
    asked ??= new TorrentQueue(shared);
    return asked.counts(Object.keys(roots), { signal: AbortSignal.timeout(COUNTS_MS), maxAge: AGE_MS });
  };
  const metrics = options.metrics && (await (await import('./metrics.ts')).serveMetrics(options.metrics, counts));
  if (metrics && !quiet) {
    const message = `metrics at ${metrics.url}, health at /healthz`;
    await notice({ event: 'metrics', message, more: { url: metrics.url } }, print);
  }
  let refuse: (error: Error) => void = () => {};
  // It will be refused again: those who watch the worker must know.
  const refused = new Promise<never>((_, reject) => {
    refuse = reject;
  });
  const workers = createWorkers({
    ...shared,
    roots,
    ...limits,
    onError: (error) => (error instanceof RefusedError ? refuse(error) : watch.failed(error)),
    onJob: (job) => {
      metrics?.onJob(job);
      void reportJob(job, { quiet, ...print }).catch(() => {});
    },
    onWorker: (state) => {
      metrics?.onWorker(state);
      void reportState(state, print).catch(() => {});
    },
  });
  metrics?.watch(workers);
  const stopped = stopSignal();
  try {
    const isReady = (await Promise.race([watch.ready(workers), stopped, refused])) === 'ready';
    // A root that is not mounted yet keeps the others from nothing.
    if (!isReady && workers.running === 0) process.exit(0);
    const message = `working for ${server}, until SIGTERM or Ctrl-C`;
    if (isReady && !quiet) await notice({ event: 'ready', message, more: { server } }, print);
    await Promise.race([stopped, refused]);
  } catch (error) {
    // The connections of BullMQ would keep the process alive.
    process.exit(await terminal.exitCodeOf(error));
  }
  watch.close();
  await end(workers, grace);
}

/** Resolves with the next signal that stops the worker. */
function stopSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    process.on('SIGTERM', resolve);
    process.on('SIGINT', resolve);
  });
}

async function end(workers: Workers, grace: number): Promise<never> {
  const answered = answers(workers);
  const ended = workers.close({ grace });
  // A second signal ends the grace time: running jobs still go back to the queue.
  const forced = stopSignal();
  if (await Promise.race([answered, delay(ANSWER_MS, false)])) {
    await Promise.race([ended, forced]);
    await workers.close();
  } else {
    // Nothing can be given back. A part that ends in time is in the store, and nobody hashes it again.
    let isOver = false;
    void Promise.race([forced, delay(Math.min(grace, MOST_MS))]).then(() => {
      isOver = true;
    });
    while (workers.running > 0 && !isOver) await delay(POLL_MS);
  }
  process.exit(0);
}
