/** Exercises a part store: it does what every one does. */
import assert from 'node:assert/strict';
import type { PartStore } from '../../src/parts/store.ts';

/** The id of the plan whose objects {@link exerciseStore} leaves in a store: 0, plan, key, batch, items-3 and results-3. */
export const PLAN_ID = 'ab'.repeat(32);

/** Puts, reads, replaces and deletes objects. */
export async function exerciseStore(store: PartStore): Promise<void> {
  assert.equal(await store.get(PLAN_ID, 0), null);
  for (const [name, text] of [
    [0, 'part'],
    [7, ''],
    ['plan', '{}'],
    ['key', 'key'],
    ['batch', '{}'],
    ['items-3', '[]'],
    ['results-3', '[1]'],
  ] as const) {
    await store.put(PLAN_ID, name, Buffer.from(text));
    assert.equal(String(await store.get(PLAN_ID, name)), text);
  }
  await store.put(PLAN_ID, 0, Buffer.from('other part'));
  assert.equal(String(await store.get(PLAN_ID, 0, 10)), 'other part');
  const message = /^Part 0 is damaged: .*0\.part is too long/;
  await assert.rejects(store.get(PLAN_ID, 0, 9), { code: 'ERR_PART', message });
  await store.delete?.(PLAN_ID, 7);
  await store.delete?.(PLAN_ID, 7);
  assert.equal(await store.get(PLAN_ID, 7), null);
  await assert.rejects(async () => store.put('..', 0, Buffer.alloc(1)), { code: 'ERR_INVALID_ARGUMENT' });
}
