import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFile, copyFile, mkdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { HUGE, sparseFile, temporaryFolder, writeTree } from '../support/tree.ts';
import { command, finish, metainfo, metainfoUnread, start } from './run.ts';

interface Event {
  event: string;
  job?: number;
  torrent?: string;
  path?: string;
  status?: string;
  ok?: boolean;
  error?: { code: string; path: string | null };
  complete?: number;
  incomplete?: number;
  missing?: number;
  failed?: number;
  extra?: number;
  jobs?: number;
}

const eventsOf = (stdout: string) =>
  stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Event);

const counts = ({ complete, incomplete, missing, failed }: Event) => [complete, incomplete, missing, failed];

/** Content in `lib`, and the torrents of it in `torrents`. */
async function library(t: TestContext): Promise<string> {
  const cwd = await temporaryFolder(t);
  await writeTree(cwd, { 'lib/a/x': 40_000, 'lib/a/y': 5, 'lib/b/x': 100, 'lib/film.mkv': 50_000 });
  await mkdir(path.join(cwd, 'torrents'));
  const { code, stderr } = await metainfo(['create', '--each', 'lib', '-o', 'torrents'], { cwd });
  assert.deepEqual([code, stderr], [0, '']);
  return cwd;
}

const TORRENTS = ['torrents/a.torrent', 'torrents/b.torrent', 'torrents/film.mkv.torrent'];

