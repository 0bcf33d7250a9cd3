/** Runs jobs with one cache until their process or worker ends. cache.test.ts starts it as a process of its own. */
import { utimesSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { TorrentCreate } from '../../src/create/draft.ts';

/** The folders that the jobs make torrents of. cache.test.ts makes them, each with a file. */
const LANES = 8;

const [how = '', root = ''] = isMainThread ? process.argv.slice(2) : ['', workerData.root];
const cache = path.join(root, 'cache');

async function runLane(lane: number): Promise<never> {
  const pathRoot = path.join(root, String(lane));
  for (;;) {
    // The cache knows the file of some jobs; others have a new file each time.
    if (lane % 2 === 1) utimesSync(path.join(pathRoot, 'file'), Math.random() * 1e9, Math.random() * 1e9);
    await new TorrentCreate({ pathRoot, pieceLength: 16_384 }).generate({ cache, threads: 1 });
  }
}

const startLanes = () => Array.from({ length: LANES }, (_, lane) => runLane(lane));

/** Starts a worker with running jobs. */
async function jobsInWorker(): Promise<Worker> {
  const worker = new Worker(new URL(import.meta.url), {
    execArgv: ['--import', './scripts/ts.mjs'],
    workerData: { root },
  });
  await new Promise((resolve, reject) => worker.once('message', resolve).once('error', reject));
  return worker;
}

const endings: Record<string, () => Promise<void>> = {
  async exit() {
    void startLanes();
    await sleep(500 + Math.random() * 500);
    process.exit(7);
  },

  async uncaught() {
    void startLanes();
    await sleep(500 + Math.random() * 500);
    process.setUncaughtExceptionCaptureCallback(() => process.exit(7));
    setImmediate(() => {
      throw new Error('on purpose');
    });
  },

  async terminate() {
    for (let round = 0; round < 6; round += 1) {
      const worker = await jobsInWorker();
      await sleep(Math.random() * 100);
      await worker.terminate();
    }
    process.exit(7);
  },
};

if (isMainThread) await endings[how]?.();
else {
  void startLanes();
  parentPort?.postMessage('started');
}
