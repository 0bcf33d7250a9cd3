import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { appendFile, chmod, mkdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, it } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { encode } from '../../src/bencode/encode.ts';
import { writeTree } from '../support/tree.ts';
import { notRoot } from '../support/unprivileged.ts';
import { command, entries, finish, metainfo, start, workFolder } from './run.ts';

describe('metainfo verify', () => {
  it('reports complete, missing, corrupt and extra files', async (t) => {
    const cwd = await workFolder(t);
    await metainfo(['create', 'album'], { cwd });
    const good = await metainfo(['verify', 'album.torrent', 'album'], { cwd });
    assert.deepEqual([good.code, good.stderr], [0, '']);
    assert.match(good.stdout, /^album: complete; 100 % of [^\n]* in \d+ files\n$/);
    const json = JSON.parse((await metainfo(['verify', 'album.torrent', 'album', '--json'], { cwd })).stdout);
    assert.equal(json.ok, true);
    const [first, second] = json.files as { path: string }[];
    await rm(path.join(cwd, 'album', first?.path as string));
    await appendFile(path.join(cwd, 'album', second?.path as string), 'x');
    await writeFile(path.join(cwd, 'album', 'extra.txt'), 'x');
    const bad = await metainfo(['verify', 'album.torrent', 'album', '--torrent-version', 'v2'], { cwd });
    assert.equal(bad.code, 1);
    assert.match(bad.stdout, /\nmissing {5}[^\n]* \(0 % good\)\n/);
    assert.match(bad.stdout, /\nwrong-size {2}[^\n]* \((100 % good|empty)\)\n/);
    assert.match(bad.stdout, /\nextra {7}extra\.txt\n/);
    assert.match(bad.stdout, /\nalbum: 2 files incomplete, \d+ bad pieces?; /);
    const quiet = await metainfo(['verify', 'album.torrent', 'album', '--quiet'], { cwd });
    assert.match(quiet.stdout, /^missing[^\n]*\nwrong-size[^\n]*\n$/);
  });

  it('tells names apart that look alike, as show does', {
    skip: process.platform !== 'linux' && 'names of both forms are one here',
  }, async (t) => {
    const cwd = await workFolder(t);
    await writeTree(path.join(cwd, 'd'), { 'caf\u00e9': 'a', 'cafe\u0301': 'b', '\u00fc': 'c' });
    await metainfo(['create', 'd'], { cwd });
    const shown = await metainfo(['show', 'd.torrent', '-v'], { cwd });
    for (const name of ['caf\\u{e9}', 'cafe\\u{301}', '\u00fc']) assert.ok(shown.stdout.includes(` ${name}`), name);
    await rm(path.join(cwd, 'd/caf\u00e9'));
    await rm(path.join(cwd, 'd/\u00fc'));
    await rename(path.join(cwd, 'd/cafe\u0301'), path.join(cwd, 'd/x'));
    await writeFile(path.join(cwd, 'd/u\u0308 2'), 'c');
    const { stdout } = await metainfo(['verify', 'd.torrent'], { cwd });
    for (const line of [
      'missing     caf\\u{e9} (',
      'missing     cafe\\u{301} (',
      'missing     \u00fc (',
      'extra       u\u0308 2\n',
    ])
      assert.ok(stdout.includes(line), line + stdout);
  });

  it('lists at most 20 extra files, and all of them with --json', async (t) => {
    const cwd = await workFolder(t);
    await metainfo(['create', 'album'], { cwd });
    await mkdir(path.join(cwd, 'album/more'));
    for (let i = 0; i < 1101; i += 1) await writeFile(path.join(cwd, `album/more/${i}`), '');
    const { code, stdout } = await metainfo(['verify', 'album.torrent'], { cwd });
    assert.equal(code, 0);
    const lines = stdout.split('\n').filter((line) => line.startsWith('extra '));
    assert.equal(lines.length, 20);
    assert.match(stdout, /\n… and 1,081 more extra files \(-v lists all\)\nalbum: complete; /);
    const json = JSON.parse((await metainfo(['verify', 'album.torrent', '--json'], { cwd })).stdout);
    assert.equal(json.extraFiles.length, 1101);
  });

  it('checks only the name of a stored symlink, and reports its missing target by itself', async (t) => {
    const cwd = await workFolder(t);
    await symlink('a.txt', path.join(cwd, 'album/link'));
    await metainfo(['create', 'album', '--symlinks', 'store'], { cwd });
    const statuses = async () => {
      const { stdout } = await metainfo(['verify', 'album.torrent', '--json'], { cwd });
      const { files } = JSON.parse(stdout) as { files: { path: string; status: string }[] };
      return Object.fromEntries(files.map((file) => [file.path, file.status]));
    };
    await rm(path.join(cwd, 'album/a.txt'));
    assert.deepEqual(await statuses(), { 'a.txt': 'missing', 'b/c.nfo': 'complete', link: 'complete' });
    await rm(path.join(cwd, 'album/link'));
    assert.deepEqual(await statuses(), { 'a.txt': 'missing', 'b/c.nfo': 'complete', link: 'missing' });
  });

  it('says with --fast that it checked only a sample', async (t) => {
    const cwd = await workFolder(t);
    await writeFile(path.join(cwd, 'film'), Buffer.alloc(2 ** 23, 'film'));
    await metainfo(['create', 'film', '-l', '16KiB'], { cwd });
    const fast = ['verify', 'film.torrent', '--fast', '-q'];
    assert.deepEqual(await metainfo(fast, { cwd }), { code: 0, signal: null, stdout: '', stderr: '' });
    const { stdout } = await metainfo(fast.slice(0, -1), { cwd });
    const [, pieces] =
      /^film: no error found; checked only a sample \(--fast\): (\d+) pieces, 1\.\d+ MiB of 8 MiB in 1 file\n$/.exec(
        stdout,
      ) ?? [];
    const report = JSON.parse((await metainfo([...fast, '--json'], { cwd })).stdout);
    assert.deepEqual([report.sampledPieces, report.sampledBytes], [Number(pieces), Number(pieces) * 2 ** 14]);
    await appendFile(path.join(cwd, 'film'), 'x');
    const bad = await metainfo(fast.slice(0, -1), { cwd });
    assert.match(bad.stdout, /\nfilm: 1 file incomplete, 0 bad pieces; checked only a sample/);
    const many = await metainfo(['verify', '--content', '.', 'film.torrent', '--fast'], { cwd });
    assert.match(many.stdout, /\n0 complete, 1 incomplete: .*; checked only a sample of each \(--fast\)\n$/);
  });

  it('exits with 2 for wrong usage, and with 1 for a missing folder', async (t) => {
    const cwd = await workFolder(t);
    await metainfo(['create', 'album', '-k', 'v1'], { cwd });
    assert.equal((await metainfo(['verify'], { cwd })).code, 2);
    assert.equal((await metainfo(['verify', 'album.torrent', 'album', '--torrent-version', 'v2'], { cwd })).code, 2);
    const absent = await metainfo(['verify', 'album.torrent', 'absent', '--json'], { cwd });
    assert.equal(absent.code, 1);
    assert.equal(JSON.parse(absent.stdout).error.code, 'ERR_NOT_FOUND');
  });

  it('without a path checks the folder or file with the name of the torrent', async (t) => {
    const cwd = await workFolder(t);
    for (const content of ['album', 'album/a.txt']) {
      await metainfo(['create', content, '-o', 'x.torrent', '--force'], { cwd });
      const name = path.basename(content);
      const folder = path.join(cwd, path.dirname(content));
      const torrent = path.join(cwd, 'x.torrent');
      const found = await metainfo(['verify', torrent], { cwd: folder });
      assert.deepEqual([found.code, found.stderr], [0, `checking ${name}\n`]);
      const quiet = await metainfo(['verify', torrent, '-q'], { cwd: folder });
      assert.deepEqual([quiet.code, quiet.stderr], [0, '']);
    }
    const absent = await metainfo(['verify', 'x.torrent', '--json'], { cwd });
    assert.equal(JSON.parse(absent.stdout).error.code, 'ERR_NOT_FOUND');
  });

  it('without a path never leaves the current folder', async (t) => {
    const cwd = await workFolder(t);
    for (const name of ['..', 'a/b', '/etc']) {
      const info = new Map(Object.entries({ name, 'piece length': 16384, length: 1, pieces: Buffer.alloc(20) }));
      await writeFile(path.join(cwd, 'x.torrent'), encode(new Map([['info', info]])));
      const { code, stderr } = await metainfo(['verify', 'x.torrent', '--compat'], { cwd });
      assert.notEqual(code, 0);
      assert.match(stderr, /no safe path|not valid/);
    }
  });

  it('finds renamed files with --find, and puts them in place only with --link or --rename', async (t) => {
    const cwd = await workFolder(t);
    await metainfo(['create', 'album'], { cwd });
    await mkdir(path.join(cwd, 'other'));
    await rename(path.join(cwd, 'album/a.txt'), path.join(cwd, 'other/first \u001b[31m'));
    const args = ['verify', 'album.torrent', 'album', '--find', 'other'];
    const found = await metainfo(args, { cwd });
    assert.equal(found.code, 1);
    const lines = found.stdout.split('\n').slice(-4);
    assert.deepEqual(lines, [
      `moved from   ${path.join(cwd, 'other')}/first \\x1b[31m → a.txt`,
      'found 1 file of 1 in other',
      'To put them in place, add --link (hard links) or --rename.',
      '',
    ]);
    assert.deepEqual(await entries(path.join(cwd, 'other')), ['first \u001b[31m']);
    const linked = await metainfo([...args, '--link', '--json'], { cwd });
    const { ok, moved, placed, failed } = JSON.parse(linked.stdout);
    assert.deepEqual([linked.code, ok, placed, failed], [0, true, ['a.txt'], []]);
    const from = path.join(cwd, 'other', 'first \u001b[31m');
    assert.deepEqual(moved, [{ path: 'a.txt', from, also: [], proof: 'root', content: 'proven' }]);
    await rm(path.join(cwd, 'album/a.txt'));
    const renamed = await metainfo([...args, '--rename'], { cwd });
    assert.equal(renamed.code, 0);
    assert.match(renamed.stdout, /\nrenamed from \S+/);
    assert.deepEqual(await entries(path.join(cwd, 'other')), []);
    // Nothing is left to find.
    assert.deepEqual((await metainfo([...args, '--rename'], { cwd })).code, 0);
  });

  it('verifies a v1 torrent again after files were put in place', async (t) => {
    const cwd = await workFolder(t);
    await metainfo(['create', 'album', '-k', 'v1', '-l', '14'], { cwd });
    await rename(path.join(cwd, 'album/a.txt'), path.join(cwd, 'moved'));
    const args = ['verify', 'album.torrent', 'album', '--find', '.', '--rename', '--json'];
    const { code, stdout } = await metainfo(args, { cwd });
    const { ok, moved, files } = JSON.parse(stdout);
    assert.deepEqual([code, ok, moved[0].proof, files[0].status], [0, true, 'pieces', 'complete']);
  });

  it('links no v1 file with a piece that is not proven, unless --allow-unproven is given, and copies it', async (t) => {
    const cwd = await workFolder(t);
    await metainfo(['create', 'album', '-k', 'v1', '-l', '14'], { cwd });
    await mkdir(path.join(cwd, 'other'));
    const from = path.join(cwd, 'other/x');
    await rename(path.join(cwd, 'album/a.txt'), from);
    await rm(path.join(cwd, 'album/b/c.nfo'));
    const run = (...args: string[]) =>
      metainfo(['verify', 'album.torrent', 'album', '--find', 'other', ...args], { cwd });
    const unplaced = await run();
    assert.match(unplaced.stdout, /^moved from .*x → a\.txt, not proven.* \(--link=reflink or --link=copy\)$/m);
    assert.ok(!unplaced.stdout.includes('To put them in place'), unplaced.stdout);
    for (const how of ['--link', '--link=symlink', '--rename']) {
      const { code, stdout } = await run(how);
      assert.equal(code, 1);
      const line = /^failed .* a\.txt: \S+x is not proven to be a\.txt.*\(--link=reflink or --link=copy\)\.$/m;
      assert.match(stdout, line);
      const { moved, placed, failed } = JSON.parse((await run(how, '--json')).stdout);
      assert.deepEqual(moved, [{ path: 'a.txt', from, also: [], proof: 'pieces', content: 'unproven' }]);
      assert.deepEqual(
        [placed, failed.map(({ error }: { error: { code: string } }) => error.code)],
        [[], ['ERR_UNPROVEN']],
      );
      assert.deepEqual(await entries(path.join(cwd, 'album')), ['b']);
    }
    assert.deepEqual(JSON.parse((await run('--link=copy', '--json')).stdout).placed, ['a.txt']);
    await rm(path.join(cwd, 'album/a.txt'));
    assert.match((await run('--rename', '--allow-unproven')).stdout, /^renamed from \S+x → a\.txt$/m);
    for (const args of [['--allow-unproven'], ['--allow-unproven', '--rename', '--link']])
      assert.equal((await run(...args)).code, 2);
  });

  it('lists a small file of a v1 torrent as not proven', async (t) => {
    const cwd = await workFolder(t);
    await metainfo(['create', 'album', '-k', 'v1', '-l', '14'], { cwd });
    await mkdir(path.join(cwd, 'other'));
    await rm(path.join(cwd, 'album/b/c.nfo'));
    await writeFile(path.join(cwd, 'other/c'), '54321');
    const find = async () => (await metainfo(['verify', 'album.torrent', 'album', '--find', 'other'], { cwd })).stdout;
    assert.match(await find(), /^not proven {3}b\/c\.nfo: \S+c has its size, but no piece proves it$/m);
    await writeFile(path.join(cwd, 'other/d'), '12345');
    assert.match(await find(), /^not proven {3}b\/c\.nfo: \S+c and 1 more have its size, but no piece proves it$/m);
  });

  const isLinux = process.platform === 'linux';
  it('finds content whose folder has the bytes of the torrent as its name', { skip: !isLinux }, async (t) => {
    const cwd = await workFolder(t);
    await rename(path.join(cwd, 'album'), path.join(cwd, 'cafe'));
    await metainfo(['create', 'cafe', '-k', 'v1', '-o', 't.torrent'], { cwd });
    const torrent = await readFile(path.join(cwd, 't.torrent'));
    torrent.set([0xe9], torrent.indexOf('cafe12:piece') + 3);
    await writeFile(path.join(cwd, 't.torrent'), torrent);
    await rename(path.join(cwd, 'cafe'), Buffer.concat([Buffer.from(`${cwd}/caf`), Buffer.of(0xe9)]));
    for (const more of [[], ['.'], ['--encoding', 'latin1']]) {
      const { code, stdout, stderr } = await metainfo(['verify', '--compat', 't.torrent', ...more], { cwd });
      assert.deepEqual([code, stderr.split(',')[0]?.trim()], [0, 'checking caf\\xe9'], stdout);
    }
    const shown = await metainfo(['show', '--encoding', 'latin1', 't.torrent'], { cwd });
    assert.match(shown.stdout, /café/);
    const each = await metainfo(['verify', '--compat', '--content', '.', 't.torrent', 't.torrent'], { cwd });
    assert.equal(each.code, 0);
    const wrong = await metainfo(['show', '--encoding', 'klingon', 't.torrent'], { cwd });
    assert.deepEqual([wrong.code, /gbk, shift_jis/.test(wrong.stderr)], [2, true]);
  });

  it('prints one line for a renamed folder', async (t) => {
    const cwd = await workFolder(t);
    const names = Array.from({ length: 30 }, (_, i) => `album/disc/${i}/x.flac`);
    await writeTree(cwd, Object.fromEntries(names.map((name, i) => [name, Buffer.alloc(100 + i, i)])));
    await metainfo(['create', 'album'], { cwd });
    await rename(path.join(cwd, 'album/disc'), path.join(cwd, 'album/other'));
    const args = ['verify', 'album.torrent', 'album', '--find', 'album'];
    const { stdout } = await metainfo(args, { cwd });
    assert.match(stdout, /^moved {8}disc\/ found as \S+\/album\/other\/ \(30 files\)$/m);
    // The names that the files have now are extra: 20 lines.
    assert.deepEqual([stdout.match(/x\.flac/g)?.length, stdout.match(/^missing/gm)], [20, null]);
    const renamed = await metainfo([...args, '--rename'], { cwd });
    assert.match(renamed.stdout, /^renamed from \S+\/album\/other\/ → disc\/ \(30 files\)$/m);
    assert.deepEqual([renamed.code, renamed.stdout.match(/x\.flac/g)], [0, null]);
  });

  it('tells how many files were renamed before a cancellation, and goes on in the next run', async (t) => {
    const cwd = await workFolder(t);
    const names = Array.from({ length: 2000 }, (_, i) => `album/${i}`);
    await writeTree(cwd, Object.fromEntries(names.map((name, i) => [name, Buffer.from(`${i}`)])));
    await metainfo(['create', 'album', '-k', 'v2'], { cwd });
    await rename(path.join(cwd, 'album'), path.join(cwd, 'moved'));
    await mkdir(path.join(cwd, 'album'));
    const args = ['verify', 'album.torrent', 'album', '--find', 'moved', '--rename'];
    const cancelled = async (more: string[]) => {
      const before = (await entries(path.join(cwd, 'album'))).length;
      const child = start([...args, ...more], { cwd });
      const done = finish(child);
      while (child.exitCode === null && (await entries(path.join(cwd, 'album'))).length === before) await setTimeout(1);
      child.kill('SIGINT');
      const result = await done;
      assert.equal(result.code, 130);
      return { ...result, placed: (await entries(path.join(cwd, 'album'))).length - before };
    };
    // Quiet, because a slow machine prints progress before.
    const text = await cancelled(['--quiet']);
    assert.match(
      text.stderr,
      new RegExp(`^cancelled: ${text.placed} files? renamed; run the command again to go on\n$`),
    );
    const json = await cancelled(['--json']);
    assert.equal(JSON.parse(json.stdout).error.placed.length, json.placed);
    assert.equal((await metainfo(args, { cwd })).code, 0);
  });

  it('lists what --find could not search', { skip: notRoot() || process.platform !== 'linux' }, async (t) => {
    const cwd = await workFolder(t);
    await metainfo(['create', 'album'], { cwd });
    const other = path.join(cwd, 'other');
    await mkdir(path.join(other, 'closed'), { recursive: true });
    await rename(path.join(cwd, 'album/a.txt'), path.join(other, 'closed/a'));
    await writeFile(path.join(other, 'secret'), Buffer.alloc(20_000));
    await chmod(path.join(other, 'secret'), 0);
    await chmod(path.join(other, 'closed'), 0);
    await chmod(cwd, 0o755);
    const args = ['verify', 'album.torrent', 'album', '--find', 'other'];
    const [program, ...rest] = command(args);
    const run = (more: string[] = []) =>
      spawnSync(program, [...rest, ...more], { cwd, encoding: 'utf8', uid: 65534, gid: 65534 }).stdout;
    assert.match(run(), /^not found {4}a\.txt\n(?:skipped {6}\S*other\/\S+: .*\n){2}found 0 files of 1 in other\n$/m);
    const { skipped } = JSON.parse(run(['--json'])) as { skipped: { path: string; error: { code: string } }[] };
    assert.deepEqual(skipped.map(({ path: at, error }) => [path.relative(other, at), error.code]).sort(), [
      ['closed', 'ERR_UNREADABLE'],
      ['secret', 'ERR_UNREADABLE'],
    ]);
  });

  it('fails if a file cannot be put in place, and rejects wrong combinations', async (t) => {
    const cwd = await workFolder(t);
    await metainfo(['create', 'album'], { cwd });
    await rename(path.join(cwd, 'album/a.txt'), path.join(cwd, 'moved'));
    await writeFile(path.join(cwd, 'album/a.txt'), 'in the way');
    const args = ['verify', 'album.torrent', 'album', '--rename'];
    const { code, stdout } = await metainfo([...args, '--find', '.'], { cwd });
    assert.equal(code, 1);
    assert.match(stdout, /\nfailed {7}a\.txt: \S+ is in the way: it has other content\. Move it away first\.\n/);
    assert.doesNotMatch(stdout, /moved from/);
    assert.equal((await metainfo(args, { cwd })).code, 2);
    assert.equal((await metainfo([...args, '--link', '--find', '.'], { cwd })).code, 2);
    assert.equal((await metainfo(['verify', 'album.torrent', 'album', '--find', 'absent'], { cwd })).code, 1);
  });

  it('follows links out of the folder with --follow-outside, as create does', async (t) => {
    const cwd = await workFolder(t);
    await writeFile(path.join(cwd, 'outside'), 'some text');
    await symlink('../outside', path.join(cwd, 'album/link'));
    await metainfo(['create', 'album', '--follow-outside'], { cwd });
    const args = ['verify', 'album.torrent', 'album'];
    const refused = await metainfo(args, { cwd });
    assert.equal(refused.code, 1);
    assert.match(refused.stdout, /link \(a link that leads out of the folder: see --follow-outside\)/);
    assert.equal((await metainfo([...args, '--follow-outside'], { cwd })).code, 0);
  });
});
