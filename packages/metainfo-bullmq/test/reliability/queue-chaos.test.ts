// Random torrents go through a queue while workers are killed and frozen, Redis is killed and loses all its data, and the store fails
// 5 % of its calls: every torrent equals the one of one process. METAINFO_SEED sets the seed of the trees.

import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import fc from 'fast-check';
import { MetainfoError, planParts, s3Store, TorrentCreate } from 'metainfo';
import { command } from '../../../../test/cli/run.ts';
import { type Tree, tree, writeGenerated } from '../../../../test/support/generated.ts';
import { type ProxiedRequest, type S3Server, s3Server } from '../../../../test/support/s3.ts';
import { temporaryFolder } from '../../../../test/support/tree.ts';
import { TorrentQueue } from '../../src/index.ts';
import { type RedisServer, redisMissing, redisServer } from '../support/redis.ts';

const TREES = 60;
const SEED = Number(process.env['METAINFO_SEED'] ?? 34);
const VERSIONS = ['v1', 'v2', 'hybrid'] as const;
/** Small, so that most torrents have several parts. */
const PART = 96 * 1024;
const WORKERS = 3;
const STORE = 's3://jobs/parts';
/** A limit for hangs: the test takes about a minute. */
const HANG_MS = 900_000;

/** Waits for a condition that comes by itself, until the test ends. */
async function until({ signal }: TestContext, condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await delay(20, undefined, { signal });
}

/** Writes a tree, plans it, and makes the expected torrent in this process. */
async function prepare(data: string, given: Tree, index: number) {
  const folder = path.join(data, `${index}`);
  await mkdir(folder, { recursive: true });
  await writeGenerated(folder, given);
  const place = given.single ? `${index}/${given.files[0]?.path}` : `${index}`;
  const version = VERSIONS[index % VERSIONS.length] as (typeof VERSIONS)[number];
  const draft = new TorrentCreate({ pathRoot: path.join(data, place), pieceLength: given.pieceLength });
  // Some trees are torrents that some clients refuse.
  const options = { version, onWarning: () => {} };
  const plan = await planParts(draft, { ...options, root: `data/${place}`, partSize: PART });
  const expected = await draft.generate(options);
  return { plan, expected, output: `out/${index}.torrent` };
}

/** Worker processes. The region in the signature of a request tells which of them has sent it. */
class Processes {
  readonly #running = new Map<string, ChildProcess>();
  /** They are not replaced. */
  readonly #frozen = new Map<string, ChildProcess>();
  #started = 0;
  readonly #args: readonly string[];
  readonly #env: Record<string, string>;

