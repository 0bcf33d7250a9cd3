import assert from 'node:assert/strict';
import { copyFile, mkdir, readFile, readlink, rename, rm, stat, symlink, truncate, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { decode } from '../../src/bencode/decode.ts';
import type { BencodeMap } from '../../src/bencode/value.ts';
import { noise } from '../hash/reference.ts';
import { temporaryFolder, writeTree } from '../support/tree.ts';
import { bytesOf, entries, metainfo, workFolder } from './run.ts';

/** A torrent of an album with files in folders. */
async function album(t: TestContext, ...args: string[]): Promise<string> {
  const cwd = await workFolder(t);
  await writeTree(cwd, { 'album/cd 1/x.flac': 40_000, 'album/cd 1/log.txt': 3, 'album/[live].flac': 70_000 });
  const { code, stderr } = await metainfo(['create', 'album', '-q', ...args], { cwd });
  assert.equal(code, 0, stderr);
  return cwd;
}

describe('metainfo verify --files', () => {
  it('checks only matching files and folders, and says how many were not wanted', async (t) => {
    const cwd = await album(t);
    for (const name of ['a.txt', 'b/c.nfo']) await rm(path.join(cwd, 'album', name));
    const verify = (...args: string[]) => metainfo(['verify', 'album.torrent', 'album', ...args], { cwd });
    const flac = await verify('--files', '*.flac');
    assert.deepEqual([flac.code, flac.stdout], [0, 'album: complete; 100 % of 107 KiB in 2 files, 3 not wanted\n']);
    const cases: [string[], string[]][] = [
      [['cd 1'], ['cd 1/log.txt', 'cd 1/x.flac']],
      [['cd 1/'], ['cd 1/log.txt', 'cd 1/x.flac']],
      [['[live].flac'], ['[live].flac']],
      [
        ['\\[live\\].flac', 'cd*/*.txt'],
        ['[live].flac', 'cd 1/log.txt'],
      ],
      [['!*.{txt,nfo}'], ['[live].flac', 'cd 1/x.flac']],
      [['**'], ['[live].flac', 'a.txt', 'b/c.nfo', 'cd 1/log.txt', 'cd 1/x.flac']],
    ];
    for (const [globs, expected] of cases) {
      const { stdout } = await verify('--json', ...globs.flatMap((glob) => ['--files', glob]));
      const { files, unwantedFiles, extraFiles } = JSON.parse(stdout);
      const paths = (files as { path: string }[]).map((file) => file.path).sort();
      assert.deepEqual([paths, unwantedFiles, extraFiles], [expected, 5 - expected.length, []], globs.join());
    }
    const missing = await verify('--files', 'b', '--files', '*.flac');
    assert.equal(missing.code, 1);
    assert.match(
      missing.stdout,
      /^[░▒█·]+\nmissing {5}b\/c\.nfo \(0 % good\)\nalbum: 1 file incomplete, 1 bad piece; /,
    );
    assert.match(missing.stdout, /·/);
  });

  it('says which patterns match nothing, and rejects invalid ones', async (t) => {
    const cwd = await album(t);
    const args = ['verify', 'album.torrent', '--files', '*.flac', '--files', '*.mkv', '--files', 'cd 2/'];
    const { code, stderr } = await metainfo(args, { cwd });
    assert.equal(code, 2);
    assert.match(
      stderr,
      /--files matches no file of the torrent: "\*\.mkv", "cd 2\/"\. List them with metainfo show -v/,
    );
    assert.equal(JSON.parse((await metainfo([...args, '--json'], { cwd })).stdout).error.code, 'ERR_INVALID_ARGUMENT');
    assert.equal((await metainfo(['verify', 'album.torrent', '--files', ''], { cwd })).code, 2);
  });

  it('matches in any letter case with --ignore-case, which it hints at', async (t) => {
    const cwd = await album(t);
    const args = ['verify', 'album.torrent', '--files', '*.FLAC', '--files', 'CD 1/'];
    for (const more of [[], ['--content', '.']]) {
      const { code, stderr } = await metainfo([...args, ...more], { cwd });
      assert.equal(code, 2);
      assert.match(stderr, /: "\*\.FLAC", "CD 1\/"\. "\S+\.flac" matches in another letter case: add --ignore-case/);
    }
    const { code, stdout } = await metainfo([...args, '--ignore-case'], { cwd });
    assert.deepEqual([code, stdout.trimEnd().split(' in ')[1]], [0, '3 files, 2 not wanted']);
  });

  it('names the pieces of a v1 torrent that it cannot check', async (t) => {
    const cwd = await album(t, '-k', 'v1', '-l', '16KiB');
    await writeFile(path.join(cwd, 'album/a.txt'), 'other');
    const { code, stdout } = await metainfo(['verify', 'album.torrent', 'album', '--files', '*.flac'], { cwd });
    assert.equal(code, 0);
    assert.match(
      stdout,
      /^album: complete; .* in 2 files, 3 not wanted; \d pieces? shared with others, not checked\n$/,
    );
  });

  it('leaves files out of resume data that are not wanted', async (t) => {
    const cwd = await album(t);
    await rm(path.join(cwd, 'album/a.txt'));
    const priorities = async (client: string, ...more: string[]) => {
      const args = ['verify', 'album.torrent', '--resume-data', client, '-o', 'out', '--force', ...more];
      const { code, stderr } = await metainfo(args, { cwd });
      assert.equal(code, 0, stderr);
      const { value } = decode(await bytesOf(cwd, 'out'));
      await rm(path.join(cwd, 'out'));
      return value as BencodeMap;
    };
    const libtorrent = await priorities('libtorrent', '--files', '*.flac', '--files', 'b');
    // Pad files follow those that do not end a piece.
    const { files } = JSON.parse((await metainfo(['show', 'album.torrent', '--json'], { cwd })).stdout);
    const wanted = (files as { path: string }[]).flatMap((file) => [/flac|nfo/.test(file.path) ? 4 : 0, 0]);
    assert.deepEqual(libtorrent.get('file_priority'), wanted);
    assert.equal(libtorrent.get('completed_time'), 0);
    const rtorrent = await priorities('rtorrent', '--files', '*.flac');
    const rows = (rtorrent.get('libtorrent_resume') as BencodeMap).get('files') as BencodeMap[];
    const off = rows.filter((row) => row.get('priority') === 0).map((row) => row.get('mtime'));
    assert.deepEqual(off, [-2, -2, -2]);
    await writeTree(cwd, { 'album/a.txt': 20_000 });
    assert.equal((await priorities('libtorrent')).has('file_priority'), false);
  });

  it('finds only files that are wanted, at their own places', async (t) => {
    const cwd = await album(t, '-k', 'v2');
    await mkdir(path.join(cwd, 'other'));
    for (const name of ['a.txt', 'cd 1/x.flac'])
      await rename(path.join(cwd, 'album', name), path.join(cwd, 'other', path.basename(name, '.flac')));
    const args = ['verify', 'album.torrent', 'album', '--files', '*.flac', '--find', 'other', '--link', '--json'];
    const { placed, ok, moved } = JSON.parse((await metainfo(args, { cwd })).stdout);
    assert.deepEqual([ok, placed, moved.length], [true, ['cd 1/x.flac'], 1]);
    assert.deepEqual(await entries(path.join(cwd, 'album')), ['[live].flac', 'b', 'cd 1']);
  });

  it('never moves a file away from the place of one that is not wanted', async (t) => {
    const cwd = await temporaryFolder(t);
    for (const name of ['a', 'b']) await writeTree(cwd, { [`twins/${name}`]: noise(20_000) });
    await metainfo(['create', 'twins', '-q'], { cwd });
    await rm(path.join(cwd, 'twins/a'));
    const args = ['verify', 'twins.torrent', '--files', 'a', '--find', 'twins', '--json'];
    const renamed = JSON.parse((await metainfo([...args, '--rename'], { cwd })).stdout);
    assert.deepEqual([renamed.placed, renamed.failed.length], [[], 1]);
    assert.deepEqual(await entries(path.join(cwd, 'twins')), ['b']);
    assert.equal(JSON.parse((await metainfo([...args, '--link'], { cwd })).stdout).ok, true);
  });

  it('chooses in each of many torrents, and reports patterns that match in none', async (t) => {
    const cwd = await album(t);
    await writeTree(cwd, { 'film/x.mkv': 100 });
    await metainfo(['create', 'film', '-q'], { cwd });
    const args = ['verify', 'album.torrent', 'film.torrent', '--files', '*.flac'];
    const { code, stdout } = await metainfo(args, { cwd });
    assert.equal(code, 0);
    assert.match(
      stdout,
      /^album\.torrent: complete; .* in 2 files, 3 not wanted\n1 complete, 1 without wanted files: /,
    );
    const json = (await metainfo([...args, '--json'], { cwd })).stdout.trimEnd().split('\n');
    assert.equal(JSON.parse(json.at(-1) as string).unwanted, 1);
    const none = await metainfo([...args, '--files', '*.iso'], { cwd });
    assert.equal(none.code, 2);
    assert.match(none.stderr, /--files matches no file of the torrents?: "\*\.iso"/);
  });
});

describe('metainfo verify of unfinished files', () => {
  for (const ending of ['.part', '.!qB', '.!ut'])
    it(`finds NAME${ending} of a folder and of a single file`, async (t) => {
      const cwd = await workFolder(t);
      await metainfo(['create', 'album', '-q', '-l', '16KiB'], { cwd });
      await metainfo(['create', 'album/a.txt', '-q'], { cwd });
      const unfinished = path.join(cwd, `album/a.txt${ending}`);
      await rename(path.join(cwd, 'album/a.txt'), unfinished);
      const good = await metainfo(['verify', 'album.torrent'], { cwd });
      assert.match(good.stdout, new RegExp(`^complete    a\\.txt \\(100 % good, found as a\\.txt${ending}\\)\n`));
      assert.doesNotMatch(good.stdout, /extra/);
      await truncate(unfinished, 16_384);
      const part = await metainfo(['verify', 'album.torrent'], { cwd });
      assert.equal(part.code, 1);
      assert.match(part.stdout, new RegExp(`\nwrong-size {2}a\\.txt \\(81 % good, found as a\\.txt${ending}\\)\n`));
      for (const args of [[], ['album/a.txt']]) {
        const here = args.length === 0 ? path.join(cwd, 'album') : cwd;
        const single = await metainfo(['verify', path.join(cwd, 'a.txt.torrent'), ...args], { cwd: here });
        assert.equal(single.code, 1);
        assert.match(single.stderr, new RegExp(`^checking (album/)?a\\.txt${ending}`));
      }
      const many = await metainfo(['verify', '--content', 'album', 'a.txt.torrent'], { cwd });
      assert.match(many.stdout, new RegExp(`\na\\.txt\\.torrent \\(as a\\.txt${ending}\\): 1 file incomplete`));
    });
});

describe('metainfo verify --find --link', () => {
  /** An album whose only file `a.txt` is in the folder `other`. */
  async function moved(t: TestContext) {
    const cwd = await workFolder(t);
    await metainfo(['create', 'album', '-q'], { cwd });
    await mkdir(path.join(cwd, 'other'));
    await rename(path.join(cwd, 'album/a.txt'), path.join(cwd, 'other/x'));
    return { cwd, from: path.join(cwd, 'other/x'), to: path.join(cwd, 'album/a.txt') };
  }
  const FIND = ['verify', 'album.torrent', 'album', '--find', 'other'];

  it('takes no argument of another option as its mode', async (t) => {
    const { cwd, from, to } = await moved(t);
    const { code } = await metainfo(['verify', '--find', 'other', '--link', 'album.torrent', 'album'], { cwd });
    assert.deepEqual([code, (await stat(to)).ino], [0, (await stat(from)).ino]);
    const wrong = await metainfo([...FIND, '--link=soft'], { cwd });
    assert.equal(wrong.code, 2);
    assert.match(wrong.stderr, /Allowed choices are hard, symlink, reflink, copy/);
    assert.equal((await metainfo(['verify', 'album.torrent', '--link=copy'], { cwd })).code, 2);
  });

  it('makes hard links with --link=hard', async (t) => {
    const { cwd, from, to } = await moved(t);
    assert.equal((await metainfo([...FIND, '--link=hard'], { cwd })).code, 0);
    assert.equal((await stat(to)).ino, (await stat(from)).ino);
  });

  it('makes absolute symlinks that it verifies, also again', async (t) => {
    const { cwd, from, to } = await moved(t);
    const { code, stdout } = await metainfo([...FIND, '--link=symlink'], { cwd });
    assert.equal(code, 0, stdout);
    assert.match(stdout, /^linked from {2}\S+x → a\.txt$/m);
    assert.match(stdout, /\nTo verify symlinks that lead out of the folder, add --follow-outside\.\n$/);
    assert.equal(await readlink(to), from);
    assert.equal((await metainfo([...FIND, '--link', 'symlink'], { cwd })).code, 0);
    assert.equal((await metainfo(['verify', 'album.torrent', '--follow-outside'], { cwd })).code, 0);
    assert.equal((await metainfo(['verify', 'album.torrent'], { cwd })).code, 1);
  });

  it('copies with the modification time, and leaves nothing else', async (t) => {
    const { cwd, from, to } = await moved(t);
    const { code, stdout } = await metainfo([...FIND, '--link=copy'], { cwd });
    assert.equal(code, 0, stdout);
    assert.match(stdout, /^copied from {2}\S+x → a\.txt$/m);
    const [source, target] = [await stat(from), await stat(to)];
    assert.notEqual(target.ino, source.ino);
    // The system sets times of whole milliseconds.
    assert.ok(Math.abs(target.mtimeMs - source.mtimeMs) <= 1);
    assert.deepEqual(await readFile(to), await readFile(from));
    assert.deepEqual(await entries(path.join(cwd, 'album')), ['a.txt', 'b']);
  });

  it('makes reflinks, or says what to do where there are none', async (t) => {
    const { cwd, from, to } = await moved(t);
    const { code, stdout } = await metainfo([...FIND, '--link=reflink'], { cwd });
    if (code === 0) assert.deepEqual(await readFile(to), await readFile(from));
    else {
      assert.match(
        stdout,
        /\nfailed {7}a\.txt: .* cannot be a reflink of .*Make a hard link, a symlink or a copy instead\.\n/,
      );
      assert.deepEqual(await entries(path.join(cwd, 'album')), ['b']);
    }
  });

  for (const how of ['hard', 'symlink', 'reflink', 'copy'])
    it(`never replaces anything: --link=${how}`, async (t) => {
      const { cwd, to } = await moved(t);
      await writeFile(to, 'in the way');
      const { code, stdout } = await metainfo([...FIND, `--link=${how}`], { cwd });
      assert.equal(code, 1);
      assert.match(stdout, /\nfailed {7}a\.txt: \S+ is in the way/);
      assert.equal(await readFile(to, 'utf8'), 'in the way');
      await rm(to);
      await symlink('nowhere', to);
      const link = await metainfo([...FIND, `--link=${how}`], { cwd });
      assert.equal(link.code, 1);
      assert.match(link.stdout, /a\.txt is in the way: it is a link\./);
      assert.deepEqual(await entries(path.join(cwd, 'album')), ['a.txt', 'b']);
    });
});

describe('metainfo verify --find of many torrents', () => {
  /** Torrents of `lib` in `torrents`; all content was moved to `data` under other names. */
  async function library(t: TestContext): Promise<string> {
    const cwd = await temporaryFolder(t);
    await writeTree(cwd, {
      'lib/a/x': noise(40_000, 1),
      'lib/a/y': noise(40_000, 2),
      'lib/b/x': noise(40_000, 1),
      'lib/film.mkv': noise(50_000, 3),
      'lib/lost/x': noise(60_000, 4),
      'data/other': noise(40_000, 5),
    });
    await mkdir(path.join(cwd, 'torrents'));
    await metainfo(['create', '--each', 'lib', '-o', 'torrents', '-q'], { cwd });
    await rename(path.join(cwd, 'lib/a/x'), path.join(cwd, 'data/1'));
    await rename(path.join(cwd, 'lib/a/y'), path.join(cwd, 'data/2'));
    await rename(path.join(cwd, 'lib/film.mkv'), path.join(cwd, 'data/3'));
    for (const name of ['a', 'b', 'lost']) await rm(path.join(cwd, 'lib', name), { recursive: true });
    return cwd;
  }
  const FIND = ['verify', '--each', 'torrents', 'lib', '--find', 'data'];

  it('finds the files of all torrents, and links one file for several of them', async (t) => {
    const cwd = await library(t);
    const found = await metainfo(FIND, { cwd });
    assert.equal(found.code, 1);
    assert.match(found.stdout, /^moved from {3}\S+\/data\/3 → film\.mkv$/m);
    assert.match(found.stdout, /^torrents\/lost\.torrent: missing; there is no lib\/lost$/m);
    assert.match(found.stdout, /\n0 complete, 3 incomplete, 1 missing: .*\nTo put them in place, add --link/);
    const { code, stdout } = await metainfo([...FIND, '--link', '--json'], { cwd });
    assert.equal(code, 1);
    const events = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    const done = events.filter(({ event }) => event === 'done');
    assert.deepEqual(
      done.map(({ status, placed = [], failed = [] }) => [status, placed, failed]),
      [
        ['complete', ['x', 'y'], []],
        ['complete', ['x'], []],
        ['complete', ['film.mkv'], []],
        ['missing', [], []],
      ],
    );
    const ino = async (name: string) => (await stat(path.join(cwd, name))).ino;
    assert.equal(await ino('lib/b/x'), await ino('data/1'));
    const again = await metainfo(['verify', '--each', 'torrents', 'lib'], { cwd });
    assert.match(again.stdout, /\n3 complete, 1 missing: /);
  });

  it('rejects --rename and --jobs, and a folder that is not there before anything is read', async (t) => {
    const cwd = await library(t);
    for (const more of [['--rename'], ['--jobs', '2']])
      assert.equal((await metainfo([...FIND, ...more], { cwd })).code, 2);
    const { code, stdout, stderr } = await metainfo([...FIND, 'absent'], { cwd });
    assert.deepEqual([code, stdout], [1, '']);
    assert.match(stderr, /absent/);
    assert.equal((await metainfo([...FIND, '--link', '--resume-data', 'libtorrent', '-q'], { cwd })).code, 1);
    assert.equal((await entries(cwd)).filter((name) => name.endsWith('.fastresume')).length, 3);
  });

  it('finds nothing twice if the content is in the folder', async (t) => {
    const cwd = await library(t);
    await copyFile(path.join(cwd, 'data/3'), path.join(cwd, 'lib/again'));
    const { stdout } = await metainfo(['verify', '--each', 'torrents', 'lib', '--find', 'data', 'lib', '--link'], {
      cwd,
    });
    assert.match(stdout, /\n3 complete, 1 missing: /);
  });
});

describe('metainfo verify of many bad files', () => {
  it('lists 20 of each kind without -v, and all with -q and --json', async (t) => {
    const cwd = await temporaryFolder(t);
    await writeTree(cwd, Object.fromEntries(Array.from({ length: 60 }, (_, i) => [`many/${i}`, noise(10, i)])));
    await metainfo(['create', 'many', '-q'], { cwd });
    for (let i = 0; i < 30; i += 1) await rm(path.join(cwd, `many/${i}`));
    for (let i = 30; i < 52; i += 1) await writeFile(path.join(cwd, `many/${i}`), 'short');
    const run = async (...args: string[]) => (await metainfo(['verify', 'many.torrent', ...args], { cwd })).stdout;
    const count = (text: string, label: string) => text.split('\n').filter((line) => line.startsWith(label)).length;
    const text = await run();
    assert.deepEqual([count(text, 'missing'), count(text, 'wrong-size')], [20, 20]);
    assert.match(
      text,
      /\n… and 10 more missing files \(-v lists all\)\n… and 2 more wrong-size files \(-v lists all\)\n/,
    );
    for (const option of ['-v', '-q']) {
      const all = await run(option);
      assert.deepEqual([count(all, 'missing'), count(all, 'wrong-size'), count(all, '…')], [30, 22, 0], option);
    }
    assert.equal(
      JSON.parse(await run('--json')).files.filter(({ status }: { status: string }) => status === 'missing').length,
      30,
    );
    await mkdir(path.join(cwd, 'empty'));
    assert.match(await run('--find', 'empty'), /\n… and 32 more files that were not found \(-v lists all\)\n/);
  });
});
