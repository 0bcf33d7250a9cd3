// clang-tidy on native/ and on the libtorrent engine where that can be built: `node scripts/tidy-native.mjs`.
// What it looks for is in .clang-tidy.
import path from 'node:path';
import { installPackages, root, run } from './setup.mjs';

installPackages();
const gyp = path.join(root, 'node_modules', 'node-gyp', 'bin', 'node-gyp.js');
for (const folder of ['.', 'native/libtorrent']) {
  const args = ['configure', '-C', folder, '--', '-f', 'compile_commands_json'];
  run(process.execPath, [gyp, ...args], 'node-gyp configure');
  run('run-clang-tidy', ['-quiet', '-p', path.join(folder, 'build', 'Release')], 'clang-tidy');
}
