// The cost of a command before it hashes: `metainfo create` of one tiny file, compared with a Node that does nothing.
//
//   npm run bench -- start [--rounds 30]
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { bench, interleave, METAINFO, median, timeCommand } from './support/measure.ts';
import { tableOf } from './support/tables.ts';

await bench('start', { rounds: '30' }, async ({ rounds }, folder) => {
  writeFileSync(path.join(folder, 'tiny'), 'a few bytes');
  const contenders = [
    { command: 'node -e 0', args: ['-e', '0'] },
    {
      command: 'metainfo create tiny',
      args: [METAINFO, 'create', 'tiny', '-o', 'tiny.torrent', '--force', '--quiet'],
    },
  ];
  const run = ({ args }: { args: string[] }) => timeCommand([process.execPath, ...args], folder) * 1000;
  // An unmeasured round brings the files of both into the page cache.
  await interleave(contenders, 1, run);
  const runs = await interleave(contenders, rounds, run);
  const base = runs[0]?.[1] as number[];
  const table = tableOf('Start-up', ['command', ([{ command }]) => command], runs, [
    ['median', 'ms', ([, times]) => median(times)],
    ['minimum', 'ms', ([, times]) => Math.min(...times)],
    ['ratio of medians', 'ratio', ([, times]) => median(times) / median(base)],
    ['ratio of minimums', 'ratio', ([, times]) => Math.min(...times) / Math.min(...base)],
  ]);
  return { tables: [table], settings: `A file of a few bytes, the two commands in turn, ${rounds} times.` };
});
