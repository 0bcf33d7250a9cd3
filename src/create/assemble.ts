/** Assembles the torrent of a plan and its digests. */
import { encode } from '../bencode/encode.ts';
import { NO_LIMITS } from '../bencode/limits.ts';
import type { Encodable, RawBencode } from '../bencode/value.ts';
import { toHex } from '../errors/errors.ts';
import type { TreeDigests } from '../hash/file-digests.ts';
import { TORRENT } from '../model/codec.ts';
import type { FlatFile } from '../model/file-tree.ts';
import { encodeFileList, encodeFlatTree } from '../model/files-codec.ts';
import { HashList } from '../model/hash-list.ts';
import { fromOwnBytes, type Torrent } from '../model/torrent.ts';
import type { TorrentDigests } from './digests.ts';
import type { SizedPlan } from './plan.ts';

/** The keys of a torrent that describe its files. */
export interface ContentKeys {
  /** Values of `info` by key; null for a key that the version does not have. */
  info: Map<string, Encodable | null>;
  /** The value of `piece layers`; null in v1. */
  pieceLayers: Encodable | null;
}

/**
 * Makes the torrent of a plan and its digests.
 *
 * @param fileList The v1 file list of the plan, encoded, if that is at hand.
 */
export function assemble(plan: SizedPlan, digests: TorrentDigests, fileList = encodedFileList(plan)): Torrent {
  const content = contentKeys(plan, digests, fileList);
  const torrent = new Map<string, Encodable>(plan.otherFields);
  const info = new Map<string, Encodable>(torrent.get('info') as ReadonlyMap<string, Encodable>);
  for (const [key, value] of content.info) if (value !== null) info.set(key, value);
  if (content.pieceLayers) torrent.set('piece layers', content.pieceLayers);
  // Limits are for untrusted input. `warn` has reported what other readers will refuse.
  return fromOwnBytes(encode(torrent.set('info', info)), { limits: NO_LIMITS });
}

/** The v1 file list as bencode; null if the torrent has none. */
export function encodedFileList({ list }: Pick<SizedPlan, 'list'>): RawBencode | null {
  return list && encodeFileList(list);
}

/** The keys of a torrent that describe its files, from a plan and its digests. */
export function contentKeys(
  { version, isSingleFile, files, pieceLength }: SizedPlan,
  { pieces, trees }: Pick<TorrentDigests, 'pieces' | 'trees'>,
  fileList: RawBencode | null,
): ContentKeys {
  const pieceLayers = new Map<string, HashList>();
  const flat = trees && files.map((file, index) => flatFile(file, trees[index] as TreeDigests, pieceLayers));
  const info = new Map<string, Encodable | null>([
    ['file tree', flat && encodeFlatTree(flat)],
    ['files', fileList],
    ['length', isSingleFile && version !== 'v2' ? (files[0] as { length: number }).length : null],
    ['meta version', flat && 2],
    ['piece length', pieceLength],
    ['pieces', pieces],
  ]);
  return { info, pieceLayers: flat && TORRENT.pieceLayers.encode(pieceLayers) };
}

/** A file of the v2 tree; its layer, if it has one, goes into the layers. */
function flatFile(
  { path, length, attr, extra }: SizedPlan['files'][number],
  { root, layer }: TreeDigests,
  pieceLayers: Map<string, HashList>,
): FlatFile {
  if (root && layer.length > 0) pieceLayers.set(toHex(root), new HashList(layer, 32));
  return { ...(attr !== undefined && { attr }), ...(extra && { extra }), length, piecesRoot: root, path };
}
