import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmod, rm, symlink } from 'node:fs/promises';
import path from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { writeTree } from '../support/tree.ts';
import { notRoot } from '../support/unprivileged.ts';
import { command, metainfo, read, workFolder } from './run.ts';

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
    const stored = await metainfo(['plan', 'album', '--symlinks', 'store'], { cwd });
    assert.match(
      stored.stdout,
      /\[ERR_LINK_OUTSIDE\]\n {2}Follow links .+ \(--symlinks follow, --follow-outside, --exclude\)/,
    );
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
      /hint: 2 entries that are symbolic links left out: .*\[left_out\]\n(.+\n)*? {2}not included {2}link\n/,
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

  it('count the layer of a file once, although links add it again', async (t) => {
    const cwd = await workFolder(t);
    await writeTree(cwd, { 'album/large': 3_000_000 });
    for (let i = 0; i < 300; i += 1) await symlink('large', path.join(cwd, `album/link${i}`));
    for (const [version, ...filter] of [['v2'], ['hybrid'], ['v2', '--include', 'l*[e0]'], ['v1']]) {
      const args = ['album', '-k', version ?? '', ...filter, '-l', '16KiB', '--json'];
      const planned = JSON.parse((await metainfo(['plan', ...args], { cwd })).stdout);
      await metainfo(['create', ...args, '-o', 'x.torrent', '--force'], { cwd });
      assert.equal(planned.torrentSize, (await read(cwd, 'x.torrent')).bencode().length, version);
    }
  });

  it('never store links that lead outside, and warn of those whose target is left out', async (t) => {
    const cwd = await folderWithLinks(t);
    const args = ['plan', 'album', '--symlinks', 'store'];
    const outside = await metainfo([...args, '--follow-outside'], { cwd });
    assert.equal(outside.code, 1);
    assert.match(outside.stdout, /album\/outside links to .*, which a torrent cannot store.* \[ERR_LINK_OUTSIDE\]/);
    await rm(path.join(cwd, 'album/outside'));
    assert.doesNotMatch((await metainfo(args, { cwd })).stdout, /link_target/);
    const lost = await metainfo([...args, '--exclude', 'a.txt', '--strict'], { cwd });
    assert.equal(lost.code, 1);
    assert.match(lost.stdout, /error: The stored link "link" leads to "a\.txt", which .* \[link_target\]/);
    const refused = await metainfo(['plan', 'album', '--symlinks', 'error'], { cwd });
    assert.match(
      refused.stdout,
      /\[ERR_LINK\]\n {2}Leave the link out, or follow, skip or store links \(--exclude, --symlinks skip\)/,
    );
  });

  it('leave out what is unreadable, but not what is named', { skip: notRoot() }, async (t) => {
    const cwd = await workFolder(t);
    await writeTree(cwd, { 'album/locked/x': 1, 'album/secret': 1 });
    await chmod(cwd, 0o777);
    await chmod(path.join(cwd, 'album/locked'), 0);
    await chmod(path.join(cwd, 'album/secret'), 0);
    const plan = (...paths: string[]) => {
      const [program, ...args] = command(['plan', ...paths, '--skip-unreadable', '--json']);
      const { stdout } = spawnSync(program, args, { cwd, encoding: 'utf8', uid: 65_534, gid: 65_534 });
      const { findings, files } = JSON.parse(stdout) as {
        findings: { code: string; message: string }[];
        files: number;
      };
      return { codes: findings.map(({ code }) => code), message: findings[0]?.message, files };
    };
    const { codes, message, files } = plan('album');
    assert.deepEqual([codes, files], [['left_out'], 2]);
    assert.equal(message, '2 entries without permission to read left out: locked, secret.');
    assert.deepEqual(plan('album/locked').codes, ['ERR_UNREADABLE', 'ERR_NO_FILES']);
    assert.deepEqual(plan('album/locked', 'album/a.txt').codes, ['ERR_UNREADABLE']);
    assert.deepEqual(plan('album/secret', 'album/a.txt').codes, ['ERR_UNREADABLE']);
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
