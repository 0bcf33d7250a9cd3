// Hashes an upload while it streams to disk: the torrent is ready when the upload ends, and the file is never read again. A slow
// disk or a busy CPU slows the upload down; memory use stays constant.
//
//   node examples/upload.mjs
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtemp, open, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { TorrentCreate } from 'metainfo';

const folder = await mkdtemp(path.join(tmpdir(), 'uploads-'));

/** Bytes. A larger upload is refused. */
const MAX_UPLOAD = 20 * 2 ** 30;

/** Saves each chunk of an upload to disk before it yields it. */
async function* saved(request, file) {
  const output = await open(file, 'wx');
  let bytes = 0;
  try {
    // An error must not close the connection: it is the answer.
    for await (const chunk of request.iterator({ destroyOnReturn: false })) {
      bytes += chunk.length;
      if (bytes > MAX_UPLOAD) throw Object.assign(new Error('the upload is too large'), { statusCode: 413 });
      await output.writeFile(chunk);
      yield chunk;
    }
  } finally {
    await output.close();
  }
}

const server = createServer(async (request, response) => {
  const name = path.basename(request.url);
  const file = path.join(folder, name);
  // If the client announces a size, an upload that breaks off fails.
  const size = request.headers['content-length'] ? Number(request.headers['content-length']) : null;
  try {
    const draft = new TorrentCreate({
      sources: [{ path: name, size, data: saved(request, file) }],
      pieceLength: 2 ** 18,
    });
    const torrent = await draft.generate();
    await torrent.write(`${file}.torrent`);
    response.end(JSON.stringify({ v1: torrent.infohashV1, v2: torrent.infohashV2 }));
  } catch (error) {
    await rm(file, { force: true });
    // The cause of the failure of a source is what `saved` has thrown.
    response.writeHead(error.cause?.statusCode ?? 400).end(error.message);
  }
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));

const body = randomBytes(5_000_000);
const response = await fetch(`http://127.0.0.1:${server.address().port}/film.mkv`, { method: 'PUT', body });
const answer = await response.json();
console.log(`uploaded: infohash v2 ${answer.v2}`);

// The file on disk gives the same infohash.
const again = new TorrentCreate({ pathRoot: path.join(folder, 'film.mkv'), pieceLength: 2 ** 18 });
assert.equal((await again.generate()).infohashV2, answer.v2);
console.log('the file on disk has the same infohash');

await new Promise((resolve) => server.close(resolve));
await rm(folder, { recursive: true });
