// Fuzzes native code: `node scripts/fuzz-native.mjs [--time SECONDS] [TARGET ...]` runs the targets of fuzz/ for so long
// together (60 by default), on what was found interesting before: build/fuzz/corpus. Needs clang with libFuzzer.
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { fail, filesIn, root } from './setup.mjs';
import { compile, nativeParts } from './test-native.mjs';

const { values, positionals } = parseArgs({
  options: { time: { type: 'string', default: '60' } },
  allowPositionals: true,
});
const seconds = Number(values.time);
if (!(seconds >= 1)) fail(`--time must be a number of seconds, not ${values.time}.`);

const targets = filesIn('fuzz')
  .filter((file) => file.endsWith('.cc'))
  .map((file) => path.basename(file, '.cc'));
for (const name of positionals) {
  if (!targets.includes(name)) fail(`there is no fuzz/${name}.cc; targets: ${targets.join(', ')}.`);
}
const chosen = positionals.length > 0 ? positionals : targets;

const compiler = process.env.CXX || 'clang++';
const test = ['-x', 'c++', '-fsanitize=fuzzer', '-', '-o', '/dev/null'];
const source = 'extern "C" int LLVMFuzzerTestOneInput(const unsigned char*, unsigned long) { return 0; }\n';
if (spawnSync(compiler, test, { input: source }).status !== 0) {
  fail(`${compiler} has no libFuzzer. Get it with: apt-get install clang libclang-rt-14-dev (of clang's version)`);
}
const parts = nativeParts();
if (!parts) fail('no static libcrypto.a was found. Get it with: apt-get install libssl-dev');

const folder = path.join('build', 'fuzz');
const sanitize = ['-fno-sanitize-recover=all', '-fno-omit-frame-pointer'];
for (const name of chosen) {
  const binary = compile({
    folder,
    name,
    compiler,
    sources: [...parts.sources, `fuzz/${name}.cc`],
    flags: [
      ...parts.flags,
      '-O1',
      '-g1',
      '-Wall',
      '-Wextra',
      '-fsanitize=fuzzer-no-link,address,undefined',
      ...sanitize,
    ],
    link: ['-fsanitize=fuzzer,address,undefined', ...sanitize, parts.library, '-pthread', '-ldl'],
    title: `building fuzz/${name}`,
  });
  const corpus = path.join(root, folder, 'corpus', name);
  const found = path.join(root, folder, 'found', name);
  for (const place of [corpus, found]) mkdirSync(place, { recursive: true });
  const { status } = spawnSync(
    binary,
    [
      corpus,
      `-max_total_time=${Math.ceil(seconds / chosen.length)}`,
      `-artifact_prefix=${found}${path.sep}`,
      '-timeout=20',
      '-max_len=1024',
      '-print_final_stats=1',
      '-verbosity=0',
      '-print_funcs=0',
    ],
    { cwd: root, stdio: 'inherit' },
  );
  if (status === 0) continue;
  const inputs = readdirSync(found).map((file) => path.join(path.relative(root, found), file));
  fail(`fuzz/${name} failed. Run it again with: ${path.relative(root, binary)} ${inputs.at(-1) ?? corpus}`);
}
