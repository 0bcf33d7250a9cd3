// System calls fail, files change and descriptors run out. A job ends with the right torrent or with a typed error that names the
// right file, and leaves nothing behind.
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
import { buildShim, type Fault, Faults, faultsEnv, shimMissing } from '../support/faults.ts';
import { temporaryFolder } from '../support/tree.ts';
import type { FaultReport, FaultScenario } from './failed-calls-in-create-child.ts';
import { runScript } from './run-child.ts';

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

let shim = '';

/** A folder of files in a temporary folder. */
async function filesOf(t: TestContext, sizes: Record<string, number>) {
  const outer = await temporaryFolder(t);
  const folder = path.join(outer, 'data');
  // Synchronous writes are faster for thousands of files.
  for (const name of new Set(Object.keys(sizes).map((file) => path.dirname(file)))) {
    mkdirSync(path.join(folder, name), { recursive: true });
  }
  for (const [name, size] of Object.entries(sizes)) writeFileSync(path.join(folder, name), noise(size, size + 1));
  const bytes = Object.values(sizes).reduce((sum, size) => sum + size, 0);
  return { folder, outer, bytes, files: Object.keys(sizes).length };
}

interface Run {
  scenario: FaultScenario;
  options: GenerateOptions;
  args?: (string | number)[];
  descriptors?: number;
}

/** Runs a scenario with system faults. */
async function runFaults(place: Awaited<ReturnType<typeof filesOf>>, run: Run): Promise<FaultReport> {
  const { folder, outer } = place;
  const { scenario, options, args = [], descriptors } = run;
  // The expected torrent, made without the shim and before a file changes.
  const draft = new TorrentCreate({ pathRoot: folder, pieceLength: PIECE_LENGTH });
  const torrent = await draft.generate({ ...options, engine: nodeEngine() });

  const control = path.join(outer, 'control');
  Faults.create(control).close();
  const env = faultsEnv({ shim, control, folder, ...(descriptors && { descriptors }) });
  const ended = await runScript<FaultReport>(
    'failed-calls-in-create-child.ts',
    [scenario, PIECE_LENGTH, JSON.stringify(options), ...args],
    env,
  );
  // The process ended by itself.
  assert.deepEqual([ended.code, ended.signal, ended.told.length], [0, null, 1]);
  const [report] = ended.told as [FaultReport];
  assert.equal(report.clean, createHash('sha256').update(torrent.bencode()).digest('hex'));
  // Otherwise, files are read with calls that the shim does not see, and the test tests nothing.
  const { calls, bytes } = report.counts;
  const all = calls.open >= place.files && calls.fstat >= place.files && bytes >= place.bytes;
  assert.ok(all, `not every call was seen: ${JSON.stringify(report.counts)}`);
  return report;
}

/** Returns the results of the jobs, with their counts. */
function told({ outcomes }: FaultReport): string {
  const kinds = [...new Set(outcomes)].sort();
  const parts = kinds.map((kind) => `${kind} ${outcomes.filter((outcome) => outcome === kind).length}`);
  return `${outcomes.length} cases: ${parts.join(', ')}`;
}

