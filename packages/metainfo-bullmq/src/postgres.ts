/** One pool and one listening connection for all queues of a process on PostgreSQL: BullMQ opens a pool for each queue. */
import { setTimeout as delay } from 'node:timers/promises';
import { PostgresConnection, type PostgresConnectionOptions, PostgresQueueBackend } from 'bullmq';
import { MetainfoError } from 'metainfo';

/** Connections of the pool. The one that listens comes on top. */
const POOL = { max: 4 };

/** Milliseconds between two attempts to reach the server: they double up to the last one. */
const RETRY_MS = { first: 250, most: 5000 };

/** A connection of PostgreSQL that all queues of a process share. Only {@link end} closes it. */
export class SharedPostgres extends PostgresConnection {
  readonly #ended = new AbortController();
  /** The roots that this process serves. */
  readonly #roots: readonly string[];
  /** The client that holds the locks of the roots. */
  #announced: object | undefined;
  #ready: Promise<void> | undefined;

  constructor(options: PostgresConnectionOptions & object, roots: readonly string[]) {
    super({ ...POOL, ...options });
    this.#roots = roots;
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

  async #reached(): Promise<void> {
    for (let wait = RETRY_MS.first; ; wait = Math.min(2 * wait, RETRY_MS.most)) {
      try {
        return await super.waitUntilReady();
      } catch (error) {
        if (!isOutage(error)) throw error;
        this.emit('error', error);
      } finally {
        // BullMQ would give the first failure to everybody, for ever.
        Object.assign(this, { readyPromise: undefined });
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
    await client.query(
      'select pg_try_advisory_lock_shared(hashtext($1), hashtext(root)) from unnest($2::text[]) as root',
      [this.schema, this.#roots],
    );
    return client;
  }

  /** The processes that serve a root, by their connections. */
  async workersOf(root: string): Promise<string[]> {
    await this.waitUntilReady();
    const { rows } = await this.pool.query<{ pid: number }>(
      `select distinct pid from pg_locks
       where locktype = 'advisory' and objsubid = 2 and database = (select oid from pg_database where datname = current_database())
         and classid::bigint = hashtext($1)::bigint & 4294967295 and objid::bigint = hashtext($2)::bigint & 4294967295`,
      [this.schema, root],
    );
    return rows.map(({ pid }) => String(pid));
  }

  /** The clock of the server, in milliseconds since 1970. */
  async time(): Promise<number> {
    await this.waitUntilReady();
    const { rows } = await this.pool.query<{ ms: string }>('select extract(epoch from clock_timestamp()) * 1000 as ms');
    return Number(rows[0]?.ms);
  }

  /** Does nothing: queues that close leave the connection to the others. */
  override async close(): Promise<void> {}

  /** Ends all connections. */
  async end(): Promise<void> {
    this.#ended.abort();
    await super.close();
  }
}

/** Whether a server may come back: it is not reachable, is starting, or has too many connections. */
function isOutage(error: unknown): boolean {
  const { code = '', message } = Object(error) as { code?: string; message?: string };
  return /^(E[A-Z]+|57P0[123]|53300)$/.test(code) || message === 'Connection terminated unexpectedly';
}
