/** One pool and one listening connection for all queues of a process on PostgreSQL: BullMQ opens a pool for each queue. */
import { setTimeout as delay } from 'node:timers/promises';
import { PostgresConnection, type PostgresConnectionOptions, PostgresQueueBackend, quoteSchemaName } from 'bullmq';
import { MetainfoError } from 'metainfo';
import { REPLICA } from './failures.ts';
import { CANCELLED } from './settings.ts';

/** Connections of the pool. The one that listens comes on top. */
const POOL = { max: 4 };

/** Milliseconds between two attempts to reach the server: they double up to the last one. */
const RETRY_MS = { first: 250, most: 5000 };

/** A connection of PostgreSQL that all queues of a process share. Only {@link end} closes it. */
export class SharedPostgres extends PostgresConnection {
  readonly #ended = new AbortController();
  readonly #roots: readonly string[];
  /** The client that holds the locks of the roots. */
  #announced: object | undefined;
  #ready: Promise<void> | undefined;

  constructor(options: PostgresConnectionOptions & object, roots: readonly string[]) {
    super({ ...POOL, ...options, verify } as PostgresConnectionOptions);
    this.#roots = roots;
    const query = this.pool.query.bind(this.pool) as (...question: unknown[]) => Promise<unknown>;
    // The pool drops a connection whose statement fails. A demoted server has not run it.
    const again = (...question: unknown[]) => this.#again(() => query(...question), isReadOnly);
    Object.assign(this.pool, { query: again });
    // All queues listen.
    this.setMaxListeners(0);
  }

  /** The backend of a queue. */
  backend(name: string, options: object): PostgresQueueBackend {
    return new PostgresQueueBackend(this, name, options as never);
  }

  /** Waits for a server that is not there yet, as clients of Redis do. */
  override waitUntilReady(): Promise<void> {
    this.#ready ??= this.#reached().catch((error: unknown) => {
      this.#ready = undefined;
      throw error;
    });
    return this.#ready;
  }

  #reached(): Promise<void> {
    const reach = () =>
      super.waitUntilReady().finally(() => {
        // BullMQ would give the first failure to everybody, for ever.
        Object.assign(this, { readyPromise: undefined });
      });
    return this.#again(reach, isOutage);
  }

  /** Works again, after growing waits, while it fails with errors that pass. */
  async #again<T>(work: () => Promise<T>, passes: (error: unknown) => boolean): Promise<T> {
    for (let wait = RETRY_MS.first; ; wait = Math.min(2 * wait, RETRY_MS.most)) {
      try {
        return await work();
      } catch (error) {
        if (!passes(error)) throw error;
        this.emit('error', error);
      }
      await delay(wait, undefined, { signal: this.#ended.signal }).catch(() => {
        throw new MetainfoError('ERR_QUEUE', 'The queue was closed before its server could be reached.');
      });
    }
  }

  /** The client that listens. It holds a lock for each root, which ends with it: others count the locks. */
  override async getListenClient(): ReturnType<PostgresConnection['getListenClient']> {
    const client = await super.getListenClient();
    if (client === this.#announced) return client;
    this.#announced = client;
    // All queues listen, and a client does one thing at a time.
    let last: Promise<unknown> = Promise.resolve();
    const query = client.query.bind(client);
    const inTurn: typeof client.query = (...question) => {
      const answer = last.then(() => query(...question));
      last = answer.catch(() => {});
      return answer as never;
    };
    Object.assign(client, { _maxListeners: 0, query: inTurn });
    await timeOf(client).catch((error: unknown) => {
      // BullMQ forgets a client with an error.
      Object(client).emit('error', error);
      throw error;
    });
    await client.query(
      'select pg_try_advisory_lock_shared(hashtext($1), hashtext(root)) from unnest($2::text[]) as root',
      [this.schema, this.#roots],
    );
    return client;
  }

  /** Counts the processes that serve any of some roots, by their connections, and those that serve each of them. */
  async workersOf(roots: readonly string[]): Promise<number[]> {
    await this.waitUntilReady();
    const { rows } = await this.pool.query<{ count: string }>(
      `select count(distinct pid) from unnest($2::text[]) with ordinality as wanted (root, at)
       left join pg_locks on locktype = 'advisory' and objsubid = 2
         and database = (select oid from pg_database where datname = current_database())
         and classid::bigint = hashtext($1)::bigint & 4294967295 and objid::bigint = hashtext(root)::bigint & 4294967295
       group by grouping sets ((), (at)) order by at nulls first`,
      [this.schema, roots],
    );
    return rows.map(({ count }) => Number(count));
  }

  /** The jobs of a queue, of those given, that have neither ended nor been cancelled: when they were added, by their ids. */
  async openJobs(queue: string, ids: readonly string[]): Promise<Map<string, number>> {
    await this.waitUntilReady();
    const { rows } = await this.pool.query<{ id: string; added_at_ms: string }>(
      `select id, added_at_ms from ${quoteSchemaName(this.schema)}.job where queue = $1 and id = any($2)
         and finished_at_ms is null and progress is distinct from to_jsonb($3::text)`,
      [queue, ids, CANCELLED],
    );
    return new Map(rows.map((job) => [job.id, Number(job.added_at_ms)]));
  }

  /** The clock of the server, in milliseconds since 1970. */
  async time(): Promise<number> {
    await this.waitUntilReady();
    const client = await this.pool.connect();
    const time = timeOf(client);
    await time.then(
      () => client.release(),
      () => client.release(true),
    );
    return time;
  }

  /** Does nothing: queues that close leave the connection to the others. */
  override async close(): Promise<void> {}

  /** Ends all connections. */
  async end(): Promise<void> {
    this.#ended.abort();
    await super.close();
  }
}

interface Client {
  on(event: 'error', listener: () => void): unknown;
  query<R>(text: string): Promise<{ rows: R[] }>;
}

/** The clock of a server. Throws an error with the code of PostgreSQL for that if the server takes no writes. */
async function timeOf(client: Pick<Client, 'query'>): Promise<number> {
  const { rows } = await client.query<{ ms: string; read_only: string }>(
    "select extract(epoch from clock_timestamp()) * 1000 as ms, current_setting('transaction_read_only') as read_only",
  );
  if (rows[0]?.read_only === 'on') throw Object.assign(new Error(REPLICA), { code: READ_ONLY });
  return Number(rows[0]?.ms);
}

/** Has a pool refuse a new connection to a server that takes no writes. */
function verify(client: Client, done: (error?: unknown) => void): void {
  // Without a listener, a connection that is lost now would end the process.
  client.on('error', () => {});
  timeOf(client).then(() => done(), done);
}

const READ_ONLY = '25006';
const isReadOnly = (error: unknown): boolean => Object(error).code === READ_ONLY;

/** Whether a server may come back: it is not reachable, is starting, has too many connections, or takes no writes yet. */
function isOutage(error: unknown): boolean {
  const { code = '', message } = Object(error) as { code?: string; message?: string };
  return /^(E[A-Z]+|57P0[123]|53300|25006)$/.test(code) || message === 'Connection terminated unexpectedly';
}
