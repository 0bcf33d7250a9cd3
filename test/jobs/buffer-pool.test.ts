import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { BufferPool } from '../../src/jobs/buffer-pool.ts';

describe('BufferPool', () => {
  it('lends as many buffers as it has, then queues other requests in order', async () => {
    const pool = new BufferPool(2, 100);
    const [first, second] = [await pool.take(), await pool.take()];
    assert.notEqual(first, second);
    assert.equal(first.length, 100);
    const waiting = [pool.take(), pool.take()];
    pool.give(second);
    assert.equal(await waiting[0], second);
    pool.give(first);
    assert.equal(await waiting[1], first);
  });
});
