// What fault-jobs.test.ts runs in a process of its own, with the shim of test/support/faults preloaded: one job again and
// again, each time with another call of its that goes wrong.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  appendFileSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { DEFAULT_LIMITS } from '../../src/bencode/limits.ts';
import { cacheStats, clearCache } from '../../src/create/cache.ts';
import { TorrentCreate } from '../../src/create/draft.ts';
import { readWithin } from '../../src/disk/read-file.ts';
import { edit } from '../../src/edit/edit.ts';
import { update } from '../../src/edit/update.ts';
import { upgrade } from '../../src/edit/upgrade.ts';
import { ERROR_CODES, type MetainfoErrorCode } from '../../src/errors/codes.ts';
import { MetainfoError } from '../../src/errors/errors.ts';
import { HybridHasher } from '../../src/hashers/hybrid-hasher.ts';
import { iterBlocks } from '../../src/hashers/records.ts';
import { Torrent } from '../../src/model/torrent.ts';
import type { VerifyReport } from '../../src/verify/report.ts';
import { verify } from '../../src/verify/verify.ts';
import { noise } from '../hash/reference.ts';
import { CALLS, type Call, type Counts, type Fault, Faults } from '../support/faults.ts';
import { Leftovers } from './leftovers.ts';

/** What a child tells in the end. */
export interface FaultJobReport {
  cases: number;
  /** Cases whose fault came about. */
  fired: number;
  /** What went wrong, by the case. */
  problems: string[];
  /** What the cases ended with, and how often. */
  outcomes: Record<string, number>;
  /** Calls of each version in a run without faults. */
  calls: Record<Call, number>;
}

const work = process.env['METAINFO_FAULT_FOLDER'] as string;
const control = process.env['METAINFO_FAULT_CONTROL'] as string;
const [data, out, cache] = ['data', 'out', 'cache'].map((name) => path.join(work, name)) as [string, string, string];
/** Where the shim does not look. */
const kept = path.join(path.dirname(work), 'kept');

const PIECE = 16_384;
const FILES: Record<string, number> = { a: 2 * PIECE + 777, 'b/c': 100, 'b/empty': 0, 'b/piece': PIECE };
const BEFORE = new Date(1_000_000_000_000);
/** After the files of the old torrent were made, before others came. */
let since = new Date(0);
const AFTER = new Date(1_200_000_000_000);

const draft = new TorrentCreate({ pathRoot: data, pieceLength: PIECE, createdBy: null });
const inCache = new TorrentCreate({ pathRoot: data, pieceLength: PIECE, createdBy: null });
const hashOf = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');
const target = path.join(out, 'a.torrent');

interface Job {
  /** Puts what the job needs into `out` and `cache`, which are empty. */
  prepare?: () => void;
  /** What comes out is text, the same each time. */
  run: (signal?: AbortSignal) => Promise<string>;
  /** Whether it takes a signal. */
  stops?: boolean;
  usesCache?: boolean;
  /** What it may end with, when it is not by the call. */
  codes?: readonly MetainfoErrorCode[];
  /** Other results that are right when that call went wrong. */
  accepts?: (result: string, clean: string, paths: string[]) => boolean;
  /** What is wrong with what it left. */
  check?: (after: { isDone: boolean; before: Map<string, string> }) => Promise<string[]> | string[];
}

const contentOf = (folder: string) =>
  new Map(readdirSync(folder).map((name) => [name, hashOf(readFileSync(path.join(folder, name)))]));

/** The whole new torrent, or what was there. */
const oldOrNew: NonNullable<Job['check']> = ({ isDone, before }) => {
  const now = contentOf(out);
  const old = before.get('a.torrent');
  const written = now.get('a.torrent');
  const problems: string[] = [];
  if (written !== old && written !== fresh) problems.push(`half of the output is there`);
  if (isDone && written !== fresh) problems.push('it is done, and the output is not there');
  const others = [...now.keys()].filter((name) => !before.has(name) && name !== 'a.torrent');
  if (others.length > 0 && lastCall !== 'unlink') problems.push(`left in the folder: ${others}`);
  return problems;
};
/** Of the output that the job makes when all goes well. */
let fresh = '';
let lastCall: Call | null = null;

/** The cache tells what is right, also after something went wrong with it. */
async function cacheIsRight(): Promise<string[]> {
  const torrent = await inCache.generate({ cache });
  return hashOf(torrent.bencode()) === full ? [] : ['the cache is wrong'];
}
let full = '';

const torrents: Record<string, Uint8Array> = {};
const put = (name: string) => () => writeFileSync(target, torrents[name] as Uint8Array);

