import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { sparseFile, temporaryFolder } from '../support/tree.ts';
import { procMissing, runChild } from './run-child.ts';

const GIB = 2 ** 30;

describe('a busy process', () => {
  it('keeps its event loop free during a big job', async (t) => {
    const file = await sparseFile(await temporaryFolder(t), 'big', 4 * GIB);
    const { code, told } = await runChild('busy', file);
    assert.equal(code, 0);
    const { delay, seconds } = told[0] as { delay: number; seconds: number };
    assert.ok(delay < 0.05, `a timer of 10 ms came after ${delay} s`);
    t.diagnostic(`${(delay * 1000).toFixed(1)} ms at most in a job of ${seconds.toFixed(1)} s`);
  });

  it('starts no more threads than cores for 500 jobs at once', { skip: procMissing }, async (t) => {
    const file = await sparseFile(await temporaryFolder(t), 'file', 8 * 2 ** 20);
    const { code, told } = await runChild('crowd', file, 500);
    assert.equal(code, 0);
    const { before, most, cores } = told[0] as { before: number; most: number; cores: number };
    assert.ok(most > before, 'no job was seen');
    // A thread that has handed over its place may not be gone yet.
    assert.ok(most <= before + 2 * cores, `${most} threads, ${before} before, on ${cores} cores`);
    t.diagnostic(`${before} threads before, ${most} at most`);
  });
});
