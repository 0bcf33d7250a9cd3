import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdir, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import fc from 'fast-check';
import { TorrentCreate } from '../../src/create/torrent-create.ts';
import { edit } from '../../src/edit/edit.ts';
import { type UpdateOptions, update } from '../../src/edit/update.ts';
import { upgrade } from '../../src/edit/upgrade.ts';
import { nodeEngine } from '../../src/hash/node.ts';
import { sortV2 } from '../../src/layout/order.ts';
import { Torrent } from '../../src/model/torrent.ts';
import { verify } from '../../src/verify/verify.ts';
import { content, file, tree, withoutConflicts } from '../support/generated.ts';
import { temporaryFolder, writeTree } from '../support/tree.ts';

const KIB = 1024;
const PIECE = 16 * KIB;
const FIELDS = { createdBy: null, comment: 'a comment', trackers: ['udp://a.example/x'] };

/** A torrent of what is in a folder, from scratch. */
function scratch(pathRoot: string, version: 'v2' | 'hybrid', { pieceLength = PIECE, tailPad = true } = {}) {
  const info = { name: 'torrent', source: 'here' };
  return new TorrentCreate({ ...FIELDS, pathRoot, info, pieceLength }).generate({ version, tailPad });
}

type File = { path: string; size: number; seed: number };

const isAmong = (files: readonly File[], { path, size, seed }: File) =>
  files.some((one) => one.path === path && one.size === size && one.seed === seed);

/** Makes a folder hold exactly these files; those that are as they were stay untouched. */
async function become(root: string, before: readonly File[], after: readonly File[]): Promise<void> {
  for (const old of before) if (!isAmong(after, old)) await rm(path.join(root, old.path));
  for (const one of after) {
    if (isAmong(before, one)) continue;
    const target = path.join(root, one.path);
    // What was a folder may be a file now.
    await rm(target, { recursive: true, force: true });
    await mkdir(path.dirname(target), { recursive: true });
    await writeFile(target, content(one.size, one.seed));
  }
}

