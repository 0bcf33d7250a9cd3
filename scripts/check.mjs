// `npm run check`: runs every linter and format check, as many at once as there are cores. `npm run check -- --fix` corrects formats;
// without it, nothing changes.
import { spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';
import path from 'node:path';
import { filesIn, installPackages, root } from './setup.mjs';

const fix = process.argv.includes('--fix');
installPackages();
let failed = false;

/** Runs one check, and prints its output when it ends. */
async function check([name, command, args]) {
  const output = [];
  const { status, error } = await new Promise((resolve) => {
    const child = spawn(command, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (bytes) => output.push(bytes));
    child.once('error', (error) => resolve({ error }));
    child.once('close', (status) => resolve({ status }));
  });
  if (error?.code === 'ENOENT' && !process.env.CI) {
    process.stdout.write(`skipped: ${name} (${command} is not installed)\n`);
    return;
  }
  process.stdout.write(Buffer.concat(output));
  process.stdout.write(`${status === 0 ? 'ok' : 'FAILED'}: ${name}${error ? ` (${error.message})` : ''}\n`);
  if (status !== 0) failed = true;
}

const bin = (name) => `node_modules/.bin/${name}`;
/** Where checks keep what they know of files that have not changed. `npm ci` removes it. */
const cache = (file) => path.join('node_modules', '.cache', 'metainfo', file);
const tsc = (project, name) => ['-p', project, '--incremental', '--tsBuildInfoFile', cache(`${name}.tsbuildinfo`)];
const native = filesIn('native', 'fuzz', 'test/native', 'test/support').filter((file) => /\.(c|cc|h)$/.test(file));
const packages = ['src', 'bench'].map((name) => `packages/metainfo-bullmq/${name}`);
const shell = filesIn('.ci').filter((file) => !file.endsWith('.stamp'));

const formats = [
  ['biome', bin('biome'), fix ? ['check', '--write', '.'] : ['ci', '--error-on-warnings', '.']],
  ['clang-format', 'clang-format', fix ? ['-i', ...native] : ['--dry-run', '--Werror', ...native]],
];
/** The slowest first. */
const others = [
  ['types', bin('tsc'), tsc('tsconfig.json', 'types')],
  ['types of the site', bin('tsc'), tsc('site/tsconfig.json', 'site')],
  ['imports', bin('depcruise'), ['--config', '.dependency-cruiser.cjs', 'src', 'bench', ...packages]],
  ['spelling', bin('cspell'), ['--no-progress', '--no-summary', '--cache', '--cache-location', cache('cspell')]],
  ['knip', bin('knip'), []],
  ['workflows', process.execPath, ['scripts/check-workflows.mjs']],
  ['prose', process.execPath, ['--import', './scripts/ts.mjs', 'scripts/check-prose.ts']],
  ['commit subjects', process.execPath, ['scripts/check-commits.mjs']],
  ['shellcheck', 'shellcheck', shell],
];

// The others read what these correct.
if (fix) for (const format of formats) await check(format);
const waiting = fix ? others : [...others, ...formats];
async function lane() {
  for (let next = waiting.shift(); next; next = waiting.shift()) await check(next);
}
await Promise.all(Array.from({ length: availableParallelism() }, lane));
process.exit(failed ? 1 : 0);
