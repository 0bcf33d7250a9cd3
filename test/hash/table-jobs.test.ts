// Failures of the addon's functions on columns have the codes of this library.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { tableResult } from '../../src/hash/addon.ts';

const failing = (code: string) => Promise.reject(Object.assign(new Error('vector too long'), { code }));

it('a failure on columns has a code of this library', async () => {
  assert.equal(await tableResult(Promise.resolve(1)), 1);
  await assert.rejects(tableResult(failing('no-memory')), { code: 'ERR_NO_MEMORY', message: /^Out of memory: / });
  await assert.rejects(tableResult(failing('internal')), { code: 'ERR_INTERNAL', message: /: vector too long\.$/ });
});
