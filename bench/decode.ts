// Parsing, validating and taking the infohash of two large torrents, beside npm's `parse-torrent` (which does not validate)
// and `bencode` (which only decodes): the time, and the peak memory beyond the file and an idle process.
//
//   npm run bench -- decode [--rounds 5] [--files 100000]
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { formatBytes } from '../src/layout/text.ts';
import type { Report } from './processes/run-once.ts';
import { inScratchFolder, interleave, median, options, parseCount, runOnce } from './support/measure.ts';
import { record } from './support/results.ts';
import { type Table, tableOf } from './support/tables.ts';
import { largeTorrent } from './support/torrents.ts';

const { rounds, files, out } = options({ rounds: '5', files: '100000' });
const FILES = parseCount(files);
const TOOLS = ['metainfo', 'parse-torrent', 'bencode'] as const;

/** In v1 ten pieces for each file; in v2 a fifth of the files have 32 pieces, with their layers. */
const TORRENTS = {
  v1: () => largeTorrent('v1', FILES, () => 10, 20),
  v2: () => largeTorrent('v2', FILES, (i) => (i % 5 === 0 ? 32 : 1), 20),
};

await inScratchFolder(async (folder) => {
  const tables: Table[] = [];
  for (const [version, make] of Object.entries(TORRENTS)) {
    const torrent = path.join(folder, `${version}.torrent`);
    const bytes = make();
    writeFileSync(torrent, bytes);
    const run = (tool: (typeof TOOLS)[number]) => runOnce({ way: `decode: ${tool}`, torrent });
    const runs = [...(await interleave(TOOLS, parseCount(rounds), run))];
    const medianOf = (reports: readonly Report[], key: 'seconds' | 'peakBytes') =>
      median(reports.map((report) => report[key]));
    const base = medianOf(runs[0]?.[1] ?? [], 'seconds');
    const refusals = runs.flatMap(([tool, [report]]) =>
      report?.answer.startsWith('refused') ? [`${tool} ${report.answer}`] : [],
    );
    tables.push(
      tableOf(
        `${version}, ${FILES.toLocaleString('en')} files, ${formatBytes(bytes.length)}`,
        ['tool', ([tool]) => tool],
        runs,
        [
          ['time', 's', ([, reports]) => medianOf(reports, 'seconds')],
          ['times metainfo', 'ratio', ([, reports]) => medianOf(reports, 'seconds') / base],
          ['memory / torrent', 'ratio', ([, reports]) => medianOf(reports, 'peakBytes') / bytes.length],
        ],
        refusals,
      ),
    );
  }
  record('decode', { tables, settings: `Medians of ${rounds} interleaved rounds.` }, out);
});
