// Torrents through a queue: one torrent compared with one process, batches compared with a loop, and jobs of one small file compared with
// an own worker of BullMQ. Needs redis-server.
//
//   npm run bench -- queues [--queued 4GiB] [--torrents 10000] [--jobs 300] [--workers 2000] [--seconds 30]
//     [--rounds 7]
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Queue, QueueEvents, Worker } from 'bullmq';
import { folderStore, planParts, processLimits, Torrent, TorrentCreate, verify } from 'metainfo';
import { writeData, writeFiles } from '../../../bench/support/data.ts';
import {
  bench,
  CHILD,
  divide,
  measure,
  NODE_OPTIONS,
  type Sample,
  takeTurns,
  VERSIONS,
  type Version,
} from '../../../bench/support/measure.ts';
import { columnsFor, type Table, tableOf } from '../../../bench/support/tables.ts';
import { formatBytes } from '../../../src/text/format.ts';
import { backendOf } from '../src/backend.ts';
import { type BatchItems, createWorkers, TorrentQueue } from '../src/index.ts';
import { RootQueues } from '../src/root-queues.ts';
import { redisServer } from '../test/support/redis.ts';

const WORKERS = 2;
const ALONE = 'one process';
const LOOP = 'loop in one process';
const BATCH = 'worker of a batch';
/** Small torrents that the loop has under way, as many as a batch. */
const AT_ONCE = 64;
const SMALL = 16 * 2 ** 10;

interface WorkerInput {
  connection: string;
  store: string;
  root: string;
  threads: number;
}

type Operation = 'create' | 'verify';
type Item = BatchItems['create'] & BatchItems['verify'];

/** Does the items of a batch without a queue. The files survive a power cut too. */
const ALONE_RUNS: Record<Operation, (root: string, item: Item) => Promise<unknown>> = {
  create: async (root, { path: content, output }) => {
    const draft = new TorrentCreate({ pathRoot: path.join(root, content) });
    const torrent = await draft.generate({ version: 'hybrid' });
    await torrent.write(path.join(root, output));
  },
  verify: async (root, { path: content, torrent }) =>
    verify(await Torrent.read(path.join(root, torrent)), path.join(root, content)),
};

const ended = new Promise<never>(() => {});

export const tasks = {
  /** Workers of a queue, which tell the processor time of their process. */
  queueWorker: async ({ connection, store, root, threads }: WorkerInput) => {
    processLimits({ threads });
    const workers = createWorkers({ connection, store: folderStore(store), roots: { data: root }, threads });
    await workers.ready();
    process.on('message', () => process.send?.(process.cpuUsage()));
    process.on('disconnect', () => process.exit());
    process.send?.('ready');
    return () => ended;
  },

  /** A process that does items in a loop, and tells its processor time. */
  loop({ root }: { root: string }) {
    process.on('message', async ({ operation, items }: { operation: Operation; items: Item[] }) => {
      const inRoot = items.map((item) => ({ ...item, ...withoutRoot(item) }));
      await takeTurns(inRoot.values(), AT_ONCE, (item) => ALONE_RUNS[operation](root, item));
      process.send?.(process.cpuUsage());
    });
    process.on('disconnect', () => process.exit());
    process.send?.('ready');
    return () => ended;
  },
};