describe('metainfo verify of many torrents', () => {
  it('checks the content of each below --content, or below the current folder', async (t) => {
    const cwd = await library(t);
    const { code, stdout, stderr } = await metainfo(['verify', '--content', 'lib', ...TORRENTS], { cwd });
    assert.deepEqual([code, stderr], [0, '']);
    for (const file of TORRENTS) assert.match(stdout, new RegExp(`^${file}: complete; 100 % of `, 'm'));
    assert.match(stdout, /\n3 complete: [\d.]+ kiB in [\d.]+ s, [^\n]*\/s\n$/i);
    const here = await metainfo(['verify', ...TORRENTS.map((file) => `../${file}`)], { cwd: path.join(cwd, 'lib') });
    assert.deepEqual([here.code, here.stderr], [0, '']);
    assert.match(here.stdout, /^3 complete: /m);
    const one = await metainfo(['verify', '--content', 'lib', 'torrents/a.torrent', '--json'], { cwd });
    assert.deepEqual(
      eventsOf(one.stdout).map(({ event }) => event),
      ['start', 'done', 'summary'],
    );
    const file = await metainfo(['verify', 'torrents/film.mkv.torrent', '--content', 'lib/film.mkv'], { cwd });
    assert.equal(file.code, 0);
    assert.match(file.stdout, /^film\.mkv: complete/);
  });

  it('goes on after a torrent that is incomplete, missing, broken or cannot be checked', async (t) => {
    const cwd = await library(t);
    await appendFile(path.join(cwd, 'lib/a/x'), 'z');
    await rm(path.join(cwd, 'lib/b'), { recursive: true });
    await writeFile(path.join(cwd, 'torrents/broken.torrent'), 'd4:info');
    const files = ['torrents/broken.torrent', 'torrents/none.torrent', ...TORRENTS];
    const { code, stdout, stderr } = await metainfo(['verify', '--content', 'lib', ...files], { cwd });
    assert.equal(code, 1);
    assert.match(stderr, /^torrents\/broken\.torrent:\nerror: .*\[ERR_BENCODE\]$/m);
    assert.match(stderr, /^torrents\/none\.torrent:\nerror: .*\[ERR_NOT_FOUND\]$/m);
    assert.match(stdout, /^wrong-size {2}x \(/m);
    assert.match(stdout, /^torrents\/a\.torrent: 1 file incomplete, /m);
    assert.match(stdout, /^torrents\/b\.torrent: missing; there is no lib\/b$/m);
    assert.match(stdout, /\n1 complete, 1 incomplete, 1 missing, 2 failed: [^\n]*\n$/);
    const quiet = await metainfo(['verify', '-q', '--content', 'lib', ...files], { cwd });
    assert.equal(quiet.code, 1);
    assert.doesNotMatch(quiet.stdout, /: complete|1 complete/);
    assert.match(quiet.stdout, /^torrents\/b\.torrent: missing/m);
    const v2 = await metainfo(['verify', '--content', 'lib', '-k', 'v2', ...TORRENTS, '--json'], { cwd });
    assert.deepEqual(counts(eventsOf(v2.stdout).at(-1) as Event), [1, 1, 1, 0]);
  });

  it('ends with all torrents that are not complete, in their order', async (t) => {
    const cwd = await library(t);
    const names = Array.from({ length: 60 }, (_, i) => `torrents/c${String(i).padStart(2, '0')}.torrent`);
    for (const name of names) await copyFile(path.join(cwd, 'torrents/b.torrent'), path.join(cwd, name));
    await writeFile(path.join(cwd, 'torrents/broken.torrent'), 'x');
    await rm(path.join(cwd, 'lib/b'), { recursive: true });
    await appendFile(path.join(cwd, 'lib/film.mkv'), 'x');
    const list = [
      'not complete:',
      '  missing     torrents/b.torrent',
      '  failed      torrents/broken.torrent',
      ...names.map((name) => `  missing     ${name}`),
      '  incomplete  torrents/film.mkv.torrent',
    ].join('\n');
    const { code, stdout } = await metainfo(['verify', '--each', 'torrents', 'lib'], { cwd });
    assert.equal(code, 1);
    assert.ok(stdout.includes(`\n${list}\n1 complete, 1 incomplete, 61 missing, 1 failed: `), stdout);
    const quiet = await metainfo(['verify', '--each', 'torrents', 'lib', '-q'], { cwd });
    assert.ok(quiet.stdout.endsWith(`\n${list}\n`), quiet.stdout);
    const one = await metainfo(['verify', '--content', 'lib', 'torrents/b.torrent'], { cwd });
    assert.doesNotMatch(one.stdout, /not complete/);
    const complete = await metainfo(['verify', '--content', 'lib', 'torrents/a.torrent', 'torrents/a.torrent'], {
      cwd,
    });
    assert.doesNotMatch(complete.stdout, /not complete/);
  });

  it('prints events with --json, and ends quietly when standard output is closed', async (t) => {
    const cwd = await library(t);
    await appendFile(path.join(cwd, 'lib/a/x'), 'z');
    await rm(path.join(cwd, 'lib/b'), { recursive: true });
    const args = ['verify', '--content', 'lib', 'torrents/none.torrent', ...TORRENTS, '--json'];
    const { code, stdout, stderr } = await metainfo(args, { cwd });
    assert.deepEqual([code, stderr], [1, '']);
    const events = eventsOf(stdout);
    const ends = events.filter(({ event }) => event === 'done' || event === 'failed');
    assert.deepEqual(
      ends
        .toSorted((a, b) => (a.job as number) - (b.job as number))
        .map(({ job, torrent, path: content, status, ok, error }) => [job, torrent, content, status, ok, error?.code]),
      [
        [0, 'torrents/none.torrent', undefined, undefined, undefined, 'ERR_NOT_FOUND'],
        [1, 'torrents/a.torrent', 'lib/a', 'incomplete', false, undefined],
        [2, 'torrents/b.torrent', 'lib/b', 'missing', false, undefined],
        [3, 'torrents/film.mkv.torrent', 'lib/film.mkv', 'complete', true, undefined],
      ],
    );
    assert.equal(events.filter(({ event }) => event === 'start').length, 4);
    assert.deepEqual(counts(events.at(-1) as Event), [1, 1, 1, 1]);
    assert.equal((await metainfoUnread(args, { cwd })).stderr, '');
  });

  it('agrees with a verification of each torrent', async (t) => {
    const cwd = await library(t);
    await appendFile(path.join(cwd, 'lib/a/y'), 'z');
    const { stdout } = await metainfo(['verify', '--content', 'lib', ...TORRENTS, '--json'], { cwd });
    for (const [file, name] of [
      ['a', 'a'],
      ['film.mkv', 'film.mkv'],
    ] as const) {
      const alone = await metainfo(['verify', `torrents/${file}.torrent`, `lib/${name}`, '--json'], { cwd });
      const found = eventsOf(stdout).find(({ event, path: at }) => event === 'done' && at === `lib/${name}`);
      const { job: _, ...report } = found as Event;
      const { job: __, ...own } = JSON.parse(alone.stdout);
      assert.deepEqual(report, own);
    }
  });

  it('ends all with Ctrl-C, and tells which were not done', async (t) => {
    const cwd = await temporaryFolder(t);
    await writeTree(cwd, { 'lib/a': 10, 'lib/c': 10 });
    await mkdir(path.join(cwd, 'torrents'));
    await writeFile(path.join(cwd, 'lib/b'), 'b');
    await metainfo(['create', '--each', 'lib', '-o', 'torrents', '-k', 'v1'], { cwd });
    // A huge file in the place of b, whose torrent says so too.
    await sparseFile(path.join(cwd, 'lib'), 'b', HUGE);
    const info = await readFile(path.join(cwd, 'torrents/b.torrent'));
    const pieces = Math.ceil(HUGE / 2 ** 31);
    const text = info.toString('latin1');
    const bytes = text
      .replace('6:lengthi1e', `6:lengthi${HUGE}e`)
      .replace(/12:piece lengthi\d+e/, `12:piece lengthi${2 ** 31}e`)
      .replace(/6:pieces20:[\s\S]{20}/, `6:pieces${20 * pieces}:${'x'.repeat(20 * pieces)}`);
    await writeFile(path.join(cwd, 'torrents/b.torrent'), Buffer.from(bytes, 'latin1'));
    const [program, ...args] = command(['verify', '--each', 'torrents', 'lib', '--jobs', '1', '--json']);
    const child = spawn(program, args, { cwd });
    let stdout = '';
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      stdout += chunk;
      if (!child.killed && stdout.includes('"start","job":1')) child.kill('SIGINT');
    });
    const [code] = await once(child, 'close');
    assert.equal(code, 130);
    const events = eventsOf(stdout);
    const cancelled = events.filter(({ event }) => event === 'cancelled');
    assert.deepEqual(
      cancelled.map(({ job, torrent }) => [job, torrent]),
      [
        [1, 'torrents/b.torrent'],
        [2, 'torrents/c.torrent'],
      ],
    );
    assert.deepEqual(counts(events.at(-1) as Event), [1, 0, 0, 0]);
    const people = start(['verify', '--each', 'torrents', 'lib', '--jobs', '1', '--cache-dir', 'cache'], { cwd });
    const finished = finish(people);
    people.stdout.once('data', () => people.kill('SIGTERM'));
    const result = await finished;
    assert.equal(result.code, 143);
    assert.match(result.stdout, /\n1 complete, 2 not checked or cancelled: /);
    assert.match(result.stderr, /^Hashed files are cached: run the same command again\.\n$/);
  });
});

