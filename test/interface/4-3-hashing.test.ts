// Sections 2.7 and 4.3 of the interface: hashing records, hasher configuration and hashing operations.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import path from 'node:path';
import { before, describe, it } from 'node:test';
import { pathToFileURL } from 'node:url';
import {
  addPadfiles,
  BLOCK_SIZE,
  type Chunk,
  choosePieceLength,
  HASH_SIZES,
  type Hash,
  HashPool,
  HybridHasher,
  isPadFile,
  iterBlocks,
  MAX_AUTO_PIECE_LENGTH,
  MAX_PIECE_LENGTH,
  MerkleTreeShape,
  MIN_AUTO_PIECE_LENGTH,
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
/** Returns the SHA-256 of each block, computed directly from the bytes. */
const blocksOf = (bytes: Buffer) =>
  Array.from({ length: Math.ceil(bytes.length / BLOCK) }, (_, i) => sha256(bytes.subarray(i * BLOCK, (i + 1) * BLOCK)));

let pathRoot = '';
before(async () => {
  pathRoot = await temporaryFolder({ after: () => {} });
  await writeTree(pathRoot, FILES);
});

const config = (changes: object = {}) => ({ paths: NAMES, pathRoot, pieceLength: PIECE, ...changes });
const HASHERS = { V1Hasher, V2Hasher, HybridHasher };

/** Passes all chunks of the files to `update` and calls `complete`. */
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
    it(`${name}: requires relative paths and a root`, () => {
      assert.deepEqual(codesOf(Hasher, {}), []);
      assert.deepEqual(codesOf(Hasher, { paths: ['/a'] }), ['paths']);
      assert.deepEqual(codesOf(Hasher, { pathRoot: '' }), ['path_root']);
      assert.deepEqual(codesOf(Hasher, { paths: undefined }), ['paths']);
    });

    it(`${name}: requires a piece length that is a power of two`, () => {
      for (const pieceLength of [undefined, 0, 3, PIECE + 1])
        assert.deepEqual(codesOf(Hasher, { pieceLength }), ['piece_length']);
      assert.deepEqual(codesOf(Hasher, { pieceLength: 8192 }), name === 'V1Hasher' ? [] : ['piece_length']);
    });

    it(`${name}: uses one thread and no progress by default`, () => {
      const { threads, progress, memoryLimit } = new Hasher(config());
      assert.deepEqual([threads, progress, memoryLimit], [1, false, null]);
    });
  }

  it('uses the piece length as read_size by default in v1', () => assert.equal(new V1Hasher(config()).readSize, PIECE));

  it('requires a read_size of v2 and hybrid that is a power of two and divisible by 16 KiB', () => {
    for (const Hasher of [V2Hasher, HybridHasher]) {
      for (const readSize of [8192, 3 * BLOCK, 0]) assert.deepEqual(codesOf(Hasher, { readSize }), ['read_size']);
      assert.equal(new Hasher(config({ readSize: BLOCK })).readSize, BLOCK);
    }
  });

  it('sort_paths: sorts in v1 and hybrid, keeps the order in v2', () => {
    const paths = ['d/x', 'B', 'a'];
    assert.deepEqual(new V1Hasher(config({ paths })).paths, ['a', 'B', 'd/x']);
    assert.deepEqual(new V2Hasher(config({ paths })).paths, paths);
    assert.notDeepEqual(new HybridHasher(config({ paths })).paths, paths);
  });
});

