import { appendFileSync } from 'node:fs';

/** Something that was tried with another program, and went well: a cell of the table in docs/interop.md. */
export interface Tried {
  /** The program, as its authors write it: `libtorrent`, `Transmission`, `aria2`, `qBittorrent`, `mktorrent` ... */
  client: string;
  version: string;
  torrentVersion: 'v1' | 'v2' | 'hybrid';
  /** In a few words, the same for all programs: `downloads from libtorrent`, `torrents made by it are read` ... */
  what: string;
}

/** Notes it where METAINFO_INTEROP names a file: one JSON object a line. */
export function tried(row: Tried): void {
  const file = process.env['METAINFO_INTEROP'];
  if (file) appendFileSync(file, `${JSON.stringify(row)}\n`);
}
