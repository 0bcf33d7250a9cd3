/** Chooses the backend of BullMQ, and never lets it choose one by itself: its default is a Redis on this machine. */
import {
  type BackendClasses,
  type ConnectionOptions,
  createRedisBackend,
  type PostgresConnectionOptions,
  type RedisQueueBackend,
  withBackend,
} from 'bullmq';
import { refused, shown } from './failures.ts';
import { SharedPostgres } from './postgres.ts';

/** The server of the queues: a URL (`redis:`, `rediss:`, `valkey:`, `postgres:`), or the options that BullMQ takes. */
export type QueueConnection = string | object;

/** How to reach the queues. */
export interface QueueOptions {
  /** The server: a URL, or the connection options of BullMQ. A Redis client that is given stays open. */
  connection: QueueConnection;
  /**
   * The kind of the server. Valkey is `redis`.
   *
   * @default the scheme of the URL; `redis` for options
   */
  backend?: 'redis' | 'postgres' | undefined;
  /**
   * The start of all keys in Redis, or the schema in PostgreSQL, for several sets of queues on one server.
   *
   * @default 'metainfo'
   */
  prefix?: string | undefined;
  /**
   * The telemetry of BullMQ, such as `new BullMQOtel('hashing')` of the package `bullmq-otel`: a span for each job, from the producer to
   * the worker.
   *
   * @default none
   */
  telemetry?: object | undefined;
}

/** A queue of BullMQ. */
export type BullQueue = InstanceType<Backend['classes']['Queue']>;

/** The constructors of BullMQ for a server, and the options that each of them takes. Their types are those of Redis for all servers. */
export interface Backend {
  classes: BackendClasses<RedisQueueBackend, ConnectionOptions>;
  options: { connection: never; prefix: string; telemetry?: never };
  /** The clock of the server, in milliseconds since 1970; NaN if it does not tell. */
  time(queue: BullQueue): Promise<number>;
  /** The ids of the processes whose workers take jobs of a queue. */
  workersOf(queue: BullQueue, root: string): Promise<string[]>;
  /** Tells others which roots this process serves, where connections do not do that by themselves. */
  announce(): Promise<unknown>;
  /** Ends the connections that all queues share. */
  end(): Promise<void>;
}

const SCHEMES: Readonly<Record<string, 'redis' | 'postgres'>> = {
  'postgres:': 'postgres',
  'postgresql:': 'postgres',
  'redis:': 'redis',
  'rediss:': 'redis',
  'valkey:': 'redis',
};

/** The keys of connection options that name a server of Redis, or belong to a client. Without any of them, ioredis connects to this machine. */
const SERVER_KEYS = ['host', 'path', 'url', 'sentinels', 'duplicate'] as const;

/**
 * The backend for a connection.
 *
 * @param worker.closing Aborted when connections by a URL of Redis need not be tried again.
 * @param worker.roots The roots that this process serves.
 * @throws {MetainfoError} `ERR_INVALID_ARGUMENT`; no message has the credentials of a URL
 */
