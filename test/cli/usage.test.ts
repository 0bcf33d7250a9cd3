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

  it('never includes warnings of Node', async (t) => {
    const cwd = await workFolder(t);
    await writeFile(path.join(cwd, 'warn.cjs'), "setImmediate(() => process.emitWarning('for programmers'));");
    const env = { NODE_OPTIONS: `--require ${path.join(cwd, 'warn.cjs')}` };
    assert.deepEqual((await metainfoProcess(['create', 'album', '-q'], { cwd, env })).stderr, '');
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
