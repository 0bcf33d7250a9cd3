// A torrent of many small files: creating it, compared with libtorrent; showing, validating, verifying and editing it; the
// cost of a file by the number of files; and the event loop of a process that creates the torrent.
//
// The time that libtorrent takes for a hybrid grows with the square of the number of files, so both tools make that of FEWER_FILES
// for the comparison: a million files would take 25 times as long.
//
//   npm run bench -- million [--files 1000000] [--rounds 3]
import { rmSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import path from 'node:path';
import { BLOCK_SIZE, choosePieceLength } from '../src/layout/piece-length.ts';
import { formatBytes } from '../src/text/format.ts';
import { installed, OURS, requireTorrent, type Tool } from './peers/tools.ts';
import type { HashReport } from './processes/hash.ts';
import { requireSpace, writeFiles } from './support/data.ts';
import {
  bench,
  byVersion,
  type CommandReport,
  interleave,
  METAINFO,
  measureCommand,
  median,
  runHash,
  VERSIONS,
  type Version,
} from './support/measure.ts';
import { type Table, tableOf } from './support/tables.ts';
import { TIMER_COLUMNS, type TimerReport, timerVerdict } from './support/timer.ts';

const SIZE = 1024;
const FEWER_FILES = 200_000;
const PEER = 'libtorrent, C++';

/** A torrent of a million files is beyond the default limits. */
const LIMITS = { files: 10_000_000, items: 100_000_000 };
const LIMIT_OPTIONS = Object.entries(LIMITS).flatMap(([name, limit]) => ['--limit', `${name}=${limit}`]);

/** The goals of creating: our median divided by the peer's. */
const GOALS = [
  { name: 'time', measure: 'seconds', goal: 0.7 },
  { name: 'peak memory', measure: 'peakBytes', goal: 1 },
] as const;

/** A command, in a row of the table that has a column for each version. */
interface Contender {
  row: string;
  version: Version;
  words: string[];
  /** The torrent that the command makes. */
  output?: string;
  /** The content of the torrent that the command makes or reads. */
  content: Content;
  /** Whether the command reads the content too. */
  readsContent: boolean;
}

/** A creation by the library, from the scan to the torrent. */
interface Creation {
  files: number;
  version: Version;
}

const shown = (files: number) => files.toLocaleString('en');
const creationBy = (tool: string) => `create, ${tool}`;
const smallerCreationBy = (tool: string) => `${creationBy(tool)}, ${shown(FEWER_FILES)} files`;

interface Content {
  folder: string;
  files: number;
  pieceLength: number;
}

/** The creation by each tool, and our commands on the torrent of our creation. `fewer`: the content of the compared hybrids. */
function contendersIn(folder: string, content: Content, fewer: Content | null, tools: readonly Tool[]): Contender[] {
  const outputOf = (row: string, version: Version) => path.join(folder, `${row} ${version}.torrent`);
  const creation = ({ command }: Tool, row: string, version: Version, of: Content): Contender => {
    const output = outputOf(row, version);
    const { folder: data, pieceLength } = of;
    const words = command({ data, pieceLength, threads: availableParallelism(), version, output });
    return { row, version, output, words, content: of, readsContent: true };
  };
  return VERSIONS.flatMap((version): Contender[] => {
    const creations = tools.flatMap((tool) => {
      const whole = creation(tool, creationBy(tool.name), version, content);
      if (version !== 'hybrid' || !fewer) return [whole];
      const smaller = creation(tool, smallerCreationBy(tool.name), version, fewer);
      return tool.name === OURS ? [whole, smaller] : [smaller];
    });
    const ours = (row: string, ...more: string[]) => {
      const words = [process.execPath, METAINFO, row, outputOf(creationBy(OURS), version), ...more, ...LIMIT_OPTIONS];
      return { row, version, words, content, readsContent: row === 'verify' };
    };
    const edited = outputOf('edited', version);
    return [
      ...creations,
      ours('show'),
      ours('validate'),
      ours('verify', content.folder, '--quiet'),
      { ...ours('edit', '--comment', 'another', '--output', edited), output: edited },
    ];
  });
}

function commandTables(about: string, runs: readonly [Contender, CommandReport[]][], isFewer: boolean): Table[] {
  /** The median, or null if there is none. */
  const medianOf = (row: string, version: Version, measure: keyof CommandReport) => {
    const reports = runs.find(([contender]) => contender.row === row && contender.version === version)?.[1] ?? [];
    const values = reports.flatMap((report) => report[measure] ?? []);
    return values.length > 0 ? median(values) : null;
  };
  const shareOf = (measure: keyof CommandReport, version: Version) => {
    const rowOf = isFewer && version === 'hybrid' ? smallerCreationBy : creationBy;
    const [ours, theirs] = [OURS, PEER].map((tool) => medianOf(rowOf(tool), version, measure));
    return ours && theirs ? ours / theirs : null;
  };
  const rows = [...new Set(runs.map(([{ row }]) => row))];
  return [
    tableOf(`Commands: ${about}`, ['command', (row) => row], rows, [
      ...byVersion('', 's', (row: string, version) => medianOf(row, version, 'seconds')),
      ...byVersion(', memory', 'bytes', (row: string, version) => medianOf(row, version, 'peakBytes')),
    ]),
    tableOf(
      `Creating: ours divided by ${PEER}${isFewer ? ` (hybrid: ${shown(FEWER_FILES)} files)` : ''}`,
      ['measure', ({ name }) => name],
      GOALS,
      [
        ...byVersion('', 'ratio', ({ measure }: (typeof GOALS)[number], version) => shareOf(measure, version)),
        ['goal: at most', 'ratio', ({ goal }) => goal],
      ],
    ),
  ];
}

function libraryTables(counts: readonly number[], runs: readonly [Creation, HashReport[]][]): Table[] {
  const figureOf = (files: number, version: Version) => {
    const reports = runs.find(([creation]) => creation.files === files && creation.version === version)?.[1] ?? [];
    // The first run of a process warms it up.
    const last = reports.flatMap((report) => report.runs.at(-1) ?? []);
    const timers = last.map(({ timer }) => timer as TimerReport).sort((a, b) => a.timerP99Seconds - b.timerP99Seconds);
    return {
      microseconds: (median(last.map(({ wholeSeconds }) => wholeSeconds)) * 1e6) / files,
      bytes: median(reports.map(({ peakBytes }) => peakBytes)) / files,
      timer: timers[timers.length >> 1] as TimerReport,
    };
  };
  const spread = VERSIONS.map((version) => {
    const costs = counts.map((files) => figureOf(files, version).microseconds);
    return `${version} ${(Math.max(...costs) / Math.min(...costs)).toFixed(2)}`;
  });
  const most = counts.at(-1) as number;
  const timers = VERSIONS.map((version) => ({ version, ...figureOf(most, version).timer }));
  return [
    tableOf(
      `The cost of a file, from the scan to the torrent, pieces of ${formatBytes(BLOCK_SIZE)}`,
      ['files', shown],
      counts,
      [
        ...byVersion('', 'µs', (files: number, version) => figureOf(files, version).microseconds),
        ...byVersion(', memory', 'bytes', (files: number, version) => figureOf(files, version).bytes),
      ],
      [`The highest cost divided by the lowest: ${spread.join(', ')}.`],
    ),
    tableOf(
      `The event loop of a process that creates a torrent of ${shown(most)} files: a timer of 10 ms`,
      ['version', ({ version }) => version],
      timers,
      TIMER_COLUMNS,
      [timerVerdict(timers.map((timer) => [timer.version, timer]))],
    ),
  ];
}

await bench('million', { files: '1000000', rounds: '3' }, async ({ files, rounds }, folder) => {
  const counts = [Math.ceil(files / 100), Math.ceil(files / 10), files];
  const contentOf = (each: number) => path.join(folder, `${each} files`);
  requireSpace(folder, Math.ceil(files * 1.31));
  const isFewer = files > FEWER_FILES;
  for (const each of new Set([...counts, ...(isFewer ? [FEWER_FILES] : [])])) writeFiles(contentOf(each), each, SIZE);
  /** Unmeasured: afterwards, the files are in the page cache. Some systems drop files from it that were not read for a minute. */
  const warm = (pathRoot: string) => runHash({ version: 'v1', threads: null, pieceLength: BLOCK_SIZE, pathRoot });

  const contentWith = (each: number): Content => {
    return { folder: contentOf(each), files: each, pieceLength: choosePieceLength(each * SIZE) };
  };
  const [whole, fewer] = [contentWith(files), isFewer ? contentWith(FEWER_FILES) : null];
  const { tools, versions, skipped } = installed(folder, [OURS, PEER]);
  const contenders = contendersIn(folder, whole, fewer, tools);
  const commands = await interleave(contenders, rounds, ({ words, output, content, readsContent }) => {
    if (output) rmSync(output, { force: true });
    if (readsContent) warm(content.folder);
    return measureCommand(words, folder);
  });
  for (const { row, version, output, content } of contenders) {
    const made = { bytes: content.files * SIZE, pieceLength: content.pieceLength, limits: LIMITS };
    if (output) await requireTorrent({ tool: row, version }, { ...made, output });
  }

  const creations = counts.flatMap((each) => VERSIONS.map((version): Creation => ({ files: each, version })));
  const library = await interleave(creations, rounds, ({ files: each, version }) => {
    const task = { version, threads: null, pieceLength: BLOCK_SIZE, pathRoot: contentOf(each) };
    return runHash({ ...task, repeats: 2, timer: true });
  });
  const about = `${shown(files)} files of ${formatBytes(SIZE)}, pieces of ${formatBytes(whole.pieceLength)}`;
  const tables = [...commandTables(about, commands, isFewer), ...libraryTables(counts, library)];
  return { tables, settings: `Warm files, every core; medians of ${rounds} interleaved rounds.`, versions, skipped };
});
