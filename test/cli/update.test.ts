import assert from 'node:assert/strict';
import { copyFile, readFile, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Torrent } from '../../src/model/torrent/torrent.ts';
import { writeTree } from '../support/tree.ts';
import { metainfo, read, workFolder } from './run.ts';

describe('metainfo update', () => {
  it('reads files that are new or changed after the creation date, and lists them', async (t) => {
    const cwd = await workFolder(t);
    const file = (...names: string[]) => path.join(cwd, 'album', ...names);
    // Creation dates have whole seconds.
    await sleep(1100);
    await metainfo(['create', 'album', '-o', 'album/album.torrent', '--date', 'now'], { cwd });
    const torrent = await Torrent.read(file('album.torrent'));
    const [first, second] = torrent.files.map((entry) => entry.path) as [string, string];
    await writeFile(file('new\u001b[31m'), 'new');
    await writeFile(file(first), 'changed');
    await rm(file(second));
    const args = ['update', 'album/album.torrent', 'album'];
    const dry = await metainfo([...args, '--dry-run', '--json'], { cwd });
    const { torrent: old, path: content, output, infohash, ...report } = JSON.parse(dry.stdout);
    const keys = ['files', 'totalSize', 'added', 'changed', 'removed', 'renamed', 'bytesRead', 'warnings'];
    assert.deepEqual(Object.keys(report), keys);
    assert.deepEqual(report.added, ['new\u001b[31m']);
    assert.deepEqual([report.changed, report.removed, report.renamed, report.bytesRead], [[first], [second], [], 10]);
    assert.equal((await Torrent.read(file('album.torrent'))).infohashV2, torrent.infohashV2);

    const { code, stdout, stderr } = await metainfo(args, { cwd });
    assert.deepEqual([code, stderr], [0, '']);
    assert.match(stdout, /^album\/album\.torrent: new infohash\ninfohash v1 {2}[0-9a-f]{40}\ninfohash v2 {2}/);
    assert.ok(!stdout.includes('\u001b['), 'control characters are escaped');
    assert.match(stdout, /\nread 10 B of [^\n]+\n$/);
    const now = await Torrent.read(file('album.torrent'));
    assert.deepEqual([now.infohashV1, now.infohashV2], [infohash.v1, infohash.v2]);
    assert.deepEqual([old, content, output], ['album/album.torrent', 'album', null]);
    assert.deepEqual((await metainfo(['verify', 'album/album.torrent', 'album'], { cwd })).code, 0);
    assert.match((await metainfo(args, { cwd })).stdout, /^album\/album\.torrent: no changes\n/);
    const again = await metainfo([...args, '--since', '@0', '--json', '-o', 'other.torrent'], { cwd });
    const { bytesRead, output: other } = JSON.parse(again.stdout);
    assert.deepEqual([bytesRead, other], [now.totalSize, 'other.torrent']);
    assert.deepEqual(await readFile(path.join(cwd, 'other.torrent')), await readFile(file('album.torrent')));
    assert.equal((await metainfo([...args, '-o', 'other.torrent'], { cwd })).code, 1);
    assert.equal((await metainfo([...args, '--quiet'], { cwd })).stdout, '');
  });
});

describe('metainfo update --date', () => {
  it('now makes the next update read only what changed since this one', async (t) => {
    const cwd = await workFolder(t);
    const update = async (...more: string[]) => {
      // Creation dates have whole seconds.
      await sleep(1100);
      const { code, stdout } = await metainfo(['update', 'album.torrent', 'album', ...more], { cwd });
      assert.equal(code, 0);
      return stdout;
    };
    await sleep(1100);
    await metainfo(['create', 'album', '--date', 'now', '-q'], { cwd });
    await sleep(1100);
    await writeFile(path.join(cwd, 'album/new'), 'new');
    assert.match(await update('--date', 'now'), /: new infohash\n[\s\S]*\nread 3 B of /);
    const { creationDate, infohashV2 } = await read(cwd, 'album.torrent');
    assert.match(await update(), /: no changes\n[\s\S]*\nread 0 B of /);
    assert.match(await update('--date', 'now'), /: no changes, new date\n[\s\S]*\nread 0 B of /);
    const last = await read(cwd, 'album.torrent');
    assert.equal(last.infohashV2, infohashV2);
    assert.ok(Number(last.creationDate) > Number(creationDate));
    assert.match(await update('--date', '@1000000000'), /: no changes, new date\n/);
    // An old date proves less.
    assert.doesNotMatch(await update(), /\nread 0 B of /);
  });
});

