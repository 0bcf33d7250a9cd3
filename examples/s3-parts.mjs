// Hashes objects of an S3-compatible store in parts, and keeps the parts in the store too: no disk is needed, and each part can
// be hashed by another process or machine. Needs the package aws4fetch, which signs requests.
//
//   node examples/s3-parts.mjs
import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import { joinParts, planParts, s3File, s3Store, storePart, TorrentCreate } from 'metainfo';

// A local store with two objects that does what S3 does. Leave out the options, and set AWS_ACCESS_KEY_ID and so on, for yours.
const objects = new Map([
  ['/bucket/film.mkv', Buffer.alloc(3_000_000, 'film')],
  ['/bucket/notes.txt', Buffer.alloc(50_000, 'note')],
]);
const server = createServer(async (request, response) => {
  const { url, method, headers } = request;
  if (!headers.authorization?.startsWith('AWS4-HMAC-SHA256 ')) return response.writeHead(403).end();
  if (method === 'PUT') objects.set(url, Buffer.concat(await request.toArray()));
  if (method === 'PUT') return response.end();
  const object = objects.get(url);
  if (!object) return response.writeHead(404).end();
  const etag = `"${createHash('md5').update(object).digest('hex')}"`;
  const [, first, last] = (/^bytes=(\d+)-(\d+)$/.exec(headers.range ?? '') ?? []).map(Number);
  if (first === undefined) return response.writeHead(200, { etag }).end(object);
  const range = `bytes ${first}-${last}/${object.length}`;
  return response.writeHead(206, { etag, 'content-range': range }).end(object.subarray(first, last + 1));
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const endpoint = `http://127.0.0.1:${server.address().port}`;
const options = { endpoint, credentials: { accessKeyId: 'key', secretAccessKey: 'secret' } };

// The plan of a torrent of two objects.
const names = ['film.mkv', 'notes.txt'];
const objectOf = (path) => s3File(`s3://bucket/${path}`, options);
const sources = await Promise.all(names.map(async (path) => ({ path, data: await objectOf(path) })));
const draft = new TorrentCreate({ info: { name: 'film' }, sources, pieceLength: 2 ** 14 });
const plan = await planParts(draft, { version: 'v2', partSize: 2 ** 20 });

// Anywhere: `open` makes a range reader for an object of the plan.
const store = s3Store('s3://bucket/parts', options);
const open = ({ path }) => objectOf(path);
for (let index = 0; index < plan.parts; index += 1) await storePart(plan, index, store, { open });
const torrent = await joinParts(plan, (index) => store.get(plan.id, index), { open });
console.log(`${plan.parts} parts, infohash v2 ${torrent.infohashV2}`);
console.log(`generate makes the same: ${(await draft.generate({ version: 'v2' })).infohashV2 === torrent.infohashV2}`);

// An object that is replaced between the plan and the join is refused.
objects.set('/bucket/film.mkv', Buffer.alloc(3_000_000, 'other'));
const error = await joinParts(plan, (index) => store.get(plan.id, index), { open }).catch((reason) => reason);
console.log(`after the film was replaced: ${error.code}`);

server.closeAllConnections();
await new Promise((resolve) => server.close(resolve));
