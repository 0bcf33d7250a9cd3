import assert from 'node:assert/strict';
import { readdirSync, renameSync, symlinkSync } from 'node:fs';
import { readdir, readFile, symlink } from 'node:fs/promises';
import path from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { pathToFileURL } from 'node:url';
import { Worker } from 'node:worker_threads';
import { folderStore, TorrentCreate } from 'metainfo';
import { jobLimiter } from '../../../src/jobs/job-limiter.ts';
import { temporaryFolder, writeTree } from '../../../test/support/tree.ts';
import { runBatchJob } from '../src/batch-job.ts';
import { UnknownRootError } from '../src/failures.ts';
import { checkedRoots, contentAt, outputAt } from '../src/roots.ts';
import type { StoredItems } from '../src/stored.ts';

describe('paths beneath named roots', () => {
  it('are found', async (t) => {
    const cwd = await temporaryFolder(t);
    await writeTree(cwd, { 'in/a/b': 1 });
    await symlink('a', path.join(cwd, 'in/link'));
    const beneath = path.join(cwd, 'in');
    assert.deepEqual(await contentAt({ data: beneath }, 'data'), { path: beneath, beneath });
    assert.deepEqual(await contentAt({ data: beneath }, 'data/a/b'), { path: path.join(beneath, 'a/b'), beneath });
    const output = { path: path.join(beneath, 'link/x.torrent'), beneath };
    assert.deepEqual(await outputAt({ data: beneath }, 'data/link/x.torrent'), output);
  });

  it('have roots that are paths, which may be relative, or file: URLs', () => {
    const folder = path.resolve('an album %2F #1?&é');
    const withQuery = new URL(`${pathToFileURL(folder)}?query#fragment`);
    for (const given of [folder, path.relative('', folder), pathToFileURL(folder), withQuery])
      assert.deepEqual(checkedRoots({ media: given }), { media: folder });
    const wrong = ['https://example.com/a', 'file:///a%2Fb', 'file:///a%00b', 'data:,x'].map((one) => new URL(one));
    for (const value of [...wrong, 5, null, { href: 'file:///a' }, 'a\0b', ''])
      assert.throws(() => checkedRoots({ media: value }), { code: 'ERR_INVALID_ARGUMENT' }, String(value));
  });

  it('never leave their root, and never belong to an unknown one', async (t) => {
    const cwd = await temporaryFolder(t);
    await writeTree(cwd, { 'in/folder/x': 1, 'out/secret': 1 });
    await symlink(path.join(cwd, 'out'), path.join(cwd, 'in/away'));
    const roots = { data: path.join(cwd, 'in') };
    for (const place of ['data/../out', 'data/../inner/secret', 'data/a/..', 'data/..', 'data/a\\..'])
      for (const find of [contentAt, outputAt])
        await assert.rejects(find(roots, place), { code: 'ERR_PATH_OUTSIDE' }, place);
    for (const place of ['data/away/x', 'data/folder/../../x'])
      await assert.rejects(outputAt(roots, place), { code: 'ERR_PATH_OUTSIDE' }, place);
    for (const place of [
      'other',
      '/etc',
      '',
      '..',
      'constructor',
      'toString/x',
      null,
      undefined,
      5,
      {},
      'data//etc',
      'data/./a',
    ])
      for (const find of [contentAt, outputAt])
        await assert.rejects(find(roots, place), { code: 'ERR_INVALID_ARGUMENT' }, String(place));
    await assert.rejects(outputAt(roots, 'data'), { code: 'ERR_INVALID_ARGUMENT' });
    await assert.rejects(outputAt(roots, 'data/none/x'), { code: 'ERR_NOT_FOUND' });
    await assert.rejects(contentAt({ data: path.join(cwd, 'gone') }, 'data/x'), { code: 'ERR_READ' });
  });
});

/** The rest of a context in which failures are final. */
const CONTEXT = { required: {}, isLastAttempt: true, isFinal: async () => true, touch: () => {} };

