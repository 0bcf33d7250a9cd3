// Sets up a clone: packages, the native addon and TypeScript, each only when its inputs have changed.
// It uses no packages, because it runs before they are installed.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';

export const root = path.dirname(import.meta.dirname);
export const GYP = path.join(root, 'node_modules', 'node-gyp', 'bin', 'node-gyp.js');

const TSC = path.join(root, 'node_modules', 'typescript', 'bin', 'tsc');

/** The folder of Node's headers. */
export const nodeHeaders = () =>
  path.join(process.env.npm_config_nodedir || path.dirname(path.dirname(process.execPath)), 'include', 'node');

/** Ends the process with one line that says what to do. */
export function fail(message) {
  process.stderr.write(`metainfo: ${message}\n`);
  process.exit(1);
}

/** Lists all files at or below the named places, sorted. */
export function filesIn(...places) {
  return places
    .flatMap((place) => {
      const full = path.join(root, place);
      if (!existsSync(full)) return [];
      if (!statSync(full).isDirectory()) return [place];
      return readdirSync(full, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => path.relative(root, path.join(entry.parentPath ?? entry.path, entry.name)));
    })
    .sort();
}

function fingerprint(inputs, salt) {
  const hash = createHash('sha256').update(JSON.stringify(salt));
  for (const file of filesIn(...inputs)) hash.update(`${file}\0`).update(readFileSync(path.join(root, file)));
  return hash.digest('hex');
}

/** Runs `work` unless it ran with the same inputs before and its output is still there. */
function step({ title, inputs, salt = null, output, stamp, work }) {
  const now = fingerprint(inputs, salt);
  const stampFile = path.join(root, stamp);
  const done = existsSync(path.join(root, output)) && existsSync(stampFile) && readFileSync(stampFile, 'utf8') === now;
  if (done) return;
  const started = performance.now();
  process.stderr.write(`metainfo: ${title} ...\n`);
  work();
  mkdirSync(path.dirname(stampFile), { recursive: true });
  writeFileSync(stampFile, now);
  process.stderr.write(`metainfo: ${title} done in ${((performance.now() - started) / 1000).toFixed(1)} s\n`);
}

/** Runs a command; if it fails, prints its output and ends the process. */
export function run(command, args, title) {
  // On Windows npm is a shell script.
  const shell = command === 'npm' && process.platform === 'win32';
  const result = spawnSync(command, args, { cwd: root, encoding: 'utf8', maxBuffer: 2 ** 28, shell });
  if (result.status === 0) return;
  process.stderr.write(`${result.stdout ?? ''}${result.stderr ?? ''}`);
  fail(`${title} failed${result.error ? ` (${result.error.message})` : ''}: see above.`);
}

const works = (command, args, input) => spawnSync(command, args, { input }).status === 0;

/** Checks what the native build needs, and says how to install what is missing. */
export function requireToolchain(env = process.env) {
  const compiler = env.CXX || 'c++';
  const apple = process.platform === 'darwin';
  const install = { linux: 'apt-get install', darwin: 'brew install' }[process.platform] ?? 'install';
  const get = (onApple, onLinux) => `Get it with: ${apple ? onApple : `${install} ${onLinux}`}`;
  const python = env.npm_config_python || env.PYTHON || 'python3';
  if (!works(compiler, ['--version']))
    fail(`no C++ compiler (${compiler}) was found. ${get('xcode-select --install', 'g++')}`);
  if (!works('make', ['--version'])) fail(`make was not found. ${get('xcode-select --install', 'make')}`);
  if (!works(python, ['--version']))
    fail(`Python 3, which node-gyp needs, was not found. ${get('brew install python3', 'python3')}`);
  const folders = [env.npm_config_nodedir, path.dirname(path.dirname(process.execPath))].filter(Boolean);
  const includes = folders.map((folder) => `-I${path.join(folder, 'include', 'node')}`);
  const header = '#include <openssl/sha.h>\n';
  // Node's headers, which node-gyp fetches, include OpenSSL's. So these are missing only where Node was built against a
  // shared OpenSSL whose headers are not installed.
  const hasHeaders = works(compiler, [...includes, '-E', '-x', 'c++', '-'], header);
  if (!hasHeaders && (env.npm_config_nodedir || process.config.variables.node_shared_openssl))
    fail(`the development package of OpenSSL was not found. ${get('brew install openssl@3', 'libssl-dev')}`);
}

