// Builds and runs test/native, which needs no Node: native/core and native/kernels with a main of their own.
// `node scripts/test-native.mjs address,undefined` (or `thread`) does it under those sanitizers, `arm64` for that
// CPU under qemu, `valgrind` under that. A second argument names the tests to run: those whose names contain it.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { fail, filesIn, requireToolchain, root, run } from './setup.mjs';

/** How many times fewer cases loops look at, where every instruction is slow: test/native/scale.h. */
const THIN = { 'address,undefined': 2, thread: 4, arm64: 8, valgrind: 40 };

const output = (command, args, env) =>
  execFileSync(command, args, { cwd: root, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] }).trim();

/** The environment in which the build finds a compiler for arm64 and its OpenSSL. */
const forArm64 = () => ({
  ...process.env,
  CXX: 'aarch64-linux-gnu-g++',
  OPENSSL_ROOT_DIR: output('.ci/arm64', []),
  METAINFO_LIBCRYPTO: '',
});

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
  const arm64 = mode === 'arm64';
  const valgrind = mode === 'valgrind';
  const sanitizers = arm64 || valgrind ? '' : mode;
  if (!arm64) requireToolchain();
  const env = arm64 ? forArm64() : process.env;
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
    folder: path.join('build', 'native-test', sanitizers || (arm64 ? 'arm64' : 'plain')),
    name: 'test',
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
    ],
    link: [...instrument, ...(arm64 ? ['-static'] : []), parts.library, '-pthread', '-ldl'],
    title: `building the native tests${mode && ` (${mode})`}`,
  });
  const under = {
    arm64: ['qemu-aarch64-static'],
    // Without the second, a thread that waits for others by spinning may keep them from running.
    valgrind: ['valgrind', '--quiet', '--fair-sched=yes', '--leak-check=full', '--error-exitcode=1'],
  };
  const command = [...(under[mode] ?? []), binary, ...(filter ? [filter] : [])];
  const { status, signal, error } = spawnSync(command[0], command.slice(1), {
    cwd: root,
    stdio: 'inherit',
    env: { METAINFO_TEST_THIN: String(THIN[mode] ?? 1), ...process.env },
  });
  if (error?.code === 'ENOENT') fail(`${command[0]} was not found. Get it with: apt-get install ${mode}`);
  if (status !== 0) fail(`the native tests failed${signal ? ` (${signal})` : ''}.`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) testNative(...process.argv.slice(2));