describe('the second argument of metainfo verify', () => {
  it('is the content of a single-file torrent that is itself a torrent', async (t) => {
    const cwd = await library(t);
    await metainfo(['create', 'torrents/a.torrent', '-o', 'outer.torrent'], { cwd });
    const whole = await metainfo(['verify', 'outer.torrent', 'torrents/a.torrent'], { cwd });
    assert.deepEqual([whole.code, whole.stderr], [0, '']);
    assert.match(whole.stdout, /^a\.torrent: complete/);
    // A damaged download has the name, and is no torrent.
    await mkdir(path.join(cwd, 'damaged'));
    await writeFile(path.join(cwd, 'damaged/a.torrent'), 'x');
    const damaged = await metainfo(['verify', 'outer.torrent', 'damaged/a.torrent'], { cwd });
    assert.equal(damaged.code, 1);
    assert.match(damaged.stdout, /^wrong-size/m);
  });

  it('is refused with both command lines if it can be either', async (t) => {
    const cwd = await library(t);
    await metainfo(['create', 'torrents/a.torrent', '-o', 'outer.torrent'], { cwd });
    // The same size under another name, and another size under the same name.
    await copyFile(path.join(cwd, 'torrents/a.torrent'), path.join(cwd, 'renamed.torrent'));
    await mkdir(path.join(cwd, 'other'));
    await copyFile(path.join(cwd, 'torrents/film.mkv.torrent'), path.join(cwd, 'other/a.torrent'));
    await writeFile(path.join(cwd, 'broken.torrent'), 'x');
    for (const second of ['renamed.torrent', 'other/a.torrent', 'broken.torrent']) {
      const { code, stdout, stderr } = await metainfo(['verify', 'outer.torrent', second], { cwd });
      assert.deepEqual([code, stdout], [2, ''], second);
      assert.ok(stderr.includes(`metainfo verify outer.torrent --content ${second}`), stderr);
      assert.ok(stderr.includes(`metainfo verify --content . outer.torrent ${second}`), stderr);
    }
    const content = await metainfo(['verify', 'outer.torrent', '--content', 'renamed.torrent'], { cwd });
    assert.equal(content.code, 0, content.stderr);
  });

  it('is another torrent in all other cases, also if one of the two is broken', async (t) => {
    const cwd = await library(t);
    const lib = path.join(cwd, 'lib');
    await writeFile(path.join(cwd, 'torrents/broken.torrent'), 'x');
    const cases: [string, string, RegExp][] = [
      ['film.mkv', 'a', /^2 complete: /m],
      ['a', 'film.mkv', /^2 complete: /m],
      ['a', 'broken', /^1 complete, 1 failed: /m],
      ['broken', 'a', /^1 complete, 1 failed: /m],
    ];
    for (const [first, second, summary] of cases) {
      const files = [first, second].map((name) => `../torrents/${name}.torrent`);
      const { stdout } = await metainfo(['verify', ...files], { cwd: lib });
      assert.match(stdout, summary, files.join(' '));
    }
  });

  it('cannot be a folder among many torrents', async (t) => {
    const cwd = await library(t);
    for (const args of [
      ['lib', ...TORRENTS],
      [...TORRENTS, 'lib'],
    ]) {
      const { code, stderr } = await metainfo(['verify', ...args], { cwd });
      assert.equal(code, 2);
      assert.match(stderr, /lib is a folder.*: metainfo verify --content lib torrents\/a\.torrent/);
    }
  });

  it('makes wrong usage of options that do not fit', async (t) => {
    const cwd = await library(t);
    const cases = [
      ['torrents/a.torrent', 'lib/a', '--jobs', '2'],
      ['--each', 'torrents', 'lib', 'lib'],
      ['--each', 'torrents', 'lib', '--content', 'lib'],
      ['--each', 'torrents/a.torrent', 'lib'],
      ['--each', '-', 'lib'],
      ['--each', 'torrents', 'torrents/a.torrent'],
      ['--content', 'lib/film.mkv', ...TORRENTS],
      ['--content', 'lib', '-', '-'],
      ['--content', 'lib', ...TORRENTS, '--find', 'lib', '--rename'],
      ['--content', '', ...TORRENTS],
    ];
    for (const args of cases) assert.equal((await metainfo(['verify', ...args], { cwd })).code, 2, args.join(' '));
    for (const args of [
      ['--content', 'absent', ...TORRENTS],
      ['--each', 'absent', 'lib'],
      ['--each', 'torrents', 'absent'],
      ['--each', 'lib', 'lib'],
    ])
      assert.equal((await metainfo(['verify', ...args], { cwd })).code, 1, args.join(' '));
  });
});

