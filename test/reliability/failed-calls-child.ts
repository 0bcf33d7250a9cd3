/**
 * Runs one job many times, each time with another fault. failed-calls.test.ts starts it as a process of its own, with the shim of
 * test/support/faults preloaded.
 */
import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  closeSync,
  copyFileSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { constants } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { GenerateOptions } from '../../src/create/options.ts';
import type { MetainfoErrorCode } from '../../src/errors/codes.ts';
import { MetainfoError } from '../../src/errors/errors.ts';
import { nativeEngine } from '../../src/hash/native.ts';
import { stepping } from '../../src/hash/steps.ts';
import { noise } from '../hash/reference.ts';
import { CALLS, type Call, type Counts, type Fault, Faults } from '../support/faults.ts';
import {
  AFTER,
  cache,
  cacheIsAsWithout,
  clear,
  contentOf,
  data,
  generateJob,
  JOBS,
  type Job,
  type JobOptions,
  kept,
  leadsTo,
  out,
  setUp,
  target,
  work,
} from './failed-calls-jobs.ts';
import { Leftovers } from './leftovers.ts';

/** A scenario, and the job that it runs. */
export interface FaultRun {
  scenario: keyof typeof scenarios;
  /** The name of a job that makes its own files, or the creation of a torrent of the files that are in `data`. */
  job: string | { pieceLength: number; options: GenerateOptions };
  /** The most calls of a group that fail, one in each run. By default, all. */
  most?: number;
  /** The seed of random faults, and their number. */
  seed?: number;
  cases?: number;
  /** The file in `data` that changes. */
  file?: string;
}

/** The report of a child. */
export interface FaultReport {
  /** The result of a run without faults, and its calls. */
  clean: string;
  counts: Counts;
  /** The number of cases, and of those whose fault occurred. */
  cases: number;
  fired: number;
  /** The highest number of threads that read in one run. */
  readers: number;
  /** Failures by case. */
  problems: string[];
  /** The results of the cases, with their counts. */
  outcomes: Record<string, number>;
}

/** The faults of each group of calls. */
const HARM: Record<Call, Fault['action'][]> = {
  open: ['EIO', 'EMFILE', 'ENOENT', 'ESTALE', 'EACCES', 'EINTR', 'ENFILE', 'ENOTDIR'],
  fstat: ['EIO', 'ESTALE', 'EINTR', 'EACCES'],
  read: ['EIO', 'short', 'EINTR', 'end', 'ESTALE', 'EACCES'],
  advise: ['EINVAL', 'ENOSYS', 'EIO'],
  create: ['ENOSPC', 'EMFILE', 'EDQUOT', 'EIO', 'EACCES', 'EINTR'],
  write: ['ENOSPC', 'short', 'EIO', 'EINTR', 'EDQUOT'],
  sync: ['EIO', 'ENOSPC', 'EDQUOT'],
  truncate: ['ENOSPC', 'EIO', 'EDQUOT'],
  attribute: ['EIO', 'EACCES'],
  close: ['EIO', 'EDQUOT', 'ENOSPC'],
  stat: ['EIO', 'ENOENT', 'ESTALE', 'EACCES', 'EINTR'],
  list: ['EIO', 'EMFILE', 'ENOENT', 'EACCES', 'EINTR'],
  resolve: ['EIO', 'ENOENT', 'EACCES'],
  rename: ['ENOSPC', 'EIO', 'EACCES', 'ESTALE'],
  link: ['ENOSPC', 'EIO', 'EACCES', 'EPERM'],
  unlink: ['EIO', 'EACCES'],
  mkdir: ['ENOSPC', 'EIO', 'EACCES'],
  map: ['ENOMEM', 'EACCES'],
  lock: ['EIO', 'ENOLCK'],
};

/** The codes that a job may end with after each fault. Without codes it must succeed. */
const CODES: Partial<Record<Fault['action'], readonly MetainfoErrorCode[]>> = {
  EIO: ['ERR_READ', 'ERR_WRITE'],
  ESTALE: ['ERR_READ', 'ERR_WRITE'],
  EPERM: ['ERR_UNREADABLE', 'ERR_WRITE'],
  EACCES: ['ERR_UNREADABLE', 'ERR_WRITE'],
  EMFILE: ['ERR_NO_DESCRIPTORS'],
  ENFILE: ['ERR_NO_DESCRIPTORS'],
  ENOSPC: ['ERR_NO_SPACE'],
  EDQUOT: ['ERR_NO_SPACE'],
  ENOENT: ['ERR_NOT_FOUND', 'ERR_FILE_CHANGED', 'ERR_BROKEN_LINK', 'ERR_HASH_MISMATCH'],
  ENOTDIR: ['ERR_NOT_FOUND', 'ERR_FILE_CHANGED', 'ERR_HASH_MISMATCH'],
  end: ['ERR_FILE_CHANGED', 'ERR_BENCODE'],
  stall: ['ERR_ABORTED'],
};
const CODES_OF_CHANGE = ['ERR_FILE_CHANGED', 'ERR_NOT_A_FILE', 'ERR_HASH_MISMATCH'] as const;

