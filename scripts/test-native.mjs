// Builds and runs test/native, which needs no Node: native/core and native/kernels with a main of their own.
// `node scripts/test-native.mjs address,undefined` (or `thread`) does it under those sanitizers, `arm64` for that
// CPU under qemu, `musl` on that C library, `win32` for Windows under wine, `valgrind` under that. A second argument names the tests
// to run: those whose names contain it.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism, homedir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { fail, filesIn, requireToolchain, root, run } from './setup.mjs';

/** How many times fewer cases loops look at, where every instruction is slow: test/native/scale.h. */
const THIN = { 'address,undefined': 2, thread: 4, arm64: 8, win32: 2, valgrind: 40 };

const output = (command, args, env) =>
  execFileSync(command, args, { cwd: root, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] }).trim();

/** Null: one in the folder that .ci has made. */
const COMPILERS = { arm64: 'aarch64-linux-gnu-g++', musl: null, win32: 'x86_64-w64-mingw32-g++-posix' };

/** The environment in which the build finds a cross compiler and its OpenSSL. */
export function foreign(platform) {
  const folder = output(`.ci/${platform}`, []);
  const CXX = COMPILERS[platform] ?? `${folder}/bin/c++`;
  return { ...process.env, CXX, OPENSSL_ROOT_DIR: folder, METAINFO_LIBCRYPTO: '' };
}

/**
 * Of wine: programs for Windows 10 run in a folder of their own, without a display. What they say goes to files: wine's
 * streams are no pipes to Node.
 */
export function wine() {
  const cache = process.env.XDG_CACHE_HOME || path.join(homedir(), '.cache');
  const env = {
    WINEPREFIX: path.join(cache, 'metainfo-ci', 'wine'),
    WINEDEBUG: '-all',
    DISPLAY: '',
  };
  const done = path.join(env.WINEPREFIX, 'is-windows-10');
  if (!existsSync(done)) {
    mkdirSync(path.dirname(env.WINEPREFIX), { recursive: true });
    const version = ['reg', 'add', 'HKCU\\Software\\Wine', '/v', 'Version', '/d', 'win10', '/f'];
    execFileSync('wine', version, { env: { ...process.env, ...env }, stdio: 'ignore' });
    writeFileSync(done, '');
  }
  return env;
}

/**
 * gcc does not align the stack for wide registers on Windows (its bug 54412), so nothing may rely on it. That of Debian sees to it
 * by itself, others do not.
 */
export const UNALIGNED = ['-Wa,-muse-unaligned-vector-move'];

/** The sources of native code that needs no Node, and the static libcrypto.a: null where there is none. */
export function nativeParts(env = process.env) {
  const library = output(process.execPath, ['scripts/libcrypto.mjs', 'lib'], env);
  if (!library) return null;
  const include = output(process.execPath, ['scripts/libcrypto.mjs', 'include'], env);
  const nodedir = process.env.npm_config_nodedir;
  const headers = [include, nodedir && path.join(nodedir, 'include', 'node')].filter(Boolean);
  return {
    sources: filesIn('native/core', 'native/kernels').filter((file) => file.endsWith('.cc')),
    library,
    flags: ['-std=c++17', '-Inative', '-Itest/native', ...headers.flatMap((header) => ['-isystem', header])],
  };
}

