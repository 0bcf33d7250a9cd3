// Hashing one warm file: every version with every kernel that METAINFO_KERNEL can force, with 1 and 2 threads, and v1 by
// piece length and by read size. Each run is a process of its own; the figures hold hashing alone.
//
//   npm run bench -- create [--size 4GiB] [--rounds 5] [--repeats 2]
import path from 'node:path';
import { loadAddon } from '../src/hash/addon.ts';
import { formatBytes } from '../src/layout/text.ts';
import type { HashReport, HashTask } from './processes/hash.ts';
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
import { record } from './support/results.ts';
import { type Column, type Table, tableOf } from './support/tables.ts';

interface Contender {
  version: Version;
  /** The value of METAINFO_KERNEL, or `default` where it is not set. */
  forced: string;
  threads: number;
  pieceLength: number;
  /** null: the default. */
  readSize: number | null;
}

interface Figure extends Contender {
  /** The kernel that ran. */
  kernel: string;
  speed: number;
  /** Processor time of the main thread divided by the time that passed; null where the system does not say. */
  mainThreadShare: number | null;
  peakBytes: number;
}

const { size, rounds, repeats, out } = options({ size: '4GiB', rounds: '5', repeats: '2' });
const totalBytes = parseSize(size);
const THREADS = [1, 2];
const PIECE_LENGTH = parseSize('1MiB');
const OTHER_PIECE_LENGTHS = ['256KiB', '4MiB', '16MiB'].map(parseSize);
const READ_SIZES = ['16KiB', '64KiB', '256KiB', '1MiB', '4MiB'].map(parseSize);
/** A setting is as fast as another if it reaches this share of its speed. */
const FLAT = 0.9;

function contenders(): Contender[] {
  const kernels = ['default', ...loadAddon().kernels.filter((name) => name === 'sha-ni-x4'), 'openssl'];
  const usual = { version: 'v1' as Version, forced: 'default', pieceLength: PIECE_LENGTH, readSize: null };
  const all = [
    ...VERSIONS.flatMap((version) => kernels.map((forced) => ({ ...usual, version, forced }))),
    ...OTHER_PIECE_LENGTHS.map((pieceLength) => ({ ...usual, pieceLength })),
    ...READ_SIZES.map((readSize) => ({ ...usual, readSize })),
  ];
  return all.flatMap((contender) => THREADS.map((threads) => ({ ...contender, threads })));
}

function hash(pathRoot: string, { forced, ...contender }: Contender): HashReport {
  const task: HashTask = { ...contender, pathRoot, repeats: parseCount(repeats) };
  return runChild('hash', task, { METAINFO_KERNEL: forced === 'default' ? undefined : forced });
}

function figureOf(contender: Contender, reports: readonly HashReport[]): Figure {
  const runs = reports.flatMap((report) => report.runs);
  const shares = runs.flatMap(({ mainThreadShare }) => mainThreadShare ?? []);
  return {
    ...contender,
    kernel: reports[0]?.kernel ?? '',
    speed: totalBytes / median(runs.map(({ seconds }) => seconds)) / 1e9,
    mainThreadShare: shares.length > 0 ? median(shares) : null,
    peakBytes: median(reports.map(({ peakBytes }) => peakBytes)),
  };
}

/** A column for each number of threads; the rows are the figures of one thread. */
const byThreads = (
  figures: readonly Figure[],
  name: (threads: string) => string,
  unit: Column<Figure>[1],
  value: (figure: Figure) => number,
): Column<Figure>[] =>
  THREADS.map((threads) => {
    const same = (a: Figure) => (b: Figure) =>
      b.threads === threads &&
      (['version', 'forced', 'pieceLength', 'readSize'] as const).every((key) => a[key] === b[key]);
    return [
      name(`${threads} thread${threads > 1 ? 's' : ''}`),
      unit,
      (row) => value(figures.find(same(row)) as Figure),
    ];
  });