async function written(torrent: Torrent, options: { force?: boolean; mtime?: Date }): Promise<string> {
  await torrent.write(target, options);
  return hashOf(torrent.bencode());
}

/** Files that were hit, and no others, are not complete; and it is said why. */
function acceptsReport(result: string, clean: string, paths: string[]): boolean {
  const [found, expected] = [JSON.parse(result), JSON.parse(clean)] as [VerifyReport, VerifyReport];
  return found.files.every((file, i) => {
    if (JSON.stringify(file) === JSON.stringify(expected.files[i])) return true;
    const isHit = paths.some(
      (hit) => path.join(data, file.path).startsWith(hit) || leadsTo(hit, path.join(data, file.path)),
    );
    // What shares a v1 piece with it cannot be told; here all files begin with one.
    return isHit && (file.status === 'missing' || (file.status === 'unreadable' && (file.problem ?? '') !== ''));
  });
}

const JOBS: Record<string, Job> = {
  create: {
    stops: true,
    run: async (signal) => written(await draft.generate({ signal, threads: 1 }), {}),
    check: oldOrNew,
  },
  'create, v1, over another': {
    prepare: put('old'),
    stops: true,
    run: async (signal) => written(await draft.generate({ signal, version: 'v1', threads: 2 }), { force: true }),
    check: oldOrNew,
  },
  verify: {
    prepare: put('full'),
    stops: true,
    run: async (signal) => JSON.stringify(await verify(await Torrent.read(target), data, { signal, threads: 1 })),
    accepts: acceptsReport,
  },
  update: {
    prepare: put('old'),
    stops: true,
    async run(signal) {
      const { torrent } = await update(await Torrent.read(target), data, { signal, since, threads: 1 });
      return written(torrent, { force: true, mtime: AFTER });
    },
    check: oldOrNew,
  },
  upgrade: {
    prepare: put('v1'),
    stops: true,
    async run(signal) {
      const { torrent } = await upgrade(await Torrent.read(target), data, { signal, threads: 1 });
      return written(torrent, { force: true });
    },
    check: oldOrNew,
  },
  edit: {
    prepare: put('full'),
    run: async () => written(edit(await Torrent.read(target), { comment: 'other' }), { force: true, mtime: AFTER }),
    check: oldOrNew,
  },
  'show, validate': {
    prepare: put('full'),
    async run() {
      const [torrent, bytes] = [await Torrent.read(target), await readWithin(target, DEFAULT_LIMITS.bytes)];
      return JSON.stringify([torrent.infohashV2, Torrent.inspect(bytes).issues]);
    },
  },
  hashers: {
    stops: true,
    async run(signal) {
      const blocks: string[] = [];
      for await (const { chunk } of iterBlocks(path.join(data, 'a'), { signal })) blocks.push(hashOf(chunk));
      const hasher = new HybridHasher({ pathRoot: data, paths: ['a', 'b/c'], pieceLength: PIECE });
      const hashes = await hasher.process({ signal });
      return JSON.stringify([blocks, hashes.map(({ hash }) => Buffer.from(hash).toString('hex'))]);
    },
  },
  'a new cache': {
    usesCache: true,
    stops: true,
    run: async (signal) => hashOf((await inCache.generate({ cache, signal, threads: 1 })).bencode()),
    check: cacheIsRight,
  },
  'a cache that knows all': {
    usesCache: true,
    prepare: () => cpSync(path.join(kept, 'full'), cache, { recursive: true }),
    stops: true,
    run: async (signal) => hashOf((await inCache.generate({ cache, signal, threads: 1 })).bencode()),
    check: cacheIsRight,
  },
  'a cache that knows some': {
    usesCache: true,
    prepare: () => cpSync(path.join(kept, 'some'), cache, { recursive: true }),
    stops: true,
    run: async (signal) => hashOf((await inCache.generate({ cache, signal, threads: 1 })).bencode()),
    check: cacheIsRight,
  },
  'a cache that is counted and cleared': {
    usesCache: true,
    codes: ['ERR_CACHE'],
    prepare: () => cpSync(path.join(kept, 'full'), cache, { recursive: true }),
    async run() {
      const { entries } = await cacheStats(cache);
      await clearCache(cache);
      return String(entries);
    },
    // A file that is not there holds nothing.
    accepts: (result, clean) => Number(result) < Number(clean),
    check: cacheIsRight,
  },
};

