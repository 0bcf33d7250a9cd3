// `npm run bench -- [create|decode] OPTIONS`: sets up what is missing, then runs that bench; create when none is named.
import { spawnSync } from 'node:child_process';
import { root, setup } from './setup.mjs';

setup();
const named = process.argv.slice(2);
const bench = named[0]?.startsWith('-') === false ? named.shift() : 'create';
const args = ['--import', 'tsx', `bench/${bench}.ts`, ...named];
process.exit(spawnSync(process.execPath, args, { cwd: root, stdio: 'inherit' }).status ?? 1);
