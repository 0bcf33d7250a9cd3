/** Resume data of libtorrent and qBittorrent, as libtorrent's `read_resume_data()` reads it. */
import { decode } from '../../bencode/decode.ts';
import { encode } from '../../bencode/encode.ts';
import { type BencodeMap, type Encodable, RawBencode } from '../../bencode/value.ts';
import { BLOCK_SIZE } from '../../layout/piece-length.ts';
import { v1List } from '../../model/file-item.ts';
import { viewOfLayer } from '../../model/piece-layers.ts';
import { type Torrent, TorrentBase } from '../../model/torrent/torrent.ts';
import { nameBytes } from '../../text/name-bytes.ts';
import type { ResumeContent } from './resume-data.ts';

/** The `.fastresume` of a program with libtorrent. It needs no torrent file beside it. */
export function libtorrentResume(content: ResumeContent): Uint8Array {
  const { torrent } = content;
  const fields = fieldsOf(content);
  fields.set('info', new RawBencode(TorrentBase.bytesOf(torrent).infoBytes));
  if (torrent.torrentVersion !== 'v1') fields.set('trees', treesOf(torrent));
  return encode(fields);
}

/** Fields that describe content as it was. */
const STALE = ['unfinished', 'trees', 'info', 'piece_priority'];

/** The fields that the client has; none if they are not those of the same torrent. */
function previousFields({ torrent, previous }: ResumeContent): BencodeMap {
  const fields = previous && decodedOrNull(previous);
  const isSame = (key: string, value: Encodable) => {
    const old = fields?.get(key);
    // libtorrent 1.2 knows only the first infohash.
    if (old === undefined) return key === 'info-hash2' && torrent.infohashV1 !== null;
    return Buffer.compare(encode(old), encode(value)) === 0;
  };
  if (!fields || !identity(torrent).every(([key, value]) => isSame(key, value))) return new Map();
  for (const key of STALE) fields.delete(key);
  return fields;
}

function decodedOrNull(bytes: Uint8Array): BencodeMap | null {
  try {
    const { value } = decode(bytes, { tolerant: true });
    return value instanceof Map ? value : null;
  } catch {
    return null;
  }
}

/** The `.fastresume` of qBittorrent, which reads everything about the torrent from the torrent file beside it. */
export function qbittorrentResume(content: ResumeContent): Uint8Array {
  const fields = fieldsOf(content);
  // Without a save path, qBittorrent would move the content to its default folder.
  fields.set('qBt-savePath', nameBytes(content.folder));
  fields.set('qBt-downloadPath', '');
  fields.set('qBt-contentLayout', 'Original');
  fields.set('qBt-seedStatus', Number(content.isComplete));
  return encode(fields);
}

/** Priorities of files in libtorrent. */
const NOT_WANTED = 0;
const WANTED = 4;

/** The fields about the content replace those that the client has; the others fill what it does not say. */
function fieldsOf(content: ResumeContent): Map<string, Encodable> {
  const { torrent, folder, paths, files, good, isComplete, seconds } = content;
  const indexes = fileIndexes(torrent);
  const priorities = indexes.map((file) => (file !== null && files[file] ? WANTED : NOT_WANTED));
  return new Map<string, Encodable>([
    ...initialFields(torrent, seconds),
    ...previousFields(content),
    ...identity(torrent),
    ['name', torrent.name],
    ['save_path', nameBytes(folder)],
    // libtorrent changes some names, and the root may be renamed: so every file is named.
    ['mapped_files', indexes.map((file) => (file === null ? '' : nameBytes(paths[file] as string)))],
    ...(files.includes(undefined) ? [['file_priority', priorities] as const] : []),
    ['pieces', good],
    ['completed_time', isComplete ? seconds : 0],
    ['seed_mode', 0],
    ['upload_mode', 0],
  ]);
}

/** The fields by which libtorrent knows a torrent: zeros for a version that it does not have. */
function identity({ infohashV1, infohashV2 }: Torrent): [string, Encodable][] {
  return [
    ['file-format', 'libtorrent resume file'],
    ['file-version', 1],
    ['info-hash', Buffer.from(infohashV1 ?? '00'.repeat(20), 'hex')],
    ['info-hash2', Buffer.from(infohashV2 ?? '00'.repeat(32), 'hex')],
  ];
}

/** The fields of a torrent that is new to the client: it starts at once. */
function initialFields(torrent: Torrent, seconds: number): Map<string, Encodable> {
  const fields = new Map<string, Encodable>([
    ['allocation', 'sparse'],
    ['added_time', seconds],
    ['paused', 0],
    ['auto_managed', 1],
    ['total_uploaded', 0],
    ['total_downloaded', 0],
  ]);
  const tiers = (torrent.announceList ?? []).filter((tier) => tier.length > 0);
  if (tiers.length > 0) fields.set('trackers', tiers);
  else if (torrent.announce) fields.set('trackers', [[torrent.announce]]);
  if (torrent.urlList?.length) fields.set('url-list', torrent.urlList);
  if (torrent.httpseeds?.length) fields.set('httpseeds', torrent.httpseeds);
  return fields;
}

/**
 * The files of the torrent in the order of libtorrent's indexes; null for a pad file. For v2 and hybrids, libtorrent takes the files
 * from the tree and adds pad files itself.
 */
function fileIndexes({ torrentVersion, info, files }: Torrent): (number | null)[] {
  let next = 0;
  if (torrentVersion === 'v1') {
    const { list, isPad } = v1List(info);
    return list.map((file) => (isPad(file) ? null : next++));
  }
  return files.flatMap(({ length }, i) => (length % info.pieceLength === 0 ? [i] : [i, null]));
}

/**
 * The bytes of the largest mask that is written in full: that of a file of 512 GiB. A longer one ends with the piece layer: new
 * releases of libtorrent accept that, and old ones ask peers for the hashes. The length of a file is untrusted and could demand any
 * amount of memory.
 */
const LARGEST_MASK = 2 ** 26;

/**
 * The piece layers as libtorrent stores them: for each file index, the hashes that are known, and a mask over all nodes of its tree
 * from the root down that says which ones they are.
 */
function treesOf(torrent: Torrent): Encodable[] {
  const files = TorrentBase.filesOf(torrent);
  return fileIndexes(torrent).map((index) => {
    const file = index === null ? null : files[index];
    const layer = file?.piecesRoot && viewOfLayer(torrent, file.piecesRoot);
    if (!file || !layer) return new Map<string, Encodable>([['hashes', '']]);
    const pieces = layer.length / 32;
    const first = widthOf(pieces) - 1;
    const nodes = 2 * widthOf(Math.ceil(file.length / BLOCK_SIZE)) - 1;
    const mask = Buffer.alloc(nodes > LARGEST_MASK ? first + pieces : nodes, '0');
    mask.fill('1', first, first + pieces);
    return new Map<string, Encodable>([
      ['hashes', layer],
      ['mask', mask],
    ]);
  });
}

/** The number of nodes in the row of a Merkle tree that holds this many: a power of two. */
function widthOf(count: number): number {
  return 2 ** Math.ceil(Math.log2(count));
}
