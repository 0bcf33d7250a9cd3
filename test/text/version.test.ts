import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { it } from 'node:test';
import { VERSION as OF_QUEUES } from '../../packages/metainfo-bullmq/src/version.ts';
import { CREATED_BY, VERSION } from '../../src/text/version.ts';

it('the version in the sources is that of the packages', async () => {
  const versions = ['package.json', 'packages/metainfo-bullmq/package.json'].map(async (name) => {
    const manifest = await readFile(new URL(`../../${name}`, import.meta.url), 'utf8');
    return JSON.parse(manifest).version;
  });
  const [version, ofQueues] = await Promise.all(versions);
  assert.deepEqual([VERSION, CREATED_BY], [version, `metainfo (${version})`]);
  assert.deepEqual([OF_QUEUES, ofQueues], [version, version]);
});
