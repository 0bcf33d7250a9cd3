import assert from 'node:assert/strict';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, it } from 'node:test';
import { single, torrent } from '../../support/build.ts';
import { bytesOf, command, entries, finish, metainfo, read, startProgram } from '../run.ts';
import { addLargeFile, configOf, create, folderWith, plan, shownBy } from './folder.ts';

/** The levels that can set the source tag, the lowest one first, and how each sets it. */
const LEVELS = ['create', 'host', 'preset', 'command line'] as const;
type Level = (typeof LEVELS)[number];

const fileWith = (levels: readonly Level[]) => {
  const source = (level: Level) => (levels.includes(level) ? `source = "${level}"\n` : '');
  return `[create]\ntracker = "udp://t.example:1/x"\n${source('create')}[presets.p]\n${source('preset')}[hosts."t.example"]\n${source('host')}`;
};

describe('precedence', () => {
  for (let mask = 0; mask < 2 ** LEVELS.length; mask += 1) {
    const levels = LEVELS.filter((_, i) => (mask >> i) & 1);
    const winner = levels.at(-1) ?? null;
    it(`of ${levels.join(', ') || 'nothing'} gives the value of ${winner ?? 'nothing'}`, async (t) => {
      const run = await folderWith(t, fileWith(levels));
      const args = ['--preset', 'p', ...(winner === 'command line' ? ['-s', 'command line'] : [])];
      const { code, stderr } = await create(run, ...args);
      assert.equal(code, 0, stderr);
      assert.equal((await read(run.cwd, 'album.torrent')).info.source ?? null, winner);
      const isBroken = levels.includes('host') && winner !== 'host';
      assert.equal(/warning: t\.example wants the source tag "host".*\[tracker_rule\]/.test(stderr), isBroken);
    });
  }

  it('of built-in values is the lowest', async (t) => {
    const run = await folderWith(t, '[create]\ntorrent-version = "v1"\n[presets.p]\ntorrent-version = "v2"');
    assert.equal((await plan(run)).version, 'v1');
    assert.equal((await plan(run, '--preset', 'p')).version, 'v2');
    assert.equal((await plan(run, '--preset', 'p', '-k', 'hybrid')).version, 'hybrid');
    assert.equal((await plan(run, '--no-config')).version, 'hybrid');
  });

  it('takes one preset, also as -P, and one for each job of a list', async (t) => {
    const run = await folderWith(t, '[presets.a]\nsource = "A"\n[presets.b]\nsource = "B"\n');
    const torrent = ['create', 'album', '-o', 't.torrent', '-q'];
    assert.equal((await metainfo([...torrent, '-P', 'a'], run)).code, 0);
    assert.equal((await read(run.cwd, 't.torrent')).info.source, 'A');
    assert.equal((await metainfo(['edit', 't.torrent', '-P', 'b'], run)).code, 0);
    assert.equal((await read(run.cwd, 't.torrent')).info.source, 'B');
    assert.match((await metainfo(['config', '-P', 'a'], run)).stdout, /preset a/);
    for (const args of [torrent, ['plan', 'album'], ['edit', 't.torrent'], ['config']])
      for (const second of ['a', 'b']) {
        const { code, stdout, stderr } = await metainfo([...args, '--preset', 'a', '-P', second], run);
        assert.deepEqual([code, stdout], [2, '']);
        assert.match(stderr, /^error: option '-P, --preset <name>' .*Expected one preset, but a is given too\./);
      }
    const jobs = ['a', 'b', 'b'].map((preset, i) => ({ path: 'album', output: `${i}.torrent`, preset }));
    await writeFile(path.join(run.cwd, 'jobs.json'), JSON.stringify(jobs));
    assert.equal((await metainfo(['create', '--batch', 'jobs.json', '-P', 'a', '-q'], run)).code, 0);
    for (const [i, { preset }] of jobs.entries())
      assert.equal((await read(run.cwd, `${i}.torrent`)).info.source, preset.toUpperCase());
  });

  it('replaces lists as a whole, and an empty list clears them', async (t) => {
    const run = await folderWith(
      t,
      '[create]\nwebseed = ["http://a.example/", "http://b.example/"]\n[presets.p]\nwebseed = []',
    );
    await create(run);
    assert.deepEqual((await read(run.cwd, 'album.torrent')).urlList, ['http://a.example/', 'http://b.example/']);
    await create(run, '-w', 'http://c.example/');
    assert.deepEqual((await read(run.cwd, 'album.torrent')).urlList, ['http://c.example/']);
    await create(run, '--preset', 'p');
    assert.equal((await read(run.cwd, 'album.torrent')).urlList, null);
  });

  it('lets each text and list be cleared for one run, by a preset and by a job', async (t) => {
    const keys: Record<string, [value: unknown, field: string, plural?: string]> = {
      tracker: [['udp://a.example:1/x', 'udp://b.example:1/x'], 'announce-list', 'trackers'],
      webseed: ['http://a.example/', 'url-list', 'webseeds'],
      httpseed: ['http://a.example/', 'httpseeds', 'httpseeds'],
      node: ['a.example:1', 'nodes', 'nodes'],
      comment: ['c', 'comment'],
      source: ['s', 'source'],
      'created-by': ['me', 'created by'],
      date: ['@86400', 'creation date'],
      similar: ['0'.repeat(40), 'similar'],
      collection: ['c', 'collections', 'collections'],
      'update-url': ['http://a.example/', 'update-url'],
    };
    const lists = ['tracker', 'webseed', 'httpseed', 'node', 'similar', 'collection'];
    const lines = Object.entries(keys).map(([key, [value]]) => `${key} = ${JSON.stringify(value)}`);
    const presets = Object.keys(keys).map((key) =>
      lists.includes(key) ? `[presets.${key}]\n${key} = []` : `[presets.${key}]\n${key} = false`,
    );
    const run = await folderWith(t, `[create]\n${lines.join('\n')}\n${presets.join('\n')}\n`);
    const fieldsOf = async (...args: string[]) => {
      const { code, stderr } = await create(run, ...args);
      assert.equal(code, 0, stderr);
      const text = String(await bytesOf(run.cwd, 'album.torrent'));
      return Object.entries(keys).flatMap(([key, [, field]]) =>
        text.includes(`${field.length}:${field}`) ? [key] : [],
      );
    };
    const all = await fieldsOf();
    assert.deepEqual(all, Object.keys(keys));
    const jobs: Record<string, unknown>[] = [];
    for (const [key, [, , plural]] of Object.entries(keys)) {
      const others = all.filter((one) => one !== key);
      for (const args of [
        [`--no-${key}`],
        ...(plural === undefined ? [] : [[`--no-${plural}`]]),
        ['--preset', key],
        ...(lists.includes(key) || key === 'date' ? [] : [[`--${key}`, '']]),
      ])
        assert.deepEqual(await fieldsOf(...args), others, args.join(' '));
      for (const value of [null, '', lists.includes(key) ? [] : false])
        jobs.push({ path: 'album', [key]: value, output: `${key}-${jobs.length}.torrent` });
    }
    await writeFile(path.join(run.cwd, 'jobs.json'), JSON.stringify(jobs));
    const { code, stderr } = await metainfo(['create', '--batch', 'jobs.json'], run);
    assert.equal(code, 0, stderr);
    for (const { output, path: _, ...rest } of jobs) {
      const [key = ''] = Object.keys(rest);
      const text = String(await bytesOf(run.cwd, output as string));
      const found = Object.entries(keys).flatMap(([one, [, field]]) =>
        text.includes(`${field.length}:${field}`) ? [one] : [],
      );
      assert.deepEqual(
        found,
        all.filter((one) => one !== key),
        JSON.stringify(rest),
      );
    }
    // An option before the value takes nothing from it.
    assert.deepEqual(await fieldsOf('--no-trackers', '-t', 'udp://c.example:1/x,udp://d.example:1/x'), all);
  });

  it('lets a fixed piece length and the limits about it replace each other', async (t) => {
    const run = await folderWith(t, '[create]\ntarget-pieces = 1\n[presets.p]\npiece-length = "16KiB"');
    assert.equal((await plan(run, '-k', 'v1')).pieceLength, 32_768);
    assert.equal((await plan(run, '-k', 'v1', '--preset', 'p')).pieceLength, 16_384);
    assert.equal((await plan(run, '-k', 'v1', '--preset', 'p', '--target-pieces', '1')).pieceLength, 32_768);
    assert.equal((await plan(run, '-k', 'v1', '-l', '64KiB')).pieceLength, 65_536);
    // A limit keeps a fixed length that it allows.
    assert.equal((await plan(run, '--preset', 'p', '--max-piece-length', '1MiB')).pieceLength, 16_384);
    const long = await folderWith(t, '[create]\npiece-length = "4MiB"');
    assert.equal((await plan(long, '--max-piece-length', '64KiB')).pieceLength, 16_384);
    assert.equal((await plan(long, '--max-piece-length', '8MiB')).pieceLength, 2 ** 22);
  });
});