describe('update', () => {
  for (const version of ['v2', 'hybrid'] as const) {
    it(`equals a creation from scratch, byte for byte, and reads what is new or changed only: ${version}`, async (t) => {
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
            await become(root, [], files);
            const before = await scratch(root, version, { pieceLength: from, tailPad });
            const left = files.filter((_, index) => keep[index]).map((one) => ({ ...one, path: one.path.split('/') }));
            const after = withoutConflicts([...left, ...others]);
            if (!after.some(({ size }) => size > 0)) return;
            await become(root, files, after);
            const expected = await scratch(root, version, { pieceLength: to, tailPad });
            const updated = await update(before, root, { pieceLength: to, threads: 2 });
            // Where the end needed none, there is no telling whether a pad was wanted there.
            const last = sortV2(files.map((one) => ({ ...one, path: one.path.split('/') }))).findLast(
              ({ size }) => size > 0,
            );
            const isTold =
              version === 'v2' || tailPad || (files.length > 1 && (last as { size: number }).size % from !== 0);
            if (isTold) assert.deepEqual(updated.torrent.bencode(), expected.bencode());

            // One of the others may happen to be what was there.
            const isOld = (one: File) => isAmong(files, one);
            const changed = after.filter((one) => !isOld(one)).reduce((sum, { size }) => sum + size, 0);
            // The last v1 piece of a file alone has no pad in it: as one of several it is another.
            const samePads = version === 'v2' || (tailPad && (files.length === 1) === (after.length === 1));
            if (from === to && samePads) assert.equal(updated.bytesRead, changed);
            // Layers can be made of shorter pieces, but not of longer ones; a file of one piece needs none.
            if (version === 'v2') {
              const lost = after.filter((one) => isOld(one) && to < from && one.size > to);
              assert.equal(
                updated.bytesRead,
                lost.reduce((sum, { size }) => sum + size, changed),
              );
            }
            const now = (await update(updated.torrent, root)) as Awaited<ReturnType<typeof update>>;
            assert.deepEqual(now.torrent.bencode(), updated.torrent.bencode());
            assert.deepEqual([now.bytesRead, now.added, now.changed, now.removed, now.renamed], [0, [], [], [], []]);
          },
        ),
        { numRuns: 80 },
      );
    });
  }

  it('reads one file alone that was added to 10,000', async (t) => {
    const root = await temporaryFolder(t);
    for (let i = 0; i < 100; i += 1) {
      const files = Array.from({ length: 100 }, (_, j) => [`${i}/${j}`, i + j] as const);
      await writeTree(root, Object.fromEntries(files));
    }
    for (const version of ['v2', 'hybrid'] as const) {
      const before = await scratch(root, version);
      await writeTree(root, { [`50/added-${version}`]: 100_000 });
      const { torrent, bytesRead, added, changed, removed } = await update(before, root);
      assert.equal(bytesRead, 100_000);
      assert.deepEqual([added, changed, removed], [[`50/added-${version}`], [], []]);
      assert.deepEqual(torrent.bencode(), (await scratch(root, version)).bencode());
    }
  });

  it('knows files by their times, where it has made the torrent, and by its date or since where not', async (t) => {
    const root = await temporaryFolder(t);
    await writeTree(root, { a: 100_000, b: 50_000, c: 20_000 });
    const long = new Date(Date.now() - 100_000);
    for (const name of ['a', 'b', 'c']) await utimes(path.join(root, name), long, long);
    const before = await scratch(root, 'hybrid');
    const read = Torrent.fromBytes(before.bencode());
    // The same size, and another content.
    await writeTree(root, { b: 'x'.repeat(50_000) });
    const expected = await scratch(root, 'hybrid');
    const tell = async (torrent: Torrent, options?: UpdateOptions) => {
      const { torrent: now, changed, bytesRead } = await update(torrent, root, options);
      return { right: Buffer.compare(now.bencode(), expected.bencode()) === 0, changed, bytesRead };
    };
    const found = { right: true, changed: ['b'], bytesRead: 50_000 };
    assert.deepEqual(await tell(before), found);
    assert.deepEqual(await tell(read, { since: new Date(Date.now() - 50_000) }), found);
    assert.deepEqual((await update(edit(before, { comment: 'another' }), root)).changed, ['b']);
    // Nothing tells of the change, and it was said to trust in sizes.
    assert.deepEqual(await tell(read), { right: false, changed: [], bytesRead: 0 });
    assert.deepEqual(await tell(before, { since: null }), { right: false, changed: [], bytesRead: 0 });
    assert.deepEqual(await tell(before, { since: new Date(0) }), {
      right: true,
      changed: ['a', 'b', 'c'],
      bytesRead: 170_000,
    });
    const dated = new TorrentCreate({
      pathRoot: root,
      pieceLength: PIECE,
      creationDate: new Date(Date.now() - 50_000),
    });
    const { changed } = await update(Torrent.fromBytes((await dated.generate()).bencode()), root);
    assert.deepEqual(changed, ['b']);
  });

  it('knows files by their times after an upgrade', async (t) => {
    const root = await temporaryFolder(t);
    await writeTree(root, { 'a-b': 10, 'a/b': 50_000, c: 20_000 });
    const v1 = await new TorrentCreate({ pathRoot: root, pieceLength: PIECE }).generate({ version: 'v1' });
    const { torrent } = await upgrade(v1, root);
    await delay(20);
    await writeTree(root, { 'a/b': 'x'.repeat(50_000) });
    const { changed, bytesRead } = await update(torrent, root);
    assert.deepEqual([changed, bytesRead], [['a/b'], 50_000]);
  });

  it('takes a file that has moved for the same, by its size and time, unless that may be chance', async (t) => {
    const root = await temporaryFolder(t);
    await writeTree(root, { a: 100_000, b: 50_000, 'x/c': 20_000, 'x/d': 20_000 });
    const whole = new Date(1_700_000_000_000);
    for (const name of ['x/c', 'x/d']) await utimes(path.join(root, name), whole, whole);
    for (const version of ['v2', 'hybrid'] as const) {
      const before = await scratch(root, version);
      await mkdir(path.join(root, 'z'), { recursive: true });
      await rename(path.join(root, 'a'), path.join(root, 'z', version));
      await rename(path.join(root, 'x/c'), path.join(root, 'x/e'));
      const { torrent, bytesRead, ...changes } = await update(before, root);
      assert.deepEqual(torrent.bencode(), (await scratch(root, version)).bencode());
      assert.equal(bytesRead, 20_000);
      const renamed = [{ from: 'a', to: `z/${version}` }];
      assert.deepEqual(changes, { added: ['x/e'], changed: [], removed: ['x/c'], renamed });
      await rename(path.join(root, 'z', version), path.join(root, 'a'));
      await rename(path.join(root, 'x/e'), path.join(root, 'x/c'));
    }
  });

  it('does not take one file for two, nor one of two', async (t) => {
    const root = await temporaryFolder(t);
    await writeTree(root, { a: 'a'.repeat(30_000), b: 'b'.repeat(30_000), c: 1 });
    const { mtime } = await stat(path.join(root, 'a'));
    for (const name of ['a', 'b']) await utimes(path.join(root, name), mtime, mtime);
    const two = await scratch(root, 'v2');
    await rename(path.join(root, 'a'), path.join(root, 'd'));
    await rename(path.join(root, 'b'), path.join(root, 'e'));
    assert.equal((await update(two, root)).bytesRead, 60_000);
    await rm(path.join(root, 'e'));
    const one = await scratch(root, 'v2');
    const moved = await stat(path.join(root, 'd'));
    await rm(path.join(root, 'd'));
    for (const name of ['f', 'g']) {
      await writeTree(root, { [name]: name.repeat(30_000) });
      await utimes(path.join(root, name), moved.mtime, moved.mtime);
    }
    const { bytesRead, torrent } = await update(one, root);
    assert.equal(bytesRead, 60_000);
    assert.deepEqual(torrent.bencode(), (await scratch(root, 'v2')).bencode());
  });

  it('sees the pad of a file behind empty ones, where libtorrent may put it', async (t) => {
    const root = await temporaryFolder(t);
    await writeTree(root, { a: 20_000, b: 0, c: 30_000, d: 5 });
    const own = Buffer.from((await scratch(root, 'hybrid', { tailPad: false })).bencode()).toString('latin1');
    const moved = own.replace(/(d4:attr1:p6:lengthi12768e4:pathl4:\.pad5:12768ee)(d6:lengthi0e4:pathl1:bee)/, '$2$1');
    assert.notEqual(moved, own);
    const before = Torrent.fromBytes(Buffer.from(moved, 'latin1'));
    await rm(path.join(root, 'd'));
    // What is last now has no pad any more: it is hashed again. Its place in the list says nothing of `a`, which has.
    const { changed } = await update(before, root);
    assert.deepEqual(changed, ['c']);
    await rm(path.join(root, 'c'));
    const last = await update(before, root);
    assert.deepEqual(last.changed, ['a']);
    const report = await verify(last.torrent, root);
    assert.deepEqual([report.ok, report.extraFiles], [true, []]);
  });

  it('makes one file of a folder and a folder of one file', async (t) => {
    const root = await temporaryFolder(t);
    await writeTree(root, { torrent: 70_000, 'folder/torrent': 70_000, 'folder/b': 1 });
    for (const version of ['v2', 'hybrid'] as const) {
      const [one, many] = [path.join(root, 'torrent'), path.join(root, 'folder')];
      const [ofOne, ofMany] = [await scratch(one, version), await scratch(many, version)];
      assert.deepEqual((await update(ofOne, many)).torrent.bencode(), ofMany.bencode());
      assert.deepEqual((await update(ofMany, one)).torrent.bencode(), ofOne.bencode());
      assert.equal((await update(ofOne, one)).bytesRead, 0);
    }
  });

  it('knows which pieces of a hybrid are filled, wherever others have put pads and empty files', async (t) => {
    const root = await temporaryFolder(t);
    await writeTree(root, { a: 10_000, ae: 0, b: 20_000 });
    const unpadded = await scratch(root, 'hybrid', { tailPad: false });
    const { info, ...rest } = unpadded.modelDumpTorrent() as { info: { files: unknown[]; pieces: Uint8Array } };
    const [a, pad, empty, b] = info.files;
    // The pad after the empty file, as it stands before b.
    const other = Torrent.fromDecoded({ ...rest, info: { ...info, files: [a, empty, pad, b] } });
    // A pad at the end that fills no piece.
    const lastPiece = createHash('sha1')
      .update(Buffer.alloc(20_000, 'metainfo').subarray(PIECE))
      .update(Buffer.alloc(5));
    const pieces = Buffer.concat([info.pieces.subarray(0, -20), lastPiece.digest()]);
    const files = [...info.files, { attr: 'p', length: 5, path: ['.pad', '5'] }];
    const odd = Torrent.fromDecoded({ ...rest, info: { ...info, files, pieces } });
    const updated = await update(odd, root, { since: null });
    assert.deepEqual(updated.torrent.bencode(), (await scratch(root, 'hybrid')).bencode());
    assert.deepEqual([updated.bytesRead, updated.changed], [20_000, ['b']]);
    await rm(path.join(root, 'b'));
    const shorter = await update(other, root, { since: null });
    assert.deepEqual(shorter.torrent.bencode(), (await scratch(root, 'hybrid', { tailPad: false })).bencode());
    assert.equal(shorter.bytesRead, 10_000);
  });

  it('keeps what is not about files, byte for byte, and the flags of files', async (t) => {
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
    const list = (now.info as { files: { path: string[]; attr?: string }[] }).files;
    assert.deepEqual(list[0], { attr: 'x', length: 1, path: ['a'] });
  });

  it('gives the same with node:crypto, and fills a cache', async (t) => {
    const root = await temporaryFolder(t);
    const cache = await temporaryFolder(t);
    await writeTree(root, { a: 100_000, b: 50_000 });
    const before = await scratch(root, 'hybrid');
    await writeTree(root, { c: 70_000 });
    const first = await update(before, root, { cache, engine: nodeEngine() });
    const again = await update(before, root, { cache });
    assert.deepEqual([first.bytesRead, again.bytesRead], [70_000, 0]);
    assert.deepEqual(first.torrent.bencode(), again.torrent.bencode());
    assert.deepEqual(first.torrent.bencode(), (await scratch(root, 'hybrid')).bencode());
  });

  it('refuses what it cannot do', async (t) => {
    const root = await temporaryFolder(t);
    await writeTree(root, { a: 1 });
    const v1 = await new TorrentCreate({ pathRoot: root }).generate({ version: 'v1' });
    const v2 = await scratch(root, 'v2');
    const code = (expected: string) => (error: { code?: string }) => error.code === expected;
    await assert.rejects(update(v1, root), code('ERR_INVALID_ARGUMENT'));
    await assert.rejects(update(v2, root, { since: new Date('x') }), code('ERR_INVALID_ARGUMENT'));
    await assert.rejects(update(v2, root, { pieceLength: 1000 }), code('ERR_VALIDATION'));
    await assert.rejects(update(v2, path.join(root, 'none')), code('ERR_NOT_FOUND'));
    await assert.rejects(update(v2, root, { signal: AbortSignal.abort() }), code('ERR_ABORTED'));
    await rm(path.join(root, 'a'));
    await assert.rejects(update(v2, root), code('ERR_NO_FILES'));
  });
});
