// `npm run bench -- OPTIONS`: sets up what is missing, then runs bench/create.ts.
import { spawnSync } from 'node:child_process';
import { root, setup } from './setup.mjs';

setup();
const args = ['--import', 'tsx', 'bench/create.ts', ...process.argv.slice(2)];
process.exit(spawnSync(process.execPath, args, { cwd: root, stdio: 'inherit' }).status ?? 1);
