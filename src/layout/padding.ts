/** Pad files (BEP 47): recognizing, checking and adding them; `native/core/table/file_encoder.cc` adds them for many files. */
import type { Struct } from 'superstruct';
import {
  checkArgument,
  checkOptions,
  expected,
  Flag,
  isListOf,
  isSize,
  type OptionStructs,
  oneOf,
} from '../errors/guard.ts';
import { checkPieceLength } from './piece-length.ts';

/** An entry of a v1 file list, with the fields that padding depends on. */
export interface PaddedFile {
  /** The length in bytes. */
  readonly length: number;
  /** The path's components, from the root of the torrent. A pad file may have none (BEP 47). */
  readonly path: readonly string[];
  /** Flags (BEP 47): `p` marks a pad file. */
  readonly attr?: string | null;
}

/**
 * Whether a file is a pad file by its flags (BEP 47): zeros that move the next file to the start of a piece.
 *
 * @throws {MetainfoError} `ERR_INVALID_ARGUMENT` when `file` is not an object, or its `attr` is not a string, null or absent
 *
 * @example
 * ```ts
 * import { isPadFile } from 'metainfo';
 *
 * console.log(isPadFile({ length: 16383, path: ['.pad', '16383'], attr: 'p' })); // true
 * ```
 */
export function isPadFile(file: Partial<PaddedFile>): boolean {
  // This runs for every file, so the usual case comes first.
  const attr = file?.attr;
  if (typeof attr === 'string') return attr.includes('p');
  if (attr != null || typeof file !== 'object' || file === null) checkArgument('file', file, File);
  return false;
}

/** The start of the names of pad files that BitComet wrote before BEP 47. */
export const BITCOMET_PAD = '_____padding_file_';

/** Whether libtorrent treats a file as a pad file of BitComet: it looks for the name anywhere in the path. */
export function isNamedLikePad(path: readonly string[]): boolean {
  return path.some((part) => part.includes(BITCOMET_PAD));
}

/**
 * Returns a test for the pad files of a decoded v1 list. They have the `p` flag. A file without `attr`, with BitComet's name, that ends at
 * the end of a piece is a pad file too: the name alone is not enough, as a real file may have it.
 */
export function padsIn<T extends PaddedFile>(files: readonly T[], pieceLength: number): (file: T) => boolean {
  const named = new Set<T>();
  let offset = 0;
  for (const file of files) {
    const { attr, length, path } = file;
    offset += length;
    const fits = attr == null && length > 0 && length < pieceLength;
    if (fits && path.at(-1)?.startsWith(BITCOMET_PAD) && offset % pieceLength === 0) named.add(file);
  }
  return named.size > 0 ? (file) => named.has(file) || isPadFile(file) : isPadFile;
}

/** Returns the index of the first file with content that does not start at the start of a piece; -1 if there is none. */
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
 * Returns the index of the first entry that breaks the padding; -1 if there is none. A file with content must start at the start
 * of a piece, and a pad file must end at the end of a piece. The tail pad may be missing.
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
 * How pad files are named. `libtorrent` names them by length (`.pad/16383`), so pad files of equal length share a path, which
 * Transmission 4.1.1 and later refuse. `auto` adds a number where such a name repeats (`.pad/16383.1`), and `unique` adds one to each name.
 * All use another folder (`.pad_`) if the torrent has a file or folder `.pad`: clients without pad files would overwrite its content with
 * zeros.
 */
export type PadNames = 'auto' | 'libtorrent' | 'unique';

/** The options of {@link addPadfiles}. */
export interface PaddingOptions {
  /**
   * Add a tail pad, as the reference implementation of BEP 52 and libtorrent from 2.0.8 do. Without it, a pad file stands directly
   * before the file that it aligns, after any empty files, as in libtorrent (`canonical_files_no_tail_padding`).
   *
   * @default true
   */
  tailPad?: boolean;
  /**
   * The infohash depends on them where names repeat.
   *
   * @default 'auto'
   */
  padNames?: PadNames | undefined;
}

/** How a list is padded where the caller does not say. */
export const PADDING_DEFAULTS = { tailPad: true, padNames: 'auto' } as const satisfies PaddingOptions;

