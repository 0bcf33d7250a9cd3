// `npm run build:libtorrent`: builds the optional addon for `draft.generateExt`. Where libtorrent is not installed, it says
// how to install it and builds nothing.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const folder = path.join(root, 'native', 'libtorrent');
const own = path.join(root, 'node_modules', 'node-gyp', 'bin', 'node-gyp.js');
// An installed package uses the node-gyp of npm.
const gyp = existsSync(own) ? own : process.env.npm_config_node_gyp;
if (!gyp) {
  process.stderr.write('metainfo: run this with npm: npm explore metainfo -- npm run build:libtorrent\n');
  process.exit(1);
}
const args = [gyp, 'rebuild', '-C', folder, '--', `-Dwerror=${process.env.CI ? 1 : 0}`];
const { status, stdout, stderr, error } = spawnSync(process.execPath, args, { encoding: 'utf8', maxBuffer: 2 ** 28 });
if (status !== 0) {
  process.stderr.write(
    `${stdout ?? ''}${stderr ?? ''}metainfo: the libtorrent addon was not built${error ? ` (${error.message})` : ''}: see above.\n`,
  );
  process.exit(1);
}
if (existsSync(path.join(folder, 'build', 'Release', 'metainfo_libtorrent.node')))
  process.stdout.write('metainfo: the libtorrent addon is built.\n');
else
  process.stdout.write(
    'metainfo: libtorrent-rasterbar 2.0 or later was not found, and nothing was built. ' +
      'Get it with: apt-get install libtorrent-rasterbar-dev pkg-config\n',
  );
