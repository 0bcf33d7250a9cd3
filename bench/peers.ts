// The time that each tool on this machine takes for the same torrent, compared with ours: the whole command with its start-up,
// with every core and the same piece length. Tools that are not installed are listed and left out.
//
//   npm run bench -- peers [--scale 1] [--rounds 5]      --scale tiny: only checks that the bench works
import { mkdirSync, rmSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import path from 'node:path';
import { choosePieceLength } from '../src/layout/piece-length.ts';
import { formatBytes } from '../src/text/format.ts';
import { installed, OURS, requireTorrent, type Tool } from './peers/tools.ts';
import { writeData, writeFiles } from './support/data.ts';
import {
  bench,
  byVersion,
  interleave,
  median,
  runHash,
  timeCommand,
  VERSIONS,
  type Version,
} from './support/measure.ts';
import { type Table, tableOf } from './support/tables.ts';

interface Workload {
  name: string;
  files: number;
  /** Bytes of each file. */
  size: number;
}

interface Contender {
  tool: string;
  version: Version;
  /** Returns seconds. */
  run: () => number;
}

/** The time of a tool divided by ours; null where one of them is missing. */
type Ratio = (tool: string, version: Version) => number | null;

/** The library in a running process, from the scan to the bytes of the torrent. */
const LIBRARY = `${OURS}, library`;
/** The peer that comes closest. */
const CLOSEST = 'libtorrent, C++';
/** The ratios that we want for many small files. */
const GOALS = `Goals, the time of ${CLOSEST} divided by ours: library 2 in v1 and v2; command 1 in v1 and v2, 2.5 in hybrid.`;
const [KiB, MiB, GiB] = [2 ** 10, 2 ** 20, 2 ** 30];

const threads = availableParallelism();

/** Large files are scaled in size, small ones in number. */
function workloadsAt(scale: number): Workload[] {
  const scaled = (amount: number) => Math.max(1, Math.round(amount * scale));
  return [
    { name: 'one large file', files: 1, size: scaled(4 * GiB) },
    { name: 'files of 1 MiB', files: scaled(1000), size: MiB },
    { name: 'files of 10 KiB', files: scaled(20_000), size: 10 * KiB },
    { name: 'three large files', files: 3, size: scaled(1.5 * GiB) },
  ];
}

function contenders(tools: readonly Tool[], job: { data: string; output: string; pieceLength: number }): Contender[] {
  const commands = tools.flatMap(({ name: tool, versions, command }) =>
    versions.map((version) => ({
      tool,
      version,
      run: () => {
        rmSync(job.output, { force: true });
        return timeCommand(command({ ...job, version, threads }), path.dirname(job.output));
      },
    })),
  );
  const libraries = VERSIONS.map((version) => {
    // The first run warms the process up.
    const task = { version, threads, pieceLength: job.pieceLength, pathRoot: job.data, repeats: 2 };
    return { tool: LIBRARY, version, run: () => runHash(task).runs[1]?.wholeSeconds ?? Number.NaN };
  });
  return [...commands, ...libraries];
}

async function measure({ name, files, size }: Workload, rounds: number, tools: readonly Tool[], folder: string) {
  const data = path.join(folder, 'data');
  const output = path.join(folder, 'out', 'made.torrent');
  mkdirSync(path.dirname(output), { recursive: true });
  if (files === 1) writeData(data, size);
  else writeFiles(data, files, size);
  // Our own choice, but at least 32 KiB, which is the least that mktorrent takes.
  const pieceLength = Math.max(32 * KiB, choosePieceLength(files * size));
  const all = contenders(tools, { data, output, pieceLength });
  // An unmeasured round, in which every torrent is checked.
  for (const contender of all) {
    contender.run();
    if (contender.tool !== LIBRARY) await requireTorrent(contender, { output, bytes: files * size, pieceLength });
  }
  const runs = await interleave(all, rounds, ({ run }) => run());
  rmSync(data, { recursive: true });
  const medianOf = (tool: string, version: Version) => {
    const own = runs.find(([contender]) => contender.tool === tool && contender.version === version)?.[1];
    return own ? median(own) : null;
  };
  const ratioTo =
    (own: string): Ratio =>
    (tool, version) => {
      const [theirs, ours] = [medianOf(tool, version), medianOf(own, version)];
      return theirs && ours && tool !== LIBRARY ? theirs / ours : null;
    };
  const ratio = ratioTo(OURS);
  const names = [...new Set(all.map(({ tool }) => tool))];
  const title = `${files > 3 ? `${files.toLocaleString('en')} ` : ''}${name}: ${formatBytes(files * size)}, pieces of ${formatBytes(pieceLength)}`;
  const columns = [...byVersion('', 's', medianOf), ...byVersion(', its time / ours', 'ratio', ratio)];
  return tableOf(title, ['tool', (tool) => tool], names, columns, [
    verdict(names, ratio),
    ...libraryNote(ratioTo(LIBRARY)),
    ...(size < MiB ? [GOALS] : []),
  ]);
}

/** Says whether our command is ahead of every peer in every version that the peer makes. */
function verdict(tools: readonly string[], ratioOf: Ratio): string {
  const compared = tools
    .filter((tool) => tool !== OURS)
    .flatMap((tool) => VERSIONS.map((version) => ({ tool, version, ratio: ratioOf(tool, version) ?? Number.NaN })))
    .filter(({ ratio }) => !Number.isNaN(ratio))
    .toSorted((a, b) => a.ratio - b.ratio)
    .map(({ tool, version, ratio }) => ({ text: `${tool} (${version}, ${ratio.toFixed(2)})`, isBehind: ratio < 1 }));
  if (compared.length === 0) return 'No peer was installed.';
  const behind = compared.filter(({ isBehind }) => isBehind).map(({ text }) => text);
  return behind.length > 0
    ? `NOT ahead of ${behind.join(', ')}.`
    : `Ahead of every peer in every version; the closest is ${compared[0]?.text}.`;
}

/** Compares the library with the closest peer, if that is installed. */
function libraryNote(ratioOf: Ratio): string[] {
  const ratios = VERSIONS.map((version) => `${version} ${ratioOf(CLOSEST, version)?.toFixed(2)}`);
  if (ratioOf(CLOSEST, 'v1') === null) return [];
  return [`The time of the whole process of ${CLOSEST}, divided by that of the library: ${ratios.join(', ')}.`];
}

await bench('peers', { scale: '1', rounds: '5' }, async ({ scale, rounds }, folder) => {
  const { tools, versions, skipped } = installed(folder);
  const tables: Table[] = [];
  for (const workload of workloadsAt(scale)) tables.push(await measure(workload, rounds, tools, folder));
  const settings = `Warm files, ${threads} threads where a tool takes that; medians of ${rounds} interleaved rounds.`;
  return { tables, settings, versions, skipped };
});
