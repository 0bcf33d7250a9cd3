// Asks for many torrents of small folders at once, with large ones beside them, and prints the effect on the process:
// for `runChild('load', ...)` and test/reliability/load.test.ts. Every result is compared with that of the same job alone.
import { mkdirSync, truncateSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setImmediate as nextRound } from 'node:timers/promises';
import { defaultEngine } from '../../src/hash/default-engine.ts';
import { MetainfoError, Torrent, TorrentCreate, verify } from '../../src/index.ts';
import { usage, VERSIONS } from '../support/measure.ts';
import { type TimerReport, watchTimer } from '../support/timer.ts';

export interface LoadTask {
  /** The folder for the files. */
  folder: string;
  jobs: number;
  large: number;
  /** Bytes of a large one. */
  largeBytes: number;
  /** Adds verify, Torrent.read, Torrent.fromBytes and cancelled calls to `generate`. */
  mixed: boolean;
}

export interface LoadReport extends TimerReport {
  engine: string;
  /** Small jobs that settled; those of them that were cancelled; descriptions of wrong results, ten at most. */
  settled: number;
  aborted: number;
  wrong: string[];
  seconds: number;
  /** The duration of the calls alone, before the first round of the event loop. */
  callSeconds: number;
  /** The time until the first small job ended. */
  firstSeconds: number;
  /** The time until the last large job ended: without small jobs, and among them. */
  largeAloneSeconds: number;
  largeSeconds: number;
  /** Small jobs that had ended at that time. */
  doneBesideLarge: number;
  /** The most at any time, and the number before the calls. */
  threads: number;
  threadsBefore: number;
  descriptors: number;
  descriptorsBefore: number;
  rssBytes: number;
  rssBeforeBytes: number;
  /** The JavaScript memory that a waiting job holds. */
  waitingBytes: number;
}

const TREES = 100;
const SAMPLE_MS = 25;

const { folder, jobs, large, largeBytes, mixed } = JSON.parse(process.argv[2] ?? '') as LoadTask;

const treeOf = (i: number) => path.join(folder, `tree ${i % TREES}`);
const versionOf = (i: number) => VERSIONS[i % VERSIONS.length] as (typeof VERSIONS)[number];
const largeOf = (i: number) => path.join(folder, `large ${i}`);
const hashOf = ({ infohashV1, infohashV2 }: Torrent) => `${infohashV1} ${infohashV2}`;

for (let i = 0; i < TREES; i += 1) {
  for (let j = 0; j < 4; j += 1) {
    const file = path.join(treeOf(i), j % 2 === 0 ? 'inner' : '', `file ${j}`);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, Buffer.alloc(1 + i * 37 + j * 5000, `${i}/${j}`));
  }
}
for (let i = 0; i < large; i += 1) {
  writeFileSync(largeOf(i), '');
  // Every large file has a length of its own.
  truncateSync(largeOf(i), largeBytes + i);
}

const generateSmall = (i: number, signal?: AbortSignal) =>
  new TorrentCreate({ pathRoot: treeOf(i) }).generate({ version: versionOf(i), signal });
const generateLarge = (i: number) => new TorrentCreate({ pathRoot: largeOf(i) }).generate({ threads: null });
const fileOf = (i: number) => path.join(folder, `${i % (TREES * VERSIONS.length)}.torrent`);

// One at a time, for comparison.
const expected: string[] = [];
const torrents: Torrent[] = [];
for (let i = 0; i < TREES * VERSIONS.length; i += 1) {
  const torrent = await generateSmall(i);
  torrents.push(torrent);
  expected.push(hashOf(torrent));
  await torrent.write(fileOf(i), { force: true });
}
const expectedLarge: string[] = [];
for (let i = 0; i < large; i += 1) expectedLarge.push(hashOf(await generateLarge(i)));
const alone = performance.now();
await Promise.all(Array.from({ length: large }, (_, i) => generateLarge(i)));
const largeAloneSeconds = (performance.now() - alone) / 1000;

const wrong: string[] = [];
let [settled, aborted, firstSeconds] = [0, 0, 0];
const requireSame = (what: string, found: string, wanted: string | undefined) => {
  if (found !== wanted) wrong.push(`${what}: ${found}, not ${wanted}`);
};

const stopAll = new AbortController();

/** Cancels a job before it starts, while it waits, or by a signal that many share; the signal may come too late. */
async function abortSmall(i: number): Promise<void> {
  const own = new AbortController();
  const signal = i % 3 === 0 ? stopAll.signal : own.signal;
  if (i % 3 === 1) own.abort();
  const ended = generateSmall(i, signal);
  if (i % 3 === 2) setTimeout(() => own.abort(), i % 97);
  try {
    requireSame(`aborted ${i}`, hashOf(await ended), expected[i % expected.length]);
  } catch (error) {
    if (!(error instanceof MetainfoError) || error.code !== 'ERR_ABORTED') throw error;
    aborted += 1;
  }
}

const JOBS: ((i: number) => Promise<void>)[] = [
  async (i) => requireSame(`generate ${i}`, hashOf(await generateSmall(i)), expected[i % expected.length]),
  async (i) => {
    const { ok } = await verify(torrents[i % expected.length] as Torrent, treeOf(i));
    requireSame(`verify ${i}`, `${ok}`, 'true');
  },
  async (i) => {
    // The torrent of another tree.
    const { ok } = await verify(torrents[i % expected.length] as Torrent, treeOf(i + 1));
    requireSame(`verify another ${i}`, `${ok}`, 'false');
  },
  async (i) => requireSame(`read ${i}`, hashOf(await Torrent.read(fileOf(i))), expected[i % expected.length]),
  async (i) => {
    await nextRound();
    const torrent = Torrent.fromBytes((torrents[i % expected.length] as Torrent).bencode());
    requireSame(`decode ${i}`, hashOf(torrent), expected[i % expected.length]);
  },
  abortSmall,
];

const started = { at: 0 };
const secondsNow = () => (performance.now() - started.at) / 1000;

async function runSmall(i: number): Promise<void> {
  const job = mixed ? JOBS[i % JOBS.length] : JOBS[0];
  await job?.(i).catch((error: unknown) => wrong.push(`${i}: ${error}`));
  settled += 1;
  firstSeconds ||= secondsNow();
}

async function runLarge(i: number): Promise<number> {
  requireSame(`large ${i}`, await generateLarge(i).then(hashOf, String), expectedLarge[i]);
  return secondsNow();
}

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
started.at = performance.now();
const largeJobs = Array.from({ length: large }, (_, i) => runLarge(i));
const smallJobs = Array.from({ length: jobs }, (_, i) => runSmall(i));
const callSeconds = secondsNow();
globalThis.gc?.();
const waitingBytes = Math.max(0, process.memoryUsage().heapUsed - heap) / jobs;
setTimeout(() => stopAll.abort(), 50);
const largeEnds = await Promise.all(largeJobs);
const doneBesideLarge = settled;
await Promise.all(smallJobs);
const seconds = secondsNow();
const timer = stopTimer();
clearInterval(sampler);

const report: LoadReport = {
  engine: defaultEngine().name,
  settled,
  aborted,
  wrong: wrong.slice(0, 10),
  seconds,
  callSeconds,
  firstSeconds,
  largeAloneSeconds,
  largeSeconds: Math.max(0, ...largeEnds),
  doneBesideLarge,
  ...timer,
  threads: most.threads,
  threadsBefore: before.threads,
  descriptors: most.descriptors,
  descriptorsBefore: before.descriptors,
  rssBytes: most.rss,
  rssBeforeBytes: before.rss,
  waitingBytes,
};
console.log(JSON.stringify(report));
