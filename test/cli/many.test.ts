import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFile, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, it, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Torrent } from '../../src/model/torrent/torrent.ts';
import { buildShim, Faults, faultsEnv, shimMissing } from '../support/faults.ts';
import { HUGE, sparseFile, temporaryFolder, writeTree } from '../support/tree.ts';
import { entries, finish, MAIN, metainfo, metainfoUnread, read, start } from './run.ts';

const MIB = 2 ** 20;

/** A folder `lib` with albums and files. */
async function library(t: TestContext): Promise<string> {
  const cwd = await temporaryFolder(t);
  const albums = Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`lib/album${i}/track.flac`, 1000 + i]));
  await writeTree(cwd, { ...albums, 'lib/film.mkv': 50_000, 'lib/.DS_Store': 1, 'lib/.hidden/x': 1, 'out/keep': 1 });
  await writeFile(path.join(cwd, 'lib/old.torrent'), 'x');
  return cwd;
}

const NAMES = [...Array.from({ length: 20 }, (_, i) => `album${i}`), 'film.mkv'].sort();

interface Event {
  event: string;
  job?: number;
  torrent?: string | null;
  path?: string;
  infohash?: { v2: string };
  error?: { code: string; findings?: { code: string }[] };
  done?: number;
  failed?: number;
  skipped?: number;
}

const eventsOf = (stdout: string) =>
  stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Event);

