import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { sparseFile, temporaryFolder } from '../support/tree.ts';
import { notRoot } from '../support/unprivileged.ts';
import { command, entries, finish, metainfo, metainfoProcess, start, startProgram, workFolder } from './run.ts';

const errorOf = (stdout: string) => JSON.parse(stdout).error as { code: string; message: string; path: string | null };

describe('a mistake', () => {
  const says = async (cwd: string, args: string[], code: number, message: RegExp) => {
    const run = await metainfo(args, { cwd });
    assert.match(run.stderr + run.stdout, message);
    assert.equal(run.code, code, args.join(' '));
  };

  it('of content in place of a torrent says how to make one', async (t) => {
    const cwd = await workFolder(t);
    await writeFile(path.join(cwd, 'my film.bin'), Buffer.alloc(1000));
    await writeFile(path.join(cwd, 'broken.torrent'), Buffer.alloc(1000));
    for (const command of ['show', 'edit', 'magnet'])
      await says(
        cwd,
        [command, 'my film.bin'],
        1,
        /If it is content, make a torrent of it: metainfo create 'my film\.bin'/,
      );
    await says(cwd, ['show', 'broken.torrent'], 1, /no value starts with this byte\. \[ERR_BENCODE\]/);
  });

  it('of a list of jobs in YAML says how to convert it, and a wrong key is named as it was written', async (t) => {
    const cwd = await workFolder(t);
    for (const text of [
      '- path: album\n',
      '---\n- path: album\n',
      'version: 1\njobs:\n- path: album\n',
      '# jobs\n- path: a\n',
    ]) {
      await writeFile(path.join(cwd, 'jobs.yaml'), text);
      await says(
        cwd,
        ['create', '--batch', 'jobs.yaml'],
        2,
        /it is YAML: convert it to JSON with yq and jq, as docs\/guides\/switching\.md shows\. /,
      );
    }
    for (const value of [false, [], null, 'x']) {
      await writeFile(path.join(cwd, 'jobs.json'), JSON.stringify([{ path: 'album', nonsense: value }]));
      await says(cwd, ['create', '--batch', 'jobs.json'], 2, /unknown key "nonsense"\. \[/);
    }
  });

  it('of names that --normalize makes the same says so, and a plan too', async (t) => {
    const cwd = await temporaryFolder(t);
    await mkdir(path.join(cwd, 'set'));
    for (const form of ['NFC', 'NFD']) await writeFile(path.join(cwd, 'set', 'é'.normalize(form)), 'x');
    for (const command of ['create', 'plan'])
      await says(
        cwd,
        [command, 'set', '--normalize', 'nfc'],
        1,
        /Two files have the path é, because two names are the same after --normalize: rename one/,
      );
  });

  it('of a name too long for an output asks for another, alone and among many', async (t) => {
    const cwd = await temporaryFolder(t);
    const name = 'n'.repeat(250);
    await mkdir(path.join(cwd, 'set'));
    await writeFile(path.join(cwd, 'set', name), 'x');
    await writeFile(path.join(cwd, 'set', 'other'), 'x');
    for (const args of [[`set/${name}`], ['--each', 'set', '-o', 'out/']])
      await says(
        cwd,
        ['create', ...args],
        1,
        /longer than this system supports\. Choose a shorter name with -o FILE\. \[ERR_WRITE\]/,
      );
    assert.deepEqual(await entries(path.join(cwd, 'out')), ['other.torrent']);
    await says(cwd, ['create', `set/${name}`, '-o', 'short.torrent'], 0, /short\.torrent: /);
  });

  it('of a name that is not that of the single file is a hint', async (t) => {
    const cwd = await workFolder(t);
    await writeFile(path.join(cwd, 'film.mkv'), 'x');
    const hint = /hint: Clients look for the file "other\.mkv", and do not find "film\.mkv"\. \[other_name\]/;
    for (const args of [['create'], ['plan'], ['create', '--dry-run', '--strict']])
      await says(cwd, [...args, 'film.mkv', '--name', 'other.mkv', '-o', `${args.length}.${args[0]}.torrent`], 0, hint);
    for (const args of [
      ['film.mkv', '--name', 'film.mkv'],
      ['album', '--name', 'other'],
    ]) {
      const { stdout, stderr } = await metainfo(['plan', ...args], { cwd });
      assert.doesNotMatch(stdout + stderr, /other_name/);
    }
  });
});

describe('wrong usage with --json', () => {
  const CASES: Record<string, [args: string[], message: string]> = {
    'a missing argument': [['show', '--json'], "missing required argument 'file'"],
    'an unknown option': [['show', 'x', '--json', '--nosuch'], "unknown option '--nosuch'"],
    'an unknown command': [['nosuch', '--json'], "unknown command 'nosuch'"],
    'too many arguments': [
      ['kernels', 'a', '--json'],
      "too many arguments for 'kernels'. Expected 0 arguments but got 1.",
    ],
    'a wrong value': [
      ['create', 'album', '--json', '--threads', '0'],
      "option '--threads <n>' argument '0' is invalid. Expected a whole number from 1 to 1024.",
    ],
  };
  for (const [what, [args, message]] of Object.entries(CASES)) {
    it(`prints one JSON object to standard output: ${what}`, async (t) => {
      const cwd = await workFolder(t);
      const { code, stdout, stderr } = await metainfo(args, { cwd });
      assert.deepEqual([code, stderr], [2, '']);
      assert.deepEqual(errorOf(stdout), { code: 'ERR_INVALID_ARGUMENT', message, path: null });
    });
  }

  it('prints text if --json is an argument after --', async (t) => {
    const cwd = await workFolder(t);
    const { code, stdout, stderr } = await metainfo(['show', '--nosuch', '--', '--json'], { cwd });
    assert.deepEqual([code, stdout], [2, '']);
    assert.match(stderr, /unknown option '--nosuch'/);
  });
});

describe('Ctrl-C with --json', () => {
  it('prints one JSON object, and exits with 130', { timeout: 120_000 }, async (t) => {
    const cwd = await temporaryFolder(t);
    await sparseFile(cwd, 'big', 2 ** 43);
    // The start of hashing is not visible here; an earlier signal ends the process as any other program.
    for (let ms = 1000; ; ms *= 2) {
      const child = start(['create', 'big', '--json', '--threads', '1'], { cwd });
      const ended = finish(child);
      await sleep(ms);
      child.kill('SIGINT');
      const { code, signal, stdout, stderr } = await ended;
      if (signal !== null && ms < 16_000) continue;
      assert.deepEqual([code, stderr], [130, '']);
      assert.deepEqual(errorOf(stdout), { code: 'ERR_ABORTED', message: 'cancelled: nothing was written', path: null });
      break;
    }
    assert.deepEqual(await entries(cwd), ['big']);
  });
});

describe('an error', () => {
  const CASES: Record<string, [args: string[], message: RegExp]> = {
    'of an existing output': [['create', 'album'], /\(use --force to replace it\) \[ERR_OUTPUT_EXISTS\]/],
    'of a limit': [
      ['show', 'album.torrent', '--limit', 'files=1'],
      /raise it with --limit files=N if you trust the input\./,
    ],
    'of a limit, by validate': [
      ['validate', 'album.torrent', '--limit', 'files=1'],
      /raise it with --limit files=N if you/,
    ],
    'of a memory limit': [
      ['verify', 'album.torrent', 'album', '--memory-limit', '1'],
      /--memory-limit must be at least /,
    ],
    'of a path given twice': [
      ['plan', 'album/a.txt', 'album/a.txt'],
      /a\.txt is given twice\. \[ERR_DUPLICATE_PATH\]\n {2}Name/,
    ],
    'of an empty path': [['plan', ''], /A path is empty.*\[ERR_INVALID_ARGUMENT\]/],
    'of a random key that is set': [
      ['plan', 'album', '--entropy', '--set', 'info.entropy=x'],
      /--set info\.entropy and --entropy set the same key/,
    ],
    'of an empty pattern': [['plan', 'album', '--include', ''], /'--include <glob>' argument '' is invalid/],
    'of a wish': [
      ['plan', 'album', '--max-torrent-size', '0'],
      /--max-torrent-size <size>' argument '0' is invalid\. Expected a size/,
    ],
    'of a read size': [['create', 'album', '--read-size', '3', '-o', 'x'], /--read-size must be a power of two/],
    'of an infohash': [['create', 'album', '--similar', 'x', '-o', 'x'], /--similar: expected an infohash/i],
    'of a webseed': [['create', 'album', '-w', 'x', '-o', 'x'], /--webseed: expected a URL/i],
    'of a cache folder': [['cache', 'stats', '--cache-dir', ''], /'--cache-dir <folder>' argument '' is invalid/],
  };
  for (const [what, [args, message]] of Object.entries(CASES)) {
    it(`${what} names the option of the command, not of the library`, async (t) => {
      const cwd = await workFolder(t);
      await metainfo(['create', 'album'], { cwd });
      const { code, stdout, stderr } = await metainfo(args, { cwd });
      assert.notEqual(code, 0);
      assert.match(stdout + stderr, message);
      assert.doesNotMatch(stdout + stderr, /force: true|limits[:.]|memoryLimit|readSize|urlList|null/);
    });
  }

  it('of a full standard output has a code', { skip: !existsSync('/dev/full') }, async (t) => {
    const cwd = await workFolder(t);
    const lines = [
      ['create', 'album', '-o', '-', '-q'],
      ['create', 'album'],
      ['validate', 'album.torrent'],
      ['--help'],
      ['--version'],
      ['-V'],
    ];
    for (const line of lines) {
      const program = command(line);
      const { code, stderr } = await finish(startProgram(['sh', '-c', '"$@" > /dev/full', 'sh', ...program], { cwd }));
      assert.deepEqual(
        [code, stderr],
        [1, 'error: standard output: the disk is full. [ERR_NO_SPACE]\n'],
        line.join(' '),
      );
    }
  });

  it('of a removed current folder, and of a pipe to create, is one line', {
    skip: process.platform !== 'linux' && 'other systems remove no folder in use',
  }, async (t) => {
    const cwd = await workFolder(t);
    await metainfo(['create', 'album/a.txt', '-q'], { cwd });
    const run = async (script: string, ...line: string[]) =>
      (await finish(startProgram(['sh', '-c', script, 'sh', ...command(line)], { cwd }))).stderr;
    assert.equal(
      await run('mkdir gone && cd gone && rmdir ../gone && "$@"', 'create', path.join(cwd, 'album')),
      'error: The current folder does not exist any more: change to another one. [ERR_NOT_FOUND]\n',
    );
    const pipe = 'is a pipe or a device, not a file or folder: use - to read standard input. [ERR_NOT_A_FILE]';
    const create = ['create', '/dev/stdin', '--name', 'x', '-o', 'x.torrent'];
    assert.equal(await run('cat album/a.txt | "$@"', ...create), `error: /dev/stdin ${pipe}\n`);
  });

  it('never includes warnings of Node', async (t) => {
    const cwd = await workFolder(t);
    await writeFile(path.join(cwd, 'warn.cjs'), "setImmediate(() => process.emitWarning('for programmers'));");
    const env = { NODE_OPTIONS: `--require ${path.join(cwd, 'warn.cjs')}` };
    assert.deepEqual((await metainfoProcess(['create', 'album', '-q'], { cwd, env })).stderr, '');
  });

  it('of an input without a command names the command for it', async (t) => {
    const cwd = await workFolder(t);
    await metainfo(['create', 'album', '-q'], { cwd });
    const hash = 'ab'.repeat(20);
    for (const [args, hint] of [
      [['album'], "unknown command 'album': use metainfo create album"],
      [['album.torrent'], "unknown command 'album.torrent': use metainfo show album.torrent"],
      [['magnet:?xt=urn:btih:1'], "unknown command 'magnet:?xt=urn:btih:1': use metainfo magnet LINK"],
      [[hash], `unknown command '${hash}': use metainfo magnet ${hash}`],
      [['-v'], "unknown option '-v': use metainfo --version"],
      [['-i', 'x.torrent'], "unknown option '-i': use metainfo show FILE.torrent"],
    ] as const) {
      const { code, stderr } = await metainfo(args, { cwd });
      assert.equal(code, 2);
      assert.ok(stderr.startsWith(`error: ${hint}\n`), stderr);
    }
    for (const first of ['--help', '-h']) {
      const { code, stdout } = await metainfo([first, 'create'], { cwd });
      assert.deepEqual([code, stdout.split('\n')[0]], [0, 'Usage: metainfo create [options] [path...]']);
    }
  });

  it('of help for an unknown command suggests one', async (t) => {
    const cwd = await workFolder(t);
    const { code, stderr } = await metainfo(['help', 'creat'], { cwd });
    assert.equal(code, 2);
    assert.match(stderr, /unknown command 'creat'\n\(Did you mean create\?\)/);
    assert.match((await metainfo(['help', 'create'], { cwd })).stdout, /^Usage: metainfo create/);
  });

  it('without permission to write the output is ERR_WRITE', { skip: notRoot() }, async (t) => {
    const cwd = await workFolder(t);
    await chmod(cwd, 0o755);
    await mkdir(path.join(cwd, 'locked'), { mode: 0o755 });
    const [program, ...args] = command(['create', 'album', '-o', 'locked/x.torrent']);
    const { status, stderr } = spawnSync(program, args, { cwd, encoding: 'utf8', uid: 65_534, gid: 65_534 });
    assert.deepEqual(
      [status, stderr],
      [1, 'error: locked/x.torrent: no permission to write in its folder. [ERR_WRITE]\n'],
    );
  });
});
