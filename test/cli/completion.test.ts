import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { missing } from '../support/external.ts';
import { finish, MAIN, metainfo, startProgram, workFolder } from './run.ts';

const CONFIG = `[presets.films]
[presets."my films"]
[presets."$(touch pwned)'\\""]
[trackers]
main = "udp://a.example:1/x"
mirror = "main"
`;

/** Makes the configuration invalid. */
const breakConfig = (cwd: string) => writeFileSync(path.join(cwd, 'xdg', 'metainfo', 'config.toml'), 'nonsense');

type Shell = 'bash' | 'zsh' | 'fish';

/** Makes a folder with the script of a shell and some files to complete. */
async function withScript(t: TestContext, shell: Shell): Promise<string> {
  const cwd = await workFolder(t);
  const { code, stdout, stderr } = await metainfo(['completion', shell], { cwd });
  assert.deepEqual({ code, stderr }, { code: 0, stderr: '' });
  writeFileSync(path.join(cwd, 'script'), stdout);
  writeFileSync(path.join(cwd, 'album.torrent'), '');
  // The script asks the command for names of the configuration.
  mkdirSync(path.join(cwd, 'bin'));
  mkdirSync(path.join(cwd, 'xdg', 'metainfo'), { recursive: true });
  writeFileSync(path.join(cwd, 'bin', 'metainfo'), `#!/bin/sh\nexec '${process.execPath}' '${MAIN}' "$@"\n`);
  chmodSync(path.join(cwd, 'bin', 'metainfo'), 0o755);
  writeFileSync(path.join(cwd, 'xdg', 'metainfo', 'config.toml'), CONFIG);
  return cwd;
}

/** Runs a program that must succeed without writing to standard error; returns the lines of its output. */
async function lines(cwd: string, program: [string, ...string[]]): Promise<string[]> {
  const { code, stdout, stderr } = await finish(
    startProgram(program, {
      cwd,
      env: {
        HOME: cwd,
        XDG_CONFIG_HOME: path.join(cwd, 'xdg'),
        PATH: `${path.join(cwd, 'bin')}:${process.env['PATH']}`,
      },
    }),
  );
  assert.deepEqual({ code, stderr }, { code: 0, stderr: '' });
  return stdout.split('\n').filter(Boolean);
}

/** The completions that bash offers for the last word. Pass words as Readline splits them: `--a=b` is three. */
const askBash = (cwd: string, ...words: string[]) =>
  lines(cwd, [
    'bash',
    '-c',
    `source ./script; COMP_WORDS=(metainfo "$@"); COMP_CWORD=$#; _metainfo; printf '%s\\n' "\${COMPREPLY[@]}"`,
    'bash',
    ...words,
  ]);

/** The arguments that the script passes to zsh's `_arguments`: first the words of the command, then the specs. */
const askZsh = (cwd: string, ...words: string[]) =>
  lines(cwd, [
    'zsh',
    '-f',
    '-c',
    'compdef() { }; source ./script; _arguments() { print -rl -- "$CURRENT $words" "$@" }\n' +
      'words=(metainfo "$@"); CURRENT=$#words; _metainfo',
    'zsh',
    ...words,
  ]);

const askFish = async (cwd: string, line: string) => {
  const offered = await lines(cwd, ['fish', '--no-config', '-c', `source script; complete -C '${line}'`]);
  return offered.map((line) => line.split('\t')[0]);
};

/** The flags in the order of `--help`, but with those of the help itself last. */
const flagsOf = async (cwd: string, ...words: string[]) => {
  const { stdout } = await metainfo([...words, '--help', '--all'], { cwd });
  const lines = [...stdout.matchAll(/^ {2}(-\w(?=, ))?(?:, )?(--[\w-]+)/gm)];
  const flags = lines.flatMap(([, short, long]) => [short, long].filter((flag) => flag !== undefined));
  return [...flags.filter((flag) => !HELP.includes(flag)), ...HELP];
};

const HELP = ['-h', '--help'];

const COMMANDS =
  'create plan hash-part join show validate verify diff edit update upgrade magnet worker store config cache kernels completion help'.split(
    ' ',
  );

describe('metainfo completion', () => {
  it('rejects an unknown shell', async (t) => {
    const { code, stderr } = await metainfo(['completion', 'csh'], { cwd: await workFolder(t) });
    assert.equal(code, 2);
    assert.match(stderr, /bash, zsh, fish, powershell/);
  });
});

const skipBash = missing('bash', 'bash', ['--version']);

