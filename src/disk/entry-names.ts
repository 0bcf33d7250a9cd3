/** Checks the names that a scan finds. */
import { isUtf8 } from 'node:buffer';
import nodePath from 'node:path';
import { MetainfoError } from '../errors/errors.ts';
import { unsafeComponent } from '../layout/safe-path.ts';
import { SYSTEM_FILES } from './listing.ts';
import { isTemporary } from './write-file.ts';

/** Whether the scan skips a file, unless it is named outright: a file of an operating system, or an unfinished output. */
export function isSystemFile(name: string): boolean {
  return SYSTEM_FILES.has(name) || isTemporary(name);
}

/** Requires a name that a torrent can hold (BEP 3: UTF-8). The error shows its bytes. */
export function requireName(name: Buffer, text: string, folder: string): void {
  const problem = isUtf8(name) ? unsafeComponent(text) : 'a name that is not UTF-8';
  if (!problem) return;
  const shown = nodePath.join(folder, escaped(name));
  throw new MetainfoError('ERR_NAME', `${shown}: a torrent cannot contain ${problem}: rename it or leave it out.`, {
    path: shown,
  });
}

/** Printable ASCII characters as they are, all other bytes as \xNN. */
function escaped(bytes: Buffer): string {
  const hex = (byte: number) => `\\x${byte.toString(16).padStart(2, '0')}`;
  return [...bytes].map((byte) => (byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : hex(byte))).join('');
}
