// The seconds that each tool on this machine takes for the same torrent, beside ours: the whole command, start included,
// with every core, and the same piece length. What is not installed is left out by name.
//
//   npm run bench -- peers [--scale 1] [--rounds 5]      --scale tiny: sizes that only show that it works
import { mkdirSync, rmSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import path from 'node:path';
import { choosePieceLength } from '../src/layout/piece-length.ts';
import { Torrent } from '../src/model/torrent.ts';
import type { HashReport, HashTask } from './children/hash.ts';
import { TOOLS, type Tool } from './peers/tools.ts';
import { writeData, writeFiles } from './support/data.ts';
import {
  inScratchFolder,
  interleave,
  median,
  options,
  parseCount,
  runChild,
  timeCommand,
  type Version,
} from './support/measure.ts';
import { type PeerFigure, record } from './support/results.ts';
import { LIBRARY, OURS } from './support/tables.ts';

interface Workload {
  name: string;
  files: number;
  /** Bytes of each. */
  size: number;
}

interface Run {
  seconds: number;
  scanSeconds?: number;
}

interface Contender {
  tool: string;
  version: Version;
  run: () => Run;
}

const KiB = 1024;
const MiB = 1024 * KiB;
const GiB = 1024 * MiB;

const { scale: wanted, rounds, out } = options({ scale: '1', rounds: '5' });
const scale = wanted === 'tiny' ? 1 / 256 : Number(wanted);
if (!(scale > 0)) throw new Error(`expected --scale tiny or a number above 0, got ${wanted}`);
const scaled = (amount: number) => Math.max(1, Math.round(amount * scale));
const threads = availableParallelism();

/** Large files are scaled in size, small ones in number. */
const WORKLOADS: readonly Workload[] = [
  { name: 'one large file', files: 1, size: scaled(4 * GiB) },
  { name: 'files of 1 MiB', files: scaled(1000), size: MiB },
  { name: 'files of 10 KiB', files: scaled(20_000), size: 10 * KiB },
  { name: 'three large files', files: 3, size: scaled(1.5 * GiB) },
];

function installed(folder: string) {
  const versions: Record<string, string> = {};
  const skipped: string[] = [];
  const tools = TOOLS.filter((tool) => {
    const version = tool.version(folder);
    if (version !== null && tool.name !== OURS) versions[tool.name] = version;
    if (version !== null) return true;
    if (tool.inCI && process.env['CI']) throw new Error(`${tool.name} is not installed, and CI leaves out nothing`);
    skipped.push(`${tool.name} is not installed`);
    return false;
  });
  return { tools, versions, skipped };
}

function contenders(tools: readonly Tool[], job: { data: string; output: string; pieceLength: number }): Contender[] {
  const commands = tools.flatMap(({ name, versions, command }) =>
    versions.map((version) => ({
      tool: name,
      version,
      run: () => {
        rmSync(job.output, { force: true });
        return { seconds: timeCommand(command({ ...job, version, threads }), path.dirname(job.output)) };
      },
    })),
  );
  const libraries = commands.flatMap(({ tool, version }) => {
    const task: HashTask = {
      pathRoot: job.data,
      version,
      threads,
      pieceLength: job.pieceLength,
      readSize: null,
      repeats: 1,
    };
    const run = () => runChild<HashReport>('hash', task).runs[0] as Run;
    return tool === OURS ? [{ tool: LIBRARY, version, run }] : [];
  });
  return [...commands, ...libraries];
}

/** A tool that did other work than it was told would be compared with nothing. */
async function requireTorrent(
  { tool, version }: Contender,
  output: string,
  wantedTorrent: { totalBytes: number; pieceLength: number },
) {
  const torrent = await Torrent.read(output, { context: { profile: 'compat' } });
  const { torrentVersion, totalSize, info } = torrent;
  const made = `${torrentVersion}, ${totalSize} bytes, pieces of ${info.pieceLength}`;
  const expected = `${version}, ${wantedTorrent.totalBytes} bytes, pieces of ${wantedTorrent.pieceLength}`;
  if (made !== expected) throw new Error(`${tool} made ${made} where ${expected} was wanted`);
}

async function measure({ name, files, size }: Workload, tools: readonly Tool[], folder: string): Promise<PeerFigure[]> {
  const data = path.join(folder, 'data');
  const output = path.join(folder, 'out', 'made.torrent');
  mkdirSync(path.dirname(output), { recursive: true });
  if (files === 1) writeData(data, size);
  else writeFiles(data, files, size);
  const totalBytes = files * size;
  // What our command would choose by itself, but what every tool can be told: mktorrent's least is 32 KiB.
  const pieceLength = Math.max(32 * KiB, choosePieceLength(totalBytes));
  const all = contenders(tools, { data, output, pieceLength });
  // A round before the others, in which nothing is measured but everything is checked.
  for (const contender of all) {
    contender.run();
    if (contender.tool !== LIBRARY) await requireTorrent(contender, output, { totalBytes, pieceLength });
  }
  const runs = await interleave(all, parseCount(rounds), ({ run }) => run());
  rmSync(data, { recursive: true });
  const workload = files > 3 ? `${files.toLocaleString('en')} ${name}` : name;
  return [...runs].map(([{ tool, version }, own]) => {
    const scans = own.flatMap(({ scanSeconds }) => scanSeconds ?? []);
    return {
      workload,
      totalBytes,
      pieceLength,
      tool,
      version,
      seconds: median(own.map(({ seconds }) => seconds)),
      ...(scans.length > 0 && { scanSeconds: median(scans) }),
    };
  });
}

await inScratchFolder(async (folder) => {
  const { tools, versions, skipped } = installed(folder);
  const figures: PeerFigure[] = [];
  for (const workload of WORKLOADS) figures.push(...(await measure(workload, tools, folder)));
  const settings = `Warm files, ${threads} threads where a tool takes that; medians of ${rounds} interleaved rounds.`;
  record('peers', { figures, settings, versions, skipped }, out);
});