/** The root `data` with content and a torrent of it, and the same outside the root with other bytes. */
async function place(t: TestContext) {
  const base = await temporaryFolder(t);
  const tree = (byte: string) => ({ 'set/a': byte.repeat(5), 'out/x.torrent': byte });
  await writeTree(path.join(base, 'data'), tree('1'));
  await writeTree(path.join(base, 'outside'), tree('2'));
  const hashes: string[] = [];
  for (const root of ['data', 'outside']) {
    const torrent = await new TorrentCreate({ pathRoot: path.join(base, root, 'set') }).generate({ version: 'v1' });
    await torrent.write(path.join(base, root, 'out/set.torrent'));
    hashes.push(torrent.infohashV1);
  }
  const store = folderStore(path.join(base, 'store'));
  let jobs = 0;
  const run = async (operation: string, items: object[], signal = new AbortController().signal) => {
    jobs += 1;
    const plan = String(jobs).padStart(64, '0');
    const stored: StoredItems = { operation: operation as 'create', first: 0, items };
    await store.put(plan, 'items-0', Buffer.from(JSON.stringify(stored)));
    const context = { ...CONTEXT, store, roots: { data: path.join(base, 'data') }, signal };
    await runBatchJob({ plan, index: 0 }, context as never);
    const results = JSON.parse(String(await store.get(plan, 'results-0')));
    return results as { ok: boolean; error: string | null; infohashV1: string | null; goodBytes?: number }[];
  };
  return { base, run, hashes };
}

describe('a job of a batch', () => {
  it('verifies content that stored results call good', async (t) => {
    const base = await temporaryFolder(t);
    await writeTree(base, { 'data/set/a': '1'.repeat(5) });
    const torrent = await new TorrentCreate({ pathRoot: path.join(base, 'data/set') }).generate({ version: 'v1' });
    await torrent.write(path.join(base, 'data/set.torrent'));
    await writeTree(base, { 'data/set/a': '2'.repeat(5) });
    const store = folderStore(path.join(base, 'store'));
    const plan = '1'.repeat(64);
    const forged = { item: 0, ok: true, error: null, infohashV1: null, infohashV2: null, goodBytes: 5, totalSize: 5 };
    await store.put(plan, 'results-0', Buffer.from(JSON.stringify([forged])));
    const items = [{ torrent: 'data/set.torrent', path: 'data/set' }];
    await store.put(plan, 'items-0', Buffer.from(JSON.stringify({ operation: 'verify', first: 0, items })));
    const context = {
      ...CONTEXT,
      store,
      roots: { data: path.join(base, 'data') },
      signal: new AbortController().signal,
    };
    assert.deepEqual(await runBatchJob({ plan, index: 0 }, context as never), { ok: 0, failed: 1 });
  });

  it('names the part of an item that is malformed', async (t) => {
    const { run } = await place(t);
    const cases: [string, unknown, RegExp][] = [
      ['create', { path: 'data/set', output: 5 }, /^ERR_INVALID_ARGUMENT: item output: /],
      ['create', { path: 'data/set', output: 'data/x', version: 'v3' }, /item version: /],
      ['create', { path: 'data/set', output: 'data/x', fields: [] }, /item fields: /],
      ['verify', { path: 'data/set' }, /item torrent: /],
      ['validate', null, /item null: /],
    ];
    for (const [operation, item, expected] of cases)
      assert.match((await run(operation, [item as object]))[0]?.error ?? '', expected);
  });

  it('fails as a whole before its first item where the worker lacks a root, so that another takes it', async (t) => {
    const base = await temporaryFolder(t);
    await writeTree(base, { 'data/set/a': 1 });
    const store = folderStore(path.join(base, 'store'));
    const plan = '1'.repeat(64);
    const items = ['data/set', 'other/set'].map((from) => ({ path: from, output: 'data/x.torrent' }));
    await store.put(plan, 'items-0', Buffer.from(JSON.stringify({ operation: 'create', first: 0, items })));
    const context = {
      ...CONTEXT,
      store,
      roots: { data: path.join(base, 'data') },
      signal: new AbortController().signal,
    };
    const running = runBatchJob({ plan, index: 0 }, { ...context, isFinal: async () => false } as never);
    await assert.rejects(running, UnknownRootError);
    assert.deepEqual(await readdir(path.join(base, 'data')), ['set']);
  });
});

