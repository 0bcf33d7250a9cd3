import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { missing, PYTHON } from '../support/external.ts';
import { assertWithin } from '../support/timing.ts';
import { HUGE, sparseFile, temporaryFolder } from '../support/tree.ts';
import { command, entries, finish, metainfo, type Result, type RunOptions, start, startProgram } from './run.ts';

/** The size of a file that takes more than a second to hash, even from memory. */
const SLOW_GIB = process.env['METAINFO_ENGINE'] === 'node' ? 1 : 4;

// Node has no pseudo-terminal, so Python runs the command in one of 120 columns and passes its output on.
const IN_TERMINAL = `
import fcntl, os, pty, struct, sys, termios
pid, terminal = pty.fork()
if pid == 0:
    os.execvp(sys.argv[1], sys.argv[1:])
fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 120, 0, 0))
interrupted = False
while True:
    try:
        data = os.read(terminal, 4096)
    except OSError:
        break
    if not data:
        break
    os.write(1, data)
    if b"left" in data and os.environ.get("PRESS_CTRL_C") and not interrupted:
        interrupted = True
        os.write(terminal, b"\\x03")
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
`;

const noTerminal = missing('python3', PYTHON, ['-c', 'import pty']);
const inTerminal = (args: readonly string[], options: RunOptions): Promise<Result> =>
  finish(startProgram([PYTHON, '-c', IN_TERMINAL, ...command(args)], options));

describe('progress', () => {
  let folder = '';
  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'metainfo-progress-'));
    await sparseFile(folder, 'big', SLOW_GIB * 2 ** 30);
  });
  after(() => rm(folder, { recursive: true }));
  const slowly = (...args: string[]) => ['create', folder, '--threads', '1', '-o', 'x.torrent', ...args];

  it('is not printed without a terminal, unless --progress asks for lines', async (t) => {
    const cwd = await temporaryFolder(t);
    const none = await metainfo(slowly(), { cwd });
    assert.deepEqual([none.code, none.stderr], [0, '']);
    const { code, stderr } = await metainfo(slowly('--force', '--progress', 'bar'), { cwd });
    assert.equal(code, 0);
    const line = ` *\\d+ % {2}[\\d.]+ [KMG]iB of ${SLOW_GIB} GiB {2}[\\d.]+ [KMG]iB/s {2}[\\d:]+( s)? left\\n`;
    assert.match(stderr, new RegExp(`^(${line})+$`));
  });

  it('is JSON for programs, in every command that hashes', async (t) => {
    const cwd = await temporaryFolder(t);
    const linesOf = async (args: string[]) => {
      const { code, stdout, stderr } = await metainfo([...args, '--progress', 'json', '--json'], { cwd });
      assert.equal(code, 0, stderr);
      assert.equal(JSON.parse(stdout).event ?? 'done', 'done');
      return stderr
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line));
    };
    const size = 64 * 2 ** 20;
    await sparseFile(cwd, 'data', size);
    const runs = [
      ['create', 'data', '-k', 'v2'],
      ['verify', 'data.torrent', 'data'],
      ['update', 'data.torrent', 'data', '--since', '@0'],
    ];
    for (const args of runs) {
      const events = await linesOf(args);
      const last = events.at(-1);
      assert.ok(events.every(({ event }) => event === 'progress'));
      assert.deepEqual([last.bytes, last.totalBytes, last.file], [size, size, 'data']);
      assert.ok(last.rate > 0 && last.seconds > 0, JSON.stringify(last));
      // A line a second, and one at the end.
      for (const [i, { seconds }] of events.slice(1, -1).entries()) assert.ok(seconds - events[i].seconds >= 1);
    }
  });

  it('is not printed with --quiet or --json', async (t) => {
    const cwd = await temporaryFolder(t);
    for (const option of ['--quiet', '--json']) {
      const { code, stderr } = await metainfo(slowly('--force', option), { cwd });
      assert.deepEqual({ code, stderr }, { code: 0, stderr: '' }, option);
    }
  });

  it('does not fail if standard error is closed', async (t) => {
    const cwd = await temporaryFolder(t);
    const child = start(slowly('--progress', 'bar'), { cwd });
    child.stderr.destroy();
    const { code } = await finish(child);
    assert.equal(code, 0);
    assert.deepEqual(await entries(cwd), ['x.torrent']);
  });

  describe('in a terminal', { skip: noTerminal }, () => {
    it('is a bar with rate, time left and file, cleared at the end', async (t) => {
      const cwd = await temporaryFolder(t);
      const { code, stdout } = await inTerminal(slowly(), { cwd });
      assert.equal(code, 0);
      const [, ...drawn] = stdout.split('\r\u001b[K');
      const summary = drawn.pop() as string;
      // The bar is drawn, then cleared before the summary.
      assert.ok(drawn.length >= 2, stdout);
      assert.ok(summary.startsWith(`x.torrent: hybrid, 1 file, ${SLOW_GIB} GiB`), summary);
      for (const bar of drawn.filter((text) => text !== '')) {
        assert.match(
          bar,
          new RegExp(
            `^█*░* {2} *\\d+ % {2}[\\d.]+ \\w+ of ${SLOW_GIB} GiB {2}[\\d.]+ [KMG]iB/s( {2}[\\d:]+( s)? left)? {2}big$`,
          ),
        );
        assert.ok(bar.length < 120, bar);
      }
    });

    it('is one line for many jobs, above which their results are printed whole', async (t) => {
      const cwd = await temporaryFolder(t);
      await mkdir(path.join(cwd, 'lib'));
      for (const name of ['big1', 'big2']) await sparseFile(path.join(cwd, 'lib'), name, SLOW_GIB * 2 ** 30);
      await writeFile(path.join(cwd, 'lib/small'), 'x');
      const create = ['create', '--each', 'lib', '--threads', '1', '-k', 'v2'];
      const line =
        /^(█*░* {2})?[0-3] of 3 done( {2}[\d.]+ (B|[KMG]iB)( of [\d.]+ GiB)?)?( {2}[\d.]+ [KMG]iB\/s)?( {2}[\d:]+( s)? left)?( {2}\S+(: \S+)?)?$/;
      for (const args of [
        create,
        ['verify', '--threads', '1', '--content', 'lib', 'small.torrent', 'big1.torrent', 'big2.torrent'],
      ]) {
        const { code, stdout } = await inTerminal(args, { cwd, env: { NO_COLOR: '1' } });
        assert.equal(code, 0, stdout);
        const drawn = stdout.split('\r\u001b[K');
        assert.ok(drawn.length >= 2, stdout);
        const isResult = (text: string) => text.endsWith('\r\n');
        for (const text of drawn.filter((one) => one !== '' && !isResult(one))) assert.match(text, line);
        // Each result starts in the first column of a cleared line.
        const results = drawn.filter(isResult).join('').split('\r\n');
        assert.match(
          results.join('\n'),
          /^((small|big1|big2)\.torrent: [^\n]*\n){3}3 (torrents made|complete): [^\n]*\n$/,
        );
      }
      const one = ['verify', '--threads', '1', '--content', 'lib', 'big1.torrent'];
      const quiet = await inTerminal([...one, '-q'], { cwd });
      assert.deepEqual([quiet.code, quiet.stdout], [0, '']);
      const piped = await metainfo(one, { cwd });
      assert.deepEqual([piped.code, piped.stderr], [0, '']);
    });

    it('disappears when Ctrl-C ends the command', async (t) => {
      const cwd = await temporaryFolder(t);
      await sparseFile(cwd, 'big', HUGE);
      const { code, stdout } = await inTerminal(['create', 'big'], { cwd, env: { PRESS_CTRL_C: '1' } });
      assert.equal(code, 130);
      assert.doesNotMatch(stdout, /error|Error/);
      assert.deepEqual(await entries(cwd), ['big']);
    });
  });
});