// Each case is a process; two run at the same time.
describe('system faults', { skip: shimMissing(), concurrency: 2 }, () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'metainfo-shim-'));
  after(() => rmSync(folder, { recursive: true }));
  before(() => {
    shim = buildShim(folder);
  });

  for (const version of VERSIONS) {
    for (const threads of [1, 2]) {
      it(`are survived or reported at every call: ${version}, ${threads} threads`, async (t) => {
        const options = { version, threads, ...READS };
        const report = await runFaults(await filesOf(t, threads === 1 ? SMALL : MEDIUM), {
          scenario: 'sweep',
          options,
        });
        assert.deepEqual(report.problems, []);
        assert.ok(report.cases > 250, told(report));
        // Two threads share the calls differently each time, so the last few faults may not occur.
        const least = threads === 1 ? report.cases : 0.9 * report.cases;
        assert.ok(report.fired >= least, `${report.fired} of ${told(report)}`);
        assert.ok(report.readers >= threads, `${report.readers} threads read`);
        t.diagnostic(told(report));
      });

      it(`are survived or reported when a file changes: ${version}, ${threads} threads`, async (t) => {
        const place = await filesOf(t, threads === 1 ? SMALL : MEDIUM);
        const options = { version, threads, ...READS };
        const file = path.join(place.folder, threads === 1 ? 'several/file' : 'medium/file');
        const report = await runFaults(place, { scenario: 'changes', options, args: [file] });
        assert.deepEqual(report.problems, []);
        assert.ok(report.fired > 30, told(report));
        assert.ok(report.readers >= threads, `${report.readers} threads read`);
        t.diagnostic(told(report));
      });
    }

    it(`are survived or reported at random calls of a larger job: ${version}`, async (t) => {
      const seed = Number(process.env['METAINFO_FAULT_SEED'] ?? 1 + Math.floor(Math.random() * 2 ** 30));
      const run: Run = { scenario: 'random', options: { version, threads: 2, ...READS }, args: [seed, 40] };
      const report = await runFaults(await filesOf(t, LARGE), run);
      assert.deepEqual(report.problems, [], `METAINFO_FAULT_SEED=${seed}`);
      assert.ok(report.fired >= 20, told(report));
      assert.ok(report.readers >= 2, `${report.readers} threads read`);
      t.diagnostic(`seed ${seed}, ${told(report)}`);
    });
  }

  it('do not occur in jobs of thousands of files, which need few descriptors', async (t) => {
    const threads = 2;
    const sizes = Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [`${i % 50}/${i}`, i % 100]));
    const place = await filesOf(t, sizes);
    // Plans of v1, and of v2 with pad files.
    for (const version of ['v1', 'hybrid'] as const) {
      // The test holds all other descriptors.
      const options = { version, threads, ...READS };
      const report = await runFaults(place, { scenario: 'descriptors', options, args: [threads], descriptors: 128 });
      assert.deepEqual(report.problems, []);
      assert.deepEqual(report.outcomes, ['ERR_NO_DESCRIPTORS', 'ERR_NO_DESCRIPTORS']);
      const { most } = report.counts;
      // Each thread also holds the path root.
      assert.ok(most >= 1 && most <= 17 * threads, `${most} at once`);
      t.diagnostic(`${version}: ${most} at once`);
    }
  });

  it('delay the end of a cancelled job by no more than one call', async (t) => {
    const run: Run = { scenario: 'cancel', options: { version: 'hybrid', threads: 2, ...READS } };
    const report = await runFaults(await filesOf(t, MEDIUM), run);
    assert.deepEqual([report.problems, report.fired], [[], 3]);
  });

  const COMMANDS: [fault: Fault, code: number, text: RegExp][] = [
    [{ call: 'read', action: 'EINTR' }, 0, /^$/],
    // The error may pass, so the file is read again: three times at most.
    [{ call: 'read', action: 'EIO' }, 0, /^$/],
    [
      { call: 'read', action: 'EIO', every: 1 },
      1,
      /^error: \/.*\/data\/\S+: cannot read it \(EIO\)\. With --cache, hashed files are kept for the next run\. \[ERR_READ\]\n$/,
    ],
    [{ call: 'open', action: 'EMFILE' }, 1, /\/data\/\S+: .*\(ulimit -n\)\. \[ERR_NO_DESCRIPTORS\]\n$/],
    [{ call: 'read', action: 'end', first: 2 }, 1, /\/data\/\S+ changed .*ended at byte .*\[ERR_FILE_CHANGED\]\n$/],
  ];
  for (const [fault, code, text] of COMMANDS) {
    it(`are reported by the command: ${fault.call} ${fault.action}${fault.every ? ' every time' : ''}`, async (t) => {
      const { folder, outer } = await filesOf(t, { large: 3 * MIB });
      const control = path.join(outer, 'control');
      const faults = Faults.create(control);
      faults.arm(fault);
      const options = { cwd: outer, env: faultsEnv({ shim, control, folder }) };
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