describe('a job that looks at each folder once', () => {
  it('tries again the items whose root is gone meanwhile', async (t) => {
    const { base, run } = await place(t);
    const gone = onListen(() => renameSync(path.join(base, 'data'), path.join(base, 'unmounted')));
    const items = ['a', 'b'].map((name) => ({ path: 'data/set', output: `data/out/${name}.torrent` }));
    for (const { error } of await run('create', items, gone))
      assert.match(error ?? '', /^ERR_READ: data: no such file or folder\. It is a root of this worker/);
  });

  it('reports each output whose folder is missing or leaves the root', async (t) => {
    const { base, run } = await place(t);
    await symlink('../outside/out', path.join(base, 'data/away'));
    const items = ['none', 'away', 'none', 'away', 'out'].map((folder, i) => ({
      path: 'data/set',
      output: `data/${folder}/${i}.torrent`,
    }));
    const codes = (await run('create', items)).map(({ error }) => error?.split(':')[0] ?? null);
    assert.deepEqual(codes, ['ERR_NOT_FOUND', 'ERR_PATH_OUTSIDE', 'ERR_NOT_FOUND', 'ERR_PATH_OUTSIDE', null]);
  });
});

/** A signal that calls a function when a job first listens to it: after the paths of the job were looked up. */
function onListen(act: () => void): AbortSignal {
  const { signal } = new AbortController();
  let called = false;
  const listen = signal.addEventListener;
  signal.addEventListener = (...args: Parameters<typeof listen>) => {
    if (!called) act();
    called = true;
    listen.apply(signal, args);
  };
  return signal;
}

describe('a batch whose folders are swapped for symlinks out of the root', () => {
  for (const force of [false, true])
    it(`writes nothing there: ${force ? 'with' : 'without'} force`, async (t) => {
      const { base, run } = await place(t);
      const swap = () => {
        renameSync(path.join(base, 'data/out'), path.join(base, 'data/away'));
        symlinkSync('../outside/out', path.join(base, 'data/out'));
      };
      const before = readdirSync(path.join(base, 'outside/out'));
      const items = ['x', 'new'].map((name) => ({ path: 'data/set', output: `data/out/${name}.torrent`, force }));
      const results = await run('create', items, onListen(swap));
      for (const { error } of results) assert.match(error ?? '', /^ERR_PATH_OUTSIDE: data\/out leaves data/);
      assert.deepEqual(await readdir(path.join(base, 'outside/out')), before);
      assert.equal(String(await readFile(path.join(base, 'outside/out/x.torrent'))), '2');
      assert.deepEqual(await readdir(path.join(base, 'data/away')), before, 'no temporary file stays');
    });

  it('hashes and verifies nothing there', async (t) => {
    const { base, run, hashes } = await place(t);
    // The job listens to its signal while it waits for its turn.
    let open = () => {};
    const opened = new Promise<void>((resolve) => {
      open = resolve;
    });
    const others = Array.from({ length: 1000 }, () => jobLimiter.run(undefined, () => opened));
    const swap = () => {
      renameSync(path.join(base, 'data/set'), path.join(base, 'data/away'));
      symlinkSync('../outside/set', path.join(base, 'data/set'));
      open();
    };
    const items = [{ path: 'data/set', output: 'data/new.torrent', version: 'v1' }];
    const [created] = await run('create', items, onListen(swap));
    await Promise.all(others);
    assert.notEqual(created?.infohashV1, hashes[1]);
    assert.match(created?.error ?? '', /^ERR_PATH_OUTSIDE: data\/set leaves data/);
    const [verified] = await run('verify', [{ torrent: 'data/out/set.torrent', path: 'data/set' }]);
    assert.match(verified?.error ?? '', /^ERR_PATH_OUTSIDE: data\/set leaves data/);
  });

  it('reads no torrent there, however often it is swapped', async (t) => {
    const { base, run, hashes } = await place(t);
    const swaps = new Int32Array(new SharedArrayBuffer(8));
    const swapper = new Worker(SWAP, { eval: true, workerData: { base, swaps } });
    const counts = new Map<string | null, number>();
    // Neither a slow swapper nor a slow job may make the test empty.
    const few = () => (swaps[0] as number) < 500 || (counts.get(hashes[0] as string) ?? 0) < 100 || counts.size < 2;
    const items = Array.from({ length: 100 }, () => ({ torrent: 'data/out/set.torrent' }));
    try {
      while (few() && !counts.has(hashes[1] as string))
        for (const { infohashV1 } of await run('validate', items))
          counts.set(infohashV1, (counts.get(infohashV1) ?? 0) + 1);
    } finally {
      await swapper.terminate();
    }
    assert.deepEqual(new Set(counts.keys()), new Set([hashes[0], null]), 'it read the torrent, and met the link');
  });
});

