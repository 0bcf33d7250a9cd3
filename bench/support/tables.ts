// The tables of every bench, made from its figures: the same on the terminal and in docs/performance.md.
import { formatBytes } from '../../src/layout/text.ts';
import { VERSIONS, type Version } from './measure.ts';
import type {
  AfterFigure,
  BenchName,
  ColdFigure,
  CreateFigure,
  DecodeFigure,
  Entry,
  LoadFigure,
  PeerFigure,
  SoakFigure,
  SourceFigure,
  StartFigure,
} from './results.ts';

export interface Table {
  title: string;
  /** The first column is text, all others are numbers. */
  columns: string[];
  rows: string[][];
  /** What the figures say, in a sentence each. */
  notes: string[];
}

/** The contender of `peers` and `create` that is ours, and as the library. */
export const OURS = 'metainfo';
export const LIBRARY = 'metainfo, library';

/** The least that a piece length may have of the fastest one's speed, to be called as fast. */
const FLAT = 0.9;

export function tablesOf<B extends BenchName>(bench: B, { figures }: Entry<B>): Table[] {
  switch (bench) {
    case 'create':
      return [kernelTable, pieceLengthTable, readSizeTable].map((table) => table(figures as CreateFigure[]));
    case 'peers':
      return workloadsOf(figures as PeerFigure[]).map(peerTable);
    case 'cold':
      return (figures as ColdFigure[]).length > 0 ? [coldTable(figures as ColdFigure[])] : [];
    case 'start':
      return [startTable(figures as StartFigure[])];
    case 'decode':
      return decodeTables(figures as DecodeFigure[]);
    case 'sources':
      return sourceTables(figures as SourceFigure[]);
    case 'after':
      return comparedWays(figures as AfterFigure[]).map(afterTable);
    case 'load':
      return loadTables(figures as LoadFigure[]);
    case 'soak':
      return [soakTable(figures as SoakFigure[])];
  }
  throw new Error(`no tables for ${bench}`);
}

const gigabytes = (bytesPerSecond: number) => (bytesPerSecond / 1e9).toFixed(2);
const times = (ratio: number) => ratio.toFixed(2);
const percent = (share: number) => `${(share * 100).toFixed(1)} %`;
const milliseconds = (seconds: number) => (seconds * 1000).toFixed(1);

/** Seconds with three significant digits, whatever the size of the workload. */
const shortSeconds = (seconds: number) => seconds.toPrecision(3);

/** The values of one property, in the order in which they first occur. */
function valuesOf<T, K extends keyof T>(figures: readonly T[], key: K): T[K][] {
  return [...new Set(figures.map((figure) => figure[key]))];
}

/** The piece length that all versions and kernels were measured with; the others are there to be compared with it. */
export function commonPieceLength(figures: readonly CreateFigure[]): number {
  const found = figures.find(({ version }) => version !== 'v1');
  if (!found) throw new Error('create has no figures of v2');
  return found.pieceLength;
}

function find(figures: readonly CreateFigure[], wanted: Partial<CreateFigure>): CreateFigure {
  const keys = Object.keys(wanted) as (keyof CreateFigure)[];
  const found = figures.find((figure) => keys.every((key) => figure[key] === wanted[key]));
  if (!found) throw new Error(`create has no figure of ${JSON.stringify(wanted)}`);
  return found;
}

function kernelTable(figures: readonly CreateFigure[]): Table {
  const pieceLength = commonPieceLength(figures);
  const threads = valuesOf(figures, 'threads');
  const [fewest, most] = [Math.min(...threads), Math.max(...threads)];
  const rows = VERSIONS.flatMap((version) =>
    valuesOf(figures, 'row').map((row) => {
      const of = (count: number, name = row) =>
        find(figures, { version, row: name, threads: count, pieceLength, readSize: null });
      const speed = (count: number, name = row) => of(count, name).bytesPerSecond;
      const { kernel, mainThreadShare, peakBytes } = of(most);
      return [
        `${version}, ${row}${row === kernel ? '' : ` (${kernel})`}`,
        ...threads.map((count) => gigabytes(speed(count))),
        times(speed(most) / speed(fewest)),
        ...threads.map((count) => times(speed(count) / speed(count, 'openssl'))),
        mainThreadShare === null ? 'unknown' : percent(mainThreadShare),
        formatBytes(peakBytes),
      ];
    }),
  );
  const counted = threads.map(threadsText);
  return {
    title: `Kernels, GB/s, pieces of ${formatBytes(pieceLength)}`,
    columns: [
      'version, METAINFO_KERNEL',
      ...counted,
      `${most} to ${fewest}`,
      ...counted.map((text) => `times openssl, ${text}`),
      'main thread',
      'memory',
    ],
    rows,
    notes: [
      'The last two columns are of the run with most threads: processor time of the thread that runs JavaScript in wall time, and peak memory beyond the idle process.',
    ],
  };
}

