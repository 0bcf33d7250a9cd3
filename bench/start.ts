// What a command costs before it hashes: `metainfo create` of one tiny file beside a Node that does nothing, in turn.
//
//   npm run bench -- start [--rounds 30]
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { inScratchFolder, interleave, METAINFO, median, options, parseCount, timeCommand } from './support/measure.ts';
import { record } from './support/results.ts';

const { rounds, out } = options({ rounds: '30' });

await inScratchFolder(async (folder) => {
  writeFileSync(path.join(folder, 'tiny'), 'a few bytes');
  const create = [METAINFO, 'create', 'tiny', '-o', 'tiny.torrent', '--force', '--quiet'];
  const contenders = [
    { command: 'node -e 0', args: [process.execPath, '-e', '0'] },
    { command: 'metainfo create tiny', args: [process.execPath, ...create] },
  ];
  const run = ({ args }: { args: string[] }) => timeCommand(args, folder);
  // A round before the others: files of both come into the page cache.
  await interleave(contenders, 1, run);
  const runs = await interleave(contenders, parseCount(rounds), run);
  const figures = [...runs].map(([{ command }, seconds]) => ({
    command,
    medianSeconds: median(seconds),
    minimumSeconds: Math.min(...seconds),
  }));
  record('start', { figures, settings: `A file of a few bytes, the two commands in turn, ${rounds} times.` }, out);
});
