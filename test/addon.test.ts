import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import nodeGypBuild from 'node-gyp-build';
import { missing } from './support/external.ts';

/** The addon in build/, or in prebuilds/ if PREBUILDS_ONLY is set. */
const addon = nodeGypBuild.resolve(fileURLToPath(new URL('..', import.meta.url)));
const skip = process.platform === 'linux' ? missing('nm', 'nm', ['--version']) : 'the linker flags are those of Linux';

const symbols = (kind: string) =>
  execFileSync('nm', ['-D', kind, addon], { encoding: 'utf8' })
    .split('\n')
    .map((line) => line.trim().split(' ').at(-1) ?? '')
    .filter((symbol) => symbol !== '');

describe('the addon', { skip }, () => {
  it('exports only the entry points that Node needs', () => {
    assert.deepEqual(symbols('--defined-only'), ['napi_register_module_v1', 'node_api_module_get_api_version_v1']);
  });

  it('does not use the OpenSSL of Node unless it was built to', () => {
    const fromOpenssl = symbols('--undefined-only').filter((symbol) => /^(SHA|EVP|OPENSSL|CRYPTO)/.test(symbol));
    const expected = process.env['METAINFO_LIBCRYPTO'] === 'node' ? 4 : 0;
    assert.equal(fromOpenssl.length, expected, fromOpenssl.join(', '));
  });
});
