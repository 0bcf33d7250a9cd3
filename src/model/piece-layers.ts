import { define, type Struct } from 'superstruct';
import { shown } from '../errors/errors.ts';
import { HashList } from './hash-list.ts';

/**
 * Piece hashes of the files that are longer than a piece (BEP 52): the file's pieces root in hexadecimal, to one
 * 32-byte hash a piece.
 */
export type PieceLayers = ReadonlyMap<string, HashList>;
/** Layers that are well-formed: whether they hash to their roots is not asked. */
export const PieceLayers: Struct<PieceLayers, null> = define('pieceLayers', (value) => {
  if (!(value instanceof Map)) return `Expected piece layers, got ${shown(value)}`;
  for (const [root, layer] of value) {
    if (!/^[0-9a-f]{64}$/.test(root)) return `Expected a key of 32 bytes in hexadecimal, got ${shown(root)}`;
    if (!(layer instanceof HashList && layer.hashSize === 32)) return `${root}: expected hashes of 32 bytes`;
  }
  return true;
});
