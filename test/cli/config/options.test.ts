import assert from 'node:assert/strict';
import { readFile, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, it } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { Command } from 'commander';
import fc from 'fast-check';
import { parse } from 'smol-toml';
import { schemaFile } from '../../../scripts/docs-config.ts';
import { configOptions } from '../../../src/cli/config/config-options.ts';
import { RULE_KEYS } from '../../../src/cli/config/hosts.ts';
import { parseConfig } from '../../../src/cli/config/parse.ts';
import { COMMAND_LINE_ONLY, createOptions } from '../../../src/cli/create/options.ts';
import { program } from '../../../src/cli/program.ts';
import { MetainfoError } from '../../../src/errors/errors.ts';
import { pageText } from '../../support/pages.ts';
import { runs } from '../../support/runs.ts';
import { metainfo, read } from '../run.ts';
import { create, folderWith, shownBy } from './folder.ts';

const whole = await program();

/** A value as a word of the command line. */
const textOf = (value: unknown): string =>
  typeof value === 'object' && value !== null && !(value instanceof Date)
    ? Object.entries(value)
        .map((pair) => pair.join('='))
        .join(',')
    : String(value);

/** A setting of the example, and the table that it belongs to. */
const SETTING = /^#(?=[a-z])/;
const EXAMPLE = pageText('docs/config.example.toml');
const FULL = EXAMPLE.replace(new RegExp(SETTING, 'gm'), '');

const problemsIn = (toml: string): string | null => {
  try {
    parseConfig(Buffer.from(toml), 'c.toml');
    return null;
  } catch (error) {
    assert.ok(error instanceof MetainfoError && error.code === 'ERR_CONFIG', String(error));
    return error.message;
  }
};

