/** The library and the command under Node's permission model, which forbids them to look at anything but the folders that are allowed. */
import assert from 'node:assert/strict';
import { chmod, cp, mkdir, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { pathToFileURL } from 'node:url';
import { temporaryFolder, writeTree } from '../support/tree.ts';
import { bytesOf, finish, MAIN, type Result, startProgram } from './run.ts';

const PACKAGE = path.dirname(path.dirname(path.dirname(MAIN)));
const MODEL = process.allowedNodeEnvironmentFlags.has('--permission') ? '--permission' : '--experimental-permission';
const ADDONS = '--allow-addons';
const reading = (...folders: string[]) => folders.map((folder) => `--allow-fs-read=${folder}`);

/** Makes the folders `album`, which is readable, `out`, which is also writable, and `secret`, which is neither. */
async function folders(t: TestContext) {
  const cwd = await temporaryFolder(t);
  await writeTree(cwd, { 'album/a': 100_000, 'secret/b': 5 });
  await mkdir(path.join(cwd, 'out'));
  const own = [...reading(path.join(cwd, 'album'), path.join(cwd, 'out')), `--allow-fs-write=${path.join(cwd, 'out')}`];
  const env = { HOME: path.join(cwd, 'secret'), XDG_CONFIG_HOME: '', XDG_CACHE_HOME: '', METAINFO_ENGINE: '' };
  const run = (flags: readonly string[], program: readonly string[]): Promise<Result> =>
    finish(startProgram([process.execPath, MODEL, '--no-warnings', ...own, ...flags, ...program], { cwd, env }));
  return { cwd, run };
}

/** Does everything that touches the disk, and prints what failed, and the warnings. */
const EVERYTHING = `
import { stat } from 'node:fs/promises';
const { create, Torrent, TorrentCreate, update, upgrade, verify } = await import(process.argv[2]);
const warnings = [];
process.on('warning', ({ name, message }) => name === 'MetainfoWarning' && warnings.push(message));
const failed = [];
const attempt = (name, work) => work().catch((error) => failed.push([name, error.code, error.message]));
const output = process.cwd() + '/out/x.torrent';
const beneath = process.cwd() + '/out';
const made = await create('album', { version: 'v1' });
await attempt('write', () => made.write(output));
await attempt('write beneath', () => made.write(beneath + '/y.torrent', { beneath }));
await attempt('write with a time', () => made.write(beneath + '/z.torrent', { mtime: new Date(1e12) }));
if ((await stat(beneath + '/z.torrent')).mtimeMs !== 1e12) failed.push('mtime');
for (const options of [{ force: true }, { force: true, beneath }]) await attempt('replace', () => made.write(output, options));
await attempt('read', async () => Torrent.read(output));
await attempt('read beneath', async () => Torrent.read(output, { beneath }));
for (const options of [{}, { beneath: 'album' }])
  await attempt('verify', async () => {
    if (!(await verify(made, 'album', options)).ok) throw new Error('not ok');
  });
await attempt('update', async () => update(await create('album'), 'album', { since: null }));
await attempt('upgrade', () => upgrade(made, 'album'));
await attempt('cache', () => create('album', { cache: 'out/cache' }));
await attempt('automatic cache', () => create('album', { cache: 'auto' }));
await attempt('plan', () => new TorrentCreate({ pathRoot: 'album' }).plan());
const sources = [{ path: 'a', data: (async function* () { yield Buffer.from('abc'); })(), saveTo: 'out/saved' }];
await attempt('save', () => new TorrentCreate({ sources, info: { name: 'a' } }).generate());
await new Promise(setImmediate);
console.log(JSON.stringify({ failed, warnings }));`;

const ENTRY = pathToFileURL(path.join(PACKAGE, 'dist', 'index.js')).href;
const WITHOUT_ADDON =
  /may not load addons\): start Node with --allow-addons\. Until then, metainfo falls back to node:crypto/;

describe('the library under the permission model', () => {
  async function everything(t: TestContext, flags: readonly string[]) {
    const { cwd, run } = await folders(t);
    const script = path.join(cwd, 'album', 'script.mjs');
    await writeFile(script, EVERYTHING);
    const { stdout, stderr } = await run([...flags, ...reading(PACKAGE)], [script, ENTRY]);
    assert.equal(stderr, '');
    const told = JSON.parse(stdout) as { failed: unknown[]; warnings: string[] };
    // A cache in a folder that is not allowed is not used.
    return { ...told, warnings: told.warnings.filter((text) => !text.startsWith('The cache in ')) };
  }

  it('does every job without the addon, with one warning that names the flag', async (t) => {
    const { failed, warnings } = await everything(t, []);
    assert.deepEqual(failed, []);
    assert.match(warnings.join('\n'), WITHOUT_ADDON);
    assert.equal(warnings.length, 1);
  });

  it('does every job with the addon', async (t) => {
    assert.deepEqual(await everything(t, [ADDONS]), { failed: [], warnings: [] });
  });

  it('does every job where all may be read, but only the folder of outputs written', async (t) => {
    assert.deepEqual((await everything(t, ['--allow-fs-read=*'])).failed, []);
  });
});

