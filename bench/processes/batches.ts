// Makes many small torrents in this process, and through warm workers on Redis, in turn: bench/distributed.ts.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { TorrentQueue } from '../../src/bullmq/index.ts';
import { folderStore, TorrentCreate } from '../../src/index.ts';
import { writeFiles } from '../support/data.ts';
import { METAINFO, median } from '../support/measure.ts';

export interface BatchTask {
  folder: string;
  torrents: number;
  /** Worker processes; one process uses as many threads. */
  workers: number;
  rounds: number;
}

/** Torrents a second. */
export interface BatchReport {
  alone: number;
  workers: number;
}

const { folder, torrents, workers: count, rounds }: BatchTask = JSON.parse(process.argv[2] ?? '');
const SIZE = 2 ** 16;
const AT_ONCE = 16;

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

const base = path.join(folder, 'data');
writeFiles(path.join(base, 'content'), torrents, SIZE);
/** Every run writes into a folder of its own: ext4 is slow at new files for seconds after many have been deleted. */
let output = '';
let runs = 0;
const contentOf = (i: number) => `content/folder ${Math.floor(i / 1000)}/file ${i}`;
const port = await freePort();
const redis = spawn('redis-server', ['--port', `${port}`, '--bind', '127.0.0.1', '--save', '', '--dir', folder], {
  stdio: 'ignore',
});
const url = `redis://127.0.0.1:${port}`;
const store = path.join(folder, 'store');
const args = [
  'worker',
  '--redis',
  url,
  '--root',
  `data=${base}`,
  '--store',
  store,
  '-q',
  '--threads',
  '1',
  '--concurrency',
  '2',
];
const workers = Array.from({ length: count }, () => spawn(process.execPath, [METAINFO, ...args], { stdio: 'ignore' }));
const queue = new TorrentQueue({ connection: url, store: folderStore(store) });

/** Makes torrents in this process. */
async function alone(n = torrents): Promise<void> {
  let next = 0;
  const lane = async () => {
    while (next < n) {
      const i = next++;
      const draft = new TorrentCreate({ pathRoot: path.join(base, contentOf(i)) });
      await (await draft.generate({ threads: 1 })).write(path.join(output, `${i}.torrent`));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
}

/** Makes torrents through the workers. */
async function queued(n = torrents): Promise<void> {
  const items = Array.from({ length: n }, (_, i) => ({
    path: `data/${contentOf(i)}`,
    output: `data/${path.basename(output)}/${i}.torrent`,
  }));
  const batch = await queue.addBatch('create', items);
  for await (const { ok, error } of batch.results()) if (!ok) throw new Error(error ?? '');
}

async function rate(run: (n: number) => Promise<void>, n = torrents): Promise<number> {
  output = path.join(base, `torrents ${runs++}`);
  mkdirSync(output);
  const started = performance.now();
  await run(n);
  return n / ((performance.now() - started) / 1000);
}

try {
  // Warm: every process has made some torrents.
  await delay(1000);
  for (const run of [alone, queued]) await rate(run, Math.min(torrents, 2000));
  const rates: [number[], number[]] = [[], []];
  for (let round = 0; round < rounds; round += 1) {
    rates[0].push(await rate(alone));
    rates[1].push(await rate(queued));
  }
  const report: BatchReport = { alone: median(rates[0]), workers: median(rates[1]) };
  console.log(JSON.stringify(report));
} finally {
  await queue.close();
  for (const worker of workers) worker.kill('SIGKILL');
  redis.kill('SIGKILL');
}
process.exit();
