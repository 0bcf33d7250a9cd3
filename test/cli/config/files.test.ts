import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmod, mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, it } from 'node:test';
import { missing } from '../../support/external.ts';
import { pageText } from '../../support/pages.ts';
import { notRoot } from '../../support/unprivileged.ts';
import { command, entries, metainfo, read } from '../run.ts';
import { addLargeFile, configOf, create, folderWith, plan, shownBy } from './folder.ts';

const BROKEN: Record<string, [toml: string | Uint8Array, problems: RegExp[]]> = {
  'broken TOML': ['[create]\nprivate = tru\n', [/config\.toml:2:11: this is not valid TOML: /]],
  'a duplicated key': ['[create]\nprivate = true\nprivate = false\n', [/config\.toml:3:\d+: this is not valid TOML: /]],
  'invalid UTF-8': [Buffer.from('[create]\ncomment = "\xe9"\n', 'latin1'), [/config\.toml:2: this line is not UTF-8/]],
  'unknown keys': [
    '[create]\ntrackers = "x://y"\npiece_length = 1\nnonsense = 1\n[preset.x]\n[hosts."a.example"]\ncomment = "x"\n',
    [
      /:2: create\.trackers: unknown key: did you mean tracker\?/,
      /:3: create\.piece_length: unknown key: did you mean piece-length\?/,
      /:4: create\.nonsense: unknown key/,
      /:5: preset: unknown key: did you mean presets\?/,
      /:7: hosts\."a\.example"\.comment: unknown key: expected one of torrent-version, private, source, piece-lengths, min-piece-length, max-piece-length, max-torrent-size, max-path-length/,
    ],
  ],
  'wrong types': [
    '[create]\nprivate = "yes"\ncomment = 5\nthreads = true\ntracker = { a = 1 }\nwebseed = [1]\nset = "x"\n[presets]\nfilms = 1\n',
    [
      /:2: create\.private: expected true or false, got "yes"/,
      /:3: create\.comment: expected text or false, got 5/,
      /:4: create\.threads: expected text or a whole number, got true/,
      /:5: create\.tracker: expected text, or a list of texts and lists of texts, got a table/,
      /:6: create\.webseed: expected text or a list of texts, got a list of 1/,
      /:7: create\.set: Expected KEY=TEXT/,
      /:9: presets\.films: expected a table, got 1/,
    ],
  ],
  'wrong values': [
    '[create]\npiece-length = 3\nthreads = 0\ntorrent-version = "v3"\ndate = "someday"\nallow = "long_paht"\nnode = "x"\n[presets.a]\ntorrent-version = ["v1"]\n',
    [
      /:2: create\.piece-length: Expected a power of two/,
      /:3: create\.threads: Expected a whole number from 1/,
      /:4: create\.torrent-version: Allowed choices are v1, v2, hybrid/,
      /:5: create\.date: Expected now/,
      /:6: create\.allow: .*did you mean long_path\?/,
      /:7: create\.node: Expected HOST:PORT/,
      /:9: presets\.a\.torrent-version: expected text, got a list of 1: only a rule of \[hosts\] takes a list/,
    ],
  ],
  'tables and values of reading': [
    '[read]\nprofile = "lax"\nprofil = "strict"\n[create]\ndate = 1449000000000\n',
    [
      /:2: read\.profile: expected one of default, strict, compat, got "lax"/,
      /:3: read\.profil: unknown key: did you mean profile\?/,
      /:5: create\.date: Expected now, an ISO 8601 date .* Did you mean @1449000000000\?/,
    ],
  ],
  'a time without a date': ['[create]\ndate = 07:32:00\n', [/:2: create\.date: expected a date, text or false/]],
  'options that a file cannot set': [
    '[create]\nlink-file = "x"\njson = true\noutput = "-"\n[presets.p]\noutput = "{x}"\nname = "x"\nannounce = "x"\n',
    [
      /:2: create\.link-file: a configuration file cannot set it: /,
      /:3: create\.json: /,
      /:4: create\.output: expected a file or folder: only the command line can name standard output/,
      /:6: presets\.p\.output: Unknown placeholder \{x\}: expected \{name\}, /,
      /:7: presets\.p\.name: /,
      /:8: presets\.p\.announce: a configuration file cannot set it: use tracker/,
    ],
  ],
  'loops of aliases, and names that are URLs': [
    '[trackers]\na = "b"\nb = ["udp://x.example:1/x", ["c"]]\nc = "a"\n"udp://d" = "udp://x.example:1/x"\ne = []\nf = "mian"\nmain = "udp://m.example:1/x"\n[create]\ntracker = ["nope"]\n',
    [
      /:2: trackers\.a: the alias leads back to itself: a → b → c → a/,
      /:3: trackers\.b: /,
      /:4: trackers\.c: /,
      /:5: trackers\."udp:\/\/d": the name of an alias has only letters/,
      /:6: trackers\.e: expected at least one URL/,
      /:7: trackers\.f: mian is neither a URL nor an alias of a tracker: did you mean main\?/,
      /:10: create\.tracker: nope is neither/,
    ],
  ],
  'hosts that are none, or given twice': [
    '[hosts."http://a.example/"]\n[hosts."a.example:99999"]\n[hosts."b.example"]\n[hosts."B.EXAMPLE."]\n[hosts.""]\n',
    [
      /:1: hosts\."http.*expected a host/,
      /:2: .*expected a host/,
      /:4: .*the rule of line 3 is for the same host/,
      /:5: .*expected a host/,
    ],
  ],
  'no table where one must be': [
    'create = 1\nhosts = [1]\n',
    [/:1: create: expected a table, got 1/, /:2: hosts: expected a table/],
  ],
  'keys of prototypes': [
    '__proto__ = 1\n[create]\n__proto__ = "x"\nconstructor = 1\n',
    [/:1: __proto__: unknown/, /:3: create\.__proto__: unknown/, /:4: create\.constructor: unknown/],
  ],
};