/** Builds a program in a folder below build/, its objects where they are out of date only. Answers its path. */
export function compile({ folder, name, compiler, sources, flags, link, title }) {
  const objects = sources.map((file) => path.join(folder, 'objects', file.replace(/\.cc$/, '.o')));
  const binary = path.join(folder, name);
  const makefile = path.join(folder, `${name}.mk`);
  const flagsFile = path.join(folder, 'flags');
  const rules = [
    `${binary}: ${objects.join(' ')}`,
    `\t${compiler} ${objects.join(' ')} ${link.join(' ')} -o ${binary}`,
    ...sources.flatMap((source, i) => [
      `${objects[i]}: ${source} ${flagsFile}`,
      `\t${compiler} ${flags.join(' ')} -MMD -MP -c ${source} -o ${objects[i]}`,
    ]),
    `-include ${objects.map((object) => object.replace(/\.o$/, '.d')).join(' ')}`,
    '',
  ].join('\n');
  for (const object of objects) mkdirSync(path.join(root, path.dirname(object)), { recursive: true });
  writeFileSync(path.join(root, makefile), rules);
  // Other flags, other objects: programs in one folder share them.
  const file = path.join(root, flagsFile);
  const own = [compiler, ...flags].join(' ');
  if (!existsSync(file) || readFileSync(file, 'utf8') !== own) writeFileSync(file, own);
  process.stderr.write(`metainfo: ${title} ...\n`);
  run('make', ['-s', '-j', String(Math.min(8, availableParallelism())), '-f', makefile], title);
  return path.join(root, binary);
}

export function testNative(mode = '', filter = '') {
  const isForeign = mode in COMPILERS;
  const win32 = mode === 'win32';
  const sanitizers = isForeign || mode === 'valgrind' ? '' : mode;
  if (!isForeign) requireToolchain();
  const env = isForeign ? foreign(mode) : process.env;
  const parts = nativeParts(env);
  if (!parts) {
    // The addon falls back on the symbols of Node; these tests run outside of it.
    const missing =
      'test/native: no static libcrypto.a. Get it with: apt-get install libssl-dev / brew install openssl@3';
    if (process.env.CI) fail(missing);
    process.stderr.write(`metainfo: skipped ${missing}\n`);
    return;
  }
  const instrument = sanitizers
    ? [`-fsanitize=${sanitizers}`, '-fno-sanitize-recover=all', '-fno-omit-frame-pointer']
    : [];
  const binary = compile({
    folder: path.join('build', 'native-test', sanitizers || (isForeign ? mode : 'plain')),
    name: win32 ? 'test.exe' : 'test',
    compiler: env.CXX || 'c++',
    sources: [...parts.sources, ...filesIn('test/native').filter((file) => file.endsWith('.cc'))],
    flags: [
      ...parts.flags,
      // More takes the compiler minutes under sanitizers.
      '-O1',
      '-g1',
      '-Wall',
      '-Wextra',
      '-Wpedantic',
      ...(process.env.CI ? ['-Werror'] : []),
      ...instrument,
      ...(win32 ? UNALIGNED : []),
    ],
    link: [
      ...instrument,
      ...(mode === 'musl' ? ['-static-libstdc++', '-static-libgcc'] : isForeign ? ['-static'] : []),
      parts.library,
      '-pthread',
      ...(win32 ? [] : ['-ldl']),
    ],
    title: `building the native tests${mode && ` (${mode})`}`,
  });
  const under = {
    arm64: ['qemu-aarch64-static'],
    musl: [`${env.OPENSSL_ROOT_DIR}/lib/ld-musl-x86_64.so.1`],
    win32: ['wine'],
    // Without the second, a thread that waits for others by spinning may keep them from running.
    valgrind: ['valgrind', '--quiet', '--fair-sched=yes', '--leak-check=full', '--error-exitcode=1'],
  };
  const command = [...(under[mode] ?? []), binary, ...(filter ? [filter] : [])];
  const { status, signal, error } = spawnSync(command[0], command.slice(1), {
    cwd: root,
    stdio: 'inherit',
    env: { METAINFO_TEST_THIN: String(THIN[mode] ?? 1), ...process.env, ...(win32 ? wine() : {}) },
  });
  if (error?.code === 'ENOENT') fail(`${command[0]} was not found. Get it with: apt-get install ${mode}`);
  if (status !== 0) fail(`the native tests failed${signal ? ` (${signal})` : ''}.`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) testNative(...process.argv.slice(2));
