/** The digests of a plan, joined from those of its parts. */
import { setImmediate as nextRound } from 'node:timers/promises';
import { inSlices } from '../create/sources/slices.ts';
import type { PackedTrees } from '../hash/file-digests.ts';
import { layerRoots, raisedRoot } from '../hash/merkle.ts';
import { BLOCK_SIZE } from '../layout/piece-length.ts';
import { hasLayer, pieceBytes, rangesOf, type SplitPlan, treeBytes } from './part-payload.ts';

/** Collects the digests of parts, in any order. */
export class JoinedDigests {
  readonly #split: SplitPlan;
  readonly #pieces: Uint8Array | null;
  readonly #trees: PackedTrees | null;
  /** Where the piece hashes of each part begin in the layers, in bytes. */
  readonly #layerStarts: readonly number[];

  private constructor(split: SplitPlan, layerStarts: readonly number[]) {
    const { version, parts, lengths } = split;
    this.#split = split;
    this.#layerStarts = layerStarts;
    this.#pieces = parts.pieces && Buffer.alloc((parts.pieces.at(-1) as number) * 20);
    const hasTrees = version !== 'v1';
    this.#trees = hasTrees
      ? { roots: Buffer.alloc(lengths.length * 32), layers: Buffer.alloc(layerStarts.at(-1) as number) }
      : null;
  }

  /** Makes room for the digests of a plan. */
  static async of(split: SplitPlan): Promise<JoinedDigests> {
    return new JoinedDigests(split, split.version === 'v1' ? [0] : await layerStartsOf(split));
  }

  /** Adds the payload of a part. */
  add(index: number, payload: Uint8Array): void {
    const split = this.#split;
    let at = pieceBytes(split, index);
    this.#pieces?.set(payload.subarray(0, at), (split.parts.pieces?.[index] as number) * 20);
    if (!this.#trees) return;
    const { roots, layers } = this.#trees;
    let layer = this.#layerStarts[index] as number;
    for (const range of rangesOf(split, index)) {
      const bytes = treeBytes(split, range);
      const hashes = payload.subarray(at, at + bytes);
      at += bytes;
      if (hasLayer(split, range.file)) {
        layers.set(hashes, layer);
        layer += bytes;
      } else roots.set(hashes, range.file * 32);
    }
  }

  /** The digests, once all parts were added. */
  async finish(): Promise<{ pieces: Uint8Array | null; trees: PackedTrees | null }> {
    if (this.#trees) await fillRoots(this.#split, this.#trees);
    return { pieces: this.#pieces, trees: this.#trees };
  }
}

/** Where the piece hashes of each part begin among those of all parts, in bytes, and where they end. */
async function layerStartsOf(split: SplitPlan): Promise<number[]> {
  const starts = [0];
  let at = 0;
  let turned = performance.now();
  for (let index = 0; index < split.parts.count; index += 1) {
    for (const range of rangesOf(split, index)) if (hasLayer(split, range.file)) at += treeBytes(split, range);
    starts.push(at);
    if (performance.now() - turned < 10) continue;
    await nextRound();
    turned = performance.now();
  }
  return starts;
}

/** Piece hashes that one call reduces: it takes a few milliseconds. A power of two. */
const HASHES_AT_ONCE = 2 ** 14;

/** Computes the pieces roots of the files that have piece layers. */
async function fillRoots(split: SplitPlan, { roots, layers }: PackedTrees): Promise<void> {
  const { lengths, pieceLength } = split;
  const blocks = pieceLength / BLOCK_SIZE;
  let batch: [file: number, layer: Uint8Array][] = [];
  let count = 0;
  const reduce = () => {
    if (batch.length === 0) return;
    const found = layerRoots(
      batch.map(([, layer]) => layer),
      blocks,
    );
    for (const [i, [file]] of batch.entries()) roots.set(found.subarray(i * 32, (i + 1) * 32), file * 32);
    batch = [];
    count = 0;
  };
  let at = 0;
  const large: [file: number, layer: Uint8Array][] = [];
  await inSlices(lengths.length, (first, end) => {
    for (let file = first; file < end; file += 1) {
      if (!hasLayer(split, file)) continue;
      const hashes = Math.ceil((lengths[file] as number) / pieceLength);
      const layer = layers.subarray(at, at + hashes * 32);
      at += hashes * 32;
      if (hashes > HASHES_AT_ONCE) large.push([file, layer]);
      else {
        batch.push([file, layer]);
        count += hashes;
        if (count >= HASHES_AT_ONCE) reduce();
      }
    }
    reduce();
  });
  for (const [file, layer] of large) roots.set(await largeRoot(layer, blocks), file * 32);
}

/** The root over a layer that is too long for one call. */
async function largeRoot(layer: Uint8Array, blocksPerPiece: number): Promise<Uint8Array> {
  const bytes = HASHES_AT_ONCE * 32;
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