/** The speed of one setting beside that of its others, by the number of threads. */
export interface Comparison {
  threads: number[];
  names: string[];
  /** Bytes a second, by setting and then by threads. */
  speeds: number[][];
}

function compare(figures: readonly CreateFigure[], name: (figure: CreateFigure) => string): Comparison {
  const threads = valuesOf(figures, 'threads');
  const names = [...new Set(figures.map(name))];
  const speedOf = (wanted: string, count: number) =>
    figures.find((figure) => name(figure) === wanted && figure.threads === count)?.bytesPerSecond ?? Number.NaN;
  return { threads, names, speeds: names.map((one) => threads.map((count) => speedOf(one, count))) };
}

export function byPieceLength(figures: readonly CreateFigure[]): Comparison {
  const own = figures.filter(
    ({ version, row, readSize }) => version === 'v1' && row === 'default' && readSize === null,
  );
  return compare(
    own.toSorted((a, b) => a.pieceLength - b.pieceLength),
    ({ pieceLength }) => formatBytes(pieceLength),
  );
}

export function byReadSize(figures: readonly CreateFigure[]): Comparison {
  const pieceLength = commonPieceLength(figures);
  const own = figures.filter((one) => one.version === 'v1' && one.row === 'default' && one.pieceLength === pieceLength);
  return compare(
    own.toSorted((a, b) => (a.readSize ?? 0) - (b.readSize ?? 0)),
    ({ readSize }) => (readSize === null ? 'default' : formatBytes(readSize)),
  );
}

export const threadsText = (count: number): string => `${count} thread${count > 1 ? 's' : ''}`;

function comparisonTable(title: string, first: string, { threads, names, speeds }: Comparison): Table {
  const best = threads.map((_, at) => Math.max(...speeds.map((own) => own[at] as number)));
  return {
    title,
    columns: [first, ...threads.map(threadsText), ...threads.map((count) => `of the fastest, ${threadsText(count)}`)],
    rows: names.map((name, i) => {
      const own = speeds[i] as number[];
      return [name, ...own.map(gigabytes), ...own.map((speed, at) => percent(speed / (best[at] as number)))];
    }),
    notes: [],
  };
}

function pieceLengthTable(figures: readonly CreateFigure[]): Table {
  const comparison = byPieceLength(figures);
  const notes = comparison.threads.map((count, at) => {
    const speeds = comparison.speeds.map((own) => own[at] as number);
    const least = Math.min(...speeds) / Math.max(...speeds);
    const flat = least >= FLAT ? 'flat within 10 %' : 'NOT flat within 10 %';
    return `With ${threadsText(count)} the slowest piece length has ${percent(least)} of the fastest one's speed: ${flat}.`;
  });
  return { ...comparisonTable('v1 by piece length, GB/s, default kernel', 'piece length', comparison), notes };
}

function readSizeTable(figures: readonly CreateFigure[]): Table {
  const title = `v1 by read size, GB/s, default kernel, pieces of ${formatBytes(commonPieceLength(figures))}`;
  return comparisonTable(title, 'readSize', byReadSize(figures));
}

/** What each tool has of one workload. */
export interface Workload {
  name: string;
  totalBytes: number;
  pieceLength: number;
  figures: PeerFigure[];
}

export function workloadsOf(figures: readonly PeerFigure[]): Workload[] {
  return valuesOf(figures, 'workload').map((name) => {
    const own = figures.filter(({ workload }) => workload === name);
    const { totalBytes, pieceLength } = own[0] as PeerFigure;
    return { name, totalBytes, pieceLength, figures: own };
  });
}

/** How many times as fast as a tool our command is; null for a version that one of them does not make. */
export function timesAsFast({ figures }: Workload, tool: string, version: Version): number | null {
  const secondsOf = (name: string) =>
    figures.find((figure) => figure.tool === name && figure.version === version)?.seconds ?? null;
  const [theirs, ours] = [secondsOf(tool), secondsOf(OURS)];
  return theirs === null || ours === null ? null : theirs / ours;
}

