import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { MerkleTree, MerkleTreeShape } from '../../src/hashers/merkle-tree.ts';
import { V2Hasher } from '../../src/hashers/v2-hasher.ts';
import { HashList } from '../../src/model/hash-list.ts';
import { noise, sha256, v2Hashes } from '../hash/reference.ts';
import { runs } from '../support/runs.ts';

const BLOCK = 16_384;
const leavesOf = (content: Buffer) =>
  Array.from({ length: Math.ceil(content.length / BLOCK) }, (_, i) =>
    sha256(content.subarray(i * BLOCK, (i + 1) * BLOCK)),
  );
const hashesOf = (count: number) => Array.from({ length: count }, (_, i) => noise(32, i + 1));
const refused = { code: 'ERR_INVALID_ARGUMENT' };

describe('MerkleTreeShape', () => {
  it('counts blocks, pieces and their padding', () => {
    // size in blocks, blocks a piece: blocks, pieces, pad blocks, pad pieces
    const cases: [number, number, number, number, number, number][] = [
      [0, 1, 0, 0, 0, 0],
      [1 / BLOCK, 1, 1, 0, 0, 0],
      [1, 1, 1, 0, 0, 0],
      [2, 1, 2, 2, 0, 0],
      [3, 1, 3, 3, 0, 1],
      [3, 4, 3, 0, 1, 0],
      [4, 4, 4, 0, 0, 0],
      [5, 4, 5, 2, 3, 0],
      [9, 4, 9, 3, 3, 1],
    ];
    for (const [blocks, perPiece, ...expected] of cases) {
      const shape = new MerkleTreeShape({ fileSize: blocks * BLOCK, pieceLength: perPiece * BLOCK });
      assert.deepEqual(
        [shape.nBlocks, shape.nPieces, shape.nPadBlocks, shape.nPadPieces],
        expected,
        `${blocks} blocks`,
      );
      assert.equal(shape.nBlocksPerPiece, perPiece);
    }
  });

  it('rejects invalid sizes', () => {
    for (const fileSize of [-1, 1.5, Number.NaN, 2 ** 53])
      assert.throws(() => new MerkleTreeShape({ fileSize, pieceLength: BLOCK }), refused);
    for (const pieceLength of [0, 8192, 3 * BLOCK])
      assert.throws(() => new MerkleTreeShape({ fileSize: 1, pieceLength }), { code: 'ERR_PIECE_LENGTH' });
  });
});

describe('MerkleTree', () => {
  it('has the root and layer of a tree built block by block', () => {
    const size = fc.oneof(
      fc.integer({ min: 1, max: 40 * BLOCK }),
      fc.integer({ min: 1, max: 40 }).map((blocks) => blocks * BLOCK),
    );
    fc.assert(
      fc.property(size, fc.integer({ min: 0, max: 5 }), (fileSize, height) => {
        const pieceLength = BLOCK * 2 ** height;
        const content = noise(fileSize);
        const shape = new MerkleTreeShape({ fileSize, pieceLength });
        const tree = new MerkleTree('a', leavesOf(content), shape);
        const { root, layer } = v2Hashes(content, pieceLength);
        assert.deepEqual(Buffer.from(tree.rootHash ?? []), root);
        assert.deepEqual(
          tree.pieceHashes ? Buffer.from(tree.pieceHashes.bytes) : null,
          layer.length > 0 ? Buffer.concat(layer) : null,
        );
        assert.deepEqual(Buffer.from(V2Hasher.getRootHash(layer.length > 0 ? layer : leavesOf(content), shape)), root);
        const pieces = V2Hasher.hashPieces(leavesOf(content), shape);
        assert.deepEqual(pieces && [...pieces].map((hash) => Buffer.from(hash)), layer.length > 0 ? layer : null);
      }),
      { numRuns: runs(150) },
    );
  });

  it('has no root for an empty file', () => {
    const shape = new MerkleTreeShape({ fileSize: 0, pieceLength: BLOCK });
    const tree = new MerkleTree('a', [], shape);
    assert.deepEqual([tree.rootHash, tree.pieceHashes, tree.leafHashes.length], [null, null, 0]);
    assert.throws(() => V2Hasher.getRootHash([], shape), refused);
  });

  it('rejects missing leaves', () => {
    const shape = new MerkleTreeShape({ fileSize: 3 * BLOCK, pieceLength: BLOCK });
    for (const count of [0, 2, 4]) {
      assert.throws(() => new MerkleTree('a', hashesOf(count), shape), refused);
      assert.throws(() => V2Hasher.getRootHash(hashesOf(count), shape), refused);
      assert.throws(() => V2Hasher.hashPieces(hashesOf(count), shape), refused);
    }
  });
});

describe('hashes of 20 bytes', () => {
  it('are rejected by every tree function', () => {
    const list = new HashList(Buffer.alloc(40), 20);
    const shape = new MerkleTreeShape({ fileSize: 2 * BLOCK, pieceLength: 2 * BLOCK });
    assert.throws(() => V2Hasher.getRootHash(list, shape), refused);
    assert.throws(() => V2Hasher.hashPieces(list, shape), refused);
    assert.throws(() => V2Hasher.hashRoot(list), refused);
    assert.throws(() => new MerkleTree('a', list, shape), refused);
  });
});

describe('hashRoot', () => {
  it('is the root over a power of two of hashes', () => {
    assert.deepEqual(Buffer.from(V2Hasher.hashRoot(hashesOf(1))), hashesOf(1)[0]);
    const [a, b, c, d] = hashesOf(4) as [Buffer, Buffer, Buffer, Buffer];
    assert.deepEqual(Buffer.from(V2Hasher.hashRoot([a, b])), sha256(Buffer.concat([a, b])));
    const expected = sha256(Buffer.concat([sha256(Buffer.concat([a, b])), sha256(Buffer.concat([c, d]))]));
    assert.deepEqual(Buffer.from(V2Hasher.hashRoot([a, b, c, d])), expected);
  });

  it('rejects every other number, and hashes of another size', () => {
    for (const count of [0, 3, 5, 6, 7, 9, 12]) assert.throws(() => V2Hasher.hashRoot(hashesOf(count)), refused);
    assert.throws(() => V2Hasher.hashRoot([noise(31), noise(33)]), refused);
    assert.throws(() => V2Hasher.hashRoot([noise(20), noise(20)]), refused);
  });
});
