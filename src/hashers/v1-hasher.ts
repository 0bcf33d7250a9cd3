import type { ScannedFile } from '../disk/scan.ts';
import { MetainfoError } from '../errors/errors.ts';
import { toPlanFile } from '../hash/file-plan.ts';
import { sortV1 } from '../layout/order.ts';
import { lastAtMost } from '../model/ranges.ts';
import type { HasherConfig } from './config.ts';
import { Gatherer } from './gatherer.ts';
import { HasherBase, type HasherPlan, type HashUnit } from './hasher-base.ts';
import type { Chunk, Hash } from './records.ts';

/** SHA-1 of the pieces of all files in a row (BEP 3). Its paths are put into the order of common clients. */
export class V1Hasher extends HasherBase {
  readonly #pieces: Gatherer;
  /** Where the piece that is being gathered begins. */
  #begins = '';
  #idx = 0;
  #place = 0;

  /** @throws {ValidationError} with every rule that the configuration breaks */
  constructor(config: HasherConfig) {
    super(config, 'v1');
    this.#pieces = new Gatherer(this.pieceLength);
  }

  protected override sortPaths(paths: readonly string[]): readonly string[] {
    return sortV1(paths);
  }

  protected override take({ path, chunk }: Chunk): HashUnit[] {
    if (this.placeOf(path) < this.#place) {
      const message = `Files must come in order: ${path} comes before ${this.paths[this.#place]}.`;
      throw new MetainfoError('ERR_INVALID_ARGUMENT', message, { path });
    }
    this.#place = this.placeOf(path);
    if (this.#pieces.isEmpty) this.#begins = path;
    return this.#pieces.push(chunk).map((bytes) => {
      const unit = this.#unit(bytes);
      this.#begins = path;
      return unit;
    });
  }

  protected override rest(): HashUnit[] {
    const rest = this.#pieces.rest();
    const units = rest ? [this.#unit(rest)] : [];
    this.#idx = 0;
    this.#place = 0;
    return units;
  }

  #unit(bytes: Uint8Array): HashUnit {
    const of = { type: 'v1_piece' as const, path: this.#begins, idx: this.#idx };
    this.#idx += 1;
    return { bytes, of };
  }

  protected override parts(files: readonly ScannedFile[]): HasherPlan[] {
    return [v1Part(files, files.map(toPlanFile), this)];
  }
}

/** The pieces of files, of which the plan may have pads among them. */
export function v1Part(
  files: readonly ScannedFile[],
  plan: readonly HasherPlan['plan']['files'][number][],
  { paths, pieceLength }: Pick<HasherBase, 'paths' | 'pieceLength'>,
): HasherPlan {
  const starts = new Float64Array(files.length);
  let [at, file] = [0, 0];
  for (const { path, length } of plan) {
    if (path !== null) {
      starts[file] = at;
      file += 1;
    }
    at += length;
  }
  const hashes: HasherPlan['hashes'] = ({ v1 = new Uint8Array() }) =>
    Array.from({ length: v1.length / 20 }, (_, idx): Hash => {
      const path = paths[lastAtMost(starts, idx * pieceLength)] as string;
      return { type: 'v1_piece', path, hash: v1.subarray(idx * 20, (idx + 1) * 20), idx };
    });
  return { plan: { files: plan, version: 'v1', pieceLength }, hashes };
}