export const peersOf = (figures: readonly PeerFigure[]): string[] =>
  valuesOf(figures, 'tool').filter((tool) => tool !== OURS && tool !== LIBRARY);

function peerTable(workload: Workload): Table {
  const { figures } = workload;
  const cell = (version: Version, tool: string, show: (figure: PeerFigure) => string) => {
    const figure = figures.find((one) => one.tool === tool && one.version === version);
    return figure ? show(figure) : '';
  };
  const ratio = (tool: string, version: Version) => {
    const found = tool === LIBRARY ? null : timesAsFast(workload, tool, version);
    return found === null ? '' : times(found);
  };
  const rows = valuesOf(figures, 'tool').map((tool) => [
    tool,
    ...VERSIONS.map((version) => cell(version, tool, ({ seconds }) => shortSeconds(seconds))),
    ...VERSIONS.map((version) => ratio(tool, version)),
  ]);
  return {
    title: `${workload.name}: ${formatBytes(workload.totalBytes)}, pieces of ${formatBytes(workload.pieceLength)}`,
    columns: [
      'tool',
      ...VERSIONS.map((version) => `${version}, s`),
      ...VERSIONS.map((version) => `${version}, its time / ours`),
    ],
    rows,
    notes: [...peerVerdict(workload), scanNote(workload)],
  };
}

/** Whether our command is ahead of every peer, in every version that the peer makes. */
function peerVerdict(workload: Workload): string[] {
  const compared = peersOf(workload.figures).flatMap((tool) =>
    VERSIONS.flatMap((version) => {
      const ratio = timesAsFast(workload, tool, version);
      return ratio === null ? [] : [{ what: `${tool} (${version}, ${times(ratio)})`, ratio }];
    }),
  );
  if (compared.length === 0) return ['No peer was installed.'];
  const behind = compared.filter(({ ratio }) => ratio < 1);
  const [closest] = compared.toSorted((a, b) => a.ratio - b.ratio);
  return behind.length === 0
    ? [`Ahead of every peer in every version; the closest is ${closest?.what}.`]
    : [`NOT ahead of ${behind.map(({ what }) => what).join(', ')}.`];
}

function scanNote({ figures }: Workload): string {
  const scans = figures.flatMap(({ version, scanSeconds }) =>
    scanSeconds === undefined ? [] : [`${version} ${shortSeconds(scanSeconds)} s`],
  );
  return `The library's row is hashing alone; finding the files takes it ${scans.join(', ')} before that.`;
}

function coldTable(figures: readonly ColdFigure[]): Table {
  const base = figures[0] as ColdFigure;
  return {
    title: 'A file that is not in the page cache',
    columns: ['reader', 'GB/s', `times ${base.reader}`],
    rows: figures.map(({ reader, bytesPerSecond }) => [
      reader,
      gigabytes(bytesPerSecond),
      times(bytesPerSecond / base.bytesPerSecond),
    ]),
    notes: [],
  };
}

function startTable(figures: readonly StartFigure[]): Table {
  const base = figures[0] as StartFigure;
  return {
    title: 'Start-up',
    columns: ['command', 'median, ms', 'minimum, ms', 'ratio of medians', 'ratio of minimums'],
    rows: figures.map(({ command, medianSeconds, minimumSeconds }) => [
      command,
      milliseconds(medianSeconds),
      milliseconds(minimumSeconds),
      times(medianSeconds / base.medianSeconds),
      times(minimumSeconds / base.minimumSeconds),
    ]),
    notes: [],
  };
}

function decodeTables(figures: readonly DecodeFigure[]): Table[] {
  return valuesOf(figures, 'torrent').map((torrent) => {
    const own = figures.filter((figure) => figure.torrent === torrent);
    const base = own[0] as DecodeFigure;
    return {
      title: `${torrent}, ${formatBytes(base.torrentBytes)}`,
      columns: ['tool', 's', `times ${base.tool}`, 'memory / torrent'],
      rows: own.map(({ tool, seconds, peakBytes, torrentBytes }) => [
        tool,
        seconds.toFixed(3),
        times(seconds / base.seconds),
        (peakBytes / torrentBytes).toFixed(1),
      ]),
      notes: own.flatMap(({ tool, said }) => (said.startsWith('refused') ? [`${tool} ${said}`] : [])),
    };
  });
}

/** A table with the columns in line, the first to the left and the others to the right. */
function aligned({ columns, rows }: Table): string[][] {
  const widths = columns.map((title, at) => Math.max(title.length, ...rows.map((row) => row[at]?.length ?? 0)));
  return [columns, ...rows].map((cells) =>
    cells.map((cell, at) => (at === 0 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0))),
  );
}

