/** Warns, before any file is hashed, about properties of a torrent that readers and clients refuse. */
import { isMap } from 'node:util/types';
import { encode } from '../bencode/encode.ts';
import type { Encodable } from '../bencode/value.ts';
import type { IssueCode } from '../errors/codes.ts';
import { type Issue, MetainfoError, shown } from '../errors/errors.ts';
import { isNamedLikePad, isPadFile } from '../layout/padding.ts';
import { printable } from '../layout/text.ts';
import type { TorrentVersion } from '../model/discriminator.ts';
import type { FileItem } from '../model/file-item.ts';
import {
  LIBTORRENT_MAX_LENGTH,
  LIBTORRENT_MAX_PIECE_LENGTH,
  LIBTORRENT_MAX_PIECES,
  MAX_TREE_DEPTH,
  TORRENT_LIMITS,
} from '../model/limits.ts';

/** Options of jobs that warn. */
export interface WarningOptions {
  /**
   * Called for each warning before the first file is hashed; with streams of unknown size, after the last. If it throws or
   * returns a promise that rejects, the job fails with that error.
   *
   * @default process.emitWarning, once for each code: a `MetainfoWarning` whose `code` is the code of the issue
   */
  onWarning?: ((warning: Issue) => unknown) | undefined;
}

/** A file of a {@link TorrentShape}. */
interface ShapeFile {
  /** Components; the only file of a torrent has the torrent's name. */
  path: readonly string[];
  /** Bytes. */
  length: number;
  /** BEP 47 flags. */
  attr?: string | null | undefined;
}

/** A torrent without its hashes. */
export interface TorrentShape {
  version: TorrentVersion;
  /** Whether the torrent is a single file instead of a folder. */
  isSingleFile: boolean;
  name: string;
  pieceLength: number;
  /** The v1 file list, pad files included; null in v2 and for a single file. */
  list: readonly FileItem[] | null;
  /** The content in the order of the torrent. */
  files: readonly ShapeFile[];
  /** The torrent as bencode, without the keys that describe its files. */
  otherFields: ReadonlyMap<string, Encodable>;
}

/** The properties of a torrent that `limits` bounds. */
type Amounts = Record<'bytes' | 'depth' | 'items' | 'text' | 'paths' | 'files' | 'pieces' | 'padding', number>;

/** The properties of a torrent that some reader bounds. */
interface Sizes extends Amounts {
  pieceLength: number;
  /** Bytes of the longest file. */
  length: number;
}

const NOUNS: Readonly<Record<keyof Sizes, string>> = {
  bytes: 'bytes',
  depth: 'levels of nested lists and dictionaries',
  items: 'bencoded values',
  text: 'bytes in one string',
  paths: 'characters in its paths',
  files: 'files, pad files included',
  pieces: 'pieces',
  padding: 'bytes of pad files',
  pieceLength: 'bytes in a piece',
  length: 'bytes in one file',
};

/** A reader, and the largest torrents that it accepts by default. */
interface Reader {
  max: Partial<Sizes>;
  /** Says who accepts how much. */
  accepts(limit: keyof Sizes, max: number): string;
}

const { digits: _, ...OURS } = TORRENT_LIMITS;

const READERS: readonly Reader[] = [
  {
    max: OURS,
    accepts: (limit, max) => `metainfo reads at most ${max}, and more with limits: { ${limit}: N }`,
  },
  {
    // The limits of libtorrent 2.0 when it loads a torrent, and of its integers.
    max: {
      items: 3_000_000,
      depth: 99,
      pieces: LIBTORRENT_MAX_PIECES,
      pieceLength: LIBTORRENT_MAX_PIECE_LENGTH,
      length: LIBTORRENT_MAX_LENGTH,
    },
    accepts: (_limit, max) => `libtorrent (qBittorrent, Deluge) loads at most ${max}`,
  },
  {
    max: { bytes: 10_000_000 },
    accepts: (_limit, max) => `libtorrent loads files of at most ${max}, unless the client raises that limit`,
  },
  {
    max: { bytes: 100 * 2 ** 20 },
    accepts: (_limit, max) => `qBittorrent loads at most ${max}`,
  },
];

/**
 * Warns about everything that readers and clients refuse.
 *
 * @throws {MetainfoError} `ERR_NAME` for a file tree that is too deep for any reader
 * @throws the error of `onWarning`
 */
export async function warn(shape: TorrentShape, { onWarning = emit }: WarningOptions): Promise<void> {
  requireDepth(shape);
  for (const warning of warningsOf(shape)) await onWarning(warning);
}

