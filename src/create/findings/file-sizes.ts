/** Measures the files of a torrent, its v1 file list and its v2 file tree; for many files, on a native thread (native/core/table/file_encoder.cc). */
import { tableResult } from '../../hash/addon.ts';
import { type FileTable, pathBytes, type TableFile } from '../../layout/file-table.ts';
import { isNamedLikePad, isPadFile } from '../../layout/padding.ts';
import type { FileItem } from '../../model/file-item.ts';
import { latin1Text, utf8Length } from '../../platform/node.ts';
import { addonFor, fileList, hasList, type ListedFile, type ListShape, nativePadding } from '../file-list.ts';

/** Bencoded values, and their bytes. */
export interface Size {
  items: number;
  bytes: number;
}

/** The sizes of the files of a torrent, and of their entries in the torrent. */
export interface FileSizes {
  /** Bytes of all files. */
  total: number;
  /** Bytes of the longest file. */
  longest: number;
  /** The pieces of the files one by one, as v2 counts them. */
  pieces: number;
  /** The most components that a path has. */
  components: number;
  /** The first file whose path has too many components; -1 if there is none. */
  tooDeep: number;
  /** UTF-16 units of all paths, and one more for each component. */
  pathUnits: number;
  /** The v1 file list with its key; null if the torrent has none. */
  list: Size | null;
  /** The pad files of the list, and their bytes of content. */
  pads: number;
  padBytes: number;
  /** Pad files that share a path with each other or with a file, and the path of the first one, with `/`. */
  sharedPads: number;
  sharedPad: string;
  /** The v2 file tree with its key. */
  tree: Size;
  /** The entries of `piece layers`. */
  layers: Size;
  /** The files that are named like pad files of BitComet. */
  likePads: number[];
}

/** Measures files. @param maxComponents The components that a path may have. */
export async function measureFiles(shape: ListShape, maxComponents: number): Promise<FileSizes> {
  const addon = addonFor(shape.files);
  if (!addon) return measureRows(shape, maxComponents);
  const { files, pieceLength } = shape;
  const isListed = hasList(shape);
  const job = addon.measureFiles(files.columns, nativePadding(shape), pieceLength, maxComponents);
  const numbers = await tableResult(job);
  const [total = 0, longest = 0, pieces = 0, layers = 0, layerBytes = 0, components = 0, tooDeep = 0, pathUnits = 0] =
    numbers;
  const [listItems = 0, listBytes = 0, pads = 0, padBytes = 0, sharedPads = 0, sharedPad = 0] = numbers.subarray(8);
  const [treeItems = 0, treeBytes = 0] = numbers.subarray(14);
  return {
    ...{ total, longest, pieces, components, tooDeep, pathUnits },
    list: isListed ? { items: listItems + 2, bytes: listBytes + textBytes('files') } : null,
    ...(isListed ? { pads, padBytes, sharedPads } : { pads: 0, padBytes: 0, sharedPads: 0 }),
    sharedPad: isListed && sharedPads > 0 ? `.pad/${sharedPad}` : '',
    tree: { items: treeItems + 2, bytes: treeBytes + textBytes('file tree') },
    layers: without({ items: 2 * layers, bytes: layerBytes }, repeatedLayers(files, pieceLength)),
    likePads: [],
  };
}

/** Measures few files, and those that the addon does not measure. */
function measureRows(shape: ListShape, maxComponents: number): FileSizes {
  const { pieceLength } = shape;
  const files = shape.files.rows();
  const list = fileList(shape);
  const pads = (list ?? []).filter(isPadFile);
  const shared = pathsOfSharedPads(list ?? [], pads);
  return {
    total: sum(files.map(({ length }) => length as number)),
    longest: files.reduce((most, { length }) => Math.max(most, length as number), 0),
    pieces: sum(files.map(({ length }) => Math.ceil((length as number) / pieceLength))),
    components: files.reduce((most, { path }) => Math.max(most, path.length), 0),
    tooDeep: files.findIndex(({ path }) => path.length > maxComponents),
    pathUnits: sum(files.map(({ path }) => sum(path.map((part) => part.length + 1)))),
    list: list && sizeOfList(list),
    pads: pads.length,
    padBytes: sum(pads.map(({ length }) => length)),
    sharedPads: shared.length,
    sharedPad: shared[0] ?? '',
    tree: sizeOfTree(files),
    layers: without(sizeOfLayers(files, pieceLength), repeatedLayers(shape.files, pieceLength)),
    likePads: files.flatMap(({ path }, index) => (isNamedLikePad(path) ? [index] : [])),
  };
}

