import assert from 'node:assert/strict';
import { symlink } from 'node:fs/promises';
import path from 'node:path';
import { describe, it } from 'node:test';
import { contentAt, outputAt, placeWithin } from '../../src/bullmq/roots.ts';
import { temporaryFolder, writeTree } from '../support/tree.ts';

describe('paths beneath named roots', () => {
  it('are found, also through links that stay within', async (t) => {
    const cwd = await temporaryFolder(t);
    await writeTree(cwd, { 'in/a/b': 1, 'in/c': 1 });
    await symlink('a', path.join(cwd, 'in/link'));
    await symlink('in', path.join(cwd, 'root'));
    const roots = { data: path.join(cwd, 'root') };
    assert.equal(await contentAt(roots, 'data'), path.join(cwd, 'in'));
    assert.equal(await contentAt(roots, 'data/a/b'), path.join(cwd, 'in/a/b'));
    assert.equal(await contentAt(roots, 'data/link/b'), path.join(cwd, 'in/a/b'));
    assert.equal(await outputAt(roots, 'data/link/x.torrent'), path.join(cwd, 'in/a/x.torrent'));
  });

  it('never leave their root, and never belong to an unknown one', async (t) => {
    const cwd = await temporaryFolder(t);
    await writeTree(cwd, { 'in/a': 1, 'in/folder/x': 1, 'inner/secret': 1, 'out/secret': 1 });
    await symlink(path.join(cwd, 'out'), path.join(cwd, 'in/away'));
    await symlink('../out/secret', path.join(cwd, 'in/file'));
    const roots = { data: path.join(cwd, 'in') };
    const outside = [
      'data/../out',
      'data/../inner/secret',
      'data/away',
      'data/away/secret',
      'data/file',
      'data//etc',
      'data/./a',
      'data/a/..',
    ];
    for (const place of outside) {
      await assert.rejects(contentAt(roots, place), { code: 'ERR_PATH_OUTSIDE' }, place);
    }
    for (const place of ['data/../x', 'data/away/x', 'data/folder/../../x', 'data/..'])
      await assert.rejects(outputAt(roots, place), { code: 'ERR_PATH_OUTSIDE' }, place);
    for (const place of ['other', '/etc', '', '..', 'constructor', 'toString/x', null, undefined, 5, {}])
      for (const find of [contentAt, outputAt])
        await assert.rejects(find(roots, place), { code: 'ERR_INVALID_ARGUMENT' }, String(place));
    await assert.rejects(contentAt(roots, 'data/none'), { code: 'ERR_NOT_FOUND' });
    await assert.rejects(outputAt(roots, 'data'), { code: 'ERR_INVALID_ARGUMENT' });
    await assert.rejects(outputAt(roots, 'data/none/x'), { code: 'ERR_NOT_FOUND' });
  });
});

describe('placeWithin', () => {
  it('names the closest root', () => {
    const roots = { all: '/srv', media: '/srv/media' };
    assert.equal(placeWithin(roots, '/srv/media/film/a.mkv'), 'media/film/a.mkv');
    assert.equal(placeWithin(roots, '/srv/media'), 'media');
    assert.equal(placeWithin(roots, '/srv/mediathek'), 'all/mediathek');
    assert.throws(() => placeWithin(roots, '/etc/passwd'), { code: 'ERR_PATH_OUTSIDE', path: '/etc/passwd' });
  });
});
