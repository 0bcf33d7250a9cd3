// Sets up whatever is out of date, then runs the tests.
//
//   npm test                      the usual tests: about six minutes on two cores
//   npm test -- --all             every test, as .ci/run does, and those of metainfo-bullmq: about fifteen minutes on two cores
//   npm test -- FILE ...          these test files, or those of these folders
//   npm test -- --without-addon   the tests of hashing, on node:crypto (METAINFO_ENGINE=node)
//   npm test -- --arm64           some tests of hashing, on the prebuilt binary for arm64 (npm run prebuilds) under qemu
//
// `npm test -- --web` runs the tests of torrents in memory on src/platform/web.ts, as in browsers.
// `npm test -- --release` runs the tests that only .ci/release runs: of its tools, and all of metainfo-bullmq.
// With PREBUILDS_ONLY=1 the tests use the addon in prebuilds/, and no compiler is needed. With METAINFO_NATIVE_TESTED=1 they leave
// test/native out, which .ci/run has run under sanitizers; with METAINFO_BULLMQ_TESTED=1 those of metainfo-bullmq, which passed as
// they are (.ci/bullmq-hash).
import { spawnSync } from 'node:child_process';
import { availableParallelism } from 'node:os';
import path from 'node:path';
import { arm64Node } from './arm64-node.mjs';
import { fail, filesIn, prebuiltOnly, root, setup } from './setup.mjs';
import { testNative } from './test-native.mjs';
import { transpile } from './transpile.mjs';

/** Folders that run only with --all: clients that share torrents, and processes that are killed or starved. */
const ONLY_WITH_ALL = ['test/e2e/', 'test/reliability/'];
/** The tests of the package of queues, which run with --all and by name. */
const QUEUES = 'packages/metainfo-bullmq/test/';
/** The slowest other files, which run only with --all too, with the seconds of each in a whole run on two busy cores. */
const SLOW = {
  'test/browser/chromium.test.ts': 107,
  'test/browser/firefox.test.ts': 26,
  'test/cli/progress.test.ts': 60,
  'test/create/known/cache.test.ts': 88,
  'test/create/libtorrent.test.ts': 130,
  'test/sources/sources.test.ts': 74,
  'test/create/findings/warnings.test.ts': 133,
  'test/disk/large-scan.test.ts': 32,
  'test/interface/signals.test.ts': 12,
  'test/model/damage.test.ts': 140,
  'test/model/differential.test.ts': 16,
  'test/pages.test.ts': 72,
  'test/parts/plan-mutants.test.ts': 23,
  'test/platform/web.test.ts': 10,
  'test/verify/moved/find-moved.test.ts': 23,
};
/** One tests tools that only .ci/release uses, and needs what only it installs. The other takes a minute of processor time. */
const OF_RELEASE = ['test/scripts/check-prebuild.test.ts', `${QUEUES}reliability/queue-chaos.test.ts`];
/** Folders are swapped this often in --release, for each mode of writing, and by another process too. */
const SWAPS = { file: 'test/reliability/places-swapped-for-links.test.ts', env: { METAINFO_SWAPS: '1000' } };
/**
 * Files and folders that wait: for other programs, for processes that they kill, for timers. Many of them run at once,
 * in this order: the longest first.
 */
const WAITING = ['test/reliability/', 'test/e2e/', 'test/cli/progress.test.ts', QUEUES, 'test/cli/resume.test.ts'];
const WAITING_AT_ONCE = 6;
/**
 * Folders whose tests leave their process as it was, and whose hooks outside of a suite only remove files: several files share one process,
 * because loading the library takes longer than most of them.
 */
const SHARING =
  'bencode cli create disk edit errors hashers interface layout magnet model parts print sources text verify'.split(
    ' ',
  );
const SHARING_AT_MOST = 8;
/** The share of their runs that property tests make, except with --all or FILE: test/support/runs.ts. */
const USUAL_RUNS = '0.1';

/** The tests of hashing, for --without-addon. */
const HASHING = ['cli', 'create', 'edit', 'hash', 'hashers', 'verify', 'reliability/abort.test.ts'];
/** Files of those folders that would test nothing more without the addon, by reason. */
const NOT_WITHOUT_ADDON = {
  'tests the addon': ['cli/kernels', 'cli/start-up', 'hash/kernels', 'hash/native'],
  'chooses its engines': ['cli/without-addon', 'hash/default-engine', 'hash/engine', 'hash/layer-roots', 'hash/node'],
  'hashes with libtorrent': ['create/libtorrent'],
  'tests steps of the command that are the same with every engine': [
    ...['cli/create-options', 'cli/create-web', 'cli/piece-length', 'cli/pipes', 'cli/progress', 'cli/queue-package'],
    ...['cli/resume', 'cli/resume-data', 'cli/usage'],
  ],
  'hashes little or nothing': [
    ...[
      'cli/completion',
      'cli/edit',
      'cli/help',
      'cli/hostile',
      'cli/magnet',
      'cli/man',
      'cli/reference',
      'cli/show',
      'cli/validate',
    ],
    ...['cli/config/files', 'cli/config/options', 'cli/config/precedence', 'cli/config/toml'],
    ...['create/findings/name-findings', 'create/findings/reader-limits', 'create/findings/warnings'],
    ...['edit/edit', 'edit/replace-fields'],
  ],
};

