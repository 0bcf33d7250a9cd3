import assert from 'node:assert/strict';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { noise } from '../hash/reference.ts';
import { writeTree } from '../support/tree.ts';
import { bytesOf, metainfo, workFolder } from './run.ts';

const PIECE = 16_384;

/** A folder with an album of two long files and a short one. */
async function longAlbum(t: TestContext): Promise<string> {
  const cwd = await workFolder(t);
  await rm(path.join(cwd, 'album'), { recursive: true });
  await writeTree(cwd, { 'album/a': noise(50 * PIECE), 'album/b': noise(10 * PIECE + 1, 2), 'album/c': 'short' });
  await mkdir(path.join(cwd, 'BT'));
  return cwd;
}

const SIZED = ['-l', '16KiB', '--no-config'];

describe('create --reuse', () => {
  it('makes the same torrent from the torrents of a folder, and says what it took', async (t) => {
    const cwd = await longAlbum(t);
    const run = (...args: string[]) => metainfo([...args, ...SIZED], { cwd });
    for (const version of ['v1', 'v2', 'hybrid']) {
      assert.equal((await run('create', 'album', '-k', version, '-o', `BT/${version}.torrent`, '-q')).code, 0);
    }
    await writeTree(path.join(cwd, 'BT'), { 'bad.torrent': 'no torrent', 'x.fastresume': 'not one either' });
    for (const [version, files] of [
      ['v1', 3],
      ['v2', 2],
      ['hybrid', 2],
    ] as const) {
      const args = ['create', 'album', '-k', version, '--reuse', 'BT', '--force'];
      const { code, stdout, stderr } = await run(...args);
      assert.deepEqual([code, stderr], [0, '']);
      const from = `from 3 torrents; skipped 1 invalid torrent`;
      assert.ok(stdout.includes(`\nreused the hashes of ${files} files (`), stdout);
      assert.ok(stdout.includes(`) ${from}\nread `), stdout);
      assert.match(stdout, /\nread [^\n]+; other torrents provided the rest\n/);
      assert.deepEqual(await bytesOf(cwd, 'album.torrent'), await bytesOf(cwd, `BT/${version}.torrent`));
      const { reuse, bytesRead } = JSON.parse((await run(...args, '--json')).stdout);
      assert.deepEqual([reuse.torrents, reuse.skipped, reuse.files, reuse.different], [3, 1, files, []]);
      assert.equal(reuse.bytesRead, bytesRead);
      // Three pieces of each long file, of which one has a single byte, and the short file.
      assert.equal(bytesRead, 5 * PIECE + 6);
      assert.equal((await run(...args, '-q')).stdout, '');
      const plan = await run('plan', 'album', '-k', version, '--reuse', 'BT');
      assert.match(
        plan.stdout,
        new RegExp(`\nreuse {10}${files} files, [^\n]+, by size and name, of 3 torrents; skipped 1 invalid torrent`),
      );
      const dry = await run('create', 'album', '-k', version, '--reuse', 'BT', '--dry-run', '--json');
      assert.equal(JSON.parse(dry.stdout).reuse.files, files);
    }
    assert.equal(JSON.parse((await run('plan', 'album', '--json')).stdout).reuse, null);
  });

  it('names the files that differ, hashes them, and compares all with --reuse-verify', async (t) => {
    const cwd = await longAlbum(t);
    const run = (...args: string[]) => metainfo([...args, ...SIZED], { cwd });
    await run('create', 'album', '-k', 'v2', '-o', 'old.torrent', '-q');
    await rename(path.join(cwd, 'album', 'b'), path.join(cwd, 'album', 'b\u001b[31m'));
    await run('create', 'album', '-k', 'v2', '-o', 'old.torrent', '-q', '--force');
    await writeFile(path.join(cwd, 'album', 'b\u001b[31m'), noise(10 * PIECE + 1, 3));
    const args = ['create', 'album', '-k', 'v2', '--reuse', 'old.torrent', '--force'];
    const { code, stdout } = await run(...args);
    assert.equal(code, 0);
    assert.match(
      stdout,
      /\nreused the hashes of 1 file \(800 KiB\) from 1 torrent\ndifferent from the torrents: b[^\n]+\n/,
    );
    assert.ok(!stdout.includes('\u001b['), 'control characters are escaped');
    const reused = await bytesOf(cwd, 'album.torrent');
    const verified = await run(...args, '--reuse-verify');
    assert.match(
      verified.stdout,
      /\nthe hashes of 2 files \([^\n]+\) agree with those of 1 torrent\ndifferent from the torrents: b/,
    );
    assert.ok(!verified.stdout.includes('the rest'), verified.stdout);
    assert.deepEqual(await bytesOf(cwd, 'album.torrent'), reused);
    await run('create', 'album', '-k', 'v2', '-q', '--force');
    assert.deepEqual(await bytesOf(cwd, 'album.torrent'), reused);
    const { reuse } = JSON.parse((await run(...args, '--reuse-verify', '--json')).stdout);
    assert.deepEqual([reuse.files, reuse.different.length], [2, 1]);
  });

  it('tells which version and piece length a torrent has, if none fits', async (t) => {
    const cwd = await longAlbum(t);
    const run = (...args: string[]) => metainfo([...args, '--no-config', '--force'], { cwd });
    await run('create', 'album', '-k', 'v1', '-l', '32KiB', '-o', 'old.torrent', '-q');
    for (const args of [
      ['-k', 'hybrid', '-l', '32KiB'],
      ['-k', 'v1', '-l', '16KiB'],
    ]) {
      const { stdout, stderr } = await run('create', 'album', '--reuse', 'old.torrent', ...args);
      assert.equal(stderr, 'hint: --reuse can take hashes with -k v1 -l 32KiB\n');
      assert.match(stdout, /\nfound no hashes to reuse in 1 torrent\n/);
      assert.equal((await run('create', 'album', '--reuse', 'old.torrent', ...args, '-q')).stderr, '');
      assert.match(
        (await run('plan', 'album', '--reuse', 'old.torrent', ...args)).stdout,
        /; usable with -k v1 -l 32KiB\n/,
      );
    }
    const fits = await run('create', 'album', '--reuse', 'old.torrent', '-k', 'v1', '-l', '32KiB');
    assert.deepEqual([fits.stderr, /reused the hashes of 3 files/.test(fits.stdout)], ['', true]);
  });

  it('refuses torrents that cannot be read, and options that cannot use it', async (t) => {
    const cwd = await longAlbum(t);
    await writeTree(cwd, { 'no.torrent': 'no' });
    const run = (...args: string[]) => metainfo([...args, '--no-config'], { cwd });
    const failed = await run('create', 'album', '--reuse', 'gone', '--reuse', 'no.torrent');
    assert.deepEqual([failed.code, failed.stdout], [1, '']);
    assert.match(failed.stderr, /^error: Some torrents to reuse cannot be read: gone: no such file[^\n]+; no\.torrent/);
    assert.equal((await run('plan', 'album', '--reuse', 'gone')).code, 1);
    const usage: [string[], RegExp][] = [
      [['create', 'album', '--reuse', ''], /Expected a torrent or a folder of torrents/],
      [['create', 'album', '--reuse-verify'], /--reuse-verify needs --reuse/],
      [['create', '-', '--name', 'x', '--reuse', 'BT'], /--reuse works only with files on disk/],
      [['create', 'https://127.0.0.1:1/x', '--reuse', 'BT'], /--reuse works only with files on disk/],
      [['plan', 'album', '--part-size', 'auto', '--reuse', 'BT'], /--reuse does not work with --part-size/],
      [
        ['create', 'album', '--queue', 'redis://127.0.0.1:1', '--root', 'x=.', '--store', 's', '--reuse', 'BT'],
        /--reuse does not work with --queue/,
      ],
    ];
    for (const [args, message] of usage) {
      const { code, stderr } = await run(...args);
      assert.deepEqual([code, message.test(stderr)], [2, true], stderr);
    }
  });

  it('works with --each, --batch, the cache and a configuration file', async (t) => {
    const cwd = await longAlbum(t);
    const run = (...args: string[]) => metainfo([...args, '-l', '16KiB', '-k', 'v2'], { cwd });
    await run('create', 'album', '-o', 'BT/old.torrent', '-q', '--no-config');
    await writeTree(cwd, { 'lib/album/a': noise(50 * PIECE), 'lib/other/x': 'x' });
    await mkdir(path.join(cwd, 'out'));
    const args = ['create', '--each', 'lib', '--reuse', 'BT', '-o', 'out', '--json', '--no-config', '--jobs', '1'];
    const lines = (await run(...args)).stdout.trim().split('\n');
    const reports = lines.map((line) => JSON.parse(line).reuse?.files);
    assert.deepEqual(
      reports.filter((files) => files !== undefined),
      [1, 0],
    );
    await writeFile(path.join(cwd, 'lib/other/b'), noise(10 * PIECE + 1, 3));
    const told = await run(...args.filter((arg) => arg !== '--json'), '--force');
    assert.match(told.stdout, /: v2, [^\n]+\ndifferent from the torrents: b\n/);
    assert.match(told.stdout, /\n2 torrents made: [^\n]+; reused the hashes of 1 file \(800 KiB\)\n$/);
    const absent = await run('create', '--each', 'lib', '--reuse', 'no', '-o', 'none');
    assert.deepEqual([absent.code, absent.stderr.match(/ERR_NOT_FOUND/g)?.length], [1, 1]);
    const job = JSON.stringify({ path: 'album', output: 'x.torrent', reuse: ['BT/old.torrent'] });
    await writeFile(path.join(cwd, 'jobs.ndjson'), job);
    const batch = await run('create', '--batch', 'jobs.ndjson', '--json', '--no-config');
    assert.match(batch.stdout, /"reuse":\{"torrents":1,"skipped":0,"files":2,/);
    assert.deepEqual(await bytesOf(cwd, 'x.torrent'), await bytesOf(cwd, 'BT/old.torrent'));
    await writeTree(cwd, { 'etc/metainfo.toml': '[create]\nreuse = ["../BT/old.torrent"]\n' });
    const configured = await run('create', 'album', '--config', 'etc/metainfo.toml', '--json');
    assert.equal(JSON.parse(configured.stdout).reuse.files, 2);
    const cache = ['--cache-dir', 'cache', '--reuse', 'BT/old.torrent', '--force', '--no-config'];
    assert.match((await run('create', 'album', ...cache)).stdout, /; the cache and other torrents provided the rest\n/);
  });
});
