/** The files of a torrent in packed columns, for jobs that must not make an object of each file. */
import { decodeTrusted, type TrustedDecodeOptions } from '../../bencode/decode.ts';
import { NO_LIMITS } from '../../bencode/limits.ts';
import { addonOrNull, type DecodedFiles } from '../../hash/addon.ts';
import { type PathColumn, pathBytes, pathColumn } from '../../layout/file-table.ts';
import { type PadNames, padNamesBy, padNamesOf, padsIn } from '../../layout/padding.ts';
import { compareBytes, inNode, isAscii, latin1Text } from '../../platform/node.ts';
import { nameText } from '../../text/name-bytes.ts';
import type { TorrentVersion } from '../discriminator.ts';
import { type FileItem, v1Files } from '../file-item.ts';
import { RAW } from '../files-codec.ts';
import type { InfoDictHybrid, InfoDictV1 } from '../info-dict.ts';
import type { Torrent } from '../torrent/torrent.ts';
import { TorrentBase, type TorrentFile } from '../torrent/torrent-base.ts';
import { flattenTree } from './flat-tree.ts';
import { once } from './lazy.ts';

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
  /** Whether any file has BEP 47 flags. */
  hasAttributes: boolean;
  /** The entries of the v1 file list; null in v2. */
  entries: V1Entries | null;
  /** How the pad files of that list are named. */
  padNames(): PadNames;
}

/** Entries of a v1 file list, pad files included. */
export interface V1Entries {
  /** Bytes of each entry. */
  lengths: Float64Array;
  /** The index of each entry among the files of the torrent, {@link PAD} or {@link EMPTY}. */
  files: Int32Array;
}

/** Stands for a pad file. */
export const PAD = -1;
/** Stands for an empty file: a hybrid may list it elsewhere than `torrent.files` does. */
export const EMPTY = -2;

const contents = new WeakMap<Torrent, TorrentContent>();

/** Keeps the content of a torrent that was just decoded. */
export function keepContent(torrent: Torrent, content: TorrentContent): void {
  contents.set(torrent, content);
}

/** The files of a torrent in columns. Nobody may change them. */
export function contentOf(torrent: Torrent): TorrentContent {
  const content = contents.get(torrent) ?? (inNode() ? usualContentOf(torrent) : null) ?? contentOfRows(torrent);
  contents.set(torrent, content);
  return content;
}

/** The pieces root of a file with content in a v2 or hybrid torrent. */
export function rootAt({ roots }: Pick<TorrentContent, 'roots'>, index: number): Uint8Array {
  return (roots as Uint8Array).subarray(index * 32, (index + 1) * 32);
}

/** The file list and the file tree of a torrent, as native code has read them. */
export interface NativeLists {
  files?: DecodedFiles;
  'file tree'?: DecodedFiles;
}

/** In less data, lists take less time to decode than native code to call. */
const MIN_BYTES = 2 ** 14;
const [LIST, DICTIONARY] = [0x6c, 0x64];

/** The way to decode a torrent whose lists of files native code reads. @param lists Receives those that are usual. */
export function rawLists(lists: NativeLists): NonNullable<TrustedDecodeOptions['raw']> {
  const check = (key: string, bytes: Uint8Array, at: number) => {
    const isList = bytes[at] === LIST && key === 'files';
    const isTree = bytes[at] === DICTIONARY && key === 'file tree';
    const found = isList || isTree ? addonOrNull()?.decodeFiles(bytes, at) : undefined;
    if (found) lists[key as keyof NativeLists] = found;
    return found ?? null;
  };
  return { ...RAW, check: (key, bytes, at) => (bytes.length < MIN_BYTES ? null : check(key, bytes, at)) };
}

/** The content of usual lists; null where they do not fit the version, or each other and the piece length. */
export function usualContent(
  { files: list, 'file tree': tree }: NativeLists,
  { version, pieceLength }: { version: TorrentVersion; pieceLength: number },
): TorrentContent | null {
  const files = tree ?? list;
  // Only the addon reads lists.
  if (!inNode()) return null;
  if (!files || files.lengths.length < 2 || (version !== 'v2') !== (list !== undefined)) return null;
  if ((version !== 'v1') !== (tree !== undefined)) return null;
  const { paths, lengths } = files;
  if (list && tree && !(isSamePaths(list.paths, paths) && isSameNumbers(list.lengths, lengths))) return null;
  const entries = list ? { lengths: list.entryLengths, files: list.entryFiles } : null;
  if (entries && tree && !isPadded(entries, pieceLength)) return null;
  const texts = once(() => asciiText(paths));
  const pathAt = (index: number) => {
    const text = texts();
    if (text === null) return nameText(pathBytes(paths, index)).replaceAll('\0', '/');
    return text.slice(index === 0 ? 0 : paths.ends[index - 1], paths.ends[index]);
  };
  const hasAttributes = files.hasAttributes || list?.hasAttributes === true;
  const padNames = once(() => padNamesOfEntries(list));
  const roots = tree?.roots ?? null;
  return { paths, pathAt, lengths, roots, links: NO_LINKS, hasAttributes, entries, padNames };
}

