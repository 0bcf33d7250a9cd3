// Builds and runs the C++ tests in test/native: native/core and native/kernels in a program of their own, without Node.
//
// `node scripts/test-native.mjs [MODE [FILTER]]` runs the tests whose names contain FILTER. MODE is one of
// `address,undefined` or `thread` (sanitizers), `valgrind`, `arm64` (under qemu), `musl` and `win32` (under wine).
import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism, homedir } from 'node:os';
import path from 'node:path';
import { fail, filesIn, nodeHeaders, requireToolchain, root, run } from './setup.mjs';

/** Where every instruction is slow, loops over many cases take every Nth case only: see test/native/scale.h. */
const THIN = { 'address,undefined': 2, thread: 4, arm64: 8, win32: 2, valgrind: 40 };

const output = (command, args, env) =>
  execFileSync(command, args, { cwd: root, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] }).trim();

/** The cross compilers. Null: the compiler is in the folder that .ci/musl makes. */
const COMPILERS = { arm64: 'aarch64-linux-gnu-g++', musl: null, win32: 'x86_64-w64-mingw32-g++-posix' };

/** The environment in which a build uses the cross compiler of a platform and its OpenSSL. */
export function foreign(platform) {
  const folder = output(`.ci/${platform}`, []);
  const CXX = COMPILERS[platform] ?? `${folder}/bin/c++`;
  return { ...process.env, CXX, OPENSSL_ROOT_DIR: folder, METAINFO_LIBCRYPTO: '' };
}

/**
 * The environment for wine: a Windows 10 in a folder of its own, without a display. Redirect the output of programs to
 * files, because Node cannot read wine's streams as pipes.
 */
export function wine() {
  const cache = process.env.XDG_CACHE_HOME || path.join(homedir(), '.cache');
  const env = { WINEPREFIX: path.join(cache, 'metainfo-ci', 'wine'), WINEDEBUG: '-all', DISPLAY: '' };
  const done = path.join(env.WINEPREFIX, 'is-windows-10');
  mkdirSync(env.WINEPREFIX, { recursive: true });
  // By itself, wine's server ends three seconds after a program. One that starts in that moment loses its connection.
  spawnSync('wineserver', ['-p60'], { env: { ...process.env, ...env }, stdio: 'ignore' });
  if (!existsSync(done)) {
    const version = ['reg', 'add', 'HKCU\\Software\\Wine', '/v', 'Version', '/d', 'win10', '/f'];
    execFileSync('wine', version, { env: { ...process.env, ...env }, stdio: 'ignore' });
    writeFileSync(done, '');
  }
  return env;
}

/**
 * On Windows gcc does not align the stack for wide registers (gcc bug 54412), so moves must not require alignment. Debian's gcc
 * does this by itself, others do not.
 */
export const UNALIGNED = ['-Wa,-muse-unaligned-vector-move'];

/** A folder whose only content is doctest's header, or null without doctest: cross compilers must not see /usr/include. */
function doctestFolder() {
  const prefixes = ['/usr', '/usr/local', '/opt/homebrew'];
  const header = prefixes.map((prefix) => `${prefix}/include/doctest/doctest.h`).find((file) => existsSync(file));
  if (!header) return null;
  const folder = path.join('build', 'doctest');
  const copy = path.join(root, folder, 'doctest', 'doctest.h');
  mkdirSync(path.dirname(copy), { recursive: true });
  if (!existsSync(copy)) copyFileSync(header, copy);
  return folder;
}

/** The sources of the native code that needs no Node, with compiler flags and the static libcrypto.a; null without that library. */
export function nativeParts(env = process.env) {
  const library = output(process.execPath, ['scripts/libcrypto.mjs', 'lib'], env);
  if (!library) return null;
  const include = output(process.execPath, ['scripts/libcrypto.mjs', 'include'], env);
  const headers = [include, process.env.npm_config_nodedir && nodeHeaders()].filter(Boolean);
  return {
    sources: filesIn('native/core', 'native/kernels').filter((file) => file.endsWith('.cc')),
    library,
    flags: ['-std=c++17', '-Inative', '-Itest/native', ...headers.flatMap((header) => ['-isystem', header])],
  };
}

/** The same with doctest; `missing` says what to install if the tests cannot be built. The addon needs neither library. */
export function testParts(env = process.env) {
  const parts = nativeParts(env);
  if (!parts) return { missing: 'no static libcrypto.a: apt-get install libssl-dev / brew install openssl@3' };
  const doctest = doctestFolder();
  if (!doctest) return { missing: 'no doctest: apt-get install doctest-dev / brew install doctest' };
  return { ...parts, flags: [...parts.flags, '-isystem', doctest] };
}

/** Builds a program in a folder below build/, recompiling only what is out of date. Returns its path. */
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
  // Programs in one folder share their objects, so changed flags must rebuild all of them.
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
  const parts = testParts(env);
  if (parts.missing) {
    const message = `test/native: ${parts.missing}`;
    if (process.env.CI) fail(message);
    process.stderr.write(`metainfo: skipped ${message}\n`);
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
      // With more optimization, builds with sanitizers take minutes.
      ...['-O1', '-g1', '-Wall', '-Wextra', '-Wpedantic'],
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
    // Without fair scheduling, a thread that spins may keep others from running.
    valgrind: ['valgrind', '--quiet', '--fair-sched=yes', '--leak-check=full', '--error-exitcode=1'],
  };
  const command = [...(under[mode] ?? []), binary, ...(filter ? [`--test-case=*${filter}*`] : [])];
  const { status, signal, error } = spawnSync(command[0], command.slice(1), {
    cwd: root,
    stdio: 'inherit',
    env: { METAINFO_TEST_THIN: String(THIN[mode] ?? 1), ...process.env, ...(win32 ? wine() : {}) },
  });
  if (error?.code === 'ENOENT') fail(`${command[0]} was not found. Get it with: apt-get install ${mode}`);
  if (status !== 0) fail(`the native tests failed${signal ? ` (${signal})` : ''}.`);
}

if (process.argv[1] === import.meta.filename) testNative(...process.argv.slice(2));
