// Fuzzes the targets of fuzz/: C++ with libFuzzer under sanitizers, TypeScript with fuzz/engine.
//
//   npm run fuzz -- [--time 30m] [--seed 1] [TARGET ...]
//       fuzzes each target for that time (default: 1m), one target per core at once; a seed makes it choose the same again
//   npm run fuzz -- TARGET INPUT ...            runs a target on these inputs only: files, or names in fuzz/inputs/TARGET.txt
//   npm run fuzz -- --merge                     writes fuzz/inputs anew: the smallest inputs with the same coverage
//
// Inputs that reach new code stay in build/fuzz/corpus for the next time; failing inputs are in build/fuzz/found.
import { spawn } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { bundle } from './fuzz-bundle.mjs';
import { lineOf, pack, storedInputs, unpack } from './fuzz-inputs.mjs';
import { buildFuzzer } from './fuzz-native.mjs';
import { fail, filesIn, root, setup } from './setup.mjs';

/** The milliseconds after which an input counts as hanging; many, because the machine may be busy. */
const MOST_SILENCE = 120_000;
const UNITS = { s: 1, m: 60, h: 3600 };

const { values, positionals } = parseArgs({
  options: {
    time: { type: 'string', default: '1m' },
    seed: { type: 'string' },
    merge: { type: 'boolean', default: false },
  },
  allowPositionals: true,
});
const [, count, unit] = /^(\d+)([smh])$/.exec(values.time) ?? [];
const seconds = Number(count) * UNITS[unit];
if (!(seconds >= 1)) fail(`--time must be a time such as 90s, 30m or 2h, not ${values.time}.`);
const seed = values.seed === undefined ? null : Number(values.seed);
if (seed !== null && !(Number.isInteger(seed) && seed > 0))
  fail(`--seed must be a whole number above 0, not ${values.seed}.`);

const sources = filesIn('fuzz').filter((file) => /^fuzz.[^/\\]+\.(cc|ts)$/.test(file));
const targets = new Map(sources.map((file) => [path.parse(file).name, file.endsWith('.cc')]));
const named = positionals.filter((name) => targets.has(name));
const inputs = positionals.filter((name) => !targets.has(name));
for (const input of inputs) {
  if (named.length === 1 && (existsSync(input) || storedInputs(named[0]).has(input))) continue;
  fail(`there is no target or input ${input}. Targets: ${[...targets.keys()].join(', ')}.`);
}
const chosen = named.length > 0 ? named : [...targets.keys()];

// All paths below are relative to the root.
process.chdir(root);
const place = (kind, name) => path.join('build', 'fuzz', kind, name);

const running = new Set();
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1));

/** Runs a program to its end, and passes on its error output line by line, because all targets share a terminal. */
function start(command, args, { onLine = () => {}, ipc = false, stdio = 'pipe' } = {}) {
  const child = spawn(command, args, { stdio: ['ignore', 'inherit', stdio, ...(ipc ? ['ipc'] : [])] });
  running.add(child);
  let rest = '';
  child.stderr?.setEncoding('utf8').on('data', (text) => {
    const lines = `${rest}${text}`.split('\n');
    rest = lines.pop();
    lines.forEach(onLine);
  });
  const ended = new Promise((resolve) => {
    child.once('error', fail);
    child.once('close', (status, signal) => {
      running.delete(child);
      resolve(status ?? signal);
    });
  });
  return { child, ended };
}

/** The folders of a target's inputs: new ones, failing ones, and copies of those in the repository; and one for merging. */
function foldersOf(name) {
  const [corpus, found, stored, merged] = ['corpus', 'found', 'stored', 'merged'].map((kind) => place(kind, name));
  rmSync(merged, { recursive: true, force: true });
  for (const folder of [corpus, found, merged]) mkdirSync(folder, { recursive: true });
  unpack(name, stored);
  return { corpus, found, stored, merged };
}