/** How calls of each version go wrong. */
const HARM: Partial<Record<Call, Fault['action'][]>> = {
  open: ['EIO', 'EMFILE', 'ENOENT', 'ESTALE', 'EACCES', 'EINTR'],
  fstat: ['EIO', 'ESTALE', 'EINTR'],
  read: ['EIO', 'short', 'EINTR', 'end', 'ESTALE'],
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

/** Codes that a job may end with; where there are none it must succeed. */
const CODES: Record<string, readonly MetainfoErrorCode[]> = {
  EIO: ['ERR_READ', 'ERR_WRITE'],
  ESTALE: ['ERR_READ', 'ERR_WRITE'],
  ENOLCK: [],
  ENOMEM: [],
  EPERM: ['ERR_UNREADABLE', 'ERR_WRITE'],
  EACCES: ['ERR_UNREADABLE', 'ERR_WRITE'],
  EMFILE: ['ERR_NO_DESCRIPTORS'],
  ENOSPC: ['ERR_NO_SPACE'],
  EDQUOT: ['ERR_NO_SPACE'],
  ENOENT: ['ERR_NOT_FOUND', 'ERR_FILE_CHANGED', 'ERR_BROKEN_LINK', 'ERR_HASH_MISMATCH'],
  EINTR: [],
  short: [],
  end: ['ERR_FILE_CHANGED', 'ERR_BENCODE'],
  stall: ['ERR_ABORTED'],
};

const faults = Faults.open(control);
const report: FaultJobReport = { cases: 0, fired: 0, problems: [], outcomes: {}, calls: faults.counts().calls };
const warnings: string[] = [];
process.removeAllListeners('warning').on('warning', (warning) => {
  const { code, message } = warning as Error & { code?: string };
  if (code !== undefined) warnings.push(`${code} ${message}`);
});
const unhandled: unknown[] = [];
process.on('unhandledRejection', (error) => unhandled.push(error));

/** No job makes so many calls. */
const NEVER = 2 ** 40;

type Outcome = { result: string } | { error: unknown };

class Bench {
  readonly #name: string;
  readonly #job: Job;
  readonly #leftovers: Leftovers;
  #clean = '';

  private constructor(name: string, job: Job) {
    this.#name = name;
    this.#job = job;
    this.#leftovers = new Leftovers(work);
  }

  /** Runs the job without faults, so that all threads there are, and to count. */
  static async begin(name: string): Promise<Bench> {
    const job = JOBS[name] as Job;
    clear(job);
    await job.run();
    const bench = new Bench(name, job);
    clear(job);
    faults.arm(null);
    bench.#clean = await job.run();
    report.calls = faults.counts().calls;
    fresh = contentOf(out).get('a.torrent') ?? '';
    return bench;
  }

  /** How many such calls the job makes. */
  async count(fault: Pick<Fault, 'call' | 'elsewhere' | 'match'>): Promise<number> {
    clear(this.#job);
    faults.arm({ ...fault, action: 'EIO', first: NEVER });
    await this.#job.run();
    return faults.counts().matched;
  }

  async attempt(fault: Fault): Promise<void> {
    clear(this.#job);
    const before = contentOf(out);
    lastCall = fault.call;
    warnings.length = 0;
    const stop = new AbortController();
    faults.arm(fault);
    const running = this.#start(this.#job.stops ? stop.signal : undefined);
    if (fault.action === 'stall') {
      await isStalled(running);
      stop.abort();
      await sleep(2);
      faults.go();
    }
    const outcome = await running;
    // Before the shim forgets that stalled calls may go on.
    const left = await this.#leftovers.problems(() => faults.counts().open);
    const counts = faults.counts();
    faults.arm(null);
    const isDone = 'result' in outcome;
    const problems = counts.fired > 0 ? this.#judge(outcome, fault, counts) : [];
    if (isDone && counts.fired === 0 && outcome.result !== this.#clean) problems.push('a wrong result without a fault');
    problems.push(...left);
    problems.push(...((await this.#job.check?.({ isDone, before })) ?? []));
    const title = `${Object.entries(fault)
      .map(([key, value]) => `${key} ${value}`)
      .join(', ')} at ${counts.paths.map((at) => path.relative(work, at))}`;
    this.#conclude(title, { outcome, counts, problems });
  }

  /** A file changes while the job stands still in a call on it. */
  async change(fault: Fault, file: string, what: string): Promise<void> {
    clear(this.#job);
    warnings.length = 0;
    faults.arm({ ...fault, action: 'stall', match: file });
    const running = this.#start();
    if (await isStalled(running)) CHANGES[what]?.(file);
    faults.go();
    const outcome = await running;
    const problems = await this.#leftovers.problems(() => faults.counts().open);
    const counts = faults.counts();
    faults.arm(null);
    if ('error' in outcome) {
      const { error } = outcome;
      const { code = '', message } = error as Partial<MetainfoError> & Error;
      if (!(error instanceof MetainfoError) || !CODES_OF_CHANGE.includes(code)) problems.push(`${error}`);
      else if (!message.includes(path.relative(data, file))) problems.push(`the message: ${message}`);
    } else if (outcome.result !== this.#clean && outcome.result !== (await this.#again())) {
      // Nothing, or all of the change.
      if (!this.#job.accepts?.(outcome.result, this.#clean, [file])) problems.push(`a wrong result: ${outcome.result}`);
    }
    if (this.#job.usesCache) problems.push(...(await cacheIsAsWithout()));
    restore(file);
    this.#conclude(`${what} in ${Object.values(fault).join(' ')}`, { outcome, counts, problems });
  }

  /** What comes out now, from the beginning. */
  async #again(): Promise<string> {
    clear(this.#job);
    return this.#job.run().catch((error: unknown) => String(error));
  }

  #start(signal?: AbortSignal): Promise<Outcome> {
    return this.#job.run(signal).then(
      (result): Outcome => ({ result }),
      (error: unknown): Outcome => ({ error }),
    );
  }

  #conclude(
    title: string,
    { outcome, counts, problems }: { outcome: Outcome; counts: Counts; problems: string[] },
  ): void {
    for (const error of unhandled.splice(0)) problems.push(`a rejection that nobody handles: ${error}`);
    const done = warnings.length > 0 ? 'done, with a warning' : 'done';
    const code = 'result' in outcome ? done : (outcome.error as MetainfoError).code;
    report.cases += 1;
    report.fired += counts.fired > 0 ? 1 : 0;
    report.outcomes[code] = (report.outcomes[code] ?? 0) + 1;
    report.problems.push(...problems.map((problem) => `${this.#name}: ${title}: ${problem}`));
  }

  #judge(outcome: Outcome, { action }: Fault, { paths }: Counts): string[] {
    // Node tells of warnings in its next tick, which is over.
    // Some of the files have pads of one length.
    const isExpected = (text: string) =>
      text.startsWith(`ERR_CACHE The cache in ${cache} `) || text.startsWith('pad_names ');
    const strange = warnings.filter((text) => !isExpected(text));
    if (strange.length > 0) return [`it warned of ${strange}`];
    if ('result' in outcome) {
      const { result } = outcome;
      if (result !== this.#clean && !this.#job.accepts?.(result, this.#clean, paths))
        return [`a wrong result: ${result}`];
      return [];
    }
    const { error } = outcome;
    if (!(error instanceof MetainfoError)) return [`untyped: ${error instanceof Error ? error.stack : error}`];
    const { code, path: named = '', message } = error;
    if (!(code in ERROR_CODES)) return [`no code: ${code}`];
    if (code === 'ERR_ABORTED') return action === 'stall' ? [] : ['it was aborted'];
    const expected = this.#job.codes ?? CODES[action];
    if (!expected?.includes(code)) return [`${code} (${message}), not ${expected}`];
    // The list of what is not of the torrent names its files by their paths there.
    if (code === 'ERR_HASH_MISMATCH')
      return paths.some((at) => message.includes(path.relative(data, at))) ? [] : [message];
    const isNamed = paths.some(
      (at) => at === named || at.startsWith(`${named}/`) || isBeside(at, named) || leadsTo(at, named),
    );
    const problems = isNamed ? [] : [`${named} was named (${message})`];
    if (!message.includes(named) || message.includes('undefined')) problems.push(`the message: ${message}`);
    return problems;
  }
}

/** The user knows a link by its own name. */
const leadsTo = (at: string, named: string) => at === path.join(data, 'a') && named === path.join(data, 'link');

/** The temporary file of an output stands for it. */
const isBeside = (at: string, named: string) => path.dirname(at) === out && named === target;

function clear(job: Job): void {
  for (const folder of [out, cache]) rmSync(folder, { recursive: true, force: true });
  mkdirSync(out);
  job.prepare?.();
}

/** Whether a job stands still, or has ended before it did. */
async function isStalled(running: Promise<Outcome>): Promise<boolean> {
  let ended = false;
  void running.then(() => {
    ended = true;
  });
  while (!ended && faults.counts().fired === 0) await sleep(1);
  return !ended;
}

/** What may happen to a file. One that is written to in place and given its old time again is not noticed. */
const CHANGES: Record<string, (file: string) => void> = {
  'is cut': (file) => truncateSync(file, 10),
  grows: (file) => appendFileSync(file, 'x'),
  'is written anew': (file) => writeFileSync(file, noise(3 * PIECE, 7)),
  'is deleted': (file) => unlinkSync(file),
  'is deleted and made again'(file) {
    unlinkSync(file);
    writeFileSync(file, noise(3 * PIECE, 7));
    utimesSync(file, AFTER, AFTER);
  },
  'is replaced by a FIFO'(file) {
    unlinkSync(file);
    execFileSync('mkfifo', [file]);
  },
};
const CODES_OF_CHANGE = ['ERR_FILE_CHANGED', 'ERR_NOT_A_FILE', 'ERR_HASH_MISMATCH'];

/** Writes a file anew, as it was. */
function restore(file: string): void {
  rmSync(file, { force: true });
  writeFileSync(file, noise(3 * PIECE, 6));
  utimesSync(file, AFTER, AFTER);
}

/** Whatever the files are now. */
async function cacheIsAsWithout(): Promise<string[]> {
  const [one, other] = await Promise.all(
    [{}, { cache }].map((options) => inCache.generate(options).then(({ infohashV2 }) => infohashV2, String)),
  );
  return one === other ? [] : [`with the cache it is ${other}, not ${one}`];
}

/** Files, the torrents that jobs begin with, and caches that know of them. */
async function setUp(): Promise<void> {
  for (const [name, size] of Object.entries(FILES)) {
    const file = path.join(data, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, noise(size, size + 1));
    utimesSync(file, BEFORE, BEFORE);
  }
  const old = await draft.generate({});
  await sleep(50);
  await inCache.generate({ cache: path.join(kept, 'some') });
  since = new Date();
  await sleep(50);
  // Since then one file was changed, and others came.
  writeFileSync(path.join(data, 'b/piece'), noise(PIECE, 5));
  writeFileSync(path.join(data, 'b/new'), noise(3 * PIECE, 6));
  for (const name of ['b/piece', 'b/new']) utimesSync(path.join(data, name), AFTER, AFTER);
  symlinkSync('a', path.join(data, 'link'));
  await sleep(50);
  const now = await inCache.generate({ cache: path.join(kept, 'full') });
  torrents['old'] = old.bencode();
  torrents['full'] = now.bencode();
  torrents['v1'] = (await draft.generate({ version: 'v1' })).bencode();
  full = hashOf(now.bencode());
}

/** 1 to `count`, or as many of them, the first and the last among them. */
function spread(count: number, most: number): number[] {
  const size = Math.min(count, most);
  const numbers = Array.from({ length: size }, (_, i) => 1 + Math.round((i * (count - 1)) / Math.max(1, size - 1)));
  return [...new Set(numbers)];
}

/** Every call of the job, or some, in all the ways of its version, or some. */
async function sweep(bench: Bench, job: Job, most: string): Promise<void> {
  for (const call of CALLS) {
    const common = { call };
    const calls = await bench.count(common);
    const actions = HARM[call] ?? [];
    // Advice, which is not always given.
    if (actions.length === 0) continue;
    if (most === 'all') {
      for (let first = 1; first <= calls; first += 1)
        for (const action of [...actions, 'stall'] as const) await bench.attempt({ ...common, action, first });
    } else if (calls > 0) {
      // Each call in one way, and each way at one call at least.
      const numbers = spread(calls, Math.max(Number(most), actions.length));
      for (let i = 0; i < Math.max(numbers.length, actions.length); i += 1) {
        const action = actions[i % actions.length] as Fault['action'];
        await bench.attempt({ ...common, action, first: numbers[i % numbers.length] as number });
      }
      await bench.attempt({ ...common, action: 'stall', first: Math.ceil(calls / 2) });
    }
    // All from the first on.
    if (!job.usesCache || report.calls[call] === 0) continue;
    for (const action of actions)
      if (/^E(?!INTR)/.test(action)) await bench.attempt({ call, action, every: 1, match: cache });
  }
}

/** A file changes as it is opened, looked at and read. */
async function changes(bench: Bench): Promise<void> {
  const file = path.join(data, 'b/new');
  for (const call of ['open', 'fstat', 'read'] as const) {
    const calls = await bench.count({ call, match: file });
    for (const first of spread(calls, 3))
      for (const what of Object.keys(CHANGES)) await bench.change({ call, action: 'stall', first }, file, what);
  }
}

const [name = '', most = ''] = process.argv.slice(2);
await setUp();
const bench = await Bench.begin(name);
if (most === 'changes') await changes(bench);
else await sweep(bench, JOBS[name] as Job, most);
writeSync(1, `${JSON.stringify(report)}\n`);
