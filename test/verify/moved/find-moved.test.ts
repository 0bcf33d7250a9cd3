import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import {
  link,
  lstat,
  mkdir,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  symlink,
  truncate,
  writeFile,
} from 'node:fs/promises';
import path from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import fc from 'fast-check';
import { TorrentCreate } from '../../../src/create/draft.ts';
import { MetainfoError } from '../../../src/errors/errors.ts';
import { defaultEngine } from '../../../src/hash/default-engine.ts';
import type { Engine } from '../../../src/hash/engine.ts';
import { Torrent } from '../../../src/model/torrent/torrent.ts';
import { findIndexed, findMoved } from '../../../src/verify/moved/find-moved.ts';
import { FolderIndex } from '../../../src/verify/moved/folder-index.ts';
import { placeMoved } from '../../../src/verify/moved/place-moved.ts';
import { verify } from '../../../src/verify/verify.ts';
import { noise } from '../../hash/reference.ts';
import { runs } from '../../support/runs.ts';
import { temporaryFolder } from '../../support/tree.ts';

const PIECE = 16 * 1024;
const VERSIONS = ['v1', 'v2', 'hybrid'] as const;
type Version = (typeof VERSIONS)[number];

/** Writes files with their content. */
async function put(root: string, files: Record<string, Uint8Array>): Promise<void> {
  for (const [name, content] of Object.entries(files)) {
    await mkdir(path.dirname(path.join(root, name)), { recursive: true });
    await writeFile(path.join(root, name), content);
  }
}

const create = (pathRoot: string, version: Version, padding?: true): Promise<Torrent> =>
  new TorrentCreate({ pathRoot, pieceLength: PIECE, info: { name: 'root' } }).generate({
    version,
    ...(padding && { padding }),
  });

/** A root with files and a torrent of it, and a folder to look in. */
async function rooted(t: TestContext, version: Version, files: Record<string, Uint8Array>, padding?: true) {
  const cwd = await temporaryFolder(t);
  const [root, other] = [path.join(cwd, 'root'), path.join(cwd, 'other')];
  await put(root, files);
  await mkdir(other);
  const torrent = await create(root, version, padding);
  const move = async (from: string, to: string) => {
    await mkdir(path.dirname(path.join(cwd, to)), { recursive: true });
    await rename(path.join(cwd, from), path.join(cwd, to));
  };
  return { cwd, root, other, torrent, move };
}

/** The content of every file below a folder, sorted. */
async function contents(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  const read = files.map((entry) => readFile(path.join(entry.parentPath, entry.name), 'latin1'));
  return (await Promise.all(read)).sort();
}

/** An engine that notes the files that it reads. */
function notingEngine(read: Set<string>, refuse = (_: string) => false): Engine {
  const engine = defaultEngine();
  return {
    ...engine,
    kernel: engine.kernel,
    start(plan) {
      for (const file of plan.files) {
        if (file.path === null) continue;
        if (refuse(String(file.path))) {
          const error = new MetainfoError('ERR_READ', `${file.path}: cannot read it (EIO).`, {
            path: String(file.path),
          });
          const done = Promise.reject(error);
          done.catch(() => {});
          return { done, progress: () => ({ bytes: 0, fileIndex: 0, queued: 0 }), cancel() {} };
        }
        read.add(String(file.path));
      }
      return engine.start(plan);
    },
  };
}

