import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { copyFile, mkdir, rename, rm, symlink, utimes } from 'node:fs/promises';
import path from 'node:path';
import { describe, it } from 'node:test';
import { pathToFileURL } from 'node:url';
import fc from 'fast-check';
import { create } from '../../../src/create/create.ts';
import { TorrentCreate } from '../../../src/create/draft.ts';
import type { ReuseReport } from '../../../src/create/known/known.ts';
import type { GenerateOptions } from '../../../src/create/options.ts';
import { update } from '../../../src/edit/update.ts';
import type { MetainfoError } from '../../../src/errors/errors.ts';
import { nodeEngine } from '../../../src/hash/node.ts';
import type { Torrent } from '../../../src/model/torrent/torrent.ts';
import { planParts } from '../../../src/parts/torrent-plan.ts';
import { noise } from '../../hash/reference.ts';
import { LAYOUTS, tree, writeGenerated } from '../../support/generated.ts';
import { runs } from '../../support/runs.ts';
import { temporaryFolder, writeTree } from '../../support/tree.ts';

const PIECE = 16_384;

interface MakeOptions extends GenerateOptions {
  pieceLength?: number;
  name?: string;
}

/** A torrent, and what was reused for it. */
async function made(pathRoot: string, options: MakeOptions): Promise<{ torrent: Torrent; report: ReuseReport | null }> {
  let report: ReuseReport | null = null;
  const onReuse = (given: ReuseReport) => {
    assert.equal(report, null, 'onReuse is called once');
    report = given;
  };
  const torrent = await create(pathRoot, { createdBy: null, pieceLength: PIECE, ...options, onReuse });
  return { torrent, report };
}

const bytesOf = ({ torrent }: { torrent: Torrent }) => Buffer.from(torrent.bencode());

