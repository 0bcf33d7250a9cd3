/** The hasher of hybrid torrents. */
import type { ScannedFile } from '../disk/scan.ts';
import { toHex } from '../errors/errors.ts';
import { HashList } from '../model/hash-list.ts';
import type { PieceLayers } from '../model/piece-layers.ts';
import type { HasherConfig } from './config.ts';
import { HasherBase, type HasherRequest, type HashUnit } from './hasher-base.ts';
import type { Chunk, Hash } from './records.ts';
import { Pieces, v1Request } from './v1-hasher.ts';
import { Blocks, blocksRequest, finishTrees } from './v2-hasher.ts';

/**
 * Hashes v1 pieces and v2 blocks (BEP 52). Every file starts at a piece boundary, so the last piece of a file is filled with the
 * zeros of a pad file, unless it is the only file. It sorts its paths into the order of a v2 tree, which v1 must have too.
 *
 * @example
 * ```ts
 * import path from 'node:path';
 * import { HybridHasher } from 'metainfo';
 *
 * const hasher = new HybridHasher({ paths: ['film.mkv'], pathRoot: path.resolve('.'), pieceLength: 2 ** 20 });
 * const [pieceLayers, pieces] = hasher.splitV1V2(await hasher.process());
 * console.log(pieceLayers.size, pieces.length);
 * ```
 * ```text
 * 1 3
 * ```
 */
export class HybridHasher extends HasherBase {
  readonly #blocks = new Blocks();
  readonly #pieces: Pieces;

  /** @throws {ValidationError} with every rule that the configuration breaks */
  constructor(config: HasherConfig) {
    super(config, 'hybrid');
    this.#pieces = new Pieces(this.paths, this.pieceLength, this.paths.length > 1 ? this.pieceLength : 0);
  }

  /** @internal */
  protected override take(chunk: Chunk): HashUnit[] {
    return [...this.#pieces.take(chunk, this.placeOf(chunk.path)), ...this.#blocks.take(chunk)];
  }

  /** @internal */
  protected override rest(): HashUnit[] {
    return [...this.#pieces.rest(), ...this.#blocks.rest()];
  }

  /** @internal */
  protected override requests(files: readonly ScannedFile[]): HasherRequest[] {
    return [v1Request(files, files.length > 1 ? files.length : 0, this), blocksRequest(files, this)];
  }

  /**
   * Sorts hashes into the two forms that a hybrid torrent stores.
   *
   * @param hashes Hashes of types `block` and `v1_piece` of all files, in any order.
   * @returns the `piece layers`, and `pieces` in order
   */
  splitV1V2(hashes: readonly Hash[]): [pieceLayers: PieceLayers, pieces: HashList] {
    // This also checks all hashes.
    const trees = finishTrees(hashes, this);
    const layers = new Map<string, HashList>();
    for (const { pieceHashes, rootHash } of trees)
      if (pieceHashes && rootHash) layers.set(toHex(rootHash), pieceHashes);
    const pieces = hashes.filter(({ type }) => type === 'v1_piece').toSorted((a, b) => a.idx - b.idx);
    const pieceHashes = pieces.map(({ hash }) => hash);
    return [layers, new HashList(pieceHashes, 20)];
  }
}
