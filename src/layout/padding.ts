/** What padding looks at: an entry of a v1 file list. */
export interface PaddedFile {
  /** Bytes. */
  length: number;
  /** Components, from the torrent's root; a pad may have none (BEP 47). */
  path: string[];
  /** BEP 47 flags. */
  attr?: string | null;
}

/** How BitComet names the pads that it wrote before BEP 47. */
const BITCOMET_PAD = '_____padding_file_';

/** Whether a file is padding: zeros that align the next file, and no part of what a user sees (BEP 47). */
export function isPadFile({ attr, path }: Pick<PaddedFile, 'attr' | 'path'>): boolean {
  return (attr?.includes('p') ?? false) || (path.at(-1)?.startsWith(BITCOMET_PAD) ?? false);
}

/** The index of the first file with content that does not start at a piece's start; -1 when all do. */
export function firstUnaligned(files: readonly PaddedFile[], pieceLength: number): number {
  let offset = 0;
  return files.findIndex((file) => {
    const unaligned = offset % pieceLength !== 0 && file.length > 0 && !isPadFile(file);
    offset += file.length;
    return unaligned;
  });
}

/** Where {@link addPadfiles} puts pads. */
export interface PaddingOptions {
  /** Pad after the last file too, as BEP 52's reference and libtorrent from 2.0.8 do; default true. */
  tailPad?: boolean;
}

/** A pad file of `length` zeros (BEP 47). */
export function padFile(length: number): PaddedFile {
  return { length, path: ['.pad', String(length)], attr: 'p' };
}

/**
 * A v1 file list with pad files, so that every file starts at a piece's start (BEP 47, BEP 52). A list of one file gets
 * none, and pads that are there already are left out and made anew.
 */
export function addPadfiles<T extends PaddedFile>(
  files: readonly T[],
  pieceLength: number,
  { tailPad = true }: PaddingOptions = {},
): (T | PaddedFile)[] {
  const content = files.filter((file) => !isPadFile(file));
  if (content.length === 1) return content;
  const lastWithContent = content.findLastIndex((file) => file.length > 0);
  return content.flatMap((file, index) => {
    const missing = (pieceLength - (file.length % pieceLength)) % pieceLength;
    const padded = missing > 0 && (tailPad || index < lastWithContent);
    return padded ? [file, padFile(missing)] : [file];
  });
}
