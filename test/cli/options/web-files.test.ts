import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdir, readFile, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { noise } from '../../hash/reference.ts';
import { folderServer, webServer } from '../../support/web-server.ts';
import { finish, metainfo, start, workFolder } from '../run.ts';

/** A folder with torrents of an album and of a film in all versions, and a mirror of it. */
async function mirrored(t: TestContext, version: string) {
  const cwd = await workFolder(t);
  await mkdir(path.join(cwd, 'web'));
  await writeFile(path.join(cwd, 'album/ä & #1'), noise(70_000));
  await writeFile(path.join(cwd, 'film.mkv'), noise(200_001));
  for (const name of ['album', 'film.mkv']) {
    await metainfo(['create', name, '-k', version, '-q', '-l', '16KiB'], { cwd });
    execFileSync('cp', ['-r', path.join(cwd, name), path.join(cwd, 'web')]);
  }
  const web = await folderServer(t, path.join(cwd, 'web'));
  const verify = async (...args: string[]) => {
    const { code, stdout, stderr } = await metainfo(['verify', ...args, '--json'], { cwd });
    assert.equal(stderr, '');
    return { code, ...JSON.parse(stdout) };
  };
  return { cwd, web, verify };
}

describe('metainfo verify with a URL', () => {
  for (const version of ['v1', 'v2', 'hybrid'])
    it(`checks a mirror as it checks a folder: ${version}`, async (t) => {
      const { cwd, web, verify } = await mirrored(t, version);
      for (const url of [web.url('/'), web.url(''), web.url('/album'), web.url('/album/')]) {
        const { code, ok, path: shown } = await verify('album.torrent', url);
        assert.deepEqual([code, ok, shown], [0, true, url], url);
      }
      for (const url of ['/', '/film.mkv']) assert.equal((await verify('film.mkv.torrent', web.url(url))).ok, true);

      const file = (name: string) => path.join(cwd, 'web/album', name);
      const [first, second] = (await verify('album.torrent')).files.map((one: { path: string }) => one.path);
      await rm(file(first));
      await truncate(file('ä & #1'), 20_000);
      await writeFile(file(second), 'other');
      const onDisk = await verify('album.torrent', 'web/album');
      const onWeb = await verify('album.torrent', web.url('/'));
      const without = ({ files, ...report }: { files: { mtimeMs?: number }[] }) => ({
        ...report,
        path: '',
        extraFiles: [],
        files: files.map(({ mtimeMs: _, ...one }) => one),
      });
      assert.deepEqual(without(onWeb), without(onDisk));
      assert.equal(onWeb.code, 1);
    });

  it('reads only the first and last pieces and a sample with --fast', async (t) => {
    const { web, verify } = await mirrored(t, 'v1');
    const { ok, sampledPieces } = await verify('film.mkv.torrent', web.url('/film.mkv'), '--fast');
    assert.deepEqual([ok, typeof sampledPieces], [true, 'number']);
  });

  it('counts pieces that a server fails to send as unread, and fails if it has none', async (t) => {
    const cwd = await workFolder(t);
    await metainfo(['create', 'album', '-q'], { cwd });
    const web = await webServer(t, Buffer.alloc(0), ({ request, response }) =>
      response.writeHead(request.url?.includes('notes') ? 404 : 403).end(),
    );
    const secret = web.url('/').replace('http://', 'http://me:hunter2@');
    const { code, stdout, stderr } = await metainfo(['verify', 'album.torrent', secret, '--json'], { cwd });
    const { error } = JSON.parse(stdout);
    assert.deepEqual([code, error?.code ?? JSON.parse(stdout).code, stderr], [1, 'ERR_HTTP', '']);
    assert.ok(!stdout.includes('hunter2'));
  });

  it('names the cause if a server of the folder itself has the files, but no ranges', async (t) => {
    const cwd = await workFolder(t);
    await metainfo(['create', 'album', '-q'], { cwd });
    const web = await webServer(t, Buffer.from('all'), ({ request, response }) => {
      const isThere = !request.url?.startsWith('/album/');
      response.writeHead(isThere ? 200 : 404, { 'content-length': 3 }).end(isThere ? 'all' : '404');
    });
    const { code, stderr } = await metainfo(['verify', 'album.torrent', web.url('/')], { cwd });
    assert.equal(code, 1);
    assert.match(stderr, /does not support range requests/);
  });

  it('takes symlinks as they are, and finds the files of a server that refuses what it lacks', async (t) => {
    const cwd = await workFolder(t);
    await symlink('b', path.join(cwd, 'album/link'));
    await metainfo(['create', 'album', '-q', '--symlinks', 'store'], { cwd });
    const web = await folderServer(t, path.join(cwd, 'album'), 403);
    const { code, stdout } = await metainfo(['verify', 'album.torrent', web.url('/')], { cwd });
    assert.deepEqual([code, stdout.split(';')[0]], [0, 'album: complete']);
    assert.ok(!web.requests.some(({ url }) => url?.includes('link')));
    const args = ['plan', 'album', '--symlinks', 'store', '-o', 'x', '--strict', '--check-webseeds'];
    const { stdout: planned } = await metainfo([...args, '-w', web.url('/'), '-w', 'ftp://h.example/'], { cwd });
    assert.match(planned, /warning|error/);
    assert.doesNotMatch(planned, /link/);
    assert.match(planned, /ftp[\s\S]*\[webseed_url\]/);
  });

  it('ends if a pipe that has no writer is not needed', async (t) => {
    const cwd = await workFolder(t);
    await metainfo(['create', 'album/a.txt', '-q'], { cwd });
    execFileSync('mkfifo', [path.join(cwd, 'pipe')]);
    const { code } = await finish(start(['verify', 'a.txt.torrent', 'pipe', '--files', 'none'], { cwd }));
    assert.notEqual(code, 0);
  });

  it('refuses what needs a disk, in one line', async (t) => {
    const cwd = await workFolder(t);
    await metainfo(['create', 'album', '-q'], { cwd });
    for (const option of ['--cache', '--find=.', '--resume-data=qbittorrent']) {
      const { code, stderr } = await metainfo(
        ['verify', 'album.torrent', 'http://127.0.0.1:1/', option, '-o', '.'].slice(
          0,
          option.startsWith('--resume') ? 6 : 4,
        ),
        { cwd },
      );
      assert.equal(code, 2, stderr);
      assert.match(
        stderr,
        /^error: [^\n]*works only with files on disk: omit it[^\n]*\[ERR_INVALID_ARGUMENT\]\n$/,
        option,
      );
    }
  });
});