describe('completion in bash', { skip: skipBash }, () => {
  it('offers commands', async (t) => {
    const cwd = await withScript(t, 'bash');
    assert.deepEqual(await askBash(cwd, ''), COMMANDS);
    assert.deepEqual(await askBash(cwd, 'cr'), ['create']);
    assert.deepEqual(await askBash(cwd, '--v'), ['--version']);
    assert.deepEqual(await askBash(cwd, 'cache', ''), ['stats', 'clear', 'help']);
    assert.deepEqual(await askBash(cwd, 'completion', ''), ['bash', 'zsh', 'fish', 'powershell']);
    assert.deepEqual(await askBash(cwd, 'help', ''), COMMANDS);
  });

  it('offers every visible option of each command', async (t) => {
    const cwd = await withScript(t, 'bash');
    for (const words of [...COMMANDS.slice(0, -1).map((name) => [name]), ['cache', 'stats']]) {
      const flags = await flagsOf(cwd, ...words);
      assert.ok(flags.includes('--help'));
      assert.deepEqual(await askBash(cwd, ...words, '-'), flags);
    }
    assert.deepEqual(await askBash(cwd, 'verify', 'album', '--fi'), ['--files', '--find']);
    assert.deepEqual(await askBash(cwd, 'create', '--torrent-v'), ['--torrent-version']);
  });

  it('offers the values of an option with fixed choices', async (t) => {
    const cwd = await withScript(t, 'bash');
    assert.deepEqual(await askBash(cwd, 'create', 'album', '--torrent-version', ''), ['v1', 'v2', 'hybrid']);
    assert.deepEqual(await askBash(cwd, 'create', '-k', 'v'), ['v1', 'v2']);
    assert.deepEqual(await askBash(cwd, 'verify', '--link', ''), ['hard', 'symlink', 'reflink', 'copy']);
    assert.deepEqual(await askBash(cwd, 'verify', '--link', '=', 's'), ['symlink']);
    assert.deepEqual(await askBash(cwd, 'verify', '--link', 'al'), []);
    assert.deepEqual(await askBash(cwd, 'create', '--torrent-version', '=', ''), ['v1', 'v2', 'hybrid']);
    assert.deepEqual(await askBash(cwd, 'create', '--torrent-version', '='), ['v1', 'v2', 'hybrid']);
    assert.deepEqual(await askBash(cwd, 'create', '--torrent-version', '=', 'h'), ['hybrid']);
  });

  it('offers presets and aliases of the configuration, quoted for the shell', async (t) => {
    const cwd = await withScript(t, 'bash');
    assert.deepEqual(await askBash(cwd, 'create', '--preset', ''), [
      'films',
      'my\\ films',
      `\\$\\(touch\\ pwned\\)\\'\\"`,
    ]);
    assert.deepEqual(await askBash(cwd, 'create', '--preset', '=', 'my\\ f'), ['my\\ films']);
    assert.deepEqual(await askBash(cwd, 'plan', '-t', 'm'), ['main', 'mirror']);
    assert.deepEqual(await askBash(cwd, 'edit', '--add-tracker', 'mi'), ['mirror']);
    assert.deepEqual(await askBash(cwd, 'create', '--preset', 'x'), []);
    breakConfig(cwd);
    assert.deepEqual(await askBash(cwd, 'create', '--preset', ''), []);
    assert.ok(!existsSync(path.join(cwd, 'pwned')));
  });

  it('leaves file names to bash', async (t) => {
    const cwd = await withScript(t, 'bash');
    assert.deepEqual(await askBash(cwd, 'show', 'al'), []);
    assert.deepEqual(await askBash(cwd, 'create', 'album', '-o', ''), []);
    // A file can be named like a command.
    assert.deepEqual(await askBash(cwd, 'create', 'cache', ''), []);
    assert.deepEqual(await lines(cwd, ['bash', '-c', 'source ./script; complete -p metainfo']), [
      'complete -o default -F _metainfo metainfo',
    ]);
  });
});