/** Each beside the first of its workload, but hashers beside `generate` of their version. */
function sourceTables(figures: readonly SourceFigure[]): Table[] {
  return valuesOf(figures, 'workload').map((workload) => {
    const own = figures.filter((figure) => figure.workload === workload);
    const baseOf = ({ contender }: SourceFigure) =>
      own.find((one) => one.contender === contender.replace('hasher of', 'generate,')) ?? (own[0] as SourceFigure);
    const isHashers = own.some(({ contender }) => contender.startsWith('hasher'));
    const base = (figure: SourceFigure) => (isHashers ? baseOf(figure) : (own[0] as SourceFigure));
    return {
      title: `${workload}: ${formatBytes((own[0] as SourceFigure).totalBytes)}`,
      columns: ['contender', 's', 'GB/s', `its time / ${isHashers ? 'generate' : own[0]?.contender}`],
      rows: own.map((figure) => [
        figure.contender,
        shortSeconds(figure.seconds),
        gigabytes(figure.totalBytes / figure.seconds),
        times(figure.seconds / base(figure).seconds),
      ]),
      notes: [],
    };
  });
}

/** What several ways take for each thing of one workload. */
export interface ComparedWays {
  workload: string;
  ways: string[];
  rows: { what: string; seconds: number[] }[];
}

export function comparedWays(figures: readonly AfterFigure[]): ComparedWays[] {
  return valuesOf(figures, 'workload').map((workload) => {
    const own = figures.filter((figure) => figure.workload === workload);
    const ways = valuesOf(own, 'way');
    const secondsOf = (what: string, way: string) =>
      own.find((one) => one.what === what && one.way === way)?.seconds ?? Number.NaN;
    const rows = valuesOf(own, 'what').map((what) => ({ what, seconds: ways.map((way) => secondsOf(what, way)) }));
    return { workload, ways, rows };
  });
}

/** Of two ways, the second beside the first. */
function afterTable({ workload, ways, rows }: ComparedWays): Table {
  const isPair = ways.length === 2;
  return {
    title: workload,
    columns: ['torrent', ...ways.map((way) => `${way}, s`), ...(isPair ? [`${ways[1]} / ${ways[0]}`] : [])],
    rows: rows.map(({ what, seconds }) => [
      what,
      ...seconds.map(shortSeconds),
      ...(isPair ? [times((seconds[1] as number) / (seconds[0] as number))] : []),
    ]),
    notes: [],
  };
}

/** The 99th percentile that a timer of 10 ms is to have, in seconds. */
const TIMER_BOUND = 0.02;

function loadTables(figures: readonly LoadFigure[]): Table[] {
  const name = ({ workload, engine }: LoadFigure) => `${workload}, ${engine}`;
  const orUnknown = (seconds: number | null) => (seconds === null ? 'unknown' : milliseconds(seconds));
  const late = figures.filter(({ timerP99Seconds }) => timerP99Seconds >= TIMER_BOUND);
  return [
    {
      title: 'The event loop: a timer of 10 ms',
      columns: [
        'workload',
        'median, ms',
        '99 %, ms',
        'of it not waiting for a processor, ms',
        'most, ms',
        'all calls, ms',
      ],
      rows: figures.map((figure) => [
        name(figure),
        milliseconds(figure.timerP50Seconds),
        milliseconds(figure.timerP99Seconds),
        orUnknown(figure.timerP99OwnSeconds),
        milliseconds(figure.timerMostSeconds),
        milliseconds(figure.callSeconds),
      ]),
      notes: [
        late.length === 0
          ? 'The 99th percentile is below 20 ms everywhere.'
          : `The 99th percentile is NOT below 20 ms: ${late.map(name).join('; ')}.`,
      ],
    },
    {
      title: 'What the process takes, at most and before',
      columns: ['workload', 'threads', 'before', 'descriptors', 'before', 'memory', 'before', 'a waiting job'],
      rows: figures.map((figure) => [
        name(figure),
        `${figure.threads}`,
        `${figure.threadsBefore}`,
        `${figure.descriptors}`,
        `${figure.descriptorsBefore}`,
        formatBytes(figure.rssBytes),
        formatBytes(figure.rssBeforeBytes),
        formatBytes(Math.round(figure.waitingBytes)),
      ]),
      notes: [],
    },
    {
      title: 'Who is served when',
      columns: [
        'workload',
        'all, s',
        'first small, s',
        'large by themselves, s',
        'large in the crowd, s',
        'small ended by then',
      ],
      rows: figures.map((figure) => [
        name(figure),
        shortSeconds(figure.seconds),
        shortSeconds(figure.firstSeconds),
        shortSeconds(figure.largeAloneSeconds),
        shortSeconds(figure.largeSeconds),
        percent(figure.doneBesideLarge / figure.jobs),
      ]),
      notes: [],
    },
  ];
}

