/** `metainfo worker --metrics`: serves the numbers of a worker to Prometheus, and its health to probes. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Gauge, Registry } from 'prom-client';
import type { EndedJob, QueueCounts, Workers } from '../../bullmq/index.ts';
import { MetainfoError } from '../../errors/errors.ts';
import { invalidArgument } from '../../errors/guard.ts';

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
  /** Tells how the workers are, from now on. Until then, they are not ready. */
  watch: (workers: Workers) => void;
}

/** Milliseconds for which an answer of the server is served again, however many ask. */
const COUNTS_MS = 5000;
const HEALTH_MS = 1000;
/** Milliseconds that a client may take to send its request. */
const REQUEST_MS = 5000;
const MOST_CONNECTIONS = 64;
const MOST_HEADER_BYTES = 8192;

/**
 * Starts to serve `/metrics` and `/healthz`.
 *
 * @param counts Asks the server for the jobs and workers of the roots.
 * @throws {MetainfoError} `ERR_QUEUE` if prom-client is not installed; `ERR_INVALID_ARGUMENT` for an address that cannot be used
 */
export async function serveMetrics(address: Address, counts: () => Promise<QueueCounts>): Promise<Metrics> {
  let workers: Workers | null = null;
  const { registry, onJob } = await numbers(cached(COUNTS_MS, counts), () => workers);
  const check = cached(HEALTH_MS, async () => {
    if (!workers) throw new MetainfoError('ERR_QUEUE', 'The worker is not ready.');
    await workers.check();
    return 'ok\n';
  });
  const answers: Record<string, () => Promise<{ status: number; type: string; body: string }>> = {
    '/metrics': async () => ({ status: 200, type: registry.contentType, body: await registry.metrics() }),
    '/healthz': async () => {
      const body = await check().catch(() => null);
      return { status: body === null ? 503 : 200, type: 'text/plain', body: body ?? 'not ready\n' };
    },
  };
  const server = createServer(
    { maxHeaderSize: MOST_HEADER_BYTES, headersTimeout: REQUEST_MS, requestTimeout: REQUEST_MS },
    async ({ method = '', url = '' }, response) => {
      const isRead = method === 'GET' || method === 'HEAD';
      const [path = ''] = url.split('?', 1);
      const answer = isRead && Object.hasOwn(answers, path) ? answers[path]?.().catch(() => null) : null;
      const problem = { status: answer ? 500 : isRead ? 404 : 405, type: 'text/plain', body: '' };
      const { status, type, body } = (await answer) ?? problem;
      response.writeHead(status, {
        'Content-Type': type,
        'Cache-Control': 'no-store',
        ...(status === 405 && { Allow: 'GET, HEAD', Connection: 'close' }),
      });
      response.end(body);
    },
  );
  server.maxConnections = MOST_CONNECTIONS;
  // A worker that cannot start must end.
  server.listen(address).unref();
  const name = address.host.includes(':') ? `[${address.host}]` : address.host;
  await once(server, 'listening').catch((error: NodeJS.ErrnoException) => {
    const reason = error.code === 'EADDRINUSE' ? 'the address is in use' : error.message;
    throw invalidArgument(`--metrics cannot listen at ${name}:${address.port}: ${reason}. Choose another address`);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://${name}:${port}/metrics`,
    onJob,
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

/** The numbers of a worker and of its queues. */
async function numbers(
  counts: () => Promise<QueueCounts>,
  workers: () => Workers | null,
): Promise<{ registry: Registry; onJob: Metrics['onJob'] }> {
  const { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } = await loadClient();
  const registry = new Registry();
  const registers = [registry];
  const labelNames = ['kind', 'root'] as const;
  collectDefaultMetrics({ register: registry });
  const ended = new Counter({
    name: 'metainfo_jobs_total',
    help: 'Attempts of jobs that have ended on this worker, by result: ok or a code',
    labelNames: [...labelNames, 'result'],
    registers,
  });
  const retries = new Counter({
    name: 'metainfo_job_retries_total',
    help: 'Those that were not the first attempt of their job',
    labelNames,
    registers,
  });
  const bytes = new Counter({
    name: 'metainfo_hashed_bytes_total',
    help: 'Bytes of content of the parts that this worker has hashed',
    labelNames: ['root'],
    registers,
  });
  const seconds = new Histogram({
    name: 'metainfo_job_seconds',
    help: 'Seconds of attempts of jobs',
    labelNames,
    buckets: SECONDS,
    registers,
  });
  new Gauge({
    name: 'metainfo_jobs_running',
    help: 'Jobs that run on this worker',
    registers,
    collect() {
      this.set(workers()?.running ?? 0);
    },
  });
  /** A gauge of what the server says. While it does not answer, there are no old numbers, which would look like new ones. */
  const queueGauge = (
    name: string,
    help: string,
    labelNames: string[],
    set: (gauge: Gauge, found: QueueCounts | null) => void,
  ) =>
    new Gauge({
      name,
      help,
      labelNames,
      registers,
      async collect() {
        const found = await counts().catch(() => null);
        this.reset();
        set(this, found);
      },
    });
  queueGauge('metainfo_queue_connected', 'Whether the server of the queue answers: 1 or 0', [], (gauge, found) =>
    gauge.set(found ? 1 : 0),
  );
  queueGauge('metainfo_queue_workers', 'Workers that serve a root', ['root'], (gauge, found) => {
    for (const [root, { workers }] of Object.entries(found?.roots ?? {})) gauge.set({ root }, workers);
  });
  queueGauge('metainfo_queue_jobs', 'Jobs of a root in the queue, by state', ['root', 'state'], (gauge, found) => {
    for (const [root, { workers: _, ...states }] of Object.entries(found?.roots ?? {}))
      for (const [state, jobs] of Object.entries(states)) gauge.set({ root, state }, jobs);
  });
  const onJob = ({ kind, root, error, attempt, ...job }: EndedJob) => {
    const result = error === null ? 'ok' : (/^ERR_[A-Z_]+(?=:)/.exec(error)?.[0] ?? 'other');
    ended.inc({ kind, root, result });
    if (attempt > 1) retries.inc({ kind, root });
    if (job.bytes) bytes.inc({ root }, job.bytes);
    seconds.observe({ kind, root }, job.seconds);
  };
  return { registry, onJob };
}

/** @throws {MetainfoError} `ERR_QUEUE` if prom-client is not installed */
async function loadClient(): Promise<typeof import('prom-client')> {
  try {
    return await import('prom-client');
  } catch (cause) {
    if (!/Cannot find (module|package) 'prom-client'/.test((cause as Error).message)) throw cause;
    const message = '--metrics needs a package that is not installed: npm install prom-client, beside metainfo.';
    throw new MetainfoError('ERR_QUEUE', message, { cause });
  }
}