const faults = Faults.open(process.env['METAINFO_FAULT_CONTROL'] as string);
// Each fault occurs once: a further attempt would hide it.
stepping.pausesMs = [];
const warnings: string[] = [];
process.removeAllListeners('warning').on('warning', (warning) => {
  const { code, message } = warning as Error & { code?: string };
  if (code !== undefined) warnings.push(`${code} ${message}`);
});
const unhandled: unknown[] = [];
process.on('unhandledRejection', (error) => unhandled.push(error));

type Outcome = { result: string } | { error: unknown };

interface Circumstances {
  options?: JobOptions;
  /** A change of a file that is made while the job stalls. Otherwise, a job that stalls is cancelled. */
  change?: { name: string; make: () => void; codes: readonly MetainfoErrorCode[] };
}

interface Judged {
  /** The codes that the job may end with. */
  expected: readonly MetainfoErrorCode[];
  action?: Fault['action'] | undefined;
  /** The files of the calls that failed; none if the fault did not occur. */
  paths: string[];
  /** Another right result. */
  other?: string | undefined;
}

/** The job of a child, which runs many times. */
class Bench {
  #output = new Map<string, string>();
  readonly report: FaultReport = {
    clean: '',
    counts: faults.counts(),
    cases: 0,
    fired: 0,
    readers: 0,
    problems: [],
    outcomes: {},
  };

  constructor(
    readonly job: Job,
    private readonly leftovers: Leftovers,
  ) {}

  /** Runs the job twice without faults: once to start all threads of the process, and once to count the calls. */
  async begin(): Promise<void> {
    clear(this.job);
    await this.job.run({});
    clear(this.job);
    faults.arm(null);
    const clean = await this.job.run({});
    Object.assign(this.report, { clean, counts: faults.counts() });
    this.#output = contentOf(out);
  }

  /** Returns the number of such calls that the job makes. */
  async count(fault: Pick<Fault, 'call' | 'match'>): Promise<number> {
    clear(this.job);
    faults.arm({ ...fault, action: 'EIO', first: Number.MAX_SAFE_INTEGER });
    await this.job.run({});
    return faults.counts().matched;
  }

