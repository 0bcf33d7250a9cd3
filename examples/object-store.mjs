// Creates a torrent from objects in a store with range requests, such as S3, without a disk. metainfo requests some ranges ahead
// and keeps nothing after hashing it. An object that is replaced meanwhile fails with ERR_FILE_CHANGED.
//
//   node examples/object-store.mjs
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { TorrentCreate, webFile } from 'metainfo';

// A local store that counts requests.
const objects = new Map([
  ['/bucket/film.mkv', Buffer.alloc(9_000_000, 'film')],
  ['/bucket/subtitles/en.srt', Buffer.alloc(50_000, 'text')],
]);
let requests = 0;
const store = createServer((request, response) => {
  requests += 1;
  const object = objects.get(request.url);
  if (!object) return response.writeHead(404).end();
  const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range).map(Number);
  const part = object.subarray(first, last + 1);
  const range = `bytes ${first}-${first + part.length - 1}/${object.length}`;
  response.writeHead(206, { 'content-range': range, 'content-length': part.length, etag: '"1"' }).end(part);
});
await new Promise((resolve) => store.listen(0, '127.0.0.1', resolve));
const bucket = `http://127.0.0.1:${store.address().port}/bucket`;

const names = ['film.mkv', 'subtitles/en.srt'];
const sources = await Promise.all(names.map(async (path) => ({ path, data: await webFile(`${bucket}/${path}`) })));
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
