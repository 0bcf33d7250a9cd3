import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, it } from 'node:test';
import { requestOf } from '../../src/bullmq/join-request.ts';
import { Plans } from '../../src/bullmq/plans.ts';
import { storedItems, storedResults } from '../../src/bullmq/stored.ts';
import type { PartStore } from '../../src/parts/store.ts';

const ID = '0'.repeat(64);
const MALFORMED = [
  '',
  '{',
  'null',
  '5',
  '"x"',
  '{}',
  '[5]',
  '[{}]',
  '[{"item":0,"ok":1}]',
  '{"items":5}',
  '['.repeat(1e5),
];

describe('objects of a store', () => {
  it('are refused with ERR_PLAN if they are malformed', async () => {
    for (const text of MALFORMED) {
      const bytes = Buffer.from(text);
      const store: PartStore = { get: async () => bytes, put: async () => {} };
      const request = createHash('sha256').update(bytes).digest('hex');
      for (const read of [
        () => storedItems(store, ID, 0),
        () => storedResults(store, ID, 0),
        () => requestOf({ plan: ID, request }, store),
        () => new Plans(store).get(ID),
      ])
        await assert.rejects(read, { code: 'ERR_PLAN' }, `${text.slice(0, 20)} ${read}`);
    }
  });
});
