import assert from 'node:assert/strict';
import { cp, mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import fc from 'fast-check';
import { TorrentCreate } from '../../../src/create/draft.ts';
import { nativeEngine } from '../../../src/hash/native.ts';
import { nodeEngine } from '../../../src/hash/node.ts';
import type { TorrentVersion } from '../../../src/model/discriminator.ts';
import { type FoundContent, findMoved } from '../../../src/verify/moved/find-moved.ts';
import { type PlaceMovedOptions, placeMoved } from '../../../src/verify/moved/place-moved.ts';
import { verify } from '../../../src/verify/verify.ts';
import { noise } from '../../hash/reference.ts';
import { runs } from '../../support/runs.ts';
import { temporaryFolder, writeTree } from '../../support/tree.ts';

const PIECE = 16 * 1024;
/** In v1, the film shares its first piece with the first file and its last piece with the last one. */
const FILM = { '0.nfo': noise(10, 1), 'film.mkv': noise(3 * PIECE, 2), 'z.nfo': noise(20, 3) };
const LARGE = { a: noise(2 * PIECE + 9, 1), b: noise(2 * PIECE + 9, 2), c: noise(2 * PIECE + 9, 3) };
const MODES = ['link', 'symlink', 'rename'] as const;

type Files = Record<string, Buffer>;

/** A torrent of files that are in `root`, and what else is in `mine`. */
async function made(
  t: TestContext,
  files: Files,
  { mine = {}, version = 'v1', padding }: { mine?: Files; version?: TorrentVersion; padding?: true } = {},
) {
  const cwd = await temporaryFolder(t);
  const [root, other] = [path.join(cwd, 'root'), path.join(cwd, 'mine')];
  await writeTree(root, files);
  await mkdir(other);
  await writeTree(other, mine);
  const draft = new TorrentCreate({ pathRoot: root, pieceLength: PIECE });
  const torrent = await draft.generate({ version, ...(padding && { padding }) });
  const take = (...names: string[]) =>
    Promise.all(names.map((name) => rename(path.join(root, name), path.join(other, name))));
  const drop = (...names: string[]) => Promise.all(names.map((name) => rm(path.join(root, name))));
  return { root, other, torrent, take, drop };
}

/** A file whose first byte is another one. */
const damaged = (bytes: Buffer, at = 0): Buffer => {
  const copy = Buffer.from(bytes);
  copy[at] = ~(copy[at] as number) & 0xff;
  return copy;
};

const contentOf = ({ moved }: Pick<FoundContent, 'moved'>) =>
  Object.fromEntries(moved.map((one) => [one.path, one.content]));

/** The result of a placing: the paths that it placed, and the codes of the others. */
async function outcome(found: FoundContent, how: Parameters<typeof placeMoved>[1], options?: PlaceMovedOptions) {
  const { placed, failed } = await placeMoved(found, how, options);
  return [placed, failed.map(({ path: name, error }) => `${name} ${error.code}`)];
}

describe('the content of a found file', () => {
  for (const [name, engine] of Object.entries({ native: nativeEngine(), node: nodeEngine() }))
    it(`is unproven beside a missing file, whether it differs or not: ${name}`, async (t) => {
      for (const film of [FILM['film.mkv'], damaged(FILM['film.mkv']), damaged(FILM['film.mkv'], 3 * PIECE - 1)]) {
        const { root, other, torrent } = await made(t, FILM, { mine: { x: film } });
        await rm(root, { recursive: true });
        const found = await findMoved(torrent, root, [other], { engine });
        assert.deepEqual(contentOf(found), { 'film.mkv': 'unproven' });
        for (const how of MODES) {
          assert.deepEqual(await outcome(found, how), [[], ['film.mkv ERR_UNPROVEN']]);
          assert.deepEqual(await readdir(path.dirname(root)), ['mine'], 'nothing is made');
        }
        assert.deepEqual(await outcome(found, 'copy'), [['film.mkv'], []]);
        assert.notEqual((await stat(path.join(root, 'film.mkv'))).ino, (await stat(path.join(other, 'x'))).ino);
        for (const how of MODES) {
          await rm(path.join(root, 'film.mkv'));
          const again = await findMoved(torrent, root, [other], { engine });
          assert.deepEqual(await outcome(again, how, { allowUnproven: true }), [['film.mkv'], []]);
        }
        assert.deepEqual(await readFile(path.join(root, 'film.mkv')), film);
      }
    });

  it('is proven if every piece is good: v2, hybrid, padded v1, a single file, and v1 with all neighbors', async (t) => {
    const wholes: [Files, Parameters<typeof made>[2]][] = [
      [FILM, { version: 'v2' }],
      [FILM, { version: 'hybrid' }],
      [FILM, { padding: true }],
      [{ 'film.mkv': FILM['film.mkv'] }, {}],
      [{ 'film.mkv': FILM['film.mkv'], empty: Buffer.alloc(0) }, {}],
      // All pieces but the last one are whole pieces of one file.
      [{ '0.nfo': noise(PIECE, 4), 'film.mkv': noise(2 * PIECE + 1, 5) }, {}],
    ];
    for (const [files, options] of wholes) {
      const { root, other, torrent, take, drop } = await made(t, files, options);
      await take('film.mkv');
      await drop(...Object.keys(files).filter((name) => name !== 'film.mkv'));
      const found = await findMoved(torrent, root, [other]);
      assert.deepEqual(contentOf(found), { 'film.mkv': 'proven' });
      assert.deepEqual((await outcome(found, 'link'))[1], []);
    }
    const { root, other, torrent, take } = await made(t, FILM);
    await take('film.mkv', 'z.nfo');
    const found = await findMoved(torrent, root, [other]);
    assert.deepEqual(contentOf(found), { 'film.mkv': 'proven', 'z.nfo': 'proven' });
    assert.deepEqual(await outcome(found, 'link'), [['film.mkv', 'z.nfo'], []]);
    assert.ok((await verify(torrent, root)).ok);
  });

  it('is contradicted by neighbors whose other pieces are good, in place or found', async (t) => {
    for (const b of [damaged(LARGE.b), damaged(LARGE.b, 2 * PIECE + 8)]) {
      const { root, other, torrent, drop, take } = await made(t, LARGE, { mine: { x: b } });
      await drop('b');
      const found = await findMoved(torrent, root, [other]);
      assert.deepEqual(contentOf(found), { b: 'contradicted' });
      for (const how of MODES)
        assert.deepEqual(await outcome(found, how, { allowUnproven: true }), [[], ['b ERR_UNPROVEN']]);
      // Which of two found files is wrong, nothing tells.
      await take('a', 'c');
      const all = contentOf(await findMoved(torrent, root, [other]));
      assert.deepEqual(Object.values(all).sort(), ['contradicted', 'contradicted', 'proven']);
      assert.deepEqual((await outcome(found, 'copy'))[0], ['b']);
    }
  });

  it('is unproven beside a file that may be the wrong one', async (t) => {
    const { root, other, torrent, take } = await made(t, FILM);
    await take('film.mkv');
    for (const nfo of [noise(10, 9), noise(11, 9), noise(9, 1)]) {
      await writeFile(path.join(root, '0.nfo'), nfo);
      assert.deepEqual(contentOf(await findMoved(torrent, root, [other])), { 'film.mkv': 'unproven' });
    }
  });

  it('is unproven beside files that are not verified and not there', async (t) => {
    const { root, other, torrent, take, drop } = await made(t, FILM);
    await take('film.mkv');
    const options = { files: ['film.mkv'] };
    assert.deepEqual(contentOf(await findMoved(torrent, root, [other], options)), { 'film.mkv': 'proven' });
    await drop('z.nfo');
    assert.deepEqual(contentOf(await findMoved(torrent, root, [other], options)), { 'film.mkv': 'unproven' });
  });

  it('is that of the file that fits its neighbors, of several with the same pieces', async (t) => {
    const mine = {
      'film.mkv': damaged(FILM['film.mkv']),
      y: FILM['film.mkv'],
      z: damaged(FILM['film.mkv'], 3 * PIECE - 1),
    };
    const { root, other, torrent, drop } = await made(t, FILM, { mine });
    await drop('film.mkv');
    const found = await findMoved(torrent, root, [other]);
    assert.deepEqual(contentOf(found), { 'film.mkv': 'proven' });
    assert.equal(found.moved[0]?.from, path.join(other, 'y'));
  });

  it('is told for each path that wants one file', async (t) => {
    // The pieces within both are the same; only the second one has other bytes in the piece that it shares.
    const middle = noise(2 * PIECE, 5);
    const files = {
      a: noise(PIECE, 1),
      b: middle,
      c: noise(2 * PIECE - 8, 2),
      d: Buffer.concat([noise(8, 3), middle]),
      e: noise(9, 4),
    };
    const { root, other, torrent, drop } = await made(t, files, { mine: { x: Buffer.concat([noise(8, 6), middle]) } });
    await drop('d');
    assert.deepEqual(contentOf(await findMoved(torrent, root, [other])), { d: 'contradicted' });
    await writeFile(path.join(other, 'x'), files.d);
    assert.deepEqual(contentOf(await findMoved(torrent, root, [other])), { d: 'proven' });
  });

  it('keeps files that have swapped their names, unless both may be placed', async (t) => {
    const { root, torrent, drop } = await made(t, LARGE);
    const at = (name: string) => path.join(root, name);
    for (const [from, to] of [
      ['a', 'x'],
      ['b', 'a'],
      ['x', 'b'],
    ] as const)
      await rename(at(from), at(to));
    await drop('c');
    const before = await Promise.all(['a', 'b'].map((name) => readFile(at(name))));
    const found = await findMoved(torrent, root, []);
    assert.deepEqual(contentOf(found), { a: 'proven', b: 'unproven' });
    assert.deepEqual(await outcome(found, 'rename'), [[], ['b ERR_UNPROVEN', 'a ERR_OUTPUT_EXISTS']]);
    assert.deepEqual(await Promise.all(['a', 'b'].map((name) => readFile(at(name)))), before);
    assert.deepEqual(await outcome(found, 'rename', { allowUnproven: true }), [['b', 'a'], []]);
    assert.deepEqual(await Promise.all(['a', 'b'].map((name) => readFile(at(name)))), [LARGE.a, LARGE.b]);
  });

  it('is not placed for a result without the field', async (t) => {
    const { root, other, torrent, take } = await made(t, LARGE);
    await take('b');
    const found = await findMoved(torrent, root, [other]);
    const old = { ...found, moved: found.moved.map(({ content: _, ...one }) => one) } as unknown as FoundContent;
    assert.deepEqual(await outcome(old, 'link', { allowUnproven: true }), [[], ['b ERR_UNPROVEN']]);
    await assert.rejects(placeMoved(found, 'link', { allowUnproven: 1 as never }), { code: 'ERR_INVALID_ARGUMENT' });
  });

  it('is proven if and only if the file is complete once all found files are in place', async (t) => {
    const cwd = await temporaryFolder(t);
    const state = fc.constantFrom('place', 'moved', 'moved', 'damaged head', 'damaged tail', 'missing');
    const sizes = fc.oneof(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 1, max: 4 * PIECE }));
    const files = fc.array(fc.tuple(sizes, state), { minLength: 1, maxLength: 6 });
    let run = 0;
    await fc.assert(
      fc.asyncProperty(files, async (list) => {
        run += 1;
        const folder = path.join(cwd, String(run));
        const [root, other] = [path.join(folder, 'root'), path.join(folder, 'mine')];
        await writeTree(root, Object.fromEntries(list.map(([size], i) => [`${i}`, noise(size, i + 1)])));
        await mkdir(other);
        const torrent = await new TorrentCreate({ pathRoot: root, pieceLength: PIECE }).generate({ version: 'v1' });
        for (const [i, [size, what]] of list.entries()) {
          const bytes = noise(size, i + 1);
          if (what === 'place') continue;
          await rm(path.join(root, `${i}`));
          const isHead = what === 'damaged head';
          const mine = what === 'moved' ? bytes : damaged(bytes, isHead ? 0 : size - 1);
          if (what !== 'missing') await writeFile(path.join(other, `x${i}`), mine);
        }
        const linked = path.join(folder, 'linked');
        await cp(root, linked, { recursive: true });
        const found = await findMoved(torrent, root, [other]);
        await placeMoved(found, 'copy');
        const { files: after } = await verify(torrent, root);
        const isComplete = (name: string) => after.find((one) => one.path === name)?.status === 'complete';
        for (const { path: name, content } of found.moved) assert.equal(content === 'proven', isComplete(name), name);
        // Nothing that is linked is not complete.
        const { placed } = await placeMoved(await findMoved(torrent, linked, [other]), 'link');
        for (const name of placed) assert.ok(isComplete(name), name);
        await rm(folder, { recursive: true });
      }),
      { numRuns: runs(150) },
    );
  });
});
