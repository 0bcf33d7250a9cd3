// A torrent of many small files: creating it, compared with libtorrent; showing, validating, verifying, editing and updating it, and
// comparing it with another one; the cost of a file by the number of files; and the event loop of a process that creates the torrent.
//
// The time that libtorrent takes for a hybrid grows with the square of the number of files, so both tools make that of FEWER_FILES
// for the comparison: a million files would take 25 times as long.
//
//   npm run bench -- million [--files 1000000] [--rounds 3]
import { rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { BLOCK_SIZE, choosePieceLength } from '../src/layout/piece-length.ts';
import { formatBytes } from '../src/text/format.ts';
import { fileName, writeData, writeFiles } from './support/data.ts';
import { runGenerate } from './support/generate.ts';
import {
  bench,
  divide,
  METAINFO,
  measure,
  runCommand,
  runMetainfo,
  VERSIONS,
  type Version,
} from './support/measure.ts';
import { columnsFor, tableOf, timerColumns } from './support/tables.ts';
import { installed, LIBTORRENT, OURS, requireTorrent } from './support/tools.ts';

const SIZE = 1024;
const FEWER_FILES = 200_000;
/** A torrent of a million files is beyond the default limits. */
const LIMITS = { files: 10_000_000, items: 100_000_000 };
const LIMIT_OPTIONS = Object.entries(LIMITS).flatMap(([name, limit]) => ['--limit', `${name}=${limit}`]);

const shown = (files: number) => files.toLocaleString('en');
const MEMORY = { suffix: ', memory' };

export default bench({ files: '1000000', rounds: '3' }, async ({ files, rounds }, folder) => {
  const counts = [Math.ceil(files / 100), Math.ceil(files / 10), files];
  const isFewer = files > FEWER_FILES;
  const contentOf = (count: number) => path.join(folder, `${count} files`);
  for (const count of new Set([...counts, ...(isFewer ? [FEWER_FILES] : [])]))
    writeFiles(contentOf(count), count, SIZE);
  const { tools, versions, skipped } = installed(folder, [OURS, LIBTORRENT]);

  /** A command, which may read the content too. */
  const command = (row: string, version: Version, words: string[], content: string | null, status = 0) => {
    const run = () => {
      // Some systems drop files from the page cache that were not read for a minute.
      if (content) runGenerate({ version: 'v1', pathRoot: content, pieceLength: BLOCK_SIZE });
      return runCommand(words, folder, status);
    };
    return { row, column: version, run };
  };
  const creation = (tool: (typeof tools)[number], version: Version, count: number) => {
    const row = `create, ${tool.name}${count === files ? '' : `, ${shown(count)} files`}`;
    const output = path.join(folder, `${row} ${version}.torrent`);
    const made = { version, output, pieceLength: choosePieceLength(count * SIZE) };
    const { run, ...rest } = command(row, version, tool.command({ data: contentOf(count), ...made }), contentOf(count));
    const check = () => requireTorrent(tool.name, { ...made, bytes: count * SIZE, limits: LIMITS });
    const runAnew = () => {
      rmSync(output, { force: true });
      return run();
    };
    return { ...rest, output, check, run: runAnew };
  };
  const creations = VERSIONS.flatMap((version) =>
    tools.flatMap((tool) => {
      const isCompared = version === 'hybrid' && isFewer;
      const all = isCompared && tool.name !== OURS ? [] : [creation(tool, version, files)];
      return isCompared ? [...all, creation(tool, version, FEWER_FILES)] : all;
    }),
  );
  // The torrents of the content before two of its files changed. `update` reads what changed since their date.
  const older = (version: Version) => path.join(folder, `older ${version}.torrent`);
  const changed = [0, files - 1].map((i) => path.join(contentOf(files), fileName(i)));
  for (const file of changed) writeFileSync(file, 'shorter');
  for (const version of VERSIONS) {
    const options = ['-k', version, '-o', older(version), '--date', 'now', '--quiet'];
    await runMetainfo(folder, 'create', contentOf(files), ...options);
  }
  for (const file of changed) writeData(file, SIZE);

  const others = creations
    .filter(({ row }) => row === `create, ${OURS}`)
    .flatMap(({ column: version, output }) => {
      const ours = (name: string, content: string | null, ...more: string[]) =>
        command(name, version, [process.execPath, METAINFO, name, output, ...more, ...LIMIT_OPTIONS], content);
      const differed = (version: Version) =>
        command(
          'diff',
          version,
          [process.execPath, METAINFO, 'diff', older(version), output, ...LIMIT_OPTIONS],
          null,
          1,
        );
      const updated = (version: Version) => {
        const words = [
          'update',
          older(version),
          contentOf(files),
          '-o',
          path.join(folder, 'updated.torrent'),
          '--force',
          '--quiet',
        ];
        return command('update', version, [process.execPath, METAINFO, ...words, ...LIMIT_OPTIONS], contentOf(files));
      };
      return [
        ours('show', null),
        ours('validate', null),
        ours('verify', contentOf(files), contentOf(files), '--quiet'),
        ours('edit', null, '--comment', 'another', '--output', path.join(folder, 'edited.torrent'), '--force'),
        // The pieces of a v1 torrent span files.
        ...(version === 'v1' ? [] : [updated(version)]),
        differed(version),
      ];
    });
  const commands = await measure([...creations, ...others], rounds);
  for (const { check } of creations) await check();

  const library = await measure(
    counts.flatMap((count) =>
      VERSIONS.map((column) => {
        const task = { version: column, pathRoot: contentOf(count), pieceLength: BLOCK_SIZE, timer: true };
        // The first creation of a process warms it up.
        return { row: shown(count), column, run: () => runGenerate({ ...task, warmUps: 1 }) };
      }),
    ),
    rounds,
  );

  const perFile = (row: string, version: Version, measureName: string) =>
    divide(library.median(row, version, measureName), Number(row.replaceAll(',', '')));
  const microseconds = (row: string, version: Version) => (perFile(row, version, 'seconds') ?? Number.NaN) * 1e6;
  const timer = (version: string, name: string) => library.median(shown(files), version, name);
  const pieces = formatBytes(choosePieceLength(files * SIZE));
  const tables = [
    tableOf(`Commands: ${shown(files)} files of ${formatBytes(SIZE)}, pieces of ${pieces}`, 'command', commands.rows, [
      ...columnsFor(VERSIONS, 's', (row, version) => commands.median(row, version)),
      ...columnsFor(VERSIONS, 'bytes', (row, version) => commands.median(row, version, 'peakBytes'), MEMORY),
    ]),
    tableOf(
      `The cost of a file, from the scan to the torrent, pieces of ${formatBytes(BLOCK_SIZE)}`,
      'files',
      library.rows,
      [
        ...columnsFor(VERSIONS, 'µs', microseconds),
        ...columnsFor(VERSIONS, 'bytes', (row, version) => perFile(row, version, 'peakBytes'), MEMORY),
      ],
    ),
    tableOf(
      `The event loop of a process that creates a torrent of ${shown(files)} files: a timer of 10 ms`,
      'version',
      VERSIONS,
      timerColumns(timer),
    ),
  ];
  return { tables, settings: `Warm files, every core; medians of ${rounds} interleaved rounds.`, versions, skipped };
});