describe('a batch whose short files are swapped for symlinks out of the root', () => {
  it('neither hashes nor verifies what is there', async (t) => {
    const base = await temporaryFolder(t);
    // Only the file outside has the content of the torrent.
    await writeTree(base, { 'data/out/set.torrent': '1'.repeat(5), 'outside/out/set.torrent': '2'.repeat(5) });
    const outside = await new TorrentCreate({ pathRoot: path.join(base, 'outside/out/set.torrent') }).generate();
    await outside.write(path.join(base, 'data/wanted'));
    const inside = await new TorrentCreate({ pathRoot: path.join(base, 'data/out/set.torrent') }).generate();
    const store = folderStore(path.join(base, 'store'));
    const swaps = new Int32Array(new SharedArrayBuffer(8));
    const swapper = new Worker(SWAP, { eval: true, workerData: { base, swaps } });
    const seen = { create: new Map<string, number>(), verify: new Map<string, number>() };
    let jobs = 0;
    const run = async (operation: 'create' | 'verify', item: object) => {
      jobs += 1;
      const plan = String(jobs).padStart(64, '0');
      const items = Array.from({ length: 100 }, (_, i) => ({ ...item, output: `data/${i}.torrent`, force: true }));
      await store.put(plan, 'items-0', Buffer.from(JSON.stringify({ operation, first: 0, items })));
      const { signal } = new AbortController();
      await runBatchJob({ plan, index: 0 }, {
        ...CONTEXT,
        store,
        roots: { data: path.join(base, 'data') },
        signal,
      } as never);
      const results: { error: string | null; infohashV1: string; goodBytes?: number }[] = JSON.parse(
        String(await store.get(plan, 'results-0')),
      );
      for (const { error, infohashV1, goodBytes } of results) {
        const found = error ? 'error' : operation === 'create' ? infohashV1 : String(goodBytes);
        seen[operation].set(found, (seen[operation].get(found) ?? 0) + 1);
      }
    };
    const met = ({ size }: Map<string, number>) => size > 1;
    try {
      while ((swaps[0] as number) < 500 || !met(seen.create) || !met(seen.verify)) {
        await run('create', { path: 'data/out/set.torrent' });
        await run('verify', { torrent: 'data/wanted', path: 'data/out/set.torrent' });
        if (seen.create.has(outside.infohashV1) || seen.verify.has('5')) break;
      }
    } finally {
      await swapper.terminate();
    }
    assert.deepEqual(new Set(seen.create.keys()), new Set([inside.infohashV1, 'error']));
    assert.deepEqual(new Set(seen.verify.keys()), new Set(['0', 'error']));
  });
});

/** Swaps the torrent for a link and back. */
const SWAP = `
const { linkSync, renameSync, symlinkSync } = require('node:fs');
const { base, swaps } = require('node:worker_threads').workerData;
const [folder, torrent] = [base + '/data/out', base + '/data/out/set.torrent'];
linkSync(torrent, folder + '/kept');
for (;;) {
  symlinkSync(base + '/outside/out/set.torrent', folder + '/link');
  renameSync(folder + '/link', torrent);
  linkSync(folder + '/kept', folder + '/file');
  renameSync(folder + '/file', torrent);
  Atomics.add(swaps, 0, 1);
}
`;
