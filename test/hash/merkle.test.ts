import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { merkleRoot, sha256, zeroRoot } from '../../src/hash/merkle.ts';
import { hexText } from '../../src/platform/node.ts';
import { noise, sha256 as plain, v2Hashes } from './reference.ts';

const BLOCK = 16_384;
const ZERO = Buffer.alloc(32);
const leavesOf = (content: Buffer) =>
  Array.from({ length: Math.ceil(content.length / BLOCK) }, (_, i) =>
    plain(content.subarray(i * BLOCK, (i + 1) * BLOCK)),
  );

describe('sha256', () => {
  it('is the hash of all parts together', () => {
    assert.equal(hexText(sha256()), 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855');
    assert.deepEqual(sha256(Buffer.from('a'), Buffer.from('bc')), plain(Buffer.from('abc')));
  });
});

describe('merkleRoot', () => {
  it('pads leaves to the next power of two', () => {
    for (let blocks = 1; blocks <= 9; blocks += 1) {
      const content = noise(blocks * BLOCK - 5);
      // A piece length that the content does not exceed: its tree has no layer.
      assert.deepEqual(merkleRoot(leavesOf(content), ZERO), v2Hashes(content, 16 * BLOCK).root, `${blocks} blocks`);
    }
  });

  it('pads to a given width', () => {
    const leaves = leavesOf(noise(3 * BLOCK));
    const padded = [...leaves, ...Array<Buffer>(5).fill(ZERO)];
    assert.deepEqual(merkleRoot(leaves, ZERO, 8), merkleRoot(padded, ZERO));
    assert.notDeepEqual(merkleRoot(leaves, ZERO, 8), merkleRoot(leaves, ZERO));
  });

  it('pads piece hashes with the root of an all-zero piece', () => {
    for (const blocks of [2, 4]) {
      const { root, layer } = v2Hashes(noise(5 * blocks * BLOCK), blocks * BLOCK);
      assert.equal(layer.length, 5);
      assert.deepEqual(merkleRoot(layer, zeroRoot(blocks)), root);
    }
  });

  it('returns a single leaf as it is', () => assert.deepEqual(merkleRoot([plain(ZERO)], ZERO), plain(ZERO)));

  it('does not change its input', () => {
    const leaves = leavesOf(noise(3 * BLOCK));
    const before = structuredClone(leaves).map((leaf) => Buffer.from(leaf));
    merkleRoot(leaves, ZERO);
    assert.deepEqual([leaves, ZERO], [before, Buffer.alloc(32)]);
  });
});

describe('zeroRoot', () => {
  it('is zero for one leaf, then the hash of two of the size below', () => {
    let expected = ZERO;
    for (let leaves = 1; leaves <= 64; leaves *= 2) {
      assert.equal(hexText(zeroRoot(leaves)), hexText(expected), `${leaves} leaves`);
      expected = plain(Buffer.concat([expected, expected]));
    }
  });
});
