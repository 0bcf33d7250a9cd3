import assert from 'node:assert/strict';
import { chmod, rm, symlink } from 'node:fs/promises';
import path from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { writeTree } from '../support/tree.ts';
import { metainfo, read, workFolder } from './run.ts';

/** A working folder whose `album` has links, a hidden file and an executable one. */
async function folderWithLinks(t: TestContext): Promise<string> {
  const cwd = await workFolder(t);
  await writeTree(cwd, { 'album/.hidden': 3, 'other/o.txt': 4 });
  await chmod(path.join(cwd, 'album/a.txt'), 0o755);
  await symlink('a.txt', path.join(cwd, 'album/link'));
  await symlink('../other', path.join(cwd, 'album/outside'));
  return cwd;
}

const paths = async (cwd: string, name = 'album.torrent') => (await read(cwd, name)).files.map((file) => file.path);

describe('policies of metainfo create', () => {
  it('refuse links that lead outside, unless they are followed', async (t) => {
    const cwd = await folderWithLinks(t);
    const refused = await metainfo(['create', 'album'], { cwd });
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /album\/outside links to .* \[ERR_LINK_OUTSIDE\]/);
    const { code } = await metainfo(['create', 'album', '--follow-outside', '-k', 'v2'], { cwd });
    assert.equal(code, 0);
    assert.deepEqual(await paths(cwd), ['.hidden', 'a.txt', 'b/c.nfo', 'link', 'outside/o.txt']);
  });

  it('skip, store or refuse links, and tell what was left out', async (t) => {
    const cwd = await folderWithLinks(t);
    const skipped = await metainfo(['create', 'album', '--symlinks', 'skip', '-k', 'v2', '-v'], { cwd });
    assert.equal(skipped.code, 0);
    assert.match(
      skipped.stderr,
      /hint: 2 entries that are symbolic links left out: .*\[left_out\]\n(.+\n)*? {2}left out {2}link\n/,
    );
    assert.deepEqual(await paths(cwd), ['.hidden', 'a.txt', 'b/c.nfo']);
    const refused = await metainfo(['create', 'album', '--symlinks', 'error', '--force', '--json'], { cwd });
    assert.equal(JSON.parse(refused.stdout).error.code, 'ERR_LINK');
    await rm(path.join(cwd, 'album/outside'));
    await metainfo(['create', 'album', '--symlinks', 'store', '-o', 'stored.torrent'], { cwd });
    const stored = (await read(cwd, 'stored.torrent')).files.find((file) => file.path === 'link');
    assert.deepEqual([stored?.attr, stored?.length], ['l', 0]);
    const verified = await metainfo(['verify', 'stored.torrent', 'album'], { cwd });
    assert.equal(verified.code, 0, verified.stdout);
  });

  it('leave out hidden files, and mark executable ones', async (t) => {
    const cwd = await folderWithLinks(t);
    const args = ['create', 'album', '--symlinks', 'skip', '-k', 'v1', '--attributes'];
    await metainfo([...args, '--no-hidden', '-o', 'plain.torrent'], { cwd });
    assert.deepEqual(await paths(cwd, 'plain.torrent'), ['a.txt', 'b/c.nfo']);
    await metainfo([...args, '-o', 'all.torrent'], { cwd });
    const { files } = await read(cwd, 'all.torrent');
    assert.deepEqual(
      files.map((file) => [file.path, file.attr]),
      [
        ['.hidden', 'h'],
        ['a.txt', 'x'],
        ['b/c.nfo', null],
      ],
    );
  });

  it('refuse an unknown policy', async (t) => {
    const cwd = await workFolder(t);
    const { code, stderr } = await metainfo(['create', 'album', '--symlinks', 'copy'], { cwd });
    assert.equal(code, 2);
    assert.match(stderr, /Allowed choices are follow, skip, store, error/);
  });
});
