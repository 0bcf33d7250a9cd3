// Hashing by hand: chunks of iterBlocks under any path, the sizes of finished trees, hashes that are padded already.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, it } from 'node:test';
import vm from 'node:vm';
import {
  type Hash,
  HybridHasher,
  iterBlocks,
  MerkleTree,
  MerkleTreeShape,
  V1Hasher,
  V2Hasher,
} from '../../src/index.ts';
import { temporaryFolder } from '../support/tree.ts';

const BLOCK = 16384;
const SIZE = 100_000;
const content = Buffer.alloc(SIZE, 'content');
const sha256 = (...parts: Uint8Array[]) => createHash('sha256').update(Buffer.concat(parts)).digest();
const leaves = Array.from({ length: 7 }, (_, i) => sha256(content.subarray(i * BLOCK, (i + 1) * BLOCK)));
const zero = Buffer.alloc(32);
/** The root over hashes, a power of two in number. */
function rootOf(hashes: Uint8Array[]): Buffer {
  if (hashes.length === 1) return Buffer.from(hashes[0] as Uint8Array);
  return rootOf(hashes.flatMap((hash, i) => (i % 2 === 0 ? [sha256(hash, hashes[i + 1] as Uint8Array)] : [])));
}
const refused = (message: RegExp) => ({ name: 'MetainfoError', code: 'ERR_INVALID_ARGUMENT', message });

