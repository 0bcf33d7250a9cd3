/**
 * The names that a torrent stores, where they are not UTF-8, as clients such as rtorrent and Transmission write these bytes to the disk, or
 * where they are unsafe.
 */
import { decodeTrusted } from '../bencode/decode.ts';
import { NO_LIMITS } from '../bencode/limits.ts';
import { type BencodeMap, type BencodeValue, keyBytes } from '../bencode/value.ts';
import { libtorrentPath } from '../layout/libtorrent-names.ts';
import { unsafeComponent } from '../layout/safe-path.ts';
import { nameText } from '../text/name-bytes.ts';
import { type FileItem, v1List } from './file-item.ts';
import { type Torrent, TorrentBase } from './torrent/torrent.ts';

/** Names as {@link nameText}. */
export interface StoredNames {
  /** The name of the torrent. */
  name: string;
  /** The path of each file of the torrent, with `/`; that of libtorrent for an unsafe one. */
  paths: string[];
}

/** The names in the bytes of a torrent; null if all of them are UTF-8 and safe, as reading has found. */
export function storedNames(torrent: Torrent): StoredNames | null {
  if (!torrent.warnings.some(({ code }) => code === 'not_utf8' || code === 'unsafe_path')) return null;
  const { infoBytes } = TorrentBase.bytesOf(torrent);
  const info = decodeTrusted(infoBytes, { tolerant: true, limits: NO_LIMITS }).value as BencodeMap;
  const name = textOf(info.get('name'));
  const [files, tree] = [info.get('files'), info.get('file tree')];
  if (torrent.torrentVersion !== 'v1')
    return { name, paths: [...pathsOf(tree as BencodeMap, [])].map((path) => safePath(path)) };
  if (!Array.isArray(files)) return { name, paths: [safePath([name])] };
  const { list, isPad } = v1List(torrent.info);
  const content = files.filter((_, i) => !isPad(list[i] as FileItem)) as BencodeMap[];
  return { name, paths: content.map((file) => safePath(textsOf(file.get('path')), textsOf(file.get('path.utf-8')))) };
}

function textsOf(value: BencodeValue | undefined): string[] {
  return Array.isArray(value) ? value.map(textOf) : [];
}

function textOf(value: BencodeValue | undefined): string {
  return value instanceof Uint8Array ? nameText(value) : '';
}

/** The paths of a file tree in its order. May recurse, because the decoder bounds the depth. */
function* pathsOf(tree: BencodeMap, folder: readonly string[]): Generator<readonly string[]> {
  for (const [key, value] of tree) {
    if (key === '') yield folder;
    else yield* pathsOf(value as BencodeMap, [...folder, nameText(keyBytes(key))]);
  }
}

/** @param shown The path that libtorrent takes, if the torrent has two. */
function safePath(path: readonly string[], shown: readonly string[] = []): string {
  const isSafe = path.length > 0 && [...path, ...shown].every((part) => unsafeComponent(part) === null);
  return (isSafe ? path : libtorrentPath(shown.length > 0 ? shown : path)).join('/');
}