describe('metainfo create --each', () => {
  it('makes a torrent of every entry, equal to that of a single creation', async (t) => {
    const cwd = await library(t);
    const { code, stdout, stderr } = await metainfo(['create', '--each', 'lib', '-o', 'out', '--jobs', '3'], { cwd });
    assert.deepEqual([code, stderr], [0, '']);
    assert.deepEqual(await entries(path.join(cwd, 'out')), ['keep', ...NAMES.map((name) => `${name}.torrent`)].sort());
    assert.match(stdout, /^21 torrents made: .* in .* s, .*\/s$/m);
    for (const name of ['album7', 'film.mkv']) {
      await metainfo(['create', `lib/${name}`], { cwd });
      assert.deepEqual(
        (await read(cwd, `out/${name}.torrent`)).bencode(),
        (await read(cwd, `${name}.torrent`)).bencode(),
      );
    }
  });

  it('only plans with --dry-run, as plan --each does: a line each, every finding, and a summary', async (t) => {
    const cwd = await library(t);
    await writeTree(cwd, { 'lib/album3/con': 1, 'lib/empty/x': 0 });
    await metainfo(['create', 'lib/album5', '-o', 'out/album5.torrent', '-k', 'v1'], { cwd });
    const before = await entries(path.join(cwd, 'out'));
    const args = ['lib', '-o', 'out', '-k', 'v1'];
    const { code, stdout } = await metainfo(['create', '--each', ...args, '--dry-run'], { cwd });
    assert.equal(code, 1);
    assert.match(
      stdout,
      /^out\/film\.mkv\.torrent: v1, 1 file, 48\.8 KiB, 4 pieces of 16 KiB, torrent of about \d+ B$/m,
    );
    assert.match(stdout, /^out\/album3\.torrent: v1, 2 files, .*\nwarning: .*\[windows_name\]$/m);
    assert.match(stdout, /^out\/album5\.torrent: .*\nerror: .*\[ERR_OUTPUT_EXISTS\]$/m);
    assert.match(stdout, /^out\/empty\.torrent: .*\nerror: .*\[ERR_NO_DATA\]$/m);
    const counts = ['1 with ERR_OUTPUT_EXISTS', '1 with windows_name', '1 with ERR_NO_DATA'];
    const summary = stdout.trimEnd().split('\n').at(-1) ?? '';
    assert.match(summary, /^20 torrents to make, 2 failed: \d+\.\d KiB, 1 with /);
    assert.deepEqual(summary.split(', ').slice(2).sort(), counts.sort());
    assert.deepEqual(await entries(path.join(cwd, 'out')), before);
    const resumed = await metainfo(['create', '--each', ...args, '--dry-run', '--resume', '-q'], { cwd });
    assert.deepEqual(
      resumed.stdout.match(/^out\S+/gm)?.sort(),
      ['out/album3.torrent:', 'out/empty.torrent:'],
      'quiet: only findings',
    );

    const planned = await metainfo(['plan', '--each', ...args, '--json'], { cwd });
    assert.equal(planned.code, 1);
    const events = eventsOf(planned.stdout);
    const alone = await metainfo(['plan', 'lib/album3', '-o', 'out/', '-k', 'v1', '--json'], { cwd });
    const known = ({ seconds: _, bytesPerSecond: __, event: ___, job: ____, ...rest }: Record<string, unknown>) => rest;
    const own = events.find(({ path: place }) => place === 'lib/album3');
    assert.deepEqual(known(own as never), known(JSON.parse(alone.stdout)));
    const failed = events.filter(({ event }) => event === 'failed').map(({ torrent }) => torrent);
    assert.deepEqual(failed.sort(), ['out/album5.torrent', 'out/empty.torrent']);
    const { done, failed: count } = events.at(-1) as Event;
    assert.deepEqual([events.length, done, count], [23, 20, 2]);
    assert.equal((await metainfo(['create', '--each', 'lib', '-o', 'new', '--dry-run', '-q'], { cwd })).code, 1);
    await assert.rejects(entries(path.join(cwd, 'new')), { code: 'ENOENT' }, 'no folder is made');
    const jobs = '{"path":"lib/album1"}\nnonsense\n';
    const list = await metainfo(['create', '--batch', '-', '--dry-run'], { cwd, input: jobs });
    assert.match(list.stdout, /^album1\.torrent: hybrid, .*\n1 torrent to make, 1 failed: 1001 B\n$/);
    const parts = await metainfo(['plan', '--each', 'lib', '--part-size', '1MiB'], { cwd });
    assert.equal(parts.code, 2);
  });

  it('plans a large job again that had to wait for others', { skip: shimMissing() }, async (t) => {
    const cwd = await temporaryFolder(t);
    await writeTree(cwd, { 'out/keep': 1, 'work/keep': 1 });
    for (let i = 1; i <= 5; i += 1) await sparseFile(path.join(cwd, 'work'), `f${i}`, 65 * MIB);
    const control = path.join(cwd, 'control');
    const faults = Faults.create(control);
    t.after(() => faults.close());
    faults.arm({ call: 'sync', action: 'stall', every: 1 });
    const env = faultsEnv({ shim: buildShim(cwd), control, folder: cwd });
    const child = spawn(process.execPath, [MAIN, 'create', '--batch', '-', '--json'], {
      cwd,
      env: { ...process.env, ...env },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    const add = (i: number) =>
      child.stdin.write(`${JSON.stringify({ path: `work/f${i}`, output: `out/f${i}.torrent` })}\n`);
    for (const i of [1, 2, 3, 4]) add(i);
    // Four jobs are hashed, and wait to be written.
    while (faults.counts().bytes < 4 * 65 * MIB && child.exitCode === null) await sleep(5);
    add(5);
    // The last one gets its plan. If that takes longer, the test checks nothing.
    await sleep(300);
    await appendFile(path.join(cwd, 'work/f5'), 'more');
    child.stdin.end();
    faults.arm(null);
    const [stdout, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')]);
    assert.equal(code, 0, stdout);
    assert.equal((await read(cwd, 'out/f5.torrent')).totalSize, 65 * MIB + 4);
  });

  it('goes on after a job that fails, tells why, and exits with 1', async (t) => {
    const cwd = await library(t);
    await writeTree(cwd, { 'lib/empty/x': 0, 'out/album3.torrent': 3 });
    const { code, stdout, stderr } = await metainfo(['create', '--each', 'lib', '-o', 'out'], { cwd });
    assert.equal(code, 1);
    assert.match(stderr, /^lib\/empty:\nerror: .*\[ERR_NO_DATA\]$/m);
    assert.match(stderr, /^lib\/album3:\nerror: output file exists: .*album3\.torrent \(use --force to replace it\)/m);
    assert.match(stdout, /^20 torrents made, 2 failed: /m);
    assert.equal(await readFile(path.join(cwd, 'out/album3.torrent'), 'utf8').then((text) => text.length), 3);
  });

  it('reports an entry whose name is not UTF-8, and makes the others', {
    skip: process.platform !== 'linux',
  }, async (t) => {
    const cwd = await temporaryFolder(t);
    await writeTree(cwd, { 'lib/a.txt': 1 });
    // Two names that Node reads as the same text.
    for (const byte of [0xfe, 0xff]) await writeFile(Buffer.from([...Buffer.from(`${cwd}/lib/b`), byte]), 'x');
    const { code, stdout, stderr } = await metainfo(['create', '--each', 'lib', '-o', 'out'], { cwd });
    assert.equal(code, 1);
    assert.match(
      stderr,
      /^lib\/b\\xff:\nerror: lib\/b\\xff: a torrent cannot contain a name that is not UTF-8: rename it or leave it out\. \[ERR_NAME\]$/m,
    );
    assert.match(stdout, /^1 torrent made, 2 failed: /m);
    const json = eventsOf((await metainfo(['create', '--each', 'lib', '--json', '--force'], { cwd })).stdout);
    assert.deepEqual(
      json.flatMap(({ event, torrent, path: place }) => (event === 'failed' ? [[torrent, place]] : [])).sort(),
      ['lib/b\\xfe', 'lib/b\\xff'].map((name) => [null, name]),
    );
    const extra = await metainfo(['verify', '--each', 'out', 'lib'], { cwd });
    assert.match(extra.stdout, /^extra {7}lib\/b\\xff \(no torrent\)$/m);
    // Node gives an argument that is not UTF-8 with U+FFFD in it.
    const direct = await metainfo(['create', 'lib/b\ufffd'], { cwd });
    assert.match(
      direct.stderr,
      /no such file or folder\. If the \ufffd in it stands for bytes that are not UTF-8, metainfo cannot open it: rename it\. \[ERR_NOT_FOUND\]/,
    );
  });

  it('names the findings that end a job', async (t) => {
    const cwd = await temporaryFolder(t);
    await writeTree(cwd, { 'lib/album/con.txt': 1, 'lib/ok/a.txt': 1 });
    const args = ['create', '--each', 'lib', '--strict', '--allow', 'single_file_folder'];
    const { code, stderr } = await metainfo(args, { cwd });
    assert.equal(code, 1);
    assert.match(
      stderr,
      /^lib\/album:\nerror: .*con\.txt.* \[windows_name\]\n(?:.*\n)*error: Nothing was hashed .*\[ERR_FINDINGS\]/,
    );
    const json = await metainfo([...args, '--json'], { cwd });
    const failed = eventsOf(json.stdout).find(
      ({ event, torrent }) => event === 'failed' && torrent === 'album.torrent',
    );
    assert.deepEqual(
      failed?.error?.findings?.map((finding) => finding.code),
      ['windows_name'],
    );
  });

  it('refuses a file in the place of a folder', async (t) => {
    const cwd = await library(t);
    const { code, stderr } = await metainfo(['create', '--each', 'lib/film.mkv'], { cwd });
    assert.equal(code, 2);
    assert.match(stderr, /^error: lib\/film\.mkv is a file, not a folder: /);
  });

  it('prints events with --json: one of start and of end for each job, and a summary', async (t) => {
    const cwd = await library(t);
    await writeTree(cwd, { 'lib/empty/x': 0 });
    const { code, stdout, stderr } = await metainfo(['create', '--each', 'lib', '-o', 'out', '--json'], { cwd });
    assert.deepEqual([code, stderr], [1, '']);
    const events = eventsOf(stdout);
    const jobs = (name: string) => events.filter(({ event }) => event === name).map(({ job = -1 }) => job);
    assert.deepEqual(
      jobs('start').toSorted((a, b) => a - b),
      [...Array(22).keys()],
    );
    assert.deepEqual(
      [...jobs('done'), ...jobs('failed')].toSorted((a, b) => a - b),
      [...Array(22).keys()],
    );
    assert.equal(events.find(({ event }) => event === 'failed')?.error?.code, 'ERR_NO_DATA');
    const { event, done, failed, skipped } = events.at(-1) as Event;
    assert.deepEqual([event, done, failed, skipped], ['summary', 21, 1, 0]);
  });

  it('skips only torrents that are up to date with --resume', async (t) => {
    const cwd = await library(t);
    const args = ['create', '--each', 'lib', '-o', 'out', '--json'];
    await metainfo(args, { cwd });
    await rm(path.join(cwd, 'out/album1.torrent'));
    await writeFile(path.join(cwd, 'out/album2.torrent'), 'd4:info');
    await writeTree(cwd, { 'lib/album4/more.flac': 5 });
    const again = eventsOf((await metainfo([...args, '--resume'], { cwd })).stdout);
    const torrents = (name: string) =>
      again.flatMap(({ event, torrent }) => (event === name ? [path.basename(torrent ?? '', '.torrent')] : [])).sort();
    assert.deepEqual(torrents('done'), ['album1']);
    assert.deepEqual(torrents('failed'), ['album2', 'album4']);
    assert.equal(torrents('skipped').length, 18);
    const forced = eventsOf((await metainfo([...args, '--resume', '--force', '--private'], { cwd })).stdout);
    assert.equal(forced.at(-1)?.done, 21);
    assert.equal((await read(cwd, 'out/album4.torrent')).nFiles, 2);
  });

  it('makes the folder of -o, and refuses a file in its place', async (t) => {
    const cwd = await library(t);
    for (const output of ['new/sub', 'other/']) {
      const { code, stderr } = await metainfo(['create', '--each', 'lib', '-o', output, '-q'], { cwd });
      assert.deepEqual([code, stderr], [0, '']);
      assert.ok((await entries(path.join(cwd, output))).includes('film.mkv.torrent'));
    }
    const file = await metainfo(['create', '--each', 'lib', '-o', 'lib/film.mkv'], { cwd });
    assert.equal(file.code, 2);
    assert.match(file.stderr, /^error: lib\/film\.mkv is a file, not a folder: give another -o\./);
  });

  it('refuses two entries with one output, and standard output', async (t) => {
    const cwd = await library(t);
    await writeTree(cwd, { 'other/film.mkv': 1 });
    const twice = await metainfo(['create', '--each', 'lib', 'other', '-o', 'out'], { cwd });
    assert.equal(twice.code, 2);
    assert.match(twice.stderr, /lib\/film\.mkv and other\/film\.mkv would both be written to out\/film\.mkv\.torrent/);
    const stdout = await metainfo(['create', '--each', 'lib', '-o', '-'], { cwd });
    assert.equal(stdout.code, 2);
    assert.deepEqual(await entries(path.join(cwd, 'out')), ['keep']);
  });

  it('cancels the running jobs with Ctrl-C, and keeps what is complete', async (t) => {
    const cwd = await temporaryFolder(t);
    await writeTree(cwd, { 'lib/a': 10, 'out/keep': 1 });
    await sparseFile(path.join(cwd, 'lib'), 'b', HUGE);
    const child = start(['create', '--each', 'lib', '-o', 'out', '--cache-dir', 'cache'], { cwd });
    const finished = finish(child);
    child.stdout.once('data', () => child.kill('SIGINT'));
    const { code, stdout, stderr } = await finished;
    assert.equal(code, 130);
    assert.match(stderr, /^Hashed files are cached: run the same command again with --resume\.\n$/);
    assert.match(stdout, /^out\/a\.torrent: [^\n]*\n1 torrent made, 1 not started or cancelled: /);
    assert.deepEqual(await entries(path.join(cwd, 'out')), ['a.torrent', 'keep']);
  });

  it('ends quietly when standard output is closed', async (t) => {
    const cwd = await library(t);
    await writeTree(cwd, Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`lib/more${i}/file`, 30_000])));
    for (const more of [[], ['--json']]) {
      const { code, stderr } = await metainfoUnread(['create', '--each', 'lib', '-o', 'out', ...more], { cwd });
      assert.deepEqual([code, stderr], [0, '']);
      const names = (await entries(path.join(cwd, 'out'))).filter((one) => one !== 'keep');
      assert.ok(names.length < 20, 'the jobs went on');
      for (const name of names) {
        assert.match(name, /\.torrent$/, 'a half-written file stays');
        await Torrent.read(path.join(cwd, 'out', name));
        await rm(path.join(cwd, 'out', name));
      }
    }
  });
});

