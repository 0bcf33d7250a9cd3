// Runs clang-tidy with the checks of .clang-tidy on native/, and on native/libtorrent if libtorrent is installed.
import path from 'node:path';
import { GYP, installPackages, run } from './setup.mjs';

installPackages();
for (const folder of ['.', 'native/libtorrent']) {
  const args = ['configure', '-C', folder, '--', '-f', 'compile_commands_json'];
  run(process.execPath, [GYP, ...args], 'node-gyp configure');
  run('run-clang-tidy', ['-quiet', '-p', path.join(folder, 'build', 'Release')], 'clang-tidy');
}
