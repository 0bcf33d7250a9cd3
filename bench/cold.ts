// Creating torrents of a file that is not in the page cache, beside `dd` reading the same file. What drops it is
// drop_caches for root, else posix_fadvise by `dd oflag=nocache`. Only hashing is in our figures, not the start of Node.
//
//   npm run bench -- cold [--size 4GiB] [--rounds 5]
import path from 'node:path';
import { choosePieceLength } from '../src/layout/piece-length.ts';
import { formatBytes } from '../src/layout/text.ts';
import type { HashReport, HashTask } from './children/hash.ts';
import { type Dropper, findDropper, writeData } from './support/data.ts';
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

interface Contender {
  reader: string;
  /** Reads the dropped file once; returns the seconds. */
  run: () => number;
}

const { size, rounds, out } = options({ size: '4GiB', rounds: '5' });
const totalBytes = parseSize(size);

function contenders(file: string, { name, drop }: Dropper): Contender[] {
  const dd = () => {
    drop(file);
    // The program itself may be out of the cache now.
    timeCommand(['dd', 'if=/dev/null', 'of=/dev/null'], '/');
    return timeCommand(['dd', `if=${file}`, 'of=/dev/null', 'bs=1M'], path.dirname(file));
  };
  const pieceLength = choosePieceLength(totalBytes);
  const ours = VERSIONS.map((version) => ({
    reader: `metainfo ${version}`,
    run: () => {
      const task: HashTask = {
        pathRoot: file,
        version,
        threads: null,
        pieceLength,
        readSize: null,
        repeats: 1,
        drop: name,
      };
      return runChild<HashReport>('hash', task).runs[0]?.seconds ?? Number.NaN;
    },
  }));
  return [{ reader: 'dd bs=1M', run: dd }, ...ours];
}

await inScratchFolder(async (folder) => {
  const file = path.join(folder, 'data');
  writeData(file, totalBytes);
  const dropper = findDropper(file);
  if (!dropper) {
    const skipped = [`cold: nothing drops files from the page cache in ${folder}, or fincore is not installed`];
    record('cold', { figures: [], settings: '', skipped }, out);
    return;
  }
  const runs = await interleave(contenders(file, dropper), parseCount(rounds), ({ run }) => run());
  const figures = [...runs].map(([{ reader }, seconds]) => ({ reader, bytesPerSecond: totalBytes / median(seconds) }));
  const settings = `One file of ${formatBytes(totalBytes)}, dropped by ${dropper.name} before each run, a thread a core; medians of ${rounds} interleaved rounds.`;
  record('cold', { figures, settings }, out);
});