describe('a flag of the configuration', () => {
  it('can be switched off on the command line', async (t) => {
    const run = await folderWith(
      t,
      '[create]\nprivate = true\nentropy = true\ncache-dir = "cache"\nhidden = false\nquiet = true\nmagnet = true',
    );
    await addLargeFile(run);
    assert.match((await create(run)).stdout, /^magnet:.*\n$/);
    assert.equal((await read(run.cwd, 'album.torrent')).info.private, true);
    // A relative folder starts at the configuration file.
    assert.ok((await entries(path.join(run.cwd, 'xdg/metainfo'))).includes('cache'));
    await rm(path.join(run.cwd, 'xdg/metainfo/cache'), { recursive: true });
    const off = ['--no-private', '--no-entropy', '--no-cache', '--hidden', '--no-quiet', '--no-magnet'];
    const { code, stdout } = await create(run, ...off);
    assert.equal(code, 0);
    assert.match(stdout, /^album\.torrent: hybrid/);
    assert.doesNotMatch(stdout, /magnet:/);
    assert.ok(!(await entries(path.join(run.cwd, 'xdg/metainfo'))).includes('cache'));
    const bytes = await bytesOf(run.cwd, 'album.torrent');
    await create(run, '--no-config', '-o', 'plain.torrent');
    assert.deepEqual(await bytesOf(run.cwd, 'plain.torrent'), bytes);
  });
});

