// Parsing, validating and taking the infohash of two large torrents, compared with npm's `parse-torrent` (which does not
// validate) and `bencode` (which only decodes): the time, and the peak memory beyond the file and an idle process.
//
//   npm run bench -- decode [--rounds 5] [--files 100000]
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import bencode from 'bencode';
import parseTorrent from 'parse-torrent';
import { Torrent } from '../src/index.ts';
import { formatBytes } from '../src/text/format.ts';
import { bench, divide, inProcess, measure } from './support/measure.ts';
import { type Table, tableOf } from './support/tables.ts';
import { largeTorrent } from './support/torrents.ts';

/** In v1 ten pieces for each file; in v2 a fifth of the files have 32 pieces, with their layers. */
const PIECES = { v1: () => 10, v2: (i: number) => (i % 5 === 0 ? 32 : 1) };

const decoding = (decode: (bytes: Buffer) => unknown) => (file: string) => {
  const bytes = readFileSync(file);
  return async () => void (await decode(bytes));
};

export const tasks = {
  metainfo: decoding((bytes) => {
    const torrent = Torrent.fromBytes(bytes);
    return torrent.infohashV2 ?? torrent.infohashV1;
  }),
  'parse-torrent': decoding(parseTorrent),
  bencode: decoding((bytes) => bencode.decode(bytes)),
};
const TOOLS = Object.keys(tasks) as (keyof typeof tasks)[];
const run = inProcess(import.meta.url, tasks);

export default bench({ rounds: '5', files: '100000' }, async ({ rounds, files }, folder) => {
  const tables: Table[] = [];
  for (const version of ['v1', 'v2'] as const) {
    const torrent = path.join(folder, `${version}.torrent`);
    const bytes = largeTorrent(version, files, PIECES[version], 20);
    writeFileSync(torrent, bytes);
    // It refuses a torrent without pieces.
    const readers = TOOLS.filter((tool) => tool !== 'parse-torrent' || version === 'v1');
    const grid = await measure(
      readers.map((row) => ({ row, run: () => run(row, torrent) })),
      rounds,
    );
    const title = `${version}, ${files.toLocaleString('en')} files, ${formatBytes(bytes.length)}`;
    const table = tableOf(title, 'tool', grid.rows, [
      ['time', 's', (tool) => grid.median(tool)],
      ['times metainfo', 'ratio', (tool) => divide(grid.median(tool), grid.median('metainfo'))],
      ['memory / torrent', 'ratio', (tool) => divide(grid.median(tool, '', 'peakBytes'), bytes.length)],
    ]);
    tables.push(table);
  }
  return { tables, settings: `Medians of ${rounds} interleaved rounds.` };
});
