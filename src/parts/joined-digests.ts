/** The digests of a plan, joined from those of its parts. */
import { setImmediate as nextRound } from 'node:timers/promises';
import type { Digests } from '../hash/engine.ts';
import { layerRoots, raisedRoot } from '../hash/merkle.ts';
import { BLOCK_SIZE } from '../layout/piece-length.ts';
import type { SplitPlan } from './plan.ts';
import { hasLayer, pieceBytes, treeBytes } from './sealed-part.ts';
import { rangesOf } from './split-into-parts.ts';

/** Collects the digests of parts, in any order. */
export class JoinedDigests {
  readonly #split: SplitPlan;
  readonly #pieces: Uint8Array | null;
  readonly #trees: Digests['v2'] | null;
  /** Where the layer of each file begins, in bytes, and where the last one ends. */
  readonly #layerStarts: Float64Array;

  constructor(split: SplitPlan) {
    const { version, parts, lengths, pieceLength } = split;
    this.#split = split;
    this.#pieces = parts.pieces && Buffer.alloc((parts.pieces.at(-1) as number) * 20);
    this.#layerStarts = new Float64Array(lengths.length + 1);
    let at = 0;
    for (const [file, length] of lengths.entries()) {
      this.#layerStarts[file] = at;
      if (hasLayer(split, file)) at += Math.ceil(length / pieceLength) * 32;
    }
    this.#layerStarts[lengths.length] = at;
    this.#trees = version === 'v1' ? null : { roots: Buffer.alloc(lengths.length * 32), layers: Buffer.alloc(at) };
  }

  /** Adds the payload of a part. */
  add(index: number, payload: Uint8Array): void {
    const split = this.#split;
    let at = pieceBytes(split, index);
    this.#pieces?.set(payload.subarray(0, at), (split.parts.pieces?.[index] as number) * 20);
    if (!this.#trees) return;
    const { roots, layers } = this.#trees;
    for (const range of rangesOf(split, index)) {
      const { file, offset } = range;
      const bytes = treeBytes(split, range);
      const hashes = payload.subarray(at, at + bytes);
      at += bytes;
      if (!hasLayer(split, file)) roots.set(hashes, file * 32);
      else layers.set(hashes, (this.#layerStarts[file] as number) + (offset / split.pieceLength) * 32);
    }
  }

  /** The digests, once all parts were added. A part has no pieces roots of files with layers: they are computed here. */
  async finish(): Promise<Digests> {
    const starts = this.#layerStarts;
    const { roots, layers } = this.#trees ?? {};
    let hashes = 0;
    for (let file = 0; roots && layers && file < starts.length - 1; file += 1) {
      const layer = layers.subarray(starts[file], starts[file + 1]);
      if (layer.length === 0) continue;
      roots.set(await rootOf(layer, this.#split.pieceLength / BLOCK_SIZE), file * 32);
      hashes += layer.length / 32;
      if (hashes < HASHES_AT_ONCE) continue;
      hashes = 0;
      await nextRound();
    }
    return { ...(this.#pieces && { v1: this.#pieces }), ...(this.#trees && { v2: this.#trees }), missing: [] };
  }
}

/** Piece hashes that one call reduces: it takes a few milliseconds. A power of two. */
const HASHES_AT_ONCE = 2 ** 14;

/** The root over a layer, also over one that is too long for one call. */
async function rootOf(layer: Uint8Array, blocksPerPiece: number): Promise<Uint8Array> {
  const bytes = HASHES_AT_ONCE * 32;
  if (layer.length <= bytes) return layerRoots([layer], blocksPerPiece);
  const roots: Uint8Array[] = [];
  for (let at = 0; at < layer.length; at += bytes) {
    const share = layer.subarray(at, at + bytes);
    const root = layerRoots([share], blocksPerPiece);
    // The last share may be short: its tree must be as wide as the others.
    roots.push(raisedRoot(root, (share.length / 32) * blocksPerPiece, HASHES_AT_ONCE * blocksPerPiece));
    await nextRound();
  }
  return layerRoots([Buffer.concat(roots)], HASHES_AT_ONCE * blocksPerPiece);
}
