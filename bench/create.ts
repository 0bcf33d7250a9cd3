// Hashing one warm file: every version by every kernel row that METAINFO_KERNEL can force, with 1 and 2 threads, and v1 by
// piece length and by read size. Each run is a process of its own; only hashing is in the figures.
//
//   npm run bench -- create [--size 4GiB] [--rounds 5] [--repeats 2]
import path from 'node:path';
import { binding } from '../src/hash/addon.ts';
import { formatBytes } from '../src/layout/text.ts';
import type { HashReport, HashTask } from './children/hash.ts';
import { writeData } from './support/data.ts';
import {
  inScratchFolder,
  interleave,
  median,
  options,
  parseCount,
  parseSize,
  runChild,
  VERSIONS,
  type Version,
} from './support/measure.ts';
import { type CreateFigure, record } from './support/results.ts';

interface Contender {
  version: Version;
  row: string;
  threads: number;
  pieceLength: number;
  readSize: number | null;
}

const { size, rounds, repeats, out } = options({ size: '4GiB', rounds: '5', repeats: '2' });
const totalBytes = parseSize(size);
const THREADS = [1, 2];
const COMMON_PIECE_LENGTH = parseSize('1MiB');
const OTHER_PIECE_LENGTHS = ['256KiB', '4MiB', '16MiB'].map(parseSize);
const READ_SIZES = ['16KiB', '64KiB', '256KiB', '1MiB', '4MiB'].map(parseSize);

function contenders(): Contender[] {
  const rows = ['default', ...binding().kernels.filter((name) => name === 'sha-ni-x4'), 'openssl'];
  const usual = { version: 'v1' as Version, row: 'default', pieceLength: COMMON_PIECE_LENGTH, readSize: null };
  const all = [
    ...VERSIONS.flatMap((version) => rows.map((row) => ({ ...usual, version, row }))),
    ...OTHER_PIECE_LENGTHS.map((pieceLength) => ({ ...usual, pieceLength })),
    ...READ_SIZES.map((readSize) => ({ ...usual, readSize })),
  ];
  return all.flatMap((one) => THREADS.map((threads) => ({ ...one, threads })));
}

function hash(pathRoot: string, { row, ...contender }: Contender): HashReport {
  const task: HashTask = { ...contender, pathRoot, repeats: parseCount(repeats) };
  return runChild('hash', task, { METAINFO_KERNEL: row === 'default' ? undefined : row });
}

function figure(contender: Contender, reports: readonly HashReport[]): CreateFigure {
  const runs = reports.flatMap((report) => report.runs);
  const shares = runs.flatMap(({ mainThreadShare }) => mainThreadShare ?? []);
  return {
    ...contender,
    kernel: reports[0]?.kernel ?? '',
    bytesPerSecond: totalBytes / median(runs.map(({ seconds }) => seconds)),
    mainThreadShare: shares.length > 0 ? median(shares) : null,
    peakBytes: median(reports.map(({ peakBytes }) => peakBytes)),
  };
}

await inScratchFolder(async (folder) => {
  const file = path.join(folder, 'data');
  writeData(file, totalBytes);
  const runs = await interleave(contenders(), parseCount(rounds), (contender) => hash(file, contender));
  const figures = [...runs].map(([contender, reports]) => figure(contender, reports));
  const settings = `One warm file of ${formatBytes(totalBytes)}; medians of ${rounds} interleaved rounds with ${repeats} runs each.`;
  record('create', { figures, settings }, out);
});
