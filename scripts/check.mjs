// `npm run check`: runs every linter and format check. `npm run check -- --fix` corrects formats; without it, nothing changes.
import { spawnSync } from 'node:child_process';
import { filesIn, installPackages, root } from './setup.mjs';

const fix = process.argv.includes('--fix');
installPackages();
let failed = false;

function check(name, command, args) {
  const { status, error } = spawnSync(command, args, { cwd: root, stdio: 'inherit' });
  if (error?.code === 'ENOENT' && !process.env.CI) {
    process.stdout.write(`skipped: ${name} (${command} is not installed)\n`);
    return;
  }
  process.stdout.write(`${status === 0 ? 'ok' : 'FAILED'}: ${name}\n`);
  if (status !== 0) failed = true;
}

const bin = (name) => `node_modules/.bin/${name}`;
const native = filesIn('native', 'fuzz', 'test/native', 'test/support').filter((file) => /\.(c|cc|h)$/.test(file));
const shell = filesIn('.ci').filter((file) => !file.endsWith('.stamp'));

check('types', bin('tsc'), ['-p', 'tsconfig.json']);
check('types of the site', bin('tsc'), ['-p', 'site/tsconfig.json']);
check('biome', bin('biome'), fix ? ['check', '--write', '.'] : ['ci', '--error-on-warnings', '.']);
check('clang-format', 'clang-format', fix ? ['-i', ...native] : ['--dry-run', '--Werror', ...native]);
check('spelling', bin('cspell'), ['--no-progress', '--no-summary']);
check('prose', process.execPath, ['--import', './scripts/ts.mjs', 'scripts/check-prose.ts']);
check('knip', bin('knip'), []);
check('imports', bin('depcruise'), ['--config', '.dependency-cruiser.cjs', 'src', 'bench']);
check('shellcheck', 'shellcheck', shell);
check('workflows', process.execPath, ['scripts/check-workflows.mjs']);
check('commit subjects', process.execPath, ['scripts/check-commits.mjs']);
process.exit(failed ? 1 : 0);
