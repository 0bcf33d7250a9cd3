import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { PartStore } from 'metainfo';
import { Plans } from '../src/plans.ts';
import { seal } from '../src/seals.ts';
import { requestOf, storedItems, storedResults } from '../src/stored.ts';

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

const HASHES = { infohashV1: null, infohashV2: null };
const GOOD = { item: 3, ok: true, error: null, ...HASHES, goodBytes: 5, totalSize: 5 };
const FORGED = [
  [],
  [GOOD, GOOD],
  [{ ...GOOD, item: 0 }],
  [{ ...GOOD, goodBytes: 4 }],
  [{ ...GOOD, goodBytes: 'x' }],
  [{ ...GOOD, totalSize: -1 }],
  [{ ...GOOD, error: 'ERR_READ: x' }],
  [{ ...GOOD, infohashV1: 5 }],
];

describe('results of a batch', () => {
  it('are those of the items of their job, and do not contradict themselves', async () => {
    const read = (results: unknown) => {
      const store: PartStore = { get: async () => Buffer.from(JSON.stringify(results)), put: async () => {} };
      return storedResults(store, ID, 0, { first: 3, count: 1 });
    };
    for (const good of [[GOOD], [null], [{ ...GOOD, ok: false, goodBytes: 4 }]])
      assert.deepEqual(await read(good), good);
    for (const forged of FORGED) await assert.rejects(read(forged), { code: 'ERR_PLAN' }, JSON.stringify(forged));
  });
});

describe('objects of a store', () => {
  it('are refused with ERR_PLAN if they are malformed', async () => {
    for (const text of MALFORMED) {
      const bytes = Buffer.from(text);
      const store: PartStore = { get: async () => bytes, put: async () => {} };
      const sealed = await seal(store, `${ID}/request`, text);
      for (const read of [
        () => storedItems(store, { plan: ID, index: 0 }),
        () => storedResults(store, ID, 0, { first: 0, count: 1 }),
        () => requestOf({ plan: ID, sealed }, store),
        () => new Plans(store).get(ID),
      ])
        await assert.rejects(read, { code: 'ERR_PLAN' }, `${text.slice(0, 20)} ${read}`);
    }
  });
});
