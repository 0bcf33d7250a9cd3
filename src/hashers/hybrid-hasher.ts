import type { ScannedFile } from '../disk/scan.ts';
import { MetainfoError, toHex } from '../errors/errors.ts';
import { padPlanFile, toPlanFile } from '../hash/file-plan.ts';
import { sortV2 } from '../layout/order.ts';
import { HashList } from '../model/hash-list.ts';
import type { PieceLayers } from '../model/piece-layers.ts';
import type { HasherConfig } from './config.ts';
import { Gatherer } from './gatherer.ts';
import { HasherBase, type HasherPlan, type HashUnit } from './hasher-base.ts';
import type { Chunk, Hash } from './records.ts';
import { v1Part } from './v1-hasher.ts';
import { Blocks, blocksPart, finishTrees } from './v2-hasher.ts';

/**
 * Both: SHA-1 of pieces and SHA-256 of blocks. Every file begins with a piece, so its last one is completed with the zeros
 * of a pad, unless it is the only file (BEP 52). Its paths are put into the order of a v2 tree, which both descriptions
 * must have.
 */
export class HybridHasher extends HasherBase {
  readonly #blocks = new Blocks();
  readonly #pieces: Gatherer;
  /** The file whose pieces are being gathered. */
  #path = '';
  #idx = 0;
  #place = 0;

  /** @throws {ValidationError} with every rule that the configuration breaks */
  constructor(config: HasherConfig) {
    super(config, 'hybrid');
    this.#pieces = new Gatherer(this.pieceLength);
  }

  protected override sortPaths(paths: readonly string[]): readonly string[] {
    return sortV2(paths);
  }

  protected override take(chunk: Chunk): HashUnit[] {
    const place = this.placeOf(chunk.path);
    if (place < this.#place) {
      const message = `Files must come in order: ${chunk.path} comes before ${this.paths[this.#place]}.`;
      throw new MetainfoError('ERR_INVALID_ARGUMENT', message, { path: chunk.path });
    }
    const before = place === this.#place ? [] : this.#lastPiece();
    this.#place = place;
    this.#path = chunk.path;
    const pieces = this.#pieces.push(chunk.chunk).map((bytes) => this.#piece(bytes));
    return [...before, ...pieces, ...this.#blocks.take(chunk)];
  }

  protected override rest(): HashUnit[] {
    const units = [...this.#lastPiece(), ...this.#blocks.rest()];
    this.#idx = 0;
    this.#place = 0;
    return units;
  }

  #lastPiece(): HashUnit[] {
    const rest = this.#pieces.rest();
    if (!rest) return [];
    if (this.paths.length === 1) return [this.#piece(rest)];
    const padded = Buffer.alloc(this.pieceLength);
    padded.set(rest);
    return [this.#piece(padded)];
  }

  #piece(bytes: Uint8Array): HashUnit {
    const of = { type: 'v1_piece' as const, path: this.#path, idx: this.#idx };
    this.#idx += 1;
    return { bytes, of };
  }

  protected override parts(files: readonly ScannedFile[]): HasherPlan[] {
    const padded = files.flatMap((file) => {
      const length = (this.pieceLength - (file.length % this.pieceLength)) % this.pieceLength;
      const pad = padPlanFile(length);
      return length > 0 && files.length > 1 ? [toPlanFile(file), pad] : [toPlanFile(file)];
    });
    return [v1Part(files, padded, this), blocksPart(files, this)];
  }

  /**
   * What a hybrid torrent holds of hashes.
   *
   * @param hashes Of types `block` and `v1_piece`, of all files, in any order.
   * @returns the `piece layers`, and `pieces` in order
   */
  splitV1V2(hashes: readonly Hash[]): [pieceLayers: PieceLayers, pieces: HashList] {
    // Checks all of them first.
    const trees = finishTrees(hashes, this);
    const layers = new Map<string, HashList>();
    for (const { pieceHashes, rootHash } of trees)
      if (pieceHashes && rootHash) layers.set(toHex(rootHash), pieceHashes);
    const pieces = hashes.filter(({ type }) => type === 'v1_piece').toSorted((a, b) => a.idx - b.idx);
    return [
      layers,
      new HashList(
        pieces.map(({ hash }) => hash),
        20,
      ),
    ];
  }
}
