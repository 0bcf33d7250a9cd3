// Creating torrents of a file that is not in the page cache, compared with `dd` reading the same file. The figures cover
// hashing only, not the start of Node. drop_caches (for root) or `dd oflag=nocache` drops the file before each run.
//
//   npm run bench -- cold [--size 4GiB] [--rounds 5]
import path from 'node:path';
import { choosePieceLength } from '../src/layout/piece-length.ts';
import { formatBytes } from '../src/text/format.ts';
import { findDropper, writeData } from './support/data.ts';
import { bench, interleave, median, runHash, timeCommand, VERSIONS } from './support/measure.ts';
import { tableOf } from './support/tables.ts';

await bench('cold', { size: '4GiB', rounds: '5' }, async ({ size, rounds }, folder) => {
  const file = path.join(folder, 'data');
  writeData(file, size);
  const dropper = findDropper(file);
  if (!dropper) {
    const skipped = [`cold: nothing drops files from the page cache in ${folder}, or fincore is not installed`];
    return { tables: [], settings: '', skipped };
  }
  const dd = () => {
    dropper.drop(file);
    // Brings the program itself back into the page cache.
    timeCommand(['dd', 'if=/dev/null', 'of=/dev/null'], '/');
    return timeCommand(['dd', `if=${file}`, 'of=/dev/null', 'bs=1M'], folder);
  };
  const ours = VERSIONS.map((version) => {
    const task = { version, pathRoot: file, pieceLength: choosePieceLength(size), threads: null, drop: dropper.name };
    return { reader: `metainfo ${version}`, run: () => runHash(task).runs[0]?.seconds ?? Number.NaN };
  });
  const runs = await interleave([{ reader: 'dd bs=1M', run: dd }, ...ours], rounds, ({ run }) => run());
  const base = median(runs[0]?.[1] ?? []);
  const table = tableOf('A file that is not in the page cache', ['reader', ([{ reader }]) => reader], runs, [
    ['speed', 'GB/s', ([, seconds]) => size / median(seconds) / 1e9],
    ['times dd bs=1M', 'ratio', ([, seconds]) => base / median(seconds)],
  ]);
  const settings = `One file of ${formatBytes(size)}, dropped by ${dropper.name} before each run, a thread for each core; medians of ${rounds} interleaved rounds.`;
  return { tables: [table], settings };
});
