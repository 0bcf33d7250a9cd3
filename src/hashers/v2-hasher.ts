/** The hasher of v2 torrents. */
import path from 'node:path';
import type { ScannedFile } from '../disk/scan.ts';
import { checkedPath } from '../errors/guard.ts';
import { layerCount } from '../hash/hash-request.ts';
import { toRequestedFile } from '../hash/make-requested-files.ts';
import { BLOCK_SIZE } from '../layout/piece-length.ts';
import type { HashList } from '../model/hash-list.ts';
import { copyOf } from '../platform/node.ts';
import { ChunkSplitter } from './chunk-splitter.ts';
import type { HasherConfig } from './config.ts';
import { HasherBase, type HasherRequest, type HashUnit, type ProcessOptions } from './hasher-base.ts';
import { getRootHash, hashPieces, hashRoot, MerkleTree, MerkleTreeShape } from './merkle-tree.ts';
import type { Chunk, Hash } from './records.ts';

/**
 * Hashes v2 blocks (BEP 52): SHA-256 of every 16 KiB of every file. {@link V2Hasher.finishTrees} makes the Merkle trees.
 *
 * @example
 * ```ts
 * import path from 'node:path';
 * import { V2Hasher } from 'metainfo';
 *
 * const hasher = new V2Hasher({ paths: ['film.mkv'], pathRoot: path.resolve('.'), pieceLength: 2 ** 20 });
 * const [tree] = hasher.finishTrees(await hasher.process());
 * console.log(tree?.leafHashes.length, tree?.pieceHashes?.length);
 * ```
 * ```text
 * 184 3
 * ```
 */
export class V2Hasher extends HasherBase {
  readonly #blocks = new Blocks();

  /** @throws {ValidationError} with every rule that the configuration breaks */
  constructor(config: HasherConfig) {
    super(config, 'v2');
  }

  /** @internal */
  protected override take(chunk: Chunk): HashUnit[] {
    return this.#blocks.take(chunk);
  }

  /** @internal */
  protected override rest(): HashUnit[] {
    return this.#blocks.rest();
  }

  /** @internal */
  protected override requests(files: readonly ScannedFile[]): HasherRequest[] {
    return [blocksRequest(files, this)];
  }

  /**
   * Makes the Merkle tree of each file that has blocks, in the order of the paths. It does not check whether blocks are missing.
   * The size of a file comes from its chunks or from {@link HasherBase.process}. Without either, the last block counts as full.
   *
   * @param leafHashes Hashes of type `block`, in any order; others are ignored.
   */
  finishTrees(leafHashes: readonly Hash[]): MerkleTree[] {
    return finishTrees(leafHashes, this);
  }

  /**
   * Hashes a file on disk into its Merkle tree: the pieces root, the piece layer and the leaves.
   *
   * @example
   * ```ts
   * import { V2Hasher } from 'metainfo';
   *
   * const { rootHash, pieceHashes } = await V2Hasher.hashFile('film.mkv', 2 ** 20);
   * console.log(rootHash?.length, pieceHashes?.length); // 32 3
   * ```
   *
   * @param file The path or `file:` URL of the file. Its name is the path of the tree.
   * @param pieceLength Bytes: a power of two of at least 16 KiB.
   * @throws as the constructor and {@link HasherBase.process}
   */
  static async hashFile(file: string | URL, pieceLength: number, options?: ProcessOptions): Promise<MerkleTree> {
    const { dir: pathRoot, base: name } = path.parse(path.resolve(checkedPath(file)));
    const hasher = new V2Hasher({ paths: [name], pathRoot, pieceLength });
    const [tree] = hasher.finishTrees(await hasher.process(options));
    // An empty file has no blocks.
    return tree ?? new MerkleTree(name, [], new MerkleTreeShape({ fileSize: 0, pieceLength }));
  }

  /**
   * Computes the root over a full layer of a tree.
   *
   * @param hashes 32 bytes each; a power of two in number.
   * @returns 32 bytes
   * @throws {MetainfoError} `ERR_INVALID_ARGUMENT` if the number of hashes is 0 or not a power of two, or a hash has another size
   */
  static hashRoot(hashes: Iterable<Uint8Array>): Uint8Array {
    return hashRoot(hashes);
  }

