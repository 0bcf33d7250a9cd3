import assert from 'node:assert/strict';
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, it } from 'node:test';
import { decode } from '../../src/bencode/decode.ts';
import { isPadFile } from '../../src/layout/padding.ts';
import { bytesOf, entries, metainfo, read, workFolder } from './run.ts';

/** Creates album.torrent, and returns its decoded dictionary. */
async function created(cwd: string, ...args: string[]): Promise<Map<string, unknown>> {
  const { code, stderr } = await metainfo(['create', 'album', '-q', '--force', '-o', 'album.torrent', ...args], {
    cwd,
  });
  assert.equal(code, 0, stderr);
  return decode(await bytesOf(cwd, 'album.torrent')).value as Map<string, unknown>;
}

const text = (value: unknown) => Buffer.from(value as Uint8Array).toString();

describe('options of metainfo create', () => {
  it('sets HTTP seeds, DHT nodes, the update URL and other keys', async (t) => {
    const cwd = await workFolder(t);
    const args = ['--httpseed', 'http://h.example/seed', '--node', 'a.example:6881', '--node', '[::1]:1'];
    const torrent = await created(
      cwd,
      ...args,
      ...['--update-url', 'http://u.example/new', '--set', 'publisher=me=you', '--set', 'info.x=é', '--set', 'empty='],
    );
    const info = torrent.get('info') as Map<string, unknown>;
    assert.deepEqual((torrent.get('httpseeds') as Uint8Array[]).map(text), ['http://h.example/seed']);
    assert.deepEqual(
      (torrent.get('nodes') as [Uint8Array, number][]).map(([host, port]) => [text(host), Number(port)]),
      [
        ['a.example', 6881],
        ['::1', 1],
      ],
    );
    assert.equal(text(info.get('update-url')), 'http://u.example/new');
    assert.deepEqual(
      [text(torrent.get('publisher')), text(torrent.get('empty')), text(info.get('x'))],
      ['me=you', '', 'é'],
    );
  });

  it('writes no keys for empty texts, also of a configuration and of a job', async (t) => {
    const cwd = await workFolder(t);
    const bare = await created(cwd, '--no-created-by');
    const options = ['comment', 'source', 'created-by', 'collection'];
    assert.deepEqual(await created(cwd, ...options.map((option) => `--${option}=`)), bare);
    const full = options.map((option) => `${option} = "x"\n`).join('');
    const none = options.map((option) => `${option} = ""\n`).join('');
    await writeFile(path.join(cwd, 'c.toml'), `[create]\n${full}[presets.none]\n${none}private = false\n`);
    assert.deepEqual(await created(cwd, '--config', 'c.toml', '--preset', 'none'), bare);
    assert.equal(text((await created(cwd, '--config', 'c.toml')).get('comment')), 'x');
    const job = { path: 'album', private: false, ...Object.fromEntries(options.map((option) => [option, ''])) };
    await writeFile(path.join(cwd, 'jobs'), JSON.stringify({ ...job, output: 'job.torrent' }));
    const { code, stderr } = await metainfo(['create', '--batch', 'jobs'], { cwd });
    assert.equal(code, 0, stderr);
    assert.deepEqual(decode(await bytesOf(cwd, 'job.torrent')).value, bare);
    // In --set, the text is the value.
    assert.equal(text((await created(cwd, '--set', 'publisher=')).get('publisher')), '');
  });

  it('refuses keys that other options set, or that describe the content', async (t) => {
    const cwd = await workFolder(t);
    for (const key of [
      'comment=x',
      'info=x',
      'info.name=x',
      'info.pieces=x',
      'info.private=1',
      'announce=x',
      '=x',
      'x',
      'info.=x',
    ]) {
      const { code, stderr } = await metainfo(['create', 'album', '--set', key], { cwd });
      assert.equal(code, 2, `${key}: ${stderr}`);
      assert.match(stderr, /--set/);
    }
    assert.deepEqual(await entries(cwd), ['album']);
  });

  it('gives the same content another infohash with --entropy', async (t) => {
    const cwd = await workFolder(t);
    const hashes = new Set<string | null>();
    for (const args of [[], ['--entropy'], ['--entropy']]) {
      const torrent = await created(cwd, ...args);
      const entropy = (torrent.get('info') as Map<string, unknown>).get('entropy');
      assert.equal(entropy === undefined ? null : text(entropy).length, args.length === 0 ? null : 32);
      hashes.add((await read(cwd, 'album.torrent')).infohashV2);
    }
    assert.equal(hashes.size, 3);
    const { code } = await metainfo(['verify', 'album.torrent', 'album'], { cwd });
    assert.equal(code, 0);
  });

  it('adds pad files to a v1 torrent with --padding', async (t) => {
    const cwd = await workFolder(t);
    for (const [args, pads] of [
      [[], 0],
      [['--padding'], 2],
    ] as const) {
      await created(cwd, '-k', 'v1', ...args);
      const { info } = await read(cwd, 'album.torrent');
      assert.equal(('files' in info ? (info.files ?? []) : []).filter(isPadFile).length, pads);
    }
  });

  it('has short options, and joins -a and -t in their order', async (t) => {
    const cwd = await workFolder(t);
    const trackers = [
      '-a',
      'udp://a.example/1',
      '-t',
      'udp://b.example/2,udp://c.example/3',
      '--announce',
      'udp://d.example/4',
    ];
    await created(cwd, '-p', '-c', 'my comment', '-s', 'SITE', ...trackers);
    const torrent = await read(cwd, 'album.torrent');
    assert.deepEqual([torrent.info.private, torrent.comment, torrent.info.source], [true, 'my comment', 'SITE']);
    assert.deepEqual(torrent.announceList, [
      ['udp://a.example/1'],
      ['udp://b.example/2', 'udp://c.example/3'],
      ['udp://d.example/4'],
    ]);
  });
});