describe('a ~ in a path', () => {
  it('is the home folder in a configuration, in a list of jobs and after an equals sign', async (t) => {
    const run = await folderWith(t, '[create]\ncache-dir = "~/from config"');
    await addLargeFile(run);
    const env = { ...run.env, HOME: path.join(run.cwd, 'home'), USERPROFILE: path.join(run.cwd, 'home') };
    await mkdir(env.HOME);
    await create({ ...run, env });
    await create({ ...run, env }, '--cache-dir=~/from-option', '--force');
    const job = { path: 'album', 'cache-dir': '~/from-job', output: 'job.torrent' };
    await writeFile(path.join(run.cwd, 'jobs.json'), JSON.stringify([job]));
    assert.equal((await metainfo(['create', '--batch', 'jobs.json'], { ...run, env })).code, 0);
    assert.deepEqual(await entries(env.HOME), ['from config', 'from-job', 'from-option']);
    assert.ok(!(await entries(run.cwd)).includes('~'));
    assert.ok(!(await entries(path.join(run.cwd, 'xdg/metainfo'))).includes('~'));
  });
});

describe('the profile of a configuration', () => {
  it('applies to the commands that read torrents, unless the command line has one', async (t) => {
    const run = await folderWith(t, '[read]\nprofile = "compat"\n');
    // Only compat accepts a text in info that is not UTF-8.
    await writeFile(path.join(run.cwd, 'x.torrent'), torrent({ ...single, source: Buffer.from([0xff]) }));
    const codeOf = async (...args: string[]) => (await metainfo([...args], run)).code;
    assert.equal(await codeOf('show', 'x.torrent'), 0);
    assert.equal(await codeOf('validate', 'x.torrent'), 0);
    assert.equal(await codeOf('magnet', 'x.torrent'), 0);
    assert.equal(await codeOf('edit', 'x.torrent', '--comment', 'x'), 0);
    assert.equal(await codeOf('show', 'x.torrent', '--strict'), 1);
    assert.equal(await codeOf('show', 'x.torrent', '--no-config'), 1);
    assert.equal((await shownBy(run)).read.profile, 'compat');
    assert.match((await metainfo(['config'], run)).stdout, /\nread:\n {2}profile {2}compat {2}.*config\.toml:2\n/);
    const strict = path.join(run.cwd, 'strict.toml');
    await writeFile(strict, '[read]\nprofile = "strict"\n');
    assert.equal(await codeOf('show', 'x.torrent', '--config', strict), 1);
    assert.equal(await codeOf('show', 'x.torrent', '--config', strict, '--compat'), 0);
    await writeFile(strict, '[read]\nprofile = "lax"\n');
    assert.match((await metainfo(['verify', 'x.torrent', '.', '--config', strict], run)).stderr, /ERR_CONFIG/);
  });
});

