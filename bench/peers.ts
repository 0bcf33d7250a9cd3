// The time that each tool on this machine takes for the same torrent, compared with ours: the whole command with its start-up,
// with every core and the same piece length. Tools that are not installed are listed and left out.
//
//   npm run bench -- peers [--scale 1] [--rounds 5]      --scale tiny: only checks that the bench works
import { mkdirSync, rmSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import path from 'node:path';
import { choosePieceLength } from '../src/layout/piece-length.ts';
import { formatBytes } from '../src/layout/text.ts';
import { Torrent } from '../src/model/torrent.ts';
import { OURS, TOOLS, type Tool } from './peers/tools.ts';
import type { HashReport } from './processes/hash.ts';
import { writeData, writeFiles } from './support/data.ts';
import { bench, interleave, median, runHash, timeCommand, VERSIONS, type Version } from './support/measure.ts';
import { type Column, type Table, tableOf } from './support/tables.ts';

interface Workload {
  name: string;
  files: number;
  /** Bytes of each file. */
  size: number;
}

interface Contender {
  tool: string;
  version: Version;
  run: () => { seconds: number; scanSeconds?: number };
}

const LIBRARY = `${OURS}, library`;
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

function installed(folder: string) {
  const versions: Record<string, string> = {};
  const skipped: string[] = [];
  const tools = TOOLS.filter((tool) => {
    const version = tool.version(folder);
    if (version !== null && tool.name !== OURS) versions[tool.name] = version;
    if (version !== null) return true;
    if (!tool.isRare && process.env['CI']) throw new Error(`${tool.name} is not installed, and CI leaves out nothing`);
    skipped.push(`${tool.name} is not installed`);
    return false;
  });
  return { tools, versions, skipped };
}

function contenders(tools: readonly Tool[], job: { data: string; output: string; pieceLength: number }): Contender[] {
  const commands = tools.flatMap(({ name: tool, versions, command }) =>
    versions.map((version) => ({
      tool,
      version,
      run: () => {
        rmSync(job.output, { force: true });
        return { seconds: timeCommand(command({ ...job, version, threads }), path.dirname(job.output)) };
      },
    })),
  );
  const libraries = VERSIONS.map((version) => {
    const task = { version, threads, pieceLength: job.pieceLength, pathRoot: job.data };
    return { tool: LIBRARY, version, run: () => runHash(task).runs[0] as HashReport['runs'][number] };
  });
  return [...commands, ...libraries];
}

/** Fails if a tool made another torrent than it should, because its time would mean nothing. */
async function requireTorrent({ tool, version }: Contender, output: string, bytes: number, pieceLength: number) {
  const { torrentVersion, totalSize, info } = await Torrent.read(output, { context: { profile: 'compat' } });
  const made = `${torrentVersion}, ${totalSize} bytes, pieces of ${info.pieceLength}`;
  const expected = `${version}, ${bytes} bytes, pieces of ${pieceLength}`;
  if (made !== expected) throw new Error(`${tool} made ${made}; expected ${expected}`);
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
    if (contender.tool !== LIBRARY) await requireTorrent(contender, output, files * size, pieceLength);
  }
  const runs = await interleave(all, rounds, ({ run }) => run());
  rmSync(data, { recursive: true });
  const medianOf = (tool: string, version: Version, key: 'seconds' | 'scanSeconds' = 'seconds') => {
    const own = runs.find(([contender]) => contender.tool === tool && contender.version === version)?.[1];
    return own ? median(own.map((run) => run[key] ?? Number.NaN)) : null;
  };
  const ratio = (tool: string, version: Version) => {
    const [theirs, ours] = [medianOf(tool, version), medianOf(OURS, version)];
    return theirs && ours && tool !== LIBRARY ? theirs / ours : null;
  };
  const names = [...new Set(all.map(({ tool }) => tool))];
  const title = `${files > 3 ? `${files.toLocaleString('en')} ` : ''}${name}: ${formatBytes(files * size)}, pieces of ${formatBytes(pieceLength)}`;
  const scans = VERSIONS.map((version) => `${version} ${medianOf(LIBRARY, version, 'scanSeconds')?.toPrecision(3)} s`);
  const columns: Column<string>[] = [
    ...VERSIONS.map((version): Column<string> => [version, 's', (tool) => medianOf(tool, version)]),
    ...VERSIONS.map(
      (version): Column<string> => [`${version}, its time / ours`, 'ratio', (tool) => ratio(tool, version)],
    ),
  ];
  return tableOf(title, ['tool', (tool) => tool], names, columns, [
    verdict(names, ratio),
    `The library's times are of hashing alone; finding the files takes ${scans.join(', ')} more.`,
  ]);
}

/** Says whether our command is ahead of every peer in every version that the peer makes. */
function verdict(tools: readonly string[], ratioOf: (tool: string, version: Version) => number | null): string {
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

await bench('peers', { scale: '1', rounds: '5' }, async ({ scale, rounds }, folder) => {
  const { tools, versions, skipped } = installed(folder);
  const tables: Table[] = [];
  for (const workload of workloadsAt(scale)) tables.push(await measure(workload, rounds, tools, folder));
  const settings = `Warm files, ${threads} threads where a tool takes that; medians of ${rounds} interleaved rounds.`;
  return { tables, settings, versions, skipped };
});