describe('completion in zsh', { skip: missing('zsh', 'zsh', ['--version']) }, () => {
  it('loads without errors, from eval and from $fpath', async (t) => {
    const cwd = await withScript(t, 'zsh');
    assert.deepEqual(await lines(cwd, ['zsh', '-f', '-n', 'script']), []);
    assert.deepEqual(await lines(cwd, ['zsh', '-f', '-c', 'compdef() { print $@ }; source ./script']), [
      '_metainfo metainfo',
    ]);
  });

  it('offers commands, options, values and files', async (t) => {
    const cwd = await withScript(t, 'zsh');
    const [position, ...top] = await askZsh(cwd, '');
    assert.equal(position, '2 metainfo ');
    assert.match(top.at(-1) as string, /^1: :\(\(create\\:create\\ a\\ torrent.* cache\\:show/);
    assert.deepEqual(
      [...(await askZsh(cwd, 'cache', 'clear', '--j'))].map((line) => line.split('[')[0]),
      ['2 clear --j', '-s', '*--cache-dir=', '*--json', '*-h', '*--help'],
    );
    const create = await askZsh(cwd, 'create', 'cache', '');
    assert.equal(create[0], '3 create cache ');
    assert.ok(create.includes('*-k+[torrent version]: :(v1 v2 hybrid)'));
    assert.ok(create.includes('*--torrent-version=[torrent version]: :(v1 v2 hybrid)'));
    const verify = await askZsh(cwd, 'verify', '');
    assert.ok(verify.some((line) => /^\*--link=\[.*\]:: :\(hard symlink reflink copy\)$/.test(line)));
    assert.ok(create.some((line) => /^\*--output=\[.*\]: :_files$/.test(line)));
    assert.equal(create.at(-1), '*: :_files');
    assert.ok(create.some((line) => /^\*--preset=\[.*\]: :_metainfo_presets$/.test(line)));
    assert.ok(create.some((line) => /^\*-t\+\[.*\]: :_metainfo_aliases$/.test(line)));
    const names = (kind: string) =>
      lines(cwd, [
        'zsh',
        '-f',
        '-c',
        `compdef() { }; source ./script; compadd() { print -rl -- "\${(@P)2}" }; ${kind}`,
      ]);
    assert.deepEqual(await names('_metainfo_presets'), ['films', 'my films', `$(touch pwned)'"`]);
    assert.deepEqual(await names('_metainfo_aliases'), ['main', 'mirror']);
    breakConfig(cwd);
    assert.deepEqual(await names('_metainfo_presets'), []);
  });
});

describe('completion in fish', { skip: missing('fish', 'fish', ['--version']) }, () => {
  it('offers commands, options, values and files', async (t) => {
    const cwd = await withScript(t, 'fish');
    assert.deepEqual(await lines(cwd, ['fish', '--no-config', '-n', 'script']), []);
    assert.deepEqual(await askFish(cwd, 'metainfo '), [...COMMANDS].sort());
    assert.deepEqual(await askFish(cwd, 'metainfo cr'), ['create']);
    assert.deepEqual(await askFish(cwd, 'metainfo cache '), ['clear', 'help', 'stats']);
    assert.deepEqual(await askFish(cwd, 'metainfo help cr'), ['create']);
    assert.deepEqual((await askFish(cwd, 'metainfo create -')).sort(), (await flagsOf(cwd, 'create')).sort());
    assert.deepEqual(await askFish(cwd, 'metainfo create --torrent-version '), ['hybrid', 'v1', 'v2']);
    assert.deepEqual(await askFish(cwd, 'metainfo create --torrent-version=h'), ['--torrent-version=hybrid']);
    assert.deepEqual((await askFish(cwd, 'metainfo verify --link=s')).sort(), ['--link=script', '--link=symlink']);
    assert.deepEqual(await askFish(cwd, 'metainfo verify --link h'), ['hard']);
    assert.deepEqual((await askFish(cwd, 'metainfo verify --link al')).sort(), ['album.torrent', 'album/']);
    assert.deepEqual((await askFish(cwd, 'metainfo show al')).sort(), ['album.torrent', 'album/']);
    assert.deepEqual(await askFish(cwd, 'metainfo create cache -o album.'), ['album.torrent']);
    assert.deepEqual(await askFish(cwd, 'metainfo create --comment al'), []);
    assert.deepEqual(await askFish(cwd, 'metainfo create --preset m'), ['my films']);
    assert.deepEqual(await askFish(cwd, 'metainfo create --preset='), [
      '--preset=$(touch pwned)\'"',
      '--preset=films',
      '--preset=my films',
    ]);
    assert.deepEqual(await askFish(cwd, 'metainfo create -t m'), ['main', 'mirror']);
    breakConfig(cwd);
    assert.deepEqual(await askFish(cwd, 'metainfo create --preset m'), []);
  });
});

describe('completion in PowerShell', () => {
  it('has every command, every visible option and the values of options', async (t) => {
    const cwd = await workFolder(t);
    const { code, stdout } = await metainfo(['completion', 'powershell'], { cwd });
    assert.equal(code, 0);
    const rows = stdout.split('\n').map((line) => line.split('|'));
    const follows = (command: string) => rows.flatMap(([at, word = '']) => (at === command ? [word] : []));
    for (const words of [...COMMANDS.slice(0, -1).map((name) => [name]), ['cache', 'stats']]) {
      const flags = follows(words.join(' ')).filter((word) => word.startsWith('-'));
      assert.deepEqual(flags, await flagsOf(cwd, ...words), words.join(' '));
    }
    assert.deepEqual(follows('').slice(0, COMMANDS.length), COMMANDS);
    assert.match(stdout, /^create\|--torrent-version\|v1 v2 hybrid\|/m);
    assert.match(stdout, /^verify\|--link\|=hard symlink reflink copy\|/m);
    assert.deepEqual(follows('completion').slice(0, 4), ['bash', 'zsh', 'fish', 'powershell']);
    // A text between @' and '@ ends with the first line that begins with '@.
    assert.equal(stdout.match(/^'@/gm)?.length, 1);
  });
});
