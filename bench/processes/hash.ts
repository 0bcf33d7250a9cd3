// Hashes one path a few times in a process of its own and prints the figures: `runChild('hash', ...)`.
import { TorrentCreate } from '../../src/create/draft.ts';
import { nativeEngine } from '../../src/hash/native.ts';
import { dropperNamed } from '../support/data.ts';
import { mainThreadSeconds, type Version, watchMemory } from '../support/measure.ts';
import { type TimerReport, watchTimer } from '../support/timer.ts';

export interface HashTask {
  pathRoot: string;
  version: Version;
  /** null: one for each core. */
  threads: number | null;
  pieceLength: number;
  /** Default: the library's. */
  readSize?: number | null;
  /** Default: 1. */
  repeats?: number;
  /** The name of the dropper that drops the file from the page cache before each run. */
  drop?: string;
  /** Measures the event loop, which adds a little to the time of the main thread. */
  timer?: boolean;
}

export interface HashRun {
  /** The time for hashing. */
  seconds: number;
  /** The time from the scan to the bytes of the torrent. */
  wholeSeconds: number;
  /** Processor time of the main thread divided by `wholeSeconds`. */
  mainThreadShare: number | null;
  /** The event loop meanwhile; null unless the task asks for it. */
  timer: TimerReport | null;
}

export interface HashReport {
  kernel: string;
  runs: HashRun[];
  /** Peak resident memory beyond that of the idle process. */
  peakBytes: number;
}

const task = JSON.parse(process.argv[2] ?? '') as HashTask;
const { pathRoot, version, threads, pieceLength, readSize = null, repeats = 1, drop } = task;

async function run(): Promise<HashRun> {
  if (drop !== undefined) dropperNamed(drop).drop(pathRoot);
  const draft = new TorrentCreate({ pathRoot, pieceLength });
  let seconds = 0;
  const stopTimer = task.timer ? watchTimer() : null;
  const started = performance.now();
  const before = mainThreadSeconds('running');
  const torrent = await draft.generate({
    version,
    threads,
    readSize,
    // The last call comes when hashing is done.
    onProgress: (progress) => {
      seconds = progress.seconds;
    },
  });
  torrent.bencode();
  const after = mainThreadSeconds('running');
  const wholeSeconds = (performance.now() - started) / 1000;
  const mainThreadShare = before === null || after === null ? null : (after - before) / wholeSeconds;
  return { seconds, wholeSeconds, mainThreadShare, timer: stopTimer?.() ?? null };
}

const { kernel } = nativeEngine();
const memory = await watchMemory();
const runs: HashRun[] = [];
for (let i = 0; i < repeats; i += 1) runs.push(await run());
const report: HashReport = { kernel, runs, peakBytes: memory() };
console.log(JSON.stringify(report));