  /** Runs the job with a fault. */
  async attempt(fault: Fault, { options, change }: Circumstances = {}): Promise<void> {
    clear(this.job);
    const before = contentOf(out);
    const stop = new AbortController();
    faults.arm(fault);
    const running = this.#start({ signal: stop.signal, ...options });
    if (fault.action === 'stall') {
      if (await isStalled(running)) change ? change.make() : stop.abort();
      faults.go();
    }
    const outcome = await running;
    // The shim must let stalled calls continue before the next fault is set.
    const problems = await this.leftovers.problems(() => faults.counts());
    const counts = faults.counts();
    faults.arm(null);
    const { call, action, first = 1, every } = fault;
    // The number of posix_fadvise calls depends on how long reads take. It may fail without consequences.
    const mayMiss = call === 'advise';
    const harms = counts.fired > 0 && !mayMiss;
    if (counts.fired === 0 && first === 1 && !mayMiss) problems.push('the fault did not occur');
    const codes = change?.codes ?? this.job.codes?.(action) ?? CODES[action] ?? [];
    const isOther = change && 'result' in outcome && outcome.result !== this.report.clean;
    const other = isOther ? await this.#again() : undefined;
    problems.push(...this.#judge(outcome, { expected: harms ? codes : [], action, paths: counts.paths, other }));
    // A cancelled job ends after the call that it was in.
    const wasCancelled = action === 'stall' && !change && 'error' in outcome;
    if (this.job.isExact && wasCancelled && every === 1 && counts.calls.read > this.report.counts.calls.read / 2)
      problems.push(`it went on for ${counts.calls.read} reads`);
    const finished = { isDone: 'result' in outcome, before, clean: this.#output, call };
    if (!change) problems.push(...((await this.job.check?.(finished)) ?? []));
    else if (this.job.usesCache) problems.push(...(await cacheIsAsWithout()));
    this.report.fired += counts.fired > 0 || mayMiss ? 1 : 0;
    this.report.readers = Math.max(this.report.readers, counts.readers);
    const how = Object.entries(fault).map(([key, value]) => `${key} ${value}`);
    const at = counts.paths.map((hit) => path.relative(work, hit));
    this.#conclude(`${[...(change ? [change.name] : []), ...how].join(', ')} at ${at}`, outcome, problems);
  }

  /** Runs the job without free descriptors for the scan or for hashing. */
  async starve(when: 'scan' | 'hash'): Promise<void> {
    clear(this.job);
    faults.arm(null);
    let release = () => {};
    const engine = nativeEngine();
    const starving: typeof engine = {
      ...engine,
      start(plan) {
        release = hog(0);
        return engine.start(plan);
      },
    };
    if (when === 'scan') release = hog(0);
    const outcome = await this.#start({ engine: when === 'scan' ? engine : starving });
    release();
    const problems = await this.leftovers.problems(() => faults.counts());
    const { path: named = '' } = ('error' in outcome ? outcome.error : {}) as Partial<MetainfoError>;
    problems.push(...this.#judge(outcome, { expected: ['ERR_NO_DESCRIPTORS'], action: 'EMFILE', paths: [named] }));
    const isRight = when === 'scan' ? named === data : named.startsWith(`${data}/`);
    if (!isRight) problems.push(`${named} was named`);
    this.#conclude(`no descriptor to ${when} with`, outcome, problems);
  }

  /** Runs the job from the start and returns its result. */
  async #again(): Promise<string> {
    clear(this.job);
    return this.job.run({}).catch((error: unknown) => String(error));
  }

  #start(options: JobOptions): Promise<Outcome> {
    warnings.length = 0;
    return this.job.run(options).then(
      (result): Outcome => ({ result }),
      (error: unknown): Outcome => ({ error }),
    );
  }

  #conclude(title: string, outcome: Outcome, problems: string[]): void {
    for (const error of unhandled.splice(0)) problems.push(`a rejection that nobody handles: ${error}`);
    const done = warnings.some((text) => text.startsWith('ERR_CACHE ')) ? 'done, with a warning' : 'done';
    const code = 'result' in outcome ? done : (outcome.error as MetainfoError).code;
    this.report.cases += 1;
    this.report.outcomes[code] = (this.report.outcomes[code] ?? 0) + 1;
    this.report.problems.push(...problems.map((problem) => `${title}: ${problem}`));
  }

  /** Returns the problems of how the job ended. */
  #judge(outcome: Outcome, { expected, action, paths, other }: Judged): string[] {
    // Node emits warnings in the next tick, which has passed.
    // Some pad files have the same length, which causes a warning.
    const isExpected = (text: string) =>
      text.startsWith(`ERR_CACHE The cache in ${cache} `) || text.startsWith('pad_names ');
    const strange = warnings.filter((text) => !isExpected(text));
    if (strange.length > 0) return [`it warned of ${strange}`];
    const { clean } = this.report;
    const { isExact = false, accepts } = this.job;
    if ('result' in outcome) {
      const { result } = outcome;
      if (isExact && expected.length > 0) return [`it succeeded, not ${expected}`];
      const isRight = result === clean || result === other || (paths.length > 0 && accepts?.(result, clean, paths));
      return isRight ? [] : [`a wrong result: ${result}`];
    }
    const { error } = outcome;
    if (!(error instanceof MetainfoError)) return [`untyped: ${error instanceof Error ? error.stack : error}`];
    const { code, path: named = '', message } = error;
    if (!expected.includes(code)) return [`${code} (${message}), not ${expected}`];
    if (code === 'ERR_ABORTED') return [];
    // The list of extra files has paths relative to the folder.
    if (code === 'ERR_HASH_MISMATCH')
      return paths.some((at) => message.includes(path.relative(data, at))) ? [] : [message];
    const problems: string[] = [];
    const isNamed = paths.some((at) => at === named || (!isExact && standsFor(named, at)));
    if (!isNamed) problems.push(`${named} was named, not ${paths}`);
    const { cause } = error;
    // Errors that wrap others, and those of the cache, say first what the job was doing.
    const wrapped = !isExact && cause instanceof MetainfoError ? cause : null;
    const isAbout = wrapped || code === 'ERR_CACHE' ? message.includes(named) : message.startsWith(named);
    if (!isAbout || message.includes('undefined')) problems.push(`the message: ${message}`);
    if (!isCause(wrapped ? wrapped.cause : cause, action)) problems.push(`the cause was ${cause}`);
    return problems;
  }
}

