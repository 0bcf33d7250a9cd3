// The fuzzing loop of one target: mutates inputs, and keeps those that reach new code.

import { createHash } from 'node:crypto';
import {
  closeSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import path from 'node:path';
import { mutate, shrink } from './mutate.ts';
import { below, pick, seedRandom } from './random.ts';
import type { Target } from './target.ts';

/** The counters of istanbul's instrumented code: statements, functions and branches of each file. */
type Counts = Record<string, { s: object; f: object; b: Record<string, object> }>;

/** Moves all counters into one array, which is quick to search and to reset. */
function flatten(counts: Counts): Uint32Array {
  const size = (list: object) => Object.keys(list).length;
  const lists = Object.values(counts).map(({ s, f, b }) => [size(s), size(f), ...Object.values(b).map(size)]);
  const all = new Uint32Array(lists.flat().reduce((sum, length) => sum + length, 0));
  let at = 0;
  const take = (list: object) => {
    const view = all.subarray(at, at + size(list));
    at += view.length;
    return view;
  };
  for (const file of Object.values(counts)) {
    file.s = take(file.s);
    file.f = take(file.f);
    for (const key of Object.keys(file.b)) file.b[key] = take(file.b[key] as object);
  }
  return all;
}

/** The coverage so far: places, and the number of runs of each place for one input, in powers of two. */
class Coverage {
  readonly #counters: Uint32Array;
  readonly #seen: Uint32Array;
  places = 0;
  features = 0;

  constructor(counters: Uint32Array) {
    this.#counters = counters;
    this.#seen = new Uint32Array(counters.length);
  }

  get total(): number {
    return this.#counters.length;
  }

  reset(): void {
    this.#counters.fill(0);
  }

  /** Whether the run since the last reset reached anything new. */
  isNew(): boolean {
    const before = this.features;
    for (let i = 0; i < this.#counters.length; i += 1) {
      const count = this.#counters[i] as number;
      if (count === 0) continue;
      const bit = 1 << Math.min(7, 31 - Math.clz32(count));
      const seen = this.#seen[i] as number;
      if ((seen & bit) !== 0) continue;
      if (seen === 0) this.places += 1;
      this.#seen[i] = seen | bit;
      this.features += 1;
    }
    return this.features > before;
  }
}

export interface Status {
  executions: number;
  /** The statements, functions and branches that were reached, and their total number. */
  places: number;
  total: number;
  /** The reached places, counted once for each power of two of runs. */
  features: number;
  inputs: number;
  /** The stack of the failure, and the file of the input. */
  failure?: { stack: string; file: string };
}

interface Options {
  seconds: number;
  /** Chooses the same inputs again, as long as the code does the same; null for others each time. */
  seed: number | null;
  /** Folders of inputs to start with; new inputs go into the first. */
  corpus: string[];
  /** The folder for failing inputs. */
  found: string;
  /** A file that always holds the current input, in case the process dies or hangs. */
  current: string;
  /** Write the inputs with the same coverage as all inputs into this empty folder, and end. */
  merge?: string;
}

const nameOf = (input: Buffer) => createHash('sha1').update(input).digest('hex').slice(0, 16);

async function failureOf(target: Target, input: Buffer): Promise<Error | null> {
  try {
    await target.check(input);
    return null;
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

/** The origin of an error, by which the shrinking of an input recognises its failure. */
function placeOf({ message, stack = '' }: Error): string {
  const frames = stack.split('\n').filter((line) => /^ {4}at /.test(line) && !line.includes('node:'));
  return frames[0] ?? message;
}

export async function fuzz(target: Target, options: Options): Promise<void> {
  if (options.seed !== null) seedRandom(options.seed);
  const coverage = new Coverage(flatten((globalThis as unknown as { __coverage__: Counts }).__coverage__));
  const status = (): Status => {
    const { places, total, features } = coverage;
    return { executions, places, total, features, inputs: inputs.length };
  };
  for (const folder of [...options.corpus, options.found]) mkdirSync(folder, { recursive: true });
  // Ends with its parent. The channel alone must not keep the process alive.
  process.once('disconnect', () => process.exit(1));
  process.channel?.unref();
  const inputs: Buffer[] = [];
  let executions = 0;
  let reported = performance.now();
  const file = openSync(options.current, 'w+');

  const run = async (input: Buffer): Promise<Error | null> => {
    executions += 1;
    if (performance.now() - reported > 500) {
      process.send?.(status());
      reported = performance.now();
      // Lets timers run, and messages go out.
      await new Promise(setImmediate);
    }
    // Most inputs are refused, and collecting stacks would take most of the time.
    Error.stackTraceLimit = 0;
    writeSync(file, input, 0, input.length, 0);
    ftruncateSync(file, input.length);
    coverage.reset();
    return failureOf(target, input);
  };
  const report = async (input: Buffer, error: Error): Promise<void> => {
    Error.stackTraceLimit = 30;
    const place = placeOf((await failureOf(target, input)) ?? error);
    const small = await shrink(input, async (smaller) => {
      const other = await failureOf(target, smaller);
      return other !== null && placeOf(other) === place;
    });
    const found = path.join(options.found, nameOf(small));
    writeFileSync(found, small);
    const { stack = '', message } = (await failureOf(target, small)) ?? error;
    const failure = { stack: stack.includes('\n') ? stack : `${message} (not every time)`, file: found };
    process.send?.({ ...status(), failure });
  };

  const stored = options.corpus.flatMap((folder) =>
    readdirSync(folder).map((name) => readFileSync(path.join(folder, name))),
  );
  const seeds = [...(await target.seeds()), ...stored];
  const started = performance.now();
  // The smallest come first, so that they are kept among inputs with the same coverage.
  for (const seed of seeds.toSorted((a, b) => a.length - b.length)) {
    const error = await run(seed);
    if (error) return report(seed, error);
    const { places } = coverage;
    const isNew = coverage.isNew();
    // A merged corpus stays small: only new places count, not the number of runs.
    if (options.merge ? coverage.places > places : isNew) inputs.push(seed);
  }
  if (inputs.length === 0) inputs.push(Buffer.alloc(0));
  if (options.merge) {
    for (const input of inputs) writeFileSync(path.join(options.merge, nameOf(input)), input);
  }
  while (!options.merge) {
    if (performance.now() - started > options.seconds * 1000) break;
    // Recent inputs are the least explored.
    const last = inputs.slice(-20);
    const input = mutate(pick(below(10) < 3 ? last : inputs), pick(inputs), target.words);
    const error = await run(input);
    if (error) return report(input, error);
    if (!coverage.isNew()) continue;
    inputs.push(input);
    writeFileSync(path.join(options.corpus[0] as string, nameOf(input)), input);
  }
  process.send?.(status());
  closeSync(file);
}
