import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { appendFile, copyFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { writeTree } from '../support/tree.ts';
import { MAIN, metainfo, workFolder } from './run.ts';

/** `a.torrent` and `b.torrent` of the folder `album`, with some changes to it in between. */
async function two(t: TestContext, args: readonly string[], change: (album: string) => Promise<unknown>) {
  const cwd = await workFolder(t);
  await writeTree(cwd, { 'album/b/d.txt': 30_000, 'album/e.txt': 100 });
  await metainfo(['create', 'album', '-o', 'a.torrent', ...args], { cwd });
  await change(path.join(cwd, 'album'));
  await metainfo(['create', 'album', '-o', 'b.torrent', ...args], { cwd });
  return cwd;
}

const change = async (album: string) => {
  await rename(path.join(album, 'b/d.txt'), path.join(album, 'd.txt'));
  await appendFile(path.join(album, 'a.txt'), 'x');
  await rm(path.join(album, 'e.txt'));
  await writeFile(path.join(album, 'new \u001b[31m'), '12');
};

describe('metainfo diff', () => {
  it('finds no differences between copies', async (t) => {
    const cwd = await two(t, [], async () => {});
    await copyFile(path.join(cwd, 'a.torrent'), path.join(cwd, 'c.torrent'));
    const { code, stdout, stderr } = await metainfo(['diff', 'a.torrent', 'c.torrent'], { cwd });
    assert.deepEqual([code, stdout, stderr], [0, 'a.torrent and c.torrent: no differences\n', '']);
    const json = JSON.parse((await metainfo(['diff', 'a.torrent', 'c.torrent', '--json'], { cwd })).stdout);
    assert.deepEqual([json.same, json.sameInfohash, json.changes, json.files.same], [true, true, [], 4]);
  });

  it('tells fields with the same infohash from fields that change it', async (t) => {
    const cwd = await two(t, [], async () => {});
    const edited = async (...args: string[]) => {
      await metainfo(['edit', 'a.torrent', '-o', 'c.torrent', '--force', ...args], { cwd });
      return metainfo(['diff', 'a.torrent', 'c.torrent'], { cwd });
    };
    const tracker = await edited('-t', 'udp://t.example:1/');
    assert.deepEqual(
      [tracker.code, tracker.stdout.split('\n')],
      [
        1,
        [
          'a.torrent and c.torrent: same infohash',
          '  announce  + "udp://t.example:1/"',
          '4 files the same by pieces root',
          '',
        ],
      ],
    );
    const source = await edited('-s', 'ACME');
    assert.match(source.stdout, /^a\.torrent and c\.torrent: different infohashes\n {2}infohash v1 {2}\w+ -> \w+\n/);
    assert.match(source.stdout, /\n {2}info\.source {2}\+ "ACME"\n4 files the same by pieces root\n$/);
  });

  for (const [version, by, proof] of [
    ['v1', 'name and size', null],
    ['v2', 'pieces root', 'root'],
    ['hybrid', 'pieces root', 'root'],
  ] as const)
    it(`finds shared, changed, renamed, removed and added files: ${version}`, async (t) => {
      const cwd = await two(t, ['-k', version], change);
      const { code, stdout } = await metainfo(['diff', 'a.torrent', 'b.torrent'], { cwd });
      assert.equal(code, 1);
      const lines = stdout.split('\n').filter((line) => !line.startsWith('  '));
      assert.deepEqual(lines, [
        'a.torrent and b.torrent: different infohashes',
        'changed   a.txt (20000 bytes -> 20001 bytes)',
        'renamed   b/d.txt -> d.txt (29.3 KiB)',
        'removed   e.txt (100 B)',
        'added     new \\x1b[31m (2 B)',
        `1 file the same by ${by}, 1 changed, 1 renamed, 1 removed, 1 added`,
        '',
      ]);
      const { files } = JSON.parse((await metainfo(['diff', 'a.torrent', 'b.torrent', '--json'], { cwd })).stdout);
      assert.deepEqual(files, {
        same: 1,
        proof,
        changed: [{ before: { path: 'a.txt', length: 20_000 }, after: { path: 'a.txt', length: 20_001 } }],
        renamed: [{ before: { path: 'b/d.txt', length: 30_000 }, after: { path: 'd.txt', length: 30_000 } }],
        removed: [{ path: 'e.txt', length: 100 }],
        added: [{ path: 'new \u001b[31m', length: 2 }],
      });
    });

  it('compares by name and size if one of them is v1, and says that the pieces differ', async (t) => {
    const cwd = await two(t, ['-k', 'v1'], (album) => writeFile(path.join(album, 'e.txt'), Buffer.alloc(100, 'z')));
    const { stdout } = await metainfo(['diff', 'a.torrent', 'b.torrent'], { cwd });
    assert.match(stdout, /\n {2}info\.pieces {2}differs\n4 files the same by name and size\n$/);
    await metainfo(['create', 'album', '-o', 'c.torrent', '-k', 'v2'], { cwd });
    const versions = await metainfo(['diff', 'b.torrent', 'c.torrent'], { cwd });
    assert.match(versions.stdout, /\n {2}version {2}v1 -> v2\n/);
    assert.match(versions.stdout, /\n4 files the same by name and size\n$/);
    assert.match(versions.stdout, /\n {2}piece layers {2}\+\n {2}info\.pieces {2}-\n {2}info\.files {2}-\n/);
    const quiet = await metainfo(['diff', 'b.torrent', 'c.torrent', '-q'], { cwd });
    assert.deepEqual([quiet.code, quiet.stdout, quiet.stderr], [1, '', '']);
    assert.equal(
      JSON.parse((await metainfo(['diff', 'a.torrent', 'a.torrent', '-q', '--json'], { cwd })).stdout).same,
      true,
    );
    assert.doesNotMatch(versions.stdout, /infohash v/);
  });

  it('pairs each of several equal files once', async (t) => {
    const cwd = await two(t, ['-k', 'v2'], async (album) => {
      for (const name of ['x', 'y', 'z']) await writeFile(path.join(album, name), 'equal');
      await rm(path.join(album, 'e.txt'));
    });
    await rm(path.join(cwd, 'album/x'));
    await metainfo(['create', 'album', '-o', 'c.torrent', '-k', 'v2'], { cwd });
    const { stdout } = await metainfo(['diff', 'b.torrent', 'c.torrent'], { cwd });
    assert.match(stdout, /\nremoved {3}x \(5 B\)\n5 files the same by pieces root, 1 removed\n$/);
  });

  it('reads standard input once, and lists 20 files of a kind without -v', async (t) => {
    const cwd = await two(t, [], async (album) => {
      for (let i = 0; i < 1100; i += 1) await writeFile(path.join(album, `n${i}`), '');
    });
    const input = { cwd, input: execFileSync('cat', ['b.torrent'], { cwd }) };
    const run = (more: string[]) => {
      try {
        return execFileSync(process.execPath, [MAIN, 'diff', 'a.torrent', '-', ...more], input).toString();
      } catch (error) {
        return (error as { stdout: Buffer }).stdout.toString();
      }
    };
    const added = run([])
      .split('\n')
      .filter((line) => line.startsWith('added'));
    assert.equal(added.length, 20);
    assert.match(run([]), /\n… and 1,080 more added files \(-v lists all\)\n4 files the same/);
    assert.equal(run(['-v']).match(/^added/gm)?.length, 1100);
    assert.equal((await metainfo(['diff', '-', '-'], { cwd })).code, 2);
  });

  it('exits with 2 for wrong usage, and reports every torrent that cannot be read', async (t) => {
    const cwd = await two(t, [], async () => {});
    assert.equal((await metainfo(['diff', 'a.torrent'], { cwd })).code, 2);
    assert.equal((await metainfo(['diff', 'a.torrent', 'b.torrent', 'c.torrent'], { cwd })).code, 2);
    const { code, stdout, stderr } = await metainfo(['diff', 'none', 'album/a.txt'], { cwd });
    assert.deepEqual([code, stdout], [2, '']);
    assert.match(stderr, /none: .*\n.*a\.txt/);
  });
});