describe('metainfo update --compat --date', () => {
  it('dates a torrent that only the compat profile accepts', async (t) => {
    const cwd = await workFolder(t);
    await metainfo(['create', 'album', '-k', 'v2', '--name', 'xx', '-q'], { cwd });
    const file = path.join(cwd, 'xx.torrent');
    const bytes = await readFile(file);
    bytes[bytes.indexOf('2:xx') + 2] = 0xff;
    await writeFile(file, bytes);
    const { code, stderr } = await metainfo(['update', '--compat', 'xx.torrent', 'album', '--date', '@9'], { cwd });
    assert.equal(code, 0, stderr);
    assert.equal(Number((await Torrent.read(file, { context: { profile: 'compat' } })).creationDate), 9000);
  });
});

describe('metainfo update with a folder above the files', () => {
  it('accepts the folder of a single file', async (t) => {
    const cwd = await workFolder(t);
    await writeFile(path.join(cwd, 'single'), 'content');
    await metainfo(['create', 'single', '-q', '-o', 'a.torrent'], { cwd });
    const before = await readFile(path.join(cwd, 'a.torrent'));
    const { code, stdout } = await metainfo(['update', 'a.torrent', '.'], { cwd });
    assert.equal(code, 0);
    assert.match(stdout, /^a\.torrent: no changes\n/);
    assert.deepEqual(await readFile(path.join(cwd, 'a.torrent')), before);
  });
});

/** Makes the album one file that is long enough for the cache. */
async function largeAlbum(cwd: string): Promise<void> {
  await rm(path.join(cwd, 'album'), { recursive: true });
  await writeTree(cwd, { 'album/film': 2 * 2 ** 20 });
}

describe('--cache-dir', () => {
  it('can be inside the content without becoming part of the torrent', async (t) => {
    const cwd = await workFolder(t);
    await largeAlbum(cwd);
    const create = (...args: string[]) => metainfo(['create', 'album', '--json', '--force', ...args], { cwd });
    const { infohash } = JSON.parse((await create()).stdout);
    for (let i = 0; i < 2; i += 1) {
      const { stdout } = await create('--cache-dir', 'album/cache');
      assert.deepEqual(JSON.parse(stdout).infohash, infohash);
    }
    const { stdout } = await metainfo(['update', 'album.torrent', 'album', '--cache-dir', 'album/cache', '--json'], {
      cwd,
    });
    assert.deepEqual(JSON.parse(stdout).added, []);
    assert.equal((await create('--cache-dir', '')).code, 2);
  });
});

describe('metainfo update without a creation date', () => {
  it('reads every file, even if the torrent file is newer, because it may be a copy', async (t) => {
    const cwd = await workFolder(t);
    const file = path.join(cwd, 'album', 'same');
    await writeFile(file, 'before');
    await metainfo(['create', 'album', '-q'], { cwd });
    await writeFile(file, 'after!');
    await sleep(50);
    await copyFile(path.join(cwd, 'album.torrent'), path.join(cwd, 'copy.torrent'));
    const { stdout } = await metainfo(['update', 'copy.torrent', 'album', '--json'], { cwd });
    const { changed, bytesRead, totalSize } = JSON.parse(stdout);
    assert.deepEqual(changed, ['same']);
    assert.equal(bytesRead, totalSize);
    assert.equal((await metainfo(['verify', 'copy.torrent', 'album'], { cwd })).code, 0);
  });

  it('does not read the files that the cache knows', async (t) => {
    const cwd = await workFolder(t);
    await largeAlbum(cwd);
    const cache = ['--cache-dir', 'cache'];
    await sleep(50);
    await metainfo(['create', 'album', '-q', ...cache], { cwd });
    await writeFile(path.join(cwd, 'album', 'new'), 'new');
    const { stdout } = await metainfo(['update', 'album.torrent', 'album', '--json', ...cache], { cwd });
    assert.equal(JSON.parse(stdout).bytesRead, 3);
  });
});

