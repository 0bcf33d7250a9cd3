import assert from 'node:assert/strict';
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, it } from 'node:test';
import { writeTree } from '../support/tree.ts';
import { metainfo, read, workFolder } from './run.ts';

const paths = async (cwd: string, name = 'album.torrent') => (await read(cwd, name)).files.map((file) => file.path);

/** The findings of a plan. */
async function planned(cwd: string, ...args: string[]): Promise<{ code: string; severity: string; message: string }[]> {
  return JSON.parse((await metainfo(['plan', ...args, '--json'], { cwd })).stdout).findings;
}

const STRAY = {
  'album/@eaDir/a.txt@SynoEAStream': 1,
  'album/b/._c.nfo': 1,
  'album/#recycle/old': 1,
  'album/film.mkv.part': 1,
};

describe('--ignore-case', () => {
  it('matches globs in any case, and is advised where it helps', async (t) => {
    const cwd = await workFolder(t);
    const hinted = await metainfo(['create', 'album', '--exclude', '*.NFO', '--exclude', '*.zip'], { cwd });
    assert.match(
      hinted.stderr,
      /--exclude \*\.NFO matches nothing, but it matches "b\/c\.nfo" in another letter case\. \[pattern_unmatched\]\n {2}Ignore the case with --ignore-case\.\n/,
    );
    assert.match(hinted.stderr, /--exclude \*\.zip matches nothing\. \[pattern_unmatched\]\n {2}Quote/);
    const args = ['create', 'album', '--exclude', '*.NFO', '--ignore-case', '--strict', '--force'];
    assert.equal((await metainfo(args, { cwd })).stderr, '');
    assert.deepEqual(await paths(cwd), ['a.txt']);
    const included = ['create', 'album', '--include', '*.NFO', '--ignore-case', '--force', '-k', 'v2'];
    assert.equal((await metainfo(included, { cwd })).code, 0);
    assert.deepEqual(await paths(cwd), ['b/c.nfo']);
  });
});

describe('--include and --exclude', () => {
  it('choose the entries of --each, which need no match again', async (t) => {
    const cwd = await workFolder(t);
    await writeTree(cwd, { 'lib/a.mkv': 1, 'lib/a.nfo': 2, 'lib/set/b.mkv': 3, 'lib/set/b.nfo': 4 });
    const made = async (folder: string, ...args: string[]) => {
      const { code, stderr } = await metainfo(['create', '--each', 'lib', '-o', folder, ...args], { cwd });
      assert.equal(code, 0, stderr);
      assert.doesNotMatch(stderr, /matches nothing/);
      return (await readdir(path.join(cwd, folder))).sort();
    };
    assert.deepEqual(await made('o1', '--include', '*.mkv'), ['a.mkv.torrent', 'set.torrent']);
    assert.deepEqual(await paths(cwd, 'o1/set.torrent'), ['b.mkv']);
    assert.deepEqual(await made('o2', '--exclude', '*.nfo'), ['a.mkv.torrent', 'set.torrent']);
    assert.deepEqual(await paths(cwd, 'o2/set.torrent'), ['b.mkv']);
    assert.deepEqual(await made('o3', '--exclude', 'set'), ['a.mkv.torrent', 'a.nfo.torrent']);
  });

  it('say what works in place of a list in one pattern', async (t) => {
    const cwd = await workFolder(t);
    const adviceFor = async (pattern: string) => {
      const { stdout } = await metainfo(['plan', 'album', '-k', 'v1', '--exclude', pattern, '--json'], { cwd });
      return JSON.parse(stdout)
        .findings.map(({ advice }: { advice: string }) => advice)
        .join();
    };
    for (const list of ['*.zip|*.jpg', '*.zip;*.jpg', '*.zip,*.jpg'])
      assert.match(await adviceFor(list), /Repeat the option for each pattern, or use braces: \*\.\{nfo,jpg\}\./, list);
    assert.match(await adviceFor('*.{zip,rar}'), /Quote patterns/);
  });
});

