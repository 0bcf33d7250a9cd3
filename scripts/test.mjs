// `npm test [-- FILES]`: sets up what is missing, then runs the native tests and all (or the named) test files.
import { spawnSync } from 'node:child_process';
import { filesIn, root, setup } from './setup.mjs';
import { testNative } from './test-native.mjs';

setup();
const named = process.argv.slice(2);
if (named.length === 0) testNative();

// Node 20 takes no globs here.
const files = named.length > 0 ? named : filesIn('test').filter((file) => file.endsWith('.test.ts'));
const args = ['--import', 'tsx', '--test', '--test-reporter', 'spec', ...files];
const { status, error } = spawnSync(process.execPath, args, {
  cwd: root,
  stdio: 'inherit',
  env: { ...process.env, SOURCE_DATE_EPOCH: '' },
});
if (error) throw error;
process.exit(status ?? 1);
