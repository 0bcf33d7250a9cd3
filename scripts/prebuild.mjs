// Builds the binaries that the package ships, in prebuilds/; check-prebuild.mjs checks each.
//
//   npm run prebuilds                  on Debian, as root: linux-x64 and linux-arm64 with an old glibc, linux-x64 with musl,
//                                      and win32-x64
//   node scripts/prebuild.mjs --here   for this machine, with its own compiler; --arch ARCH if CXX is a cross compiler
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { prebuildWin32 } from './prebuild-win32.mjs';
import { GYP, nodeHeaders, root } from './setup.mjs';

const { values } = parseArgs({ options: { here: { type: 'boolean' }, arch: { type: 'string' } } });

function run(command, args, options = {}) {
  execFileSync(command, args, { cwd: root, stdio: 'inherit', ...options });
}

/** Builds with the compiler that CXX names. */
function build(arch = process.arch) {
  const prebuildify = path.join(root, 'node_modules', 'prebuildify', 'bin.js');
  const env = { ...process.env, PREBUILD_NODE_GYP: GYP, GYP_DEFINES: 'static_runtime=1 werror=1' };
  const args = ['--napi', '--strip', '--arch', arch, '--target', process.versions.node];
  if (process.platform === 'linux') args.push('--tag-libc');
  run(process.execPath, [prebuildify, ...args], { env });
}

/** Builds in the root folder that .ci/prebuild-root makes, on a copy of the tracked files, with this Node; for musl outside it. */
function buildForLinux() {
  const debian = execFileSync(path.join(root, '.ci', 'prebuild-root'), { encoding: 'utf8' }).trim();
  const work = path.join(debian, 'work');
  rmSync(work, { recursive: true, force: true });
  mkdirSync(work);
  const list = ['ls-files', '-z', 'native', 'scripts', 'binding.gyp', 'package.json'];
  const tracked = execFileSync('git', list, { cwd: root, encoding: 'utf8' });
  for (const file of tracked.split('\0').filter(Boolean)) cpSync(path.join(root, file), path.join(work, file));
  cpSync(path.join(root, 'node_modules'), path.join(work, 'node_modules'), { recursive: true, verbatimSymlinks: true });
  cpSync(process.execPath, path.join(debian, 'usr/bin/node'));
  cpSync(nodeHeaders(), path.join(debian, 'usr/include/node'), { recursive: true });
  const inside = (arch, compiler, strip) => {
    const user = { PATH: process.env.PATH, HOME: '/root', npm_config_nodedir: '/usr' };
    const env = { ...user, CXX: compiler, CC: compiler, PREBUILD_STRIP_BIN: strip };
    run('chroot', [debian, 'sh', '-c', `cd /work && exec node scripts/prebuild.mjs --here --arch ${arch}`], { env });
  };
  inside('x64', 'g++', 'strip');
  inside('arm64', 'aarch64-linux-gnu-g++', 'aarch64-linux-gnu-strip');
  const musl = execFileSync(path.join(root, '.ci', 'musl'), { encoding: 'utf8' }).trim();
  const compiler = path.join(musl, 'bin/c++');
  const target = { CXX: compiler, CC: compiler, OPENSSL_ROOT_DIR: musl, PREBUILD_LIBC: 'musl' };
  const env = { ...process.env, npm_config_nodedir: path.join(debian, 'usr'), ...target };
  run(process.execPath, ['scripts/prebuild.mjs', '--here'], { cwd: work, env });
  cpSync(path.join(work, 'prebuilds'), path.join(root, 'prebuilds'), { recursive: true });
}

if (values.here) {
  build(values.arch);
} else {
  buildForLinux();
  prebuildWin32();
  run(process.execPath, ['scripts/check-prebuild.mjs']);
}
