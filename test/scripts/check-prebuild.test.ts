import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { temporaryFolder } from '../support/tree.ts';

// Plain JavaScript, without types.
const { problemsOf } = (await import('../../scripts/check-prebuild.mjs' as string)) as {
  problemsOf: (file: string) => string[];
};
const BUILT = fileURLToPath(new URL('../../build/Release/metainfo.node', import.meta.url));

describe('check-prebuild', { skip: process.platform === 'linux' ? false : 'it reads ELF' }, () => {
  it('finds nothing wrong with what the addon exports and takes, but that it needs the C++ runtime of this system', () => {
    const problems = problemsOf(BUILT);
    assert.ok(problems.some((problem) => /^needs: .*libstdc\+\+\.so\.6/.test(problem)));
    assert.deepEqual(
      problems.filter((problem) => !/^needs/.test(problem)),
      [],
    );
  });

  it('finds all that is wrong at once', async (t) => {
    const folder = await temporaryFolder(t);
    const source = path.join(folder, 'bad.c');
    const file = path.join(folder, 'bad.node');
    const text =
      'extern int EVP_sha1(void);\nchar much[1100000] = {1};\nint napi_register_module_v1(void) { return EVP_sha1(); }\n';
    await writeFile(source, text);
    execFileSync('cc', ['-shared', '-fPIC', '-o', file, source, '-Wl,--no-as-needed', '-lcrypto']);
    const problems = problemsOf(file);
    for (const expected of [
      /^does not export: node_api_module_get_api_version_v1$/,
      /^exports: .*\bmuch\b/,
      /^takes from whoever loads it: EVP_sha1$/,
      /^needs: .*libcrypto/,
      /^has \d+ bytes, more than 1000000$/,
    ])
      assert.ok(
        problems.some((problem) => expected.test(problem)),
        `${expected}: ${problems.join('\n')}`,
      );
  });
});

const MINGW = 'x86_64-w64-mingw32';
const hasMingw = spawnSync(`${MINGW}-gcc`, ['--version']).status === 0;

describe('check-prebuild, for Windows', { skip: hasMingw ? false : 'mingw-w64 is not installed' }, () => {
  const build = async (t: TestContext, text: string, ...libraries: string[]) => {
    const folder = await temporaryFolder(t);
    const [source, definitions, library, file] = ['dll.c', 'crypto.def', 'crypto.a', 'dll.node'].map((name) =>
      path.join(folder, name),
    ) as [string, string, string, string];
    await writeFile(source, text);
    await writeFile(definitions, 'LIBRARY libcrypto-3-x64.dll\nEXPORTS\nEVP_sha1\n');
    execFileSync(`${MINGW}-dlltool`, ['-d', definitions, '-l', library]);
    execFileSync(`${MINGW}-gcc`, ['-shared', '-s', '-o', file, source, library, ...libraries]);
    return problemsOf(file);
  };
  const both =
    '__declspec(dllexport) int napi_register_module_v1(void) { return 1; }\n' +
    '__declspec(dllexport) int node_api_module_get_api_version_v1(void) { return 8; }\n';

  it('finds nothing wrong with what exports those two and needs what every Windows has', async (t) => {
    assert.deepEqual(await build(t, both), []);
  });

  it('finds all that is wrong at once', async (t) => {
    const problems = await build(
      t,
      'unsigned long __stdcall timeGetTime(void);\nint EVP_sha1(void);\nchar much[1100000] = {1};\n' +
        '__declspec(dllexport) char *all(void) { return much; }\n' +
        '__declspec(dllexport) int napi_register_module_v1(void) { return timeGetTime() + EVP_sha1(); }\n',
      '-lwinmm',
    );
    assert.deepEqual(problems.slice(0, 3), [
      'does not export: node_api_module_get_api_version_v1',
      'exports: all',
      'takes from whoever loads it: EVP_sha1',
    ]);
    assert.match(problems[3] ?? '', /^needs: (libcrypto-3-x64\.dll, WINMM\.dll|WINMM\.dll, libcrypto-3-x64\.dll)$/i);
    assert.match(problems[4] ?? '', /^has \d+ bytes, more than 1000000$/);
    assert.equal(problems.length, 5);
  });
});