describe('--exclude-from', () => {
  it('leaves out what its globs match: alone, in updates, with --each and in jobs', async (t) => {
    const cwd = await workFolder(t);
    await writeTree(cwd, { 'album/#x': 1, 'album/sub/x.log': 1 });
    await writeFile(path.join(cwd, 'globs'), '# logs\r\n*.log\r\n\\#x\r\nnever\r\n');
    const args = ['--exclude-from', 'globs', '-k', 'v2'];
    const created = await metainfo(['create', 'album', ...args, '--strict'], { cwd });
    assert.deepEqual([created.code, created.stderr], [0, '']);
    const expected = ['a.txt', 'b/c.nfo'];
    assert.deepEqual(await paths(cwd), expected);
    const updated = await metainfo(['update', 'album.torrent', 'album', '--exclude-from', 'globs', '--json'], { cwd });
    assert.deepEqual(JSON.parse(updated.stdout).added, []);
    assert.equal((await metainfo(['create', '--each', '.', ...args, '-o', 'each/'], { cwd })).code, 0);
    assert.deepEqual(await paths(cwd, 'each/album.torrent'), expected);
    await writeFile(path.join(cwd, 'jobs'), '{"path":"album","output":"job.torrent","exclude-from":"globs"}\n');
    assert.equal((await metainfo(['create', '--batch', 'jobs', '-k', 'v2'], { cwd })).code, 0);
    assert.deepEqual(await paths(cwd, 'job.torrent'), expected);
  });

  it('works in a configuration file, relative to it, beside exclude', async (t) => {
    const cwd = await workFolder(t);
    await mkdir(path.join(cwd, 'conf'));
    await writeFile(path.join(cwd, 'conf/globs'), '*.NFO\n');
    const config = path.join(cwd, 'conf/c.toml');
    await writeFile(
      config,
      '[create]\nexclude = "a.*"\nexclude-from = "globs"\nignore-case = true\nsystem-files = false\n',
    );
    await writeTree(cwd, { 'album/z': 1, 'album/y.part': 1 });
    assert.equal((await metainfo(['create', 'album', '--config', config, '-k', 'v2'], { cwd })).code, 0);
    assert.deepEqual(await paths(cwd), ['z']);
    const args = ['create', 'album', '--config', config, '-k', 'v2', '--no-ignore-case', '--system-files', '--force'];
    assert.equal((await metainfo(args, { cwd })).code, 0);
    assert.deepEqual(await paths(cwd), ['b/c.nfo', 'y.part', 'z']);
    await writeFile(path.join(cwd, 'conf/globs'), '!x\n');
    assert.equal((await metainfo(['show', 'album.torrent', '--config', config], { cwd })).code, 0);
    const wrong = await metainfo(['create', 'album', '--config', config, '--force'], { cwd });
    assert.match(wrong.stderr, /globs:1: A ! would leave out/);
  });

  it('fails with every wrong line, for a missing file, and for a URL', async (t) => {
    const cwd = await workFolder(t);
    await writeFile(path.join(cwd, 'globs'), 'a\n!b\n[z-a]\n');
    const wrong = await metainfo(['create', 'album', '--exclude-from', 'globs'], { cwd });
    assert.equal(wrong.code, 2);
    assert.match(wrong.stderr, /globs:2: .*; globs:3: .*range/);
    const each = await metainfo(['create', '--each', '.', '--exclude-from', 'globs'], { cwd });
    assert.deepEqual([each.code, each.stderr.match(/globs:2/g)?.length, each.stdout], [2, 1, '']);
    const missing = await metainfo(['create', 'album', '--exclude-from', 'missing'], { cwd });
    assert.equal(missing.code, 2);
    assert.match(missing.stderr, /--exclude-from.*missing/);
    await writeFile(path.join(cwd, 'globs'), 'a\n');
    const url = await metainfo(['create', 'http://127.0.0.1:9/x', '--exclude-from', 'globs'], { cwd });
    assert.equal(url.code, 2);
    assert.match(url.stderr, /--exclude-from works only with files on disk/);
    await writeFile(path.join(cwd, 'jobs'), '{"path":"album","exclude-from":"none"}\n');
    const job = await metainfo(['create', '--batch', 'jobs'], { cwd });
    assert.equal(job.code, 1);
    assert.match(job.stderr + job.stdout, /none/);
  });
});