/** Whether a fault that is a system error caused this. libuv has no names for some errors. */
function isCause(cause: unknown, action: Fault['action'] | undefined): boolean {
  const number = constants.errno[action as keyof typeof constants.errno];
  return (
    !number || [action, `Unknown system error -${number}`].includes((cause as NodeJS.ErrnoException | undefined)?.code)
  );
}

/**
 * Whether an error may name a path after a fault on another: on a file below it, on the target of a link, on the temporary file of
 * an output or on the folder of an output, which is synced for it.
 */
function standsFor(named: string, at: string): boolean {
  const isBeside = (path.dirname(at) === out || at === out) && named === target;
  return at.startsWith(`${named}/`) || isBeside || leadsTo(at, named);
}

/** Waits until the job stalls or ends; returns whether it stalled. */
async function isStalled(running: Promise<Outcome>): Promise<boolean> {
  let ended = false;
  void running.then(() => {
    ended = true;
  });
  while (!ended && faults.counts().fired === 0) await sleep(1);
  return !ended;
}

/** Returns the numbers from 1 to `count`, or a sample with the first and the last. */
function spread(count: number, most: number): number[] {
  const size = Math.min(count, most);
  const numbers = Array.from({ length: size }, (_, i) => 1 + Math.round((i * (count - 1)) / Math.max(1, size - 1)));
  return [...new Set(numbers)];
}

/** A Lehmer generator: returns numbers from 0 to 1, always the same for the same seed. */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
}

