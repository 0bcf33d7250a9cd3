// Creating thousands of torrents of small folders at once, with large ones beside them, in one process: the effect on the
// event loop, threads, descriptors and memory, and the order of service. Then the same mixed with verifying, reading, decoding
// and cancelled calls; both on both engines. Fails if a job is lost or has a wrong result.
//
//   npm run bench -- load [--jobs 10000] [--large 8] [--size 1GiB]
import { rmSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { formatBytes } from '../src/text/format.ts';
import type { LoadReport, LoadTask } from '../test/reliability/load-child.ts';
import { bench, Grid, runScript } from './support/measure.ts';
import { tableOf, timerColumns, type Unit } from './support/tables.ts';

const SCRIPT = fileURLToPath(new URL('../test/reliability/load-child.ts', import.meta.url));
/** Without threads, an eighth of the bytes takes about as long. */
const LARGE_SHARE = { native: 1, node: 1 / 8 };
export default bench({ jobs: '10000', large: '8', size: '1GiB' }, async ({ jobs, large, size }, scratch) => {
  const grid = new Grid();
  for (const engine of ['native', 'node'] as const) {
    for (const mixed of [false, true]) {
      const folder = path.join(scratch, `${engine} ${mixed}`);
      const largeBytes = size * LARGE_SHARE[engine];
      const report = runScript<LoadReport>(
        SCRIPT,
        [JSON.stringify({ folder, jobs, large, largeBytes, mixed } satisfies LoadTask)],
        { METAINFO_ENGINE: engine },
      );
      rmSync(folder, { recursive: true });
      const { settled, wrong } = report;
      if (settled !== jobs || wrong.length > 0) throw new Error(`${settled} settled; wrong: ${wrong.join('; ')}`);
      grid.add(`${mixed ? 'mixed' : 'generate'}, ${large} of ${formatBytes(largeBytes)}, ${engine}`, '', report);
    }
  }
  const figure = (row: string, measure: string) => grid.median(row, '', measure);
  const column = (name: string, unit: Unit, measure: keyof LoadReport) =>
    [name, unit, (row: string) => figure(row, measure)] as const satisfies [
      string,
      Unit,
      (row: string) => number | null,
    ];
  const eventLoop = [...timerColumns(figure), column('all calls', 'ms', 'callMilliseconds')];
  const tables = [
    tableOf('The event loop: a timer of 10 ms', 'workload', grid.rows, eventLoop),
    tableOf('Resources of the process: the most, and before', 'workload', grid.rows, [
      column('threads', 'count', 'threads'),
      column('before', 'count', 'threadsBefore'),
      column('descriptors', 'count', 'descriptors'),
      column('before', 'count', 'descriptorsBefore'),
      column('memory', 'bytes', 'rss'),
      column('before', 'bytes', 'rssBefore'),
      column('a waiting job', 'bytes', 'waitingBytes'),
    ]),
    tableOf('Order of service', 'workload', grid.rows, [
      column('all', 's', 'seconds'),
      column('first small', 's', 'firstSeconds'),
      column('large alone', 's', 'largeAloneSeconds'),
      column('large among small', 's', 'largeSeconds'),
      column('small ended by then', 'share', 'doneBesideLarge'),
    ]),
  ];
  const settings = `${jobs.toLocaleString('en')} small jobs at once, with large ones beside them: none was lost, none had a wrong result.`;
  return { tables, settings };
});