/** All paths with `/`, one directly after the other: to decode them at once takes a tenth of the time. Null if they are not ASCII. */
function asciiText({ bytes }: PathColumn): string | null {
  return isAscii(bytes) ? latin1Text(bytes).replaceAll('\0', '/') : null;
}

const NO_LINKS: ReadonlySet<number> = new Set();

function isSamePaths(one: PathColumn, other: PathColumn): boolean {
  return compareBytes(one.bytes, other.bytes) === 0 && isSameNumbers(one.ends, other.ends);
}

function isSameNumbers(one: Uint32Array | Float64Array, other: Uint32Array | Float64Array): boolean {
  return one.length === other.length && one.every((number, i) => number === other[i]);
}

function padNamesOfEntries(list: DecodedFiles | undefined): PadNames {
  const { hasNumberedPads: hasNumbered = false, hasPlainPads: hasPlain = false } = list ?? {};
  const isPad = (i: number) => list?.entryFiles[i] === PAD;
  const lengths = hasPlain && !hasNumbered ? (list?.entryLengths.filter((_, i) => isPad(i)) ?? []) : [];
  return padNamesBy({ hasNumbered, hasPlain, lengths });
}

/** As `firstMispadded`: whether each file starts and each pad file ends where a piece starts. */
function isPadded({ lengths, files }: V1Entries, pieceLength: number): boolean {
  let offset = 0;
  for (let i = 0; i < lengths.length; i += 1) {
    const missing = (pieceLength - (offset % pieceLength)) % pieceLength;
    const length = lengths[i] as number;
    if (files[i] === PAD ? length !== missing : length > 0 && missing > 0) return false;
    offset += length;
  }
  return true;
}

/** The content of a torrent without warnings, if its lists are usual. */
function usualContentOf(torrent: Torrent): TorrentContent | null {
  const { torrentVersion: version, info } = torrent;
  if (torrent.warnings.length > 0) return null;
  const lists: NativeLists = {};
  decodeTrusted(TorrentBase.bytesOf(torrent).infoBytes, {
    tolerant: true,
    limits: NO_LIMITS,
    raw: { ...rawLists(lists), within: null },
  });
  return usualContent(lists, { version, pieceLength: info.pieceLength });
}

function contentOfRows(torrent: Torrent): TorrentContent {
  const files = TorrentBase.filesOf(torrent);
  const roots = torrent.torrentVersion === 'v1' ? null : new Uint8Array(files.length * 32);
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
    hasAttributes: files.some(({ attr }) => attr !== null),
    padNames: () => padNamesOf((torrent.info as Partial<InfoDictV1>).files ?? []),
    entries: torrent.torrentVersion === 'v2' ? null : entriesOfRows(torrent),
  };
}

function entriesOfRows(torrent: Torrent): V1Entries {
  const files = TorrentBase.filesOf(torrent);
  const list = v1Files(torrent.info as InfoDictV1) as readonly FileItem[];
  const isPad = padsIn(list, torrent.info.pieceLength);
  let file = -1;
  return {
    lengths: Float64Array.from(list, ({ length }) => length),
    files: Int32Array.from(list, (entry) => {
      if (isPad(entry)) return PAD;
      if (entry.length === 0) return EMPTY;
      // All files with content have the same order in both versions of a hybrid.
      do file += 1;
      while (files[file]?.length === 0);
      return file;
    }),
  };
}

/** The targets of stored links, by the paths of the links; both begin at the torrent's root, with `/`. */
export function storedLinks(torrent: Torrent): ReadonlyMap<string, string> {
  const links = new Map<string, string>();
  // Large lists and trees are decoded only if they are needed.
  if (contentOf(torrent).links.size === 0) return links;
  const { files: list, fileTree } = torrent.info as Partial<InfoDictHybrid>;
  for (const { path, symlinkPath } of list ?? flattenTree(fileTree ?? new Map()))
    if (symlinkPath) links.set(path.join('/'), symlinkPath.join('/'));
  return links;
}