describe('a configuration that is not valid', () => {
  for (const [what, [toml, problems]] of Object.entries(BROKEN)) {
    it(`is an error with every problem and its line: ${what}`, async (t) => {
      const run = await folderWith(t, toml);
      const { code, stdout, stderr } = await create(run);
      assert.deepEqual([code, stdout], [1, '']);
      assert.match(stderr, /^error: The configuration file is not valid:\n/);
      assert.match(stderr, /\[ERR_CONFIG\]\n$/);
      for (const problem of problems) assert.match(stderr, problem);
      assert.equal(stderr.trimEnd().split('\n').length, problems.length + 1, stderr);
      const json = JSON.parse((await create(run, '--json')).stdout).error;
      assert.deepEqual([json.code, json.path], ['ERR_CONFIG', configOf(run)]);
      assert.deepEqual(await entries(run.cwd), ['album', 'xdg']);
      for (const args of [['plan', 'album'], ['config']]) assert.equal((await metainfo(args, run)).code, 1);
      assert.equal((await metainfo(['plan', 'album', '--no-config', '-q'], run)).code, 0);
    });
  }

  it('never shows credentials', async (t) => {
    const secret = 'udp://user:secret@a.example:1/x';
    for (const toml of [
      `[create]\ncomment = "${secret}\n`,
      `[create]\nprivate = "${secret}"\nsymlinks = "${secret}"\ndate = "${secret}"\nnode = "${secret}"\nset = "${secret}"`,
      `[trackers]\na = "${secret}"\nb = ["${secret}", 1]\n`,
    ]) {
      const { code, stderr } = await create(await folderWith(t, toml));
      assert.equal(code, 1);
      assert.doesNotMatch(stderr, /secret/);
    }
    const run = await folderWith(
      t,
      `[create]\ntracker = ["${secret}"]\nwebseed = "http://u:secret@w.example/"\n[trackers]\na = "${secret}"`,
    );
    for (const args of [['config'], ['config', '--json']]) {
      const { code, stdout } = await metainfo(args, run);
      assert.equal(code, 0);
      assert.match(stdout, /udp:\/\/\*\*\*@a\.example:1\/x/);
      assert.doesNotMatch(stdout, /secret/);
    }
  });

  it('lists every problem, up to 1,000', async (t) => {
    const lines = Array.from({ length: 1100 }, (_, i) => `x${i} = 1`).join('\n');
    const { stderr } = await create(await folderWith(t, `[create]\n${lines}`));
    assert.match(stderr, /config\.toml:1001: .*\n {2}and 100 more problems \[ERR_CONFIG\]\n$/);
  });

  it('escapes control characters', async (t) => {
    const { stderr } = await create(await folderWith(t, '[create]\n"a\\u001b[31m\\n" = 1\n'));
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the test looks for one.
    assert.doesNotMatch(stderr, /\x1b/);
    assert.equal(stderr.split('\n').length, 3);
  });
});