describe('the options of create', () => {
  const keys = new Set(
    createOptions(new Command('create'))
      .options.filter(({ hidden, negate }) => !(hidden && negate))
      .map(({ long = '' }) => long.replace(/^--(no-)?/, '')),
  );

  it('can be set in a configuration file, or are on the list of those that cannot', () => {
    assert.deepEqual([...keys].sort(), [...configOptions().keys(), ...Object.keys(COMMAND_LINE_ONLY)].sort());
    for (const key of configOptions().keys()) {
      assert.ok(!(key in COMMAND_LINE_ONLY), key);
      assert.match(EXAMPLE, new RegExp(`^#${key} = `, 'm'), 'docs/config.example.toml has every key');
    }
  });

  it('have an opposite for each flag that can be set', async () => {
    for (const { key, form, attribute } of configOptions().values()) {
      if (form !== 'flag') continue;
      for (const [flag, value] of [
        [`--${key}`, true],
        [`--no-${key}`, false],
      ] as const) {
        const command = createOptions(new Command('create').exitOverride());
        command.parse([flag], { from: 'user' });
        assert.equal(command.opts()[attribute], value, flag);
      }
    }
  });

  it('are in force one by one, through the command', async (t) => {
    const run = await folderWith(t, FULL);
    const { create: values } = await shownBy(run);
    // The limit and the limits do not contradict the length `auto`.
    assert.deepEqual(Object.keys(values).sort(), [...configOptions().keys()].sort());
    for (const [key, { from, line = 0 }] of Object.entries(values)) {
      assert.equal(from, 'create', key);
      assert.match(FULL.split('\n')[line - 1] ?? '', new RegExp(`^${key} = `));
    }
  });

  it('give with a file the same options as with the command line', () => {
    const config = parseConfig(Buffer.from(FULL), path.resolve('c.toml'));
    const values = parse(FULL)['create'] as Record<string, unknown>;
    for (const [attribute, { key, value }] of config.create) {
      const raw = values[key];
      const words =
        raw === false
          ? [`--no-${key}`]
          : raw === true
            ? [`--${key}`]
            : [raw].flat().map((one) => `--${key}=${textOf(one)}`);
      const command = createOptions(new Command('create').exitOverride());
      command.parse(words, { from: 'user' });
      const given = command.opts()[attribute];
      if (key === 'cache-dir' || key === 'output') assert.equal(value, path.resolve(given));
      else if (key === 'reuse')
        assert.deepEqual(
          value,
          given.map((one: string) => path.resolve(one)),
        );
      else if (key === 'date') assert.ok(Math.abs(Number(value) - Number(given)) < 60_000);
      else assert.deepEqual(value, given, key);
    }
  });

  it('set other keys to texts, numbers, lists and dictionaries', async (t) => {
    const set = ['info.odd:=9007199254740993', 'tags:=["a",{"n":[]}]', 'text=:=5'];
    const run = await folderWith(t, `[create]\nset = ${JSON.stringify(set)}\n[presets.p]\nset = "n:=-1"`);
    const keysOf = async (...args: string[]) => {
      const { code, stderr } = await create(run, ...args);
      assert.equal(code, 0, stderr);
      const { extra, info } = await read(run.cwd, 'album.torrent');
      return { extra: Object.fromEntries(extra), info: Object.fromEntries(info.extra ?? []) };
    };
    const tags = [Buffer.from('a'), new Map([['n', []]])];
    const own = { extra: { tags, text: Buffer.from(':=5') }, info: { odd: 2n ** 53n + 1n } };
    assert.deepEqual(await keysOf(), own);
    assert.deepEqual(await keysOf('--preset', 'p'), { extra: { n: -1 }, info: {} });
    assert.deepEqual((await shownBy(run)).create['set']?.value, set);
    assert.equal((await metainfo(['edit', 'album.torrent', '--preset', 'p', '--unset', 'tags'], run)).code, 0);
    assert.deepEqual(Object.fromEntries((await read(run.cwd, 'album.torrent')).extra), { n: -1 });
    for (const [value, reason] of [
      ['"x:=1.5"', 'Bencode has only whole numbers'],
      ['["x=1", "y:=[null]"]', 'Bencode has no null'],
      ['"x:=me"', 'For a plain text, use = alone'],
      ['5', 'expected text or a list of texts, got 5'],
    ] as const) {
      const problem = problemsIn(`[create]\n\nset = ${value}`);
      assert.ok(problem?.includes('c.toml:3: create.set: ') && problem.includes(reason), `${problem}`);
    }
  });

  it('of create, plan and config include --preset, --config and --no-config', () => {
    for (const name of ['create', 'plan', 'config']) {
      const flags = whole.commands.find((command) => command.name() === name)?.options.map(({ long }) => long);
      for (const flag of ['--preset', '--config', '--no-config']) assert.ok(flags?.includes(flag), `${name} ${flag}`);
    }
  });
});

describe('metainfo config --init', () => {
  it('writes the example, which is valid, and never replaces a file without --force', async (t) => {
    const run = await folderWith(t, null);
    const file = path.join(run.cwd, 'own', 'config.toml');
    const env = { XDG_CONFIG_HOME: path.join(run.cwd, 'new', 'home'), APPDATA: path.join(run.cwd, 'new', 'home') };
    const made = await metainfo(['config', '--init', '--json'], { cwd: run.cwd, env });
    assert.equal(made.code, 0, made.stderr);
    const written = JSON.parse(made.stdout).path as string;
    assert.equal(written, path.join(env.XDG_CONFIG_HOME, 'metainfo', 'config.toml'));
    assert.equal(await readFile(written, 'utf8'), EXAMPLE);
    if (process.platform !== 'win32') assert.equal((await stat(written)).mode & 0o777, 0o600);
    await writeFile(written, '# mine');
    const again = await metainfo(['config', '--init'], { cwd: run.cwd, env });
    assert.equal(again.code, 1);
    assert.match(again.stderr, /output file exists: .*config\.toml \(use --force to replace it\)/);
    assert.equal((await metainfo(['config', '--init', '--force'], { cwd: run.cwd, env })).code, 0);
    assert.equal((await shownBy({ cwd: run.cwd, env })).exists, true);
    assert.equal((await metainfo(['config', '--init', '--config', file], run)).code, 1);
    assert.equal((await metainfo(['config', '--init', '--no-config'], run)).code, 2);
  });
});

