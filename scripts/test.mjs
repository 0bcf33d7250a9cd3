// `npm test [-- FILES]`: sets up what is missing, then runs the native tests and all (or the named) test files.
// `npm test -- --without-addon`: runs the files whose subject hashes, with METAINFO_ENGINE=node.
// `npm test -- --arm64`: runs some of them on the prebuilt binary for arm64 (npm run prebuilds), under qemu.
// `PREBUILDS_ONLY=1 npm test`: with the addon of prebuilds/, without a compiler.
import { spawnSync } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { arm64Node } from './arm64-node.mjs';
import { filesIn, prebuiltOnly, root, setup } from './setup.mjs';
import { testNative } from './test-native.mjs';

const HASHING = ['cli', 'create', 'disk', 'edit', 'hash', 'hashers', 'verify', 'reliability/abort.test.ts'];
/** Of those, what would show nothing more. */
const NOT_WITHOUT_ADDON = new Map(
  Object.entries({
    'the addon is its subject': ['cli/kernels', 'cli/start-up', 'hash/native', 'hash/rows'],
    'it chooses the engines itself': [
      'cli/without-addon',
      'hash/default-engine',
      'hash/engine',
      'hash/layer-roots',
      'hash/node',
    ],
    'it hashes no content': ['cli/edit', 'cli/magnet', 'cli/show', 'cli/validate', 'edit/edit', 'edit/quick'],
  }).flatMap(([reason, names]) => names.map((name) => [`test/${name}.test.ts`, reason])),
);

function filesWithoutAddon() {
  const files = filesIn(...HASHING.map((place) => `test/${place}`));
  const gone = [...NOT_WITHOUT_ADDON.keys()].filter((file) => !files.includes(file));
  if (gone.length > 0) throw new Error(`no such test: ${gone.join(', ')}`);
  return files.filter((file) => file.endsWith('.test.ts') && !NOT_WITHOUT_ADDON.has(file));
}

/** Where every instruction is emulated, more would take too long. */
const ON_ARM64 = [
  'test/hash/layer-roots.test.ts',
  'test/hash/merkle.test.ts',
  'test/hash/native.test.ts',
  'test/hash/rows.test.ts',
];

/** What an option changes: which files run when none is named, the Node that runs them, its environment. */
const MODES = {
  '--without-addon': () => ({ files: filesWithoutAddon(), env: { METAINFO_ENGINE: 'node' } }),
  '--arm64': () => ({ files: ON_ARM64, ...arm64Node() }),
};

setup();
const [option, ...rest] = process.argv.slice(2);
const mode = MODES[option]?.();
const named = mode || option === undefined ? rest : [option, ...rest];
if (!mode && named.length === 0 && !prebuiltOnly) testNative();

// Of two cores Node would use one, and many tests wait for others' programs.
const atOnce = Math.max(2, availableParallelism() - 1);
// Node 20 takes no globs here.
const files = named.length > 0 ? named : (mode?.files ?? filesIn('test').filter((file) => file.endsWith('.test.ts')));
const args = ['--import', 'tsx', '--test', '--test-reporter', 'spec', `--test-concurrency=${atOnce}`, ...files];
const { status, error } = spawnSync(mode?.command ?? process.execPath, args, {
  cwd: root,
  stdio: 'inherit',
  env: { ...process.env, SOURCE_DATE_EPOCH: '', ...mode?.env },
});
if (error) throw error;
process.exit(status ?? 1);
