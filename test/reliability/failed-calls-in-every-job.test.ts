// Every job with system calls that fail, are short or stall, both in native code and in libuv. A job ends with its usual result or with
// a typed error that names the file, and leaves either the old or the new output. METAINFO_FAULTS=all tries every fault at every call.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it, type TestContext } from 'node:test';
import { buildShim, type Call, Faults, faultsEnv, shimMissing } from '../support/faults.ts';
import { temporaryFolder } from '../support/tree.ts';
import type { FaultJobReport } from './failed-calls-in-every-job-child.ts';
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

describe('system faults in every job', { skip: shimMissing(), concurrency: 2 }, () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'metainfo-shim-'));
  let shim = '';
  after(() => rmSync(folder, { recursive: true }));
  before(() => {
    shim = buildShim(folder);
  });

  /** Runs the cases of a job in a process. */
  async function run(t: TestContext, name: string, engine: string, which: string): Promise<FaultJobReport> {
    const outer = await temporaryFolder(t);
    const work = path.join(outer, 'work');
    mkdirSync(work);
    const control = path.join(outer, 'control');
    Faults.create(control).close();
    const env = { ...faultsEnv({ shim, control, folder: work }), METAINFO_ENGINE: engine };
    const ended = await runScript<FaultJobReport>('failed-calls-in-every-job-child.ts', [name, which], env);
    // The process ended by itself.
    assert.deepEqual([ended.code, ended.signal, ended.told.length], [0, null, 1]);
    const [report] = ended.told as [FaultJobReport];
    assert.deepEqual(report.problems, []);
    assert.ok(report.fired >= 0.8 * report.cases, `${report.fired} of ${report.cases}`);
    const outcomes = Object.entries(report.outcomes).map(([code, count]) => `${code} ${count}`);
    t.diagnostic(`${report.cases} cases, ${report.fired} came about: ${outcomes.sort().join(', ')}`);
    return report;
  }

  for (const [name, { calls, cases, engines = ['native'], every = false }] of Object.entries(JOBS)) {
    for (const engine of engines) {
      it(`are survived or reported: ${name}, ${engine} engine`, async (t) => {
        const report = await run(t, name, engine, every ? 'all' : (process.env['METAINFO_FAULTS'] ?? '6'));
        for (const call of calls) assert.ok(report.calls[call] > 0, `no ${call} was seen`);
        assert.ok(report.cases >= cases, `${report.cases} cases`);
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
      const { cases } = await run(t, name, engine, 'changes');
      assert.ok(cases >= 24, `${cases} cases`);
    });
  }
});
