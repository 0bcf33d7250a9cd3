/** The v1 file list and the v2 file tree of planned files; for many files, they are encoded on a native thread. */
import { type BencodeMap, RawBencode } from '../bencode/value.ts';
import { type Addon, addonOrNull, type NativePadding, tableResult } from '../hash/addon.ts';
import type { FileTable, TableFile } from '../layout/file-table.ts';
import { isNamedLikePad, type PadNames, withPads } from '../layout/padding.ts';
import type { TorrentVersion } from '../model/discriminator.ts';
import type { FileItem } from '../model/file-item.ts';
import type { FlatFile } from '../model/file-tree.ts';
import { encodeFileList, encodeFlatTree } from '../model/files-codec.ts';
import { MANY_FILES } from './order-files.ts';

/** A file, and what its entries in the list and in the tree have beside its path and length. */
export interface ListedFile extends TableFile {
  /** BEP 47 flags. */
  attr?: string | undefined;
  /** The target of a stored symbolic link, from the root of the torrent (BEP 47). */
  symlinkPath?: readonly string[] | undefined;
  /** Unknown keys of the file in the v2 file tree. */
  extra?: BencodeMap | undefined;
  /** The entry of the file in a v1 file list, with keys that are kept. */
  listed?: FileItem | undefined;
}

/** The properties of a torrent that decide its v1 file list. */
export interface ListShape {
  version: TorrentVersion;
  /** Whether the torrent is a single file instead of a folder. */
  isSingleFile: boolean;
  pieceLength: number;
  /** The content in the order of the torrent. Each length is known. */
  files: FileTable<ListedFile>;
  /** How the list is padded; null for no pad files. */
  padding: { tailPad: boolean; padNames: PadNames } | null;
}

/** The v1 file list: files and pad files. Null in v2 and for a single file. */
export function fileList({ version, isSingleFile, files, pieceLength, padding }: ListShape): FileItem[] | null {
  if (!hasList({ version, isSingleFile })) return null;
  const items = files.map(({ path, length, attr, symlinkPath, listed }): FileItem => {
    const flags = { ...(attr !== undefined && { attr }), ...(symlinkPath && { symlinkPath }) };
    return { ...listed, ...flags, length: length as number, path };
  });
  return withClearPads(padding ? withPads(items, pieceLength, padding) : items);
}

/** Whether a torrent has a v1 file list. */
export function hasList({ version, isSingleFile }: Pick<ListShape, 'version' | 'isSingleFile'>): boolean {
  return version !== 'v2' && !isSingleFile;
}

/** An empty `attr` for each file that is named like a pad file: without any `attr` in a list, readers tell pad files by name. */
function withClearPads(list: FileItem[]): FileItem[] {
  if (list.some(({ attr }) => attr != null)) return list;
  return list.map((item) => (isNamedLikePad(item.path) ? { ...item, attr: '' } : item));
}

/** The v1 file list as bencode; null in v2 and for a single file. */
export async function encodedFileList(shape: ListShape): Promise<RawBencode | null> {
  if (!hasList(shape)) return null;
  const addon = addonFor(shape.files);
  if (!addon) return encodeFileList(fileList(shape) as FileItem[]);
  return new RawBencode(await tableResult(addon.encodeFileList(shape.files.columns, nativePadding(shape))));
}

/** The v2 file tree of files in v2 order, as bencode. @param roots The pieces root of each file, 32 bytes each. */
export async function encodedFileTree(files: FileTable<ListedFile>, roots: Uint8Array): Promise<RawBencode> {
  // Roots of another size come from an engine of a caller: reading the tree reports them.
  const addon = roots.length === files.length * 32 ? addonFor(files) : null;
  if (addon) return new RawBencode(await tableResult(addon.encodeFileTree(files.columns, roots)));
  return fileTreeOf(files, roots);
}

/** {@link encodedFileTree} for few files. */
export function fileTreeOf(files: FileTable<ListedFile>, roots: Uint8Array): RawBencode {
  const flat = files.map(({ path, length, attr, symlinkPath, extra }, i): FlatFile => {
    const piecesRoot = length === 0 ? null : roots.subarray(i * 32, (i + 1) * 32);
    const keys = { ...(attr !== undefined && { attr }), ...(symlinkPath && { symlinkPath }), ...(extra && { extra }) };
    // libtorrent omits the length of a link, and so do we, for the same infohash.
    if (symlinkPath) return { ...keys, piecesRoot: null, path } as unknown as FlatFile;
    return { ...keys, length: length as number, piecesRoot, path };
  });
  return encodeFlatTree(flat);
}

/** The addon, if it should encode these files: they are many, and their entries have nothing but paths and lengths. */
export function addonFor(files: FileTable<ListedFile>): Addon | null {
  // The addon names pad files as if no file were in their folder.
  return files.length >= MANY_FILES && hasPlainEntries(files) && !files.hasPadFolder ? addonOrNull() : null;
}

/** Whether the entries of files have nothing but paths, lengths and pieces roots, and are not named like pad files. */
export function hasPlainEntries(files: FileTable<ListedFile>): boolean {
  const hasKeys = ({ attr, extra, listed }: ListedFile) => attr !== undefined || extra || listed;
  if (!files.onDisk && files.rows().some(hasKeys)) return false;
  return !files.hasNamesLikePads;
}

/** How the addon lays out the pad files; null for none. */
export function nativePadding({ files, padding, pieceLength }: ListShape): NativePadding | null {
  if (!padding || files.length === 1) return null;
  return { pieceLength, tailPad: padding.tailPad, names: padding.padNames };
}