/** A server that makes many torrents gets one warning of each kind. */
const emitted = new Set<IssueCode>();

function emit({ code, message }: Issue): void {
  if (emitted.has(code)) return;
  emitted.add(code);
  // Node prints warnings raw, and file names may hold terminal escapes.
  process.emitWarning(printable(message), { type: 'MetainfoWarning', code });
}

/** The warnings of a torrent. */
export function warningsOf(shape: TorrentShape): Issue[] {
  return [...beyondLimits(shape), ...sharedPads(shape), ...likePads(shape), ...lostFolder(shape)];
}

function issue(code: IssueCode, path: Issue['path'], message: string): Issue {
  return { code, severity: 'warning', path, message };
}

function beyondLimits(shape: TorrentShape): Issue[] {
  const sizes = sizesOf(shape);
  return READERS.flatMap(({ max, accepts }) =>
    (Object.entries(max) as [keyof Sizes, number][])
      .filter(([limit, bound]) => sizes[limit] > bound)
      .map(([limit, bound]) => {
        const message = `The torrent has ${sizes[limit]} ${NOUNS[limit]}: ${accepts(limit, bound)}.`;
        return issue('reader_limit', [], message);
      }),
  );
}

/** Pad files that share a path with each other or with a file. */
function sharedPads({ list }: TorrentShape): Issue[] {
  const pads = (list ?? []).filter(isPadFile);
  if (pads.length === 0) return [];
  const content = new Set((list ?? []).filter((file) => !isPadFile(file)).map(({ path }) => path.join('/')));
  const names = new Set<string>();
  let shared = 0;
  let example = '';
  for (const { path } of pads) {
    const name = path.join('/');
    const isTaken = names.has(name) || content.has(name) || content.has(path[0] as string);
    names.add(name);
    if (!isTaken) continue;
    shared += 1;
    example ||= name;
  }
  if (shared === 0) return [];
  const message =
    `${shared} of ${pads.length} pad files share a path (${example}): Transmission 4.1.1 and later refuse the torrent, and ` +
    "rtorrent 0.9.8 stalls. padNames: 'unique' avoids that, but changes the infohash.";
  return [issue('pad_names', ['info', 'files'], message)];
}

/** Files that libtorrent takes for pad files of BitComet because of their names. */
function likePads({ version, list, files }: TorrentShape): Issue[] {
  if (version === 'v2') return [];
  return files.flatMap(({ path }, index) => {
    if (!isNamedLikePad(path)) return [];
    const effect = version === 'v1' ? 'never download it' : 'refuse the torrent';
    const message =
      `${shown(path.join('/'))} is named like a pad file of BitComet: clients that use libtorrent (qBittorrent, Deluge) treat it ` +
      `as padding and ${effect}. Rename it, or make a v2 torrent.`;
    return [issue('named_like_pad', list ? ['info', 'files', index, 'path'] : ['info', 'name'], message)];
  });
}

/** A v2 file tree does not tell whether its only file is in a folder. */
function lostFolder({ version, isSingleFile, name, files }: TorrentShape): Issue[] {
  if (version !== 'v2' || isSingleFile || files.length !== 1 || files[0]?.path.length !== 1) return [];
  const message =
    `libtorrent, qBittorrent and Deluge drop the folder ${shown(name)}, because this v2 torrent has a single file in it: ` +
    'make a hybrid, or a torrent of the file itself.';
  return [issue('single_file_folder', ['info', 'file tree'], message)];
}

/** Dictionaries around the components of a path in the file tree: the torrent, `info`, the tree and the file. */
const LEVELS = 4;

/** Readers of file trees recurse: no limit lets them read a deeper tree. */
function requireDepth({ version, files }: TorrentShape): void {
  const max = MAX_TREE_DEPTH - LEVELS;
  const deep = version === 'v1' ? undefined : files.find(({ path }) => path.length > max);
  if (!deep) return;
  const path = deep.path.join('/');
  const message = `${shown(path)} has ${deep.path.length} components, but a v2 file tree holds at most ${max}: make a v1 torrent, or leave the file out.`;
  throw new MetainfoError('ERR_NAME', message, { path });
}

