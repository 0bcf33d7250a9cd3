import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { bytesOf, entries, finish, MAIN, startProgram, workFolder } from './run.ts';

const PACKAGE = path.dirname(path.dirname(path.dirname(MAIN)));
const CREATE = ['create', 'album', '-o', 'x.torrent', '--force'];

/** The modules that a run loaded, without those that Node loads itself. */
interface LoadedModules {
  files: string[];
  builtins: string[];
  /** Whether V8 rejected the code cache; null if there was none. */
  rejected: boolean | null;
}

const WATCH = `
const before = new Set(process.moduleLoadList);
process.on('exit', () => {
  const builtins = process.moduleLoadList.filter((name) => !before.has(name)).map((name) => name.split(' ').pop());
  const files = Object.keys(require.cache).filter((file) => file !== __filename);
  const { script } = require.cache[${JSON.stringify(MAIN)}].exports;
  const loaded = { files, builtins, rejected: script.cachedDataRejected ?? null };
  require('node:fs').writeFileSync('loaded.json', JSON.stringify(loaded));
});`;

/** Lists the modules that the built command loads. A measurement of time would fail on a busy machine. */
async function loadedBy(t: TestContext, args: string[], env: Record<string, string> = {}): Promise<LoadedModules> {
  const cwd = await workFolder(t);
  writeFileSync(path.join(cwd, 'watch.cjs'), WATCH);
  const program: [string, ...string[]] = [process.execPath, '-r', './watch.cjs', MAIN, ...args];
  const { code, stderr } = await finish(startProgram(program, { cwd, env }));
  assert.deepEqual({ code, stderr }, { code: 0, stderr: '' });
  return JSON.parse((await bytesOf(cwd, 'loaded.json')).toString()) as LoadedModules;
}

/** The modules of the bundle that a run evaluated: esbuild gives each lazy module a function of its name. */
function evaluated(folder: string, names: RegExp): string[] {
  const [file = ''] = readdirSync(folder);
  const { result } = JSON.parse(readFileSync(path.join(folder, file), 'utf8')) as {
    result: { functions: { functionName: string; ranges: { count: number }[] }[] }[];
  };
  const functions = result.flatMap((script) => script.functions);
  return functions.flatMap(({ functionName, ranges }) =>
    names.test(functionName) && ranges[0]?.count ? [functionName] : [],
  );
}

/** Copies the command as `npm install --ignore-scripts` leaves it: without a code cache. */
async function installed(t: TestContext): Promise<{ cwd: string; main: string; folder: string }> {
  const cwd = await workFolder(t);
  const folder = path.join(cwd, 'package', 'dist', 'cli');
  mkdirSync(folder, { recursive: true });
  for (const file of ['main.cjs', 'command.cjs']) cpSync(path.join(path.dirname(MAIN), file), path.join(folder, file));
  cpSync(path.join(PACKAGE, 'package.json'), path.join(cwd, 'package', 'package.json'));
  symlinkSync(path.join(PACKAGE, 'build'), path.join(cwd, 'package', 'build'));
  return { cwd, main: path.join(folder, 'main.cjs'), folder };
}

