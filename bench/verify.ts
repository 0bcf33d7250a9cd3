// Jobs on existing torrents: verifying compared with creating, in each version, of one large file and of many small ones;
// editing large torrents; adding a file to many. Each with the whole command, and with the library in a process of its own.
//
//   npm run bench -- verify [--size 1GiB] [--files 20000] [--megabytes 40] [--rounds 5]
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { edit, Torrent, verify } from '../src/index.ts';
import { formatBytes } from '../src/text/format.ts';
import { writeData, writeFiles } from './support/data.ts';
import { runGenerate } from './support/generate.ts';
import {
  bench,
  type Case,
  divide,
  inProcess,
  measure,
  runMetainfo,
  VERSIONS,
  type Version,
} from './support/measure.ts';
import { type Column, columnsFor, tableOf } from './support/tables.ts';
import { largeTorrent } from './support/torrents.ts';

const SMALL_FILE = 10 * 1024;

interface FileTask {
  torrent: string;
  content?: string;
}

export const tasks = {
  read:
    ({ torrent }: FileTask) =>
    async () =>
      void (await Torrent.read(torrent)),
  async edit(task: FileTask) {
    const torrent = await Torrent.read(task.torrent);
    return () => {
      edit(torrent, { comment: 'another' });
    };
  },
  async verify({ torrent: file, content = '' }: FileTask) {
    const torrent = await Torrent.read(file);
    return async () => {
      const { ok } = await verify(torrent, content, { threads: null });
      if (!ok) throw new Error(`${content} differs from ${file}`);
    };
  },
};
const run = inProcess(import.meta.url, tasks);

/** Creating and verifying, by the command and in the library. */
async function verifying(folder: string, content: string, name: string): Promise<Case[]> {
  const cases: Case[] = [];
  for (const version of VERSIONS) {
    const row = `${name}, ${version}`;
    const torrent = path.join(folder, `${path.basename(content)} ${version}.torrent`);
    const create = (output: string) =>
      runMetainfo(folder, 'create', content, '-k', version, '--output', output, '--force', '--quiet');
    await create(torrent);
    cases.push(
      { row, column: 'create', run: () => create('new.torrent') },
      { row, column: 'verify', run: () => runMetainfo(folder, 'verify', torrent, content, '--quiet') },
      { row, column: 'library: generate', run: () => runGenerate({ version, pathRoot: content }) },
      { row, column: 'library: verify', run: () => run('verify', { torrent, content }) },
    );
  }
  return cases;
}

/** One more file: creating again, and hashing only the new file. */
async function updating(folder: string, count: number): Promise<Case[]> {
  const content = path.join(folder, 'grown');
  writeFiles(content, count, SMALL_FILE);
  // Dates of torrents are whole seconds, rounded down: wait until that is later than the files.
  await delay(1_100);
  const options = ['--output', 'new.torrent', '--force', '--quiet'];
  const cases: Case[] = [];
  for (const row of ['v2', 'hybrid']) {
    const old = path.join(folder, `old ${row}.torrent`);
    const create = (...more: string[]) => runMetainfo(folder, 'create', content, '-k', row, ...options, ...more);
    // Without a date, or with files that are newer than it, update would read every file.
    await create('--output', old, '--date', 'now');
    cases.push(
      { row, column: 'create', run: () => create() },
      { row, column: 'update', run: () => runMetainfo(folder, 'update', old, content, ...options) },
    );
  }
  writeData(path.join(content, 'added'), 10 * 2 ** 20);
  return cases;
}

/** Torrents of about the size that was asked for, by what fills them. */
function largeTorrents(torrentBytes: number): Record<string, Uint8Array> {
  // Bytes of an entry beside the name of its file.
  const overhead = { v1: 63, v2: 74, hybrid: 176 };
  const manyFiles = (version: Version) => {
    const each = version === 'hybrid' ? 400 : 200;
    const nameLength = (each - overhead[version]) / (version === 'hybrid' ? 2 : 1);
    const count = Math.ceil(torrentBytes / each);
    return [`of ${count.toLocaleString('en')} files, ${version}`, largeTorrent(version, count, () => 1, nameLength)];
  };
  return {
    'of pieces, v1': largeTorrent('v1', 1, () => Math.ceil(torrentBytes / 20), 20),
    'of layers, v2': largeTorrent('v2', 10, () => Math.ceil(torrentBytes / 320), 20),
    ...Object.fromEntries(VERSIONS.map(manyFiles)),
  };
}

const editing = (folder: string, torrentBytes: number): Case[] =>
  Object.entries(largeTorrents(torrentBytes)).flatMap(([name, bytes], i) => {
    const torrent = path.join(folder, `${i}.torrent`);
    writeFileSync(torrent, bytes);
    const command = ['edit', torrent, '--comment', 'another', '--output', 'edited.torrent', '--force'];
    const row = `${name}, ${(bytes.length / 1e6).toFixed(1)} MB`;
    return [
      { row, column: 'command', run: () => runMetainfo(folder, ...command) },
      { row, column: 'Torrent.read', run: () => run('read', { torrent }) },
      { row, column: 'edit', run: () => run('edit', { torrent }) },
    ];
  });

const options = { size: '1GiB', files: '20000', megabytes: '40', rounds: '5' };
export default bench(options, async ({ size, files, megabytes, rounds }, folder) => {
  const [large, small] = [path.join(folder, 'large'), path.join(folder, 'small')];
  writeData(large, size);
  writeFiles(small, files, SMALL_FILE);
  /** A row for each torrent, a column for each way. */
  const compare = async (title: string, cases: Case[], pairs: [string, string][] = []) => {
    const grid = await measure(cases, rounds);
    const ways = [...new Set(cases.flatMap(({ column }) => column ?? []))];
    return tableOf(title, 'torrent', grid.rows, [
      ...columnsFor(ways, 's', (row, way) => grid.median(row, way)),
      ...pairs.map(
        ([a, b]): Column => [`${a} / ${b}`, 'ratio', (row) => divide(grid.median(row, a), grid.median(row, b))],
      ),
    ]);
  };
  const verified = [
    ...(await verifying(folder, large, `one file of ${formatBytes(size)}`)),
    ...(await verifying(folder, small, `${files.toLocaleString('en')} files of 10 KiB`)),
  ];
  const grown = Math.ceil(files / 2);
  const tables = [
    await compare('Verifying, and creating for comparison', verified, [
      ['verify', 'create'],
      ['library: verify', 'library: generate'],
    ]),
    await compare('Another comment for a large torrent', editing(folder, megabytes * 1e6)),
    await compare(`A file of 10 MiB added to ${grown.toLocaleString('en')} of 10 KiB`, await updating(folder, grown)),
  ];
  return { tables, settings: `Warm files, a thread for each core; medians of ${rounds} interleaved rounds.` };
});
