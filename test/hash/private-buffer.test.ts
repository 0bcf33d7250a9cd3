import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { allocPrivate, privateCopy, reusePrivate } from '../../src/hash/private-buffer.ts';
import { noise } from './reference.ts';

describe('privateCopy', () => {
  it('copies the bytes of callers, and returns private bytes as they are', () => {
    const bytes = noise(1000);
    const copy = privateCopy(bytes);
    assert.deepEqual(Buffer.from(copy), bytes);
    assert.notEqual(copy.buffer, bytes.buffer);
    assert.equal(privateCopy(copy), copy);
    const own = allocPrivate(5);
    assert.equal(privateCopy(own), own);
  });

  it('uses memory that was given back again, never that of another copy', () => {
    const [first, second] = [privateCopy(noise(1000, 1)), privateCopy(noise(1000, 2))];
    assert.notEqual(first.buffer, second.buffer);
    reusePrivate(first);
    const third = privateCopy(noise(900, 3));
    assert.equal(third.buffer, first.buffer);
    const fourth = privateCopy(noise(900, 4));
    const copies = [second, third, fourth];
    assert.equal(new Set(copies.map(({ buffer }) => buffer)).size, 3);
    const expected = [noise(1000, 2), noise(900, 3), noise(900, 4)];
    assert.deepEqual(
      copies.map((copy) => Buffer.from(copy)),
      expected,
    );
  });

  it('wastes at most half of the memory that it uses again', () => {
    const large = privateCopy(noise(1000));
    reusePrivate(large);
    assert.notEqual(privateCopy(noise(499)).buffer, large.buffer);
    assert.notEqual(privateCopy(noise(1001)).buffer, large.buffer);
    assert.equal(privateCopy(noise(500)).buffer, large.buffer);
  });

  it('copies no bytes', () => {
    const empty = new Uint8Array(0);
    // More often than there is memory that was given back.
    const copies = Array.from({ length: 20 }, () => privateCopy(empty));
    for (const copy of copies) assert.deepEqual([copy.length, copy.buffer === empty.buffer], [0, false]);
    for (const copy of copies) reusePrivate(copy);
    assert.deepEqual(Buffer.from(privateCopy(noise(9))), noise(9));
  });

  it('never takes memory of a caller', () => {
    const bytes = new Uint8Array(700);
    reusePrivate(bytes);
    assert.notEqual(privateCopy(noise(700)).buffer, bytes.buffer);
  });
});
