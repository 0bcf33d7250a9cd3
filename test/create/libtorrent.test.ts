import assert from 'node:assert/strict';
import { execFileSync, fork } from 'node:child_process';
import { once } from 'node:events';
import { appendFile, chmod, cp, mkdir, readFile, rm, symlink, truncate, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import fc from 'fast-check';
import { TorrentCreate } from '../../src/create/draft.ts';
import type { TorrentCreateFields } from '../../src/create/draft-fields.ts';
import { AbortError } from '../../src/errors/cancel.ts';
import type { MetainfoError } from '../../src/errors/errors.ts';
import { Torrent } from '../../src/model/torrent/torrent.ts';
import { noise } from '../hash/reference.ts';
import { engineMissing } from '../support/engine.ts';
import { tree, writeGenerated } from '../support/generated.ts';
import { runs } from '../support/runs.ts';
import { sparseFile, temporaryFolder, writeTree } from '../support/tree.ts';
import { failuresAsNobody, notRoot } from '../support/unprivileged.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const VERSIONS = ['v1', 'v2', 'hybrid'] as const;
const PIECE = 16_384;
const TREES = runs(100);

const skip = engineMissing();
const code = (expected: string) => (error: MetainfoError) => error.code === expected;

describe('generateExt', { skip }, () => {
  it(`makes the torrents of generate for ${TREES} generated trees`, async (t) => {
    const base = await temporaryFolder(t);
    let count = 0;
    await fc.assert(
      fc.asyncProperty(tree, async (given) => {
        count += 1;
        const root = path.join(base, String(count));
        await writeGenerated(root, given);
        const pathRoot = given.single ? path.join(root, given.files[0]?.path ?? '') : root;
        const draft = new TorrentCreate({ pathRoot, pieceLength: given.pieceLength, info: { name: 'torrent' } });
        for (const version of VERSIONS) {
          const ours = await draft.generate({ version, padNames: 'libtorrent' });
          const theirs = Torrent.fromBytes(await draft.generateExt({ version, bencode: true }));
          assert.deepEqual(
            [theirs.infohashV1, theirs.infohashV2, theirs.torrentVersion],
            [ours.infohashV1, ours.infohashV2, version],
          );
          assert.deepEqual(Buffer.from(theirs.bencode()), Buffer.from(ours.bencode()));
        }
        await rm(root, { recursive: true });
      }),
      { numRuns: TREES },
    );
  });

  it('writes every field of the draft', async (t) => {
    const root = await temporaryFolder(t);
    await writeTree(root, { a: 40_000, 'b/ü': 1, c: 0 });
    const fields: TorrentCreateFields = {
      pathRoot: root,
      pieceLength: PIECE,
      comment: 'a comment',
      createdBy: 'somebody',
      creationDate: new Date(1_700_000_000_000),
      trackers: [['udp://a.example', 'udp://b.example'], ['http://c.example']],
      urlList: ['http://seed.example/'],
      similar: ['aa'.repeat(20), 'bb'.repeat(32)],
      info: { name: 'other', private: true, source: 'SITE' },
      extra: new Map([['zz', [1]]]) as never,
    };
    const draft = new TorrentCreate(fields);
    for (const version of VERSIONS) {
      const expected = await draft.generate({ version, padNames: 'libtorrent' });
      assert.deepEqual(await draft.generateExt({ version }), expected.modelDumpTorrent());
      assert.deepEqual(
        Buffer.from(await draft.generateExt({ version, bencode: true })),
        Buffer.from(expected.bencode()),
      );
    }
    const flagged = [{ length: 40_000, path: ['a'], attr: 'x' }];
    const draftOf = (attr: string) =>
      new TorrentCreate({
        pathRoot: root,
        pieceLength: PIECE,
        info: { files: flagged.map((one) => ({ ...one, attr })) },
      });
    for (const attr of ['x', 'h', 'hx']) {
      const torrent = Torrent.fromBytes(await draftOf(attr).generateExt({ version: 'v1', bencode: true }));
      assert.deepEqual([...(torrent.files[0]?.attr ?? '')].sort().join(''), attr);
    }
    await assert.rejects(draftOf('z').generateExt(), code('ERR_INVALID_ARGUMENT'));
  });

  it('writes the output, and does not replace an existing file', async (t) => {
    const root = await temporaryFolder(t);
    await writeTree(root, { 'data/a': 5 });
    const draft = new TorrentCreate({ pathRoot: path.join(root, 'data') });
    const output = path.join(root, 'x.torrent');
    const bytes = await draft.generateExt({ output, bencode: true });
    assert.deepEqual(await readFile(output), Buffer.from(bytes));
    await assert.rejects(draft.generateExt({ output }), code('ERR_OUTPUT_EXISTS'));
    await draft.generateExt({ output, force: true, version: 'v2' });
    assert.equal((await Torrent.read(output)).torrentVersion, 'v2');
  });

  it('reads files behind links, whatever the torrent calls them', async (t) => {
    const root = await temporaryFolder(t);
    await writeTree(root, { real: noise(50_000, 1), 'folder/b': 3 });
    await symlink('real', path.join(root, 'link'));
    await symlink('folder', path.join(root, 'again'));
    const draft = new TorrentCreate({ pathRoot: root, info: { name: 'elsewhere' } });
    for (const version of VERSIONS) {
      const bytes = await draft.generateExt({ version, bencode: true });
      assert.deepEqual(
        Buffer.from(bytes),
        Buffer.from((await draft.generate({ version, padNames: 'libtorrent' })).bencode()),
      );
    }
  });

  it('reports progress, and stops when the signal fires', async (t) => {
    const folder = await temporaryFolder(t);
    const draft = new TorrentCreate({ pathRoot: await sparseFile(folder, 'big', 2 ** 31), pieceLength: 2 ** 20 });
    const reasons: unknown[] = [];
    for (let round = 0; round < 10; round += 1) {
      const stop = new AbortController();
      setTimeout(() => stop.abort('enough'), round * 15);
      const error = await draft.generateExt({ signal: stop.signal }).then(
        () => null,
        (thrown: unknown) => thrown,
      );
      if (error) assert.ok(error instanceof AbortError);
      reasons.push((error as AbortError | null)?.cause);
    }
    assert.ok(reasons.includes('enough'));
    await assert.rejects(draft.generateExt({ signal: AbortSignal.abort() }), code('ERR_ABORTED'));
    const seen: number[] = [];
    const small = new TorrentCreate({ pathRoot: await sparseFile(folder, 'small', 2 ** 28), pieceLength: PIECE });
    await small.generateExt({ onProgress: ({ bytes }) => seen.push(bytes) });
    assert.equal(seen.at(-1), 2 ** 28);
    const broken = () => {
      throw new Error('of the caller');
    };
    await assert.rejects(draft.generateExt({ onProgress: broken }), /of the caller/);
  });

  it('names a file that disappears, changes or cannot be read', async (t) => {
    const root = await temporaryFolder(t);
    const at = (name: string) => path.join(root, name);
    await writeTree(root, { a: 40_000, b: 1, empty: 0 });
    const big = await sparseFile(root, 'big', 2 ** 30);
    const draft = new TorrentCreate({ pathRoot: root, pieceLength: 2 ** 20 });
    /** Changes a file while libtorrent hashes it. */
    const during = async (work: () => Promise<unknown>) => {
      let done: Promise<unknown> | undefined;
      const error = await draft.generateExt({ onProgress: () => (done ??= work()) }).then(
        () => assert.fail('it was made'),
        (thrown: MetainfoError) => thrown,
      );
      await done;
      return [error.code, error.path];
    };
    assert.deepEqual(await during(() => rm(at('empty'))), ['ERR_FILE_CHANGED', at('empty')]);
    await writeTree(root, { empty: 0 });
    assert.deepEqual(await during(() => appendFile(at('b'), 'more')), ['ERR_FILE_CHANGED', at('b')]);
    assert.deepEqual(await during(() => utimes(big, 1, 1)), ['ERR_FILE_CHANGED', big]);
    // libtorrent itself fails while it hashes.
    assert.deepEqual(await during(() => truncate(big, 0)), ['ERR_FILE_CHANGED', big]);
    await sparseFile(root, 'big', 2 ** 30);
    assert.deepEqual(await during(() => rm(big)), ['ERR_FILE_CHANGED', big]);
    await rm(at('a'));
    await rm(at('b'));
    await assert.rejects(draft.generateExt(), code('ERR_NO_DATA'));
    await rm(at('empty'));
    await assert.rejects(draft.generateExt(), code('ERR_NO_FILES'));
  });

  it('names every file that it has no permission to read', { skip: notRoot() }, async (t) => {
    const root = await temporaryFolder(t);
    await writeTree(root, { 'one/a': 1, 'one/b': 40_000, 'two/a': 1, 'two/b': 40_000 });
    await chmod(root, 0o755);
    for (const name of ['one/b', 'two/a', 'two/b']) await chmod(path.join(root, name), 0);
    const [one, two] = failuresAsNobody([path.join(root, 'one'), path.join(root, 'two')], 'generateExt');
    assert.deepEqual([one?.code, one?.path], ['ERR_UNREADABLE', path.join(root, 'one/b')]);
    assert.equal(two?.code, 'ERR_UNREADABLE');
    assert.match(
      two.message ?? '',
      /^2 files or folders cannot be added: [^;]+a: no permission to read it; [^;]+b: no permission to read it/,
    );
  });

  it('rejects drafts that libtorrent does not support', async (t) => {
    const root = await temporaryFolder(t);
    await writeTree(root, { a: 1 });
    const make = (fields: TorrentCreateFields, version: never = 'v1' as never) =>
      new TorrentCreate({ pathRoot: root, ...fields }).generateExt({ version });
    await assert.rejects(make({}, 'v3' as never), code('ERR_INVALID_ARGUMENT'));
    await assert.rejects(make({ pieceLength: 8192 }), code('ERR_PIECE_LENGTH'));
    await assert.rejects(make({ sources: [{ path: 'x', data: Buffer.from('x') }] }), code('ERR_INVALID_ARGUMENT'));
    await assert.rejects(make({ info: { length: 5, name: 'a' } }), code('ERR_HASH_MISMATCH'));
  });

  it('runs in worker threads, and ends with a terminated one', async (t) => {
    const folder = await temporaryFolder(t);
    const big = await sparseFile(folder, 'big', 2 ** 31);
    const load = `
      const { workerData, parentPort } = require('node:worker_threads');
      import(workerData.ts).then(() => import(workerData.module)).then(async ({ TorrentCreate }) => {
        parentPort.postMessage('started');
        await new TorrentCreate({ pathRoot: workerData.big, pieceLength: 2 ** 20 }).generateExt();
      })`;
    const module = new URL('../../src/create/draft.ts', import.meta.url).href;
    // Such workers do not inherit --import.
    const ts = new URL('../../scripts/ts.mjs', import.meta.url).href;
    for (let round = 0; round < 4; round += 1) {
      const worker = new Worker(load, { eval: true, execArgv: [], workerData: { big, module, ts } });
      await once(worker, 'message');
      await new Promise((resolve) => setTimeout(resolve, 40 * round));
      await worker.terminate();
    }
  });
});

describe('libtorrent where its addon is not built', () => {
  it('fails with a message that lists the commands that build it', async (t) => {
    const root = await temporaryFolder(t);
    await writeTree(root, { a: 1, 'broken.node': 'no library' });
    for (const name of ['none.node', 'broken.node']) {
      const child = fork(new URL('libtorrent-child.ts', import.meta.url), [path.join(root, 'a')], {
        execArgv: ['--import', './scripts/ts.mjs'],
        env: { ...process.env, METAINFO_LIBTORRENT: path.join(root, name) },
      });
      const [told] = (await once(child, 'message')) as [{ code: string; message: string }];
      assert.equal(told.code, 'ERR_MAKER_UNAVAILABLE');
      assert.match(told.message, name === 'none.node' ? /is not built/ : /cannot be loaded/);
      assert.match(told.message, /apt-get install libtorrent-rasterbar-dev.*npm run build:libtorrent/);
    }
  });

  it('is not built, with a message, if libtorrent is missing or too old', async (t) => {
    const folder = await temporaryFolder(t);
    for (const place of ['native', 'scripts'])
      await cp(path.join(ROOT, place), path.join(folder, place), { recursive: true });
    await rm(path.join(folder, 'native/libtorrent/build'), { recursive: true, force: true });
    await symlink(path.join(ROOT, 'node_modules'), path.join(folder, 'node_modules'));
    await mkdir(path.join(folder, 'pkgconfig'));
    const text = 'Name: libtorrent-rasterbar\nDescription: old\nVersion: 1.2.19\nLibs:\nCflags:\n';
    for (const version of [null, text]) {
      if (version) await writeFile(path.join(folder, 'pkgconfig/libtorrent-rasterbar.pc'), version);
      const said = execFileSync(process.execPath, [path.join(folder, 'scripts/build-libtorrent.mjs')], {
        cwd: folder,
        encoding: 'utf8',
        env: { ...process.env, PKG_CONFIG_LIBDIR: path.join(folder, 'pkgconfig') },
      });
      assert.match(said, /libtorrent-rasterbar 2\.0 or later was not found, and nothing was built/);
    }
  });
});
