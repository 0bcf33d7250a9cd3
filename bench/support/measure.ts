// The tools of every bench: options, interleaved rounds, medians, clocks, memory and processes.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import type { HashReport, HashTask } from '../processes/hash.ts';
import type { Report, Task } from '../processes/run-once.ts';
import { type BenchName, type Findings, RESULTS, record } from './results.ts';
import type { Column, Unit } from './tables.ts';

export const VERSIONS = ['v1', 'v2', 'hybrid'] as const;
export type Version = (typeof VERSIONS)[number];

/** The command as it is installed, built by `npm run bench` when it is out of date. */
export const METAINFO = fileURLToPath(new URL('../../dist/cli/main.cjs', import.meta.url));

const UNITS = { KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30, s: 1, m: 60, h: 3600 };

/** Reads a number with one of these units: bytes, or seconds. */
const amount = (pattern: RegExp, example: string) => (text: string) => {
  const [, count, unit] = pattern.exec(text) ?? [];
  if (!unit) throw new Error(`expected ${example}, got ${text}`);
  return Number(count) * UNITS[unit as keyof typeof UNITS];
};

function parseCount(text: string): number {
  const count = Number(text);
  if (!Number.isSafeInteger(count) || count < 1) throw new Error(`expected a whole number above 0, got ${text}`);
  return count;
}

/** How the text of an option becomes a number; every option that is not here is a whole number above 0. */
const OPTIONS: Record<string, (text: string) => number> = {
  size: amount(/^(\d+)(KiB|MiB|GiB)$/, 'a size such as 4GiB'),
  part: amount(/^(\d+)(KiB|MiB|GiB)$/, 'a size such as 512MiB'),
  time: amount(/^(\d+)([smh])$/, 'a time such as 20m'),
  scale(text) {
    const scale = text === 'tiny' ? 1 / 256 : Number(text);
    if (!(scale > 0)) throw new Error(`expected tiny or a number above 0, got ${text}`);
    return scale;
  },
};

/**
 * Runs a bench with the options of the command line, in a temporary folder that is always removed, and records what it
 * finds. Every bench also has `--out`, the file for its results.
 */
