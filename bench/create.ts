// Hashing one warm file: every version with every kernel that METAINFO_KERNEL can force, with 1 and 2 threads, and v1 by
// piece length and by read size. Each run is a process of its own; the figures cover hashing only.
//
//   npm run bench -- create [--size 4GiB] [--rounds 5] [--repeats 2]
import path from 'node:path';
import { loadAddon } from '../src/hash/addon.ts';
import { formatBytes } from '../src/text/format.ts';
import type { HashReport } from './processes/hash.ts';
import { writeData } from './support/data.ts';
import { bench, interleave, median, runHash, VERSIONS, type Version } from './support/measure.ts';
import { type Column, type Table, tableOf } from './support/tables.ts';

interface Setting {
  version: Version;
  /** The value of METAINFO_KERNEL, or `default` where it is not set. */
  forced: string;
  pieceLength: number;
  /** null: the default. */
  readSize: number | null;
}

/** A setting with its speeds, by the number of threads. */
interface Figure extends Setting {
  /** The kernel that ran. */
  kernel: string;
  speeds: Record<number, number>;
  /** With 2 threads: processor time of the main thread divided by the time that passed; null where the system does not say. */
  mainThreadShare: number | null;
  /** With 2 threads. */
  peakBytes: number;
}

const THREADS = [1, 2];
const PIECE_LENGTH = 2 ** 20;
const OTHER_PIECE_LENGTHS = [2 ** 18, 2 ** 22, 2 ** 24];
const READ_SIZES = [2 ** 14, 2 ** 16, 2 ** 18, 2 ** 20, 2 ** 22];
/** A setting is as fast as another if it reaches this share of its speed. */
const FLAT = 0.9;

const usual = { version: 'v1', forced: 'default', pieceLength: PIECE_LENGTH, readSize: null } as const;
const kernels = ['default', ...loadAddon().kernels.filter((name) => name === 'sha-ni-x4'), 'openssl'];
const SETTINGS: readonly Setting[] = [
  ...VERSIONS.flatMap((version) => kernels.map((forced) => ({ ...usual, version, forced }))),
  ...OTHER_PIECE_LENGTHS.map((pieceLength) => ({ ...usual, pieceLength })),
  ...READ_SIZES.map((readSize) => ({ ...usual, readSize })),
];

const threadsText = (threads: number) => `${threads} thread${threads > 1 ? 's' : ''}`;

/** A column for each number of threads. */
const byThreads = (name: string, unit: Column<Figure>[1], value: (figure: Figure, threads: number) => number) =>
  THREADS.map(
    (threads): Column<Figure> => [`${name}${threadsText(threads)}`, unit, (figure) => value(figure, threads)],
  );

const speedOf = ({ speeds }: Figure, threads: number) => speeds[threads] ?? Number.NaN;

function kernelTable(figures: readonly Figure[]): Table {
  const openssl = ({ version }: Figure) =>
    figures.find((figure) => figure.forced === 'openssl' && figure.version === version) as Figure;
  const name = ({ version, forced, kernel }: Figure) =>
    `${version}, ${forced === kernel ? forced : `${forced} (${kernel})`}`;
  return tableOf(
    `Kernels, pieces of ${formatBytes(PIECE_LENGTH)}`,
    ['version, METAINFO_KERNEL', name],
    figures.filter(({ pieceLength, readSize }) => pieceLength === PIECE_LENGTH && readSize === null),
    [
      ...byThreads('', 'GB/s', speedOf),
      ['2 to 1', 'ratio', (figure) => speedOf(figure, 2) / speedOf(figure, 1)],
      ...byThreads('times openssl, ', 'ratio', (figure, n) => speedOf(figure, n) / speedOf(openssl(figure), n)),
      ['main thread', 'share', ({ mainThreadShare }) => mainThreadShare],
      ['memory', 'bytes', ({ peakBytes }) => peakBytes],
    ],
    [
      'The last two columns are of the run with 2 threads: the share of the time for which the thread that runs JavaScript was busy, and peak memory beyond the idle process.',
    ],
  );
}

/** The speed of v1 by one setting, also as a share of the fastest. */
function settingTable(title: string, all: readonly Figure[], key: 'pieceLength' | 'readSize', name: string): Table {
  const other = key === 'readSize' ? 'pieceLength' : 'readSize';
  const figures = all
    .filter((figure) => figure.version === 'v1' && figure.forced === 'default' && figure[other] === usual[other])
    .toSorted((a, b) => (a[key] ?? 0) - (b[key] ?? 0));
  const share = (figure: Figure, threads: number) =>
    speedOf(figure, threads) / Math.max(...figures.map((each) => speedOf(each, threads)));
  const notes = THREADS.map((threads) => {
    const least = Math.min(...figures.map((figure) => share(figure, threads)));
    const verdict = least >= FLAT ? 'flat within 10 %' : 'NOT flat within 10 %';
    return `With ${threadsText(threads)} the slowest piece length reaches ${(least * 100).toFixed(1)} % of the fastest one's speed: ${verdict}.`;
  });
  return tableOf(
    title,
    [name, (figure) => (figure[key] === null ? 'default' : formatBytes(figure[key]))],
    figures,
    [...byThreads('', 'GB/s', speedOf), ...byThreads('of the fastest, ', 'share', share)],
    key === 'pieceLength' ? notes : [],
  );
}

await bench('create', { size: '4GiB', rounds: '5', repeats: '2' }, async ({ size, rounds, repeats }, folder) => {
  const pathRoot = path.join(folder, 'data');
  writeData(pathRoot, size);
  const contenders = SETTINGS.flatMap((setting) => THREADS.map((threads) => ({ setting, threads })));
  const runs = await interleave(contenders, rounds, ({ setting: { forced, ...plan }, threads }) =>
    runHash({ ...plan, threads, pathRoot, repeats }, { METAINFO_KERNEL: forced === 'default' ? undefined : forced }),
  );
  const figures = SETTINGS.map((setting): Figure => {
    const reportsOf = (threads: number): HashReport[] =>
      runs.find(([contender]) => contender.setting === setting && contender.threads === threads)?.[1] ?? [];
    const runsOf = (threads: number) => reportsOf(threads).flatMap((report) => report.runs);
    const speed = (threads: number) => size / median(runsOf(threads).map(({ seconds }) => seconds)) / 1e9;
    const shares = runsOf(2).flatMap(({ mainThreadShare }) => mainThreadShare ?? []);
    return {
      ...setting,
      kernel: reportsOf(1)[0]?.kernel ?? '',
      speeds: Object.fromEntries(THREADS.map((threads) => [threads, speed(threads)])),
      mainThreadShare: shares.length > 0 ? median(shares) : null,
      peakBytes: median(reportsOf(2).map(({ peakBytes }) => peakBytes)),
    };
  });
  const readSizeTitle = `v1 by read size, default kernel, pieces of ${formatBytes(PIECE_LENGTH)}`;
  const tables = [
    kernelTable(figures),
    settingTable('v1 by piece length, default kernel', figures, 'pieceLength', 'piece length'),
    settingTable(readSizeTitle, figures, 'readSize', 'readSize'),
  ];
  const settings = `One warm file of ${formatBytes(size)}; medians of ${rounds} interleaved rounds with ${repeats} runs each.`;
  return { tables, settings };
});
