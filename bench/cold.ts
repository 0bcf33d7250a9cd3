// Creating torrents of a file that is not in the page cache, beside `dd` reading the same file. The figures hold hashing
// alone, not the start of Node. drop_caches (for root) or `dd oflag=nocache` drops the file before each run.
//
//   npm run bench -- cold [--size 4GiB] [--rounds 5]
import path from 'node:path';
import { choosePieceLength } from '../src/layout/piece-length.ts';
import { formatBytes } from '../src/layout/text.ts';
import type { HashReport, HashTask } from './processes/hash.ts';
import { findDropper, writeData } from './support/data.ts';
import {
  inScratchFolder,
  interleave,
  median,
  options,
  parseCount,
  parseSize,
  runChild,
  timeCommand,
  VERSIONS,
} from './support/measure.ts';
import { record } from './support/results.ts';
import { tableOf } from './support/tables.ts';

const { size, rounds, out } = options({ size: '4GiB', rounds: '5' });
const totalBytes = parseSize(size);

await inScratchFolder(async (folder) => {
  const file = path.join(folder, 'data');
  writeData(file, totalBytes);
  const dropper = findDropper(file);
  if (!dropper) {
    const skipped = [`cold: nothing drops files from the page cache in ${folder}, or fincore is not installed`];
    record('cold', { tables: [], settings: '', skipped }, out);
    return;
  }
  const dd = () => {
    dropper.drop(file);
    // Brings the program itself back into the page cache.
    timeCommand(['dd', 'if=/dev/null', 'of=/dev/null'], '/');
    return timeCommand(['dd', `if=${file}`, 'of=/dev/null', 'bs=1M'], folder);
  };
  const ours = VERSIONS.map((version) => {
    const plan = { version, threads: null, pieceLength: choosePieceLength(totalBytes), readSize: null };
    const task: HashTask = { ...plan, pathRoot: file, repeats: 1, drop: dropper.name };
    const run = () => runChild<HashReport>('hash', task).runs[0]?.seconds ?? Number.NaN;
    return { reader: `metainfo ${version}`, run };
  });
  const contenders = [{ reader: 'dd bs=1M', run: dd }, ...ours];
  const runs = [...(await interleave(contenders, parseCount(rounds), ({ run }) => run()))];
  const base = median(runs[0]?.[1] ?? []);
  const table = tableOf('A file that is not in the page cache', ['reader', ([{ reader }]) => reader], runs, [
    ['speed', 'GB/s', ([, seconds]) => totalBytes / median(seconds) / 1e9],
    ['times dd bs=1M', 'ratio', ([, seconds]) => base / median(seconds)],
  ]);
  const settings = `One file of ${formatBytes(totalBytes)}, dropped by ${dropper.name} before each run, a thread for each core; medians of ${rounds} interleaved rounds.`;
  record('cold', { tables: [table], settings }, out);
});
