// Hashes objects of an S3-compatible store in parts, and keeps the parts in the store too: no disk is needed, and each part can
// be hashed by another process or machine. Needs the package aws4fetch, which signs requests.
//
//   node examples/s3-parts.mjs
import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import { AwsClient } from 'aws4fetch';
import { hashPart, joinParts, MetainfoError, partKey, planParts, TorrentCreate } from 'metainfo';

// A local store that does what S3 does: entity tags, ranges and conditions. Use the URL and keys of yours instead.
const objects = new Map();
const server = createServer(async (request, response) => {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  if (!request.headers.authorization?.startsWith('AWS4-HMAC-SHA256 ')) return response.writeHead(403).end();
  if (request.method === 'PUT') objects.set(request.url, Buffer.concat(chunks));
  const object = objects.get(request.url);
  if (!object) return response.writeHead(404).end();
  const etag = `"${createHash('md5').update(object).digest('hex')}"`;
  if (request.headers['if-match'] && request.headers['if-match'] !== etag) return response.writeHead(412).end();
  const [, first, last] = (/^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '') ?? []).map(Number);
  const body = first === undefined ? object : object.subarray(first, last + 1);
  response.writeHead(first === undefined ? 200 : 206, { etag, 'content-length': body.length });
  return response.end(request.method === 'HEAD' ? undefined : body);
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const bucket = `http://127.0.0.1:${server.address().port}/bucket`;
const s3 = new AwsClient({
  accessKeyId: 'key',
  secretAccessKey: 'secret',
  service: 's3',
  region: 'us-east-1',
  retries: 2,
});

/** Sends a signed request. */
async function send(key, init = {}) {
  const response = await s3.fetch(`${bucket}/${key}`, init);
  if (response.ok || response.status === 404) return response;
  // The object is no longer the one that was planned.
  if (response.status === 412) throw new MetainfoError('ERR_FILE_CHANGED', `${key} was replaced.`, { path: key });
  throw new Error(`${key}: the store answers with status ${response.status}`);
}

/** A range reader of an object: each read is on condition that the object is the same. */
async function objectReader(key) {
  const { headers } = await send(key, { method: 'HEAD' });
  const etag = headers.get('etag');
  const read = async (offset, length, signal) => {
    const range = `bytes=${offset}-${offset + length - 1}`;
    const response = await send(key, { headers: { range, 'if-match': etag }, signal });
    return new Uint8Array(await response.arrayBuffer());
  };
  return { size: Number(headers.get('content-length')), etag, read };
}

/** A part store in the bucket. A PUT of S3 is atomic. */
const store = {
  async get(planId, name) {
    const response = await send(`parts/${partKey(planId, name)}`);
    return response.status === 404 ? null : new Uint8Array(await response.arrayBuffer());
  },
  async put(planId, name, bytes) {
    await send(`parts/${partKey(planId, name)}`, { method: 'PUT', body: bytes });
  },
};

// Two objects, and the plan of their torrent.
await send('film.mkv', { method: 'PUT', body: Buffer.alloc(3_000_000, 'film') });
await send('notes.txt', { method: 'PUT', body: Buffer.alloc(50_000, 'note') });
const names = ['film.mkv', 'notes.txt'];
const sources = await Promise.all(names.map(async (path) => ({ path, data: await objectReader(path) })));
const draft = new TorrentCreate({ info: { name: 'film' }, sources, pieceLength: 2 ** 14 });
const plan = await planParts(draft, { version: 'v2', partSize: 2 ** 20 });

// Anywhere: `open` makes a range reader for an object of the plan.
const open = ({ path }) => objectReader(path);
for (let index = 0; index < plan.parts; index += 1)
  await store.put(plan.id, index, await hashPart(plan, index, { open }));
const torrent = await joinParts(plan, (index) => store.get(plan.id, index), { open });
console.log(`${plan.parts} parts, infohash v2 ${torrent.infohashV2}`);
console.log(`generate makes the same: ${(await draft.generate({ version: 'v2' })).infohashV2 === torrent.infohashV2}`);

// An object that is replaced between the plan and the join is refused.
await send('film.mkv', { method: 'PUT', body: Buffer.alloc(3_000_000, 'other') });
const error = await joinParts(plan, (index) => store.get(plan.id, index), { open }).catch((reason) => reason);
console.log(`after the film was replaced: ${error.code}`);

server.closeAllConnections();
await new Promise((resolve) => server.close(resolve));
