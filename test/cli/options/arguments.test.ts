import assert from 'node:assert/strict';
import { copyFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, it } from 'node:test';
import { metainfo, workFolder } from '../run.ts';

describe('a folder where a torrent file is expected', () => {
  it('is rejected with a suggestion: the torrent next to it, or metainfo create', async (t) => {
    const cwd = await workFolder(t);
    const before = await metainfo(['show', 'album'], { cwd });
    assert.deepEqual([before.code, before.stdout], [1, '']);
    const refusal = 'error: album: cannot be read, because it is a folder.';
    const create = 'Expected a torrent file: create one with metainfo create.';
    assert.equal(before.stderr, `${refusal} ${create} [ERR_NOT_A_FILE]\n`);
    await metainfo(['create', 'album'], { cwd });
    for (const args of [['show'], ['magnet'], ['edit', '--comment', 'x']]) {
      const { code, stderr } = await metainfo([...args, 'album'], { cwd });
      assert.deepEqual([code, stderr], [1, `${refusal} Did you mean album.torrent? [ERR_NOT_A_FILE]\n`], args[0]);
    }
    const { stdout } = await metainfo(['validate', 'album', '--json'], { cwd });
    assert.equal(JSON.parse(stdout).issues[0].code, 'ERR_NOT_A_FILE');
  });
});

describe('swapped arguments', () => {
  for (const name of ['verify', 'update', 'upgrade']) {
    it(`are recognized by ${name}, for a folder and for a file`, async (t) => {
      const cwd = await workFolder(t);
      await metainfo(['create', 'album', '-k', 'v1'], { cwd });
      for (const content of ['album', 'album/a.txt']) {
        const { code, stdout, stderr } = await metainfo([name, content, 'album.torrent'], { cwd });
        assert.deepEqual([code, stdout], [1, '']);
        assert.ok(
          stderr.includes(`Did you swap the arguments? The torrent file comes first: album.torrent ${content} [`),
          stderr,
        );
      }
      // Both are torrents, so the arguments are not swapped.
      await copyFile(path.join(cwd, 'album/a.txt'), path.join(cwd, 'broken.torrent'));
      const { stderr } = await metainfo([name, 'broken.torrent', 'album.torrent'], { cwd });
      assert.doesNotMatch(stderr, /swap/);
    });
  }
});

describe('the parent of the torrent folder', () => {
  it('stands for the folder', async (t) => {
    const cwd = await workFolder(t);
    await metainfo(['create', 'album', '-k', 'v1'], { cwd });
    const verified = await metainfo(['verify', 'album.torrent', '.'], { cwd });
    assert.deepEqual([verified.code, verified.stderr], [0, 'checking album, because . has no files of this torrent\n']);
    assert.match(verified.stdout, /^album: complete/m);
    const json = await metainfo(['verify', 'album.torrent', '.', '--json'], { cwd });
    assert.deepEqual([JSON.parse(json.stdout).path, json.stderr], ['album', '']);
    const upgraded = await metainfo(['upgrade', 'album.torrent', '.', '--force'], { cwd });
    assert.deepEqual([upgraded.code, upgraded.stderr], [verified.code, verified.stderr]);
    const updated = await metainfo(['update', 'album.torrent', '.', '--since', '@0'], { cwd });
    assert.deepEqual([updated.code, updated.stderr], [verified.code, verified.stderr]);
    assert.match(updated.stdout, /^album\.torrent: no changes\n/);
    const other = await metainfo(['verify', 'album.torrent', 'album/b'], { cwd });
    assert.deepEqual([other.code, other.stderr], [1, '']);
  });

  it('is itself checked if it has any of the files', async (t) => {
    const cwd = await workFolder(t);
    await metainfo(['create', 'album', '-k', 'v1'], { cwd });
    await writeFile(path.join(cwd, 'a.txt'), 'x');
    const { code, stderr, stdout } = await metainfo(['verify', 'album.torrent', '.'], { cwd });
    assert.deepEqual([code, stderr], [1, '']);
    assert.match(stdout, /^wrong-size {2}a\.txt/m);
  });
});
