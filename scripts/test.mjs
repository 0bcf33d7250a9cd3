// `npm test [-- FILES]`: sets up what is missing, then runs the native tests and all (or the named) test files.
// `npm test -- --without-addon`: runs the files whose subject hashes, with METAINFO_ENGINE=node.
// `PREBUILDS_ONLY=1 npm test`: with the addon of prebuilds/, without a compiler.
import { spawnSync } from 'node:child_process';
import { filesIn, prebuiltOnly, root, setup } from './setup.mjs';
import { testNative } from './test-native.mjs';

const WITHOUT_ADDON = '--without-addon';
const HASHING = ['cli', 'create', 'digest', 'edit', 'hash', 'hashers', 'verify', 'hazards/abort.test.ts'];
/** Of those, what would show nothing more. */
const NOT_WITHOUT_ADDON = new Map(
  Object.entries({
    'the addon is its subject': ['cli/kernels', 'cli/start-up', 'hash/native', 'hash/rows'],
    'it chooses the engines itself': [
      'cli/without-addon',
      'digest/layer-roots',
      'hash/default-engine',
      'hash/engine',
      'hash/node',
    ],
    'it hashes no content': ['cli/edit', 'cli/magnet', 'cli/show', 'cli/validate', 'edit/edit', 'edit/quick'],
  }).flatMap(([reason, names]) => names.map((name) => [`test/${name}.test.ts`, reason])),
);

function filesWithoutAddon() {
  const files = filesIn(...HASHING.map((place) => `test/${place}`));
  const gone = [...NOT_WITHOUT_ADDON.keys()].filter((file) => !files.includes(file));
  if (gone.length > 0) throw new Error(`no such test: ${gone.join(', ')}`);
  return files.filter((file) => !NOT_WITHOUT_ADDON.has(file));
}

setup();
const withoutAddon = process.argv.includes(WITHOUT_ADDON);
const named = process.argv.slice(2).filter((argument) => argument !== WITHOUT_ADDON);
if (named.length === 0 && !withoutAddon && !prebuiltOnly) testNative();

// Node 20 takes no globs here.
const all = withoutAddon ? filesWithoutAddon() : filesIn('test');
const files = named.length > 0 ? named : all.filter((file) => file.endsWith('.test.ts'));
const args = ['--import', 'tsx', '--test', '--test-reporter', 'spec', ...files];
const { status, error } = spawnSync(process.execPath, args, {
  cwd: root,
  stdio: 'inherit',
  env: { ...process.env, SOURCE_DATE_EPOCH: '', ...(withoutAddon && { METAINFO_ENGINE: 'node' }) },
});
if (error) throw error;
process.exit(status ?? 1);