describe('the example', () => {
  it('is valid, also with each setting and with all of them uncommented', () => {
    assert.equal(problemsIn(EXAMPLE), null);
    assert.equal(problemsIn(FULL), null);
    const lines = EXAMPLE.split('\n');
    const settings = lines.flatMap((line, i) => (SETTING.test(line) ? [i] : []));
    assert.ok(settings.length > 45);
    for (const at of settings) {
      const one = lines.map((line, i) => (i === at ? line.replace(SETTING, '') : line)).join('\n');
      assert.equal(problemsIn(one), null, lines[at]);
      assert.notDeepEqual(parse(one), parse(EXAMPLE), lines[at]);
    }
  });

  it('has every rule of a host', () => {
    assert.deepEqual(
      Object.keys((parse(FULL)['hosts'] as Record<string, object>)['tracker.example.org'] ?? {}),
      RULE_KEYS,
    );
  });

  it('has short lines', () => {
    for (const line of EXAMPLE.split('\n')) assert.ok(line.length <= 130, line);
  });
});

describe('parseConfig', () => {
  it('accepts a damaged file or refuses it with ERR_CONFIG, and with lines that exist', () => {
    const bytes = Buffer.from(FULL);
    const piece = fc.oneof(
      fc.constantFrom('"', "'", '"""', '[', ']', '{', '}', '=', '.', '\\', '\n', '#', ','),
      fc.string(),
    );
    const edit = fc.record({ at: fc.nat(bytes.length), removed: fc.nat(30), piece });
    fc.assert(
      fc.property(fc.array(edit, { minLength: 1, maxLength: 3 }), (edits) => {
        let text = FULL;
        for (const { at, removed, piece: added } of edits) text = text.slice(0, at) + added + text.slice(at + removed);
        const problems = problemsIn(text) ?? '';
        for (const [, line] of problems.matchAll(/^ {2}c\.toml:(\d+):/gm))
          assert.ok(Number(line) >= 1 && Number(line) <= text.split('\n').length, problems);
      }),
      { numRuns: runs(500) },
    );
  });
});

describe('docs/config.schema.json', () => {
  const validate = new Ajv2020({ strict: true, allowUnionTypes: true }).compile(JSON.parse(schemaFile()));

  it('accepts the example', () => {
    for (const toml of [EXAMPLE, FULL]) assert.ok(validate(parse(toml)), JSON.stringify(validate.errors));
  });

  it('agrees with the command about valid and broken files', () => {
    const cases: Record<string, boolean> = {
      '': true,
      '[create]\npiece-length = 65536\ndate = "@5"\ntracker = ["udp://a:1", ["udp://b:1"]]': true,
      '[create]\nallow = "long_path"\ncreated-by = false': true,
      '[presets.a]\nprivate = false\n[trackers]\nx-1 = [["udp://a:1/x"]]': true,
      '[create]\ndate = 5': false,
      '[hosts."a:1"]\nmax-torrent-size = 5': true,
      '[hosts.a]\ntorrent-version = ["v1"]': true,
      '[hosts.a]\ntorrent-version = 1': false,
      '[create]\noutput = "{name}"\npiece-lengths = { "1GiB" = "1 MiB" }': true,
      '[create]\npiece-lengths = { "x" = "1MiB" }': false,
      '[create]\npiece-lengths = {}': false,
      'x = 1': false,
      '[create]\nx = 1': false,
      '[create]\nname = "x"': false,
      '[create]\npiece-length = "x"': false,
      '[create]\ncreated-by = true': false,
      '[create]\nprivate = "yes"': false,
      '[create]\ntorrent-version = "v3"': false,
      '[create]\ntracker = [[["a:b"]]]': false,
      '[create]\nwebseed = [1]': false,
      '[create]\nthreads = 0': false,
      '[create]\nmax-torrent-size = -1': false,
      '[presets]\na = 1': false,
      '[trackers]\n"udp://a" = "udp://a:1/x"': false,
      '[trackers]\na = 1': false,
      '[hosts.a]\ncomment = "x"': false,
      'hosts = [1]': false,
    };
    for (const [toml, isValid] of Object.entries(cases)) {
      assert.equal(validate(parse(toml)), isValid, toml);
      assert.equal(problemsIn(toml) === null, isValid, toml);
    }
  });
});
