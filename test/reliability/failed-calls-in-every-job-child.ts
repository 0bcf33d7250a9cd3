/**
 * Runs one job many times, each time with another failing system call. failed-calls-in-every-job.test.ts starts it as a process of its own, with
 * the shim of test/support/faults preloaded.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  appendFileSync,
  chmodSync,
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
import { TorrentCreate } from '../../src/create/draft.ts';
import { cacheStats, clearCache } from '../../src/create/known/cache.ts';
import { readWithin } from '../../src/disk/read-file.ts';
import { scan, scannedFiles } from '../../src/disk/scan.ts';
import { edit } from '../../src/edit/edit.ts';
import { update } from '../../src/edit/update.ts';
import { upgrade } from '../../src/edit/upgrade.ts';
import { ERROR_CODES, type MetainfoErrorCode } from '../../src/errors/codes.ts';
import { MetainfoError } from '../../src/errors/errors.ts';
import { stepping } from '../../src/hash/steps.ts';
import { HybridHasher } from '../../src/hashers/hybrid-hasher.ts';
import { iterBlocks } from '../../src/hashers/records.ts';
import { Torrent } from '../../src/model/torrent/torrent.ts';
import type { VerifyReport } from '../../src/verify/report.ts';
import { verify } from '../../src/verify/verify.ts';
import { noise } from '../hash/reference.ts';
import { CALLS, type Call, type Counts, type Fault, Faults } from '../support/faults.ts';
import { Leftovers } from './leftovers.ts';

/** The report of a child. */
export interface FaultJobReport {
  cases: number;
  /** Cases whose fault occurred. */
  fired: number;
  /** Failures by case. */
  problems: string[];
  /** The results of the cases, with their counts. */
  outcomes: Record<string, number>;
  /** Calls of each group in a run without faults. */
  calls: Record<Call, number>;
}

const work = process.env['METAINFO_FAULT_FOLDER'] as string;
const control = process.env['METAINFO_FAULT_CONTROL'] as string;
const [data, out, cache] = ['data', 'out', 'cache'].map((name) => path.join(work, name)) as [string, string, string];
// Each fault occurs once: a further attempt would hide it.
stepping.pausesMs = [];
/** A folder that the shim ignores. */
const kept = path.join(path.dirname(work), 'kept');

const PIECE = 16_384;
/** Bytes: files of this size are in the cache. */
const LARGE = 2 ** 20 + 777;
const FILES: Record<string, number> = { a: LARGE, 'b/c': 100, 'b/empty': 0, 'b/piece': PIECE };
const BEFORE = new Date(1_000_000_000_000);
/** A time after the files of the old torrent were made and before others were added. */
let since = new Date(0);
const AFTER = new Date(1_200_000_000_000);

const draft = new TorrentCreate({ pathRoot: data, pieceLength: PIECE, createdBy: null });
const inCache = new TorrentCreate({ pathRoot: data, pieceLength: PIECE, createdBy: null });
const hashOf = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');
const target = path.join(out, 'a.torrent');

interface Job {
  /** Prepares the empty folders `out` and `cache` for the job. */
  prepare?: () => void;
  /** Runs the job and returns its result as text, which is the same each time. */
  run: (signal?: AbortSignal) => Promise<string>;
  /** Whether the job has a `signal` option. */
  stops?: boolean;
  usesCache?: boolean;
  /** The codes that it may end with, if these do not depend on the call. */
  codes?: readonly MetainfoErrorCode[];
  /** Whether another result is right when that call fails. */
  accepts?: (result: string, clean: string, paths: string[]) => boolean;
  /** Returns the problems of the files that it left. */
  check?: (after: { isDone: boolean; before: Map<string, string> }) => Promise<string[]> | string[];
}

const contentOf = (folder: string) =>
  new Map(readdirSync(folder).map((name) => [name, hashOf(readFileSync(path.join(folder, name)))]));

/** Checks that the output is the complete new torrent or the old file. */
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
/** The output of the job without faults. */
let fresh = '';
let lastCall: Call | null = null;

/** Checks that the cache gives correct digests, also after a fault. */
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