export function installPackages() {
  step({
    title: 'installing packages',
    inputs: ['package-lock.json'],
    salt: process.version,
    output: 'node_modules/typescript',
    stamp: 'node_modules/.metainfo-setup',
    // Without scripts: the addon is built below, with our own checks and messages.
    work: () => run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], 'npm ci'),
  });
}

/**
 * Writes a source for each folder of C++ that includes its files, so that the compiler reads every header once: that halves its work.
 * Packages, Windows and clang-tidy compile each file alone.
 */
function joinedSources() {
  if (process.platform === 'win32') return '';
  const folders = ['binding', 'core/files', 'core/hash', 'core/table', 'core/threads'];
  mkdirSync(path.join(root, 'build', 'joined'), { recursive: true });
  const written = folders.map((folder) => {
    const files = filesIn(`native/${folder}`).filter((file) => file.endsWith('.cc'));
    const text = files.map((file) => `#include "${file.replace('native/', '')}"\n`).join('');
    const source = path.join('build', 'joined', `${path.basename(folder)}.cc`);
    const place = path.join(root, source);
    // make compares times.
    if (!existsSync(place) || readFileSync(place, 'utf8') !== text) writeFileSync(place, text);
    return source;
  });
  return written.join(' ');
}

/** The version of a package in the lock file. */
const lockedVersion = (name) =>
  JSON.parse(readFileSync(path.join(root, 'package-lock.json'), 'utf8')).packages[`node_modules/${name}`].version;

/** Installs what `npm start` needs: the dependencies, node-gyp and esbuild. A clone that has all packages keeps them. */
function installTools() {
  if (existsSync(path.join(root, 'node_modules', 'typescript'))) return installPackages();
  const tools = ['esbuild', 'node-gyp'].map((name) => `${name}@${lockedVersion(name)}`);
  const options = ['--no-save', '--save-prod', '--omit=dev', '--ignore-scripts', '--no-audit', '--no-fund'];
  step({
    title: 'installing packages',
    inputs: ['package-lock.json'],
    salt: process.version,
    output: 'node_modules/esbuild',
    stamp: 'node_modules/.metainfo-start',
    work: () => run('npm', ['install', ...options, ...tools], 'npm install'),
  });
}

export function buildNative() {
  const { CXX = '', CI = '', METAINFO_LIBCRYPTO = '' } = process.env;
  step({
    title: 'building the native addon',
    inputs: [
      ...['addon.cc', 'binding', 'core', 'exports.map', 'kernels'].map((name) => `native/${name}`),
      'binding.gyp',
      'scripts/libcrypto.mjs',
    ],
    salt: [process.version, process.arch, CXX, CI, METAINFO_LIBCRYPTO],
    output: 'build/Release/metainfo.node',
    stamp: 'build/.metainfo-setup',
    work: () => {
      requireToolchain();
      // node-gyp downloads the headers otherwise.
      const headers = existsSync(nodeHeaders()) ? [`--nodedir=${path.dirname(path.dirname(nodeHeaders()))}`] : [];
      // Warnings fail only our own builds: a user's newer compiler may have more of them.
      run(
        process.execPath,
        [GYP, 'configure', ...headers, '--', `-Dwerror=${CI ? 1 : 0}`, `-Djoined=${joinedSources()}`],
        'node-gyp configure',
      );
      run(process.execPath, [GYP, 'build', '--jobs', 'max'], 'node-gyp build');
    },
  });
}