async function fuzzNative(name, binary) {
  const { corpus, found, stored, merged } = foldersOf(name);
  if (values.merge) {
    await start(binary, ['-merge=1', '-max_len=1024', '-use_counters=0', merged, stored, corpus]).ended;
    return { inputs: pack(name, merged) };
  }
  const before = new Set(readdirSync(found));
  const result = {};
  const said = [];
  const args = [
    ...[corpus, stored, `-max_total_time=${seconds}`, `-artifact_prefix=${found}${path.sep}`],
    // -len_control=0: a plan needs many bytes from the start.
    ...[`-timeout=${MOST_SILENCE / 1000}`, '-max_len=1024', '-len_control=0', '-rss_limit_mb=4096'],
    ...['-print_final_stats=1', '-print_funcs=0', ...(seed ? [`-seed=${seed}`] : [])],
  ];
  const onLine = (line) => {
    const [, cov, ft, corp] = /cov: (\d+) ft: (\d+)(?: corp: (\d+))?/.exec(line) ?? [];
    if (cov)
      Object.assign(result, { places: Number(cov), features: Number(ft), ...(corp && { inputs: Number(corp) }) });
    const [, executions] = /number_of_executed_units: (\d+)/.exec(line) ?? [];
    if (executions) result.executions = Number(executions);
    if (!/^#\d|^INFO:|^stat::|NEW_FUNC/.test(line)) said.push(line);
  };
  const { ended } = start(binary, args, { onLine });
  if ((await ended) === 0) return result;
  const input = readdirSync(found).find((file) => !before.has(file));
  return { ...result, failure: { stack: said.join('\n'), file: input ? path.join(found, input) : corpus } };
}

async function fuzzTypeScript(name, script) {
  const { corpus, found, stored, merged } = foldersOf(name);
  const current = place('current', name);
  mkdirSync(path.dirname(current), { recursive: true });
  const options = { seconds, seed, corpus: [corpus, stored], found, current, ...(values.merge && { merge: merged }) };
  let result = {};
  let stopped = null;
  const args = ['--max-old-space-size=1024', '--stack-size=800', script, JSON.stringify(options)];
  const said = [];
  const { child, ended } = start(process.execPath, args, { ipc: true, onLine: (line) => said.push(line) });
  const silence = setTimeout(() => {
    stopped = `nothing came back for ${MOST_SILENCE / 1000} s`;
    child.kill('SIGKILL');
  }, MOST_SILENCE);
  child.on('message', (message) => {
    result = message;
    silence.refresh();
  });
  const status = await ended;
  clearTimeout(silence);
  if (status === 0 && values.merge && !result.failure) pack(name, merged);
  if (status === 0 || result.failure) return result;
  const file = path.join(found, `died-${Date.now()}`);
  copyFileSync(current, file);
  return { ...result, failure: { stack: [stopped ?? `ended with ${status}`, ...said].join('\n'), file } };
}

function print(name, { executions = 0, places = 0, total, features = 0, inputs = 0, failure }, took) {
  const figures = [
    `${executions} executions`,
    `${Math.round(executions / took)} a second`,
    `coverage ${places}${total ? ` of ${total}` : ''} places, ${features} features`,
    `${inputs} inputs`,
  ];
  process.stdout.write(
    `${name}: ${values.merge ? `${inputs} inputs` : figures.join(', ')}; ${failure ? 'FAILED' : 'nothing found'}\n`,
  );
  if (!failure) return;
  process.stdout.write(`${failure.stack}\nRun it again: npm run fuzz -- ${name} ${failure.file}\n`);
  const line = lineOf('NAME', readFileSync(failure.file));
  process.stdout.write(
    `Keep it for all tests, as this line in fuzz/inputs/${name}.txt with a name for the bug:\n${line}\n`,
  );
}

setup();
const runs = [];
for (const name of chosen) runs.push({ name, program: targets.get(name) ? buildFuzzer(name) : await bundle(name) });

if (inputs.length > 0) {
  const [{ name, program }] = runs;
  const { stored } = foldersOf(name);
  const files = inputs.map((input) => (existsSync(input) ? input : path.join(stored, input)));
  const once = ['--import', './scripts/ts.mjs', path.join('fuzz', 'engine', 'once.ts'), name, ...files];
  const [command, args] = targets.get(name) ? [program, files] : [process.execPath, once];
  const status = await start(command, args, { stdio: 'inherit' }).ended;
  process.exit(status === 0 ? 0 : 1);
}

async function next() {
  for (let run = runs.shift(); run; run = runs.shift()) {
    const started = performance.now();
    const result = await (targets.get(run.name) ? fuzzNative : fuzzTypeScript)(run.name, run.program);
    if (result.failure) process.exitCode = 1;
    print(run.name, result, (performance.now() - started) / 1000);
  }
}
await Promise.all(Array.from({ length: Math.min(availableParallelism(), runs.length) }, next));