describe('the magnet link of metainfo create', () => {
  const LINK = /^magnet:\?xt=urn:btih:[0-9a-f]{40}&xt=urn:btmh:1220[0-9a-f]{64}&dn=album/;

  it('is printed with --magnet: last, alone with --quiet, and in the JSON', async (t) => {
    const cwd = await workFolder(t);
    const full = await metainfo(['create', 'album', '--magnet', '-o', 'a.torrent'], { cwd });
    const link = full.stdout.trimEnd().split('\n').at(-1) ?? '';
    assert.match(link, LINK);
    assert.equal(link, (await metainfo(['magnet', 'a.torrent'], { cwd })).stdout.trimEnd());
    const quiet = await metainfo(['create', 'album', '--magnet', '-q', '-o', 'b.torrent'], { cwd });
    assert.equal(quiet.stdout, `${link}\n`);
    const json = await metainfo(['create', 'album', '--magnet', '--json', '-o', 'c.torrent'], { cwd });
    assert.equal(JSON.parse(json.stdout).magnet, link);
  });

  it('never replaces content, the torrent or anything but a file', async (t) => {
    const cwd = await workFolder(t);
    await mkdir(path.join(cwd, 'folder'));
    await symlink('.', path.join(cwd, 'here'));
    const cases: [file: string, code: number, error: RegExp][] = [
      ['album/a.txt', 1, /a\.txt is one of the torrent's files.*ERR_OUTPUT_IS_INPUT/],
      ['-', 2, /--link-file needs the name of a file/],
      ['here/album.torrent', 2, /cannot hold both/],
      ['folder', 1, /is a folder and cannot be replaced.*ERR_NOT_A_FILE/],
      ['/dev/null', 1, /ERR_NOT_A_FILE/],
    ];
    const content = await bytesOf(cwd, 'album/a.txt');
    for (const [file, code, error] of cases) {
      const result = await metainfo(['create', 'album', '--force', '--link-file', file], { cwd });
      assert.equal(result.code, code, file);
      assert.match(result.stderr, error);
      const planned = await metainfo(['plan', 'album', '--force', '--link-file', file], { cwd });
      assert.equal(planned.code, code, file);
    }
    assert.deepEqual(await bytesOf(cwd, 'album/a.txt'), content);
    assert.deepEqual(await entries(cwd), ['album', 'folder', 'here']);
  });

  it('is never part of the torrent', async (t) => {
    const cwd = await workFolder(t);
    const args = ['create', 'album', '--force', '--link-file', 'album/link.txt', '--json'];
    const [first, second] = [await metainfo(args, { cwd }), await metainfo(args, { cwd })];
    assert.equal(second.code, 0, second.stderr);
    assert.deepEqual(JSON.parse(second.stdout).infohash, JSON.parse(first.stdout).infohash);
    const named = await metainfo(['create', 'album/link.txt', '--force', '--link-file', 'album/link.txt'], { cwd });
    assert.equal(named.code, 1);
    assert.match(named.stderr, /is one of the torrent's files.*ERR_OUTPUT_IS_INPUT/);
  });

  it('is written with --link-file', async (t) => {
    const cwd = await workFolder(t);
    const { code, stdout } = await metainfo(['create', 'album', '--link-file', 'link.txt'], { cwd });
    assert.equal(code, 0);
    assert.doesNotMatch(stdout, /magnet:/);
    assert.match(await readFile(path.join(cwd, 'link.txt'), 'utf8'), LINK);
  });

  it('never replaces a file without --force, and is checked before anything is hashed', async (t) => {
    const cwd = await workFolder(t);
    await writeFile(path.join(cwd, 'link.txt'), 'x');
    for (const file of ['link.txt', 'no/link.txt', 'album.torrent']) {
      const result = await metainfo(['create', 'album', '-o', 'album.torrent', '--link-file', file], { cwd });
      assert.notEqual(result.code, 0);
      assert.match(result.stderr, new RegExp(`${file === 'no/link.txt' ? 'no' : file}`));
    }
    assert.deepEqual(await entries(cwd), ['album', 'link.txt']);
    const forced = await metainfo(['create', 'album', '--force', '--link-file', 'link.txt'], { cwd });
    assert.equal(forced.code, 0);
    assert.match(await readFile(path.join(cwd, 'link.txt'), 'utf8'), LINK);
  });
});
