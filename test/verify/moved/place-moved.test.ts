import assert from 'node:assert/strict';
import {
  link,
  mkdir,
  open,
  readdir,
  readFile,
  readlink,
  rename,
  rm,
  stat,
  symlink,
  utimes,
  writeFile,
} from 'node:fs/promises';
import path from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { TorrentCreate } from '../../../src/create/draft.ts';
import { AbortError } from '../../../src/errors/cancel.ts';
import { findMoved } from '../../../src/verify/moved/find-moved.ts';
import { placeMoved } from '../../../src/verify/moved/place-moved.ts';
import { verify } from '../../../src/verify/verify.ts';
import { noise } from '../../hash/reference.ts';
import { temporaryFolder, writeTree } from '../../support/tree.ts';

const SIZE = 20_000;

/** A torrent of files in `root`, and the folder `other`. */
async function rooted(t: TestContext, files: Record<string, Buffer>) {
  const cwd = await temporaryFolder(t);
  await writeTree(cwd, { 'other/none': 1 });
  const root = path.join(cwd, 'root');
  await writeTree(root, files);
  const torrent = await new TorrentCreate({ pathRoot: root, pieceLength: 16_384 }).generate({ version: 'v2' });
  return { root, other: path.join(cwd, 'other'), torrent };
}