describe('values of a configuration that do not fit', () => {
  it('do not apply, where the command line would be refused', async (t) => {
    const run = await folderWith(
      t,
      '[create]\nexclude = ["*.xyz", "*.nfo"]\ntarget-pieces = 1\nmax-torrent-size = "1MiB"\nstrict = true',
    );
    const planned = await plan(run);
    assert.deepEqual([planned.code, planned.files, planned.findings.map(({ code }) => code)], [0, 1, []]);
    const own = await plan(run, '--exclude', '*.abc');
    assert.deepEqual([own.code, own.findings.map(({ code }) => code)], [1, ['pattern_unmatched']]);
    const piped = await finish(
      startProgram(['sh', '-c', `printf x | "$0" "$1" create - --name x`, ...command([]).slice(0, 2)] as never, run),
    );
    assert.deepEqual([piped.code, piped.stderr], [0, '']);
  });
});

describe('rules of hosts', () => {
  const RULES = `[create]
tracker = "https://a.example/x"
[presets.open]
private = false
[hosts."A.Example"]
private = true
max-piece-length = "32KiB"
[hosts."b.example:6969"]
source = "B"
max-torrent-size = 1000
[hosts."a.example:443"]
source = "A"`;

  it('apply to the trackers of the torrent, with and without port, in any letter case', async (t) => {
    const run = await folderWith(t, RULES);
    const sourceFor = async (...trackers: string[]) => {
      const { code, stderr } = await create(run, '-k', 'v1', ...trackers.flatMap((url) => ['-t', url]));
      assert.equal(code, 0, stderr);
      const { info } = await read(run.cwd, 'album.torrent');
      return [info.source ?? null, info.private ?? false];
    };
    assert.deepEqual(await sourceFor('https://a.EXAMPLE/y'), ['A', true]);
    assert.deepEqual(await sourceFor('https://a.example:444/y'), [null, true]);
    assert.deepEqual(await sourceFor('udp://B.example:6969/y'), ['B', false]);
    assert.deepEqual(await sourceFor('udp://b.example:7000/y'), [null, false]);
    assert.deepEqual(await sourceFor('udp://c.example:6969/y'), [null, false]);
    assert.deepEqual(await sourceFor('udp://xa.example:6969/y', 'udp://b.example:6969/y'), ['B', false]);
  });

  it('make a command line that contradicts them an error, which --allow accepts', async (t) => {
    const run = await folderWith(t, RULES);
    for (const args of [
      ['--no-private'],
      ['--preset', 'open'],
      ['-l', '1MiB'],
      ['--max-piece-length', '64KiB', '-l', '64KiB'],
    ]) {
      const planned = await plan(run, ...args);
      assert.deepEqual(
        [planned.code, planned.rules.map(({ severity, path: host }) => [severity, host])],
        [1, [['error', 'a.example']]],
      );
      const refused = await create(run, ...args);
      assert.equal(refused.code, 1);
      assert.match(refused.stderr, /config\.toml:\d+\)\. \[tracker_rule\][\s\S]*\[ERR_FINDINGS\]/);
      const accepted = await create(run, ...args, '--allow', 'tracker_rule');
      assert.equal(accepted.code, 0);
      assert.match(accepted.stderr, /^warning: a\.example .*\[tracker_rule\]/);
    }
    const existing = (await plan(run)).findings.find(({ code }) => code === 'ERR_OUTPUT_EXISTS');
    assert.match(existing?.message ?? '', /\(use --force to replace it\)/);
    const warned = await plan(run, '-s', 'X', '--force');
    assert.deepEqual([warned.code, warned.rules.map(({ severity }) => severity)], [0, ['warning']]);
    assert.equal((await plan(run, '-s', 'X', '--strict', '--force')).code, 1);
    assert.deepEqual((await plan(run, '--force')).rules, []);
    assert.match((await plan(run, '--no-private', '--force')).rules[0]?.message ?? '', /config\.toml:6/);
  });

  it('give limits to the chooser of the piece length', async (t) => {
    const run = await folderWith(t, RULES);
    assert.equal((await plan(run, '--target-pieces', '1', '-k', 'v1')).pieceLength, 32_768);
    assert.equal(
      (await plan(run, '--target-pieces', '1', '-k', 'v1', '-t', 'udp://c.example:1/x')).pieceLength,
      32_768,
    );
    const small = await plan(run, '-k', 'v1', '-t', 'udp://b.example:6969/x', '-l', '16KiB', '-c', 'x'.repeat(1000));
    assert.match(small.rules[0]?.message ?? '', /b\.example:6969 allows torrent files of at most 1000 bytes/);
    const impossible = await plan(run, '-k', 'v1', '-t', 'udp://b.example:6969/x', '-c', 'x'.repeat(1000));
    assert.equal(impossible.code, 1);
    assert.match(impossible.findings[0]?.message ?? '', /--max-torrent-size 1000 bytes is too small/);
    const place = /too small.* \(--max-torrent-size is set in .*config\.toml:10\)\./;
    assert.match(impossible.findings[0]?.message ?? '', place);
    const failed = await create(run, '-k', 'v1', '-t', 'udp://b.example:6969/x', '-c', 'x'.repeat(1000));
    assert.equal(failed.code, 2);
    assert.match(failed.stderr, place);
  });

  it('give piece lengths by the size of the content, and a shortest one', async (t) => {
    const run = await folderWith(
      t,
      `[create]
tracker = "udp://a.example:1/x"
piece-length = "16KiB"
[hosts."a.example"]
min-piece-length = "32KiB"
piece-lengths = { "20004 B" = "32KiB", "20005 B" = "64KiB", "1GiB" = "auto" }
[hosts."b.example"]
min-piece-length = "100KiB"
piece-lengths = "1MiB=32KiB"`,
    );
    const first = await plan(run);
    assert.deepEqual([first.pieceLength, first.rules], [65_536, []]);
    await writeFile(path.join(run.cwd, 'album', 'c'), 'x');
    const auto = await plan(run);
    assert.deepEqual([auto.pieceLength, auto.rules], [32_768, []]);
    await rm(path.join(run.cwd, 'album', 'c'));
    const other = await plan(run, '-l', '32KiB');
    assert.deepEqual([other.code, other.rules.map(({ severity }) => severity)], [0, ['warning']]);
    assert.match(
      other.rules[0]?.message ?? '',
      /^a\.example wants pieces of 64 KiB for this size, but these have 32 KiB /,
    );
    assert.equal((await plan(run, '-l', '32KiB', '--strict')).code, 1);

    const shortest = await plan(run, '-t', 'udp://b.example:1/x');
    assert.deepEqual([shortest.pieceLength, shortest.rules.length], [131_072, 1], 'the shortest length comes first');
    const tooShort = await plan(run, '-t', 'udp://b.example:1/x', '-l', '64KiB');
    assert.equal(tooShort.code, 1);
    assert.match(
      tooShort.rules[0]?.message ?? '',
      /^b\.example allows pieces of at least 100 KiB, but these have 64 KiB /,
    );
    const { code, stderr } = await create(run, '-t', 'udp://b.example:1/x');
    assert.equal(code, 0, stderr);
    assert.equal((await read(run.cwd, 'album.torrent')).info.pieceLength, 131_072);
    const edited = await metainfo(['edit', 'album.torrent', '--add-tracker', 'udp://a.example:1/x'], run);
    assert.match(edited.stderr, /^warning: a\.example wants pieces of 64 KiB for this size, but these have 128 KiB /);
  });

  it('limit the characters of paths, with the name of the torrent', async (t) => {
    const toml = (most: number) => `[hosts."a.example"]\nmax-path-length = ${most}\n`;
    const run = await folderWith(t, toml(13));
    const tracker = ['-t', 'udp://a.example:1/x'];
    assert.deepEqual((await plan(run, ...tracker)).rules, [], 'album/b/c.nfo');
    assert.equal((await metainfo(['plan', 'album/a.txt', ...tracker, '--name', '1234567890abc'], run)).code, 0);
    assert.equal((await create(run, '-q')).code, 0);
    await writeFile(configOf(run), toml(12));
    const { code, rules } = await plan(run, ...tracker, '--force');
    const message =
      'a.example allows paths of at most 12 characters, but the longest one has 13: "album/b/c.nfo" (the rule is in';
    assert.equal(code, 1);
    assert.ok(rules[0]?.message.startsWith(message), rules[0]?.message);
    assert.deepEqual((await plan(run, ...tracker, '--name', 'x', '--force')).rules, []);
    const file = await metainfo(['plan', 'album/a.txt', ...tracker, '--name', '1234567890abc'], run);
    assert.match(file.stdout, /but the longest one has 13: "1234567890abc"/);
    const edit = ['edit', 'album.torrent', '--add-tracker', 'udp://a.example:1/x', '--strict'];
    const edited = await metainfo(edit, run);
    assert.equal(edited.code, 1);
    assert.ok(edited.stderr.startsWith(`error: ${message}`), edited.stderr);
    await writeFile(configOf(run), toml(13));
    assert.equal((await metainfo(edit, run)).code, 0);
    await writeFile(configOf(run), toml(0));
    assert.match((await create(run)).stderr, /max-path-length: Expected a whole number of at least 1/);
  });

  it('want no source tag if theirs is empty', async (t) => {
    const run = await folderWith(t, '[hosts."a.example"]\nsource = ""\nprivate = false');
    const tracker = ['-t', 'udp://a.example:1/x'];
    assert.deepEqual((await plan(run, ...tracker)).rules, []);
    assert.deepEqual((await plan(run, ...tracker, '-s', '')).rules, []);
    const { rules } = await plan(run, ...tracker, '-s', 'X');
    assert.match(rules[0]?.message ?? '', /^a\.example wants no source tag, not "X" /);
    await create(run, '-s', 'X');
    const edited = await metainfo(['edit', 'album.torrent', '--add-tracker', 'udp://a.example:1/x'], run);
    assert.deepEqual([edited.code, edited.stderr], [0, '']);
    assert.equal((await read(run.cwd, 'album.torrent')).info.source ?? null, null);
  });

  it('join: private wins, the lowest limit and the first source count', async (t) => {
    const run = await folderWith(
      t,
      `[hosts."a.example"]
private = false
source = "A"
max-piece-length = "64KiB"
[hosts."b.example"]
private = true
source = "B"
max-piece-length = "16KiB"`,
    );
    const planned = await plan(
      run,
      '-t',
      'udp://a.example:1/x',
      '-t',
      'udp://b.example:1/x',
      '--target-pieces',
      '1',
      '-k',
      'v1',
    );
    assert.equal(planned.pieceLength, 16_384);
    assert.deepEqual(
      planned.rules.map(({ severity, path: host }) => [severity, host]),
      [
        ['error', 'a.example'],
        ['warning', 'b.example'],
      ],
    );
  });
});