describe('starting the command', () => {
  it('loads one file of code and the addon', async (t) => {
    for (const quiet of [['--quiet'], []]) {
      const { files } = await loadedBy(t, [...CREATE, ...quiet]);
      const code = files.filter((file) => /\.[cm]?js$/.test(file)).map((file) => path.relative(PACKAGE, file));
      assert.deepEqual(code, ['dist/cli/main.cjs']);
      assert.equal(files.filter((file) => file.endsWith('.node')).length, 1);
    }
  });

  it('never loads the addon with METAINFO_ENGINE=node', async (t) => {
    for (const args of [CREATE, [...CREATE, '-k', 'v1'], ['create', 'album', '--json'], ['kernels']]) {
      const { files } = await loadedBy(t, args, { METAINFO_ENGINE: 'node' });
      assert.deepEqual(
        files.filter((file) => file.endsWith('.node')),
        [],
      );
    }
  });

  it('loads no slow Node modules in a quiet run', async (t) => {
    const { builtins } = await loadedBy(t, [...CREATE, '--quiet']);
    const slow = ['child_process', 'crypto', 'http', 'net', 'perf_hooks', 'stream', 'tty', 'url', 'zlib'];
    assert.deepEqual(
      slow.filter((name) => builtins.includes(name)),
      [],
    );
    assert.ok(builtins.includes('fs/promises'), 'the list contains modules of the run');
  });

  it('loads crypto for the infohashes, but not child_process', async (t) => {
    const { builtins } = await loadedBy(t, CREATE);
    assert.deepEqual([builtins.includes('crypto'), builtins.includes('child_process')], [true, false]);
  });

  it('evaluates the parser of the configuration only if there is a file', async (t) => {
    const cwd = await workFolder(t);
    writeFileSync(path.join(cwd, 'c.toml'), '');
    for (const [args, isUsed] of [
      [[], false],
      [['--config', 'c.toml'], true],
    ] as const) {
      const folder = path.join(cwd, `coverage-${isUsed}`);
      const env = { NODE_V8_COVERAGE: folder };
      const { code, stderr } = await finish(startProgram([process.execPath, MAIN, ...CREATE, ...args], { cwd, env }));
      assert.deepEqual({ code, stderr }, { code: 0, stderr: '' });
      assert.deepEqual(evaluated(folder, /toml-eslint-parser|cli\/config\/parse/).length > 0, isUsed);
    }
  });

  it('uses the code cache of the build', async (t) => {
    const { rejected } = await loadedBy(t, [...CREATE, '--quiet']);
    assert.equal(rejected, false);
  });
});

describe('the code cache', () => {
  it('is optional', async (t) => {
    const { cwd, main } = await installed(t);
    const { code, stderr } = await finish(startProgram([process.execPath, main, ...CREATE], { cwd }));
    assert.deepEqual({ code, stderr }, { code: 0, stderr: '' });
  });

  it('is ignored if it has other flags, another V8 version or is truncated', async (t) => {
    const { cwd, main, folder } = await installed(t);
    const [name = ''] = readdirSync(path.dirname(MAIN)).filter((file) => file.endsWith('.cache'));
    for (const [flags, content] of [
      ['--no-opt', null],
      ['--stack-size=900', 'of another V8'],
      ['--stack-size=900', ''],
    ] as const) {
      if (content === null) cpSync(path.join(path.dirname(MAIN), name), path.join(folder, name));
      else writeFileSync(path.join(folder, name), content);
      const { code, stderr } = await finish(startProgram([process.execPath, flags, main, ...CREATE], { cwd }));
      assert.deepEqual({ code, stderr }, { code: 0, stderr: '' });
    }
  });

  it('is written by the install script', async (t) => {
    const { cwd, folder } = await installed(t);
    const script = path.join(cwd, 'package', 'scripts', 'code-cache.mjs');
    cpSync(path.join(PACKAGE, 'scripts', 'code-cache.mjs'), script);
    const { status, stdout, stderr } = spawnSync(process.execPath, [script], { cwd, encoding: 'utf8' });
    assert.deepEqual({ status, stdout, stderr }, { status: 0, stdout: '', stderr: '' });
    const caches = (await entries(folder)).filter((file) => !file.endsWith('cjs'));
    assert.equal(caches.length, 1);
    assert.match(caches[0] as string, new RegExp(`^command-[0-9a-f]{16}-${process.version}-${process.arch}\\.cache$`));
  });

  it('is skipped by the install script before the first build', async (t) => {
    const { cwd } = await installed(t);
    const script = path.join(cwd, 'code-cache.mjs');
    cpSync(path.join(PACKAGE, 'scripts', 'code-cache.mjs'), script);
    const { status, stderr } = spawnSync(process.execPath, [script], { cwd, encoding: 'utf8' });
    assert.deepEqual({ status, stderr }, { status: 0, stderr: '' });
  });
});
