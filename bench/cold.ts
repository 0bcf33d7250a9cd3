// Creating torrents of a file that is not in the page cache, compared with `dd` reading the same file. The figures cover
// hashing only, not the start of Node.
//
//   npm run bench -- cold [--size 4GiB] [--rounds 5]
import path from 'node:path';
import { formatBytes } from '../src/text/format.ts';
import { dropFromCache, writeData } from './support/data.ts';
import { runGenerate } from './support/generate.ts';
import { bench, type Case, divide, measure, runCommand, VERSIONS } from './support/measure.ts';
import { tableOf } from './support/tables.ts';

const DD = 'dd bs=1M';

export default bench({ size: '4GiB', rounds: '5' }, async ({ size, rounds }, folder) => {
  const file = path.join(folder, 'data');
  writeData(file, size);
  try {
    dropFromCache(file);
  } catch (error) {
    return { tables: [], settings: '', skipped: [`cold: ${error}`] };
  }
  const dd = () => {
    dropFromCache(file);
    return runCommand(['dd', `if=${file}`, 'of=/dev/null', 'bs=1M'], folder);
  };
  const ours = VERSIONS.map((version): Case => {
    const run = () => ({ seconds: runGenerate({ version, pathRoot: file, drop: true })['hashing'] });
    return { row: `metainfo ${version}`, run };
  });
  const grid = await measure([{ row: DD, run: dd }, ...ours], rounds);
  const table = tableOf('A file that is not in the page cache', 'reader', grid.rows, [
    ['speed', 'GB/s', (row) => divide(size / 1e9, grid.median(row))],
    [`times ${DD}`, 'ratio', (row) => divide(grid.median(DD), grid.median(row))],
  ]);
  const settings = `One file of ${formatBytes(size)}, dropped from the page cache before each run, a thread for each core; medians of ${rounds} interleaved rounds.`;
  return { tables: [table], settings };
});
