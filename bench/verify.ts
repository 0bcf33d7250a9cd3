// Jobs on existing torrents: verifying compared with creating, in each version, of one large file and of many small ones;
// editing large torrents; adding a file to many. Each with the whole command, and with the library in a process of its own.
//
//   npm run bench -- verify [--size 1GiB] [--files 20000] [--megabytes 40] [--rounds 5]
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { formatBytes } from '../src/text/format.ts';
import type { Task } from './processes/run-once.ts';
import { writeData, writeFiles } from './support/data.ts';
import {
  bench,
  interleave,
  METAINFO,
  median,
  runOnce,
  timeCommand,
  VERSIONS,
  type Version,
} from './support/measure.ts';
import { type Column, type Table, tableOf } from './support/tables.ts';
import { largeTorrent } from './support/torrents.ts';

const SMALL_FILE = 10 * 1024;

interface Contender {
  workload: string;
  /** The version, or what makes the torrent large. */
  torrent: string;
  way: string;
  /** Returns seconds. */
  run: () => number;
}

const inLibrary = (task: Task) => runOnce({ threads: null, ...task }).seconds;
const commandIn =
  (folder: string) =>
  (...args: string[]) =>
    timeCommand([process.execPath, METAINFO, ...args], folder);

/** Creating and verifying, by the command and in the library. */
function verifying(folder: string, content: string, name: string): Contender[] {
  const command = commandIn(folder);
  return VERSIONS.flatMap((version): Contender[] => {
    const torrent = path.join(folder, `${path.basename(content)} ${version}.torrent`);
    const create = (output: string) =>
      command('create', content, '--torrent-version', version, '--output', output, '--force', '--quiet');
    create(torrent);
    const byCommand = { torrent: version, workload: `${name}, the command` };
    const library = { torrent: version, workload: `${name}, the library, after reading the torrent` };
    return [
      { ...byCommand, way: 'create', run: () => create(path.join(folder, 'new.torrent')) },
      { ...byCommand, way: 'verify', run: () => command('verify', torrent, content, '--quiet') },
      { ...library, way: 'generate', run: () => inLibrary({ way: 'generate', version, content }) },
      { ...library, way: 'verify', run: () => inLibrary({ way: 'verify', torrent, content }) },
    ];
  });
}

/** One more file: creating again, hashing only the new file, and creating with a cache that knows the other files. */
function updating(folder: string, content: string, count: number): Contender[] {
  const command = commandIn(folder);
  const cached = ['--cache-dir', path.join(folder, 'cache')];
  return (['v2', 'hybrid'] as const).flatMap((version): Contender[] => {
    const [old, output] = [path.join(folder, `old ${version}.torrent`), path.join(folder, 'new.torrent')];
    const create = (target: string, ...more: string[]) =>
      command('create', content, '--torrent-version', version, '--output', target, '--force', '--quiet', ...more);
    // Without a date, or with files that are newer than it, update would read every file.
    create(old, '--date', 'now');
    const about = { workload: `A file of 10 MiB added to ${count.toLocaleString('en')} of 10 KiB`, torrent: version };
    return [
      { ...about, way: 'create', run: () => create(output) },
      { ...about, way: 'update', run: () => command('update', old, content, '--output', output, '--force', '--quiet') },
      { ...about, way: 'create --cache', run: () => create(output, ...cached) },
    ];
  });
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

function editing(folder: string, torrentBytes: number): Contender[] {
  return Object.entries(largeTorrents(torrentBytes)).flatMap(([name, bytes], i): Contender[] => {
    const torrent = path.join(folder, `${i}.torrent`);
    writeFileSync(torrent, bytes);
    const command = ['edit', torrent, '--comment', 'another', '--output', 'edited.torrent', '--force'];
    const about = {
      workload: 'Another comment for a large torrent',
      torrent: `${name}, ${(bytes.length / 1e6).toFixed(1)} MB`,
    };
    return [
      { ...about, way: 'command', run: () => commandIn(folder)(...command) },
      { ...about, way: 'Torrent.read', run: () => inLibrary({ way: 'Torrent.read', torrent }) },
      { ...about, way: 'edit', run: () => inLibrary({ way: 'edit', torrent }) },
    ];
  });
}

/** A table of one workload: a row for each torrent, a column for each way, and the ratio if there are two ways. */
function tableFor(workload: string, all: readonly [Contender, number[]][]): Table {
  const runs = all.filter(([contender]) => contender.workload === workload);
  const ways = [...new Set(runs.map(([{ way }]) => way))];
  const torrents = [...new Set(runs.map(([{ torrent }]) => torrent))];
  const secondsOf = (torrent: string, way?: string) =>
    median(runs.find(([contender]) => contender.torrent === torrent && contender.way === way)?.[1] ?? []);
  const columns = ways.map((way): Column<string> => [way, 's', (torrent) => secondsOf(torrent, way)]);
  const [first, second] = ways;
  if (ways.length === 2)
    columns.push([
      `${second} / ${first}`,
      'ratio',
      (torrent) => secondsOf(torrent, second) / secondsOf(torrent, first),
    ]);
  return tableOf(workload, ['torrent', (torrent) => torrent], torrents, columns);
}

const options = { size: '1GiB', files: '20000', megabytes: '40', rounds: '5' };
await bench('verify', options, async ({ size, files, megabytes, rounds }, folder) => {
  const place = (name: string) => path.join(folder, name);
  writeData(place('large'), size);
  writeFiles(place('small'), files, SMALL_FILE);
  writeFiles(place('grown'), Math.ceil(files / 2), SMALL_FILE);
  // Dates of torrents are whole seconds, rounded down: wait until that is later than the files.
  await delay(1_100);
  const updates = updating(folder, place('grown'), Math.ceil(files / 2));
  writeData(place('grown/added'), 10 * 2 ** 20);
  // Fills the cache.
  for (const { way, run } of updates) if (way === 'create --cache') run();
  const contenders = [
    ...verifying(folder, place('large'), `One file of ${formatBytes(size)}`),
    ...verifying(folder, place('small'), `${files.toLocaleString('en')} files of ${formatBytes(SMALL_FILE)}`),
    ...editing(folder, megabytes * 1e6),
    ...updates,
  ];
  const runs = await interleave(contenders, rounds, ({ run }) => run());
  const tables = [...new Set(contenders.map(({ workload }) => workload))].map((name) => tableFor(name, runs));
  return { tables, settings: `Warm files, a thread for each core; medians of ${rounds} interleaved rounds.` };
});
