// `npm run bench -- [NAME] [OPTIONS]`: sets up whatever is out of date, then runs the bench NAME of metainfo or of a package
// (default: create). See bench/README.md.
import { spawnSync } from 'node:child_process';
import { fail, filesIn, root, setup } from './setup.mjs';

const named = process.argv.slice(2);
const bench = named[0]?.startsWith('-') === false ? named.shift() : 'create';
const files = filesIn('bench', 'packages/metainfo-bullmq/bench');
const benches = Object.fromEntries(
  files.flatMap((file) => [/\bbench\/([a-z]+)\.ts$/.exec(file)].flatMap((found) => (found ? [[found[1], file]] : []))),
);
if (!Object.hasOwn(benches, bench))
  fail(`there is no bench ${bench}: npm run bench -- ${Object.keys(benches).join('|')}`);
setup();
// A soak collects garbage.
const args = ['--expose-gc', '--import', './scripts/ts.mjs', 'bench/support/run.ts', benches[bench], ...named];
// glibc keeps tens of MiB of freed memory; with this threshold it returns them, so that a soak can see growth.
const env = { ...process.env, ...(bench === 'soak' && { MALLOC_MMAP_THRESHOLD_: `${2 ** 17}` }) };
process.exit(spawnSync(process.execPath, args, { cwd: root, stdio: 'inherit', env }).status ?? 1);