describe('metainfo update with a time in the future', () => {
  /** An album whose torrent has this creation date, and a file of it that changed since. */
  async function changedAlbum(t: TestContext, date: Date): Promise<string> {
    const cwd = await workFolder(t);
    const file = path.join(cwd, 'album', 'same');
    await writeFile(file, 'before');
    await metainfo(['create', 'album', '-q', '--date', date.toISOString()], { cwd });
    await writeFile(file, 'after!');
    return cwd;
  }
  const hour = 3_600_000;
  const ahead = () => new Date(Date.now() + hour);

  it('reads every file, and says why', async (t) => {
    const cwd = await changedAlbum(t, ahead());
    const torrent = path.join(cwd, 'album.torrent');
    for (const mtime of [ahead(), new Date()]) {
      await utimes(torrent, mtime, mtime);
      const { stdout } = await metainfo(['update', 'album.torrent', 'album', '--json', '--dry-run'], { cwd });
      const { changed, bytesRead, totalSize, warnings } = JSON.parse(stdout);
      assert.deepEqual([changed, bytesRead], [['same'], totalSize]);
      assert.deepEqual(
        warnings.map(({ code }: { code: string }) => code),
        ['future_date'],
      );
    }
    const { code, stdout, stderr } = await metainfo(['update', 'album.torrent', 'album'], { cwd });
    assert.equal(code, 0);
    assert.match(stderr, /^warning: The creation date \S+Z is in the future.*--since.* \[future_date\]\n$/);
    assert.match(stdout, /^album\.torrent: new infohash\n/);
    assert.equal((await metainfo(['verify', 'album.torrent', 'album'], { cwd })).code, 0);
  });

  it('believes an earlier creation date, and no --since in the future', async (t) => {
    const cwd = await changedAlbum(t, new Date(Date.now() - hour));
    await utimes(path.join(cwd, 'album.torrent'), ahead(), ahead());
    const update = async (...args: string[]) => {
      const { stdout } = await metainfo(['update', 'album.torrent', 'album', '--json', '--dry-run', ...args], { cwd });
      return JSON.parse(stdout);
    };
    assert.deepEqual((await update()).warnings, []);
    const { changed, bytesRead, totalSize, warnings } = await update('--since', ahead().toISOString());
    assert.deepEqual([changed, bytesRead, warnings.length], [['same'], totalSize, 1]);
    assert.match(warnings[0].message, /^--since \S+Z is in the future/);
  });
});

describe('metainfo upgrade', () => {
  it('reports a missing output folder before reading any file', async (t) => {
    const cwd = await workFolder(t);
    await metainfo(['create', 'album', '-k', 'v1'], { cwd });
    const { files } = await Torrent.read(path.join(cwd, 'album.torrent'));
    // Reading the files would report this one instead.
    await rm(path.join(cwd, 'album', files[0]?.path ?? ''));
    const output = ['-o', 'none/up.torrent'];
    const { code, stdout } = await metainfo(['upgrade', 'album.torrent', 'album', '--json', ...output], { cwd });
    const folder = path.join(cwd, 'none');
    const error = { code: 'ERR_NOT_FOUND', message: `${folder}: no such file or folder.`, path: folder };
    assert.deepEqual([code, JSON.parse(stdout).error], [1, error]);
  });

  it('replaces the v1 torrent only with --force, because the hybrid has another swarm', async (t) => {
    const cwd = await workFolder(t);
    await metainfo(['create', 'album', '-k', 'v1'], { cwd });
    const before = await readFile(path.join(cwd, 'album.torrent'));
    for (const output of [[], ['-o', 'album.torrent'], ['-o', '.']]) {
      const { code, stderr } = await metainfo(['upgrade', 'album.torrent', 'album', ...output], { cwd });
      assert.deepEqual([code, /--force.*\[ERR_OUTPUT_EXISTS\]\n$/.test(stderr)], [1, true], stderr);
      assert.deepEqual(await readFile(path.join(cwd, 'album.torrent')), before);
    }
    assert.equal((await metainfo(['upgrade', 'album.torrent', 'album', '--force'], { cwd })).code, 0);
    assert.equal((await Torrent.read(path.join(cwd, 'album.torrent'))).torrentVersion, 'hybrid');
  });

  it('makes the same hybrid as create', async (t) => {
    const cwd = await workFolder(t);
    await metainfo(['create', 'album', '-o', 'hybrid.torrent'], { cwd });
    await metainfo(['create', 'album', '-k', 'v1'], { cwd });
    const { code, stdout } = await metainfo(['upgrade', 'album.torrent', 'album', '-o', 'up.torrent'], { cwd });
    assert.equal(code, 0);
    assert.match(stdout, /^up\.torrent: hybrid; all pieces are correct; read /);
    const hybrid = await readFile(path.join(cwd, 'hybrid.torrent'));
    assert.deepEqual(await readFile(path.join(cwd, 'up.torrent')), hybrid);
    const { files } = await Torrent.read(path.join(cwd, 'album.torrent'));
    await writeFile(path.join(cwd, 'album', files[0]?.path ?? ''), 'a different size');
    const bad = await metainfo(['upgrade', 'album.torrent', 'album', '--json', '--force'], { cwd });
    assert.equal(bad.code, 1);
    assert.equal(JSON.parse(bad.stdout).error.code, 'ERR_HASH_MISMATCH');
    assert.equal((await Torrent.read(path.join(cwd, 'album.torrent'))).torrentVersion, 'v1');
  });
});

