// How writes of one folder are grouped, with an addon that writes when the test says so.
import assert from 'node:assert/strict';
import { readdir, realpath, rename, symlink } from 'node:fs/promises';
import path from 'node:path';
import { describe, it } from 'node:test';
import { setImmediate as round } from 'node:timers/promises';
import { temporaryName } from '../../src/disk/unfinished-file.ts';
import { removeAbandoned } from '../../src/disk/write-file.ts';
import { MAX_GROUP, writeInGroup } from '../../src/disk/write-group.ts';
import type { Addon, NewFile } from '../../src/hash/addon.ts';
import { temporaryFolder, writeTree } from '../support/tree.ts';

/** An addon that notes the groups. Each call of `end` ends the oldest one with these errors. */
function fakeAddon() {
  const groups: string[] = [];
  const ends: ((errors: number[]) => void)[] = [];
  const writeFiles = (folder: string, files: readonly NewFile[]) => {
    groups.push(`${folder}: ${files.map(({ name }) => name).join(' ')}`);
    return new Promise<Int32Array>((resolve) => {
      ends.push((errors) => resolve(Int32Array.from(files, (_, i) => errors[i] ?? 0)));
    });
  };
  const end = async (...errors: number[]) => {
    ends.shift()?.(errors);
    await round();
  };
  return { addon: { writeFiles } as unknown as Addon, groups, end };
}

const fileOf = (name: string): NewFile => ({ name, bytes: Buffer.from(name), mtime: null, temporary: '', owner: null });

describe('writes into one folder', () => {
  it('start at once if there are no others, and otherwise go together', async () => {
    const { addon, groups, end } = fakeAddon();
    const write = (name: string, folder = 'one') => writeInGroup(addon, folder, fileOf(name), {});
    const all = [write('a'), write('b'), write('other', 'two'), write('c')];
    assert.deepEqual(groups, ['one: a', 'two: other']);
    await end();
    assert.deepEqual(groups.slice(2), ['one: b c']);
    all.push(write('d'));
    await end();
    await end(0, 28);
    assert.deepEqual(groups.slice(3), ['one: d']);
    await end(5);
    assert.deepEqual(await Promise.all(all), [0, 0, 0, 28, 5]);
    const next = write('e');
    assert.deepEqual(groups.slice(4), ['one: e'], 'nobody waits any more');
    await end();
    assert.equal(await next, 0);
  });

  it('continue with those that are made when a group ends', async () => {
    const { addon, groups, end } = fakeAddon();
    const next = writeInGroup(addon, 'one', fileOf('a'), {}).then(() => writeInGroup(addon, 'one', fileOf('b'), {}));
    await end();
    assert.deepEqual(groups, ['one: a', 'one: b']);
    await end();
    assert.equal(await next, 0);
  });

  it('go in groups of a bounded number of files', async () => {
    const { addon, groups, end } = fakeAddon();
    const names = Array.from({ length: MAX_GROUP + 3 }, (_, i) => `f${i}`);
    const all = names.map((name) => writeInGroup(addon, 'one', fileOf(name), {}));
    for (let i = 0; i < 3; i += 1) await end();
    await Promise.all(all);
    assert.deepEqual(
      groups.map((group) => group.split(' ').length - 1),
      [1, MAX_GROUP, 2],
    );
  });

  it('can be cancelled while they wait', async () => {
    const { addon, groups, end } = fakeAddon();
    const controller = new AbortController();
    const first = writeInGroup(addon, 'one', fileOf('a'), { signal: controller.signal });
    const cancelled = writeInGroup(addon, 'one', fileOf('b'), { signal: controller.signal });
    const last = writeInGroup(addon, 'one', fileOf('c'), {});
    controller.abort();
    await assert.rejects(cancelled, { code: 'ERR_ABORTED' });
    await end();
    await end();
    assert.deepEqual(groups, ['one: a', 'one: c']);
    assert.deepEqual([await first, await last], [0, 0]);
  });

  it('fail together if their folder is outside of the one that they must stay in', async (t) => {
    const { addon, groups } = fakeAddon();
    const base = await temporaryFolder(t);
    await writeTree(base, { 'inside/a': 'a', 'outside/a': 'a' });
    const options = { beneath: path.join(base, 'inside') };
    const write = (name: string) => writeInGroup(addon, path.join(base, 'outside'), fileOf(name), options);
    for (const { reason } of (await Promise.allSettled([write('a'), write('b')])) as PromiseRejectedResult[])
      assert.equal(reason.code, 'ERR_PATH_OUTSIDE');
    assert.deepEqual(groups, []);
  });

  const noProc = process.platform === 'linux' ? false : 'needs /proc';
  it('look their folder up again after a few groups, also if files are always waiting', { skip: noProc }, async (t) => {
    const base = await temporaryFolder(t);
    await writeTree(base, { 'root/folder/a': 'a', 'outside/a': 'a' });
    const folder = path.join(base, 'root/folder');
    const held = new Set<string>();
    // Each call brings the next file.
    const addon = {
      writeFiles: async (place: string, files: readonly NewFile[]) => {
        held.add(await realpath(place));
        if (held.size === 1) await swap();
        outcome = write();
        return new Int32Array(files.length);
      },
    } as unknown as Addon;
    const swap = async () => {
      await rename(folder, path.join(base, 'root/moved'));
      await symlink(path.join(base, 'outside'), folder);
    };
    const write = () => writeInGroup(addon, folder, fileOf('x'), { beneath: path.join(base, 'root') });
    let outcome = write();
    const refused = (async () => {
      for (let groups = 1; groups < 50; groups += 1) await outcome;
    })();
    await assert.rejects(refused, { code: 'ERR_PATH_OUTSIDE' });
    assert.deepEqual([...held], [folder, path.join(base, 'root/moved')]);
  });
});

describe('removeAbandoned', () => {
  it('removes only the names that files have before they replace others', async (t) => {
    const folder = await temporaryFolder(t);
    const kept = ['.metainfo-replace-1.tmp.torrent', '.metainfo-replace-.tmp', temporaryName()];
    await writeTree(folder, Object.fromEntries([...kept, temporaryName('replace-')].map((name) => [name, 'x'])));
    await removeAbandoned(folder);
    assert.deepEqual((await readdir(folder)).sort(), kept.sort());
    await removeAbandoned(path.join(folder, 'missing'));
  });
});
