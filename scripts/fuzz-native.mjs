// Builds the C++ fuzz targets with libFuzzer and the address and undefined-behaviour sanitizers. Needs clang.
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { fail } from './setup.mjs';
import { compile, testParts } from './test-native.mjs';

const compiler = process.env.CXX || 'clang++';
const sanitize = ['-fno-sanitize-recover=all', '-fno-omit-frame-pointer'];
/** The system calls that fuzz/reads.cc replaces. */
const WRAPPED = ['open', 'fstat', 'pread', 'close'];

/** Builds one target and returns the path of its program. */
export function buildFuzzer(name) {
  const test = ['-x', 'c++', '-fsanitize=fuzzer', '-', '-o', '/dev/null'];
  const source = 'extern "C" int LLVMFuzzerTestOneInput(const unsigned char*, unsigned long) { return 0; }\n';
  if (spawnSync(compiler, test, { input: source }).status !== 0) {
    fail(`${compiler} has no libFuzzer. Get it with: apt-get install clang libclang-rt-14-dev (of clang's version)`);
  }
  const parts = testParts();
  if (parts.missing) fail(parts.missing);
  const instrument = ['-fsanitize=fuzzer-no-link,address,undefined', ...sanitize];
  return compile({
    folder: path.join('build', 'fuzz'),
    name,
    compiler,
    sources: [...parts.sources, 'fuzz/engine/checks.cc', `fuzz/${name}.cc`],
    flags: [...parts.flags, '-O1', '-g1', '-Wall', '-Wextra', ...instrument],
    link: [
      ...['-fsanitize=fuzzer,address,undefined', ...sanitize],
      ...(name === 'reads' ? WRAPPED.map((call) => `-Wl,--wrap=${call}`) : []),
      ...[parts.library, '-pthread', '-ldl'],
    ],
    title: `building fuzz/${name}`,
  });
}
