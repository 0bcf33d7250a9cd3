/** Makes a hybrid torrent from a v1 torrent and the digests of its files. */
import type { Encodable } from '../bencode/value.ts';
import { type FileTimes, fileTimesOf } from '../create/file-times.ts';
import type { TorrentShape } from '../create/findings/torrent-sizes.ts';
import { toHex } from '../errors/errors.ts';
import type { FileDigests } from '../hash/file-digests.ts';
import { FileTable } from '../layout/file-table.ts';
import { compareV2 } from '../layout/order.ts';
import { type PadNames, padNamesOf } from '../layout/padding.ts';
import { TORRENT } from '../model/codec.ts';
import type { FileItem } from '../model/file-item.ts';
import type { FlatFile } from '../model/file-tree.ts';
import { encodeFileList, encodeFlatTree } from '../model/files-codec.ts';
import { HashList } from '../model/hash-list.ts';
import type { InfoDictV1 } from '../model/info-dict.ts';
import type { ReadOptions, Torrent } from '../model/torrent/torrent.ts';
import { replaceFields, withoutContent } from './replace-fields.ts';
import type { UpgradeFile } from './upgrade-files.ts';

/** The shape of the hybrid, before its files are hashed. */
export function shapeOfHybrid(
  torrent: Torrent,
  upgradeFiles: readonly UpgradeFile[],
  padNames: PadNames | undefined,
): TorrentShape {
  const { name } = torrent;
  const { pieceLength, files: oldList } = torrent.info as InfoDictV1;
  const items = upgradeFiles.map(({ item }) => item).sort((a, b) => compareV2(a.path, b.path));
  const files = new FileTable(
    items.map((item) => ({ path: item.path, length: item.length, attr: item.attr ?? undefined, listed: item })),
  );
  const padding = oldList ? { padNames: padNames ?? padNamesOf(oldList) } : null;
  const otherFields = withoutContent(torrent);
  return { version: 'hybrid', isSingleFile: !oldList, name, pieceLength, padding, files, otherFields };
}

interface HybridContent {
  files: readonly UpgradeFile[];
  /** The digests of each file. */
  digests: readonly FileDigests[];
  /** The v1 file list; null for a single file. */
  list: readonly FileItem[] | null;
}

/** Replaces the content of the v1 torrent. All other fields keep their bytes. */
export function assembleHybrid(
  torrent: Torrent,
  { files, digests, list }: HybridContent,
  { context }: Pick<ReadOptions, 'context'>,
): { torrent: Torrent; fileTimes: FileTimes } {
  const hashed = files.map((file, index) => ({ ...file, ...(digests[index] as FileDigests) }));
  const sorted = hashed.sort((a, b) => compareV2(a.item.path, b.item.path));
  const pieceLayers = new Map<string, HashList>();
  for (const { root, layer } of sorted)
    if (root && layer.length > 0) pieceLayers.set(toHex(root), new HashList(layer, 32, true));
  const tree = sorted.map(({ item: { length, path, attr, symlinkPath }, root }): FlatFile => {
    // A link of a file tree has no length: libtorrent writes none either.
    if (symlinkPath) return { path, piecesRoot: root, ...(attr && { attr }), symlinkPath } as FlatFile;
    return { length, path, piecesRoot: root, ...(attr && { attr }) };
  });
  const info = new Map<string, Encodable | null>([
    ['file tree', encodeFlatTree(tree)],
    ['files', list && encodeFileList(list)],
    ['meta version', 2],
    // v2 knows no `name.utf-8`, so the name that clients show becomes the only one.
    ['name', torrent.name],
    ['name.utf-8', null],
    ['pieces', Buffer.concat(sorted.map(({ pieces }) => pieces))],
  ]);
  const top = new Map<string, Encodable | null>([['piece layers', TORRENT.pieceLayers.encode(pieceLayers)]]);
  const hybrid = replaceFields(torrent, { info, top, context });
  const times = sorted.map(({ request, ctimeMs }) => (request ? { mtimeMs: request.mtimeMs, ctimeMs } : {}));
  return { torrent: hybrid, fileTimes: fileTimesOf(times) };
}
