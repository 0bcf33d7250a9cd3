/** Compares a finished torrent with the sizes and hashes that its draft expects. */
import { MetainfoError } from '../errors/errors.ts';
import { isPadFile } from '../layout/padding.ts';
import { type FlatFile, flattenTree } from '../model/file-tree.ts';
import type { InfoDictHybridCreate } from '../model/info-dict.ts';
import { type Torrent, TorrentBase } from '../model/torrent/torrent.ts';
import { compareBytes } from '../platform/node.ts';
import type { Draft } from './draft-fields.ts';

/** Requires the sizes and hashes that the draft gives. Throws `ERR_HASH_MISMATCH` for the first difference. */
export function requireMatch({ info: expected, fields }: Draft, torrent: Torrent): void {
  if (expected.pieces && differ(expected.pieces.bytes, (torrent.info as InfoDictHybridCreate).pieces?.bytes))
    throw mismatch('pieces');
  if (expected.length != null && expected.length !== torrent.files[0]?.length) throw mismatch('length');
  if (expected.files || expected.fileTree) requireMatchingFiles(expected, torrent);
  // A torrent decodes its layers when somebody asks for them.
  const pieceLayers = fields.pieceLayers && torrent.pieceLayers;
  if (!pieceLayers) return;
  for (const [root, layer] of fields.pieceLayers ?? []) {
    if (!pieceLayers.has(root) || differ(pieceLayers.get(root)?.bytes, layer.bytes)) throw mismatch('a piece layer');
  }
}

function requireMatchingFiles({ files, fileTree }: Draft['info'], torrent: Torrent): void {
  const byPath = new Map(TorrentBase.filesOf(torrent).map((file) => [file.path, file]));
  const listed = (files ?? []).filter((file) => !isPadFile(file));
  for (const { path, length, piecesRoot } of [...listed, ...flattenTree(fileTree ?? new Map())] as FlatFile[]) {
    const name = path.join('/');
    const file = byPath.get(name);
    if (file && file.length !== length) throw mismatch(`the length of ${name}`);
    if (differ(file?.piecesRoot, piecesRoot)) throw mismatch(`the pieces root of ${name}`);
  }
}

function differ(a: Uint8Array | null | undefined, b: Uint8Array | null | undefined): boolean {
  return a != null && b != null && compareBytes(a, b) !== 0;
}

function mismatch(field: string): MetainfoError {
  const message = `The draft expects another value for ${field} than the files have: leave it out, or restore the files.`;
  return new MetainfoError('ERR_HASH_MISMATCH', message);
}