describe('metainfo create --cache', () => {
  it('reads nothing the second time, and cache stats and clear work', async (t) => {
    const cwd = await workFolder(t);
    await largeAlbum(cwd);
    const env = { XDG_CACHE_HOME: path.join(cwd, 'cache') };
    const create = async (...args: string[]) =>
      JSON.parse((await metainfo(['create', 'album', '--force', '--json', ...args], { cwd, env })).stdout);
    const { bytesRead, totalSize } = await create();
    assert.equal(bytesRead, undefined);
    const [first, second] = [await create('--cache'), await create('--cache')];
    assert.deepEqual([first.bytesRead, second.bytesRead], [totalSize, 0]);
    assert.deepEqual(first.infohash, second.infohash);
    assert.equal((await create('--cache-dir', 'elsewhere')).bytesRead, totalSize);
    const shown = await metainfo(['create', 'album', '--force', '--cache'], { cwd, env });
    assert.match(shown.stdout, /\nread 0 B of 2 MiB; the cache provided the rest\n$/);
    const stats = JSON.parse((await metainfo(['cache', 'stats', '--json'], { cwd, env })).stdout);
    assert.equal(stats.folder, path.join(cwd, 'cache', 'metainfo'));
    assert.ok(stats.entries > 0 && stats.bytes > 0);
    assert.match((await metainfo(['cache', 'clear'], { cwd, env })).stdout, /metainfo: cleared\n$/);
    assert.match((await metainfo(['cache', 'stats'], { cwd, env })).stdout, /metainfo: 0 records, 0 B\n$/);
    assert.match((await metainfo(['cache', 'stats', '--cache-dir', 'elsewhere'], { cwd, env })).stdout, /records/);
  });

  it('takes the policies of create for links', async (t) => {
    const cwd = await workFolder(t);
    await writeFile(path.join(cwd, 'album/target'), 'some text');
    await symlink('target', path.join(cwd, 'album/link'));
    const create = await metainfo(['create', 'album', '--symlinks', 'skip'], { cwd });
    assert.equal(create.code, 0, create.stderr);
    const args = ['update', 'album.torrent', 'album', '--json'];
    const update = async (...more: string[]) => JSON.parse((await metainfo([...args, ...more], { cwd })).stdout);
    assert.equal((await update('--symlinks', 'error')).error.code, 'ERR_LINK');
    assert.deepEqual((await update('--symlinks', 'skip')).added, []);
    assert.deepEqual((await update('--symlinks', 'store')).added, ['link']);
    // Without the option, because the torrent has a stored link now.
    const { added, changed } = await update();
    assert.deepEqual([added, changed], [[], []]);
    assert.deepEqual((await update('--symlinks', 'follow')).changed, ['link']);
  });
});