/** Checks that only files with a fault are reported as incomplete, with the reason. */
function acceptsReport(result: string, clean: string, paths: string[]): boolean {
  const [found, expected] = [JSON.parse(result), JSON.parse(clean)] as [VerifyReport, VerifyReport];
  return found.files.every((file, i) => {
    if (JSON.stringify(file) === JSON.stringify(expected.files[i])) return true;
    const isHit = paths.some(
      (hit) => path.join(data, file.path).startsWith(hit) || leadsTo(hit, path.join(data, file.path)),
    );
    // Files that share a v1 piece with it would be affected too; here every file starts at a piece.
    return isHit && (file.status === 'missing' || (file.status === 'unreadable' && (file.problem ?? '') !== ''));
  });
}

const JOBS: Record<string, Job> = {
  scan: {
    stops: true,
    async run(signal) {
      const scanned = await scan(data, null, { signal, readable: true });
      return JSON.stringify(
        scannedFiles(scanned)
          .map(({ path, length, mtimeMs }) => [path.join('/'), length, mtimeMs])
          .sort(),
      );
    },
  },
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
    // A missing file has no content.
    accepts: (result, clean) => Number(result) < Number(clean),
    check: cacheIsRight,
  },
};

/** The faults of each group of calls. */
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

/** The codes that a job may end with after each fault. Without codes it must succeed. */
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

/** More calls than any job makes. */
const NEVER = 2 ** 40;

type Outcome = { result: string } | { error: unknown };

class Bench {
  readonly #name: string;
  readonly #job: Job;
  readonly #leftovers: Leftovers;
  #clean = '';

  private constructor(name: string, job: Job, leftovers: Leftovers) {
    this.#name = name;
    this.#job = job;
    this.#leftovers = leftovers;
  }

  /** Runs the job without faults, to start all threads and to count the calls. */
  static async begin(name: string, leftovers: Leftovers): Promise<Bench> {
    const job = JOBS[name] as Job;
    clear(job);
    await job.run();
    const bench = new Bench(name, job, leftovers);
    clear(job);
    faults.arm(null);
    bench.#clean = await job.run();
    report.calls = faults.counts().calls;
    fresh = contentOf(out).get('a.torrent') ?? '';
    return bench;
  }

  /** Returns the number of such calls that the job makes. */
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
    // The shim must let stalled calls continue before the next fault is set.
    const left = await this.#leftovers.problems(() => faults.counts());
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

