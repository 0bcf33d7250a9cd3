// Creating thousands of torrents of small folders at once, with large ones beside them, in one process: the effect on the
// event loop, threads, descriptors and memory, and the order of service. Then the same mixed with verifying, reading, decoding
// and cancelled calls; both on both engines. Fails if a job is lost or has a wrong result.
//
//   npm run bench -- load [--jobs 10000] [--large 8] [--size 1GiB]
import { rmSync } from 'node:fs';
import path from 'node:path';
import { formatBytes } from '../src/text/format.ts';
import type { LoadReport, LoadTask } from './processes/load.ts';
import { bench, runChild } from './support/measure.ts';
import { type Column, tableOf } from './support/tables.ts';
import { TIMER_COLUMNS, timerVerdict } from './support/timer.ts';

/** Without threads, an eighth of the bytes takes about as long. */
const LARGE_SHARE = { native: 1, node: 1 / 8 };

interface Figure extends LoadReport {
  workload: string;
}
const name = ({ workload, engine }: Figure) => `${workload}, ${engine}`;
const workload: [string, typeof name] = ['workload', name];
const number =
  (key: keyof LoadReport) =>
  (figure: Figure): number =>
    figure[key] as number;

const EVENT_LOOP: Column<Figure>[] = [...TIMER_COLUMNS, ['all calls', 'ms', ({ callSeconds }) => callSeconds * 1000]];
const RESOURCES: Column<Figure>[] = [
  ['threads', 'count', number('threads')],
  ['before', 'count', number('threadsBefore')],
  ['descriptors', 'count', number('descriptors')],
  ['before', 'count', number('descriptorsBefore')],
  ['memory', 'bytes', number('rssBytes')],
  ['before', 'bytes', number('rssBeforeBytes')],
  ['a waiting job', 'bytes', number('waitingBytes')],
];
const SERVICE: Column<Figure>[] = [
  ['all', 's', number('seconds')],
  ['first small', 's', number('firstSeconds')],
  ['large alone', 's', number('largeAloneSeconds')],
  ['large among small', 's', number('largeSeconds')],
  ['small ended by then', 'share', ({ doneBesideLarge, settled }) => doneBesideLarge / settled],
];

await bench('load', { jobs: '10000', large: '8', size: '1GiB' }, async ({ jobs, large, size }, scratch) => {
  const figures: Figure[] = [];
  for (const engine of ['native', 'node'] as const) {
    for (const mixed of [false, true]) {
      const folder = path.join(scratch, `${engine} ${mixed}`);
      const largeBytes = size * LARGE_SHARE[engine];
      const task: LoadTask = { folder, jobs, large, largeBytes, mixed };
      const report = runChild<LoadReport>('load', task, { METAINFO_ENGINE: engine });
      rmSync(folder, { recursive: true });
      const { settled, wrong } = report;
      if (settled !== jobs || wrong.length > 0) throw new Error(`${settled} settled; wrong: ${wrong.join('; ')}`);
      figures.push({ ...report, workload: `${mixed ? 'mixed' : 'generate'}, ${large} of ${formatBytes(largeBytes)}` });
    }
  }
  const verdict = timerVerdict(figures.map((figure) => [name(figure), figure]));
  const tables = [
    tableOf('The event loop: a timer of 10 ms', workload, figures, EVENT_LOOP, [verdict]),
    tableOf('Resources of the process: the most, and before', workload, figures, RESOURCES),
    tableOf('Order of service', workload, figures, SERVICE),
  ];
  const settings = `${jobs.toLocaleString('en')} small jobs at once, with large ones beside them: none was lost, none had a wrong result.`;
  return { tables, settings };
});
