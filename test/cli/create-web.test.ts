import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, it } from 'node:test';
import { noise } from '../hash/reference.ts';
import { webServer } from '../support/web-server.ts';
import { bytesOf, entries, finish, metainfo, metainfoUnread, read, start, workFolder } from './run.ts';

const MIB = 2 ** 20;

describe('metainfo create URL', () => {
  for (const version of ['v1', 'v2', 'hybrid'] as const)
    it(`writes the torrent of the same file on disk, with the URL as its first webseed: ${version}`, async (t) => {
      const cwd = await workFolder(t);
      const content = noise(9 * MIB + 12_345);
      const web = await webServer(t, content);
      await writeFile(path.join(cwd, 'my film.mkv'), content);
      const url = web.url('/films/my%20film.mkv');
      const others = ['-w', 'https://b.example/x', '-k', version, '-t', 'udp://a.example:1/x'];
      const { code, stdout, stderr } = await metainfo(['create', url, ...others], { cwd });
      assert.equal(code, 0, stderr);
      assert.match(stdout, new RegExp(`^my film\\.mkv\\.torrent: ${version}, 1 file, 9\\.01 MiB`));
      const made = await bytesOf(cwd, 'my film.mkv.torrent');
      await metainfo(['create', 'my film.mkv', '-w', url, ...others, '--force'], { cwd });
      assert.ok(made.equals(await bytesOf(cwd, 'my film.mkv.torrent')));
      assert.deepEqual((await read(cwd, 'my film.mkv.torrent')).urlList, [url, 'https://b.example/x']);
    });

  it('--name and --json work; the JSON has the URL and the ETag', async (t) => {
    const cwd = await workFolder(t);
    const web = await webServer(t, noise(100_000));
    const { code, stdout } = await metainfo(['create', web.url(), '--name', 'other.mkv', '--json'], { cwd });
    assert.equal(code, 0);
    const json = JSON.parse(stdout);
    assert.deepEqual(
      [json.torrent, json.path, json.name, json.url, json.etag, json.lastModified, json.totalSize, json.warnings],
      ['other.mkv.torrent', web.url(), 'other.mkv', web.url(), '"one"', web.object.lastModified, 100_000, []],
    );
    const torrent = await read(cwd, 'other.mkv.torrent');
    assert.deepEqual([torrent.urlList, torrent.files.map((file) => file.path)], [[web.url()], ['other.mkv']]);
  });

  it('tells that the torrent was written if only its --link-file fails', async (t) => {
    const cwd = await workFolder(t);
    // The file for the link appears after it was checked, and before it is written.
    const web = await webServer(t, noise(100_000), async ({ answer }) => {
      await writeFile(path.join(cwd, 'link'), 'other');
      answer();
    });
    const { code, stderr } = await metainfo(['create', web.url(), '--link-file', 'link', '-q'], { cwd });
    assert.equal(code, 1);
    assert.match(
      stderr,
      /^error: film\.mkv\.torrent was written, but its magnet link was not: output file exists: link; metainfo magnet film\.mkv\.torrent prints the link\. \[ERR_OUTPUT_EXISTS\]\n$/,
    );
    assert.equal((await read(cwd, 'film.mkv.torrent')).name, 'film.mkv');
    assert.equal(String(await bytesOf(cwd, 'link')), 'other');
  });

  it('follows redirects, and keeps the given URL as the webseed', async (t) => {
    const cwd = await workFolder(t);
    const web = await webServer(t, noise(100_000), ({ request, response, answer }) =>
      request.url === '/latest.iso'
        ? response.writeHead(302, { location: '/signed/v1.iso?key=secret' }).end()
        : answer(),
    );
    const { code, stdout } = await metainfo(['create', web.url('/latest.iso'), '--json'], { cwd });
    assert.equal(code, 0);
    assert.doesNotMatch(stdout, /secret/);
    assert.deepEqual((await read(cwd, 'latest.iso.torrent')).urlList, [web.url('/latest.iso')]);
  });

  it('credentials reach the server, but no output and no torrent', async (t) => {
    const cwd = await workFolder(t);
    const web = await webServer(t, noise(100_000), ({ request, answer }) =>
      answer(request.headers.authorization ? {} : { status: 401 }),
    );
    const url = web.url().replace('//', '//me:secret@');
    for (const args of [
      ['create', url, '--json'],
      ['create', url, '--force'],
      ['plan', url],
      ['create', `${url}/`],
      ['create', url],
    ]) {
      const { stdout, stderr } = await metainfo(args, { cwd });
      assert.doesNotMatch(stdout + stderr, /secret/, args.join(' '));
    }
    const { stderr } = await metainfo(['create', url, '--force'], { cwd });
    assert.match(stderr, /^warning: .*: the webseed lacks the credentials of the given URL\. \[web_credentials\]\n/);
    assert.doesNotMatch(String(await bytesOf(cwd, 'film.mkv.torrent')), /secret|me:/);
    const without = await metainfo(['create', web.url(), '--force'], { cwd });
    assert.equal(without.code, 1);
    assert.match(without.stderr, /answers with status 401: it may need credentials/);
  });

  it('warns without a strong ETag; --strict stops before anything is read', async (t) => {
    const cwd = await workFolder(t);
    const web = await webServer(t, noise(100_000));
    web.object = { ...web.object, etag: 'W/"one"' };
    const warned = await metainfo(['create', web.url(), '-q'], { cwd });
    assert.equal(warned.code, 0);
    assert.match(warned.stderr, /^warning: .*: the server sends no strong ETag, .* \[web_validator\]\n/);
    web.object = { ...web.object, etag: null, lastModified: null };
    const strict = await metainfo(['create', web.url(), '--strict', '-o', 'x.torrent'], { cwd });
    assert.equal(strict.code, 1);
    assert.match(strict.stderr, /neither a strong ETag nor Last-Modified/);
    assert.equal(
      (await metainfo(['create', web.url(), '--strict', '--allow', 'web_validator', '-o', 'x.torrent'], { cwd })).code,
      0,
    );
  });

  it('is planned with one request', async (t) => {
    const cwd = await workFolder(t);
    const web = await webServer(t, noise(100_000));
    const { code, stdout } = await metainfo(['plan', web.url(), '--json'], { cwd });
    assert.equal(code, 0);
    const { url, etag, totalSize, pieces, name } = JSON.parse(stdout);
    assert.deepEqual([url, etag, totalSize, pieces, name], [web.url(), '"one"', 100_000, 7, 'film.mkv']);
    assert.equal(web.requests.length, 1);
    assert.deepEqual(await entries(cwd), ['album']);
  });

  for (const [what, args, code, message] of [
    ['several URLs', ['https://a.example/x', 'https://b.example/y'], 2, /A URL must be the only input/],
    ['a URL beside a path', ['album', 'https://a.example/x'], 2, /A URL must be the only input/],
    ['another scheme', ['ftp://a.example/x'], 2, /only http: and https: are supported/],
    ['file:', ['file:///etc/passwd'], 2, /only http: and https: are supported/],
    ['a folder', ['https://a.example/x/'], 2, /ends with a slash/],
    ['a path without a name', ['https://a.example/?x=1'], 1, /does not end with a usable file name: add --name NAME/],
    ['a name with a slash', ['https://a.example/a%2Fb'], 1, /does not end with a usable file name/],
    ['--include', ['https://a.example/x', '--include', '*'], 2, /--include works only with files on disk/],
    ['a wrong field', ['https://a.example/x', '--similar', 'zz'], 2, /--similar/],
    ['a malformed URL', ['https://a.example:99999/x'], 2, /is not a URL/],
    ['a server that cannot be reached', ['http://127.0.0.1:1/x'], 1, /the connection failed/],
  ] as const)
    it(`refuses ${what}, and writes nothing`, async (t) => {
      const cwd = await workFolder(t);
      const result = await metainfo(['create', ...args], { cwd });
      assert.equal(result.code, code, result.stderr);
      assert.match(result.stderr, message);
      assert.deepEqual(await entries(cwd), ['album']);
    });

  it('reports a server without ranges and a replaced file, and writes nothing', async (t) => {
    const cwd = await workFolder(t);
    const whole = await webServer(t, noise(MIB), ({ answer }) => answer({ status: 200 }));
    const refused = await metainfo(['create', whole.url(), '--json'], { cwd });
    assert.equal(refused.code, 1);
    const { error } = JSON.parse(refused.stdout);
    assert.deepEqual([error.code, error.path], ['ERR_HTTP', whole.url()]);
    assert.match(
      error.message,
      /does not support range requests: download the file, create the torrent from the disk, and add the URL as a webseed/,
    );
    const changing = await webServer(t, noise(9 * MIB), ({ index, answer }) =>
      answer(index < 2 ? {} : { headers: { etag: '"two"' } }),
    );
    const replaced = await metainfo(['create', changing.url()], { cwd });
    assert.equal(replaced.code, 1);
    assert.match(replaced.stderr, /the file was replaced while it was read .* \[ERR_FILE_CHANGED\]\n$/);
    assert.deepEqual(await entries(cwd), ['album']);
  });

  it('asks the server only after the output has been checked', async (t) => {
    const cwd = await workFolder(t);
    const web = await webServer(t, noise(100));
    await writeFile(path.join(cwd, 'film.mkv.torrent'), 'x');
    assert.match(
      (await metainfo(['create', web.url(), '-o', 'film.mkv.torrent'], { cwd })).stderr,
      /output file exists/,
    );
    assert.equal(web.requests.length, 0);
  });

  it('is cancelled by Ctrl-C, in the first request and later, and leaves nothing', async (t) => {
    const cwd = await workFolder(t);
    for (const honest of [0, 1]) {
      const web = await webServer(t, noise(9 * MIB), ({ index, answer }) => {
        if (index < honest) answer();
        else if (index === honest) setTimeout(() => child.kill('SIGINT'), 100);
      });
      const child = start(['create', web.url()], { cwd });
      const { code, stderr } = await finish(child);
      assert.equal(code, 130, stderr);
      assert.match(stderr, /cancelled: nothing was written\n$/);
    }
    assert.deepEqual(await entries(cwd), ['album']);
  });

  it('fails if its standard output is closed', async (t) => {
    const cwd = await workFolder(t);
    const web = await webServer(t, noise(100_000));
    const { code, stderr } = await metainfoUnread(['create', web.url(), '-q', '-o', '-'], { cwd });
    assert.equal(code, 1);
    assert.match(stderr, /^error: standard output was closed before the whole torrent was written \[ERR_WRITE\]\n$/);
    assert.deepEqual(await entries(cwd), ['album']);
  });
});
