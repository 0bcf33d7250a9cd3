// Very many torrents of small folders asked for at once, and large ones beside them, in one process: what it does to the
// event loop, threads, descriptors and memory, and who is served when. Then the same with verifying, reading, decoding and
// aborted calls among them; both on both engines. Ends with an error when a job is lost or has a wrong result.
//
//   npm run bench -- load [--jobs 10000] [--large 8] [--size 1GiB]
import { mkdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { formatBytes } from '../src/layout/text.ts';
import type { LoadReport, LoadTask } from './children/load.ts';
import { inScratchFolder, options, parseCount, parseSize, runChild } from './support/measure.ts';
import { type LoadFigure, record } from './support/results.ts';

const { jobs, large, size, out } = options({ jobs: '10000', large: '8', size: '1GiB' });

/** Without threads a large one is as large for an eighth of the bytes. */
const LARGE_SHARE = { native: 1, node: 1 / 8 };

await inScratchFolder(async (scratch) => {
  const folder = path.join(scratch, 'load');
  const figures: LoadFigure[] = [];
  for (const engine of ['native', 'node'] as const) {
    for (const mixed of [false, true]) {
      mkdirSync(folder);
      const largeBytes = parseSize(size) * LARGE_SHARE[engine];
      const task: LoadTask = { folder, jobs: parseCount(jobs), large: parseCount(large), largeBytes, mixed };
      const report = runChild<LoadReport>('load', task, { METAINFO_ENGINE: engine });
      rmSync(folder, { recursive: true });
      const { settled, aborted: _, wrong, ...figure } = report;
      if (settled !== task.jobs || wrong.length > 0) throw new Error(`${settled} settled; wrong: ${wrong.join('; ')}`);
      const workload = `${mixed ? 'mixed' : 'generate'}, ${large} of ${formatBytes(largeBytes)}`;
      figures.push({ workload, jobs: task.jobs, ...figure });
    }
  }
  const settings = `${Number(jobs).toLocaleString('en')} small jobs at once, and large ones beside them: none was lost, none had a wrong result.`;
  record('load', { figures, settings }, out);
});
