/** The hasher of v1 torrents. */
import type { ScannedFile } from '../disk/scan.ts';
import { invalidArgument } from '../errors/guard.ts';
import { bytesToPieceEnd, toRequestedFile } from '../hash/make-requested-files.ts';
import { lastAtMost } from '../model/ranges.ts';
import { copyOf } from '../platform/node.ts';
import { ChunkSplitter } from './chunk-splitter.ts';
import type { HasherConfig } from './config.ts';
import { HasherBase, type HasherRequest, type HashUnit } from './hasher-base.ts';
import type { Chunk, Hash } from './records.ts';

/**
 * Hashes v1 pieces (BEP 3): SHA-1 over the content of all files in a row. It sorts its paths into the order that common clients
 * use.
 *
 * @example
 * ```ts
 * import path from 'node:path';
 * import { iterBlocks, V1Hasher } from 'metainfo';
 *
 * const pathRoot = path.resolve('.');
 * const hasher = new V1Hasher({ paths: ['film.mkv'], pathRoot, pieceLength: 2 ** 20 });
 * const hashes = [];
 * for await (const chunk of iterBlocks(path.join(pathRoot, 'film.mkv'))) hashes.push(...hasher.update(chunk));
 * console.log(hasher.complete(hashes).length);
 * ```
 * ```text
 * 3
 * ```
 */
export class V1Hasher extends HasherBase {
  readonly #pieces: Pieces;

  /** @throws {ValidationError} with every rule that the configuration breaks */
  constructor(config: HasherConfig) {
    super(config, 'v1');
    this.#pieces = new Pieces(this.paths, this.pieceLength);
  }

  /** @internal */
  protected override take(chunk: Chunk): HashUnit[] {
    return this.#pieces.take(chunk, this.placeOf(chunk.path));
  }

  /** @internal */
  protected override rest(): HashUnit[] {
    return this.#pieces.rest();
  }

  /** @internal */
  protected override requests(files: readonly ScannedFile[]): HasherRequest[] {
    return [v1Request(files, 0, this)];
  }
}

/** Splits the chunks of files that follow each other into v1 pieces. */
export class Pieces {
  readonly #paths: readonly string[];
  readonly #splitter: ChunkSplitter;
  readonly #paddedLength: number;
  /** The file in which the current piece starts. */
  #begins = '';
  #idx = 0;
  #place = 0;

  /** @param paddedLength The length to which the last piece of each file is filled with zeros; 0 if pieces span files. */
  constructor(paths: readonly string[], pieceLength: number, paddedLength = 0) {
    this.#paths = paths;
    this.#splitter = new ChunkSplitter(pieceLength);
    this.#paddedLength = paddedLength;
  }

  /** @param place The index of the file. Throws `ERR_INVALID_ARGUMENT` for a file before the last one. */
  take({ path, chunk }: Chunk, place: number): HashUnit[] {
    if (place < this.#place) {
      const message = `files must come in order: ${path} comes before ${this.#paths[this.#place]}`;
      throw invalidArgument(message, { path });
    }
    const before = place > this.#place && this.#paddedLength > 0 ? this.#last() : [];
    this.#place = place;
    if (this.#splitter.isEmpty) this.#begins = path;
    const pieces = this.#splitter.push(chunk).map((bytes) => {
      const unit = this.#unit(bytes);
      this.#begins = path;
      return unit;
    });
    return [...before, ...pieces];
  }

  /** The incomplete piece, after which the next chunk is that of a first file. */
  rest(): HashUnit[] {
    const units = this.#last();
    this.#idx = 0;
    this.#place = 0;
    return units;
  }

  #last(): HashUnit[] {
    const rest = this.#splitter.rest();
    if (!rest) return [];
    const piece = Buffer.alloc(Math.max(rest.length, this.#paddedLength));
    piece.set(rest);
    return [this.#unit(piece)];
  }

  #unit(bytes: Uint8Array): HashUnit {
    const of = { type: 'v1_piece' as const, path: this.#begins, idx: this.#idx };
    this.#idx += 1;
    return { bytes, of };
  }
}

/** Plans the v1 pieces of files. The last pieces of the first `paddedFiles` files are filled up. */
export function v1Request(
  files: readonly ScannedFile[],
  paddedFiles: number,
  { paths, pieceLength }: Pick<HasherBase, 'paths' | 'pieceLength'>,
): HasherRequest {
  const starts = new Float64Array(files.length);
  let at = 0;
  for (const [i, { length }] of files.entries()) {
    starts[i] = at;
    at += length + (i < paddedFiles ? bytesToPieceEnd(length, pieceLength) : 0);
  }
  const hashes: HasherRequest['hashes'] = ({ v1 = new Uint8Array() }) =>
    Array.from({ length: v1.length / 20 }, (_, idx): Hash => {
      const path = paths[lastAtMost(starts, idx * pieceLength)] as string;
      return { type: 'v1_piece', path, hash: copyOf(v1.subarray(idx * 20, (idx + 1) * 20)), idx };
    });
  return { request: { files: files.map(toRequestedFile), paddedFiles, version: 'v1', pieceLength }, hashes };
}