export function buildTypeScript() {
  step({
    title: 'compiling TypeScript',
    inputs: [
      ...['src', 'tsconfig.json', 'tsconfig.build.json', 'package-lock.json'],
      ...['bundle', 'bundle-browser', 'bundle-command', 'code-cache', 'compact', 'licenses'].map(
        (name) => `scripts/${name}.mjs`,
      ),
    ],
    // The code cache is for one version of Node.
    salt: process.version,
    output: 'dist/index.js',
    stamp: 'dist/.metainfo-setup',
    work: () => {
      // Otherwise files whose sources are gone would be published.
      rmSync(path.join(root, 'dist'), { recursive: true, force: true });
      run(process.execPath, [TSC, '-p', 'tsconfig.build.json'], 'tsc');
      run(process.execPath, ['scripts/bundle.mjs'], 'esbuild');
      run(process.execPath, ['scripts/bundle-command.mjs', 'dist/cli'], 'esbuild');
      run(process.execPath, ['scripts/bundle-browser.mjs'], 'esbuild');
      run(process.execPath, ['scripts/code-cache.mjs'], 'making the code cache');
    },
  });
}

/** The files of the package and the site that are made of the source and that git ignores. */
export function generate() {
  step({
    title: 'writing the man page and the reference',
    inputs: [
      ...['src', 'docs/guides', 'package-lock.json'],
      ...['command-help', 'docs-commands', 'docs-config', 'docs-man', 'generate'].map((name) => `scripts/${name}.ts`),
    ],
    output: 'man/metainfo.1',
    stamp: 'build/.metainfo-generated',
    work: () =>
      run(process.execPath, ['--import', './scripts/ts.mjs', 'scripts/generate.ts', '--ignored'], 'npm run generate'),
  });
}

/** The package of queues, which sees of metainfo what its users see: its built declarations. */
export function buildQueues() {
  const folder = 'packages/metainfo-bullmq';
  step({
    title: 'compiling metainfo-bullmq',
    inputs: [
      ...['package.json', 'src', 'tsconfig.json'].map((name) => `${folder}/${name}`),
      ...['dist/.metainfo-setup', 'scripts/bundle-queues.mjs'],
    ],
    output: `${folder}/dist/command.cjs`,
    stamp: `${folder}/dist/.metainfo-setup`,
    work: () => {
      rmSync(path.join(root, folder, 'dist'), { recursive: true, force: true });
      run(process.execPath, [TSC, '-p', folder], 'tsc');
      run(process.execPath, ['scripts/bundle-queues.mjs'], 'esbuild');
    },
  });
}

/** Uses the addon in prebuilds/, without a compiler; node-gyp-build reads the same variable. */
export const prebuiltOnly = Boolean(process.env.PREBUILDS_ONLY);

export function setup() {
  installPackages();
  if (!prebuiltOnly) buildNative();
  buildTypeScript();
  buildQueues();
  generate();
}

/** Sets up only what `npm start` needs, without checking types. Returns the folder of the command. */
export function setupCommand() {
  installTools();
  if (!prebuiltOnly) buildNative();
  const folder = 'build/cli';
  step({
    title: 'bundling the command',
    inputs: [
      ...['src', 'packages/metainfo-bullmq/src', 'package-lock.json'],
      ...['bundle-command', 'bundle-queues', 'compact', 'licenses'].map((name) => `scripts/${name}.mjs`),
    ],
    output: `${folder}/main.cjs`,
    stamp: `${folder}/.metainfo-setup`,
    work: () => {
      run(process.execPath, ['scripts/bundle-command.mjs', folder], 'esbuild');
      run(process.execPath, ['scripts/bundle-queues.mjs'], 'esbuild');
    },
  });
  return path.join(root, folder);
}

if (process.argv[1] === import.meta.filename) setup();