describe('reuse', () => {
  it('makes the same torrents of every version as without it, from torrents of any version and piece length', async (t) => {
    const base = await temporaryFolder(t);
    let [count, reused] = [0, 0];
    await fc.assert(
      fc.asyncProperty(tree, fc.nat(2), async (given, otherSeed) => {
        count += 1;
        const [root, other] = [path.join(base, String(count), 'content'), path.join(base, String(count), 'other')];
        await writeGenerated(root, given);
        // Files of the same names and sizes with other content: their hashes must not be taken.
        const files = given.files.map((file) => ({ ...file, seed: (file.seed + otherSeed) % 3 }));
        await writeGenerated(other, { ...given, files });
        const contentOf = (folder: string) => (given.single ? path.join(folder, given.files[0]?.path ?? '') : folder);
        const reuse: Torrent[] = [];
        for (const options of LAYOUTS)
          for (const folder of [other, root])
            for (const pieceLength of new Set([PIECE, given.pieceLength, 2 * given.pieceLength]))
              reuse.push((await made(contentOf(folder), { ...options, pieceLength })).torrent);
        const size = given.files.reduce((sum, file) => sum + file.size, 0);
        for (const options of LAYOUTS)
          for (const engine of [undefined, nodeEngine()]) {
            const own = { ...options, pieceLength: given.pieceLength, engine };
            const expected = bytesOf(await made(contentOf(root), own));
            const again = await made(contentOf(root), { ...own, reuse });
            assert.deepEqual(bytesOf(again), expected);
            assert.deepEqual(again.report?.different, []);
            assert.ok((again.report?.bytesRead as number) <= size);
            reused += again.report?.files ?? 0;
            const verified = await made(contentOf(root), { ...own, reuse, reuseVerify: true });
            assert.deepEqual(bytesOf(verified), expected);
            assert.deepEqual([verified.report?.bytes, verified.report?.bytesRead], [size, size]);
          }
        await rm(path.join(base, String(count)), { recursive: true });
      }),
      { numRuns: runs(8) },
    );
    assert.ok(reused > 0);
  });

  it('reads three pieces of each file, and all of files that have no more', async (t) => {
    const root = await temporaryFolder(t);
    const sizes = { a: 100 * PIECE + 5, b: 4 * PIECE, c: 3 * PIECE, d: 1, e: 0 };
    await writeTree(
      root,
      Object.fromEntries(Object.entries(sizes).map(([name, size]) => [name, noise(size, size + 1)])),
    );
    for (const version of ['v2', 'hybrid'] as const) {
      const old = await made(root, { version });
      const { torrent, report } = await made(root, { version, reuse: [old.torrent] });
      assert.deepEqual(torrent.bencode(), old.torrent.bencode());
      const bytesRead = 2 * PIECE + 5 + 3 * PIECE + 3 * PIECE + 1;
      const files = { torrents: 1, skipped: 0, files: 2, bytes: sizes.a + sizes.b, different: [], bytesRead };
      assert.deepEqual(report, files);
    }
    const old = await made(root, { version: 'v1' });
    const { report } = await made(root, { version: 'v1', reuse: [old.torrent] });
    assert.deepEqual([report?.files, report?.bytes], [5, old.torrent.totalSize]);
    assert.ok((report?.bytesRead as number) <= 10 * PIECE);
  });

  it('hashes a file whose first, last or whole content differs, and names it', async (t) => {
    const root = await temporaryFolder(t);
    const content = noise(50 * PIECE + 100);
    await writeTree(root, { 'sub/film': content, other: noise(10 * PIECE, 2) });
    for (const options of LAYOUTS) {
      await writeTree(root, { 'sub/film': content });
      const old = await made(root, options);
      for (const changed of [
        Buffer.concat([noise(1, 9), content.subarray(1)]),
        Buffer.concat([content.subarray(0, -1), noise(1, 9)]),
        noise(content.length, 7),
      ]) {
        await writeTree(root, { 'sub/film': changed });
        const { torrent, report } = await made(root, { ...options, reuse: [old.torrent] });
        assert.deepEqual(torrent.bencode(), (await made(root, options)).torrent.bencode());
        const isWhole = options.version === 'v1' && !options.padding;
        assert.deepEqual(report?.different, [isWhole ? path.basename(root) : 'sub/film']);
        assert.equal(report?.files, isWhole ? 0 : 1);
      }
    }
  });

  it('finds a changed byte anywhere with reuseVerify', async (t) => {
    const root = await temporaryFolder(t);
    const content = noise(50 * PIECE);
    await writeTree(root, { film: content });
    for (const options of LAYOUTS) {
      await writeTree(root, { film: content });
      const { torrent } = await made(root, options);
      content[20 * PIECE + 7] = (content[20 * PIECE + 7] as number) ^ 1;
      await writeTree(root, { film: content });
      const verified = await made(root, { ...options, reuse: [torrent], reuseVerify: true });
      assert.deepEqual(bytesOf(verified), bytesOf(await made(root, options)));
      assert.deepEqual([verified.report?.files, verified.report?.different], [0, ['film']]);
    }
  });

  it('chooses among files of the same size and name by their content', async (t) => {
    const base = await temporaryFolder(t);
    const size = 20 * PIECE;
    const reuse: Torrent[] = [];
    for (let i = 0; i < 12; i += 1) {
      await writeTree(base, { [`old${i}/x/data.bin`]: noise(size, i + 1) });
      reuse.push((await made(path.join(base, `old${i}`), { version: 'hybrid' })).torrent);
    }
    await writeTree(base, {
      'new/p/data.bin': noise(size, 5),
      'new/q/data.bin': noise(size, 10),
      'new/r': noise(size, 99),
    });
    const { torrent, report } = await made(path.join(base, 'new'), { version: 'hybrid', reuse });
    assert.deepEqual(torrent.bencode(), (await made(path.join(base, 'new'), { version: 'hybrid' })).torrent.bencode());
    assert.deepEqual([report?.files, report?.different, report?.torrents], [2, [], 12]);
  });

  it('takes the hashes of the same path, however many files have its size and name', async (t) => {
    const root = await temporaryFolder(t);
    const names = Array.from({ length: 40 }, (_, i) => `${i}/data.bin`);
    await writeTree(root, Object.fromEntries(names.map((name, i) => [name, noise(6 * PIECE, i + 1)])));
    const old = await made(root, { version: 'v2' });
    const { torrent, report } = await made(root, { version: 'v2', reuse: [old.torrent] });
    assert.deepEqual([torrent.bencode(), report?.files], [old.torrent.bencode(), 40]);
  });

  it('reads folders of torrents, and skips everything in them that is no torrent', async (t) => {
    const base = await temporaryFolder(t);
    await writeTree(base, { 'content/film': noise(9 * PIECE) });
    const content = path.join(base, 'content');
    const { torrent } = await made(content, { version: 'v2' });
    const folder = path.join(base, 'BT backup');
    await torrent.write(path.join(base, 'named'));
    await mkdir(path.join(folder, 'deep', 'x.torrent'), { recursive: true });
    await copyFile(path.join(base, 'named'), path.join(folder, 'deep', 'x.torrent', 'y.TORRENT'));
    await writeTree(folder, {
      'bad.torrent': 'd4:infoe',
      'empty.torrent': '',
      'x.fastresume': 'no',
      '._x.torrent': 'no',
    });
    if (process.platform !== 'win32') {
      execFileSync('mkfifo', [path.join(folder, 'fifo.torrent')]);
      await symlink('nowhere', path.join(folder, 'broken.torrent'));
    }
    const skipped = process.platform === 'win32' ? 2 : 4;
    const { report } = await made(content, { version: 'v2', reuse: [folder] });
    assert.deepEqual([report?.torrents, report?.skipped, report?.files], [1, skipped, 1]);
    const mixed = [pathToFileURL(folder), path.join(base, 'named'), torrent];
    assert.equal((await made(content, { version: 'v2', reuse: mixed })).report?.torrents, 3);
    assert.equal((await made(content, { version: 'v2', reuse: [] })).report?.torrents, 0);
  });

  it('fails with one error for all torrents that are named and cannot be read', async (t) => {
    const base = await temporaryFolder(t);
    await writeTree(base, { film: noise(9 * PIECE), 'no.torrent': 'no' });
    const [film, no, gone] = ['film', 'no.torrent', 'gone'].map((name) => path.join(base, name)) as [
      string,
      string,
      string,
    ];
    await assert.rejects(made(film, { reuse: [gone, no] }), (error: MetainfoError) => {
      assert.deepEqual([error.code, error.path], ['ERR_NOT_FOUND', gone]);
      assert.ok(error.message.includes('gone: no such file') && error.message.includes('no.torrent'), error.message);
      return true;
    });
    for (const reuse of ['x', [1], ['\0'], [null], [{}], {}] as unknown as string[][])
      await assert.rejects(made(film, { reuse }), { code: 'ERR_INVALID_ARGUMENT' });
    await assert.rejects(create(film, { onReuse: true as never }), { code: 'ERR_INVALID_ARGUMENT' });
    // A short file takes no short cut past the option.
    await writeTree(base, { short: 'x' });
    await assert.rejects(made(path.join(base, 'short'), { reuse: [gone] }), { code: 'ERR_NOT_FOUND' });
  });

  it('raises piece layers to longer pieces, but never lowers them', async (t) => {
    const root = await temporaryFolder(t);
    await writeTree(root, { a: noise(77 * PIECE + 3), b: noise(32 * PIECE, 2) });
    for (const [from, to, files] of [
      [PIECE, 4 * PIECE, 2],
      [PIECE, 2 * PIECE, 2],
      [4 * PIECE, PIECE, 0],
    ] as const) {
      const { torrent: old } = await made(root, { version: 'hybrid', pieceLength: from });
      const { torrent, report } = await made(root, { version: 'v2', pieceLength: to, reuse: [old] });
      assert.deepEqual(torrent.bencode(), (await made(root, { version: 'v2', pieceLength: to })).torrent.bencode());
      assert.equal(report?.files, files);
      assert.equal((await made(root, { version: 'hybrid', pieceLength: to, reuse: [old] })).report?.files, 0);
    }
  });

  it('is told by the plan, with the version and piece length that would save something', async (t) => {
    const root = await temporaryFolder(t);
    await writeTree(root, { a: noise(40 * PIECE), b: noise(30 * PIECE, 2) });
    const total = 70 * PIECE;
    const plan = async (options: GenerateOptions, pieceLength = PIECE) =>
      (await new TorrentCreate({ pathRoot: root, pieceLength }).plan(options)).reuse;
    const [v1, v2] = [await made(root, { version: 'v1' }), await made(root, { version: 'v2' })];
    const none = { torrents: 1, skipped: 0, files: 0, bytes: 0 };
    const all = { ...none, files: 2, bytes: total, instead: null };
    assert.equal(await plan({}), null);
    assert.deepEqual(await plan({ version: 'v2', reuse: [v2.torrent] }), all);
    assert.deepEqual(await plan({ version: 'v1', reuse: [v1.torrent] }), all);
    const asV2 = { version: 'v2', pieceLength: PIECE };
    const asV1 = { version: 'v1', pieceLength: PIECE };
    assert.deepEqual(await plan({ reuse: [v2.torrent] }), { ...none, instead: asV2 });
    assert.deepEqual(await plan({ version: 'v1', padding: true, reuse: [v2.torrent] }), { ...none, instead: asV2 });
    assert.deepEqual(await plan({ version: 'v1', reuse: [v2.torrent] }), { ...none, instead: null });
    assert.deepEqual(await plan({ reuse: [v1.torrent] }), { ...none, instead: asV1 });
    assert.deepEqual(await plan({ version: 'v1', reuse: [v1.torrent] }, 2 * PIECE), { ...none, instead: asV1 });
    await assert.rejects(plan({ reuse: [path.join(root, 'none')] }), { code: 'ERR_NOT_FOUND' });
    // With a callback, the torrents are looked at once, and the job gets what the plan has found.
    let seen: unknown;
    const onPlan = ({ reuse }: { reuse: unknown }) => {
      seen = reuse;
    };
    const { report } = await made(root, { version: 'v2', reuse: [v2.torrent], onPlan });
    assert.deepEqual([seen, report?.files], [all, 2]);
  });

  it('advises only a version and piece length with which hashes are reused: the wanted version if the torrent has it', async (t) => {
    const folder = await temporaryFolder(t);
    await writeTree(folder, { a: noise(40 * PIECE), 'b/c': noise(9 * PIECE + 1, 2), short: noise(5, 3) });
    const formats = LAYOUTS.filter(({ tailPad }) => tailPad === undefined);
    let advised = 0;
    for (const content of [folder, path.join(folder, 'a')])
      for (const from of [folder, path.join(folder, 'a')])
        for (const had of formats)
          for (const hadLength of content === from ? [4 * PIECE] : [PIECE]) {
            const { torrent } = await made(from, { ...had, pieceLength: hadLength });
            for (const options of formats) {
              const plan = async (own: GenerateOptions, pieceLength: number) =>
                (await new TorrentCreate({ pathRoot: content, pieceLength }).plan({ ...own, reuse: [torrent] })).reuse;
              const { files = 0, instead } = (await plan(options, PIECE)) ?? {};
              if (!instead) continue;
              const { version, pieceLength } = instead;
              const isSame = version === options.version;
              const followed = await plan(isSame ? options : { version }, pieceLength);
              const about = JSON.stringify([content === folder, from === folder, had, hadLength, options, instead]);
              assert.deepEqual([files, isSame && pieceLength === PIECE], [0, false], about);
              assert.ok((followed?.files as number) > 0, about);
              assert.ok(isSame || had.version !== 'hybrid', about);
              advised += 1;
            }
          }
    assert.ok(advised > 30, String(advised));
  });

  it('leaves the cache to what was hashed, and asks it first', async (t) => {
    const base = await temporaryFolder(t);
    const [root, cache] = [path.join(base, 'content'), path.join(base, 'cache')];
    const content = noise(2 ** 20 + 5);
    await writeTree(root, { film: content, other: noise(2 ** 20, 2) });
    const old = await made(root, { version: 'v2' });
    // The cache must not hold hashes of pieces that were not read.
    const first = await made(root, { version: 'v2', cache, reuse: [old.torrent] });
    assert.equal(first.report?.files, 2);
    const second = await made(root, { version: 'v2', cache, reuse: [] });
    assert.equal(second.report?.bytesRead, old.torrent.totalSize);
    const third = await made(root, { version: 'v2', cache, reuse: [old.torrent] });
    assert.deepEqual([third.report?.files, third.report?.bytesRead], [0, 0]);
    assert.deepEqual([bytesOf(first), bytesOf(third)], [bytesOf(old), bytesOf(old)]);
    const verified = await made(root, { version: 'v2', cache, reuse: [old.torrent], reuseVerify: true });
    assert.deepEqual([verified.report?.files, verified.report?.bytesRead], [2, 0]);
  });

  it('reports progress that never falls, cancels, and fails with the errors of callbacks and files', async (t) => {
    const root = await temporaryFolder(t);
    await writeTree(root, { a: noise(40 * PIECE), b: noise(30 * PIECE, 2), c: noise(3 * PIECE, 3) });
    const { torrent } = await made(root, { version: 'v2' });
    await writeTree(root, { b: noise(30 * PIECE, 4) });
    const seen: number[] = [];
    const onProgress = ({ bytes, totalBytes }: { bytes: number; totalBytes: number }) => {
      assert.ok(bytes <= totalBytes);
      seen.push(bytes);
    };
    const { report } = await made(root, { version: 'v2', reuse: [torrent], onProgress });
    assert.deepEqual(
      seen,
      [...seen].sort((a, b) => a - b),
    );
    // The check is no part of it.
    assert.equal(seen.at(-1), (30 + 3) * PIECE);
    assert.equal(report?.bytesRead, (3 + 3 + 30 + 3) * PIECE);
    const signal = AbortSignal.abort();
    await assert.rejects(made(root, { reuse: [torrent], signal }), { code: 'ERR_ABORTED' });
    const stop = new AbortController();
    const onPlan = () => stop.abort();
    await assert.rejects(made(root, { reuse: [torrent], signal: stop.signal, onPlan }), { code: 'ERR_ABORTED' });
    const failing = create(root, { reuse: [torrent], onReuse: () => Promise.reject(new Error('mine')) });
    await assert.rejects(failing, /mine/);
    const remove = () => rm(path.join(root, 'a'));
    await assert.rejects(made(root, { version: 'v2', pieceLength: PIECE, reuse: [torrent], onPlan: remove }), {
      code: 'ERR_FILE_CHANGED',
    });
  });

  it('takes a file by its name in a torrent of a single file, renamed or not', async (t) => {
    const base = await temporaryFolder(t);
    await writeTree(base, { 'film.mkv': noise(9 * PIECE), 'album/film.mkv': noise(9 * PIECE), 'album/x': 'x' });
    for (const options of LAYOUTS) {
      const single = await made(path.join(base, 'film.mkv'), options);
      const again = await made(path.join(base, 'film.mkv'), { ...options, reuse: [single.torrent] });
      assert.deepEqual([again.report?.files, bytesOf(again)], [1, bytesOf(single)]);
      const album = await made(path.join(base, 'album'), { ...options, reuse: [single.torrent] });
      assert.equal(album.report?.files, options.version === 'v1' && !options.padding ? 0 : 1);
      assert.deepEqual(bytesOf(album), bytesOf(await made(path.join(base, 'album'), options)));
    }
  });

  it('is not for streams, updates and plans in parts', async (t) => {
    const data = noise(20 * PIECE);
    const options = { version: 'hybrid', pieceLength: PIECE, createdBy: null } as const;
    const old = await create([{ path: 'a', data }], options);
    let report: ReuseReport | undefined;
    const onReuse = (given: ReuseReport) => {
      report = given;
    };
    for (const again of [data, new Blob([data]).stream()]) {
      const own = { ...options, reuse: [old], onReuse, onPlan: () => {} };
      const torrent = await create([{ path: 'a', data: again }], own);
      assert.deepEqual([torrent.bencode(), report], [old.bencode(), undefined]);
    }
    const root = await temporaryFolder(t);
    await writeTree(root, { a: data });
    const unknown = { code: 'ERR_INVALID_ARGUMENT', message: /unknown option "reuse"/ };
    await assert.rejects(update(old, root, { reuse: [old] } as object), unknown);
    await assert.rejects(planParts(new TorrentCreate({ pathRoot: root }), { reuse: [old] } as object), unknown);
  });

  it('takes the hashes of touched and moved files: only content counts', async (t) => {
    const base = await temporaryFolder(t);
    await writeTree(base, { 'a/film': noise(9 * PIECE) });
    const old = await made(path.join(base, 'a'), { version: 'v2', name: 'x' });
    await rename(path.join(base, 'a'), path.join(base, 'b'));
    await utimes(path.join(base, 'b', 'film'), 1, 1);
    const { torrent, report } = await made(path.join(base, 'b'), { version: 'v2', name: 'x', reuse: [old.torrent] });
    assert.deepEqual([torrent.bencode(), report?.files], [old.torrent.bencode(), 1]);
  });
});
