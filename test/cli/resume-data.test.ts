import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, it } from 'node:test';
import { decode } from '../../src/bencode/decode.ts';
import { encode } from '../../src/bencode/encode.ts';
import type { BencodeMap, Encodable } from '../../src/bencode/value.ts';
import { sparseFile } from '../support/tree.ts';
import { bytesOf, entries, finish, metainfo, read, start, workFolder } from './run.ts';

const HASHES = /^[0-9a-fA-F]{40}\.(torrent|fastresume)$/;

/** Makes `album.torrent` of `album`, and an empty folder `out`. */
async function prepared(t: Parameters<typeof workFolder>[0], ...args: string[]): Promise<string> {
  const cwd = await workFolder(t);
  const { code, stderr } = await metainfo(['create', 'album', '-q', ...args], { cwd });
  assert.equal(code, 0, stderr);
  await mkdir(path.join(cwd, 'out'));
  return cwd;
}

const fieldsIn = async (cwd: string, name: string) => decode(await bytesOf(cwd, name)).value as BencodeMap;

describe('metainfo verify --resume-data', () => {
  it('writes files named by an infohash, and says so', async (t) => {
    const cwd = await prepared(t);
    const id = (await read(cwd, 'album.torrent')).infohashV2?.slice(0, 40) as string;
    const { code, stdout } = await metainfo(['verify', 'album.torrent', '--resume-data', 'qbittorrent', '-o', 'out'], {
      cwd,
    });
    assert.equal(code, 0);
    assert.match(stdout, new RegExp(`\\nout/${id}.torrent: resume data for qbittorrent\\nout/${id}.fastresume: `));
    assert.deepEqual(await entries(path.join(cwd, 'out')), [`${id}.fastresume`, `${id}.torrent`]);
    assert.deepEqual(await bytesOf(cwd, `out/${id}.torrent`), await bytesOf(cwd, 'album.torrent'));

    const json = ['verify', '../album.torrent', '../album', '--resume-data', 'libtorrent', '--json', '--force'];
    const { resumeFiles } = JSON.parse((await metainfo(json, { cwd: path.join(cwd, 'out') })).stdout);
    assert.deepEqual(resumeFiles, [`${id}.fastresume`]);
    const quiet = ['verify', 'album.torrent', '--resume-data', 'rtorrent', '-o', 'out/x', '-q'];
    assert.deepEqual(await metainfo(quiet, { cwd }), { code: 0, signal: null, stdout: '', stderr: '' });
    assert.equal((await read(cwd, 'out/x')).infohashV1, (await read(cwd, 'album.torrent')).infohashV1);
  });

  it('writes the path that the client sees in its container, for each of many torrents', async (t) => {
    const cwd = await prepared(t);
    await metainfo(['create', 'album/a.txt', '-q'], { cwd });
    const args = ['verify', '--resume-data', 'qbittorrent', '-o', 'out', '--save-path', '/downloads'];
    assert.equal((await metainfo([...args, 'album.torrent'], { cwd })).code, 0);
    assert.equal((await metainfo([...args, '--content', 'album', 'a.txt.torrent', '--force'], { cwd })).code, 0);
    const made = (await entries(path.join(cwd, 'out'))).filter((name) => name.endsWith('.fastresume'));
    assert.equal(made.length, 2);
    for (const name of made) {
      const fields = await fieldsIn(cwd, `out/${name}`);
      for (const key of ['save_path', 'qBt-savePath'])
        assert.equal(Buffer.from(fields.get(key) as Uint8Array).toString(), '/downloads');
    }
  });

  it('writes them for incomplete content too, and exits with 1', async (t) => {
    const cwd = await prepared(t, '-k', 'v1');
    await rm(path.join(cwd, 'album', 'a.txt'));
    await writeFile(path.join(cwd, 'album', 'b', 'c.nfo'), 'other');
    const args = ['verify', 'album.torrent', '--resume-data', 'libtorrent', '-o', 'out/x.fastresume'];
    assert.equal((await metainfo(args, { cwd })).code, 1);
    const pieces = (await fieldsIn(cwd, 'out/x.fastresume')).get('pieces') as Uint8Array;
    assert.deepEqual(Buffer.from(pieces), Buffer.alloc((await read(cwd, 'album.torrent')).nPieces));
  });

  it('makes the empty files that a client needs, if all else is there', async (t) => {
    const cwd = await workFolder(t);
    await writeFile(path.join(cwd, 'album/empty'), '');
    await metainfo(['create', 'album', '-q'], { cwd });
    const args = ['verify', 'album.torrent', '--resume-data', 'libtorrent', '--force'];
    for (const json of [false, true]) {
      await rm(path.join(cwd, 'album/empty'));
      const { code, stdout } = await metainfo([...args, ...(json ? ['--json'] : [])], { cwd });
      assert.equal(code, 0);
      if (json) assert.deepEqual(JSON.parse(stdout).made, ['empty']);
      else assert.match(stdout, /^made the empty file empty, which libtorrent needs$/m);
      assert.deepEqual(await bytesOf(cwd, 'album/empty'), Buffer.alloc(0));
    }
    await rm(path.join(cwd, 'album/empty'));
    await writeFile(path.join(cwd, 'album/a.txt'), 'other');
    await metainfo(args, { cwd });
    assert.ok(!(await entries(path.join(cwd, 'album'))).includes('empty'));
  });

  it('accepts a torrent from standard input', async (t) => {
    const cwd = await prepared(t);
    const child = start(['verify', '/dev/stdin', 'album', '--resume-data', 'libtorrent', '-o', 'out'], { cwd });
    assert.notEqual((await finish(child)).code, 0);
    const script = `'${process.execPath}' "$0" verify - album --resume-data libtorrent -o out < album.torrent`;
    const { spawn } = await import('node:child_process');
    const { MAIN } = await import('./run.ts');
    const piped = spawn('sh', ['-c', script, MAIN], { cwd, stdio: 'ignore' });
    assert.deepEqual(await once(piped, 'exit'), [0, null]);
    assert.equal((await entries(path.join(cwd, 'out'))).length, 1);
  });

  it('writes those of many torrents into one folder', async (t) => {
    const cwd = await prepared(t, '-k', 'v1');
    await metainfo(['create', 'album/a.txt', '-q', '-k', 'v2', '-o', 'a.torrent'], { cwd });
    await metainfo(['create', 'album/b', '-q', '-k', 'v1', '-o', 'b.torrent'], { cwd });
    await metainfo(['create', 'album/b/c.nfo', '-q', '-k', 'v1', '-o', 'absent.torrent'], { cwd });
    await rename(path.join(cwd, 'album', 'b'), path.join(cwd, 'b'));
    await rename(path.join(cwd, 'album', 'a.txt'), path.join(cwd, 'a.txt'));
    await writeFile(path.join(cwd, 'b', 'c.nfo'), 'wrong');
    const torrents = ['a.torrent', 'b.torrent', 'absent.torrent'];
    const args = ['--content', '.', ...torrents, '--resume-data', 'libtorrent', '-o', 'out'];
    const first = await metainfo(['verify', ...args], { cwd });
    assert.equal(first.code, 1);
    // The content of absent.torrent is missing, so there is nothing to say about it.
    assert.equal((await entries(path.join(cwd, 'out'))).length, 2);
    assert.equal(first.stdout.match(/fastresume: resume data for libtorrent/g)?.length, 2);
    const again = await metainfo(['verify', ...args, '--json'], { cwd });
    const events = again.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    assert.deepEqual(
      events.filter(({ event }) => event === 'failed').map(({ error }) => error.code),
      ['ERR_OUTPUT_EXISTS', 'ERR_OUTPUT_EXISTS'],
    );
    const forced = await metainfo(['verify', ...args, '--json', '--force'], { cwd });
    const files = forced.stdout
      .trim()
      .split('\n')
      .flatMap((line) => JSON.parse(line).resumeFiles ?? []);
    assert.deepEqual(files.map((file) => path.basename(file)).sort(), await entries(path.join(cwd, 'out')));
  });

  it('prints the report even if the resume data cannot be written', async (t) => {
    const cwd = await prepared(t);
    const id = (await read(cwd, 'album.torrent')).infohashV2?.slice(0, 40);
    await mkdir(path.join(cwd, 'out', `${id}.fastresume`));
    const args = ['verify', 'album.torrent', '--resume-data', 'libtorrent', '-o', 'out', '--force'];
    const { code, stdout, stderr } = await metainfo(args, { cwd });
    assert.equal(code, 1, stdout);
    assert.match(stdout, /album: complete/);
    assert.match(stderr, /ERR_/);
  });

  it('finds renamed files first, with --find', async (t) => {
    const cwd = await prepared(t);
    await rename(path.join(cwd, 'album', 'a.txt'), path.join(cwd, 'album', 'moved'));
    const find = ['--find', 'album', '--rename', '--resume-data', 'libtorrent', '-o', 'out/x'];
    const { code, stdout } = await metainfo(['verify', 'album.torrent', 'album', ...find], { cwd });
    assert.equal(code, 0, stdout);
    const pieces = (await fieldsIn(cwd, 'out/x')).get('pieces') as Uint8Array;
    assert.ok(pieces.every((piece) => piece === 1));
  });

  it('exits with 2 for wrong usage', async (t) => {
    const cwd = await prepared(t, '-k', 'v2');
    const wrong: [string[], RegExp][] = [
      [['-o', 'out'], /--output needs --resume-data/],
      [['--force'], /--force needs --resume-data/],
      [['--save-path', '/x'], /--save-path needs --resume-data/],
      [
        ['--resume-data', 'libtorrent', '--save-path', 'x'],
        /--save-path .*Expected an absolute path, such as \/downloads/,
      ],
      [['--resume-data', 'utorrent'], /Allowed choices are qbittorrent/],
      [['--resume-data', 'qbittorrent', '--fast'], /--fast/],
      [['--resume-data', 'qbittorrent', '-k', 'v2'], /--torrent-version/],
      [['--resume-data', 'rtorrent', '-o', 'out'], /rtorrent cannot read v2/],
      [['--resume-data', 'qbittorrent', '-o', 'out/file'], /out\/file must be a folder/],
      [['--resume-data', 'libtorrent', '-o', '-'], /standard output/],
      [['--resume-data', 'libtorrent', '--content', '.', '-o', 'out/file'], /out\/file must be a folder/],
    ];
    for (const [args, message] of wrong) {
      const { code, stderr } = await metainfo(['verify', 'album.torrent', ...args], { cwd });
      assert.equal(code, 2, `${args}: ${stderr}`);
      assert.match(stderr, message);
    }
    assert.deepEqual(await entries(path.join(cwd, 'out')), []);
  });

  it('refuses outputs before it reads content', async (t) => {
    const cwd = await prepared(t, '-k', 'v1');
    const id = (await read(cwd, 'album.torrent')).infohashV1 as string;
    await writeFile(path.join(cwd, 'out', `${id}.fastresume`), 'precious');
    // A verification would end with exit code 1 and a report.
    await rm(path.join(cwd, 'album', 'b'), { recursive: true });
    const cases: [string[], string][] = [
      [['qbittorrent', '-o', 'out'], 'ERR_OUTPUT_EXISTS'],
      [['libtorrent', '-o', 'out'], 'ERR_OUTPUT_EXISTS'],
      [['libtorrent', '-o', 'absent/x'], 'ERR_NOT_FOUND'],
      [['libtorrent', '-o', 'absent/'], 'ERR_NOT_FOUND'],
      [['libtorrent', '-o', 'album/a.txt', '--force'], 'ERR_OUTPUT_IS_INPUT'],
    ];
    for (const [args, expected] of cases) {
      const { code, stdout } = await metainfo(['verify', 'album.torrent', '--json', '--resume-data', ...args], { cwd });
      assert.deepEqual([code, JSON.parse(stdout).error?.code], [1, expected], args.join(' '));
    }
    assert.equal(await readFile(path.join(cwd, 'out', `${id}.fastresume`), 'utf8'), 'precious');
    assert.deepEqual(await entries(path.join(cwd, 'out')), [`${id}.fastresume`]);
    assert.equal((await bytesOf(cwd, 'album/a.txt')).length, 20_000);
  });

  it('leaves nothing behind if one of two files cannot be written', async (t) => {
    const cwd = await prepared(t, '-k', 'v1');
    const id = (await read(cwd, 'album.torrent')).infohashV1 as string;
    await mkdir(path.join(cwd, 'out', `${id}.fastresume`));
    const args = ['verify', 'album.torrent', '--resume-data', 'qbittorrent', '-o', 'out', '--force'];
    const { code, stderr } = await metainfo(args, { cwd });
    assert.equal(code, 1);
    assert.match(stderr, /ERR_/);
    assert.deepEqual(await entries(path.join(cwd, 'out')), [`${id}.fastresume`]);
  });

  it('writes nothing when it is cancelled', async (t) => {
    const cwd = await workFolder(t);
    await mkdir(path.join(cwd, 'out'));
    const length = 16 * 2 ** 30;
    await sparseFile(cwd, 'huge', length);
    const info = { name: 'huge', length, 'piece length': 2 ** 20, pieces: Buffer.alloc((length / 2 ** 20) * 20) };
    await writeFile(path.join(cwd, 'x.torrent'), encode(new Map([['info', new Map(Object.entries(info))]])));
    const child = start(['verify', 'x.torrent', '--resume-data', 'qbittorrent', '-o', 'out'], { cwd });
    const result = finish(child);
    // The progress bar appears when hashing has begun.
    child.stderr.once('data', () => setTimeout(() => child.kill('SIGINT'), 200));
    assert.equal((await result).code, 130);
    assert.deepEqual(await entries(path.join(cwd, 'out')), []);
  });

  it('takes nothing of a hostile torrent into file names', async (t) => {
    const cwd = await workFolder(t);
    await mkdir(path.join(cwd, 'out'));
    for (const name of ['../../escape', '/etc/passwd', 'a\nb']) {
      const info = { name, length: 5, 'piece length': 16_384, pieces: Buffer.alloc(20) };
      const fields = new Map<string, Encodable>([['info', new Map(Object.entries(info))]]);
      await writeFile(path.join(cwd, 'x.torrent'), encode(fields));
      for (const client of ['qbittorrent', 'libtorrent', 'rtorrent']) {
        const args = ['verify', 'x.torrent', 'album/b/c.nfo', '--compat', '--force', '--resume-data', client];
        await metainfo([...args, '-o', 'out'], { cwd });
      }
    }
    const names = await entries(path.join(cwd, 'out'));
    assert.ok(names.length >= 6 && names.every((name) => HASHES.test(name)), names.join());
  });

  it('keeps what qBittorrent knows about the torrent, with --force', async (t) => {
    const cwd = await prepared(t, '-k', 'v1');
    const name = `out/${(await read(cwd, 'album.torrent')).infohashV1}.fastresume`;
    const verify = (...args: string[]) =>
      metainfo(['verify', 'album.torrent', '--resume-data', 'qbittorrent', '-o', 'out', ...args], { cwd });
    assert.equal((await verify()).code, 0);
    const fields = new Map<string, Encodable>(await fieldsIn(cwd, name));
    const known = new Map<string, Encodable>([
      ['qBt-category', 'music'],
      ['qBt-tags', ['a']],
      ['total_uploaded', 12_345],
      ['added_time', 1_000_000],
      ['paused', 1],
      ['trackers', [['http://mine.example/']]],
      ['file_priority', [1, 0]],
    ]);
    for (const [key, value] of known) fields.set(key, value);
    const stale = new Map<string, Encodable>([
      ['pieces', Buffer.from([0, 0])],
      ['save_path', '/elsewhere'],
      ['qBt-savePath', '/elsewhere'],
      [
        'unfinished',
        [
          new Map<string, Encodable>([
            ['piece', 0],
            ['bitmask', 'x'],
          ]),
        ],
      ],
    ]);
    for (const [key, value] of stale) fields.set(key, value);
    await writeFile(path.join(cwd, name), encode(fields));
    assert.equal((await verify('--force')).code, 0);
    const after = await fieldsIn(cwd, name);
    for (const [key, value] of known) assert.deepEqual(encode(after.get(key) as Encodable), encode(value), key);
    assert.equal(Buffer.from(after.get('save_path') as Uint8Array).toString(), cwd);
    assert.equal(Buffer.from(after.get('qBt-savePath') as Uint8Array).toString(), cwd);
    assert.ok((after.get('pieces') as Uint8Array).every((piece) => piece === 1));
    assert.equal(after.has('unfinished'), false);

    // Neither broken data nor that of another torrent is kept.
    for (const other of ['broken', encode(new Map<string, Encodable>([...fields, ['info-hash', Buffer.alloc(20)]]))]) {
      await writeFile(path.join(cwd, name), other);
      assert.equal((await verify('--force')).code, 0);
      assert.equal((await fieldsIn(cwd, name)).get('total_uploaded'), 0);
    }
  });

  it('refuses a session folder in which rtorrent has newer resume data of its own', async (t) => {
    const cwd = await prepared(t, '-k', 'v1');
    const name = `${(await read(cwd, 'album.torrent')).infohashV1?.toUpperCase()}.torrent`;
    await writeFile(path.join(cwd, 'out', `${name}.libtorrent_resume`), 'de');
    const args = ['verify', 'album.torrent', '--resume-data', 'rtorrent', '-o', 'out', '--force'];
    const { code, stderr } = await metainfo(args, { cwd });
    assert.equal(code, 1);
    assert.match(stderr, /libtorrent_resume exists[^\n]*rtorrent would read it instead[^\n]*ERR_OUTPUT_EXISTS/);
    assert.deepEqual(await entries(path.join(cwd, 'out')), [`${name}.libtorrent_resume`]);
  });

  it('replaces the target of a link only with --force', async (t) => {
    const cwd = await prepared(t);
    await symlink('nowhere', path.join(cwd, 'out', 'link'));
    const args = ['verify', 'album.torrent', '--resume-data', 'libtorrent', '-o', 'out/link'];
    assert.match((await metainfo(args, { cwd })).stderr, /ERR_OUTPUT_EXISTS/);
  });
});