const File = expected<PaddedFile>('a file whose attr is a string, null or absent', () => false);
const Files = expected<readonly PaddedFile[]>('a list of files with a length and a path', (value) =>
  isListOf(value, (file: PaddedFile | undefined) => isSize(file?.length) && Array.isArray(file?.path)),
);
export const PAD_NAMES: Struct<PadNames, null> = oneOf('auto', 'libtorrent', 'unique');
const PADDING: OptionStructs<PaddingOptions> = { tailPad: Flag, padNames: PAD_NAMES };

/** Makes a pad file of `length` zeros (BEP 47). */
export function padFile(length: number, path = [PAD_FOLDER, String(length)]): PaddedFile {
  return { length, path, attr: 'p' };
}

/**
 * Returns a v1 file list with pad files, so that every file starts at the start of a piece (BEP 47, BEP 52). A list of one file
 * gets none. Pad files in `files` are replaced.
 *
 * @param files The files in the order of the torrent.
 * @param pieceLength Bytes of a piece: a power of two up to 2 GiB.
 * @throws {MetainfoError} `ERR_PIECE_LENGTH` for an invalid piece length; `ERR_INVALID_ARGUMENT` for any other invalid argument
 *
 * @example
 * ```ts
 * import { addPadfiles } from 'metainfo';
 *
 * const files = [{ length: 1, path: ['a'] }, { length: 16384, path: ['b'] }];
 * console.log(addPadfiles(files, 16384).map(({ path }) => path.join('/'))); // [ 'a', '.pad/16383', 'b' ]
 * ```
 */
export function addPadfiles<T extends PaddedFile>(
  files: readonly T[],
  pieceLength: number,
  options: PaddingOptions = {},
): (T | PaddedFile)[] {
  checkArgument('files', files, Files);
  checkPieceLength(pieceLength, 'v1');
  const checked = checkOptions(options, PADDING, { example: '{ tailPad: false }' });
  return withPads(
    files.filter((file) => !isPadFile(file)),
    pieceLength,
    checked,
  );
}

/** Does what {@link addPadfiles} does, but checks nothing and takes every file as content, whatever its name or flags. */
export function withPads<T extends PaddedFile>(
  content: readonly T[],
  pieceLength: number,
  { tailPad = PADDING_DEFAULTS.tailPad, padNames = PADDING_DEFAULTS.padNames }: PaddingOptions = {},
): (T | PaddedFile)[] {
  if (content.length === 1) return [...content];
  const pathOf = padPaths(content, padNames);
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

/** The folder of pad files. */
export const PAD_FOLDER = '.pad';

function padPaths(content: readonly PaddedFile[], padNames: PadNames): (length: number) => string[] {
  const taken = new Set(content.map(({ path }) => path[0]));
  let folder = PAD_FOLDER;
  while (taken.has(folder)) folder += '_';
  const counts = new Map<number, number>();
  return (length) => {
    if (padNames === 'libtorrent') return [folder, String(length)];
    const before = counts.get(length) ?? 0;
    counts.set(length, before + 1);
    const number = padNames === 'unique' ? before + 1 : before;
    return [folder, number === 0 ? String(length) : `${length}.${number}`];
  };
}

/** Returns how the pad files of a list are named. */
export function padNamesOf(files: readonly PaddedFile[]): PadNames {
  const pads = files.filter(({ attr }) => attr?.includes('p'));
  const isNumbered = ({ path }: PaddedFile) => /^\.pad_*\/\d+\.\d+$/.test(path.join('/'));
  const hasNumbered = pads.some(isNumbered);
  const hasPlain = !pads.every(isNumbered);
  return padNamesBy({
    hasNumbered,
    hasPlain,
    lengths: hasPlain && !hasNumbered ? pads.map(({ length }) => length) : [],
  });
}

/**
 * How pad files are named; `auto` where that names them in the same way, or if there are none.
 *
 * @param pads Whether any name has a number of its own, whether any has none, and if none has one, the lengths of all pad files.
 */
export function padNamesBy({
  hasNumbered,
  hasPlain,
  lengths,
}: {
  hasNumbered: boolean;
  hasPlain: boolean;
  lengths: ArrayLike<number>;
}): PadNames {
  if (hasNumbered) return hasPlain ? 'auto' : 'unique';
  return new Set(Array.from(lengths)).size < lengths.length ? 'libtorrent' : 'auto';
}
