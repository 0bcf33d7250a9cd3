import assert from 'node:assert/strict';
import { mkdir, rename, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import fc from 'fast-check';
import { TorrentCreate } from '../../src/create/draft.ts';
import type { Finding } from '../../src/create/findings/findings.ts';
import { edit } from '../../src/edit/edit.ts';
import { type UpdateOptions, update } from '../../src/edit/update.ts';
import { upgrade } from '../../src/edit/upgrade.ts';
import { nodeEngine } from '../../src/hash/node.ts';
import { sortV2 } from '../../src/layout/order.ts';
import type { InfoDictV1 } from '../../src/model/info-dict.ts';
import { Torrent } from '../../src/model/torrent/torrent.ts';
import { verify } from '../../src/verify/verify.ts';
import { content, file, tree, withoutConflicts } from '../support/generated.ts';
import { runs } from '../support/runs.ts';
import { temporaryFolder, writeTree } from '../support/tree.ts';

const KIB = 1024;
const PIECE = 16 * KIB;
const FIELDS = { createdBy: null, comment: 'a comment', trackers: ['udp://a.example/x'] };

/** The torrent of a folder made from scratch, and the times of its files. */
function timed(pathRoot: string, version: 'v2' | 'hybrid', { pieceLength = PIECE, tailPad = true } = {}) {
  const info = { name: 'torrent', source: 'here' };
  return new TorrentCreate({ ...FIELDS, pathRoot, info, pieceLength }).generateWithTimes({ version, tailPad });
}

/** The torrent of a folder made from scratch. */
async function scratch(...given: Parameters<typeof timed>) {
  const { torrent } = await timed(...given);
  return torrent;
}

type File = { path: string; size: number; seed: number };

const includesFile = (files: readonly File[], { path, size, seed }: File) =>
  files.some((file) => file.path === path && file.size === size && file.seed === seed);

/** Makes a folder hold exactly these files. Files that stay the same are not touched. */
async function replaceFiles(root: string, before: readonly File[], after: readonly File[]): Promise<void> {
  for (const old of before) if (!includesFile(after, old)) await rm(path.join(root, old.path));
  for (const one of after) {
    if (includesFile(before, one)) continue;
    const target = path.join(root, one.path);
    // A folder may have become a file.
    await rm(target, { recursive: true, force: true });
    await mkdir(path.dirname(target), { recursive: true });
    await writeFile(target, content(one.size, one.seed));
  }
}

describe('update', () => {
  for (const version of ['v2', 'hybrid'] as const) {
    it(`makes the same bytes as a new ${version} torrent, and reads only new and changed files`, async (t) => {
      const base = await temporaryFolder(t);
      let count = 0;
      const pieceLength = fc.constantFrom(PIECE, 32 * KIB, 64 * KIB);
      const kept = fc.array(fc.boolean(), { minLength: 9, maxLength: 9 });
      await fc.assert(
        fc.asyncProperty(
          tree.filter(({ single }) => !single),
          fc.array(file, { maxLength: 5 }),
          kept,
          fc.tuple(pieceLength, pieceLength, fc.boolean()),
          async ({ files }, others, keep, [from, to, tailPad]) => {
            count += 1;
            const root = path.join(base, String(count));
            await replaceFiles(root, [], files);
            const before = await timed(root, version, { pieceLength: from, tailPad });
            const left = files.filter((_, index) => keep[index]).map((one) => ({ ...one, path: one.path.split('/') }));
            const after = withoutConflicts([...left, ...others]);
            if (!after.some(({ size }) => size > 0)) return;
            await replaceFiles(root, files, after);
            const expected = await scratch(root, version, { pieceLength: to, tailPad });
            const { fileTimes } = before;
            const updated = await update(before.torrent, root, { pieceLength: to, threads: 2, fileTimes });
            // If the last piece is full, the old torrent does not tell whether a tail pad was wanted.
            const last = sortV2(files.map((one) => ({ ...one, path: one.path.split('/') }))).findLast(
              ({ size }) => size > 0,
            );
            const isTailPadKnown =
              version === 'v2' || tailPad || (files.length > 1 && (last as { size: number }).size % from !== 0);
            if (isTailPadKnown) assert.deepEqual(updated.torrent.bencode(), expected.bencode());

            // A generated file may equal an old one.
            const isOld = (one: File) => includesFile(files, one);
            const changed = after.filter((one) => !isOld(one)).reduce((sum, { size }) => sum + size, 0);
            // A single file has no pad file, so its last v1 piece changes when it becomes one of several.
            const samePads = version === 'v2' || (tailPad && (files.length === 1) === (after.length === 1));
            if (from === to && samePads) assert.equal(updated.bytesRead, changed);
            // Piece layers can be raised to longer pieces, but not lowered. A file of one piece has no layer.
            if (version === 'v2') {
              const lost = after.filter((one) => isOld(one) && to < from && one.size > to);
              assert.equal(
                updated.bytesRead,
                lost.reduce((sum, { size }) => sum + size, changed),
              );
            }
            const now = await update(updated.torrent, root, { fileTimes: updated.fileTimes });
            assert.deepEqual(now.torrent.bencode(), updated.torrent.bencode());
            assert.deepEqual([now.bytesRead, now.added, now.changed, now.removed, now.renamed], [0, [], [], [], []]);
          },
        ),
        { numRuns: runs(80) },
      );
    });
  }

  it('reads only the added file among 10,000', async (t) => {
    const root = await temporaryFolder(t);
    for (let i = 0; i < 100; i += 1) {
      const files = Array.from({ length: 100 }, (_, j) => [`${i}/${j}`, i + j] as const);
      await writeTree(root, Object.fromEntries(files));
    }
    for (const version of ['v2', 'hybrid'] as const) {
      const before = await timed(root, version);
      await writeTree(root, { [`50/added-${version}`]: 100_000 });
      const { fileTimes } = before;
      const { torrent, bytesRead, added, changed, removed } = await update(before.torrent, root, { fileTimes });
      assert.equal(bytesRead, 100_000);
      assert.deepEqual([added, changed, removed], [[`50/added-${version}`], [], []]);
      assert.deepEqual(torrent.bencode(), (await scratch(root, version)).bencode());
    }
  });

  it('reads every file that fileTimes, the creation date or since do not prove unchanged', async (t) => {
    const root = await temporaryFolder(t);
    await writeTree(root, { a: 100_000, b: 50_000, c: 20_000 });
    const { torrent: before, fileTimes } = await timed(root, 'hybrid');
    const read = Torrent.fromBytes(before.bencode());
    // Creation dates are in whole seconds.
    await delay(1100);
    const since = new Date();
    const draft = new TorrentCreate({ pathRoot: root, pieceLength: PIECE, creationDate: since });
    const dated = Torrent.fromBytes((await draft.generate()).bencode());
    await delay(50);
    // Same size, other content.
    await writeTree(root, { b: 'x'.repeat(50_000) });
    const expected = await scratch(root, 'hybrid');
    const outcomeOf = async (torrent: Torrent, options?: UpdateOptions) => {
      const { torrent: now, changed, bytesRead } = await update(torrent, root, options);
      return { isRight: Buffer.compare(now.bencode(), expected.bencode()) === 0, changed, bytesRead };
    };
    const onlyB = { isRight: true, changed: ['b'], bytesRead: 50_000 };
    const all = { isRight: true, changed: ['b'], bytesRead: 170_000 };
    assert.deepEqual(await outcomeOf(before, { fileTimes }), onlyB);
    assert.deepEqual(await outcomeOf(read, { fileTimes }), onlyB);
    assert.deepEqual(await outcomeOf(read, { since }), onlyB);
    assert.deepEqual((await update(edit(before, { comment: 'another' }), root, { fileTimes })).changed, ['b']);
    assert.deepEqual((await update(dated, root)).changed, ['b']);
    assert.deepEqual(await outcomeOf(read), all);
    assert.deepEqual(await outcomeOf(before, { fileTimes, since: new Date(0) }), all);
    // since: null trusts sizes.
    assert.deepEqual(await outcomeOf(before, { since: null }), { isRight: false, changed: [], bytesRead: 0 });
  });

  it('reads every file for a time in the future, which proves nothing, and warns', async (t) => {
    const root = await temporaryFolder(t);
    await writeTree(root, { a: 100_000, b: 50_000 });
    const { torrent, fileTimes } = await timed(root, 'hybrid');
    const ahead = new Date(Date.now() + 3_600_000);
    const dated = edit(torrent, { creationDate: ahead });
    await writeTree(root, { b: 'x'.repeat(50_000) });
    const outcomeOf = async (before: Torrent, options: UpdateOptions) => {
      const warnings: Finding[] = [];
      const { changed, bytesRead } = await update(before, root, { ...options, onWarning: (one) => warnings.push(one) });
      return [changed, bytesRead, warnings.map(({ code }) => code)];
    };
    assert.deepEqual(await outcomeOf(dated, {}), [['b'], 150_000, ['future_date']]);
    assert.deepEqual(await outcomeOf(torrent, { since: ahead }), [['b'], 150_000, ['future_date']]);
    assert.deepEqual(await outcomeOf(dated, { since: ahead, fileTimes }), [['b'], 150_000, ['future_date']]);
    // Nothing asks the date here.
    assert.deepEqual(await outcomeOf(dated, { fileTimes }), [['b'], 50_000, []]);
    assert.deepEqual(await outcomeOf(dated, { since: new Date(0) }), [['b'], 150_000, []]);
    assert.deepEqual(await outcomeOf(dated, { since: null }), [[], 0, []]);
    const failing = () => {
      throw new Error('no');
    };
    await assert.rejects(update(dated, root, { onWarning: failing }), /^Error: no$/);
  });

  it('reads a file whose ctime is newer although its mtime is old', async (t) => {
    const root = await temporaryFolder(t);
    const elsewhere = await temporaryFolder(t);
    const LONG_AGO = new Date(1_000_000_000_123);
    await writeTree(elsewhere, { moved: 'm'.repeat(50_000) });
    await utimes(path.join(elsewhere, 'moved'), LONG_AGO, LONG_AGO);
    await writeTree(root, { moved: 50_000, tagged: 40_000, same: 30_000 });
    await utimes(path.join(root, 'tagged'), LONG_AGO, LONG_AGO);
    const { torrent: before, fileTimes } = await timed(root, 'hybrid');
    const read = Torrent.fromBytes(before.bencode());
    await delay(50);
    const since = new Date();
    await delay(50);
    // An older file of the same size is moved here, and a tag editor sets the mtime back.
    await rename(path.join(elsewhere, 'moved'), path.join(root, 'moved'));
    await writeTree(root, { tagged: 't'.repeat(40_000) });
    await utimes(path.join(root, 'tagged'), LONG_AGO, LONG_AGO);
    const expected = (await scratch(root, 'hybrid')).bencode();
    for (const updated of [await update(before, root, { fileTimes }), await update(read, root, { since })]) {
      assert.deepEqual(updated.changed, ['moved', 'tagged']);
      assert.deepEqual(updated.torrent.bencode(), expected);
    }
  });

  it('uses the file times of an upgrade', async (t) => {
    const root = await temporaryFolder(t);
    await writeTree(root, { 'a-b': 10, 'a/b': 50_000, c: 20_000 });
    const v1 = await new TorrentCreate({ pathRoot: root, pieceLength: PIECE }).generate({ version: 'v1' });
    const { torrent, fileTimes } = await upgrade(v1, root);
    await delay(20);
    await writeTree(root, { 'a/b': 'x'.repeat(50_000) });
    const { changed, bytesRead } = await update(torrent, root, { fileTimes });
    assert.deepEqual([changed, bytesRead], [['a/b'], 50_000]);
  });

  it('reports a moved file as renamed, by its hash', async (t) => {
    const root = await temporaryFolder(t);
    await writeTree(root, { a: 100_000, b: 50_000, 'x/c': 20_000, 'x/d': 20_000 });
    for (const version of ['v2', 'hybrid'] as const) {
      const before = Torrent.fromBytes((await scratch(root, version)).bencode());
      await delay(50);
      const since = new Date();
      await delay(50);
      await mkdir(path.join(root, 'z'), { recursive: true });
      await rename(path.join(root, 'a'), path.join(root, 'z', version));
      await rename(path.join(root, 'x/c'), path.join(root, 'x/e'));
      const { torrent, fileTimes: _, bytesRead, ...changes } = await update(before, root, { since });
      assert.deepEqual(torrent.bencode(), (await scratch(root, version)).bencode());
      assert.equal(bytesRead, 120_000);
      const renamed = [
        { from: 'x/c', to: 'x/e' },
        { from: 'a', to: `z/${version}` },
      ];
      assert.deepEqual(changes, { added: [], changed: [], removed: [], renamed });
      await rename(path.join(root, 'z', version), path.join(root, 'a'));
      await rename(path.join(root, 'x/e'), path.join(root, 'x/c'));
    }
  });

  it('pairs each removed file with one new file of the same content', async (t) => {
    const root = await temporaryFolder(t);
    await writeTree(root, { a: 30_000, b: 30_000, other: 1 });
    const before = await scratch(root, 'v2');
    for (const name of ['a', 'b']) await rm(path.join(root, name));
    await writeTree(root, { c: 30_000, d: 30_000, e: 30_000, f: 'f'.repeat(30_000) });
    const { added, removed, renamed } = await update(before, root);
    assert.deepEqual({ added, removed }, { added: ['e', 'f'], removed: [] });
    assert.deepEqual(renamed, [
      { from: 'a', to: 'c' },
      { from: 'b', to: 'd' },
    ]);
  });

  it('finds a pad file after empty files, where libtorrent may put it', async (t) => {
    const root = await temporaryFolder(t);
    await writeTree(root, { a: 20_000, b: 0, c: 30_000, d: 5 });
    const own = Buffer.from((await scratch(root, 'hybrid', { tailPad: false })).bencode()).toString('latin1');
    assert.match(own, /d6:lengthi0e4:pathl1:beed4:attr1:p6:lengthi12768e4:pathl4:\.pad5:12768ee/);
    const before = Torrent.fromBytes(Buffer.from(own, 'latin1'));
    await rm(path.join(root, 'd'));
    // `c` is the last file now and loses its pad file, so it is hashed again. `a` keeps its pad file.
    const { changed, bytesRead } = await update(before, root, { since: null });
    assert.deepEqual([changed, bytesRead], [[], 30_000]);
    await rm(path.join(root, 'c'));
    const last = await update(before, root, { since: null });
    assert.deepEqual([last.changed, last.bytesRead], [[], 20_000]);
    const report = await verify(last.torrent, root);
    assert.deepEqual([report.ok, report.extraFiles], [true, []]);
  });

  it('updates a folder to a single file', async (t) => {
    const root = await temporaryFolder(t);
    await writeTree(root, { torrent: 70_000, 'folder/torrent': 70_000, 'folder/b': 1 });
    for (const version of ['v2', 'hybrid'] as const) {
      const [one, many] = [path.join(root, 'torrent'), path.join(root, 'folder')];
      const ofMany = await scratch(many, version);
      const { torrent: ofOne, fileTimes } = await timed(one, version);
      assert.deepEqual((await update(ofMany, one)).torrent.bencode(), ofOne.bencode());
      assert.equal((await update(ofOne, one, { fileTimes })).bytesRead, 0);
    }
  });

  it('finds the file of a single-file torrent in a folder, as verify does', async (t) => {
    const root = await temporaryFolder(t);
    await writeTree(root, { torrent: 70_000, other: 1, 'empty/other': 1 });
    for (const version of ['v2', 'hybrid'] as const) {
      const { torrent: before, fileTimes } = await timed(path.join(root, 'torrent'), version);
      assert.equal((await verify(before, root)).ok, true);
      const { torrent, fileTimes: same, ...changes } = await update(before, root, { fileTimes });
      assert.deepEqual(same, fileTimes);
      assert.deepEqual(torrent.bencode(), before.bencode());
      assert.deepEqual(changes, { bytesRead: 0, added: [], changed: [], removed: [], renamed: [] });
      const file = path.join(root, 'empty', 'torrent');
      await assert.rejects(update(before, path.join(root, 'empty')), { code: 'ERR_NOT_FOUND', path: file });
    }
  });

  it('knows which pieces are padded wherever other programs put pad files and empty files', async (t) => {
    const root = await temporaryFolder(t);
    await writeTree(root, { a: 10_000, ae: 0, b: 20_000 });
    const unpadded = await scratch(root, 'hybrid', { tailPad: false });
    const { info, ...rest } = unpadded.modelDumpTorrent() as { info: { files: unknown[]; pieces: Uint8Array } };
    const [a, empty, pad, b] = info.files;
    // The pad file comes before the empty file, and there is no tail pad.
    const other = Torrent.fromDecoded({ ...rest, info: { ...info, files: [a, pad, empty, b] } });
    await rm(path.join(root, 'b'));
    const shorter = await update(other, root, { since: null });
    assert.deepEqual(shorter.torrent.bencode(), (await scratch(root, 'hybrid', { tailPad: false })).bencode());
    assert.equal(shorter.bytesRead, 10_000);
  });

  it('keeps the bytes of other fields and the flags of files', async (t) => {
    const root = await temporaryFolder(t);
    await writeTree(root, { a: 1, b: 40_000 });
    const attr = (flag: string) => ({
      files: [
        { length: 1, path: ['a'], attr: flag },
        { length: 40_000, path: ['b'] },
      ],
    });
    const pathRoot = root;
    const draft = new TorrentCreate({ pathRoot, pieceLength: PIECE, info: { name: 'torrent', ...attr('x') } });
    const decoded = (await draft.generate()).modelDumpTorrent({ mode: 'binary' });
    const torrent = Torrent.fromDecoded(decoded, { data: { zz: [1, { x: 2 }] } });
    await writeTree(root, { c: 3 });
    const { torrent: now } = await update(torrent, root);
    assert.deepEqual(now.extra, torrent.extra);
    assert.deepEqual(
      now.files.map((one) => one.path),
      ['a', 'b', 'c'],
    );
    const list = (now.info as InfoDictV1).files;
    assert.deepEqual(list?.[0], { attr: 'x', length: 1, path: ['a'] });
  });

  for (const version of ['v2', 'hybrid'] as const) {
    it(`keeps storing the links of a ${version} torrent that stores them`, async (t) => {
      const pathRoot = await temporaryFolder(t);
      await writeTree(pathRoot, { a: 40_000, 'sub/b': 3 });
      for (const name of ['same', 'other', 'gone', 'file'])
        await symlink(name === 'other' ? 'sub/b' : 'a', path.join(pathRoot, name));
      const fields = { ...FIELDS, pathRoot, pieceLength: PIECE, info: { name: 'torrent' }, attributes: true };
      const make = () => new TorrentCreate({ ...fields, symlinks: 'store' }).generateWithTimes({ version });
      const { torrent, fileTimes } = await make();
      for (const name of ['other', 'gone', 'file']) await rm(path.join(pathRoot, name));
      await symlink('a', path.join(pathRoot, 'other'));
      await symlink('b', path.join(pathRoot, 'sub/new'));
      await writeTree(pathRoot, { file: 5 });
      const options = { fileTimes, attributes: true };
      const updated = await update(torrent, pathRoot, options);
      assert.deepEqual(updated.torrent.bencode(), (await make()).torrent.bencode());
      assert.deepEqual(
        [updated.added, updated.changed, updated.removed, updated.bytesRead],
        [['sub/new'], ['file', 'other'], ['gone'], 5],
      );
      // The policy of the caller wins.
      const followed = await update(torrent, pathRoot, { ...options, symlinks: 'follow' });
      assert.equal(followed.torrent.files.find(({ path: name }) => name === 'same')?.length, 40_000);
      await assert.rejects(update(torrent, pathRoot, { symlinks: 'error' }), { code: 'ERR_LINK' });
    });
  }

  it('leaves out what the policies leave out', async (t) => {
    const base = await temporaryFolder(t);
    const pathRoot = path.join(base, 'root');
    await writeTree(base, { outside: 7, 'root/a': 1 });
    const torrent = await scratch(pathRoot, 'v2');
    await writeTree(pathRoot, { '.b': 2 });
    await symlink('../outside', path.join(pathRoot, 'c'));
    await assert.rejects(update(torrent, pathRoot), { code: 'ERR_LINK_OUTSIDE' });
    const { added } = await update(torrent, pathRoot, { hidden: false, followOutside: true });
    assert.deepEqual(added, ['c']);
    assert.deepEqual((await update(torrent, pathRoot, { symlinks: 'skip' })).added, ['.b']);
  });

  it('makes the same torrent with node:crypto, and fills a cache', async (t) => {
    const root = await temporaryFolder(t);
    const cache = await temporaryFolder(t);
    await writeTree(root, { a: 100_000, b: 50_000 });
    const { torrent: before, fileTimes } = await timed(root, 'hybrid');
    await writeTree(root, { c: 2 ** 20 });
    const first = await update(before, root, { cache, engine: nodeEngine(), fileTimes });
    const again = await update(before, root, { cache, fileTimes });
    assert.deepEqual([first.bytesRead, again.bytesRead], [2 ** 20, 0]);
    assert.deepEqual(first.torrent.bencode(), again.torrent.bencode());
    assert.deepEqual(first.torrent.bencode(), (await scratch(root, 'hybrid')).bencode());
  });

  it('rejects a v1 torrent, invalid options and missing files', async (t) => {
    const root = await temporaryFolder(t);
    await writeTree(root, { a: 1 });
    const v1 = await new TorrentCreate({ pathRoot: root }).generate({ version: 'v1' });
    const v2 = await scratch(root, 'v2');
    const code = (expected: string) => (error: { code?: string }) => error.code === expected;
    await assert.rejects(update(v1, root), code('ERR_INVALID_ARGUMENT'));
    await assert.rejects(update(v2, root, { since: new Date('x') }), code('ERR_INVALID_ARGUMENT'));
    const fileTimes = { mtimeMs: new Float64Array(2), ctimeMs: new Float64Array(2) };
    await assert.rejects(update(v2, root, { fileTimes }), code('ERR_INVALID_ARGUMENT'));
    await assert.rejects(update(v2, root, { fileTimes: {} as never }), code('ERR_INVALID_ARGUMENT'));
    await assert.rejects(update(v2, root, { pieceLength: 1000 }), code('ERR_VALIDATION'));
    await assert.rejects(update(v2, path.join(root, 'none')), code('ERR_NOT_FOUND'));
    await assert.rejects(update(v2, root, { signal: AbortSignal.abort() }), code('ERR_ABORTED'));
    await rm(path.join(root, 'a'));
    await assert.rejects(update(v2, root), code('ERR_NO_FILES'));
  });
});
