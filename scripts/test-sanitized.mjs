// Runs tests in JavaScript on an addon that is built with sanitizers: `node scripts/test-sanitized.mjs MODE [FILES]`.
//
// MODE is `address,undefined` or `thread`. Without FILES, it runs the tests that exercise native code. Linux only: Node itself is not
// instrumented, so the sanitizer's runtime is preloaded to be there before Node allocates.
import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { fail, filesIn, GYP, requireToolchain, root, run } from './setup.mjs';

/** Stack frames with their module, so that reports about the addon can be told from others. */
const FRAMES = 'stack_trace_format="    #%n %f %S %M"';

const MODES = {
  // Not g++: with `undefined` it rejects function pointers as constants, which node-addon-api needs.
  'address,undefined': {
    compiler: 'clang++',
    runtime: 'libclang_rt.asan-x86_64.so',
    // The vptr check needs RTTI, and Node and the addon are built without it.
    flags: ['-shared-libsan', '-fno-sanitize=vptr'],
    environment: (log) => ({
      ASAN_OPTIONS: `log_path=${log}:detect_stack_use_after_return=1:strict_string_checks=1:${FRAMES}`,
      // Leaks must not change the exit code: memory that only V8's heap refers to looks leaked.
      LSAN_OPTIONS: 'exitcode=0',
      UBSAN_OPTIONS: 'print_stacktrace=1',
    }),
  },
  // The runtime of clang 14 cannot be preloaded.
  thread: {
    compiler: 'g++',
    runtime: 'libtsan.so',
    flags: [],
    environment: (log) => ({ TSAN_OPTIONS: `log_path=${log}:exitcode=0:report_signal_unsafe=0:${FRAMES}` }),
  },
};

/**
 * The tests that exercise native code. The reliability tests that preload a library, or that limit memory or the time
 * that a process takes to end, do not work with a sanitizer's runtime.
 */
const NATIVE = [
  ...['addon.test.ts', 'create', 'disk', 'hash', 'hashers', 'verify'],
  ...['abort', 'files-change-while-hashed', 'detached', 'leak', 'terminate'].map(
    (name) => `reliability/${name}.test.ts`,
  ),
];
/** These test JavaScript only, or start libtorrent or other C programs, some of which hang with the runtime preloaded. */
const LEFT_OUT = ['cache', 'libtorrent', 'generate'].map((name) => `test/create/${name}.test.ts`);

/** Builds the addon with sanitizers in a folder of its own, and returns the folder. */
function build(mode, { compiler, flags }) {
  // A comma in the name would end a linker option.
  const folder = path.join(root, 'build', 'sanitized', mode.replace(',', '-'));
  const sources = filesIn('native/addon.cc', 'native/binding', 'native/core', 'native/exports.map', 'native/kernels');
  for (const file of [...sources, 'binding.gyp', 'package.json', 'scripts/libcrypto.mjs'])
    cpSync(path.join(root, file), path.join(folder, file), { preserveTimestamps: true });
  const instrument = [`-fsanitize=${mode}`, ...flags, '-fno-sanitize-recover=all', '-fno-omit-frame-pointer'];
  Object.assign(process.env, {
    CXX: compiler,
    // Sanitizers intercept memcpy, but not the checked function that fortified code calls instead.
    CXXFLAGS: [...instrument, '-O1', '-g1', '-U_FORTIFY_SOURCE'].join(' '),
    LDFLAGS: instrument.join(' '),
  });
  requireToolchain();
  process.stderr.write(`metainfo: building the addon (${mode}) ...\n`);
  run(process.execPath, [GYP, 'configure', '-C', folder], 'node-gyp configure');
  run(process.execPath, [GYP, 'build', '-C', folder, '--jobs', 'max'], 'node-gyp build');
  return folder;
}

/** The reports of sanitizers, without races and leaks inside Node, which is not instrumented. */
function reports(folder) {
  const ours = (report) => {
    // The runtime does not see Node close descriptors, so it mistakes a reused number for the old file.
    if (/Location is file descriptor.*\n.*#0.*\n(?!.*metainfo\.node)/.test(report)) return false;
    if (report.includes('ThreadSanitizer')) return /#[01] .*metainfo\.node/.test(report);
    // Node-API cannot settle the promise of a job that ends with its thread of Node, and keeps 8 bytes.
    if (/leak/i.test(report) && report.includes('napi_create_promise')) return false;
    // In deeper frames, V8 may be allocating inside a call of the addon.
    if (/leak/i.test(report)) return /#[0-3] .*metainfo\.node/.test(report);
    return /[^=\s]/.test(report);
  };
  return readdirSync(folder).flatMap((file) =>
    readFileSync(path.join(folder, file), 'utf8')
      .split(/\n(?=(?:Direct|Indirect) leak of|=+\n)/)
      .filter(ours),
  );
}

const [name, ...chosen] = process.argv.slice(2);
const mode = MODES[name];
if (!mode) fail(`choose one of: ${Object.keys(MODES).join(' ')}.`);
const folder = build(name, mode);
const runtime = execFileSync(mode.compiler, [`-print-file-name=${mode.runtime}`], { encoding: 'utf8' }).trim();
if (!path.isAbsolute(runtime)) fail(`${mode.compiler} has no ${mode.runtime}.`);
const logs = path.join(folder, 'reports');
rmSync(logs, { recursive: true, force: true });
mkdirSync(logs);
// Some tests run as nobody.
chmodSync(logs, 0o777);

const all = filesIn(...NATIVE.map((place) => `test/${place}`)).filter((file) => file.endsWith('.test.ts'));
const files = chosen.length > 0 ? chosen : all.filter((file) => !LEFT_OUT.includes(file));
const { status } = spawnSync(
  process.execPath,
  ['--import', './scripts/ts.mjs', '--test', '--test-reporter', 'spec', ...files],
  {
    cwd: root,
    stdio: 'inherit',
    env: {
      ...process.env,
      LD_PRELOAD: runtime,
      // node-gyp-build loads the addon from this folder.
      METAINFO_PREBUILD: folder,
      // Read by test/support/timing.ts, which allows more time.
      METAINFO_SANITIZED: name,
      ...mode.environment(path.join(logs, 'report')),
    },
  },
);
const found = reports(logs);
const addon = path.join(folder, 'build', 'Release', 'metainfo.node');
/** Adds function names: the runtime of g++ does not know them for libraries that are loaded late. */
const named = (frame, at) => execFileSync('addr2line', ['-Cfpe', addon, at], { encoding: 'utf8' }).trim() || frame;
process.stderr.write(found.join('\n').replace(/<null> <null> \(metainfo\.node\+(0x[\da-f]+)\)/g, named));
if (found.length > 0) fail(`${found.length} reports of sanitizers: see above.`);
if (status !== 0) fail('tests failed.');
