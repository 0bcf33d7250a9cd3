// bench/results.json: the latest tables of every bench, with the machine, the versions and the command that gave them; and the parts
// of docs/ that are made from it: the text between `<!-- bench:NAME -->` and `<!-- /bench:NAME -->`.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { arch, cpus, platform, release, totalmem } from 'node:os';
import { fileURLToPath } from 'node:url';
import { formatBytes } from '../../src/text/format.ts';
import { printable } from '../../src/text/printable.ts';
import { markdown, type Table } from './tables.ts';

export const RESULTS = fileURLToPath(new URL('../results.json', import.meta.url));

/** The pages of docs/ that show figures, and of which benches. */
export const PAGES = {
  performance: [
    'create',
    'peers',
    'small',
    'each',
    'million',
    'cold',
    'start',
    'decode',
    'sources',
    'verify',
    'browser',
  ],
  reliability: ['load', 'servers', 'soak'],
  scaling: ['distributed', 'queues'],
} as const;

export const BENCHES = Object.values(PAGES).flat();
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
  const git = (...args: string[]) => spawnSync('git', args, { cwd: root, encoding: 'utf8' });
  // Outside a clone, there is no commit.
  const commit = git('rev-parse', '--short', 'HEAD').stdout?.trim();
  const dirty = git('diff', '--quiet', 'HEAD', '--', 'src', 'native', 'packages').status === 0 ? '' : '-dirty';
  const { node, openssl } = process.versions;
  return { metainfo: commit ? `${version} (${commit}${dirty})` : version, node, openssl };
}

export function readResults(file: string): Results {
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Results) : {};
}

/** Prints what a bench measured, and puts it into the file and the pages in place of what was there of that bench. */
export function record(bench: BenchName, args: readonly string[], findings: Findings, file: string): void {
  requireNumbers(findings);
  const entry: Entry = {
    date: new Date().toISOString().slice(0, 10),
    command: ['npm run bench --', bench, ...args].join(' '),
    machine: machine(),
    skipped: [],
    ...findings,
    versions: { ...ownVersions(), ...findings.versions },
  };
  const results = { ...readResults(file), [bench]: entry };
  writeResults(results, file);
  writePages(results, file !== RESULTS);
  console.log(`${entry.machine}; ${versionsText(entry)}\n${entry.settings}`);
  for (const reason of entry.skipped) console.log(`skipped: ${reason}`);
  for (const table of entry.tables) console.log(`\n${markdown(table)}`);
}

/** Writes the results in the order of BENCHES, with six digits of each number, and every row of a table in one line. */
function writeResults(results: Results, file: string): void {
  const ordered = Object.fromEntries(BENCHES.flatMap((name) => (results[name] ? [[name, results[name]]] : [])));
  const digits = (_: string, value: unknown) => (typeof value === 'number' ? Number(value.toPrecision(6)) : value);
  const oneLine = (list: string) => list.replace(/\s*\n\s*/g, ' ').replace(/^([[{]) | ([\]}])$/g, '$1$2');
  const text = JSON.stringify(ordered, digits, 2).replace(/\[[^[\]{}]*\]|\{ *\n *"name"[^[\]{}]*\}/g, oneLine);
  writeFileSync(file, `${text}\n`);
}

/** A bench that measured nothing, or an impossible number, is broken; one that left everything out says why. */
function requireNumbers({ tables, skipped = [] }: Findings): void {
  if (tables.every(({ rows }) => rows.length === 0) && skipped.length === 0)
    throw new Error('the bench has no figures');
  for (const { title, rows } of tables)
    for (const [name, ...values] of rows)
      if (values.some((value) => value !== null && !Number.isFinite(value)))
        throw new Error(`${title}, ${name}: ${values.join(', ')}`);
}

/** The versions of the programs that were measured. */
const versionsText = ({ versions }: Entry): string =>
  Object.entries(versions)
    .map(([name, version]) => `${name} ${version}`)
    .join('; ');

function section(entry: Entry): string {
  const { command, date, machine, settings, skipped, tables } = entry;
  const parts = [
    `\`${command}\`, ${date}. ${settings}`,
    `On ${machine}. With ${versionsText(entry)}.`,
    ...(skipped.length > 0 ? [`Left out: ${skipped.join('; ')}.`] : []),
    ...tables.map(markdown),
  ];
  // Other tools' own words get into the page.
  return parts.map((part) => part.split('\n').map(printable).join('\n').trim()).join('\n\n');
}

/** A page with the sections of its benches as the results have them; the other text stays, and so do sections without results. */
export function withFigures(page: string, results: Results, benches: readonly BenchName[]): string {
  return benches.reduce((text, bench) => {
    const [open, close] = [`<!-- bench:${bench} -->`, `<!-- /bench:${bench} -->`];
    const [before, rest] = text.split(open);
    const after = rest?.split(close)[1];
    if (after === undefined) throw new Error(`the page has no ${open} ... ${close}`);
    const entry = results[bench];
    return entry ? `${before}${open}\n\n${section(entry)}\n\n${close}${after}` : text;
  }, page);
}

/** Makes the pages of all results, and writes them unless the results are only a trial. */
function writePages(results: Results, isTrial: boolean): void {
  for (const [name, benches] of Object.entries(PAGES)) {
    const file = fileURLToPath(new URL(`../../docs/${name}.md`, import.meta.url));
    const page = withFigures(readFileSync(file, 'utf8'), results, benches);
    if (!isTrial) writeFileSync(file, page);
  }
}