function kernelTable(all: readonly Figure[]): Table {
  const figures = all.filter(({ pieceLength, readSize }) => pieceLength === PIECE_LENGTH && readSize === null);
  const openssl = (figure: Figure) =>
    figures.find(
      ({ version, forced, threads }) =>
        forced === 'openssl' && version === figure.version && threads === figure.threads,
    ) as Figure;
  const most = (figure: Figure) =>
    figures.find(
      ({ version, forced, threads }) => version === figure.version && forced === figure.forced && threads === 2,
    ) as Figure;
  return tableOf(
    `Kernels, pieces of ${formatBytes(PIECE_LENGTH)}`,
    [
      'version, METAINFO_KERNEL',
      ({ version, forced, kernel }) => `${version}, ${forced === kernel ? forced : `${forced} (${kernel})`}`,
    ],
    figures.filter(({ threads }) => threads === 1),
    [
      ...byThreads(
        figures,
        (threads) => threads,
        'GB/s',
        ({ speed }) => speed,
      ),
      ['2 to 1', 'ratio', (figure) => most(figure).speed / figure.speed],
      ...byThreads(
        figures,
        (threads) => `times openssl, ${threads}`,
        'ratio',
        (figure) => figure.speed / openssl(figure).speed,
      ),
      ['main thread', 'share', (figure) => most(figure).mainThreadShare],
      ['memory', 'bytes', (figure) => most(figure).peakBytes],
    ],
    [
      'The last two columns are of the run with 2 threads: the share of the time for which the thread that runs JavaScript was busy, and peak memory beyond the idle process.',
    ],
  );
}

/** The speed of v1 by one setting, also as a share of the fastest. */
function settingTable(title: string, all: readonly Figure[], key: 'pieceLength' | 'readSize'): Table {
  const other =
    key === 'readSize'
      ? ({ pieceLength }: Figure) => pieceLength === PIECE_LENGTH
      : ({ readSize }: Figure) => readSize === null;
  const figures = all
    .filter((figure) => figure.version === 'v1' && figure.forced === 'default' && other(figure))
    .toSorted((a, b) => (a[key] ?? 0) - (b[key] ?? 0));
  const fastest = (threads: number) =>
    Math.max(...figures.filter((figure) => figure.threads === threads).map(({ speed }) => speed));
  const notes = THREADS.map((threads) => {
    const least =
      Math.min(...figures.filter((figure) => figure.threads === threads).map(({ speed }) => speed)) / fastest(threads);
    const verdict = least >= FLAT ? 'flat within 10 %' : 'NOT flat within 10 %';
    return `With ${threads} thread${threads > 1 ? 's' : ''} the slowest piece length reaches ${(least * 100).toFixed(1)} % of the fastest one's speed: ${verdict}.`;
  });
  return tableOf(
    title,
    [
      key === 'pieceLength' ? 'piece length' : key,
      (figure) => (figure[key] === null ? 'default' : formatBytes(figure[key])),
    ],
    figures.filter(({ threads }) => threads === 1),
    [
      ...byThreads(
        figures,
        (threads) => threads,
        'GB/s',
        ({ speed }) => speed,
      ),
      ...byThreads(
        figures,
        (threads) => `of the fastest, ${threads}`,
        'share',
        ({ speed, threads }) => speed / fastest(threads),
      ),
    ],
    key === 'pieceLength' ? notes : [],
  );
}

await inScratchFolder(async (folder) => {
  const file = path.join(folder, 'data');
  writeData(file, totalBytes);
  const runs = await interleave(contenders(), parseCount(rounds), (contender) => hash(file, contender));
  const figures = [...runs].map(([contender, reports]) => figureOf(contender, reports));
  const tables = [
    kernelTable(figures),
    settingTable('v1 by piece length, default kernel', figures, 'pieceLength'),
    settingTable(`v1 by read size, default kernel, pieces of ${formatBytes(PIECE_LENGTH)}`, figures, 'readSize'),
  ];
  const settings = `One warm file of ${formatBytes(totalBytes)}; medians of ${rounds} interleaved rounds with ${repeats} runs each.`;
  record('create', { tables, settings }, out);
});
