// Content that does not come from files, and the hashers: hashers beside `generate`, streams and memory beside a warm file,
// many small buffers beside create-torrent. One thread each, but every core for the buffers.
//
//   npm run bench -- sources [--size 1GiB] [--buffers 10000] [--rounds 5]
import path from 'node:path';
import { formatBytes } from '../src/layout/text.ts';
import type { Task } from './processes/run-once.ts';
import { writeData } from './support/data.ts';
import {
  inScratchFolder,
  interleave,
  median,
  options,
  parseCount,
  parseSize,
  runOnce,
  VERSIONS,
} from './support/measure.ts';
import { record } from './support/results.ts';
import { type Table, tableOf } from './support/tables.ts';

const { size: sizeText, buffers, rounds, out } = options({ size: '1GiB', buffers: '10000', rounds: '5' });
const size = parseSize(sizeText);
const BUFFER = 10 * 1024;

/** `base` names the contender that the time of a contender is divided by. */
type Contender = { contender: string; base: string; task: Task };

async function measure(
  title: string,
  baseTitle: string,
  bytes: number,
  contenders: readonly Contender[],
): Promise<Table> {
  const runs = [...(await interleave(contenders, parseCount(rounds), ({ task }) => runOnce(task).seconds))];
  const secondsOf = (name: string) => median(runs.find(([{ contender }]) => contender === name)?.[1] ?? []);
  return tableOf(`${title}: ${formatBytes(bytes)}`, ['contender', ({ contender }) => contender], contenders, [
    ['time', 's', ({ contender }) => secondsOf(contender)],
    ['speed', 'GB/s', ({ contender }) => bytes / secondsOf(contender) / 1e9],
    [`its time / ${baseTitle}`, 'ratio', ({ contender, base }) => secondsOf(contender) / secondsOf(base)],
  ]);
}

await inScratchFolder(async (folder) => {
  const content = path.join(folder, 'data');
  writeData(content, size);
  const hashers = VERSIONS.flatMap((version): Contender[] => {
    const base = `generate, ${version}`;
    return [
      { contender: base, base, task: { way: 'generate', version, content, pieceLength: 2 ** 20 } },
      { contender: `hasher of ${version}`, base, task: { way: 'hasher', version, content } },
    ];
  });
  const tables = [await measure('hashers of one warm file', 'generate', size, hashers)];
  for (const version of VERSIONS) {
    const base = 'warm file';
    const stream = (way: Task['way'], chunk: number, text = ''): Contender => ({
      contender: `${way}${text}`,
      base,
      task: { way, version, size, chunk },
    });
    const ways = (['Readable', 'ReadableStream', 'async generator'] as const).map((way) =>
      stream(way, 2 ** 16, ', 64 KiB'),
    );
    const contenders: Contender[] = [
      { contender: base, base, task: { way: 'generate', version, content, pieceLength: 2 ** 20 } },
      ...[stream('memory', 2 ** 16), ...ways, stream('range reader', 2 ** 16), stream('Readable', 2 ** 20, ', 1 MiB')],
    ];
    tables.push(await measure(`streams from memory, ${version}`, base, size, contenders));
  }
  const count = parseCount(buffers);
  // create-torrent uses the four threads of libuv, and metainfo every core.
  const task = { size: count * BUFFER, chunk: BUFFER, threads: null };
  const base = 'metainfo, hybrid';
  const many: Contender[] = [
    ...VERSIONS.toReversed().map(
      (version): Contender => ({
        contender: `metainfo, ${version}`,
        base,
        task: { ...task, way: 'buffers', version },
      }),
    ),
    { contender: 'create-torrent, v1', base, task: { ...task, way: 'create-torrent, buffers' } },
  ];
  tables.push(await measure(`${count.toLocaleString('en')} buffers of 10 KiB`, base, count * BUFFER, many));
  record(
    'sources',
    { tables, settings: `One thread, every core for buffers; medians of ${rounds} interleaved rounds.` },
    out,
  );
});
