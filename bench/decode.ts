// Parsing, validating and taking the infohash of two large torrents, compared with npm's `parse-torrent` (which does not
// validate) and `bencode` (which only decodes): the time, and the peak memory beyond the file and an idle process.
//
//   npm run bench -- decode [--rounds 5] [--files 100000]
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { formatBytes } from '../src/text/format.ts';
import type { Report } from './processes/run-once.ts';
import { bench, interleave, median, runOnce } from './support/measure.ts';
import { type Table, tableOf } from './support/tables.ts';
import { largeTorrent } from './support/torrents.ts';

const TOOLS = ['metainfo', 'parse-torrent', 'bencode'] as const;
/** In v1 ten pieces for each file; in v2 a fifth of the files have 32 pieces, with their layers. */
const PIECES = { v1: () => 10, v2: (i: number) => (i % 5 === 0 ? 32 : 1) };

await bench('decode', { rounds: '5', files: '100000' }, async ({ rounds, files }, folder) => {
  const tables: Table[] = [];
  for (const version of ['v1', 'v2'] as const) {
    const torrent = path.join(folder, `${version}.torrent`);
    const bytes = largeTorrent(version, files, PIECES[version], 20);
    writeFileSync(torrent, bytes);
    const runs = await interleave(TOOLS, rounds, (tool) => runOnce({ way: `decode: ${tool}`, torrent }));
    const medianOf = (reports: readonly Report[], key: 'seconds' | 'peakBytes') =>
      median(reports.map((report) => report[key]));
    const base = medianOf(runs[0]?.[1] ?? [], 'seconds');
    const refusals = runs.flatMap(([tool, [report]]) =>
      report?.answer.startsWith('refused') ? [`${tool} ${report.answer}`] : [],
    );
    const title = `${version}, ${files.toLocaleString('en')} files, ${formatBytes(bytes.length)}`;
    const table = tableOf(title, ['tool', ([tool]) => tool], runs, [
      ['time', 's', ([, reports]) => medianOf(reports, 'seconds')],
      ['times metainfo', 'ratio', ([, reports]) => medianOf(reports, 'seconds') / base],
      ['memory / torrent', 'ratio', ([, reports]) => medianOf(reports, 'peakBytes') / bytes.length],
    ]);
    tables.push({ ...table, notes: refusals });
  }
  return { tables, settings: `Medians of ${rounds} interleaved rounds.` };
});
