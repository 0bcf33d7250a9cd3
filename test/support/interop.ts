/** Records which programs the tests tried with success, for the table in docs/interop.md. */
import { appendFileSync } from 'node:fs';

/** A successful test with another program: a cell of the table in docs/interop.md. */
export interface Tried {
  /** The name of the program, as its authors write it: `libtorrent`, `Transmission`, `aria2` and so on. */
  client: string;
  version: string;
  torrentVersion: 'v1' | 'v2' | 'hybrid';
  /** The row, with the same words for all programs: `downloads from libtorrent`, for example. */
  what: string;
}

/** Appends it as a line of JSON to the file that METAINFO_INTEROP names, if it is set. */
export function tried(row: Tried): void {
  const file = process.env['METAINFO_INTEROP'];
  if (file) appendFileSync(file, `${JSON.stringify(row)}\n`);
}