/** Measures a torrent before it is hashed. Files of equal content count with one layer each, although they share one. */
export function sizesOf(shape: TorrentShape): Sizes {
  const { version, isSingleFile, pieceLength, list, files } = shape;
  const total = { items: 0, bytes: 0, text: 0 };
  const add = (part: { items: number; bytes: number }) => {
    total.items += part.items;
    total.bytes += part.bytes;
  };
  add(sizeOfOtherFields(shape.otherFields, total));
  add(pair('piece length', String(pieceLength).length + 2));
  const v1Files = list ?? files;
  const v1Pieces = Math.ceil(sum(v1Files.map(({ length }) => length)) / pieceLength);
  const v2Pieces = sum(files.map(({ length }) => Math.ceil(length / pieceLength)));
  if (version !== 'v2') {
    add(pair('pieces', stringBytes(20 * v1Pieces)));
    if (list) add(sizeOfList(list));
    else add(pair('length', String(files[0]?.length ?? 0).length + 2));
  }
  if (version !== 'v1') {
    add(pair('meta version', 3));
    add(sizeOfTree(files));
    add(sizeOfLayers(files, pieceLength));
  }
  const components = Math.max(0, ...new Set(files.map(({ path }) => path.length)));
  return {
    ...total,
    depth: version === 'v1' ? (isSingleFile ? 2 : 5) : components + LEVELS,
    paths: version === 'v1' ? 0 : sum(files.map(({ path }) => sum(path.map((part) => part.length + 1)))),
    files: v1Files.length,
    pieces: version === 'v2' ? v2Pieces : v1Pieces,
    padding: list ? sum(list.filter(isPadFile).map(({ length }) => length)) : 0,
    pieceLength,
    length: files.reduce((most, { length }) => Math.max(most, length), 0),
  };
}

interface Size {
  items: number;
  bytes: number;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

/** The size of a bencoded string, in bytes. */
function stringBytes(length: number): number {
  return String(length).length + 1 + length;
}

function textBytes(text: string): number {
  return stringBytes(Buffer.byteLength(text));
}

/** The size of a key and its value. */
function pair(key: string, bytes: number): Size {
  return { items: 2, bytes: textBytes(key) + bytes };
}

function attrSize(attr: string | null | undefined): Size {
  return attr == null ? { items: 0, bytes: 0 } : pair('attr', stringBytes(attr.length));
}

/** The size of a file list; each file is `d[4:attr..]6:lengthi..e4:pathl..ee`. */
function sizeOfList(list: readonly FileItem[]): Size {
  const size = pair('files', 2);
  for (const { path, length, attr } of list) {
    const flags = attrSize(attr);
    size.items += 5 + path.length + flags.items;
    size.bytes += 20 + String(length).length + flags.bytes;
    for (const part of path) size.bytes += textBytes(part);
  }
  return size;
}

/** The size of a file tree; each file is `d0:d[4:attr..]6:lengthi..e[11:pieces root32:..]ee`, and each folder counts once. */
function sizeOfTree(files: TorrentShape['files']): Size {
  const size = pair('file tree', 2);
  let folders: readonly string[] = [];
  for (const { path, length, attr } of files) {
    const last = path.length - 1;
    let shared = 0;
    while (shared < Math.min(folders.length, last) && folders[shared] === path[shared]) shared += 1;
    for (const part of path.slice(shared)) size.bytes += textBytes(part) + 2;
    const flags = attrSize(attr);
    size.items += 2 * (path.length - shared) + 4 + flags.items + (length > 0 ? 2 : 0);
    size.bytes += 14 + String(length).length + flags.bytes + (length > 0 ? 49 : 0);
    folders = path.slice(0, last);
  }
  return size;
}

function sizeOfLayers(files: TorrentShape['files'], pieceLength: number): Size {
  const size = pair('piece layers', 2);
  for (const { length } of files) {
    if (length <= pieceLength) continue;
    size.items += 2;
    size.bytes += stringBytes(32) + stringBytes(32 * Math.ceil(length / pieceLength));
  }
  return size;
}

/** The size of all other fields. Also finds the longest text. */
function sizeOfOtherFields(otherFields: Encodable, longest: { text: number }): Size {
  // Encode first: it refuses values that are not bencode, and cycles.
  const bytes = encode(otherFields).length;
  let items = 0;
  const stack = [otherFields];
  for (let value = stack.pop(); value !== undefined; value = stack.pop()) {
    items += 1;
    if (typeof value === 'string') longest.text = Math.max(longest.text, Buffer.byteLength(value));
    else if (Array.isArray(value)) for (const entry of value as readonly Encodable[]) stack.push(entry);
    else if (isMap(value)) {
      items += value.size;
      for (const entry of (value as ReadonlyMap<string, Encodable>).values()) stack.push(entry);
    }
  }
  return { items, bytes };
}