describe('update with chunks of iterBlocks', () => {
  for (const Hasher of [V1Hasher, V2Hasher, HybridHasher]) {
    it(`accepts an absolute path within pathRoot: ${Hasher.name}`, async (t) => {
      const pathRoot = await temporaryFolder(t);
      await mkdir(path.join(pathRoot, 'sub'));
      await writeFile(path.join(pathRoot, 'sub', 'x'), content);
      const config = { paths: ['sub/x'], pathRoot, pieceLength: BLOCK * 2 };
      const hasher = new Hasher(config);
      const hashes: Hash[] = [];
      for await (const chunk of iterBlocks(path.join(pathRoot, 'sub', 'x'))) hashes.push(...hasher.update(chunk));
      const all = hasher.complete(hashes);
      assert.deepEqual([...new Set(all.map((hash) => hash.path))], ['sub/x']);
      assert.deepEqual(all, await new Hasher(config).process());
      const chunk = { path: path.join(pathRoot, 'other'), chunk: content, idx: 0 };
      assert.throws(() => hasher.update(chunk), refused(/is not one of the hasher's paths\.$/));
    });
  }

  it('accepts bytes of another realm, but nothing else', () => {
    const foreign = vm.runInNewContext('new Uint8Array(16384)') as Uint8Array;
    const hasher = new V2Hasher({ paths: ['x'], pathRoot: '/a', pieceLength: BLOCK });
    const [hash] = hasher.update({ path: 'x', chunk: foreign, idx: 0 });
    assert.deepEqual(hash?.hash, sha256(Buffer.alloc(BLOCK)));
    assert.throws(() => hasher.update(null as never), refused(/^chunk cannot be read/));
    assert.throws(
      () => hasher.update({ path: 'x', chunk: 'x', idx: 1 } as never),
      refused(/^chunk\.chunk must be bytes/),
    );
    assert.throws(
      () => hasher.update({ path: 'x', chunk: foreign, idx: 1 }, {} as never),
      refused(/^pool must be a HashPool/),
    );
  });
});

describe('finishTrees', () => {
  it('gives the size of the file, not of its blocks', async (t) => {
    const pathRoot = await temporaryFolder(t);
    await writeFile(path.join(pathRoot, 'x'), content);
    const config = { paths: ['x'], pathRoot, pieceLength: BLOCK * 4 };
    const hasher = new V2Hasher(config);
    const first = hasher.update({ path: 'x', chunk: content.subarray(0, 5), idx: 0 });
    const rest = hasher.update({ path: 'x', chunk: content.subarray(5), idx: 1 });
    const hashes = hasher.complete([...first, ...rest]);
    const byProcess = new V2Hasher(config);
    const processed = await byProcess.process();
    for (const trees of [hasher.finishTrees(hashes), byProcess.finishTrees(processed)])
      assert.deepEqual(
        trees.map(({ shape }) => shape.fileSize),
        [SIZE],
      );
    // Of hashes from elsewhere nothing is known but their number.
    assert.equal(new V2Hasher(config).finishTrees(hashes)[0]?.shape.fileSize, 7 * BLOCK);
  });
});

describe('padded hashes', () => {
  const shape = new MerkleTreeShape({ fileSize: SIZE, pieceLength: BLOCK * 4 });
  const small = new MerkleTreeShape({ fileSize: SIZE, pieceLength: BLOCK * 16 });
  const padded = [...leaves, zero];

  it('give the same result in getRootHash', () => {
    assert.deepEqual(Buffer.from(V2Hasher.getRootHash(padded, small)), rootOf(padded));
    assert.deepEqual(
      V2Hasher.getRootHash([...padded, ...Array(8).fill(zero)], small),
      V2Hasher.getRootHash(leaves, small),
    );
    const three = new MerkleTreeShape({ fileSize: BLOCK * 10, pieceLength: BLOCK * 4 });
    const pieces = [1, 2, 3].map((byte) => Buffer.alloc(32, byte));
    const pad = rootOf([zero, zero, zero, zero]);
    const root = rootOf([...pieces, pad]);
    assert.deepEqual(Buffer.from(V2Hasher.getRootHash([...pieces, pad], three)), root);
    assert.deepEqual(Buffer.from(V2Hasher.getRootHash(pieces, three)), root);
  });

  it('give the same result in hashPieces and MerkleTree', () => {
    const expected = [rootOf(leaves.slice(0, 4)), rootOf([...leaves.slice(4), zero])];
    const pieces = V2Hasher.hashPieces(padded, shape);
    assert.deepEqual(
      [...(pieces ?? [])].map((hash) => Buffer.from(hash)),
      expected,
    );
    const tree = new MerkleTree('x', padded, shape);
    assert.equal(tree.leafHashes.length, 7);
    assert.deepEqual(Buffer.from(tree.rootHash as Uint8Array), rootOf(expected));
  });

  it('are rejected if the surplus is not padding', () => {
    for (const hashes of [[...leaves, leaves[0] as Buffer], leaves.slice(1)]) {
      assert.throws(() => V2Hasher.hashPieces(hashes, shape), refused(/^The shape has 7 leaf hashes, not [86]/));
      assert.throws(() => V2Hasher.getRootHash(hashes, small), refused(/^The shape has 7 leaf hashes, not [86]/));
    }
  });
});

describe('complete', () => {
  it('rejects invalid hashes, and hashes of other paths', () => {
    const hasher = new V2Hasher({ paths: ['x'], pathRoot: '/a', pieceLength: BLOCK });
    const good: Hash = { type: 'block', path: 'x', hash: zero, idx: 0 };
    const wrong: [hash: unknown, message: RegExp][] = [
      [null, /^hashes: expected a hash, got null\.$/],
      [{ ...good, type: 'bogus' }, /^hashes: expected the type block, v1_piece or v2_piece, got "bogus"\.$/],
      [{ ...good, idx: -1 }, /^hashes: expected an idx from 0, got -1\.$/],
      [{ ...good, hash: Buffer.alloc(20) }, /^hashes: expected a hash of 32 bytes, got 20 bytes\.$/],
      [{ ...good, path: 'y' }, /^hashes: "y" is not one of the hasher's paths\.$/],
    ];
    for (const [hash, message] of wrong) {
      assert.throws(() => hasher.complete([hash as Hash]), refused(message));
      assert.throws(() => hasher.finishTrees([hash as Hash]), refused(message));
    }
    assert.throws(() => hasher.complete(null as never), refused(/^hashes must be a list, not null\.$/));
    assert.deepEqual(hasher.complete([good]), [good]);
  });

  it('rejects null with its name, like the other functions of hashers', () => {
    assert.throws(() => new MerkleTreeShape(undefined as never), refused(/^sizes must be given/));
    assert.throws(() => new MerkleTreeShape(null as never), refused(/^sizes must be an object/));
    assert.throws(() => V2Hasher.hashRoot(null as never), refused(/^hashes must be hashes/));
    assert.throws(() => V2Hasher.getRootHash([], {} as never), refused(/^shape must be a MerkleTreeShape/));
    const hybrid = new HybridHasher({ paths: ['x'], pathRoot: '/a', pieceLength: BLOCK });
    assert.throws(() => hybrid.splitV1V2(null as never), refused(/^hashes must be a list, not null\.$/));
  });
});

describe('the configuration of a hasher', () => {
  it('rejects Python names and suggests the right ones', () => {
    const config = { paths: ['x'], pathRoot: '/a', pieceLength: BLOCK, n_processes: 2, memory_limit: 5 };
    assert.throws(() => new V2Hasher(config as never), {
      code: 'ERR_VALIDATION',
      message: /n_processes: an unknown option: did you mean threads\?.*did you mean memoryLimit\?/,
    });
  });
});
