// Runs a bench with the options of the command line, and records its findings: run.ts bench/NAME.ts [OPTIONS].
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import type { Bench } from './measure.ts';
import { type BenchName, RESULTS, record } from './results.ts';

const UNITS: Record<string, number> = { KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30, s: 1, m: 60, h: 3600 };
/** Options with fractions or units; every other one is a whole number above 0. */
const PATTERNS: Record<string, RegExp> = {
  size: /^(\d+)(KiB|MiB|GiB)$/,
  part: /^(\d+)(KiB|MiB|GiB)$/,
  queued: /^(\d+)(KiB|MiB|GiB)$/,
  time: /^(\d+)([smh])$/,
  scale: /^(\d*\.?\d+)$/,
};

function parse(name: string, text: string): number {
  const [, count, unit = ''] = (PATTERNS[name] ?? /^(\d+)$/).exec(text) ?? [];
  const value = Number(count) * (UNITS[unit] ?? 1);
  if (!(value > 0)) throw new Error(`--${name}: unexpected ${text}`);
  return value;
}

const [file = '', ...args] = process.argv.slice(2);
const { options, run } = ((await import(path.resolve(file))) as { default: Bench<string> }).default;
const strings = (defaults: Record<string, string>) =>
  Object.fromEntries(Object.entries(defaults).map(([key, text]) => [key, { type: 'string' as const, default: text }]));
const { out, ...texts } = parseArgs({ args, options: strings({ ...options, out: RESULTS }) }).values;
const folder = mkdtempSync(path.join(tmpdir(), 'metainfo-bench-'));
process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(130));
const values = Object.entries(texts).map(([key, text]) => [key, parse(key, text as string)]);
const findings = await run(Object.fromEntries(values), folder);
// The results are the same wherever they go.
const shown = args.filter((arg, i) => !arg.startsWith('--out') && args[i - 1] !== '--out');
record(path.basename(file, '.ts') as BenchName, shown, findings, out as string);