describe('aliases of trackers', () => {
  const ALIASES = `[create]
tracker = ["main", "udp://z.example:1/z"]
[trackers]
main = "udp://a.example:1/x"
two = ["main", "udp://b.example:1/x"]
tiers = [["udp://c.example:1/x", "two"], "udp://d.example:1/x,udp://e.example:1/x"]`;

  it('stand for URLs and tiers, in the file and on the command line', async (t) => {
    const run = await folderWith(t, ALIASES);
    const tiersOf = async (...args: string[]) => {
      const { code, stderr } = await create(run, ...args);
      assert.equal(code, 0, stderr);
      return (await read(run.cwd, 'album.torrent')).announceList
        ?.map((tier) => tier.map((url) => url.slice(6, 7)).join(''))
        .join(' ');
    };
    assert.equal(await tiersOf(), 'a z');
    assert.equal(await tiersOf('-a', 'two', '-t', 'udp://y.example:1/x'), 'a b y');
    assert.equal(await tiersOf('-t', 'tiers'), 'cab de');
    assert.equal(await tiersOf('-t', 'udp://y.example:1/x,two'), 'yab');
  });

  it('leave commas in URLs alone, and take lists of lines and files of them', async (t) => {
    const run = await folderWith(
      t,
      `[create]\ntracker = [["http://q.example/?a=1,2"], "@more.txt"]\n${ALIASES.slice(ALIASES.indexOf('[trackers]'))}`,
    );
    await writeFile(
      path.join(run.cwd, 'list.txt'),
      '\uFEFFhttp://a.example/?k=1,2\r\n  udp://b.example:1/x \r\n\r\n\r\n# a comment\r\nmain\r\n',
    );
    await writeFile(path.join(path.dirname(configOf(run)), 'more.txt'), 'http://m.example/x,y');
    const tiersOf = async (...args: string[]) => {
      const { code, stderr } = await create(run, ...args);
      assert.equal(code, 0, stderr);
      const { announceList, announce } = await read(run.cwd, 'album.torrent');
      return announceList ?? [[announce]];
    };
    const listed = [['http://a.example/?k=1,2', 'udp://b.example:1/x'], ['udp://a.example:1/x']];
    assert.deepEqual(await tiersOf('-t', '@list.txt'), listed);
    assert.deepEqual(await tiersOf('-t', '@list.txt', '-t', 'udp://z.example:1/z'), [
      ...listed,
      ['udp://z.example:1/z'],
    ]);
    const lines = 'http://a.example/?k=1,2\nudp://b.example:1/x\n\nudp://a.example:1/x';
    assert.deepEqual(await tiersOf('-t', lines), listed);
    assert.deepEqual(await tiersOf('-t', 'http://a.example/?k=1,2, udp://b.example:1/x', '-t', 'main'), listed);
    assert.deepEqual(await tiersOf('-t', 'http://a.example/,b,main'), [['http://a.example/,b', 'udp://a.example:1/x']]);
    assert.deepEqual(await tiersOf(), [['http://q.example/?a=1,2'], ['http://m.example/x,y']]);
    assert.deepEqual((await metainfo(['edit', 'album.torrent', '-t', '@list.txt'], run)).code, 0);
    assert.deepEqual((await read(run.cwd, 'album.torrent')).announceList, listed);
    const job = { path: 'album', output: 'job.torrent', tracker: [listed[0], 'main'] };
    await writeFile(path.join(run.cwd, 'jobs.json'), JSON.stringify([job]));
    assert.equal((await metainfo(['create', '--batch', 'jobs.json'], run)).code, 0);
    assert.deepEqual((await read(run.cwd, 'job.torrent')).announceList, listed);
    await writeFile(path.join(run.cwd, 'empty.txt'), ' \n\n# none\n');
    for (const [file, reason] of [
      ['empty.txt', /empty\.txt has no trackers/],
      ['none.txt', /none\.txt: no such file or folder/],
      ['album', /album: /],
      ['', /Expected a file/],
    ] as const) {
      const { code, stderr } = await create(run, '-t', `@${file}`);
      assert.equal(code, 2, file);
      assert.match(stderr, reason);
    }
  });

  it('are suggested for an unknown name', async (t) => {
    const run = await folderWith(t, ALIASES);
    const { code, stderr } = await create(run, '-t', 'mian');
    assert.equal(code, 2);
    assert.match(stderr, /mian is neither a URL nor an alias of a tracker: did you mean main\?/);
    const { from, value } = (await shownBy(run)).create['tracker'] ?? {};
    assert.deepEqual([from, value], ['create', ['main', 'udp://z.example:1/z']]);
  });
});
