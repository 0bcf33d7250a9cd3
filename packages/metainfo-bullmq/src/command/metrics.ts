/** `metainfo worker --metrics`: serves the numbers of a worker to Prometheus, and its health to probes. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { MetainfoError } from 'metainfo';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { refused } from '../failures.ts';
import type { WorkerState } from '../passing.ts';
import type { QueueCounts } from '../root-queues.ts';
import type { EndedJob, Workers } from '../workers.ts';

/** Where to listen. */
export interface Address {
  host: string;
  port: number;
}

/** The numbers of a worker, and where they are served. */
export interface Metrics {
  /** The URL of the numbers. */
  url: string;
  /** Counts a job that has ended. */
  onJob: (job: EndedJob) => void;
  /** Notes that the worker rests, or works again. */
  onWorker: (state: WorkerState) => void;
  /** Tells how the workers are, from now on. Until then, they are not ready. */
  watch: (workers: Workers) => void;
}

type Answer = [status: number, type?: string, body?: string];

/** Milliseconds for which an answer of the server is served again, however many ask. */
const COUNTS_MS = 5000;
const HEALTH_MS = 1000;
/** Milliseconds that a client may take to send its request. */
const REQUEST_MS = 5000;
const MOST_CONNECTIONS = 64;
const MOST_HEADER_BYTES = 8192;

/** Starts to serve `/metrics` and `/healthz`. Throws `ERR_INVALID_ARGUMENT` for an address that cannot be used. */
export async function serveMetrics(address: Address, counts: () => Promise<QueueCounts>): Promise<Metrics> {
  let workers: Workers | null = null;
  const { registry, ...events } = numbers(cached(COUNTS_MS, counts), () => workers);
  const check = cached(HEALTH_MS, async () => {
    if (!workers) throw new MetainfoError('ERR_QUEUE', 'The worker is not ready.');
    await workers.check();
  });
  const healthy = (): Answer => [200, 'text/plain', 'ok\n'];
  const unhealthy = (): Answer => [503, 'text/plain', 'not ready\n'];
  const pages = new Map<string | undefined, () => Promise<Answer>>([
    ['/metrics', async () => [200, registry.contentType, await registry.metrics()]],
    ['/healthz', () => check().then(healthy, unhealthy)],
  ]);
  const server = createServer(
    { maxHeaderSize: MOST_HEADER_BYTES, headersTimeout: REQUEST_MS, requestTimeout: REQUEST_MS },
    async ({ method = '', url = '' }, response) => {
      const isRead = method === 'GET' || method === 'HEAD';
      const page = pages.get(url.split('?', 1)[0]);
      const problem: Answer = [isRead ? 404 : 405];
      const answer = isRead && page ? await page().catch((): Answer => [500]) : problem;
      const [status, type = 'text/plain', body = ''] = answer;
      const refusal = status === 405 ? { Allow: 'GET, HEAD', Connection: 'close' } : {};
      response.writeHead(status, { 'Content-Type': type, 'Cache-Control': 'no-store', ...refusal });
      response.end(body);
    },
  );
  server.maxConnections = MOST_CONNECTIONS;
  // A worker that cannot start must end.
  server.listen(address).unref();
  const name = address.host.includes(':') ? `[${address.host}]` : address.host;
  await once(server, 'listening').catch((error: NodeJS.ErrnoException) => {
    const reason = error.code === 'EADDRINUSE' ? 'the address is in use' : error.message;
    throw refused(`--metrics cannot listen at ${name}:${address.port}: ${reason}. Choose another address`);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://${name}:${port}/metrics`,
    ...events,
    watch: (now) => {
      workers = now;
    },
  };
}

/** Asks at most once at a time, and gives an answer or a failure again for some milliseconds. */
function cached<T>(ms: number, ask: () => Promise<T>): () => Promise<T> {
  let last: { answer: Promise<T>; until: number } | null = null;
  return () => {
    if (last && performance.now() < last.until) return last.answer;
    const asked = { answer: ask(), until: Number.POSITIVE_INFINITY };
    last = asked;
    const answered = () => {
      asked.until = performance.now() + ms;
    };
    asked.answer.then(answered, answered);
    return asked.answer;
  };
}

/** Seconds of jobs: from a part that the store had to one of many GiB on a slow disk. */
const SECONDS = [0.1, 1, 5, 30, 120, 600, 3600];

type Sample = [labels: Record<string, string>, value: number];

function numbers(
  counts: () => Promise<QueueCounts>,
  workers: () => Workers | null,
): { registry: Registry } & Pick<Metrics, 'onJob' | 'onWorker'> {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const registers = [registry];
  const about = (name: string, help: string, ...labelNames: string[]) => ({ name, help, labelNames, registers });
  const result = 'Attempts of jobs that have ended on this worker, by result: ok or a code';
  const ended = new Counter(about('metainfo_jobs_total', result, 'kind', 'root', 'result'));
  const again = 'Those that were not the first attempt of their job';
  const retries = new Counter(about('metainfo_job_retries_total', again, 'kind', 'root'));
  const hashed = 'Bytes of content of the parts that this worker has hashed';
  const bytes = new Counter(about('metainfo_hashed_bytes_total', hashed, 'root'));
  const attempts = about('metainfo_job_seconds', 'Seconds of attempts of jobs', 'kind', 'root');
  const seconds = new Histogram({ ...attempts, buckets: SECONDS });
  const gauge = (options: ReturnType<typeof about>, samples: () => Promise<Sample[]>) =>
    new Gauge({
      ...options,
      async collect() {
        const found = await samples();
        this.reset();
        for (const [labels, value] of found) this.set(labels, value);
      },
    });
  // While the server does not answer, there are no old numbers, which would look like new ones.
  const answer = () => counts().catch(() => null);
  const roots = async () => Object.entries((await answer())?.roots ?? {});
  gauge(about('metainfo_jobs_running', 'Jobs that run on this worker'), async () => [[{}, workers()?.running ?? 0]]);
  gauge(about('metainfo_queue_connected', 'Whether the server of the queue answers: 1 or 0'), async () => [
    [{}, (await answer()) ? 1 : 0],
  ]);
  gauge(about('metainfo_queue_workers', 'Workers that serve a root', 'root'), async () =>
    (await roots()).map(([root, { workers }]) => [{ root }, workers]),
  );
  gauge(about('metainfo_queue_jobs', 'Jobs of a root in the queue, by state', 'root', 'state'), async () =>
    (await roots()).flatMap(([root, { workers: _, ...states }]) =>
      Object.entries(states).map(([state, jobs]): Sample => [{ root, state }, jobs]),
    ),
  );
  const onJob = ({ kind, root, error, attempt, ...job }: EndedJob) => {
    const result = error === null ? 'ok' : (/^ERR_[A-Z_]+(?=:)/.exec(error)?.[0] ?? 'other');
    ended.inc({ kind, root, result });
    if (attempt > 1) retries.inc({ kind, root });
    if (job.bytes) bytes.inc({ root }, job.bytes);
    seconds.observe({ kind, root }, job.seconds);
  };
  const rests = 'Whether the worker passes on the jobs of a root, because of its disk, its mounts or the store: 1 or 0';
  const resting = new Gauge(about('metainfo_worker_resting', rests, 'root'));
  const onWorker = ({ root, reason }: WorkerState) => resting.set({ root }, reason === null ? 0 : 1);
  return { registry, onJob, onWorker };
}
