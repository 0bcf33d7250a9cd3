// Builds and runs test/native, which needs no Node: native/core and native/kernels with a main of their own.
// `node scripts/test-native.mjs address,undefined` (or `thread`) does it under those sanitizers, `arm64` for that
// CPU under qemu. A second argument names the tests to run: those whose names contain it.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { fail, filesIn, requireToolchain, root, run } from './setup.mjs';

const output = (command, args, env) =>
  execFileSync(command, args, { cwd: root, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] }).trim();

/** The environment in which the build finds a compiler for arm64 and its OpenSSL. */
const forArm64 = () => ({
  ...process.env,
  CXX: 'aarch64-linux-gnu-g++',
  OPENSSL_ROOT_DIR: output('.ci/arm64', []),
  METAINFO_LIBCRYPTO: '',
});

export function testNative(mode = '', filter = '') {
  const arm64 = mode === 'arm64';
  if (!arm64) requireToolchain();
  const env = arm64 ? forArm64() : process.env;
  const sources = filesIn('native/core', 'native/kernels', 'test/native').filter((file) => file.endsWith('.cc'));
  const folder = path.join('build', 'native-test', mode || 'plain');
  mkdirSync(path.join(root, folder), { recursive: true });
  const binary = path.join(folder, 'test');
  const library = output(process.execPath, ['scripts/libcrypto.mjs', 'lib'], env);
  const include = output(process.execPath, ['scripts/libcrypto.mjs', 'include'], env);
  if (!library) {
    // The addon falls back on the symbols of Node; these tests run outside of it.
    const missing =
      'test/native: no static libcrypto.a. Get it with: apt-get install libssl-dev / brew install openssl@3';
    if (process.env.CI) fail(missing);
    process.stderr.write(`metainfo: skipped ${missing}\n`);
    return;
  }
  const headers = [
    include,
    process.env.npm_config_nodedir && path.join(process.env.npm_config_nodedir, 'include', 'node'),
  ];
  const flags = [
    '-std=c++17',
    arm64 ? '-O2' : '-O1',
    '-g',
    '-Wall',
    '-Wextra',
    '-Wpedantic',
    ...(process.env.CI ? ['-Werror'] : []),
    '-Inative',
    '-Itest/native',
  ];
  if (arm64) flags.push('-static');
  else if (mode) flags.push(`-fsanitize=${mode}`, '-fno-sanitize-recover=all', '-fno-omit-frame-pointer');
  for (const header of headers.filter(Boolean)) flags.push('-isystem', header);
  process.stderr.write(`metainfo: building the native tests${mode && ` (${mode})`} ...\n`);
  run(env.CXX || 'c++', [...flags, ...sources, library, '-pthread', '-ldl', '-o', binary], 'building the native tests');
  const command = [...(arm64 ? ['qemu-aarch64-static'] : []), path.join(root, binary), ...(filter ? [filter] : [])];
  const { status, signal } = spawnSync(command[0], command.slice(1), { cwd: root, stdio: 'inherit' });
  if (status !== 0) fail(`the native tests failed${signal ? ` (${signal})` : ''}.`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) testNative(...process.argv.slice(2));
