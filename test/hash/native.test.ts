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
import {
  type Digests,
  type HashJob,
  type HashRequest,
  isPad,
  type RequestedFile,
} from '../../src/hash/hash-request.ts';
import { nativeEngine } from '../../src/hash/native.ts';
import { nodeEngine } from '../../src/hash/node.ts';
import { noise, sha1 } from './reference.ts';
import { watch } from './watch.ts';

const MIB = 2 ** 20;

const folder = mkdtempSync(path.join(tmpdir(), 'metainfo-native-'));
after(() => rmSync(folder, { recursive: true }));

/** A plan of one file of that many zeros. */
function zeros(size: number, changes: Partial<HashRequest> = {}): HashRequest {
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

/** Digests in hexadecimal. */
const inHex = ({ v1, v2, missing }: Digests) => ({
  v1: v1 && Buffer.from(v1).toString('hex'),
  roots: v2 && Buffer.from(v2.roots).toString('hex'),
  layers: v2 && Buffer.from(v2.layers).toString('hex'),
  missing,
});

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
    const rejected = jobs.map((job) => assert.rejects(job.done, { code: 'ERR_ABORTED' }));
    for (const job of jobs.toReversed()) job.cancel();
    await Promise.all(rejected);
    for (const job of jobs) assert.ok(job.progress().bytes < 8 * 1024 * MIB, 'it stopped before its end');
    assert.ok(await nativeEngine().start(zeros(1)).done, 'a job after them gets its threads');
  });

  it('runs a job after another one fails', async () => {
    const plan = zeros(MIB);
    const failing = { ...plan, files: [...plan.files].map((file) => ({ ...file, size: 1 })) };
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
    const name = Buffer.from(given.files.at(0)?.path as string);
    const plan = { ...given, files: [...given.files].map((file) => ({ ...file, path: name })) };
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
      const files = [{ ...file, ...changes }] as HashRequest['files'];
      assert.throws(() => nativeEngine().start({ ...plan, files }), Error, JSON.stringify(changes));
    }
  });

  const noSanitizer = { skip: process.env['METAINFO_SANITIZED'] ? 'sanitizers end the process' : false };
  it('throws if the memory for a plan is not there', noSanitizer, () => {
    const plan = zeros(1);
    const files = new Array(2 ** 32 - 1) as RequestedFile[];
    assert.throws(() => new (loadAddon().HashJob)({ ...plan, files }), { code: 'no-memory' });
  });

  it('rejects columns of different lengths', () => {
    const { HashJob, sortFiles, measureFiles, encodeFileList, encodeFileTree } = loadAddon();
    const paths = (count: number) => ({
      bytes: new Uint8Array(count),
      ends: Uint32Array.from({ length: count }, (_, i) => i + 1),
    });
    const columns = {
      paths: paths(2),
      lengths: new Float64Array(2),
      mtimes: new Float64Array(2),
      ctimes: new Float64Array(2),
      diskPaths: paths(2),
    };
    const numbers = new Float64Array(1);
    for (const changes of [
      { paths: paths(1) },
      { lengths: numbers },
      { mtimes: numbers },
      { ctimes: numbers },
      { diskPaths: paths(3) },
    ]) {
      assert.throws(() => sortFiles({ ...columns, ...changes }, false, null), RangeError, Object.keys(changes)[0]);
    }
    assert.throws(() => sortFiles(columns, true, paths(1)), RangeError);
    assert.throws(
      () => sortFiles({ ...columns, paths: { ...paths(2), bytes: new Uint8Array(3) } }, true, null),
      RangeError,
    );
    const wrong = { ...columns, paths: paths(1) };
    assert.throws(() => measureFiles(wrong, null, MIB, 10), RangeError);
    assert.throws(() => encodeFileList(wrong, null), RangeError);
    assert.throws(() => encodeFileTree(wrong, new Uint8Array(64)), RangeError);
    assert.throws(() => encodeFileTree(columns, new Uint8Array(63)), RangeError);
    const files = { root: folder, columns: { ...columns, diskPaths: paths(3) }, ranges: null };
    assert.throws(() => new HashJob({ ...zeros(1), files }), RangeError);
    const range = { files: new Uint32Array([1]), offsets: new Float64Array(1), lengths: new Float64Array(1) };
    for (const changes of [
      { files: new Uint32Array([2]) },
      { offsets: new Float64Array([-1]) },
      { lengths: new Float64Array([Number.NaN]) },
      { lengths: new Float64Array(2) },
    ]) {
      const ranges = { ...range, ...changes };
      assert.throws(() => new HashJob({ ...zeros(1), files: { ...files, columns, ranges } }), RangeError);
    }
  });

  it('rejects with a stack that shows where the job was started', async () => {
    const plan = zeros(1);
    const absent = { ...plan, files: [...plan.files].map((file) => ({ ...file, path: '/absent' })) };
    const error = (await nativeEngine()
      .start(absent)
      .done.catch((reason: unknown) => reason)) as Error;
    assert.match((error.cause as Error).stack ?? '', /native\.test\.ts/);
    const { code, errno, path: named } = error.cause as NodeJS.ErrnoException;
    assert.deepEqual([code, errno, named], ['ENOENT', -2, '/absent']);
  });
});