  constructor(t: TestContext, args: readonly string[], env: Record<string, string>) {
    this.#args = args;
    this.#env = env;
    t.after(() => {
      for (const child of [...this.#running.values(), ...this.#frozen.values()]) child.kill('SIGKILL');
    });
  }

  start(): void {
    this.#started += 1;
    const region = `worker-${this.#started}`;
    const [program, ...args] = command(['worker', ...this.#args]);
    const env = { ...process.env, ...this.#env, AWS_REGION: region };
    this.#running.set(region, spawn(program, args, { env, stdio: ['ignore', 'ignore', 'inherit'] }));
  }

  /** The worker that has sent a request; undefined for the producer. */
  senderOf({ request }: ProxiedRequest): ChildProcess | undefined {
    const [, region = ''] = /Credential=[^/]+\/\d+\/([^/]+)\//.exec(request.headers.authorization ?? '') ?? [];
    return this.#running.get(region);
  }

  /** Kills a worker, or every worker, and starts as many. */
  async replace(only?: ChildProcess): Promise<void> {
    for (const [region, child] of [...this.#running]) {
      if (only && child !== only) continue;
      this.#running.delete(region);
      const exit = once(child, 'exit');
      child.kill('SIGKILL');
      await exit;
      this.start();
    }
  }

  /** Stops the process of a worker until {@link thaw}, and starts another worker. */
  freeze(child: ChildProcess): void {
    child.kill('SIGSTOP');
    for (const [region, one] of this.#running) if (one === child) this.#frozen.set(region, child);
    for (const region of this.#frozen.keys()) this.#running.delete(region);
    this.start();
  }

  thaw(): void {
    for (const [region, child] of this.#frozen) {
      child.kill('SIGCONT');
      this.#running.set(region, child);
    }
    this.#frozen.clear();
  }

  /** Ends every worker as an operator does. */
  async stop(): Promise<void> {
    for (const child of this.#running.values()) {
      const exit = once(child, 'exit');
      child.kill('SIGTERM');
      assert.deepEqual(await exit, [0, null]);
    }
    this.#running.clear();
  }
}

/** A request that does not reach the store, and the worker that has sent it. */
interface Caught {
  exchange: ProxiedRequest;
  sender: ChildProcess;
}

/** A request of a worker that a test waits for: it gets the request instead of the store. */
type Ambush = (exchange: ProxiedRequest, sender: ChildProcess) => boolean;

/** The store between the workers and the server: it fails 5 % of the calls, and lets a test wait for requests. */
class FaultyStore {
  /** The parts that somebody has tried to store. */
  readonly parts = new Set<string>();
  failed = 0;
  #ambush: Ambush | null = null;

  constructor(s3: S3Server, workers: Processes) {
    s3.handle = (exchange) => {
      const { request, response, index, pass } = exchange;
      const [sender, url = ''] = [workers.senderOf(exchange), request.url];
      if (sender && this.#ambush?.(exchange, sender)) return;
      if (request.method === 'PUT' && url.endsWith('.part')) this.parts.add(url);
      if (index % 20 !== 3) return void pass();
      this.failed += 1;
      const kind = Math.floor(index / 20) % 4;
      if (kind === 0) response.writeHead(503).end('<Error><Code>SlowDown</Code></Error>');
      else if (kind === 1) response.destroy();
      else if (kind === 2) void pass({ cut: 10 });
      else response.writeHead(500).end('<Error><Code>InternalError</Code></Error>');
    };
  }

  /** Takes the next request with that method for a part that is in the store, or for one that is not. */
  next(method: 'GET' | 'PUT', isStored: boolean): Promise<Caught> {
    return new Promise((resolve) => {
      this.#ambush = (exchange, sender) => {
        const { request } = exchange;
        const { url = '' } = request;
        if (request.method !== method || !url.endsWith('.part') || this.parts.has(url) !== isStored) return false;
        this.#ambush = null;
        resolve({ exchange, sender });
        return true;
      };
    });
  }
}

/** The places of the disasters. */
interface Cluster {
  redis: RedisServer;
  workers: Processes;
  store: FaultyStore;
  /** The parts of all torrents. */
  parts: number;
}

/**
 * Makes all disasters. Each waits for a share of the parts, and most of them for a worker that is busy with another part.
 *
 * @returns A worker that is frozen, and the request that it waits for.
 */
async function disasters(t: TestContext, { redis, workers, store, parts }: Cluster): Promise<Caught> {
  const share = (percent: number) => until(t, () => store.parts.size >= (parts * percent) / 100);
  await share(10);
  const unsent = await store.next('PUT', false);
  await workers.replace(unsent.sender);
  unsent.exchange.response.destroy();

  await share(20);
  // Others take its job, and it wakes up when everything has ended.
  const frozen = await store.next('PUT', false);
  workers.freeze(frozen.sender);

  await share(30);
  await redis.kill();
  await redis.start();

  await share(40);
  const unfinished = await store.next('PUT', false);
  await unfinished.exchange.pass();
  await workers.replace(unfinished.sender);

  await share(50);
  await redis.kill();
  await rm(redis.folder, { recursive: true });
  await redis.start();

  await share(60);
  const paused = await store.next('GET', false);
  paused.sender.kill('SIGSTOP');
  const now = store.parts.size;
  await until(t, () => store.parts.size > now);
  paused.sender.kill('SIGCONT');
  void paused.exchange.pass();

  await share(70);
  await redis.kill();
  await redis.start();

  await share(80);
  await workers.replace();

  await share(90);
  const join = await store.next('GET', true);
  await workers.replace(join.sender);
  join.exchange.response.destroy();
  return frozen;
}

describe('a queue in chaos', { skip: redisMissing() }, () => {
  it(`makes the torrents of one process from ${TREES} trees (seed ${SEED})`, { timeout: HANG_MS }, async (t) => {
    const [redis, s3, folder] = [await redisServer(t), await s3Server(t), await temporaryFolder(t)];
    const [data, out] = [path.join(folder, 'data'), path.join(folder, 'out')];
    await mkdir(out);
    const trees = fc.sample(tree, { seed: SEED, numRuns: TREES });
    const torrents = await Promise.all(trees.map((given, index) => prepare(data, given, index)));
    const before = (await readdir(data, { recursive: true })).sort();
    const parts = torrents.reduce((sum, { plan }) => sum + plan.parts, 0);

    const roots = ['--root', `data=${data}`, '--root', `out=${out}`];
    const workers = new Processes(t, ['--redis', redis.url, ...roots, '--store', STORE, '-q'], s3.env);
    const store = new FaultyStore(s3, workers);
    const objects = s3Store(STORE, s3.options);
    const queue = new TorrentQueue({ connection: redis.url, store: objects });
    t.after(() => queue.close());
    for (let i = 0; i < WORKERS; i += 1) workers.start();

    const outages: string[] = [];
    let done = 0;
    const run = async ({ plan, expected, output }: (typeof torrents)[number]) => {
      for (;;) {
        try {
          const queued = await queue.addTorrent(plan, { output });
          const { infohashV1, infohashV2 } = await queued.done();
          assert.deepEqual([infohashV1, infohashV2], [expected.infohashV1, expected.infohashV2], output);
          done += 1;
          return;
        } catch (error) {
          if (!(error instanceof MetainfoError && error.code === 'ERR_QUEUE')) throw error;
          assert.match(error.message, /is no longer in the queue|does not answer|^The queue failed/);
          outages.push(error.message);
        }
      }
    };
    const all = Promise.all(torrents.map(run));
    const [frozen] = await Promise.all([disasters(t, { redis, workers, store, parts }), all]);
    assert.equal(done, TREES);
    workers.thaw();
    await frozen.exchange.pass();
    const isIdle = async () => {
      const { waiting, active, delayed } = await queue.counts(['data', 'out']);
      return waiting + active + delayed === 0;
    };
    await until(t, isIdle);
    await workers.stop();

    const lost = outages.filter((text) => text.includes('no longer in the queue')).length;
    t.diagnostic(
      `${parts} parts; ${store.failed} of ${s3.requests.length} calls of the store failed; ${lost} lost jobs`,
    );
    assert.ok(lost > 0);
    assert.ok(store.failed >= 0.04 * s3.requests.length);
    assert.equal((await queue.counts(['data', 'out'])).failed, 0);
    for (const { expected, output } of torrents)
      assert.ok(Buffer.from(expected.bencode()).equals(await readFile(path.join(folder, output))), output);
    assert.deepEqual((await readdir(out)).sort(), torrents.map(({ output }) => path.basename(output)).sort());
    assert.deepEqual((await readdir(data, { recursive: true })).sort(), before);
    assert.deepEqual((await readdir(folder)).sort(), ['data', 'out']);
    const left: string[] = [];
    for await (const { planId, name } of objects.list?.() ?? []) if (name !== 'key') left.push(`${planId}/${name}`);
    // The job of a torrent of one part holds its plan.
    const wanted = ({ plan: { id, parts } }: (typeof torrents)[number]) =>
      parts === 1 ? [] : ['plan', ...Array(parts).keys()].map((name) => `${id}/${name}`);
    assert.deepEqual(left.sort(), torrents.flatMap(wanted).sort());
  });
});
