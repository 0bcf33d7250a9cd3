import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, it } from 'node:test';
import { noise } from '../hash/reference.ts';
import { webServer } from '../support/web-server.ts';
import { metainfo, metainfoProcess, read, workFolder } from './run.ts';

const SECRET = 'S3CRET';
const URLS = [
  `https://u:${SECRET}@127.0.0.1:9/f.torrent`,
  `https:/u:${SECRET}@127.0.0.1:99999/f.torrent`,
  `https://u:${SECRET}/x@127.0.0.1:9/f.torrent`,
  `https://127.0.0.1:9/f?X-Amz-Signature=${SECRET}`,
];

describe('secrets in URLs', () => {
  it('are in no message and no JSON of a command that refuses the URL', async (t) => {
    const cwd = await workFolder(t);
    const commands = [
      ['show'],
      ['validate'],
      ['verify', 'album.torrent'],
      ['edit', '--comment', 'x'],
      ['magnet'],
      ['plan'],
      ['create', '--each'],
      ['create', 'album', '-l'],
    ];
    await metainfo(['create', 'album'], { cwd });
    for (const command of commands)
      for (const [i, url] of URLS.entries()) {
        const { code, stdout, stderr } = await metainfo([...command, url, ...(i % 2 ? ['--json'] : [])], { cwd });
        assert.notEqual(code, 0, `${command} ${url}`);
        assert.ok(!(stdout + stderr).includes(SECRET), stdout + stderr);
      }
    const { stderr } = await metainfo(['show', URLS[3] as string], { cwd });
    assert.match(stderr, /curl -L 'https:\/\/127\.0\.0\.1:9\/f\?X-Amz-Signature=\*\*\*' \| metainfo show -/);
  });

  it('do not become a webseed with the URL of a creation, and are a finding among webseeds', async (t) => {
    const cwd = await workFolder(t);
    const web = await webServer(t, noise(100_000));
    const url = `${web.url()}?X-Amz-Signature=${SECRET}`;
    const { code, stdout, stderr } = await metainfo(['create', url, '--json', '-w', 'https://w.example/x'], { cwd });
    assert.deepEqual([code, (stdout + stderr).includes(SECRET)], [0, false], stderr);
    assert.deepEqual(
      JSON.parse(stdout).warnings.map((one: { code: string }) => one.code),
      ['web_credentials'],
    );
    assert.deepEqual((await read(cwd, 'film.mkv.torrent')).urlList, ['https://w.example/x']);
    assert.match((await metainfo(['create', url, '--strict', '--force'], { cwd })).stderr, /--allow web_credentials/);
    const webseed = ['-w', `https://u:${SECRET}@w.example/`];
    const found = await metainfo(['create', 'album', ...webseed], { cwd });
    assert.match(found.stderr, /warning: The URL of the webseed w\.example has a password.* \[webseed_secret\]/);
    assert.ok(!found.stderr.includes(SECRET));
    const hidden = await metainfo(['create', 'album', ...webseed, '-p', '-t', 'https://t.example/x', '--force'], {
      cwd,
    });
    assert.doesNotMatch(hidden.stderr, /webseed_secret/);
    const edited = await metainfo(['edit', 'album.torrent', '--no-private'], { cwd });
    assert.match(edited.stderr + edited.stdout, /webseed_secret/);
  });
});