  /**
   * Computes the pieces root of a file (BEP 52).
   *
   * @param pieceHashes The hashes of all pieces, 32 bytes each; the hashes of all blocks if the shape has no pieces. They are
   *   padded to a power of two with the hashes of zero pieces or zero blocks. Hashes that are padded already are accepted.
   * @returns 32 bytes
   * @throws {MetainfoError} `ERR_INVALID_ARGUMENT` if the number of hashes does not match the shape, or the file is empty
   */
  static getRootHash(pieceHashes: Iterable<Uint8Array>, shape: MerkleTreeShape): Uint8Array {
    return getRootHash(pieceHashes, shape);
  }

  /**
   * Computes the piece layer of a file (BEP 52), as it is in `piece layers`.
   *
   * @param leafHashes The hashes of all blocks, 32 bytes each; the hashes of zero blocks (32 zero bytes) may follow.
   * @returns 32 bytes per piece; null if the file is not longer than a piece
   * @throws {MetainfoError} `ERR_INVALID_ARGUMENT` if the number of hashes does not match the shape
   */
  static hashPieces(leafHashes: Iterable<Uint8Array>, shape: MerkleTreeShape): HashList | null {
    return hashPieces(leafHashes, shape);
  }
}

/** Splits the chunks of several files into blocks, each file by itself. */
export class Blocks {
  readonly #files = new Map<string, { blocks: ChunkSplitter; idx: number }>();

  take({ path, chunk }: Chunk): HashUnit[] {
    let file = this.#files.get(path);
    if (!file) {
      file = { blocks: new ChunkSplitter(BLOCK_SIZE), idx: 0 };
      this.#files.set(path, file);
    }
    const first = file.idx;
    const units = file.blocks.push(chunk).map((bytes, i) => blockOf(path, bytes, first + i));
    file.idx += units.length;
    return units;
  }

  rest(): HashUnit[] {
    const units = [...this.#files].flatMap(([path, { blocks, idx }]) => {
      const rest = blocks.rest();
      return rest ? [blockOf(path, rest, idx)] : [];
    });
    this.#files.clear();
    return units;
  }
}

function blockOf(path: string, bytes: Uint8Array, idx: number): HashUnit {
  return { bytes, of: { type: 'block', path, idx } };
}

/** Plans the block hashes of files. With pieces of one block, the piece layers of an engine are the leaves. */
export function blocksRequest(files: readonly ScannedFile[], { paths }: Pick<HasherBase, 'paths'>): HasherRequest {
  const request = files.map(toRequestedFile);
  const hashes: HasherRequest['hashes'] = ({ v2 }) => {
    const { roots, layers } = v2 as NonNullable<typeof v2>;
    const result: Hash[] = [];
    let at = 0;
    for (const [i, file] of request.entries()) {
      const path = paths[i] as string;
      const count = layerCount(file, BLOCK_SIZE);
      if (count === 0 && file.length > 0)
        result.push({ type: 'block', path, hash: copyOf(roots.subarray(i * 32, (i + 1) * 32)), idx: 0 });
      for (let idx = 0; idx < count; idx += 1, at += 32)
        result.push({ type: 'block', path, hash: copyOf(layers.subarray(at, at + 32)), idx });
    }
    return result;
  };
  return { request: { files: request, version: 'v2', pieceLength: BLOCK_SIZE }, hashes };
}

/** @internal See {@link V2Hasher.finishTrees}. */
export function finishTrees(
  hashes: readonly Hash[],
  hasher: Pick<HasherBase, 'paths' | 'pieceLength' | 'sizeOf' | 'requireHashes'>,
): MerkleTree[] {
  hasher.requireHashes(hashes);
  const { paths, pieceLength } = hasher;
  const byPath = new Map<string, Hash[]>(paths.map((path) => [path, []]));
  for (const hash of hashes) if (hash.type === 'block') byPath.get(hash.path)?.push(hash);
  // If the leaves come from elsewhere, the length of the last block is unknown.
  const sizeOf = (path: string, blocks: number) => {
    const size = hasher.sizeOf(path);
    return size !== undefined && Math.ceil(size / BLOCK_SIZE) === blocks ? size : blocks * BLOCK_SIZE;
  };
  return [...byPath].flatMap(([path, leaves]) => {
    if (leaves.length === 0) return [];
    const sorted = leaves.toSorted((a, b) => a.idx - b.idx).map(({ hash }) => hash);
    return [new MerkleTree(path, sorted, new MerkleTreeShape({ fileSize: sizeOf(path, sorted.length), pieceLength }))];
  });
}
