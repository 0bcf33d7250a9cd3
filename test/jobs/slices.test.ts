import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { inSlices, joinInSlices } from '../../src/jobs/slices.ts';

describe('inSlices', () => {
  for (const count of [0, 1, 2 ** 16, 2 ** 16 + 1, 200_000]) {
    it(`goes through ${count} indexes once and in order`, async () => {
      let next = 0;
      let slices = 0;
      await inSlices(count, (first, end) => {
        assert.equal(first, next);
        next = end;
        slices += 1;
      });
      assert.deepEqual([next, slices], [count, Math.ceil(count / 2 ** 16)]);
    });
  }

  it('lets the event loop run in between', async () => {
    const rounds = await roundsDuring(() => inSlices(200_000, () => {}));
    assert.ok(rounds >= 3, `${rounds} rounds`);
  });
});

/** Counts the rounds of the event loop while something runs. */
async function roundsDuring(run: () => Promise<unknown>): Promise<number> {
  let rounds = 0;
  const count = () => {
    rounds += 1;
    pending = setImmediate(count);
  };
  let pending = setImmediate(count);
  await run();
  clearImmediate(pending);
  return rounds;
}

describe('joinInSlices', () => {
  const MiB = 2 ** 20;
  for (const sizes of [[], [0], [3, 0, 5], [4 * MiB], [1, 4 * MiB, 1], [3 * MiB, 5 * MiB, 0, 9 * MiB, 7]]) {
    it(`joins parts of ${sizes.join(', ') || 'no'} bytes like Buffer.concat`, async () => {
      const parts = sizes.map((size, i) => Buffer.alloc(size, `${i}abcdefghijklm`));
      assert.ok(Buffer.concat(parts).equals(await joinInSlices(parts)));
    });
  }

  it('lets the event loop run in between', async () => {
    const rounds = await roundsDuring(() => joinInSlices([Buffer.alloc(17 * MiB)]));
    assert.ok(rounds >= 4, `${rounds} rounds`);
  });
});
