// Creating the torrent of one path in a process of its own.
import { TorrentCreate } from '../../src/create/draft.ts';
import { mainThreadSeconds } from '../../test/support/proc.ts';
import { watchTimer } from '../../test/support/timer.ts';
import { dropFromCache } from './data.ts';
import { inProcess, median, type Version } from './measure.ts';

interface GenerateTask {
  pathRoot: string;
  version: Version;
  /** null: one for each core. */
  threads?: number | null;
  /** Default: the library's choice. */
  pieceLength?: number | null;
  readSize?: number | null;
  /** Creations before those that are measured. Default: 0. */
  warmUps?: number;
  /** Default: 1. */
  repeats?: number;
  /** Drops the file from the page cache before each creation. */
  drop?: boolean;
  /** Measures the event loop, which adds a little to the time of the main thread. */
  timer?: boolean;
}

async function generate({ pathRoot, version, threads = null, pieceLength, readSize, drop, timer }: GenerateTask) {
  if (drop) dropFromCache(pathRoot);
  const draft = new TorrentCreate({ pathRoot, pieceLength });
  let hashing = 0;
  const stopTimer = timer ? watchTimer() : null;
  const started = performance.now();
  const before = mainThreadSeconds('running');
  const onProgress = (progress: { seconds: number }) => {
    // The last call comes when hashing is done.
    hashing = progress.seconds;
  };
  (await draft.generate({ version, threads, readSize, onProgress })).bencode();
  const after = mainThreadSeconds('running');
  const seconds = (performance.now() - started) / 1000;
  const mainThread = before === null || after === null ? null : (after - before) / seconds;
  return { seconds, hashing, mainThread, ...stopTimer?.() };
}

export const tasks = {
  generate: (task: GenerateTask) => async () => {
    const { warmUps = 0, repeats = 1 } = task;
    const runs: Record<string, number | null>[] = [];
    for (let i = 0; i < warmUps + repeats; i += 1) runs.push(await generate(task));
    const names = Object.keys(runs[0] ?? {});
    return Object.fromEntries(
      names.map((name) => [name, median(runs.slice(warmUps).map((run) => run[name] ?? Number.NaN))]),
    );
  },
};

const run = inProcess(import.meta.url, tasks);

/**
 * Creates a torrent in a process of its own. `seconds` is the time from the scan to the bytes of the torrent, `hashing` that
 * for hashing, `mainThread` the processor time of the main thread divided by `seconds`.
 */
export const runGenerate = (task: GenerateTask, env?: NodeJS.ProcessEnv) => run('generate', task, env);
