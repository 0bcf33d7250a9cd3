// Paths that must stay in a folder while somebody else swaps its files and folders for symlinks.

import assert from 'node:assert/strict';
import { chmod, mkdir, readdir, readFile, rename, stat, symlink, unlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { TorrentCreate } from '../../src/create/draft.ts';
import { holdBeneath, shortPathOf } from '../../src/disk/held-folder.ts';
import { readWithin } from '../../src/disk/read-file.ts';
import { SaveGroup } from '../../src/disk/save-files.ts';
import { UnfinishedFile } from '../../src/disk/unfinished-file.ts';
import { replacedFile, writeWhole } from '../../src/disk/write-file.ts';
import { hashPart } from '../../src/parts/hash-part.ts';
import { joinParts } from '../../src/parts/join-parts.ts';
import { planParts } from '../../src/parts/torrent-plan.ts';
import { verify } from '../../src/verify/verify.ts';
import { temporaryFolder, writeTree } from '../support/tree.ts';

const OUTSIDE = { code: 'ERR_PATH_OUTSIDE' };
const BYTES = Buffer.from('new');

/** The folders `root` and `outside`, with the same names in both. */
async function place(t: TestContext) {
  const base = await temporaryFolder(t);
  const [root, outside] = [path.join(base, 'root'), path.join(base, 'outside')];
  await writeTree(root, { 'sub/a': 'inside', 'other/b': 'inside' });
  await writeTree(outside, { a: 'outside' });
  const swap = async () => {
    await rename(path.join(root, 'sub'), path.join(root, 'away'));
    await symlink(outside, path.join(root, 'sub'));
  };
  return { base, root, outside, options: { beneath: root }, file: path.join(root, 'sub/a'), swap };
}

/** Runs a test with the descriptors of Linux, and with the checks of other systems. */
async function onEachSystem(test: () => Promise<void>): Promise<void> {
  const { platform } = process;
  for (const system of platform === 'linux' ? [platform, 'freebsd'] : [platform]) {
    Object.defineProperty(process, 'platform', { value: system });
    try {
      await test();
    } finally {
      Object.defineProperty(process, 'platform', { value: platform });
    }
  }
}

describe('a path that must stay in a folder', () => {
  it('may lead through links within the folder, and through a link to the folder', (t) =>
    onEachSystem(async () => {
      const { base, root, file } = await place(t);
      await symlink('sub', path.join(root, 'link'));
      await symlink('../sub/a', path.join(root, 'other/link'));
      await symlink('root', path.join(base, 'root-link'));
      const options = { beneath: path.join(base, 'root-link') };
      for (const name of ['link/a', 'other/link'])
        assert.equal(String(await readWithin(path.join(base, 'root-link', name), 100, options)), 'inside');
      await writeWhole(path.join(root, 'link/new'), BYTES, options);
      await chmod(file, 0o600);
      await writeWhole(path.join(root, 'other/link'), BYTES, { force: true, ...options });
      assert.deepEqual(await readdir(path.join(root, 'sub')), ['a', 'new']);
      assert.equal(String(await readFile(file)), 'inside', 'the link was replaced, not its target');
      const written = await stat(path.join(root, 'other/link'));
      assert.deepEqual([written.mode & 0o777, written.size], [process.platform === 'win32' ? 0o666 : 0o600, 3]);
    }));

  it('is neither read nor written through a link that leaves the folder', (t) =>
    onEachSystem(async () => {
      const { root, outside, options, file, swap } = await place(t);
      await symlink(path.join(outside, 'a'), path.join(root, 'other/link'));
      await swap();
      for (const name of [file, path.join(root, 'other/link'), path.join(root, 'away/../../outside/a')])
        await assert.rejects(readWithin(name, 100, { onlyFiles: true, ...options }), OUTSIDE, name);
      for (const force of [false, true])
        for (const name of ['sub/a', 'sub/new', '../outside/new'])
          await assert.rejects(writeWhole(path.join(root, name), BYTES, { force, ...options }), OUTSIDE, name);
      // It replaces no link either, because its permissions would come from outside.
      await assert.rejects(writeWhole(path.join(root, 'other/link'), BYTES, { force: true, ...options }), OUTSIDE);
      assert.deepEqual([await readdir(outside), await readdir(path.join(root, 'other'))], [['a'], ['b', 'link']]);
      assert.equal(String(await readFile(path.join(outside, 'a'))), 'outside');
    }));

  it('reports what happened to the path, not to a descriptor', (t) =>
    onEachSystem(async () => {
      const { root, options, file } = await place(t);
      const [gone, folder] = [path.join(root, 'gone/x'), path.join(root, 'sub')];
      await assert.rejects(readWithin(gone, 100, options), { code: 'ERR_NOT_FOUND', path: gone });
      await assert.rejects(writeWhole(gone, BYTES, options), { code: 'ERR_NOT_FOUND', path: gone });
      await assert.rejects(readWithin(folder, 2 ** 20, options), { code: 'ERR_NOT_A_FILE', path: folder });
      await assert.rejects(writeWhole(file, BYTES, options), { code: 'ERR_OUTPUT_EXISTS', path: file });
      await assert.rejects(writeWhole(folder, BYTES, { force: true, ...options }), {
        code: 'ERR_NOT_A_FILE',
        path: folder,
      });
      const missing = { beneath: path.join(root, 'missing') };
      await assert.rejects(readWithin(file, 100, missing), { code: 'ERR_NOT_FOUND', path: missing.beneath });
      assert.deepEqual(await readdir(folder), ['a']);
    }));

  it('stays the same file and folder after a swap, and closes its descriptors', {
    skip: process.platform !== 'linux',
  }, async (t) => {
    const { root, outside, options, file, swap } = await place(t);
    const before = (await readdir('/proc/self/fd')).length;
    await holdBeneath(file, options, async ({ path: heldFile }) => {
      await holdBeneath(path.dirname(file), options, async ({ path: heldFolder }) => {
        await swap();
        assert.equal(String(await readFile(heldFile)), 'inside');
        assert.equal(String(await readFile(path.join(heldFolder, 'a'))), 'inside');
        const replaced = await replacedFile(file, options, path.join(heldFolder, 'a'));
        assert.equal(replaced?.mode, (await stat(heldFile)).mode);
        await assert.rejects(replacedFile(file, options), { ...OUTSIDE, path: file });
        await writeWhole(path.join(heldFolder, 'new'), BYTES, {});
        await writeWhole(path.join(heldFolder, 'a'), BYTES, { force: true });
      });
    });
    assert.deepEqual([await readdir(path.join(root, 'away')), await readdir(outside)], [['a', 'new'], ['a']]);
    assert.equal(String(await readFile(path.join(outside, 'a'))), 'outside');
    assert.equal((await readdir('/proc/self/fd')).length, before);
  });

  it('gives a saved file the mode of the file that it replaces, not of one that is swapped in', {
    skip: process.platform !== 'linux',
  }, async (t) => {
    for (const isBeneath of [false, true]) {
      const { root, outside, file, swap } = await place(t);
      await chmod(file, 0o600);
      await chmod(path.join(outside, 'a'), 0o666);
      const group = new SaveGroup(isBeneath ? root : undefined);
      const [added] = await group.addAll([{ saveTo: { path: file, force: true } }]);
      const open = UnfinishedFile.open;
      const { mock } = t.mock.method(UnfinishedFile, 'open', async (...args: Parameters<typeof open>) => {
        const opened = await open.apply(UnfinishedFile, args);
        await swap();
        return opened;
      });
      await added?.save?.write(Buffer.alloc(2 ** 20));
      mock.restore();
      await unlink(path.join(root, 'sub'));
      await rename(path.join(root, 'away'), path.join(root, 'sub'));
      await added?.save?.end();
      await group.finish();
      const { mode, size } = await stat(file);
      assert.deepEqual([mode & 0o777, size], [0o600, 2 ** 20]);
    }
  });

  it('of content is checked when generate, verify, hashPart and joinParts resolve it', async (t) => {
    const { root, outside, options, file, swap } = await place(t);
    const draft = new TorrentCreate({ pathRoot: path.dirname(file) });
    const [torrent, plan] = [await draft.generate(options), await planParts(draft)];
    const part = await hashPart(plan, 0, options);
    assert.ok((await verify(torrent, draft.pathRoot, options)).ok);
    assert.equal((await joinParts(plan, () => part, options)).infohashV1, torrent.infohashV1);
    await swap();
    await mkdir(path.join(root, 'file'));
    await symlink(path.join(outside, 'a'), path.join(root, 'file/a'));
    for (const work of [
      () => draft.generate(options),
      () => new TorrentCreate({ pathRoot: path.join(root, 'file/a') }).generate(options),
      () => verify(torrent, draft.pathRoot, options),
      () => verify(torrent, path.join(root, 'file/a'), options),
      () => hashPart(plan, 0, options),
      () => joinParts(plan, () => part, options),
      () => torrent.write(path.join(draft.pathRoot, 'x.torrent'), options),
    ])
      await assert.rejects(work, OUTSIDE, String(work));
  });
});

describe('the path of a task that opens it in one step', () => {
  const on = (target: string, beneath?: string) => shortPathOf(target, { beneath });
  const root = path.resolve('/srv/data');

  it('is relative to the folder, or any path', () => {
    assert.deepEqual(on(path.join(root, 'a/b'), root), { root, path: path.join('a', 'b') });
    assert.deepEqual(on('a/../b'), { root: '', path: 'a/../b' });
  });

  it('is left to the general way where its text does not tell where it leads', () => {
    const inRoot = (name: string) => `${root}${path.sep}${name}`;
    for (const target of ['a/..', '../a', 'a/../../a', './a', 'a/', '/a', '\udc80']
      .map(inRoot)
      .concat(root, 'a', `${root}2/a`))
      assert.equal(on(target, root), null, target);
    for (const folder of ['data', `${root}/`, `${root}/a/..`, '/', '.', ''])
      assert.equal(on(inRoot('a'), folder), null, folder);
    assert.equal(on('\udc80'), null);
  });
});

describe('readWithin of a short file in a folder', () => {
  it('reads up to the limit, and refuses more', async (t) => {
    const { root, options } = await place(t);
    const onlyFiles = { ...options, onlyFiles: true };
    for (const size of [1, 65_535, 65_536, 65_537, 200_000]) {
      const [file, bytes] = [path.join(root, 'file'), Buffer.alloc(size, size % 251)];
      await writeFile(file, bytes);
      assert.deepEqual(Buffer.from(await readWithin(file, size, onlyFiles)), bytes);
      if (size > 1) await assert.rejects(readWithin(file, size - 1, onlyFiles), { code: 'ERR_LIMIT' });
    }
    await writeFile(path.join(root, 'file'), '');
    assert.equal((await readWithin(path.join(root, 'file'), 5, onlyFiles)).length, 0);
    await assert.rejects(readWithin(path.join(root, 'none'), 5, onlyFiles), { code: 'ERR_NOT_FOUND' });
    await assert.rejects(readWithin(path.join(root, 'sub'), 5, onlyFiles), { code: 'ERR_NOT_A_FILE' });
  });
});