describe('colors', { skip: noTerminal }, () => {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the test looks for it
  const COLOR = /\u001b\[\d+m/;

  it('are used only in a terminal', async (t) => {
    const cwd = await temporaryFolder(t);
    assert.match((await inTerminal(['create', 'missing'], { cwd, env: { TERM: 'xterm' } })).stdout, COLOR);
    // CI and FORCE_COLOR do not enable colors in a pipe.
    for (const env of [{ TERM: 'xterm' }, { CI: 'true' }, { FORCE_COLOR: '1' }]) {
      assert.doesNotMatch((await metainfo(['create', 'missing'], { cwd, env })).stderr, COLOR);
    }
  });

  it('are turned off by NO_COLOR', async (t) => {
    const cwd = await temporaryFolder(t);
    const { stdout } = await inTerminal(['create', 'missing'], { cwd, env: { TERM: 'xterm', NO_COLOR: '1' } });
    assert.match(stdout, /^error: .*\[ERR_NOT_FOUND\]/);
    assert.doesNotMatch(stdout, COLOR);
  });
});

describe('a signal during a job', () => {
  for (const [signal, exitCode] of [
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const) {
    it(`ends the command at once without leaving files: ${signal}`, async (t) => {
      const cwd = await temporaryFolder(t);
      await sparseFile(cwd, 'big', HUGE);
      // To hash the whole file takes far longer.
      await assertWithin(t, 5, async () => {
        const child = start(['create', 'big', '--threads', '2', '--progress', 'bar'], { cwd });
        // Wait for the first line of progress.
        await once(child.stderr, 'data');
        const started = performance.now();
        let ended = Number.NaN;
        child.once('exit', () => {
          ended = performance.now();
        });
        child.kill(signal);
        const { code, stdout } = await finish(child);
        assert.deepEqual({ code, stdout }, { code: exitCode, stdout: '' });
        assert.deepEqual(await entries(cwd), ['big']);
        return (ended - started) / 1000;
      });
    });
  }
});
