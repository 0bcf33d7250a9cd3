/** Merkle trees of v2 torrents (BEP 52). Their native double is native/core/hash/merkle.cc. */
import { concatBytes, createHasher } from '../platform/node.ts';
import { addonOrNull } from './addon.ts';

/** The SHA-256 of all parts together. */
export function sha256(...parts: Uint8Array[]): Uint8Array {
  const hash = createHasher('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest();
}

/**
 * Computes the root over `hashes`, padded on the right to a power of two (BEP 52).
 *
 * @param hashes One layer of a Merkle tree, 32 bytes each; at least one.
 * @param padding The hash that fills the layer: 32 zero bytes for leaves, the root of a piece of zeros for piece hashes.
 * @param width The number of hashes after padding, a power of two. Default: the next power of two.
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

/** The root of a tree whose leaves are all zero. `leaves` is a power of two. */
export function zeroRoot(leaves: number): Uint8Array {
  return merkleRoot([new Uint8Array(32)], new Uint8Array(32), leaves);
}

/**
 * Computes the root of a tree after leaves of zeros are added to it.
 *
 * @param leaves The number of leaves under `root`.
 * @param width The number of leaves of the larger tree, a power of two.
 */
export function raisedRoot(root: Uint8Array, leaves: number, width: number): Uint8Array {
  let result = root;
  for (let size = 2 ** Math.ceil(Math.log2(leaves)); size < width; size *= 2) result = sha256(result, zeroRoot(size));
  return result;
}

/**
 * Computes the pieces roots over piece layers (BEP 52): with the addon on all cores, or with node:crypto.
 *
 * @param layers 32 bytes per piece, packed; none of them empty.
 * @param blocksPerPiece A power of two. It determines the hash that pads a layer.
 * @returns 32 bytes per layer, packed.
 */
export function layerRoots(layers: readonly Uint8Array[], blocksPerPiece: number): Uint8Array {
  const counts = Uint32Array.from(layers, (layer) => layer.length / 32);
  // The layers of a decoded torrent are views of one buffer: avoid a copy.
  const memory = layers[0]?.buffer;
  const together = memory instanceof ArrayBuffer && layers.every(({ buffer }) => buffer === memory);
  const bytes = together ? new Uint8Array(memory) : concatBytes(layers);
  let end = 0;
  const starts = Float64Array.from(layers, ({ byteOffset, length }) => {
    end += length;
    return together ? byteOffset : end - length;
  });
  const addon = addonOrNull();
  if (addon) return addon.layerRoots(bytes, starts, counts, Math.log2(blocksPerPiece));
  const padding = zeroRoot(blocksPerPiece);
  return concatBytes(layers.map((layer) => merkleRoot(hashesIn(layer), padding)));
}

/** The hashes of a packed layer: views. */
export function hashesIn(layer: Uint8Array): Uint8Array[] {
  return Array.from({ length: layer.length / 32 }, (_, i) => layer.subarray(i * 32, (i + 1) * 32));
}
