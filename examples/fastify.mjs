// Uploads with Fastify: each one is hashed while it is saved. The progress is sent as server-sent events, a client that goes away
// cancels its job, one that sends too much gets 413, and Prometheus reads /metrics. Needs fastify, @fastify/multipart and prom-client.
//
//   node examples/fastify.mjs [FOLDER] [PORT] [MOST BYTES]
import { EventEmitter } from 'node:events';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import multipart from '@fastify/multipart';
import Fastify from 'fastify';
import { create, errorCategory, MetainfoError, processStats, Torrent } from 'metainfo';
import { Gauge, register } from 'prom-client';

const [folder = 'uploads', port = '3000', most = 20 * 2 ** 30] = process.argv.slice(2);
/** The codes of errors whose category has another code. A stream that the limit below has cut fails with ERR_SOURCE_TRUNCATED. */
const CODES = { ERR_NOT_FOUND: 404, ERR_SOURCE_TRUNCATED: 413 };
const HTTP_CODES = { input: 400, content: 422, conflict: 409, limit: 413, busy: 503, io: 502, cancelled: 499 };

const server = Fastify();
await server.register(multipart, { limits: { files: 1, fileSize: Number(most) } });

/** Emits the progress of each upload under its id. */
const progress = new EventEmitter().setMaxListeners(0);
const params = { type: 'object', properties: { id: { type: 'string', pattern: '^[\\w-]{1,64}$' } } };

server.post('/uploads/:id', { schema: { params } }, async (request, reply) => {
  if (processStats().waiting > 100) return reply.code(503).header('retry-after', 10).send();
  const { id } = request.params;
  const stop = new AbortController();
  reply.raw.once('close', () => stop.abort(new Error('the client went away')));
  const part = await request.file();
  if (!part) return reply.code(400).send({ error: 'send one file as multipart/form-data' });
  const file = path.join(folder, id);
  try {
    // The stream itself, not an iterator of it: only the stream tells that it was truncated. An upload never replaces another one.
    const torrent = await create([{ path: part.filename, data: part.file, saveTo: file }], {
      pieceLength: 2 ** 20,
      signal: stop.signal,
      onProgress: ({ bytes }) => void progress.emit(id, 'progress', bytes),
    });
    await torrent.write(`${file}.torrent`).catch(async (error) => {
      // Without its torrent, the upload would stay in the way of a retry.
      await rm(file);
      throw error;
    });
    return reply.code(201).send({ torrent: `/torrents/${id}`, magnet: torrent.magnet() });
  } finally {
    // After an error, the client still sends everything before it reads the answer.
    request.raw.unpipe().resume();
    progress.emit(id, 'end', 0);
  }
});

server.get('/uploads/:id/progress', { schema: { params } }, (request, reply) => {
  reply.hijack();
  const { raw } = reply;
  raw.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' }).flushHeaders();
  const send = (event, bytes) => raw[event === 'end' ? 'end' : 'write'](`event: ${event}\ndata: ${bytes}\n\n`);
  progress.on(request.params.id, send);
  raw.once('close', () => progress.off(request.params.id, send));
});

server.get('/torrents/:id', { schema: { params } }, async (request, reply) => {
  const torrent = await Torrent.read(path.join(folder, `${request.params.id}.torrent`));
  return reply.type('application/x-bittorrent').send(torrent.bencode());
});

server.get('/metrics', async (_request, reply) => reply.type(register.contentType).send(await register.metrics()));

server.setErrorHandler((error, request, reply) => {
  const known = CODES[error.code] ?? HTTP_CODES[errorCategory(error)] ?? 500;
  // The errors of Fastify and its plugins know their code.
  const code = error.cause?.statusCode ?? error.statusCode ?? known;
  if (code >= 500) request.log.error(error);
  // Messages may contain paths of the disk.
  reply.code(code).send({ error: error instanceof MetainfoError ? error.code : error.name });
});

new Gauge({
  name: 'metainfo',
  help: 'What processStats tells when Prometheus asks',
  labelNames: ['stat'],
  collect() {
    const { failures, ...stats } = processStats();
    this.set({ stat: 'cancelled' }, failures.ERR_ABORTED ?? 0);
    for (const [stat, value] of Object.entries(stats)) this.set({ stat }, value);
  },
});

console.log(await server.listen({ host: '127.0.0.1', port: Number(port) }));
