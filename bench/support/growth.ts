// How much a process grows during a soak, and whether that is within bounds.
import { type Table, tableOf } from './tables.ts';

/** Each measure with its name, and its bound: the growth over the last two thirds of a soak, by the line through its values. */
const BOUNDS = {
  // With the freed memory that allocators keep.
  resident: ['resident memory, MiB', 24],
  // The memory that native code got.
  malloc: ['malloc, in use, MiB', 1],
  heap: ['heap after a collection, MiB', 4],
  buffers: ['buffers, MiB', 4],
  // The resources that keep the event loop alive.
  handles: ['handles', 1],
  descriptors: ['descriptors', 1],
  threads: ['threads', 1],
} satisfies Record<string, [name: string, bound: number]>;

type Measure = keyof typeof BOUNDS;

/** The process at one moment of a soak, while no job runs. */
export interface Sample extends Record<Measure, number> {
  /** Since the beginning. */
  seconds: number;
  /** The 99th percentile of the intervals of a timer of 10 ms, since the previous sample. */
  timerP99Seconds: number;
}

/** The slope of the line with the least squares. */
function slope(points: readonly [number, number][]): number {
  const mean = (at: 0 | 1) => points.reduce((sum, point) => sum + point[at], 0) / points.length;
  const [x, y] = [mean(0), mean(1)];
  const rise = points.reduce((sum, point) => sum + (point[0] - x) * (point[1] - y), 0);
  return rise / points.reduce((sum, point) => sum + (point[0] - x) ** 2, 0);
}

/** The table of a soak, and the names of the measures that grew beyond their bounds. */
export function growthTable(samples: readonly Sample[]): { table: Table; steep: string[] } {
  const late = samples.slice(Math.floor(samples.length / 3));
  const span = (late.at(-1)?.seconds ?? 0) - (late[0]?.seconds ?? 0);
  const rows = (Object.keys(BOUNDS) as Measure[]).map((measure) => {
    const [name, bound] = BOUNDS[measure];
    // One sample has no slope.
    const growth = span > 0 ? slope(late.map((sample) => [sample.seconds, sample[measure]])) * span : 0;
    return { name, bound, growth, values: samples.map((sample) => sample[measure]) };
  });
  const steep = rows.filter(({ growth, bound }) => growth >= bound).map(({ name }) => name);
  const slowest = Math.max(...samples.map(({ timerP99Seconds }) => timerP99Seconds)) * 1000;
  const table = tableOf(
    'Samples of the process while no job runs',
    ['measure', ({ name }) => name],
    rows,
    [
      ['first', 'number', ({ values }) => values[0] ?? null],
      ['least', 'number', ({ values }) => Math.min(...values)],
      ['most', 'number', ({ values }) => Math.max(...values)],
      ['last', 'number', ({ values }) => values.at(-1) ?? null],
      ['growth, last two thirds', 'number', ({ growth }) => growth],
      ['bound', 'number', ({ bound }) => bound],
    ],
    [
      `The 99th percentile of a timer of 10 ms was ${slowest.toFixed(1)} ms in the worst interval.`,
      steep.length === 0 ? 'Everything is flat.' : `NOT flat: ${steep.join(', ')}.`,
    ],
  );
  return { table, steep };
}
