import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { it } from 'node:test';
import { CREATED_BY, VERSION } from '../../src/text/version.ts';

it('the version in the source is that of the package', async () => {
  const { version } = JSON.parse(await readFile(new URL('../../package.json', import.meta.url), 'utf8'));
  assert.deepEqual([VERSION, CREATED_BY], [version, `metainfo (${version})`]);
});