describe('metainfo create --batch', () => {
  const JOBS = [
    {
      path: 'lib/album1',
      output: 'out/one.torrent',
      'torrent-version': 'v1',
      private: true,
      tracker: ['udp://a.example:1/x'],
    },
    { paths: ['lib/album2', 'lib/album3'], name: 'two', comment: 'own', 'created-by': false },
    { path: 'lib/film.mkv', 'piece-length': 65536 },
  ];

  it('makes the torrents of a JSON array and of NDJSON, with the options of the command line as defaults', async (t) => {
    const cwd = await library(t);
    const texts = [JSON.stringify(JOBS, null, 2), `\ufeff${JOBS.map((job) => JSON.stringify(job)).join('\r\n\n')}\n`];
    for (const text of texts) {
      await writeFile(path.join(cwd, 'jobs.json'), text);
      const args = ['create', '--batch', 'jobs.json', '--comment', 'all', '-k', 'v2', '--force', '--json'];
      const { code, stdout, stderr } = await metainfo(args, { cwd });
      assert.deepEqual([code, stderr], [0, ''], stdout);
      const [one, two, film] = await Promise.all(
        ['out/one', 'two', 'film.mkv'].map((name) => read(cwd, `${name}.torrent`)),
      );
      assert.deepEqual(
        [one?.torrentVersion, one?.info.private, one?.announce, one?.comment],
        ['v1', true, 'udp://a.example:1/x', 'all'],
      );
      assert.deepEqual([two?.torrentVersion, two?.nFiles, two?.comment, two?.createdBy], ['v2', 2, 'own', null]);
      assert.equal(film?.info.pieceLength, 65536);
    }
  });

  it('sets other keys to texts, numbers and lists', async (t) => {
    const cwd = await library(t);
    await writeFile(path.join(cwd, 'c.toml'), '[create]\nset = "all:=1"\n[presets.p]\nset = ["own:=2", "info.x=:=3"]');
    const jobs = [
      { path: 'lib/album1' },
      { path: 'lib/album2', preset: 'p' },
      { path: 'lib/album3', set: ['n:=9007199254740993', 'info.l:=["a",1]', 'text=5'] },
    ];
    const broken = ['{"path":"lib/album4","set":"n:=1.5"}', '{"path":"lib/album5","set":{"n":5}}'];
    const create = async (name: string, text: string) => {
      await writeFile(path.join(cwd, name), text);
      const args = ['create', '--batch', name, '--config', 'c.toml', '--force'];
      const { stderr } = await metainfo(args, { cwd });
      const torrents = await Promise.all([1, 2, 3].map((i) => read(cwd, `album${i}.torrent`)));
      const keys = torrents.map(({ extra, info }) => [extra, info.extra ?? []].map((map) => Object.fromEntries(map)));
      return { keys, stderr };
    };
    const expected = [
      [{ all: 1 }, {}],
      [{ own: 2 }, { x: Buffer.from(':=3') }],
      [{ n: 2n ** 53n + 1n, text: Buffer.from('5') }, { l: [Buffer.from('a'), 1] }],
    ];
    assert.deepEqual(await create('jobs.json', JSON.stringify(jobs)), { keys: expected, stderr: '' });
    const lines = [...jobs.map((job) => JSON.stringify(job)), ...broken];
    const { keys, stderr } = await create('jobs.ndjson', lines.join('\n'));
    assert.deepEqual(keys, expected);
    assert.match(stderr, /^line 4:\nerror: .*'n:=1\.5' is invalid\. Bencode has only whole numbers/m);
    assert.match(stderr, /^line 5:\nerror: expected text, a number, true or false for set, got an object/m);
  });

  it('reports every broken line, and makes the others', async (t) => {
    const cwd = await library(t);
    const lines = [
      '{"path":"lib/album1"}',
      '{"path":"lib/album1","piece-lenght":1}',
      '{"path":"lib/album1","piece-length":3}',
      '{"output":"x"}',
      '[]',
      '{"path":"lib/album1","json":true}',
      '{"path":"lib/album1","tracker":{}}',
      '{"path":"lib/album1","__proto__":"x"}',
      '{"path":"lib/album1","help":true}',
      '{"path":"lib/album1","paths":["lib/album2"]}',
      'nonsense',
    ];
    await writeFile(path.join(cwd, 'jobs.ndjson'), lines.join('\n'));
    const { code, stdout, stderr } = await metainfo(['create', '--batch', 'jobs.ndjson'], { cwd });
    assert.equal(code, 1);
    assert.match(stdout, /^1 torrent made, 10 failed: /m);
    for (let line = 2; line <= lines.length; line += 1)
      assert.match(stderr, new RegExp(`^line ${line}:\nerror: `, 'm'));
    assert.match(stderr, /unknown key "piece-lenght": did you mean "piece-length"\?/);
    assert.doesNotMatch(stderr, /^line 1:/m);
    assert.deepEqual(await entries(cwd), ['album1.torrent', 'jobs.ndjson', 'lib', 'out']);
  });

  it('refuses an empty list, a missing file, broken JSON and two jobs with one output', async (t) => {
    const cwd = await library(t);
    const cases: [string | null, number, RegExp][] = [
      ['', 2, /there is no job/],
      ['[]', 2, /there is no job/],
      ['[{]', 2, /the array: .*JSON/],
      [null, 1, /no such file/],
      ['[{"path":"lib/album1"},{"path":"lib/album1"}]', 2, /would both be written to album1\.torrent/],
    ];
    for (const [text, expected, message] of cases) {
      await rm(path.join(cwd, 'jobs'), { force: true });
      if (text !== null) await writeFile(path.join(cwd, 'jobs'), text);
      const { code, stderr } = await metainfo(['create', '--batch', 'jobs'], { cwd });
      assert.equal(code, expected, stderr);
      assert.match(stderr, message);
    }
  });

  it('is exclusive with paths, and --jobs and --resume need many jobs', async (t) => {
    const cwd = await library(t);
    for (const args of [
      ['--batch', 'x', 'lib'],
      ['--each', '--batch', 'x'],
      ['lib', '--jobs', '2'],
      ['lib', '--resume'],
      ['--each'],
    ]) {
      const { code } = await metainfo(['create', ...args], { cwd });
      assert.equal(code, 2, args.join(' '));
    }
  });
});
