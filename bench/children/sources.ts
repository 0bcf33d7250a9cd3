// Hashes content in one way and says how long that took: `runChild('sources', ...)`.
import { randomFillSync } from 'node:crypto';
import path from 'node:path';
import { Readable } from 'node:stream';
import { ReadableStream } from 'node:stream/web';
import createTorrent from 'create-torrent';
import type { SourceData } from '../../src/create/sources.ts';
import { HybridHasher, TorrentCreate, V1Hasher, V2Hasher } from '../../src/index.ts';
import type { Version } from '../support/measure.ts';

export interface SourceTask {
  way:
    | 'file'
    | 'hasher'
    | 'memory'
    | 'Readable'
    | 'ReadableStream'
    | 'async generator'
    | 'range reader'
    | 'buffers'
    | 'create-torrent';
  version: Version;
  file: string;
  /** Bytes in all. */
  size: number;
  /** Bytes a chunk or buffer. */
  chunk: number;
}

export interface SourceReport {
  seconds: number;
}

const { way, version, file, size, chunk } = JSON.parse(process.argv[2] ?? '') as SourceTask;
const pieceLength = 2 ** 20;
/** More than the caches hold, so that it is read from memory. */
const POOL = way === 'file' || way === 'hasher' ? Buffer.alloc(0) : randomFillSync(Buffer.alloc(64 * 2 ** 20));

function* chunks(): Generator<Buffer> {
  for (let at = 0; at < size; at += chunk) {
    const from = at % POOL.length;
    yield POOL.subarray(from, from + Math.min(chunk, size - at));
  }
}

async function* slowly(): AsyncGenerator<Buffer> {
  yield* chunks();
}

const ranges = {
  size,
  read: async (offset: number, length: number) => {
    const from = offset % POOL.length;
    return POOL.subarray(from, from + length);
  },
};

const generate = (data: SourceData) =>
  new TorrentCreate({ sources: [{ path: 'data', data }], pieceLength }).generate({ version });

const buffers = () => [...chunks()].map((data, i) => ({ path: `folder ${i % 20}/file ${i}`, data }));

/** What is made before the clock starts, and what is measured. */
const WAYS: Record<SourceTask['way'], () => () => Promise<unknown>> = {
  file: () => () => new TorrentCreate({ pathRoot: file, pieceLength }).generate({ version }),
  hasher: () => {
    const Hasher = { v1: V1Hasher, v2: V2Hasher, hybrid: HybridHasher }[version];
    const config = { paths: [path.basename(file)], pathRoot: path.dirname(file), pieceLength };
    return () => new Hasher(config).process();
  },
  memory: () => {
    const whole = Buffer.concat([...chunksOf(size)]);
    return () => generate(whole);
  },
  Readable: () => () => generate(Readable.from(chunks(), { objectMode: false })),
  ReadableStream: () => () => generate(ReadableStream.from(chunks()) as ReadableStream<Uint8Array>),
  'async generator': () => () => generate(slowly()),
  'range reader': () => () => generate(ranges),
  buffers: () => {
    const sources = buffers();
    // create-torrent uses libuv's four threads.
    return () => new TorrentCreate({ info: { name: 'x' }, sources }).generate({ version, threads: null });
  },
  'create-torrent': () => {
    const input = buffers().map(({ path: name, data }) => Object.assign(data, { name }));
    return () =>
      new Promise((resolve, reject) => {
        createTorrent(input, { name: 'x' }, (error, torrent) => (error ? reject(error) : resolve(torrent)));
      });
  },
};

function* chunksOf(bytes: number): Generator<Buffer> {
  for (let at = 0; at < bytes; at += POOL.length) yield POOL.subarray(0, Math.min(POOL.length, bytes - at));
}

const work = WAYS[way]();
const started = performance.now();
await work();
const report: SourceReport = { seconds: (performance.now() - started) / 1000 };
console.log(JSON.stringify(report));
