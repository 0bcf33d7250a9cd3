import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, it } from 'node:test';
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
