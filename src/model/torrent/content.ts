/** The files of a torrent in packed columns, for jobs that must not make an object of each file. */
import { type PathColumn, pathColumn } from '../../layout/file-table.ts';
import { padsIn } from '../../layout/padding.ts';
import { type FileItem, v1Files } from '../file-item.ts';
import type { InfoDictV1 } from '../info-dict.ts';
import { type Torrent, TorrentBase, type TorrentFile } from './torrent.ts';

/** The files of a torrent in its order, without pad files. */
export interface TorrentContent {
  /** The paths with zero bytes between their components. */
  paths: PathColumn;
  /** The path of a file as `torrent.files` has it. */
  pathAt(index: number): string;
  /** Bytes of each file. */
  lengths: Float64Array;
  /** The pieces root of each file, 32 bytes each, packed; zeros for a file that has none. Null in v1. */
  roots: Uint8Array | null;
  /** The indexes of symbolic links. */
  links: ReadonlySet<number>;
  /** The entries of the v1 file list that are not empty; null in v2. */
  entries: V1Entries | null;
}

/** Entries of a v1 file list, pad files included. */
export interface V1Entries {
  /** Bytes of each entry. */
  lengths: Float64Array;
  /** The index of each entry among the files of the torrent; -1 for a pad file. */
  files: Int32Array;
}

const contents = new WeakMap<Torrent, TorrentContent>();

/** The files of a torrent in columns. Nobody may change them. */
export function contentOf(torrent: Torrent): TorrentContent {
  const content = contents.get(torrent) ?? contentOfRows(torrent);
  contents.set(torrent, content);
  return content;
}

/** The pieces root of a file with content in a v2 or hybrid torrent. */
export function rootAt({ roots }: TorrentContent, index: number): Uint8Array {
  return (roots as Uint8Array).subarray(index * 32, (index + 1) * 32);
}

function contentOfRows(torrent: Torrent): TorrentContent {
  const files = TorrentBase.filesOf(torrent);
  const roots = torrent.torrentVersion === 'v1' ? null : Buffer.alloc(files.length * 32);
  const links = new Set<number>();
  for (const [i, { attr, piecesRoot }] of files.entries()) {
    if (piecesRoot) roots?.set(piecesRoot, i * 32);
    if (attr?.includes('l')) links.add(i);
  }
  return {
    paths: pathColumn(files.map(({ path }) => path.replaceAll('/', '\0'))),
    pathAt: (index) => (files[index] as TorrentFile).path,
    lengths: Float64Array.from(files, ({ length }) => length),
    roots,
    links,
    entries: torrent.torrentVersion === 'v2' ? null : entriesOfRows(torrent),
  };
}

function entriesOfRows(torrent: Torrent): V1Entries {
  const files = TorrentBase.filesOf(torrent);
  const list = v1Files(torrent.info as InfoDictV1) as readonly FileItem[];
  const isPad = padsIn(list, torrent.info.pieceLength);
  const entries = list.filter(({ length }) => length > 0);
  let file = -1;
  return {
    lengths: Float64Array.from(entries, ({ length }) => length),
    files: Int32Array.from(entries, (entry) => {
      if (isPad(entry)) return -1;
      // A hybrid may list empty files elsewhere than `torrent.files` does; all others have the same order there.
      do file += 1;
      while (files[file]?.length === 0);
      return file;
    }),
  };
}