describe('--no-system-files', () => {
  it('leaves out files of systems and unfinished downloads, which a plan tells of', async (t) => {
    const cwd = await workFolder(t);
    await writeTree(cwd, STRAY);
    const { stdout } = await metainfo(['plan', 'album'], { cwd });
    assert.match(
      stdout,
      /warning: 1 entry of unfinished downloads in the torrent: film\.mkv\.part\. \[unfinished_files\]\n {2}Finish them, or leave them out \(--exclude, --no-system-files\)\.\n/,
    );
    assert.match(
      stdout,
      /hint: 3 entries of NAS or operating systems in the torrent: #recycle, @eaDir, \._c\.nfo\. \[system_files\]\n {2}Leave them out \(--no-system-files\)\.\n/,
    );
    const created = await metainfo(['create', 'album', '--no-system-files', '-k', 'v2', '-v', '--strict'], { cwd });
    assert.equal(created.code, 0, created.stderr);
    assert.deepEqual(await paths(cwd), ['a.txt', 'b/c.nfo']);
    assert.match(
      created.stderr,
      /hint: 1 entry of unfinished downloads left out: film\.mkv\.part\. \[unfinished_files\]/,
    );
    assert.match(
      created.stderr,
      /hint: 3 entries of NAS or operating systems left out: #recycle, @eaDir, \._c\.nfo\. .*\n {2}To add them, omit --no-system-files\.\n/,
    );
    assert.match(created.stderr, / {2}not included {2}#recycle\n/);
    const updated = await metainfo(['update', 'album.torrent', 'album', '--no-system-files', '--json'], { cwd });
    assert.deepEqual(JSON.parse(updated.stdout).added, []);
    // A file that is named outright is added.
    await metainfo(['create', 'album/film.mkv.part'], { cwd });
    assert.deepEqual(await paths(cwd, 'film.mkv.part.torrent'), ['film.mkv.part']);
  });

  it('makes no torrents of them with --each', async (t) => {
    const cwd = await workFolder(t);
    await rm(path.join(cwd, 'album'), { recursive: true });
    await writeTree(cwd, { 'in/a/x': 1, 'in/@eaDir/x': 1, 'in/#recycle/x': 1, 'in/b.part': 1 });
    const { stdout } = await metainfo(['create', '--each', 'in', '-o', 'out/', '--no-system-files'], { cwd });
    assert.match(stdout, /1 torrent made/);
    assert.doesNotMatch(stdout, /eaDir|recycle|b\.part/);
  });
});

describe('findings about season packs', () => {
  it('are warnings of plan and create, which --strict refuses and --allow accepts', async (t) => {
    const cwd = await workFolder(t);
    const names = [1, 2, 4].map((n) => `Show.S01/Show.S01E0${n}.720p.mkv`);
    await writeTree(cwd, Object.fromEntries([...names, 'Show.S01/Show.S01E01.nfo'].map((name) => [name, 1])));
    const [finding] = (await planned(cwd, 'Show.S01')).filter(({ code }) => code !== 'pad_names');
    assert.deepEqual([finding?.code, finding?.severity], ['missing_episodes', 'warning']);
    const strict = await metainfo(['create', 'Show.S01', '--strict', '-k', 'v1'], { cwd });
    assert.equal(strict.code, 1);
    assert.match(strict.stderr, /error: Season 1 of "Show": episode 3 is missing\. \[missing_episodes\]/);
    const { code } = await metainfo(['create', 'Show.S01', '--strict', '--allow', 'missing_episodes', '-k', 'v1'], {
      cwd,
    });
    assert.equal(code, 0);
    assert.deepEqual(await planned(cwd, 'Show.S01/Show.S01E01.720p.mkv'), []);
  });
});

describe('findings about personal trackers', () => {
  const KEY = '0123456789abcdef0123456789abcdef';
  const URL = `https://tracker.example/${KEY}/announce`;

  it('warn in plan, create and edit, and never show the key', async (t) => {
    const cwd = await workFolder(t);
    const plan = await metainfo(['plan', 'album', '-t', URL], { cwd });
    const line =
      /warning: The URL of the tracker tracker\.example has a personal key, but the torrent is not private\. \[personal_tracker\]\n {2}.*\(--private\)\./;
    assert.match(plan.stdout, line);
    const created = await metainfo(['create', 'album', '-t', URL, '--json'], { cwd });
    const [warning] = JSON.parse(created.stdout).warnings;
    assert.deepEqual([warning.code, warning.path], ['personal_tracker', 'tracker.example']);
    assert.doesNotMatch(plan.stdout + created.stdout, new RegExp(KEY));
    assert.equal((await metainfo(['create', 'album', '-t', URL, '-p', '--strict', '--force'], { cwd })).code, 0);
    const edited = await metainfo(['edit', 'album.torrent', '--no-private', '--dry-run'], { cwd });
    assert.match(edited.stderr, line);
    const mixed = await metainfo(['edit', 'album.torrent', '--add-tracker', 'udp://open.example:1/x', '--strict'], {
      cwd,
    });
    assert.equal(mixed.code, 1);
    assert.match(
      mixed.stderr,
      /The tracker open\.example may be public: its URL has no personal key, unlike that of tracker\.example\./,
    );
    // An edit of something else says nothing about what the torrent had before.
    await metainfo(['create', 'album', '-t', URL, '--force'], { cwd });
    assert.equal((await metainfo(['edit', 'album.torrent', '--comment', 'x', '--strict'], { cwd })).stderr, '');
    const added = ['edit', 'album.torrent', '-p', '--add-tracker', `https://b.example/?passkey=${KEY}`, '--strict'];
    assert.equal((await metainfo(added, { cwd })).stderr, '');
  });
});