export function backendOf(
  { connection, backend: given, prefix = 'metainfo', telemetry }: QueueOptions,
  { closing, roots = [] }: { closing?: AbortSignal; roots?: readonly string[] } = {},
): Backend {
  const url = typeof connection === 'string' || connection instanceof URL ? parsed(String(connection)) : null;
  const isObject = typeof connection === 'object' && connection !== null;
  if (!url && !isObject) throw refused(`connection must be a URL or connection options, not ${shown(connection)}`);
  if (typeof prefix !== 'string' || !/^[A-Za-z0-9_-]{1,64}$/.test(prefix))
    throw refused(`prefix must be 1 to 64 letters, digits, - and _, not ${shown(prefix)}`);
  const backend = given ?? (url ? SCHEMES[url.protocol] : 'redis');
  if (backend !== 'redis' && backend !== 'postgres')
    throw refused(
      url && given === undefined
        ? `unknown scheme ${url.protocol} of a queue: expected redis:, rediss:, valkey: or postgres:`
        : `backend must be redis or postgres, not ${shown(given)}`,
    );
  if (url && SCHEMES[url.protocol] !== backend)
    throw refused(`backend is ${backend}, but the URL starts with ${url.protocol}`);
  if (telemetry !== undefined && (typeof telemetry !== 'object' || telemetry === null || !('tracer' in telemetry)))
    throw refused(
      `telemetry must be the telemetry of BullMQ, such as new BullMQOtel('hashing'), not ${shown(telemetry)}`,
    );
  const common = { prefix, ...(telemetry && { telemetry: telemetry as never }) };
  if (backend === 'postgres') {
    const given = url ? { connectionString: url.href } : (connection as object);
    const options = { schema: prefix, migrate: true, connectionTimeoutMillis: CONNECT_MS, ...given };
    return { ...postgresBackend(options, roots), options: { connection: options as never, ...common } };
  }
  return { ...redisBackend(), options: { connection: redisOptions(url, connection, closing), ...common } };
}

function redisBackend(): Omit<Backend, 'options'> {
  let first: RedisQueueBackend | undefined;
  const create: typeof createRedisBackend = (name, options, kind = {}) => {
    if (kind.blocking || kind.withBlockingConnection) return createRedisBackend(name, options, kind);
    // Queues that only ask share a connection.
    if (first) return first.forQueue(name) as RedisQueueBackend;
    first = createRedisBackend(name, options, kind);
    return first;
  };
  return {
    classes: withBackend(create),
    time: async (queue) =>
      Number(/server_time_usec:(\d+)/.exec(await (await queue.getBackend().client).info())?.[1]) / 1000,
    // Clients are named `prefix:queue:w:worker`.
    workersOf: async (queue) =>
      (await queue.getWorkers()).map(({ rawname, name = '' }) => (rawname ?? name).replace(/^.*:w:/, '')),
    announce: async () => {},
    end: async () => {},
  };
}

function postgresBackend(
  options: PostgresConnectionOptions & object,
  roots: readonly string[],
): Omit<Backend, 'options'> {
  const shared = new SharedPostgres(options, roots);
  return {
    classes: withBackend((name: string, opts: object) => shared.backend(name, opts)) as never,
    time: () => shared.time(),
    workersOf: (_, root) => shared.workersOf(root),
    announce: () => shared.getListenClient(),
    end: () => shared.end(),
  };
}

function redisOptions(url: URL | null, connection: QueueConnection, closing: AbortSignal | undefined): never {
  if (!url && !SERVER_KEYS.some((key) => key in Object(connection)))
    throw refused(
      'connection names no server: give a URL, options with a host, or a client; PostgreSQL also needs backend',
    );
  if (!url) return connection as never;
  // ioredis would select a database named NaN, and end the process.
  if (!/^\/?\d*$/.test(url.pathname))
    throw refused(
      `Redis numbers its databases, as in redis://host/1, unlike ${shown(url.pathname)}: separate queues by prefix`,
    );
  // ioredis knows neither valkey: nor its credentials in a URL object.
  const href = url.href.replace(/^valkey:/, 'redis:');
  // Without it, a client whose server is unreachable would keep the process alive: BullMQ cannot end a client that never connected.
  const retryStrategy = (times: number) => (closing?.aborted ? null : Math.min(1000 * times, MOST_RETRY_MS));
  return { url: href, ...(closing && { retryStrategy }) } satisfies ConnectionOptions as never;
}

/** Milliseconds for which PostgreSQL may stay silent. A server of another kind, such as Redis, waits for more bytes for ever. */
const CONNECT_MS = 5000;

/** The longest wait before a connection is tried again, in milliseconds. */
const MOST_RETRY_MS = 10_000;

function parsed(text: string): URL {
  try {
    return new URL(text);
  } catch {
    // The error has the text, which may be a password.
  }
  throw refused('connection is not a URL such as redis://127.0.0.1:6379');
}
