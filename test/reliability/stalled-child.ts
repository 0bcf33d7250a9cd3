/** Runs jobs and scans whose system calls stall. stalled.test.ts starts it as a process of its own, with the shim of test/support/faults preloaded. */
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { TorrentCreate } from '../../src/create/draft.ts';
import { scan } from '../../src/disk/scan.ts';
import { nativeEngine } from '../../src/hash/native.ts';
import { Torrent } from '../../src/model/torrent/torrent.ts';
import { Faults } from '../support/faults.ts';

const folder = process.env['METAINFO_FAULT_FOLDER'] as string;
const faults = Faults.open(process.env['METAINFO_FAULT_CONTROL'] as string);

const say = (told: object) => process.stdout.write(`${JSON.stringify(told)}\n`);
const make = (name: string, signal?: AbortSignal) =>
  new TorrentCreate({ pathRoot: path.join(folder, name), pieceLength: 16_384 }).generate({ threads: 2, signal });
const codeOf = (made: Promise<unknown>) =>
  made.then(
    () => 'made',
    ({ code }) => code as string,
  );

/** Starts jobs whose reads stall. */
async function stall(jobs: number, signal?: AbortSignal): Promise<Promise<string>[]> {
  faults.arm({ call: 'read', action: 'stall', every: 1, elsewhere: true, match: 'stalled' });
  const made = Array.from({ length: jobs }, () => codeOf(make('stalled', signal)));
  while (faults.counts().fired === 0) await sleep(5);
  await sleep(100);
  return made;
}

/** Starts a job that reads content in memory as soon as it has closed the file, for the same piece. */
function hashWithMemory(file: string): void {
  const [size, data] = [600_000, new Uint8Array(2 ** 20)];
  const files = [
    { path: file, offset: 0, length: size, size, mtimeMs: Number.NaN },
    { path: null, data, offset: 0, length: data.length, size: data.length, mtimeMs: Number.NaN },
  ];
  const plan = { files, version: 'v1' as const, pieceLength: 2 ** 21, onMissing: 'fail' as const, threads: 1 };
  nativeEngine()
    .start({ ...plan, readSize: 2 ** 21, memoryLimit: 2 ** 21 })
    .done.catch(() => {});
}

/** Starts jobs, or a scan, whose calls stall. */
async function stallAt(call: string): Promise<void> {
  if (call === 'read') {
    await stall(2);
    return;
  }
  const match = path.join(folder, call === 'list' ? 'inner' : 'stalled');
  faults.arm({ call: call as 'close' | 'list' | 'stat', action: 'stall', every: 1, elsewhere: true, match });
  if (call === 'close') hashWithMemory(match);
  else scan(folder, null).catch(() => {});
  while (faults.counts().fired === 0) await sleep(5);
}

const SCENARIOS = {
  async abort() {
    const controller = new AbortController();
    const jobs = await stall(3, controller.signal);
    const start = performance.now();
    controller.abort();
    const codes = await Promise.all(jobs);
    const seconds = (performance.now() - start) / 1000;
    const others = await codeOf(make('other'));
    const otherSeconds = (performance.now() - start) / 1000;
    faults.go();
    await sleep(300);
    faults.arm(null);
    say({ codes, seconds, others, otherSeconds, after: await codeOf(make('stalled')) });
  },
  async read() {
    faults.arm({ call: 'read', action: 'stall', every: 1, elsewhere: true, match: 'stalled' });
    const start = performance.now();
    const signal = AbortSignal.timeout(200);
    const codes = [await codeOf(Torrent.read(path.join(folder, 'stalled'), { signal }))];
    const seconds = (performance.now() - start) / 1000;
    faults.arm(null);
    say({ codes, seconds });
  },
  async exit(call: string) {
    await stallAt(call);
    say({ at: Number(process.hrtime.bigint()) / 1e9 });
    process.exit(0);
  },
  async terminate(call: string) {
    const worker = new Worker(new URL(import.meta.url), {
      execArgv: ['--import', './scripts/ts.mjs'],
      workerData: { call },
    });
    await new Promise((resolve) => worker.once('message', resolve));
    const start = performance.now();
    await worker.terminate();
    const seconds = (performance.now() - start) / 1000;
    faults.go();
    await sleep(300);
    faults.arm(null);
    say({ seconds, after: await codeOf(make('stalled')) });
  },
};

if (isMainThread) await SCENARIOS[process.argv[2] as keyof typeof SCENARIOS](process.argv[3] as string);
else {
  await stallAt(workerData.call);
  parentPort?.postMessage('stalled');
}
