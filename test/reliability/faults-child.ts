// What faults.test.ts runs in processes of their own, with the shim of test/support/faults preloaded: many cases in each.
import { createHash } from 'node:crypto';
import { closeSync, openSync, writeSync } from 'node:fs';
import { appendFile, copyFile, mkdir, rename, rm, stat, truncate, unlink, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { TorrentCreate } from '../../src/create/draft.ts';
import type { GenerateOptions } from '../../src/create/options.ts';
import type { MetainfoErrorCode } from '../../src/errors/codes.ts';
import { MetainfoError } from '../../src/errors/errors.ts';
import { nativeEngine } from '../../src/hash/native.ts';
import { type Counts, type Fault, Faults, READING } from '../support/faults.ts';
import { Leftovers } from './leftovers.ts';

/** What a child tells in the end. */
export interface FaultReport {
  /** SHA-256 of the torrent that it made without faults. */
  clean: string;
  counts: Counts;
  /** Cases run, and those of them whose fault came about. */
  cases: number;
  fired: number;
  /** Threads that read in one job, at most. */
  readers: number;
  /** What went wrong, by the case. */
  problems: string[];
  /** What the jobs ended with. */
  outcomes: string[];
}

/** Codes that a job may end with; null: it must succeed, with the torrent that there is without faults. */
type Expected = MetainfoErrorCode | readonly MetainfoErrorCode[] | null;

const [folder, control] = [process.env['METAINFO_FAULT_FOLDER'], process.env['METAINFO_FAULT_CONTROL']] as [
  string,
  string,
];
const faults = Faults.open(control);

/** No job makes so many calls. */
const NEVER = 2 ** 40;

/** More calls than these are sampled. */
const MOST_CALLS = 40;

const HARM: Record<(typeof READING)[number], Partial<Record<Fault['action'], Expected>>> = {
  open: {
    EINTR: null,
    EIO: 'ERR_READ',
    ESTALE: 'ERR_READ',
    EMFILE: 'ERR_NO_DESCRIPTORS',
    ENFILE: 'ERR_NO_DESCRIPTORS',
    EACCES: 'ERR_UNREADABLE',
    // The scan has seen it.
    ENOENT: 'ERR_FILE_CHANGED',
    ENOTDIR: 'ERR_FILE_CHANGED',
  },
  fstat: { EINTR: null, EIO: 'ERR_READ', ESTALE: 'ERR_READ', EACCES: 'ERR_UNREADABLE' },
  read: {
    EINTR: null,
    short: null,
    EIO: 'ERR_READ',
    ESTALE: 'ERR_READ',
    EACCES: 'ERR_UNREADABLE',
    end: 'ERR_FILE_CHANGED',
  },
  // It may be refused: nothing depends on it.
  advise: { EINVAL: null, ENOSYS: null, EIO: null },
};

interface Outcome {
  /** SHA-256 of the torrent. */
  torrent?: string;
  error?: unknown;
}

/** The job of a child: the same again and again. */
class Bench {
  readonly #draft: TorrentCreate;
  readonly #options: GenerateOptions;
  #clean = '';
  #leftovers!: Leftovers;
  readonly report: FaultReport = {
    clean: '',
    counts: faults.counts(),
    cases: 0,
    fired: 0,
    readers: 0,
    problems: [],
    outcomes: [],
  };

  constructor(pieceLength: number, options: GenerateOptions) {
    this.#draft = new TorrentCreate({ pathRoot: folder, pieceLength });
    this.#options = options;
  }

  get threads(): number {
    return this.#options.threads ?? 1;
  }

  /** Runs the job without faults, once to start what threads the process has, and once to count. */
  async begin(): Promise<Counts> {
    await this.#run();
    this.#leftovers = new Leftovers(folder);
    faults.arm(null);
    const { torrent, error } = await this.#run();
    if (!torrent) throw error;
    this.#clean = torrent;
    const counts = faults.counts();
    Object.assign(this.report, { clean: torrent, counts });
    return counts;
  }

  async #run(options: GenerateOptions = {}): Promise<Outcome> {
    try {
      const torrent = await this.#draft.generate({ ...this.#options, ...options });
      return { torrent: createHash('sha256').update(torrent.bencode()).digest('hex') };
    } catch (error) {
      return { error };
    }
  }

  /** Runs the job with a fault, and `meanwhile` beside it. */
  async attempt(fault: Fault, expected: Expected, { options, what, meanwhile }: Circumstances = {}): Promise<Counts> {
    faults.arm(fault);
    const running = this.#run(options);
    if (meanwhile) await whenStalled(running, meanwhile);
    const outcome = await running;
    const counts = faults.counts();
    // Whether the system is told what comes next depends on how long reads take.
    if (counts.fired > 0 || fault.call === 'advise') this.report.fired += 1;
    this.report.readers = Math.max(this.report.readers, counts.readers);
    const problems = this.#judge(outcome, counts.fired > 0 ? expected : null, fault, counts.paths);
    await this.#conclude([what ?? '', ...Object.values(fault)].join(' ').trim(), outcome, problems);
    return counts;
  }

  /** Runs the job with no descriptor left: none to scan with, or none to hash with. */
  async starve(when: 'scan' | 'hash'): Promise<void> {
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
    const outcome = await this.#run({ engine: when === 'scan' ? engine : starving });
    release();
    const { path: named = '' } = (outcome.error ?? {}) as Partial<MetainfoError>;
    const problems = this.#judge(outcome, 'ERR_NO_DESCRIPTORS', null, [named]);
    const right = when === 'scan' ? named === folder : named.startsWith(`${folder}/`);
    if (!right) problems.push(`${named} was named`);
    await this.#conclude(`no descriptor to ${when} with`, outcome, problems);
  }

  async #conclude(title: string, { error }: Outcome, problems: string[]): Promise<void> {
    this.report.cases += 1;
    this.report.outcomes.push((error as MetainfoError | undefined)?.code ?? 'hashed');
    const all = [...problems, ...(await this.#leftovers.problems(() => faults.counts().open))];
    this.report.problems.push(...all.map((problem) => `${title}: ${problem}`));
  }

  /** What is wrong with how the job ended. */
  #judge({ torrent, error }: Outcome, expected: Expected, fault: Fault | null, paths: string[]): string[] {
    if (torrent !== undefined) {
      if (expected !== null) return [`it succeeded, not ${expected}`];
      return torrent === this.#clean ? [] : ['a wrong torrent'];
    }
    if (!(error instanceof MetainfoError)) return [`untyped: ${error}`];
    const { code, path: named = '', message } = error;
    if (![expected].flat().includes(code)) return [`${code} (${message}), not ${expected}`];
    if (code === 'ERR_ABORTED') return [];
    const problems: string[] = [];
    if (!paths.includes(named)) problems.push(`${named} was named, not ${paths}`);
    if (!message.startsWith(named)) problems.push(`a message that does not begin with the file: ${message}`);
    const system = (error.cause as NodeJS.ErrnoException | undefined)?.code;
    if (fault && /^E[A-Z]+$/.test(fault.action) && system !== fault.action) problems.push(`the cause was ${system}`);
    return problems;
  }
}

