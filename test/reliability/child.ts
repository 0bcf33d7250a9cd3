/** The scenarios that reliability tests run in processes of their own: see run-child.ts. */
import { once } from 'node:events';
import { statSync, writeSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import type { TorrentCreate } from '../../src/create/draft.ts';
import type { TorrentVersion } from '../../src/model/discriminator.ts';
import { loadMalloc } from '../support/malloc.ts';
import { descriptorCount, mainThreadSeconds, peak, threadCount } from '../support/proc.ts';
import { cpuSeconds } from '../support/timing.ts';
import { Leftovers } from './leftovers.ts';

/** The code of a worker. It uses only the addon, because loading TypeScript would take most of its time. */
const JOBS_WITHOUT_END = `
  const { parentPort, workerData: { addon, file, size } } = require('node:worker_threads');
  const { HashJob } = require('node-gyp-build')(addon);
  const onDisk = (path, length) => ({ path, offset: 0, length, size: length, mtimeMs: NaN });
  const data = new Uint8Array(2 ** 18);
  const inMemory = { path: null, data, offset: 0, length: data.length, size: data.length, mtimeMs: NaN };
  const plan = { pieceLength: 2 ** 18, onMissing: 'fail', threads: 2, readSize: 2 ** 16, memoryLimit: 2 ** 20 };
  const again = (version, files, cancel) => {
    const job = new HashJob({ ...plan, version, files });
    if (cancel) job.cancel();
    const next = () => again(version, files, cancel);
    job.done.then(next, next);
  };
  again('v1', [onDisk(file, size)]);
  again('hybrid', Array(64).fill(inMemory));
  again('v2', [onDisk(file + '-missing', 1)]);
  again('v2', [inMemory], true);
  parentPort.postMessage('started');`;

/**
 * The code of a worker that ends while native threads read columns. Its columns come from the addon, whose memory Node frees
 * before it runs the addon's cleanup. The jobs are so many that some still run when the worker has ended.
 */
const JOBS_ON_COLUMNS = `
  const { parentPort, workerData: { addon, file, kind, end } } = require('node:worker_threads');
  const { HashJob, Scan, ...functions } = require('node-gyp-build')(addon);
  const FILES = 20_000;
  const names = Array.from({ length: FILES }, (_, i) => 'folder' + i % 100 + '\\0' + i);
  let bytes = 0;
  const ends = Uint32Array.from(names, (name) => (bytes += name.length));
  const numbers = new Float64Array(FILES).fill(NaN);
  const paths = { bytes: Buffer.from(names.join('')), ends };
  const given = { paths, lengths: new Float64Array(FILES).fill(1), mtimes: numbers, ctimes: numbers, diskPaths: null };
  const padding = { pieceLength: 2 ** 14, tailPad: true, names: 'libtorrent' };
  const plan = { pieceLength: 2 ** 14, onMissing: 'mark', threads: 2, readSize: 2 ** 14, memoryLimit: 2 ** 20 };
  const hash = (version, files) => new HashJob({ ...plan, version, files }).done;
  const data = new Uint8Array(2 ** 20);
  const inMemory = { path: null, data, offset: 0, length: data.length, size: data.length, mtimeMs: NaN };
  (async () => {
    const { columns } = await functions.sortFiles(given, false, null);
    const { v2 } = kind === 'tree' ? await hash('v2', Array(FILES).fill({ ...inMemory, length: 1 })) : {};
    const jobs = {
      sort: () => functions.sortFiles(columns, true, columns.paths),
      measure: () => functions.measureFiles(columns, padding, 2 ** 14, 100),
      list: () => functions.encodeFileList(columns, padding),
      tree: () => functions.encodeFileTree(columns, v2.roots),
      scan: () => new Scan({ root: addon, isRecursive: true, readable: false, disks: [''], paths: [''] }).done,
      'hash v1': () => hash('v1', { root: file, columns }),
      'hash v2': () => hash('v2', { root: file, columns }),
      'hash memory': () => hash('hybrid', Array(64).fill(inMemory)),
    };
    for (let i = 0; i < 100; i += 1) jobs[kind]();
    parentPort.postMessage('started');
    if (end === 'exit') process.exit();
    if (end === 'uncaught') setImmediate(() => { throw new Error('on purpose'); });
  })();`;

/** Writes synchronously, so the message arrives even if the process ends right after. */
const tell = (message: Record<string, number>) => writeSync(1, `${JSON.stringify(message)}\n`);
/** Reports the threads that are left after all jobs. */
const tellThreads = (left: string[]) => tell({ left: left.length });
/** Returns the seconds of the monotonic clock that all processes of this machine share. */
const now = () => Number(process.hrtime.bigint()) / 1e9;

/** Imports the library late, so that a scenario decides which thread loads the addon. */
async function draftOf(file: string): Promise<TorrentCreate> {
  const { TorrentCreate: Draft } = await import('../../src/create/draft.ts');
  return new Draft({ pathRoot: file });
}

/** Starts a job and waits until it hashes; its result is ignored. */
async function startHashing(file: string, threads = 2): Promise<void> {
  const draft = await draftOf(file);
  await new Promise<void>((resolve, reject) => {
    const onProgress = ({ bytes }: { bytes: number }) => bytes > 0 && resolve();
    draft.generate({ threads, onProgress }).catch(reject);
  });
}

/** Terabytes of content in memory: the same buffer many times, which only the job references. */
async function startHashingMemory() {
  const { nativeEngine } = await import('../../src/hash/native.ts');
  const data = new Uint8Array(2 ** 24).fill(7);
  const file = { path: null, data, offset: 0, length: data.length, size: data.length, mtimeMs: Number.NaN };
  const plan = { version: 'v2' as const, pieceLength: 2 ** 20, onMissing: 'fail' as const };
  const files = Array.from({ length: 10_000 }, () => file);
  return nativeEngine().start({ ...plan, files, threads: 1, readSize: 2 ** 20, memoryLimit: 2 ** 20 });
}

/** Returns a function that hashes a file in a job of two threads. */
async function hashingOf(file: string) {
  const { nativeEngine } = await import('../../src/hash/native.ts');
  const size = statSync(file).size;
  const files = [{ path: file, offset: 0, length: size, size, mtimeMs: Number.NaN }];
  const plan = { files, version: 'v1' as const, pieceLength: 2 ** 14, onMissing: 'fail' as const, threads: 2 };
  return () => nativeEngine().start({ ...plan, readSize: 2 ** 14, memoryLimit: 2 ** 20 }).done;
}

async function inWorker(): Promise<void> {
  if (workerData.file.startsWith('parked ')) {
    const hash = await hashingOf(workerData.file.slice('parked '.length));
    await Promise.all(Array.from({ length: 20 }, hash));
    // Stay until the end, which must find parked threads.
    setInterval(() => {}, 1000);
    parentPort?.postMessage('parked');
    return;
  }
  if (workerData.file === 'memory') {
    const job = await startHashingMemory();
    while (job.progress().bytes === 0) await sleep(1);
    parentPort?.postMessage('hashing');
    return;
  }
  // One thread each, so that two workers hash at the same time.
  await startHashing(workerData.file, 1);
  parentPort?.postMessage('hashing');
}

/** Starts a worker that hashes `file`. */
function hashingWorker(file: string): Worker {
  return new Worker(new URL(import.meta.url), { execArgv: ['--import', './scripts/ts.mjs'], workerData: { file } });
}

const hashing = (worker: Worker) =>
  new Promise((resolve, reject) => worker.once('message', resolve).once('error', reject));

/** Ends a worker and returns the processor time that this process used meanwhile, in seconds. */
async function terminate(worker: Worker): Promise<number> {
  const before = cpuSeconds();
  await worker.terminate();
  return cpuSeconds() - before;
}

const usage = async (inUse: () => number) => {
  // The memory of buffers is freed only after the collection that found them unused.
  for (let i = 0; i < 3; i += 1) {
    globalThis.gc?.();
    await sleep(5);
  }
  return {
    descriptors: descriptorCount(),
    threads: threadCount(),
    heap: process.memoryUsage().heapUsed + process.memoryUsage().external,
    malloc: inUse(),
  };
};

const scenarios = {
  async exit(file: string, queued: string) {
    await startHashing(file);
    const draft = await draftOf(file);
    for (let i = 0; i < Number(queued); i += 1) void draft.generate({ threads: 2 });
    // Let them enter the queue.
    await sleep(300);
    tell({ at: now() });
    process.exit(7);
  },

  async exitWhileWorkerHashes(file: string) {
    await hashing(hashingWorker(file));
    tell({ at: now() });
    process.exit(7);
  },

  async naturalExit(file: string) {
    await (await draftOf(file)).generate();
    tell({ at: now() });
  },

  async uncaught(file: string) {
    await startHashing(file);
    process.once('exit', () => tell({ at: now() }));
    process.setUncaughtExceptionCaptureCallback(() => process.exit(9));
    setImmediate(() => {
      throw new Error('on purpose');
    });
  },

  async terminate(file: string, workers: string, small: string) {
    const started = Array.from({ length: Number(workers) }, () => hashingWorker(file));
    await Promise.all(started.map(hashing));
    for (const seconds of await Promise.all(started.map(terminate))) tell({ seconds });
    const torrent = await (await draftOf(small)).generate();
    tell({ pieces: torrent.nPieces });
  },

  async terminateRounds(file: string, rounds: string) {
    for (let round = 0; round < Number(rounds); round += 1) {
      const worker = hashingWorker(file);
      // Delays from before the addon is loaded to the middle of a job.
      if (round % 2 === 0) await hashing(worker);
      await sleep(round * 5);
      tell({ seconds: await terminate(worker) });
    }
  },

  /** Hashes content that only the job references, while free memory is overwritten. */
  async heldMemory() {
    const { nativeEngine } = await import('../../src/hash/native.ts');
    const start = (count: number) => {
      const data = new Uint8Array(2 ** 24).fill(7);
      const file = { path: null, data, offset: 0, length: data.length, size: data.length, mtimeMs: Number.NaN };
      const files = Array.from({ length: count }, () => file);
      const plan = { files, version: 'v1' as const, pieceLength: 2 ** 24, onMissing: 'fail' as const };
      const { done } = nativeEngine().start({ ...plan, threads: 1, readSize: 2 ** 20, memoryLimit: 2 ** 24 });
      files.length = 0;
      return done;
    };
    let rounds = 0;
    let hashes = Buffer.alloc(0);
    let count = 64;
    // On a busy machine, few collections happen during a job.
    for (; rounds <= 3 && count <= 4096; count *= 2) {
      rounds = 0;
      let ended = false;
      const done = start(count).finally(() => {
        ended = true;
      });
      for (; !ended; rounds += 1) {
        globalThis.gc?.();
        new Uint8Array(2 ** 24).fill(9);
        await sleep(1);
      }
      hashes = Buffer.from((await done).v1 ?? []);
    }
    const equal = hashes.equals(Buffer.concat(Array(count / 2).fill(hashes.subarray(0, 20))));
    tell({ rounds, first: hashes.readUInt32BE(0), equal: Number(equal) });
  },

  /** Ends workers while native threads run their jobs of one kind. Tells how many ended in each way. */
  async endJobs(kind: string, file: string, rounds: string) {
    const addon = fileURLToPath(new URL('../..', import.meta.url));
    const ended = { terminate: 0, uncaught: 0, exit: 0 };
    const one = async (end: keyof typeof ended) => {
      const workerData = { addon, file, kind, end };
      const worker = new Worker(JOBS_ON_COLUMNS, { eval: true, execArgv: [], workerData });
      const errors: string[] = [];
      worker.on('error', ({ message }: Error) => errors.push(message));
      if (end === 'terminate') worker.once('message', () => worker.terminate());
      await new Promise((resolve) => worker.once('exit', resolve));
      if (`${errors}` !== (end === 'uncaught' ? 'on purpose' : '')) throw new Error(`the worker failed: ${errors}`);
      ended[end] += 1;
    };
    for (let round = 0; round < Number(rounds); round += 1)
      await Promise.all([one('terminate'), one('uncaught'), one('exit')]);
    tell(ended);
  },

  /** Runs windows of jobs of all versions, of which a quarter is cancelled and a quarter fails. */
  async leak(malloc: string, file: string, windows: string, jobs: string) {
    const inUse = loadMalloc(malloc);
    const leftovers = await Leftovers.of(file);
    const draft = await draftOf(file);
    const { nativeEngine } = await import('../../src/hash/native.ts');
    const missing = { path: `${file}-missing`, offset: 0, length: 1, size: 1, mtimeMs: Number.NaN };
    const data = new Uint8Array(2 ** 16);
    const memory = { path: null, data, offset: 0, length: data.length, size: data.length, mtimeMs: Number.NaN };
    const plan = { pieceLength: 2 ** 16, onMissing: 'fail' as const, readSize: 2 ** 16, memoryLimit: 2 ** 20 };
    const ends = [
      (version: TorrentVersion, threads: number) =>
        draft.generate({ version, threads, signal: new AbortController().signal }),
      (version: TorrentVersion, threads: number) => draft.generate({ version, threads }),
      (version: TorrentVersion, threads: number) =>
        nativeEngine().start({ ...plan, files: [missing], version, threads }).done,
      (version: TorrentVersion, threads: number) => {
        const job = nativeEngine().start({ ...plan, files: Array(64).fill(memory), version, threads });
        job.cancel();
        return job.done;
      },
    ];
    const count = { done: 0, failed: 0, cancelled: 0 };
    for (let window = 0; window < Number(windows); window += 1) {
      for (let i = 0; i < Number(jobs); i += 1) {
        const version = (['v1', 'v2', 'hybrid'] as const)[i % 3] as TorrentVersion;
        const outcome = await (ends[i % 4] as (typeof ends)[number])(version, 1 + (i % 2)).then(
          () => 'done' as const,
          ({ code }) => (code === 'ERR_ABORTED' ? 'cancelled' : 'failed'),
        );
        count[outcome] += 1;
      }
      tell({ ...(await usage(inUse)), ...count });
    }
    tellThreads(await leftovers.threadsAtEnd());
  },

  /** Runs windows of workers that are terminated in the middle of jobs of all versions. */
  async leakWorkers(malloc: string, file: string, windows: string, workers: string) {
    const inUse = loadMalloc(malloc);
    const leftovers = await Leftovers.of(path.dirname(file));
    const { nativeEngine } = await import('../../src/hash/native.ts');
    nativeEngine();
    const addon = fileURLToPath(new URL('../..', import.meta.url));
    const data = { addon, file, size: statSync(file).size };
    // Two at the same time, so that they share the budget.
    const one = async () => {
      const worker = new Worker(JOBS_WITHOUT_END, { eval: true, execArgv: [], workerData: data });
      const ended = once(worker, 'exit');
      await once(worker, 'message');
      await sleep(Math.random() * 10);
      await worker.terminate();
      await ended;
    };
    for (let window = 0; window < Number(windows); window += 1) {
      for (let i = 0; i < Number(workers); i += 2) await Promise.all([one(), one()]);
      // A thread that is stuck in a read closes the file a moment after its worker has ended.
      await leftovers.problems(() => ({ open: 0, stalled: 0 }));
      tell(await usage(inUse));
    }
    tellThreads(await leftovers.threadsAtEnd());
  },

  async uncollected(file: string) {
    const { nativeEngine } = await import('../../src/hash/native.ts');
    const plan = {
      files: [{ path: file, offset: 0, length: 2 ** 30, size: 2 ** 30, mtimeMs: Number.NaN }],
      version: 'hybrid' as const,
      pieceLength: 2 ** 20,
      onMissing: 'fail' as const,
      ...{ threads: 1, readSize: 2 ** 20, memoryLimit: 2 ** 20 },
    };
    // Nothing references the job, only its promise.
    const settled = nativeEngine()
      .start(plan)
      .done.then(({ v1 }) => tell({ pieces: (v1?.length ?? 0) / 20 }));
    const timer = setInterval(() => globalThis.gc?.(), 5);
    await settled;
    clearInterval(timer);
  },

  async busy(file: string) {
    const draft = await draftOf(file);
    const { nativeEngine } = await import('../../src/hash/native.ts');
    const engine = nativeEngine();
    // A clock would measure the scheduler of the system too.
    const used = () => mainThreadSeconds('running') ?? Number.NaN;
    let [last, most, turns] = [used(), 0, 0];
    const timer = setInterval(() => {
      most = Math.max(most, used() - last);
      last = used();
      turns += 1;
    }, 10);
    await draft.generate({ engine, threads: Math.max(1, availableParallelism() - 1), onProgress: () => {} });
    clearInterval(timer);
    tell({ most, turns });
  },

  /** Counts threads after 1,000 jobs one after the other, after 1,000 at once, and when the parked threads have ended. */
  async parkedThreads(file: string) {
    const hash = await hashingOf(file);
    // Node starts threads of its own for the file system.
    await stat(file);
    const before = threadCount();
    let most = 0;
    for (let i = 0; i < 1000; i += 1) {
      await hash();
      most = Math.max(most, threadCount());
    }
    tell({ before, most });
    await Promise.all(Array.from({ length: 1000 }, hash));
    tell({ most: threadCount() });
    const idle = now();
    while (threadCount() > before && now() - idle < 60) await sleep(100);
    tell({ most: threadCount(), seconds: now() - idle });
  },

  /** Ends the process while threads are parked. */
  async exitWithParkedThreads(file: string) {
    const hash = await hashingOf(file);
    await Promise.all(Array.from({ length: 20 }, hash));
    tell({ threads: threadCount() });
    tell({ at: now() });
    process.exit(7);
  },

  /** Ends a worker whose jobs have parked threads, then hashes in the main thread, which never loaded the addon before. */
  async terminateWithParkedThreads(file: string) {
    // Node starts threads of its own for the file system.
    await stat(file);
    const before = threadCount();
    const worker = hashingWorker(`parked ${file}`);
    await hashing(worker);
    const parked = threadCount();
    const started = now();
    await worker.terminate();
    // Threads end by themselves when they were idle for three seconds.
    while (threadCount() > before && now() - started < 60) await sleep(10);
    tell({ parked: parked - before, left: threadCount() - before, seconds: now() - started });
    const hash = await hashingOf(file);
    const all = await Promise.all(Array.from({ length: 20 }, hash));
    tell({ hashed: all.length });
  },

  async crowd(file: string, jobs: string) {
    const draft = await draftOf(file);
    // Node starts threads of its own for the file system.
    await stat(file);
    const before = threadCount();
    await draft.generate();
    let most = 0;
    const timer = setInterval(() => {
      most = Math.max(most, threadCount());
    }, 1);
    await Promise.all(Array.from({ length: Number(jobs) }, () => draft.generate({ threads: null })));
    clearInterval(timer);
    tell({ before, most, cores: availableParallelism() });
  },

  async manyFiles(file: string, count: string) {
    const { Torrent } = await import('../../src/model/torrent/torrent.ts');
    const torrent = await (await draftOf(file)).generate();
    const before = descriptorCount();
    let most = before;
    const timer = setInterval(() => {
      most = Math.max(most, descriptorCount());
    }, 1);
    const names = Array.from({ length: Number(count) }, (_, i) => `${file} ${i}.torrent`);
    await Promise.all(names.map((name) => torrent.write(name)));
    const read = await Promise.all(names.map((name) => Torrent.read(name)));
    clearInterval(timer);
    tell({ before, most, same: read.filter(({ infohashV2 }) => infohashV2 === torrent.infohashV2).length });
  },

  async idle(file: string) {
    const [, { nativeEngine }] = await Promise.all([draftOf(file), import('../../src/hash/native.ts')]);
    nativeEngine();
    tell({ peak: peak() });
  },

  async memory(file: string, version: string) {
    await (await draftOf(file)).generate({ version: version as TorrentVersion, threads: 2 });
    tell({ peak: peak() });
  },

  /** Hashes 4 GiB from a producer that never waits. */
  async streamMemory(version: string, memoryLimit: string) {
    const { TorrentCreate: Draft } = await import('../../src/create/draft.ts');
    const chunk = Buffer.alloc(2 ** 20, 1);
    const data = (async function* () {
      for (let i = 0; i < 4096; i += 1) yield chunk;
    })();
    const draft = new Draft({ sources: [{ path: 'big', data }], pieceLength: 2 ** 20 });
    await draft.generate({ version: version as TorrentVersion, threads: 2, memoryLimit: Number(memoryLimit) });
    tell({ peak: peak() });
  },
};

export type ScenarioName = keyof typeof scenarios;

if (isMainThread) {
  const [scenario, ...args] = process.argv.slice(2) as [ScenarioName, ...string[]];
  await (scenarios[scenario] as (...args: string[]) => Promise<void>)(...args);
} else {
  await inWorker();
}