/** Folders of tests that need neither disk nor engine, for --web. */
const IN_MEMORY = ['bencode', 'edit', 'layout', 'magnet', 'model'];
/** Files of those folders that are not for browsers, by reason. */
const NOT_IN_BROWSERS = {
  'reads content from a disk': ['edit/update', 'edit/upgrade'],
  'writes files': ['model/torrent-write'],
  'needs libtorrent, which decides the same in Node': ['model/libtorrent-torrents'],
};
/** A smaller share of property tests: the usual run has made the others with the same code. */
const WEB_RUNS = '0.1';
/** Lets Uint8Arrays equal the Buffers that tests expect. */
const WEB_PLATFORM = './test/support/web-platform.mjs';

/** Few, because qemu emulates every instruction. */
const ON_ARM64 = ['hash/layer-roots', 'hash/merkle', 'hash/native', 'hash/kernels'];

const testFile = (name) => `test/${name}.test.ts`;
const testFiles = (...places) => filesIn(...places).filter((file) => file.endsWith('.test.ts'));

/** The test files of a file or folder; none is an error, because a run of no tests passes. Options of Node stay as they are. */
function namedFiles(name) {
  if (name.startsWith('-')) return [name];
  const files = testFiles(path.relative(root, name));
  if (files.length === 0) fail(`${name} is neither a test file nor a folder with test files`);
  return files;
}

/** Leaves files out of a list; a file that does not exist is an error, so that no list goes out of date. */
function without(files, left) {
  const gone = left.filter((file) => !files.includes(file));
  if (gone.length > 0) throw new Error(`scripts/test.mjs names tests that do not exist: ${gone.join(', ')}`);
  return files.filter((file) => !left.includes(file));
}

const all = without([...testFiles('test'), ...testFiles(QUEUES)], OF_RELEASE);
const isUsual = (file) => ![...ONLY_WITH_ALL, QUEUES].some((place) => file.startsWith(place));
const { METAINFO_NATIVE_TESTED: isNativeTested, METAINFO_BULLMQ_TESTED: areQueuesTested } = process.env;

/** The files and the environment of each mode, and the Node that runs them. */
const MODES = {
  usual: () => ({
    files: without(all, Object.keys(SLOW)).filter(isUsual),
    env: { METAINFO_RUNS: USUAL_RUNS },
    isNative: true,
  }),
  '--all': () => ({ files: areQueuesTested ? all.filter((file) => !file.startsWith(QUEUES)) : all, isNative: true }),
  '--release': () => ({ files: [...new Set([...OF_RELEASE, SWAPS.file, ...testFiles(QUEUES)])], env: SWAPS.env }),
  '--without-addon': () => ({
    files: without(
      testFiles(...HASHING.map((place) => `test/${place}`)),
      Object.values(NOT_WITHOUT_ADDON).flat().map(testFile),
    ),
    env: { METAINFO_ENGINE: 'node', METAINFO_RUNS: USUAL_RUNS },
  }),
  '--web': () => ({
    files: without(
      testFiles(...IN_MEMORY.map((place) => `test/${place}`)),
      Object.values(NOT_IN_BROWSERS).flat().map(testFile),
    ),
    env: { METAINFO_PLATFORM: 'web', METAINFO_RUNS: WEB_RUNS },
    imports: [WEB_PLATFORM],
  }),
  '--arm64': () => ({ files: ON_ARM64.map(testFile), ...arm64Node() }),
};

const [option, ...rest] = process.argv.slice(2);
const named = (MODES[option] ? rest : process.argv.slice(2)).flatMap(namedFiles);
const modeName = MODES[option] ? option : named.length > 0 ? 'named' : 'usual';
setup();
const mode = MODES[modeName]?.() ?? {};
const files = named.length > 0 ? named : mode.files;
if (mode.isNative && named.length === 0 && !prebuiltOnly && !isNativeTested) testNative();

transpile(filesIn('src', 'test', 'packages/metainfo-bullmq').filter((file) => /(?<!\.d)\.ts$/.test(file)));
/** The place of a file in WAITING, or -1. */
const placeOf = (file) => WAITING.findIndex((place) => file.startsWith(place));
const waiting = files.filter((file) => placeOf(file) >= 0).sort((a, b) => placeOf(a) - placeOf(b));
const isSharing = (file) =>
  SHARING.some((place) => file.startsWith(`test/${place}/`)) && !(file in SLOW) && placeOf(file) < 0;
const sharing = files.filter(isSharing);
const groups = Array.from({ length: Math.ceil(sharing.length / SHARING_AT_MOST) }, (_, i) =>
  sharing.slice(i * SHARING_AT_MOST, (i + 1) * SHARING_AT_MOST),
);
const others = files.filter((file) => !waiting.includes(file) && !isSharing(file));
const lanes = [
  { files: waiting, concurrency: WAITING_AT_ONCE },
  { files: [...others, ...groups], concurrency: availableParallelism() },
];
const runner =
  named.length > 0
    ? ['--test', '--test-reporter', 'spec', ...named]
    : ['scripts/test-lanes.mjs', JSON.stringify(lanes)];
const imports = ['./scripts/ts.mjs', ...(mode.imports ?? [])].flatMap((file) => ['--import', file]);
const args = [...imports, ...runner];
const { status, error } = spawnSync(mode.command ?? process.execPath, args, {
  cwd: root,
  stdio: 'inherit',
  env: { ...process.env, SOURCE_DATE_EPOCH: '', ...mode.env },
});
if (error) throw error;
if (modeName === 'usual')
  process.stdout.write(`\n${files.length} of ${all.length} test files ran; npm test -- --all runs every test.\n`);
process.exit(status ?? 1);
