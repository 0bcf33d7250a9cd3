// Does one thing once, in a process of its own, and prints how long it took: `runOnce(task)` of bench/support/measure.ts.
import { randomFillSync } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { Readable } from 'node:stream';
import { ReadableStream } from 'node:stream/web';
import type { SourceData } from '../../src/create/sources/source-data.ts';
import { edit, HybridHasher, Torrent, TorrentCreate, V1Hasher, V2Hasher, verify } from '../../src/index.ts';
import { type Version, watchMemory } from '../support/measure.ts';

/** A task has the fields that its way needs; the others are ignored. */
export interface Task {
  way: keyof typeof WAYS;
  version?: Version;
  /** The content: a file or folder. */
  content?: string;
  /** A torrent file. */
  torrent?: string;
  /** Bytes of content that is not on disk, and of each of its chunks or buffers. */
  size?: number;
  chunk?: number;
  /** The piece length for `generate`; every other way uses 1 MiB. Default: the library's choice. */
  pieceLength?: number;
  /** null: one for each core. */
  threads?: number | null;
}

export interface Report {
  seconds: number;
  /** Peak resident memory beyond what the process had before. */
  peakBytes: number;
  /** The result of the work, if it is text. */
  answer: string;
}

const input: Task = JSON.parse(process.argv[2] ?? '');
const { version = 'v1', content = '', torrent: torrentFile = '', size = 0, chunk = 0, threads = 1 } = input;
const pieceLength = 2 ** 20;
/** More than the processor's caches hold, so that content comes from memory. */
const POOL = size > 0 ? randomFillSync(Buffer.alloc(64 * 2 ** 20)) : Buffer.alloc(0);

function* chunks(bytes: number): Generator<Buffer> {
  for (let at = 0; at < size; at += bytes) {
    const from = at % POOL.length;
    yield POOL.subarray(from, from + Math.min(bytes, size - at));
  }
}

async function* asyncChunks(): AsyncGenerator<Buffer> {
  yield* chunks(chunk);
}

const range = {
  size,
  read: async (offset: number, length: number) => POOL.subarray(offset % POOL.length, (offset % POOL.length) + length),
};

const stream = (data: SourceData) =>
  new TorrentCreate({ sources: [{ path: 'data', data }], pieceLength }).generate({ version });
const buffers = () => [...chunks(chunk)].map((data, i) => ({ path: `folder ${i % 20}/file ${i}`, data }));

/** Prepares the work before the clock starts, and returns the function that is measured. */
const WAYS = {
  generate: () => () => {
    const settings = input.pieceLength === undefined ? {} : { pieceLength: input.pieceLength };
    return new TorrentCreate({ pathRoot: content, ...settings }).generate({ version, threads });
  },
  hasher: () => {
    const Hasher = { v1: V1Hasher, v2: V2Hasher, hybrid: HybridHasher }[version];
    const config = { paths: [path.basename(content)], pathRoot: path.dirname(content), pieceLength };
    return () => new Hasher(config).process();
  },
  memory: () => {
    const whole = Buffer.concat([...chunks(POOL.length)]);
    return () => stream(whole);
  },
  Readable: () => () => stream(Readable.from(chunks(chunk), { objectMode: false })),
  ReadableStream: () => () => stream(ReadableStream.from(chunks(chunk)) as ReadableStream<Uint8Array>),
  'async generator': () => () => stream(asyncChunks()),
  'range reader': () => () => stream(range),
  buffers: () => {
    const sources = buffers();
    return () => new TorrentCreate({ info: { name: 'x' }, sources }).generate({ version, threads });
  },
  'create-torrent, buffers': async () => {
    const { default: createTorrent } = await import('create-torrent');
    const named = buffers().map(({ path: name, data }) => Object.assign(data, { name }));
    return () =>
      new Promise((resolve, reject) => {
        createTorrent(named, { name: 'x' }, (error, made) => (error ? reject(error) : resolve(made)));
      });
  },
  'Torrent.read': () => () => Torrent.read(torrentFile),
  edit: async () => {
    const torrent = await Torrent.read(torrentFile);
    return () => edit(torrent, { comment: 'another' });
  },
  verify: async () => {
    const torrent = await Torrent.read(torrentFile);
    return async () => {
      const { ok } = await verify(torrent, content, { threads });
      if (!ok) throw new Error(`${content} differs from ${torrentFile}`);
    };
  },
  'decode: metainfo': () => {
    const bytes = readFileSync(torrentFile);
    return () => {
      const torrent = Torrent.fromBytes(bytes);
      return torrent.infohashV2 ?? torrent.infohashV1;
    };
  },
  'decode: parse-torrent': async () => {
    const { default: parseTorrent } = await import('parse-torrent');
    const bytes = readFileSync(torrentFile);
    return async () => (await parseTorrent(bytes)).infoHash;
  },
  'decode: bencode': async () => {
    const { default: bencode } = await import('bencode');
    const bytes = readFileSync(torrentFile);
    return () => void bencode.decode(bytes);
  },
};

const work: () => unknown = await WAYS[input.way]();
const memory = await watchMemory();
const started = performance.now();
let answer: unknown;
try {
  answer = await work();
} catch (error) {
  // Only a torrent may be refused; every other failure is a bug.
  if (!input.way.startsWith('decode')) throw error;
  answer = `refused: ${(error as Error).message}`;
}
const seconds = (performance.now() - started) / 1000;
const report: Report = { seconds, peakBytes: memory(), answer: typeof answer === 'string' ? answer : '' };
console.log(JSON.stringify(report));
