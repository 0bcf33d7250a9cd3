// bench/results.json: the last figures of every bench, with the machine, the versions and the command they come from.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { arch, cpus, platform, release, totalmem } from 'node:os';
import { fileURLToPath } from 'node:url';
import type { LoadReport } from '../children/load.ts';
import type { Version } from './measure.ts';
import { printTables, type Table, tablesOf } from './tables.ts';

export const RESULTS = fileURLToPath(new URL('../results.json', import.meta.url));

/** One configuration of `create`. */
export interface CreateFigure {
  version: Version;
  /** What METAINFO_KERNEL was, or `default` when it was not set. */
  row: string;
  /** The kernels that ran. */
  kernel: string;
  threads: number;
  pieceLength: number;
  /** What `readSize` was; null when it was not set. */
  readSize: number | null;
  bytesPerSecond: number;
  /** Processor time of the main thread in wall time, 0 to 1; null where the system does not say. */
  mainThreadShare: number | null;
  /** Peak resident memory beyond that of the idle process. */
  peakBytes: number;
}

/** One contender of `peers` on one workload. */
export interface PeerFigure {
  workload: string;
  totalBytes: number;
  pieceLength: number;
  tool: string;
  version: Version;
  seconds: number;
  /** `metainfo, library` only, whose `seconds` are hashing alone: seconds of finding the files. */
  scanSeconds?: number;
}

export interface ColdFigure {
  reader: string;
  bytesPerSecond: number;
}

export interface StartFigure {
  command: string;
  medianSeconds: number;
  minimumSeconds: number;
}

export interface DecodeFigure {
  torrent: string;
  torrentBytes: number;
  tool: string;
  seconds: number;
  peakBytes: number;
  /** What it found, or why it refused. */
  said: string;
}

/** One contender of a workload of `sources`. */
export interface SourceFigure {
  workload: string;
  totalBytes: number;
  contender: string;
  seconds: number;
}

/** One way to do something with one version of torrent, of `after`. */
export interface AfterFigure {
  workload: string;
  /** The version, or what the torrent is large of. */
  what: string;
  way: string;
  seconds: number;
}

/** One crowd of `load`, and what it did to the process. */
export interface LoadFigure extends Omit<LoadReport, 'settled' | 'aborted' | 'wrong'> {
  workload: string;
  jobs: number;
}

/** One moment of `soak`, while nothing was under way; `timer` and `jobs` are of the time since the one before. */
export interface SoakFigure {
  /** Since the beginning. */
  seconds: number;
  /** With what allocators keep of memory that was given back to them. */
  rssBytes: number;
  /** What malloc has given away: the C library's, of all native code. */
  mallocBytes: number;
  /** Of JavaScript, after a collection. */
  heapBytes: number;
  /** Of buffers. */
  externalBytes: number;
  /** What keeps the event loop. */
  handles: number;
  descriptors: number;
  threads: number;
  /** Jobs a second. */
  jobs: number;
  /** Of the intervals of a timer of 10 ms. */
  timerP99Seconds: number;
}

export interface Figures {
  create: CreateFigure;
  peers: PeerFigure;
  cold: ColdFigure;
  start: StartFigure;
  decode: DecodeFigure;
  sources: SourceFigure;
  after: AfterFigure;
  load: LoadFigure;
  soak: SoakFigure;
}
export type BenchName = keyof Figures;

export const BENCHES = [
  'create',
  'peers',
  'cold',
  'start',
  'decode',
  'sources',
  'after',
  'load',
  'soak',
] as const satisfies readonly BenchName[];

/** What a bench found out. */
export interface Findings<B extends BenchName> {
  figures: Figures[B][];
  /** How it was measured, for people: sizes, rounds. */
  settings: string;
  versions?: Record<string, string>;
  /** What was left out, each with its reason. */
  skipped?: string[];
}

export interface Entry<B extends BenchName> extends Required<Findings<B>> {
  date: string;
  command: string;
  machine: Machine;
}

export type Results = { [B in BenchName]?: Entry<B> };

export interface Machine {
  cpu: string;
  cores: number;
  flags: string[];
  memoryBytes: number;
  system: string;
}

/** Instructions that decide which kernels can run. */
const FLAGS = ['sha_ni', 'avx2', 'avx512f', 'avx512bw', 'avx512vl', 'sha1', 'sha2'];

function machine(): Machine {
  const info = existsSync('/proc/cpuinfo') ? readFileSync('/proc/cpuinfo', 'utf8') : '';
  const flags = /^(?:flags|Features)\s*:(.*)$/m.exec(info)?.[1]?.trim().split(' ') ?? [];
  return {
    cpu: cpus()[0]?.model ?? arch(),
    cores: cpus().length,
    flags: FLAGS.filter((flag) => flags.includes(flag)),
    memoryBytes: totalmem(),
    system: `${platform()} ${/^\d+\.\d+/.exec(release())?.[0]}, ${arch()}`,
  };
}

function ownVersions(): Record<string, string> {
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
  const { node, openssl } = process.versions;
  return { metainfo: `${version}${commit()}`, node, openssl };
}

function commit(): string {
  try {
    const folder = fileURLToPath(new URL('.', import.meta.url));
    const described = execFileSync('git', ['describe', '--always', '--dirty', '--exclude', '*'], { cwd: folder });
    return ` (${described.toString().trim()})`;
  } catch {
    return '';
  }
}

export function readResults(file: string): Results {
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Results) : {};
}

/** Shows what a bench found, and puts it in the place of what the file has of that bench. */
export function record<B extends BenchName>(bench: B, found: Findings<B>, file: string): void {
  requireFigures(found);
  const entry: Entry<B> = {
    date: new Date().toISOString().slice(0, 10),
    command: ['npm run bench --', bench, ...withoutOut(process.argv.slice(2))].join(' '),
    machine: machine(),
    skipped: [],
    ...found,
    versions: { ...ownVersions(), ...found.versions },
  };
  const results = { ...readResults(file), [bench]: entry };
  const ordered = Object.fromEntries(BENCHES.flatMap((name) => (results[name] ? [[name, results[name]]] : [])));
  writeFileSync(file, `${JSON.stringify(ordered, null, 2)}\n`);
  const { cpu, cores } = entry.machine;
  console.log(`${cpu}, ${cores} cores; ${versionsText(entry.versions)}\n${entry.settings}`);
  for (const what of entry.skipped) console.log(`skipped: ${what}`);
  printTables(tablesOf(bench, entry) as Table[]);
}

export function versionsText(versions: Record<string, string>): string {
  return Object.entries(versions)
    .map(([name, version]) => `${name} ${version}`)
    .join('; ');
}

/** Where the results went is nothing to repeat. */
function withoutOut(args: readonly string[]): string[] {
  return args.filter((arg, i) => !arg.startsWith('--out') && args[i - 1] !== '--out');
}

/** A bench that found nothing, or measured what cannot be, is broken; one that left all out says why. */
function requireFigures({ figures, skipped = [] }: Findings<BenchName>): void {
  if (figures.length === 0 && skipped.length === 0) throw new Error('the bench has no figures');
  for (const figure of figures) {
    for (const [name, value] of Object.entries(figure)) {
      const rate = /seconds|bytesPerSecond/i.test(name);
      if (typeof value !== 'number' || (Number.isFinite(value) && (rate ? value > 0 : value >= 0))) continue;
      throw new Error(`${name} is ${value} in ${JSON.stringify(figure)}`);
    }
  }
}
