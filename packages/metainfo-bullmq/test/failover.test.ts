import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { describe, it, type TestContext } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { TorrentQueue, type Workers } from '../src/index.ts';
import { postgresMissing, postgresServer } from './support/postgres.ts';
import { setUpQueue } from './support/queue-servers.ts';
import { type RedisServer, redisMissing, redisServer } from './support/redis.ts';

/** The URL of a name of servers: new connections go to the port that it has, and those that exist stay. */
async function urlOf(t: TestContext, name: { port: number }): Promise<string> {
  const server = createServer((socket) => {
    const to = connect(name.port, '127.0.0.1');
    socket.pipe(to).pipe(socket);
    socket.on('error', () => to.destroy());
    to.on('error', () => socket.destroy());
    t.after(() => void socket.destroy());
  }).listen(0, '127.0.0.1');
  t.after(() => void server.close());
  await once(server, 'listening');
  return `redis://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const isHealthy = (workers: Workers) =>
  workers.check().then(
    () => true,
    () => false,
  );

/** A queue on a server that ends after it. */
async function setUpRedis(t: TestContext, prepare: (server: RedisServer) => unknown = () => {}) {
  let server: RedisServer | undefined;
  const start = async () => {
    server = await redisServer(t);
    await prepare(server);
    return server.url;
  };
  const queue = await setUpQueue(t, start);
  return { ...queue, server: server as unknown as RedisServer };
}

describe('queues on Redis', { skip: redisMissing() }, () => {
  it('follow the primary after a failover, and wait for one that takes writes', async (t) => {
    const name = { port: 0 };
    const servers: RedisServer[] = [];
    const begin = async () => {
      servers.push(await redisServer(t), await redisServer(t));
      return urlOf(t, name);
    };
    const { producer, work, workers: start, plan, errors } = await setUpQueue(t, begin);
    const [one, two] = servers as [RedisServer, RedisServer];
    const [first, second] = [one, two].map(({ url }) => Number(new URL(url).port)) as [number, number];
    name.port = first;
    await one.client.config('SET', 'repl-diskless-sync-delay', '0');
    await two.client.replicaof('127.0.0.1', first);
    while (!(await two.client.info()).includes('master_link_status:up')) await delay(20);
    const [workers, queue] = [await work(), producer()];
    const output = 'media/x.torrent';
    await (await queue.addTorrent(plan, { output })).done();
    // The other server knows the first worker once it has a later write.
    await one.client.set('later', 1);
    assert.equal(await one.client.wait(1, 0), 1);
    // The old primary stays up, and so do the connections of the producer.
    await two.client.replicaof('NO', 'ONE');
    await one.client.replicaof('127.0.0.1', second);
    await assert.rejects(workers.check(), { code: 'ERR_QUEUE', message: /is a replica, which takes no writes/ });
    const late = start();
    const isEarly = await Promise.race([late.ready().then(() => true), delay(1500, false)]);
    assert.equal(isEarly, false);
    assert.ok(errors.some(({ message }) => message.includes('is a replica')));
    name.port = second;
    const batch = await queue.addBatch('validate', [{ torrent: output }]);
    for await (const { ok } of batch.results()) assert.equal(ok, true);
    const again = await queue.addTorrent(plan, { output, force: true });
    assert.equal((await again.done()).output, output);
    await late.ready();
    while (!(await isHealthy(workers))) await delay(20);
    assert.equal((await queue.counts(['media'])).workers, 2);
  });

  it('say that the server is out of memory', async (t) => {
    const { server, producer, plan } = await setUpRedis(t);
    const queue = producer();
    await queue.counts(['media']);
    await server.client.config('SET', 'maxmemory', '1');
    const refused = { code: 'ERR_QUEUE', message: /^The server of the queue is out of memory: .*\(OOM / };
    await assert.rejects(queue.addTorrent(plan, { output: 'media/x.torrent' }), refused);
    await assert.rejects(queue.addBatch('validate', [{ torrent: 'media/x.torrent' }]), refused);
  });

  it('warn of a policy of eviction once, and print nothing themselves', async (t) => {
    const warnings: string[] = [];
    const onWarning = ({ message }: Error) => void warnings.push(message);
    process.on('warning', onWarning);
    t.after(() => void process.off('warning', onWarning));
    const print = t.mock.method(console, 'warn', () => {});
    const evict = ({ client }: RedisServer) => client.config('SET', 'maxmemory-policy', 'allkeys-lru');
    const { producer, work } = await setUpRedis(t, evict);
    await work();
    await producer().counts(['media']);
    await producer().counts(['media']);
    await delay(0);
    assert.equal(print.mock.callCount(), 0);
    assert.deepEqual(
      warnings.map((text) => text.replace(/.*: /, '')),
      ['set its maxmemory-policy to noeviction, not allkeys-lru.'],
    );
  });

  it('count jobs without the command CLIENT, and fail at once without any other permission', async (t) => {
    const allow = async (server: RedisServer) => {
      const acl = (name: string, ...but: string[]) =>
        server.client.call('ACL', 'SETUSER', name, 'on', '>x', '~*', '&*', '+@all', ...but);
      await acl('mute', '-client');
      await acl('reader', '-evalsha', '-eval');
    };
    const { server, work, producer, plan, store } = await setUpRedis(t, allow);
    const as = (user: string) => ({ connection: server.url.replace('//', `//${user}@`) });
    await using queue = new TorrentQueue({ ...as('mute:x'), store });
    await queue.addTorrent(plan, { output: 'media/x.torrent' });
    const { workers, waiting } = await queue.counts(['media']);
    assert.deepEqual([workers, waiting], [0, plan.parts]);
    await work(['media'], as('mute:x'));
    assert.equal((await producer().counts(['media'])).workers, 1);
    await using reader = new TorrentQueue({ ...as('reader:x'), store });
    const batch = reader.addBatch('validate', [{ torrent: 'media/x.torrent' }]);
    await assert.rejects(batch, { code: 'ERR_QUEUE', message: /NOPERM/ });
    const asked = performance.now();
    await assert.rejects(work(['media'], as('mute:wrong')), { code: 'ERR_QUEUE', message: /WRONGPASS/ });
    await using wrong = new TorrentQueue({ ...as('mute:wrong'), store });
    await assert.rejects(wrong.counts(['media']), { code: 'ERR_QUEUE', message: /WRONGPASS/ });
    // A producer waits ten seconds for a server that does not answer.
    assert.ok(performance.now() - asked < 9000);
  });
});

describe('queues on PostgreSQL', { skip: await postgresMissing() }, () => {
  it('wait for a primary that takes writes, on new connections', async (t) => {
    const url = await postgresServer(t);
    const { producer, work, workers: start, plan, errors } = await setUpQueue(t, async () => url);
    const [workers, queue] = [await work(), producer()];
    await queue.counts(['media']);
    const admin = new pg.Pool({ connectionString: url, max: 1 });
    const readOnly = async (value: 'on' | 'off') => {
      await admin.query('set transaction_read_only = off');
      await admin.query(`alter system set default_transaction_read_only = ${value}`);
      await admin.query('select pg_reload_conf()');
    };
    await readOnly('on');
    while (await isHealthy(workers)) await delay(20);
    await assert.rejects(workers.check(), { code: 'ERR_QUEUE', message: /is a replica, which takes no writes/ });
    const late = start();
    const added = queue.addTorrent(plan, { output: 'media/x.torrent' });
    while (!errors.some(({ message }) => message.includes('is a replica'))) await delay(20);
    await readOnly('off');
    assert.equal((await (await added).done()).output, 'media/x.torrent');
    await late.ready();
    await workers.check();
    await admin.end();
  });
});