/** Opens descriptors until only `free` are left, and returns a function that closes them. */
function hog(free: number): () => void {
  const held: number[] = [];
  const release = () => {
    for (const descriptor of held.splice(0)) closeSync(descriptor);
  };
  try {
    for (;;) held.push(openSync('/dev/null', 'r'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EMFILE') throw error;
  }
  for (const descriptor of held.splice(0, free)) closeSync(descriptor);
  return release;
}

/** A copy of the file that changes. */
const copy = path.join(kept, 'copy');
const otherContent = (file: string) => noise(statSync(file).size, 7);

/** Changes of a file. A write in place that restores the old time cannot be noticed. */
const CHANGES: Record<string, (file: string) => void> = {
  grows: (file) => appendFileSync(file, 'x'),
  'loses a byte': (file) => truncateSync(file, statSync(file).size - 1),
  'is emptied': (file) => truncateSync(file, 0),
  'is deleted': (file) => unlinkSync(file),
  'is touched': (file) => utimesSync(file, 1, 1),
  'is written anew': (file) => writeFileSync(file, otherContent(file)),
  'grows without a trace'(file) {
    appendFileSync(file, 'x');
    utimesSync(file, AFTER, AFTER);
  },
  'is deleted and made again'(file) {
    const content = otherContent(file);
    unlinkSync(file);
    writeFileSync(file, content);
    utimesSync(file, AFTER, AFTER);
  },
  'is replaced by its like'(file) {
    copyFileSync(copy, `${copy}-2`);
    utimesSync(`${copy}-2`, AFTER, AFTER);
    renameSync(`${copy}-2`, file);
  },
  'is replaced by a FIFO'(file) {
    unlinkSync(file);
    execFileSync('mkfifo', [file]);
  },
  'becomes a folder'(file) {
    unlinkSync(file);
    mkdirSync(file);
  },
  'has a file for its folder'(file) {
    rmSync(path.dirname(file), { recursive: true });
    writeFileSync(path.dirname(file), '');
  },
};
/** A job that opens the new file cannot distinguish it from the one that was scanned. */
const UNNOTICED_AT_OPEN = ['is deleted and made again', 'is replaced by its like'];
const NO_FILE = ['is replaced by a FIFO', 'becomes a folder'];

/** Restores a file. */
function restore(file: string): void {
  const folder = path.dirname(file);
  if (!statSync(folder).isDirectory()) rmSync(folder);
  rmSync(file, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  copyFileSync(copy, file);
  utimesSync(file, AFTER, AFTER);
}

/** The codes that a job may end with if a file changes while it stalls in this call. */
function codesOfChange(name: string, call: Call, { isExact }: Job, threads: number): readonly MetainfoErrorCode[] {
  if (!isExact) return CODES_OF_CHANGE;
  if (!NO_FILE.includes(name)) return ['ERR_FILE_CHANGED'];
  // This call, or that of another thread sooner or later, finds what is no file.
  if (threads > 1) return ['ERR_FILE_CHANGED', 'ERR_NOT_A_FILE'];
  return [call === 'open' ? 'ERR_NOT_A_FILE' : 'ERR_FILE_CHANGED'];
}

const scenarios = {
  /** Lets every call of the job (or `most` of each group) fail in all ways. */
  async sweep(bench: Bench, { most = Number.POSITIVE_INFINITY }: FaultRun): Promise<void> {
    await everyGroup(bench, (actions, calls) =>
      actions.flatMap((action) => spread(calls, most).map((first) => ({ action, first }))),
    );
  },

  /** Lets `most` calls of each group fail in one way each, and at least one in each way. */
  async sample(bench: Bench, { most = 1 }: FaultRun): Promise<void> {
    await everyGroup(bench, (actions, calls) => {
      const numbers = spread(calls, Math.max(most, actions.length));
      const cases = numbers.length === 0 ? 0 : Math.max(numbers.length, actions.length);
      return Array.from({ length: cases }, (_, i) => {
        return { action: actions[i % actions.length] as Fault['action'], first: numbers[i % numbers.length] as number };
      });
    });
  },

  /** Lets random calls fail in random ways. */
  async random(bench: Bench, { seed = 1, cases = 0 }: FaultRun): Promise<void> {
    await bench.begin();
    const { calls } = bench.report.counts;
    const random = randomOf(seed);
    const pick = <T>(items: readonly T[]) => items[Math.floor(random() * items.length)] as T;
    for (let i = 0; i < cases; i += 1) {
      const call = pick(['open', 'fstat', 'read', 'read', 'read'] as const);
      const action = pick(HARM[call]);
      const first = 1 + Math.floor(random() * calls[call]);
      const every = action === 'EINTR' ? 2 : pick([0, 0, 1, 7]);
      await bench.attempt({ call, action, first, every }, { options: { threads: pick([1, 2, 3, 8]) } });
    }
  },

  /** Changes a file while it is opened, checked and read. */
  async changes(bench: Bench, run: FaultRun): Promise<void> {
    const file = path.join(data, run.file as string);
    mkdirSync(kept, { recursive: true });
    copyFileSync(file, copy);
    restore(file);
    await bench.begin();
    const { isExact = false } = bench.job;
    const isAlone = readdirSync(path.dirname(file)).length === 1;
    for (const call of ['open', 'fstat', 'read'] as const) {
      for (const first of spread(await bench.count({ call, match: file }), 3)) {
        for (const [name, change] of Object.entries(CHANGES)) {
          if (isExact && call === 'open' && UNNOTICED_AT_OPEN.includes(name)) continue;
          if (!isAlone && name === 'has a file for its folder') continue;
          const codes = codesOfChange(name, call, bench.job, threadsOf(run));
          const fault: Fault = { call, action: 'stall', first, match: file };
          await bench.attempt(fault, { change: { name, make: () => change(file), codes } });
          restore(file);
        }
      }
    }
  },

  /** Runs the job with few or no free descriptors. */
  async descriptors(bench: Bench, run: FaultRun): Promise<void> {
    // As many as the documentation promises.
    const release = hog(17 * threadsOf(run));
    await bench.begin();
    release();
    await bench.starve('scan');
    await bench.starve('hash');
  },
};

/** Lets calls of each group fail as `choose` says, and all calls of the group on the job's `repeated` files. */
async function everyGroup(
  bench: Bench,
  choose: (actions: Fault['action'][], calls: number) => Pick<Fault, 'action' | 'first'>[],
): Promise<void> {
  await bench.begin();
  const { calls: groups = CALLS, repeated: match, isExact = false } = bench.job;
  for (const call of groups) {
    const stalls: Fault['action'][] = call === 'advise' ? [] : ['stall'];
    for (const fault of choose([...HARM[call], ...stalls], await bench.count({ call })))
      await bench.attempt({ call, ...fault });
    if (match === undefined || (await bench.count({ call, match })) === 0) continue;
    // Other jobs may remove temporary files after they were cancelled, and stall again.
    // An interrupted call succeeds when retried.
    for (const action of [...HARM[call], ...(isExact ? stalls : [])])
      await bench.attempt({ call, action, every: action === 'EINTR' ? 2 : 1, match });
  }
}

function threadsOf({ job }: FaultRun): number {
  return (typeof job === 'string' ? undefined : job.options.threads) ?? 1;
}

const run = JSON.parse(process.argv[2] as string) as FaultRun;
const leftovers = await Leftovers.of(work);
if (typeof run.job === 'string') await setUp();
const job = typeof run.job === 'string' ? JOBS[run.job] : generateJob(run.job.pieceLength, run.job.options);
const bench = new Bench(job as Job, leftovers);
await scenarios[run.scenario](bench, run);
bench.report.problems.push(...(await leftovers.threadsAtEnd()));
writeSync(1, `${JSON.stringify(bench.report)}\n`);
