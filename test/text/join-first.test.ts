import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { joinFirst } from '../../src/text/printable.ts';

describe('joinFirst', () => {
  it('gives all texts, if they are few', () => {
    assert.equal(joinFirst(['a', 'b'], 2), 'a; b');
    assert.equal(joinFirst([], 2), '');
  });

  it('gives the first texts, and the number of the others', () => {
    assert.equal(joinFirst(['a', 'b', 'c', 'd'], 2), 'a; b; and 2 more');
  });

  it('counts texts that it was not given', () => {
    assert.equal(joinFirst(['a', 'b'], 2, 10), 'a; b; and 8 more');
    assert.equal(joinFirst(['a', 'b'], 1, 10), 'a; and 9 more');
  });

  it('drops one full stop at the end, and keeps an ellipsis', () => {
    assert.equal(joinFirst(['A first.', 'see b.c', 'and so on...'], 3), 'A first; see b.c; and so on...');
  });
});
