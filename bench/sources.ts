// Content that does not come from files, and the parts that the library is made of: hashers beside `generate`, streams and
// memory beside a warm file, many small buffers beside create-torrent. One thread each, but for the buffers.
//
//   npm run bench -- sources [--size 1GiB] [--buffers 10000] [--rounds 5]
import path from 'node:path';
import type { SourceReport, SourceTask } from './children/sources.ts';
import { writeData } from './support/data.ts';
import { inScratchFolder, interleave, median, options, parseCount, parseSize, runChild } from './support/measure.ts';
import { record, type SourceFigure } from './support/results.ts';

const { size, buffers, rounds, out } = options({ size: '1GiB', buffers: '10000', rounds: '5' });
const totalBytes = parseSize(size);
const count = parseCount(buffers);
const BUFFER = 10 * 1024;

interface Workload {
  name: string;
  totalBytes: number;
  /** The first is what the others are compared with. */
  contenders: { contender: string; task: SourceTask }[];
}

await inScratchFolder(async (folder) => {
  const file = path.join(folder, 'data');
  writeData(file, totalBytes);
  const ways = ['memory', 'Readable', 'ReadableStream', 'async generator', 'range reader'] as const;
  const streams = (['v1', 'v2', 'hybrid'] as const).map((version): Workload => {
    const task = (way: SourceTask['way'], chunk: number) => ({ way, version, file, size: totalBytes, chunk });
    const named = (way: (typeof ways)[number]) => (way === 'memory' || way === 'range reader' ? way : `${way}, 64 KiB`);
    return {
      name: `streams from memory, ${version}`,
      totalBytes,
      contenders: [
        { contender: 'warm file', task: task('file', 0) },
        ...ways.map((way) => ({ contender: named(way), task: task(way, 2 ** 16) })),
        { contender: 'Readable, 1 MiB', task: task('Readable', 2 ** 20) },
      ],
    };
  });
  const hashers: Workload = {
    name: 'hashers of one warm file',
    totalBytes,
    contenders: (['v2', 'v1', 'hybrid'] as const).flatMap((version) => [
      { contender: `generate, ${version}`, task: { way: 'file' as const, version, file, size: totalBytes, chunk: 0 } },
      {
        contender: `hasher of ${version}`,
        task: { way: 'hasher' as const, version, file, size: totalBytes, chunk: 0 },
      },
    ]),
  };
  const many: Workload = {
    name: `${count.toLocaleString('en')} buffers of 10 KiB`,
    totalBytes: count * BUFFER,
    contenders: [
      ...(['hybrid', 'v2', 'v1'] as const).map((version) => ({
        contender: `metainfo, ${version}`,
        task: { way: 'buffers' as const, version, file: '', size: count * BUFFER, chunk: BUFFER },
      })),
      {
        contender: 'create-torrent, v1',
        task: { way: 'create-torrent', version: 'v1', file: '', size: count * BUFFER, chunk: BUFFER },
      },
    ],
  };
  const figures: SourceFigure[] = [];
  for (const workload of [hashers, ...streams, many]) {
    const run = ({ task }: Workload['contenders'][number]) => runChild<SourceReport>('sources', task).seconds;
    const runs = await interleave(workload.contenders, parseCount(rounds), run);
    for (const [{ contender }, seconds] of runs)
      figures.push({ workload: workload.name, totalBytes: workload.totalBytes, contender, seconds: median(seconds) });
  }
  record(
    'sources',
    { figures, settings: `One thread, every core for buffers; medians of ${rounds} interleaved rounds.` },
    out,
  );
});
