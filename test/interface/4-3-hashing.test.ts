// Sections 2.7 and 4.3 of the interface: hashing records, hasher configuration and hashing operations.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import path from 'node:path';
import { before, describe, it } from 'node:test';
import {
  addPadfiles,
  type Chunk,
  type Hash,
  HashPool,
  HybridHasher,
  isPadFile,
  iterBlocks,
  MerkleTreeShape,
  TorrentCreate,
  V1Hasher,
  V2Hasher,
  ValidationError,
} from '../../src/index.ts';
import { content } from '../support/generated.ts';
import { temporaryFolder, writeTree } from '../support/tree.ts';

const BLOCK = 16_384;
const PIECE = 2 * BLOCK;
const NAMES = ['a', 'b'];
const FILES = { a: content(3 * PIECE + 5, 1), b: content(100, 2) };
const sha1 = (...parts: Uint8Array[]) => createHash('sha1').update(Buffer.concat(parts)).digest();
const sha256 = (...parts: Uint8Array[]) => createHash('sha256').update(Buffer.concat(parts)).digest();
const ZERO = Buffer.alloc(32);
/** SHA-256 of each block, straight from the bytes. */
const blocksOf = (bytes: Buffer) =>
  Array.from({ length: Math.ceil(bytes.length / BLOCK) }, (_, i) => sha256(bytes.subarray(i * BLOCK, (i + 1) * BLOCK)));

let pathRoot = '';
before(async () => {
  pathRoot = await temporaryFolder({ after: () => {} });
  await writeTree(pathRoot, FILES);
});

const config = (changes: object = {}) => ({ paths: NAMES, pathRoot, pieceLength: PIECE, ...changes });
const HASHERS = { V1Hasher, V2Hasher, HybridHasher };

/** Feeds all chunks of the files and completes. */
async function hashAll(hasher: V1Hasher | V2Hasher | HybridHasher, readSize: number): Promise<Hash[]> {
  const hashes: Hash[] = [];
  for (const name of hasher.paths)
    for await (const chunk of iterBlocks(path.join(pathRoot, name), { readSize }))
      hashes.push(...hasher.update({ ...chunk, path: name }));
  return hasher.complete(hashes);
}

function codesOf(Hasher: (typeof HASHERS)[keyof typeof HASHERS], changes: object): string[] {
  try {
    new Hasher(config(changes) as never);
    return [];
  } catch (error) {
    assert.ok(error instanceof ValidationError, String(error));
    return error.issues.map(({ code }) => code);
  }
}

describe('2.7 Hasher configuration', () => {
  for (const [name, Hasher] of Object.entries(HASHERS)) {
    it(`${name}: paths are relative, the root is absolute`, () => {
      assert.deepEqual(codesOf(Hasher, {}), []);
      assert.deepEqual(codesOf(Hasher, { paths: ['/a'] }), ['paths']);
      assert.deepEqual(codesOf(Hasher, { pathRoot: 'relative' }), ['path_root']);
      assert.deepEqual(codesOf(Hasher, { paths: undefined }), ['paths']);
    });

    it(`${name}: piece length is a power of two`, () => {
      for (const pieceLength of [undefined, 0, 3, PIECE + 1])
        assert.deepEqual(codesOf(Hasher, { pieceLength }), ['piece_length']);
      assert.deepEqual(codesOf(Hasher, { pieceLength: 8192 }), name === 'V1Hasher' ? [] : ['piece_length']);
    });

    it(`${name}: one thread and no progress by default`, () => {
      const { threads, progress, memoryLimit } = new Hasher(config());
      assert.deepEqual([threads, progress, memoryLimit], [1, false, null]);
    });
  }

  it('read_size is the piece length by default in v1', () => assert.equal(new V1Hasher(config()).readSize, PIECE));

  it('read_size of v2 and hybrid is a power of two divisible by 16 KiB', () => {
    for (const Hasher of [V2Hasher, HybridHasher]) {
      for (const readSize of [8192, 3 * BLOCK, 0]) assert.deepEqual(codesOf(Hasher, { readSize }), ['read_size']);
      assert.equal(new Hasher(config({ readSize: BLOCK })).readSize, BLOCK);
    }
  });

  it('sort_paths: v1 and hybrid sort, v2 keeps the order', () => {
    const paths = ['d/x', 'B', 'a'];
    assert.deepEqual(new V1Hasher(config({ paths })).paths, ['a', 'B', 'd/x']);
    assert.deepEqual(new V2Hasher(config({ paths })).paths, paths);
    assert.notDeepEqual(new HybridHasher(config({ paths })).paths, paths);
  });
});

describe('4.3 iter_blocks', () => {
  it('gives one chunk for each block of 16 KiB, with path and index', async () => {
    const file = path.join(pathRoot, 'a');
    const chunks: Chunk[] = [];
    for await (const chunk of iterBlocks(file)) chunks.push(chunk);
    assert.deepEqual(Buffer.concat(chunks.map(({ chunk }) => chunk)), FILES.a);
    assert.deepEqual(
      chunks.map(({ path: name, chunk, idx }) => [name, chunk.length, idx]),
      [0, 1, 2, 3, 4, 5, 6].map((idx) => [file, idx < 6 ? BLOCK : 5, idx]),
    );
  });
});

