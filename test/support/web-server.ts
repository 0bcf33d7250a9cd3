/** A web server on 127.0.0.1 that serves one object with range requests, and lies as a test tells it to. */
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import type { TestContext } from 'node:test';

/** A request, and what an honest server would answer. */
export interface Exchange {
  request: IncomingMessage;
  response: ServerResponse;
  /** The number of requests before this one. */
  index: number;
  /** The range that was asked for; null if none was. */
  range: [first: number, last: number] | null;
  /** Answers with these headers changed; null leaves one out. */
  answer(changes?: Answer): void;
}

/** The differences from the honest answer. */
export interface Answer {
  status?: number;
  headers?: Record<string, string | null>;
  body?: Buffer;
}

/** The object that the server has; a test may replace it. */
export interface WebObject {
  content: Buffer;
  etag: string | null;
  lastModified: string | null;
}

export interface WebServer {
  /** The URL of a path, such as `/film.mkv`. */
  url(path?: string): string;
  readonly origin: string;
  readonly requests: IncomingMessage[];
  readonly server: Server;
  object: WebObject;
}

/**
 * Starts a server.
 *
 * @param handle Answers a request itself; if it does nothing with the response, the server gives the right answer.
 */
export async function webServer(
  t: Pick<TestContext, 'after'>,
  content: Buffer,
  handle: (exchange: Exchange) => unknown = ({ answer }) => answer(),
): Promise<WebServer> {
  const requests: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    const index = requests.push(request) - 1;
    const match = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '');
    const range: Exchange['range'] = match ? [Number(match[1]), Number(match[2])] : null;
    response.on('error', () => {});
    const answer = (changes?: Answer) => answerHonestly(web.object, { request, response, range }, changes);
    handle({ request, response, index, range, answer });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const object = { content, etag: '"one"', lastModified: 'Sat, 31 Jan 2026 00:00:00 GMT' };
  const web: WebServer = { url: (path = '/film.mkv') => `${origin}${path}`, origin, requests, server, object };
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return web;
}

/** Starts a server of the files of a folder, in ranges. @param lacking The status for any other file. */
export async function folderServer(t: Pick<TestContext, 'after'>, folder: string, lacking = 404): Promise<WebServer> {
  const web = await webServer(t, Buffer.alloc(0), async ({ request, response, answer }) => {
    const place = decodeURIComponent(new URL(request.url as string, 'http://x').pathname);
    const content = await readFile(path.join(folder, place)).catch(() => null);
    if (!content) return void response.writeHead(lacking).end();
    web.object = { ...web.object, content };
    return answer();
  });
  return web;
}

function answerHonestly(
  { content, etag, lastModified }: WebObject,
  { request, response, range }: Pick<Exchange, 'request' | 'response' | 'range'>,
  { status, headers = {}, body }: Answer = {},
): void {
  const isReplaced =
    (request.headers['if-match'] !== undefined && request.headers['if-match'] !== etag) ||
    (request.headers['if-unmodified-since'] !== undefined && request.headers['if-unmodified-since'] !== lastModified);
  const isOutside = range !== null && range[0] >= content.length;
  const usual = isReplaced ? 412 : isOutside ? 416 : range ? 206 : 200;
  const [first, last] = range ? [range[0], Math.min(range[1], content.length - 1)] : [0, content.length - 1];
  const sent = body ?? (usual === 206 || usual === 200 ? content.subarray(first, last + 1) : Buffer.alloc(0));
  const all: Record<string, string | null> = {
    etag,
    'last-modified': lastModified,
    'content-length': String(sent.length),
    ...(usual === 206 && { 'content-range': `bytes ${first}-${last}/${content.length}` }),
    ...(usual === 416 && { 'content-range': `bytes */${content.length}` }),
    ...headers,
  };
  response.writeHead(
    status ?? usual,
    Object.fromEntries(Object.entries(all).flatMap(([name, value]) => (value === null ? [] : [[name, value]]))),
  );
  response.end(sent);
}