type SoakMeasure = Exclude<keyof SoakFigure, 'seconds' | 'jobs' | 'timerP99Seconds'>;

/** By how much each may grow over the last two thirds of a soak, by the straight line through its values. */
const SOAK_BOUNDS: Record<SoakMeasure, number> = {
  rssBytes: 24 * 2 ** 20,
  mallocBytes: 2 ** 20,
  heapBytes: 4 * 2 ** 20,
  externalBytes: 4 * 2 ** 20,
  handles: 1,
  descriptors: 1,
  threads: 1,
};
const SOAK_NAMES: Record<SoakMeasure, string> = {
  rssBytes: 'resident memory',
  mallocBytes: 'malloc, in use',
  heapBytes: 'heap after a collection',
  externalBytes: 'buffers',
  handles: 'handles',
  descriptors: 'descriptors',
  threads: 'threads',
};

/** What grew over the last two thirds of a soak, and whether that is within the bound. */
export function soakGrowth(figures: readonly SoakFigure[]) {
  const own = figures.slice(Math.floor(figures.length / 3));
  const span = (own.at(-1)?.seconds ?? 0) - (own[0]?.seconds ?? 0);
  return (Object.keys(SOAK_BOUNDS) as SoakMeasure[]).map((measure) => {
    const growth = slope(own.map((figure) => [figure.seconds, figure[measure]])) * span;
    return { measure, growth, bound: SOAK_BOUNDS[measure], isFlat: growth < SOAK_BOUNDS[measure] };
  });
}

/** Of the line with the least squares. */
function slope(points: readonly [number, number][]): number {
  const mean = (at: 0 | 1) => points.reduce((sum, point) => sum + point[at], 0) / points.length;
  const [x, y] = [mean(0), mean(1)];
  const [up, across] = [
    points.reduce((sum, point) => sum + (point[0] - x) * (point[1] - y), 0),
    points.reduce((sum, point) => sum + (point[0] - x) ** 2, 0),
  ];
  return up / across;
}

function soakTable(figures: readonly SoakFigure[]): Table {
  const show = (measure: SoakMeasure, value: number) =>
    measure.endsWith('Bytes') ? `${(value / 2 ** 20).toFixed(2)} MiB` : value.toFixed(2);
  const growth = soakGrowth(figures);
  const steep = growth.filter(({ isFlat }) => !isFlat);
  return {
    title: 'At rest, every so often',
    columns: ['measure', 'first', 'least', 'most', 'last', 'growth, last two thirds', 'bound'],
    rows: growth.map(({ measure, growth: grown, bound }) => {
      const values = figures.map((figure) => figure[measure]);
      const cells = [
        values[0] as number,
        Math.min(...values),
        Math.max(...values),
        values.at(-1) as number,
        grown,
        bound,
      ];
      return [SOAK_NAMES[measure], ...cells.map((value) => show(measure, value))];
    }),
    notes: [
      `The 99th percentile of a timer of 10 ms was ${milliseconds(Math.max(...figures.map((one) => one.timerP99Seconds)))} ms in the worst interval.`,
      steep.length === 0 ? 'All are flat.' : `NOT flat: ${steep.map(({ measure }) => SOAK_NAMES[measure]).join(', ')}.`,
    ],
  };
}

export function printTables(tables: readonly Table[]): void {
  for (const table of tables) {
    console.log(`\n${table.title}`);
    for (const cells of aligned(table)) console.log(`  ${cells.join('  ').trimEnd()}`);
    for (const note of table.notes) console.log(note);
  }
}

export function markdown(table: Table): string {
  const [head, ...rows] = aligned(table).map((cells) => `| ${cells.join(' | ')} |`);
  const rule = `| --- |${' ---: |'.repeat(table.columns.length - 1)}`;
  const notes = table.notes.map((note) => `\n${note}\n`);
  return [`**${table.title}**\n`, head, rule, ...rows, ...notes].join('\n');
}
