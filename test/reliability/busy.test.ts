import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { assertWithin } from '../support/timing.ts';
import { sparseFile, temporaryFolder } from '../support/tree.ts';
import { procMissing, runChild } from './run-child.ts';

const GIB = 2 ** 30;

describe('a busy process', () => {
  it('keeps its event loop free during a big job', { skip: procMissing }, async (t) => {
    const file = await sparseFile(await temporaryFolder(t), 'big', 4 * GIB);
    // The longest time that the event loop worked between two calls of a timer of 10 ms.
    await assertWithin(t, 0.05, async () => {
      const { code, told } = await runChild('busy', file);
      assert.equal(code, 0);
      const { most = Number.NaN, turns = 0 } = told[0] ?? {};
      assert.ok(turns > 10, `${turns} turns`);
      return most;
    });
  });

  it('starts no more threads than cores for 500 jobs at once', { skip: procMissing }, async (t) => {
    const file = await sparseFile(await temporaryFolder(t), 'file', 8 * 2 ** 20);
    const { code, told } = await runChild('crowd', file, 500);
    assert.equal(code, 0);
    const { before, most, cores } = told[0] as { before: number; most: number; cores: number };
    assert.ok(most > before, 'no job was seen');
    // Threads that handed over their place may not have ended yet, more so on a busy machine.
    assert.ok(most <= before + 4 * cores, `${most} threads, ${before} before, on ${cores} cores`);
    t.diagnostic(`${before} threads before, ${most} at most`);
  });
});