export async function bench<N extends string>(
  name: BenchName,
  defaults: Record<N, string>,
  measure: (options: Record<N, number>, folder: string) => Promise<Findings>,
): Promise<void> {
  const texts = Object.entries<string>({ ...defaults, out: RESULTS });
  const { values } = parseArgs({
    options: Object.fromEntries(texts.map(([key, text]) => [key, { type: 'string' as const, default: text }])),
  });
  const { out, ...rest } = values as Record<string, string>;
  const options = Object.entries(rest).map(([key, text]) => [key, (OPTIONS[key] ?? parseCount)(text)]);
  const folder = mkdtempSync(path.join(tmpdir(), 'metainfo-bench-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(130));
  record(name, await measure(Object.fromEntries(options), folder), out as string);
}

/** A column for each version. */
export const byVersion = <F>(more: string, unit: Unit, value: (figure: F, version: Version) => number | null) =>
  VERSIONS.map((version): Column<F> => [`${version}${more}`, unit, (figure) => value(figure, version)]);

export function median(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const [low, high] = [sorted[sorted.length % 2 === 0 ? middle - 1 : middle], sorted[middle]];
  return ((low as number) + (high as number)) / 2;
}

/** The value that this share of the numbers, 0 to 1, does not exceed. */
export function percentile(numbers: readonly number[], share: number): number {
  const sorted = numbers.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN;
}

/**
 * Runs every contender once a round, so that a disturbance of the machine meets all of them; each round begins with
 * another one.
 *
 * @returns the contenders, each with a result for each round
 */
export async function interleave<C, R>(
  contenders: readonly C[],
  rounds: number,
  run: (contender: C) => R | Promise<R>,
): Promise<[C, R[]][]> {
  const runs = contenders.map((contender): [C, R[]] => [contender, []]);
  for (let round = 0; round < rounds; round += 1)
    for (let i = 0; i < runs.length; i += 1) {
      const [contender, results] = runs[(round + i) % runs.length] as [C, R[]];
      results.push(await run(contender));
    }
  return runs;
}

/** Wall seconds of a command that must succeed. */
export function timeCommand([command = '', ...args]: readonly string[], cwd: string): number {
  const started = performance.now();
  const { status, error, stderr } = spawnSync(command, args, { cwd, stdio: ['ignore', 'ignore', 'pipe'] });
  const seconds = (performance.now() - started) / 1000;
  if (status !== 0) throw error ?? new Error(`${[command, ...args].join(' ')}: ${stderr}`);
  return seconds;
}

export interface CommandReport {
  seconds: number;
  /** Peak resident memory; null where the system does not say. */
  peakBytes: number | null;
}

/** Like {@link timeCommand}, but also measures memory. */
export async function measureCommand([command = '', ...args]: readonly string[], cwd: string): Promise<CommandReport> {
  const started = performance.now();
  const child = spawn(command, args, { cwd, stdio: ['ignore', 'ignore', 'pipe'] });
  let [stderr, peakBytes]: [string, number | null] = ['', null];
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  // The peak never falls, so only the growth of the last few milliseconds is missed.
  const sampler = setInterval(() => {
    peakBytes = peakOf(child.pid) ?? peakBytes;
  }, 5);
  try {
    const [status] = await once(child, 'close');
    if (status !== 0) throw new Error(`${[command, ...args].join(' ')}: ${stderr}`);
    return { seconds: (performance.now() - started) / 1000, peakBytes };
  } finally {
    clearInterval(sampler);
  }
}

/** The version that a command prints, as the pattern finds it; null when it is not installed or prints none. */
export function versionOf([command = '', ...args]: readonly string[], pattern: RegExp): string | null {
  const { error, stdout, stderr } = spawnSync(command, args, { encoding: 'utf8' });
  return error ? null : (pattern.exec(`${stdout}\n${stderr}`)?.[1] ?? null);
}

/** Runs `bench/processes/NAME.ts`, with fresh memory and its own environment, and returns the JSON that it prints. */
export function runChild<T>(name: string, input: unknown, env: NodeJS.ProcessEnv = {}): T {
  const script = fileURLToPath(new URL(`../processes/${name}.ts`, import.meta.url));
  // watchMemory collects garbage.
  const args = ['--expose-gc', '--import', './scripts/ts.mjs', script, JSON.stringify(input)];
  const { status, error, stdout, stderr } = spawnSync(process.execPath, args, {
    encoding: 'utf8',
    env: { ...process.env, ...env },
  });
  if (status !== 0) throw error ?? new Error(`${name}: ${stderr}`);
  return JSON.parse(stdout) as T;
}

export const runOnce = (task: Task): Report => runChild('run-once', task);
export const runHash = (task: HashTask, env?: NodeJS.ProcessEnv): HashReport => runChild('hash', task, env);

/** Starts to measure memory; the returned function gives the peak since then, in bytes beyond the memory at the start. */
export async function watchMemory(): Promise<() => number> {
  // Garbage from loading would hide new memory that takes its place. V8 frees it on other threads.
  globalThis.gc?.();
  await setTimeout(50);
  try {
    writeFileSync('/proc/self/clear_refs', '5');
  } catch {
    // Where the peak cannot be reset, the highest until now counts as idle.
  }
  const peak = () => peakOf('self') ?? process.resourceUsage().maxRSS * 1024;
  const idle = peak();
  // The system's page counters lag behind a little.
  return () => Math.max(0, peak() - idle);
}

/** Seconds for which the main thread, which runs JavaScript, had or awaited a processor; null where the system does not say. */
export function mainThreadSeconds(state: 'running' | 'waiting'): number | null {
  return procNumber(`self/task/${process.pid}/schedstat`, state === 'running' ? /^(\d+)/ : /^\d+ (\d+)/, 1e-9);
}

/** Peak resident memory of a process in bytes; null where the system does not say, or the process has ended. */
const peakOf = (pid: number | 'self' | undefined) => procNumber(`${pid}/status`, /VmHWM:\s+(\d+)/, 1024);

function procNumber(file: string, pattern: RegExp, unit: number): number | null {
  try {
    const match = pattern.exec(readFileSync(`/proc/${file}`, 'utf8'));
    return match ? Number(match[1]) * unit : null;
  } catch {
    return null;
  }
}

/** The threads, descriptors and resident memory of this process now. */
export function usage(): { threads: number; descriptors: number; rss: number } {
  const count = (name: string) => readdirSync(`/proc/self/${name}`).length;
  return { threads: count('task'), descriptors: count('fd'), rss: process.memoryUsage.rss() };
}