describe('metainfo verify of a pipe', () => {
  it('reads a single file, from standard input or a named pipe', async (t) => {
    const { cwd } = await mirrored(t, 'hybrid');
    for (const [name, code] of [
      ['film.mkv', 0],
      ['album.torrent', 1],
    ] as const) {
      const input = await readFile(path.join(cwd, name));
      const result = await metainfo(['verify', 'film.mkv.torrent', '-'], { cwd, input });
      assert.equal(result.code, code, result.stdout + result.stderr);
    }
    execFileSync('mkfifo', [path.join(cwd, 'pipe')]);
    const child = start(['verify', 'film.mkv.torrent', 'pipe'], { cwd });
    execFileSync('sh', ['-c', 'cat film.mkv > pipe'], { cwd });
    const { code, stdout, stderr } = await finish(child);
    assert.deepEqual([code, stdout, stderr], [0, 'film.mkv: complete; 100 % of 195 KiB in 1 file\n', '']);
  });

  it('refuses a pipe for several files, and standard input for both', async (t) => {
    const cwd = await workFolder(t);
    await metainfo(['create', 'album', '-q'], { cwd });
    const many = await metainfo(['verify', 'album.torrent', '-'], { cwd });
    assert.equal(many.code, 2);
    assert.match(many.stderr, /^error: standard input is a single file, but the torrent has \d+ files: /);
    const both = await metainfo(['verify', '-', '-'], { cwd });
    assert.equal(both.code, 2);
    assert.match(both.stderr, /^error: Standard input can be read only once/);
  });
});

describe('metainfo plan --check-webseeds', () => {
  it('finds files that a webseed lacks, has in another size, or does not send in ranges', async (t) => {
    const { cwd, web } = await mirrored(t, 'hybrid');
    const plan = async (...args: string[]) => {
      const { code, stdout } = await metainfo(['plan', ...args, '-o', 'new.torrent', '--check-webseeds', '--json'], {
        cwd,
      });
      const { findings } = JSON.parse(stdout) as { findings: { code: string; message: string }[] };
      return { code, messages: findings.filter((one) => one.code === 'webseed_url').map(({ message }) => message) };
    };
    assert.deepEqual(await plan('album', '-w', web.url('/')), { code: 0, messages: [] });
    assert.deepEqual(await plan('film.mkv', '-w', web.url('/film.mkv')), { code: 0, messages: [] });
    await rm(path.join(cwd, 'web/album/ä & #1'));
    await truncate(path.join(cwd, 'web/film.mkv'), 9);
    const missing = await plan('album', '-w', web.url('/'), '--strict');
    assert.equal(missing.code, 1);
    assert.deepEqual(missing.messages, [
      `${web.url('/album/')}%C3%A4%20%26%20%231: the server answers with status 404: check the URL.`,
    ]);
    const short = await plan('film.mkv', '-w', web.url('/'));
    assert.deepEqual(short.messages, [`${web.url('/film.mkv')}: it has 9 bytes, not 200001.`]);
    const plain = await webServer(t, noise(200_001), ({ answer }) => answer({ status: 200 }));
    const [message = ''] = (await plan('film.mkv', '-w', plain.url())).messages;
    assert.match(message, /does not support range requests/);
    const none = await metainfo(['plan', 'film.mkv', '--check-webseeds'], { cwd });
    assert.equal(none.code, 2);
    assert.match(none.stderr, /--check-webseeds needs a webseed/);
  });
});
