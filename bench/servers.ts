// An upload server under load: the latency of its small requests while it drains uploads, hashes them with node:crypto in its event loop or in a worker,
// or hashes them with metainfo. The server, the uploads and the small requests have a process each. Every mode gets the same uploads at the same
// rate, side by side in each round, so the share of a mode over `drained` is what hashing adds.
//
//   npm run bench -- servers [--seconds 10] [--size 64MiB] [--uploads 2] [--megabytes 100] [--connections 2] [--rounds 5]
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import autocannon from 'autocannon';
import { formatBytes } from '../src/text/format.ts';
import { bench, divide, measure, NODE_OPTIONS } from './support/measure.ts';
import { tableOf } from './support/tables.ts';
import { MODES, type Usage } from './support/upload-server.ts';
import type { Uploads } from './support/uploads.ts';

/** Starts a program of support/, whose lines can be awaited one by one. */
function start(script: string, ...args: string[]) {
  const file = fileURLToPath(new URL(`support/${script}.ts`, import.meta.url));
  const child = spawn(process.execPath, [...NODE_OPTIONS, file, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  const line = async (): Promise<string> => {
    const { done, value } = await lines.next();
    if (done) throw new Error(`${script} ${args.join(' ')} has failed`);
    return value;
  };
  return { line, stop: () => child.kill() };
}

/** Sends small requests as fast as they are answered, and returns their times in ms, sorted. */
async function timeRequests(url: string, connections: number, seconds: number): Promise<number[]> {
  const times: number[] = [];
  const running = autocannon({ url, connections, duration: seconds });
  running.on('response', (_client, _status, _bytes, time) => void times.push(time));
  const { errors, non2xx } = await running;
  if (errors + non2xx > 0) throw new Error(`${errors + non2xx} requests failed`);
  return times.sort((a, b) => a - b);
}

const DEFAULTS = { seconds: '10', size: '64MiB', uploads: '2', megabytes: '100', connections: '2', rounds: '5' };
export default bench(DEFAULTS, async ({ seconds, size, uploads, megabytes, connections, rounds }) => {
  const run = async (mode: string) => {
    const server = start('upload-server', mode);
    const url = `http://127.0.0.1:${await server.line()}`;
    const usage = async () => (await (await fetch(url)).json()) as Usage;
    const sent = { seconds, size, uploads, rate: megabytes * 1e6 } satisfies Uploads;
    const sender = start('uploads', url, JSON.stringify(sent));
    try {
      await sender.line();
      const before = await usage();
      const times = await timeRequests(url, connections, seconds);
      const after = await usage();
      const rate = Number(await sender.line()) / 1e9;
      const at = (share: number) => times[Math.floor((times.length - 1) * share)];
      const cores = (after.cpu - before.cpu) / (after.time - before.time);
      return { median: at(0.5), p99: at(0.99), most: at(1), requests: times.length / seconds, rate, cores };
    } finally {
      sender.stop();
      server.stop();
    }
  };
  const cases = MODES.map((mode) => ({ row: mode, run: () => run(mode) }));
  const grid = await measure(cases, rounds);
  const figure = (measured: string) => (row: string) => grid.median(row, '', measured);
  const p99 = figure('p99');
  const table = tableOf('Small requests of a server with uploads', 'uploads are', MODES, [
    ['median', 'ms', figure('median')],
    ['99 %', 'ms', p99],
    ['most', 'ms', figure('most')],
    ['99 % to drained', 'ratio', (row) => divide(p99(row), p99('drained'))],
    ['requests', '/s', figure('requests')],
    ['uploads', 'GB/s', figure('rate')],
    ['cores in use', 'number', figure('cores')],
  ]);
  const settings = `${uploads} uploads of ${formatBytes(size)} at once with ${megabytes} MB/s together, ${connections} connections for small requests, ${seconds} s, medians of ${rounds} rounds`;
  return { tables: [table], settings };
});
