/** Chooses the backend of BullMQ, and never lets it choose one by itself: its default is a Redis on this machine. */
import {
  type BackendClasses,
  type ConnectionOptions,
  type PostgresConnectionOptions,
  type RedisQueueBackend,
  withBackend,
} from 'bullmq';
import { refused, shown } from './failures.ts';
import { SharedPostgres } from './postgres.ts';
import { redisBackend } from './redis.ts';

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
   * The start of all keys in Redis, or the schema in PostgreSQL, for several sets of queues on one server. A Redis Cluster needs it in
   * braces, as in `{metainfo}`: then all keys are in one hash slot.
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
  /** The clock of the server, in milliseconds since 1970; NaN if it does not tell. It throws if it takes no writes, after a failover. */
  time(queue: BullQueue): Promise<number>;
  /** Counts the processes that serve any of some roots, and those that serve each of them. */
  workersOf(queue: BullQueue, roots: readonly string[]): Promise<number[]>;
  /** The jobs, of those given, that have neither ended nor been cancelled: when they were added, in milliseconds since 1970, by their ids. */
  openJobs(queue: BullQueue, ids: readonly string[]): Promise<Map<string, number>>;
  /** An answer that any process has got within some milliseconds, or a new one. */
  shared<T>(queue: BullQueue, name: string, ms: number, ask: () => Promise<T>): Promise<T>;
  /** Tells others that this process serves its roots, and goes on to tell them, or that it ends. */
  announce(queue: BullQueue, isEnd?: boolean): Promise<unknown>;
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

/** The backend for a connection. `closing` is aborted when connections to Redis need not be tried again. Throws `ERR_INVALID_ARGUMENT`. */
export function backendOf(
  { connection, backend: given, prefix = 'metainfo', telemetry }: QueueOptions,
  { closing, roots = [] }: { closing?: AbortSignal; roots?: readonly string[] } = {},
): Backend {
  const url = typeof connection === 'string' || connection instanceof URL ? parsed(String(connection)) : null;
  const isObject = typeof connection === 'object' && connection !== null;
  if (!url && !isObject) throw refused(`connection must be a URL or connection options, not ${shown(connection)}`);
  if (typeof prefix !== 'string' || !/^(\{[A-Za-z0-9_-]{1,62}\}|[A-Za-z0-9_-]{1,64})$/.test(prefix))
    throw refused(`prefix must be 1 to 64 letters, digits, - and _, or such a text in braces, not ${shown(prefix)}`);
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
  const options = redisOptions(url, connection);
  return { ...redisBackend(options, { closing, prefix, roots }), options: { connection: options, ...common } };
}

function postgresBackend(
  options: PostgresConnectionOptions & object,
  roots: readonly string[],
): Omit<Backend, 'options'> {
  const shared = new SharedPostgres(options, roots);
  return {
    classes: withBackend((name: string, opts: object) => shared.backend(name, opts)) as never,
    time: () => shared.time(),
    workersOf: (_, roots) => shared.workersOf(roots),
    openJobs: ({ name }, ids) => shared.openJobs(name, ids),
    shared: (_queue, _name, _ms, ask) => ask(),
    announce: async (_, isEnd = false) => isEnd || shared.getListenClient(),
    end: () => shared.end(),
  };
}

function redisOptions(url: URL | null, connection: QueueConnection): never {
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
  const retryStrategy = (times: number) => Math.min(1000 * times, MOST_RETRY_MS);
  return { url: href, retryStrategy } satisfies ConnectionOptions as never;
}

/** Milliseconds for which PostgreSQL may stay silent. A server of another kind, such as Redis, waits for more bytes for ever. */
const CONNECT_MS = 5000;

/** The longest wait before a connection is tried again, in milliseconds. */
const MOST_RETRY_MS = 10_000;

function parsed(text: string): URL {
  // An error of URL has the text, which may be a password.
  if (URL.canParse(text)) return new URL(text);
  throw refused('connection is not a URL such as redis://127.0.0.1:6379');
}
