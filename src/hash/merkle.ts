import { createHash } from 'node:crypto';
import { bindingIfAny } from './addon.ts';

/** SHA-256 with node:crypto. */
export function sha256(...parts: Uint8Array[]): Buffer {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest();
}

/**
 * The root over `hashes`, padded on the right to a power of two (BEP 52).
 *
 * @param hashes One layer of a Merkle tree, 32 bytes each; at least one.
 * @param padding What stands past the end: 32 zero bytes for leaves, the root of an all-zero piece for piece hashes.
 * @param width Pad to this many hashes, a power of two; default: the next one.
 */
export function merkleRoot(
  hashes: readonly Uint8Array[],
  padding: Uint8Array,
  width: number = 2 ** Math.ceil(Math.log2(hashes.length)),
): Uint8Array {
  let layer = hashes;
  let pad = padding;
  for (let size = width; size > 1; size /= 2) {
    const above: Uint8Array[] = [];
    for (let i = 0; i < layer.length; i += 2) above.push(sha256(layer[i] as Uint8Array, layer[i + 1] ?? pad));
    layer = above;
    pad = sha256(pad, pad);
  }
  return layer[0] as Uint8Array;
}

/** The root of a tree of `leaves` (a power of two) leaves that are all zero. */
export function zeroRoot(leaves: number): Uint8Array {
  return merkleRoot([Buffer.alloc(32)], Buffer.alloc(32), leaves);
}

/**
 * The root of a tree of so many leaves as it is with leaves of zeros up to a larger one.
 *
 * @param leaves What the root stands over.
 * @param width A power of two.
 */
export function raisedRoot(root: Uint8Array, leaves: number, width: number): Uint8Array {
  let result = root;
  for (let size = 2 ** Math.ceil(Math.log2(leaves)); size < width; size *= 2) result = sha256(result, zeroRoot(size));
  return result;
}

/**
 * The pieces roots above layers of piece hashes (BEP 52): natively on all cores, or with node:crypto.
 *
 * @param layers Each one hash of 32 bytes a piece, packed; none of them empty.
 * @param blocksPerPiece A power of two: what the padding of a layer stands for.
 * @returns 32 bytes a layer, packed.
 */
export function layerRoots(layers: readonly Uint8Array[], blocksPerPiece: number): Uint8Array {
  const counts = Uint32Array.from(layers, (layer) => layer.length / 32);
  // Layers of a torrent that was read are views of its bytes.
  const memory = layers[0]?.buffer;
  const together = memory instanceof ArrayBuffer && layers.every(({ buffer }) => buffer === memory);
  const bytes = together ? new Uint8Array(memory) : Buffer.concat(layers);
  let end = 0;
  const starts = Float64Array.from(layers, ({ byteOffset, length }) => {
    end += length;
    return together ? byteOffset : end - length;
  });
  const addon = bindingIfAny();
  if (addon) return addon.layerRoots(bytes, starts, counts, Math.log2(blocksPerPiece));
  const padding = zeroRoot(blocksPerPiece);
  const hashes = (layer: Uint8Array) =>
    Array.from({ length: layer.length / 32 }, (_, i) => layer.subarray(i * 32, (i + 1) * 32));
  return Buffer.concat(layers.map((layer) => merkleRoot(hashes(layer), padding)));
}