describe('the command under the permission model', { skip: process.platform === 'win32' }, () => {
  const create = ['create', 'album', '-q', '-o', 'out/x.torrent'];

  it('creates a torrent with the addon, and without it', async (t) => {
    const { cwd, run } = await folders(t);
    const made: Buffer[] = [];
    for (const flags of [[ADDONS], []]) {
      const force = [...create, '--force', '--no-config'];
      const { code, stderr } = await run([...flags, ...reading(PACKAGE)], [MAIN, ...force]);
      assert.equal(code, 0, stderr);
      if (flags.length > 0) assert.equal(stderr, '');
      else assert.match(stderr, new RegExp(`^warning: [^\\n]*${WITHOUT_ADDON.source}[^\\n]*\\n$`));
      made.push(await bytesOf(cwd, 'out/x.torrent'));
    }
    assert.deepEqual(made[0], made[1]);
  });

  it('ignores the configuration file of the user with a warning, but not that of --config', async (t) => {
    const { run } = await folders(t);
    const flags = [ADDONS, ...reading(PACKAGE)];
    const ignored = await run(flags, [MAIN, ...create]);
    assert.equal(ignored.code, 0);
    assert.match(ignored.stderr, /^warning: configuration file .*--allow-fs-read.*--no-config.* \[ERR_UNREADABLE\]\n$/);
    const named = await run(flags, [MAIN, ...create, '--config', 'secret/c.toml']);
    assert.equal(named.code, 1);
    assert.match(named.stderr, /^error: configuration file .*--allow-fs-read.* \[ERR_UNREADABLE\]\n$/);
  });

  it('names the path and the flag of content and outputs that are not allowed', async (t) => {
    const { run } = await folders(t);
    const flags = [ADDONS, ...reading(PACKAGE)];
    for (const [args, message] of [
      [['create', 'secret', '-o', 'out/y.torrent'], /^error: .*secret.*--allow-fs-read.* \[ERR_UNREADABLE\]\n$/],
      [['create', 'album', '-o', 'secret/y.torrent'], /^error: .*secret.*--allow-fs-write.* \[ERR_WRITE\]\n$/],
      [['show', 'secret/b'], /^error: .*secret.b.*--allow-fs-read.* \[ERR_UNREADABLE\]\n$/],
    ] as const) {
      const { code, stderr } = await run(flags, [MAIN, ...args, '--no-config']);
      assert.equal(code, 1, `${args}: ${stderr}`);
      assert.match(stderr, message);
    }
    const { stdout } = await run(flags, [MAIN, 'show', 'secret/b', '--json', '--no-config']);
    assert.equal(JSON.parse(stdout).error.code, 'ERR_UNREADABLE');
  });

  it('says that the package may not be read, in place of advice to compile the addon', async (t) => {
    const { run } = await folders(t);
    const { code, stderr } = await run([ADDONS, ...reading(path.dirname(MAIN))], [MAIN, ...create, '--no-config']);
    assert.equal(code, 0);
    assert.match(
      stderr,
      /^warning: .*restricted.*\): allow the process to read its package \(Node: --allow-fs-read, .*\n$/,
    );
  });

  it('reports in one line that it may not read its own code', async (t) => {
    const { run } = await folders(t);
    const { code, stdout, stderr } = await run(reading(MAIN), [MAIN, ...create]);
    assert.deepEqual({ code, stdout }, { code: 1, stdout: '' });
    assert.match(stderr, /^error: metainfo cannot start: .*command\.cjs\)\n$/);
  });
});

describe('replacing a torrent under the permission model', { skip: process.platform === 'win32' }, () => {
  it('keeps a mode that hides it from others', async (t) => {
    const { cwd, run } = await folders(t);
    const output = path.join(cwd, 'out', 'x.torrent');
    await writeFile(output, '');
    await chmod(output, 0o600);
    const args = ['create', 'album', '-q', '-o', output, '--force', '--no-config'];
    const { code } = await run(reading(PACKAGE), [MAIN, ...args]);
    assert.equal(code, 0);
    assert.equal((await stat(output)).mode & 0o777, 0o600);
  });
});

describe('an error that no code expects', () => {
  /** Runs a copy of the command, whose bundle is another text. */
  async function withBundle(t: TestContext, bundle: string): Promise<Result> {
    const cwd = await temporaryFolder(t);
    await cp(MAIN, path.join(cwd, 'main.cjs'));
    await writeFile(path.join(cwd, 'command.cjs'), bundle);
    return finish(startProgram([process.execPath, path.join(cwd, 'main.cjs'), 'show'], { cwd }));
  }
  const filler = `"${'x'.repeat(10_000)}"`;

  it('ends the start of the command with one line', async (t) => {
    for (const bundle of [`// 0\n(() => { ${filler}; throw new Error('broken'); })`, `// 0\n(${filler}; syntax`]) {
      const { code, stdout, stderr } = await withBundle(t, bundle);
      assert.deepEqual({ code, stdout }, { code: 1, stdout: '' });
      assert.match(stderr, /^error: metainfo cannot start: .*\n$/);
      assert.ok(stderr.length < 300, stderr);
    }
  });

  it('ends the command later without the source of the bundle', async (t) => {
    const cwd = await temporaryFolder(t);
    const thrown = `setTimeout(() => { ${filler}; throw new Error('broken'); }, 20); setInterval(() => {}, 1e5);`;
    await writeFile(path.join(cwd, 'throw.cjs'), thrown);
    const program: [string, ...string[]] = [process.execPath, '-r', './throw.cjs', MAIN, '--help'];
    const { code, stderr } = await finish(startProgram(program, { cwd }));
    assert.equal(code, 1);
    assert.match(stderr, /^Error: broken\n/);
    assert.ok(stderr.length < 2000, stderr);
  });
});
