/** Checks the names that a scan finds. */
import { isUtf8 } from 'node:buffer';
import { readdir } from 'node:fs/promises';
import nodePath from 'node:path';
import { MetainfoError } from '../errors/errors.ts';
import { isSystemFileName, unsafeComponent } from '../layout/safe-path.ts';
import { isTemporary } from './write-file.ts';

/** Whether the scan skips a file, unless it is named outright: a file of an operating system, or an unfinished output. */
export function isSystemFile(name: string): boolean {
  return isSystemFileName(name) || isTemporary(name);
}

/** Names of files and folders that NAS systems, macOS, Windows and Linux desktops keep among the user's own. */
const KEPT =
  /^(?:\._.+|@(?:eadir|recycle|recently-snapshot)|\.@(?:__thumb|upload_cache)|#(?:recycle|snapshot)|\$recycle\.bin|system volume information|(?:eh)?thumbs\.db|desktop\.ini|__macosx|lost\+found|\.(?:ds_store|fseventsd|spotlight-v100|trashes|trash-\d+|temporaryitems|documentrevisions-v100|appledouble|appledb|appledesktop|apdisk))$/i;
/** Endings of downloads that clients and browsers have not finished. */
const UNFINISHED = /\.(?:part|partial|filepart|crdownload|aria2|!qb|!ut|!bt|bc!|xltd)$/i;

/** Tells why a file or folder of this name hardly belongs to a torrent; null for any other name. */
export function strayKind(name: string): 'system' | 'unfinished' | null {
  if (KEPT.test(name)) return 'system';
  return UNFINISHED.test(name) ? 'unfinished' : null;
}

/** Requires a name that a torrent can hold (BEP 3: UTF-8), or any safe bytes. The error shows the bytes. */
export function requireName(name: Buffer, text: string, folder: string, anyBytes = false): void {
  const problem = anyBytes || isUtf8(name) ? unsafeComponent(text) : NOT_UTF8;
  if (problem) throw nameError(nodePath.join(folder, escaped(name)), problem);
}

const NOT_UTF8 = 'a name that is not UTF-8';

function nameError(path: string, problem: string): MetainfoError {
  const message = `${path}: a torrent cannot contain ${problem}: rename it or leave it out.`;
  return new MetainfoError('ERR_NAME', message, { path });
}

/** The names in a folder. */
export interface FolderNames {
  names: string[];
  /** An `ERR_NAME` for each name that is not UTF-8; its path shows the bytes. */
  errors: MetainfoError[];
}

/** Lists a folder. Throws the system's error. */
export async function namesIn(folder: string): Promise<FolderNames> {
  const found: FolderNames = { names: [], errors: [] };
  for (const name of await readdir(folder, { encoding: 'buffer' })) {
    if (isUtf8(name)) found.names.push(name.toString());
    else found.errors.push(nameError(nodePath.join(folder, escaped(name)), NOT_UTF8));
  }
  return found;
}

/** Shows a name that is not UTF-8: printable ASCII characters as they are, all other bytes as \xNN. */
export function escaped(bytes: Uint8Array): string {
  const hex = (byte: number) => `\\x${byte.toString(16).padStart(2, '0')}`;
  return [...bytes].map((byte) => (byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : hex(byte))).join('');
}
