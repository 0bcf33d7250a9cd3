// The time that each tool on this machine takes for the same torrent, compared with ours: the whole command with its start-up,
// with every core and the same piece length. Tools that are not installed are listed and left out.
//
//   npm run bench -- peers [--scale 1] [--rounds 5]
import { mkdirSync, rmSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import path from 'node:path';
import { choosePieceLength } from '../src/layout/piece-length.ts';
import { formatBytes } from '../src/text/format.ts';
import { writeData, writeFiles } from './support/data.ts';
import { runGenerate } from './support/generate.ts';
import { bench, divide, measure, runCommand, VERSIONS } from './support/measure.ts';
import { columnsFor, type Table, tableOf } from './support/tables.ts';
import { installed, OURS, requireTorrent } from './support/tools.ts';

/** The library in a running process, from the scan to the bytes of the torrent. */
const LIBRARY = `${OURS}, library`;
const [KiB, MiB, GiB] = [2 ** 10, 2 ** 20, 2 ** 30];

export default bench({ scale: '1', rounds: '5' }, async ({ scale, rounds }, folder) => {
  const { tools, versions, skipped } = installed(folder);
  const data = path.join(folder, 'data');
  const output = path.join(folder, 'out', 'made.torrent');
  mkdirSync(path.dirname(output));

  const measureFiles = async (name: string, files: number, size: number): Promise<Table> => {
    if (files === 1) writeData(data, size);
    else writeFiles(data, files, size);
    // Our own choice, but at least 32 KiB, which is the least that mktorrent takes.
    const pieceLength = Math.max(32 * KiB, choosePieceLength(files * size));
    const commands = tools.flatMap(({ name: row, versions: made, command }) =>
      made.map((version) => {
        const words = command({ data, output, pieceLength, version });
        const run = () => {
          rmSync(output, { force: true });
          return runCommand(words, path.dirname(output));
        };
        return { row, column: version, run };
      }),
    );
    // An unmeasured round, in which every torrent is checked.
    for (const { row, column: version, run } of commands) {
      await run();
      await requireTorrent(row, { version, output, bytes: files * size, pieceLength });
    }
    const library = VERSIONS.map((version) => {
      const run = () => runGenerate({ pathRoot: data, version, pieceLength, warmUps: 1 });
      return { row: LIBRARY, column: version, run };
    });
    const grid = await measure([...commands, ...library], rounds);
    rmSync(data, { recursive: true });
    const ratio = (tool: string, version: string) => divide(grid.median(tool, version), grid.median(OURS, version));
    const title = `${files > 3 ? `${files.toLocaleString('en')} ` : ''}${name}: ${formatBytes(files * size)}, pieces of ${formatBytes(pieceLength)}`;
    const columns = [
      ...columnsFor(VERSIONS, 's', (tool, version) => grid.median(tool, version)),
      ...columnsFor(VERSIONS, 'ratio', ratio, { suffix: ', its time / ours' }),
    ];
    return tableOf(title, 'tool', grid.rows, columns);
  };

  // Large files are scaled in size, small ones in number.
  const scaled = (amount: number) => Math.max(1, Math.round(amount * scale));
  const tables = [
    await measureFiles('one large file', 1, scaled(4 * GiB)),
    await measureFiles('files of 1 MiB', scaled(1000), MiB),
    await measureFiles('files of 10 KiB', scaled(20_000), 10 * KiB),
    await measureFiles('three large files', 3, scaled(1.5 * GiB)),
  ];
  const settings = `Warm files, ${availableParallelism()} threads where a tool takes that; medians of ${rounds} interleaved rounds.`;
  return { tables, settings, versions, skipped };
});
