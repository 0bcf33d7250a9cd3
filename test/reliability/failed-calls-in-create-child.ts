/** Runs many fault cases of one job. failed-calls-in-create.test.ts starts it as a process of its own, with the shim of test/support/faults preloaded. */
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
import { stepping } from '../../src/hash/steps.ts';
import { type Counts, type Fault, Faults, READING } from '../support/faults.ts';
import { Leftovers } from './leftovers.ts';

/** The report of a child. */
export interface FaultReport {
  /** The SHA-256 of the torrent that it made without faults. */
  clean: string;
  counts: Counts;
  /** The number of cases, and of those whose fault occurred. */
  cases: number;
  fired: number;
  /** The highest number of threads that read in one job. */
  readers: number;
  /** Failures by case. */
  problems: string[];
  /** The results of the jobs. */
  outcomes: string[];
}

/** The codes that a job may end with; null if it must make the same torrent as without faults. */
type Expected = MetainfoErrorCode | readonly MetainfoErrorCode[] | null;

const [folder, control] = [process.env['METAINFO_FAULT_FOLDER'], process.env['METAINFO_FAULT_CONTROL']] as [
  string,
  string,
];
const faults = Faults.open(control);
// Each fault occurs once: a further attempt would hide it.
stepping.pausesMs = [];

/** More calls than any job makes. */
const NEVER = 2 ** 40;

/** If a job makes more calls, only a sample of them fails. */
const MOST_CALLS = 40;

const HARM: Record<(typeof READING)[number], Partial<Record<Fault['action'], Expected>>> = {
  open: {
    EINTR: null,
    EIO: 'ERR_READ',
    ESTALE: 'ERR_READ',
    EMFILE: 'ERR_NO_DESCRIPTORS',
    ENFILE: 'ERR_NO_DESCRIPTORS',
    EACCES: 'ERR_UNREADABLE',
    // The scan has found the file before.
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
  // posix_fadvise may fail without consequences.
  advise: { EINVAL: null, ENOSYS: null, EIO: null },
};

interface Outcome {
  /** The SHA-256 of the torrent. */
  torrent?: string;
  error?: unknown;
}

/** The job of a child, which runs many times. */
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

  /** Runs the job twice without faults: once to start all threads of the process, and once to count the calls. */
  async begin(): Promise<Counts> {
    this.#leftovers = await Leftovers.of(folder);
    await this.#run();
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

  /** Runs the job with a fault, and `meanwhile` at the same time. */
  async attempt(fault: Fault, expected: Expected, { options, what, meanwhile }: Circumstances = {}): Promise<Counts> {
    faults.arm(fault);
    const running = this.#run(options);
    if (meanwhile) await whenStalled(running, meanwhile);
    const outcome = await running;
    const counts = faults.counts();
    // The number of posix_fadvise calls depends on how long reads take.
    if (counts.fired > 0 || fault.call === 'advise') this.report.fired += 1;
    this.report.readers = Math.max(this.report.readers, counts.readers);
    const problems = this.#judge(outcome, counts.fired > 0 ? expected : null, fault, counts.paths);
    await this.#conclude([what ?? '', ...Object.values(fault)].join(' ').trim(), outcome, problems);
    return counts;
  }

  /** Runs the job without free descriptors for the scan or for hashing. */
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

  async end(): Promise<void> {
    this.report.problems.push(...(await this.#leftovers.threadsAtEnd()));
  }

  async #conclude(title: string, { error }: Outcome, problems: string[]): Promise<void> {
    this.report.cases += 1;
    this.report.outcomes.push((error as MetainfoError | undefined)?.code ?? 'hashed');
    const all = [...problems, ...(await this.#leftovers.problems(() => faults.counts()))];
    this.report.problems.push(...all.map((problem) => `${title}: ${problem}`));
  }

  /** Returns the problems of how the job ended. */
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
  /** The name of the case. */
  what?: string;
  /** Runs while the job is stalled in a call on this file. */
  meanwhile?: Meanwhile;
}

/** Does something while a job is stalled in a call, then lets it continue. */
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

/** Returns the numbers from 1 to `count`, or a sample with the first and the last. */
function spread(count: number): number[] {
  const size = Math.min(count, MOST_CALLS);
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

/** The modification time of the file that changes, in whole seconds, so that it can be restored exactly. */
const DATE = 1_000_000_000;

/** Changes of a file, of which a copy exists. */
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

/** The file becomes a folder: this call, or another thread sooner or later, finds the folder. */
function expectedOf(change: string, stalled: Fault['call'], { threads }: Bench): Expected {
  if (change !== 'becomes a folder') return 'ERR_FILE_CHANGED';
  if (threads > 1) return ['ERR_FILE_CHANGED', 'ERR_NOT_A_FILE'];
  return stalled === 'open' ? 'ERR_NOT_A_FILE' : 'ERR_FILE_CHANGED';
}

/** Restores a file. */
async function restore(file: string, copy: string): Promise<void> {
  const parent = path.dirname(file);
  if (!(await stat(parent).catch(() => null))?.isDirectory()) await rm(parent, { force: true });
  await rm(file, { recursive: true, force: true });
  await mkdir(parent, { recursive: true });
  await copyFile(copy, file);
  await utimes(file, DATE, DATE);
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

const scenarios = {
  /** Lets each call fail in every way. */
  async sweep(bench: Bench): Promise<void> {
    const { calls } = await bench.begin();
    for (const call of READING) {
      for (const [action, expected] of Object.entries(HARM[call]) as [Fault['action'], Expected][]) {
        for (const first of spread(calls[call])) await bench.attempt({ call, action, first }, expected);
        // The fault repeats: an interrupted call succeeds when retried, but a short read may follow another.
        const every = action === 'EINTR' ? 2 : 1;
        if (calls[call] > 0) await bench.attempt({ call, action, every }, expected);
      }
    }
  },

  /** Lets random calls fail in random ways. */
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

  /** Changes a file while the job is stalled in a call on it. */
  async changes(bench: Bench, file: string): Promise<void> {
    const copy = path.join(path.dirname(folder), 'copy');
    await copyFile(file, copy);
    await restore(file, copy);
    await bench.begin();
    for (const call of ['open', 'fstat', 'read'] as const) {
      // This fault never occurs and only counts the calls.
      const { matched: made } = await bench.attempt({ call, action: 'stall', first: NEVER, match: file }, null);
      for (const first of new Set([1, Math.ceil(made / 2), made])) {
        for (const [what, change] of Object.entries(CHANGES)) {
          // The job opens the new file, which it cannot distinguish from the one that was scanned.
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

  /** Cancels the job while it is stalled. */
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

  /** Runs the job with few or no free descriptors. */
  async descriptors(bench: Bench, threads: string): Promise<void> {
    // As many as the documentation promises.
    const release = hog(17 * Number(threads));
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
await bench.end();
writeSync(1, `${JSON.stringify(bench.report)}\n`);
