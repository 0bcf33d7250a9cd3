// Every job with system calls that fail, are short or stall, both in native code and in libuv, with files that change, and with few
// descriptors. A job ends with its usual result or with a typed error that names the file, and leaves either the old or the new
// output, and nothing else. METAINFO_FAULTS=all tries every fault at every call.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it, type TestContext } from 'node:test';
import { TorrentCreate } from '../../src/create/draft.ts';
import type { GenerateOptions } from '../../src/create/options.ts';
import { nodeEngine } from '../../src/hash/node.ts';
import { entries, metainfoProcess } from '../cli/run.ts';
import { noise } from '../hash/reference.ts';
import { buildShim, type Call, type Fault, Faults, faultsEnv, shimMissing } from '../support/faults.ts';
import { temporaryFolder } from '../support/tree.ts';
import type { FaultReport, FaultRun } from './failed-calls-child.ts';
import { runScript } from './run-child.ts';

interface Expected {
  /** The groups of calls that the job must make. */
  calls: readonly Call[];
  /** The least number of cases. */
  cases: number;
  /** The engine. By default, the native one. */
  engines?: readonly ('native' | 'node')[];
  /** Try every fault at every call, instead of a sample. */
  every?: boolean;
}

const BOTH = ['native', 'node'] as const;
// Only the node engine makes temporary files, and removes them.
const OUTPUT = ['create', 'write', 'sync', 'close'] as const;
const JOBS: Record<string, Expected> = {
  scan: { calls: ['stat', 'list', 'resolve'], cases: 60, engines: BOTH, every: true },
  create: { calls: [...OUTPUT, 'open', 'fstat', 'read', 'stat', 'list', 'resolve', 'link'], cases: 60, engines: BOTH },
  'create, few short files': { calls: [...OUTPUT, 'open', 'fstat', 'read', 'stat', 'list'], cases: 60, every: true },
  'create, v1, over another': { calls: [...OUTPUT, 'open', 'read', 'stat', 'rename', 'attribute'], cases: 60 },
  verify: { calls: ['open', 'read', 'close', 'stat', 'list', 'resolve'], cases: 40, engines: BOTH },
  update: { calls: [...OUTPUT, 'open', 'read', 'stat', 'list', 'rename', 'attribute'], cases: 60, engines: BOTH },
  upgrade: { calls: [...OUTPUT, 'open', 'fstat', 'read', 'stat', 'list', 'rename'], cases: 60 },
  edit: { calls: [...OUTPUT, 'open', 'fstat', 'read', 'stat', 'rename', 'attribute'], cases: 50 },
  'show, validate': { calls: ['open', 'fstat', 'read', 'close'], cases: 20 },
  hashers: { calls: ['open', 'fstat', 'read', 'close', 'stat', 'resolve'], cases: 30, engines: BOTH },
  'a new cache': { calls: ['create', 'write', 'close', 'mkdir', 'stat', 'read'], cases: 60 },
  'a cache that knows all': { calls: ['open', 'read', 'close', 'stat', 'mkdir'], cases: 30 },
  'a cache that knows some': { calls: ['open', 'create', 'read', 'write', 'close', 'stat', 'mkdir'], cases: 60 },
  'a cache that is counted and cleared': { calls: ['open', 'read', 'close', 'list', 'unlink'], cases: 40 },
};

const VERSIONS = ['v1', 'v2', 'hybrid'] as const;
const KIB = 1024;
const MIB = 2 ** 20;
const PIECE_LENGTH = 32 * KIB;
/** A short read size, so that small files take many reads, which several threads share. */
const READS = { readSize: 16 * KIB, memoryLimit: MIB };

/** Files that end at and around piece borders. */
const SMALL: Record<string, number> = {
  empty: 0,
  tiny: 100,
  piece: PIECE_LENGTH,
  'several/file': 3 * PIECE_LENGTH + 777,
  'many/pieces': 12 * PIECE_LENGTH + 1,
};
/** Files for two threads. */
const MEDIUM: Record<string, number> = { ...SMALL, 'medium/file': 3 * MIB + 1 };
const LARGE: Record<string, number> = { large: 9 * MIB + 1, larger: 5 * MIB - 1 };
for (let i = 0; i < 200; i += 1) LARGE[`${i % 10}/${i}`] = i * 100;

/** Makes files in a folder. Synchronous writes are faster for thousands of files. */
function makeFiles(folder: string, sizes: Record<string, number>): void {
  for (const name of new Set(Object.keys(sizes).map((file) => path.dirname(file)))) {
    mkdirSync(path.join(folder, name), { recursive: true });
  }
  for (const [name, size] of Object.entries(sizes)) writeFileSync(path.join(folder, name), noise(size, size + 1));
}