type Meanwhile = (file: string) => Promise<unknown> | unknown;

interface Circumstances {
  options?: GenerateOptions;
  /** For the title. */
  what?: string;
  /** Done while the job stands still in a call on this file. */
  meanwhile?: Meanwhile;
}

/** Does something while a job stands still in a call, then lets it go on. */
async function whenStalled(running: Promise<Outcome>, meanwhile: Meanwhile): Promise<void> {
  let ended = false;
  void running.then(() => {
    ended = true;
  });
  for (;;) {
    const [file] = faults.counts().paths;
    if (file !== undefined) await meanwhile(file);
    if (file !== undefined || ended) break;
    await sleep(1);
  }
  faults.go();
}

/** 1 to `count`, or some of them, the first and the last among them. */
function spread(count: number): number[] {
  const size = Math.min(count, MOST_CALLS);
  const numbers = Array.from({ length: size }, (_, i) => 1 + Math.round((i * (count - 1)) / Math.max(1, size - 1)));
  return [...new Set(numbers)];
}

/** Numbers from 0 to 1, the same for the same seed: Lehmer's. */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
}

/** When the file that changes was written, in seconds: a date that can be set again to the nanosecond. */
const DATE = 1_000_000_000;

/** What may happen to a file, of which there is a copy. */
const CHANGES: Record<string, (file: string, copy: string) => Promise<unknown>> = {
  grows: (file) => appendFile(file, 'x'),
  'loses a byte': async (file) => truncate(file, (await stat(file)).size - 1),
  'is emptied': (file) => truncate(file, 0),
  'is deleted': (file) => unlink(file),
  'is touched': (file) => utimes(file, 1, 1),
  async 'grows without a trace'(file) {
    await appendFile(file, 'x');
    await utimes(file, DATE, DATE);
  },
  async 'is replaced by its like'(file, copy) {
    const other = `${copy}-2`;
    await copyFile(copy, other);
    await utimes(other, DATE, DATE);
    await rename(other, file);
  },
  async 'becomes a folder'(file) {
    await unlink(file);
    await mkdir(file);
  },
  async 'has a file for its folder'(file) {
    await rm(path.dirname(file), { recursive: true });
    await writeFile(path.dirname(file), '');
  },
};

