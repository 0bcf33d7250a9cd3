// `npm start -- ARGUMENTS`: sets up what is missing, then runs the command. Without arguments: a short tour.
import path from 'node:path';
import { root, setup } from './setup.mjs';

const args = process.argv.slice(2);
setup();
const main = path.join(root, 'dist', 'cli', 'main.cjs');

if (args.length > 0) {
  // npm runs scripts in the package's folder; paths are meant from where the user is.
  if (process.env.INIT_CWD) process.chdir(process.env.INIT_CWD);
  process.argv.splice(1, 1, main);
  await import(main);
} else {
  const { spawnSync } = await import('node:child_process');
  const metainfo = (...words) => {
    process.stdout.write(`\n$ metainfo ${words.join(' ')}\n`);
    const { status } = spawnSync(process.execPath, [main, ...words], { cwd: root, stdio: 'inherit' });
    if (status !== 0) process.exit(status ?? 1);
  };
  metainfo('create', 'examples/album', '--force');
  metainfo('show', 'album.torrent');
  process.stdout.write('\nYour own: npm start -- create PATH   (more: npm start -- --help)\n');
}
