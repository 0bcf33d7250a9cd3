// A torrent of very many small files: creating it, compared with libtorrent; showing, validating, verifying and editing it; the
// cost of a file by the number of files; and the event loop of a process that creates the torrent.
//
// A command that takes longer than SLOW_SECONDS runs in the first round only: libtorrent's hybrid takes time that grows with the
// square of the number of files.
//
//   npm run bench -- million [--files 1000000] [--rounds 3]
import { rmSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import path from 'node:path';
import { BLOCK_SIZE, choosePieceLength } from '../src/layout/piece-length.ts';
import { formatBytes } from '../src/layout/text.ts';
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
const SLOW_SECONDS = 60;
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
}

/** A creation by the library, from the scan to the torrent. */
interface Creation {
  files: number;
  version: Version;
}

const creationBy = (tool: string) => `create, ${tool}`;
const shown = (files: number) => files.toLocaleString('en');

/** The creation by each tool, and our commands on the torrent of our creation. */
function contendersIn(folder: string, content: string, pieceLength: number, tools: readonly Tool[]): Contender[] {
  const job = { data: content, pieceLength, threads: availableParallelism() };
  return VERSIONS.flatMap((version): Contender[] => {
    const outputOf = (tool: string) => path.join(folder, `${tool} ${version}.torrent`);
    const creations = tools.map(({ name, command }) => {
      const output = outputOf(name);
      return { row: creationBy(name), version, output, words: command({ ...job, version, output }) };
    });
    const ours = (row: string, ...more: string[]) => {
      const words = [process.execPath, METAINFO, row, outputOf(OURS), ...more, ...LIMIT_OPTIONS];
      return { row, version, words };
    };
    const edited = outputOf('edited');
    return [
      ...creations,
      ours('show'),
      ours('validate'),
      ours('verify', content, '--quiet'),
      { ...ours('edit', '--comment', 'another', '--output', edited), output: edited },
    ];
  });
}

function commandTables(about: string, runs: readonly [Contender, CommandReport[]][], notes: string[]): Table[] {
  /** The median, or null if there is none. */
  const medianOf = (row: string, version: Version, measure: keyof CommandReport) => {
    const reports = runs.find(([contender]) => contender.row === row && contender.version === version)?.[1] ?? [];
    const values = reports.flatMap((report) => report[measure] ?? []);
    return values.length > 0 ? median(values) : null;
  };
  const shareOf = (measure: keyof CommandReport, version: Version) => {
    const [ours, theirs] = [OURS, PEER].map((tool) => medianOf(creationBy(tool), version, measure));
    return ours && theirs ? ours / theirs : null;
  };
  const rows = [...new Set(runs.map(([{ row }]) => row))];
  return [
    tableOf(
      `Commands: ${about}`,
      ['command', (row) => row],
      rows,
      [
        ...byVersion('', 's', (row: string, version) => medianOf(row, version, 'seconds')),
        ...byVersion(', memory', 'bytes', (row: string, version) => medianOf(row, version, 'peakBytes')),
      ],
      notes,
    ),
    tableOf(`Creating: ours divided by ${PEER}`, ['measure', ({ name }) => name], GOALS, [
      ...byVersion('', 'ratio', ({ measure }: (typeof GOALS)[number], version) => shareOf(measure, version)),
      ['goal: at most', 'ratio', ({ goal }) => goal],
    ]),
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
  requireSpace(folder, Math.ceil(files * 1.11));
  for (const each of counts) writeFiles(contentOf(each), each, SIZE);
  // Unmeasured: afterwards, the files are in the page cache.
  runHash({ version: 'v1', threads: null, pieceLength: BLOCK_SIZE, pathRoot: contentOf(files) });

  const made = { bytes: files * SIZE, pieceLength: choosePieceLength(files * SIZE), limits: LIMITS };
  const { tools, versions, skipped } = installed(folder, [OURS, PEER]);
  const contenders = contendersIn(folder, contentOf(files), made.pieceLength, tools);
  const slow = new Set<Contender>();
  const measured = await interleave(contenders, rounds, async (contender) => {
    const { words, output } = contender;
    if (slow.has(contender)) return null;
    if (output) rmSync(output, { force: true });
    const report = await measureCommand(words, folder);
    if (report.seconds > SLOW_SECONDS) slow.add(contender);
    return report;
  });
  const commands = measured.map(([contender, reports]): [Contender, CommandReport[]] => [
    contender,
    reports.filter((report) => report !== null),
  ]);
  for (const { row, version, output } of contenders)
    if (output) await requireTorrent({ tool: row, version }, { ...made, output });

  const creations = counts.flatMap((each) => VERSIONS.map((version): Creation => ({ files: each, version })));
  const library = await interleave(creations, rounds, ({ files: each, version }) => {
    const task = { version, threads: null, pieceLength: BLOCK_SIZE, pathRoot: contentOf(each) };
    return runHash({ ...task, repeats: 2, timer: true });
  });
  const about = `${shown(files)} files of ${formatBytes(SIZE)}, pieces of ${formatBytes(made.pieceLength)}`;
  const once = [...slow].map(({ row, version }) => `${row} (${version})`);
  const note = `Measured in the first round only: ${once.join(', ')}.`;
  const tables = [...commandTables(about, commands, once.length > 0 ? [note] : []), ...libraryTables(counts, library)];
  return { tables, settings: `Warm files, every core; medians of ${rounds} interleaved rounds.`, versions, skipped };
});
