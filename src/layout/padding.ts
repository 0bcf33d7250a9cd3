import { type FileItem, isPadFile } from '../model/file-item.ts';

export interface PaddingOptions {
  /** Pad after the last file too, as BEP 52's reference and libtorrent from 2.0.8 do; default true. */
  tailPad?: boolean;
}

/** A pad file of `length` zeros (BEP 47). */
export function padFile(length: number): FileItem {
  return { length, path: ['.pad', String(length)], attr: 'p' };
}

/**
 * A v1 file list with pad files, so that every file starts at a piece's start (BEP 47, BEP 52). A list of one file gets
 * none, and pads that are there already are left out and made anew.
 */
export function addPadfiles<T extends FileItem>(
  files: readonly T[],
  pieceLength: number,
  { tailPad = true }: PaddingOptions = {},
): (T | FileItem)[] {
  const content = files.filter((file) => !isPadFile(file));
  if (content.length === 1) return content;
  const lastWithContent = content.findLastIndex((file) => file.length > 0);
  return content.flatMap((file, index) => {
    const missing = (pieceLength - (file.length % pieceLength)) % pieceLength;
    const padded = missing > 0 && (tailPad || index < lastWithContent);
    return padded ? [file, padFile(missing)] : [file];
  });
}
