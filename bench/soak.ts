// A server's day in minutes: jobs of all kinds (test/support/jobs.ts), many at once, in an order that a seed decides. From time to
// time all work pauses, and the bench samples the process. Fails if the process has grown or a result was wrong. A soak of
// less than five minutes is not judged by its growth, because the process still warms up.
//
//   npm run bench -- soak [--time 20m] [--seed 1] [--at-once 32]
import { setTimeout as sleep } from 'node:timers/promises';
import { pick, seedRandom } from '../fuzz/engine/random.ts';
import { type Jobs, prepareJobs } from '../test/support/jobs.ts';
import { buildMalloc, loadMalloc } from '../test/support/malloc.ts';
import { descriptorCount, threadCount } from '../test/support/proc.ts';
import { watchTimer } from '../test/support/timer.ts';
import { bench } from './support/measure.ts';
import { tableOf } from './support/tables.ts';

const JUDGED_SECONDS = 300;
const MIB = 2 ** 20;
/** The samples, each with its bound: the growth over the last two thirds of a soak, by the line through its values. */
const BOUNDS: Record<string, number> = {
  // With the freed memory that allocators keep.
  'resident memory, MiB': 24,
  // The memory that native code got.
  'malloc, in use, MiB': 1,
  'heap after a collection, MiB': 4,
  'buffers, MiB': 4,
  // The resources that keep the event loop alive.
  handles: 1,
  descriptors: 1,
  threads: 1,
};

/** The slope of the line with the least squares. */
function slope(points: readonly [number, number][]): number {
  const mean = (at: 0 | 1) => points.reduce((sum, point) => sum + point[at], 0) / points.length;
  const [x, y] = [mean(0), mean(1)];
  const rise = points.reduce((sum, point) => sum + (point[0] - x) * (point[1] - y), 0);
  return rise / points.reduce((sum, point) => sum + (point[0] - x) ** 2, 0);
}

const options = { time: '20m', seed: '1', 'at-once': '32' };
export default bench(options, async ({ time, seed, 'at-once': atOnce }, scratch) => {
  seedRandom(seed);
  const jobs = await prepareJobs(scratch, 24, 400_000);
  const mallocInUse = loadMalloc(buildMalloc(scratch));
  // Jobs that are large, or several jobs in one, are rare.
  const weighted = (Object.keys(jobs) as (keyof Jobs)[]).flatMap((name) =>
    Array<keyof Jobs>(/Large|update|upgrade/.test(name) ? 1 : 4).fill(name),
  );
  const samples: { seconds: number; values: Record<string, number> }[] = [];
  const wrong: string[] = [];
  const counts: Record<string, number> = {};
  let slowest = 0;
  const started = performance.now();
  const elapsed = () => (performance.now() - started) / 1000;

  const workUntil = async (end: number) => {
    while (elapsed() < end && wrong.length <= 20) {
      const name = pick(weighted);
      await jobs[name]().catch((error: Error) => void wrong.push(`${name}: ${error.stack}`));
      counts[name] = (counts[name] ?? 0) + 1;
    }
  };

  while (elapsed() < time && wrong.length === 0) {
    const stopTimer = watchTimer();
    const end = elapsed() + Math.max(1, time / 60);
    await Promise.all(Array.from({ length: atOnce }, () => workUntil(end)));
    slowest = Math.max(slowest, stopTimer().timer99);
    // Threads end, and the memory of buffers is freed, a moment later.
    for (let round = 0; round < 3; round += 1) {
      globalThis.gc?.();
      await sleep(20);
    }
    const { rss, heapUsed, external } = process.memoryUsage();
    const handles = process.getActiveResourcesInfo().length;
    const all = [
      rss / MIB,
      mallocInUse() / MIB,
      heapUsed / MIB,
      external / MIB,
      handles,
      descriptorCount(),
      threadCount(),
    ];
    const values = Object.fromEntries(Object.keys(BOUNDS).map((name, i) => [name, all[i] ?? Number.NaN]));
    samples.push({ seconds: elapsed(), values });
  }

  const total = Object.values(counts).reduce((sum, count) => sum + count, 0);
  for (const problem of wrong) console.error(problem);
  if (wrong.length > 0) throw new Error(`${wrong.length} of ${total} jobs had a wrong result (seed ${seed})`);

  const late = samples.slice(Math.floor(samples.length / 3));
  const span = (late.at(-1)?.seconds ?? 0) - (late[0]?.seconds ?? 0);
  // One sample has no slope.
  const growthOf = (name: string) =>
    span > 0 ? slope(late.map(({ seconds, values }) => [seconds, values[name] ?? Number.NaN])) * span : 0;
  const steep = Object.keys(BOUNDS).filter((name) => growthOf(name) >= (BOUNDS[name] ?? 0));
  if (time < JUDGED_SECONDS) console.log('Too short for its growth to be judged.');
  else if (steep.length > 0) process.exitCode = 1;
  const of = (name: string) => samples.map(({ values }) => values[name] ?? Number.NaN);
  const table = tableOf(
    'Samples of the process while no job runs',
    'measure',
    Object.keys(BOUNDS),
    [
      ['first', 'number', (name) => of(name)[0] ?? null],
      ['least', 'number', (name) => Math.min(...of(name))],
      ['most', 'number', (name) => Math.max(...of(name))],
      ['last', 'number', (name) => of(name).at(-1) ?? null],
      ['growth, last two thirds', 'number', growthOf],
      ['bound', 'number', (name) => BOUNDS[name] ?? null],
    ],
    [
      `The 99th percentile of a timer of 10 ms was ${slowest.toFixed(1)} ms in the worst interval.`,
      steep.length === 0 ? 'Everything is flat.' : `These grow: ${steep.join(', ')}.`,
    ],
  );
  const duration = time % 60 === 0 ? `${time / 60} minutes` : `${time} seconds`;
  const each = Object.entries(counts).sort(([a], [b]) => (a < b ? -1 : 1));
  const settings = `${total.toLocaleString('en')} jobs in ${duration}, ${atOnce} at once: ${each.map((pair) => pair.join(' ')).join(', ')}. Each had the result of the same job alone.`;
  return { tables: [table], settings };
});