/** When it becomes a folder: what finds the folder may be this call, or be another thread, sooner or later. */
function expectedOf(change: string, stalled: Fault['call'], { threads }: Bench): Expected {
  if (change !== 'becomes a folder') return 'ERR_FILE_CHANGED';
  if (threads > 1) return ['ERR_FILE_CHANGED', 'ERR_NOT_A_FILE'];
  return stalled === 'open' ? 'ERR_NOT_A_FILE' : 'ERR_FILE_CHANGED';
}

/** Writes a file anew, as it was. */
async function restore(file: string, copy: string): Promise<void> {
  const parent = path.dirname(file);
  if (!(await stat(parent).catch(() => null))?.isDirectory()) await rm(parent, { force: true });
  await rm(file, { recursive: true, force: true });
  await mkdir(parent, { recursive: true });
  await copyFile(copy, file);
  await utimes(file, DATE, DATE);
}

/** Opens descriptors until only so many are free; what closes them again. */
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

const scenarios = {
  /** Every call in turn goes wrong in every way. */
  async sweep(bench: Bench): Promise<void> {
    const { calls } = await bench.begin();
    for (const call of READING) {
      for (const [action, expected] of Object.entries(HARM[call]) as [Fault['action'], Expected][]) {
        for (const first of spread(calls[call])) await bench.attempt({ call, action, first }, expected);
        // Again and again: an interruption is over when the call is made anew, a short read need not be.
        const every = action === 'EINTR' ? 2 : 1;
        if (calls[call] > 0) await bench.attempt({ call, action, every }, expected);
      }
    }
  },

  /** Any call goes wrong in any way. */
  async random(bench: Bench, seed: string, count: string): Promise<void> {
    const { calls } = await bench.begin();
    const random = randomOf(Number(seed));
    const pick = <T>(items: readonly T[]) => items[Math.floor(random() * items.length)] as T;
    for (let i = 0; i < Number(count); i += 1) {
      const call = pick(['open', 'fstat', 'read', 'read', 'read'] as const);
      const [action, expected] = pick(Object.entries(HARM[call])) as [Fault['action'], Expected];
      const first = 1 + Math.floor(random() * calls[call]);
      const every = action === 'EINTR' ? 2 : pick([0, 0, 1, 7]);
      await bench.attempt({ call, action, first, every }, expected, { options: { threads: pick([1, 2, 3, 8]) } });
    }
  },

  /** A file changes while the job stands still in a call on it. */
  async changes(bench: Bench, file: string): Promise<void> {
    const copy = path.join(path.dirname(folder), 'copy');
    await copyFile(file, copy);
    await restore(file, copy);
    await bench.begin();
    for (const call of ['open', 'fstat', 'read'] as const) {
      // Comes never, and so counts.
      const { matched: made } = await bench.attempt({ call, action: 'stall', first: NEVER, match: file }, null);
      for (const first of new Set([1, Math.ceil(made / 2), made])) {
        for (const [what, change] of Object.entries(CHANGES)) {
          // What is opened is what is found there: there is no telling it from what was scanned.
          if (call === 'open' && what === 'is replaced by its like') continue;
          const expected = expectedOf(what, call, bench);
          const fault: Fault = { call, action: 'stall', first, match: file };
          const meanwhile = () => change(file, copy);
          await bench.attempt(fault, expected, { what, meanwhile });
          await restore(file, copy);
        }
      }
    }
  },

  /** The job is cancelled while it stands still. */
  async cancel(bench: Bench): Promise<void> {
    const clean = await bench.begin();
    for (const call of ['open', 'fstat', 'read'] as const) {
      const controller = new AbortController();
      const fault: Fault = { call, action: 'stall', every: 1 };
      const options = { signal: controller.signal };
      const { calls } = await bench.attempt(fault, 'ERR_ABORTED', { options, meanwhile: () => controller.abort() });
      if (calls.read > clean.calls.read / 2) bench.report.problems.push(`${call}: it went on for ${calls.read} reads`);
    }
  },

  /** Few descriptors are free, and none. */
  async descriptors(bench: Bench, threads: string): Promise<void> {
    // As many as the documents allow, and one to read folders with.
    const release = hog(16 * Number(threads) + 1);
    await bench.begin();
    release();
    await bench.starve('scan');
    await bench.starve('hash');
  },
};

export type FaultScenario = keyof typeof scenarios;

const [name, pieceLength, options, ...args] = process.argv.slice(2) as [FaultScenario, string, string, ...string[]];
const bench = new Bench(Number(pieceLength), JSON.parse(options) as GenerateOptions);
await (scenarios[name] as (bench: Bench, ...args: string[]) => Promise<void>)(bench, ...args);
writeSync(1, `${JSON.stringify(bench.report)}\n`);
