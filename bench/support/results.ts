// bench/results.json: the latest tables of every bench, with the machine, the versions and the command that gave them.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { arch, cpus, platform, release, totalmem } from 'node:os';
import { fileURLToPath } from 'node:url';
import { formatBytes } from '../../src/text/format.ts';
import { IN_HEAD, printTables, type Table } from './tables.ts';

export const RESULTS = fileURLToPath(new URL('../results.json', import.meta.url));

export const BENCHES = [
  'create',
  'peers',
  'small',
  'million',
  'cold',
  'start',
  'decode',
  'sources',
  'verify',
  'load',
  'soak',
  'distributed',
] as const;
export type BenchName = (typeof BENCHES)[number];

/** The measurements of a bench. */
export interface Findings {
  tables: Table[];
  /** How it was measured, for people: sizes, rounds. */
  settings: string;
  versions?: Record<string, string>;
  /** The contenders that were left out, each with its reason. */
  skipped?: string[];
}

export interface Entry extends Required<Findings> {
  date: string;
  command: string;
  machine: string;
}

export type Results = { [B in BenchName]?: Entry };

/** Instructions that decide which kernels can run. */
const FLAGS = ['sha_ni', 'avx2', 'avx512f', 'avx512bw', 'avx512vl', 'sha1', 'sha2'];

function machine(): string {
  const info = existsSync('/proc/cpuinfo') ? readFileSync('/proc/cpuinfo', 'utf8') : '';
  const flags = /^(?:flags|Features)\s*:(.*)$/m.exec(info)?.[1]?.trim().split(' ') ?? [];
  const cpu = `${cpus()[0]?.model ?? arch()}, ${cpus().length} cores (${FLAGS.filter((flag) => flags.includes(flag)).join(', ')})`;
  const system = `${platform()} ${/^\d+\.\d+/.exec(release())?.[0]}, ${arch()}`;
  return `${cpu}, ${formatBytes(totalmem())}, ${system}`;
}

function ownVersions(): Record<string, string> {
  const root = fileURLToPath(new URL('../..', import.meta.url));
  const { version } = JSON.parse(readFileSync(`${root}/package.json`, 'utf8'));
  const { node, openssl } = process.versions;
  let commit = '';
  try {
    const options = { cwd: root, encoding: 'utf8' } as const;
    const git = (...args: string[]) => execFileSync('git', args, options).trim();
    // The results of the bench before this one do not change what is measured.
    const changed = git('status', '--porcelain', '--untracked-files=no', '--', ':!bench/results.json');
    commit = ` (${git('rev-parse', '--short', 'HEAD')}${changed === '' ? '' : '-dirty'})`;
  } catch {
    // Not a clone.
  }
  return { metainfo: `${version}${commit}`, node, openssl };
}

export function readResults(file: string): Results {
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Results) : {};
}

/** Prints what a bench measured, and puts it into the file in place of what was there of that bench. */
export function record(bench: BenchName, findings: Findings, file: string): void {
  requireNumbers(findings);
  // The results are the same wherever they go.
  const args = process.argv.slice(2).filter((arg, i, all) => !arg.startsWith('--out') && all[i - 1] !== '--out');
  const entry: Entry = {
    date: new Date().toISOString().slice(0, 10),
    command: ['npm run bench --', bench, ...args].join(' '),
    machine: machine(),
    skipped: [],
    ...findings,
    versions: { ...ownVersions(), ...findings.versions },
  };
  writeResults({ ...readResults(file), [bench]: entry }, file);
  console.log(`${entry.machine}; ${versionsText(entry)}\n${entry.settings}`);
  for (const reason of entry.skipped) console.log(`skipped: ${reason}`);
  printTables(entry.tables);
}

/** Writes the results in the order of BENCHES, every row of a table in one line. */
function writeResults(results: Results, file: string): void {
  const ordered = Object.fromEntries(BENCHES.flatMap((name) => (results[name] ? [[name, results[name]]] : [])));
  const text = JSON.stringify(ordered, null, 2);
  const oneLine = (list: string) => list.replace(/\s*\n\s*/g, ' ').replace(/^([[{]) | ([\]}])$/g, '$1$2');
  writeFileSync(file, `${text.replace(/\[[^[\]{}]*\]|\{ *\n *"name"[^[\]{}]*\}/g, oneLine)}\n`);
}

export const versionsText = ({ versions }: Entry): string =>
  Object.entries(versions)
    .map(([name, version]) => `${name} ${version}`)
    .join('; ');

/** A bench that measured nothing, or an impossible number, is broken; one that left everything out says why. */
function requireNumbers({ tables, skipped = [] }: Findings): void {
  if (tables.every(({ rows }) => rows.length === 0) && skipped.length === 0)
    throw new Error('the bench has no figures');
  for (const { title, columns, rows } of tables)
    for (const [name, ...values] of rows)
      for (const [at, value] of values.entries()) {
        const column = columns[at];
        const isPositive = column !== undefined && IN_HEAD.includes(column.unit);
        if (value === null || (Number.isFinite(value) && (!isPositive || value > 0))) continue;
        throw new Error(`${title}, ${name}: ${column?.name} is ${value}`);
      }
}