describe('findMoved', () => {
  for (const version of VERSIONS) {
    it(`finds 500 renamed and 50 duplicated files among 10,000, and reads only files of equal size: ${version}`, async (t) => {
      // 500 sizes, so that 20 files share each.
      const content = (i: number) => noise(100 + (i % 500), i + 1);
      const names = Array.from({ length: 10_000 }, (_, i) => `${i % 97}/${i}`);
      const files = Object.fromEntries(names.map((name, i) => [name, content(i)]));
      const { root, other, torrent, move } = await rooted(t, version, files, version === 'v1' ? true : undefined);
      const renamed = Array.from({ length: 500 }, (_, k) => k * 20 + (k % 20));
      for (const i of renamed) await move(`root/${names[i]}`, `other/some/${i % 7}/file ${i}`);
      const twice = renamed.slice(0, 50);
      for (const i of twice) await put(other, { [`again/1/2/copy ${i}`]: content(i) });
      // Another size, and another content of a wanted size.
      for (let i = 0; i < 300; i += 1) await put(other, { [`decoys/${i}`]: noise(700 + i, i) });
      for (let i = 0; i < 50; i += 1) await put(other, { [`equal/${i}`]: noise(100 + i, 77_777 + i) });
      await rm(path.join(root, names[9998] as string));
      const read = new Set<string>();
      const found = await findMoved(torrent, root, [other], { engine: notingEngine(read), threads: null });
      assert.deepEqual(
        new Map(found.moved.map(({ path: name, from }) => [name, path.relative(other, from)])),
        new Map(
          torrent.files.flatMap(({ path: name }) => {
            const i = names.indexOf(name);
            return renamed.includes(i) ? [[name, `some/${i % 7}/file ${i}`] as const] : [];
          }),
        ),
      );
      const also = found.moved.flatMap((one) => one.also.map((file) => path.relative(other, file)));
      assert.deepEqual(also.sort(), twice.map((i) => `again/1/2/copy ${i}`).sort());
      assert.deepEqual(found.notFound, [names[9998]]);
      assert.ok(
        found.moved.every(({ proof, isShared }) => proof === (version === 'v1' ? 'pieces' : 'root') && !isShared),
      );
      const outside = [...read].filter((file) => file.startsWith(other));
      assert.ok(outside.some((file) => file.includes('/equal/')));
      assert.deepEqual(
        outside.filter((file) => file.includes('/decoys/')),
        [],
      );
      const { failed, placed } = await placeMoved(found, 'rename');
      assert.deepEqual([failed.length, placed.length], [0, 500]);
      const { files: now } = await verify(torrent, root, { threads: null });
      assert.deepEqual(
        now.filter(({ status }) => status !== 'complete').map((file) => file.path),
        [names[9998]],
      );
    });
  }

  it('puts files of random trees back wherever they were moved, and loses nothing', async (t) => {
    const base = await temporaryFolder(t);
    let count = 0;
    const file = fc.record({
      name: fc.constantFrom('a', 'b', 'c/d', 'c/e', 'f/g/h', 'i'),
      size: fc.constantFrom(0, 1, 100, PIECE - 1, PIECE, PIECE + 1, 3 * PIECE),
      seed: fc.integer({ min: 1, max: 3 }),
      // Where it is moved: to the place of another file, elsewhere, or nowhere.
      to: fc.constantFrom('root/a', 'root/b', 'root/c/d', 'root/x', 'other/a', 'other/y/z', null),
    });
    const how = fc.constantFrom('link', 'rename' as const) as fc.Arbitrary<'link' | 'rename'>;
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(file, { minLength: 1, selector: ({ name }) => name }),
        fc.constantFrom(...VERSIONS),
        how,
        async (files, version, mode) => {
          if (files.every(({ size }) => size === 0)) return;
          count += 1;
          const cwd = path.join(base, String(count));
          const root = path.join(cwd, 'root');
          const content = ({ size, seed }: (typeof files)[number]) => noise(size, seed);
          await put(root, Object.fromEntries(files.map((one) => [one.name, content(one)])));
          await mkdir(path.join(cwd, 'other'));
          const torrent = await create(root, version, version === 'v1' ? true : undefined);
          const aside = path.join(cwd, 'aside');
          await mkdir(aside);
          for (const [i, { name }] of files.entries()) await rename(path.join(root, name), path.join(aside, String(i)));
          for (const [i, one] of files.entries()) {
            const target = path.join(cwd, one.to ?? `root/${one.name}`);
            await mkdir(path.dirname(target), { recursive: true });
            // A file that is in the way stays.
            await link(path.join(aside, String(i)), target).catch(() => {});
          }
          await rm(aside, { recursive: true });
          const before = new Set(await contents(cwd));
          const found = await findMoved(torrent, root, [path.join(cwd, 'other')]);
          const { placed, failed } = await placeMoved(found, mode);
          const after = new Set(await contents(cwd));
          for (const bytes of before) assert.ok(after.has(bytes), 'content was lost');
          const report = await verify(torrent, root);
          const complete = new Set(report.files.filter(({ status }) => status === 'complete').map((one) => one.path));
          for (const name of placed) assert.ok(complete.has(name), `${name} was placed but is not complete`);
          // Every file that still exists is in place, unless something else is in the way.
          for (const one of files) {
            if (complete.has(one.name) || !after.has(Buffer.from(content(one)).toString('latin1'))) continue;
            assert.ok(
              failed.some((failure) => failure.path === one.name),
              `${one.name} was not placed`,
            );
          }
        },
      ),
      { numRuns: runs(60) },
    );
  });

  it('swaps two files that have each other’s names, by links and by renaming', async (t) => {
    for (const how of ['link', 'rename'] as const) {
      const [a, b] = [noise(50_000, 1), noise(50_000, 2)];
      const { cwd, root, torrent, move } = await rooted(t, 'hybrid', { a, b });
      await move('root/a', 'spare');
      await move('root/b', 'root/a');
      await move('spare', 'root/b');
      const found = await findMoved(torrent, root, []);
      assert.equal(found.moved.length, 2);
      assert.deepEqual((await placeMoved(found, how)).failed, []);
      assert.ok((await verify(torrent, root)).ok);
      assert.deepEqual((await readdir(cwd, { recursive: true })).sort(), ['other', 'root', 'root/a', 'root/b']);
    }
  });

  it('never replaces what is in the way, and places the others', async (t) => {
    const { root, other, torrent, move } = await rooted(t, 'v2', {
      a: noise(100, 1),
      b: noise(100, 2),
      c: noise(9, 3),
    });
    for (const name of ['a', 'b']) await move(`root/${name}`, `other/${name}`);
    await put(root, { a: noise(50, 9) });
    for (const how of ['link', 'rename'] as const) {
      const found = await findMoved(torrent, root, [other]);
      const { placed, failed } = await placeMoved(found, how);
      assert.deepEqual(placed, how === 'link' ? ['b'] : []);
      assert.deepEqual(
        failed.map(({ path: name, error }) => [name, error.code]),
        [['a', 'ERR_OUTPUT_EXISTS']],
      );
      assert.deepEqual(await readFile(path.join(root, 'a')), Buffer.from(noise(50, 9)));
    }
    const [linked, original] = await Promise.all([stat(path.join(root, 'b')), stat(path.join(other, 'b'))]);
    assert.equal(linked.ino, original.ino);
  });

  it('makes the root and its folders if they are missing, and empty files', async (t) => {
    const { cwd, root, torrent, move } = await rooted(t, 'v2', { 'a/b/c': noise(70_000, 1), 'a/empty': noise(0, 1) });
    await move('root/a/b/c', 'other/1');
    await rm(root, { recursive: true });
    const found = await findMoved(torrent, root, [path.join(cwd, 'other')]);
    assert.deepEqual([found.report.ok, found.empty.map((one) => one.path)], [false, ['a/empty']]);
    const { placed, failed } = await placeMoved(found, 'rename');
    assert.deepEqual([placed.sort(), failed], [['a/b/c', 'a/empty'], []]);
    assert.ok((await verify(torrent, root)).ok);
  });

  for (const version of VERSIONS)
    it(`looks only for the selected files, at their own places: ${version}`, async (t) => {
      const names = ['a', 'b', 'c', 'd'];
      const files = Object.fromEntries(names.map((name, i) => [name, noise(2 * PIECE, i)]));
      const { root, other, torrent, move } = await rooted(t, version, files);
      for (const name of ['a', 'c']) await move(`root/${name}`, `other/${name}x`);
      const found = await findMoved(torrent, root, [other], { files: ['c', 'd'] });
      assert.deepEqual(
        found.moved.map(({ path: wanted, to, from }) => [wanted, to, from]),
        [['c', path.join(root, 'c'), path.join(other, 'cx')]],
      );
      assert.deepEqual([found.notFound, found.report.files.length], [[], 2]);
      const absent = await findMoved(torrent, path.join(root, 'none'), [root], { files: ['b'] });
      assert.deepEqual(
        absent.moved.map((one) => one.path),
        ['b'],
      );
    });

  it('finds what many torrents miss in folders that were listed once', async (t) => {
    const { root, other, torrent, move } = await rooted(t, 'v2', { a: noise(PIECE, 1), b: noise(PIECE, 2) });
    await put(other, { c: noise(PIECE, 3), long: noise(PIECE + 1, 4), 'sub/d': noise(0), 'sub/e': noise(1) });
    await move('root/a', 'other/moved');
    const index = await FolderIndex.of([other, path.join(other, 'moved')]);
    const sizes = [PIECE, PIECE + 1, 0, 1, 2].map((size) => [...index.filesOf(size)].length);
    assert.deepEqual(sizes, [3, 1, 1, 1, 0]);
    const found = await findIndexed(torrent, root, index, {});
    assert.deepEqual(
      found.moved.map(({ path: wanted, from }) => [wanted, from]),
      [['a', path.join(other, 'moved')]],
    );
    await rm(other, { recursive: true });
    const gone = await findIndexed(torrent, root, index, {});
    assert.deepEqual([gone.moved, gone.notFound, gone.skipped], [[], ['a'], []]);
  });

  it('finds the file of a single-file torrent, also for a path that does not exist', async (t) => {
    for (const version of VERSIONS) {
      const cwd = await temporaryFolder(t);
      await put(cwd, { 'film.mkv': noise(100_000, 1) });
      const film = path.join(cwd, 'film.mkv');
      const torrent = await new TorrentCreate({ pathRoot: film, pieceLength: PIECE }).generate({ version });
      await rename(film, path.join(cwd, 'movie (1).mkv'));
      const found = await findMoved(torrent, film, [cwd]);
      assert.deepEqual(
        found.moved.map(({ to, from }) => [to, from]),
        [[film, path.join(cwd, 'movie (1).mkv')]],
      );
      await placeMoved(found, 'rename');
      assert.deepEqual(await readdir(cwd), ['film.mkv']);
      await rename(film, path.join(cwd, 'other'));
      // The folder that holds the file.
      const again = await findMoved(torrent, cwd, []).catch((error: unknown) => error);
      if (again instanceof Error) assert.fail(again);
      assert.deepEqual(
        (again as typeof found).moved.map(({ to }) => to),
        [film],
      );
    }
  });

  it('does not take the size of a v1 file for a proof', async (t) => {
    const small = { 'a.nfo': noise(10, 1), 'b.bin': noise(3 * PIECE, 2), 'c.nfo': noise(20, 3) };
    const { root, other, torrent, move } = await rooted(t, 'v1', small);
    for (const name of Object.keys(small)) await move(`root/${name}`, `other/x ${name}`);
    // Other content of the same sizes.
    await put(other, { 'x a.nfo': noise(10, 8), 'x c.nfo': noise(20, 9) });
    const found = await findMoved(torrent, root, [other]);
    assert.deepEqual(
      found.moved.map((one) => one.path),
      ['b.bin'],
    );
    assert.deepEqual(
      found.unproven.map((one) => [one.path, one.candidates]),
      [
        ['a.nfo', [path.join(other, 'x a.nfo')]],
        ['c.nfo', [path.join(other, 'x c.nfo')]],
      ],
    );
    const { placed } = await placeMoved(found, 'rename', { allowUnproven: true });
    assert.deepEqual(placed, ['b.bin']);
    assert.deepEqual((await readdir(other)).sort(), ['x a.nfo', 'x c.nfo']);
  });

  it('proves small v1 files by the pieces that they share with files in place, or found', async (t) => {
    const files = { a: noise(2 * PIECE + 9, 1), b: noise(10, 2), c: noise(PIECE, 3), d: noise(20, 4), e: noise(30, 5) };
    const { root, other, torrent, move } = await rooted(t, 'v1', files);
    // The second piece of `c` ends in the piece of `d` and `e`, where the torrent ends.
    for (const name of ['b', 'c', 'd']) await move(`root/${name}`, `other/x ${name}`);
    await put(other, { 'not b': noise(10, 8), 'not d': noise(20, 9) });
    const found = await findMoved(torrent, root, [other]);
    const moved = found.moved.map(({ path: name, from, proof }) => [name, path.basename(from), proof]);
    assert.deepEqual(moved, []);
    assert.deepEqual(
      found.unproven.map((one) => one.path),
      ['b', 'c', 'd', 'e'],
    );
    await move('other/x c', 'root/c');
    const again = await findMoved(torrent, root, [other]);
    assert.deepEqual(
      again.moved.map(({ path: name, from, proof }) => [name, path.basename(from), proof]),
      [
        ['b', 'x b', 'pieces'],
        ['d', 'x d', 'pieces'],
      ],
    );
    assert.deepEqual((await placeMoved(again, 'rename')).placed, ['b', 'd']);
    assert.ok((await verify(torrent, root)).ok);
  });

  it('leaves a small file unproven if a file beside it is damaged or cannot be read', async (t) => {
    const { root, other, torrent, move } = await rooted(t, 'v1', { a: noise(PIECE + 9, 1), b: noise(10, 2) });
    await move('root/b', 'other/x');
    const refused = notingEngine(new Set(), (file) => file.endsWith('/a'));
    const { moved, unproven, skipped } = await findMoved(torrent, root, [other], { engine: refused });
    assert.deepEqual([moved, unproven.length, skipped.length], [[], 1, 1]);
    await put(root, { a: noise(PIECE + 9, 3) });
    assert.deepEqual((await findMoved(torrent, root, [other])).moved, []);
  });

  it('proves v1 files at every position of their pieces', async (t) => {
    for (const first of [0, 1, PIECE - 1, PIECE, PIECE + 1]) {
      for (const last of [0, 1, PIECE]) {
        const files = { '0': noise(first, 1), '1': noise(2 * PIECE, 2), '2': noise(last, 3) };
        const { root, other, torrent, move } = await rooted(t, 'v1', files);
        await move('root/1', 'other/x');
        await put(other, { y: noise(2 * PIECE, 4) });
        const found = await findMoved(torrent, root, [other]);
        assert.deepEqual(
          found.moved.map(({ path: name, from }) => [name, path.basename(from)]),
          [['1', 'x']],
        );
      }
    }
  });

  it('does not take away a file that another path of the torrent needs', async (t) => {
    const same = noise(60_000, 1);
    const { root, torrent } = await rooted(t, 'hybrid', { a: same, b: same });
    await rm(path.join(root, 'b'));
    const found = await findMoved(torrent, root, []);
    assert.deepEqual(
      found.moved.map(({ path: name, isShared }) => [name, isShared]),
      [['b', true]],
    );
    const { placed, failed } = await placeMoved(found, 'rename');
    assert.deepEqual([placed, failed.length], [[], 1]);
    assert.match(failed[0]?.error.message ?? '', /the torrent wants it at another path too: link it\.$/);
    await placeMoved(found, 'link');
    assert.ok((await verify(torrent, root)).ok);
  });

  it('keeps a good file in its place when a link leads there from the place of another file', async (t) => {
    for (const how of ['link', 'rename'] as const) {
      const same = noise(50_000, 1);
      const { root, torrent } = await rooted(t, 'v2', { a: same, b: noise(50_000, 2), c: same });
      for (const name of ['b', 'c']) await rm(path.join(root, name));
      await symlink('a', path.join(root, 'b'));
      const found = await findMoved(torrent, root, []);
      assert.deepEqual(
        found.moved.map(({ path: name, isShared }) => [name, isShared]),
        [['c', true]],
      );
      await placeMoved(found, how);
      assert.deepEqual(await readFile(path.join(root, 'a')), Buffer.from(same));
    }
  });

  it('never replaces a good file through a link to its folder', async (t) => {
    for (const how of ['link', 'rename'] as const) {
      const same = noise(50_000, 1);
      const { root, other, torrent, move } = await rooted(t, 'v2', {
        's/x': noise(50_000, 2),
        't/x': same,
        u: same,
      });
      await move('root/s/x', 'other/y');
      for (const name of ['s', 'u']) await rm(path.join(root, name), { recursive: true });
      await symlink('t', path.join(root, 's'));
      const { failed } = await placeMoved(await findMoved(torrent, root, [other]), how);
      assert.ok(failed.some(({ path: name, error }) => name === 's/x' && error.code === 'ERR_OUTPUT_EXISTS'));
      assert.deepEqual(await readFile(path.join(root, 't/x')), Buffer.from(same));
      assert.deepEqual(await readdir(other), ['y']);
    }
  });

  it('keeps a v1 file in its place if no hash shows that it is not good there', async (t) => {
    const same = noise(PIECE, 1);
    const { root, torrent } = await rooted(t, 'v1', {
      '0': noise(100, 2),
      a: same,
      f: noise(PIECE - 100, 3),
      z: same,
    });
    for (const name of ['0', 'f', 'z']) await rm(path.join(root, name));
    const found = await findMoved(torrent, root, []);
    assert.deepEqual(
      found.moved.map(({ path: name, isShared }) => [name, isShared]),
      [['z', true]],
    );
    await placeMoved(found, 'rename');
    assert.deepEqual(await readdir(root), ['a']);
  });

  it('takes a file in the content’s own folder before one of another copy', async (t) => {
    for (const version of VERSIONS) {
      const files = { a: noise(50_000, 1), b: noise(50_000, 2) };
      const { cwd, root, torrent, move } = await rooted(t, version, files, version === 'v1' ? true : undefined);
      await put(cwd, { 'copy/a': files.a, 'copy/b': files.b });
      await move('root/a', 'root/zz');
      const found = await findMoved(torrent, root, [cwd]);
      assert.deepEqual(
        found.moved.map(({ from, also }) => [from, also]),
        [[path.join(root, 'zz'), [path.join(cwd, 'copy/a')]]],
      );
    }
  });

  it('counts each file once if folders overlap or are given by links', async (t) => {
    for (const version of VERSIONS) {
      const files = { a: noise(50_000, 1), 'sub/b': noise(50_000, 2), 'sub/c': noise(50_000, 3) };
      const { cwd, root, other, torrent, move } = await rooted(t, version, files, version === 'v1' ? true : undefined);
      await move('root/a', 'root/sub/x');
      await move('root/sub/b', 'other/in/y');
      await symlink('root', path.join(cwd, 'to-root'));
      await symlink('root/sub', path.join(cwd, 'to-sub'));
      const folders = [other, path.join(other, 'in'), path.join(other, 'in/y'), root, 'to-root', 'to-sub', 'to-sub/x'];
      const found = await findMoved(
        torrent,
        path.join(cwd, 'to-root'),
        folders.map((folder) => path.resolve(cwd, folder)),
      );
      assert.deepEqual(
        found.moved.map(({ path: name, from, also, isShared }) => [name, path.relative(cwd, from), also, isShared]),
        [
          ['a', 'root/sub/x', [], false],
          ['sub/b', 'other/in/y', [], false],
        ],
      );
      assert.deepEqual((await placeMoved(found, 'rename')).failed, []);
      assert.ok((await verify(torrent, root)).ok);
    }
  });

  it('finds thousands of equal files within seconds', { timeout: 60_000 }, async (t) => {
    const names = Array.from({ length: 3000 }, (_, i) => `${i % 50}/${i}`);
    const { root, other, torrent } = await rooted(
      t,
      'v2',
      Object.fromEntries(names.map((name) => [name, noise(99, 1)])),
    );
    await rm(other, { recursive: true });
    await rename(root, other);
    const found = await findMoved(torrent, root, [other]);
    // Each file has its own name elsewhere.
    assert.deepEqual(
      found.moved.map(({ path: name, from }) => [name, path.relative(other, from)]),
      found.moved.map(({ path: name }) => [name, name]),
    );
    assert.equal(found.moved.length, names.length);
    for (const { from, also } of found.moved) {
      assert.equal(new Set(also).size, 100);
      assert.ok(!also.includes(from));
    }
  });

  it('puts back files that each have the name of the one before', async (t) => {
    const names = Array.from({ length: 300 }, (_, i) => String(i).padStart(3, '0'));
    const files = Object.fromEntries(names.map((name, i) => [name, noise(100, i + 1)]));
    const { root, torrent } = await rooted(t, 'v2', files);
    for (const [i, name] of names.entries())
      await (i === 0
        ? rm(path.join(root, name))
        : rename(path.join(root, name), path.join(root, names[i - 1] as string)));
    const { placed, failed } = await placeMoved(await findMoved(torrent, root, []), 'rename');
    assert.deepEqual([placed.length, failed], [299, []]);
    const { files: now } = await verify(torrent, root);
    assert.deepEqual(
      now.filter(({ status }) => status !== 'complete').map((file) => [file.path, file.status]),
      [['000', 'missing']],
    );
  });

  it('makes a missing root below a link', async (t) => {
    const { cwd, root, torrent, other } = await rooted(t, 'v2', { 'a/b': noise(100, 1) });
    await rename(root, path.join(other, 'was'));
    await symlink('other', path.join(cwd, 'link'));
    const found = await findMoved(torrent, path.join(cwd, 'link/new'), [other]);
    assert.deepEqual((await placeMoved(found, 'rename')).failed, []);
    assert.deepEqual(await readdir(path.join(other, 'new'), { recursive: true }), ['a', 'a/b']);
  });

  it('leaves out candidates that cannot be read, and links and folders', async (t) => {
    const { root, other, torrent, move } = await rooted(t, 'v2', { a: noise(100, 1), b: noise(100, 2) });
    for (const name of ['a', 'b']) await move(`root/${name}`, `other/${name}`);
    await put(other, { bad: noise(100, 3) });
    await symlink('a', path.join(other, 'link'));
    const read = new Set<string>();
    const engine = notingEngine(read, (file) => file.endsWith('/bad'));
    const found = await findMoved(torrent, root, [other], { engine });
    assert.deepEqual(
      found.moved.map(({ from, also }) => [path.basename(from), also]),
      [
        ['a', []],
        ['b', []],
      ],
    );
  });

  it('does not write outside the root through a link', async (t) => {
    const { cwd, root, other, torrent, move } = await rooted(t, 'v2', { 'sub/a': noise(100, 1), b: noise(9, 2) });
    await move('root/sub/a', 'other/a');
    await rm(path.join(root, 'sub'), { recursive: true });
    await mkdir(path.join(cwd, 'outside'));
    await symlink('../outside', path.join(root, 'sub'));
    for (const how of ['link', 'rename'] as const) {
      const { failed } = await placeMoved(await findMoved(torrent, root, [other]), how);
      assert.deepEqual(
        failed.map(({ error }) => error.code),
        ['ERR_LINK_OUTSIDE'],
      );
    }
    assert.deepEqual(await readdir(path.join(cwd, 'outside')), []);
    assert.ok((await lstat(path.join(other, 'a'))).isFile());
  });

  it('compares the short last piece of a v1 torrent that ends with a pad file', async (t) => {
    const cwd = await temporaryFolder(t);
    const content = noise(PIECE * 1.5, 1);
    const padded = Buffer.concat([content, Buffer.alloc(50)]);
    const hashes = [padded.subarray(0, PIECE), padded.subarray(PIECE)].map((piece) =>
      createHash('sha1').update(piece).digest(),
    );
    const files = [
      { length: content.length, path: ['a'] },
      { attr: 'p', length: 50, path: ['.pad', '50'] },
    ];
    const info = { name: 'root', 'piece length': PIECE, files, pieces: Buffer.concat(hashes) };
    const torrent = Torrent.fromDecoded({ info });
    const damaged = Buffer.from(content).fill(0, content.length - 1);
    await put(cwd, { 'damaged/x': damaged });
    assert.deepEqual((await findMoved(torrent, path.join(cwd, 'root'), [cwd])).notFound, ['a']);
    await put(cwd, { 'good/y': content });
    const { moved } = await findMoved(torrent, path.join(cwd, 'root'), [cwd]);
    assert.deepEqual(
      moved.map(({ from, also }) => [path.relative(cwd, from), also]),
      [[path.join('good', 'y'), []]],
    );
  });

  it('reports a folder that does not exist, wrong arguments and a cancelled search', async (t) => {
    const { root, other, torrent, move } = await rooted(t, 'v2', { a: noise(100, 1) });
    await move('root/a', 'other/a');
    await assert.rejects(findMoved(torrent, root, ['/no/such/folder']), { code: 'ERR_NOT_FOUND' });
    const complete = await create(other, 'v2');
    await assert.rejects(findMoved(complete, other, ['/no/such/folder']), { code: 'ERR_NOT_FOUND' });
    for (const wrong of ['/srv', undefined, null, {}])
      await assert.rejects(findMoved(torrent, root, wrong as never), { code: 'ERR_INVALID_ARGUMENT' });
    const nothing = { moved: [], empty: [], root };
    for (const wrong of [
      5,
      null,
      undefined,
      {},
      { ...nothing, moved: [{ hashed: {} }] },
      { ...nothing, empty: [null] },
    ])
      await assert.rejects(placeMoved(wrong as never, 'link'), { code: 'ERR_INVALID_ARGUMENT' });
    await assert.rejects(findMoved(torrent, root, [3 as never]), { code: 'ERR_INVALID_ARGUMENT' });
    for (const wrong of [{ find: 1 }, { fast: 'yes' }, { beneath: root }])
      for (const place of [root, path.join(root, 'absent')])
        await assert.rejects(findMoved(torrent, place, [], wrong as never), { code: 'ERR_INVALID_ARGUMENT' });
    await assert.rejects(findMoved(torrent, root, [other], { signal: AbortSignal.abort() }), { code: 'ERR_ABORTED' });
    const found = await findMoved(torrent, root, [other]);
    await assert.rejects(placeMoved(found, 'move' as never), { code: 'ERR_INVALID_ARGUMENT' });
    await assert.rejects(placeMoved(found, 'link', { signal: AbortSignal.abort() }), { code: 'ERR_ABORTED' });
    assert.deepEqual(await readdir(root), []);
    // A candidate that changed since the search.
    await truncate(path.join(other, 'a'), 3);
    await rm(path.join(other, 'a'));
    const { failed } = await placeMoved(found, 'link');
    assert.deepEqual(
      failed.map(({ error }) => [error.code, error.path]),
      [['ERR_NOT_FOUND', path.join(other, 'a')]],
    );
  });
});