describe('placeMoved', () => {
  for (const how of ['link', 'rename', 'symlink', 'reflink', 'copy'] as const)
    it(`refuses a file that was replaced after it was hashed: ${how}`, async (t) => {
      const { root, other, torrent } = await rooted(t, { a: noise(SIZE), k: noise(1) });
      const x = path.join(other, 'x');
      const replaced: Record<string, () => Promise<unknown>> = {
        content: () => writeFile(x, 'other'),
        link: () => symlink('/etc/hostname', x),
        'another file of the same size and time': async () => {
          await writeFile(x, noise(SIZE, 2));
          await utimes(x, 1, 1);
        },
      };
      for (const [name, replace] of Object.entries(replaced)) {
        await writeFile(x, noise(SIZE));
        await utimes(x, 1, 1);
        await rm(path.join(root, 'a'), { force: true });
        const found = await findMoved(torrent, root, [other]);
        assert.equal(found.moved[0]?.from, x);
        await rm(x);
        await replace();
        const { placed, failed } = await placeMoved(found, how);
        assert.deepEqual([placed, failed.map(({ error }) => error.code)], [[], ['ERR_FILE_CHANGED']], name);
        assert.deepEqual(await readdir(root), ['k'], name);
        await rm(x);
      }
    });

  it('copies a file to several places, and makes absolute symlinks that leave its times as they were', async (t) => {
    const { root, other, torrent } = await rooted(t, { a: noise(SIZE), b: noise(SIZE) });
    const x = path.join(other, 'x');
    await writeFile(x, noise(SIZE));
    await utimes(x, 1, 1);
    for (const how of ['copy', 'symlink'] as const) {
      for (const name of ['a', 'b']) await rm(path.join(root, name));
      const { placed, failed } = await placeMoved(await findMoved(torrent, root, [other]), how);
      assert.deepEqual([placed, failed], [['a', 'b'], []], how);
      assert.deepEqual(await readdir(root), ['a', 'b']);
      assert.equal((await verify(torrent, root, { followOutside: true })).ok, true);
      assert.equal((await stat(path.join(root, 'a'))).mtimeMs, 1000);
    }
    assert.equal(await readlink(path.join(root, 'a')), x);
    assert.equal((await verify(torrent, root)).files[0]?.status, 'unreadable');
  });

  it('keeps nothing of a copy that is cancelled', async (t) => {
    const { root, other, torrent } = await rooted(t, { a: noise(2 ** 26), b: noise(1) });
    await rename(path.join(root, 'a'), path.join(other, 'x'));
    const found = await findMoved(torrent, root, [other]);
    const controller = new AbortController();
    const probe = await open(path.join(other, 'none'));
    const prototype = Object.getPrototypeOf(probe);
    await probe.close();
    const write = t.mock.method(prototype, 'write');
    const copied = placeMoved(found, 'copy', { signal: controller.signal });
    const failed = assert.rejects(copied, AbortError);
    while (write.mock.callCount() < 2) await setImmediate();
    controller.abort();
    await failed;
    assert.deepEqual(await readdir(root), ['b']);
    const again = await placeMoved(found, 'copy');
    assert.deepEqual(again.placed, ['a']);
  });

  it('keeps no empty folder that was made for a file that failed', async (t) => {
    const { root, other, torrent } = await rooted(t, { 'd/e/a': noise(SIZE), 'd/f/b': noise(SIZE, 2) });
    for (const name of ['d/e/a', 'd/f/b']) await rename(path.join(root, name), path.join(other, path.basename(name)));
    for (const left of ['.', 'd']) {
      await rm(root, { recursive: true, force: true });
      await mkdir(path.join(root, left), { recursive: true });
      const found = await findMoved(torrent, root, [other]);
      await utimes(path.join(other, 'a'), 1, 1);
      const one = { ...found, moved: found.moved.filter(({ path: to }) => to === 'd/e/a') };
      assert.equal((await placeMoved(one, 'copy')).failed.length, 1);
      assert.deepEqual(await readdir(root, { recursive: true }), left === 'd' ? ['d'] : []);
      assert.deepEqual((await placeMoved(found, 'copy')).placed, ['d/f/b']);
      assert.deepEqual((await readdir(root, { recursive: true })).sort(), ['d', 'd/f', 'd/f/b']);
    }
  });

  it('places a file at two paths, though a link changes its times', async (t) => {
    const { root, other, torrent } = await rooted(t, { a: noise(SIZE), b: noise(SIZE) });
    for (const name of ['a', 'b']) await rm(path.join(root, name));
    await writeFile(path.join(other, 'x'), noise(SIZE));
    const { placed, failed } = await placeMoved(await findMoved(torrent, root, [other]), 'link');
    assert.deepEqual([placed, failed], [['a', 'b'], []]);
  });

  for (const how of ['link', 'rename', 'symlink', 'reflink', 'copy'] as const)
    it(`lets only the file fail that is gone, or whose folder is a file or a link: ${how}`, async (t) => {
      const names = ['a/1', 'b/2', 'c/3', 'd'];
      const files = Object.fromEntries(names.map((name, i) => [name, noise(SIZE, i)]));
      const { root, other, torrent } = await rooted(t, files);
      for (const name of names.slice(0, 3)) {
        await mkdir(path.join(other, path.dirname(name)));
        await rename(path.join(root, name), path.join(other, name));
      }
      await rename(path.join(root, 'd'), path.join(other, 'd'));
      const found = await findMoved(torrent, root, [other]);
      await rm(path.join(other, 'a/1'));
      await rm(path.join(root, 'b'), { recursive: true });
      await writeFile(path.join(root, 'b'), 'mine');
      await rename(path.join(other, 'c'), path.join(other, 'moved'));
      await symlink('moved', path.join(other, 'c'));
      const { placed, failed } = await placeMoved(found, how);
      const codes = failed.map(({ path: name, error }) => [name, error.code]);
      const expected = [
        ['a/1', 'ERR_NOT_FOUND'],
        ['b/2', 'ERR_NOT_FOUND'],
        ['c/3', 'ERR_FILE_CHANGED'],
      ];
      if (how === 'reflink' && codes.length === 4) expected.push(['d', 'ERR_WRITE']);
      assert.deepEqual(codes, expected);
      assert.deepEqual(placed, codes.length === 4 ? [] : ['d']);
      assert.equal(await readFile(path.join(root, 'b'), 'utf8'), 'mine');
    });

  it('follows a link at or above the root, and none that replaces the root after the search', async (t) => {
    const { root, other, torrent } = await rooted(t, { 'd/a': noise(SIZE) });
    const [linked, away] = [`${root}-link`, `${root}-away`];
    await symlink(root, linked);
    await rename(path.join(root, 'd/a'), path.join(other, 'x'));
    assert.deepEqual((await placeMoved(await findMoved(torrent, linked, [other]), 'copy')).placed, ['d/a']);
    await rm(path.join(root, 'd'), { recursive: true });
    const found = await findMoved(torrent, linked, [other]);
    await rename(root, away);
    await symlink(away, root);
    const { placed, failed } = await placeMoved(found, 'copy');
    assert.deepEqual([placed, failed.map(({ error }) => error.code)], [[], ['ERR_LINK_OUTSIDE']]);
    assert.deepEqual(await readdir(away), []);
  });

  it('finishes a swap that was killed at any step, and leaves nothing behind', async (t) => {
    const names = ['a', 'b', 'c'];
    for (const count of [2, 3])
      for (let step = 1; step < 2 * count; step += 1) {
        const all = names.slice(0, count);
        const files = Object.fromEntries(all.map((name, i) => [name, noise(SIZE, i)]));
        const { root, torrent } = await rooted(t, files);
        // Each name has the content of the next one.
        for (const [i, name] of all.entries()) await writeFile(path.join(root, name), noise(SIZE, (i + 1) % count));
        const spare = (i: number) => path.join(root, `.metainfo-left${i}.tmp`);
        const holder = (i: number) => path.join(root, all[(i + count - 1) % count] as string);
        for (let i = 0; i < Math.min(step, count); i += 1) await link(holder(i), spare(i));
        for (let i = 0; i < step - count; i += 1) await rename(spare(i), path.join(root, all[i] as string));
        const draft = new TorrentCreate({ pathRoot: root });
        assert.deepEqual(await draft.getPaths(), all);
        const { failed } = await placeMoved(await findMoved(torrent, root, []), 'rename');
        assert.deepEqual(failed, [], `${count} files, step ${step}`);
        assert.ok((await verify(torrent, root)).ok, `${count} files, step ${step}`);
        assert.deepEqual((await readdir(root)).sort(), all);
      }
  });

  it('never takes a file with an unrelated second name for one of a swap', async (t) => {
    const { root, other, torrent } = await rooted(t, { a: noise(SIZE), k: noise(1) });
    await rename(path.join(root, 'a'), path.join(other, 'x'));
    await writeFile(path.join(root, 'a'), 'mine');
    await link(path.join(root, 'a'), path.join(other, 'mine'));
    const { placed, failed } = await placeMoved(await findMoved(torrent, root, [other]), 'rename');
    assert.deepEqual([placed, failed.map(({ error }) => error.code)], [[], ['ERR_OUTPUT_EXISTS']]);
    assert.equal(await readFile(path.join(root, 'a'), 'utf8'), 'mine');
  });

  it('tells of each file that was placed before a cancellation', async (t) => {
    const names = ['a', 'b', 'c'];
    const { root, other, torrent } = await rooted(
      t,
      Object.fromEntries(names.map((name, i) => [name, noise(SIZE, i)])),
    );
    for (const name of names) await rename(path.join(root, name), path.join(other, name));
    const controller = new AbortController();
    const told: string[] = [];
    const onPlaced = (name: string) => {
      told.push(name);
      if (told.length === 2) controller.abort();
    };
    const found = await findMoved(torrent, root, [other]);
    await assert.rejects(placeMoved(found, 'rename', { signal: controller.signal, onPlaced }), AbortError);
    assert.deepEqual(told, ['a', 'b']);
    assert.deepEqual(
      [(await readdir(root)).sort(), await readdir(other)],
      [
        ['a', 'b'],
        ['c', 'none'],
      ],
    );
  });
});
