// Content that does not come from files, and the hashers: hashers compared with `generate`, streams and memory with a warm
// file, many small buffers with create-torrent. One thread each, but every core for the buffers.
//
//   npm run bench -- sources [--size 1GiB] [--buffers 10000] [--rounds 5]
import { randomFillSync } from 'node:crypto';
import path from 'node:path';
import { Readable } from 'node:stream';
import { ReadableStream } from 'node:stream/web';
import { promisify } from 'node:util';
import createTorrent from 'create-torrent';
import { HybridHasher, TorrentCreate, V1Hasher, V2Hasher } from '../src/index.ts';
import type { SourceData } from '../src/sources/source-data.ts';
import { formatBytes } from '../src/text/format.ts';
import { writeData } from './support/data.ts';
import { runGenerate } from './support/generate.ts';
import {
  bench,
  type Case,
  divide,
  inProcess,
  measure,
  type Sample,
  VERSIONS,
  type Version,
} from './support/measure.ts';
import { columnsFor, tableOf } from './support/tables.ts';

const BUFFER = 10 * 1024;
const PIECE_LENGTH = 2 ** 20;

interface StreamTask {
  way: keyof typeof WAYS;
  version: Version;
  size: number;
  /** Bytes of a chunk. */
  chunk: number;
}
type Content = Pick<StreamTask, 'size' | 'chunk'>;

/** More than the processor's caches hold, so that content comes from memory. */
const makePool = () => randomFillSync(Buffer.alloc(64 * 2 ** 20));

function* chunksOf({ size, chunk }: Content): Generator<Buffer> {
  const pool = makePool();
  for (let at = 0; at < size; at += chunk) {
    const from = at % pool.length;
    yield pool.subarray(from, from + Math.min(chunk, size - at));
  }
}

/** Content as each kind of source. */
const WAYS = {
  memory: (content: Content) => Buffer.concat([...chunksOf(content)]),
  Readable: (content: Content) => Readable.from(chunksOf(content), { objectMode: false }),
  ReadableStream: (content: Content) => ReadableStream.from(chunksOf(content)) as ReadableStream<Uint8Array>,
  async *'async generator'(content: Content) {
    yield* chunksOf(content);
  },
  'range reader': ({ size }: Content) => {
    const pool = makePool();
    const read = async (offset: number, length: number) =>
      pool.subarray(offset % pool.length, (offset % pool.length) + length);
    return { size, read };
  },
} satisfies Record<string, (content: Content) => SourceData>;

const buffersOf = (buffers: number) =>
  [...chunksOf({ size: buffers * BUFFER, chunk: BUFFER })].map((data, i) => ({
    path: `folder ${i % 20}/file ${i}`,
    data,
  }));

export const tasks = {
  hasher({ version, content }: { version: Version; content: string }) {
    const Hasher = { v1: V1Hasher, v2: V2Hasher, hybrid: HybridHasher }[version];
    const config = { paths: [path.basename(content)], pathRoot: path.dirname(content), pieceLength: PIECE_LENGTH };
    return async () => void (await new Hasher(config).process());
  },
  stream({ way, version, ...content }: StreamTask) {
    const sources = [{ path: 'data', data: WAYS[way](content) }];
    const draft = new TorrentCreate({ sources, pieceLength: PIECE_LENGTH });
    return async () => void (await draft.generate({ version, threads: 1 }));
  },
  buffers({ version, buffers }: { version: Version; buffers: number }) {
    const sources = buffersOf(buffers);
    return async () => void (await new TorrentCreate({ info: { name: 'x' }, sources }).generate({ version }));
  },
  createTorrent(buffers: number) {
    const named = buffersOf(buffers).map(({ path: name, data }) => Object.assign(data, { name }));
    return async () => void (await promisify(createTorrent)(named, { name: 'x' }));
  },
};
const run = inProcess(import.meta.url, tasks);

const options = { size: '1GiB', buffers: '10000', rounds: '5' };
export default bench(options, async ({ size, buffers, rounds }, folder) => {
  const content = path.join(folder, 'data');
  writeData(content, size);

  /** A table of contenders, each a function that makes a torrent of a version, or null; the first is the base of the ratios. */
  const compare = async (
    title: string,
    bytes: number,
    contenders: Record<string, (version: Version) => Sample | null>,
  ) => {
    const [base = ''] = Object.keys(contenders);
    const cases = Object.entries(contenders).flatMap(([row, make]) =>
      VERSIONS.map((column): Case => ({ row, column, run: () => make(column) ?? {} })),
    );
    const grid = await measure(cases, rounds);
    const ratio = (row: string, version: Version) => divide(grid.median(row, version), grid.median(base, version));
    return tableOf(`${title}: ${formatBytes(bytes)}`, 'contender', grid.rows, [
      ...columnsFor(VERSIONS, 'GB/s', (row, version) => divide(bytes / 1e9, grid.median(row, version))),
      ...columnsFor(VERSIONS, 'ratio', ratio, { suffix: `, its time / ${base}` }),
    ]);
  };
  const stream =
    (way: StreamTask['way'], chunk = 2 ** 16) =>
    (version: Version) =>
      run('stream', { way, version, size, chunk });
  const generate = (version: Version) =>
    runGenerate({ pathRoot: content, version, pieceLength: PIECE_LENGTH, threads: 1 });
  const tables = [
    await compare('streams from memory', size, {
      'warm file': generate,
      'hasher of the file': (version) => run('hasher', { version, content }),
      memory: stream('memory'),
      'Readable, 64 KiB': stream('Readable'),
      'ReadableStream, 64 KiB': stream('ReadableStream'),
      'async generator, 64 KiB': stream('async generator'),
      'range reader': stream('range reader'),
      'Readable, 1 MiB': stream('Readable', 2 ** 20),
    }),
    await compare(`${buffers.toLocaleString('en')} buffers of 10 KiB`, buffers * BUFFER, {
      metainfo: (version) => run('buffers', { version, buffers }),
      // It uses the four threads of libuv, and metainfo every core.
      'create-torrent': (version) => (version === 'v1' ? run('createTorrent', buffers) : null),
    }),
  ];
  return { tables, settings: `One thread, every core for buffers; medians of ${rounds} interleaved rounds.` };
});
