// Runs test files on an addon that was built with sanitizers, in the stock Node that runs this:
// `node scripts/test-sanitized.mjs address,undefined [FILES]`, or `thread`; without FILES, all whose subject is native.
// Linux only: the runtime is preloaded, because it must be there before Node allocates.
import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { fail, filesIn, requireToolchain, root, run } from './setup.mjs';

/** Each frame with its module, by which our reports are known. */
const FRAMES = 'stack_trace_format="    #%n %f %S %M"';

const MODES = {
  // g++ takes no pointers to functions for constants under `undefined`, as node-addon-api needs them.
  'address,undefined': {
    compiler: 'clang++',
    runtime: 'libclang_rt.asan-x86_64.so',
    // Node is built without RTTI, and so is the addon.
    flags: ['-shared-libsan', '-fno-sanitize=vptr'],
    environment: (log) => ({
      ASAN_OPTIONS: `log_path=${log}:detect_stack_use_after_return=1:strict_string_checks=1:${FRAMES}`,
      // Node's own count too, for what V8's heap holds looks lost: they must not decide how a process ends.
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
  ...['abort', 'changed', 'leak', 'terminate'].map((name) => `reliability/${name}.test.ts`),
];
/** These test JavaScript only, or start libtorrent or other C programs, some of which hang with the runtime preloaded. */
const LEFT_OUT = ['cache', 'libtorrent', 'generate'].map((name) => `test/create/${name}.test.ts`);

/** Builds as binding.gyp says, in a folder of its own. Answers the folder. */
function build(mode, { compiler, flags }) {
  // A comma in its name would end an option of the linker.
  const folder = path.join(root, 'build', 'sanitized', mode.replace(',', '-'));
  const sources = filesIn('native/addon.cc', 'native/binding', 'native/core', 'native/exports.map', 'native/kernels');
  for (const file of [...sources, 'binding.gyp', 'package.json', 'scripts/libcrypto.mjs'])
    cpSync(path.join(root, file), path.join(folder, file), { preserveTimestamps: true });
  const instrument = [`-fsanitize=${mode}`, ...flags, '-fno-sanitize-recover=all', '-fno-omit-frame-pointer'];
  Object.assign(process.env, {
    CXX: compiler,
    // Sanitizers know memcpy, but not the function that fortified code calls instead.
    CXXFLAGS: [...instrument, '-O1', '-g1', '-U_FORTIFY_SOURCE'].join(' '),
    LDFLAGS: instrument.join(' '),
  });
  requireToolchain();
  process.stderr.write(`metainfo: building the addon (${mode}) ...\n`);
  const gyp = path.join(root, 'node_modules', 'node-gyp', 'bin', 'node-gyp.js');
  run(process.execPath, [gyp, 'configure', '-C', folder], 'node-gyp configure');
  run(process.execPath, [gyp, 'build', '-C', folder, '--jobs', 'max'], 'node-gyp build');
  return folder;
}

/** What sanitizers wrote, but for races and leaks that are not ours: Node is not built for either. */
function reports(folder) {
  const ours = (report) => {
    // Node closes descriptors unseen by the runtime: a number that it had is taken for what it was then.
    if (/Location is file descriptor.*\n.*#0.*\n(?!.*metainfo\.node)/.test(report)) return false;
    if (report.includes('ThreadSanitizer')) return /#[01] .*metainfo\.node/.test(report);
    // Below these frames, it may be V8 that allocates in a call of ours.
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
const { status } = spawnSync(process.execPath, ['--import', 'tsx', '--test', '--test-reporter', 'spec', ...files], {
  cwd: root,
  stdio: 'inherit',
  env: {
    ...process.env,
    LD_PRELOAD: runtime,
    // node-gyp-build looks for the addon there.
    METAINFO_PREBUILD: folder,
    // For test/support/timing.ts.
    METAINFO_SANITIZED: name,
    ...mode.environment(path.join(logs, 'report')),
  },
});
const found = reports(logs);
const addon = path.join(folder, 'build', 'Release', 'metainfo.node');
/** The runtime of g++ knows no names of what was loaded late. */
const named = (frame, at) => execFileSync('addr2line', ['-Cfpe', addon, at], { encoding: 'utf8' }).trim() || frame;
process.stderr.write(found.join('\n').replace(/<null> <null> \(metainfo\.node\+(0x[\da-f]+)\)/g, named));
if (found.length > 0) fail(`${found.length} reports of sanitizers: see above.`);
if (status !== 0) fail('tests failed.');
