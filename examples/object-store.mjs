// Creates a torrent from objects in a store with range requests, such as S3, without a disk. metainfo requests some ranges ahead
// and keeps nothing after hashing it.
//
//   node examples/object-store.mjs
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { TorrentCreate } from 'metainfo';

/** Makes a source of an object behind a URL. */
async function objectAt(url) {
  const head = await fetch(url, { method: 'HEAD' });
  if (!head.ok) throw new Error(`${url}: ${head.status}`);
  return {
    size: Number(head.headers.get('content-length')),
    async read(offset, length, signal) {
      const range = `bytes=${offset}-${offset + length - 1}`;
      const response = await fetch(url, { headers: { range }, signal });
      if (response.status !== 206) throw new Error(`${url}: ${response.status} for ${range}`);
      return new Uint8Array(await response.arrayBuffer());
    },
  };
}

// A local store that counts requests.
const objects = new Map([
  ['/bucket/film.mkv', Buffer.alloc(9_000_000, 'film')],
  ['/bucket/subtitles/en.srt', Buffer.alloc(50_000, 'text')],
]);
let requests = 0;
const store = createServer((request, response) => {
  const object = objects.get(request.url);
  if (!object) return response.writeHead(404).end();
  if (request.method === 'HEAD') return response.writeHead(200, { 'content-length': object.length }).end();
  requests += 1;
  const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range).map(Number);
  response.writeHead(206, { 'content-range': `bytes ${first}-${last}/${object.length}` });
  response.end(object.subarray(first, last + 1));
});
await new Promise((resolve) => store.listen(0, '127.0.0.1', resolve));
const bucket = `http://127.0.0.1:${store.address().port}/bucket`;

const names = ['film.mkv', 'subtitles/en.srt'];
const sources = await Promise.all(names.map(async (path) => ({ path, data: await objectAt(`${bucket}/${path}`) })));
const draft = new TorrentCreate({ info: { name: 'film' }, sources });
const torrent = await draft.generate({ memoryLimit: 16 * 2 ** 20 });
console.log(`${torrent.nFiles} objects, ${torrent.totalSize} bytes in ${requests} requests`);
console.log(`infohash v2 ${torrent.infohashV2}`);

// The same bytes in memory give the same infohash.
const inMemory = names.map((path) => ({ path, data: objects.get(`/bucket/${path}`) }));
const again = new TorrentCreate({ info: { name: 'film' }, sources: inMemory });
assert.equal((await again.generate()).infohashV2, torrent.infohashV2);

store.closeAllConnections();
await new Promise((resolve) => store.close(resolve));
