// The tools of every bench: options, interleaved rounds, medians, clocks, memory and processes.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import type { Report, Task } from '../processes/run-once.ts';
import { RESULTS } from './results.ts';

export const VERSIONS = ['v1', 'v2', 'hybrid'] as const;
export type Version = (typeof VERSIONS)[number];

/** The command as it is installed, built by `npm run bench` when it is out of date. */
export const METAINFO = fileURLToPath(new URL('../../dist/cli/main.cjs', import.meta.url));

/** Parses the command line. Every option is text; every bench has `--out`, the file for its results. */
export function options<T extends Record<string, string>>(defaults: T): T & { out: string } {
  const named = Object.entries({ out: RESULTS, ...defaults });
  const { values } = parseArgs({
    options: Object.fromEntries(named.map(([name, value]) => [name, { type: 'string' as const, default: value }])),
  });
  return values as T & { out: string };
}

/** Bytes of a size such as `256KiB` or `4GiB`. */
export function parseSize(text: string): number {
  const match = /^(\d+)(KiB|MiB|GiB)$/.exec(text);
  if (!match) throw new Error(`expected a size such as 4GiB, got ${text}`);
  return Number(match[1]) * 1024 ** (['KiB', 'MiB', 'GiB'].indexOf(match[2] as string) + 1);
}

/** Seconds of a time such as `5s`, `20m` or `8h`. */
export function parseTime(text: string): number {
  const match = /^(\d+)([smh])$/.exec(text);
  if (!match) throw new Error(`expected a time such as 20m, got ${text}`);
  return Number(match[1]) * 60 ** ['s', 'm', 'h'].indexOf(match[2] as string);
}

export function parseCount(text: string): number {
  const count = Number(text);
  if (!Number.isSafeInteger(count) || count < 1) throw new Error(`expected a whole number above 0, got ${text}`);
  return count;
}

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
 * @returns the results of each contender, a result for each round
 */
export async function interleave<C, R>(
  contenders: readonly C[],
  rounds: number,
  run: (contender: C) => R | Promise<R>,
): Promise<Map<C, R[]>> {
  const runs = new Map<C, R[]>(contenders.map((contender) => [contender, []]));
  for (let round = 0; round < rounds; round += 1) {
    for (let i = 0; i < contenders.length; i += 1) {
      const contender = contenders[(round + i) % contenders.length] as C;
      runs.get(contender)?.push(await run(contender));
    }
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

/** The version that a command prints, as the pattern finds it; null when it is not installed or prints none. */
export function versionOf([command = '', ...args]: readonly string[], pattern: RegExp): string | null {
  const { error, stdout, stderr } = spawnSync(command, args, { encoding: 'utf8' });
  return error ? null : (pattern.exec(`${stdout}\n${stderr}`)?.[1] ?? null);
}

/** Runs `bench/processes/NAME.ts`, with fresh memory and its own environment, and returns the JSON that it prints. */
export function runChild<T>(name: string, input: unknown, env: NodeJS.ProcessEnv = {}): T {
  const script = fileURLToPath(new URL(`../processes/${name}.ts`, import.meta.url));
  // watchMemory collects garbage.
  const args = ['--expose-gc', '--import', 'tsx', script, JSON.stringify(input)];
  const { status, error, stdout, stderr } = spawnSync(process.execPath, args, {
    encoding: 'utf8',
    env: { ...process.env, ...env },
  });
  if (status !== 0) throw error ?? new Error(`${name}: ${stderr}`);
  return JSON.parse(stdout) as T;
}

export const runOnce = (task: Task): Report => runChild('run-once', task);

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
  const peak = () => procNumber('status', /VmHWM:\s+(\d+)/, 1024) ?? process.resourceUsage().maxRSS * 1024;
  const idle = peak();
  // The system's page counters lag behind a little.
  return () => Math.max(0, peak() - idle);
}

/** Processor seconds of the main thread, the one that runs JavaScript; null where the system does not say. */
export function mainThreadSeconds(): number | null {
  return procNumber(`task/${process.pid}/schedstat`, /^(\d+)/, 1e-9);
}

function procNumber(file: string, pattern: RegExp, unit: number): number | null {
  try {
    const match = pattern.exec(readFileSync(`/proc/self/${file}`, 'utf8'));
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

/** Works in a temporary folder that is always removed, after Ctrl-C too. */
export async function inScratchFolder(work: (folder: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(path.join(tmpdir(), 'metainfo-bench-'));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  const stop = () => {
    remove();
    process.exit(130);
  };
  process.once('SIGINT', stop).once('SIGTERM', stop);
  try {
    await work(folder);
  } finally {
    process.removeListener('SIGINT', stop).removeListener('SIGTERM', stop);
    remove();
  }
}
