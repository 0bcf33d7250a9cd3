/**
 * Asks for many torrents of small folders at once, with large ones beside them, and prints the effect on the process:
 * load.test.ts and `npm run bench -- load`.
 */
import path from 'node:path';
import { setImmediate as nextRound } from 'node:timers/promises';
import { seedRandom } from '../../fuzz/engine/random.ts';
import { defaultEngine } from '../../src/hash/default-engine.ts';
import { type Jobs, makeLarge, prepareJobs } from '../support/jobs.ts';
import { descriptorCount, threadCount } from '../support/proc.ts';
import { watchTimer } from '../support/timer.ts';

const SAMPLE_MS = 25;
const usage = () => ({ threads: threadCount(), descriptors: descriptorCount(), rss: process.memoryUsage.rss() });
const MIXED = ['create', 'verify', 'verifyAnother', 'read', 'decode', 'cancel'] as const satisfies (keyof Jobs)[];

export interface LoadTask {
  /** The folder for the files. */
  folder: string;
  jobs: number;
  large: number;
  /** Bytes of a large one. */
  largeBytes: number;
  /** Runs jobs of all kinds in place of creations. */
  mixed: boolean;
}

export type LoadReport = Awaited<ReturnType<typeof runLoad>>;

async function runLoad({ folder, jobs, large, largeBytes, mixed }: LoadTask) {
  seedRandom(1);
  const kinds = await prepareJobs(folder, 100, 20_000);
  const names = mixed ? MIXED : (['create'] as const);
  const largeFiles: Awaited<ReturnType<typeof makeLarge>>[] = [];
  // Every large file has a length of its own.
  for (let i = 0; i < large; i += 1) largeFiles.push(await makeLarge(path.join(folder, `large ${i}`), largeBytes + i));
  const alone = performance.now();
  await Promise.all(largeFiles.map(({ create }) => create()));
  const largeAloneSeconds = (performance.now() - alone) / 1000;

  const wrong: string[] = [];
  const stopAll = new AbortController();
  let [started, settled, aborted, firstSeconds] = [0, 0, 0, 0];
  const secondsNow = () => (performance.now() - started) / 1000;
  const runSmall = async (i: number) => {
    const name = names[i % names.length] ?? 'create';
    // Every other one is cancelled by a signal that many share.
    const job = name === 'cancel' && i % 4 < 2 ? () => kinds.cancel(stopAll.signal) : kinds[name];
    const isAborted = await job().catch((error: unknown) => void wrong.push(`${name}: ${error}`));
    if (isAborted === true) aborted += 1;
    settled += 1;
    firstSeconds ||= secondsNow();
  };
  const runLarge = async ({ create }: (typeof largeFiles)[number]) => {
    await create().catch((error: unknown) => wrong.push(`large: ${error}`));
    return secondsNow();
  };

  for (let i = 0; i < 3; i += 1) {
    globalThis.gc?.();
    await nextRound();
  }
  const before = usage();
  const most = { ...before };
  const stopTimer = watchTimer();
  const sampler = setInterval(() => {
    const now = usage();
    for (const key of ['threads', 'descriptors', 'rss'] as const) most[key] = Math.max(most[key], now[key]);
  }, SAMPLE_MS);
  const heap = process.memoryUsage().heapUsed;
  started = performance.now();
  const largeJobs = largeFiles.map(runLarge);
  const smallJobs = Array.from({ length: jobs }, (_, i) => runSmall(i));
  const callMilliseconds = secondsNow() * 1000;
  globalThis.gc?.();
  const waitingBytes = Math.max(0, process.memoryUsage().heapUsed - heap) / jobs;
  setTimeout(() => stopAll.abort(), 50);
  const largeEnds = await Promise.all(largeJobs);
  const doneBesideLarge = settled / jobs;
  await Promise.all(smallJobs);
  const seconds = secondsNow();
  const timer = stopTimer();
  clearInterval(sampler);
  return {
    engine: defaultEngine().name,
    /** Small jobs that settled; those of them that were cancelled; descriptions of wrong results, ten at most. */
    settled,
    aborted,
    wrong: wrong.slice(0, 10),
    seconds,
    /** The duration of the calls alone, before the first round of the event loop. */
    callMilliseconds,
    /** The time until the first small job ended. */
    firstSeconds,
    /** The time until the last large job ended: without small jobs, and among them. */
    largeAloneSeconds,
    largeSeconds: Math.max(0, ...largeEnds),
    /** The share of the small jobs that had ended at that time. */
    doneBesideLarge,
    ...timer,
    threads: most.threads,
    threadsBefore: before.threads,
    descriptors: most.descriptors,
    descriptorsBefore: before.descriptors,
    rss: most.rss,
    rssBefore: before.rss,
    /** The JavaScript memory that a waiting job holds. */
    waitingBytes,
  };
}

console.log(JSON.stringify(await runLoad(JSON.parse(process.argv[2] ?? ''))));
