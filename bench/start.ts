// The cost of a command before it hashes: `metainfo create` of one tiny file, compared with a Node that does nothing.
//
//   npm run bench -- start [--rounds 30]
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { bench, divide, METAINFO, measure, runCommand } from './support/measure.ts';
import { tableOf } from './support/tables.ts';

const IDLE = 'node -e 0';

export default bench({ rounds: '30' }, async ({ rounds }, folder) => {
  writeFileSync(path.join(folder, 'tiny'), 'a few bytes');
  const command = (row: string, ...args: string[]) => {
    return { row, run: () => runCommand([process.execPath, ...args], folder) };
  };
  const cases = [
    command(IDLE, '-e', '0'),
    command('metainfo create tiny', METAINFO, 'create', 'tiny', '-o', 'tiny.torrent', '--force', '--quiet'),
  ];
  // An unmeasured round brings the files of both into the page cache.
  await measure(cases, 1);
  const grid = await measure(cases, rounds);
  const medianOf = (row: string) => (grid.median(row) ?? Number.NaN) * 1000;
  const table = tableOf('Start-up', 'command', grid.rows, [
    ['median', 'ms', medianOf],
    ['ratio', 'ratio', (row) => divide(medianOf(row), medianOf(IDLE))],
  ]);
  return { tables: [table], settings: `A file of a few bytes, the two commands in turn, ${rounds} times.` };
});
