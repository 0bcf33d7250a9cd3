import assert from 'node:assert/strict';
import { execFileSync, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, readFile, rename, rm, stat, symlink, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { TorrentCreate } from '../../../src/create/draft.ts';
import { cacheStats, clearCache } from '../../../src/create/known/cache.ts';
import { MIN_CACHED_BYTES } from '../../../src/create/known/known.ts';
import type { GenerateOptions } from '../../../src/create/options.ts';
import { MetainfoError } from '../../../src/errors/errors.ts';
import type { Engine } from '../../../src/hash/engine.ts';
import type { HashRequest } from '../../../src/hash/hash-request.ts';
import { nodeEngine } from '../../../src/hash/node.ts';
import { inSteps, stepping } from '../../../src/hash/steps.ts';
import { noise } from '../../hash/reference.ts';
import { LAYOUTS, tree, writeGenerated } from '../../support/generated.ts';
import { runs } from '../../support/runs.ts';
import { sparseFile, temporaryFolder, writeTree } from '../../support/tree.ts';

const PIECE = 16_384;
/** Bytes: the shortest file that is cached. */
const MIN = MIN_CACHED_BYTES;

/** A torrent, and the bytes that were read for it. */
async function made(pathRoot: string, options: GenerateOptions, pieceLength = PIECE) {
  let bytesRead = 0;
  const onProgress = ({ bytes }: { bytes: number }) => {
    bytesRead = bytes;
  };
  const draft = new TorrentCreate({ pathRoot, pieceLength, createdBy: null, info: { name: 'torrent' } });
  const torrent = await draft.generate({ ...options, onProgress });
  return { bytes: Buffer.from(torrent.bencode()), bytesRead };
}

/** Damage that a file on disk may suffer. */
const DAMAGE: Record<string, (content: Buffer, how: { at: number; seed: number; other: Buffer }) => Buffer> = {
  'a byte changes': (content, { at, seed }) => {
    const damaged = Buffer.from(content);
    damaged[at] = (content[at] as number) ^ (1 + (seed % 255));
    return damaged;
  },
  'it is cut': (content, { at }) => content.subarray(0, at),
  'its beginning is gone': (content, { at }) => content.subarray(at),
  zeros: (content, { at, seed }) => Buffer.from(content).fill(0, at, Math.min(content.length, at + 1 + (seed % 512))),
  noise: (content, { seed }) => noise(content.length, seed + 1),
  'something else follows': (content, { seed }) => Buffer.concat([content, noise(1 + (seed % 100), seed + 1)]),
  'another file is in its place': (_, { other }) => other,
  'twice over': (content, { at }) => Buffer.concat([content, content.subarray(0, at), content]),
};

/** An engine that reads all files but `set/4` of its requests: there, it fails with the error of `onRead`, or goes on. */
function engineOf(onRead: () => Error | undefined): Engine {
  const start = (request: HashRequest) => {
    const file = [...request.files].find(({ path: name }) => path.basename(String(name)) === '4');
    const cause = file && onRead();
    if (!file || !cause) return nodeEngine().start(request);
    const error = new MetainfoError('ERR_READ', 'read failed', { path: String(file.path), cause });
    return { done: Promise.reject(error), progress: () => ({ bytes: 0, fileIndex: 0, queued: 0 }), cancel: () => {} };
  };
  return { name: 'faulty', kernel: 'node:crypto', start: inSteps(start) };
}

/** The result of a job, and the warnings of the process during it. */
async function warningsOf<T>(job: () => Promise<T>): Promise<{ result: T; warnings: MetainfoError[] }> {
  const warnings: MetainfoError[] = [];
  const listen = (warning: Error) => warnings.push(warning as MetainfoError);
  process.on('warning', listen);
  try {
    const result = await job();
    // Node emits warnings in its next tick.
    await delay(0);
    return { result, warnings };
  } finally {
    process.off('warning', listen);
  }
}

describe('cache', () => {
  it('makes the same torrents of every version, and reads nothing twice', async (t) => {
    const base = await temporaryFolder(t);
    let count = 0;
    await fc.assert(
      fc.asyncProperty(tree, async (given) => {
        count += 1;
        const root = path.join(base, String(count));
        const cache = path.join(base, `cache-${count}`);
        // About every second file is long enough for the cache.
        for (const [i, one] of given.files.entries()) if (i % 2 === 0) one.size += MIN;
        await writeGenerated(root, given);
        const sizes = given.files.map(({ size }) => size);
        const total = sizes.reduce((sum, size) => sum + size, 0);
        const small = sizes.reduce((sum, size) => sum + (size < MIN ? size : 0), 0);
        const pathRoot = given.single ? path.join(root, given.files[0]?.path ?? '') : root;
        for (const options of LAYOUTS) {
          const { bytes, bytesRead } = await made(pathRoot, options, given.pieceLength);
          const first = await made(pathRoot, { ...options, cache }, given.pieceLength);
          const second = await made(pathRoot, { ...options, cache, threads: 2 }, given.pieceLength);
          assert.deepEqual([first.bytes, second.bytes], [bytes, bytes]);
          assert.ok(first.bytesRead <= bytesRead);
          const sharesPieces = options.version === 'v1' && !options.padding && sizes.length > 1;
          const cached = sharesPieces ? total : total - small;
          const isWorthIt = cached >= Math.max(MIN, sizes.length * 2 ** 18);
          assert.equal(second.bytesRead, isWorthIt ? total - cached : total);
        }
        for (const folder of [root, cache]) await rm(folder, { recursive: true });
      }),
      { numRuns: runs(15) },
    );
  });

  it('keeps files of at least 1 MiB, unless a torrent has many shorter files', async (t) => {
    const short = Array<number>(30).fill(1000);
    for (const [options, sizes, bytesRead, entries] of [
      [{ version: 'hybrid' }, [MIN - 1, MIN, MIN + 1], MIN - 1, 4],
      [{ version: 'v2' }, [MIN - 1], MIN - 1, 0],
      [{ version: 'v2' }, [MIN], 0, 1],
      [{ version: 'v2' }, [MIN + 1], 0, 1],
      [{ version: 'v1' }, [MIN - 1], MIN - 1, 0],
      [{ version: 'v1' }, [MIN], 0, 1],
      // Files that share pieces have one record.
      [{ version: 'v1' }, [MIN - 2, 1], MIN - 1, 0],
      [{ version: 'v1' }, [MIN - 1, 1], 0, 1],
      // 31 files of 256 KiB on average are worth a lookup.
      [{ version: 'v2' }, [...short, 31 * 2 ** 18], 30_000, 1],
      [{ version: 'v2' }, [...short, 31 * 2 ** 18 - 1], 30_000 + 31 * 2 ** 18 - 1, 0],
      [{ version: 'v1' }, [...short, 31 * 2 ** 18 - 30_000], 0, 1],
      [{ version: 'v1' }, [...short, 31 * 2 ** 18 - 30_001], 31 * 2 ** 18 - 1, 0],
    ] as const) {
      const root = await temporaryFolder(t);
      const cache = await temporaryFolder(t);
      await writeTree(root, Object.fromEntries(sizes.map((size, i) => [String(i), noise(size, i + 1)])));
      const { bytes } = await made(root, options);
      await made(root, { ...options, cache });
      assert.deepEqual(await made(root, { ...options, cache }), { bytes, bytesRead });
      assert.equal((await cacheStats(cache)).entries, entries);
    }
  });

  it('reads only files that have changed', async (t) => {
    const root = await temporaryFolder(t);
    const cache = await temporaryFolder(t);
    const options = { version: 'hybrid', cache } as const;
    await writeTree(root, {
      a: noise(MIN + 70_000, 1),
      b: noise(MIN + 50_000, 2),
      c: noise(MIN + 30_000, 3),
      d: noise(MIN + 20_000, 4),
    });
    assert.equal((await made(root, options)).bytesRead, 4 * MIN + 170_000);
    const [a, b, c] = ['a', 'b', 'c'].map((name) => path.join(root, name)) as [string, string, string];
    const check = async (bytesRead: number, what: string) => {
      const { bytes } = await made(root, { version: 'hybrid' });
      assert.deepEqual(await made(root, options), { bytes, bytesRead }, what);
      assert.equal((await made(root, options)).bytesRead, 0, what);
    };
    await writeFile(a, noise(MIN + 70_000, 9));
    await check(MIN + 70_000, 'other content of the same size');
    const { atime, mtime } = await stat(b);
    await writeFile(b, noise(MIN + 50_000, 9));
    await utimes(b, atime, mtime);
    await check(MIN + 50_000, 'other content of the same size and mtime, in the same inode');
    await utimes(c, new Date(1000), new Date(1000));
    await check(MIN + 30_000, 'another mtime');
    await rename(c, `${c}2`);
    await writeTree(root, { c: noise(MIN + 30_000, 8) });
    await rename(path.join(root, 'c'), `${c}2`);
    await check(MIN + 30_000, 'another inode under the same name');
    await rename(path.join(root, 'a'), path.join(root, 'd'));
    await check(MIN + 70_000, 'a file that took the place of another');
    const moved = `${root}-moved`;
    t.after(() => rm(moved, { recursive: true, force: true }));
    await rename(root, moved);
    assert.equal((await made(moved, options)).bytesRead, 0, 'another folder');
    await rename(moved, root);
    assert.equal((await made(root, options, 2 * PIECE)).bytesRead, 3 * MIN + 150_000, 'another piece length');
    assert.equal((await made(root, { version: 'v2', cache })).bytesRead, 0, 'what a hybrid needed too');
  });

  it('keeps every file that was hashed before a failure or a cancellation', async (t) => {
    const root = await temporaryFolder(t);
    const contents = Object.fromEntries(Array.from({ length: 6 }, (_, i) => [`set/${i}`, noise(MIN, i + 1)]));
    await writeTree(root, contents);
    const ways: Record<string, (code: string, cancel: () => void) => Engine> = {
      'it fails': (code) => engineOf(() => Object.assign(new Error(code), { code })),
      'it is cancelled': (_, cancel) =>
        engineOf(() => {
          cancel();
          return undefined;
        }),
    };
    const defaults = { ...stepping };
    t.after(() => Object.assign(stepping, defaults));
    for (const [way, engineFor] of Object.entries(ways)) {
      // The first steps are short, or all files are in one step.
      for (const keptBytes of way === 'it fails' ? [MIN, 100 * MIN] : [MIN]) {
        Object.assign(stepping, { keptBytes, pausesMs: [0] });
        for (const [i, options] of LAYOUTS.entries()) {
          const cache = path.join(root, `${way}-${keptBytes}-${i}`);
          const stop = new AbortController();
          const engine = engineFor('EIO', () => stop.abort());
          const first = made(path.join(root, 'set'), { ...options, cache, engine, signal: stop.signal });
          await assert.rejects(first, (error: MetainfoError) => ['ERR_READ', 'ERR_ABORTED'].includes(error.code));
          const again = await made(path.join(root, 'set'), { ...options, cache });
          // Files that share pieces have one record.
          const isShared = options.version === 'v1' && !options.padding;
          assert.equal(again.bytesRead, (isShared ? 6 : 2) * MIN, `${way}, ${keptBytes}, ${JSON.stringify(options)}`);
          const clean = await made(path.join(root, 'set'), options);
          assert.deepEqual(again.bytes, clean.bytes);
        }
      }
    }
  });

  it('does not keep a file that is written to while it is hashed', async (t) => {
    const root = await temporaryFolder(t);
    const cache = await temporaryFolder(t);
    // Two writes within one tick of the system clock leave the same times.
    for (let round = 0; round < 30; round += 1) {
      const file = path.join(root, 'file');
      await writeFile(file, noise(MIN + 20_000, round * 2 + 1));
      const racing = made(root, { version: 'v2', cache }).catch(() => null);
      await delay(round);
      await writeFile(file, noise(MIN + 20_000, round * 2 + 2));
      await racing;
      const { bytes } = await made(root, { version: 'v2' });
      assert.deepEqual((await made(root, { version: 'v2', cache })).bytes, bytes, `after ${round} ms`);
    }
  });

  it('is counted, cleared, and shared by creations that run at once', async (t) => {
    const root = await temporaryFolder(t);
    const folder = await temporaryFolder(t);
    const cache = path.join(folder, 'new', 'cache');
    await writeTree(root, { a: MIN, b: MIN + 100_000 });
    assert.deepEqual(await cacheStats(cache), { folder: cache, entries: 0, bytes: 0 });
    const { bytes } = await made(root, {});
    const many = await Promise.all(Array.from({ length: 40 }, () => made(root, { cache })));
    assert.ok(many.every((one) => one.bytes.equals(bytes)));
    const { entries, bytes: size } = await cacheStats(cache);
    assert.equal(entries, 4);
    const folderOfRecords = path.join(cache, 'hashes-3');
    const sizes = (await readdir(folderOfRecords)).map(
      async (name) => (await stat(path.join(folderOfRecords, name))).size,
    );
    assert.equal(
      size,
      (await Promise.all(sizes)).reduce((sum, one) => sum + one, 0),
    );
    assert.equal((await stat(path.join(cache, 'hashes-3'))).mode & 0o777, 0o700);
    // Clear the cache while it is in use.
    const [after] = await Promise.all([made(root, { cache }), clearCache(cache)]);
    assert.deepEqual(after.bytes, bytes);
    await clearCache(cache);
    assert.deepEqual(await cacheStats(cache), { folder: cache, entries: 0, bytes: 0 });
    assert.deepEqual(await readdir(cache), []);
    await clearCache(cache);
    assert.equal((await made(root, { cache })).bytesRead, 2 * MIN + 100_000);
  });

  it('can be cleared while it is opened', async (t) => {
    const root = await temporaryFolder(t);
    const cache = await temporaryFolder(t);
    await writeTree(root, { a: MIN + 50_000 });
    const { bytes } = await made(root, {});
    for (let round = 0; round < 40; round += 1) {
      const making = made(root, { cache });
      await delay(round % 4);
      await clearCache(cache);
      assert.deepEqual((await making).bytes, bytes);
    }
  });

  it('is in the cache folder of the user for auto', async (t) => {
    const root = await temporaryFolder(t);
    const home = await temporaryFolder(t);
    await writeTree(root, { a: MIN });
    const before = process.env['XDG_CACHE_HOME'];
    process.env['XDG_CACHE_HOME'] = home;
    t.after(() => {
      if (before === undefined) delete process.env['XDG_CACHE_HOME'];
      else process.env['XDG_CACHE_HOME'] = before;
    });
    await made(root, { cache: 'auto' });
    const { folder, entries } = await cacheStats();
    assert.deepEqual([folder, entries], [path.join(home, 'metainfo'), 2]);
  });

  it('skips a damaged record, and hashes its file again', async (t) => {
    const root = await temporaryFolder(t);
    const cache = await temporaryFolder(t);
    await writeTree(root, { a: noise(MIN + 70_000, 1), b: noise(MIN + 50_000, 2) });
    const { bytes } = await made(root, { cache });
    const folder = path.join(cache, 'hashes-3');
    const root32 = bytes.subarray(bytes.indexOf('pieces root32:') + 14).subarray(0, 32);
    // Change a hash on disk.
    for (const name of await readdir(folder)) {
      const stored = await readFile(path.join(folder, name));
      const at = stored.indexOf(root32);
      if (at < 0) continue;
      stored[at] = 255 - (stored[at] as number);
      await writeFile(path.join(folder, name), stored);
    }
    const { result, warnings } = await warningsOf(() => made(root, { cache }));
    assert.deepEqual([result, warnings], [{ bytes, bytesRead: MIN + 70_000 }, []]);
    assert.equal((await made(root, { cache })).bytesRead, 0);
  });

  it('gives the right torrent whatever damage its files have', async (t) => {
    const root = await temporaryFolder(t);
    const cache = await temporaryFolder(t);
    const folder = path.join(cache, 'hashes-3');
    await writeTree(root, { a: noise(MIN + 70_000, 1), b: noise(MIN + 50_000, 2), c: 1, empty: 0 });
    await sparseFile(root, 'long', 2000 * PIECE);
    const { bytes } = await made(root, { cache });
    const whole = new Map<string, Buffer>();
    for (const name of await readdir(folder)) whole.set(name, await readFile(path.join(folder, name)));
    const [first] = whole.values();
    const damage = fc.record({ kind: fc.constantFrom(...Object.keys(DAMAGE)), at: fc.nat(), seed: fc.nat(1e6) });
    await fc.assert(
      fc.asyncProperty(fc.dictionary(fc.constantFrom(...whole.keys()), damage), async (damages) => {
        await clearCache(cache);
        await mkdir(folder);
        for (const [name, content] of whole) {
          const { kind = 'none', at = 0, seed = 0 } = damages[name] ?? {};
          const damaged = DAMAGE[kind]?.(content, { at: at % content.length, seed, other: first as Buffer });
          await writeFile(path.join(folder, name), damaged ?? content);
        }
        const { result, warnings } = await warningsOf(() => made(root, { cache }));
        assert.deepEqual(result.bytes, bytes);
        assert.deepEqual(warnings, []);
        await cacheStats(cache);
        const after = await warningsOf(() => made(root, { cache }));
        assert.deepEqual([after.result.bytes, after.result.bytesRead, after.warnings], [bytes, 1, []]);
      }),
      { numRuns: runs(60), seed: 6, includeErrorInReport: true },
    );
  });

  it('skips truncated records of killed writers', async (t) => {
    const root = await temporaryFolder(t);
    const cache = await temporaryFolder(t);
    const folder = path.join(cache, 'hashes-3');
    await writeTree(root, { a: noise(MIN + 1, 1) });
    const file = path.join(root, 'a');
    const { bytes } = await made(file, { cache, version: 'v2' }, MIN);
    const [name = ''] = await readdir(folder);
    const record = await readFile(path.join(folder, name));
    for (let length = 0; length <= record.length; length += 1) {
      // Records behind a truncated one are read.
      await writeFile(path.join(folder, name), Buffer.concat([record.subarray(0, length), record]));
      assert.equal((await made(file, { cache, version: 'v2' }, MIN)).bytesRead, 0, `${length} bytes`);
    }
    await writeFile(path.join(folder, name), record.subarray(0, record.length - 1));
    assert.deepEqual(await made(file, { cache, version: 'v2' }, MIN), { bytes, bytesRead: MIN + 1 });
    assert.equal((await made(file, { cache, version: 'v2' }, MIN)).bytesRead, 0);
  });

  it('makes the torrent when the disk is full', { skip: process.platform === 'win32' }, async (t) => {
    const root = await temporaryFolder(t);
    const cache = await temporaryFolder(t);
    // 5,120 pieces: their hashes take 100 and 160 KiB.
    await sparseFile(root, 'a', 5120 * PIECE);
    // The child may write files of 90 KiB at most.
    const script = `trap '' XFSZ; ulimit -f 180; exec "$0" --import ./scripts/ts.mjs "$@"`;
    const child = fileURLToPath(new URL('cache-child.ts', import.meta.url));
    const run = spawn('sh', ['-c', script, process.execPath, child, root, cache], {
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    });
    let said = '';
    run.stderr?.on('data', (data) => {
      said += data;
    });
    const [[message], [code]] = await Promise.all([once(run, 'message'), once(run, 'close')]);
    assert.deepEqual([message, code], ['made', 0], said);
    assert.match(said, /cannot be written/);
    // Neither of the records was kept.
    assert.equal((await made(root, { cache })).bytesRead, 5120 * PIECE);
  });

  it('rejects a choice that is neither auto, a folder nor false', async (t) => {
    const root = await temporaryFolder(t);
    await writeTree(root, { a: MIN });
    const file = path.join(root, 'a');
    for (const cache of [true, 5, '', null] as never[])
      await assert.rejects(made(root, { cache }), { code: 'ERR_INVALID_ARGUMENT' });
    const warned = once(process, 'warning') as Promise<[MetainfoError]>;
    await made(root, { cache: file });
    assert.equal((await warned)[0].code, 'ERR_CACHE');
    await assert.rejects(cacheStats(file), { code: 'ERR_CACHE', path: file });
  });

  it('makes the torrent without a cache if its folder cannot be made', {
    skip: process.platform !== 'linux',
  }, async (t) => {
    const root = await temporaryFolder(t);
    await writeTree(root, { a: MIN });
    for (const cache of ['/proc/self', '/proc/none/such']) {
      const warned = once(process, 'warning') as Promise<[MetainfoError]>;
      await made(root, { cache });
      assert.equal((await warned)[0].code, 'ERR_CACHE');
    }
  });

  it('makes the torrent despite folders and FIFOs in place of its files', {
    skip: process.platform === 'win32',
  }, async (t) => {
    const root = await temporaryFolder(t);
    await writeTree(root, { a: MIN });
    const put: Record<string, (file: string) => unknown> = {
      folder: (file) => mkdir(file),
      FIFO: (file) => execFileSync('mkfifo', [file]),
      'link to a device': (file) => symlink('/dev/null', file),
    };
    for (const [what, make] of Object.entries(put)) {
      // A warning names the file.
      const cache = path.join(await temporaryFolder(t), '\u001b[2J');
      await made(root, { cache });
      for (const name of await readdir(path.join(cache, 'hashes-3'))) {
        await rm(path.join(cache, 'hashes-3', name));
        await make(path.join(cache, 'hashes-3', name));
      }
      const { result, warnings } = await warningsOf(() => made(root, { cache }));
      assert.equal(result.bytesRead, MIN, what);
      assert.deepEqual([warnings.length, warnings[0]?.code], [1, 'ERR_CACHE'], what);
      assert.doesNotMatch(warnings[0]?.message ?? '', /\p{Cc}/u);
      await clearCache(cache);
      await made(root, { cache });
      assert.equal((await made(root, { cache })).bytesRead, 0, what);
    }
  });

  it('makes the torrent if the files of the cache cannot be read or written', {
    skip: process.platform === 'win32',
  }, async (t) => {
    const root = await temporaryFolder(t);
    await writeTree(root, { a: MIN });
    const cache = await temporaryFolder(t);
    await made(root, { cache });
    for (const name of await readdir(path.join(cache, 'hashes-3'))) {
      await rm(path.join(cache, 'hashes-3', name));
      await symlink(name, path.join(cache, 'hashes-3', name));
    }
    const { result, warnings } = await warningsOf(() => made(root, { cache }));
    assert.equal(result.bytesRead, MIN);
    assert.deepEqual([warnings.length, warnings[0]?.code], [1, 'ERR_CACHE']);
  });

  it('makes its parent folders', async (t) => {
    const root = await temporaryFolder(t);
    await writeTree(root, { 'files/a': MIN });
    const cache = path.join(root, 'x', 'y', 'z');
    await made(path.join(root, 'files'), { cache });
    // One record for the v1 pieces, one for the v2 tree.
    assert.equal((await cacheStats(cache)).entries, 2);
    assert.equal((await stat(path.join(root, 'x'))).mode & 0o777, 0o700);
  });

  it('can be written by several processes at once', async (t) => {
    const root = await temporaryFolder(t);
    const cache = await temporaryFolder(t);
    for (let i = 0; i < 4; i += 1) await writeTree(root, { [`${i}/a`]: noise(MIN + 60_000, i + 1), [`${i}/b`]: i });
    const child = new URL('cache-child.ts', import.meta.url);
    const children = Array.from({ length: 8 }, (_, i) =>
      fork(child, [path.join(root, String(i % 4)), cache], { execArgv: ['--import', './scripts/ts.mjs'] }),
    );
    const codes = await Promise.all(children.map((one) => once(one, 'exit')));
    assert.deepEqual(
      codes.map(([code]) => code),
      children.map(() => 0),
    );
    for (let i = 0; i < 4; i += 1) {
      const folder = path.join(root, String(i));
      const { bytes } = await made(folder, {});
      assert.deepEqual(await made(folder, { cache }), { bytes, bytesRead: i });
    }
  });

  it('gives right digests after a writer was killed', async (t) => {
    const root = await temporaryFolder(t);
    const cache = await temporaryFolder(t);
    for (let i = 0; i < 30; i += 1) await writeTree(root, { [String(i)]: MIN + i });
    const { bytes } = await made(root, {});
    const child = new URL('cache-child.ts', import.meta.url);
    for (let round = 0; round < 8; round += 1) {
      const one = fork(child, [root, cache, 'forever'], { execArgv: ['--import', './scripts/ts.mjs'] });
      await once(one, 'message');
      await delay(round * 7);
      one.kill('SIGKILL');
      await once(one, 'exit');
      assert.deepEqual((await made(root, { cache })).bytes, bytes);
      await clearCache(cache);
      await mkdir(cache, { recursive: true });
    }
  });
});
