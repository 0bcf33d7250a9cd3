// What of docs/performance.md and docs/reliability.md is made from bench/results.json: all that is between
// `<!-- bench:NAME -->` and `<!-- /bench:NAME -->`.
import { formatBytes, printable } from '../../src/layout/text.ts';
import { type Chart, colour, type LineChart, type Series } from './charts.ts';
import { VERSIONS } from './measure.ts';
import { type BenchName, type Entry, type Figures, type Results, versionsText } from './results.ts';
import {
  byPieceLength,
  byReadSize,
  type Comparison,
  commonPieceLength,
  comparedWays,
  markdown,
  peersOf,
  tablesOf,
  threadsText,
  timesAsFast,
  workloadsOf,
} from './tables.ts';

/** The charts of every bench. */
const CHARTS: { [B in BenchName]: (figures: Figures[B][]) => (Chart | LineChart)[] } = {
  create: (figures) => [
    kernelChart(figures),
    comparisonChart(byPieceLength(figures), {
      name: 'piece-length',
      title: 'v1 by piece length, default kernel',
      categoryAxis: 'piece length',
    }),
    comparisonChart(byReadSize(figures), {
      name: 'read-size',
      title: 'v1 by read size, default kernel',
      categoryAxis: 'readSize',
    }),
  ],
  peers: (figures) => [peerChart(figures)],
  cold: (figures) => {
    const values = figures.map(({ bytesPerSecond }) => bytesPerSecond / 1e9);
    const names = { name: 'cold', title: 'A file that is not in the page cache', categoryAxis: 'reader' };
    const categories = figures.map(({ reader }) => reader);
    return [{ ...names, axis: 'GB/s', digits: 2, categories, series: [{ name: 'GB/s', values, colour: colour(0) }] }];
  },
  start: (figures) => {
    const names = { name: 'start', title: 'From start to end, one tiny file', categoryAxis: 'command' };
    const series: Series[] = [
      { name: 'median', values: figures.map((one) => one.medianSeconds * 1000), colour: colour(0) },
      { name: 'minimum', values: figures.map((one) => one.minimumSeconds * 1000), colour: colour(0), pale: true },
    ];
    return [{ ...names, axis: 'milliseconds', digits: 1, categories: figures.map(({ command }) => command), series }];
  },
  decode: (figures) => {
    const torrents = [...new Set(figures.map(({ torrent }) => torrent))];
    const tools = [...new Set(figures.map(({ tool }) => tool))];
    const secondsOf = (tool: string, torrent: string) =>
      figures.find((one) => one.tool === tool && one.torrent === torrent)?.seconds ?? null;
    const series = tools.map((tool, at) => ({
      name: tool,
      values: torrents.map((torrent) => secondsOf(tool, torrent)),
      colour: colour(at),
    }));
    const names = { name: 'decode', title: 'Reading a large torrent', categoryAxis: 'torrent' };
    return [{ ...names, axis: 'seconds', digits: 3, categories: torrents, series }];
  },
  sources: (figures) => {
    // As many as there are colours: the tables have all.
    const streams = figures.filter(
      ({ workload, contender }) => workload.startsWith('streams') && !contender.endsWith('1 MiB'),
    );
    const workloads = [...new Set(streams.map(({ workload }) => workload))];
    const contenders = [...new Set(streams.map(({ contender }) => contender))];
    const speedOf = (contender: string, workload: string) => {
      const found = streams.find((one) => one.contender === contender && one.workload === workload);
      return found ? found.totalBytes / found.seconds / 1e9 : null;
    };
    const series = contenders.map((contender, at) => ({
      name: contender,
      values: workloads.map((workload) => speedOf(contender, workload)),
      colour: colour(at),
    }));
    const names = { name: 'sources', title: 'Content that comes in streams, one thread', categoryAxis: 'version' };
    const categories = workloads.map((workload) => workload.replace('streams from memory, ', ''));
    return [{ ...names, axis: 'GB/s', digits: 2, categories, series }];
  },
  after: (figures) => {
    const pairs = comparedWays(figures).filter(({ ways }) => ways[1] === 'verify');
    const series = pairs.map(({ workload, rows }, at) => ({
      name: workload,
      values: rows.map(({ seconds: [create, verify] }) => (verify as number) / (create as number)),
      colour: colour(at),
    }));
    const names = { name: 'verify', title: 'Verifying beside creating', categoryAxis: 'version' };
    return [
      { ...names, axis: 'time of verifying / of creating', digits: 2, categories: [...VERSIONS], series, lineAt: 1 },
    ];
  },
  load: (figures) => {
    const series: Series[] = [
      { name: 'median', values: figures.map(({ timerP50Seconds }) => timerP50Seconds * 1000), colour: colour(0) },
      { name: '99 %', values: figures.map(({ timerP99Seconds }) => timerP99Seconds * 1000), colour: colour(1) },
    ];
    const names = { name: 'load', title: 'A timer of 10 ms while jobs are made', categoryAxis: 'workload' };
    const categories = figures.map(({ workload, engine }) => `${workload}, ${engine}`);
    return [{ ...names, axis: 'milliseconds between two calls', digits: 1, categories, series, lineAt: 20 }];
  },
  soak: (figures) => {
    const line = (name: string, at: number, measureOf: (figure: Figures['soak']) => number) => ({
      name,
      colour: colour(at),
      points: figures.map((figure): [number, number] => [figure.seconds / 60, measureOf(figure)]),
    });
    const mebibytes = (bytes: number) => bytes / 2 ** 20;
    return [
      {
        name: 'soak',
        title: 'Memory, descriptors and threads while all versions of jobs go on',
        axis: 'minutes',
        panels: [
          {
            axis: 'MiB',
            lines: [
              line('resident', 0, ({ rssBytes }) => mebibytes(rssBytes)),
              line('malloc', 4, ({ mallocBytes }) => mebibytes(mallocBytes)),
              line('heap', 1, ({ heapBytes }) => mebibytes(heapBytes)),
            ],
          },
          {
            axis: 'number',
            lines: [
              line('descriptors', 2, ({ descriptors }) => descriptors),
              line('threads', 3, ({ threads }) => threads),
            ],
          },
        ],
      },
    ];
  },
};

