/** Makes connections to Redis that follow the primary after a failover. BullMQ stays with the demoted server, where every write fails. */
import { randomBytes } from 'node:crypto';
import {
  type ConnectionOptions,
  createIORedisClient,
  createRedisBackend,
  RedisConnection,
  type RedisQueueBackend,
  withBackend,
} from 'bullmq';
import { Redis, type RedisOptions } from 'ioredis';
import type { Backend, BullQueue } from './backend.ts';
import { isRefusal, REPLICA } from './failures.ts';
import { CANCELLED } from './settings.ts';

/** How often jobs are added again to the server that answers next. Waits for a connection lie between. */
const MAX_TRIES = 10;

/** How ioredis looks at the server of a new connection. Its types hide it. */
interface WithConnector {
  connector: { check(info: { role?: string }): boolean };
}

/** The backend of BullMQ on Redis or Valkey. */
export function redisBackend(
  connection: ConnectionOptions,
  { closing, prefix, roots }: { closing: AbortSignal | undefined; prefix: string; roots: readonly string[] },
): Omit<Backend, 'options'> {
  // A client of the caller may be of any library.
  const isOwn = !('duplicate' in connection);
  let first: RedisQueueBackend | undefined;
  let beat: NodeJS.Timeout | undefined;
  const name = randomBytes(8).toString('hex');
  const keyOf = (root: string) => `${prefix}:metainfo-workers:${root}`;
  const create: typeof createRedisBackend = (name, options, kind = {}) => {
    const isShared = !kind.blocking && !kind.withBlockingConnection;
    // Queues that only ask share a connection.
    const backend =
      isShared && first
        ? (first.forQueue(name) as RedisQueueBackend)
        : withClients(closing, () => createRedisBackend(name, options, kind));
    if (isShared) first ??= backend;
    return isOwn ? addingAgain(backend) : backend;
  };
  return {
    classes: withBackend(create),
    time: async (queue) => {
      const client = await queue.getBackend().client;
      const info = await client.info();
      if (!/^role:slave/m.test(info)) return Number(/server_time_usec:(\d+)/.exec(info)?.[1]) / 1000;
      if (isOwn) client.disconnect(true);
      throw new Error(REPLICA);
    },
    workersOf: async (queue, roots) => {
      if (roots.length === 1) {
        const count = Number(await ask(queue, 'metainfoCount', [keyOf(roots[0] as string)]));
        return [count, count];
      }
      const names = await Promise.all(
        roots.map((root) => ask(queue, 'metainfoNames', [keyOf(root)]) as Promise<string[]>),
      );
      return [new Set(names.flat()).size, ...names.map(({ length }) => length)];
    },
    openJobs: async (queue, ids) => {
      const found = new Map<string, number>();
      for (let at = 0; at < ids.length; at += AT_ONCE) {
        const some = ids.slice(at, at + AT_ONCE);
        const added = (await ask(queue, 'metainfoOpen', [queue.toKey(''), ...some])) as string[];
        for (const [i, one] of added.entries()) if (one !== '') found.set(some[i] as string, Number(one));
      }
      return found;
    },
    shared: async (queue, name, ms, ask) => {
      const client = await queue.getBackend().client;
      const key = `${prefix}:metainfo-${name}`;
      const found = await client.get(key);
      if (found !== null) return JSON.parse(found);
      const answer = await ask();
      await client.set(key, JSON.stringify(answer), { PX: ms });
      return answer;
    },
    announce: async (queue, isEnd = false) => {
      const tell = () =>
        Promise.all(roots.map((root) => ask(queue, 'metainfoBeat', [keyOf(root), name, isEnd ? 0 : 1])));
      clearInterval(beat);
      if (!isEnd) beat = setInterval(() => void tell().catch(() => {}), BEAT_MS).unref();
      await tell();
    },
    end: async () => clearInterval(beat),
  };
}

/** Milliseconds between two beats of a process that serves roots. */
const BEAT_MS = 15_000;
/** Seconds after which a process without a beat no longer counts. */
const ALIVE_S = 35;
/** Jobs that one question is about. */
const AT_ONCE = 500;

