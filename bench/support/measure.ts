// The tools that the benches share: cases in interleaved rounds, medians, clocks, memory and processes.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { peakOf } from '../../test/support/proc.ts';
import type { Findings } from './results.ts';

export const VERSIONS = ['v1', 'v2', 'hybrid'] as const;
export type Version = (typeof VERSIONS)[number];

/** The command as it is installed, built by `npm run bench` when it is out of date. */
export const METAINFO = fileURLToPath(new URL('../../dist/cli/main.cjs', import.meta.url));

/** A bench as support/run.ts runs it: its options with their defaults, and what it measures in a temporary folder. */
export interface Bench<N extends string> {
  options: Record<N, string>;
  run: (options: Record<N, number>, folder: string) => Promise<Findings>;
}

/** Declares a bench: the default export of its file. */
export const bench = <N extends string>(options: Record<N, string>, run: Bench<N>['run']): Bench<N> => ({
  options,
  run,
});

/** The figures of one run, by the name of the measure. */
export type Sample = Record<string, unknown>;

/** One contender: a cell of a table. */
export interface Case {
  row: string;
  /** Default: an empty name. */
  column?: string;
  run: () => Sample | Promise<Sample>;
}

export function median(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const [low, high] = [sorted[sorted.length % 2 === 0 ? middle - 1 : middle], sorted[middle]];
  return ((low as number) + (high as number)) / 2;
}

/** The quotient, or null if one of the numbers is missing. */
export const divide = (a: number | null, b: number | null): number | null => (a === null || b === null ? null : a / b);

/** The samples of all rounds, by row and column. */
export class Grid {
  readonly #samples = new Map<string, Map<string, Sample[]>>();

  add(row: string, column: string, sample: Sample): void {
    const cells = this.#samples.get(row) ?? new Map<string, Sample[]>();
    this.#samples.set(row, cells.set(column, [...(cells.get(column) ?? []), sample]));
  }

  get rows(): string[] {
    return [...this.#samples.keys()];
  }

  /** The values of one measure in a cell: a measure is missing where the system does not say it. */
  values<T = number>(row: string, column = '', measure = 'seconds'): T[] {
    const samples = this.#samples.get(row)?.get(column) ?? [];
    return samples.flatMap((sample) => (sample[measure] ?? []) as T);
  }

  /** The median of one measure in a cell, or null. */
  median(row: string, column = '', measure = 'seconds'): number | null {
    const values = this.values(row, column, measure);
    return values.length > 0 ? median(values) : null;
  }
}

/**
 * Runs every case once a round, so that a disturbance of the machine meets all of them; each round begins with another
 * one.
 */
export async function measure(cases: readonly Case[], rounds: number): Promise<Grid> {
  const grid = new Grid();
  for (let round = 0; round < rounds; round += 1)
    for (let i = 0; i < cases.length; i += 1) {
      const { row, column = '', run } = cases[(round + i) % cases.length] as Case;
      grid.add(row, column, await run());
    }
  return grid;
}

/** Does some work for every item of a queue, for this many at once. */
export async function takeTurns<T>(queue: IterableIterator<T>, atOnce: number, work: (item: T) => Promise<unknown>) {
  const lane = async () => {
    for (const item of queue) await work(item);
  };
  await Promise.all(Array.from({ length: atOnce }, lane));
}

/** Runs a command that must end with a status, and measures its wall seconds and its peak memory, with its start. */
export async function runCommand([command = '', ...args]: readonly string[], cwd: string, expected = 0) {
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
    if (status !== expected) throw new Error(`${[command, ...args].join(' ')}: ${stderr}`);
    return { seconds: (performance.now() - started) / 1000, peakBytes };
  } finally {
    clearInterval(sampler);
  }
}

/** Runs the metainfo command like {@link runCommand}. */
export const runMetainfo = (folder: string, ...args: string[]) =>
  runCommand([process.execPath, METAINFO, ...args], folder);

/** Runs a program that prints its sample as JSON. */
export function runProgram<R = Sample>([command = '', ...args]: readonly string[], env: NodeJS.ProcessEnv = {}): R {
  const options = { encoding: 'utf8', env: { ...process.env, ...env } } as const;
  const { status, error, stdout, stderr } = spawnSync(command, args, options);
  if (status !== 0) throw error ?? new Error(`${command} ${args[0]}: ${stderr}`);
  return JSON.parse(stdout) as R;
}

/** Runs a TypeScript program like {@link runProgram}. */
export const runScript = <R = Sample>(script: string, args: string[], env: NodeJS.ProcessEnv = {}): R =>
  runProgram([process.execPath, ...NODE_OPTIONS, script, ...args], env);

/** For TypeScript, and for test/support/proc.ts. */
export const NODE_OPTIONS = ['--import', './scripts/ts.mjs', '--expose-gc'];
export const CHILD = fileURLToPath(new URL('child.ts', import.meta.url));

/** Work that is measured; it may return more measures, or replace those that child.ts takes. */
export type Work = () => unknown;
type Task = (input: never) => Work | Promise<Work>;

/** Returns a function that runs a task of a module, which exports `tasks`, in a process of its own. */
export const inProcess =
  <T extends Record<string, Task>>(url: string, _tasks: T) =>
  <N extends keyof T & string>(name: N, input: Parameters<T[N]>[0], env?: NodeJS.ProcessEnv): Sample =>
    runScript(CHILD, [url, name, JSON.stringify(input)], env);
