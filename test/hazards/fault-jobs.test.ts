// All that the library does on disk, with calls that fail, return short or wait: those that JavaScript makes through libuv,
// and those of LMDB. Every job ends with what it ends with otherwise, or with a typed error that names the file, and leaves
// the old output or the new one. METAINFO_FAULTS=all makes every call go wrong in every way: minutes.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { bindingIfAny } from '../../src/digest/binding.ts';
import { buildShim, Faults, faultsEnv, shimMissing } from '../support/faults.ts';
import { temporaryFolder } from '../support/tree.ts';
import type { FaultJobReport } from './fault-jobs-child.ts';
import { runScript } from './run-child.ts';

/** The calls that go wrong, at least, and how many cases there are at least. */
const JOBS: Record<string, [calls: readonly (keyof FaultJobReport['calls'])[], cases: number]> = {
  create: [['open', 'fstat', 'read', 'close', 'create', 'write', 'sync', 'link', 'unlink', 'list', 'resolve'], 60],
  'create, v1, over another': [['write', 'sync', 'rename', 'attribute', 'stat'], 60],
  verify: [['open', 'read', 'close', 'stat', 'list', 'resolve'], 30],
  update: [['open', 'read', 'close', 'write', 'sync', 'rename', 'list'], 60],
  upgrade: [['open', 'read', 'close', 'fstat', 'write', 'rename'], 60],
  edit: [['open', 'read', 'close', 'write', 'sync', 'rename', 'attribute', 'stat'], 40],
  'show, validate': [['open', 'read', 'close'], 15],
  hashers: [['open', 'read', 'close', 'fstat'], 20],
  'a new cache': [['create', 'write', 'sync', 'truncate', 'map', 'mkdir', 'link', 'lock'], 60],
  'a cache that knows all': [['create', 'open', 'read', 'map', 'lock', 'stat'], 40],
  'a cache that knows some': [['create', 'open', 'read', 'write', 'sync', 'map', 'lock'], 50],
  'a cache that is counted and cleared': [['rename', 'unlink', 'stat', 'open', 'map'], 30],
};

describe('faults of the system, in all jobs', { skip: shimMissing(), concurrency: 2 }, () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'metainfo-shim-'));
  let shim = '';
  after(() => rmSync(folder, { recursive: true }));
  before(() => {
    shim = buildShim(folder);
  });

  for (const [name, [calls, cases]] of Object.entries(JOBS)) {
    for (const engine of ['native', 'node']) {
      const skip = engine === 'native' && !bindingIfAny() && 'there is no addon';
      it(`are survived or told: ${name}, ${engine} engine`, { skip }, async (t) => {
        const outer = await temporaryFolder(t);
        const work = path.join(outer, 'work');
        mkdirSync(work);
        const control = path.join(outer, 'control');
        Faults.create(control).close();
        const env = { ...faultsEnv({ shim, control, folder: work }), METAINFO_ENGINE: engine };
        const args = [name, process.env['METAINFO_FAULTS'] ?? '6'];
        const ended = await runScript<FaultJobReport>('fault-jobs-child.ts', args, env);
        // It ended by itself.
        assert.deepEqual([ended.code, ended.signal, ended.told.length], [0, null, 1]);
        const [report] = ended.told as [FaultJobReport];
        assert.deepEqual(report.problems, []);
        for (const call of calls) assert.ok(report.calls[call] > 0, `no ${call} was seen`);
        assert.ok(report.cases >= cases && report.fired >= 0.8 * report.cases, `${report.fired} of ${report.cases}`);
        const outcomes = Object.entries(report.outcomes).map(([code, count]) => `${code} ${count}`);
        t.diagnostic(`${report.cases} cases, ${report.fired} came about: ${outcomes.sort().join(', ')}`);
      });
    }
  }
});
