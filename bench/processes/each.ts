// Makes a torrent of each file of a folder, in a process of its own, and prints the time: `runChild('each', ...)`.
// bench/peers/each_with_libtorrent.py does the same with libtorrent.
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import createTorrent from 'create-torrent';
import type { Version } from '../support/measure.ts';

export interface EachTask {
  tool: keyof typeof TOOLS;
  version: Version;
  /** The folder. */
  content: string;
  pieceLength: number;
  /** Read the files before the clock starts. */
  fromMemory: boolean;
  /** How many torrents are made at once. */
  atOnce: number;
}

export interface EachReport {
  seconds: number;
  /** The infohash of the first torrent. */
  infohash: string | null;
}

/** The path of a file, or its bytes. */
type Input = string | (Buffer & { name: string });

// As it is published: the TypeScript loader adds calls to every function that it compiles.
const published = new URL('../../dist/index.js', import.meta.url).href;
const { Torrent, TorrentCreate } = (await import(published)) as typeof import('../../src/index.ts');

const { tool, version, content, pieceLength, fromMemory, atOnce } = JSON.parse(process.argv[2] ?? '') as EachTask;

const createOne = promisify(createTorrent);
const TOOLS = {
  async metainfo(input: Input): Promise<Uint8Array> {
    const fields = typeof input === 'string' ? { pathRoot: input } : { sources: [{ path: input.name, data: input }] };
    const torrent = await new TorrentCreate({ ...fields, pieceLength }).generate({ version });
    return torrent.bencode();
  },
  'create-torrent': (input: Input): Promise<Uint8Array> => createOne(input, { pieceLength, announceList: [] }),
};

/** Buffers in memory: more than the processor's caches hold, but not as many as there may be files. */
const BUFFERS = 1024;

const files = readdirSync(content, { recursive: true, encoding: 'utf8' })
  .filter((file) => path.basename(file).startsWith('file'))
  .sort()
  .map((file) => path.join(content, file));
const buffers = fromMemory ? files.slice(0, BUFFERS).map((file) => readFileSync(file)) : [];
const inputs = files.map((file, i): Input => {
  const bytes = buffers[i % buffers.length];
  return bytes ? Object.assign(bytes.subarray(), { name: path.basename(file) }) : file;
});

let first: Uint8Array = Buffer.alloc(0);
const queue = inputs.entries();
async function makeTorrents(): Promise<void> {
  for (const [i, input] of queue) {
    const torrent = await TOOLS[tool](input);
    if (i === 0) first = torrent;
  }
}
const started = performance.now();
await Promise.all(Array.from({ length: atOnce }, makeTorrents));
const seconds = (performance.now() - started) / 1000;
const { infohashV1, infohashV2 } = Torrent.fromBytes(first);
const report: EachReport = { seconds, infohash: infohashV2 ?? infohashV1 };
console.log(JSON.stringify(report));