describe('torrents in the content', () => {
  it('are left out at the top with a hint, and reported elsewhere, by plan and create', async (t) => {
    const cwd = await workFolder(t);
    await mkdir(path.join(cwd, 'set/sub'), { recursive: true });
    for (const name of ['set/a', 'set/b.torrent', 'set/sub/c.torrent']) await writeFile(path.join(cwd, name), name);
    for (const METAINFO_ENGINE of ['native', 'node']) {
      const env = { METAINFO_ENGINE };
      const create = (...args: string[]) =>
        metainfoProcess(['create', 'set', '-k', 'v1', '--force', ...args], { cwd, env });
      const files = async () => (await read(cwd, 'set.torrent')).files.map((file) => file.path);
      const plan = await metainfoProcess(['plan', 'set', '-k', 'v1', '--json', '--force'], { cwd, env });
      const found = JSON.parse(plan.stdout).findings as { code: string; severity: string; path: string }[];
      assert.deepEqual(
        found.map(({ code, severity, path: at }) => [code, severity, at]),
        [
          ['torrent_files', 'warning', 'sub/c.torrent'],
          ['torrent_files', 'hint', 'b.torrent'],
        ],
      );
      const { stderr } = await create();
      assert.match(stderr, /warning: sub\/c\.torrent is named like a torrent.*\n.*\nhint: 1 entry .*: b\.torrent\./);
      assert.deepEqual(await files(), ['a', 'sub/c.torrent']);
      const quiet = await create('-q');
      assert.match(quiet.stderr, /^warning: sub\/c\.torrent/);
      assert.doesNotMatch(quiet.stderr, /hint/);
      await create('--include', '*');
      assert.deepEqual(await files(), ['a', 'b.torrent', 'sub/c.torrent']);
    }
    const named = await metainfo(['create', 'set/b.torrent', '-o', 'x.torrent'], { cwd });
    assert.match(named.stderr, /warning: b\.torrent is named like a torrent/);
    assert.equal((await read(cwd, 'x.torrent')).name, 'b.torrent');
  });
});

describe('private torrents', () => {
  it('get a warning with their magnet links', async (t) => {
    const cwd = await workFolder(t);
    const args = ['create', 'album', '-p', '-t', 'https://t.example/x', '--force'];
    assert.match((await metainfo([...args, '--magnet'], { cwd })).stderr, /\[private_magnet\]/);
    assert.match(
      (await metainfo([...args, '--link-file', 'link', '--strict'], { cwd })).stderr,
      /--allow private_magnet/,
    );
    assert.doesNotMatch((await metainfo(args, { cwd })).stderr, /private_magnet/);
    const link = await metainfo(['magnet', 'album.torrent'], { cwd });
    assert.match(link.stderr, /^warning: The torrent is private, but its magnet link .*\[private_magnet\]\n$/);
    const json = await metainfo(['magnet', 'album.torrent', '--json'], { cwd });
    assert.equal(JSON.parse(json.stdout).warnings[0].code, 'private_magnet');
    assert.equal(json.stderr, '');
  });

  it('cannot be made with --set, and a key of info beside it is an issue', async (t) => {
    const cwd = await workFolder(t);
    for (const [key, advice] of [
      ['private:=1', /use --private/],
      ['source=x', /use --source/],
      ['piece length:=1', /piece length/],
    ] as const) {
      const created = await metainfo(['create', 'album', '--set', key], { cwd });
      assert.deepEqual([created.code, advice.test(created.stderr)], [2, true], created.stderr);
    }
    await metainfo(['create', 'album', '-k', 'v1'], { cwd });
    for (const [key, advice] of [
      ['private:=1', /beside info: use --private/],
      ['source=x', /beside info: use --source/],
      ['files:=1', /no effect beside info/],
    ] as const) {
      const { code, stderr } = await metainfo(['edit', 'album.torrent', '--set', key], { cwd });
      assert.deepEqual([code, advice.test(stderr)], [2, true], stderr);
    }
    const bytes = (await read(cwd, 'album.torrent')).bencode();
    const end = Buffer.from('7:privatei1e6:source1:xe');
    await writeFile(path.join(cwd, 'beside.torrent'), Buffer.concat([bytes.subarray(0, -1), end]));
    for (const args of [['validate'], ['validate', '--strict'], ['validate', '--json'], ['show'], ['show', '--json']]) {
      const { code, stdout } = await metainfo([...args, 'beside.torrent'], { cwd });
      assert.equal(code, 0);
      for (const key of ['private', 'source']) assert.ok(stdout.includes(`${key} has no effect beside info`), stdout);
    }
    const removed = await metainfo(['edit', 'beside.torrent', '--unset', 'private', '--unset', 'source'], { cwd });
    assert.equal(removed.code, 0, removed.stderr);
    assert.doesNotMatch((await metainfo(['validate', 'beside.torrent'], { cwd })).stdout, /misplaced/);
  });
});
