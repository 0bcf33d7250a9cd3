import type { Struct } from 'superstruct';
import { checkArgument, checkOptions, expected, Flag, type OptionStructs, oneOf } from '../errors/guard.ts';
import { checkPieceLength } from './piece-length.ts';

/** What padding looks at: an entry of a v1 file list. */
export interface PaddedFile {
  /** Bytes. */
  length: number;
  /** Components, from the torrent's root; a pad may have none (BEP 47). */
  path: string[];
  /** BEP 47 flags. */
  attr?: string | null;
}

/** Whether a file is padding by its flags: zeros that align the next file, and no part of what a user sees (BEP 47). */
export function isPadFile(file: Partial<PaddedFile>): boolean {
  // It is asked of every file.
  const attr = file?.attr;
  if (typeof attr === 'string') return attr.includes('p');
  if (attr != null || typeof file !== 'object' || file === null) checkArgument('file', file, File);
  return false;
}

/** How BitComet names the pads that it wrote before BEP 47. */
export const BITCOMET_PAD = '_____padding_file_';

/** Whether libtorrent takes a path for that of a pad of BitComet: wherever the name stands in it. */
export function isNamedLikePad(path: readonly string[]): boolean {
  return path.some((part) => part.includes(BITCOMET_PAD));
}

/**
 * Tells the pad files of a v1 list that was read: by their flags; in a list without any `attr`, also by BitComet's name
 * where the file ends at the end of a piece. A name alone proves nothing: a real file may have it.
 */
export function padsIn<T extends PaddedFile>(files: readonly T[], pieceLength: number): (file: T) => boolean {
  const named: T[] = [];
  let offset = 0;
  for (const file of files) {
    const { attr, length, path } = file;
    if (attr != null) return isPadFile;
    offset += length;
    const fits = length > 0 && length < pieceLength;
    if (fits && path[path.length - 1]?.startsWith(BITCOMET_PAD) && offset % pieceLength === 0) named.push(file);
  }
  const pads = new Set(named);
  return pads.size > 0 ? (file) => pads.has(file) : isPadFile;
}

/** The index of the first file with content that does not start at a piece's start; -1 when all do. */
export function firstUnaligned(files: readonly PaddedFile[], pieceLength: number): number {
  const isPad = padsIn(files, pieceLength);
  let offset = 0;
  return files.findIndex((file) => {
    const unaligned = offset % pieceLength !== 0 && file.length > 0 && !isPad(file);
    offset += file.length;
    return unaligned;
  });
}

/**
 * The index of the first entry that breaks the padding: a file with content that starts within a piece, or a pad file that
 * does not end where the next piece starts; -1 for none. The pad file after the last file may be absent.
 */
export function firstMispadded(files: readonly PaddedFile[], pieceLength: number): number {
  const isPad = padsIn(files, pieceLength);
  let offset = 0;
  return files.findIndex((file) => {
    const missing = (pieceLength - (offset % pieceLength)) % pieceLength;
    offset += file.length;
    if (isPad(file)) return missing === 0 || file.length !== missing;
    return file.length > 0 && missing > 0;
  });
}

/**
 * How pad files are named. `libtorrent`: by their length (`.pad/16383`), so pads of equal length share a path. `unique`: the
 * length and a number (`.pad/16383.1`), in a folder that no file of the torrent is in, so no path repeats.
 */
export type PadNames = 'libtorrent' | 'unique';

/** Where {@link addPadfiles} puts pads, and how it names them. */
export interface PaddingOptions {
  /**
   * Pad after the last file too, as BEP 52's reference and libtorrent from 2.0.8 do; default true. Without it a pad stands
   * before the file that it aligns, after any empty files, as in libtorrent (`canonical_files_no_tail_padding`).
   */
  tailPad?: boolean;
  /**
   * `unique` for names that never repeat, which changes the infohash.
   *
   * @default 'libtorrent'
   */
  padNames?: PadNames | undefined;
}

const File = expected<PaddedFile>('a file, whose attr is text, null or absent', () => false);
const Files = expected<readonly PaddedFile[]>(
  'a list of files with a length and a path',
  (value) =>
    Array.isArray(value) &&
    value.every((file) => Number.isSafeInteger(file?.length) && file.length >= 0 && Array.isArray(file.path)),
);
export const PAD_NAMES: Struct<PadNames, null> = oneOf('libtorrent', 'unique');
const PADDING: OptionStructs<PaddingOptions> = { tailPad: Flag, padNames: PAD_NAMES };

/** A pad file of `length` zeros (BEP 47). */
export function padFile(length: number, path = ['.pad', String(length)]): PaddedFile {
  return { length, path, attr: 'p' };
}

/**
 * A v1 file list with pad files, so that every file starts at a piece's start (BEP 47, BEP 52). A list of one file gets
 * none, and pads that are there already are left out and made anew.
 */
export function addPadfiles<T extends PaddedFile>(
  files: readonly T[],
  pieceLength: number,
  given: PaddingOptions = {},
): (T | PaddedFile)[] {
  checkArgument('files', files, Files);
  checkPieceLength(pieceLength, 'v1');
  const checked = checkOptions(given, PADDING, { example: '{ tailPad: false }' });
  return withPads(
    files.filter((file) => !isPadFile(file)),
    pieceLength,
    checked,
  );
}

/** The same for files that are all content, whatever they are called. */
export function withPads<T extends PaddedFile>(
  content: readonly T[],
  pieceLength: number,
  { tailPad = true, padNames = 'libtorrent' }: PaddingOptions = {},
): (T | PaddedFile)[] {
  if (content.length === 1) return [...content];
  const pathOf = padNames === 'unique' ? uniquePaths(content) : () => undefined;
  const list: (T | PaddedFile)[] = [];
  let missing = 0;
  const pad = () => {
    if (missing > 0) list.push(padFile(missing, pathOf(missing)));
    missing = 0;
  };
  for (const file of content) {
    if (file.length > 0) pad();
    list.push(file);
    if (file.length > 0) missing = (pieceLength - (file.length % pieceLength)) % pieceLength;
    if (tailPad) pad();
  }
  return list;
}

function uniquePaths(content: readonly PaddedFile[]): (length: number) => string[] {
  const taken = new Set(content.map(({ path }) => path[0]));
  let folder = '.pad';
  while (taken.has(folder)) folder += '_';
  const counts = new Map<number, number>();
  return (length) => {
    const count = (counts.get(length) ?? 0) + 1;
    counts.set(length, count);
    return [folder, `${length}.${count}`];
  };
}

/** How the pads of a list are named; `libtorrent` when it has none. */
export function padNamesOf(files: readonly PaddedFile[]): PadNames {
  const isUnique = ({ attr, path }: PaddedFile) =>
    attr?.includes('p') && path.length === 2 && /^\.pad_*$/.test(path[0] ?? '') && /^\d+\.\d+$/.test(path[1] ?? '');
  return files.some(isUnique) ? 'unique' : 'libtorrent';
}