describe('4.3 iter_blocks', () => {
  it('yields one chunk for each block of 16 KiB, with path and index', async () => {
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
  it('v1: return pieces with their index across all files', async () => {
    const all = Buffer.concat([FILES.a, FILES.b]);
    const hashes = await hashAll(new V1Hasher(config()), PIECE);
    assert.ok(hashes.every(({ type }) => type === 'v1_piece'));
    assert.deepEqual(
      hashes.map(({ idx, hash }) => [idx, Buffer.from(hash)]),
      [0, 1, 2, 3].map((i) => [i, sha1(all.subarray(i * PIECE, (i + 1) * PIECE))]),
    );
  });

  it('v2: return blocks with their index in the file', async () => {
    const hashes = await hashAll(new V2Hasher(config()), BLOCK);
    const expected = NAMES.flatMap((name) =>
      blocksOf(FILES[name as 'a']).map((hash, idx) => ['block', name, idx, hash] as const),
    );
    assert.deepEqual(
      hashes.map(({ type, path: name, idx, hash }) => [type, name, idx, Buffer.from(hash)]),
      expected,
    );
  });

  it('return the same hashes asynchronously with a pool', async () => {
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

  it('hash_root: returns the root of a layer', () => {
    assert.deepEqual(Buffer.from(V2Hasher.hashRoot(pieces)), root);
    assert.deepEqual(Buffer.from(V2Hasher.hashRoot([leaves[0] as Buffer])), leaves[0]);
  });

  it('hash_pieces: returns the piece layer, or null', () => {
    assert.deepEqual(
      [...(V2Hasher.hashPieces(leaves, shape) ?? [])].map((hash) => Buffer.from(hash)),
      pieces,
    );
    const small = new MerkleTreeShape({ fileSize: 100, pieceLength: PIECE });
    assert.equal(V2Hasher.hashPieces(blocksOf(FILES.b), small), null);
  });

  it('get_root_hash: balances the tree of piece hashes with zero pieces', () => {
    assert.deepEqual(Buffer.from(V2Hasher.getRootHash(pieces, shape)), root);
    const three = new MerkleTreeShape({ fileSize: 3 * PIECE, pieceLength: PIECE });
    const zeroPiece = sha256(ZERO, ZERO);
    const expected = sha256(sha256(pieces[0] as Buffer, pieces[1] as Buffer), sha256(pieces[2] as Buffer, zeroPiece));
    assert.deepEqual(Buffer.from(V2Hasher.getRootHash(pieces.slice(0, 3), three)), expected);
  });

  it('get_root_hash: takes the hashes as blocks if there are zero pieces', () => {
    const large = new MerkleTreeShape({ fileSize: 3 * BLOCK, pieceLength: 8 * BLOCK });
    const [x, y, z] = leaves as [Buffer, Buffer, Buffer];
    // BEP 52 and libtorrent pad to a power of two blocks, not to a whole piece: see docs/names.md.
    const expected = sha256(sha256(x, y), sha256(z, ZERO));
    assert.deepEqual(Buffer.from(V2Hasher.getRootHash([x, y, z], large)), expected);
    assert.deepEqual(Buffer.from(V2Hasher.getRootHash([x, y, z, ZERO], large)), expected);
  });

  it('finish_trees: returns one tree for each path, with its root', async () => {
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
  it('adds a pad file after every file that does not end at the end of a piece', () => {
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
  it('returns the v2 layers and the sorted v1 pieces, as generate does', async () => {
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

describe('4.3 one file in one call', () => {
  for (const [name, bytes] of Object.entries({ ...FILES, empty: Buffer.alloc(0), piece: content(PIECE, 3) }))
    it(`gives the Merkle tree of a file of ${bytes.length} bytes`, async (t) => {
      const folder = await temporaryFolder(t);
      await writeTree(folder, { [name]: bytes, z: 'a torrent needs content' });
      const file = path.join(folder, name);
      const tree = await V2Hasher.hashFile(file, PIECE);
      assert.deepEqual([tree.path, tree.shape.fileSize], [name, bytes.length]);
      assert.deepEqual([...tree.leafHashes].map(Buffer.from), blocksOf(bytes));
      const torrent = await new TorrentCreate({ pathRoot: folder, pieceLength: PIECE }).generate({ version: 'v2' });
      assert.deepEqual(tree.rootHash, torrent.files[0]?.piecesRoot ?? null);
      const layer = tree.rootHash && torrent.pieceLayers?.get(Buffer.from(tree.rootHash).toString('hex'));
      assert.deepEqual(tree.pieceHashes?.bytes, layer?.bytes);
    });

  it('takes a URL, and reports progress', async () => {
    const seen: number[] = [];
    const onProgress = ({ bytes }: { bytes: number }) => seen.push(bytes);
    const tree = await V2Hasher.hashFile(pathToFileURL(path.join(pathRoot, 'a')), PIECE, { onProgress });
    assert.equal(tree.pieceHashes?.length, 4);
    assert.equal(seen.at(-1), FILES.a.length);
  });

  it('fails for what is no file, a wrong piece length, and an aborted signal', async () => {
    const file = path.join(pathRoot, 'a');
    await assert.rejects(V2Hasher.hashFile(path.join(pathRoot, 'none'), PIECE), { code: 'ERR_NOT_FOUND' });
    await assert.rejects(V2Hasher.hashFile(pathRoot, PIECE), { code: 'ERR_NOT_A_FILE' });
    await assert.rejects(V2Hasher.hashFile(5 as never, PIECE), { code: 'ERR_INVALID_ARGUMENT' });
    for (const wrong of [undefined, BLOCK / 2, PIECE + 1])
      await assert.rejects(V2Hasher.hashFile(file, wrong as never), { code: 'ERR_VALIDATION' });
    await assert.rejects(V2Hasher.hashFile(file, PIECE, { signal: AbortSignal.abort() }), { code: 'ERR_ABORTED' });
  });
});

describe('8 Limits', () => {
  it('has the sizes as constants', () => {
    assert.equal(BLOCK_SIZE, BLOCK);
    assert.deepEqual(HASH_SIZES, { block: 32, v1_piece: 20, v2_piece: 32 });
    assert.equal(choosePieceLength(1), MIN_AUTO_PIECE_LENGTH);
    assert.equal(choosePieceLength(Number.MAX_SAFE_INTEGER), MAX_AUTO_PIECE_LENGTH);
    const shapeOf = (pieceLength: number) => () => new MerkleTreeShape({ fileSize: 1, pieceLength });
    for (const allowed of [BLOCK_SIZE, MAX_PIECE_LENGTH]) shapeOf(allowed)();
    for (const refused of [BLOCK_SIZE / 2, 2 * MAX_PIECE_LENGTH])
      assert.throws(shapeOf(refused), { code: 'ERR_PIECE_LENGTH' });
  });
});
