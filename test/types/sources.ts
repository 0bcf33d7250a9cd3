// Compiled by `npm run check`, never run: the types of content that a source accepts.
import { createReadStream } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { PassThrough, Readable } from 'node:stream';
import { type Hash, type HashPool, type RangeReader, type Source, TorrentCreate, V2Hasher } from '../../src/index.ts';

declare const request: IncomingMessage;
declare const response: Response;
declare const pool: HashPool | null;

async function* generated(): AsyncGenerator<Buffer> {
  yield Buffer.alloc(1);
}

const ranges: RangeReader = {
  size: 10,
  read: async (offset, length, signal) => {
    const answer = await fetch('https://store.example/object', {
      headers: { range: `bytes=${offset}-${offset + length - 1}` },
      signal,
    });
    return new Uint8Array(await answer.arrayBuffer());
  },
};

export const sources: Source[] = [
  { path: 'a', data: new Uint8Array(1) },
  { path: 'b', data: Buffer.alloc(1), size: 1 },
  { path: 'c', data: new Blob(['text']) },
  { path: 'd', data: createReadStream('file'), size: null },
  { path: 'e', data: request, size: undefined },
  { path: 'f', data: new PassThrough() },
  { path: 'g', data: Readable.from([Buffer.alloc(1)]) },
  { path: 'h', data: generated() },
  { path: 'i', data: ranges },
];
if (response.body) sources.push({ path: 'j', data: response.body });

export const draft = new TorrentCreate({ sources, paths: ['k'], pathRoot: '/srv' });

// @ts-expect-error: a string is not content
export const text: Source = { path: 'l', data: 'text' };

const hasher = new V2Hasher({ paths: ['a'], pathRoot: '/', pieceLength: 2 ** 14 });
const chunk = { path: 'a', chunk: new Uint8Array(1), idx: 0 };
export const now: Hash[] = hasher.update(chunk);
export const later: Hash[] | Promise<Hash>[] = hasher.update(chunk, pool);
if (pool) hasher.update(chunk, pool).map((hash) => hash.then(({ idx }) => idx));