/** The paths of pad files that share theirs with each other or with a file. */
function pathsOfSharedPads(list: readonly FileItem[], pads: readonly FileItem[]): string[] {
  if (pads.length === 0) return [];
  const content = new Set(list.filter((file) => !isPadFile(file)).map(({ path }) => path.join('/')));
  const names = new Set<string>();
  return pads.flatMap(({ path }) => {
    const name = path.join('/');
    const isTaken = names.has(name) || content.has(name) || content.has(path[0] as string);
    names.add(name);
    return isTaken ? [name] : [];
  });
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

/** The size of a bencoded string, in bytes. */
export function stringBytes(length: number): number {
  return String(length).length + 1 + length;
}

function textBytes(text: string): number {
  return stringBytes(utf8Length(text));
}

/** The size of a key and its value. */
export function pair(key: string, bytes: number): Size {
  return { items: 2, bytes: textBytes(key) + bytes };
}

interface Flags {
  attr: string | null | undefined;
  symlinkPath: readonly string[] | null | undefined;
}

/** The size of the keys that few files have: `attr` and `symlink path`. */
function flagsSize({ attr, symlinkPath }: Flags): Size {
  const flags = attr == null ? { items: 0, bytes: 0 } : pair('attr', stringBytes(attr.length));
  if (!symlinkPath) return flags;
  const link = pair('symlink path', 2 + sum(symlinkPath.map(textBytes)));
  return { items: flags.items + link.items + symlinkPath.length, bytes: flags.bytes + link.bytes };
}

/** The size of a file list; each file is `d[4:attr..]6:lengthi..e4:pathl..ee`. */
function sizeOfList(list: readonly FileItem[]): Size {
  const size = pair('files', 2);
  for (const { path, length, attr, symlinkPath } of list) {
    const flags = flagsSize({ attr, symlinkPath });
    size.items += 5 + path.length + flags.items;
    size.bytes += 20 + String(length).length + flags.bytes;
    for (const part of path) size.bytes += textBytes(part);
  }
  return size;
}

/** The size of a file tree; each file is `d0:d[4:attr..]6:lengthi..e[11:pieces root32:..]ee`, and each folder counts once. */
function sizeOfTree(files: readonly ListedFile[]): Size {
  const size = pair('file tree', 2);
  let folders: readonly string[] = [];
  for (const { path, length: bytes, attr, symlinkPath } of files) {
    const length = bytes as number;
    const last = path.length - 1;
    let shared = 0;
    while (shared < Math.min(folders.length, last) && folders[shared] === path[shared]) shared += 1;
    for (const part of path.slice(shared)) size.bytes += textBytes(part) + 2;
    const flags = flagsSize({ attr, symlinkPath });
    const lengthKey = symlinkPath ? { items: 0, bytes: 0 } : pair('length', 2 + String(length).length);
    size.items += 2 * (path.length - shared) + 2 + lengthKey.items + flags.items + (length > 0 ? 2 : 0);
    size.bytes += 4 + lengthKey.bytes + flags.bytes + (length > 0 ? 49 : 0);
    folders = path.slice(0, last);
  }
  return size;
}

function sizeOfLayers(files: readonly ListedFile[], pieceLength: number): Size {
  const size = { items: 0, bytes: 0 };
  for (const { length } of files) add(size, sizeOfLayer(length as number, pieceLength));
  return size;
}

/** The size of the entry of one file in `piece layers`. */
function sizeOfLayer(length: number, pieceLength: number): Size {
  if (length <= pieceLength) return { items: 0, bytes: 0 };
  return { items: 2, bytes: stringBytes(32) + stringBytes(32 * Math.ceil(length / pieceLength)) };
}

/** The layers of files that links add again: a torrent has the layer of equal content once. */
function repeatedLayers(files: FileTable<ListedFile & TableFile>, pieceLength: number): Size {
  const size = { items: 0, bytes: 0 };
  const diskPaths = files.onDisk ? files.onDisk.columns.diskPaths : undefined;
  // Without links, no file is there twice.
  if (diskPaths === null) return size;
  const seen = new Set<string>();
  for (const [index, length] of files.lengths.entries()) {
    if (length <= pieceLength) continue;
    const onDisk = diskPaths ? latin1Text(pathBytes(diskPaths, index)) : files.at(index)?.diskPath;
    if (onDisk === undefined) continue;
    if (seen.has(onDisk)) add(size, sizeOfLayer(length, pieceLength));
    seen.add(onDisk);
  }
  return size;
}

/** Adds a part to a size. */
export function add(size: Size, part: Size): void {
  size.items += part.items;
  size.bytes += part.bytes;
}

function without(size: Size, part: Size): Size {
  return { items: size.items - part.items, bytes: size.bytes - part.bytes };
}
