// Large torrents of any version whose content does not exist: for the benches that read and edit them.
import { randomFillSync } from 'node:crypto';
import { encode } from '../../src/bencode/encode.ts';
import type { Encodable } from '../../src/bencode/value.ts';
import { layerRoots } from '../../src/hash/merkle.ts';
import { addPadfiles } from '../../src/layout/padding.ts';
import { BLOCK_SIZE } from '../../src/layout/piece-length.ts';
import { encodeFileList, encodeFlatTree } from '../../src/model/files-codec.ts';
import type { Version } from './measure.ts';

const PIECE_LENGTH = BLOCK_SIZE;

/**
 * Makes the bytes of a torrent with random hashes; only the piece layers match their roots.
 *
 * @param piecesOf the number of pieces of each file, by its index
 * @param nameLength characters of each file name, at least
 */
export function largeTorrent(
  version: Version,
  count: number,
  piecesOf: (index: number) => number,
  nameLength: number,
): Uint8Array {
  const layers = new Map<string, Encodable>();
  const content = Array.from({ length: count }, (_, i) => {
    const pieces = piecesOf(i);
    const layer = version !== 'v1' && pieces > 1 ? randomFillSync(Buffer.alloc(pieces * 32)) : null;
    const piecesRoot = layer ? Buffer.from(layerRoots([layer], 1)) : randomFillSync(Buffer.alloc(32));
    if (layer) layers.set(piecesRoot.toString('latin1'), layer);
    const folder = `folder ${String(Math.floor(i / 1000)).padStart(4, '0')}`;
    const name = `file ${i} `.padEnd(nameLength, 'of some album ');
    return { path: [folder, name], length: pieces * PIECE_LENGTH - 5, piecesRoot };
  });
  content.sort((a, b) => (a.path.join('/') < b.path.join('/') ? -1 : 1));
  const list = version === 'hybrid' ? addPadfiles(content, PIECE_LENGTH) : content;
  const info = new Map<string, Encodable>([
    ['name', 'large'],
    ['piece length', PIECE_LENGTH],
  ]);
  if (version !== 'v2') {
    const total = list.reduce((sum, file) => sum + file.length, 0);
    info.set('files', encodeFileList(list));
    info.set('pieces', randomFillSync(Buffer.alloc(Math.ceil(total / PIECE_LENGTH) * 20)));
  }
  if (version !== 'v1') info.set('file tree', encodeFlatTree(content)).set('meta version', 2);
  const torrent = new Map<string, Encodable>([['info', info]]);
  if (version !== 'v1') torrent.set('piece layers', layers);
  return encode(torrent);
}