// Each test runs its cases in a process; two run at the same time.
describe('system faults', { skip: shimMissing(), concurrency: 2 }, () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'metainfo-shim-'));
  let shim = '';
  after(() => rmSync(folder, { recursive: true }));
  before(() => {
    shim = buildShim(folder);
  });

  interface Process {
    /** The folder for everything. By default, a temporary folder. */
    outer?: string;
    engine?: string;
    descriptors?: number;
  }

  /** Runs the cases of a job in a process. */
  async function runFaults(t: TestContext, run: FaultRun, { outer, engine, descriptors }: Process = {}) {
    const place = outer ?? (await temporaryFolder(t));
    const work = path.join(place, 'work');
    mkdirSync(work, { recursive: true });
    const control = path.join(place, 'control');
    Faults.create(control).close();
    const env = faultsEnv({ shim, control, folder: work, ...(descriptors && { descriptors }) });
    const ended = await runScript<FaultReport>('failed-calls-child.ts', [JSON.stringify(run)], {
      ...env,
      ...(engine && { METAINFO_ENGINE: engine }),
    });
    // The process ended by itself.
    assert.deepEqual([ended.code, ended.signal, ended.told.length], [0, null, 1]);
    const [report] = ended.told as [FaultReport];
    const { problems, cases, fired } = report;
    const title = run.seed === undefined ? run.scenario : `METAINFO_FAULT_SEED=${run.seed}`;
    assert.deepEqual(problems, [], title);
    const outcomes = Object.entries(report.outcomes).map(([code, count]) => `${code} ${count}`);
    t.diagnostic(`${title}: ${cases} cases, ${fired} came about: ${outcomes.sort().join(', ')}`);
    return report;
  }

  /** Runs the creation of a torrent of files with these sizes. */
  async function runCreation(
    t: TestContext,
    sizes: Record<string, number>,
    { options, descriptors, ...run }: Omit<FaultRun, 'job'> & Process & { options: GenerateOptions },
  ): Promise<FaultReport> {
    const outer = await temporaryFolder(t);
    const data = path.join(outer, 'work/data');
    makeFiles(data, sizes);
    // The expected torrent, made without the shim and before a file changes.
    const draft = new TorrentCreate({ pathRoot: data, pieceLength: PIECE_LENGTH });
    const torrent = await draft.generate({ ...options, engine: nodeEngine() });
    const job = { pieceLength: PIECE_LENGTH, options };
    const report = await runFaults(t, { job, ...run }, { outer, ...(descriptors && { descriptors }) });
    assert.equal(report.clean, createHash('sha256').update(torrent.bencode()).digest('hex'));
    // Otherwise, files are read with calls that the shim does not see, and the test tests nothing.
    const { calls, bytes } = report.counts;
    const lengths = Object.values(sizes);
    const total = lengths.reduce((sum, size) => sum + size, 0);
    const all = calls.open >= lengths.length && calls.fstat >= lengths.length && bytes >= total;
    assert.ok(all, `not every call was seen: ${JSON.stringify(report.counts)}`);
    return report;
  }

  for (const [name, { calls, cases, engines = ['native'], every = false }] of Object.entries(JOBS)) {
    for (const engine of engines) {
      it(`are survived or reported: ${name}, ${engine} engine`, async (t) => {
        const most = process.env['METAINFO_FAULTS'] ?? '6';
        const run =
          every || most === 'all'
            ? { scenario: 'sweep' as const }
            : { scenario: 'sample' as const, most: Number(most) };
        const report = await runFaults(t, { ...run, job: name }, { engine });
        for (const call of calls) assert.ok(report.counts.calls[call] > 0, `no ${call} was seen`);
        assert.ok(report.cases >= cases, `${report.cases} cases`);
        assert.ok(report.fired >= 0.8 * report.cases, `${report.fired} of ${report.cases}`);
      });
    }
  }

  for (const [name, engine] of [
    ['verify', 'native'],
    ['update', 'node'],
    ['upgrade', 'native'],
    ['a new cache', 'node'],
    ['a cache that knows some', 'native'],
  ] as const) {
    it(`are survived or reported when a file changes: ${name}, ${engine} engine`, async (t) => {
      const report = await runFaults(t, { scenario: 'changes', job: name, file: 'b/new' }, { engine });
      assert.ok(report.cases >= 60, `${report.cases} cases`);
      assert.ok(report.fired >= 0.8 * report.cases, `${report.fired} of ${report.cases}`);
    });
  }

  for (const version of VERSIONS) {
    for (const threads of [1, 2]) {
      const sizes = threads === 1 ? SMALL : MEDIUM;
      const options = { version, threads, ...READS };
      it(`are survived or reported at every call of a creation: ${version}, ${threads} threads`, async (t) => {
        const report = await runCreation(t, sizes, { scenario: 'sweep', most: 40, options });
        assert.ok(report.cases > 250, `${report.cases} cases`);
        // Two threads share the calls differently each time, so the last few faults may not occur.
        const least = threads === 1 ? report.cases : 0.9 * report.cases;
        assert.ok(report.fired >= least, `${report.fired} of ${report.cases}`);
        assert.ok(report.readers >= threads, `${report.readers} threads read`);
      });

      it(`are survived or reported when a file changes during a creation: ${version}, ${threads} threads`, async (t) => {
        const file = threads === 1 ? 'several/file' : 'medium/file';
        const report = await runCreation(t, sizes, { scenario: 'changes', file, options });
        assert.ok(report.fired >= (threads === 1 ? 60 : 31), `${report.fired} of ${report.cases}`);
        assert.ok(report.readers >= threads, `${report.readers} threads read`);
      });
    }

    it(`are survived or reported at random calls of a larger creation: ${version}`, async (t) => {
      const seed = Number(process.env['METAINFO_FAULT_SEED'] ?? 1 + Math.floor(Math.random() * 2 ** 30));
      const options = { version, threads: 2, ...READS };
      const report = await runCreation(t, LARGE, { scenario: 'random', seed, cases: 40, options });
      assert.ok(report.fired >= 20, `${report.fired} of ${report.cases}`);
      assert.ok(report.readers >= 2, `${report.readers} threads read`);
    });
  }

  it('do not occur in creations of thousands of files, which need few descriptors', async (t) => {
    const threads = 2;
    const sizes = Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [`${i % 50}/${i}`, i % 100]));
    // Requests of v1, and of v2 with pad files.
    for (const version of ['v1', 'hybrid'] as const) {
      // The test holds all other descriptors.
      const options = { version, threads, ...READS };
      const report = await runCreation(t, sizes, { scenario: 'descriptors', options, descriptors: 128 });
      assert.deepEqual(report.outcomes, { ERR_NO_DESCRIPTORS: 2 });
      const { most } = report.counts;
      // Each thread also holds the path root.
      assert.ok(most >= 1 && most <= 17 * threads, `${most} at once`);
      t.diagnostic(`${version}: ${most} at once`);
    }
  });

  const COMMANDS: [fault: Fault, code: number, text: RegExp][] = [
    [{ call: 'read', action: 'EINTR' }, 0, /^$/],
    // The error may pass, so the file is read again: three times at most.
    [{ call: 'read', action: 'EIO' }, 0, /^$/],
    [
      { call: 'read', action: 'EIO', every: 1 },
      1,
      /^error: \/.*\/data\/\S+: cannot read it \(EIO\): the disk, .* \(smartctl\)\. With --cache, hashed files are kept for the next run\. \[ERR_READ\]\n$/,
    ],
    [{ call: 'open', action: 'EMFILE' }, 1, /\/data\/\S+: .*\(ulimit -n\)\. \[ERR_NO_DESCRIPTORS\]\n$/],
    [{ call: 'read', action: 'end', first: 2 }, 1, /\/data\/\S+ changed .*ended at byte .*\[ERR_FILE_CHANGED\]\n$/],
  ];
  for (const [fault, code, text] of COMMANDS) {
    it(`are reported by the command: ${fault.call} ${fault.action}${fault.every ? ' every time' : ''}`, async (t) => {
      const outer = await temporaryFolder(t);
      const data = path.join(outer, 'data');
      makeFiles(data, { large: 3 * MIB });
      const control = path.join(outer, 'control');
      const faults = Faults.create(control);
      faults.arm(fault);
      const options = { cwd: outer, env: faultsEnv({ shim, control, folder: data }) };
      const result = await metainfoProcess(['create', 'data', '--quiet'], options);
      const { fired } = faults.counts();
      assert.equal(result.code, code);
      assert.ok(fault.every ? fired >= 4 : fired === 1, `${fired} calls failed`);
      assert.match(result.stderr, text);
      assert.deepEqual(await entries(outer), ['control', 'data', ...(code === 0 ? ['data.torrent'] : [])]);
      faults.close();
    });
  }
});