describe('4.3 update and complete', () => {
  it('v1: pieces with their absolute index across all files', async () => {
    const all = Buffer.concat([FILES.a, FILES.b]);
    const hashes = await hashAll(new V1Hasher(config()), PIECE);
    assert.ok(hashes.every(({ type }) => type === 'v1_piece'));
    assert.deepEqual(
      hashes.map(({ idx, hash }) => [idx, Buffer.from(hash)]),
      [0, 1, 2, 3].map((i) => [i, sha1(all.subarray(i * PIECE, (i + 1) * PIECE))]),
    );
  });

  it('v2: blocks with their index in the file', async () => {
    const hashes = await hashAll(new V2Hasher(config()), BLOCK);
    const expected = NAMES.flatMap((name) =>
      blocksOf(FILES[name as 'a']).map((hash, idx) => ['block', name, idx, hash] as const),
    );
    assert.deepEqual(
      hashes.map(({ type, path: name, idx, hash }) => [type, name, idx, Buffer.from(hash)]),
      expected,
    );
  });

  it('with a pool: asynchronous results of the same hashes', async () => {
    const pool = new HashPool({ threads: 2 });
    const hasher = new V2Hasher(config());
    const results: Promise<Hash>[] = [];
    for await (const chunk of iterBlocks(path.join(pathRoot, 'a')))
      results.push(...hasher.update({ ...chunk, path: 'a' }, pool));
    const hashes = hasher.complete(await Promise.all(results));
    assert.deepEqual(
      hashes.map(({ hash }) => Buffer.from(hash)),
      blocksOf(FILES.a),
    );
  });
});

describe('4.3 trees', () => {
  const leaves = blocksOf(FILES.a);
  const shape = new MerkleTreeShape({ fileSize: FILES.a.length, pieceLength: PIECE });
  const pieces = [0, 2, 4, 6].map((i) => sha256(leaves[i] as Buffer, leaves[i + 1] ?? ZERO));
  const root = sha256(
    sha256(pieces[0] as Buffer, pieces[1] as Buffer),
    sha256(pieces[2] as Buffer, pieces[3] as Buffer),
  );

  it('hash_root: the root over a layer', () => {
    assert.deepEqual(Buffer.from(V2Hasher.hashRoot(pieces)), root);
    assert.deepEqual(Buffer.from(V2Hasher.hashRoot([leaves[0] as Buffer])), leaves[0]);
  });

  it('hash_pieces: the layer of pieces, or none', () => {
    assert.deepEqual(
      [...(V2Hasher.hashPieces(leaves, shape) ?? [])].map((hash) => Buffer.from(hash)),
      pieces,
    );
    const small = new MerkleTreeShape({ fileSize: 100, pieceLength: PIECE });
    assert.equal(V2Hasher.hashPieces(blocksOf(FILES.b), small), null);
  });

  it('get_root_hash: from piece hashes, with the zero pieces that balance the tree', () => {
    assert.deepEqual(Buffer.from(V2Hasher.getRootHash(pieces, shape)), root);
    const three = new MerkleTreeShape({ fileSize: 3 * PIECE, pieceLength: PIECE });
    const zeroPiece = sha256(ZERO, ZERO);
    const expected = sha256(sha256(pieces[0] as Buffer, pieces[1] as Buffer), sha256(pieces[2] as Buffer, zeroPiece));
    assert.deepEqual(Buffer.from(V2Hasher.getRootHash(pieces.slice(0, 3), three)), expected);
  });

  it('get_root_hash: with zero pieces the hashes are the blocks', () => {
    const large = new MerkleTreeShape({ fileSize: 3 * BLOCK, pieceLength: 8 * BLOCK });
    const [x, y, z] = leaves as [Buffer, Buffer, Buffer];
    // BEP 52 and libtorrent complete to a power of two of blocks, not to a whole piece: docs/names.md.
    const expected = sha256(sha256(x, y), sha256(z, ZERO));
    assert.deepEqual(Buffer.from(V2Hasher.getRootHash([x, y, z], large)), expected);
    assert.deepEqual(Buffer.from(V2Hasher.getRootHash([x, y, z, ZERO], large)), expected);
  });

  it('finish_trees: one tree for each path, with its root', async () => {
    const hasher = new V2Hasher(config());
    const trees = hasher.finishTrees(await hashAll(hasher, BLOCK));
    assert.deepEqual(
      trees.map((tree) => [tree.path, Buffer.from(tree.rootHash ?? [])]),
      [
        ['a', root],
        ['b', sha256(FILES.b)],
      ],
    );
  });
});

describe('4.3 add_padfiles', () => {
  it('puts a pad after every file that does not end with a piece', () => {
    const files = [
      { length: 5, path: ['a'] },
      { length: PIECE, path: ['b'] },
      { length: 7, path: ['c'] },
    ];
    const padded = addPadfiles(files, PIECE);
    assert.deepEqual(
      padded.map((file) => [isPadFile(file), file.length]),
      [
        [false, 5],
        [true, PIECE - 5],
        [false, PIECE],
        [false, 7],
        [true, PIECE - 7],
      ],
    );
    assert.deepEqual(padded[1]?.path, ['.pad', String(PIECE - 5)]);
  });
});

describe('4.3 split_v1_v2', () => {
  it('gives the v2 layers and the sorted v1 pieces, as a creation has them', async () => {
    const hasher = new HybridHasher(config());
    const [pieceLayers, pieces] = hasher.splitV1V2(await hashAll(hasher, PIECE));
    const made = await new TorrentCreate({ pathRoot, pieceLength: PIECE }).generate({ version: 'hybrid' });
    assert.ok(made.torrentVersion === 'hybrid');
    assert.deepEqual(Buffer.from(pieces.bytes), Buffer.from(made.info.pieces.bytes));
    assert.deepEqual(
      [...pieceLayers].map(([key, layer]) => [key, Buffer.from(layer.bytes)]),
      [...(made.pieceLayers ?? [])].map(([key, layer]) => [key, Buffer.from(layer.bytes)]),
    );
  });
});