function kernelChart(figures: Figures['create'][]): Chart {
  const pieceLength = commonPieceLength(figures);
  const own = figures.filter((one) => one.readSize === null && one.pieceLength === pieceLength);
  const rows = [...new Set(own.map(({ row }) => row))];
  const threads = [...new Set(own.map((one) => one.threads))];
  const most = Math.max(...threads);
  const speedOf = (version: string, row: string, count: number) =>
    own.find((one) => one.version === version && one.row === row && one.threads === count)?.bytesPerSecond;
  const series = rows.flatMap((row, at) =>
    threads.map((count) => ({
      name: `${row}, ${threadsText(count)}`,
      values: VERSIONS.map((version) => (speedOf(version, row, count) ?? Number.NaN) / 1e9),
      colour: colour(at),
      pale: count < most,
    })),
  );
  const title = `One warm file by version and METAINFO_KERNEL, pieces of ${formatBytes(pieceLength)}`;
  return {
    name: 'kernels',
    title,
    axis: 'GB/s',
    categoryAxis: 'version',
    categories: [...VERSIONS],
    series,
    digits: 2,
  };
}

function comparisonChart(
  { threads, names, speeds }: Comparison,
  texts: Pick<Chart, 'name' | 'title' | 'categoryAxis'>,
): Chart {
  const series = threads.map((count, at) => ({
    name: threadsText(count),
    values: speeds.map((own) => (own[at] as number) / 1e9),
    colour: colour(0),
    pale: count < Math.max(...threads),
  }));
  return { ...texts, axis: 'GB/s', categories: names, series, digits: 2 };
}

function peerChart(figures: Figures['peers'][]): Chart {
  const workloads = workloadsOf(figures);
  const rivals = peersOf(figures).flatMap((tool) =>
    VERSIONS.filter((version) => figures.some((one) => one.tool === tool && one.version === version)).map(
      (version) => ({
        tool,
        version,
      }),
    ),
  );
  return {
    name: 'peers',
    title: 'How many times as long as our command the others take',
    axis: 'its time / ours (above 1: we are faster)',
    categoryAxis: 'tool, version',
    categories: rivals.map(({ tool, version }) => `${tool}, ${version}`),
    series: workloads.map((workload, at) => ({
      name: `${workload.name}, ${formatBytes(workload.totalBytes)}`,
      values: rivals.map(({ tool, version }) => timesAsFast(workload, tool, version)),
      colour: colour(at),
    })),
    digits: 2,
    lineAt: 1,
  };
}

/** The charts of a bench, none when it was skipped. */
export function chartsOf<B extends BenchName>(bench: B, { figures }: Entry<B>): (Chart | LineChart)[] {
  return figures.length > 0 ? CHARTS[bench](figures) : [];
}

/** The entry of a bench; every one must have been run. */
export function entryOf<B extends BenchName>(results: Results, bench: B): Entry<B> {
  const entry = results[bench] as Entry<B> | undefined;
  if (!entry) throw new Error(`there are no figures of ${bench}: npm run bench -- ${bench}`);
  return entry;
}

function section<B extends BenchName>(bench: B, entry: Entry<B>): string {
  const { command, date, machine, settings, skipped, versions } = entry;
  const { cpu, cores, flags, memoryBytes, system } = machine;
  const where = `${cpu}, ${cores} cores (${flags.join(', ')}), ${formatBytes(memoryBytes)}, ${system}`;
  return [
    ...chartsOf(bench, entry).map(({ name, title }) => `![${title}](plots/${name}.svg)`),
    `\`${command}\`, ${date}. ${settings}`,
    `On ${where}. With ${versionsText(versions)}.`,
    ...(skipped.length > 0 ? [`Left out: ${skipped.join('; ')}.`] : []),
    ...tablesOf(bench, entry).map(markdown),
  ]
    .map(printableLines)
    .join('\n\n');
}

/** What tools say of themselves gets into a document. */
const printableLines = (text: string) => text.split('\n').map(printable).join('\n').trim();

/** The pages of docs/ that have figures, and of which benches. */
export const PAGES = {
  performance: ['create', 'peers', 'cold', 'start', 'decode', 'sources', 'after'],
  reliability: ['load', 'soak'],
} as const satisfies Record<string, readonly BenchName[]>;

/** The page with the sections of its benches as the results have them; the text around them stays. */
export function withFigures(page: string, results: Results, benches: readonly BenchName[]): string {
  return benches.reduce((text, bench) => {
    const [open, close] = [`<!-- bench:${bench} -->`, `<!-- /bench:${bench} -->`];
    const [before, after] = [text.split(open)[0], text.split(close)[1]];
    if (before === undefined || after === undefined) throw new Error(`the page has no ${open} ... ${close}`);
    return `${before}${open}\n\n${section(bench, entryOf(results, bench))}\n\n${close}${after}`;
  }, page);
}
