// Uploads with Express: PUT /files/NAME saves and hashes the body, GET /files/NAME.torrent is its torrent, and POST /check/NAME compares
// another copy with it without saving that. A client that goes away cancels its job, one that sends too much gets 413. Needs express.
//
//   node examples/express.mjs [FOLDER] [PORT] [MOST BYTES]
import path from 'node:path';
import express from 'express';
import { create, errorCategory, MetainfoError, Torrent, verify } from 'metainfo';

const [folder = 'uploads', port = '3000', most = 20 * 2 ** 30] = process.argv.slice(2);
const HTTP_CODES = {
  input: 400,
  content: 422,
  conflict: 409,
  limit: 413,
  busy: 503,
  io: 502,
  cancelled: 499,
  bug: 500,
};

const app = express();

/** The file of a request. Names cannot lead out of the folder. */
function fileOf({ params: { name } }) {
  if (!/^\w[\w. -]{0,100}$/.test(name)) throw new MetainfoError('ERR_NAME', `${name} is no name for an upload.`);
  return path.join(folder, name);
}

/** The body of a request, which fails if it is too large. Not every client announces a size. */
async function* bodyOf(request) {
  let bytes = 0;
  // An error must not close the connection: it is the answer.
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    bytes += chunk.length;
    if (Math.max(bytes, request.headers['content-length'] ?? 0) > most)
      throw Object.assign(new Error('the upload is too large'), { statusCode: 413 });
    yield chunk;
  }
}

/** A signal that fires when the client goes away before it has its answer. */
function signalOf(response) {
  const stop = new AbortController();
  response.once('close', () => stop.abort(new Error('the client went away')));
  return stop.signal;
}

app.put('/files/:name', async (request, response) => {
  const file = fileOf(request);
  const signal = signalOf(response);
  const length = request.headers['content-length'];
  // An upload that breaks off has another size than the client has announced.
  const size = length ? Number(length) : null;
  // An upload never replaces another one.
  const torrent = await create([{ path: request.params.name, size, data: bodyOf(request), saveTo: file }], {
    pieceLength: 2 ** 20,
    signal,
  });
  await torrent.write(`${file}.torrent`);
  response.status(201).json({ magnet: torrent.magnet() });
});

app.post('/check/:name', async (request, response) => {
  const torrent = await Torrent.read(`${fileOf(request)}.torrent`);
  const { ok, badPieces, files } = await verify(torrent, request, { signal: signalOf(response) });
  response.json({ ok, badPieces, status: files[0].status });
});

app.use('/files', express.static(folder));

app.use((error, _request, response, _next) => {
  if (response.headersSent || response.destroyed) return;
  // The cause of the failure of a source is the error that bodyOf has thrown.
  const code = error.cause?.statusCode ?? error.statusCode ?? HTTP_CODES[errorCategory(error)];
  if (code >= 500) console.error(error);
  response.status(code).json({ error: error.code ?? error.name });
});

const server = app.listen(Number(port), '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}`));
