/** Reads everything that a torrent tells, part by part, to compare torrents that were made in different ways. */
import { edit } from '../../src/edit/edit.ts';
import type { Torrent } from '../../src/model/torrent/torrent.ts';
import { TorrentBase } from '../../src/model/torrent/torrent-base.ts';

type Reader = (torrent: Torrent) => unknown;

/** The parts of a torrent by name: values that `deepEqual` compares. */
export const READERS: Readonly<Record<string, Reader>> = {
  keys: (torrent) => [Object.keys(torrent), Object.keys(torrent.info), Object.isFrozen(torrent)],
  isTorrent: (torrent) => [TorrentBase.isTorrent(torrent), torrent instanceof TorrentBase],
  fields: (torrent) => ({ ...torrent }),
  info: (torrent) => ({ ...torrent.info }),
  'info.files': ({ info }) => (info as { files?: unknown }).files,
  'info.fileTree': ({ info }) => (info as { fileTree?: unknown }).fileTree,
  pieceLayers: (torrent) => torrent.pieceLayers,
  warnings: (torrent) => torrent.warnings,
  names: ({ name, torrentVersion, infohashV1, infohashV2 }) => [name, torrentVersion, infohashV1, infohashV2],
  counts: ({ nFiles, totalSize, fileSize, nPieces }) => [nFiles, totalSize, fileSize, nPieces],
  urls: ({ flatTrackers, webseeds }) => [flatTrackers, webseeds],
  files: (torrent) => torrent.files,
  safePaths: (torrent) => torrent.safePaths,
  flatFiles: (torrent) => torrent.flatFiles,
  magnet: (torrent) => torrent.magnet(),
  selectFiles: (torrent) => torrent.files.map(({ path }) => torrent.selectFiles([path])),
  v1PieceRange: (torrent) => (torrent.torrentVersion === 'v2' ? null : plain(torrent.v1PieceRange(0))),
  v2PieceRange: (torrent) =>
    torrent.torrentVersion === 'v1'
      ? null
      : plain(torrent.v2PieceRange(torrent.files.find(({ length }) => length > 0)?.path as string)),
  modelDumpTorrent: (torrent) => torrent.modelDumpTorrent(),
  toJSON: (torrent) => JSON.stringify(torrent),
  bencode: (torrent) => torrent.bencode(),
  structuredClone: (torrent) => structuredClone(torrent),
  edited: (torrent) => ({ ...edit(torrent, { comment: 'other' }) }),
};

/** A piece range without its functions. */
const plain = (range: object): unknown =>
  JSON.stringify(range, (key, value: unknown) => (key === 'webseedUrl' ? String(value) : value));
