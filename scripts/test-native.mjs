// Builds and runs test/native, which needs no Node: native/core and native/kernels with a main of their own.
// `node scripts/test-native.mjs address,undefined` (or `thread`) does it under those sanitizers.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { fail, filesIn, requireToolchain, root, run } from './setup.mjs';

export function testNative(sanitizers = '') {
  requireToolchain();
  const compiler = process.env.CXX || 'c++';
  const sources = filesIn('native/core', 'native/kernels', 'test/native').filter((file) => file.endsWith('.cc'));
  const folder = path.join('build', 'native-test', sanitizers || 'plain');
  mkdirSync(path.join(root, folder), { recursive: true });
  const binary = path.join(folder, 'test');
  const library = execFileSync(process.execPath, ['scripts/libcrypto.mjs', 'lib'], { cwd: root, encoding: 'utf8' });
  const include = execFileSync(process.execPath, ['scripts/libcrypto.mjs', 'include'], { cwd: root, encoding: 'utf8' });
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
    '-O1',
    '-g',
    '-Wall',
    '-Wextra',
    '-Wpedantic',
    ...(process.env.CI ? ['-Werror'] : []),
    '-Inative',
    '-Itest/native',
  ];
  if (sanitizers) flags.push(`-fsanitize=${sanitizers}`, '-fno-sanitize-recover=all', '-fno-omit-frame-pointer');
  for (const header of headers.filter(Boolean)) flags.push('-isystem', header);
  process.stderr.write(`metainfo: building the native tests${sanitizers && ` with -fsanitize=${sanitizers}`} ...\n`);
  run(compiler, [...flags, ...sources, library, '-pthread', '-ldl', '-o', binary], 'building the native tests');
  const { status, signal } = spawnSync(path.join(root, binary), { cwd: root, stdio: 'inherit' });
  if (status !== 0) fail(`the native tests failed${signal ? ` (${signal})` : ''}.`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) testNative(process.argv[2]);