const withoutRoot = (item: object) =>
  Object.fromEntries(Object.entries(item).map(([key, place]) => [key, String(place).replace(/^data\//, '')]));

const start = (task: keyof typeof tasks, input: object) =>
  fork(CHILD, [import.meta.url, task, JSON.stringify(input)], { execArgv: NODE_OPTIONS });

async function ask<T>(child: ChildProcess, question: object): Promise<T> {
  child.send(question);
  const [answer] = await once(child, 'message');
  return answer as T;
}

const secondsOf = ({ user, system }: NodeJS.CpuUsage) => (user + system) / 1e6;

/** Calls `use` with a server of its own, whose append-only file is synced after each command. */
async function withRedis<T>(use: (connection: string) => Promise<T>): Promise<T> {
  const ends: (() => Promise<void>)[] = [];
  try {
    const { url } = await redisServer({ after: (end) => ends.push(end) });
    return await use(url);
  } finally {
    for (const end of ends.reverse()) await end();
  }
}

/** One file through a queue: a row for each part size, with the time of one process that has as many threads as all workers. */
function queueTable(folder: string, size: number, rounds: number): Promise<Table> {
  return withRedis(async (connection) => {
    const [root, store] = [path.join(folder, 'root'), path.join(folder, 'store')];
    mkdirSync(root, { recursive: true });
    writeData(path.join(root, 'content'), size);
    const input = { connection, store, root, threads: 1 } satisfies WorkerInput;
    const workers = Array.from({ length: WORKERS }, () => start('queueWorker', input));
    await Promise.all(workers.map((child) => once(child, 'message')));
    const queue = new TorrentQueue({ connection, store: folderStore(store) });
    let comment = 0;
    const draft = () =>
      new TorrentCreate({ pathRoot: path.join(root, 'content'), pieceLength: 2 ** 20, comment: String(comment) });
    const contender = (version: Version, row: string, partSize: number | 'auto' | null) => {
      const run = async () => {
        // A new plan: no stored part fits it.
        comment += 1;
        rmSync(path.join(root, 'content.torrent'), { force: true });
        const started = performance.now();
        if (partSize === null) {
          const torrent = await draft().generate({ version, threads: WORKERS });
          await torrent.write(path.join(root, 'content.torrent'));
        } else {
          const plan = await planParts(draft(), { version, partSize, root: 'data/content' });
          const queued = await queue.addTorrent(plan, { output: 'data/content.torrent' });
          await queued.done();
        }
        return { seconds: (performance.now() - started) / 1000 };
      };
      return { row, column: version, run };
    };
    const sizes = [16, 64, 256, 1024, 4096].map((mib) => mib * 2 ** 20).filter((bytes) => bytes <= size);
    const cases = VERSIONS.flatMap((version) => [
      contender(version, ALONE, null),
      contender(version, 'auto', 'auto'),
      ...(version === 'hybrid' ? sizes : []).map((bytes) => contender(version, formatBytes(bytes), bytes)),
    ]);
    const grid = await measure(cases, rounds);
    await queue.close();
    for (const child of workers) child.disconnect();
    rmSync(root, { recursive: true });
    const seconds = (row: string, version: Version) => grid.median(row, version);
    const ratio = (row: string, version: Version) => divide(seconds(row, version), seconds(ALONE, version));
    const title = `One file of ${formatBytes(size)} through a queue: ${WORKERS} workers with one thread, and one process with ${WORKERS} threads`;
    return tableOf(title, 'part size', grid.rows, [
      ...columnsFor(VERSIONS, 's', seconds),
      ...columnsFor(VERSIONS, 'ratio', ratio, { suffix: `, time / ${ALONE}` }),
    ]);
  });
}

/** Small torrents in batches: the processor time of a worker, and that of a loop with the same durability. */
function batchTable(folder: string, count: number, rounds: number): Promise<Table> {
  return withRedis(async (connection) => {
    const [root, store] = [path.join(folder, 'root'), path.join(folder, 'store')];
    mkdirSync(root, { recursive: true });
    writeFiles(path.join(root, 'content'), count, SMALL);
    const worker = start('queueWorker', { connection, store, root, threads: WORKERS } satisfies WorkerInput);
    const loop = start('loop', { root });
    await Promise.all([worker, loop].map((child) => once(child, 'message')));
    const queue = new TorrentQueue({ connection, store: folderStore(store) });
    const items = Array.from({ length: count }, (_, i) => ({
      path: `data/content/folder ${Math.floor(i / 1000)}/file ${i}`,
      output: `data/torrents/${i}.torrent`,
      torrent: `data/torrents/${i}.torrent`,
    }));
    const prepare = (operation: Operation) => {
      if (operation !== 'create') return;
      rmSync(path.join(root, 'torrents'), { recursive: true, force: true });
      mkdirSync(path.join(root, 'torrents'));
    };
    const timed = async (child: ChildProcess, question: object, act: () => Promise<unknown>): Promise<Sample> => {
      const before = await ask<NodeJS.CpuUsage>(child, question);
      const started = performance.now();
      await act();
      const seconds = (performance.now() - started) / 1000;
      const after = await ask<NodeJS.CpuUsage>(child, question);
      return { seconds, processor: ((secondsOf(after) - secondsOf(before)) / count) * 1e6 };
    };
    const nothing = { operation: 'create', items: [] };
    const contenders = (operation: Operation) => [
      {
        row: operation,
        column: LOOP,
        run: () => {
          prepare(operation);
          return timed(loop, nothing, () => ask(loop, { operation, items }));
        },
      },
      {
        row: operation,
        column: BATCH,
        run: () => {
          prepare(operation);
          return timed(worker, {}, async () => {
            const batch = await queue.addBatch(operation, items as never);
            for await (const { ok, error } of batch.results()) if (!ok) throw new Error(error ?? 'damaged');
            // The last answers of the server are still under way.
            await delay(50);
          });
        },
      },
    ];
    // Code that has not been compiled yet would count too. Verification needs the torrents.
    for (const { run } of [...contenders('create'), ...contenders('verify')]) await run();
    const grids = {
      create: await measure(contenders('create'), rounds),
      verify: await measure(contenders('verify'), rounds),
    };
    await queue.close();
    for (const child of [worker, loop]) child.disconnect();
    rmSync(root, { recursive: true });
    const both = [LOOP, BATCH];
    const figure = (row: string, column: string, measure: string) =>
      grids[row as Operation].median(row, column, measure);
    const title = `Batches of ${count.toLocaleString('en')} files of ${formatBytes(SMALL)}: one worker with ${WORKERS} threads, and a loop in one process`;
    return tableOf(title, 'operation', Object.keys(grids), [
      ...columnsFor(both, 'µs', (row, column) => figure(row, column, 'processor'), {
        suffix: ', processor time of a torrent',
      }),
      ['worker / loop', 'ratio', (row) => divide(figure(row, BATCH, 'processor'), figure(row, LOOP, 'processor'))],
    ]);
  });
}

/** Milliseconds between two scrapes of a worker. */
const SCRAPE_MS = 15_000;

/** The part of a core that Redis uses for the beats of idle workers, and for a scrape of each of them every 15 s. */
function workersTable(counts: readonly number[], seconds: number): Promise<Table> {
  return withRedis(async (connection) => {
    const stubs: { queues: RootQueues; backend: ReturnType<typeof backendOf> }[] = [];
    const load = new Map<string, number>();
    const timers: NodeJS.Timeout[] = [];
    for (const count of counts) {
      while (stubs.length < count) {
        const backend = backendOf({ connection }, { roots: ['data'] });
        const queues = new RootQueues(backend, () => {});
        await backend.announce(queues.get('part', 'data'));
        stubs.push({ queues, backend });
        const scrape = () => void queues.counts(['data'], 5000).catch(() => {});
        timers.push(setInterval(scrape, SCRAPE_MS));
      }
      const before = await redisSeconds(stubs[0]?.queues as RootQueues);
      await delay(seconds * 1000);
      const used = (await redisSeconds(stubs[0]?.queues as RootQueues)) - before;
      load.set(`${count}`, used / seconds);
    }
    for (const timer of timers) clearInterval(timer);
    for (const { queues } of stubs) await queues.close(1000);
    const title = `Idle workers, of which each sends a beat every 15 s and is scraped every ${SCRAPE_MS / 1000} s`;
    return tableOf(
      title,
      'workers',
      [...load.keys()],
      [['Redis, share of a core', 'share', (row) => load.get(row) ?? 0]],
    );
  });
}

async function redisSeconds(queues: RootQueues): Promise<number> {
  const info = await (await queues.get('part', 'data').getBackend().client).info();
  return ['sys', 'user'].reduce(
    (sum, kind) => sum + Number(new RegExp(`used_cpu_${kind}:([0-9.]+)`).exec(info)?.[1]),
    0,
  );
}

/** The part of a core that a producer and Redis use while the producer waits for torrents that nobody hashes. */
function waitsTable(folder: string, counts: readonly number[], seconds: number): Promise<Table> {
  return withRedis(async (connection) => {
    const root = path.join(folder, 'root');
    writeFiles(root, 1, SMALL);
    const store = folderStore(path.join(folder, 'store'));
    const queue = new TorrentQueue({ connection, store });
    const queues = new RootQueues(backendOf({ connection }), () => {});
    const [load, stop] = [new Map<string, [producer: number, redis: number]>(), new AbortController()];
    let waits = 0;
    for (const count of counts) {
      for (; waits < count; waits += 1) {
        const draft = new TorrentCreate({ pathRoot: root, comment: `${waits}` });
        const queued = await queue.addTorrent(await planParts(draft, { root: 'data/content' }), {
          output: `data/${waits}.torrent`,
        });
        queued.done({ signal: stop.signal, onProgress: () => {} }).catch(() => {});
      }
      await delay(5000);
      const [before, redis] = [process.cpuUsage(), await redisSeconds(queues)];
      await delay(seconds * 1000);
      const part = (used: number) => used / seconds;
      load.set(`${count}`, [part(secondsOf(process.cpuUsage(before))), part((await redisSeconds(queues)) - redis)]);
    }
    stop.abort();
    await Promise.all([queue.close(), queues.close(1000)]);
    rmSync(root, { recursive: true });
    return tableOf(
      'Torrents that a producer waits for with `onProgress`, and nobody hashes',
      'torrents',
      [...load.keys()],
      [
        ['producer, share of a core', 'share', (row) => load.get(row)?.[0] ?? 0],
        ['Redis, share of a core', 'share', (row) => load.get(row)?.[1] ?? 0],
      ],
    );
  });
}

const OWN = 'own BullMQ worker';

/** Small torrents as jobs of their own: the processor time of a process that is both producer and worker. */
function jobTable(folder: string, count: number, rounds: number): Promise<Table> {
  return withRedis(async (connection) => {
    const [root, store] = [path.join(folder, 'root'), folderStore(path.join(folder, 'store'))];
    mkdirSync(path.join(root, 'torrents'), { recursive: true });
    writeFiles(path.join(root, 'content'), count, SMALL);
    const names = Array.from({ length: count }, (_, i) => `content/folder ${Math.floor(i / 1000)}/file ${i}`);
    const output = (i: number) => `torrents/${i}.torrent`;
    const draft = (name: string) => new TorrentCreate({ pathRoot: path.join(root, name) });
    const workers = createWorkers({ connection, store, roots: { data: root } });
    await workers.ready();
    const queue = new TorrentQueue({ connection, store });
    const shared = { connection: { url: connection } };
    const [own, events] = [new Queue('own', shared), new QueueEvents('own', shared)];
    const write = async ({ data }: { data: { name: string; to: string } }) => {
      const torrent = await draft(data.name).generate();
      await torrent.write(path.join(root, data.to), { force: true });
      return torrent.infohashV1;
    };
    // Each job that is waited for listens to it.
    own.setMaxListeners(0);
    const worker = new Worker('own', write, shared);
    await events.waitUntilReady();
    const runs: Record<string, () => Promise<unknown>> = {
      [OWN]: () =>
        takeTurns(names.entries(), AT_ONCE, async ([i, name]) => {
          const job = await own.add('torrent', { name, to: output(i) }, { removeOnComplete: true });
          await job.waitUntilFinished(events);
        }),
      addTorrent: () =>
        takeTurns(names.entries(), AT_ONCE, async ([i, name]) => {
          const plan = await planParts(draft(name), { root: `data/${name}` });
          await (await queue.addTorrent(plan, { output: `data/${output(i)}`, force: true })).done();
        }),
      'addBatch, perJob: 1': async () => {
        const items = names.map((name, i) => ({ path: `data/${name}`, output: `data/${output(i)}`, force: true }));
        const batch = await queue.addBatch('create', items, { perJob: 1 });
        for await (const { ok, error } of batch.results()) if (!ok) throw new Error(error ?? 'damaged');
      },
    };
    const contenders = Object.entries(runs).map(([row, act]) => ({
      row,
      column: '',
      run: async () => {
        const [before, started] = [process.cpuUsage(), performance.now()];
        await act();
        const seconds = (performance.now() - started) / 1000;
        return { seconds, processor: (secondsOf(process.cpuUsage(before)) / count) * 1e6 };
      },
    }));
    for (const { run } of contenders) await run();
    const grid = await measure(contenders, rounds);
    await Promise.all([worker.close(), queue.close(), workers.close(), events.close(), own.close()]);
    rmSync(root, { recursive: true });
    const time = (row: string) => grid.median(row, '', 'processor');
    return tableOf(`Jobs of one file of ${formatBytes(SMALL)}: ${AT_ONCE} of ${count} at once`, 'job', grid.rows, [
      ['processor time of a torrent, producer and worker', 'µs', time],
      [`time / ${OWN}`, 'ratio', (row) => divide(time(row), time(OWN))],
    ]);
  });
}

const options = { queued: '4GiB', torrents: '10000', jobs: '300', workers: '2000', seconds: '30', rounds: '7' };
export default bench(options, async ({ queued, torrents, jobs, workers, seconds, rounds }, folder) => {
  const steps = [workers / 8, workers / 2, workers].map(Math.ceil);
  const tables = [
    await queueTable(folder, queued, rounds),
    await batchTable(folder, torrents, rounds),
    await jobTable(folder, jobs, rounds),
    await workersTable(steps, seconds),
    await waitsTable(folder, [Math.ceil(workers / 20), Math.ceil(1.5 * workers)], seconds),
  ];
  const settings = `Medians of ${rounds} interleaved rounds. Files are in the page cache. Times of torrents include planning and joining. Redis runs on the same machine and syncs each command.`;
  return { tables, settings };
});
