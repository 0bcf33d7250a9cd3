// Hashing one warm file: every version with every kernel that METAINFO_KERNEL can force, with 1 and 2 threads, and v1 by
// piece length and by read size. Each run is a process of its own; the figures cover hashing only.
//
//   npm run bench -- create [--size 4GiB] [--rounds 5] [--repeats 2]
import path from 'node:path';
import { loadAddon } from '../src/hash/addon.ts';
import { nativeEngine } from '../src/hash/native.ts';
import { formatBytes } from '../src/text/format.ts';
import { writeData } from './support/data.ts';
import { runGenerate } from './support/generate.ts';
import { bench, divide, type Grid, measure, VERSIONS, type Version } from './support/measure.ts';
import { columnsFor, tableOf } from './support/tables.ts';

const THREADS = ['1 thread', '2 threads'] as const;
const PIECE_LENGTH = 2 ** 20;
const PIECE_LENGTHS = [2 ** 18, PIECE_LENGTH, 2 ** 22, 2 ** 24];
const READ_SIZES = [null, 2 ** 14, 2 ** 16, 2 ** 18, 2 ** 20, 2 ** 22];
const KERNELS_NOTE =
  'The last two columns are of the run with 2 threads: the share of the time for which the thread that runs JavaScript was busy, and peak memory beyond the idle process.';

interface Setting {
  row: string;
  version?: Version;
  /** The value of METAINFO_KERNEL. */
  kernel?: string | undefined;
  pieceLength?: number;
  readSize?: number | null;
}

export default bench({ size: '4GiB', rounds: '5', repeats: '2' }, async ({ size, rounds, repeats }, folder) => {
  const pathRoot = path.join(folder, 'data');
  writeData(pathRoot, size);
  const measureAll = (settings: readonly Setting[]) => {
    const cases = settings.flatMap(({ row, kernel, ...setting }) =>
      THREADS.map((column, i) => {
        const task = {
          version: 'v1',
          pieceLength: PIECE_LENGTH,
          ...setting,
          threads: i + 1,
          pathRoot,
          repeats,
        } as const;
        return { row, column, run: () => runGenerate(task, { METAINFO_KERNEL: kernel }) };
      }),
    );
    return measure(cases, rounds);
  };
  const speedIn = (grid: Grid) => (row: string, threads: string) =>
    divide(size / 1e9, grid.median(row, threads, 'hashing'));

  const forced = loadAddon().kernels.filter((name) => name === 'sha-ni-x4');
  const kernels = [`default (${nativeEngine().kernel})`, ...forced, 'openssl'];
  const byKernel = await measureAll(
    VERSIONS.flatMap((version) =>
      kernels.map((name, i) => ({ row: `${version}, ${name}`, version, kernel: i === 0 ? undefined : name })),
    ),
  );
  const speed = speedIn(byKernel);
  const openssl = (row: string, threads: string) => speed(`${row.split(',')[0]}, openssl`, threads);
  const kernelTable = tableOf(
    `Kernels, pieces of ${formatBytes(PIECE_LENGTH)}`,
    'version, METAINFO_KERNEL',
    byKernel.rows,
    [
      ...columnsFor(THREADS, 'GB/s', speed),
      ['2 to 1', 'ratio', (row) => divide(speed(row, THREADS[1]), speed(row, THREADS[0]))],
      ...columnsFor(THREADS, 'ratio', (row, n) => divide(speed(row, n), openssl(row, n)), {
        prefix: 'times openssl, ',
      }),
      ['main thread', 'share', (row) => byKernel.median(row, THREADS[1], 'mainThread')],
      ['memory', 'bytes', (row) => byKernel.median(row, THREADS[1], 'peakBytes')],
    ],
    [KERNELS_NOTE],
  );

  /** The speed of v1 by one setting, also as a share of the fastest. */
  const settingTable = async (title: string, first: string, settings: readonly Setting[]) => {
    const grid = await measureAll(settings);
    const speedOf = speedIn(grid);
    const share = (row: string, threads: string) =>
      divide(speedOf(row, threads), Math.max(...grid.rows.map((each) => speedOf(each, threads) ?? 0)));
    const shares = columnsFor(THREADS, 'share', share, { prefix: 'of the fastest, ' });
    return tableOf(title, first, grid.rows, [...columnsFor(THREADS, 'GB/s', speedOf), ...shares]);
  };
  const lengths = PIECE_LENGTHS.map((pieceLength) => ({ row: formatBytes(pieceLength), pieceLength }));
  const sizes = READ_SIZES.map((readSize) => ({
    row: readSize === null ? 'default' : formatBytes(readSize),
    readSize,
  }));
  const readSizeTitle = `v1 by read size, default kernel, pieces of ${formatBytes(PIECE_LENGTH)}`;
  const tables = [
    kernelTable,
    await settingTable('v1 by piece length, default kernel', 'piece length', lengths),
    await settingTable(readSizeTitle, 'readSize', sizes),
  ];
  const settings = `One warm file of ${formatBytes(size)}; medians of ${rounds} interleaved rounds with ${repeats} runs each.`;
  return { tables, settings };
});
