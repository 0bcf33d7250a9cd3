/** Runs `metainfo worker`. */
import { setTimeout as delay } from 'node:timers/promises';
import type { PartStore } from 'metainfo';
import { TorrentQueue } from '../torrent-queue.ts';
import { createWorkers, type Workers } from '../workers.ts';
import type { Address } from './metrics.ts';
import { notice } from './notices.ts';
import { nameOfConnection } from './server-name.ts';
import type { PrintOptions } from './terminal.ts';
import { answers, reportJob, WorkerWatch } from './watch-worker.ts';

/** The options of the command. */
interface WorkerOptions extends PrintOptions {
  connection: string;
  /** Folders by name. */
  roots: Readonly<Record<string, string>>;
  store: PartStore;
  threads?: number | null | undefined;
  memoryLimit?: number | undefined;
  concurrency?: number | undefined;
  grace?: number | undefined;
  metrics?: Address | undefined;
  quiet?: boolean | undefined;
}

/** The default grace time: below the 30 s after which Kubernetes kills, so that jobs can still be given back. */
const GRACE_MS = 25_000;
/** The longest time of a timer. */
const MOST_GRACE_MS = 2 ** 31 - 1;
/** How long a server may take to answer a worker that ends. */
const ANSWER_MS = 500;
const POLL_MS = 50;
/** How long a scrape waits for the server. */
const COUNTS_MS = 3000;

/** Works until a signal stops it, and ends the process. */
export async function runWorker(options: WorkerOptions): Promise<void> {
  const { connection, roots, store, grace = GRACE_MS, quiet, json, terminal } = options;
  const { threads = null, memoryLimit, concurrency } = options;
  const print = { json, terminal };
  const server = nameOfConnection(connection);
  const watch = new WorkerWatch(server, print);
  const shared = { connection, store };
  let asked: TorrentQueue | undefined;
  const counts = () => {
    asked ??= new TorrentQueue(shared);
    return asked.counts(Object.keys(roots), { signal: AbortSignal.timeout(COUNTS_MS) });
  };
  const metrics = options.metrics && (await (await import('./metrics.ts')).serveMetrics(options.metrics, counts));
  if (metrics && !quiet) {
    const message = `metrics at ${metrics.url}, health at /healthz`;
    await notice({ event: 'metrics', message, more: { url: metrics.url } }, print);
  }
  const workers = createWorkers({
    ...shared,
    roots,
    threads,
    memoryLimit,
    concurrency,
    onError: (error) => watch.failed(error),
    onJob: (job) => {
      metrics?.onJob(job);
      void reportJob(job, { quiet, ...print }).catch(() => {});
    },
  });
  const stopped = stopSignal();
  try {
    // Without a connection, no job runs that could be given back.
    if ((await Promise.race([watch.ready(workers), stopped])) !== 'ready') process.exit(0);
  } catch (error) {
    // The connections of BullMQ would keep the process alive.
    process.exit(await terminal.exitCodeOf(error));
  }
  metrics?.watch(workers);
  const message = `working for ${server}, until SIGTERM or Ctrl-C`;
  if (!quiet) await notice({ event: 'ready', message, more: { server } }, print);
  await stopped;
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
    void Promise.race([forced, delay(Math.min(grace, MOST_GRACE_MS))]).then(() => {
      isOver = true;
    });
    while (workers.running > 0 && !isOver) await delay(POLL_MS);
  }
  process.exit(0);
}
