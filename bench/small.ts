// Many small torrents in one process, from memory and from files, one after the other and many at once, compared with
// create-torrent (npm) and with libtorrent's Python binding. The figures do not include the start of the process.
//
//   npm run bench -- small [--torrents 10000] [--rounds 5]
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { choosePieceLength } from '../src/layout/piece-length.ts';
import { formatBytes } from '../src/text/format.ts';
import { installed, OURS, pythonCommand } from './peers/tools.ts';
import type { EachReport, EachTask } from './processes/each.ts';
import { writeFiles } from './support/data.ts';
import { bench, interleave, median, runChild, VERSIONS, type Version } from './support/measure.ts';
import { type Column, tableOf } from './support/tables.ts';

const SIZE = 2 ** 16;
const PEER = 'create-torrent';
const PYTHON = 'libtorrent, Python';

const MODES = [
  { name: 'memory, one by one', fromMemory: true, atOnce: 1 },
  { name: 'memory, 64 at once', fromMemory: true, atOnce: 64 },
  { name: 'files, one by one', fromMemory: false, atOnce: 1 },
  { name: 'files, 64 at once', fromMemory: false, atOnce: 64 },
];
type Mode = (typeof MODES)[number];

interface Row {
  tool: string;
  version: Version;
  run: (task: Omit<EachTask, 'tool'>) => EachReport;
  /** The rate that we want to reach, divided by that of create-torrent. */
  goal: number | null;
}

const runIn =
  (tool: EachTask['tool']): Row['run'] =>
  (task) =>
    runChild('each', { ...task, tool });

const runPython: Row['run'] = (task) => {
  const [command = '', ...args] = [...pythonCommand('each_with_libtorrent.py'), JSON.stringify(task)];
  const { status, error, stdout, stderr } = spawnSync(command, args, { encoding: 'utf8' });
  if (status !== 0) throw error ?? new Error(`${PYTHON}: ${stderr}`);
  return JSON.parse(stdout);
};

const ROWS: readonly Row[] = [
  { tool: OURS, version: 'v1', run: runIn(OURS), goal: 3 },
  { tool: OURS, version: 'v2', run: runIn(OURS), goal: null },
  { tool: OURS, version: 'hybrid', run: runIn(OURS), goal: 1 },
  { tool: PEER, version: 'v1', run: runIn(PEER), goal: null },
  ...VERSIONS.map((version) => ({ tool: PYTHON, version, run: runPython, goal: null })),
];

/** The binding hashes files only; a caller can hash memory for v1. */
const canMake = ({ tool, version }: Row, { fromMemory }: Mode) => tool !== PYTHON || version === 'v1' || !fromMemory;

await bench('small', { torrents: '10000', rounds: '5' }, async ({ torrents, rounds }, folder) => {
  const content = path.join(folder, 'content');
  writeFiles(content, torrents, SIZE);
  const { tools, versions, skipped } = installed(folder, [OURS, PEER, PYTHON]);
  const rows = ROWS.filter(({ tool }) => tools.some(({ name }) => name === tool));
  const contenders = rows.flatMap((row) => MODES.filter((mode) => canMake(row, mode)).map((mode) => ({ row, mode })));
  const pieceLength = choosePieceLength(SIZE);
  const runs = await interleave(contenders, rounds, ({ row: { version, run }, mode: { fromMemory, atOnce } }) =>
    run({ content, version, pieceLength, fromMemory, atOnce }),
  );
  requireSame(runs.map(([{ row }, results]) => [row, results]));

  const rateOf = (mode: Mode, row: Row | undefined) => {
    const reports = runs.find(([contender]) => contender.mode === mode && contender.row === row)?.[1];
    return reports ? torrents / median(reports.map(({ seconds }) => seconds)) : null;
  };
  const peer = rows.find(({ tool }) => tool === PEER);
  const timesPeer = (mode: Mode, row: Row | undefined) => {
    const [rate, peerRate] = [rateOf(mode, row), rateOf(mode, peer)];
    return rate && peerRate ? rate / peerRate : null;
  };
  const name: [string, (row: Row) => string] = ['tool', ({ tool, version }) => `${tool}, ${version}`];
  const byMode = (unit: '/s' | 'ratio', value: typeof rateOf) =>
    MODES.map((mode): Column<Row> => [mode.name, unit, (row) => value(mode, row)]);
  const about = `${torrents.toLocaleString('en')} torrents of ${formatBytes(SIZE)}`;
  const tables = [
    tableOf(`${about}: torrents per second`, name, rows, byMode('/s', rateOf)),
    tableOf(`${about}: rate divided by that of ${PEER}`, name, rows, [
      ...byMode('ratio', timesPeer),
      ['goal: at least', 'ratio', ({ goal }) => goal],
    ]),
  ];
  const settings = `Warm files, pieces of ${formatBytes(pieceLength)}; medians of ${rounds} interleaved rounds.`;
  return { tables, settings, versions, skipped };
});

/** Fails if the first torrents of the tools differ, because their times would mean nothing. */
function requireSame(runs: readonly [Row, EachReport[]][]): void {
  for (const version of VERSIONS) {
    const results = runs.filter(([row]) => row.version === version).flatMap(([, each]) => each);
    const infohashes = new Set(results.map(({ infohash }) => infohash));
    if (infohashes.size !== 1) throw new Error(`${version} torrents differ: ${[...infohashes].join(', ')}`);
  }
}
