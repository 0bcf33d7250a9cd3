// Runs clang-tidy with the checks of .clang-tidy on native/, and on native/libtorrent if libtorrent is installed.
import path from 'node:path';
import { installPackages, root, run } from './setup.mjs';

installPackages();
const gyp = path.join(root, 'node_modules', 'node-gyp', 'bin', 'node-gyp.js');
for (const folder of ['.', 'native/libtorrent']) {
  const args = ['configure', '-C', folder, '--', '-f', 'compile_commands_json'];
  run(process.execPath, [gyp, ...args], 'node-gyp configure');
  run('run-clang-tidy', ['-quiet', '-p', path.join(folder, 'build', 'Release')], 'clang-tidy');
}
