// Content that does not come from files, and the hashers: hashers compared with `generate`, streams and memory with a warm
// file, many small buffers with create-torrent. One thread each, but every core for the buffers.
//
//   npm run bench -- sources [--size 1GiB] [--buffers 10000] [--rounds 5]
import path from 'node:path';
import { formatBytes } from '../src/text/format.ts';
import type { Task } from './processes/run-once.ts';
import { writeData } from './support/data.ts';
import { bench, interleave, median, runOnce, VERSIONS } from './support/measure.ts';
import { type Table, tableOf } from './support/tables.ts';

const BUFFER = 10 * 1024;
const CHUNK = 2 ** 16;

/** A contender; `base` names the one that its time is divided by. */
type Contender = [name: string, base: string, task: Task];

const options = { size: '1GiB', buffers: '10000', rounds: '5' };
await bench('sources', options, async ({ size, buffers, rounds }, folder) => {
  const measure = async (title: string, baseTitle: string, bytes: number, contenders: Contender[]): Promise<Table> => {
    const runs = await interleave(contenders, rounds, ([, , task]) => runOnce(task).seconds);
    const secondsOf = (wanted: string) => median(runs.find(([[name]]) => name === wanted)?.[1] ?? []);
    return tableOf(`${title}: ${formatBytes(bytes)}`, ['contender', ([name]) => name], contenders, [
      ['time', 's', ([name]) => secondsOf(name)],
      ['speed', 'GB/s', ([name]) => bytes / secondsOf(name) / 1e9],
      [`its time / ${baseTitle}`, 'ratio', ([name, base]) => secondsOf(name) / secondsOf(base)],
    ]);
  };

  const content = path.join(folder, 'data');
  writeData(content, size);
  const hashers = VERSIONS.flatMap((version): Contender[] => {
    const base = `generate, ${version}`;
    return [
      [base, base, { way: 'generate', version, content, pieceLength: 2 ** 20 }],
      [`hasher of ${version}`, base, { way: 'hasher', version, content }],
    ];
  });
  const tables = [await measure('hashers of one warm file', 'generate', size, hashers)];
  for (const version of VERSIONS) {
    const base = 'warm file';
    const stream = (way: Task['way'], text = '', chunk = CHUNK): Contender => [
      `${way}${text}`,
      base,
      { way, version, size, chunk },
    ];
    const contenders: Contender[] = [
      [base, base, { way: 'generate', version, content, pieceLength: 2 ** 20 }],
      stream('memory'),
      ...(['Readable', 'ReadableStream', 'async generator'] as const).map((way) => stream(way, ', 64 KiB')),
      stream('range reader'),
      stream('Readable', ', 1 MiB', 2 ** 20),
    ];
    tables.push(await measure(`streams from memory, ${version}`, base, size, contenders));
  }
  // create-torrent uses the four threads of libuv, and metainfo every core.
  const task = { size: buffers * BUFFER, chunk: BUFFER, threads: null };
  const base = 'metainfo, hybrid';
  const many: Contender[] = [
    ...VERSIONS.toReversed().map(
      (version): Contender => [`metainfo, ${version}`, base, { ...task, way: 'buffers', version }],
    ),
    ['create-torrent, v1', base, { ...task, way: 'create-torrent, buffers' }],
  ];
  tables.push(await measure(`${buffers.toLocaleString('en')} buffers of 10 KiB`, base, task.size, many));
  return { tables, settings: `One thread, every core for buffers; medians of ${rounds} interleaved rounds.` };
});