/** Questions to Redis, with one key each. BullMQ has none that costs the same however many workers and waits there are. */
const COMMANDS = {
  metainfoBeat: `local now = redis.call('TIME')[1]
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - ${ALIVE_S})
if ARGV[2] == '0' then return redis.call('ZREM', KEYS[1], ARGV[1]) end
return redis.call('ZADD', KEYS[1], now, ARGV[1])`,
  metainfoCount: `return redis.call('ZCOUNT', KEYS[1], redis.call('TIME')[1] - ${ALIVE_S}, '+inf')`,
  metainfoNames: `return redis.call('ZRANGEBYSCORE', KEYS[1], redis.call('TIME')[1] - ${ALIVE_S}, '+inf')`,
  metainfoOpen: `local open = {}
for _, id in ipairs(ARGV) do
  local job = redis.call('HMGET', KEYS[1] .. id, 'timestamp', 'finishedOn', 'progress')
  open[#open + 1] = not job[2] and job[3] ~= '"${CANCELLED}"' and job[1] or ''
end
return open`,
} as const;

async function ask(queue: BullQueue, command: keyof typeof COMMANDS, args: readonly unknown[]): Promise<unknown> {
  const client = await queue.getBackend().client;
  client.defineCommand(command, { numberOfKeys: 1, lua: COMMANDS[command] });
  return client.runCommand(command, [...args]);
}

/** Lets BullMQ make its clients by {@link clientOf}: its hook for that belongs to the whole process, but is called at once. */
function withClients<T>(closing: AbortSignal | undefined, make: () => T): T {
  const { clientFactory } = RedisConnection;
  RedisConnection.clientFactory = (options) => createIORedisClient(clientOf(options as RedisOptions, closing)) as never;
  try {
    return make();
  } finally {
    Object.assign(RedisConnection, { clientFactory });
  }
}

function clientOf({ url, ...options }: RedisOptions & { url?: string }, closing: AbortSignal | undefined): Redis {
  let last: unknown;
  let wasReady = false;
  const own: RedisOptions = {
    // The command is sent again to the server that answers next.
    reconnectOnError: ({ message }) => /\bREADONLY\b/.test(message) && 2,
    ...options,
    // A refusal at the start is final. BullMQ cannot end a client that never connected: it would keep the process alive.
    retryStrategy: (times) =>
      closing?.aborted || (!wasReady && isRefusal(last)) ? null : options.retryStrategy?.(times),
  };
  const client = url ? new Redis(url, own) : new Redis(own);
  client.on('error', (error) => {
    last = error;
  });
  client.on('ready', () => {
    wasReady = true;
  });
  const { connector } = client as unknown as WithConnector;
  const isRight = connector.check.bind(connector);
  connector.check = (server) => {
    if (server.role === 'slave') client.emit('error', new Error(REPLICA));
    return server.role !== 'slave' && isRight(server);
  };
  const info = client.info.bind(client) as (...given: unknown[]) => Promise<string>;
  // With a callback, it is ioredis that asks.
  const withoutPolicy = (...given: unknown[]) =>
    given.length > 0 ? info(...given) : info().then((text) => text.replace(EVICTION, warnOfEviction));
  return Object.assign(client, { info: withoutPolicy });
}

/** A policy of eviction that could lose jobs. BullMQ would print it for each connection. */
const EVICTION = /^maxmemory_policy:(?!noeviction)(.+)\r?\n/m;
let isWarned = false;

function warnOfEviction(_: string, policy: string): string {
  const message = `The server of the queue may delete jobs when its memory is full: set its maxmemory-policy to noeviction, not ${policy.trim()}.`;
  if (!isWarned) process.emitWarning(message, { type: 'MetainfoWarning', code: 'ERR_QUEUE' });
  isWarned = true;
  return '';
}

/** Lets a backend add jobs again after a failover: ioredis does not see errors within a transaction. The ids of the jobs are given. */
function addingAgain(backend: RedisQueueBackend): RedisQueueBackend {
  const again =
    <A extends unknown[], T>(add: (...given: A) => Promise<T>) =>
    async (...given: A): Promise<T> => {
      for (let tries = 1; ; tries += 1) {
        try {
          return await add(...given);
        } catch (error) {
          // The next server does not have the scripts yet.
          const [, reason] = /\b(READONLY|NOSCRIPT)\b/.exec(String(error)) ?? [];
          if (!reason || tries === MAX_TRIES) throw error;
          if (reason === 'READONLY') (await backend.client).disconnect(true);
        }
      }
    };
  const { addFlow, addJobs } = backend;
  return Object.assign(backend, {
    addJobs: again(addJobs.bind(backend)),
    addFlow: again(async (...given: Parameters<typeof addFlow>) => {
      const results = await addFlow.apply(backend, given);
      for (const [error] of results) if (error) throw error;
      return results;
    }),
  });
}
