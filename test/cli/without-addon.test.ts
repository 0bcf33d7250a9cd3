import assert from 'node:assert/strict';
import { cp, mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { entries, finish, MAIN, metainfoProcess, type Result, startProgram, workFolder } from './run.ts';

const PACKAGE = path.dirname(path.dirname(path.dirname(MAIN)));
const WARNING = /^warning: .*`npm rebuild metainfo`.* \[ERR_NATIVE_UNAVAILABLE\]\n$/;

/** Copies the command without `build` and `prebuilds`, so no addon loads, next to a folder `album`. */
async function copyIn(t: TestContext) {
  const cwd = await workFolder(t);
  await mkdir(path.join(cwd, 'package'));
  for (const name of ['dist', 'package.json'])
    await cp(path.join(PACKAGE, name), path.join(cwd, 'package', name), { recursive: true });
  const main = path.join(cwd, 'package', 'dist', 'cli', 'main.cjs');
  const run = (args: string[], engine: string): Promise<Result> =>
    finish(startProgram([process.execPath, main, ...args], { cwd, env: { METAINFO_ENGINE: engine } }));
  return { cwd, run };
}

describe('the command without an addon', () => {
  it('creates the same torrents, verifies them and warns once', async (t) => {
    const { cwd, run } = await copyIn(t);
    for (const version of ['v1', 'v2', 'hybrid']) {
      const create = ['create', 'album', '--json', '--force', '-k', version];
      const created = await run(create, '');
      assert.equal(created.code, 0);
      const { event, code, message } = JSON.parse(created.stderr);
      assert.deepEqual([event, code], ['warning', 'ERR_NATIVE_UNAVAILABLE']);
      assert.match(message, /`npm rebuild metainfo`/);
      const { kernel, infohash } = JSON.parse(created.stdout);
      assert.equal(kernel, 'node:crypto');
      const verified = await run(['verify', 'album.torrent', 'album'], '');
      assert.equal(verified.code, 0);
      assert.match(verified.stderr, WARNING);
      const native = await metainfoProcess(create, { cwd, env: { METAINFO_ENGINE: 'native' } });
      assert.deepEqual(JSON.parse(native.stdout).infohash, infohash);
    }
  });

  it('does not warn with METAINFO_ENGINE=node', async (t) => {
    const { run } = await copyIn(t);
    const { code, stdout, stderr } = await run(['create', 'album', '--force'], 'node');
    assert.equal(code, 0);
    assert.match(stdout, /\/s, node:crypto\)\n$/);
    assert.match(stderr, /^( *\d+ % .*\n)*$/);
  });

  it('fails with METAINFO_ENGINE=native', async (t) => {
    const { cwd, run } = await copyIn(t);
    const { code, stderr } = await run(['create', 'album'], 'native');
    assert.equal(code, 1);
    assert.match(stderr, /^error: .*`npm rebuild metainfo`\. \[ERR_NATIVE_UNAVAILABLE\]\n$/);
    assert.deepEqual(await entries(cwd), ['album', 'package']);
  });

  it('reports why an existing addon does not load', async (t) => {
    const { cwd, run } = await copyIn(t);
    const folder = path.join(cwd, 'package', 'prebuilds', `${process.platform}-${process.arch}`);
    await mkdir(folder, { recursive: true });
    await writeFile(path.join(folder, 'metainfo.node'), 'not a binary');
    for (const engine of ['', 'native']) {
      const { stderr } = await run(['create', 'album', '--force'], engine);
      assert.match(stderr, /could not be loaded \(.*metainfo\.node.*\): install/);
    }
  });

  it('reads torrents without a warning, because they need little hashing', async (t) => {
    const { run } = await copyIn(t);
    await run(['create', 'album'], 'node');
    const { code, stderr } = await run(['show', 'album.torrent'], '');
    assert.deepEqual({ code, stderr }, { code: 0, stderr: '' });
  });

  it('lists node:crypto as the only kernel', async (t) => {
    const { run } = await copyIn(t);
    const listed = await run(['kernels'], '');
    assert.equal(listed.code, 0);
    assert.match(listed.stderr, WARNING);
    assert.match(listed.stdout, /^kernel .*\nnode:crypto +SHA-1, SHA-256\n$/);
    const { stdout } = await run(['kernels', '--json', '--bench'], 'node');
    const { active, kernels } = JSON.parse(stdout);
    assert.deepEqual(active, { sha1: 'node:crypto', sha256: 'node:crypto' });
    assert.equal(kernels.length, 1);
    for (const speed of ['sha1', 'sha1Zeros', 'sha256', 'sha256Nodes'])
      assert.ok(kernels[0].bytesPerSecond[speed] > 1e5, speed);
  });
});

describe('the command', () => {
  it('rejects an unknown METAINFO_ENGINE and lists the choices', async (t) => {
    const cwd = await workFolder(t);
    const { code, stderr } = await metainfoProcess(['create', 'album'], { cwd, env: { METAINFO_ENGINE: 'steam' } });
    assert.equal(code, 2);
    assert.match(stderr, /^error: METAINFO_ENGINE=steam .*: native, node\. \[ERR_INVALID_ARGUMENT\]\n$/);
    assert.deepEqual(await entries(cwd), ['album']);
  });
});
