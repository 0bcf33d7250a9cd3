/** The model of piece layers (BEP 52). */
import { define, type Struct } from 'superstruct';
import { shown, toHex } from '../errors/errors.ts';
import { HashList } from './hash-list.ts';
import { layersOf, withInput } from './input.ts';
import type { Torrent } from './torrent/torrent.ts';

/**
 * The piece hashes of each file that is longer than a piece (BEP 52): a Map from the pieces root, in hexadecimal, to one hash of
 * 32 bytes per piece.
 */
export type PieceLayers = ReadonlyMap<string, HashList>;
/**
 * Checks the shape of piece layers, but not whether they hash to their roots. superstruct's `create` accepts roots as bytes or in
 * hexadecimal, and layers as packed or listed hashes.
 */
export const PieceLayers: Struct<PieceLayers, null> = withInput(
  define('pieceLayers', (value) => {
    if (!(value instanceof Map)) return `expected piece layers, got ${shown(value)}`;
    for (const [root, layer] of value) {
      if (!/^[0-9a-f]{64}$/.test(root)) return `expected a key of 32 bytes in hexadecimal, got ${shown(root)}`;
      if (!(layer instanceof HashList && layer.hashSize === 32)) return `${root}: expected hashes of 32 bytes`;
    }
    return true;
  }),
  layersOf,
);

/** The piece layer of the file with a pieces root; undefined for none. Never hand it to a caller. */
export function viewOfLayer({ pieceLayers }: Torrent, piecesRoot: Uint8Array): Uint8Array | undefined {
  const layer = pieceLayers?.get(toHex(piecesRoot));
  return layer && HashList.viewOf(layer);
}