describe('content in memory', () => {
  const KIB = 1024;
  const inMemory = (data: Uint8Array, changes: Partial<RequestedFile> = {}): RequestedFile => {
    return { path: null, data, offset: 0, length: data.length, size: data.length, mtimeMs: Number.NaN, ...changes };
  };
  const plan = (files: RequestedFile[], changes: Partial<HashRequest> = {}): HashRequest => ({
    files,
    version: 'v1',
    pieceLength: 16 * KIB,
    onMissing: 'fail',
    threads: 2,
    readSize: MIB,
    memoryLimit: 64 * MIB,
    ...changes,
  });
  const settled = async (job: HashJob) => (await Promise.race([job.done, Promise.resolve(null)])) !== null;
  const pad = (length: number): RequestedFile => {
    return { path: null, offset: 0, length, size: length, mtimeMs: Number.NaN };
  };
  const shared = new Uint8Array(new SharedArrayBuffer(KIB));

  const CASES: [title: string, isSmall: boolean, HashRequest][] = [
    ['no file', true, plan([])],
    ['64 KiB', true, plan([inMemory(noise(64 * KIB))])],
    ['64 KiB and a byte', false, plan([inMemory(noise(64 * KIB + 1))])],
    ['64 KiB with a pad file', true, plan([inMemory(noise(5)), pad(16 * KIB - 5), inMemory(noise(48 * KIB))])],
    ['a large pad file', false, plan([inMemory(noise(5)), pad(64 * KIB)])],
    ['64 files', true, plan(Array.from({ length: 64 }, (_, i) => inMemory(noise(KIB, i + 1))))],
    ['65 files', false, plan(Array.from({ length: 65 }, (_, i) => inMemory(noise(KIB - 16, i + 1))))],
    ['a range', true, plan([inMemory(noise(MIB), { offset: 99, length: 60 * KIB })])],
    ['shared memory', false, plan([inMemory(noise(KIB)), inMemory(shared)])],
    ['tiny pieces', false, plan([inMemory(noise(KIB))], { pieceLength: 1 })],
    ['a file on disk', false, plan([inMemory(noise(KIB)), ...zeros(17).files])],
  ];
  for (const [title, isSmall, given] of CASES) {
    it(`is hashed synchronously if it is little: ${title}`, async () => {
      for (const version of given.pieceLength < 16 * KIB ? (['v1'] as const) : (['v1', 'v2'] as const)) {
        const one = { ...given, version };
        const expected = await nodeEngine().start(one).done;
        const job = nativeEngine().start(one);
        assert.equal(await settled(job), isSmall);
        assert.deepEqual(inHex(await job.done), inHex(expected));
        const bytes = [...one.files].reduce((sum, file) => sum + (isPad(file) ? 0 : file.length), 0);
        assert.deepEqual({ ...job.progress(), fileIndex: 0 }, { bytes, fileIndex: 0, queued: 0 });
      }
    });
  }

  it('is hashed in 10,000 small jobs at once, one result each', async () => {
    const contents = Array.from({ length: 10_000 }, (_, i) => Buffer.from(`content ${i}`));
    const all = await Promise.all(contents.map((data) => nativeEngine().start(plan([inMemory(data)])).done));
    for (const [i, { v1 }] of all.entries()) assert.deepEqual(v1, sha1(contents[i] as Buffer));
  });
});

describe('METAINFO_KERNEL', () => {
  const script = `
    const { loadAddon } = await import('./src/hash/addon.ts');
    try { console.log(JSON.stringify(loadAddon().active)); } catch (error) { console.log(error.code, error.message); }`;
  const run = (kernel: string) =>
    execFileSync(process.execPath, ['--import', './scripts/ts.mjs', '--input-type=module', '-e', script], {
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