describe('a configuration file that is YAML', () => {
  it('is an error that says how to convert it, by its name', async (t) => {
    const run = await folderWith(t, null);
    for (const name of ['presets.yaml', 'presets.YML']) {
      await writeFile(path.join(run.cwd, name), 'version: 1\npresets:\n  a:\n    source: A\n');
      for (const command of [['create', 'album'], ['config'], ['edit', 'album']]) {
        const { code, stderr } = await metainfo([...command, '--config', name], run);
        assert.equal(code, 1);
        assert.match(
          stderr,
          /:1:8: this is YAML: convert it to TOML with yq and jq, as docs\/guides\/switching\.md shows \[ERR/,
        );
      }
    }
    await writeFile(path.join(run.cwd, 'toml.yaml'), '[create]\nprivate = true\n');
    assert.equal((await metainfo(['config', '--config', 'toml.yaml'], run)).code, 0);
    const { code, stderr } = await metainfo(['config', '--from', 'presets.yaml'], run);
    assert.equal(code, 2);
    assert.match(stderr, /use --config with TOML: docs\/guides\/switching\.md converts YAML/);
  });

  it('is converted by the program of the guide', { skip: missing('jq', 'jq', ['--version']) }, async (t) => {
    const run = await folderWith(t, null);
    const [, program = ''] = /mkbrr\.jq <<'EOT'\n([\s\S]+?)EOT\n/.exec(pageText('docs/guides/switching.md')) ?? [];
    const converted = (input: object, ...args: string[]) => {
      const { status, stdout, stderr } = spawnSync('jq', [...args, program], {
        input: JSON.stringify(input),
        encoding: 'utf8',
      });
      assert.equal(status, 0, stderr);
      return stdout;
    };
    const fields = {
      trackers: ['udp://a.example:1/x'],
      piece_length: 20,
      exclude_patterns: ['*.x'],
      no_date: true,
      no_creator: true,
    };
    const presets = {
      version: 1,
      default: { output_dir: 'out', workers: 2 },
      presets: { 'a "b"': { ...fields, source: 'S"' }, c: { private: false } },
    };
    await writeFile(configOf(run), converted(presets, '-r'));
    const { create: values } = await shownBy(run, '--preset', 'a "b"');
    const shown = Object.fromEntries(Object.entries(values).map(([key, { value }]) => [key, value]));
    assert.deepEqual(
      [
        shown['private'],
        shown['source'],
        shown['piece-length'],
        shown['threads'],
        shown['created-by'],
        shown['tracker'],
      ],
      [true, 'S"', 20, 2, false, fields.trackers],
    );
    assert.equal((await shownBy(run, '--preset', 'c')).create['private']?.value, false);
    const jobs = [
      { ...fields, path: 'album', output: 'one.torrent', target_piece_count: undefined },
      { path: 'album', output: 'two.torrent', private: false },
    ];
    await writeFile(path.join(run.cwd, 'jobs.json'), converted({ version: 1, jobs }));
    const made = await metainfo(['create', '--batch', 'jobs.json', '--no-config', '-q'], run);
    assert.equal(made.code, 0, made.stderr);
    const [one, two] = await Promise.all(['one.torrent', 'two.torrent'].map((name) => read(run.cwd, name)));
    assert.deepEqual(
      [one?.info.private, one?.announce, one?.createdBy, one?.info.pieceLength],
      [true, ...fields.trackers, null, 2 ** 20],
    );
    assert.equal(two?.info.private ?? false, false);
  });
});

describe('the configuration file', () => {
  it('may be missing, empty, or start with a byte order mark', async (t) => {
    for (const toml of [null, '', '\n# only a comment', '\ufeff[create]\nprivate = true\r\n']) {
      const run = await folderWith(t, toml);
      assert.equal((await create(run)).code, 0);
      assert.equal((await shownBy(run)).exists, toml !== null);
    }
  });

  it('is named with --config, and must exist then', async (t) => {
    const run = await folderWith(t, 'broken');
    await writeFile(path.join(run.cwd, 'own.toml'), '[create]\ntorrent-version = "v2"');
    assert.equal((await plan(run, '--config', 'own.toml')).version, 'v2');
    for (const [file, code] of [
      ['none.toml', 'ERR_NOT_FOUND'],
      ['album', 'ERR_NOT_A_FILE'],
    ] as const) {
      const { code: status, stderr } = await create(run, '--config', file);
      assert.equal(status, 1);
      assert.match(stderr, new RegExp(`configuration file ${file}: .*\\[${code}\\]`));
    }
    assert.equal((await create(run, '--config', '')).code, 2);
  });

  it('does not silence a plan with quiet = true: only -q does', async (t) => {
    const run = await folderWith(t, '[create]\nquiet = true');
    for (const args of [
      ['plan', 'album'],
      ['create', 'album', '--dry-run'],
    ]) {
      assert.match((await metainfo(args, run)).stdout, /^output +album\.torrent\n/);
      assert.equal((await metainfo([...args, '-q'], run)).stdout, '');
    }
    assert.deepEqual(await create(run), { code: 0, signal: null, stdout: '', stderr: '' });
  });

  it('may not be a folder', async (t) => {
    const run = await folderWith(t, null);
    await mkdir(configOf(run));
    const { code, stderr } = await create(run);
    assert.equal(code, 1);
    assert.match(stderr, /config\.toml: cannot be read, because it is a folder \(--no-config works without it\)/);
  });

  it('has at most 1 MiB', async (t) => {
    const run = await folderWith(t, `#${'x'.repeat(2 ** 20)}`);
    const { code, stderr } = await create(run);
    assert.equal(code, 1);
    assert.match(stderr, /config\.toml: a configuration file has at most 1 MiB\. \[ERR_CONFIG\]/);
    await writeFile(configOf(run), `#${'x'.repeat(2 ** 20 - 1)}`);
    assert.equal((await create(run)).code, 0);
  });

  it('may have thousands of presets, and deep values are refused', { timeout: 60_000 }, async (t) => {
    const presets = Array.from({ length: 20_000 }, (_, i) => `[presets.p${i}]\nprivate = true\n`).join('');
    const many = await folderWith(t, presets);
    assert.equal((await create(many, '--preset', 'p19999')).code, 0);
    const deep = await folderWith(t, `x = ${'['.repeat(100_000)}`);
    assert.match((await create(deep)).stderr, /not valid TOML.*\[ERR_CONFIG\]/);
    const closed = await folderWith(t, `x = ${'['.repeat(100_000)}${']'.repeat(100_000)}`);
    assert.match((await create(closed)).stderr, /not valid TOML: values are nested too deeply.*\[ERR_CONFIG\]/);
    const aliases = Array.from({ length: 40 }, (_, i) => `a${i + 1} = ["a${i}", "a${i}"]\n`).join('');
    const bomb = await folderWith(t, `[trackers]\na0 = "udp://x.example:1/x"\n${aliases}`);
    assert.match((await create(bomb)).stderr, /trackers\.a10: the alias stands for more than 1000 URLs/);
  });

  it('is found for a user without a home folder, or refused if it cannot be read', { skip: notRoot() }, async (t) => {
    const run = await folderWith(t, '[create]\nprivate = true');
    await addLargeFile(run);
    await chmod(configOf(run), 0);
    await chmod(run.cwd, 0o777);
    const as = (env: Record<string, string>, ...more: string[]) => {
      const [program, ...args] = command(['create', 'album', '-q', '--force', ...more]);
      const { XDG_CONFIG_HOME: _, HOME: __, XDG_CACHE_HOME: ___, ...rest } = process.env;
      return spawnSync(program, args, {
        cwd: run.cwd,
        env: { ...rest, ...env },
        encoding: 'utf8',
        uid: 12_345,
        gid: 12_345,
      });
    };
    const { status, stderr } = as({ XDG_CONFIG_HOME: path.join(run.cwd, 'xdg') });
    assert.equal(status, 1);
    assert.match(
      stderr,
      /config\.toml: no permission to read it \(--no-config works without it\)\. \[ERR_UNREADABLE\]/,
    );
    // The system does not know this user.
    const homeless = as({});
    assert.deepEqual([homeless.status, homeless.stderr], [0, '']);
    const cache = as({}, '--cache');
    assert.deepEqual(
      [cache.status, cache.stderr],
      [
        2,
        'error: This user has no home folder for the cache: set HOME, or name the folder of the cache. [ERR_INVALID_ARGUMENT]\n',
      ],
    );
  });
});

describe('--preset', () => {
  it('suggests a name, and needs a configuration', async (t) => {
    const run = await folderWith(t, '[presets.films]\n[presets.music]');
    const cases: [string[], RegExp][] = [
      [['--preset', 'flims'], /There is no preset "flims" in .*config\.toml: did you mean films\?/],
      [['--preset', 'Films'], /did you mean films\?/],
      [['--preset', 'x'], /config\.toml: it has films, music\./],
      [['--preset', '__proto__'], /There is no preset/],
      [['--preset', 'films', '--no-config'], /because there is no configuration/],
    ];
    for (const [args, message] of cases) {
      const { code, stderr } = await create(run, ...args);
      assert.equal(code, 2);
      assert.match(stderr, message);
    }
    await rm(configOf(run));
    assert.match((await create(run, '--preset', 'films')).stderr, /no configuration: write .*config\.toml, or name/);
  });
});

describe('many torrents', () => {
  it('take the configuration: --each as a single creation, and each job of --batch with its own preset', async (t) => {
    const run = await folderWith(
      t,
      '[create]\ntorrent-version = "v1"\ncomment = "all"\n[presets.films]\nsource = "FILMS"\ncomment = "films"\n[presets.music]\nsource = "MUSIC"\n[trackers]\nmain = "udp://t.example:1/x"\n[hosts."t.example"]\nprivate = true',
    );
    await mkdir(path.join(run.cwd, 'out'));
    const shown = async (name: string) => {
      const { torrentVersion, comment, info, announce } = await read(run.cwd, `out/${name}.torrent`);
      return [torrentVersion, comment, info.source ?? null, info.private ?? false, announce ?? null];
    };
    const each = await metainfo(['create', '--each', 'album', '-o', 'out', '--preset', 'films', '-t', 'main'], run);
    assert.equal(each.code, 0, each.stderr);
    assert.deepEqual(await shown('a.txt'), ['v1', 'films', 'FILMS', true, 'udp://t.example:1/x']);
    const again = await metainfo(
      ['create', '--each', 'album', '-o', 'out', '--preset', 'films', '-t', 'main', '--resume'],
      run,
    );
    assert.deepEqual([again.code, again.stderr], [0, '']);
    assert.match(again.stdout, /^0 torrents made, 2 skipped/m);
    const jobs = [
      { path: 'album', output: 'out/one.torrent' },
      { path: 'album', output: 'out/two.torrent', preset: 'music', tracker: ['main'] },
      {
        path: 'album',
        output: 'out/three.torrent',
        preset: 'music',
        private: false,
        comment: 'own',
        'torrent-version': 'v2',
      },
    ];
    await writeFile(path.join(run.cwd, 'jobs.json'), JSON.stringify(jobs));
    const batch = await metainfo(['create', '--batch', 'jobs.json', '--preset', 'films', '--jobs', '1'], run);
    assert.equal(batch.code, 0, batch.stderr);
    assert.deepEqual(await Promise.all(['one', 'two', 'three'].map(shown)), [
      ['v1', 'films', 'FILMS', false, null],
      ['v1', 'all', 'MUSIC', true, 'udp://t.example:1/x'],
      ['v2', 'own', 'MUSIC', false, null],
    ]);
    await writeFile(
      path.join(run.cwd, 'jobs.json'),
      JSON.stringify([
        { path: 'album', preset: 'musik' },
        { path: 'album', config: 'x' },
      ]),
    );
    const wrong = await metainfo(['create', '--batch', 'jobs.json'], run);
    assert.equal(wrong.code, 2);
    assert.match(wrong.stderr, /job 0: There is no preset "musik" .*did you mean music\?; job 1: unknown key "config"/);
  });
});
