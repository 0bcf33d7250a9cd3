// Asks for very many torrents of small folders at once, large ones beside them, and says what that did to the process:
// `runChild('load', ...)`, and test/reliability/load.test.ts. Every result is held against that of the same job by itself.
import { mkdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setImmediate as nextRound } from 'node:timers/promises';
import { defaultEngine } from '../../src/hash/default-engine.ts';
import { MetainfoError, Torrent, TorrentCreate, verify } from '../../src/index.ts';
import { percentile, usage, VERSIONS } from '../support/measure.ts';

export interface LoadTask {
  /** Where to put files. */
  folder: string;
  jobs: number;
  large: number;
  /** Bytes of a large one. */
  largeBytes: number;
  /** Not `generate` only: verify, Torrent.read, Torrent.fromBytes, and calls that are aborted. */
  mixed: boolean;
}

export interface LoadReport {
  engine: string;
  /** Small jobs that settled, those of them that ended with an abort, and what did not end as it should, ten at most. */
  settled: number;
  aborted: number;
  wrong: string[];
  seconds: number;
  /** Of the calls alone, before the event loop has its first round. */
  callSeconds: number;
  /** Until the first small job ended. */
  firstSeconds: number;
  /** Until the last large one ended: by themselves, and among the others. */
  largeAloneSeconds: number;
  largeSeconds: number;
  /** Small jobs that had ended by then. */
  doneBesideLarge: number;
  /** Between two calls of a timer of 10 ms. */
  timerP50Seconds: number;
  timerP99Seconds: number;
  timerMostSeconds: number;
  /** Without the time for which the thread waited for a processor; null where the system does not say. */
  timerP99OwnSeconds: number | null;
  /** At most, and of them before the calls. */
  threads: number;
  threadsBefore: number;
  descriptors: number;
  descriptorsBefore: number;
  rssBytes: number;
  rssBeforeBytes: number;
  /** What a job that waits holds of JavaScript. */
  waitingBytes: number;
}

const TREES = 100;
const INTERVAL_MS = 10;
const SAMPLE_MS = 25;

const { folder, jobs, large, largeBytes, mixed } = JSON.parse(process.argv[2] ?? '') as LoadTask;

const treeOf = (i: number) => path.join(folder, `tree ${i % TREES}`);
const kindOf = (i: number) => VERSIONS[i % VERSIONS.length] as (typeof VERSIONS)[number];
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
  // No two of one length.
  truncateSync(largeOf(i), largeBytes + i);
}

const generateSmall = (i: number, signal?: AbortSignal) =>
  new TorrentCreate({ pathRoot: treeOf(i) }).generate({ version: kindOf(i), signal });
const generateLarge = (i: number) => new TorrentCreate({ pathRoot: largeOf(i) }).generate({ threads: null });
const fileOf = (i: number) => path.join(folder, `${i % (TREES * VERSIONS.length)}.torrent`);

// One at a time.
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

/** Aborted before, while it waits, and by a signal that all share; or too late. */
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

const kindsOfWork: ((i: number) => Promise<void>)[] = [
  async (i) => requireSame(`generate ${i}`, hashOf(await generateSmall(i)), expected[i % expected.length]),
  async (i) => {
    const { ok } = await verify(torrents[i % expected.length] as Torrent, treeOf(i));
    requireSame(`verify ${i}`, `${ok}`, 'true');
  },
  async (i) => {
    // Another tree.
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

async function one(i: number): Promise<void> {
  const work = mixed ? kindsOfWork[i % kindsOfWork.length] : kindsOfWork[0];
  await work?.(i).catch((error: unknown) => wrong.push(`${i}: ${error}`));
  settled += 1;
  firstSeconds ||= secondsNow();
}

async function oneLarge(i: number): Promise<number> {
  requireSame(`large ${i}`, await generateLarge(i).then(hashOf, String), expectedLarge[i]);
  return secondsNow();
}

/** Nanoseconds for which the thread of JavaScript has waited for a processor. */
function waitedForProcessor(): number {
  try {
    return Number(readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'utf8').split(' ')[1]);
  } catch {
    return Number.NaN;
  }
}

for (let i = 0; i < 3; i += 1) {
  globalThis.gc?.();
  await nextRound();
}
const before = usage();
const most = { ...before };
const [intervals, own]: [number[], number[]] = [[], []];
let last = { at: performance.now(), waited: waitedForProcessor() };
const timer = setInterval(() => {
  const now = { at: performance.now(), waited: waitedForProcessor() };
  intervals.push(now.at - last.at);
  own.push(now.at - last.at - (now.waited - last.waited) / 1e6);
  last = now;
}, INTERVAL_MS);
const sampler = setInterval(() => {
  const now = usage();
  for (const key of ['threads', 'descriptors', 'rss'] as const) most[key] = Math.max(most[key], now[key]);
}, SAMPLE_MS);

const heap = process.memoryUsage().heapUsed;
started.at = performance.now();
const largeOnes = Array.from({ length: large }, (_, i) => oneLarge(i));
const smallOnes = Array.from({ length: jobs }, (_, i) => one(i));
const callSeconds = secondsNow();
globalThis.gc?.();
const waitingBytes = Math.max(0, process.memoryUsage().heapUsed - heap) / jobs;
setTimeout(() => stopAll.abort(), 50);
const largeEnds = await Promise.all(largeOnes);
const doneBesideLarge = settled;
await Promise.all(smallOnes);
const seconds = secondsNow();
clearInterval(timer);
clearInterval(sampler);

const inSeconds = (values: readonly number[], share: number) => percentile(values, share) / 1000;
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
  timerP50Seconds: inSeconds(intervals, 0.5),
  timerP99Seconds: inSeconds(intervals, 0.99),
  timerMostSeconds: inSeconds(intervals, 1),
  timerP99OwnSeconds: Number.isNaN(last.waited) ? null : inSeconds(own, 0.99),
  threads: most.threads,
  threadsBefore: before.threads,
  descriptors: most.descriptors,
  descriptorsBefore: before.descriptors,
  rssBytes: most.rss,
  rssBeforeBytes: before.rss,
  waitingBytes,
};
console.log(JSON.stringify(report));
