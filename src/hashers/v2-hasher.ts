import type { ScannedFile } from '../disk/scan.ts';
import { toPlanFile } from '../hash/file-plan.ts';
import { layerCount } from '../hash/plan.ts';
import { BLOCK_SIZE } from '../layout/piece-length.ts';
import type { HashList } from '../model/hash-list.ts';
import type { HasherConfig } from './config.ts';
import { Gatherer } from './gatherer.ts';
import { HasherBase, type HasherPlan, type HashUnit } from './hasher-base.ts';
import { getRootHash, hashPieces, hashRoot, MerkleTree, MerkleTreeShape } from './merkle-tree.ts';
import type { Chunk, Hash } from './records.ts';

/** Larger reads gain nothing. */
const READ_SIZE = 2 ** 20;

/** SHA-256 of every block of 16 KiB of every file, and the Merkle trees above them (BEP 52). */
export class V2Hasher extends HasherBase {
  readonly #blocks = new Blocks();

  /** @throws {ValidationError} with every rule that the configuration breaks */
  constructor(config: HasherConfig) {
    super(config, 'v2');
  }

  /** The larger of the piece length and 1 MiB. */
  protected override defaultReadSize(pieceLength: number): number {
    return Math.max(pieceLength, READ_SIZE);
  }

  protected override take(chunk: Chunk): HashUnit[] {
    return this.#blocks.take(chunk);
  }

  protected override rest(): HashUnit[] {
    return this.#blocks.rest();
  }

  protected override parts(files: readonly ScannedFile[]): HasherPlan[] {
    return [blocksPart(files, this)];
  }

  /**
   * The tree of each file that has blocks, in the order of the paths. Whether all blocks are there is not looked at. The
   * size of a file is the one that this hasher has seen, in its chunks or in {@link HasherBase.process}; of hashes that come
   * from elsewhere it is that of whole blocks.
   *
   * @param leafHashes Hashes of type `block`, in any order; others are passed over.
   */
  finishTrees(leafHashes: readonly Hash[]): MerkleTree[] {
    return finishTrees(leafHashes, this);
  }

  /**
   * The root over a whole layer of a tree.
   *
   * @param hashes 32 bytes each; a power of two in number.
   * @returns 32 bytes
   * @throws {MetainfoError} `ERR_INVALID_ARGUMENT` for another number, 0 too, or another size
   */
  static hashRoot(hashes: Iterable<Uint8Array>): Uint8Array {
    return hashRoot(hashes);
  }

  /**
   * The pieces root of a file (BEP 52).
   *
   * @param pieceHashes Of all its pieces, 32 bytes each; of all its blocks where the shape has no pieces. What is missing to
   *   a power of two is completed: with pieces of zero blocks, or with zero blocks. Hashes that are padded so already are taken.
   * @returns 32 bytes
   * @throws {MetainfoError} `ERR_INVALID_ARGUMENT` for another number than the shape has, or an empty file
   */
  static getRootHash(pieceHashes: Iterable<Uint8Array>, shape: MerkleTreeShape): Uint8Array {
    return getRootHash(pieceHashes, shape);
  }

  /**
   * The layer of pieces of a file (BEP 52): what stands in `piece layers`.
   *
   * @param leafHashes Of all its blocks, 32 bytes each; the hashes of zero blocks (32 zero bytes) may follow.
   * @returns 32 bytes a piece; null for a file that is no longer than a piece
   * @throws {MetainfoError} `ERR_INVALID_ARGUMENT` for another number than the shape has
   */
  static hashPieces(leafHashes: Iterable<Uint8Array>, shape: MerkleTreeShape): HashList | null {
    return hashPieces(leafHashes, shape);
  }
}

/** Blocks of several files, each cut by itself. */
export class Blocks {
  readonly #files = new Map<string, { blocks: Gatherer; idx: number }>();

  take({ path, chunk }: Chunk): HashUnit[] {
    let file = this.#files.get(path);
    if (!file) {
      file = { blocks: new Gatherer(BLOCK_SIZE), idx: 0 };
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

/** With pieces of one block, an engine's layers are the leaves. */
export function blocksPart(files: readonly ScannedFile[], { paths }: Pick<HasherBase, 'paths'>): HasherPlan {
  const plan = files.map(toPlanFile);
  const hashes: HasherPlan['hashes'] = ({ v2 }) => {
    const { roots, layers } = v2 as NonNullable<typeof v2>;
    const result: Hash[] = [];
    let at = 0;
    for (const [i, file] of plan.entries()) {
      const path = paths[i] as string;
      const count = layerCount(file, BLOCK_SIZE);
      if (count === 0 && file.length > 0)
        result.push({ type: 'block', path, hash: roots.subarray(i * 32, (i + 1) * 32), idx: 0 });
      for (let idx = 0; idx < count; idx += 1, at += 32)
        result.push({ type: 'block', path, hash: layers.subarray(at, at + 32), idx });
    }
    return result;
  };
  return { plan: { files: plan, version: 'v2', pieceLength: BLOCK_SIZE }, hashes };
}

/** See {@link V2Hasher.finishTrees}. */
export function finishTrees(
  hashes: readonly Hash[],
  hasher: Pick<HasherBase, 'paths' | 'pieceLength' | 'sizeOf' | 'requireHashes'>,
): MerkleTree[] {
  hasher.requireHashes(hashes);
  const { paths, pieceLength } = hasher;
  const byPath = new Map<string, Hash[]>(paths.map((path) => [path, []]));
  for (const hash of hashes) if (hash.type === 'block') byPath.get(hash.path)?.push(hash);
  // Where the leaves come from elsewhere, nothing tells how long the last block is.
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
