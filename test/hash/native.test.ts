import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { loadAddon } from '../../src/hash/addon.ts';
import { nativeEngine } from '../../src/hash/native.ts';
import type { HashPlan } from '../../src/hash/plan.ts';
import { sha1 } from './reference.ts';
import { watch } from './watch.ts';

const MIB = 2 ** 20;

const folder = mkdtempSync(path.join(tmpdir(), 'metainfo-native-'));
after(() => rmSync(folder, { recursive: true }));

/** A plan of one file of that many zeros. */
function zeros(size: number, changes: Partial<HashPlan> = {}): HashPlan {
  const file = path.join(folder, String(size));
  writeFileSync(file, '');
  truncateSync(file, size);
  const { mtimeMs } = statSync(file);
  return {
    files: [{ path: file, offset: 0, length: size, size, mtimeMs }],
    version: 'v1',
    pieceLength: MIB,
    onMissing: 'fail',
    threads: 1,
    readSize: MIB,
    memoryLimit: 64 * MIB,
    ...changes,
  };
}

describe('the native engine', () => {
  it('names the kernel in use', () => {
    const { kernels, active } = loadAddon();
    assert.ok(kernels.includes('openssl'));
    assert.ok(kernels.includes(active.sha1) && kernels.includes(active.sha256));
    const name = active.sha1 === active.sha256 ? active.sha1 : `${active.sha1}, ${active.sha256}`;
    assert.equal(nativeEngine().kernel, name);
  });

  it('runs many jobs at once', async () => {
    const plan = zeros(3 * MIB, { threads: 4 });
    const expected = Buffer.concat(Array<Buffer>(3).fill(sha1(Buffer.alloc(MIB))));
    const all = await Promise.all(Array.from({ length: 200 }, () => nativeEngine().start(plan).done));
    for (const { v1 } of all) assert.deepEqual(v1, expected);
  });

  it('cancels waiting and running jobs', async () => {
    const plan = zeros(8 * 1024 * MIB, { threads: 2 });
    const jobs = Array.from({ length: 20 }, () => nativeEngine().start(plan));
    const begin = performance.now();
    const rejected = jobs.map((job) => assert.rejects(job.done, { code: 'ERR_ABORTED' }));
    for (const job of jobs.toReversed()) job.cancel();
    await Promise.all(rejected);
    assert.ok(performance.now() - begin < 5000);
    assert.ok(await nativeEngine().start(zeros(1)).done, 'a job after them gets its threads');
  });

  it('runs a job after another one fails', async () => {
    const plan = zeros(MIB);
    const failing = { ...plan, files: plan.files.map((file) => ({ ...file, size: 1 })) };
    const jobs = Array.from({ length: 20 }, (_, i) => nativeEngine().start(i % 2 === 0 ? failing : plan).done);
    const settled = await Promise.allSettled(jobs);
    assert.deepEqual(
      settled.map((one) => (one.status === 'fulfilled' ? 'hashed' : one.reason.code)),
      Array.from({ length: 20 }, (_, i) => (i % 2 === 0 ? 'ERR_FILE_CHANGED' : 'hashed')),
    );
  });

  it('keeps the event loop free', async () => {
    let turns = 0;
    await watch(nativeEngine().start(zeros(256 * MIB)), () => {
      turns += 1;
      return false;
    });
    assert.ok(turns > 100, `${turns} turns`);
  });

  it('copies its plan', async () => {
    const given = zeros(2 * MIB);
    const name = Buffer.from(given.files[0]?.path as string);
    const plan = { ...given, files: given.files.map((file) => ({ ...file, path: name })) };
    const job = nativeEngine().start(plan);
    name.fill(0x78);
    assert.equal((await job.done).v1?.length, 40);
  });

  it('rejects data that is not bytes, or shorter than its length', () => {
    const data = new Uint8Array(10);
    const file = { path: null, data, offset: 0, length: 10, size: 10, mtimeMs: Number.NaN };
    const wrong: object[] = [
      { data: 'text' },
      { data: new Uint16Array(5) },
      { data: null },
      { length: 11 },
      { offset: 1 },
      { offset: 2 ** 53 - 1, length: 1 },
    ];
    const plan = zeros(1);
    for (const changes of wrong) {
      const files = [{ ...file, ...changes }] as HashPlan['files'];
      assert.throws(() => nativeEngine().start({ ...plan, files }), Error, JSON.stringify(changes));
    }
  });

  it('rejects with a stack that shows where the job was started', async () => {
    const plan = zeros(1);
    const absent = { ...plan, files: plan.files.map((file) => ({ ...file, path: '/absent' })) };
    const error = (await nativeEngine()
      .start(absent)
      .done.catch((reason: unknown) => reason)) as Error;
    assert.match((error.cause as Error).stack ?? '', /native\.test\.ts/);
    const { code, errno, path: named } = error.cause as NodeJS.ErrnoException;
    assert.deepEqual([code, errno, named], ['ENOENT', -2, '/absent']);
  });

  it('rejects a plan of wrong types at once', () => {
    const plan = zeros(1);
    const wrong: object[] = [
      { threads: 0 },
      { threads: '1' },
      { pieceLength: 0 },
      { readSize: -1 },
      { readSize: Number.NaN },
      { version: 1 },
      { files: {} },
      { files: [{ ...plan.files[0], path: 7 }] },
      { files: [{ ...plan.files[0], length: 2 ** 53 }] },
      { memoryLimit: MIB - 1 },
    ];
    for (const changes of wrong) {
      assert.throws(() => nativeEngine().start({ ...plan, ...changes }), Error, JSON.stringify(changes));
    }
  });
});

describe('METAINFO_KERNEL', () => {
  const script = `
    const { loadAddon } = await import('./src/hash/addon.ts');
    try { console.log(JSON.stringify(loadAddon().active)); } catch (error) { console.log(error.code, error.message); }`;
  const run = (kernel: string) =>
    execFileSync(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', script], {
      encoding: 'utf8',
      env: { ...process.env, METAINFO_KERNEL: kernel },
    }).trim();

  it('forces a kernel', () => {
    assert.deepEqual(JSON.parse(run('openssl')), { sha1: 'openssl', sha256: 'openssl' });
  });

  it('rejects an unknown kernel', () => {
    assert.match(run('abacus'), /^ERR_KERNEL METAINFO_KERNEL.*abacus/);
  });

  // The process's own could change while it is read.
  it("is read from a worker's own environment", async () => {
    const worker = new Worker("require('node-gyp-build')(require('node:worker_threads').workerData)", {
      eval: true,
      workerData: fileURLToPath(new URL('../..', import.meta.url)),
      env: { ...process.env, METAINFO_KERNEL: 'abacus' },
    });
    const [error] = await once(worker, 'error');
    assert.match(error.message, /^METAINFO_KERNEL=abacus/);
  });
});