  /** Changes a file while the job is stalled in a call on it. */
  async change(fault: Fault, file: string, what: string): Promise<void> {
    clear(this.#job);
    warnings.length = 0;
    faults.arm({ ...fault, action: 'stall', match: file });
    const running = this.#start();
    if (await isStalled(running)) CHANGES[what]?.(file);
    faults.go();
    const outcome = await running;
    const problems = await this.#leftovers.problems(() => faults.counts());
    const counts = faults.counts();
    faults.arm(null);
    if ('error' in outcome) {
      const { error } = outcome;
      const { code = '', message } = error as Partial<MetainfoError> & Error;
      if (!(error instanceof MetainfoError) || !CODES_OF_CHANGE.includes(code)) problems.push(`${error}`);
      else if (!message.includes(path.relative(data, file))) problems.push(`the message: ${message}`);
    } else if (outcome.result !== this.#clean && outcome.result !== (await this.#again())) {
      // The result has none of the change, or all of it.
      if (!this.#job.accepts?.(outcome.result, this.#clean, [file])) problems.push(`a wrong result: ${outcome.result}`);
    }
    if (this.#job.usesCache) problems.push(...(await cacheIsAsWithout()));
    restore(file);
    this.#conclude(`${what} in ${Object.values(fault).join(' ')}`, { outcome, counts, problems });
  }

  /** Runs the job from the start and returns its result. */
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
    // Node emits warnings in the next tick, which has passed.
    // Some pad files have the same length, which causes a warning.
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
    // The list of extra files has paths relative to the folder.
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

/** Errors name a link by its own path. */
const leadsTo = (at: string, named: string) => at === path.join(data, 'a') && named === path.join(data, 'link');

/** The temporary file of an output counts as the output, and so does its folder, which is synced for it. */
const isBeside = (at: string, named: string) => (path.dirname(at) === out || at === out) && named === target;

function clear(job: Job): void {
  for (const folder of [out, cache]) rmSync(folder, { recursive: true, force: true });
  mkdirSync(out);
  job.prepare?.();
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

/** Changes of a file. A write in place that restores the old time cannot be noticed. */
const CHANGES: Record<string, (file: string) => void> = {
  'is cut': (file) => truncateSync(file, 10),
  grows: (file) => appendFileSync(file, 'x'),
  'is written anew': (file) => writeFileSync(file, noise(LARGE, 7)),
  'is deleted': (file) => unlinkSync(file),
  'is deleted and made again'(file) {
    unlinkSync(file);
    writeFileSync(file, noise(LARGE, 7));
    utimesSync(file, AFTER, AFTER);
  },
  'is replaced by a FIFO'(file) {
    unlinkSync(file);
    execFileSync('mkfifo', [file]);
  },
};
const CODES_OF_CHANGE = ['ERR_FILE_CHANGED', 'ERR_NOT_A_FILE', 'ERR_HASH_MISMATCH'];

/** Restores a file. */
function restore(file: string): void {
  rmSync(file, { force: true });
  writeFileSync(file, noise(LARGE, 6));
  utimesSync(file, AFTER, AFTER);
}

/** The changed files may have any state. */
async function cacheIsAsWithout(): Promise<string[]> {
  const [one, other] = await Promise.all(
    [{}, { cache }].map((options) => inCache.generate(options).then(({ infohashV2 }) => infohashV2, String)),
  );
  return one === other ? [] : [`with the cache it is ${other}, not ${one}`];
}

/** Makes the files, the torrents that jobs start with, and caches of them. */
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
  // Later, one file changes and others are added.
  writeFileSync(path.join(data, 'b/piece'), noise(PIECE, 5));
  writeFileSync(path.join(data, 'b/new'), noise(LARGE, 6));
  for (const name of ['b/piece', 'b/new']) utimesSync(path.join(data, name), AFTER, AFTER);
  symlinkSync('a', path.join(data, 'link'));
  // Not readable for everybody, so the scan must ask the system.
  chmodSync(path.join(data, 'b/c'), 0o600);
  await sleep(50);
  const now = await inCache.generate({ cache: path.join(kept, 'full') });
  torrents['old'] = old.bencode();
  torrents['full'] = now.bencode();
  torrents['v1'] = (await draft.generate({ version: 'v1' })).bencode();
  full = hashOf(now.bencode());
}

/** Returns the numbers from 1 to `count`, or a sample with the first and the last. */
function spread(count: number, most: number): number[] {
  const size = Math.min(count, most);
  const numbers = Array.from({ length: size }, (_, i) => 1 + Math.round((i * (count - 1)) / Math.max(1, size - 1)));
  return [...new Set(numbers)];
}

/** Lets every call of the job (or a sample) fail in all ways of its group (or a sample). */
async function sweep(bench: Bench, job: Job, most: string): Promise<void> {
  for (const call of CALLS) {
    const common = { call };
    const calls = await bench.count(common);
    const actions = HARM[call] ?? [];
    // posix_fadvise is not always called.
    if (actions.length === 0) continue;
    if (most === 'all') {
      for (let first = 1; first <= calls; first += 1)
        for (const action of [...actions, 'stall'] as const) await bench.attempt({ ...common, action, first });
    } else if (calls > 0) {
      // Each call fails in one way, and each way occurs at least once.
      const numbers = spread(calls, Math.max(Number(most), actions.length));
      for (let i = 0; i < Math.max(numbers.length, actions.length); i += 1) {
        const action = actions[i % actions.length] as Fault['action'];
        await bench.attempt({ ...common, action, first: numbers[i % numbers.length] as number });
      }
      await bench.attempt({ ...common, action: 'stall', first: Math.ceil(calls / 2) });
    }
    // All calls fail, from the first one.
    if (!job.usesCache || report.calls[call] === 0) continue;
    for (const action of actions)
      if (/^E(?!INTR)/.test(action)) await bench.attempt({ call, action, every: 1, match: cache });
  }
}

/** Changes a file while it is opened, checked and read. */
async function changes(bench: Bench): Promise<void> {
  const file = path.join(data, 'b/new');
  for (const call of ['open', 'fstat', 'read'] as const) {
    const calls = await bench.count({ call, match: file });
    for (const first of spread(calls, 3))
      for (const what of Object.keys(CHANGES)) await bench.change({ call, action: 'stall', first }, file, what);
  }
}

const [name = '', most = ''] = process.argv.slice(2);
const leftovers = await Leftovers.of(work);
await setUp();
const bench = await Bench.begin(name, leftovers);
if (most === 'changes') await changes(bench);
else await sweep(bench, JOBS[name] as Job, most);
report.problems.push(...(await leftovers.threadsAtEnd()));
writeSync(1, `${JSON.stringify(report)}\n`);