describe('metainfo verify --each', () => {
  it('checks a folder of torrents against a folder of content, and reports content without a torrent', async (t) => {
    const cwd = await library(t);
    await writeTree(cwd, {
      'lib/more/x': 5,
      'lib/.hidden': 5,
      'lib/Thumbs.db': 5,
      'torrents/sub/x': 1,
      'torrents/note.txt': 1,
    });
    await copyFile(path.join(cwd, 'torrents/a.torrent'), path.join(cwd, 'torrents/again.TORRENT'));
    // As macOS leaves it on other file systems.
    await writeFile(path.join(cwd, 'torrents/._a.torrent'), Buffer.from('\0\x05\x16\x07\0\x02\0\0Mac OS X        '));
    const { code, stdout, stderr } = await metainfo(['verify', '--each', 'torrents', 'lib'], { cwd });
    assert.deepEqual([code, stderr], [0, '']);
    assert.match(stdout, /^torrents\/again\.TORRENT: complete/m);
    assert.match(stdout, /\nextra {7}lib\/more \(no torrent\)\n4 complete: [^\n]*\n$/);
    const json = await metainfo(['verify', '--each', 'torrents', '--content', 'lib', '--json', '--jobs', '2'], { cwd });
    const events = eventsOf(json.stdout);
    assert.deepEqual(
      events.filter(({ event }) => event === 'extra').map(({ path: at }) => at),
      ['lib/more'],
    );
    const { jobs, extra, complete } = events.at(-1) as Event;
    assert.deepEqual([jobs, extra, complete], [4, 1, 4]);
  });

  it('passes over pipes and links to them, which may never end', async (t) => {
    const cwd = await library(t);
    execFileSync('mkfifo', [path.join(cwd, 'torrents/pipe.torrent')]);
    await symlink('pipe.torrent', path.join(cwd, 'torrents/link.torrent'));
    await symlink('nowhere', path.join(cwd, 'torrents/broken.torrent'));
    const { code, stdout, stderr } = await metainfo(['verify', '--each', 'torrents', 'lib'], { cwd });
    assert.equal(code, 1);
    assert.match(stdout, / complete, 1 failed: /);
    assert.match(`${stdout}${stderr}`, /broken\.torrent: no such file or folder/);
    assert.doesNotMatch(`${stdout}${stderr}`, /pipe\.torrent|link\.torrent/);
  });

  it('looks in the current folder by default, and does not call the torrents extra', async (t) => {
    const cwd = await library(t);
    await rename(path.join(cwd, 'torrents'), path.join(cwd, 'lib/torrents'));
    await writeFile(path.join(cwd, 'lib/torrents/b.torrent'), 'broken');
    const { code, stdout } = await metainfo(['verify', '--each', 'torrents'], { cwd: path.join(cwd, 'lib') });
    assert.equal(code, 1);
    // Nor the content of a torrent that cannot be read.
    assert.match(stdout, /\n2 complete, 1 failed: /);
    assert.doesNotMatch(stdout, /extra/);
  });

  const isLinux = process.platform === 'linux';
  it('does not call content extra that has the bytes of its torrent as its name', { skip: !isLinux }, async (t) => {
    const cwd = await library(t);
    const latin1 = (name: string) => Buffer.from(`${cwd}/lib/${name}`, 'latin1');
    await rename(path.join(cwd, 'lib/a'), path.join(cwd, 'lib/cafe'));
    await metainfo(['create', 'lib/cafe', '-k', 'v1', '-o', 'torrents/a.torrent', '--force'], { cwd });
    const torrent = await readFile(path.join(cwd, 'torrents/a.torrent'));
    torrent.set([0xe9], torrent.indexOf('cafe12:piece') + 3);
    await writeFile(path.join(cwd, 'torrents/a.torrent'), torrent);
    await rename(path.join(cwd, 'lib/cafe'), latin1('caf\xe9'));
    await writeFile(latin1('th\xe9'), 'x');
    const verify = ['verify', '--compat', '--each', 'torrents', 'lib'];
    const { code, stdout } = await metainfo(verify, { cwd });
    assert.equal(code, 0);
    assert.deepEqual(stdout.match(/^extra.*$/gm), ['extra       lib/th\\xe9 (no torrent)']);
    // Both forms of one name are two entries, and only one is the content.
    await writeTree(cwd, { 'lib/caf\ufffd/x': 40_000, 'lib/caf\ufffd/y': 5 });
    const again = await metainfo(verify, { cwd });
    assert.deepEqual(again.stdout.match(/^extra.*$/gm), [
      'extra       lib/caf\\xe9 (no torrent)',
      'extra       lib/th\\xe9 (no torrent)',
    ]);
  });
});
