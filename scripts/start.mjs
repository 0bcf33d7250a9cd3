// `npm start -- ARGUMENTS`: sets up what the command needs and is out of date, then runs it. Without arguments it gives a short tour.
import path from 'node:path';
import { root, setupCommand } from './setup.mjs';

const args = process.argv.slice(2);
const main = path.join(setupCommand(), 'main.cjs');

if (args.length > 0) {
  // npm runs scripts in the package's folder, but the user's paths are relative to the user's folder.
  if (process.env.INIT_CWD) process.chdir(process.env.INIT_CWD);
  process.argv.splice(1, 1, main);
  await import(main);
} else await tour();

/** Creates, shows and verifies a torrent in a temporary folder, so that no file of the clone is overwritten. */
async function tour() {
  const { spawnSync } = await import('node:child_process');
  const { cpSync, mkdtempSync, rmSync } = await import('node:fs');
  const { tmpdir } = await import('node:os');
  const cwd = mkdtempSync(path.join(tmpdir(), 'metainfo-tour-'));
  process.on('exit', () => rmSync(cwd, { recursive: true, force: true }));
  cpSync(path.join(root, 'examples', 'album'), path.join(cwd, 'album'), { recursive: true });
  const metainfo = (...words) => {
    process.stdout.write(`\n$ metainfo ${words.join(' ')}\n`);
    const { status } = spawnSync(process.execPath, [main, ...words], { cwd, stdio: 'inherit' });
    if (status !== 0) process.exit(status ?? 1);
  };
  metainfo('create', 'album');
  metainfo('show', 'album.torrent');
  metainfo('verify', 'album.torrent', 'album');
  process.stdout.write('\nTry it on your own files: npm start -- create PATH   (more: npm start -- --help)\n');
}
